"""Where chance comes from."""

from __future__ import annotations

import os

import numpy as np
import pytest

from discreet import randomness
from discreet.errors import DiscreetError
from discreet.randomness import generator, numbers_below, permutation

ENTROPY = randomness._entropy  # before a test replaces it


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 70_000])
def test_a_permutation_holds_everything_once(n: int) -> None:
    assert np.sort(permutation(n)).tolist() == list(range(n))
    assert np.sort(permutation(n, generator(n))).tolist() == list(range(n))


def test_a_permutation_asks_the_operating_system_for_every_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(size: int) -> bytes:
        asked.append(size)
        return np.random.default_rng(size).bytes(size)

    monkeypatch.setattr(randomness, "_entropy", urandom)
    assert ENTROPY is os.urandom
    first = permutation(1000).tolist()
    assert sum(asked) >= 8 * 1000
    assert permutation(1000).tolist() == first


def test_entropy_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "_entropy", bytes)
    with pytest.raises(DiscreetError, match="not random"):
        permutation(1000)


def test_seeded_streams_repeat_and_are_our_own() -> None:
    assert generator(3).integers(1 << 40) == generator(3).integers(1 << 40)
    assert generator(3).integers(1 << 40) != np.random.default_rng(3).integers(1 << 40)
    assert permutation(10, generator(3)).tolist() == permutation(10, generator(3)).tolist()
    assert generator(-1).integers(1 << 40) != generator(1).integers(1 << 40)


def test_numbers_below_a_limit_are_equally_likely() -> None:
    """Chi-square over ten numbers in 10,000 draws; error level 1e-6 (44.8 with 9 degrees of freedom).

    At a limit that throws a quarter of all words away, as many numbers as were asked for come all the same.
    """
    counts = np.bincount(numbers_below(10, 10_000), minlength=10)
    assert len(counts) == 10
    assert ((counts - 1000) ** 2 / 1000).sum() < 44.8
    wasteful = numbers_below(3 * 2**61, 1000)
    assert len(wasteful) == 1000
    assert wasteful.min() >= 0 and wasteful.max() < 3 * 2**61


def test_every_order_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square over the 24 orders of four things in 4,800 draws; error level 1e-6 (70.5 with 23 degrees of freedom).

    The entropy is replaced by a fixed stream, so that the outcome is the same every time.
    """
    monkeypatch.setattr(randomness, "_entropy", np.random.default_rng(1).bytes)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(4800):
        order = tuple(permutation(4).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 70.5
