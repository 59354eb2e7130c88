"""Rows to withhold together with the unusable ones, where a promise is about numbers near each other.

The withheld rows must keep the promise as a group of their own, and the others must be divisible into groups that keep
it. Neither implies the other, because unions need not keep such promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.proximity.kernels.nearness import crowd_of
from discreet.principles import wording
from discreet.principles.per_attribute import Promised
from discreet.principles.proximity import Proximity
from discreet.schemes.withholding import cannot_withhold
from discreet.table.table import Table

Rows = NDArray[np.int64]


def next_places(codes: NDArray[np.int32], first: Rows, last: Rows) -> Rows:
    """Return for each place in ascending codes the first higher one whose row is not near, or else their number.

    ``first`` and ``last`` are where the neighbourhood of every code begins and ends.
    """
    highest = np.maximum(last, np.searchsorted(first, np.arange(len(first)), "right") - 1)
    return np.searchsorted(codes, highest[codes], "right")


def chain(nexts: Rows, stops: Rows) -> Rows | None:
    """Return places that include the ascending ``stops``, no two consecutive ones near; None if two stops are.

    Where the stops allow it, the places are at most g apart, where g is the crowd, so that of any g consecutive rows
    one is taken: the crowd of the others is then at most g - 1. With one stop this is always possible: the chain is
    then the stop's group after dealing all rows in turn to g groups, so that the others can be dealt to g - 1 groups of
    the same size.
    """
    n = len(nexts)
    g = int((nexts - np.arange(n)).max())
    if (nexts[stops[:-1]] > stops[1:]).any():
        return None
    places = [*range(int(stops[0]) % g, int(stops[0]), g)]
    for start, stop in zip(stops[:-1].tolist(), stops[1:].tolist(), strict=True):
        for steps in range(-(-(stop - start) // g), 0, -1):
            at, between = start, [start]
            for left in range(steps - 1, 0, -1):
                at = max(int(nexts[at]), stop - left * g)
                between.append(at)
            if at < stop and nexts[at] <= stop:
                break
        places += between
    return np.array([*places, *range(int(stops[-1]), n, g)], np.int64)


def sets_around(codes: NDArray[np.int32], first: Rows, last: Rows, needed: Rows) -> Iterator[Rows]:
    """Yield sets of places in ascending codes that contain those ``needed`` and leave rows that divide well.

    A set is one chain, or several chains of rows that are not near each other; the caller judges whether it keeps the
    promise.
    """
    for number in range(1, len(needed) + 1):
        left, taken = np.arange(len(codes)), np.zeros(len(codes), np.bool_)
        for turn in range(number):
            stops = needed[turn::number]
            stops = stops[~taken[stops]]
            if len(stops) == 0:
                continue
            places = chain(next_places(codes[left], first, last), np.searchsorted(left, stops))
            if places is None:
                break
            taken[left[places]] = True
            left = np.flatnonzero(~taken)
        else:
            yield np.flatnonzero(taken)
            if number > 1:  # further chains would add rows that are just as near to each other
                return


def fits(table: Table, each: Sequence[Promised], unusable: Rows, rows: Rows) -> bool:
    """Whether rows can be withheld: as one group they keep every promise, and groups of the others may, too."""
    if len(rows) == table.rows != len(unusable):  # a release needs rows
        return False
    for column, (prior, promise) in zip(table.sensitive, each, strict=True):
        counts = np.bincount(column.codes[rows], minlength=len(prior.counts))
        if not promise.holds(counts[None], prior)[0]:
            return False
        left = prior.counts - counts
        ordered = np.repeat(np.arange(len(left)), left)
        for part in promise.of(Proximity):
            if crowd_of(ordered, 0, len(ordered), *part.windows(prior)) * part.m > len(ordered):
                return False
        if len(ordered):
            rest = replace(prior, counts=left)
            if not all(part.nearness or part.reachable(rest).feasible for part in promise.parts):
                return False
    return True


def refusal_to_withhold(table: Table, each: Sequence[Promised], unusable: Rows) -> DiscreetError:
    """Return the error that explains why the unusable rows cannot be withheld."""
    whom = wording.rows(len(unusable))
    for column, (prior, promise) in zip(table.sensitive, each, strict=True):
        counts = np.bincount(column.codes[unusable], minlength=len(prior.counts))
        if not promise.holds(counts[None], prior)[0]:
            about = f"what is promised about '{column.name}'" if len(each) > 1 else "the promise"
            why = f"as one group they break {about}, and no others were found that keep it together with them and leave"
            return cannot_withhold(whom, f"{why} rows that can be divided. {promise.explain(counts, prior)}")
    why = "the rows without them cannot be divided into groups that keep the promise, nor were others found that could"
    return cannot_withhold(whom, f"{why} be withheld with them.")
