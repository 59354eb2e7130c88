"""Finding groups for rows left over: groups that keep their terms with one more row, or two groups joined."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.families.ambiguity.kernels.picking import shows_enough
from discreet.kernels.compiling import kernel, part
from discreet.kernels.judging import SLACK

OTHERS = 8
"""With how many of the following groups a group may be joined."""


class GroupLists(NamedTuple):
    """The rows of groups as linked lists, with the data by which rows and groups are judged."""

    codes: NDArray[np.int32]
    sensitive_codes: NDArray[np.int32]
    heads: NDArray[np.int64]
    """Per group: one of its rows, or -1 if it has none."""
    after: NDArray[np.int64]
    """Per row: the next row of its group, or -1 for the last."""
    sizes: NDArray[np.int64]
    shown: NDArray[np.int64]
    """Per group and block: how many different values its rows have."""


@kernel
def listed(codes, sensitive_codes, groups, number, values):
    """Return the rows of every group (0 to ``number - 1``; -1 for rows in none); all values are below ``values``."""
    n, d = codes.shape
    heads = np.full(number, -1, np.int64)
    after = np.full(n, -1, np.int64)
    sizes = np.zeros(number, np.int64)
    shown = np.zeros((number, d), np.int64)
    for r in range(n):
        g = groups[r]
        if g >= 0:
            after[r] = heads[g]
            heads[g] = r
            sizes[g] += 1
    seen = np.full(values, -1, np.int64)
    for g in range(number):
        r = heads[g]
        while r >= 0:
            for j in range(d):
                if seen[codes[r, j]] != g:
                    seen[codes[r, j]] = g
                    shown[g, j] += 1
            r = after[r]
    return GroupLists(codes, sensitive_codes, heads, after, sizes, shown)


@part
def _same(lists, g, value):
    """Count the rows of a group with a sensitive value."""
    same = 0
    r = lists.heads[g]
    while r >= 0:
        same += lists.sensitive_codes[r] == value
        r = lists.after[r]
    return same


@part
def _mark_new(lists, g, row, new):
    """Mark the blocks in which a row has a value that the group does not show yet."""
    new[:] = True
    r = lists.heads[g]
    while r >= 0:
        for j in range(new.shape[0]):
            if lists.codes[r, j] == lists.codes[row, j]:
                new[j] = False
        r = lists.after[r]


@kernel
def place_rows(rows, starts, lists, groups, alpha, beta, tries, lacking):
    """Put rows into groups that keep their terms with them, updating ``groups``; return how many were placed.

    Each row tries up to ``tries`` groups around its place in ``starts``; with ``lacking`` only those without its
    sensitive value.
    """
    number, d = lists.shown.shape
    new = np.empty(d, np.bool_)
    placed = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if groups[row] >= 0:
            continue
        for t in range(min(tries, number)):
            step = (t + 1) // 2 if t % 2 else -(t // 2)
            g = (starts[i] + step) % number
            size = lists.sizes[g]
            same = _same(lists, g, lists.sensitive_codes[row])
            if size == 0 or (lacking and same > 0) or same + 1 > beta * (size + 1) + SLACK:
                continue
            _mark_new(lists, g, row, new)
            product = 1.0
            for j in range(d):
                product *= lists.shown[g, j] + new[j]
            if shows_enough(size + 1, product, alpha):
                for j in range(d):
                    lists.shown[g, j] += new[j]
                _join(lists, g, row, groups)
                placed += 1
                break
    return placed


@part
def _join(lists, g, row, groups):
    lists.after[row] = lists.heads[g]
    lists.heads[g] = row
    lists.sizes[g] += 1
    groups[row] = g


@kernel
def join_groups(rows, starts, lists, groups, alpha, beta, tries, values):
    """For each row still in no group, join two groups that keep their terms together with it.

    A larger group may contain a sensitive value once more than its parts could.
    """
    number, d = lists.shown.shape
    seen = np.full(values, -1, np.int64)
    ticket = -1
    shown = np.empty(d, np.int64)
    placed = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if groups[row] >= 0:
            continue
        value = lists.sensitive_codes[row]
        for t in range(min(tries, number)):
            g = (starts[i] + t) % number
            if lists.sizes[g] == 0:
                continue
            same = _same(lists, g, value)
            for step in range(1, min(OTHERS, number - 1) + 1):
                h = (g + step) % number
                size = lists.sizes[g] + lists.sizes[h] + 1
                if lists.sizes[h] == 0 or same + _same(lists, h, value) + 1 > beta * size + SLACK:
                    continue
                ticket += 1
                shown[:] = 0
                for piece in range(3):
                    r = row if piece == 2 else lists.heads[g if piece == 0 else h]
                    while r >= 0:
                        for j in range(d):
                            if seen[lists.codes[r, j]] != ticket:
                                seen[lists.codes[r, j]] = ticket
                                shown[j] += 1
                        r = -1 if piece == 2 else lists.after[r]
                product = 1.0
                for j in range(d):
                    product *= shown[j]
                if shows_enough(size, product, alpha):
                    while lists.heads[h] >= 0:
                        r = lists.heads[h]
                        lists.heads[h] = lists.after[r]
                        _join(lists, g, r, groups)
                    lists.sizes[h] = 0
                    _join(lists, g, row, groups)
                    lists.shown[g] = shown
                    placed += 1
                    break
            if groups[row] >= 0:
                break
    return placed
