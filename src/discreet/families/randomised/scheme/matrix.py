"""The probability that a perturbation keeps each sensitive value, by linear programs or by the paper's formula.

With probability alpha_i value i is kept, otherwise one of all m values is drawn uniformly (Eq. 12 of "Publishing
Microdata with a Robust Privacy Guarantee", PVLDB 2012). With p the prior, R = sum_u p_u alpha_u is the expected share
of values kept by the coin, and v is published with probability C(v) = p_v alpha_v + (1 - R) / m. A belief in i after
seeing v stays at or below its cap f_i = p_i / c_i when

    v = i:    c_i (alpha_i + (1 - alpha_i) / m)  <=  p_i alpha_i + (1 - R) / m
    v != i:   c_i (1 - alpha_i) / m              <=  p_v alpha_v + (1 - R) / m

which is linear in alpha. For v = i the second line follows from the first, so it may be required for all pairs. Then it
suffices to compare with the smallest right side: one more variable, s <= m p_v alpha_v for all v, replaces m x m
constraints by 2m. Lower bounds q_i >= h_i p_i on beliefs are linear, too: (1 - alpha_i) / h_i >= m p_v alpha_v + 1 - R
for v != i. Here v = i must be left out, so the smallest left side is taken over the values before v and over those
after v.

Where a promise is about nodes of a hierarchy, all this is about nodes: i and v are nodes, m is how
many occur, and p and f are theirs. The matrix of the nodes is then spread over their values (see
``spread``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.randomised.release.matrix import DIGITS, Matrix

Floats = NDArray[np.float64]

SHARES = (1.0, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Lower bounds on alpha that ``exact`` tries, as shares of the largest possible smallest alpha."""
LEFT_OPEN = 1e-6
"""How far from a solution the solver may stay."""
CERTAIN = Fraction(1, 10**13)
"""The tolerance for a matrix that discloses nothing: beliefs equal the prior, and bounds may be rounded below it."""


class Bounded(NamedTuple):
    """What the beliefs are bounded of: the values that occur, or the nodes above them."""

    counts: NDArray[np.int64]
    """How often each value occurs."""
    nodes: NDArray[np.int32]
    """The node of each value, which is the value itself unless the promise is about nodes."""
    p: Floats
    """The share of each node."""
    caps: Floats
    floors: Floats | None


