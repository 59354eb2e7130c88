"""PrivBayes: noise and choices have the probabilities that the proof needs, and nothing else tells of anyone."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import randomness
from discreet.command.main import main
from discreet.families.privbayes import chance
from discreet.families.privbayes.cells import Ranges, cells_of
from discreet.families.privbayes.network import ROUNDED, UNITS, Budget, Node, drawn, information, sensitivity
from discreet.families.privbayes.release import Privacy
from discreet.table.hierarchy import Hierarchy
from support.attacked import MAKERS, PROMISES, release_by
from support.attacked import people as attacked_people
from support.audits import audits, failing, said

ILLS = ("angina", "cold", "flu", "gout")


def people(rows: int = 400, seed: int = 0, **more: Any) -> dc.Table:
    """Everything is declared: the ends of ages and wages, and the lists of sexes and illnesses."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    columns = {
        "age": age,
        "sex": rng.choice(["f", "m"], rows),
        "wage": age * 100.5 + rng.integers(0, 40, rows),
        "ill": np.array(ILLS)[np.minimum(age // 15 - 1, 3)],
    }
    lists = {"sex": Hierarchy.flat("sex", ["f", "m", "x"]), "ill": Hierarchy.flat("ill", ILLS)}
    how = {"quasi": ["age", "sex", "wage"], "sensitive": "ill", "keep": [], "hierarchies": lists, **more}
    ends = {"age": (0, 120), "wage": (0, 20_000)}
    used = {*how["quasi"], *how["keep"], *np.atleast_1d(how["sensitive"])}
    return dc.read(pa.table(columns), domains={name: ends[name] for name in ends if name in used}, **how)


# ------------------------------------------------------------------------------------------------------------- chance


def off(found: Counter[int], expected: dict[int, float]) -> float:
    """The largest deviation of a frequency from its probability, in standard deviations."""
    total = found.total()
    return max(abs(found[k] - total * p) / math.sqrt(total * p * (1 - p)) for k, p in expected.items())


@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0])
def test_noise_has_the_stated_probabilities(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the operating system's bytes and from a seed; 5 standard deviations of 40 frequencies: once in 40,000."""
    monkeypatch.setattr(randomness, "_entropy", np.random.default_rng(3).bytes)
    q, parts = math.exp(-rate), int(rate * chance.PARTS)
    expected = {k: (1 - q) / (1 + q) * q ** abs(k) for k in range(-20, 21) if q ** abs(k) > 1e-3}
    for seeded in (None, np.random.default_rng(1)):
        assert off(Counter(chance.noise(parts, 40_000, seeded).tolist()), expected) < 5


@pytest.mark.slow
def test_choices_have_the_stated_probabilities() -> None:
    scores, rate = np.array([3, 0, 5, 4]), 0.5
    weights = np.exp(scores * rate)
    expected = dict(enumerate((weights / weights.sum()).tolist()))
    rng = np.random.default_rng(5)
    found = Counter(chance.choice(scores, int(rate * chance.PARTS), rng) for _ in range(2000))
    assert off(found, expected) < 5
    assert chance.choice(np.array([0, 10**9]), chance.PARTS) == 1  # which is not tried for ever


def test_survival_is_exponential() -> None:
    rng = np.random.default_rng(7)
    for decay in (0.0, 0.3, 1.0, 2.5):
        alive = chance.survives(np.full(40_000, int(decay * chance.PARTS)), rng).mean()
        assert abs(alive - math.exp(-decay)) <= 5 * math.sqrt(0.25 / 40_000)


# ------------------------------------------------------------------------------------------------------------ the proof


@pytest.mark.parametrize("epsilon", [0.01, math.log(3), 1.0, 7.5])
@pytest.mark.parametrize("width", [2, 3, 9])
def test_what_is_spent_adds_up_to_epsilon(epsilon: float, width: int) -> None:
    """Never more, and hardly less: d - 1 choices whose scores change by so many units, d tables with two counts."""
    budget = Budget.of(epsilon, width, 1000)
    units = Fraction(budget.choice * 2 * (UNITS + ROUNDED) * (width - 1), chance.PARTS)
    counts = Fraction(budget.noise * 2 * width, chance.PARTS)
    assert units + counts <= Fraction(epsilon)
    assert units + counts >= Fraction(epsilon) * Fraction(99, 100)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 3, 4, 5])
