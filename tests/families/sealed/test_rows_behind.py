"""Rows that stay behind so that the others can be halved: few, within the promise, drawn by lot, and worth it."""

from __future__ import annotations

import random
from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets import census
from discreet.families.sealed.limits import OFTEN, ONE_IN, numbers_behind, rows_behind
from discreet.principles.prior import Prior


def halvings(number: int) -> int:
    return (number & -number).bit_length() - 1


@pytest.mark.parametrize("seed", range(30))
def test_few_stay_and_keep_the_promise_and_the_others_can_be_halved_as_often_as_any(seed: int) -> None:
    chance = random.Random(seed)
    counts = np.array([chance.randrange(1, 2 ** chance.randrange(3, 14)) for _ in range(chance.randrange(3, 30))])
    rows, promise = int(counts.sum()), dc.BetaLikeness(chance.choice([0.5, 1, 4]))
    prior = Prior(counts, tuple(map(str, range(len(counts)))), attribute="s")
    caps = promise.caps(prior)

    def holds(some: np.ndarray) -> bool:
        return bool(promise.holds(some[None], prior).all())

    staying = numbers_behind(caps, holds, counts, lambda: np.arange(len(counts)))
    number = int(staying.sum())
    assert (staying >= 0).all()
    assert (staying <= counts).all()
    assert number * ONE_IN <= rows
    assert number == 0 or holds(staying)
    if rows <= OFTEN * 2 ** halvings(rows):
        assert number == 0
        return
    assert holds(counts - staying)
    assert number == 0 or halvings(rows - number) > halvings(rows)


@pytest.mark.parametrize("seed", range(30))
def test_the_others_can_be_halved_as_often_as_any_rows_that_may_stay_allow(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.families.sealed.limits.ONE_IN", 2)
    monkeypatch.setattr("discreet.families.sealed.limits.OFTEN", 1)
    chance = np.random.default_rng(seed)
    counts = chance.integers(1, 13, 3)
    rows = int(counts.sum())
    caps = np.minimum(1.0, chance.uniform(1.02, 2.0) * chance.permutation([1.0, 1.3, 1.6]) * counts / rows)

    def holds(some: np.ndarray) -> bool:
        return bool((some <= caps * some.sum() + 1e-9).all())

    ways = [np.array(some) for some in product(*(range(count + 1) for count in counts))]
    possible = {0, *(int(some.sum()) for some in ways if holds(some) and holds(counts - some))}
    number = int(numbers_behind(caps, holds, counts, lambda: np.arange(3)).sum())
    for times in range(1, 6):
        if rows % 2**times in possible and 2 * (rows % 2**times) <= rows:
            assert halvings(rows - number) >= times


def test_a_value_at_its_cap_does_not_make_up_for_what_is_rounded_down() -> None:
    counts, caps = np.array([5000, 3000, 2030]), np.array([0.499, 0.9, 0.9])
    staying = numbers_behind(caps, lambda some: bool((some <= caps * some.sum()).all()), counts, lambda: np.arange(3))
    assert staying.tolist() == [22, 14, 10]


@pytest.mark.parametrize(
    ("counts", "promise"),
    [
        ([1000, 1], dc.BetaLikeness(0.005, "basic")),
        ([668, 2], dc.BetaLikeness(0.005, "basic")),
        ([37, 45, 57, 7, 8, 48], dc.parse("variance(v=478)")),
    ],
)
def test_a_promise_that_the_others_would_break_is_kept_by_all(counts: list[int], promise: dc.Principle) -> None:
    pay = np.repeat([24.0, 27.0, 33.0, 35.0, 36.0, 80.0][: len(counts)], counts)
    table = dc.read(pa.table({"x": np.arange(len(pay)), "pay": pay}), quasi="x", sensitive="pay")
    trace = dc.publish(table, promise, dc.Mirrored()).trace
    assert trace is not None
    held = np.zeros((trace.max() + 1, len(counts)), np.int64)
    np.add.at(held, (trace, table.sensitive_codes), 1)
    assert promise.holds(held, Prior.of(table)).all()


def test_values_that_occur_equally_often_draw_lots() -> None:
    counts = np.array([341, 341, 341])
    first = {
        int(np.argmax(numbers_behind(np.ones(3), lambda some: True, counts, lambda lot=lot: lot)))
        for lot in np.eye(3, dtype=np.int64)
    }
    assert len(first) == 2  # the second lot and the third put the first value before the others
    sensitive_codes = np.repeat(np.arange(3, dtype=np.int32), 341)
    rng = np.random.default_rng(3)
    most = [
        int(
            np.argmax(
                np.bincount(
                    sensitive_codes[
                        rows_behind(sensitive_codes, 3, partial(numbers_behind, np.ones(3), lambda some: True), rng)
                    ]
                )
            )
        )
        for _ in range(60)
    ]
    assert min(most.count(value) for value in range(3)) > 5  # chance: less than once in 10,000 times


def test_nobody_stays_where_nothing_would_be_saved() -> None:
    table = dc.read(pa.table({"x": [1] * 1023, "s": list("abc") * 341}), quasi="x", sensitive="s")
    assert dc.publish(table, dc.BetaLikeness(1), dc.Mirrored()).groups == 1


@pytest.mark.slow
def test_a_table_of_very_many_values_does_not_take_long() -> None:
    counts = np.ones(100_000, np.int64)
    counts[0] = 1_000_001
    tries = []

    def never(some: np.ndarray) -> bool:
        tries.append(int(some.sum()))
        return False

    assert not numbers_behind(np.ones(len(counts)), never, counts, lambda: np.arange(len(counts))).any()
    assert len(tries) < 200


@pytest.mark.slow
def test_everyone_of_a_value_is_as_likely_to_stay() -> None:
    sensitive_codes = np.array([0, 1] * 600 + [0] * 5, np.int32)
    stayed = np.zeros(len(sensitive_codes))
    runs = 2000
    rng = np.random.default_rng(5)
    for _ in range(runs):
        rows = rows_behind(sensitive_codes, 2, partial(numbers_behind, np.ones(2), lambda some: True), rng)
        assert np.bincount(sensitive_codes[rows]).tolist() == [3, 2]
        stayed[rows] += 1
    for value, number in ((0, 3), (1, 2)):
        of = sensitive_codes == value
        expected = runs * number / of.sum()
        squared = float(((stayed[of] - expected) ** 2 / expected).sum())
        assert abs(squared - of.sum()) < 5 * (2 * of.sum()) ** 0.5  # less than once in 100,000 times


def test_a_table_of_an_odd_number_of_rows_is_published_nearly_as_finely_as_one_that_can_be_halved() -> None:
    promise = dc.BetaLikeness(2)
    losses = [
        np.mean(
            [
                ail(dc.publish(census(rows, sensitive="occupation"), promise, dc.Mirrored(random_state=seed)))
                for seed in range(3)
            ]
        )
        for rows in (2**14, 2**14 + 2**7 - 1)
    ]
    assert losses[1] < 1.1 * losses[0]


@pytest.mark.slow
def test_rows_stay_behind_for_several_attributes_too() -> None:
    chance = random.Random(1)
    rows = 1025
    columns = {
        "x": [chance.random() for _ in range(rows)],
        "a": [chance.choice("abc") for _ in range(rows)],
        "b": [chance.choice("vw") for _ in range(rows)],
    }
    table = dc.read(pa.table(columns), quasi="x", sensitive=["a", "b"])
    release = dc.publish(table, dc.BetaLikeness(1, "basic"), dc.Mirrored())
    assert release.trace is not None
    sizes = np.bincount(release.trace)
    assert 9 in sizes
    assert release.groups > 2
