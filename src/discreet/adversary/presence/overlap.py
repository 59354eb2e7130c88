"""What overlapping groups say together about the sensitive values that go with a person's quasi-identifiers.

A person's own row is in one group, and a value's share of that group bounds the belief that the row has it. But several
groups may hold rows with the person's values. If they do so with p1, p2, ... and a value has shares q1, q2, ... of
them, some such row has the value with 1 - (1 - p1 q1)(1 - p2 q2)..., and there is some such row with A = 1 - (1 -
p1)(1 - p2)... . The quotient is what is believed of "someone like this who is in the table has the value", and may
exceed every share; see `AlphaBeta` for the bound on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.principles.counts import Counts
from discreet.releases.lookup import Lookup
from discreet.table.table import Column

LOOKED_AT = 2000
"""How many rows are looked at: those believed in most, because the bound on the quotient grows with this belief."""
CERTAIN = 1.0 - 1e-15


def strongest_in_some_row(
    finder: Lookup,
    original: Sequence[Column],
    chances: NDArray[np.float64],
    counts: Counts,
    together: NDArray[np.float64],
) -> float | None:
    """The strongest belief found that some row with a person's values has a sensitive value, given that there is one.

    ``together`` is the belief in the presence of every row of the original. None if groups have no values of their own.
    """
    rows = _largest(together, LOOKED_AT)
    shares = np.minimum(CERTAIN, chances[counts.groups] * counts.shares)
    summed = finder.summed(original, rows, replace(counts, amounts=-np.log1p(-shares), members=None))
    if summed is None or not len(rows):
        return None
    there = together[rows]
    some = -np.expm1(-summed.max(axis=1))
    return float(np.divide(some, there, out=np.zeros(len(rows)), where=there > 0.0).max())


def _largest(numbers: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the indices of the largest numbers, the largest first, and the first of equals.

    >>> _largest(np.array([0.5, 0.25, 1.0, 0.5]), 2).tolist()
    [2, 0]
    """
    chosen = np.arange(len(numbers))
    if len(numbers) > most:  # millions are not sorted
        chosen = np.flatnonzero(numbers >= np.partition(numbers, -most)[-most])
    return chosen[np.argsort(-numbers[chosen], kind="stable")][:most]
