"""The combined contents of the boxes that contain a point, for many points in an order with few changes between two.

The points are sorted by their codes, axis by axis. So most axes stay the same from one point to the next, and the sum
is updated: contents of boxes that no longer contain the point are subtracted, those of new boxes added.
"""

import numpy as np

from discreet.kernels.boxes.boxes import in_set
from discreet.kernels.compiling import kernel, part
from discreet.kernels.costs import bound_box

BLOCK = 6
"""Sums are scanned in blocks of 2 to the power of this many columns, skipping empty blocks."""


@kernel
def gather(points, boxes, axes, starts, columns, amounts, width, found_columns, found_amounts):
    """Sum, per point, the contents of the boxes that contain it, without the zeros and with columns ascending.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``;
    ``axes`` maps each code of a point to an axis of the boxes. The sums are written to ``found_columns`` and
    ``found_amounts``, those of point ``p`` from ``ends[p]`` to ``ends[p + 1]``. Returns ``ends``, which covers fewer
    points if there is no room for more sums, but always the first, which needs at most ``width``.
    """
    n, d = points.shape
    near = _overlapping(points, boxes, axes)
    number = near.shape[0]
    wide = (number + 7) // 8 * 8  # eight bytes are compared as one word
    low = np.ones((d, wide), np.int32)
    high = np.zeros((d, wide), np.int32)
    sets = np.empty((d, number), np.int32)
    gapped, gaps = np.empty((d, number), np.int64), np.zeros(d, np.int64)  # per axis: the boxes with gaps there
    for j in range(d):
        for i in range(number):
            low[j, i] = boxes.low[near[i], axes[j]]
            high[j, i] = boxes.high[near[i], axes[j]]
            sets[j, i] = boxes.set_at[near[i], axes[j]]
            if sets[j, i] >= 0:
                gapped[j, gaps[j]] = i
                gaps[j] += 1
    # masks[j]: which boxes contain the point on all axes before j
    masks = np.zeros((d + 1, wide), np.uint8)
    for i in range(number):
        masks[0, i] = 1
    now = np.zeros(wide, np.uint8)
    words, held = masks[d].view(np.uint64), now.view(np.uint64)
    sums = np.zeros(width, np.int64)
    filled = np.zeros((width >> BLOCK) + 1, np.int64)
    distinct = 0
    ends = np.zeros(n + 1, np.int64)
    at = 0
    for p in range(n):
        same = 0
        if p > 0:
            while same < d and points[p, same] == points[p - 1, same]:
                same += 1
        for j in range(same, d):
            _narrow(masks[j], masks[j + 1], low[j], high[j], points[p, j])
            for gap in range(gaps[j]):
                i = gapped[j, gap]
                if masks[j + 1, i] and not in_set(boxes, sets[j, i], points[p, j]):
                    masks[j + 1, i] = 0
        for word in range(words.shape[0]):
            if words[word] == held[word]:
                continue
            for i in range(8 * word, min(8 * word + 8, number)):
                if masks[d, i] == now[i]:
                    continue
                now[i] = masks[d, i]
                sign = 1 if now[i] else -1
                for entry in range(starts[near[i]], starts[near[i] + 1]):
                    column = columns[entry]
                    had = sums[column]
                    sums[column] = had + sign * amounts[entry]
                    if had == 0:
                        filled[column >> BLOCK] += 1
                        distinct += 1
                    elif sums[column] == 0:
                        filled[column >> BLOCK] -= 1
                        distinct -= 1
        if p > 0 and at + distinct > found_columns.shape[0]:
            return ends[: p + 1].copy()
        for block in range(filled.shape[0]):
            if filled[block]:
                for column in range(block << BLOCK, min(width, (block + 1) << BLOCK)):
                    if sums[column]:
                        found_columns[at] = column
                        found_amounts[at] = sums[column]
                        at += 1
        ends[p + 1] = at
    return ends


@part
def _overlapping(points, boxes, axes):
    """Return the boxes that may contain any of the points."""
    number, d = boxes.low.shape[0], points.shape[1]
    least, most = np.empty(d, np.int32), np.empty(d, np.int32)
    bound_box(points, np.int64(0), points.shape[0], least, most)
    overlapping = np.empty(number, np.int64)
    many = 0
    for box in range(number):
        meets = True
        for j in range(d):
            if boxes.low[box, axes[j]] > most[j] or boxes.high[box, axes[j]] < least[j]:
                meets = False
                break
        if meets:
            overlapping[many] = box
            many += 1
    return overlapping[:many].copy()


@part
def _narrow(before, after, low, high, code):
    """Mark in ``after`` which of the boxes marked in ``before`` contain the point on one more axis, too."""
    for i in range(before.shape[0]):
        after[i] = before[i] & np.uint8(low[i] <= code) & np.uint8(code <= high[i])


@kernel
def shares_within(ends, columns, amounts, point_of, first, last):
    """Return, per query ``q``, the share of the sums of point ``point_of[q]`` in columns ``first[q]`` to ``last[q]``.

    The sums are as ``gather`` writes them; a point without any has a share of 0.
    """
    up_to = np.zeros(ends[-1] + 1, np.int64)
    for i in range(ends[-1]):
        up_to[i + 1] = up_to[i] + amounts[i]
    result = np.zeros(point_of.shape[0])
    for q in range(point_of.shape[0]):
        start, end = ends[point_of[q]], ends[point_of[q] + 1]
        held = columns[start:end]
        low = start + np.searchsorted(held, first[q])
        high = start + np.searchsorted(held, last[q] + 1)
        if end > start:
            result[q] = (up_to[high] - up_to[low]) / (up_to[end] - up_to[start])
    return result
