"""Which groups show all values of a point, however many groups show each, and what these say together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from discreet.kernels.presence import value_index

kernels = cast(Any, value_index)

WIDTHS = (4, 900, 900)
GROUPS = 600


def lists(seed: int) -> np.ndarray:
    """Which values each of the groups shows: many of a few, and a few of many, so that most groups show none."""
    rng = np.random.default_rng(seed)
    few = rng.random((GROUPS, WIDTHS[0])) < 0.6
    rare = [np.zeros((GROUPS, wide), np.bool_) for wide in WIDTHS[1:]]
    for one in rare:
        one[np.arange(GROUPS).repeat(2), rng.integers(0, 60, 2 * GROUPS)] = True  # shown often
        one[np.arange(GROUPS), rng.integers(60, one.shape[1], GROUPS)] = True
    return np.concatenate([few, *rare], axis=1)


def indexed(shows: np.ndarray) -> Any:
    groups, values = np.nonzero(shows)
    return kernels.index_groups(values, groups.astype(np.int32), *shows.shape)


def points(shows: np.ndarray, seed: int) -> np.ndarray:
    """Values of groups, one of each block, some of them of two groups, and some of nobody's."""
    rng = np.random.default_rng(seed)
    firsts = np.cumsum((0, *WIDTHS))
    found = []
    for group in rng.integers(0, GROUPS, 300):
        shown = [np.flatnonzero(shows[group, a:b]) + a for a, b in pairwise(firsts)]
        found.append([rng.choice(own) if len(own) else -1 for own in shown])
    found = np.array(found)
    mixed = found[::3].copy()
    mixed[:, 2] = found[1::3, 2]
    return np.unique(np.concatenate([found, mixed, found[:60] * np.array([1, 0, 1]) - np.array([0, 1, 0])]), axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["few", "different", "certain"])
def test_what_covering_groups_say(kind: str) -> None:
    rng = np.random.default_rng(5)
    shows = lists(1)
    shown, people = indexed(shows), points(shows, 2)
    assert 0 < int((shown.lines >= 0).sum()) < len(shown.lines)
    presences = rng.random(GROUPS)
    if kind == "few":
        presences = np.sort(rng.integers(0, 9, GROUPS) / 10.0)
    if kind == "certain":
        presences = np.where(rng.random(GROUPS) < 0.3, 1.0, 0.25)
    inside = np.array([(point >= 0).all() & shows[:, point].all(axis=1) for point in people])
    assert inside.any(axis=1).any()
    assert not inside.any(axis=1).all()
    with np.errstate(divide="ignore"):  # a warning only where kernels are not compiled
        times, largest, logs = kernels.cover(people, shown, GROUPS, presences)
    assert times.tolist() == inside.sum(axis=1).tolist()
    assert largest.tolist() == np.where(inside, presences, 0.0).max(axis=1).tolist()
    assert np.exp(logs) == pytest.approx(np.where(inside, 1.0 - presences, 1.0).prod(axis=1))
    first = np.where(inside.any(axis=1), inside.argmax(axis=1), -1)
    assert kernels.foremost(people, shown, GROUPS).tolist() == first.tolist()


def test_groups_in_another_order() -> None:
    shows, order = lists(3), np.random.default_rng(4).permutation(GROUPS)
    moved, expected = kernels.renumbered(indexed(shows), order), indexed(shows[order])
    for one, other in zip(moved, expected, strict=True):
        assert one.tolist() == other.tolist()
