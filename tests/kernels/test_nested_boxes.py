"""The contents of boxes inside others, and which boxes are searched for them, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.adversary.checks import support
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW, Boxes, nested

COLUMNS = 4


def boxes_of(rng: np.random.Generator, number: int, axes: int) -> Boxes:
    """Random boxes, the first of them without codes."""
    ends = np.sort(rng.integers(0, 6, (2, number, axes)).astype(np.int32), axis=0)
    ends[:, 0] = [[NO_LOW], [NO_HIGH]]
    none = np.full((number, axes), -1, np.int32)
    return Boxes(ends[0], ends[1], none, np.zeros(1, np.int64), np.zeros(0, np.int32))


def naive(boxes: Boxes, chosen: NDArray[np.int64], contents: list[dict[int, int]]) -> list[tuple[int, int, int]]:
    found = []
    for place, outer in enumerate(chosen):
        inside = (boxes.low >= boxes.low[outer]).all(axis=1) & (boxes.high <= boxes.high[outer]).all(axis=1)
        held = [
            (int(box), column, amount) for box in np.flatnonzero(inside) for column, amount in contents[box].items()
        ]
        for column in {column for box, column, _ in held if box != outer}:
            found.append((place, column, sum(amount for _, one, amount in held if one == column)))
    return sorted(found)


@pytest.mark.parametrize("number", [1, 9, 511, 512, 513, 1536])
@pytest.mark.parametrize("axes", [1, 3])
def test_the_contents_of_boxes_inside_others(number: int, axes: int) -> None:
    rng = np.random.default_rng(number + axes)
    boxes = boxes_of(rng, number, axes)
    contents = [{int(c): int(rng.integers(1, 5)) for c in rng.permutation(COLUMNS)[: k % 3]} for k in range(number)]
    starts = np.cumsum([0, *map(len, contents)])
    columns = np.array([column for one in contents for column in one], np.int64)
    amounts = np.array([amount for one in contents for amount in one.values()], np.int64)
    chosen = rng.permutation(number)[:20]
    got = nested(boxes, chosen, starts, columns, amounts, COLUMNS)
    assert sorted(zip(*(part.tolist() for part in got), strict=True)) == naive(boxes, chosen, contents)


@pytest.mark.parametrize("number", [1, 9, 500])
def test_one_of_each_set_of_equal_boxes_is_searched(number: int) -> None:
    boxes = boxes_of(np.random.default_rng(number), number, 2)
    lines = np.concatenate([boxes.low, boxes.high], axis=1)
    chosen = support._spread(boxes, number)
    assert len(chosen) == len({tuple(line) for line in lines[chosen].tolist()})
    assert {tuple(line) for line in lines[chosen].tolist()} == {tuple(line) for line in lines.tolist()}
