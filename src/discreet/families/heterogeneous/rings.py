"""Rings of rows in which neighbours have different sensitive values, and who may be matched with whom in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.families.heterogeneous.graph import drawn_matches


def ring_of(sensitive_codes: NDArray[np.int32], place: NDArray[np.float64], apart: int) -> NDArray[np.int64]:
    """Rows in a ring in which any ``apart`` that follow each other have different values, near along a curve.

    No value may have more than one in ``apart`` of the rows. ``place`` says where rows are on the curve.

    The ring is made of q = rows // apart blocks of ``apart`` rows or more. Values, the most frequent first, are dealt
    to the blocks in turn, line after line, and as none has more than q rows, no block has a value twice. In two blocks
    that follow each other a value stands in the same line, a whole block apart; or a line further in the later block,
    which is more. A value that begins in the middle of a line and ends in the next, before the block that it began in,
    stands a line less far in the later of these blocks. Such a value has fewer than q rows, as those of q rows come
    first and fill whole lines, so a block without it lies between the two.

    >>> letters = np.array([0, 0, 0, 1, 1, 2, 2, 3], np.int32)
    >>> letters[ring_of(letters, np.arange(8.0), 2)].tolist()
    [0, 1, 0, 2, 0, 2, 1, 3]
    """
    rows = len(sensitive_codes)
    if apart == 1:
        return np.argsort(place, kind="stable")
    counts = np.bincount(sensitive_codes)
    assert counts.max() * apart <= rows, "no value is too frequent"
    blocks = rows // apart
    frequent = np.argsort(-counts, kind="stable")
    dealt = np.repeat(frequent, counts[frequent])
    line, block = np.divmod(np.arange(rows), blocks)
    values = dealt[np.lexsort((line, block))]
    ring = np.empty(rows, np.int64)
    ring[np.argsort(values, kind="stable")] = np.lexsort((place, sensitive_codes))
    return ring


def matches_in_ring(ring: NDArray[np.int64], size: int, seeded: np.random.Generator | None) -> NDArray[np.int64]:
    """For each place of a ring the rows that may be its row's, the one that is first: ``size`` of the ring.

    The box of a row is around it and those after it, ``size`` in all. All rows are given to the persons as many places
    before them; by how many is drawn, each shift being equally likely.
    """
    around = (np.arange(len(ring))[:, None] + np.arange(size)) % len(ring)
    return ring[drawn_matches(around.astype(np.int32), seeded)]
