"""Points and the groups that cover them, that is, show all their values: numbers, weights, and support."""

from __future__ import annotations

import numpy as np

from discreet.kernels.compiling import kernel, part
from discreet.kernels.presence.value_index import (
    common_to,
    covering,
    covering_next,
    everyone,
    rarest_of,
    trail_of,
)
from discreet.kernels.presence.word_runs import listed


@kernel
def crowds(points, amounts, shown, number):
    """Return, per group, the sum of the amounts of all points that it covers."""
    hits = np.empty(number, np.int64)
    result = np.zeros(number, np.int64)
    within, trail = everyone(number), trail_of(points, shown)
    for r in range(points.shape[0]):
        for at in range(covering_next(points[r], shown, within, hits, trail)):
            result[hits[at]] += amounts[r]
    return result


@kernel
def weigh_values(fixed, still, shown, starts, entries, weights, firsts, hits, sums):
    """Write into ``sums``, per value, the weights of the groups that show it and all ``fixed`` values.

    The entries of group ``g`` are ``entries[starts[g]:starts[g + 1]]``; ``still`` marks the blocks without a fixed
    value. Returns the one of these blocks with the smallest largest sum (-1 for none), that sum, and the work done.
    """
    many = weights.shape[0]
    if fixed.shape[0] > 0:
        many = covering(fixed, shown, everyone(many), hits)
    else:
        for g in range(many):
            hits[g] = g
    sums[:] = 0.0
    looked_at = sums.shape[0] + many
    for g in hits[:many]:
        looked_at += starts[g + 1] - starts[g]
        for e in range(starts[g], starts[g + 1]):
            sums[entries[e]] += weights[g]
    block, least = -1, np.inf
    for j in range(still.shape[0]):
        if still[j]:
            largest = 0.0
            for v in range(firsts[j], firsts[j + 1]):
                largest = max(largest, sums[v])
            if largest < least:
                block, least = j, largest
    return block, least, looked_at


@kernel
def pairs(points, shown, number):
    """Return all groups that cover each point: where those of every point start, and the groups."""
    hits = np.empty(number, np.int64)
    starts = np.zeros(points.shape[0] + 1, np.int64)
    room = 1024
    groups = np.empty(room, np.int64)
    filled = 0
    within, trail = everyone(number), trail_of(points, shown)
    for r in range(points.shape[0]):
        many = covering_next(points[r], shown, within, hits, trail)
        while filled + many > room:
            groups = np.append(groups, np.empty(room, np.int64))
            room *= 2
        for at in range(many):
            groups[filled + at] = hits[at]
        filled += many
        starts[r + 1] = filled
    return starts, groups[:filled].copy()


@part
def _at(listed, start, end, wanted):
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
def _house(g, first, last, classes, starts, values, fits):
    """Mark the classes from ``first`` to ``last`` of which a group claims rows; return how many are newly marked."""
    housed = 0
    for i in range(first, last):
        if not fits[i] and _at(values, starts[g], starts[g + 1], classes[i]) < starts[g + 1]:
            fits[i] = True
            housed += 1
    return housed


# Long because every step updates the counters by which later steps skip groups, and these are many.
@kernel
def witnesses(points, starts_of, classes, amounts, shown, number, starts, values, needed):
    """Find what no row supports: entries of groups, counts of sensitive values, and rows that fit into no group.

    The rows of point ``p`` have the values ``classes[i]``, ``amounts[i]`` rows each, for ``i`` from ``starts_of[p]`` to
    ``starts_of[p + 1]``. The claims of groups (``starts``, ``values`` ascending, ``needed``) are, per group, how many
    rows have which value. A row may belong to a group that covers it and claims rows of its value: it then supports the
    claim and the entries of the group that it has. Returns per entry, in the order of ``shown.groups``, whether it is
    supported, per claim how many rows are lacking, and per class of a point whether any group may contain its rows.
    """
    hits = np.empty(max(number, 64), np.int64)
    borne = np.zeros(shown.groups.shape[0], np.bool_)
    lacking = needed.copy()
    fits = np.zeros(classes.shape[0], np.bool_)
    # unsupported entries and claims of each group: a group without any needs no further visits
    unborne = np.zeros(number, np.int64)
    unclaimed = starts[1:] - starts[:-1]
    open_groups, every = everyone(number), everyone(number)
    # the same as bits: groups with unsupported claims, and per value the groups whose entry is unsupported
    claiming, waiting, wanted = everyone(number), shown.bits.copy(), everyone(number)
    # and as numbers of groups: a point without any such values or claims is skipped
    left_to_claim, left = number, shown.starts[1:] - shown.starts[:-1]
    for e in range(shown.groups.shape[0]):
        unborne[shown.groups[e]] += 1
    for p in range(points.shape[0]):
        first, last = starts_of[p], starts_of[p + 1]
        homeless = last - first
        rarest = rarest_of(points[p], shown)
        if rarest < 0:
            continue
        often = shown.lines[points[p, rarest]] >= 0  # then all values have lines
        many = 0
        if left_to_claim == 0 and left[points[p]].max() == 0:
            pass
        elif often:
            # value by value: each is one loop over words, of which the processor does several at once
            wanted[:] = claiming
            for v in points[p]:
                line = waiting[shown.lines[v]]
                for word in range(wanted.shape[0] if left[v] > 0 else 0):
                    wanted[word] |= line[word]
            for v in points[p]:
                line = shown.bits[shown.lines[v]]
                for word in range(wanted.shape[0]):
                    wanted[word] &= line[word]
            for word in range(wanted.shape[0]):
                many = listed(wanted[word], word << 6, hits, many)
        else:
            many = covering(points[p], shown, open_groups, hits)
        for at in range(many):
            g = hits[at]
            bit = np.uint64(1) << np.uint64(g & 63)
            homeless -= _house(g, first, last, classes, starts, values, fits)
            holds = False
            for i in range(first, last):
                claim = _at(values, starts[g], starts[g + 1], classes[i])
                if claim == starts[g + 1]:
                    continue
                holds = True
                if lacking[claim] > 0:
                    lacking[claim] = max(0, lacking[claim] - amounts[i])
                    if lacking[claim] == 0:
                        unclaimed[g] -= 1
                        if unclaimed[g] == 0:
                            claiming[g >> 6] &= ~bit
                            left_to_claim -= 1
            if holds and unborne[g] > 0:
                for j in range(points.shape[1]):
                    v = points[p, j]
                    entry = _at(shown.groups, shown.starts[v], shown.starts[v + 1], g)
                    if not borne[entry]:
                        borne[entry] = True
                        unborne[g] -= 1
                        left[v] -= 1
                        if shown.lines[v] >= 0:
                            waiting[shown.lines[v], g >> 6] &= ~bit
            if unborne[g] == 0 and unclaimed[g] == 0:
                open_groups[g >> 6] &= ~bit
        if homeless == 0:
            continue
        # rows without a group so far: any covering group that claims their value suffices, explained or not
        if not often:
            for at in range(covering(points[p], shown, every, hits)):
                homeless -= _house(hits[at], first, last, classes, starts, values, fits)
                if homeless == 0:
                    break
            continue
        for word in range(shown.bits.shape[1]):
            for at in range(listed(common_to(points[p], shown, word, every[word]), word << 6, hits, 0)):
                homeless -= _house(hits[at], first, last, classes, starts, values, fits)
            if homeless == 0:
                break
    return borne, lacking, fits
