"""Halving by pairs and gathering, against what their docstrings prove; also without compilation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.families.proximity.halving import HalvingProblem, halved, judge_of
from discreet.families.proximity.kernels import conflict_free, pairs
from discreet.principles import Prior

TURNS = range(40)


def drawn(turn: int, attributes: int, low: int = 1) -> tuple[np.random.Generator, Any, Any, list[Prior]]:
    """Random rows: their points, the codes of their sensitive attributes, and the priors of these."""
    rng = np.random.default_rng(turn)
    n = int(rng.integers(low, 40))
    sensitive_codes, priors = [], []
    for _ in range(attributes):
        numbers = rng.integers(0, rng.choice([3, 20, 200]), n)
        values, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        sensitive_codes.append(codes)
        priors.append(Prior(counts, tuple(map(str, values)), "numeric", numbers=values.astype(float)))
    return rng, rng.integers(0, 9, (n, 2)).astype(np.int32), np.array(sensitive_codes, np.int32), priors


@pytest.mark.slow
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("attributes", [1, 2])
def test_pairs_are_separated_and_runs_divided_evenly(attributes: int, shift: int) -> None:
    for turn in TURNS:
        _, points, sensitive_codes, _ = drawn(turn, attributes)
        n = len(points)
        orders = np.argsort(sensitive_codes, axis=1, kind="stable")
        component, colour, side = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
        shifts = shift % 2, shift // 2
        other = 1 if attributes == 2 else -1
        number = pairs.components(orders, 0, shifts[0], other, shifts[1], component, colour)
        assert sorted(set(component.tolist())) == list(range(number))
        for j in range(2):
            pairs.turn(points, j, component, colour, number, side)
            assert abs(n - 2 * int(side.sum())) <= (0 if n % 2 == 0 and attributes == 2 and shift in (0, 3) else 2)
            for own in range(attributes):
                ordered = side[orders[own]]
                begin = shifts[own]
                assert all(ordered[t] != ordered[t + 1] for t in range(begin, n - 1, 2))
                for start in range(n):
                    for end in range(start + 1, n + 1):
                        size, ones = end - start, int(ordered[start:end].sum())
                        assert max(ones, size - ones) <= size / 2 + 1


@pytest.mark.parametrize("attributes", [1, 2, 3])
def test_grades_are_those_of_the_promises(attributes: int) -> None:
    seen = set()
    for turn in TURNS:
        rng, points, sensitive_codes, priors = drawn(turn, attributes)
        more = [dc.LDiversity(2, "distinct"), dc.TCloseness(0.4, "ordered"), dc.KAnonymity(3)]
        parts = [
            (dc.Proximity(float(rng.integers(0, 4)), int(rng.integers(1, 4))), *more[: rng.integers(0, 4)])
            for _ in range(attributes)
        ]
        judge = judge_of(parts, priors)
        orders = np.argsort(sensitive_codes, axis=1, kind="stable")
        side = rng.integers(0, 2, len(points)).astype(np.int32)
        counts, ordered = np.zeros(int(judge.widths.max()), np.int64), np.empty(len(points), np.int32)
        for which in (0, 1):
            found = pairs.grade(sensitive_codes, orders, side, which, judge, counts, ordered)
            assert not counts.any()
            size = int((side == which).sum())
            held = [
                np.bincount(own[side == which], minlength=len(prior.counts))
                for own, prior in zip(sensitive_codes, priors, strict=True)
            ]
            keeps = size >= judge.least and all(
                part.holds(line[None], prior)[0]
                for line, prior, some in zip(held, priors, parts, strict=True)
                for part in some
            )
            assert (found == pairs.KEPT) == keeps
            if found == pairs.HOPEFUL:  # then dealing each attribute's rows would do for it alone
                for line, prior, (near, *_) in zip(held, priors, parts, strict=True):
                    assert near.crowd(replace(prior, counts=line))[0] * near.m <= size
            seen.add(found)
    assert seen >= {pairs.BROKEN, pairs.KEPT}


@pytest.mark.slow
@pytest.mark.parametrize("attributes", [1, 2, 3])
def test_halves_and_gatherings_keep_everything(attributes: int) -> None:
    cut = gathered = 0
    for turn in TURNS:
        rng, points, sensitive_codes, priors = drawn(turn, attributes, 6)
        parts = [(dc.Proximity(float(rng.integers(0, 3)), int(rng.integers(1, 4))),) for _ in range(attributes)]
        problem = HalvingProblem(points, sensitive_codes, plain_axes(), judge_of(parts, priors), 3)
        rows = np.arange(len(points))

        def kept(some: Any, problem: HalvingProblem = problem) -> bool:
            return problem.grade(some) == pairs.KEPT

        side = np.empty(len(rows), np.int32)
        if pairs.best_cut(*problem.laid_out(rows), problem.axes, problem.judge, 3, side):
            assert kept(rows[side == 0]) and kept(rows[side == 1])
            cut += 1
        if conflict_free.best_gathering(*problem.laid_out(rows), problem.axes, problem.judge, side) < np.inf:
            conflicts = conflict_free.conflicts_of(sensitive_codes, problem.judge)
            for q in range(int(side.max()) + 1):
                group = rows[side == q]
                assert kept(group) and conflicts[np.ix_(group, group)].sum() == 0
            gathered += 1
        groups = halved(problem)
        assert groups is not None or not kept(rows)
        assert groups is None or all(kept(rows[groups == q]) for q in range(int(groups.max()) + 1))
    assert cut > 2 and gathered > 2


def plain_axes() -> Any:
    """Two axes of ten codes, a distance each."""
    from discreet.kernels.costs import Axes

    places = np.tile(np.arange(10) / 9, 2)
    zeros = np.zeros(2, np.int64)
    return Axes(zeros, zeros + 10, np.array([0, 10]), np.zeros(20, np.int32), places, np.full(2, 0.5), False)
