"""Points and the groups that cover them, that is, show all their values: numbers, weights, and support."""

import math

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.presence.value_index import (
    common_to,
    covering,
    covering_next,
    everyone,
    index_groups,
    listed,
    position,
    rarest_of,
    shows,
    trail_of,
)

ROUND = 1 << 12
"""How many points are looked at before the first groups are left out; each round looks at as many as all before."""


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
def witnesses(points, starts_of, sensitive_codes, amounts, shown, number, starts, values, needed):
    """Find what no row supports: entries of groups, and counts of sensitive values.

    The rows of point ``p`` have the values ``classes[i]``, ``amounts[i]`` rows each, for ``i`` from ``starts_of[p]`` to
    ``starts_of[p + 1]``. The claims of groups (``starts``, ``values`` ascending, ``needed``) are, per group, how many
    rows have which value. A row may belong to a group that covers it and claims rows of its value: it then supports the
    claim and the entries of the group that it has. Returns per entry, in the order of ``shown.groups``, whether it is
    supported, and per claim how many rows are lacking.

    Points are looked at in rounds, and each round looks only into groups of which something is unsupported yet. If
    points are in random order, a group needs about as many of them in a large table as in a small one; so the effort
    grows like the table, and not like its square.
    """
    borne, lacking = np.zeros(shown.groups.shape[0], np.bool_), needed.copy()
    # what nothing supports yet: the claims of each group, and its entries, of which the first this many are unsupported
    unclaimed, unborne = starts[1:] - starts[:-1], np.zeros(number, np.int64)
    for g in shown.groups:
        unborne[g] += 1
    begins = np.append(0, np.cumsum(unborne))
    filled = begins[:-1].copy()
    entry_of, value_of = np.empty(borne.shape[0], np.int64), np.empty(borne.shape[0], np.int32)
    for v in range(shown.starts.shape[0] - 1):
        for e in range(shown.starts[v], shown.starts[v + 1]):
            g = shown.groups[e]
            entry_of[filled[g]], value_of[filled[g]] = e, v
            filled[g] += 1
    has = np.zeros(shown.starts.shape[0] - 1, np.bool_)
    index, owners, hits = shown, np.arange(number), np.empty(number, np.int64)
    begin, end = 0, ROUND
    while begin < points.shape[0] and owners.shape[0] > 0:
        unexplained, trail = everyone(owners.shape[0]), trail_of(points, index)
        for p in range(begin, min(end, points.shape[0])):
            many = covering_next(points[p], index, unexplained, hits, trail)
            if many == 0:
                continue
            has[points[p]] = True
            for place in hits[:many]:
                g = owners[place]
                wanted = unclaimed[g] > 0
                for e in range(begins[g], begins[g] + unborne[g]):
                    wanted = wanted or has[value_of[e]]
                if not wanted:
                    continue
                holds = False
                for i in range(starts_of[p], starts_of[p + 1]):
                    claim = position(values, starts[g], starts[g + 1], sensitive_codes[i])
                    if claim < starts[g + 1]:
                        holds = True
                        if lacking[claim] > 0:
                            lacking[claim] = max(0, lacking[claim] - amounts[i])
                            unclaimed[g] -= lacking[claim] == 0
                        elif unclaimed[g] == 0:
                            break
                if not holds:
                    continue
                e, last = begins[g], begins[g] + unborne[g] - 1
                while e <= last:
                    if has[value_of[e]]:
                        borne[entry_of[e]] = True
                        entry_of[e], value_of[e] = entry_of[last], value_of[last]
                        last -= 1
                    else:
                        e += 1
                unborne[g] = last + 1 - begins[g]
                if unclaimed[g] + unborne[g] == 0:
                    unexplained[place >> 6] &= ~(np.uint64(1) << np.uint64(place & 63))
            has[points[p]] = False
        index, owners = narrowed(index, owners, unclaimed + unborne > 0)
        begin, end = end, 2 * end
    return borne, lacking


@kernel
def narrowed(index, owners, wanted):
    """Return the index of the wanted among the groups of an index, and what they are called, as ``owners`` says."""
    place = np.full(owners.shape[0], -1, np.int32)
    kept = np.flatnonzero(wanted[owners])
    place[kept] = np.arange(kept.shape[0])
    left = np.flatnonzero(place[index.groups] >= 0)
    width = index.starts.shape[0] - 1
    values = np.repeat(np.arange(width), index.starts[1:] - index.starts[:-1])[left]
    return index_groups(values, place[index.groups[left]], kept.shape[0], width), owners[kept]


@kernel
def homes(points, starts_of, sensitive_codes, shown, starts, values):
    """Return per class of a point whether any group may contain its rows; the arguments are those of ``witnesses``.

    Sorted points are looked up quickly, as by ``covering_next``. Groups that say much the same stand side by side, as
    they are in canonical order; so they are visited in large steps, up to the first that may contain the rows.
    """
    fits, hits, trail = np.zeros(sensitive_codes.shape[0], np.bool_), np.empty(64, np.int64), trail_of(points, shown)
    nothing = np.empty(0, np.uint64)
    for p in range(points.shape[0]):
        first, last = starts_of[p], starts_of[p + 1]
        homeless = last - first
        rarest = rarest_of(points[p], shown)
        if homeless == 0 or rarest < 0:
            continue
        start, end = shown.starts[points[p, rarest]], shown.starts[points[p, rarest] + 1]
        often = shown.lines[points[p, rarest]] >= 0
        common = common_to(points[p], shown, trail) if often else nothing
        places = common.shape[0] if often else end - start
        step, place = step_among(places), 0
        for _ in range(places):
            place = (place + step) % places
            if often:
                found = listed(common[place], place << 6, hits, 0)
            else:
                hits[0], found = shown.groups[start + place], 1
                for v in points[p]:
                    if not shows(shown, v, hits[0]):
                        found = 0
                        break
            for g in hits[:found]:
                for i in range(first, last):
                    if not fits[i] and position(values, starts[g], starts[g + 1], sensitive_codes[i]) < starts[g + 1]:
                        fits[i] = True
                        homeless -= 1
            if homeless == 0:
                break
    return fits


@kernel
def step_among(places):
    """Return a step that visits all of this many places, going round, and soon comes close to each."""
    step = max(1, int(0.618 * places))
    while math.gcd(step, places) > 1:
        step += 1
    return step
