"""Positions along a Hilbert curve through a grid of any number of dimensions and bits."""

import numpy as np

from discreet.kernels.compiling import kernel


@kernel
def hilbert_keys(cells, bits):
    """Return the position of every cell (a line of coordinates below ``2 ** bits``) along the curve, as 64-bit words.

    The first word is the most significant. A key of ``d x bits`` bits occupies the low bits of its words, so that with
    at most 64 bits there is one word, which is the key itself.

    The curve visits a cube by its halves along every axis, in an order where neighbours share a face; within each half
    the same curve is entered mirrored or with its axes exchanged. From the coarsest bit down, undoing mirror and
    exchange brings every half into the same position; what is left is a Gray code, whose rank is the key.
    """
    n, d = cells.shape
    words = (d * bits + 63) // 64
    keys = np.zeros((n, words), np.uint64)
    x = np.empty(d, np.uint64)
    unit = np.uint64(1)
    for r in range(n):
        for j in range(d):
            x[j] = np.uint64(cells[r, j])
        for level in range(bits - 1, 0, -1):
            half = unit << np.uint64(level)
            below = half - unit
            for j in range(d):
                if x[j] & half:
                    x[0] ^= below
                else:
                    swap = (x[0] ^ x[j]) & below
                    x[0] ^= swap
                    x[j] ^= swap
        for j in range(1, d):
            x[j] ^= x[j - 1]
        mirror = np.uint64(0)
        for level in range(bits - 1, 0, -1):
            half = unit << np.uint64(level)
            if x[d - 1] & half:
                mirror ^= half - unit
        for j in range(d):
            x[j] ^= mirror
        # the bits of the key: for every level the coordinates in turn, coarsest first
        place = d * bits
        for level in range(bits - 1, -1, -1):
            for j in range(d):
                place -= 1
                bit = (x[j] >> np.uint64(level)) & unit
                keys[r, words - 1 - place // 64] |= bit << np.uint64(place % 64)
    return keys
