"""Variance and (k, e)-anonymity at the last digit of their numbers, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.principles import KEAnonymity, Prior, Variance

DECIMALS = st.lists(st.integers(-(10**7), 10**7), min_size=2, max_size=8, unique=True)
DOUBLES = st.lists(
    st.floats(0.5, 2.0, exclude_max=True).filter(lambda x: len(repr(x)) > 17), min_size=2, max_size=8, unique=True
)


def group(numbers: list[float]) -> tuple[np.ndarray, Prior]:
    """One group of these different numbers, and a table that is this group."""
    ordered = sorted(numbers)
    return np.ones((1, len(ordered)), np.int64), Prior(np.ones(len(ordered), int), tuple(map(repr, ordered)), "numeric")


def variance(numbers: list[Fraction]) -> Fraction:
    """By the definition."""
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / len(numbers)


def beside(has: Fraction) -> list[float]:
    """The doubles around what there is, which alone are hard to tell."""
    near = float(has)
    return [math.nextafter(near, 0), near, math.nextafter(near, math.inf), near * (1 + 2**-50), near * (1 - 2**-50)]


@pytest.mark.slow
@given(DECIMALS, st.integers(0, 6))
def test_decimals_are_judged_by_what_their_texts_say(units: list[int], places: int) -> None:
    """0.3 is 0.2 away from 0.1, and not a digit less or more."""
    told = [Fraction(unit, 10**places) for unit in units]
    counts, prior = group([float(one) for one in told])
    for v in beside(variance(told)):
        assert Variance(v).holds(counts, prior)[0] == (variance(told) >= Fraction(repr(v)))
    for e in beside(max(told) - min(told)):
        assert KEAnonymity(2, e).holds(counts, prior)[0] == (max(told) - min(told) >= Fraction(repr(e)))


@given(DOUBLES)
def test_numbers_of_many_digits_are_judged_by_what_they_are_in_binary(numbers: list[float]) -> None:
    """A range or variance that falls short by the last bit falls short."""
    told = [Fraction(number) for number in numbers]
    counts, prior = group(numbers)
    for v in beside(variance(told)):
        assert Variance(v).holds(counts, prior)[0] == (variance(told) >= Fraction(v))
    for e in beside(max(told) - min(told)):
        assert KEAnonymity(2, e).holds(counts, prior)[0] == (max(told) - min(told) >= Fraction(e))


@pytest.mark.parametrize(
    ("numbers", "v"), [([0.0, 1.0, 3.0], 1.5555555555555556), ([0.1, 0.2, 0.4], 0.015555555555555557)]
)
def test_a_variance_that_is_a_little_less(numbers: list[float], v: float) -> None:
    """14/9 is less than 1.5555555555555556, however close the two are as doubles."""
    counts, prior = group(numbers)
    assert not Variance(v).holds(counts, prior)[0]
    assert Variance(math.nextafter(v, 0)).holds(counts, prior)[0]


def test_a_range_that_is_a_little_less() -> None:
    """The last bit of a range is not given away."""
    low, high = 0.1234567890123456, 0.9876543210987654
    counts, prior = group([low, high])
    above = math.nextafter(high - low, math.inf)
    assert Fraction(high) - Fraction(low) < Fraction(above) and not KEAnonymity(2, above).holds(counts, prior)[0]


def test_an_exact_variance_of_many_rows() -> None:
    """Cents of a hundred thousand rows: sums of squares far beyond what a double holds are still exact."""
    cents = np.array([0, 10_000_000], np.int64)
    prior = Prior(np.array([50_000, 50_000]), tuple(f"{one / 100:.2f}" for one in cents.tolist()), "numeric")
    has = 50_000.0**2  # of the numbers 0 and 100000, as many of each
    assert Variance(has).holds(prior.counts[None], prior)[0]
    assert not Variance(math.nextafter(has, math.inf)).holds(prior.counts[None], prior)[0]
