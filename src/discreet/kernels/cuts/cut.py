"""Cutting a group in two.

A *cut* of a group along one axis is a vector ``x``: of every stratum ``i`` (a sensitive value, or a bucket of them),
the first ``x[i]`` rows in the order of that axis go left, the others right. Every family of cuts is a choice of ``x``:

- plain: all rows up to one position of the axis, whatever their stratum;
- stratified: the same share of every stratum, so that both halves inherit the distribution of the whole;
- repaired: a plain cut, then the fewest rows nearest to it moved across, so that no value exceeds its bound.
"""

import numpy as np

from discreet.kernels.boxes.boxes import HIGH, LOW
from discreet.kernels.compiling import inlined
from discreet.kernels.costs import bound_box, interval_cost
from discreet.kernels.cuts.choices import in_order, repair, repair_each, share_out
from discreet.kernels.cuts.halves import WHOLE, count_each, count_left, forget, join_blocks, take_rows, weigh
from discreet.kernels.cuts.layout import fill_blocks, find_edges, lay_out, put_in_order
from discreet.kernels.cuts.terms import AXIS, BUCKETED, BY_BUCKET, PLAIN, REPAIRED, SIZE, STRATIFIED, keep


@inlined
def find_cuts(points, sensitive_codes, start, end, axes, rules, limits, recipe, work, cuts):
    """The best cuts of the rows ``start`` to ``end``, into ``cuts``."""
    n = end - start
    for k in range(cuts.score.shape[0]):
        cuts.score[k] = np.inf
        cuts.terms[k, AXIS] = -1
    if n < 2 * limits.smallest:
        return
    box, counts = work.halves.boxes[WHOLE], work.takings.counts
    bound_box(points, start, end, box[LOW], box[HIGH])
    number = 0
    for r in range(start, end):
        i = sensitive_codes[r]
        if counts[i] == 0:
            work.present[number] = i
            number += 1
        counts[i] += 1
    present = work.present[:number]
    count_each(present, rules.joint, counts, work.halves, work.held)
    ordered = False
    group_points, group_classes = points[start:end], sensitive_codes[start:end]
    first = recipe.families & PLAIN if n > recipe.plain_above else recipe.families
    for families in (first, recipe.families - first):
        if families and cuts.terms[0, AXIS] < 0:
            if families & (STRATIFIED | BUCKETED) and not ordered:
                in_order(present, counts, rules.joint)
                ordered = True
            for j in range(points.shape[1]):
                if box[LOW, j] < box[HIGH, j]:
                    _cuts_along(
                        group_points, group_classes, j, axes, rules, limits, recipe, families, present, work, cuts
                    )
    forget(present, rules.joint, counts, work.halves, work.held)


@inlined
def _cuts_along(points, sensitive_codes, j, axes, rules, limits, recipe, families, present, work, cuts):
    """Weigh the cuts of these families along one axis: plain and repaired ones at the edges of blocks, and then those
    that take the same share of every value, or of every bucket."""
    n = points.shape[0]
    box = work.halves.boxes[WHOLE]
    steps = lay_out(points, j, box[LOW, j], box[HIGH, j], work.layout)
    edges = 0
    if families & (PLAIN | REPAIRED):
        edges = find_edges(n, steps, recipe.positions, work.layout)
        fill_blocks(points, sensitive_codes, edges, present, rules.joint, work.layout, work.blocks, work.held)
    if families != PLAIN:
        put_in_order(n, work.layout)
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
        size = _take(points, sensitive_codes, family, k, edges, limits, rules.joint, recipe, present, work)
        if size == 0:
            continue
        block = k if family == PLAIN else -1
        most = cuts.score[-1]
        if family == PLAIN and (recipe.widest or families & REPAIRED):
            most = np.inf  # its cost does not decide, or whether it keeps the rules is asked for
        score = weigh(size, n - size, axes, rules, recipe.caution, most, sensitive_codes, block, present, work)
        if recipe.widest and family == PLAIN and score < np.inf:
            score = -axes.weights[j] * interval_cost(axes, j, box[LOW, j], box[HIGH, j])
        if family == PLAIN and score < cuts.score[-1]:
            count_left(sensitive_codes, k, present, rules.joint, work.layout, work.takings.x)
        keep(cuts, score, j, family == BUCKETED, size, limits, present, work.takings.x)


@inlined
def _take(points, sensitive_codes, family, k, edges, limits, joint, recipe, present, work):
    """What the ``k``-th cut of a family takes to the left, into ``work``. Returns how many rows, 0 if there is no such
    cut: plain ones take all rows before an edge, and where these break the rules, repaired ones as many."""
    n, order, takings = points.shape[0], work.layout.order, work.takings
    strata = limits.buckets if family == BUCKETED else limits.values
    if family in (PLAIN, REPAIRED):
        size = np.int64(work.layout.edges[k])  # a size, as others are
        if size < limits.smallest or n - size < limits.smallest:
            return 0
        if joint is None:
            for i in present:
                takings.x[i] = work.blocks.counts[k, i]
        if family == PLAIN:
            join_blocks(k, edges, present, joint, work.blocks, work.halves)
            return size
        if joint is None:
            if not repair(sensitive_codes, order, size, limits, present, takings):
                return 0
        elif not repair_each(
            sensitive_codes, size, k, joint, present, work.layout, work.blocks, work.halves, takings, work.held
        ):
            return 0
    else:
        share_out(takings.taken, strata, takings.counts, present, (k + 1) / (recipe.shares + 1), takings.x)
    return take_rows(points, sensitive_codes, order, strata, present, joint, takings, work.halves, work.held)


@inlined
def apply_cut(points, sensitive_codes, rows, start, end, limits, work, cuts, k):
    """Put the left half of the ``k``-th cut before the right half, in place. Returns where the right half starts."""
    n, d = end - start, points.shape[1]
    j = cuts.terms[k, AXIS]
    low = points[start, j]
    high = low
    for r in range(start, end):
        if points[r, j] < low:
            low = points[r, j]
        if points[r, j] > high:
            high = points[r, j]
    lay_out(points[start:end], j, low, high, work.layout)
    put_in_order(n, work.layout)
    strata = limits.buckets if cuts.terms[k, BY_BUCKET] else limits.values
    size = cuts.terms[k, SIZE]
    taken, moved = work.takings.taken, work.moved
    for r in range(start, end):
        taken[strata[sensitive_codes[r]]] = 0
    to_left = 0
    to_right = size
    for t in range(n):
        r = start + work.layout.order[t]
        s = strata[sensitive_codes[r]]
        if taken[s] < cuts.x[k, s]:
            taken[s] += 1
            at = to_left
            to_left += 1
        else:
            at = to_right
            to_right += 1
        for a in range(d):
            moved[at, a] = points[r, a]
        moved[at, d] = sensitive_codes[r]
        moved[at, d + 1] = rows[r]
    for t in range(n):
        for a in range(d):
            points[start + t, a] = moved[t, a]
        sensitive_codes[start + t] = moved[t, d]
        rows[start + t] = moved[t, d + 1]
    return start + size
