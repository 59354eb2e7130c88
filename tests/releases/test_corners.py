"""What narrow descriptions disclose about presence, against all tables that have the same descriptions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census
from discreet.principles import AlphaBeta
from discreet.releases import corners
from discreet.releases.corners import Narrow, belief_in_likeliest, strongest_beliefs
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes import make_scheme
from naive import worlds

Point = tuple[Any, ...]

TREE = {"a": "AB", "b": "AB", "c": "C", "d": "DE", "e": "DE", "AB": "all", "C": "all", "DE": "all"}
NESTED = {"AB": ["a", "b"], "C": ["c"], "DE": ["d", "e"]}


def read_rows(rows: Sequence[Point], sensitive_columns: Sequence[str]) -> dc.Table:
    columns = {name: [row[at] for row in rows] for at, name in enumerate("pqr")}
    kinds = {"numeric": ["p"], "categorical": ["q", "r"]}
    return dc.read(
        pa.table({**columns, "s": list(sensitive_columns)}),
        quasi=["p", "q", "r"],
        sensitive="s",
        hierarchies={"q": NESTED},
        missing="value",
        **kinds,
    )


def random_group(rng: np.random.Generator, values: Values) -> tuple[GeneralizedRelease, dc.Table, Fraction]:
    """A release in two groups of a small table, and the strongest belief by definition in the first."""
    numbers: list[object] = rng.choice(9, rng.integers(1, 5), replace=False).tolist()
    if len(numbers) > 1 and rng.random() < 0.2:
        numbers[0] = None
    names = rng.choice(list("abcde"), rng.integers(1, 4), replace=False).tolist()
    others = rng.choice(list("xyz"), rng.integers(1, 4), replace=False).tolist()
    most = len(numbers) * len(names) * len(others)
    size = int(rng.integers(1, 3 if most > 12 else 4 if most > 6 else 5))
    points = [tuple(one[rng.integers(len(one))] for one in (numbers, names, others)) for _ in range(size)]
    every = [*points]
    for at, domain in enumerate((numbers, names, others)):  # so that all values occur
        every += [tuple(value if j == at else points[0][j] for j in range(3)) for value in domain]
    table = read_rows(every, ["u"] * len(every))
    groups = (np.arange(len(every)) >= size).astype(np.int32)
    release = GeneralizedRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test", values=values)
    release = release.revealed(table)  # the attacker knows which values occur
    return release, table, strongest_by_hand(points, (numbers, names, others), values)


def strongest_by_hand(points: list[Point], occurring: Sequence[Sequence[object]], values: Values) -> Fraction:
    """The strongest belief in any combination, over all tables with the same narrowest descriptions as these rows."""
    domains = []
    for at, (kind, tree) in enumerate((("interval", {}), ("node", TREE), ("node", dict.fromkeys("xyz", "any")))):
        kind = "set" if values == "set" and kind == "node" else kind
        own = [row[at] for row in points]
        told = worlds.narrowest(kind, own, tree)
        inside = [value for value in occurring[at] if worlds.narrowest(kind, [*own, value], tree) == told]
        domains.append((kind, inside, tree))
    return max(
        max(worlds.presence_in_narrow(domains, points, repeats).values(), default=Fraction(0))
        for repeats in (False, True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("values", ["interval", "set"])
def test_the_strongest_belief_is_that_over_all_tables_with_the_same_descriptions(values: Values) -> None:
    rng = np.random.default_rng(5)
    above = 0
    for _ in range(120):
        release, table, best = random_group(rng, values)
        assert release.trace is not None
        group = release.trace[0]
        found = strongest_beliefs(release.descriptions, table.quasi)[group]
        plain = min(1.0, float(release.sizes[group] / release.lookup().combinations(table.quasi)[group]))
        assert found == pytest.approx(max(plain, float(best)), rel=1e-9), release.description(group)
        above += found > plain * 1.01
    assert above > 6, "in many of them some combinations are likelier than the average"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["cuts", "mondrian", "burel"])
def test_in_no_possible_table_is_anyone_believed_in_more_than_alpha(scheme: str) -> None:
    rng = np.random.default_rng(8)
    looked_at = refused = 0
    for _ in range(25):
        rows = [(int(rng.integers(6)), "abcde"[rng.integers(5)], "xyz"[rng.integers(3)]) for _ in range(6)]
        table = read_rows(rows, [f"v{at}" for at in rng.integers(0, 3, 6)])
        try:
            release = dc.publish(table, AlphaBeta(0.5, 1), make_scheme(scheme, {}, random_state=1))
        except dc.DiscreetError:
            refused += 1
            continue
        assert release.trace is not None
        occurring = [sorted({row[at] for row in rows}) for at in range(3)]
        for group in range(release.groups):
            points = [row for row, own in zip(rows, release.trace.tolist(), strict=True) if own == group]
            if len(points) <= 2 or math.prod(map(len, occurring)) ** len(points) <= 5000:
                looked_at += 1
                assert strongest_by_hand(points, occurring, "interval") <= Fraction(1, 2)
    assert looked_at > 8 and refused < 20


def every_narrow() -> list[Narrow]:
    nodes = [Narrow.node(sizes) for many in (2, 3) for sizes in combinations_with_replacement((1, 2, 3), many)]
    return [Narrow.nothing(2), *(Narrow.interval(many) for many in (2, 3, 4)), Narrow.listed(3), *nodes]


def tables_by_hand(axes: tuple[Narrow, ...], rows: int, differ: bool) -> float:
    return corners._counted(_boxes(axes), math.prod(axis.values for axis in axes), rows, differ, 0.0)


def _boxes(axes: tuple[Narrow, ...]) -> dict[tuple[int, int], int]:
    boxes: dict[tuple[int, int], int] = {}
    for terms in product(*(axis.terms for axis in axes)):
        weights, sizes, inside = (math.prod(column) for column in zip(*terms, strict=True))
        boxes[sizes, inside] = boxes.get((sizes, inside), 0) + weights
    return boxes


def test_floating_point_gives_what_whole_numbers_give() -> None:
    for axes in islice(combinations_with_replacement(every_narrow(), 3), 0, None, 7):
        many = math.prod(axis.values for axis in axes)
        for rows in (2, 4, 9):
            if rows < many:
                exact = max(tables_by_hand(axes, rows, differ) for differ in (True, False))
                if exact > 0:  # so many rows can touch everything
                    assert belief_in_likeliest(axes, rows) == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
def test_what_is_too_much_to_count_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [(axes, rows) for axes in combinations_with_replacement(every_narrow(), 3) for rows in (4, 9, 30)]
    exact = [belief_in_likeliest(*case) for case in cases]
    monkeypatch.setattr(corners, "WORK", 60)
    belief_in_likeliest.cache_clear()
    bounds = [belief_in_likeliest(*case) for case in cases]
    belief_in_likeliest.cache_clear()
    assert all(bound >= belief * (1 - 1e-9) for bound, belief in zip(bounds, exact, strict=True))
    assert any(bound < 1 and bound > belief * 1.001 for bound, belief in zip(bounds, exact, strict=True))


def test_a_bound_is_enough_where_a_belief_is_weak() -> None:
    table = census(500)
    release = dc.publish(table, "k-anonymity(k=10)")
    exact = strongest_beliefs(release.descriptions, table.quasi)
    bound = strongest_beliefs(release.descriptions, table.quasi, 0.9)
    assert (bound >= exact * (1 - 1e-9)).all() and ((exact > 0.9) == (bound > 0.9)).all()


@pytest.mark.slow
@pytest.mark.parametrize("presence", ["group", "combined"])
@pytest.mark.parametrize("scheme", ["cuts", "mondrian", "burel", "incognito"])
def test_schemes_keep_alpha_for_whoever_knows_that_descriptions_are_narrow(
    scheme: str, presence: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    columns = {"age": rng.integers(20, 60, 300), "zip": rng.integers(0, 30, 300), "pay": rng.integers(0, 20, 300)}
    table = dc.read(
        pa.table({**columns, "s": rng.choice(list("uvwxyz"), 300)}), quasi=["age", "zip", "pay"], sensitive="s"
    )
    promise = AlphaBeta(0.2, 0.5, presence)
    release = dc.publish(table, promise, scheme)
    assert release.groups > 1 or presence == "combined"
    assert strongest_beliefs(release.descriptions, table.quasi).max() <= 0.2 * (1 + 1e-9)
    release.save(tmp_path / "release")
    found = dc.audit(tmp_path / "release", table, trace=release.trace)
    assert found.holds and found.presence is not None and found.presence.group <= 0.2 * (1 + 1e-9)
    assert found.presence.average <= found.presence.group


def test_long_lists_of_values_are_bounded_without_being_counted() -> None:
    many = Narrow.listed(400)
    assert many.terms == () and belief_in_likeliest((many, many), 900) == 900 / 400**2
    # with so many rows hardly any value is missing, and with a few more than values nothing is known
    wide = Narrow.interval(9)
    assert belief_in_likeliest((wide, wide, many), 9000) == pytest.approx(9000 / (81 * 400), rel=0.01)
    assert belief_in_likeliest((wide, wide, many), 420) == 1.0


def bound_by_fractions(axes: tuple[Narrow, ...], rows: int, differ: bool, left_out: int) -> Fraction:
    """Pr[x and T] / (Pr[T] - Pr[not U]) in rational numbers, where the last axes are those of U."""
    combinations = math.prod(axis.values for axis in axes)
    rest = math.prod(axis.values for axis in axes[len(axes) - left_out :])

    def share(size: int) -> Fraction:
        return Fraction(math.comb(size, rows), math.comb(combinations, rows)) if differ else (
            Fraction(size, combinations) ** rows
        )  # fmt: skip

    boxes = _boxes(axes[: len(axes) - left_out]).items()
    having = sum(weight * (share(size * rest) - share(size * rest - inside)) for (size, inside), weight in boxes)
    possible = sum(weight * share(size * rest) for (size, _), weight in boxes)
    beyond = sum(
        (
            ways * Fraction(left, axis.values) ** rows
            for axis in axes[len(axes) - left_out :]
            for ways, left in axis.missed
        ),
        Fraction(0),
    )
    return min(Fraction(1), having / (possible - beyond)) if possible > beyond else Fraction(1)


@pytest.mark.parametrize(
    ("wide", "narrow", "rows"),
    [(100, [4], 100), (150, [3, 4], 120), (300, [2, 3, 3], 100)],
)
def test_large_groups_under_many_attributes_are_counted_beyond_the_range_of_floats(
    wide: int, narrow: list[int], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are more than 10^308 tables, almost all of them are ruled out, and what is left over has to be bounded."""
    counted: list[float] = []
    monkeypatch.setattr(
        corners, "_counted", lambda *given, by=corners._counted: counted.append(by(*given)) or counted[-1]
    )
    axes = (*(Narrow.interval(wide),) * (7 - len(narrow)), *map(Narrow.interval, narrow))
    belief_in_likeliest.cache_clear()
    found = belief_in_likeliest(axes, rows)
    exact = max(bound_by_fractions(axes, rows, differ, len(narrow)) for differ in (True, False))
    assert counted and max(counted) == found == pytest.approx(float(exact), rel=1e-12)
    assert 0.0 < found < 1.0


def test_more_combinations_than_floats_can_count() -> None:
    """Sixty attributes of a million values each, between which two rows can only be opposite corners of the box."""
    assert belief_in_likeliest((Narrow.interval(10**6),) * 60, 2) == pytest.approx(0.5**59, rel=1e-9)
    ends = (Narrow.interval(50),) * 4 + (Narrow.interval(10),) * 400  # no end of the 400 is missed by 600 rows
    assert 0.0 < belief_in_likeliest(ends, 600) < 1e-9
