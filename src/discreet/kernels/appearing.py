"""Which groups show all of a person's values, and what these groups say together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part


class Shown(NamedTuple):
    """Which groups show which values. Values of all attributes are numbered through, each attribute's after another's.

    A value that many groups show has a line of bits, one per group; that of a rare one would be mostly zeros.
    """

    starts: NDArray[np.int64]
    """The groups that show value ``v`` are ``groups[starts[v]:starts[v + 1]]``, ascending."""
    groups: NDArray[np.int32]
    lines: NDArray[np.int32]
    """Per value: its line of ``bits``, or -1 when it has none."""
    bits: NDArray[np.uint64]


@kernel
def index_groups(values, groups, number, width):
    """What each of ``width`` values is shown by, from pairs of values and groups in ascending order of groups."""
    starts = np.zeros(width + 1, np.int64)
    for v in values:
        starts[v + 1] += 1
    lines = np.full(width, -1, np.int32)
    often = 0
    for v in range(width):
        if starts[v + 1] * 64 > number:
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
def _shows(shown, v, g):
    """Whether group ``g`` shows value ``v``."""
    if shown.lines[v] >= 0:
        return (shown.bits[shown.lines[v], g >> 6] >> np.uint64(g & 63)) & np.uint64(1) != 0
    low = shown.starts[v]
    high = shown.starts[v + 1]
    while low < high:
        middle = (low + high) // 2
        if shown.groups[middle] < g:
            low = middle + 1
        else:
            high = middle
    return low < shown.starts[v + 1] and shown.groups[low] == g


@part
def _place(bit):
    """Which bit of a word it is, of one that is set alone."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(half) != 0:
            bit >>= np.uint64(half)
            place += half
    return place


@kernel
def covering(point, shown, found):
    """Write into ``found`` the groups that show all values of a point; how many these are."""
    d = point.shape[0]
    rarest = -1
    fewest = 0
    for j in range(d):
        if point[j] < 0:
            return 0
        here = shown.starts[point[j] + 1] - shown.starts[point[j]]
        if rarest < 0 or here < fewest:
            rarest = j
            fewest = here
    number = 0
    if shown.lines[point[rarest]] < 0:
        for at in range(shown.starts[point[rarest]], shown.starts[point[rarest] + 1]):
            g = shown.groups[at]
            everywhere = True
            for j in range(d):
                if j != rarest and not _shows(shown, point[j], g):
                    everywhere = False
                    break
            if everywhere:
                found[number] = g
                number += 1
        return number
    # the rarest value is shown often, so all values have lines
    first = shown.lines[point[rarest]]
    for word in range(shown.bits.shape[1]):
        common = shown.bits[first, word]
        for j in range(d):
            if common == 0:
                break
            common &= shown.bits[shown.lines[point[j]], word]
        while common != 0:
            lowest = common & (~common + np.uint64(1))
            found[number] = (word << 6) + _place(lowest)
            number += 1
            common ^= lowest
    return number


@kernel
def said(groups, presences, absent):
    """Of some groups: the largest of their ``presences``, and the sum of log(1 - presence), which is ``absent``."""
    largest, logs = 0.0, 0.0
    for g in groups:
        largest = max(largest, presences[g])
        logs += absent[g]
    return largest, logs


@kernel
def cover(points, shown, number, presences):
    """Per point (a line of values, -1 for one that no group shows) and the groups that cover it: how many there are,
    the largest of their ``presences``, and the sum of log(1 - presence)."""
    n = points.shape[0]
    found = np.empty(number, np.int64)
    times = np.empty(n, np.int64)
    largest = np.zeros(n)
    logs = np.zeros(n)
    absent = np.log1p(-presences)
    for r in range(n):
        times[r] = covering(points[r], shown, found)
        largest[r], logs[r] = said(found[: times[r]], presences, absent)
    return times, largest, logs


@kernel
def mix(points, shown, number, presences, starts, values, shares, width):
    """Per point: the distributions of the groups that cover it, added up, each as often as its presence says."""
    n = points.shape[0]
    found = np.empty(number, np.int64)
    result = np.zeros((n, width))
    for r in range(n):
        for at in range(covering(points[r], shown, found)):
            g = found[at]
            for e in range(starts[g], starts[g + 1]):
                result[r, values[e]] += presences[g] * shares[e]
    return result
