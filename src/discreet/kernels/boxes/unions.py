"""What the boxes that hold a point contain together, for many points in a good order: little changes between two.

The points are listed in lexicographic order of their codes. So from one to the next most axes stay as they are, and
the contents of the boxes that no longer hold the point are taken off the sum of the last one, those of new ones added.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.boxes.boxes import in_set
from discreet.kernels.compiling import kernel, part

BLOCK = 6
"""Sums are looked for in blocks of two to the power of this many columns, where these hold anything."""


@kernel
def gather(points, boxes, axes, starts, columns, amounts, width, found_columns, found_amounts):
    """Per point, the sum of what the boxes that hold it contain, without the zeros: columns ascending.

    Box ``b`` contains ``amounts[i]`` in column ``columns[i]`` for every ``i`` from ``starts[b]`` to ``starts[b + 1]``;
    ``axes`` says which axis of the boxes each code of a point belongs to. The sums are written to ``found_columns`` and
    ``found_amounts``, those of point ``p`` from ``ends[p]`` to ``ends[p + 1]``. Returns ``ends``: shorter than there
    are points when no more sums have room, but never without the first, which needs ``width`` at most.
    """
    n, d = points.shape
    near = _overlapping(points, boxes, axes)
    number = near.shape[0]
    wide = (number + 7) // 8 * 8  # eight at a time are compared as one word
    low = np.ones((d, wide), np.int32)
    high = np.zeros((d, wide), np.int32)
    sets = np.full((d, wide), -1, np.int32)
    for j in range(d):
        for i in range(number):
            low[j, i] = boxes.low[near[i], axes[j]]
            high[j, i] = boxes.high[near[i], axes[j]]
            sets[j, i] = boxes.set_at[near[i], axes[j]]
    gapped = [np.flatnonzero(sets[j] >= 0) for j in range(d)]
    # masks[j]: which boxes hold the point on all axes before j
    masks = np.zeros((d + 1, wide), np.uint8)
    masks[0, :number] = 1
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
            for i in gapped[j]:
                if masks[j + 1, i] and not in_set(boxes, sets[j, i], points[p, j]):
                    masks[j + 1, i] = 0
        for word in range(words.shape[0]):
            if words[word] == held[word]:
                continue
            for i in range(8 * word, min(8 * word + 8, number)):
                if masks[d, i] == now[i]:
                    continue
                sign = 1 if masks[d, i] else -1
                now[i] = masks[d, i]
                for entry in range(starts[near[i]], starts[near[i] + 1]):
                    column = columns[entry]
                    before = sums[column]
                    sums[column] = before + sign * amounts[entry]
                    if before == 0:
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
    """The boxes that may hold any of the points."""
    number, d = boxes.low.shape[0], points.shape[1]
    least, most = np.empty(d, np.int32), np.empty(d, np.int32)
    for j in range(d):
        least[j], most[j] = points[:, j].min(), points[:, j].max()
    found = np.empty(number, np.int64)
    many = 0
    for box in range(number):
        meets = True
        for j in range(d):
            if boxes.low[box, axes[j]] > most[j] or boxes.high[box, axes[j]] < least[j]:
                meets = False
                break
        if meets:
            found[many] = box
            many += 1
    return found[:many].copy()


@part
def _narrow(before, after, low, high, code):
    """Which of the boxes that hold a point so far do so on one more axis."""
    for i in range(before.shape[0]):
        after[i] = before[i] & np.uint8(low[i] <= code) & np.uint8(code <= high[i])


@kernel
def shares_within(ends, columns, amounts, point_of, first, last):
    """Per question ``q``: which share of the sums of point ``point_of[q]`` lies in columns ``first[q]`` to ``last[q]``.

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
