"""Shuffling, with words that are known."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.kernels.shuffling import LARGEST, shuffle

NONE = np.zeros(0, np.uint64)


def shuffled(words: np.ndarray, spare: np.ndarray, bits: int) -> list[int]:
    order = np.full(len(words), -1, np.int64)
    assert shuffle(words, spare, bits, order)
    return order.tolist()


def naive(words: list[int], spare: list[int], bits: int) -> list[int]:
    """The same in arbitrary whole numbers: buckets by the highest bits, then Fisher and Yates by the lowest 48."""
    spare = list(spare)
    order: list[int] = []
    for bucket in range(1 << bits):
        start = len(order)
        order += [thing for thing, word in enumerate(words) if word >> (64 - bits) == bucket]
        for last in range(len(order) - 1, start, -1):
            choices = last - start + 1
            word = words[last] % 2**48
            while word * choices % 2**48 < 2**48 % choices:
                word = spare.pop(0) % 2**48
            other = start + (word * choices >> 48)
            order[last], order[other] = order[other], order[last]
    return order


@pytest.mark.slow
@pytest.mark.parametrize("bits", [0, 1, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
def test_against_the_naive_shuffle(n: int, bits: int) -> None:
    words = np.frombuffer(np.random.default_rng([n, bits]).bytes(8 * n), np.uint64)
    words = np.where(np.arange(n) % 5 == 3, words & ~np.uint64(2**48 - 1), words)  # words of the refused surplus too
    spare = np.frombuffer(np.random.default_rng(1).bytes(8 * 100), np.uint64)
    assert shuffled(words, spare, bits) == naive(words.tolist(), spare.tolist(), bits)


def test_too_few_spare_words_are_told() -> None:
    words = np.zeros(3, np.uint64)  # 2 ** 48 is not divisible by 3, so a product of 0 is refused
    assert not shuffle(words, NONE, 0, np.zeros(3, np.int64))
    assert shuffled(words, np.array([2**47], np.uint64), 0) == [2, 0, 1]


def test_a_bucket_too_large_is_told() -> None:
    words = np.zeros(LARGEST + 1, np.uint64)
    assert not shuffle(words, NONE, 1, np.zeros(len(words), np.int64))


@pytest.mark.slow
def test_every_order_is_equally_likely_across_buckets() -> None:
    """Chi-square over the 24 orders of four things in 9,600 draws; error level 1e-6 (70.5, 23 degrees of freedom)."""
    chance = np.random.default_rng(5)
    for bits in (0, 1, 2):
        counts: dict[tuple[int, ...], int] = {}
        for _ in range(9600):
            words = np.frombuffer(chance.bytes(32), np.uint64)
            order = tuple(shuffled(words, np.frombuffer(chance.bytes(64), np.uint64), bits))
            counts[order] = counts.get(order, 0) + 1
        assert len(counts) == 24
        assert sum((count - 400) ** 2 / 400 for count in counts.values()) < 70.5
