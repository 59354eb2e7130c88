"""The kernels of unions against their definitions (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.boxes import unions as kernel
from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.judging import WINDOWS
from discreet.principles.counts import Counts
from discreet.principles.rules import rule
from naive import boxes as naive

WIDTH = 150


def random_boxes(rng: np.random.Generator, number: int, axes: int) -> tuple[Boxes, list[list[naive.Interval]]]:
    """Boxes with and without gaps, some of them empty; also in the form that the oracle reads."""
    low = rng.integers(0, 4, (number, axes)).astype(np.int32)
    high = (low + rng.integers(-1, 4, (number, axes))).astype(np.int32)
    set_at = np.full((number, axes), -1, np.int32)
    sets: list[list[int]] = []
    plain: list[list[naive.Interval]] = []
    for box in range(number):
        line: list[naive.Interval] = []
        for axis in range(axes):
            first, last = int(low[box, axis]), int(high[box, axis])
            admitted = None
            if last - first > 1 and rng.random() < 0.4:
                inner = [code for code in range(first + 1, last) if rng.random() < 0.5]
                set_at[box, axis] = len(sets)
                sets.append([first, *inner, last])
                admitted = frozenset(sets[-1])
            line.append((first, last, admitted))
        plain.append(line)
    starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    members = np.array([code for codes in sets for code in codes], np.int32)
    return Boxes(low, high, set_at, starts, members), plain


@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(1, 25), st.booleans())
@settings(max_examples=60, deadline=None)
def test_sums_are_those_of_all_boxes_that_hold_the_point(seed: int, d: int, number: int, tight: bool) -> None:
    rng = np.random.default_rng(seed)
    boxes, plain = random_boxes(rng, number, d)
    counts = rng.integers(0, 3, (number, WIDTH)) * (rng.random((number, WIDTH)) < 0.05)
    groups, columns = np.nonzero(counts)
    starts = np.searchsorted(groups, np.arange(number + 1))
    axes = rng.permutation(d)
    points = np.unique(rng.integers(0, 6, (30, d)), axis=0).astype(np.int32) if d else np.zeros((1, 0), np.int32)
    points = np.ascontiguousarray(points if seed % 2 else points[rng.permutation(len(points))])  # as any order will do
    room = WIDTH if tight else WIDTH * len(points)
    found, amounts = np.empty(room, np.int32), np.empty(room, np.int64)
    given_counts = starts, columns.astype(np.int32), counts[groups, columns].astype(np.int64)
    done = 0
    while done < len(points):
        ends = kernel.gather(points[done:], boxes, axes, *given_counts, WIDTH, found, amounts)
        assert len(ends) > 1
        for at in range(len(ends) - 1):
            line = np.zeros(WIDTH, np.int64)
            here = found[ends[at] : ends[at + 1]]
            assert (np.diff(here) > 0).all()
            line[here] = amounts[ends[at] : ends[at + 1]]
            point = np.empty(d, int)
            point[axes] = points[done + at]
            assert line.tolist() == naive.mixture(plain, counts.tolist(), point.tolist())
            first, last = sorted(rng.integers(0, WIDTH, 2).tolist())
            share = kernel.shares_within(ends, found, amounts, np.array([at]), np.array([first]), np.array([last]))
            whole = line.sum()
            assert share[0] == pytest.approx(line[first : last + 1].sum() / whole if whole else 0.0)
        done += len(ends) - 1
    assert done == len(points)


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 8, 20, 100]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_fullest_window_of_few_and_of_many_values(seed: int, present: int, ordered: bool) -> None:
    """Small groups are judged by moving both ends of a window, large unions by sums over all values."""
    rng = np.random.default_rng(seed)
    first = np.maximum.accumulate(np.minimum(np.arange(WIDTH), rng.integers(0, WIDTH, WIDTH)))
    first = np.minimum(first, np.arange(WIDTH))
    last = np.minimum.accumulate(np.maximum(np.arange(WIDTH), rng.integers(0, WIDTH, WIDTH))[::-1])[::-1]
    values = rng.choice(WIDTH, present, replace=False).astype(np.int32)
    values = np.sort(values) if ordered else values
    amounts = rng.integers(0, 4, present)
    amounts[0] = 1
    counts = np.zeros(WIDTH, np.int64)
    counts[values] = amounts
    expected = max(int(counts[first[v] : last[v] + 1].sum()) for v in range(WIDTH) if counts[v])
    rules = rule(WINDOWS, 2, width=WIDTH, bounds=first.astype(float), nodes=last.astype(np.int32))
    strain = Counts(np.array([0, present]), values, amounts, WIDTH).strains(rules)[0]
    assert strain == pytest.approx(expected / (amounts.sum() / 2))
