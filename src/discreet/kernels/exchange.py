"""Exchanging rows between groups so that values do not repeat in a group more often than they may."""

import numpy as np

from discreet.kernels.bucket_draws import lists
from discreet.kernels.compiling import kernel, part

TRIES = 40
"""With how many rows the exchange of one row is tried."""
ROUNDS = 8
"""How often all rows are gone through."""


@kernel
def exchange(groups, number, kinds, values, allowed, draws):
    """Exchange rows of one kind between groups while that lets fewer values be repeated; ``groups`` is changed.

    ``values`` has a line for each attribute, and ``allowed`` says how often each attribute's values may occur in each
    group. ``draws`` are numbers from 0 to 1, used in turn, that tell which rows are tried.
    """
    n = groups.shape[0]
    members, first = lists(groups, number)
    alike, begin = lists(kinds, kinds.max() + 1)
    place = np.empty(n, np.int64)
    for at in range(n):
        place[members[at]] = at
    drawn = 0
    for _ in range(ROUNDS):
        changed = False
        for row in range(n):
            if not _repeated(row, groups[row], members, first, values, allowed):
                continue
            low = begin[kinds[row]]
            wide = begin[kinds[row] + 1] - low
            for _ in range(TRIES):
                other = alike[low + np.int64(draws[drawn] * wide)]
                drawn = (drawn + 1) % draws.shape[0]
                home, away = groups[row], groups[other]
                if home == away:
                    continue
                gain = _gain(row, other, home, members, first, values, allowed)
                gain += _gain(other, row, away, members, first, values, allowed)
                if gain < 0:
                    continue
                groups[row], groups[other] = away, home
                place[row], place[other] = place[other], place[row]
                members[place[row]], members[place[other]] = row, other
                changed = True
                if not _repeated(row, away, members, first, values, allowed):
                    break
        if not changed:
            break


@part
def _count(group, value, members, first, line):
    """Return how many rows of a group have a value of an attribute."""
    number = 0
    for at in range(first[group], first[group + 1]):
        number += line[members[at]] == value
    return number


@part
def _repeated(row, group, members, first, values, allowed):
    """Return whether some value of a row occurs in its group more often than it may."""
    for j in range(values.shape[0]):
        if _count(group, values[j, row], members, first, values[j]) > allowed[j, group]:
            return True
    return False


@part
def _gain(row, other, group, members, first, values, allowed):
    """Return how many values too many a group loses if a row of it is replaced by another."""
    gain = 0
    for j in range(values.shape[0]):
        if values[j, row] != values[j, other]:
            gain += _count(group, values[j, row], members, first, values[j]) > allowed[j, group]
            gain -= _count(group, values[j, other], members, first, values[j]) >= allowed[j, group]
    return gain
