"""Groups by halving: pieces are cut as long as both halves keep every promise about every sensitive attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.proximity.kernels import conflict_free, pairs
from discreet.families.proximity.kernels.pairs import PairTerms
from discreet.kernels.costs import Axes, box_cost
from discreet.kernels.judging import Rules
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.rules import combine, stack
from discreet.progress import Progress, no_progress

SMALL = 96
"""Pieces up to this size are also gathered into groups, which takes time quadratic in their size."""
GATHERED_UP_TO = 2000
"""Pieces that cannot be cut are gathered up to this size."""
ATTEMPTS = 60
"""How many halvings of pieces that break the promises themselves are tried before giving up."""
CHOICES = 6
"""How many ways to halve one such piece are tried."""

Rows = NDArray[np.int64]


class HalvingProblem(NamedTuple):
    """The rows to put into groups, and the promises."""

    points: NDArray[np.int32]
    """Per row: its quasi-identifiers."""
    sensitive_codes: NDArray[np.int32]
    """Per sensitive attribute: the code of every row."""
    axes: Axes
    judge: PairTerms
    positions: int

    def laid_out(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32], Rows]:
        """Return the points and codes of some rows, and their orders by each attribute."""
        sensitive_codes = np.ascontiguousarray(self.sensitive_codes[:, rows])
        return self.points[rows], sensitive_codes, np.argsort(sensitive_codes, axis=1, kind="stable")

    def grade(self, rows: Rows) -> int:
        """Return whether rows as one group keep every promise, may be divisible into groups that do, or cannot be."""
        _, sensitive_codes, orders = self.laid_out(rows)
        counts, ordered = np.zeros(int(self.judge.widths.max()), np.int64), np.empty(len(rows), np.int32)
        side = np.zeros(len(rows), np.int32)
        return int(pairs.grade(sensitive_codes, orders, side, 0, self.judge, counts, ordered))

    def cost(self, rows: Rows) -> float:
        """Return the cost of rows as one group."""
        points = self.points[rows]
        return len(rows) * float(box_cost(self.axes, points.min(axis=0), points.max(axis=0), len(rows)))


def judge_of(parts: Sequence[tuple[Principle, ...]], priors: Sequence[Prior]) -> PairTerms:
    """Return the promises about each attribute in the form that the kernels use."""
    width = max(len(prior.values) for prior in priors)
    near = [(a, part.nearness) for a, some in enumerate(parts) for part in some if part.nearness]
    first, last = np.zeros((len(near), width), np.int64), np.zeros((len(near), width), np.int64)
    for line, (a, part) in enumerate(near):
        first[line, : len(priors[a].values)], last[line, : len(priors[a].values)] = part.windows(priors[a])
    sizes = [part.least_rows for some in parts for part in some if not part.about_values]
    ms = np.array([part.m for _, part in near], np.int64)
    more: list[Rules | None] = []
    for some, prior in zip(parts, priors, strict=True):
        rest = [part.rules(prior) for part in some if part.about_values and not part.nearness]
        more.append(combine(rest) if rest else None)
    rules, starts, heights = stack(more, width)
    rules = rules._replace(numeric=True, spread=True, layered=True)  # kernels are compiled once, for all kinds of rules
    attributes = np.array([a for a, _ in near], np.int64)
    widths = np.array([len(prior.values) for prior in priors], np.int64)
    least = max([1, int(ms.max(initial=1)), *sizes])
    return PairTerms(least, attributes, ms, first, last, widths, rules, starts, heights)


def halved(problem: HalvingProblem, progress: Progress = no_progress) -> NDArray[np.int32] | None:
    """Return the group of every row; None if no division into groups that keep every promise was found.

    Rows should come in random order: where codes are equal, the order decides which rows are paired.
    """
    everyone = np.arange(len(problem.points))
    waiting = _beginnings(problem, everyone)
    if waiting is None:
        return None
    groups = np.empty(len(everyone), np.int32)
    done = number = 0
    while waiting:
        rows = waiting.pop()
        halves = _cut(problem, rows) if len(rows) > SMALL else None
        if halves is not None:
            waiting += halves
            continue
        _, pieces = _settled(problem, rows)
        for piece in pieces:
            groups[piece] = number
            number += 1
        done += len(rows)
        progress("halving", done / len(everyone))
    return groups


def _cut(problem: HalvingProblem, rows: Rows) -> list[Rows] | None:
    """Return the two halves of a piece after its best cut; None if there is no cut."""
    side = np.empty(len(rows), np.int32)
    if pairs.best_cut(*problem.laid_out(rows), problem.axes, problem.judge, problem.positions, side):
        return [rows[side == 0], rows[side == 1]]
    return None


def _gathered(problem: HalvingProblem, rows: Rows) -> tuple[float, list[Rows]] | None:
    """Return the groups that a piece is gathered into, and their cost; None if impossible or too large."""
    if len(rows) > GATHERED_UP_TO:
        return None
    side = np.empty(len(rows), np.int32)
    cost = float(conflict_free.best_gathering(*problem.laid_out(rows), problem.axes, problem.judge, side))
    return (cost, [rows[side == q] for q in range(int(side.max()) + 1)]) if cost < np.inf else None


def _settled(problem: HalvingProblem, rows: Rows) -> tuple[float, list[Rows]]:
    """Return the cheapest groups found for a piece that keeps every promise: cut further, gathered, or left whole."""
    cost, best = _gathered(problem, rows) or (problem.cost(rows), [rows])
    halves = _cut(problem, rows) if len(rows) <= SMALL else None
    if halves is not None:
        (left_cost, left), (right_cost, right) = (_settled(problem, half) for half in halves)
        if left_cost + right_cost < cost:
            return left_cost + right_cost, left + right
    return cost, best


def _beginnings(problem: HalvingProblem, rows: Rows) -> list[Rows] | None:
    """Return pieces that keep every promise: all rows, gathered groups, or recursively those of halves by pairs."""
    left = [ATTEMPTS]

    def search(rows: Rows, known: int) -> list[Rows] | None:
        if known == pairs.KEPT:
            return [rows]
        if known == pairs.BROKEN:
            return None
        if len(rows) <= SMALL and (gathered := _gathered(problem, rows)) is not None:
            return gathered[1]
        points, sensitive_codes, orders = problem.laid_out(rows)
        side = np.empty(len(rows), np.int32)
        for choice in range(CHOICES):
            if left[0] <= 0 or pairs.hopeful_half(points, sensitive_codes, orders, problem.judge, choice, side) < 0:
                break
            left[0] -= 1
            pieces: list[Rows] = []
            for which in (0, 1):
                half = rows[side == which]
                beginnings = search(half, problem.grade(half))
                if beginnings is None:
                    break
                pieces += beginnings
            else:
                return pieces
        return None

    beginnings = search(rows, problem.grade(rows))
    if beginnings is None and len(rows) > SMALL and (gathered := _gathered(problem, rows)) is not None:
        return gathered[1]
    return beginnings