def closed_form(p: Floats, caps: Floats) -> Floats:
    """Return the probabilities alpha of Theorem 3; some are negative or not finite where the theorem fails."""
    m = len(p)
    if m == 1:
        return np.ones(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gammas = caps / p * (1.0 - p) / (1.0 - caps)
        least = 1.0 / (gammas.max() + m - 1.0)
        alphas: Floats = (m * gammas * least - 1.0) / (m - 1.0)
    return alphas


def even(p: Floats, caps: Floats, floors: Floats | None = None) -> Floats:
    """Return the probabilities alpha that keep all bounds: with the largest smallest alpha, and then the largest R.

    They turn out to be all equal: with upper bounds only, min_i (f_i - p_i) / (p_i (m - 1) + f_i (1 - m p_i)), because
    raising any alpha loosens no bound for v = i, so none can rise once one bound is tight with all equal.
    """
    if len(p) == 1:
        return np.ones(1)
    program = _Program(p, caps, floors)
    return program.most_kept(program.smallest)


def exact(p: Floats, caps: Floats, floors: Floats | None = None) -> Floats:
    """Return the probabilities alpha that keep all bounds and allow the best estimates of the original counts.

    Keeping as many values as possible leaves some values with alpha = 0 and a singular matrix; making the smallest
    alpha as large as possible (``even``) sacrifices much for the value that is hardest to protect. So R is maximised
    with no alpha below a share of that smallest one, for several shares; among these results, that of ``even`` and the
    closed form, the one whose inverse has the smallest variance is returned. The choice depends on the prior alone.

    >>> exact(np.array([0.05, 0.25, 0.70]), np.array([0.10, 0.50, 0.9497])).round(3).tolist()
    [0.135, 0.459, 0.376]
    """
    if len(p) == 1:
        return np.ones(1)
    program = _Program(p, caps, floors)
    if program.smallest <= 0.0:
        return np.zeros(len(p))
    candidates = [*_papers(p, caps, floors), *(alphas for _, alphas in program.candidates())]
    return min(candidates, key=lambda alphas: variance(p, alphas))


def _papers(p: Floats, caps: Floats, floors: Floats | None) -> list[Floats]:
    """Return the closed form, if it gives every value a probability above 0 of being kept."""
    paper = closed_form(p, caps)
    fine = floors is None and bool(np.isfinite(paper).all()) and paper.min() > 0.0 and paper.max() <= 1.0
    return [paper] if fine else []


def solves(cells: Floats, bounded: Bounded) -> bool:
    """Return whether a matrix is one that ``exact`` may choose, whichever solutions of its programs the solver finds.

    It must be that of Eq. 12 for some alpha: the paper's, or one that keeps as many values as can be kept with no alpha
    below one of the shares. That it keeps the bounds is not looked at.

    >>> p, caps = np.array([0.05, 0.25, 0.70]), np.array([0.10, 0.50, 0.9497])
    >>> alphas, bounded = exact(p, caps), Bounded(np.array([5, 25, 70]), np.arange(3, dtype=np.int32), p, caps, None)
    >>> [solves(np.diag(kept) + (1.0 - kept) / 3.0, bounded) for kept in (alphas, alphas[::-1])]
    [True, False]
    """
    _, _, p, caps, floors = bounded
    m = len(p)
    alphas = (m * np.diagonal(cells)[np.unique(bounded.nodes, return_index=True)[1]] - 1.0) / max(1, m - 1)
    if m == 1 or float(np.abs(spread(alphas, bounded).cells - cells).max()) > LEFT_OPEN:
        return False
    if any(float(np.abs(paper - alphas).max()) <= LEFT_OPEN for paper in _papers(p, caps, floors)):
        return True
    return any(
        float(alphas.min()) >= least - LEFT_OPEN and float(p @ alphas) >= float(p @ kept) - LEFT_OPEN
        for least, kept in _Program(p, caps, floors).candidates()
    )


def variance(p: Floats, alphas: Floats) -> float:
    """Return the variance, per row, of the counts estimated by the inverse matrix, summed over all values."""
    if alphas.min() <= 0.0:
        return math.inf
    m = len(p)
    # the inverse of a diagonal matrix plus one of rank 1
    turn = np.diag(1.0 / alphas)
    inverse = turn - np.outer(1.0 / alphas, 1.0 / alphas) / (1.0 / alphas).sum()
    inverse += np.outer(1.0 / alphas, np.ones(m)) / (1.0 / alphas).sum()
    seen = p * alphas + (1.0 - p @ alphas) / m
    return float((inverse**2 @ seen).sum() - (p**2).sum())


class _Program:
    """The linear program.

    Variables: alpha (m), R, s, the smallest alpha, and with lower bounds the smallest left sides before and after each
    value.
    """

    def __init__(self, p: Floats, caps: Floats, floors: Floats | None) -> None:
        """State the constraints ``rows @ x <= limits``."""
        self.m = m = len(p)
        shares, lows = p / caps, None if floors is None else floors / p
        mean, slack, smallest = m, m + 1, m + 2
        size = m + 3
        cells: list[tuple[int, int, float]] = []
        limits: list[float] = []

        def add(limit: float, *parts: tuple[int, float]) -> None:
            cells.extend((len(limits), at, value) for at, value in parts)
            limits.append(limit)

        for i in range(m):
            c, q = float(shares[i]), float(p[i])
            add(1.0 - c, (i, c * (m - 1) - m * q), (mean, 1.0))
            add(1.0 - c, (i, -c), (mean, 1.0), (slack, -1.0))
            add(0.0, (slack, 1.0), (i, -m * q))
            add(0.0, (smallest, 1.0), (i, -1.0))
        if lows is not None and bool((lows > 0).any()):
            before, after = size, size + m
            size += 2 * m
            for i in range(m):
                h, q = float(lows[i]), float(p[i])
                if h > 0:
                    add(1.0 / h, (before + i, 1.0), (i, 1.0 / h))
                    add(1.0 / h, (after + i, 1.0), (i, 1.0 / h))
                    add(1.0 / h - 1.0, (i, m * q - (m - 1) / h), (mean, -1.0))
                if i > 0:
                    add(0.0, (before + i, 1.0), (before + i - 1, -1.0))
                    add(-1.0, (i, m * q), (mean, -1.0), (before + i - 1, -1.0))
                    add(0.0, (after + i - 1, 1.0), (after + i, -1.0))
                if i < m - 1:
                    add(-1.0, (i, m * q), (mean, -1.0), (after + i + 1, -1.0))
        self.rows, self.limits, self.size = _matrix(cells, len(limits), size), np.array(limits), size
        self.mean = _matrix([(0, i, float(p[i])) for i in range(m)] + [(0, m, -1.0)], 1, size)

    @cached_property
    def smallest(self) -> float:
        """The largest possible value of the smallest alpha."""
        return float(self._solve(self.m + 2, 0.0)[self.m + 2])

    def most_kept(self, smallest: float) -> Floats:
        """Return the probabilities alpha with the largest R, none below ``smallest``."""
        alphas: Floats = self._solve(self.m, smallest * (1.0 - 1e-9))[: self.m]
        return alphas

    def candidates(self) -> Iterator[tuple[float, Floats]]:
        """Yield lower bounds on alpha, the largest first, each with the probabilities that have the largest R."""
        for share in SHARES:
            least = share * self.smallest
            alphas = self.most_kept(least)
            yield least, alphas
            if alphas.min() > least * (1.0 + 1e-6):
                return  # a smaller share changes nothing

    def _solve(self, variable: int, smallest: float) -> Floats:
        from scipy.optimize import linprog

        goal = np.zeros(self.size)
        goal[variable] = -1.0
        bounds: list[tuple[float | None, float | None]] = [(0.0, 1.0)] * (self.m + 1)
        bounds += [(0.0, None), (smallest, 1.0), *[(None, None)] * (self.size - self.m - 3)]
        solution = linprog(
            goal,
            A_ub=self.rows,
            b_ub=self.limits,
            A_eq=self.mean,
            b_eq=[0.0],
            bounds=bounds,
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solution.status != 0:  # the solver may fail on extreme numbers; alpha = 0 always keeps the bounds
            return np.zeros(self.size)
        return np.asarray(np.clip(solution.x, 0.0, 1.0), np.float64)


def _matrix(cells: list[tuple[int, int, float]], rows: int, columns: int) -> object:
    from scipy.sparse import csr_array

    lines, places, values = (np.array(part) for part in zip(*cells, strict=True))
    return csr_array((values, (lines, places)), shape=(rows, columns))


def printed(alphas: Floats, bounded: Bounded) -> tuple[Matrix, float]:
    """Return a matrix whose printed cells keep the bounds exactly, and the factor by which ``alphas`` were shrunk.

    Shrinking all alphas alike leads on a straight line to a matrix that discloses nothing (alpha = 0), where every
    belief is the prior; as the bounds are linear and hold there, they hold from some point of the line on. That point
    is computed, and then the printed numbers are checked.
    """
    counts, nodes, p, caps, floors = bounded
    room = _room(alphas, p, caps, floors)
    step = 0.0
    while step < 1.0:
        matrix = spread(alphas * (room * (1.0 - step)), bounded)
        if matrix.worst(counts, caps, floors, Fraction(0), nodes).broken == 0:
            return matrix, room * (1.0 - step)
        step = max(1e-15, 4.0 * step)
    matrix = _silent(len(counts))
    if matrix.worst(counts, caps, floors, CERTAIN, nodes).broken:
        raise AssertionError("even a matrix that tells nothing breaks the bounds; nothing was published")
    return matrix, 0.0


def _room(alphas: Floats, p: Floats, caps: Floats, floors: Floats | None) -> float:
    """Return the largest factor up to 1 with which ``alphas`` keep the bounds, up to rounding."""
    m = len(p)
    if m == 1 or not np.isfinite(alphas).all():
        return 1.0
    mean = float(p @ alphas)
    # a constraint reads  at + factor * slope <= 0,  with at <= 0 because factor 0 satisfies it
    seen = m * p * alphas - mean
    shares = p / caps
    pairs = [
        (shares - 1.0, shares * (m - 1) * alphas - seen),
        (np.broadcast_to(shares - 1.0, (m, m)).T, -(shares * alphas)[:, None] - seen[None, :]),
    ]
    if floors is not None:
        lows = floors / p
        off = (lows * 1.0)[:, None] * seen[None, :] + alphas[:, None]
        np.fill_diagonal(off, lows * seen - (m - 1) * alphas)
        pairs.append((np.broadcast_to(lows - 1.0, (m, m)).T, off))
    factor = 1.0
    for at, slope in pairs:
        tight = at + slope > 0
        if bool(tight.any()):
            factor = min(factor, float((-at[tight] / slope[tight]).min()))
    return max(0.0, factor)


def _silent(m: int) -> Matrix:
    """Return a matrix that discloses nothing: all values are published with equal probability, whatever they were."""
    scale = 10**DIGITS
    units = np.empty((m, m), object)
    units[:] = np.array([[scale // m + (v < scale % m)] for v in range(m)], object)
    return Matrix(units, scale)


def spread(alphas: Floats, bounded: Bounded) -> Matrix:
    """Return the matrix of Eq. 12 for nodes, spread over their values, in decimals.

    A node is kept with its value, and a node drawn in its place has each of its values with the share of the value in
    the node. With N the matrix of the nodes and P their shares, a published v of the node b then has, together with an
    original value of the node a, the probability P_a N(a -> b) p_v / P_b: for a = b, this is p_v N(b -> b). So what v
    tells about nodes is what b tells under N. Cells off the diagonal are rounded so that alpha only shrinks.
    """
    m, scale, (counts, nodes) = len(alphas), 10**DIGITS, bounded[:2]
    largest = scale // m
    moved = np.array([min(largest, -int((alpha - 1.0) * scale // m)) for alpha in alphas.tolist()], object)[nodes]
    sizes = np.bincount(nodes, counts).astype(np.int64)[nodes]
    shares = [(int(count), int(size)) for count, size in zip(counts, sizes, strict=True)]
    units = np.array([-(-moved * count // size) for count, size in shares], object)
    units[nodes[:, None] == nodes] = 0
    np.fill_diagonal(units, scale - units.sum(axis=0))
    return Matrix(units, scale)
