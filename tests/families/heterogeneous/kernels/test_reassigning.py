"""Values dealt to the members of groups (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from discreet.kernels import proportional_fit as kernel


def dealt(numbers, amounts, likely, rounds=200):
    """One group whose members are the lines of ``likely``, and whose values are its columns."""
    members, width = likely.shape
    result = np.empty(members * width)
    kernel.reassign(
        np.array([0, members]),
        np.arange(members),
        np.asarray(numbers, float),
        np.array([0, width]),
        np.arange(width),
        np.asarray(amounts),
        likely,
        rounds,
        np.array([0, members * width]),
        result,
    )
    return result.reshape(members, width)


@pytest.mark.slow
def test_equal_likelihoods_give_the_shares_of_the_group():
    assert dealt([2, 1], [1, 2], np.ones((2, 2)), rounds=1) == pytest.approx(np.array([[1, 2], [1, 2]]) / 3)


@pytest.mark.parametrize("seed", range(5))
def test_everyone_has_one_value_and_every_value_comes_out_as_counted(seed):
    rng = np.random.default_rng(seed)
    numbers, amounts = np.array([1, 2, 1, 3]), np.array([2, 4, 1])
    found = dealt(numbers, amounts, rng.random((4, 3)) + 0.05)
    assert found.sum(axis=1) == pytest.approx(np.ones(4)) and numbers @ found == pytest.approx(amounts)


def test_of_two_members_the_result_is_that_of_weighing_both_permutations():
    """The odds of the two ways are shared by both members: each has the square root of them, on the same side."""
    likely = np.array([[0.9, 0.1], [0.4, 0.6]])
    weights = [likely[0, a] * likely[1, b] for a, b in permutations(range(2))]
    exact = weights[0] / sum(weights)
    assert dealt([1, 1], [1, 1], likely)[0, 0] == pytest.approx(1 / (1 + np.sqrt(1 / exact - 1)))


def test_what_is_impossible_for_all_leaves_the_shares():
    found = dealt([1, 1], [1, 1], np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert found[0] == pytest.approx([0.5, 0.5])


def test_expected_persons_are_tallied_by_code():
    joint = np.zeros((2, 3))
    kernel.tally(
        np.array([0, 2, 3]),
        np.array([0, 1, 2]),
        np.array([1.0, 2.0, 1.0]),
        np.array([0, 2, 3]),
        np.array([0, 2, 1]),
        np.array([0, 4, 5]),
        np.array([0.25, 0.75, 0.5, 0.5, 1.0]),
        np.array([0, 1, 1]),
        joint,
    )
    assert joint.tolist() == [[0.25, 0.0, 0.75], [1.0, 1.0, 1.0]]
