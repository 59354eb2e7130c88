"""The order in which releases are written: a function of what they publish, and of nothing else.

*Cells.* Numbers and dates ascend; ordered values and categories are in the order in which the manifest lists them; a
missing value that it does not list comes first. Descriptions, and texts of kept columns, are in the order of their code
points.
*Lines* of a table are compared cell by cell, column by column.
*Groups* are compared by their lines: those of the first table, sorted, without the number of the group, then those of
the second, and so on, as lists are compared: by the first line that differs, and a list that is the beginning of
another comes first. Groups are numbered from 0 in this order, and the lines of a table are sorted by the number of
their group and then by themselves.

So much as a program, where ``lines[table][group]`` lists the lines of a group without its number::

    content = {group: [sorted(lines[table][group]) for table in tables] for group in groups}
    number = {group: place for place, group in enumerate(sorted(groups, key=content.get))}

Why the order tells nothing: it can be computed from the shuffled files. Take any release, put the lines of all its
tables into random orders and give its groups random numbers, the same in all tables: nobody learns anything from orders
and numbers that were drawn, by lot, from all that are possible. From these files anybody can compute the ones in this
order, by the rule above. So they tell no more than the shuffled ones: neither where a row was in the input, nor what
numbers groups had while they were searched for, nor what chance decided on the way.

The rule leaves nothing open. Groups that it does not tell apart have the same lines in all tables, so that the files
are the same, byte for byte, in whatever order these are numbered; and lines that it does not tell apart are equal. The
private trace names one of several such groups, and the numbers would be as true if these were exchanged.

Formats say what a group's content is where that is more than its lines: a nested release has a tree, whose nodes are
numbered from the roots down (`nested.tree.numbered_in_order`). In a matched release every row is a group of one line:
rows that are equal are interchangeable, whichever rows they are matched with, as that is not published. Each table of a
projected release is in this order by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.columns import ExactColumn
from discreet.releases.descriptions import Texts
from discreet.table.combinations import numbered, ranks
from discreet.table.table import Column

Order = NDArray[np.int64]
ROOM = 1 << 62
"""Keys below this can be compared as whole numbers of 64 bits."""


class Lines(NamedTuple):
    """The lines of a table that are in groups."""

    groups: NDArray[Any]
    keys: NDArray[np.int64]
    """A number for each line; numbers are in the order of what the lines say besides their group."""


def line_keys(columns: Sequence[ExactColumn | Column], rows: int) -> NDArray[np.int64]:
    """Return a number for each row, in the order of what the columns say.

    >>> age = ExactColumn(np.array([20.0, 30.0]), np.array([1, 0, 1], np.int32))
    >>> line_keys([age, ExactColumn(np.array(["f", "m"], object), np.array([0, 1, 1], np.int32))], 3).tolist()
    [2, 1, 3]
    """
    return numbered([column.codes for column in columns], [len(column.values) for column in columns], rows)


def text_ranks(texts: Texts) -> NDArray[np.int64]:
    """Return the place of each cell's text in the order of code points.

    >>> text_ranks(Texts(("[17, 24]", "30"), np.array([1, 0], np.int32))).tolist()
    [0, 1]
    """
    place = np.empty(len(texts.texts), np.int64)
    place[sorted(range(len(place)), key=texts.texts.__getitem__)] = np.arange(len(place))
    return place[texts.of_cell]


def content_ranks(number: int, contents: Iterable[NDArray[Any] | Lines]) -> Order:
    """Return the rank of each group's content; groups with the same content have the same rank.

    ``contents`` are compared one after the other: one value per group, or the lines of a table.

    >>> rows = Lines(np.array([0, 0, 1, 1, 2]), np.array([7, 5, 7, 5, 5]))
    >>> content_ranks(3, [rows]).tolist(), content_ranks(3, [np.array([0.5, 0.0, 0.0]), rows]).tolist()
    ([1, 1, 0], [2, 1, 0])
    """
    result = np.zeros(number, np.int64)
    for content in contents:
        if number and int(result.max()) == number - 1:
            break
        values = _list_ranks(result, content) if isinstance(content, Lines) else ranks(content)
        result = ranks(result * (int(values.max(initial=0)) + 1) + values)
    return result


def _list_ranks(known: Order, lines: Lines) -> Order:
    """Return the rank of each group's sorted list of keys, or 0 for groups that others are already told apart from.

    Lists are halved until each has one key: two keys in a row become one, the rank of the pair, and a last key without
    another comes before all pairs that begin with it. That keeps the order of lists.
    """
    tied = np.bincount(known)[known] > 1
    result = np.zeros(len(known), np.int64)
    chosen = np.flatnonzero(tied[lines.groups])
    if not len(chosen):
        return result
    groups, keys = lines.groups[chosen].astype(np.int64), ranks(lines.keys[chosen])
    order = line_order(groups, keys)
    if order is not None:
        groups, keys = groups[order], keys[order]
    while True:
        first = np.flatnonzero(np.diff(groups, prepend=-1))
        sizes = np.diff(first, append=len(groups))
        if int(sizes.max()) == 1:
            result[groups] = keys + 1
            return result
        even = np.flatnonzero((np.arange(len(groups)) - np.repeat(first, sizes)) % 2 == 0)
        after = np.minimum(even + 1, len(groups) - 1)
        second = np.where((groups[after] == groups[even]) & (after > even), keys[after] + 1, 0)
        keys = ranks(keys[even] * (int(keys.max()) + 2) + second)
        groups = groups[even]


def group_numbers(content: Order) -> Order:
    """Return the number of each group, given the ranks of contents; groups of equal rank stay as they stand.

    >>> group_numbers(np.array([1, 0, 1])).tolist()
    [1, 0, 2]
    """
    number = np.empty(len(content), np.int64)
    number[np.argsort(content, kind="stable")] = np.arange(len(content))
    return number


def line_order(groups: NDArray[Any] | None, keys: NDArray[np.int64]) -> Order | None:
    """Return the order that sorts lines by their group, if they have one, and key; None if they are in that order.

    >>> line_order(np.array([1, 0, 1]), np.array([5, 9, 4])).tolist(), line_order(None, np.array([3, 3, 4]))
    ([1, 2, 0], None)
    """
    if groups is not None and len(keys):
        if (int(groups.max()) + 1) * (int(keys.max()) + 1) > ROOM:
            keys = ranks(keys)
        keys = groups * (keys.max() + 1) + keys
    if bool((keys[1:] >= keys[:-1]).all()):
        return None
    bits = len(keys).bit_length()
    if int(keys.max()) >= ROOM >> bits:
        return np.argsort(keys)
    # sorting numbers takes a fraction of the time of sorting places by them
    return np.sort((keys << bits) | np.arange(len(keys))) & ((1 << bits) - 1)


def taken_in(order: Order | None, columns: Sequence[ExactColumn]) -> tuple[ExactColumn, ...]:
    """Return the columns with their lines in an order."""
    return tuple(columns) if order is None else tuple(column._replace(codes=column.codes[order]) for column in columns)


def by_number(numbers: Order, of_group: NDArray[Any]) -> NDArray[Any]:
    """Return values of groups by the groups' numbers.

    >>> by_number(np.array([2, 0, 1]), np.array(["c", "a", "b"])).tolist()
    ['a', 'b', 'c']
    """
    result = np.empty_like(of_group)
    result[numbers] = of_group
    return result


def renumbered(numbers: Order, groups: NDArray[Any] | None) -> Any:
    """Return groups under their new numbers; -1 and None stay.

    >>> renumbered(np.array([2, 0, 1]), np.array([0, -1, 2])).tolist()
    [2, -1, 1]
    """
    return None if groups is None else np.append(numbers, -1).astype(np.int32)[groups]
