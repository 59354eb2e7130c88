"""Cutting until nothing can be cut: from one group of all rows to the groups of a release."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import HIGH, LOW
from discreet.kernels.compiling import kernel, kernel_in_place
from discreet.kernels.costs import bound_box, box_cost, interval_cost
from discreet.kernels.cuts.choices import Takings
from discreet.kernels.cuts.cut import apply_cut, find_cuts
from discreet.kernels.cuts.halves import WHOLE, Halves
from discreet.kernels.cuts.layout import AxisLayout, Blocks, Held, layout_of
from discreet.kernels.cuts.terms import AXIS, BestCuts, no_cuts
from discreet.kernels.judging import Joint


class Work(NamedTuple):
    """Scratch memory for one thread; few arrays, since every one takes long to compile.

    Counts per value are 0 between groups, and within a group only those of the values in ``present`` are touched: a
    group costs by its rows, however many values the table has.

    Where several attributes are judged, a "value" is a combination of theirs. Only what decides which rows go where is
    counted by combinations; all that is judged is counted by the values of each attribute, which are fewer.
    """

    present: NDArray[np.int32]
    """The values that rows of the group have."""
    layout: AxisLayout
    blocks: Blocks
    halves: Halves
    takings: Takings
    held: Held | None
    """None where one attribute is judged: what is only for several is then left out of what is compiled."""
    moved: NDArray[np.int32]
    """The rows of a group while its halves are put in their places: their codes, then their class and number."""
    waiting: NDArray[np.int32]
    """Where the parts of a run of rows end that are still to be cut, the first of them last."""
    cuts: BestCuts


def workspace(size: int, d: int, m: int, card: int, positions: int, many: int = 1, joint: Joint | None = None) -> Work:
    """Scratch memory for groups of up to ``size`` rows with ``m`` values, and room for their ``many`` best cuts.

    ``joint`` tells the attributes whose values together are the ``m`` values, if there are several.
    """
    judged = m if joint is None else int(joint.offsets[-1])
    halves = Halves(np.zeros((3, judged), np.int64), np.empty((3, 2, d), np.int32))
    counts, held = halves.counts[WHOLE], None
    if joint is not None:
        counts = np.zeros(m, np.int64)
        held = Held(np.empty(judged, np.int32), np.zeros(len(joint.widths), np.int64))
    return Work(
        np.empty(min(m, size), np.int32),
        layout_of(size, card, positions),
        Blocks(np.empty((positions + 1, judged), np.int64), np.empty((positions + 1, 2, d), np.int32)),
        halves,
        Takings(counts, np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros((2, m), np.int64)),
        held,
        np.empty((size, d + 2), np.int32),
        np.empty(size, np.int32),
        no_cuts(many, m),
    )


@kernel_in_place
def grow(points, sensitive_codes, rows, start, end, axes, rules, limits, recipe, work, first, most):
    """Cut the rows ``start`` to ``end`` until no cut keeps the rules, always by the cheapest cut; or ``most`` times.

    Rows are reordered in place so that every group is a run of rows; ``first`` is set where one begins.
    Returns the cost of the groups, summed over their rows, and how many parts are left to be cut, which end where
    ``work.waiting`` says.
    """
    cuts, box = work.cuts, work.halves.boxes[WHOLE]
    total = 0.0
    made = 0
    left = 1
    work.waiting[0] = end
    while left > 0 and made < most:
        left -= 1
        end = np.int64(work.waiting[left])
        find_cuts(points, sensitive_codes, start, end, axes, rules, limits, recipe, work, cuts)
        if cuts.terms[0, AXIS] < 0:
            first[start] = True
            bound_box(points, start, end, box[LOW], box[HIGH])
            total += (end - start) * box_cost(axes, box[LOW], box[HIGH], end - start)
            start = end
        else:
            work.waiting[left] = end
            work.waiting[left + 1] = apply_cut(points, sensitive_codes, rows, start, end, limits, work, cuts, 0)
            left += 2
            made += 1
    return total, left


@kernel
def grow_ahead(points, sensitive_codes, rows, start, end, axes, rules, limits, recipe, quick, work, spare, first):
    """As ``grow``, but looking ahead: of the cheapest cuts, as many as ``work`` has room for, take the one whose
    halves, grown to the end with the recipe ``quick``, cost least.

    Taking the cheapest cut at once is short-sighted: it may leave halves that cannot be cut again.
    ``spare`` is a second workspace, with room for one cut.
    """
    cuts, box = work.cuts, work.halves.boxes[WHOLE]
    many = cuts.score.shape[0]
    n = end - start
    trial_points = np.empty((n, points.shape[1]), np.int32)
    trial_classes = np.empty(n, np.int32)
    trial_rows = np.empty(n, np.int32)
    trial_first = np.empty(n, np.bool_)
    total = 0.0
    left = 1
    work.waiting[0] = end
    while left > 0:
        left -= 1
        end = np.int64(work.waiting[left])
        n = end - start
        find_cuts(points, sensitive_codes, start, end, axes, rules, limits, recipe, work, cuts)
        if cuts.terms[0, AXIS] < 0:
            first[start] = True
            bound_box(points, start, end, box[LOW], box[HIGH])
            total += n * box_cost(axes, box[LOW], box[HIGH], n)
            start = end
            continue
        best = 0
        lowest = np.inf
        for k in range(many):
            if cuts.terms[k, AXIS] < 0 or (k == 0 and (many == 1 or cuts.terms[1, AXIS] < 0)):
                break
            trial_points[:n] = points[start:end]
            trial_classes[:n] = sensitive_codes[start:end]
            middle = apply_cut(trial_points, trial_classes, trial_rows, 0, n, limits, work, cuts, k)
            cost = 0.0
            for a, b in ((0, middle), (middle, n)):
                if cost < lowest:
                    cost += grow(
                        trial_points, trial_classes, trial_rows, a, b, axes, rules, limits, quick, spare, trial_first, n
                    )[0]
            if cost < lowest:
                lowest = cost
                best = k
        work.waiting[left] = end
        work.waiting[left + 1] = apply_cut(points, sensitive_codes, rows, start, end, limits, work, cuts, best)
        left += 2
    return total


@kernel_in_place
def join_costs(axes, lows, highs, sizes, g, result):
    """What a row would cost if group ``g`` and another were one group, for every other group, into ``result``."""
    for h in range(lows.shape[0]):
        if axes.by_size:
            result[h] = sizes[g] + sizes[h]
            continue
        result[h] = 0.0
        for j in range(lows.shape[1]):
            low = min(lows[g, j], lows[h, j])
            high = max(highs[g, j], highs[h, j])
            result[h] += axes.weights[j] * interval_cost(axes, j, low, high)
