"""Mending groups that break what is promised about several sensitive attributes, or show too few combinations."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part
from discreet.kernels.judging import SLACK

MOST = 32
"""How many groups are joined to one at most."""


class Rows(NamedTuple):
    """Rows, and what groups of them must keep."""

    codes: NDArray[np.int32]
    """Per row and block: its value, by numbers unique over all blocks."""
    sensitive_codes: NDArray[np.int64]
    """Per sensitive attribute and row: its value, by numbers unique over all attributes."""
    shares: NDArray[np.float64]
    """The largest share of a group that a value of each attribute may have."""
    alpha: float
    """A group must show at least its size / alpha combinations; 1 requires nothing."""


@part
def _strain(size, shown, top, rows):
    """Return how much of what is allowed a group uses that shows this many values; more than 1 is too much."""
    most = 0.0
    for j in range(top.shape[0]):
        most = max(most, (top[j] - SLACK) / (rows.shares[j] * size))
    if rows.alpha < 1.0:
        product = 1.0
        for j in range(shown.shape[0]):
            product *= shown[j]
        most = max(most, (size - SLACK) / (rows.alpha * product))
    return most


@part
def _take(first, after, rows, ticket, seen, counts, shown, top):
    """Count the rows of a list, from ``first`` on, into the group with this ticket; return how many they are."""
    size = 0
    r = first
    while r >= 0:
        size += 1
        for j in range(shown.shape[0]):
            if seen[rows.codes[r, j]] != ticket:
                seen[rows.codes[r, j]] = ticket
                shown[j] += 1
        for j in range(top.shape[0]):
            v = rows.sensitive_codes[j, r]
            counts[v] += 1
            top[j] = max(top[j], counts[v])
        r = after[r]
    return size


@part
def _leave(first, after, rows, counts):
    """Take the sensitive values of the rows of a list out of the counts again."""
    r = first
    while r >= 0:
        for j in range(rows.sensitive_codes.shape[0]):
            counts[rows.sensitive_codes[j, r]] -= 1
        r = after[r]


@part
def _with(first, after, rows, size, ticket, seen, mark, looked, counts, shown, top):
    """Return the strain of a group together with the rows of a list; only marks in ``looked`` are changed."""
    here = shown.copy()
    highest = top.copy()
    more = 0
    r = first
    while r >= 0:
        more += 1
        for j in range(here.shape[0]):
            code = rows.codes[r, j]
            if seen[code] != ticket and looked[code] != mark:
                looked[code] = mark
                here[j] += 1
        for j in range(highest.shape[0]):
            v = rows.sensitive_codes[j, r]
            counts[v] += 1
            highest[j] = max(highest[j], counts[v])
        r = after[r]
    _leave(first, after, rows, counts)
    return _strain(size + more, here, highest, rows)


@kernel
def mend(rows, groups, number, turn, values, width, tries):
    """Join groups that break a term with others until they keep all, and put rows that are in none where they fit.

    ``groups`` is changed; rows of groups that cannot be mended are in none. ``turn`` has the groups in the order in
    which they are tried, ``tries`` at a time. All values are below ``values``, all sensitive ones below ``width``.
    """
    n, d = rows.codes.shape
    m = rows.sensitive_codes.shape[0]
    heads = np.full(number, -1, np.int64)
    after = np.full(n, -1, np.int64)
    for r in range(n):
        if groups[r] >= 0:
            after[r] = heads[groups[r]]
            heads[groups[r]] = r
    seen = np.full(values, -1, np.int64)
    looked = np.full(values, -1, np.int64)
    counts = np.zeros(width, np.int64)
    shown = np.zeros(d, np.int64)
    top = np.zeros(m, np.int64)
    chosen = np.empty(MOST, np.int64)
    ticket = 0
    mark = 0
    for at in range(number):
        if heads[turn[at]] < 0:
            continue
        ticket += 1
        shown[:] = 0
        top[:] = 0
        chosen[0] = turn[at]
        many = 1
        size = _take(heads[turn[at]], after, rows, ticket, seen, counts, shown, top)
        strain = _strain(size, shown, top, rows)
        place = at
        while strain > 1.0 and many < MOST:
            best = -1
            for _ in range(min(tries, number)):
                place = (place + 1) % number
                other = turn[place]
                if heads[other] < 0 or (chosen[:many] == other).any():
                    continue
                mark += 1
                here = _with(heads[other], after, rows, size, ticket, seen, mark, looked, counts, shown, top)
                if here < strain:
                    best = other
                    strain = here
                    if here <= 1.0:
                        break
            if best < 0:
                break
            size += _take(heads[best], after, rows, ticket, seen, counts, shown, top)
            chosen[many] = best
            many += 1
        for i in range(many):
            _leave(heads[chosen[i]], after, rows, counts)
        if strain > 1.0:
            r = heads[chosen[0]]
            while r >= 0:
                groups[r] = -1
                r = after[r]
            heads[chosen[0]] = -1
        else:
            for i in range(1, many):
                _join(heads[chosen[i]], chosen[0], heads, after, groups)
                heads[chosen[i]] = -1
    place = 0
    for row in range(n):
        if groups[row] >= 0:
            continue
        after[row] = -1
        for _ in range(min(tries, number)):
            place = (place + 1) % number
            other = turn[place]
            if heads[other] < 0:
                continue
            ticket += 1
            shown[:] = 0
            top[:] = 0
            size = _take(heads[other], after, rows, ticket, seen, counts, shown, top)
            size += _take(row, after, rows, ticket, seen, counts, shown, top)
            _leave(heads[other], after, rows, counts)
            _leave(row, after, rows, counts)
            if _strain(size, shown, top, rows) <= 1.0:
                _join(row, other, heads, after, groups)
                break


@part
def _join(first, group, heads, after, groups):
    """Put the rows of a list into a group."""
    r = first
    while r >= 0:
        following = after[r]
        groups[r] = group
        after[r] = heads[group]
        heads[group] = r
        r = following
