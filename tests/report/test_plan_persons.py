"""Plans of tables in which a person has several rows: they speak about persons, as publishing does."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.command.main import main
from discreet.principles import parse
from discreet.table.table import Table

ILLNESSES = [["flu", "cold"], ["flu", "flu"], ["cold", "gout"], ["acne"], ["gout", "acne", "mumps"], ["mumps", "flu"]]
"""Of each person, in one row each: 'flu' is had by 3 of 6 persons and stands in 4 of 12 rows."""
QUASI = ["age", "sex"]


def people(illnesses: list[list[str]] = ILLNESSES) -> pa.Table:
    person = [at for at, own in enumerate(illnesses) for _ in own]
    return pa.table(
        {
            "id": [f"p{at}" for at in person],
            "age": [20 + 7 * at for at in person],
            "sex": ["fm"[at % 2] for at in person],
            "illness": [one for own in illnesses for one in own],
            "wage": [1000 * (at + 1) for at in person],
        }
    )


def read(source: pa.Table, sensitive: str | None = "illness") -> Table:
    return dc.read(source, quasi=QUASI, sensitive=sensitive, person="id")


def strongest(table: Table) -> dict[str, float | None]:
    return {one.promise: one.strongest for one in dc.plan(table).strongest}


def publishable(table: Table, promise: str) -> bool:
    try:
        dc.publish(table, parse(promise), dc.Cuts(random_state=1))
    except dc.DiscreetError:
        return False
    return True


def test_a_plan_counts_persons_and_rows_and_tells_what_both_keep() -> None:
    told = dc.plan(read(people()))
    assert (told.rows, told.persons) == (12, 6)
    found = {one.promise: one for one in told.strongest}
    assert found["k-anonymity"].strongest == 6
    assert found["l-diversity (frequency)"].strongest == 2.0  # by rows it would be 3
    assert "l=2 counted by persons, and l=3 counted by rows" in found["l-diversity (frequency)"].sentence
    assert found["beta-likeness"].strongest == 0.0 and "any beta" in found["beta-likeness"].sentence
    assert found["alpha-beta"].parameter == "beta" and found["alpha-beta"].strongest == 0.5


def test_what_is_about_one_value_per_person_is_refused_with_the_reason() -> None:
    found = {one.promise: one for one in dc.plan(read(people())).strongest}
    for name in ("l-diversity (entropy)", "l-diversity (distinct)", "t-closeness (equal)"):
        assert found[name].strongest is None
        assert "4 of 6 persons have different values of 'illness'" in found[name].sentence
        assert found[name].sentence.endswith(".")
    alike = strongest(read(people([["flu", "flu"], ["cold"], ["gout", "gout", "gout"], ["acne"]])))
    assert alike["l-diversity (distinct)"] == 4 and alike["t-closeness (equal)"] == 0.0


@pytest.mark.parametrize(("name", "within", "beyond"), [("k", 6, 7), ("l", 2, 2.01)])
def test_what_is_planned_can_be_published_and_nothing_stronger(name: str, within: float, beyond: float) -> None:
    table = read(people())
    promise = {"k": "k-anonymity(k={})", "l": "l-diversity(l={})"}[name]
    planned = {"k": "k-anonymity", "l": "l-diversity (frequency)"}[name]
    assert strongest(table)[planned] == within
    assert publishable(table, promise.format(within)) and not publishable(table, promise.format(beyond))


def test_proximity_is_refused_as_publishing_refuses_it() -> None:
    table = read(people(), "wage")
    told = dc.plan(table)
    assert told.proximity is None and told.feasible
    last = told.strongest[-1]
    assert last.promise == "proximity" and last.strongest is None and "give one row per person" in last.sentence
    for asked in ({"epsilon": 5.0}, {"m": 2}, {"neighbourhood": "relative"}, {"neighbourhood": (1.0, 2.0)}):
        with pytest.raises(dc.DiscreetError, match=r"^proximity\(.*not made about persons.*give one row per person"):
            dc.plan(table, **asked)  # type: ignore[arg-type]
    with pytest.raises(dc.DiscreetError, match="not promised about persons"):
        told.plot("frontier.svg")


def test_without_a_sensitive_attribute_there_is_only_k() -> None:
    assert strongest(read(people(), None)) == {"k-anonymity": 6}


def test_a_promise_that_the_persons_break_names_the_parameter_that_they_keep() -> None:
    with pytest.raises(dc.DiscreetError, match=r"about persons: 3 of 6 persons.*can keep is beta=0\.5$"):
        dc.publish(read(people()), parse("alpha-beta(alpha=0.9, beta=0.4)"), dc.Cuts(random_state=1))


# ------------------------------------------------------------------------------------------------------ command line


def run(folder: Path, *words: str) -> Result:
    pyarrow.csv.write_csv(people(), folder / "people.csv")
    return CliRunner().invoke(
        main, ["plan", str(folder / "people.csv"), "--quasi", "age,sex", "--sensitive", "illness", *words]
    )


def test_the_command_line_speaks_about_persons(tmp_path: Path) -> None:
    shown = run(tmp_path, "--person", "id")
    assert shown.exit_code == 0, shown.output
    assert "12 rows about 6 persons, sensitive attribute 'illness'." in shown.output
    told = json.loads(run(tmp_path, "--person", "id", "--json").stdout)
    assert told["persons"] == 6 and told["strongest"][0]["strongest"] == 6
    without = json.loads(run(tmp_path, "--json").stdout)
    assert without["persons"] == without["rows"] == 12 and without["strongest"][0]["strongest"] == 12


def test_the_command_line_refuses_what_is_not_promised_about_persons(tmp_path: Path) -> None:
    refused = run(tmp_path, "--person", "id", "--epsilon", "3")
    assert refused.exit_code == 2 and "give one row per person" in refused.stderr
    unknown = run(tmp_path, "--person", "nobody")
    assert unknown.exit_code == 2 and "nobody" in unknown.stderr


def test_the_column_that_names_persons_is_no_quasi_identifier(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    done = CliRunner().invoke(main, ["plan", str(tmp_path / "people.csv"), "--person", "id", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["persons"] == 6
