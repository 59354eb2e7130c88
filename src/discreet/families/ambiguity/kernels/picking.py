"""Building groups of rows with different sensitive values that show many combinations of quasi-identifiers."""

from typing import NamedTuple

import numpy as np

from discreet.kernels.compiling import kernel, part, part_in_place
from discreet.kernels.judging import SLACK

ALONE = ~(np.uint64(1) << np.uint64(63))
"""The bits that stand for one block each; all blocks from the 64th on share the last bit."""


class GroupTerms(NamedTuple):
    """What every group must keep, and how its rows are searched for."""

    alpha: float
    """A group of ``size`` rows must show at least ``size / alpha`` combinations; 1 requires nothing."""
    beta: float
    """No sensitive value may have more than this share of a group's rows."""
    size: int
    """The number of rows in a round. A group begins with whole rounds, and takes more if single rows do not help."""
    quota: int
    """How many rows of a round may have the same sensitive value: at most beta x size."""
    rounds: int
    """How many rounds a group begins with, as long as there are enough rows."""
    window: int
    """How many rows are considered for each row that is picked."""
    near: bool
    """Whether a group takes rows near each other that show few new values, as many as alpha requires; otherwise each
    row is the one that shows the most new values."""


@kernel
def shows_enough(size, product, alpha):
    """Whether a group of ``size`` rows that shows ``product`` combinations keeps alpha."""
    return alpha >= 1.0 or size <= alpha * product + SLACK


@part
def _links(keys, number):
    """Return the rows of each key as linked lists, in their order: heads, next and previous rows, -1 at the ends."""
    n = keys.shape[0]
    heads = np.full(number, -1, np.int32)
    lasts = np.full(number, -1, np.int32)
    after = np.full(n, -1, np.int32)
    before = np.full(n, -1, np.int32)
    for r in range(n):
        k = keys[r]
        if lasts[k] < 0:
            heads[k] = r
        else:
            after[lasts[k]] = r
            before[r] = lasts[k]
        lasts[k] = r
    return heads, after, before


@part
def _unlink(r, k, heads, after, before):
    if before[r] >= 0:
        after[before[r]] = after[r]
    else:
        heads[k] = after[r]
    if after[r] >= 0:
        before[after[r]] = before[r]


@part_in_place
def _bit(j):
    """Return the bit of a block."""
    return np.uint64(1) << np.uint64(min(j, 63))


@part_in_place
def _best(start, after, codes, sensitive_codes, taken, most, new, ratios, window, wanted):
    """Return the best of up to ``window`` rows of a list, and its gain; -1 if there is none.

    Considered are the rows from ``start`` on whose class was taken fewer than ``most`` times. The best is the one with
    the smallest gain of at least ``wanted``, or else the largest gain.
    """
    best = -1
    gain = 0.0
    enough = 1.05 * max(1.0, wanted)
    highest = 1.0  # no row gains more than one all of whose values are new
    for j in range(ratios.shape[0]):
        highest *= ratios[j]
    known = np.uint64(0)  # the blocks in which the best row has new values
    r = start
    for _ in range(window):
        if r < 0:
            break
        if taken[sensitive_codes[r]] < most:
            blocks = np.uint64(0)
            for j in range(ratios.shape[0]):
                blocks |= new[np.uint32(codes[r, j])]
            # a row that has new values only where the best one has them, too, gains no more
            if best < 0 or gain >= wanted or blocks & ~(known & ALONE) != 0:
                here = 1.0
                for j in range(ratios.shape[0]):
                    here *= ratios[j] if new[np.uint32(codes[r, j])] != 0 else 1.0
                if best < 0 or (gain < wanted and here > gain) or (wanted <= here < gain):
                    best = r
                    gain = here
                    known = blocks
                    if wanted <= gain <= enough or highest <= gain < wanted:
                        break
        r = after[r]
    return best, gain


