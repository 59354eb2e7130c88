"""Where chance comes from: the operating system's entropy, unless somebody asks for a repeatable experiment."""

from __future__ import annotations

import os
import secrets

import numpy as np
from numpy.typing import NDArray


def generator(seed: int | None = None) -> np.random.Generator:
    """A generator for choices that are not published, such as where a search looks next.

    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    # A seeded stream is our own: were a table generated from the same small seed, what is drawn here would be in step
    # with the values that it is to hide.
    return np.random.default_rng(secrets.randbits(256) if seed is None else [0xD15C4EE7, seed % 2**64])


def permutation(n: int, seeded: np.random.Generator | None = None) -> NDArray[np.int64]:
    """A random order of ``n`` things that will be published.

    Without a seeded generator every key comes from the operating system: a published order then tells nothing about
    the state of any generator, and so nothing about other orders drawn beside it.

    >>> sorted(permutation(4).tolist())
    [0, 1, 2, 3]
    """
    if seeded is not None:
        return seeded.permutation(n).astype(np.int64)
    return np.argsort(np.frombuffer(os.urandom(8 * n), dtype=np.uint64)).astype(np.int64)
