"""Cutting a group in two.

A *cut* of a group along one axis is a vector ``x``: of every stratum ``i`` (a sensitive value, or a bucket of them),
the first ``x[i]`` rows in the order of that axis go left, the others right. Every family of cuts is a choice of ``x``:

- plain: all rows up to one position of the axis, whatever their stratum;
- stratified: the same share of every stratum, so that both halves inherit the distribution of the whole;
- repaired: a plain cut, then the fewest rows nearest to it moved across, so that no value exceeds its bound.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import inlined
from discreet.kernels.costs import bound_box, interval_cost
from discreet.kernels.cuts.best import keep
from discreet.kernels.cuts.choices import in_order, repair, repair_each, share_out
from discreet.kernels.cuts.halves import count_each, count_left, forget, join_blocks, take_rows, weigh
from discreet.kernels.cuts.layout import fill_blocks, find_edges, lay_out, put_in_order
from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED


@inlined
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
    count_each(present, rules.joint, work)
    ordered = False
    group_points, group_classes = points[start:end], classes[start:end]
    first = recipe.families & PLAIN if n > recipe.plain_above else recipe.families
    for families in (first, recipe.families - first):
        if families and cuts.axis[0] < 0:
            if families & (STRATIFIED | BUCKETED) and not ordered:
                in_order(present, work.counts, rules.joint)
                ordered = True
            for j in range(points.shape[1]):
                if work.low[j] < work.high[j]:
                    _cuts_along(
                        group_points, group_classes, j, axes, rules, limits, recipe, families, present, work, cuts
                    )
    forget(present, rules.joint, work)


@inlined
def _cuts_along(points, classes, j, axes, rules, limits, recipe, families, present, work, cuts):
    """Weigh the cuts of these families along one axis: plain and repaired ones at the edges of blocks, and then those
    that take the same share of every value, or of every bucket."""
    n = points.shape[0]
    steps = lay_out(points, j, work.low[j], work.high[j], work)
    edges = 0
    if families & (PLAIN | REPAIRED):
        edges = find_edges(n, steps, recipe.positions, work)
        fill_blocks(points, classes, edges, present, rules.joint, work)
    if families != PLAIN:
        put_in_order(n, work)
    score = np.inf
    for t in range(2 * (edges + recipe.shares)):  # each is weighed in one place: what is called twice is compiled twice
        if t < 2 * edges:
            k, family = t // 2, REPAIRED if t % 2 else PLAIN
        else:
            k, family = t - 2 * edges, STRATIFIED
            if k >= recipe.shares:
                k, family = k - recipe.shares, BUCKETED
        if family == PLAIN:
            score = np.inf
        if not families & family or (family == REPAIRED and score < np.inf):
            continue
        size = _take(points, classes, family, k, edges, limits, rules.joint, recipe, present, work)
        if size == 0:
            continue
        block = k if family == PLAIN else -1
        most = cuts.score[-1]
        if family == PLAIN and (recipe.widest or families & REPAIRED):
            most = np.inf  # its cost does not decide, or whether it keeps the rules is asked for
        score = weigh(size, n - size, axes, rules, recipe.caution, most, classes, block, present, work)
        if recipe.widest and family == PLAIN and score < np.inf:
            score = -interval_cost(axes, j, work.low[j], work.high[j])
        if family == PLAIN and score < cuts.score[-1]:
            count_left(classes, k, present, rules.joint, work)
        keep(cuts, score, j, family == BUCKETED, size, limits, present, work)


@inlined
def _take(points, classes, family, k, edges, limits, joint, recipe, present, work):
    """What the ``k``-th cut of a family takes to the left, into ``work``. Returns how many rows, 0 if there is no such
    cut: plain ones take all rows before an edge, and where these break the rules, repaired ones as many."""
    n = points.shape[0]
    strata = limits.buckets if family == BUCKETED else limits.values
    if family in (PLAIN, REPAIRED):
        size = np.int64(work.edges[k])  # a size, as others are
        if size < limits.smallest or n - size < limits.smallest:
            return 0
        if joint is None:
            for i in present:
                work.x[i] = work.block_counts[k, i]
        if family == PLAIN:
            join_blocks(k, edges, present, joint, work)
            return size
        if joint is None:
            if not repair(classes, size, limits, present, work):
                return 0
        elif not repair_each(classes, size, k, joint, present, work):
            return 0
    else:
        share_out(work.taken, strata, work.counts, present, (k + 1) / (recipe.shares + 1), work.x)
    return take_rows(points, classes, strata, present, joint, work)


@inlined
def apply_cut(points, classes, rows, start, end, limits, work, cuts, k):
    """Put the left half of the ``k``-th cut before the right half, in place. Returns where the right half starts."""
    n = end - start
    j = cuts.axis[k]
    low = points[start, j]
    high = low
    for r in range(start, end):
        low = min(low, points[r, j])
        high = max(high, points[r, j])
    lay_out(points[start:end], j, low, high, work)
    put_in_order(n, work)
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
    for t in range(n):
        classes[start + t] = work.classes[t]
        rows[start + t] = work.rows[t]
        for a in range(points.shape[1]):
            points[start + t, a] = work.points[t, a]
    return start + size
