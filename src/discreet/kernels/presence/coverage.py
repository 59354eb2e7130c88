"""Points and the groups that cover them, that is, show all their values: numbers, weights, and support."""

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.presence.value_index import covering, covering_next, everyone, position, trail_of


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


@kernel
def witnesses(points, starts_of, classes, amounts, shown, number, starts, values, needed):
    """Find what no row supports: entries of groups, counts of sensitive values, and rows that fit into no group.

    The rows of point ``p`` have the values ``classes[i]``, ``amounts[i]`` rows each, for ``i`` from ``starts_of[p]`` to
    ``starts_of[p + 1]``. The claims of groups (``starts``, ``values`` ascending, ``needed``) are, per group, how many
    rows have which value. A row may belong to a group that covers it and claims rows of its value: it then supports the
    claim and the entries of the group that it has. Returns per entry, in the order of ``shown.groups``, whether it is
    supported, per claim how many rows are lacking, and per class of a point whether any group may contain its rows.
    """
    hits = np.empty(number, np.int64)
    borne = np.zeros(shown.groups.shape[0], np.bool_)
    lacking = needed.copy()
    fits = np.zeros(classes.shape[0], np.bool_)
    # unsupported claims and entries of each group: one without any is visited only for rows that fit nowhere else
    unclaimed, unborne = starts[1:] - starts[:-1], np.zeros(number, np.int64)
    for g in shown.groups:
        unborne[g] += 1
    unexplained, every, trail = everyone(number), everyone(number), trail_of(points, shown)
    for p in range(points.shape[0]):
        first, last = starts_of[p], starts_of[p + 1]
        homeless = last - first
        for turn in range(2):
            if turn == 1 and homeless == 0:
                break
            for at in range(covering_next(points[p], shown, every if turn else unexplained, hits, trail)):
                g = hits[at]
                holds = False
                for i in range(first, last):
                    if holds and unclaimed[g] + homeless == 0:
                        break
                    claim = position(values, starts[g], starts[g + 1], classes[i])
                    if claim == starts[g + 1]:
                        continue
                    holds = True
                    homeless -= not fits[i]
                    fits[i] = True
                    if turn == 0 and lacking[claim] > 0:
                        lacking[claim] = max(0, lacking[claim] - amounts[i])
                        unclaimed[g] -= lacking[claim] == 0
                if holds and unborne[g] > 0:
                    for v in points[p]:
                        entry = position(shown.groups, shown.starts[v], shown.starts[v + 1], g)
                        unborne[g] -= not borne[entry]
                        borne[entry] = True
                if unclaimed[g] + unborne[g] == 0:
                    unexplained[g >> 6] &= ~(np.uint64(1) << np.uint64(g & 63))
    return borne, lacking, fits
