"""Ends of intervals that are nobody's, against an enumeration of everything that is published alike."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections import defaultdict
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import losses
from discreet.datasets import census, patients
from discreet.releases.corners import Narrow, belief_in_likeliest
from discreet.releases.grid import Grid
from discreet.table.decimals import unit_of
from support.audits import audits, failing, said
from support.tampering import Folder, put_in_group

Ends = tuple[int, int]

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 24, 25, 26, 47, 60, 100, 131]
"""Numbers of values of small domains, each from 0."""


# ------------------------------------------------------------------------------- the rule, written from its definition


def cells_of(low: int, high: int, size: int) -> list[list[int]]:
    """The cells of a domain from 0, for an interval."""
    step = 2
    while Fraction(high - low, 8) > step:
        step *= 2
    cells = [list(range(size))[at : at + step] for at in range(0, size, step)]
    if len(cells) > 1 and len(cells[-1]) < step:
        cells[-2:] = [cells[-2] + cells[-1]]
    return cells


def by_definition(low: int, high: int, size: int) -> Ends:
    """The published ends of an interval in a domain from 0."""
    (first,) = (cell for cell in cells_of(low, high, size) if low in cell)
    (last,) = (cell for cell in cells_of(low, high, size) if high in cell)
    return first[0], last[-1]


@cache
def alike(size: int) -> dict[Ends, list[Ends]]:
    """For each published interval, all the narrow ones that are published so."""
    found: dict[Ends, list[Ends]] = defaultdict(list)
    for low, high in itertools.combinations_with_replacement(range(size), 2):
        found[by_definition(low, high, size)].append((low, high))
    return dict(found)


@pytest.mark.parametrize("size", SIZES[1:])
def test_no_end_is_certain(size: int) -> None:
    for (first, last), narrow in alike(size).items():
        assert first < last
        assert any(low > first for low, _ in narrow), (first, last)
        assert any(high < last for _, high in narrow), (first, last)


@pytest.mark.parametrize("size", SIZES[2:])
def test_neither_the_number_next_to_an_end_nor_any_other_is_certain_to_be_one(size: int) -> None:
    for ends, narrow in alike(size).items():
        for side in (0, 1):
            assert len({both[side] for both in narrow}) > 1, ends


@pytest.mark.parametrize("size", SIZES)
def test_intervals_are_widened_as_defined(size: int) -> None:
    narrow = np.array(list(itertools.combinations_with_replacement(range(size), 2)), float)
    found = np.stack(Grid(1.0, 0, size).widened(narrow[:, 0], narrow[:, 1]), axis=1)
    expected = [by_definition(int(low), int(high), size) for low, high in narrow]
    assert found.tolist() == [list(map(float, ends)) for ends in expected]


@pytest.mark.parametrize("size", SIZES)
def test_the_possible_intervals_are_those_that_are_published(size: int) -> None:
    every = list(itertools.product(range(-1, size + 1), repeat=2))
    every = [ends for ends in every if ends[0] <= ends[1]]
    low, high = np.array(every, float).T
    found = Grid(1.0, 0, size).possible(low, high)
    assert [ends for ends, can in zip(every, found, strict=True) if can] == [e for e in every if e in alike(size)]


@given(st.sampled_from(SIZES), st.sets(st.integers(0, 130), min_size=1, max_size=12))
def test_whatever_occurring_numbers_are_published_as_is_possible(size: int, numbers: set[int]) -> None:
    known = sorted({number % size for number in numbers})
    every = sorted(alike(size))
    low, high = np.array(every, float).T
    found = Grid(1.0, 0, size).possible(low, high, np.array(known, float))
    for ends, can in zip(every, found, strict=True):
        assert can == any(low in known and high in known for low, high in alike(size)[ends]), ends


@given(st.sampled_from(SIZES), st.lists(st.integers(0, 130), min_size=4, max_size=4))
def test_nested_intervals_stay_nested(size: int, numbers: list[int]) -> None:
    one, two, three, four = sorted(number % size for number in numbers)
    outer, inner = by_definition(one, four, size), by_definition(two, three, size)
    assert outer[0] <= inner[0] <= inner[1] <= outer[1]


@pytest.mark.parametrize("size", SIZES)
def test_end_cells_are_the_narrowest_that_an_interval_may_have(size: int) -> None:
    for (first, last), narrow in alike(size).items():
        cells = max((cells_of(low, high, size) for low, high in narrow), key=len)
        end = next(cell[-1] for cell in cells if first in cell)
        begin = next(cell[0] for cell in cells if last in cell)
        found = Grid(1.0, 0, size).end_cells(np.array([first]), np.array([last]))
        assert found == (end, begin)


def test_a_domain_that_nobody_declared_has_no_certain_end_either() -> None:
    found: dict[Ends, list[Ends]] = defaultdict(list)
    every = list(itertools.combinations_with_replacement(range(-60, 61), 2))
    low, high = np.array(every, float).T
    first, last = Grid.from_zero(1.0).widened(low, high)
    for narrow, ends in zip(every, zip(first.tolist(), last.tolist(), strict=True), strict=True):
        found[ends].append(narrow)
    for (bottom, top), narrow in found.items():
        if bottom > -48 and top < 48:  # further out, the enumeration does not reach
            assert any(low > bottom for low, _ in narrow)
            assert any(high < top for _, high in narrow)
        assert bottom % 2 == 0
        assert (top + 1) % 2 == 0


@pytest.mark.parametrize(
    ("numbers", "unit"),
    [([1, 2], 1.0), ([1.5, np.nan], 0.1), ([0.1, 0.25, -3], 0.01), ([1e-7], 1e-07), ([1 / 3], None), ([2.0**60], None)],
)
def test_the_unit_is_the_last_decimal_place(numbers: list[float], unit: float | None) -> None:
    assert unit_of(np.array(numbers, float)) == unit


@pytest.mark.parametrize(("values", "first", "last"), [(4, 1, 1), (5, 2, 1), (6, 2, 2), (4, 2, 2), (6, 3, 2)])
@pytest.mark.parametrize("rows", [2, 3])
def test_what_cells_at_the_ends_tell_about_presence(values: int, first: int, last: int, rows: int) -> None:
    """Of all tables with a row in either cell, the share that have a row with the likeliest value."""
    best = Fraction(0)
    for tables in (itertools.combinations(range(values), rows), itertools.product(range(values), repeat=rows)):
        agreeing = [set(table) for table in tables if min(table) < first and max(table) >= values - last]
        for value in range(values):
            best = max(best, Fraction(sum(value in table for table in agreeing), len(agreeing)))
    assert belief_in_likeliest((Narrow.interval(values, first, last),), rows) == pytest.approx(float(best))


# ------------------------------------------------------------------------------------------------------------- releases

SCHEMES = {
    "mondrian(snap=true)": "k-anonymity(k=4)",
    "cuts(snap=true)": "beta-likeness(beta=2)",
    "burel(snap=true)": "beta-likeness(beta=2)",
    "sabre(snap=true)": "t-closeness(t=0.4)",
    "heterogeneous(snap=true)": "beta-likeness(beta=2)",
    "heterogeneous(publishes=graph, snap=true)": "l-diversity(l=2)",
    "sealed(snap=true)": "beta-likeness(beta=3)",
    "mirrored(snap=true)": "beta-likeness(beta=2)",
    "lifting(values=interval, snap=true)": "beta-likeness(beta=2)",
}


def texts_of(release: Any, name: str) -> list[str]:
    """The texts that a column is published with, of every group."""
    at = [attribute.name for attribute in release.quasi].index(name)
    return [release.texts[at].texts[place] for place in release.texts[at].of_cell.tolist()]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_publishes_ends_on_the_grid(scheme: str) -> None:
    table = patients()
    release: Any = dc.publish(table, SCHEMES[scheme], scheme)
    assert release.manifest["scheme"]["options"]["snap"] is True
    age = release.quasi[0]
    assert (age.name, age.unit, age.declared) == ("age", 1.0, False)
    assert (age.domain[0] % 2, (age.domain[1] + 1) % 2) == (0, 0)
    bottom, size = int(age.domain[0]), int(age.domain[1] - age.domain[0]) + 1
    for text in texts_of(release, "age"):
        low, high = (int(end) - bottom for end in text.strip("[]").split(", "))
        assert (low, high) in alike(size)
    for found in audits(release, table):
        assert "'age'" in said(found, "grid")


def test_a_scheme_whose_text_is_about_one_person_widens_it() -> None:
    table = dc.read(
        pa.table({"x": [10, 20, 30], "s": ["a", "b", "c"]}), quasi="x", sensitive="s", domains={"x": (0, 99)}
    )
    release: Any = dc.publish(table, "k-anonymity(k=1)", "mondrian(snap=true)")
    assert sorted(texts_of(release, "x")) == ["[10, 11]", "[20, 21]", "[30, 31]"]
    assert release.quasi[0].as_dict()["unit"] == 1


def test_decimals_dates_and_declared_orders_have_grids_of_their_own() -> None:
    rows = 40
    table = dc.read(
        pa.table(
            {
                "price": [10 + at / 4 for at in range(rows)],
                "day": [f"2020-01-{1 + at % 28:02}" for at in range(rows)],
                "grade": [f"g{at % 7}" for at in range(rows)],
                "s": [f"s{at % 5}" for at in range(rows)],
            }
        ),
        quasi=["price", "day", "grade"],
        sensitive="s",
        dates={"day": "%Y-%m-%d"},
        ordinal=["grade"],
        hierarchies={"grade": {"*": [f"g{at}" for at in range(9)]}},
    )
    release: Any = dc.publish(table, "k-anonymity(k=3)", "cuts(snap=true)")
    assert [attribute.unit for attribute in release.quasi] == [0.01, 1.0, 1.0]
    assert set(texts_of(release, "grade")) <= {f"[g{low}, g{high}]" for low in (0, 2, 4, 6) for high in (1, 3, 5, 8)}
    assert all(text.startswith("[2") for text in texts_of(release, "day"))
    audits(release, table)


def test_missing_numbers_stay_as_they_are() -> None:
    table = dc.read(
        pa.table({"x": [1, 2, None, None, 8, 9, None, 30], "s": list("abababab")}),
        quasi="x",
        sensitive="s",
        missing="value",
    )
    release: Any = dc.publish(table, "k-anonymity(k=2)", "cuts(snap=true)")
    assert {"(missing)", "*"} & set(texts_of(release, "x"))
    audits(release, table)


def test_withheld_rows_leave_no_trace_in_the_grid() -> None:
    x, y = [1.5, 400, *(20 + at % 20 for at in range(78))], [None, None, *range(78)]
    rows = pa.table({"x": x, "y": y, "s": list("ab") * 40})
    table = dc.read(rows, quasi=["x", "y"], sensitive="s", missing="withhold")
    release: Any = dc.publish(table, "k-anonymity(k=3)", "cuts(snap=true)")
    assert release.withheld >= 2
    assert (release.quasi[0].unit, release.quasi[0].domain) == (1.0, (20.0, 39.0))
    audits(release, table)


def test_the_audit_needs_no_declarations_of_its_own(tmp_path: Path) -> None:
    rows = pa.table({"x": list(range(30)), "g": [f"g{at % 4}" for at in range(30)], "s": list("abc") * 10})
    how: dict[str, Any] = {"quasi": ["x", "g"], "sensitive": "s", "ordinal": ["g"]}
    table = dc.read(rows, **how, domains={"x": (-0.5, 60)}, hierarchies={"g": {"*": ["g0", "g1", "g2", "g3"]}})
    release: Any = dc.publish(table, "k-anonymity(k=3)", "cuts(snap=true)")
    path = release.save(tmp_path / "release")
    assert release.quasi[0].unit == 0.1
    assert "grid" not in failing(dc.audit(path, dc.read(rows, **how)))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_audits_of_every_scheme_hold(scheme: str) -> None:
    table = census(1500)
    audits(dc.publish(table, SCHEMES[scheme], scheme), table)


def test_groups_are_those_without_a_grid_and_losses_those_with() -> None:
    table = census(400)
    narrow, wide = (
        dc.publish(table, "k-anonymity(k=5)", dc.Mondrian(snap=snap, random_state=1)) for snap in (False, True)
    )
    assert sorted(narrow.sizes.tolist()) == sorted(wide.sizes.tolist())
    assert losses(narrow)["ail"] < losses(wide)["ail"] < 2 * losses(narrow)["ail"]
    assert "snap" not in narrow.manifest["scheme"]["options"]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(-40, 90), st.integers(0, 400), st.sampled_from("xyz"), st.sampled_from("abc")),
        min_size=12,
        max_size=60,
    ),
    st.sampled_from(["mondrian", "cuts", "burel"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 10, 1000]),
)
def test_audits_of_random_tables_hold(
    rows: list[tuple[int, int, str, str]], scheme: str, declared: bool, marginals: bool, scale: int
) -> None:
    x, y, z, s = zip(*rows, strict=True)
    table = dc.read(
        pa.table({"x": x, "y": [value / scale for value in y], "z": z, "s": s}),
        quasi=["x", "y", "z"],
        sensitive="s",
        numeric=["x", "y"],
        domains={"x": (-50, 99)} if declared else {},
    )
    promise = "beta-likeness(beta=1)" if scheme == "burel" else "k-anonymity(k=3)"
    beside = "marginals=one-way, cells=3" if marginals else "marginals=none"
    release = dc.publish(table, promise, f"{scheme}(snap=true, {beside})")
    for found in audits(release, table):
        assert all(check.holds for check in found.checks)


# -------------------------------------------------------------------------------------------------- counts of columns


def test_counts_of_columns_end_on_the_grid_and_fit_estimates() -> None:
    table = census(3000)
    release: Any = dc.publish(table, "beta-likeness(beta=2)", "cuts(snap=true, marginals=one-way)")
    audits(release, table)
    cells = release.marginals.as_dict(release.quasi)
    bottom, top = release.quasi[0].domain
    ends = [tuple(map(float, text.strip("[]").split(", "))) for name, text in cells if name == "age" and text[0] == "["]
    alone = {float(text) for name, text in cells if name == "age" and text[0] != "["}
    assert ends and alone
    assert all((low - bottom) % 2 == 0 and ((high + 1 - bottom) % 2 == 0 or high == top) for low, high in ends)
    assert all((value - bottom) % 2 or {value + 1, value + 2 - (value + 2 < top)} <= alone for value in alone)
    asked = [dc.Query(dc.Range("age", low, low + 9)) for low in range(20, 60, 5)]
    exact = [float(((ages := table.quasi[0].values[table.quasi[0].codes]) >= low).sum()) for low in range(20, 60, 5)]
    exact = [float(((ages >= low) & (ages <= low + 9)).sum()) for low in range(20, 60, 5)]
    found = [release.estimate(query) for query in asked]
    assert np.abs(np.array(found) / np.array(exact) - 1.0).max() < 0.05


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("scheme", "promise", "sentence"),
    [
        ("cuts(snap=true, values=label)", "k-anonymity(k=2)", "snap=true widens intervals, and values=label"),
        ("lifting(snap=true)", "beta-likeness(beta=2)", "say values=interval"),
        ("cuts(snap=true, descriptions=exact)", "l-diversity(l=2)", "give only one of them"),
        ("cuts(snap=true)", "alpha-beta(alpha=0.5, beta=1)", "presence is judged for the narrowest ones"),
        ("codip(scheme=cuts(snap=true))", "l-diversity(l=2)", "say snap=false"),
        ("incognito(snap=true)", "l-diversity(l=2)", "snap"),
    ],
)
def test_what_cannot_be_on_a_grid_is_refused(scheme: str, promise: str, sentence: str) -> None:
    with pytest.raises(dc.DiscreetError, match=sentence.replace("(", r"\(")):
        dc.publish(patients(), promise, scheme)


def test_columns_without_a_grid_are_refused() -> None:
    def published(values: list[Any], **how: Any) -> None:
        table = dc.read(pa.table({"x": values, "s": ["a", "b"] * (len(values) // 2)}), quasi="x", sensitive="s", **how)
        dc.publish(table, "k-anonymity(k=2)", "cuts(snap=true)")

    with pytest.raises(dc.DiscreetError, match="'x' has numbers of too many digits"):
        published([1 / 3, 2 / 3, 0.5, 0.7])
    with pytest.raises(dc.DiscreetError, match="'x' has values whose order nobody declared"):
        published(["1", "2", "3", "4"], ordinal=["x"])


# --------------------------------------------------------------------------------------------------------------- audits


def shifted(text: str) -> str:
    """The same interval, but for an end inside its first cell."""
    low, high = text.strip("[]").split(", ")
    return f"[{int(low) + 1}, {high}]"


def larger(text: str) -> str:
    """The same interval with three more numbers."""
    low, high = text.strip("[]").split(", ")
    return f"[{low}, {int(high) + 3}]" if int(high) < 70 else f"[{int(low) - 3}, {high}]"


ALTERED = {
    "an end off the grid": (put_in_group("table", "age", shifted), "grid"),
    "no unit": (lambda folder: folder.manifest["attributes"][0].pop("unit"), "grid"),
    "another unit": (lambda folder: folder.manifest["attributes"][0].update(unit=0.1), "grid"),
    "another domain": (lambda folder: folder.manifest["attributes"][0].update(domain=[17, 77]), "grid"),
    "a domain that begins earlier": (lambda folder: folder.manifest["attributes"][0].update(domain=[15, 77]), "grid"),
    "a promise about presence": (
        lambda folder: folder.manifest.update(promise=["alpha-beta(alpha=0.9, beta=1)"]),
        "grid",
    ),
}


@pytest.mark.parametrize("what", ALTERED)
def test_audits_reject_what_is_not_on_the_grid(what: str, tmp_path: Path) -> None:
    table = patients()
    release = dc.publish(table, "beta-likeness(beta=2)", "cuts(snap=true)")
    path = release.save(tmp_path / "release")
    alteration, check = ALTERED[what]
    Folder(path).edit(alteration)
    assert check in failing(dc.audit(path, table))


def test_the_trace_shows_intervals_that_are_wider_than_they_should_be(tmp_path: Path) -> None:
    table = dc.read(
        pa.table({"x": range(0, 90, 3), "s": list("abc") * 10}), quasi="x", sensitive="s", domains={"x": (0, 89)}
    )
    release = dc.publish(table, "k-anonymity(k=3)", "mondrian(snap=true)")
    path = release.save(tmp_path / "release")
    folder = Folder(path)
    folder.edit(put_in_group("table", "x", larger))
    assert release.trace is not None
    found = dc.audit(path, table, trace=folder.moved(release.trace))
    assert "not the one on the grid" in failing(found)["support"]


@pytest.mark.parametrize("text", ['"a"', "0.3", "-1", "true"])
def test_units_that_are_none_are_unreadable(text: str, tmp_path: Path) -> None:
    path = dc.publish(patients(), "k-anonymity(k=3)", "mondrian(snap=true)").save(tmp_path / "release")
    file = path / "release.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["attributes"][0]["unit"] = json.loads(text)
    file.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(dc.DiscreetError, match="cannot be understood"):
        dc.audit(path, patients())


# ---------------------------------------------------------------------------------------------------------- by default


def test_intervals_are_widened_by_default_where_they_can_be() -> None:
    rows = 24
    columns = {
        "whole": [at % 12 for at in range(rows)],
        "endless": [at / 7 for at in range(rows)],
        "grade": [f"g{at % 5}" for at in range(rows)],
        "far": [dt.date(9999, 12, 31 - at) for at in range(rows)],
        "smoker": [at % 2 for at in range(rows)],
        "share": [at % 8 / 10 for at in range(rows)],
        "s": list("abc") * 8,
    }
    quasi = ["whole", "endless", "grade", "far", "smoker", "share"]
    table = dc.read(pa.table(columns), quasi=quasi, sensitive="s", ordinal=["grade"])
    release: Any = dc.publish(table, "k-anonymity(k=8)", "mondrian")
    assert [attribute.unit for attribute in release.quasi] == [1.0, None, None, None, None, None]
    assert release.quasi[5].step == 0.1 and release.quasi[0].step is None
    assert "snap" not in release.manifest["scheme"]["options"]
    for found in audits(release, table):
        assert "'whole' end on the grid" in said(found, "grid") and not failing(found)
    with pytest.raises(dc.DiscreetError, match="'far' has dates too close to the first or the last year"):
        dc.publish(dc.read(pa.table(columns), quasi="far", sensitive="s"), "k-anonymity(k=8)", "cuts(snap=true)")


@pytest.mark.parametrize(
    ("scheme", "promise"),
    [
        ("cuts", "alpha-beta(alpha=0.5, beta=1)"),
        ("cuts(snap=false)", "beta-likeness(beta=2)"),
        ("burel(published)", "beta-likeness(beta=2)"),
        ("heterogeneous(published)", "beta-likeness(beta=2)"),
        ("incognito", "beta-likeness(beta=2)"),
        ("cuts(descriptions=exact)", "beta-likeness(beta=2)"),
        ("codip", "beta-likeness(beta=2)"),
    ],
)
def test_they_stay_narrow_where_presence_or_the_papers_ask_for_it(scheme: str, promise: str) -> None:
    release: Any = dc.publish(patients(), promise, scheme)
    assert all(attribute.unit is None for attribute in release.quasi)


def test_labels_and_sets_stay_as_they_are() -> None:
    table = patients()
    sets: Any = dc.publish(table, "k-anonymity(k=6)", "cuts(values=set)")
    narrow: Any = dc.publish(table, "k-anonymity(k=6)", "cuts(values=set, snap=false)")
    assert {*texts_of(sets, "sex")} == {*texts_of(narrow, "sex")} and sets.quasi[0].unit == 1.0
    how = {"age": {"intervals": {"widths": [10]}}}
    labelled = dc.read(pa.table({"age": range(40), "s": list("ab") * 20}), quasi="age", sensitive="s", hierarchies=how)
    assert dc.publish(labelled, "k-anonymity(k=6)", "cuts(values=label)").quasi[0].unit is None


@pytest.mark.parametrize("far", [2**50, 2**51, 2**51 + 1, 2**52, 2**53 - 1000, -(2**52)])
def test_numbers_too_far_from_0_for_cells_are_left_as_they_are(far: int) -> None:
    """Every interval has its rows in it, whether there are cells so far away or not."""
    numbers = [far + 31 * at for at in range(30)]
    table = dc.read(pa.table({"x": numbers, "s": list("ab") * 15}), quasi="x", sensitive="s")
    release = dc.publish(table, "l-diversity(l=1.5)", "mondrian")
    (texts,) = release.texts
    ends = [[int(end) for end in text.strip("[]").split(",")] for text in texts.texts]
    assert all(sum(first <= number <= last for first, *_, last in ends) >= 1 for number in numbers)
    assert (release.quasi[0].unit is None) == (max(map(abs, numbers)) > 2**51)
    if abs(far) > 2**51:
        with pytest.raises(dc.DiscreetError, match="too many digits"):
            dc.publish(table, "l-diversity(l=1.5)", "mondrian(snap=true)")
