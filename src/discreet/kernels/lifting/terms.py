"""The terms of lifting: how cuts are chosen, and what they must keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Recipe(NamedTuple):
    """How a cut is chosen among those that can be made by lifting rows."""

    positions: int
    """How many positions of an axis are tried."""
    weight: float
    """What a lifted row costs in the whole table beyond the loss of its box, as a share of it: it will never go down
    again, as others will."""
    fading: float
    """With which power of the logarithm of a node's persons that falls: those in small nodes do not go down far."""
    blind: bool
    """Whether all rows of a value are lifted or, but for a random sample of them, none."""


class Terms(NamedTuple):
    """What every leaf must keep, and how axes are cut."""

    caps: NDArray[np.float64]
    """Per value: the largest belief in it that is allowed."""
    unordered: NDArray[np.bool_]
    """Per axis: whether its codes are categories, of which any one can be cut off from the others."""
    sets: NDArray[np.bool_]
    """Per axis: whether a box costs by how many codes it holds, and not by the interval of codes around them."""


class Persons(NamedTuple):
    """Persons in the order of the tree, in which every node is a run of them; all threads share these arrays."""

    points: NDArray[np.int32]
    classes: NDArray[np.int32]
    rows: NDArray[np.int32]
    """Per person: the row of the input."""
    homes: NDArray[np.int32]
    """Per person: the node that the row is lifted to; -1 while it is not."""
    leaves: NDArray[np.int32]
    """Per person: the leaf."""
    parents: NDArray[np.int32]
    """Per node: the node above it; -1 for a root, and where there is no such node."""
