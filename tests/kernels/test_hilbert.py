"""The Hilbert curve: it visits every cell once, from neighbour to neighbour, for any dimensions and bits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.kernels.hilbert import hilbert_keys


def as_numbers(keys: np.ndarray) -> list[int]:
    """Keys of several words as whole numbers of any size."""
    return [sum(int(word) << (64 * (len(line) - 1 - at)) for at, word in enumerate(line)) for line in keys]


@pytest.mark.parametrize(("d", "bits"), [(1, 4), (2, 1), (2, 4), (3, 1), (3, 3), (4, 2), (5, 2), (7, 1)])
def test_the_curve_goes_from_neighbour_to_neighbour(d: int, bits: int) -> None:
    cells = np.array(list(product(range(2**bits), repeat=d)), np.int64)
    places = as_numbers(hilbert_keys(cells, bits))
    assert sorted(places) == list(range(2 ** (d * bits)))
    along = cells[np.argsort(places)]
    assert (np.abs(np.diff(along, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize(("d", "bits"), [(5, 16), (8, 10), (13, 5), (3, 30)])
def test_keys_of_many_words_agree_with_coarser_curves(d: int, bits: int) -> None:
    """The cells of a fine grid inside one cell of a grid of half the bits are neighbours along the curve.

    The curve enters its cubes in an order that depends on whether the number of levels is even, so grids whose bits
    differ by a multiple of d are compared.
    """
    rng = np.random.default_rng(0)
    coarse_bits = bits - d if bits > d else bits
    cells = rng.integers(0, 2**bits, (200, d))
    fine = as_numbers(hilbert_keys(cells, bits))
    assert max(fine).bit_length() <= d * bits
    coarse = as_numbers(hilbert_keys(cells >> (bits - coarse_bits), coarse_bits))
    assert [place >> (d * (bits - coarse_bits)) for place in fine] == coarse


def test_neighbours_along_a_curve_of_two_words() -> None:
    """80 bits: around random cells, exactly the two cells before and after on the curve are one step away in key."""
    rng = np.random.default_rng(1)
    d, bits = 5, 16
    for cell in rng.integers(1, 2**bits - 1, (20, d)):
        steps = np.concatenate([np.eye(d, dtype=np.int64), -np.eye(d, dtype=np.int64)])
        keys = as_numbers(hilbert_keys(np.concatenate([[cell], cell + steps]), bits))
        assert {keys[0] - 1, keys[0] + 1} <= set(keys[1:])
