"""Which published rows may be whose: a regular graph of persons and rows, made of disjoint assignments.

Line ``i`` of the matrix lists the rows that may be person ``i``'s, the person's own first and -1 where there are fewer
than columns or the person is withheld. A column is an assignment: it gives every person another row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts


def pairs(candidates: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of a person and a row that may be the person's.

    >>> [part.tolist() for part in pairs(np.array([[1, 0], [0, 1], [-1, -1], [2, -1]]))]
    [[0, 0, 1, 1, 3], [1, 0, 0, 1, 2]]
    """
    persons, columns = np.nonzero(candidates >= 0)
    return persons, candidates[persons, columns].astype(np.intp)


def of_groups(groups: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the candidates in a partition: all rows of the person's group. Withheld rows, of group -1, have none.

    Rows are numbered group by group.

    >>> of_groups(np.array([1, 0, 1, -1])).tolist()
    [[1, 2], [0, -1], [2, 1], [-1, -1]]
    """
    kept = np.flatnonzero(groups >= 0)
    order = kept[np.argsort(groups[kept], kind="stable")]
    sizes = np.bincount(groups[order])
    starts = (np.cumsum(sizes) - sizes)[groups[order]]
    size, within = sizes[groups[order]], np.arange(len(order)) - starts
    candidates = np.full((len(groups), int(sizes.max(initial=1))), -1, np.int64)
    for shift in range(candidates.shape[1]):
        some = shift < size
        candidates[order[some], shift] = (starts + (within + shift) % size)[some]
    return candidates


def irregularities(candidates: NDArray[Any], rows: int, names: Sequence[Any]) -> list[str]:
    """Return why this is no regular graph of disjoint assignments; ``names`` are the published numbers of the rows.

    Regular is meant for everyone's own part of the graph: a person has as many candidates as each of these rows has
    persons whose candidate it is. So where all assignments are equally likely, all candidates of a person are.

    >>> irregularities(np.array([[0, 1], [1, 0], [2, -1]]), 3, range(3))
    []
    >>> irregularities(np.array([[0, 1], [1, 2], [2, -1]]), 3, range(3))
    ["row 0 may be 1 persons', one of whom has 2 candidates"]
    """
    persons, at = pairs(candidates)
    faults: list[str] = []
    owners = np.bincount(candidates[candidates[:, :1].ravel() >= 0, 0].astype(np.intp), minlength=rows)
    if bool((owners != 1).any()):
        row = int(np.argmax(owners != 1))
        faults.append(f"row {names[row]} is the own one of {owners[row]:,} persons")
    for column in candidates.T[1:]:
        given = np.bincount(column[column >= 0].astype(np.intp), minlength=rows)
        if bool((given > 1).any()):
            faults.append(f"an assignment gives row {names[int(np.argmax(given > 1))]} to several persons")
            break
    keys = np.sort(persons * np.int64(max(1, rows)) + at)
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if len(twice):
        faults.append(f"row {names[int(keys[twice[0]]) % rows]} is twice a candidate of one person")
    has = np.bincount(persons, minlength=len(candidates))
    held = np.bincount(at, minlength=rows)
    uneven = np.flatnonzero(has[persons] != held[at])
    if len(uneven):
        person, row = int(persons[uneven[0]]), int(at[uneven[0]])
        faults.append(f"row {names[row]} may be {held[row]:,} persons', one of whom has {has[person]:,} candidates")
    return faults


def published_values(
    candidates: NDArray[Any], sensitive_codes: NDArray[np.integer[Any]], width: int
) -> tuple[NDArray[np.intp], Counts]:
    """Return who is published, and how often each value is published among each of their candidates.

    ``sensitive_codes`` are those of the published rows: below ``width``, or ``width`` if they are not to be counted.
    """
    shown = np.flatnonzero(candidates[:, 0] >= 0) if candidates.shape[1] else np.zeros(0, np.intp)
    persons, at = pairs(candidates[shown])
    known = sensitive_codes[at] < width
    return shown, Counts.of_rows(persons[known], sensitive_codes[at][known], len(shown), width)
