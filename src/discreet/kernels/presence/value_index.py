"""An index of the groups that show all of a person's values, and the beliefs they justify together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part

OFTEN = 256
"""A value is shown often if more than one in this many groups shows it: scanning all bits of a line is then quicker
than looking up these groups one by one."""
CERTAIN = -1000.0
"""Stands for the logarithm of 0: e to the power of it is 0, and 0 times it is still a number."""


class Shown(NamedTuple):
    """Which groups show which values. The values of all attributes are numbered consecutively, attribute by attribute.

    A value that many groups show has a line of bits, one per group; for a rare value most bits would be zero.
    """

    starts: NDArray[np.int64]
    """The groups that show value ``v`` are ``groups[starts[v]:starts[v + 1]]``, ascending."""
    groups: NDArray[np.int32]
    lines: NDArray[np.int32]
    """Per value: its line of ``bits``, or -1 if it has none."""
    bits: NDArray[np.uint64]


@kernel
def index_groups(values, groups, number, width):
    """Build the index of ``width`` values from pairs of values and groups, the groups ascending."""
    starts = np.zeros(width + 1, np.int64)
    for v in values:
        starts[v + 1] += 1
    lines = np.full(width, -1, np.int32)
    often = 0
    for v in range(width):
        if starts[v + 1] * OFTEN > number:
            lines[v] = often
            often += 1
        starts[v + 1] += starts[v]
    bits = np.zeros((often, (number + 63) // 64), np.uint64)
    listed = np.empty(values.shape[0], np.int32)
    filled = starts[:-1].copy()
    for e in range(values.shape[0]):
        v = values[e]
        g = groups[e]
        listed[filled[v]] = g
        filled[v] += 1
        if lines[v] >= 0:
            bits[lines[v], g >> 6] |= np.uint64(1) << np.uint64(g & 63)
    return Shown(starts, listed, lines, bits)


@part
def place_of(bit):
    """Return the position of the only set bit of a word, as a sum of six independent terms."""
    place = np.int64(bit & np.uint64(0xAAAAAAAAAAAAAAAA) != 0)
    place += np.int64(bit & np.uint64(0xCCCCCCCCCCCCCCCC) != 0) << 1
    place += np.int64(bit & np.uint64(0xF0F0F0F0F0F0F0F0) != 0) << 2
    place += np.int64(bit & np.uint64(0xFF00FF00FF00FF00) != 0) << 3
    place += np.int64(bit & np.uint64(0xFFFF0000FFFF0000) != 0) << 4
    place += np.int64(bit & np.uint64(0xFFFFFFFF00000000) != 0) << 5
    return place


@kernel
def listed(common, first, hits, number):
    """Write the groups set in a word into ``hits``, from index ``number`` on; return the index after the last.

    ``first`` is the group of the word's first bit.
    """
    while common != 0:
        lowest = common & (~common + np.uint64(1))
        hits[number] = first + place_of(lowest)
        number += 1
        common ^= lowest
    return number


@part
def shows(shown, v, g):
    """Whether group ``g`` shows value ``v``."""
    if shown.lines[v] >= 0:
        return (shown.bits[shown.lines[v], g >> 6] >> np.uint64(g & 63)) & np.uint64(1) != 0
    return position(shown.groups, shown.starts[v], shown.starts[v + 1], g) < shown.starts[v + 1]


@part
def position(listed, start, end, wanted):
    """Return the position of a number in a part of an ascending list, or ``end`` if it is absent."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if listed[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and listed[low] == wanted else end


@kernel
def rarest_of(point, shown):
    """Return the index of the value of a point that the fewest groups show; -1 if no group shows one of the values."""
    rarest = -1
    fewest = 0
    for j in range(point.shape[0]):
        if point[j] < 0:
            return -1
        here = shown.starts[point[j] + 1] - shown.starts[point[j]]
        if rarest < 0 or here < fewest:
            rarest = j
            fewest = here
    return rarest


