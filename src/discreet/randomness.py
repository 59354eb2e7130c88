"""Where chance comes from: the operating system's entropy, unless somebody asks for a repeatable experiment."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

_entropy = os.urandom  # nobody else asks, so that a test can repeat what chance did


def generator(seed: int | None = None) -> np.random.Generator:
    """A generator for choices that are not published, such as where a search looks next.

    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    # A seeded stream is our own: were a table generated from the same small seed, what is drawn here would be in step
    # with the values that it is to hide.
    return np.random.default_rng(int.from_bytes(_entropy(32), "little") if seed is None else [0xD15C4EE7, seed % 2**64])


def permutation(n: int, seeded: np.random.Generator | None = None) -> NDArray[np.int64]:
    """A random order of ``n`` things that will be published.

    Without a seeded generator every bit comes from the operating system: a published order then tells nothing about
    the state of any generator, and so nothing about other orders drawn beside it.

    >>> sorted(permutation(4).tolist())
    [0, 1, 2, 3]
    """
    from discreet.kernels.shuffling import shuffle  # what only shows a help text need not load kernels

    order = np.empty(n, np.int64)
    bits = min(16, max(0, n.bit_length() - 14))  # about 16,000 things a bucket
    for _ in range(8):  # luck so bad that the first words do not suffice will not be seen
        if shuffle(_words(n, seeded), _words(64, seeded), bits, order):
            return order
    raise DiscreetError("the operating system's random numbers are not random, so nothing can be published safely here")


def numbers_below(limit: int, number: int, seeded: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Whole numbers below a limit, all equally probable: from the operating system, unless a generator is given.

    >>> numbers_below(1, 3).tolist()
    [0, 0, 0]
    """
    if seeded is not None:
        return seeded.integers(0, limit, number)
    largest = np.uint64(2**64 // limit * limit - 1)
    found: list[NDArray[np.uint64]] = []
    missing = number
    while missing > 0:
        words = _words(missing, None)
        found.append(words[words <= largest] % np.uint64(limit))
        missing -= len(found[-1])
    return np.concatenate(found).astype(np.int64) if found else np.zeros(0, np.int64)


def _words(n: int, seeded: np.random.Generator | None) -> NDArray[np.uint64]:
    if seeded is not None:
        return seeded.integers(0, 2**64, n, np.uint64)
    return np.frombuffer(_entropy(8 * n), dtype=np.uint64)
