"""Counts of quasi-identifiers beside boxes: what they are, what estimates make of them, and that they break nothing."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.workload import run, workload
from discreet.datasets import census, patients
from discreet.releases.attributes import Attribute
from discreet.releases.marginals import Marginals
from discreet.schemes import make_scheme
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column
from support.audits import audits, failing

PROMISE = "beta-likeness(beta=2)"


def counted(folder: Path) -> dict[str, dict[str, int]]:
    """The published counts by attribute and text."""
    found: dict[str, dict[str, int]] = {}
    with (folder / "marginals.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            found.setdefault(line["attribute"], {})[line["value"]] = int(line["count"])
    return found


def column_of(values: list[Any], **how: Any) -> tuple[Any, Any]:
    """A column x, and how a release with marginals describes it."""
    table = dc.read(pa.table({"x": values, "s": ["a", "b"] * (len(values) // 2)}), quasi="x", sensitive="s", **how)
    return table.column("x"), dc.publish(
        table, "k-anonymity(k=1)", "cuts(snap=false, marginals=one-way, cells=1)"
    ).quasi[0]


# ------------------------------------------------------------------------------------------------------------ counts


def test_numbers_are_counted_in_runs_of_enough_rows() -> None:
    column, attribute = column_of([1, 1, 1, 2, 3, 3, 4, 9, 9, 9])
    marginals = Marginals.of([column], [attribute], 3)
    assert marginals.as_dict([attribute]) == {("x", "1"): 3, ("x", "9"): 3, ("x", "[1, 9]"): 4}
    column, attribute = column_of([1, 1, 2, 2, 3, 3, 4, 5])
    assert Marginals.of([column], [attribute], 3).as_dict([attribute]) == {("x", "[1, 2]"): 4, ("x", "[3, 5]"): 4}


def test_runs_of_many_different_numbers_end_on_a_grid() -> None:
    rng = np.random.default_rng(2)
    values = np.round(rng.exponential(30_000.0, 900), 2)
    column, attribute = column_of([*values.tolist(), *([0.0] * 100)])
    (cells,) = Marginals.of([column], [attribute], 10).cells
    ends = {float(end) for text in cells if text[0] == "[" for end in text.strip("[]").split(", ")}
    assert "0" in cells and len(ends) > 50
    assert attribute.step == 0.01  # cents, of which the cells of the grid have a number
    step = next(3 * 2**at for at in range(99) if 3 * 2**at >= values.max() * 100 / 1000)
    cents = {round(end * 100) for end in ends - {values.max()}}
    assert all(cent % step in (0, step - 1) for cent in cents)
    assert all(len(text.strip("[]").split(", ")[0].partition(".")[2]) <= 2 for text in cells)


def test_runs_of_numbers_without_a_step_end_on_a_grid_of_lengths() -> None:
    values = np.random.default_rng(2).exponential(30_000.0, 900)
    column, attribute = column_of([*values.tolist(), *([0.0] * 100)])
    (cells,) = Marginals.of([column], [attribute], 10).cells
    ends = {float(end) for text in cells if text[0] == "[" for end in text.strip("[]").split(", ")} - {values.max()}
    step = next(3.0 * 2.0**at for at in range(-9, 99) if 3.0 * 2.0**at >= values.max() / 1000)
    assert attribute.step is None and all(end % step == 0 for end in ends)
    assert not ends & set(values.tolist())


def test_a_column_with_one_cell_is_not_counted() -> None:
    column, attribute = column_of([1, 2, 3, 4])
    assert Marginals.of([column], [attribute], 3).as_dict([attribute]) == {}


def test_few_missing_numbers_leave_a_column_uncounted_and_many_are_a_cell() -> None:
    values = [1, 1, 1, 2, 2, 2, None, None]
    column, attribute = column_of(values, missing="value")
    assert Marginals.of([column], [attribute], 3).as_dict([attribute]) == {}
    assert Marginals.of([column], [attribute], 2).as_dict([attribute])["x", "(missing)"] == 2


@pytest.mark.parametrize("snap", ["true", "false"])
def test_few_numbers_beside_missing_ones_leave_a_column_uncounted(snap: str) -> None:
    values = [None] * 11 + [5, 5, 7, 7, 8, 8, 9, 10, 11]
    table = dc.read(pa.table({"x": values, "s": ["a", "b"] * 10}), quasi="x", sensitive="s", missing="value")
    release: Any = dc.publish(table, "l-diversity(l=1.5)", f"cuts(snap={snap}, marginals=one-way, cells=10)")
    assert release.marginals.as_dict(release.quasi) == {}
    audits(release, table)


def test_rare_categories_are_counted_together() -> None:
    column, attribute = column_of([*"aaaabbbb", "c", "d", "e", "f"])
    assert Marginals.of([column], [attribute], 4).as_dict([attribute]) == {("x", "a"): 4, ("x", "b"): 4, ("x", "*"): 4}
    # three rows would be too few: the smallest of the others joins them
    column, attribute = column_of([*"aaaaabbbb", "c", "d", "e"])
    assert Marginals.of([column], [attribute], 4).as_dict([attribute]) == {("x", "a"): 5, ("x", "*"): 7}


def test_a_label_counts_the_rows_that_no_narrower_one_does() -> None:
    tree = {"north": ["a", "b", "c"], "south": ["d", "e"]}
    values = [*"aaaabbccc", *"ddddeeeeee", "e"]
    column, attribute = column_of(values, hierarchies={"x": tree})
    found = Marginals.of([column], [attribute], 4).as_dict([attribute])
    assert found == {("x", "a"): 4, ("x", "north"): 5, ("x", "d"): 4, ("x", "e"): 7}


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 9), st.booleans())
def test_every_row_is_in_one_cell_and_every_cell_has_enough(values: list[int], least: int, named: bool) -> None:
    rows = np.array(values)
    if named:
        tree = Hierarchy.of("x", {str(low): [f"{low}{at}" for at in range(4)] for low in range(4)})
        codes = (rows % 16).astype(np.int32)
        column: Any = dc.read(
            pa.table({"x": [tree.leaves[code] for code in codes], "s": ["a"] * len(codes)}),
            quasi="x",
            sensitive="s",
            hierarchies={"x": tree},
        ).column("x")
        attribute = dc.releases.attributes.describe(column, "quasi")
    else:
        column, attribute = column_of([*values, *values])
    found = Marginals.of([column], [attribute], least).as_dict([attribute])
    assert not found or (sum(found.values()) == len(column.codes) and min(found.values()) >= least)


def on_grid(rows: Counter[int], size: int, least: int) -> dict[str, int]:
    """The counts of a domain from 0 whose intervals end on a grid, by their definition."""
    cells = [[low, low + 1] for low in range(0, size - size % 2, 2)]
    cells[-1] = list(range(cells[-1][0], size))
    runs: list[list[list[int]]] = []
    alone = [all(rows[value] >= least for value in cell) for cell in cells]
    while True:
        runs = [
            [cells[at] for at, _ in members]
            for apart, members in itertools.groupby(enumerate(alone), lambda each: each[1])
            if not apart
        ]
        short = [few for few in runs if sum(rows[value] for cell in few for value in cell) < least]
        if not short or not any(alone):
            break
        for few in short:
            first, last = cells.index(few[0]), cells.index(few[-1])
            alone[last + 1 if last + 1 < len(cells) else first - 1] = False
    found = {str(value): rows[value] for cell, apart in zip(cells, alone, strict=True) if apart for value in cell}
    for cells in runs:
        start, had, left = cells[0][0], 0, sum(rows[value] for cell in cells for value in cell)
        for cell in cells:
            held = sum(rows[value] for value in cell)
            had, left = had + held, left - held
            if held and had >= least and left >= least:
                found[f"[{start}, {cell[-1]}]"] = had
                start, had = cell[-1] + 1, 0
        found[f"[{start}, {cells[-1][-1]}]"] = had
    return found


@given(st.lists(st.integers(0, 12), min_size=8, max_size=60), st.integers(1, 9), st.sampled_from([13, 14, 20]))
def test_numbers_are_counted_alone_where_all_of_their_cell_are(values: list[int], least: int, size: int) -> None:
    codes, numbers = np.unique(values, return_inverse=True)[::-1]
    column = Column("x", "numeric", codes.astype(np.int32), numbers.astype(float), domain=(0.0, size - 1.0))
    attribute = Attribute("x", "quasi", "numeric", (0.0, size - 1.0), declared=True, unit=1.0)
    found = Marginals.of([column], [attribute], least)
    expected = on_grid(Counter(values), size, least)
    wanted = {("x", text): count for text, count in expected.items()} if len(expected) > 1 else {}
    assert found.as_dict([attribute]) == wanted
    for ends in (text for _, text in wanted if text[0] == "["):
        low, high = map(int, ends.strip("[]").split(", "))
        assert low % 2 == 0 and (high % 2 == 1 or high == size - 1)


# --------------------------------------------------------------------------------------------------------- estimates


def naive_shares(texts: list[set[Any]], rows: list[int], cells: list[set[Any]], counts: list[int]) -> np.ndarray:
    """How the rows under each text lie in the values, by proportional fitting of a table value by value."""
    values = sorted(set().union(*texts))
    of_value = {}
    for value in values:  # -1 for one between the counted ones
        holding = [at for at, cell in enumerate(cells) if value in cell]
        of_value[value] = min(holding, key=lambda at: len(cells[at]), default=-1)
    sizes = Counter(of_value.values())
    start = [counts[of_value[value]] / sizes[of_value[value]] if of_value[value] >= 0 else 0.0 for value in values]
    spread = np.array([[start[at] if value in text else 0.0 for at, value in enumerate(values)] for text in texts])
    groups = np.array([of_value[value] for value in values])
    for _ in range(300):
        spread *= (np.array(rows) / spread.sum(axis=1))[:, None]
        for cell, count in enumerate(counts):
            held = spread[:, groups == cell].sum()
            if held:
                spread[:, groups == cell] *= count / held
    spread *= (np.array(rows) / spread.sum(axis=1))[:, None]
    return spread


@pytest.mark.parametrize("scheme", ["mondrian", "cuts", "lifting", "sealed"])
def test_boxes_together_have_the_counts_of_every_column(scheme: str, tmp_path: Path) -> None:
    """Rounds of fitting bring the estimate of every cell near its count."""
    table = census(500)
    release = dc.publish(table, PROMISE, f"{scheme}(marginals=one-way)")
    folder = release.save(tmp_path / "release")
    for name, cells in counted(folder).items():
        for text, number in cells.items():
            alone = [other for other in cells if other[0] not in "[*" and other.isdigit()]
            low, _, high = text.strip("[]").partition(", ")
            if name in ("age", "education"):
                estimate = release.estimate(dc.Query(dc.Range(name, float(low), float(high or low))))
            elif text != "*":
                estimate = release.estimate(dc.Query(dc.OneOf(name, (text,))))
            else:
                continue
            inside = sum(cells[one] for one in alone if high and float(low) <= float(one) <= float(high))
            assert estimate == pytest.approx(number + inside, rel=0.05, abs=0.5), (name, text)


@given(st.integers(0, 10_000))
def test_estimates_are_those_of_fitting_value_by_value(seed: int) -> None:
    chance = np.random.default_rng(seed)
    number = 24
    data = pa.table(
        {
            "age": chance.integers(0, 9, number),
            "town": chance.choice(list("abcdef"), number),
            "s": chance.permutation(list("pqr") * (number // 3)),
        }
    )
    table = dc.read(data, quasi=["age", "town"], sensitive="s", domains={"age": (0, 8)})
    release: Any = dc.publish(table, "k-anonymity(k=4)", "mondrian(values=set, marginals=one-way, cells=3)")
    marginals, expected = release.marginals, {}
    for axis, attribute in enumerate(release.quasi):
        names = list(range(9)) if attribute.name == "age" else sorted(set(data["town"].to_pylist()))

        def members(text: str, names: list[Any] = names) -> set[Any]:
            if text == "*":
                return set(names)
            if text[0] == "{":
                return set(text.strip("{}").split(", "))
            low, _, high = text.strip("[]").partition(", ")
            return {low} if isinstance(names[0], str) else set(range(int(low), int(high or low) + 1))

        words, of_group = release.texts[axis]
        sizes = np.bincount(of_group, release.sizes, minlength=len(words)).astype(int).tolist()
        texts = [members(text) for text in words]
        if not marginals.cells[axis]:
            expected[attribute.name] = {
                value: [(value in text) / len(text) for text in texts] for value in set().union(*texts)
            }
            continue
        cells = [members(text) for text in marginals.cells[axis]]
        covered = set().union(*texts)
        spread = naive_shares(texts, sizes, [cell & covered for cell in cells], marginals.counts[axis].tolist())
        for at, value in enumerate(sorted(covered)):
            shares = [spread[text, at] / sizes[text] for text in range(len(words))]
            expected.setdefault(attribute.name, {})[value] = shares
    values = release.values.tolist()
    for age, town in itertools.product(expected["age"], expected["town"]):
        wanted = 0.0
        for group, text in enumerate(zip(*(of for _, of in release.texts), strict=True)):
            had = sum(release.sensitive_codes[release.group_of == group] == values.index("p"))
            wanted += had * expected["age"][age][text[0]] * expected["town"][town][text[1]]
        query = dc.Query((dc.Range("age", age, age), dc.OneOf("town", (town,)), dc.OneOf("s", ("p",))))
        assert release.estimate(query) == pytest.approx(wanted, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["cuts", "sealed", "burel", "heterogeneous", "lifting"])
def test_counts_are_much_better_with_them(scheme: str) -> None:
    table = census(3_000)
    queries = workload(table, dimensionality=2, number=500)
    errors = []
    for options in ("marginals=none", "marginals=one-way"):
        release = dc.publish(table, PROMISE, make_scheme(f"{scheme}({options})", random_state=1))
        errors.append(run(release, table, queries).median)
    without, fitted = errors
    assert fitted < (0.95 if scheme == "lifting" else 0.7) * without


def test_decimals_and_dates_are_fitted_too() -> None:
    rng = np.random.default_rng(1)
    weights = np.round(40.0 + rng.exponential(20.0, 400), 1)
    born = [f"{1950 + int(weight) % 60}-03-17" for weight in weights]
    data = pa.table({"weight": weights, "born": born, "s": rng.choice(list("abcd"), 400)})
    table = dc.read(data, quasi=["weight", "born"], sensitive="s", dates={"born": "%Y-%m-%d"})
    fitted, even = (
        dc.publish(table, "l-diversity(l=3.5)", f"sealed({how})") for how in ("marginals=one-way", "marginals=none")
    )
    audits(fitted, table)
    for sql in ("weight <= 50", "born < '1975-01-01'"):
        query = fitted.query(f"SELECT COUNT(*) FROM t WHERE {sql}")
        truth = query.count(table)
        assert abs(fitted.estimate(query) - truth) < 8 < abs(even.estimate(query) - truth), sql


# ---------------------------------------------------------------------------------------------------------- promises


def worlds(boxes: list[list[set[Any]]], marginals: list[dict[frozenset[Any], int]]) -> Any:
    """All tables of quasi-identifiers, row by row, that agree with the boxes of rows and the counts of columns."""
    for rows in itertools.product(*(itertools.product(*map(sorted, box)) for box in boxes)):
        for axis, counts in enumerate(marginals):
            found = Counter(min((cell for cell in counts if row[axis] in cell), key=len) for row in rows)
            if found != counts:
                break
        else:
            yield rows


@pytest.mark.parametrize("snap", ["true", "false"])
@pytest.mark.parametrize("seed", range(6))
def test_k_anonymity_is_never_narrowed(seed: int, snap: str) -> None:
    """Whoever may have one row of the table may have at least k of them, in the light of all worlds that agree."""
    chance, k = np.random.default_rng(seed), 2
    data = pa.table({"a": chance.integers(0, 3, 6), "b": chance.integers(0, 2, 6), "s": list("pqpqpq")})
    table = dc.read(data, quasi=["a", "b"], sensitive="s")
    release: Any = dc.publish(table, f"k-anonymity(k={k})", f"mondrian(snap={snap}, marginals=one-way, cells=1)")
    audits(release, table)
    assert release.marginals.least == k
    top = int(max(attribute.domain[1] for attribute in release.quasi))

    def members(text: str) -> frozenset[int]:
        low, _, high = text.strip("[]").partition(", ")
        return frozenset(range(top + 1)) if text == "*" else frozenset(range(int(low), int(high or low) + 1))

    boxes = [[set(members(words[of_group[group]])) for words, of_group in release.texts] for group in release.group_of]
    counts = [
        {members(text): int(count) for text, count in zip(texts, numbers, strict=True)}
        for texts, numbers in zip(release.marginals.cells, release.marginals.counts, strict=True)
    ]
    counts = [each or {frozenset(range(top + 1)): 6} for each in counts]
    may_have: dict[tuple[int, ...], set[int]] = {}
    for rows in worlds(boxes, counts):
        for place, row in enumerate(rows):
            may_have.setdefault(row, set()).add(place)
    people = set(zip(*(data[name].to_pylist() for name in "ab"), strict=True))
    assert people <= may_have.keys()
    assert min(map(len, may_have.values())) >= k


def test_cells_have_at_least_as_many_rows_as_groups_must_have(tmp_path: Path) -> None:
    release = dc.publish(census(400), "k-anonymity(k=25)", "cuts(marginals=one-way)")
    folder = release.save(tmp_path / "release")
    assert json.loads((folder / "release.json").read_text())["marginals"]["least"] == 25
    assert all(min(cells.values()) >= 25 for cells in counted(folder).values())


@pytest.mark.parametrize(
    ("promise", "scheme", "why"),
    [
        ("alpha-beta(alpha=0.5, beta=0.5)", "cuts", "publishes which values occur.*say marginals=none"),
        ("l-diversity(l=2)", "codip", "no counts of quasi-identifiers; say marginals=none"),
    ],
)
def test_promises_that_they_would_break_are_refused(promise: str, scheme: str, why: str) -> None:
    text = "codip(scheme=cuts(marginals=one-way))" if scheme == "codip" else f"{scheme}(marginals=one-way)"
    with pytest.raises(dc.DiscreetError, match=why):
        dc.publish(patients(), promise, text)


def test_a_promise_that_leaves_presence_open_admits_them() -> None:
    audits(dc.publish(census(300), "alpha-beta(alpha=1, beta=0.5)", "mondrian(marginals=one-way)"), census(300))


def test_options_that_contradict_them_are_refused() -> None:
    for scheme in ("cuts(descriptions=exact, marginals=one-way)", "sealed(descriptions=exact, marginals=one-way)"):
        with pytest.raises(dc.DiscreetError, match="descriptions=exact publishes all quasi-identifiers, and marginals"):
            make_scheme(scheme)
    with pytest.raises(dc.DiscreetError, match="marginals=one-way publishes groups, and publishes=graph none"):
        make_scheme("heterogeneous(publishes=graph, marginals=one-way)")
    with pytest.raises(dc.DiscreetError, match="cells"):
        make_scheme("cuts(marginals=one-way, cells=0)")


def test_withheld_rows_and_several_rows_of_a_person_are_refused() -> None:
    data = pa.table({"id": [1, 1, 2, 3, 4], "age": [1, 2, 3, 4, 5], "s": list("aabbc")})
    table = dc.read(data, quasi="age", sensitive="s", person="id")
    with pytest.raises(dc.DiscreetError, match=r"persons who have several rows; say marginals=none$"):
        dc.publish(table, "l-diversity(l=2)", "cuts(marginals=one-way)")
    data = pa.table({"age": [1, 2, 3, 4, None, None], "s": list("ababab")})
    table = dc.read(data, quasi="age", sensitive="s", missing="withhold")
    with pytest.raises(dc.DiscreetError, match="rows that are withheld; say marginals=none, or withhold none"):
        dc.publish(table, "l-diversity(l=2)", "cuts(marginals=one-way)")


# -------------------------------------------------------------------------------------------------------------- files


def has_them(table: Any, promise: str, scheme: str, folder: Path) -> bool:
    """Whether a saved release has marginals; its options do not say so if nobody asked."""
    release = dc.publish(table, promise, scheme)
    manifest = json.loads((release.save(folder) / "release.json").read_text())
    assert not {"marginals", "cells"} & manifest["scheme"]["options"].keys()
    assert ("marginals" in manifest) == (folder / "marginals.csv").is_file()
    assert dc.audit(folder, table, trace=release.trace).holds
    return "marginals" in manifest


@pytest.mark.parametrize(
    ("promise", "scheme", "has"),
    [
        (PROMISE, "cuts", True),
        (PROMISE, "lifting", True),
        (PROMISE, "cuts(marginals=none)", False),
        (PROMISE, "cuts(descriptions=exact)", False),
        (PROMISE, "heterogeneous(publishes=graph)", False),
        ("k-anonymity(k=3) & beta-likeness(beta=2)", "cuts", True),
        ("k-anonymity(k=3)", "cuts", False),
        ("alpha-beta(alpha=0.5, beta=0.5)", "cuts", False),
    ],
)
def test_they_are_the_default_where_sensitive_values_are_protected(
    promise: str, scheme: str, has: bool, tmp_path: Path
) -> None:
    assert has_them(patients(), promise, scheme, tmp_path / "release") is has


def test_withheld_rows_and_persons_have_none_by_default(tmp_path: Path) -> None:
    data = pa.table({"id": [1, 1, 2, 3, 4, 5], "age": [1, 2, 3, 4, 5, None], "s": list("aabbcc")})
    for number, how in enumerate(({"person": "id", "missing": "value"}, {"missing": "withhold"})):
        table = dc.read(data, quasi="age", sensitive="s", **how)
        release = dc.publish(table, "l-diversity(l=1.5)", "cuts", most_withheld=1.0)
        assert release.marginals is None and (number == 0) == (release.withheld == 0)


@pytest.mark.parametrize("scheme", ["cuts", "incognito", "burel", "sealed", "mirrored", "lifting"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_releases_are_audited_and_loaded_with_them(scheme: str, format: Any, tmp_path: Path) -> None:
    table = census(400)
    release = dc.publish(table, PROMISE, f"{scheme}(marginals=one-way, values=label)")
    folder = release.save(tmp_path / "release", format)
    assert (folder / f"marginals.{format}").is_file()
    found = dc.audit(folder, table)
    assert found.holds, found.sentences()
    (check,) = (check for check in found.checks if check.name == "marginals")
    assert "follow from quasi-identifiers alone" in check.sentence
    sql = "SELECT COUNT(*) FROM t WHERE age BETWEEN 30 AND 40"
    assert dc.load(folder).estimate(sql) == pytest.approx(release.estimate(sql))


def test_the_manifest_names_only_what_stands_in_a_cell(tmp_path: Path) -> None:
    towns = [*["Aa"] * 20, *["Bb"] * 20, *(f"village {number}" for number in range(20))]
    data = pa.table({"town": towns, "s": list("abcd") * 15})
    table = dc.read(data, quasi="town", sensitive="s")
    folder = dc.publish(table, "beta-likeness(beta=0.1)", "burel(marginals=one-way)").save(tmp_path / "release")
    assert counted(folder) == {"town": {"*": 20, "Aa": 20, "Bb": 20}}
    assert "village" not in (folder / "release.json").read_text() and '"Aa"' in (folder / "release.json").read_text()
    assert dc.audit(folder, table).holds


def test_an_audit_with_a_population_says_what_was_not_computed(tmp_path: Path) -> None:
    table = census(300)
    folder = dc.publish(table, PROMISE, "cuts(marginals=one-way)").save(tmp_path / "release")
    assert "was not computed" in dc.audit(folder, table, population=table).verdict


def test_options_that_state_other_counts_are_found(tmp_path: Path) -> None:
    folder = dc.publish(patients(), PROMISE, "cuts(marginals=one-way, cells=12)").save(tmp_path / "release")
    assert dc.audit(folder, patients()).holds
    text = (folder / "release.json").read_text()
    for number in (25, 2):
        (folder / "release.json").write_text(text.replace('"cells": 12', f'"cells": {number}'))
        assert set(failing(dc.audit(folder, patients()))) == {"marginals"}


def test_runs_of_snapped_numbers_fill_the_domain(tmp_path: Path) -> None:
    """No end of a run is that of the numbers in it: the next run begins where it ends."""
    rng = np.random.default_rng(1)
    pay = np.round(rng.uniform(1_000, 90_000, 60), 2)
    data = pa.table({"pay": pay, "s": ["ab"[at % 2] for at in range(60)]})
    folder = dc.publish(dc.read(data, quasi="pay", sensitive="s"), "l-diversity(l=2)", "cuts(snap=true)").save(
        tmp_path / "release"
    )
    ends = sorted([float(end) for end in text.strip("[]").split(", ")] for text in counted(folder)["pay"])
    domain = json.loads((folder / "release.json").read_text())["attributes"][0]["domain"]
    assert len(ends) > 3 and [ends[0][0], ends[-1][1]] == domain
    assert all(round(high + 0.01, 2) == low for (_, high), (low, _) in itertools.pairwise(ends))
    assert not {end for pair in ends for end in pair} & set(pay.tolist())
