"""Build the arrays that the judging kernel reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import NUMERIC, SPREAD, Rules


def rule(
    kind: int,
    first: float,
    second: float = 0.0,
    *,
    width: int,
    bounds: NDArray[np.float64] | None = None,
    nodes: NDArray[np.int32] | None = None,
    tree: NDArray[np.int32] | None = None,
) -> Rules:
    """One rule for an attribute of ``width`` values.

    >>> from discreet.kernels.judging import SIZE
    >>> rule(SIZE, 5, width=3).parameters.tolist()
    [[5.0, 0.0]]
    """
    line = np.zeros((1, width))
    if bounds is not None:
        line[0, : len(bounds)] = bounds
    under = np.full((1, width), -1, dtype=np.int32)
    if nodes is not None:
        under[0] = nodes
    above = np.zeros((0, width), dtype=np.int32) if tree is None else np.array(tree, dtype=np.int32, order="C")
    kinds, parameters = np.array([kind], dtype=np.int64), np.array([[first, second]], dtype=np.float64)
    return Rules(kinds, parameters, line, under, above, _any(NUMERIC, kinds), _any(SPREAD, kinds))


def combine(parts: Sequence[Rules]) -> Rules:
    """All rules in one set. They concern one attribute, so at most one of them carries a tree."""
    trees = [part.tree for part in parts if len(part.tree)]
    kinds = np.concatenate([part.kinds for part in parts])
    return Rules(
        kinds,
        np.concatenate([part.parameters for part in parts]),
        np.concatenate([part.bounds for part in parts]),
        np.concatenate([part.nodes for part in parts]),
        trees[0] if trees else parts[0].tree,
        _any(NUMERIC, kinds),
        _any(SPREAD, kinds),
    )


def _any(those: tuple[int, ...], kinds: NDArray[np.int64]) -> bool | None:
    """Whether any rule is one of those; None, which the compiler can tell from the type, where none is."""
    return True if np.isin(kinds, those).any() else None
