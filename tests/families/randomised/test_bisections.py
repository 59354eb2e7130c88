"""Searches for a number end, and on the safe side, however small, large or close together the numbers are."""

from __future__ import annotations

import math
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.families.randomised.release.coin import crowds
from discreet.families.randomised.scheme.retention import _widest
from discreet.principles import Prior, Proximity
from discreet.principles.neighbourhoods import Widths

LEAST = 5e-324
LARGEST = 1.7e308


def prior_of(numbers: list[float], counts: list[int] | None = None) -> Prior:
    return Prior(np.array(counts or [1] * len(numbers)), tuple(map(repr, numbers)), "numeric", attribute="s")


def hopes(promise: Proximity, prior: Prior) -> bool:
    """Whether some numbers may be kept."""
    return promise.m * int(crowds(prior.counts, *promise.windows(prior)).rows.max()) < prior.rows


class Counting(Proximity):
    """Tells how often windows were looked for."""

    looked = 0

    def windows(self, prior: Prior):  # type: ignore[no-untyped-def]
        Counting.looked += 1
        assert Counting.looked < 100, "this goes on and on"
        return super().windows(prior)


@pytest.mark.parametrize(
    ("numbers", "epsilon", "widest"),
    [
        ([0.0, LEAST, 1.0, 2.0], 1.0, LEAST),
        ([0.0, 3 * LEAST, 1.0, 2.0], 1e308, 3 * LEAST),
        ([-LARGEST, -1.0, 1.0, LARGEST], LARGEST, None),
        ([1.0, 1.0 + 2**-52, 3.0, 4.0], 1.0, None),
        ([0.1, 0.3, 0.7, 1.9], 5.0, 0.2),
    ],
)
def test_the_widest_epsilon_is_found_among_numbers_of_any_size(
    numbers: list[float], epsilon: float, widest: float | None
) -> None:
    Counting.looked = 0
    prior, promise = prior_of(numbers), Counting(epsilon, 2)
    found = _widest(promise, prior)
    assert not prior.remembered, "what was only tried is not kept"
    assert widest is None or found == widest
    assert found == 0.0 or hopes(Proximity(math.nextafter(found, 0.0), 2), prior)
    assert not hopes(Proximity(found, 2), prior)


@given(
    st.lists(st.floats(-LARGEST, LARGEST, allow_nan=False), min_size=2, max_size=8, unique=True),
    st.floats(0.0, LARGEST),
    st.integers(2, 4),
)
def test_every_epsilon_below_the_widest_has_hope_and_the_widest_has_none(
    numbers: list[float], epsilon: float, m: int
) -> None:
    prior = prior_of(sorted({one + 0.0 for one in numbers}))
    Counting.looked = 0
    if not hopes(Proximity(epsilon, m), prior):
        found = _widest(Counting(epsilon, m), prior)
        assert found <= epsilon and not hopes(Proximity(found, m), prior)
        assert found == 0.0 or hopes(Proximity(math.nextafter(found, 0.0), m), prior)


def test_denormal_numbers_are_refused_with_an_epsilon_that_will_do() -> None:
    table = dc.read(pa.table({"age": [1, 2, 3, 4], "s": [0.0, LEAST, 1.0, 2.0]}), quasi=["age"], sensitive="s")
    with pytest.raises(dc.DiscreetError) as refused:
        dc.publish(table, "proximity(epsilon=1, m=2)", scheme="retention")
    told = re.search(r"epsilon below (\S+) with m=2", str(refused.value))
    assert told is not None and 0.0 < float(told[1]) <= LEAST


def test_ends_are_guessed_closely_where_sums_of_large_numbers_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a guess the end of a neighbourhood is reached step by step, which takes too long from far away."""
    some = np.linspace(0.9, 1.0, 500) * LARGEST
    numbers = np.concatenate([-some[::-1], some])
    asked = 0
    apart = Widths.apart

    def counting(*words):  # type: ignore[no-untyped-def]
        nonlocal asked
        asked += 1
        return apart(*words)

    monkeypatch.setattr(Widths, "apart", counting)
    first, last = Proximity(LARGEST, 2).windows(prior_of(numbers.tolist()))
    assert asked < 20
    assert first.tolist() == [0] * 500 + [500] * 500 and last.tolist() == [499] * 500 + [999] * 500
