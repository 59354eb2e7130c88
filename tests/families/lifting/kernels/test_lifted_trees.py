"""Trees with lifted rows: what every one must be, whoever grows its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.families.lifting.kernels.balance import scales_of
from discreet.families.lifting.kernels.growth import LeafTerms, LiftRecipe, Persons, grow
from discreet.families.lifting.kernels.survey import survey_of
from discreet.kernels.costs import Axes, interval_cost

# a numeric axis of 8 codes, a tree of 5 leaves under two nodes, and a set of 70 codes
AXES = Axes(
    np.array([0, 2, 0]),
    np.array([8, 5, 70]),
    np.array([0, 8, 18]),
    np.concatenate([np.zeros(8), [0, 0, 0, 1, 1], np.zeros(5), np.zeros(70)]).astype(np.int32),
    np.concatenate([np.arange(8) / 7, [0.6, 0.6, 0.6, 0.4, 0.4], np.ones(5), np.arange(70) / 69]),
    np.full(3, 1 / 3),
    False,
)
UNORDERED, SETS = np.array([False, True, True]), np.array([False, False, True])


def persons(seed: int, n: int) -> tuple[Persons, LeafTerms]:
    rng = np.random.default_rng(seed)
    points = np.stack([rng.integers(0, card, n) for card in AXES.cards], axis=1).astype(np.int32)
    points[:, 2] = rng.choice([0, 5, 62, 63, 69], n)
    sensitive_codes = np.minimum(rng.integers(0, 4, n), points[:, 0] // 2).astype(np.int32)
    caps = np.minimum(1.0, 1.7 * np.bincount(sensitive_codes, minlength=5) / n)
    nowhere = np.full((2, n), -1, np.int32)
    own = Persons(points, sensitive_codes, np.arange(n, dtype=np.int32), *nowhere, np.full(2 * n, -1, np.int32))
    return own, LeafTerms(caps, UNORDERED, SETS)


def finish(own: Persons, terms: LeafTerms, recipe: LiftRecipe, nodes: list[Any], smallest: int, largest: int) -> Any:
    survey, scales = survey_of(len(own.rows), 3, 6, 70, recipe.positions, 2, 70), scales_of(6)
    return [grow(own, *node, smallest, largest, AXES, terms, recipe, survey, scales) for node in nodes]


def loss(points: np.ndarray[Any, Any]) -> float:
    low, high = points.min(axis=0), points.max(axis=0)
    held = (len(set(points[:, 2].tolist())) - 1) / 69
    return float(sum(interval_cost(AXES, j, low[j], high[j]) for j in range(2)) + held) / 3


@pytest.mark.parametrize("blind", [False, True])
@given(seed=st.integers(0, 2**16), n=st.integers(1, 90), positions=st.sampled_from([1, 5, 31]))
@settings(max_examples=25)
def test_what_a_tree_costs_and_where_its_nodes_lie(blind: bool, seed: int, n: int, positions: int) -> None:
    own, terms = persons(seed, n)
    start = own.points.copy(), own.sensitive_codes.copy()
    root = (0, n, 0, np.zeros(5))
    [(cost, left)] = finish(own, terms, LiftRecipe(positions, 1.0, 1.0, blind), [root], 0, n)
    assert not left
    assert sorted(own.rows.tolist()) == list(range(n))
    assert np.array_equal(own.points, start[0][own.rows]) and np.array_equal(own.sensitive_codes, start[1][own.rows])
    inside: dict[int, list[int]] = {}
    for at, leaf in enumerate(own.leaves.tolist()):
        while leaf >= 0:
            inside.setdefault(leaf, []).append(at)
            leaf = int(own.parents[leaf])
    assert set(own.homes.tolist()) <= {-1, *inside}
    for node, members in inside.items():
        assert members == list(range(members[0], members[-1] + 1))
        parent = int(own.parents[node])
        middle = members[0] if node % 2 == 0 else members[-1] + 1
        assert node == (0 if parent < 0 else 2 * middle - 1 + (node % 2 == 0))
    nodes = np.where(own.homes < 0, own.leaves, own.homes)
    assert all(at in inside[node] for at, node in enumerate(nodes.tolist()))
    naive = sum(loss(own.points[inside[node]]) for node in nodes.tolist())
    assert cost == pytest.approx(naive, abs=1e-9)
    assert cost <= n * loss(own.points) + 1e-9


@given(seed=st.integers(0, 2**16), n=st.integers(2, 90), smallest=st.integers(0, 40), largest=st.integers(1, 90))
@settings(max_examples=25)
def test_nodes_that_are_left_to_others_come_out_the_same(seed: int, n: int, smallest: int, largest: int) -> None:
    recipe, root = LiftRecipe(31, 1.0, 1.0, False), (0, n, 0, np.zeros(5))
    (whole, terms), (parts, _) = persons(seed, n), persons(seed, n)
    [(cost, _)] = finish(whole, terms, recipe, [root], 0, n)
    waiting, total = [root], 0.0
    for _ in range(n):
        done = finish(parts, terms, recipe, waiting, smallest, largest)
        total += sum(added for added, _ in done)
        waiting = [node for _, left in done for node in left]
    assert not waiting
    assert total == pytest.approx(cost, abs=1e-9)
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other)
