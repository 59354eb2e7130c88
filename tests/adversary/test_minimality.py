"""The adversary who knows the algorithm, against the definition and against schemes whose leaks are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.reruns import rearranged, rejected, reruns, with_values, worlds

import discreet as dc
from discreet.adversary.attacks.rerunning import content
from discreet.datasets import patients
from discreet.principles.prior import Prior
from discreet.table.read import read
from discreet.table.table import Table
from naive.minimality import beliefs

PROMISE = dc.LDiversity(2)
HALVES = np.array([0, 0, 0, 1, 1, 1], np.int32)
WHOLE = np.zeros(6, np.int32)


def toy(values: str, seed: int | None = None) -> Table:
    """Persons in a row, or scattered at random in a plane, with these values."""
    n = len(values)
    x, y = (np.arange(n), np.zeros(n, int)) if seed is None else np.random.default_rng(seed).integers(0, 9, (2, n))
    return read(pa.table({"x": x, "y": y, "s": list(values)}), quasi=["x", "y"], sensitive="s")


def grouped(table: Table, groups: np.ndarray) -> dc.GeneralizedRelease:
    return dc.GeneralizedRelease.from_groups(table, groups, promise=PROMISE, scheme="halves")


def both_halves_keep(world: np.ndarray) -> bool:
    return all(np.bincount(world[half == HALVES]).max() <= 2 for half in (0, 1))


def cautious(table: Table) -> dc.GeneralizedRelease:
    """Halves unless all of one have the same value, else the whole: then someone's value is certain."""
    return grouped(table, HALVES if both_halves_keep(table.sensitive_codes) else WHOLE)


def test_a_choice_that_ignores_values_tells_nothing() -> None:
    table = toy("aabcda")
    release = grouped(table, HALVES)
    posterior = reruns(table, lambda world: grouped(world, HALVES)).posterior(content(release))
    shares = release.counts.matrix() / release.sizes[:, None]
    assert np.allclose(posterior.chances, shares[release.trace])
    assert not posterior.errors.any()
    assert not posterior.over([2 / 3] * 4).any()
    assert posterior.over([0.6] * 4)[:, 0].tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize("values", ["aaabbc", "aabbac"])
def test_a_choice_that_looks_at_values_is_seen_through(values: str) -> None:
    table = toy(values)
    posterior = reruns(table, cautious).posterior(content(cautious(table)))

    def likely(world: tuple[Hashable, ...]) -> dict[Hashable, Fraction]:
        codes = np.array(["abc".index(str(value)) for value in world])
        kept = both_halves_keep(codes)
        left = tuple(np.bincount(codes[:3], minlength=3).tolist()) if kept else None
        return {left: Fraction(1)}

    codes = np.array(["abc".index(value) for value in values])
    seen = tuple(np.bincount(codes[:3], minlength=3).tolist()) if both_halves_keep(codes) else None
    believed = beliefs(values, likely, seen)
    for person, belief in enumerate(believed):
        assert posterior.chances[person].tolist() == pytest.approx([float(belief[value]) for value in "abc"])


@pytest.mark.slow
def test_chance_in_the_scheme_is_estimated_within_its_error() -> None:
    """The coin is fairer where both halves keep the promise; seeds are fixed, and four standard errors are allowed."""
    table = toy("aaabbc")
    rng = np.random.default_rng(5)

    def tossed(world: Table) -> dc.GeneralizedRelease:
        return grouped(
            world, HALVES if rng.random() < (0.75 if both_halves_keep(world.sensitive_codes) else 0.25) else WHOLE
        )

    def likely(world: tuple[Hashable, ...]) -> dict[Hashable, Fraction]:
        codes = np.array(["abc".index(str(value)) for value in world])
        return {"whole": Fraction(1, 4) if both_halves_keep(codes) else Fraction(3, 4)}

    posterior = reruns(table, tossed, runs=12).posterior(content(grouped(table, WHOLE)))
    for person, belief in enumerate(beliefs("aaabbc", likely, "whole")):
        for code, value in enumerate("abc"):
            error = posterior.errors[person, code]
            assert 0.0 < error < 0.06
            assert abs(posterior.chances[person, code] - float(belief[value])) < 4 * error


@pytest.mark.slow
def test_worlds_drawn_at_random_agree_with_all_of_them() -> None:
    table = toy("aaabbc")
    seen = content(cautious(table))
    exact = reruns(table, cautious).posterior(seen)
    rng = np.random.default_rng(3)
    draws = rearranged(table, range(6), 600, rng)
    drawn = rejected(draws, lambda world: content(cautious(with_values(table, world))), seen, 3)
    assert drawn is not None and drawn.matches > 30
    assert (np.abs(drawn.chances - exact.chances) < 4 * drawn.errors).all()
    nothing = rejected(rearranged(table, range(6), 5, rng), lambda world: "something else", seen, 3)
    assert nothing is None


