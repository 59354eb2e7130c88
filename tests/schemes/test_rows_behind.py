"""Rows that stay behind so that the others can be halved: few, within the promise, drawn by lot, and worth it."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets import census
from discreet.principles.prior import Prior
from discreet.schemes.sealed.behind import OFTEN, ONE_IN, numbers_behind, rows_behind


def halvings(number: int) -> int:
    return (number & -number).bit_length() - 1


@pytest.mark.parametrize("seed", range(30))
def test_few_stay_and_keep_the_promise_and_the_others_can_be_halved_as_often_as_any(seed: int) -> None:
    chance = random.Random(seed)
    counts = np.array([chance.randrange(1, 2 ** chance.randrange(3, 14)) for _ in range(chance.randrange(3, 30))])
    rows, promise = int(counts.sum()), dc.BetaLikeness(chance.choice([0.5, 1, 4]))
    prior = Prior(counts, tuple(map(str, range(len(counts)))), attribute="s")

    def holds(some: np.ndarray) -> bool:
        return bool(promise.holds(some[None], prior).all())

    staying = numbers_behind(counts, holds)
    number = int(staying.sum())
    assert (staying >= 0).all()
    assert (staying <= counts).all()
    assert number * ONE_IN <= rows
    assert number == 0 or holds(staying)
    if rows <= OFTEN * 2 ** halvings(rows):
        assert number == 0
        return
    for other in range(rows // ONE_IN + 1):  # a proportional group of any other number
        sample = counts * other // rows
        sample[np.argsort(-counts, kind="stable")[: other - sample.sum()]] += 1
        if other == 0 or holds(sample):
            assert halvings(rows - other) <= halvings(rows - number)


def test_everyone_of_a_value_is_as_likely_to_stay() -> None:
    classes = np.array([0, 1] * 600 + [0] * 5, np.int32)
    stayed = np.zeros(len(classes))
    runs = 2000
    rng = np.random.default_rng(5)
    for _ in range(runs):
        rows = rows_behind(classes, 2, lambda counts: True, rng)
        assert np.bincount(classes[rows]).tolist() == [3, 2]
        stayed[rows] += 1
    for value, number in ((0, 3), (1, 2)):
        of = classes == value
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
