"""Combinations of codes as single numbers, and fast lists of the distinct numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPARSE = 16
"""Distinct numbers are found by marking, not sorting, if the largest is below this many times their count."""


def numbered(columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int) -> NDArray[np.int64]:
    """Return one number per row for its combination of codes; two rows share a number exactly if all codes agree.

    >>> numbered([np.array([1, 0, 1]), np.array([2, 2, 2])], [2, 3], 3).tolist()
    [5, 2, 5]
    """
    keys, room = np.zeros(rows, np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if room > (1 << 62) // max(1, size):
            keys = np.unique(keys, return_inverse=True)[1]
            room = int(keys.max(initial=-1)) + 1
        keys = keys * max(1, size) + codes
        room *= max(1, size)
    return keys


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers, ascending.

    ``np.unique`` hashes every number, which takes an order of magnitude longer when most of millions differ.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    if _dense(numbers):
        return np.flatnonzero(_occurring(numbers)).astype(numbers.dtype)
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def ranked(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct numbers, ascending; the index where each occurs first; and the rank of every number.

    >>> [array.tolist() for array in ranked(np.array([3, 1, 3]))]
    [[1, 3], [1, 0], [1, 0, 1]]
    """
    if not _dense(numbers):
        return np.unique(numbers, return_index=True, return_inverse=True)
    occurring = _occurring(numbers)
    known, place = np.flatnonzero(occurring), _place(occurring)[numbers].astype(np.int64)
    return known, _first(place, len(known)), place


def ranked_combinations(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return what ``ranked`` returns for the combinations of codes, in the order of the first column, then the next.

    Codes are below their sizes. Combinations of the first columns are ranked as soon as their numbers would become too
    large for marking; so all can be marked, unless there are very many.

    >>> [found.tolist() for found in ranked_combinations([np.array([1, 0, 1]), np.array([2, 2, 2])], [2, 3], 3)[1:]]
    [[1, 0], [1, 0, 1]]
    """
    keys, room = np.zeros(rows, np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if room * size > SPARSE * rows:
            keys = ranks(keys)
            room = int(keys.max(initial=0)) + 1
        keys = keys * size + codes
        room *= size
    return ranked(keys)


def ranks(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of every number among the distinct numbers.

    >>> ranks(np.array([3, 1, 3])).tolist()
    [1, 0, 1]
    """
    if _dense(numbers):
        return np.asarray(_place(_occurring(numbers))[numbers], np.int64)
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def first_difference(left: NDArray[np.int64], right: NDArray[np.int64]) -> int | None:
    """Return the smallest number that two lists do not contain equally often; None if they are permutations.

    >>> first_difference(np.array([3, 1, 3]), np.array([1, 3])), first_difference(np.array([3, 1]), np.array([1, 3]))
    (3, None)
    """
    if _dense(left) and _dense(right):
        width = int(max(left.max(), right.max())) + 1
        differ = np.flatnonzero(np.bincount(left, minlength=width) != np.bincount(right, minlength=width))
        return int(differ[0]) if len(differ) else None
    left, right = np.sort(left), np.sort(right)
    size = min(len(left), len(right))
    differ = np.flatnonzero(left[:size] != right[:size])
    if len(differ):
        return int(min(left[differ[0]], right[differ[0]]))
    longer = left if len(left) > size else right
    return int(longer[size]) if len(longer) > size else None


def first_unshared(left: NDArray[np.int64], right: NDArray[np.int64]) -> int | None:
    """Return the smallest number that only one of two lists contains, however often; None if there is none.

    >>> first_unshared(np.array([3, 1, 3]), np.array([1, 2, 3])), first_unshared(np.array([3, 1, 3]), np.array([1, 3]))
    (2, None)
    """
    differ = np.setxor1d(distinct(left), distinct(right), assume_unique=True)
    return int(differ[0]) if len(differ) else None


def narrow(codes: NDArray[np.int32], number: int) -> NDArray[Any]:
    """Return codes, all below ``number``, in the narrowest type that fits them: quicker to gather and to sort.

    >>> narrow(np.array([3, 1, 2], np.int32), 4).dtype
    dtype('uint8')
    """
    return codes.astype(np.uint8 if number <= 1 << 8 else np.uint16 if number <= 1 << 16 else np.int32, copy=False)


def places_among(known: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of every number in ``known``, which is ascending.

    A number that ``known`` lacks gets the index where it would be inserted, or any index beyond the last.

    >>> places_among(np.array([2, 5, 7]), np.array([7, 2])).tolist()
    [2, 0]
    """
    if len(known) and known[0] == 0 and known[-1] == len(known) - 1:
        return numbers
    return np.searchsorted(known, numbers)


def looked_up(known: NDArray[np.int64], numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the index of every number in ``known``, which is ascending, and whether it is there at all.

    >>> [array.tolist() for array in looked_up(np.array([2, 5, 7]), np.array([7, 3]))]
    [[2, 1], [True, False]]
    """
    if not len(known):
        return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.bool_)
    places = np.clip(places_among(known, numbers), 0, len(known) - 1)
    return places, known[places] == numbers


def _dense(numbers: NDArray[Any]) -> bool:
    """Whether marking the numbers that occur is faster than sorting them."""
    room = min(SPARSE * len(numbers), np.iinfo(np.int32).max)
    return len(numbers) > 0 and numbers.dtype.kind in "iu" and numbers.min() >= 0 and numbers.max() < room


def _place(occurring: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The place of each number among those that occur."""
    place = np.cumsum(occurring, dtype=np.int32)
    place -= 1
    return place


def _first(places: NDArray[np.int64], number: int) -> NDArray[np.intp]:
    """Where each of a number of places is first."""
    first = np.empty(number, np.intp)
    first[places[::-1]] = np.arange(len(places) - 1, -1, -1)  # the last to be written is the first
    return first


def _occurring(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    result = np.zeros(int(numbers.max()) + 1, np.bool_)
    result[numbers] = True
    return result
