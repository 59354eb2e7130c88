"""What a synthetic release says of its numbers, their ends and its options is compared with the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.table.table import Table
from support.tampering import Alteration, altered, put, stated

ENDS = {"age": (0, 120), "wage": (0.5, 5000)}


def people(domains: dict[str, Any] = ENDS, rows: int = 300) -> Table:
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, rows)
    columns = {"age": age, "wage": age * 50.5 + rng.integers(0, 400, rows), "ill": rng.choice(["cold", "flu"], rows)}
    lists = {"ill": dc.Hierarchy.flat("ill", ["cold", "flu", "gout"])}
    return dc.read(pa.table(columns), quasi=["age", "wage"], sensitive="ill", domains=domains, hierarchies=lists)


def drawn(home: Path, **options: Any) -> Path:
    release = dc.PrivBayes(random_state=1, **options).publish(people(), dc.DifferentialPrivacy(5))
    return release.save(home)


def failing(home: Path, table: Table) -> dict[str, str]:
    return {check.name: check.sentence for check in dc.audit(home, table).checks if not check.holds}


@pytest.mark.parametrize("domains", ["declared", "observed"])
def test_what_was_drawn_holds(domains: str, tmp_path: Path) -> None:
    """Whether or not the ends of numbers are named again when the original is read."""
    home = drawn(tmp_path / "r", domains=domains)
    for table in (people(), people({})):
        assert failing(home, table) == {}


@pytest.mark.parametrize(
    ("domains", "column", "text"),
    [
        ("declared", "age", "33.5"),  # the grid of ages is that of whole numbers
        ("declared", "wage", "1200"),  # that of wages begins at 0.5
        ("observed", "age", "97"),  # which nobody is, and there are few ages
        ("observed", "wage", "1200.25"),
    ],
)
def test_numbers_that_cannot_be_drawn_are_noticed(domains: str, column: str, text: str, tmp_path: Path) -> None:
    home = drawn(tmp_path / "r", domains=domains)
    other = altered(home, tmp_path / "other", put("table", column, text))
    for table in (people(), people({})):
        found = failing(other, table)
        assert set(found) == {"grid"}
        assert f"'{column}' has {text}, which scheme 'privbayes' cannot draw" in found["grid"]


@pytest.mark.parametrize("roles", [("age", "pay"), ("pay", "age")])
def test_numbers_that_a_hierarchy_does_not_list_are_noticed(roles: tuple[str, str], tmp_path: Path) -> None:
    lists: Any = {"age": {"low": ["10", "20"], "high": ["30", "40"]}}
    columns = pa.table({"age": [20, 30] * 9, "pay": [1, 2, 3] * 6})
    ends = {"pay": (0, 9), "age": (0, 50)}
    how: dict[str, Any] = {"quasi": roles[0], "sensitive": roles[1], "domains": ends, "numeric": ["age", "pay"]}
    table = dc.read(columns, **how, hierarchies=lists)
    home = dc.PrivBayes(random_state=1).publish(table, dc.DifferentialPrivacy(5)).save(tmp_path / "r")
    other = altered(home, tmp_path / "other", put("table", "age", "25"))
    for read in (table, dc.read(columns, **how)):
        assert failing(home, read) == {}
        assert set(failing(other, read)) == {"grid"}
    (line,) = (at for at, one in enumerate(dc.load(home).manifest["attributes"]) if one["name"] == "age")
    broken = altered(home, tmp_path / "broken", stated("attributes", line, "hierarchy", value=["10", "20", "many"]))
    with pytest.raises(dc.DiscreetError, match="cannot be understood"):
        dc.audit(broken, table)


@pytest.mark.parametrize("ends", [[0, 119], [1, 120], [-1, 120]])
def test_ends_of_numbers_that_were_not_declared_are_noticed(ends: list[int], tmp_path: Path) -> None:
    """All numbers lie between these ends as well: only what was declared tells that they are others."""
    home = drawn(tmp_path / "r")
    home = altered(home, tmp_path / "within", clipped("age", *ends))
    assert failing(home, people()) == {}
    other = altered(home, tmp_path / "other", stated("attributes", 0, "domain", value=ends))
    found = failing(other, people())
    assert set(found) == {"domains"}
    assert (
        f"'age' is said to be declared as {ends[0]} to {ends[1]}, but the original was read with 0 to 120"
        in (found["domains"])
    )
    # whoever names no ends learns that they were not compared, and how they would be
    (check,) = (check for check in dc.audit(other, people({})).checks if check.name == "domains")
    assert check.holds and "read without the domains of 'age' and 'wage'" in check.sentence
    assert "domains={'age': (0, 100)}" in check.sentence


def clipped(column: str, low: float, high: float) -> Alteration:
    """All numbers of a column lie within a range."""
    return lambda folder: [
        put("table", column, lambda text: f"{min(max(float(text), low), high):g}", line)(folder)
        for line in range(len(folder.lines("table")))
    ]


def test_narrower_ends_are_said_where_nothing_is_said_of_their_being_declared(tmp_path: Path) -> None:
    home = dc.publish(people({}), "k-anonymity(k=5)", "mondrian(snap=false)").save(tmp_path / "r")
    (check,) = (check for check in dc.audit(home, people({"age": (0, 120)})).checks if check.name == "domains")
    assert check.holds and "a narrower domain for 'age' than the original was read with, 20 to 59; " in check.sentence


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["privbayes", "mondrian", "perturbation"])
def test_an_option_that_is_not_stated_is_noticed(scheme: str, tmp_path: Path) -> None:
    promises = {"privbayes": "differential-privacy(epsilon=5)", "perturbation": "beta-likeness(beta=1)"}
    promise = promises.get(scheme, "l-diversity(l=2, kind=distinct)")
    home = dc.publish(people(), promise, scheme).save(tmp_path / "r")
    options = dc.load(home).manifest["scheme"]["options"]
    assert options
    for name in options:
        rest = {key: value for key, value in options.items() if key != name}
        other = altered(home, tmp_path / name, stated("scheme", "options", value=rest))
        assert f"lacks the entry '{name}' under 'options'" in failing(other, people())["manifest"]
        # an older version may have had fewer
        assert failing(altered(other, tmp_path / f"{name}, older", stated("discreet", value="0.0.9")), people()) == {}


def test_an_epsilon_that_was_not_spent_is_noticed(tmp_path: Path) -> None:
    """Else whoever asks for more than is promised would be told that it is kept."""
    home = altered(drawn(tmp_path / "r"), tmp_path / "other", stated("privacy", "epsilon", value=1.0))
    found = dc.audit(home, people(), promises="differential-privacy(epsilon=1)")
    assert not found.holds
    assert "has 1.0 as 'epsilon' under 'privacy', which must be 5.0" in failing(home, people())["manifest"]