def test_one_row_changes_mutual_information_by_no_more_than_is_reckoned_with(rows: int) -> None:
    """All tables of so few rows with three values in each of two columns, and all their neighbours."""
    cells = list(product(range(3), range(3)))
    told = {}
    for some in combinations_with_replacement(range(9), rows):
        columns = np.array([cells[at] for at in some]).T
        told[some] = information([columns[0], columns[1]], [3, 3], Node(0, ((1, 3),)))
    worst = 0.0
    for some, had in told.items():
        rest = Counter(some)
        for at, cell in product(range(rows), range(9)):
            other = tuple(sorted((rest - Counter([some[at]]) + Counter([cell])).elements()))
            worst = max(worst, abs(had - told[other]))
    assert 0 < worst <= sensitivity(rows) + 1e-12


def test_nothing_but_the_drawn_rows_differs_between_neighbours() -> None:
    """One person may have any values that were declared: cells, lists, ends and the network's sizes stay the same."""
    table = people()
    first, wage, ill = table.quasi[0], table.quasi[2], table.sensitive[0]
    codes = [column.codes.copy() for column in (first, wage, ill)]
    oldest = np.flatnonzero(first.values[codes[0]] == first.values.max())
    codes[0][oldest] = 0  # the oldest become young, so that another is the largest age
    codes[1][:] = codes[1][0]
    codes[2][:] = 0
    other = replace(
        table,
        quasi=(replace(first, codes=codes[0]), table.quasi[1], replace(wage, codes=codes[1])),
        sensitive=(replace(ill, codes=codes[2]),),
    )
    made = [dc.publish(one, "differential-privacy(epsilon=1)") for one in (table, other)]
    for key in ("attributes", "rows", "privacy", "assumptions", "scheme"):
        assert made[0].manifest[key] == made[1].manifest[key], key
    sizes = [[one.size for one in cells_of(each, False, 50)] for each in (table, other)]
    assert sizes[0] == sizes[1]


GRADES = ("low", "mid", "high")
CELLS = {
    "age": ["0", "7", "07", "119.5", "120", "1e2", "-1", "", "old"],
    "pay": ["0.5", "10", "20.25", "", "0.1"],
    "sex": ["f", "m", "x", "", "(missing)", "?"],
    "grade": ["low", "mid", "high", "", "none"],
    "code": ["01", "2", "", "3"],
    "seen": ["2001-01-01", "2001-06-30", "2001-06-30 10:30", "", "2002-01-01"],
    "ill": [*ILLS, "", "new"],
}
"""Cells that one person may have: declared ones, others, numbers spelt oddly, and missing ones."""
SOUND = {
    "age": "30", "pay": "1.5", "sex": "f", "grade": "mid", "code": "2", "seen": "2001-03-04", "ill": "flu"
}  # fmt: skip


