"""The order in which a scheme sees the rows of a table: by lot, or by content and seed, never that of the input.

Where rows are equal on what a scheme cuts, their places decide who goes where. An attacker who knows the scheme and the
order of the input can replay that. Sorting by content alone is no cure: then ties fall by sensitive value, which can be
replayed as well. So ties fall by lot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.randomness import permutation
from discreet.table.table import Table


def row_order(table: Table, seed: int | None) -> NDArray[np.int64]:
    """Return the row of the table that stands at each place; with a seed, equal contents give equal tables.

    >>> from discreet.datasets import patients
    >>> sorted(row_order(patients(), None).tolist()) == list(range(48))
    True
    """
    if seed is None:
        return permutation(table.rows)
    # The second constant keeps this lot apart from the scheme's own draws with the same seed.
    lot = np.random.default_rng([0xD15C4EE7, 1, seed % 2**64]).permutation(table.rows)
    return by_content(table)[lot]


def by_content(table: Table) -> NDArray[np.int64]:
    """Return the rows sorted by what they hold; those of a person stand together.

    >>> from discreet.datasets import patients
    >>> table = patients()
    >>> order = np.random.default_rng(0).permutation(table.rows)
    >>> first, second = (each.reordered(by_content(each)) for each in (table, table.reordered(order)))
    >>> all((a.codes == b.codes).all() for a, b in zip(first.columns, second.columns))
    True
    """
    keys = [column.codes for column in table.columns]
    if table.unusable is not None:  # the code of a missing number is that of another
        keys.append(np.isin(np.arange(table.rows), table.unusable).astype(np.int32))
    order = np.lexsort(keys)
    if table.person is None:
        return order
    differs = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    content = np.empty(table.rows, np.int64)
    content[order] = np.concatenate([[0], np.cumsum(differs)])
    # Persons are compared by the sorted contents of their rows; equal persons may exchange places.
    rows = np.lexsort((content, table.person))
    persons = np.split(rows, np.flatnonzero(np.diff(table.person[rows])) + 1)
    return np.concatenate(sorted(persons, key=lambda person: content[person].tolist()))