# Long because the search is one state machine: its parts would have to pass a dozen arrays to each other.
@kernel
def build_groups(codes, sensitive_codes, values, width, terms):
    """Return the group of every row, -1 for a row in none, and the number of groups.

    Rows are lines of ``codes``, where every value of every quasi-identifier has its own number below ``values``; each
    row has one of ``width`` sensitive values. Rows are considered in their order: with ``terms.near``, rows close in
    this order join the same groups.

    Every round takes ``size`` rows, at most ``quota`` of them with the same sensitive value. The remaining rows can
    then always be divided in the same way, because a value is taken as soon as the rest could not accommodate it
    otherwise.
    """
    n, d = codes.shape
    groups = np.full(n, -1, np.int32)
    heads, after, before = _links(sensitive_codes, width)
    head, onward, backward = _links(np.zeros(n if terms.near else 0, np.int32), 1)
    # sensitive values from the most frequent to the rarest: ends[c] of them have at least c rows left
    left = np.zeros(width, np.int64)
    for v in sensitive_codes:
        left[v] += 1
    ranked = np.argsort(-left, kind="mergesort")
    place = np.empty(width, np.int64)
    ends = np.zeros(left.max() + 2 if n else 2, np.int64)
    for i in range(width):
        place[ranked[i]] = i
        ends[left[ranked[i]]] = i + 1
    for c in range(ends.shape[0] - 2, -1, -1):
        ends[c] = max(ends[c], ends[c + 1])
    new = np.zeros(values, np.uint64)  # per value that the group does not show: the bit of its block
    numbers = np.zeros(d, np.int64)  # of different values
    for r in range(n):
        for j in range(d):
            if new[codes[r, j]] == 0:
                new[codes[r, j]] = _bit(j)
                numbers[j] += 1
    taken = np.zeros(width, np.int64)
    shown = np.zeros(d, np.int64)
    ratios = np.ones(d)
    members = np.empty(n, np.int32)
    rest = n
    done = 0
    goal = terms.size / terms.alpha
    while rest >= terms.size and ends[1] * terms.quota >= terms.size:
        size = 0
        product = 1.0
        shown[:] = 0
        ratios[:] = 1.0
        rounds = 0
        presence = np.inf
        looked_at = 0
        while True:
            in_round = size < rounds * terms.size
            most = rounds * terms.quota
            if not in_round:
                begun = rounds >= terms.rounds or rest < terms.size
                if begun and shows_enough(size, product, terms.alpha):
                    break
                # each further round's worth of rows must help noticeably
                if begun and size >= looked_at + terms.size:
                    if size / product > 0.9 * presence:
                        break
                    presence = size / product
                    looked_at = size
                # single rows, unless the remaining rows would then have too many of one sensitive value
                if begun and left[ranked[0]] <= terms.quota * ((rest - 1) // terms.size):
                    most = int(np.floor(terms.beta * (size + 1) + SLACK))
                elif rest < terms.size:
                    break
                else:
                    rounds += 1
                    in_round = True
                    most = rounds * terms.quota
            wanted = np.inf
            row = -1
            gain = 0.0
            ahead = 0
            if in_round:
                if terms.near and size > 0:
                    # stay a little ahead of an even growth to the number of combinations that is needed
                    whole = max(rounds, terms.rounds)
                    share = min(1.0, (size + 1) / (0.75 * whole * terms.size))
                    wanted = (whole * goal) ** share / product if terms.alpha < 1.0 else 1.0
                # rows that the later groups could not accommodate go first
                ahead = rounds * terms.size - size
                later = terms.quota * ((rest - ahead) // terms.size)
                must = 0
                v = -1
                for i in range(width):
                    if left[ranked[i]] <= later or must >= ahead:
                        break
                    must += left[ranked[i]] - later
                    if v < 0 and taken[ranked[i]] < most:
                        v = ranked[i]
                if v >= 0 and (must >= ahead or size > 0 or not terms.near):
                    row, gain = _best(
                        heads[v], after, codes, sensitive_codes, taken, most, new, ratios, terms.window, wanted
                    )
            if row < 0 and terms.near:
                row, gain = _best(
                    head[0], onward, codes, sensitive_codes, taken, most, new, ratios, terms.window, wanted
                )
            helps = (size + 1.0) / max(1, size) if not in_round else wanted if terms.near and size > 0 else 0.0
            if row < 0 or gain < helps:
                # try the most frequent sensitive values, for which rows farther away are considered
                looked = 0
                window = terms.window // 4 if row >= 0 and 2 * ahead > rounds * terms.size else terms.window
                for i in range(width):
                    v = ranked[i]
                    if left[v] == 0 or looked == (1 if row < 0 and in_round else 4):
                        break
                    if taken[v] < most:
                        looked += 1
                        other, here = _best(
                            heads[v], after, codes, sensitive_codes, taken, most, new, ratios, window, wanted
                        )
                        if row < 0 or (gain < wanted and here > gain):
                            row = other
                            gain = here
            if row < 0 or (not in_round and gain * size <= size + 1):
                break
            v = sensitive_codes[row]
            _unlink(row, v, heads, after, before)
            if terms.near:
                _unlink(row, 0, head, onward, backward)
            last = ends[left[v]] - 1
            other = ranked[last]
            ranked[place[v]] = other
            place[other] = place[v]
            ranked[last] = v
            place[v] = last
            ends[left[v]] -= 1
            left[v] -= 1
            rest -= 1
            taken[v] += 1
            members[size] = row
            size += 1
            product = 1.0
            for j in range(d):
                if new[codes[row, j]] != 0:
                    new[codes[row, j]] = 0
                    shown[j] += 1
                    ratios[j] = (shown[j] + 1) / shown[j] if shown[j] < numbers[j] else 1.0  # nothing is new any more
                product *= shown[j]
        kept = size > 0 and size >= rounds * terms.size and shows_enough(size, product, terms.alpha)
        for at in range(size):
            taken[sensitive_codes[members[at]]] = 0
            for j in range(d):
                new[codes[members[at], j]] = _bit(j)
            if kept:
                groups[members[at]] = done
        if kept:
            done += 1
    return groups, done