def declared(lines: list[dict[str, str]], path: Path, ends: tuple[str, str]) -> dc.Table:
    """Read a file of texts with everything declared: kinds are inferred from cells, unless a declaration says them."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(SOUND))
        writer.writeheader()
        writer.writerows(lines)
    lists = {"sex": ["f", "m", "x"], "grade": GRADES, "code": ["01", "2", "3"], "ill": ILLS}
    return dc.read(
        path,
        quasi=[name for name in SOUND if name != "ill"],
        sensitive="ill",
        ordinal=["grade"],
        missing="value",
        domains={"age": (0, 120), "pay": (0.5, 99.5), "seen": ends},
        hierarchies={name: Hierarchy.flat(name, some) for name, some in lists.items()},
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_one_row_changes_nothing_but_the_drawn_rows(data: st.DataObject) -> None:
    """Of two tables that differ in one row, either one is refused or the manifests are equal, and the files alike."""
    days = data.draw(st.booleans())
    ends = ("2001-01-01", "2001-12-31") if days else ("2001-01-01T00:00", "2001-12-31T23:59")
    rest = [{**SOUND, "seen": SOUND["seen"] if days else "2001-03-04 05:06"} for _ in range(5)]
    changed = data.draw(st.sets(st.sampled_from(sorted(CELLS)), max_size=2))
    odd = {name: data.draw(st.sampled_from(CELLS[name])) for name in sorted(changed)}
    made, refused = [], 0
    with TemporaryDirectory() as folder:
        for at, lines in enumerate(([*rest, rest[0]], [*rest, {**rest[0], **odd}])):
            try:
                table = declared(lines, Path(folder) / "table.csv", ends)
                release = dc.publish(table, "differential-privacy(epsilon=1)")
            except dc.DiscreetError:
                assert at, "a table of declared values is refused"
                refused += 1
                continue
            home = release.save(Path(folder) / str(at))
            manifest = json.loads((home / "release.json").read_text())
            tables = manifest.pop("tables")
            kinds = [(one.schema, one.num_rows) for one in release.tables(numbers=False).values()]
            made.append((manifest, sorted(tables), kinds))
    assert refused or made[0] == made[1]
    if "" in odd.values():
        assert refused, "a missing cell is published"


@pytest.mark.parametrize(("name", "way"), [("age", "fill in a number"), ("sex", "such as 'unknown'")])
@pytest.mark.parametrize("missing", ["value", "withhold"])
def test_missing_cells_are_refused_where_domains_are_declared(name: str, way: str, missing: str) -> None:
    columns: dict[str, list[Any]] = {"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"], "ill": ["a", "b", "a", "b"]}
    columns[name][2] = None
    lists = {"sex": Hierarchy.flat("sex", ["f", "m"]), "ill": Hierarchy.flat("ill", ["a", "b"])}
    table = dc.read(
        pa.table(columns),
        quasi=["age", "sex"],
        sensitive="ill",
        missing=missing,
        domains={"age": (0, 99)},
        hierarchies=lists,
    )
    with pytest.raises(dc.DiscreetError, match=f"column '{name}' may have missing values.*{way}.*domains=observed"):
        dc.publish(table, "differential-privacy(epsilon=1)", most_withheld=1)


@pytest.mark.parametrize(
    ("numbers", "domain", "step"),
    [([1, 2, 9], (0, 120), 1.0), ([0.5, 0.7], (0, 1), 0.001), ([1.5], (0, 20_000), 1.0), ([1.5], (0.5, 20_000), 10.0)],
)
def test_numbers_are_drawn_from_a_grid_of_the_domain(
    numbers: list[float], domain: tuple[float, float], step: float
) -> None:
    table = dc.read(
        pa.table({"a": numbers, "s": ["x"] * len(numbers)}), quasi=["a"], sensitive="s", domains={"a": domain}
    )
    (cells, _) = cells_of(replace(table, sensitive=(replace(table.sensitive[0], declared_values=True),)), False, 10)
    assert isinstance(cells, Ranges) and cells.step == step and cells.size <= 10
    places = np.arange(cells.size).repeat(300)
    column = cells.drawn(places, np.random.default_rng(1))
    found = column.values[column.codes]
    assert found.min() >= domain[0] and found.max() <= domain[1]
    again = dc.read(pa.table({"a": found, "s": ["x"] * len(found)}), quasi=["a"], sensitive="s", domains={"a": domain})
    if cells.step == Ranges.of(again.quasi[0], 10, False).step:
        assert Ranges.of(again.quasi[0], 10, False).codes.tolist() == places.tolist()


def test_without_noise_the_network_draws_what_there_is() -> None:
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 4, 3000), np.zeros(0), rng.integers(0, 2, 3000)]
    codes[1] = (codes[0] + codes[2]) % 4
    made = drawn(codes, [4, 4, 2], Budget.of(1e9, 3, 3000), rng, rng)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        held = [np.bincount(some[one] * 4 + some[other], minlength=16) / 3000 for some in (codes, made)]
        assert np.abs(held[0] - held[1]).max() < 5 * math.sqrt(0.25 / 3000)  # five standard deviations of a share


def test_less_is_learnt_with_less_epsilon() -> None:
    table = people(2000, quasi=["age", "sex"])

    def rate(epsilon: float) -> float:
        release = dc.publish(table, dc.DifferentialPrivacy(epsilon), dc.PrivBayes(random_state=1))
        return dc.attack(release, table, "naive-bayes", random_state=1).evidence[0].rate

    assert rate(20.0) > rate(0.01) + 0.2


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"hierarchies": {}}, r"reveal which values of 'sex' occur,.*hierarchies=\{'sex': 'FILE'\}.*observed"),
        ({"keep": ["wage"], "quasi": ["age", "sex"]}, "cannot keep 'wage' as it is; leave it out"),
    ],
)
def test_what_would_tell_of_somebody_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(dc.DiscreetError, match=told):
        dc.publish(people(**more), "differential-privacy(epsilon=1)")


def test_ends_of_numbers_and_missing_ones_are_refused_unless_public() -> None:
    columns = pa.table({"age": [20, 30, None, 50], "ill": ["a", "b", "a", "b"]})
    lists = {"ill": Hierarchy.flat("ill", ["a", "b"])}
    table = dc.read(columns, quasi=["age"], sensitive="ill", missing="value", hierarchies=lists)
    with pytest.raises(
        dc.DiscreetError, match=r"reveal the smallest and the largest number of 'age'.*domains=\{'age': \(0, 100\)\}"
    ):
        dc.publish(table, "differential-privacy(epsilon=1)")
    observed = dc.publish(table, "differential-privacy(epsilon=1)", dc.PrivBayes(domains="observed"))
    assert observed.manifest["privacy"] == {"epsilon": 1.0, "domains": "observed"}
    withheld = dc.read(columns, quasi=["age"], sensitive="ill", missing="withhold", hierarchies=lists)
    with pytest.raises(dc.DiscreetError, match=r"withholds no rows, and 1 have missing numbers.*missing='value'"):
        dc.publish(withheld, "differential-privacy(epsilon=1)", dc.PrivBayes(domains="observed"), most_withheld=1)
    with pytest.raises(dc.DiscreetError, match=r"epsilon=1e-09 is so small"):
        dc.publish(table, "differential-privacy(epsilon=1e-9)", dc.PrivBayes(domains="observed"))


# ---------------------------------------------------------------------------------------------------------- hierarchies


@pytest.mark.slow
@pytest.mark.parametrize("ends", [{}, {"age": (15, 60)}], ids=["ends of the list", "declared ends"])
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_listed_numbers_are_drawn_within_the_stated_ends(role: str, ends: dict[str, Any]) -> None:
    """Any number of a hierarchy may be drawn, whether or not it occurs, but none beyond a domain that was declared."""
    lists: Any = {
        "age": {"low": ["10", "20", "30"], "high": ["40", "50", "90"]},
        "ill": Hierarchy.flat("ill", ["a", "b"]),
    }
    other = {"quasi": "ill", "sensitive": "age"} if role == "sensitive" else {"quasi": "age", "sensitive": "ill"}
    columns = pa.table({"age": [20, 30, 40] * 10, "ill": ["a", "b"] * 15})
    table = dc.read(columns, **other, numeric="age", hierarchies=lists, domains=ends)
    drawn: set[int] = set()
    for seed in range(20):
        release = dc.PrivBayes(domains="observed", random_state=seed).publish(table, dc.DifferentialPrivacy(1))
        drawn |= set(release.tables(numbers=True)["table"]["age"].to_pylist())
        for found in audits(release, table):
            assert found.holds, found.verdict
        (age,) = (attribute for attribute in release.attributes if attribute.name == "age")
        assert age.domain == ends.get("age", (10, 90))
    assert drawn == ({20, 30, 40, 50} if ends else {10, 20, 30, 40, 50, 90})


# --------------------------------------------------------------------------------------------------------------- audits


def test_the_verdict_says_what_has_to_be_believed() -> None:
    table = people()
    (found, _) = audits(
        dc.publish(table, "differential-privacy(epsilon=1)"), table, promises="differential-privacy(epsilon=1)"
    )
    assert "which nobody can repeat, is an assumption, and so is that the listed values" in found.verdict
    seeded = dc.publish(table, "differential-privacy(epsilon=1)", dc.PrivBayes(random_state=1))
    assert "nothing is protected" in audits(seeded, table)[0].verdict
    observed = dc.publish(table, "differential-privacy(epsilon=1)", dc.PrivBayes(domains="observed"))
    revealed = "it reveals for certain which values occur, and which numbers are the smallest and the largest"
    assert revealed in audits(observed, table)[0].verdict
    assert "all of them are synthetic" in said(found, "rows")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_no_other_format_shows_differential_privacy_nor_drawn_rows_anything_else(scheme: str, tmp_path: Path) -> None:
    release, table = release_by(scheme), attacked_people()
    release.save(tmp_path / "r")
    asked = "differential-privacy(epsilon=9)" if release.of_people else "beta-likeness(beta=9)"
    found = dc.audit(tmp_path / "r", table, trace=release.trace, promises=[asked])
    assert asked in failing(found) and "cannot be judged" in failing(found)[asked]
    assert dc.audit(tmp_path / "r", table, trace=release.trace, promises=PROMISES[scheme]).holds


# --------------------------------------------------------------------------------------------------------------- asking


def test_rows_are_counted_as_they_are(tmp_path: Path) -> None:
    """Beliefs, counts by value and count queries by the definition, before and after saving."""
    table = people(150, sensitive=["ill", "wage"], quasi=["age", "sex"])
    made = dc.publish(table, "differential-privacy(epsilon=3)")
    loaded = dc.load(made.save(tmp_path / "r"))
    lines = made.tables(numbers=True)["table"].to_pylist()
    for release in (made, loaded):
        text = "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 60 AND ill IN ('flu', 'cold') AND wage >= 3000"
        asked = [
            one for one in lines if 20 <= one["age"] <= 60 and one["ill"] in ("flu", "cold") and one["wage"] >= 3000
        ]
        assert release.estimate(text) == len(asked)
        point = {"age": [lines[0]["age"], 119.5], "sex": [lines[0]["sex"], "f"]}
        alike = [one["ill"] for one in lines if (one["age"], one["sex"]) == (lines[0]["age"], lines[0]["sex"])]
        (mine, nobody) = release.beliefs(point, attribute="ill")
        values = release.known_values("ill").tolist()
        assert mine.tolist() == pytest.approx([alike.count(value) / len(alike) for value in values])
        assert np.isnan(nobody).all() and np.isnan(release.presence(point)).all()
        crossed = release.about("ill").contingency(table.quasi[1])
        for value, line in zip(table.quasi[1].values, crossed, strict=True):
            held = [one["ill"] for one in lines if one["sex"] == value]
            assert line.tolist() == [held.count(ill) for ill in values]
        beside = release.conditioned_on("ill", "wage")
        assert beside is not None and [one.name for one in beside.quasi] == ["age", "sex", "wage"]
    assert set(audits(made, table)[0].as_dict()["losses"]) == set()


def test_a_synthetic_release_has_no_trace(tmp_path: Path) -> None:
    release = dc.SyntheticRelease.of_rows(
        people(30), Privacy(1.0, "declared"), promise=dc.DifferentialPrivacy(1), scheme="by-hand"
    )
    with pytest.raises(dc.DiscreetError, match="its rows are synthetic; ask for none"):
        dc.releases.write_trace(release, tmp_path / "trace.csv")


@pytest.mark.slow
def test_the_command_publishes_audits_asks_and_attacks(tmp_path: Path) -> None:
    table, out = tmp_path / "p.csv", tmp_path / "r"
    rng = np.random.default_rng(1)
    table.write_text("age,ill\n" + "".join(f"{age},{ILLS[age % 4]}\n" for age in rng.integers(20, 60, 200)))
    (tmp_path / "ill.csv").write_text("".join(f"{ill}\n" for ill in ILLS))
    roles = ["--quasi", "age", "--sensitive", "ill"]
    publish = ["publish", str(table), "-o", str(out), *roles, "--promise", "differential-privacy(epsilon=1)"]
    refused = CliRunner().invoke(main, publish)
    assert refused.exit_code == 2 and "--domain age=0:100" in refused.output
    publish += ["--domain", "age=0:120", "--hierarchy", f"ill={tmp_path / 'ill.csv'}"]
    traced = CliRunner().invoke(main, [*publish, "--trace", str(tmp_path / "t.csv")])
    assert traced.exit_code == 2 and "its rows are synthetic" in traced.output and not out.exists()
    told = CliRunner().invoke(main, publish)
    assert told.exit_code == 0 and "is an assumption" in " ".join(told.output.split()), told.output
    for command in (
        ["audit", str(out), "--original", str(table), *roles],
        ["query", str(out), "SELECT ill, COUNT(*) FROM t GROUP BY ill"],
        ["attack", str(out), "--original", str(table)],
    ):
        told = CliRunner().invoke(main, command)
        assert told.exit_code == 0, told.output


def test_whoever_attacks_knows_which_numbers_there_are() -> None:
    """Those that were not drawn too, so that what is guessed without the release is the most frequent of them."""
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(20, 60, 300), "pay": rng.choice([0, 777], 300, p=[0.3, 0.7])}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive="pay", domains={"age": (0, 99), "pay": (0, 100_000)})
    (found,) = dc.attack(dc.publish(table, "differential-privacy(epsilon=1)"), table, "beliefs").evidence
    assert found.baseline == (columns["pay"] == 777).mean()


def test_numbers_with_a_hierarchy_need_a_domain_too() -> None:
    """Without one the ends that occur were published as if they had been declared."""
    rows = [(str(age), "young" if age < 50 else "old", "all") for age in range(0, 100)]
    tree = dc.Hierarchy.from_rows("age", rows)
    given: dict[str, Any] = {"quasi": ["age"], "sensitive": "ill", "numeric": ["age"]}
    ills = dc.Hierarchy.flat("ill", ["flu", "cold"])
    made = []
    for domains in ({}, {"age": (0, 99)}):
        for oldest in (40, 97):
            people = pa.table({"age": [30, oldest] * 20, "ill": ["flu", "cold"] * 20})
            table = dc.read(people, hierarchies={"age": tree, "ill": ills}, domains=domains, **given)
            if domains:
                made.append(dc.publish(table, "differential-privacy(epsilon=1)").manifest["attributes"])
            else:
                with pytest.raises(dc.DiscreetError, match="the smallest and the largest number of 'age'"):
                    dc.publish(table, "differential-privacy(epsilon=1)")
    assert made[0] == made[1]
