"""How BUREL splits buckets and draws groups, against the paper's example and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.bucket_draws import counting_order, draw_along, draw_nearest, split_evenly


def test_example_2_of_the_beta_likeness_paper() -> None:
    """Buckets of 5, 6 and 8 rows, caps .31, .45 and .54: leaves [1, 1, 2], [1, 2, 2] and [3, 3, 4]."""
    p = np.array([2, 3, 3, 3, 4, 4]) / 19
    f = (1 + np.minimum(2.0, -np.log(p))) * p
    caps = np.array([f[0], f[2], f[4]])
    groups = split_evenly(np.array([5, 6, 8]), caps, np.zeros(3), 1)
    assert sorted(groups.tolist()) == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any),
    st.sampled_from([0.3, 0.6, 1.0]),
    st.sampled_from([1, 3]),
)
def test_every_group_is_allowed_and_nothing_is_lost(sizes: list[int], room: float, smallest: int) -> None:
    shares = np.array(sizes) / sum(sizes)
    caps = np.minimum(1.0, shares * (1 + room))
    groups = split_evenly(np.array(sizes), caps, np.zeros(len(sizes)), smallest)
    assert groups.sum(axis=0).tolist() == sizes
    if len(groups) > 1:
        totals = groups.sum(axis=1)
        assert totals.min() >= smallest
        assert (groups <= caps * totals[:, None] + 1e-9).all()


@st.composite
def buckets(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sorted keys in buckets, what each group wants of them, and seeds, some of them twice."""
    wanted = np.array(draw(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=1, max_size=5)))
    wanted[:, 0] += 1  # no empty groups
    sizes = wanted.sum(axis=0)
    keys = [sorted(draw(st.lists(st.integers(0, 30), min_size=int(size), max_size=int(size)))) for size in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    seeds = np.array(draw(st.lists(st.integers(0, int(starts[-1]) - 1), min_size=1, max_size=12)))
    return np.array([key for bucket in keys for key in bucket], np.float64), starts, wanted, seeds


@pytest.mark.parametrize("exact", [False, True])
@given(case=buckets())
def test_groups_draw_the_nearest_rows_that_are_left(
    exact: bool, case: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
) -> None:
    keys, starts, wanted, seeds = case
    drawn = draw_nearest(keys[:, None], starts, wanted, seeds) if exact else draw_along(keys, starts, wanted, seeds)
    left = set(range(len(keys)))
    # after the last seed come the rows that follow it, in a circle
    after = [(int(seeds[-1]) + step) % len(keys) for step in range(1, len(keys))]
    for g in range(len(wanted)):
        seed = next(seed for seed in [*seeds.tolist(), *after] if seed in left)
        for b in range(len(starts) - 1):
            inside = {place for place in left if starts[b] <= place < starts[b + 1]}
            mine = {place for place in inside if drawn[place] == g}
            assert len(mine) == wanted[g, b]
            distances = sorted(abs(keys[place] - keys[seed]) for place in inside)
            assert sorted(abs(keys[place] - keys[seed]) for place in mine) == distances[: len(mine)]
        left -= {place for place in left if drawn[place] == g}
    assert not left


@given(st.lists(st.integers(0, 9), min_size=0, max_size=30))
def test_counting_sorts_and_keeps_the_order_of_equals(bins: list[int]) -> None:
    order, sizes = counting_order(np.array(bins, np.int64), 10)
    assert order.tolist() == np.argsort(bins, kind="stable").tolist()
    assert sizes.tolist() == [bins.count(number) for number in range(10)]
