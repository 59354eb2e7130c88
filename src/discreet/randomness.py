"""Random numbers: from the operating system's entropy, unless the caller asks for a repeatable experiment."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

_entropy = os.urandom  # the only source of entropy in discreet, so that tests can replace it


def generator(seed: int | None = None) -> np.random.Generator:
    """Return a generator for choices that are not published, such as the next step of a search.

    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    # The constant keeps this stream apart from default_rng(seed): a table generated from the same small seed would
    # otherwise be correlated with the numbers that are drawn here to hide its values.
    return np.random.default_rng(int.from_bytes(_entropy(32), "little") if seed is None else [0xD15C4EE7, seed % 2**64])


def permutation(n: int, seeded: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Return a random permutation of ``n`` items that will be published.

    Without a seeded generator every bit comes from the operating system: a published order then reveals nothing about
    the state of any generator, and so nothing about any other order.

    >>> sorted(permutation(4).tolist())
    [0, 1, 2, 3]
    """
    from discreet.kernels.shuffling import shuffle  # imported late: `--help` needs no kernels

    order = np.empty(n, np.int64)
    bits = min(16, max(0, n.bit_length() - 14))  # about 16,000 items per bucket
    for _ in range(8):  # the first attempt practically always succeeds
        if shuffle(words(n, seeded), words(64, seeded), bits, order):
            return order
    raise DiscreetError("the operating system's random numbers are not random, so nothing can be published safely here")


def numbers_below(limit: int, number: int, seeded: np.random.Generator | None = None) -> NDArray[np.int64]:
    """Draw ``number`` integers uniformly from 0 to ``limit`` - 1: from the operating system, or a given generator.

    >>> numbers_below(1, 3).tolist()
    [0, 0, 0]
    """
    if seeded is not None:
        return seeded.integers(0, limit, number)
    largest = np.uint64(2**64 // limit * limit - 1)
    accepted: list[NDArray[np.uint64]] = []
    missing = number
    while missing > 0:
        drawn = words(missing)
        accepted.append(drawn[drawn <= largest] % np.uint64(limit))
        missing -= len(accepted[-1])
    return np.concatenate(accepted).astype(np.int64) if accepted else np.zeros(0, np.int64)


def words(n: int, seeded: np.random.Generator | None = None) -> NDArray[np.uint64]:
    """Return ``n`` words of 64 random bits: from the operating system, or a given generator.

    >>> len(words(3)), words(3).dtype
    (3, dtype('uint64'))
    """
    if seeded is not None:
        return seeded.integers(0, 2**64, n, np.uint64)
    return np.frombuffer(_entropy(8 * n), dtype=np.uint64)
