"""Who is in a group in which everybody has the same sensitive value, counted on what is written."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main


def people(rows: int = 418, seed: int = 3) -> pa.Table:
    chance = np.random.default_rng(seed)
    ill = np.array(["flu", "HIV", "asthma", "gout"], object)[chance.choice(4, rows, p=[0.55, 0.2, 0.15, 0.1])]
    age, sex = chance.integers(18, 90, rows), np.array(["f", "m"], object)[chance.integers(0, 2, rows)]
    return pa.table({"age": age, "sex": sex, "ill": ill, "pay": chance.integers(0, 3, rows) * 1000})


def by_hand(table: dict[str, list[Any]], sensitive: str) -> int:
    """How many rows of a published table are in groups with one value."""
    groups = defaultdict(list)
    for group, value in zip(table["group"], table[sensitive], strict=True):
        groups[group].append(value)
    return sum(len(values) for values in groups.values() if len(set(values)) == 1)


@pytest.mark.slow
def test_k_anonymity_alone_is_warned_about_with_the_number_and_a_promise_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people(), "people.csv")
    words = ["publish", "people.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "ill", "--force"]
    shown = CliRunner().invoke(main, [*words, "--promise", "k-anonymity(k=3)", "--json"])
    known = by_hand(pyarrow.csv.read_csv("release/table.csv").to_pydict(), "ill")
    assert known > 0
    said = f"{known} of 418 people are in groups in which everybody has the same value of 'ill'"
    document = json.loads(shown.stdout)
    assert document["certain"] == [{"attribute": "ill", "people": known, "among": 418, "noun": "person"}]
    assert f"{said}: anyone who finds their group knows it" in shown.stderr.replace("\n", " ")
    assert any(said in note for note in document["notes"]) and said in document["verdict"] and document["holds"]
    audited = CliRunner().invoke(main, ["audit", "release", "--original", "people.csv"])
    assert audited.exit_code == 0 and said in audited.stdout.replace("\n", " ")
    advice = shown.stderr.partition('--promise "')[2].partition('"')[0]
    helped = CliRunner().invoke(main, [*words, "--promise", "k-anonymity(k=3)", "--promise", advice, "--json"])
    assert helped.exit_code == 0 and json.loads(helped.stdout)["certain"] == []
    assert "anyone who finds" not in helped.stderr


def test_python_has_the_number_for_each_sensitive_attribute(tmp_path: Path) -> None:
    table = dc.read(people(), quasi=["age", "sex"], sensitive=["ill", "pay"], categorical=["pay"])
    promises = ["k-anonymity(k=2)", "l-diversity(l=1.5, attribute=ill)", "l-diversity(l=1, attribute=pay)"]
    release = dc.publish(table, promises)
    found = dc.audit(release.save(tmp_path / "release"), table)
    written = pyarrow.csv.read_csv(tmp_path / "release/table.csv").to_pydict()
    assert {one.attribute: one.people for one in found.certain} == {"pay": by_hand(written, "pay")}
    assert found.certain[0].among == 418
    (check,) = [check for check in found.checks if check.name == "certain"]
    assert found.certain[0].sentence in check.sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", ["cuts", "mondrian", "anatomy", "ambiguity", "lifting", "heterogeneous", "incognito"]
)
def test_it_is_counted_in_formats_of_groups(scheme: str, tmp_path: Path) -> None:
    rows = pa.table({"age": [20, 21, 22, 60, 61, 62], "sex": ["f"] * 6, "ill": ["a", "a", "a", "b", "b", "c"]})
    table = dc.read(rows, quasi=["age", "sex"], sensitive="ill")
    for promise in ("k-anonymity(k=3)", "l-diversity(l=1)", "beta-likeness(beta=9, variant=basic)"):
        try:
            release = dc.publish(table, promise, scheme)
        except dc.DiscreetError:
            continue
        folder = release.save(tmp_path / f"release-{len(list(tmp_path.iterdir()))}")
        found = dc.audit(folder, table, trace=release.trace)
        points = {column.name: np.array(column.values)[column.codes] for column in table.quasi}
        sure = int((np.nanmax(release.beliefs(points), axis=1) > 1 - 1e-9).sum())
        assert sum(one.people for one in found.certain) == sure


def test_persons_are_counted_and_rows_without_a_trace(tmp_path: Path) -> None:
    rows = {"id": [1, 1, 2, 2, 3, 4], "age": [20, 20, 21, 21, 70, 71], "ill": ["a", "b", "a", "c", "b", "c"]}
    table = dc.read(pa.table(rows), quasi=["age"], sensitive="ill", person="id")
    release = dc.publish(table, "k-anonymity(k=2)")
    folder = release.save(tmp_path / "release")
    assert release.groups == 2
    (known,) = dc.audit(folder, table, trace=release.trace).certain
    assert (known.people, known.among, known.noun) == (2, 4, "person"), "both of one group have a in one of their rows"
    assert dc.audit(folder, table).certain == [], "no group has one value in all its rows"


def test_what_tells_nothing_is_not_counted(tmp_path: Path) -> None:
    ages = {"age": [20, 21, 70, 71], "sex": ["f"] * 4}
    same = dc.read(pa.table({**ages, "ill": ["a"] * 4}), quasi=["age"], sensitive="ill")
    blank = dc.read(pa.table({**ages, "ill": [None, None, "a", "b"]}), quasi=["age"], sensitive="ill")
    several = pa.table({**ages, "ill": [["a"], ["a"], ["b"], []]})
    for table in (same, blank):
        release = dc.publish(table, "k-anonymity(k=2)")
        assert dc.audit(release.save(tmp_path / str(id(table))), table).certain == []
    table = dc.read(several, quasi=["age"], sensitive="ill")
    release = dc.publish(table, ["k-anonymity(k=2)", "l-diversity(l=1)"])
    found = dc.audit(release.save(tmp_path / "several"), table)
    assert [(one.attribute, one.people) for one in found.certain] == [("ill_a", 2)], "that nobody has b is no secret"


def lines_of(table: dict[str, list[Any]], by: list[str], shown: str, tells: dict[Any, Any]) -> int:
    """How many rows are alike in some columns only with rows that tell the same, by the definition."""
    alike = defaultdict(list)
    for *key, value in zip(*(table[name] for name in by), table[shown], strict=True):
        alike[tuple(key)].append(tells.get(value))
    return sum(len(told) for told in alike.values() if len(set(told)) == 1 and told[0] is not None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "sensitive", "weak", "strong"),
    [
        ("perturbation", "ill", "beta-likeness(beta=99, variant=basic)", "beta-likeness(beta=1)"),
        ("retention", "pay", "proximity(epsilon=0, m=1)", "proximity(epsilon=100, m=2)"),
    ],
)
def test_randomised_values_are_certain_where_one_value_alone_can_have_become_them(
    scheme: str, sensitive: str, weak: str, strong: str, tmp_path: Path
) -> None:
    table = dc.read(people(), quasi=["age", "sex"], sensitive=sensitive)
    for promise, some in ((weak, True), (strong, False)):
        release = dc.publish(table, promise, scheme)
        folder = release.save(tmp_path / str(some))
        found = dc.audit(folder, table)
        written = pyarrow.csv.read_csv(folder / "table.csv").to_pydict()
        values = set(written[f"{sensitive}_randomised"])
        if scheme == "perturbation":
            matrix = pyarrow.csv.read_csv(folder / "matrix.csv").to_pydict()
            prior = dict(zip(*pyarrow.csv.read_csv(folder / "prior.csv").to_pydict().values(), strict=True))
            tells = {}
            for at, line in enumerate(matrix["published"]):
                joint = {name: matrix[name][at] * count for name, count in prior.items()}
                sure_of = [name for name in joint if joint[name] > (1 - 1e-9) * sum(joint.values())]
                tells |= dict.fromkeys([line] if sure_of else [], *sure_of)
        else:
            tells = {value: value for value in values} if some else {}
        sure = lines_of(written, ["age", "sex"], f"{sensitive}_randomised", tells)
        assert [(one.attribute, one.people, one.among) for one in found.certain] == [(sensitive, sure, 418)] * some
        assert (sure > 0) == some
        points = {column.name: np.array(column.values)[column.codes] for column in table.quasi}
        assert sure == int((np.nanmax(release.beliefs(points), axis=1) > 1 - 1e-9).sum())


@pytest.mark.parametrize("scheme", ["anatomy", "cuts"])
def test_kept_columns_are_counted_by_what_is_published(scheme: str, tmp_path: Path) -> None:
    smokes = pa.array([None if at < 9 else ["no", "yes"][at % 2] for at in range(418)])
    rows = people().append_column("smokes", smokes)
    table = dc.read(rows, quasi=["age", "sex"], sensitive="pay", keep=["smokes"], categorical=["pay"])
    folder = dc.publish(table, "l-diversity(l=2)", scheme).save(tmp_path / "release")
    written = pyarrow.csv.read_csv(folder / "table.csv").to_pydict()
    by = ["age", "sex"] if scheme == "anatomy" else ["group"]
    sure = lines_of(written, by, "smokes", {"no": 0, "yes": 1})
    found = dc.audit(folder, table)
    assert [(one.attribute, one.people, one.among) for one in found.certain] == [("smokes", sure, 418)] * (sure > 0)
    assert sure > 0 or scheme == "cuts"
    assert "smokes" not in found.verdict, "the check of kept columns says that nothing is promised about them"


def test_publish_says_for_how_many_a_kept_column_is_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(people(), "people.csv")
    words = ["publish", "people.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "pay", "--keep", "ill"]
    words += ["--categorical", "pay"]
    shown = CliRunner().invoke(main, [*words, "--promise", "l-diversity(l=2)", "--scheme", "anatomy"])
    ill = {name: name for name in ("flu", "HIV", "asthma", "gout")}
    sure = lines_of(pyarrow.csv.read_csv("release/table.csv").to_pydict(), ["age", "sex"], "ill", ill)
    said = (
        f"for {sure} of 418 people, the rows with their quasi-identifiers leave only one value of 'ill': "
        "anyone who knows "
    )
    told = " ".join(shown.stderr.split())
    assert f"Note: {said}these learns it; if others must not, say --sensitive ill" in told


def test_nothing_is_certain_of_anybody_in_drawn_or_matched_rows(tmp_path: Path) -> None:
    """Drawn rows are nobody's, and it is not published which matched row is whose."""
    table = dc.read(people(60), quasi=["age", "sex"], sensitive="ill")
    release = dc.publish(table, "differential-privacy(epsilon=1)", "privbayes(domains=observed)")
    assert dc.audit(release.save(tmp_path / "drawn"), table).certain == []
    table = dc.read(people(60), quasi=["age", "sex"], sensitive="ill", keep=["pay"])
    release = dc.publish(table, "beta-likeness(beta=3)", "heterogeneous")
    assert dc.audit(release.save(tmp_path / "matched"), table, trace=release.trace).certain == []
