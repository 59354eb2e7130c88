"""Kernels over groups that list values, and over groups that are merged, against their definitions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from discreet.kernels.costs import Axes
from discreet.kernels.presence import coverage, merge
from discreet.kernels.presence import value_index as appearing

covers, merges, appears = cast(Any, coverage), cast(Any, merge), cast(Any, appearing)


def lists(seed: int, groups: int, widths: list[int]) -> tuple[list[list[set[int]]], Any]:
    """Random lists: per group and block a set of values, numbered through; and the same as the kernels read them."""
    rng = np.random.default_rng(seed)
    firsts = np.cumsum([0, *widths])
    listed = [
        [
            set((rng.choice(wide, rng.integers(1, wide + 1), replace=False) + first).tolist())
            for wide, first in zip(widths, firsts[:-1], strict=True)
        ]
        for _ in range(groups)
    ]
    values, owners = [], []
    for block in range(len(widths)):
        for group in range(groups):
            for value in sorted(listed[group][block]):
                values.append(value)
                owners.append(group)
    shown = appears.index_groups(np.array(values), np.array(owners, np.int32), groups, int(firsts[-1]))
    return listed, shown


def points(seed: int, number: int, widths: list[int]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    firsts = np.cumsum([0, *widths])
    return np.stack(
        [
            np.where(rng.random(number) < 0.1, -1, rng.integers(0, wide, number) + first)
            for wide, first in zip(widths, firsts[:-1], strict=True)
        ],
        axis=1,
    )


def holds(listed: list[set[int]], point: np.ndarray) -> bool:
    return all(int(value) in own for value, own in zip(point, listed, strict=True))


@pytest.mark.parametrize(("groups", "widths"), [(3, [2, 2]), (70, [3, 4, 2]), (150, [60, 3])])
def test_crowds_pairs_and_weights(groups: int, widths: list[int]) -> None:
    listed, shown = lists(groups, groups, widths)
    people = points(7, 40, widths)
    amounts = np.random.default_rng(1).integers(1, 5, 40)
    inside = np.array([[holds(one, point) for one in listed] for point in people])
    assert covers.crowds(people, amounts, shown, groups).tolist() == (inside * amounts[:, None]).sum(axis=0).tolist()
    starts, found = covers.pairs(people, shown, groups)
    assert [sorted(found[starts[at] : starts[at + 1]].tolist()) for at in range(40)] == [
        np.flatnonzero(line).tolist() for line in inside
    ]


@pytest.mark.parametrize(("groups", "widths"), [(3, [2, 2]), (70, [3, 4, 2]), (150, [60, 3])])
def test_weights_of_values(groups: int, widths: list[int]) -> None:
    listed, shown = lists(groups, groups, widths)
    firsts = np.cumsum([0, *widths])
    weights = np.random.default_rng(3).random(groups)
    entries = np.concatenate([sorted(value for one in own for value in one) for own in listed])
    starts = np.cumsum([0, *(sum(map(len, own)) for own in listed)])
    found, sums = np.empty(groups, np.int64), np.empty(int(firsts[-1]))
    for fixed in ([], [0], [1, int(firsts[1])]):
        still = np.arange(len(widths)) >= len(fixed)
        given = shown, starts, entries, weights, firsts, found, sums
        block, least, looked_at = covers.weigh_values(np.array(fixed, np.int64), still, *given)
        holding = [g for g, own in enumerate(listed) if all(value in own[j] for j, value in enumerate(fixed))]
        expected = [sum(weights[g] for g in holding if any(v in one for one in listed[g])) for v in range(firsts[-1])]
        assert sums == pytest.approx(np.array(expected))
        largest = {j: max(expected[firsts[j] : firsts[j + 1]]) for j in np.flatnonzero(still).tolist()}
        assert looked_at == firsts[-1] + len(holding) + sum(len(one) for g in holding for one in listed[g])
        assert block == (min(largest, key=lambda j: largest[j]) if largest else -1)
        assert least == pytest.approx(min(largest.values(), default=np.inf))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_witnesses(seed: int) -> None:
    groups, widths = 6, [3, 3]
    listed, shown = lists(seed, groups, widths)
    rng = np.random.default_rng(seed)
    lines, starts_of = points(seed, 6, widths), np.array([0, 1, 1, 4, 6, 7, 9])
    people = np.repeat(lines, np.diff(starts_of), axis=0)
    sensitive_codes, amounts = np.array([0, 0, 1, 2, 1, 2, 0, 1, 2]), rng.integers(1, 3, 9)
    claims = rng.integers(0, 4, (groups, 3))
    starts = np.concatenate([[0], np.cumsum((claims > 0).sum(axis=1))])
    values = np.concatenate([np.flatnonzero(line) for line in claims])
    borne, lacking = covers.witnesses(
        lines, starts_of, sensitive_codes, amounts, shown, groups, starts, values, claims[claims > 0].astype(np.int64)
    )
    fits = covers.homes(lines, starts_of, sensitive_codes, shown, starts, values)
    may = [
        [group for group in range(groups) if holds(listed[group], point) and claims[group, of] > 0]
        for point, of in zip(people, sensitive_codes, strict=True)
    ]
    assert fits.tolist() == [bool(one) for one in may]
    at = 0
    for value in range(sum(widths)):
        for group in range(groups):
            if any(value in own for own in listed[group]):
                expected = any(group in one and value in point for one, point in zip(may, people, strict=True))
                assert bool(borne[at]) == expected
                at += 1
    at = 0
    for group in range(groups):
        for value in np.flatnonzero(claims[group]):
            rows = sum(
                int(amount)
                for one, of, amount in zip(may, sensitive_codes, amounts, strict=True)
                if group in one and of == value
            )
            assert lacking[at] == max(0, claims[group, value] - rows)
            at += 1


EFFORT = """
import numpy as np
from discreet.kernels.presence import coverage
from discreet.kernels.presence.value_index import index_groups
from support.effort import calls