@kernel
def covering(point, shown, within, hits):
    """Write the groups among ``within`` (bits) that show all values of a point into ``hits``; return their number."""
    rarest = rarest_of(point, shown)
    if rarest < 0:
        return 0
    number = 0
    if shown.lines[point[rarest]] < 0:
        for at in range(shown.starts[point[rarest]], shown.starts[point[rarest] + 1]):
            g = shown.groups[at]
            everywhere = (within[g >> 6] >> np.uint64(g & 63)) & np.uint64(1) != 0
            for j in range(point.shape[0]):
                if not everywhere:
                    break
                everywhere = j == rarest or shows(shown, point[j], g)
            if everywhere:
                hits[number] = g
                number += 1
        return number
    # the rarest value is shown often, so all values have lines
    for word in range(shown.bits.shape[1]):
        common = within[word]
        for value in point:
            common &= shown.bits[shown.lines[value], word]
        number = listed(common, word << 6, hits, number)
    return number


@kernel
def everyone(number):
    """Return the bits of all groups."""
    return np.full((number + 63) // 64, ~np.uint64(0))


@kernel
def trail_of(points, shown):
    """Return the memory passed from one point to the next.

    It contains the point's values, and per value the bits of the groups that show it and all values before it.
    """
    d = points.shape[1]
    return np.full(d, -2, np.int64), np.empty((d, shown.bits.shape[1]), np.uint64)


@part
def common_to(point, shown, trail):
    """Return the bits of the groups that show all values of a point, which all have lines; see ``trail_of``."""
    before, common = trail
    same = True
    for j in range(point.shape[0]):
        same = same and before[j] == point[j]
        if not same:
            before[j] = point[j]
            line = shown.bits[shown.lines[point[j]]]
            above = line if j == 0 else common[j - 1]
            here = common[j]
            for word in range(line.shape[0]):
                here[word] = above[word] & line[word]
    return common[point.shape[0] - 1]


@kernel
def covering_next(point, shown, within, hits, trail):
    """Do the same as ``covering`` for sorted points: values shared with the previous point are not looked up again."""
    rarest = rarest_of(point, shown)
    if rarest < 0 or shown.lines[point[rarest]] < 0:
        return covering(point, shown, within, hits)
    last = common_to(point, shown, trail)
    number = 0
    for word in range(last.shape[0]):
        number = listed(last[word] & within[word], word << 6, hits, number)
    return number


@kernel
def cover(points, shown, number, presences):
    """Return, per point, how many groups cover it, and what their ``presences`` amount to.

    These are the largest of the presences, and the sum of log(1 - presence). A point is a line of values, -1 for one
    that no group shows.
    """
    n = points.shape[0]
    hits = np.empty(number, np.int64)
    times, largest, logs = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    absent = np.maximum(np.log1p(-presences), CERTAIN)
    within, trail = everyone(number), trail_of(points, shown)
    for r in range(n):
        times[r] = covering_next(points[r], shown, within, hits, trail)
        for g in hits[: times[r]]:
            largest[r] = max(largest[r], presences[g])
            logs[r] += absent[g]
    return times, largest, logs


@kernel
def foremost(points, shown, number):
    """Return, per point, the first group that covers it, or -1."""
    hits = np.empty(number, np.int64)
    within, trail = everyone(number), trail_of(points, shown)
    result = np.full(points.shape[0], -1, np.int64)
    for r in range(points.shape[0]):
        if covering_next(points[r], shown, within, hits, trail) > 0:
            result[r] = hits[0]
    return result


@kernel
def renumbered(shown, order):
    """Return the index for groups in another order: group ``order[i]`` becomes group ``i``."""
    number, width = order.shape[0], shown.starts.shape[0] - 1
    filled = np.zeros(number, np.int64)
    for g in shown.groups:
        filled[g] += 1
    groups = np.empty(shown.groups.shape[0], np.int32)
    at = 0
    for place in range(number):
        many = filled[order[place]]
        groups[at : at + many] = place
        filled[order[place]] = at
        at += many
    values = np.empty(shown.groups.shape[0], np.int64)
    for v in range(width):
        for g in shown.groups[shown.starts[v] : shown.starts[v + 1]]:
            values[filled[g]] = v
            filled[g] += 1
    return index_groups(values, groups, number, width)


@kernel
def mix(points, shown, number, presences, starts, values, shares, width):
    """Return, per point, the sum of the distributions of the groups that cover it, weighed by their presences."""
    n = points.shape[0]
    hits = np.empty(number, np.int64)
    result = np.zeros((n, width))
    within, trail = everyone(number), trail_of(points, shown)
    for r in range(n):
        for at in range(covering_next(points[r], shown, within, hits, trail)):
            g = hits[at]
            for e in range(starts[g], starts[g + 1]):
                result[r, values[e]] += presences[g] * shares[e]
    return result
