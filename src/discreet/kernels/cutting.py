"""Cutting a group in two.

A *cut* of a group along one axis is a vector ``x``: of every stratum ``i`` (a sensitive value, or a bucket of them),
the first ``x[i]`` rows in the order of that axis go left, the others right. Every family of cuts is a choice of ``x``:

- plain: all rows up to one position of the axis, whatever their stratum;
- stratified: the same share of every stratum, so that both halves inherit the distribution of the whole;
- repaired: a plain cut, then the fewest rows nearest to it moved across, so that no value exceeds its bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import bound_box, box_cost, interval_cost
from discreet.kernels.judging import SLACK, strain

PLAIN, STRATIFIED, BUCKETED, REPAIRED = 1, 2, 4, 8


class Recipe(NamedTuple):
    """How a partitioner chooses among the cuts that keep the rules."""

    families: int
    """A sum of ``PLAIN``, ``STRATIFIED``, ``BUCKETED``, ``REPAIRED``."""
    positions: int
    """How many positions of an axis are tried by plain and repaired cuts."""
    shares: int
    """How many shares are tried by stratified cuts: 1 is the half, 3 are the quarters."""
    caution: float
    """What a half costs that is close to its bounds: later cuts of it will be blocked."""
    plain_above: int
    """Groups of more rows than this take a plain cut whenever one is allowed: it leaves the others for later."""
    widest: bool
    """Whether the widest axis is cut, as Mondrian does, and not the one where the cut costs least."""


class Limits(NamedTuple):
    """The linear part of the rules, and what follows from them for cuts."""

    caps: NDArray[np.float64]
    """Per value: the largest share of a group it may have (1 when unbounded)."""
    floors: NDArray[np.float64]
    """Per value: the smallest share of a group it must have."""
    values: NDArray[np.int32]
    """Strata of one value each: 0, 1, 2, ..."""
    buckets: NDArray[np.int32]
    """Per value: its bucket. Taking the same share of every bucket keeps the caps, whichever values are taken."""
    smallest: int
    """No smaller group can keep the rules."""


class Work(NamedTuple):
    """Scratch memory for one thread.

    Counts per value are 0 between groups, and within a group only those of the values in ``present`` are touched: a
    group costs by its rows, however many values the table has.
    """

    present: NDArray[np.int32]

    order: NDArray[np.int32]
    steps: NDArray[np.int32]
    tally: NDArray[np.int32]
    block: NDArray[np.int32]
    edges: NDArray[np.int32]
    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    rows: NDArray[np.int32]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    counts: NDArray[np.int64]
    x: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    taken: NDArray[np.int64]
    block_counts: NDArray[np.int64]
    block_low: NDArray[np.int32]
    block_high: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    half_low: NDArray[np.int32]
    half_high: NDArray[np.int32]


class Cuts(NamedTuple):
    """The best cuts of a group found so far, cheapest first; ``axis`` is -1 where there is none."""

    score: NDArray[np.float64]
    axis: NDArray[np.int64]
    by_bucket: NDArray[np.bool_]
    """Whether ``x`` counts rows per bucket and not per value."""
    size: NDArray[np.int64]
    """How many rows go left."""
    x: NDArray[np.int64]
    """Per stratum how many rows go left; meaningless for strata that the group does not have."""


@kernel
def workspace(size, d, m, card, positions):
    """Scratch memory for groups of up to ``size`` rows."""
    return Work(
        np.empty(min(m, size), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(min(card, 4 * size + 64) + 2, np.int32),
        np.empty(min(card, 4 * size + 64) + 2, np.int32),
        np.empty(positions + 2, np.int32),
        np.empty((size, d), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.empty((positions + 1, m), np.int64),
        np.empty((positions + 1, d), np.int32),
        np.empty((positions + 1, d), np.int32),
        np.empty(d, np.int32),
        np.empty(d, np.int32),
        np.empty((2, d), np.int32),
        np.empty((2, d), np.int32),
    )


@kernel
def no_cuts(how_many, m):
    """Room for the best ``how_many`` cuts."""
    return Cuts(
        np.full(how_many, np.inf),
        np.full(how_many, -1, np.int64),
        np.zeros(how_many, np.bool_),
        np.zeros(how_many, np.int64),
        np.zeros((how_many, m), np.int64),
    )


@kernel
def _lay_out(points, start, n, j, low, high, work):
    """Where the rows of a group lie along axis ``j``: steps from 0 on into ``work.steps``, and how many rows lie before
    each step into ``work.tally``. Returns the number of steps."""
    steps, tally = work.steps, work.tally
    span = high - low + 1
    if span > 4 * n + 64:  # few rows on a long axis: steps are ranks
        order = np.argsort(points[start : start + n, j], kind="mergesort")
        rank = 0
        for t in range(n):
            if t > 0 and points[start + order[t], j] != points[start + order[t - 1], j]:
                rank += 1
            steps[order[t]] = rank
        span = rank + 1
    else:
        for t in range(n):
            steps[t] = points[start + t, j] - low
    tally[: span + 1] = 0
    for t in range(n):
        tally[steps[t] + 1] += 1
    for c in range(span):
        tally[c + 1] += tally[c]
    return span


@kernel
def _sort(n, work):
    """Order the rows that were laid out, ties as they stand, into ``work.order``; uses up ``work.tally``."""
    for t in range(n):
        c = work.steps[t]
        work.order[work.tally[c]] = t
        work.tally[c] += 1


@kernel
def _find_edges(n, span, positions, work):
    """Positions in the order of an axis where one step ends and another begins: all of them, or those nearest to equal
    shares. Returns how many; ``work.block`` tells between which of them each step lies."""
    tally, edges = work.tally, work.edges
    changes = 0
    for c in range(1, span):
        if tally[c] > tally[c - 1]:
            changes += 1
    found = 0
    last = 0
    if changes <= positions:
        for c in range(1, span):
            if tally[c] > last:
                edges[found] = tally[c]
                found += 1
                last = tally[c]
    else:
        c = 1
        for k in range(positions):
            target = (k + 1) * n // (positions + 1)
            while c < span - 1 and tally[c + 1] <= target:
                c += 1
            # tally[c] is the last change up to the target (or the first of all), tally[c + 1] the next one
            edge = tally[c]
            if c + 1 < span and (edge <= last or target - edge > tally[c + 1] - target):
                edge = tally[c + 1]
            if last < edge < n:
                edges[found] = edge
                found += 1
                last = edge
    edges[found] = n
    b = 0
    for c in range(span):
        while tally[c] >= edges[b] and b < found:
            b += 1
        work.block[c] = b
    return found


@kernel
def _repair(classes, start, n, at, limits, present, work):
    """Turn ``work.x``, the counts left of position ``at``, into the nearest ones that keep caps and floors on both
    sides with the sizes unchanged. Returns whether there are any."""
    x, least, most = work.x, work.least, work.most
    total = 0
    total_least = 0
    total_most = 0
    for i in present:
        n_i = work.counts[i]
        cap_left = int(np.floor(limits.caps[i] * at + SLACK))
        cap_right = int(np.floor(limits.caps[i] * (n - at) + SLACK))
        floor_left = int(np.ceil(limits.floors[i] * at - SLACK))
        floor_right = int(np.ceil(limits.floors[i] * (n - at) - SLACK))
        least[i] = max(0, n_i - cap_right, floor_left)
        most[i] = min(n_i, cap_left, n_i - floor_right)
        if least[i] > most[i]:
            return False
        x[i] = min(max(x[i], least[i]), most[i])
        total += x[i]
        total_least += least[i]
        total_most += most[i]
    if total_least > at or total_most < at:
        return False
    t = at
    while total < at:
        i = classes[start + work.order[t]]
        if x[i] < most[i]:
            x[i] += 1
            total += 1
        t += 1
        if t == n:
            t = 0
    t = at - 1
    while total > at:
        i = classes[start + work.order[t]]
        if x[i] > least[i]:
            x[i] -= 1
            total -= 1
        t -= 1
        if t < 0:
            t = n - 1
    return True


@kernel
def _measure(points, classes, start, n, strata, present, work):
    """Boxes of the two halves that ``work.x`` makes, and the counts left of it. Returns the size of the left half."""
    low, high, taken = work.half_low, work.half_high, work.taken
    d = points.shape[1]
    for i in present:
        taken[strata[i]] = 0
        work.left[i] = 0
    size = 0
    for j in range(d):
        low[0, j] = 2147483647
        low[1, j] = 2147483647
        high[0, j] = -1
        high[1, j] = -1
    for t in range(n):
        r = start + work.order[t]
        i = classes[r]
        s = strata[i]
        side = 1
        if taken[s] < work.x[s]:
            taken[s] += 1
            work.left[i] += 1
            size += 1
            side = 0
        for j in range(d):
            code = points[r, j]
            low[side, j] = min(low[side, j], code)
            high[side, j] = max(high[side, j], code)
    return size


@kernel
def _weigh(left_size, right_size, axes, rules, caution, present, work):
    """The score of a cut whose counts and boxes stand in ``work``; infinite when a half breaks the rules."""
    if left_size == 0 or right_size == 0:
        return np.inf
    strain_left = strain(work.left, left_size, rules, present)
    if strain_left > 1.0:
        return np.inf
    for i in present:
        work.right[i] = work.counts[i] - work.left[i]
    strain_right = strain(work.right, right_size, rules, present)
    if strain_right > 1.0:
        return np.inf
    cost = left_size * box_cost(axes, work.half_low[0], work.half_high[0], left_size)
    cost += right_size * box_cost(axes, work.half_low[1], work.half_high[1], right_size)
    cost += caution * left_size * max(0.0, strain_left - 0.8)
    cost += caution * right_size * max(0.0, strain_right - 0.8)
    return cost


@kernel
def _keep(cuts, score, j, by_bucket, size, x, limits, present):
    """Put a cut in its place among the best."""
    k = cuts.score.shape[0] - 1
    if not score < cuts.score[k]:
        return
    while k > 0 and score < cuts.score[k - 1]:
        cuts.score[k] = cuts.score[k - 1]
        cuts.axis[k] = cuts.axis[k - 1]
        cuts.by_bucket[k] = cuts.by_bucket[k - 1]
        cuts.size[k] = cuts.size[k - 1]
        for i in present:
            cuts.x[k, i] = cuts.x[k - 1, i]
            cuts.x[k, limits.buckets[i]] = cuts.x[k - 1, limits.buckets[i]]
        k -= 1
    cuts.score[k] = score
    cuts.axis[k] = j
    cuts.by_bucket[k] = by_bucket
    cuts.size[k] = size
    strata = limits.buckets if by_bucket else limits.values
    for i in present:
        cuts.x[k, strata[i]] = x[strata[i]]


@kernel
def _share_out(sizes, strata, counts, present, share, x):
    """Take ``share`` of every stratum, rounding so that the error never adds up."""
    for i in present:
        sizes[strata[i]] = 0
    for i in present:
        sizes[strata[i]] += counts[i]
    due = 0.0
    given = 0
    for i in present:
        s = strata[i]
        if sizes[s] > 0:  # set to 0 once its share is given, so that a bucket is served with its first value
            due += share * sizes[s]
            x[s] = min(sizes[s], int(np.floor(due + 0.5)) - given)
            given += x[s]
            sizes[s] = 0


@kernel
def _cuts_along(points, classes, start, n, j, axes, rules, limits, recipe, families, present, work, cuts):
    """Weigh the cuts of these families along one axis."""
    span = _lay_out(points, start, n, j, work.low[j], work.high[j], work)
    d = points.shape[1]
    found = 0
    if families & (PLAIN | REPAIRED):
        found = _find_edges(n, span, recipe.positions, work)
        for b in range(found + 1):
            for i in present:
                work.block_counts[b, i] = 0
            for a in range(d):
                work.block_low[b, a] = 2147483647
                work.block_high[b, a] = -1
        for t in range(n):
            b = work.block[work.steps[t]]
            work.block_counts[b, classes[start + t]] += 1
            for a in range(d):
                code = points[start + t, a]
                work.block_low[b, a] = min(work.block_low[b, a], code)
                work.block_high[b, a] = max(work.block_high[b, a], code)
        for b in range(1, found + 1):  # counts are of all rows up to the end of the block, boxes of the block alone
            for i in present:
                work.block_counts[b, i] += work.block_counts[b - 1, i]
    if families != PLAIN:
        _sort(n, work)
    if families & (PLAIN | REPAIRED):
        for b in range(found):
            at = work.edges[b]
            if at < limits.smallest or n - at < limits.smallest:
                continue
            score = np.inf
            if families & PLAIN:
                for i in present:
                    work.left[i] = work.block_counts[b, i]
                for a in range(d):
                    work.half_low[0, a] = work.block_low[0, a]
                    work.half_high[0, a] = work.block_high[0, a]
                    work.half_low[1, a] = work.block_low[found, a]
                    work.half_high[1, a] = work.block_high[found, a]
                    for c in range(1, b + 1):
                        work.half_low[0, a] = min(work.half_low[0, a], work.block_low[c, a])
                        work.half_high[0, a] = max(work.half_high[0, a], work.block_high[c, a])
                    for c in range(b + 1, found):
                        work.half_low[1, a] = min(work.half_low[1, a], work.block_low[c, a])
                        work.half_high[1, a] = max(work.half_high[1, a], work.block_high[c, a])
                score = _weigh(at, n - at, axes, rules, recipe.caution, present, work)
                if recipe.widest and score < np.inf:
                    score = -interval_cost(axes, j, work.low[j], work.high[j])
                _keep(cuts, score, j, False, at, work.left, limits, present)
            if families & REPAIRED and score == np.inf:
                for i in present:
                    work.x[i] = work.block_counts[b, i]
                if _repair(classes, start, n, at, limits, present, work):
                    _measure(points, classes, start, n, limits.values, present, work)
                    score = _weigh(at, n - at, axes, rules, recipe.caution, present, work)
                    _keep(cuts, score, j, False, at, work.x, limits, present)
    for by_bucket in (False, True):
        if families & (BUCKETED if by_bucket else STRATIFIED):
            strata = limits.buckets if by_bucket else limits.values
            for k in range(recipe.shares):
                _share_out(work.taken, strata, work.counts, present, (k + 1) / (recipe.shares + 1), work.x)
                size = _measure(points, classes, start, n, strata, present, work)
                score = _weigh(size, n - size, axes, rules, recipe.caution, present, work)
                _keep(cuts, score, j, by_bucket, size, work.x, limits, present)


@kernel
def find_cuts(points, classes, start, end, axes, rules, limits, recipe, work, cuts):
    """The best cuts of the rows ``start`` to ``end``, into ``cuts``."""
    n = end - start
    cuts.score[:] = np.inf
    cuts.axis[:] = -1
    if n < 2 * limits.smallest:
        return
    bound_box(points, start, end, work.low, work.high)
    number = 0
    for r in range(start, end):
        i = classes[r]
        if work.counts[i] == 0:
            work.present[number] = i
            number += 1
        work.counts[i] += 1
    present = work.present[:number]
    first = recipe.families & PLAIN if n > recipe.plain_above else recipe.families
    for families in (first, recipe.families - first):
        if families and cuts.axis[0] < 0:
            for j in range(points.shape[1]):
                if work.low[j] < work.high[j]:
                    _cuts_along(
                        points, classes, start, n, j, axes, rules, limits, recipe, families, present, work, cuts
                    )
    for i in present:
        work.counts[i] = work.left[i] = work.right[i] = 0


@kernel
def apply_cut(points, classes, rows, start, end, limits, work, cuts, k):
    """Put the left half of the ``k``-th cut before the right half, in place. Returns where the right half starts."""
    n = end - start
    j = cuts.axis[k]
    low = points[start, j]
    high = low
    for r in range(start, end):
        low = min(low, points[r, j])
        high = max(high, points[r, j])
    _lay_out(points, start, n, j, low, high, work)
    _sort(n, work)
    strata = limits.buckets if cuts.by_bucket[k] else limits.values
    size = cuts.size[k]
    for r in range(start, end):
        work.taken[strata[classes[r]]] = 0
    to_left = 0
    to_right = size
    for t in range(n):
        r = start + work.order[t]
        s = strata[classes[r]]
        if work.taken[s] < cuts.x[k, s]:
            work.taken[s] += 1
            at = to_left
            to_left += 1
        else:
            at = to_right
            to_right += 1
        work.classes[at] = classes[r]
        work.rows[at] = rows[r]
        for a in range(points.shape[1]):
            work.points[at, a] = points[r, a]
    points[start:end] = work.points[:n]
    classes[start:end] = work.classes[:n]
    rows[start:end] = work.rows[:n]
    return start + size