coverage.ROUND = 32  # rounds are short, as everything here is small

def effort(people):
    rng = np.random.default_rng(0)
    firsts = np.arange(4) * 6
    rows = rng.integers(0, 6, (people, 4)) + firsts
    classes, groups = rng.integers(0, 3, people), people // 5
    of_row = np.sort(np.arange(people) % groups)
    listed = np.unique(rows + of_row[:, None] * 24)
    shown = index_groups(listed % 24, (listed // 24).astype(np.int32), groups, 24)
    claims, needed = np.unique(of_row * 3 + classes, return_counts=True)
    starts = np.searchsorted(claims, np.arange(groups + 1) * 3)
    points, starts_of = rng.permutation(rows), np.arange(people + 1)
    known = points, starts_of, rng.integers(0, 3, people)

    def look():
        coverage.witnesses(*known, np.ones(people, np.int64), shown, groups, starts, claims % 3, needed)
        coverage.homes(*known, shown, starts, claims % 3)

    return calls(look)

print(effort(4000) / effort(1000))
"""


@pytest.mark.slow
def test_support_is_looked_for_with_an_effort_that_grows_like_the_table() -> None:
    """Four times as many groups take four times the calls; looking into all of them for each row takes 16 times."""
    tests = Path(__file__).parents[1]
    paths = os.pathsep.join([str(tests), *sys.path])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", EFFORT], env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 6


def line_axes(cards: list[int]) -> Axes:
    """Axes without trees on which all values are known."""
    costs = [np.arange(card) / max(1, card - 1) for card in cards]
    return Axes(
        np.zeros(len(cards), np.int64),
        np.array(cards),
        np.cumsum([0, *cards[:-1]]),
        np.zeros(sum(cards), np.int32),
        np.concatenate(costs),
        np.ones(len(cards)),
        False,
    )


@pytest.mark.parametrize("seed", range(10))
def test_merged_groups_have_few_rows_for_their_combinations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    number, cards = 30, [12, 12]
    low = rng.integers(0, 10, (number, 2)).astype(np.int32)
    high = np.minimum(11, low + rng.integers(0, 3, (number, 2))).astype(np.int32)
    sizes = rng.integers(1, 4, number)
    alpha = float(rng.choice([0.3, 0.6, 0.01]))
    order = np.argsort(low[:, 0], kind="stable")
    free = np.ones(number, np.bool_)
    home = merges.merge_in_order(order, low, high, sizes, free, line_axes(cards), np.array(cards), alpha)
    assert sorted(set(home.tolist())) == list(range(int(home.max()) + 1))
    for merged in range(int(home.max()) + 1):
        inside = home == merged
        combos = np.prod(high[inside].max(axis=0) - low[inside].min(axis=0) + 1)
        assert sizes[inside].sum() <= alpha * combos + 1e-6 or home.max() == 0
    alone = sizes <= alpha * np.prod(high - low + 1, axis=1)
    if alone.all():
        assert len(set(home.tolist())) == number
    some = rng.random(number) < 0.3
    home = merges.merge_in_order(order, low, high, sizes, ~some, line_axes(cards), np.array(cards), alpha)
    assert all(int((home == home[group]).sum()) > 1 for group in np.flatnonzero(some)), "who may not be alone is not"
