"""The kernels of estimates against their definitions (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels import box_shares as kernel

WHOLE = st.integers(-6, 6)


@given(st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=5), WHOLE, WHOLE)
def test_overlaps_of_whole_numbers_are_counted(intervals, first, last):
    low, high = (np.array(ends, float) for ends in zip(*intervals, strict=True))
    shares = np.empty(len(low))
    kernel.overlaps(low, high, 1.0, float(first), float(last), shares)
    for (a, b), share in zip(intervals, shares, strict=True):
        inside = [first <= value <= last for value in range(a, b + 1)]
        assert share == (sum(inside) / len(inside) if inside else 0.0)


@given(st.tuples(WHOLE, WHOLE).map(sorted), WHOLE, WHOLE)
def test_overlaps_of_lengths_are_measured(interval, first, last):
    shares = np.empty(1)
    kernel.overlaps(np.array([interval[0]], float), np.array([interval[1]], float), 0.0, first / 2, last / 2, shares)
    if interval[0] == interval[1]:
        assert shares[0] == float(first / 2 <= interval[0] <= last / 2)
    else:
        # halves of whole numbers: every half lies within or outside as a whole
        halves = np.arange(interval[0], interval[1], 0.5)
        inside = (first / 2 <= halves) & (halves + 0.5 <= last / 2)
        assert shares[0] == pytest.approx(inside.mean())


def test_everything_lies_within_no_bounds():
    shares = np.empty(3)
    kernel.overlaps(np.array([1.0, 2.5, np.inf]), np.array([9.0, 2.5, -np.inf]), 0.0, -np.inf, np.inf, shares)
    assert shares.tolist() == [1.0, 1.0, 0.0]


@given(st.integers(0, 2**20))
def test_cells_are_weighed_by_the_product_of_shares(seed):
    rng = np.random.default_rng(seed)
    axes, cells, queries = rng.integers(0, 4), rng.integers(1, 6), 4
    texts = rng.integers(0, 3, (axes, cells)).astype(np.int32)
    shares = rng.random(9)
    lines = rng.choice([-1, 0, 3, 6], (queries, axes)).astype(np.int64)
    held, held_at = rng.integers(0, 9, (2, cells)).astype(float), rng.integers(0, 2, queries)
    result = np.empty(queries)
    kernel.weigh(held, held_at, shares, lines, texts, result)
    for q in range(queries):
        total = sum(
            held[held_at[q], c] * np.prod([shares[lines[q, a] + texts[a, c]] for a in range(axes) if lines[q, a] >= 0])
            for c in range(cells)
        )
        assert result[q] == pytest.approx(total)


def test_only_admitted_values_are_counted():
    starts, values = np.array([0, 2, 2, 3]), np.array([0, 2, 2], np.int32)
    result = np.empty(3)
    kernel.admitted_amounts(starts, values, np.array([5, 7, 1]), np.array([False, True, True]), result)
    assert result.tolist() == [7.0, 0.0, 1.0]
