"""Searches of trees, numbers in order, and sums of products, beside what plain loops say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.families.ambiguity.kernels.products import BLOCK, add_products, add_up
from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.boxes.search import incidences, tally
from discreet.releases.boxes import plant
from discreet.table import combinations
from discreet.table.combinations import distinct, places_among, ranked


def boxes_with_gaps(rng, number, axes, codes):
    """Random boxes, some of them empty, and the codes that each admits on every axis."""
    low = rng.integers(0, codes, (number, axes)).astype(np.int32)
    high = (low + rng.integers(-1, codes, (number, axes))).astype(np.int32)
    set_at, sets = np.full((number, axes), -1, np.int32), []
    admitted = [[list(range(low[b, j], high[b, j] + 1)) for j in range(axes)] for b in range(number)]
    for box in range(number):
        for axis in range(axes):
            codes_in = admitted[box][axis]
            if codes_in and rng.random() < 0.4:
                kept = [code for code in codes_in if code in (codes_in[0], codes_in[-1]) or rng.random() < 0.6]
                admitted[box][axis] = kept
                set_at[box, axis] = len(sets)
                sets.append(kept)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
    members = np.array([code for one in sets for code in one], np.int32)
    return Boxes(low, high, set_at, starts, members), admitted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_a_search_finds_what_lies_in_a_box(seed):
    rng = np.random.default_rng(seed)
    axes, number, codes, trees = (int(rng.integers(*ends)) for ends in ((1, 4), (1, 900), (2, 9), (1, 4)))
    points = rng.integers(0, codes, (number, axes)).astype(np.int32)
    weights = rng.integers(1, 4, number)
    firsts = np.concatenate([[0], np.sort(rng.integers(0, number + 1, trees - 1)), [number]]).astype(np.int64)
    boxes, admitted = boxes_with_gaps(rng, 10, axes, codes)
    box_of, tree_of = np.repeat(np.arange(10), trees), np.tile(np.arange(trees), 10)
    forest = plant(points, weights, firsts, boxes, box_of, tree_of)
    inside = [
        [i for i in range(firsts[tree], firsts[tree + 1]) if all(points[i, j] in admitted[box][j] for j in range(axes))]
        for box, tree in zip(box_of, tree_of, strict=True)
    ]
    true = np.array([weights[found].sum() for found in inside])
    assert tally(forest, boxes, box_of, tree_of, np.full(len(box_of), 10**9)).tolist() == true.tolist()
    needs = rng.integers(0, 6, len(box_of))
    found = tally(forest, boxes, box_of, tree_of, needs)
    assert bool(np.all(found <= true))
    assert ((found >= needs) == (true >= needs)).all()
    numbers, positions = incidences(forest, boxes, box_of, tree_of, 10**9)
    parts = np.split(forest.order[positions], np.cumsum(numbers)[:-1])
    assert [sorted(part.tolist()) for part in parts] == inside


numbers = st.lists(st.integers(-3, 40) | st.integers(-(10**15), 10**15), max_size=40) | st.lists(
    st.integers(0, 30), max_size=40
)


@given(numbers)
def test_numbers_that_are_marked_are_those_that_a_sort_finds(given):
    array = np.array(given, np.int64)
    found, first, place = np.unique(array, return_index=True, return_inverse=True)
    assert distinct(array).tolist() == found.tolist()
    assert distinct(array).dtype == array.dtype
    assert [one.tolist() for one in ranked(array)] == [found.tolist(), first.tolist(), place.tolist()]
    assert places_among(found, array).tolist() == place.tolist()


def test_numbers_in_a_small_range_are_not_sorted(monkeypatch):
    def never(*_, **__):
        raise AssertionError("sorted")

    monkeypatch.setattr(combinations.np, "sort", never)
    monkeypatch.setattr(combinations.np, "unique", never)
    monkeypatch.setattr(combinations.np, "searchsorted", never)
    array = np.array([3, 0, 3, 2, 1])
    assert distinct(array).tolist() == [0, 1, 2, 3]
    assert ranked(array)[2].tolist() == array.tolist()
    assert places_among(np.arange(4), array).tolist() == array.tolist()


@pytest.mark.parametrize("groups", [1, 3, BLOCK, 2 * BLOCK + 5])
def test_products_of_lines_add_up(groups):
    rng = np.random.default_rng(groups)
    lines = rng.random((7, groups))
    wanted = [[0], [1, 2], [3, 4, 5, 6], [2, 2, 0]]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in wanted])])
    results = np.ones(len(wanted))
    add_products(lines, starts, np.array([line for one in wanted for line in one]), results)
    assert np.allclose(results, [1 + np.prod(lines[one], axis=0).sum() for one in wanted], rtol=1e-13, atol=0)


@pytest.mark.parametrize("shares", [False, True])
def test_lines_add_up_the_entries_that_are_marked(shares):
    rng = np.random.default_rng(5)
    of = np.sort(rng.choice([4, 5, 7, 8], 50)).astype(np.int32)  # group 6 has no entry
    kinds, weights = rng.integers(0, 6, 50).astype(np.int32), rng.random(50)
    weights[of == 8] = 0.0
    marks = (rng.random((6, 3)) < 0.5).astype(np.float64)
    lines = np.zeros((3, 5))
    add_up(of, kinds, weights, marks, 4, shares, lines)
    for line in range(3):
        for group in range(5):
            own = of == group + 4
            sum_of = (weights[own] * marks[kinds[own], line]).sum()
            total = weights[own].sum() if shares else 1.0
            assert lines[line, group] == pytest.approx(sum_of / total if total > 0 else 0.0, rel=1e-13)
