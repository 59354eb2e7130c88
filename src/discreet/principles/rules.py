"""Build the arrays that the judging kernel reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import CAPS, FLOORS, NUMERIC, SPREAD, Rules


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
    return _of_kinds(kinds, parameters, line, under, above)


def combine(parts: Sequence[Rules]) -> Rules:
    """All rules in one set. They concern one attribute, so those that carry a tree carry the same one."""
    tree = next((part.tree for part in parts if len(part.tree)), parts[0].tree)
    return _concatenated(parts)._replace(tree=tree)


class Stack(NamedTuple):
    """The rules about several attributes one after another, padded to the attribute with the most values."""

    rules: Rules
    starts: NDArray[np.int64]
    """Per attribute: where the rules about it begin; one more for the end."""
    heights: NDArray[np.int64]
    """Per attribute: where the lines of its tree begin; one more for the end."""


def stack(each: Sequence[Rules | None], width: int) -> Stack:
    """Put the rules about each attribute one after another; ``None`` stands for an attribute without rules.

    >>> from discreet.kernels.judging import SIZE
    >>> stacked = stack([rule(SIZE, 5, width=3), None, rule(SIZE, 4, width=2)], 3)
    >>> stacked.rules.parameters[:, 0].tolist(), stacked.starts.tolist(), stacked.rules.bounds.shape
    ([5.0, 4.0], [0, 1, 1, 2], (2, 3))
    """

    def pad(lines: NDArray[Any]) -> NDArray[Any]:
        return np.pad(lines, ((0, 0), (0, width - lines.shape[1])))

    lines = np.zeros((0, width)), np.zeros((0, width), np.int32), np.zeros((0, width), np.int32)
    nothing = Rules(np.zeros(0, np.int64), np.zeros((0, 2)), *lines)
    known = [
        nothing if part is None else part._replace(bounds=pad(part.bounds), nodes=pad(part.nodes), tree=pad(part.tree))
        for part in each
    ]
    starts, heights = (
        np.append(0, np.cumsum([len(lines) for lines in parts])).astype(np.int64)
        for parts in ([part.kinds for part in known], [part.tree for part in known])
    )
    return Stack(_concatenated(known), starts, heights)


def _concatenated(parts: Sequence[Rules]) -> Rules:
    """All rules one after the other, and all trees."""
    return _of_kinds(*(np.concatenate(lines) for lines in zip(*(part[:5] for part in parts), strict=True)))


def _of_kinds(
    kinds: NDArray[np.int64],
    parameters: NDArray[np.float64],
    bounds: NDArray[np.float64],
    nodes: NDArray[np.int32],
    tree: NDArray[np.int32],
) -> Rules:
    """Rules that say of which kinds there are none: by None, which the compiler can tell from the type."""

    known = kinds.tolist()  # few, for which a loop is quicker than a search in an array

    def whether(there_are: Iterable[bool]) -> bool | None:
        return True if any(there_are) else None

    return Rules(
        kinds,
        parameters,
        bounds,
        nodes,
        tree,
        numeric=whether(kind in NUMERIC for kind in known),
        spread=whether(kind in SPREAD for kind in known),
        layered=whether(
            kind in (CAPS, FLOORS) and line[:1].max(initial=-1) >= 0 for kind, line in zip(known, nodes, strict=True)
        ),
    )