def test_what_others_have_may_be_known() -> None:
    table = toy("aabcda")
    known = reruns(table, lambda world: grouped(world, HALVES), among=[0, 1, 2])
    posterior = known.posterior(content(grouped(table, HALVES)))
    assert len(known.worlds) == 3
    assert posterior.chances[3].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert posterior.chances[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0.0, 0.0])


@pytest.mark.parametrize("scheme", [dc.Cuts(), dc.Lifting(), dc.Burel()], ids=lambda scheme: scheme.name)
def test_content_depends_on_neither_order_nor_numbers(scheme: dc.Scheme) -> None:
    table = patients()
    release = scheme.publish(table, dc.BetaLikeness(2))
    again = type(release).from_groups(table, release.trace, promise=PROMISE, scheme="again", values="set")
    once_more = type(release).from_groups(table, release.trace, promise=PROMISE, scheme="again", values="set")
    assert content(again) == content(once_more)
    one_moved = release.trace.copy()
    one_moved[np.flatnonzero(release.trace != release.trace[0])[0]] = release.trace[0]
    assert content(again) != content(
        type(release).from_groups(table, one_moved, promise=PROMISE, scheme="again", values="set")
    )


def test_content_tells_trees_apart_that_have_the_same_nodes() -> None:
    table = toy("aabcda")
    leaf_of = np.array([1, 1, 2, 2, 3, 3])
    node_of = np.array([0, 1, 0, 2, 0, 3])
    how = {"promise": PROMISE, "scheme": "grown"}
    flat = dc.NestedRelease.from_tree(table, [-1, 0, 0, 0], leaf_of, node_of, **how)
    wider = dc.NestedRelease.from_tree(table, [-1, 0, 0, 0], leaf_of, node_of, **how)
    other = dc.NestedRelease.from_tree(table, [-1, 0, 1, 0], leaf_of, node_of, **how)
    assert content(flat) == content(wider)
    assert content(flat) != content(other)


def over(table: Table, scheme: dc.Scheme, promise: dc.Principle) -> float:
    """The largest belief as a multiple of its bound, over what the scheme may publish of any world."""
    known = reruns(table, lambda world: scheme.publish(world, promise))
    bounds = promise.caps(Prior.of(table))
    return max(float(known.posterior(seen).strains(bounds).max()) for seen in known.found)


def test_cuts_are_seen_through_and_what_is_promised_is_not_enough() -> None:
    """Why this is measured: without knowing the algorithm every belief is within its bound."""
    assert over(toy("aabbcc", seed=4), dc.Cuts(), dc.BetaLikeness(1)) > 1.2


@pytest.mark.slow
def test_burel_is_seen_through_although_sizes_follow_from_counts_alone() -> None:
    """Which rows a group draws depends on the buckets of the people around. The paper holds BUREL to be immune."""
    table, promise, seeds = toy("aabbcc", seed=1), dc.BetaLikeness(1), itertools.count()
    known = reruns(table, lambda world: dc.Burel(random_state=next(seeds)).publish(world, promise), runs=8)
    bounds = promise.caps(Prior.of(table))
    assert bounds is not None
    assert any(known.posterior(seen).over(1.2 * bounds, errors=4).any() for seen in known.found)


def test_too_many_worlds_are_refused() -> None:
    with pytest.raises(dc.DiscreetError, match="drawn at random"):
        next(worlds(toy("aaaabbbbccccdddd")))


def test_a_release_of_something_else_is_refused() -> None:
    known = reruns(toy("aabb"), lambda world: grouped(world, np.zeros(4, np.int32)))
    with pytest.raises(dc.DiscreetError, match="none of the reruns gave this release"):
        known.posterior(content(cautious(toy("aabcda"))))


def test_a_table_that_cannot_be_published_is_refused() -> None:
    def refuse(table: Table) -> dc.GeneralizedRelease:
        raise dc.DiscreetError("this table cannot keep it")

    with pytest.raises(dc.DiscreetError, match="cannot keep it"):
        reruns(toy("aab"), refuse)


def test_persons_with_several_rows_are_refused() -> None:
    table = read(
        pa.table({"x": [1, 2, 3], "who": [1, 1, 2], "s": list("aab")}), quasi=["x"], sensitive="s", person="who"
    )
    make: Callable[[Table], dc.GeneralizedRelease] = lambda world: grouped(world, np.zeros(3, np.int32))  # noqa: E731
    with pytest.raises(dc.DiscreetError, match="one row and one sensitive value"):
        reruns(table, make)
