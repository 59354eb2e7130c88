"""Boxes and the points in them against looking everywhere (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.boxes.boxes import Boxes, admitted
from discreet.kernels.boxes.search import incidences, sums_inside, tally
from discreet.kernels.presence.mixtures import cover, mixtures
from discreet.releases.boxes import plant
from naive import boxes as naive


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 120) | st.integers(129, 400), st.integers(1, 5))
def test_searches_find_what_looking_everywhere_finds(seed: int, axes: int, rows: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 7, (rows, axes)).astype(np.int32)
    sensitive_codes = np.sort(rng.integers(0, values, rows))
    weights = rng.integers(1, 4, rows)
    number = 6
    low = rng.integers(0, 7, (number, axes)).astype(np.int32)
    high = (low + rng.integers(-1, 6, (number, axes))).clip(max=6).astype(np.int32)
    masks = rng.random((3, 7)) < 0.6
    mask_at = rng.integers(-3, 3, (number, axes)).clip(min=-1).astype(np.int32)
    members = [np.flatnonzero(mask).astype(np.int32) for mask in masks]
    starts = np.cumsum([0, *map(len, members)])
    described = Boxes(low, high, mask_at, starts, np.concatenate(members))
    plain = [
        [
            (int(low[b, j]), int(high[b, j]), None if line < 0 else frozenset(np.flatnonzero(masks[line]).tolist()))
            for j, line in enumerate(mask_at[b].tolist())
        ]
        for b in range(number)
    ]
    asked_box, asked_row = (grid.ravel() for grid in np.meshgrid(np.arange(number), np.arange(rows)))
    inside = np.ones(len(asked_box), bool)
    for axis in range(axes):
        inside &= admitted(described, asked_box, axis, points[asked_row, axis])
    holding = [naive.holds(plain[b], points[r].tolist()) for b, r in zip(asked_box.tolist(), asked_row, strict=True)]
    assert inside.tolist() == holding
    box_of, tree_of = (grid.ravel() for grid in np.meshgrid(np.arange(number), np.arange(values)))
    # boxes may be given that are never searched for, and others searched for that were not given
    some = rng.permutation(len(box_of))[: rng.integers(0, len(box_of) + 1)]
    firsts = np.searchsorted(sensitive_codes, np.arange(values + 1))
    forest = plant(points, weights, firsts, described, box_of[some], tree_of[some])
    repeated = np.repeat(np.arange(rows), weights)
    want = [
        naive.count(plain[b], points[repeated].tolist(), sensitive_codes[repeated].tolist(), v)
        for b, v in zip(box_of.tolist(), tree_of.tolist(), strict=True)
    ]
    found = tally(forest, described, box_of, tree_of, np.full(len(box_of), 1 << 60))
    assert found.tolist() == want
    needs = rng.integers(0, 5, len(box_of))
    enough = tally(forest, described, box_of, tree_of, needs)
    assert ((enough >= needs) == (np.array(want) >= needs)).all()
    each = forest._replace(weights=np.ones_like(forest.weights), totals=forest.last - forest.first)
    numbers = tally(each, described, box_of, tree_of, np.full(len(box_of), 1 << 60))
    told, listed = incidences(forest, described, box_of, tree_of, 1 << 60)
    assert told.tolist() == numbers.tolist()
    few, some = incidences(forest, described, box_of, tree_of, 10)
    asked = int((few >= 0).sum())
    assert (few[:asked].tolist(), some.tolist()) == (told[:asked].tolist(), listed[: len(some)].tolist())
    assert len(some) > 10 >= few[: asked - 1].sum() or asked == len(few)
    positions = np.split(listed, np.cumsum(numbers)[:-1])
    for (b, v), inside in zip(zip(box_of.tolist(), tree_of.tolist(), strict=True), positions, strict=True):
        rows_inside = sorted(forest.order[inside].tolist())
        assert rows_inside == [
            r for r in range(rows) if sensitive_codes[r] == v and naive.holds(plain[b], points[r].tolist())
        ]
    single = plant(points, weights, np.array([0, rows]), described, np.arange(number), np.zeros(number, np.int64))
    boxes_of, wanted = np.repeat(np.arange(number), values), np.tile(np.arange(values), number)
    inside = sums_inside(
        single, described, boxes_of, np.arange(rows + 1), sensitive_codes[single.order], single.weights, values, wanted
    )
    assert inside.reshape(number, values).T.ravel().tolist() == want
    counts = rng.integers(0, 3, (number, 2))
    starts = np.arange(number + 1) * 2
    columns = np.tile(np.arange(2), number)
    sums = mixtures(single, described, starts, columns, counts.ravel(), 2)
    assert sums.tolist() == [naive.mixture(plain, counts.tolist(), point) for point in points.tolist()]
    presences = rng.choice([0.0, 0.25, 0.5, 1.0], number)
    times, largest, logs = cover(single, described, presences)
    for point, line in zip(points.tolist(), zip(times, largest, logs, strict=True), strict=True):
        around = presences[[naive.holds(box, point) for box in plain]]
        assert line[:2] == (len(around), around.max(initial=0.0))
        assert np.exp(line[2]) == pytest.approx(np.prod(1.0 - around))
