"""Cuts of groups with several sensitive attributes, each judged by its own counts, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.kernels.costs import Axes
from discreet.kernels.cuts.growth import Work, grow, workspace
from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED, Recipe
from discreet.principles import parse
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import by_attribute
from discreet.schemes.cuts.top_down import limits_of
from discreet.table.table import Column, Table
from naive import cuts as naive

AXES = Axes(
    np.array([0, 0]),
    np.array([6, 4]),
    np.array([0, 6]),
    np.zeros(10, np.int32),
    np.concatenate([np.arange(6) / 5, [0.0, 0.1, 0.9, 1.0]]),
    np.full(2, 0.5),
    False,
)
PROMISES = [
    "l-diversity(l=1.5)",
    "beta-likeness(beta=1.5, negative=0.9, attribute=a) & l-diversity(l=1.2, attribute=b) & "
    "proximity(epsilon=0, m=2, attribute=c)",
]


def people(rng: np.random.Generator, names: str) -> tuple[np.ndarray, Table]:
    n = int(rng.integers(2, 40))
    points = np.column_stack([rng.integers(0, card, n) for card in AXES.cards]).astype(np.int32)
    columns = []
    for name in names:
        values, codes = np.unique(rng.integers(0, int(rng.integers(2, 9)), n), return_inverse=True)
        if name == "c":
            columns.append(Column(name, "numeric", codes.astype(np.int32), values.astype(float)))
        else:
            texts = np.array([f"v{value}" for value in values], object)
            columns.append(Column(name, "categorical", codes.astype(np.int32), texts))
    return points, Table(n, (), tuple(columns))


def untouched(work: Work) -> bool:
    """Whether all counts are 0, as they must be between groups."""
    return not work.halves.counts.any() and not work.takings.counts.any()


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("families", [PLAIN, STRATIFIED, BUCKETED, REPAIRED, 15])
def test_halves_keep_what_is_promised_about_each_and_the_best_plain_cut_is_the_cheapest(
    promise: str, families: int
) -> None:
    rng = np.random.default_rng(families)
    found_any = 0
    for _ in range(40):
        points, table = people(rng, "abc" if "=c" in promise else "ab")
        each = by_attribute(parse(promise), table)
        one, principle, prior = jointly(parse(promise), table)
        rules = principle.rules(prior)
        limits = limits_of(principle, prior, rules)
        n, m = table.rows, len(prior.counts)
        work, sensitive_codes, first = (
            workspace(n, 2, m, 6, 15, 1, rules.joint),
            one.sensitive_codes.copy(),
            np.zeros(n, np.bool_),
        )

        def kept(rows: np.ndarray, each: tuple = each, table: Table = table) -> bool:
            return all(
                own.promise.holds(np.bincount(column.codes[rows], minlength=len(column.values))[None], own.prior)[0]
                for own, column in zip(each, table.sensitive, strict=True)
            )

        moved, rows = points.copy(), np.arange(n, dtype=np.int32)
        recipe = Recipe(families, 15, 1, 0.0, 2**62, False)
        _, left = grow(moved, sensitive_codes, rows, 0, n, AXES, rules, limits, recipe, work, first, 1)
        assert untouched(work) and sorted(rows.tolist()) == list(range(n))
        assert (points[rows] == moved).all() and (one.sensitive_codes[rows] == sensitive_codes).all()
        score = np.inf
        if left:
            found_any += 1
            middle = int(work.waiting[1])
            halves = [rows[:middle], rows[middle:]]
            assert all(len(half) and kept(half) for half in halves)
            score = sum(naive.group_cost(AXES, points[half].tolist()) for half in halves)
        if families == PLAIN:
            costs = []
            for j in range(2):
                for code in np.unique(points[:, j])[1:]:
                    halves = [np.flatnonzero(points[:, j] < code), np.flatnonzero(points[:, j] >= code)]
                    if all(map(kept, halves)):
                        costs.append(sum(naive.group_cost(AXES, points[half].tolist()) for half in halves))
            assert score == pytest.approx(min(costs, default=np.inf))
    assert found_any > 5
