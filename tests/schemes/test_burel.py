"""BUREL's choice of buckets: with room for what rounding adds, so that a weaker promise does not cost more."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets import census
from discreet.principles import Prior
from discreet.principles.bounds import fewest_buckets
from discreet.schemes.buckets.burel import choose_buckets
from discreet.table.table import Table

BETAS = (0.5, 0.75, 0.999, 1, 1.001, 1.5, 2, 3, 4, 5)
NOISE = 0.03
"""What the seed may add to the loss: with one seed its standard deviation is up to .017, in the mean of three .01."""


@pytest.fixture(scope="module")
def table() -> Table:
    return census(20_000)


def loss(table: Table, beta: float, **options: str) -> tuple[int, float]:
    releases = [
        dc.publish(table, dc.BetaLikeness(beta), dc.Burel(random_state=seed, **options))  # type: ignore[arg-type]
        for seed in range(3)
    ]
    assert len({release.groups for release in releases}) == 1, "only the sensitive values decide how many groups"
    return releases[0].groups, float(np.mean([ail(release) for release in releases]))


def test_a_bucket_that_is_exactly_full_does_not_make_one_group_of_all(table: Table) -> None:
    assert loss(table, 1, room="any")[0] == 1  # the paper's fewest buckets: one of them has no row to spare
    fuller, emptier = loss(table, 1), loss(table, 0.999)
    assert fuller[0] >= emptier[0] > 50
    assert fuller[1] <= emptier[1] + NOISE


@pytest.mark.slow
def test_a_weaker_promise_does_not_cost_more(table: Table) -> None:
    found = [loss(table, beta)[1] for beta in BETAS]
    for stronger, weaker in itertools.combinations(found, 2):
        assert weaker <= stronger + NOISE, found
    for beta, own in zip(BETAS, found, strict=True):
        assert own <= loss(table, beta, room="any")[1] + NOISE


def test_values_of_many_kinds_are_not_thrown_together() -> None:
    """Thousands of values fill buckets to the brim of 1 / l, where no half of an odd number of rows fits."""
    counts = np.random.default_rng(1).multinomial(100_000, np.full(2000, 1 / 2000))
    caps = np.full(2000, 1 / 50)
    assert len(choose_buckets(counts, caps, counts, 1, "any")[1]) < 10
    buckets, wanted = choose_buckets(counts, caps, counts, 1)
    assert len(wanted) > 1000 and buckets.max() + 1 < 60


def test_example_2_of_the_paper_is_drawn_from_its_buckets_when_asked_for() -> None:
    prior = Prior(np.array([2, 3, 3, 3, 4, 4]), tuple("abcdef"))
    caps = dc.BetaLikeness(2).caps(prior)
    assert caps is not None
    buckets, wanted = choose_buckets(prior.counts, caps, prior.counts, 1, "any")
    assert buckets.tolist() == [0, 0, 1, 1, 2, 2]
    assert sorted(wanted.tolist()) == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]
    assert len(choose_buckets(prior.counts, caps, prior.counts, 1)[1]) > len(wanted)


values = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 16)), min_size=1, max_size=7)


@given(values.filter(lambda drawn: any(count for count, _ in drawn)), st.integers(0, 5))
def test_buckets_with_room_are_the_fewest_that_have_it(drawn: list[tuple[int, int]], room: int) -> None:
    counts = np.array([count for count, _ in drawn])
    caps = np.array([sixteenths / 16 if count else 0.0 for count, sixteenths in drawn])
    rows = int(counts.sum())

    def fits(run: np.ndarray) -> bool:
        spare = 16 * int(counts[run].sum()) <= int(np.rint(16 * caps[run].min() * rows)) - 16 * room
        return len(run) == 1 or counts[run].sum() == 0 or spare

    buckets = fewest_buckets(counts, caps, room)
    number = int(buckets.max()) + 1
    assert all(fits(np.flatnonzero(buckets == bucket)) for bucket in range(number))
    order = np.lexsort((counts, np.where(counts > 0, caps, 0.0)))
    for cuts in range(number - 1):  # no split of the order into fewer runs will do
        for ends in itertools.combinations(range(1, len(counts)), cuts):
            assert not all(fits(run) for run in np.split(order, list(ends)))


@given(values.filter(lambda drawn: any(count for count, _ in drawn)), st.sampled_from([1, 3]))
def test_every_group_keeps_the_caps_whichever_rows_it_draws(drawn: list[tuple[int, int]], smallest: int) -> None:
    counts = np.array([count for count, _ in drawn])
    rows = int(counts.sum())
    caps = np.array([min(1.0, count / rows * (1 + share / 8)) for count, share in drawn])
    buckets, wanted = choose_buckets(counts, caps, counts, smallest)
    assert wanted.sum(axis=0).tolist() == [counts[buckets == b].sum() for b in range(wanted.shape[1])]
    for line in wanted if len(wanted) > 1 else []:
        assert line.sum() >= smallest
        for bucket, amount in enumerate(line.tolist()):
            own = caps[(buckets == bucket) & (counts > 0)]
            assert amount <= own.min(initial=1.0) * line.sum() + 1e-9


@pytest.mark.slow
@given(
    counts=st.lists(st.integers(1, 40), min_size=4, max_size=8),
    beta=st.sampled_from([0.5, 1.0, 3.0]),
    negative=st.sampled_from([None, 0.3, 0.8, 1.0]),
    level=st.integers(0, 1),
    seed=st.integers(0, 9),
)
def test_shares_of_nodes_and_floors_are_kept_by_definition(
    counts: list[int], beta: float, negative: float | None, level: int, seed: int
) -> None:
    """And which groups there are, by size and node, depends on the sensitive values alone."""
    names = [f"{at % 2}{at}" for at in range(len(counts))]
    nested = {node: tuple(name for name in names if name[0] == node) for node in "01"}
    tree = dc.Hierarchy.of("s", nested)
    values = np.repeat(names, counts)
    promise = dc.BetaLikeness(beta, "basic", negative, level)

    def drawn(age: np.ndarray) -> list[list[int]]:
        table = dc.read(pa.table({"age": age, "s": values}), quasi=["age"], sensitive="s", hierarchies={"s": tree})
        release = dc.publish(table, promise, dc.Burel(random_state=seed))
        assert release.trace is not None
        units = [name[0] if level else name for name in values]
        lines = []
        for group in range(release.groups):
            inside = [unit for unit, at in zip(units, release.trace, strict=True) if at == group]
            lines.append([inside.count(unit) for unit in sorted(set(units))])
            for unit in set(units):
                share, prior = inside.count(unit) / len(inside), units.count(unit) / len(units)
                assert share <= (1 + beta) * prior + 1e-9
                assert share >= (1 - (1 if negative is None else negative)) * prior - 1e-9
        return sorted(lines)

    rng = np.random.default_rng(seed)
    first, second = (drawn(rng.integers(0, 50, len(values))) for _ in range(2))
    assert sorted(map(sum, first)) == sorted(map(sum, second))
    assert negative in (None, 1.0) or first == second


def test_floors_leave_as_many_groups_as_the_rarest_value_has_rows(table: Table) -> None:
    """Every group must have a row of it, so there cannot be more."""
    release = dc.publish(table, dc.BetaLikeness(4, negative=0.9), dc.Burel(random_state=1))
    assert release.groups == Prior.of(table).counts.min() > 40
