"""What groups may hold: bounds on odds, which are the lower the more has been told.

A person has a value of every sensitive attribute; the values of all of them are numbered together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import Axes
from discreet.kernels.judging import SLACK


class Sealing(NamedTuple):
    """What is public about a table and its promise, and what is needed to cut it."""

    axes: Axes
    odds: NDArray[np.float64]
    """Per value: the largest odds that the promise allows; infinite where it sets no limit."""
    prior: NDArray[np.float64]
    """Per value: its share in the whole table."""
    least: int
    """The fewest rows of a group."""


@kernel
def limit(odds, told):
    """The largest share that a value of bounded odds may have when so much was told."""
    left = odds * np.exp(-told)
    return left / (1.0 + left)


@kernel
def most_rows(odds, told, size):
    """How many rows of a value may be among so many when so much was told; infinitely many if it has no limit."""
    return np.floor(limit(odds, told) * size + SLACK) if odds < np.inf else np.inf


@kernel
def room_of(present, counts, n, told, sealing):
    """How much may still be told about a part, as the logarithm of odds, before a share of it exceeds its limit."""
    room = np.inf
    for v in present:
        if sealing.odds[v] < np.inf:
            rest = n - counts[v]
            room = min(room, np.log(sealing.odds[v] * rest / counts[v]) if rest > 0 else -np.inf)
    return room - told
