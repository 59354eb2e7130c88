"""Pairs of quasi-identifiers worth publishing together: those that depend on each other most."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.table.table import Column

LEAST = 0.01
"""Below this mutual information, in nats, a pair is not worth the combinations that it costs."""


def correlated_pairs(columns: Sequence[Column], rows: NDArray[np.int64]) -> list[tuple[str, str]]:
    """Return the pairs of columns that depend on each other, the largest mutual information first.

    >>> from discreet.datasets import patients
    >>> correlated_pairs(patients().quasi, np.arange(48))[0]
    ('age', 'zip')
    """
    dependent = []
    for column, other in itertools.combinations(columns, 2):
        information = mutual_information(column.codes[rows], other.codes[rows])
        if information >= LEAST:
            dependent.append((-information, (column.name, other.name)))
    return [pair for _, pair in sorted(dependent)]


def mutual_information(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mutual information of two columns of codes, in nats, corrected for the bias of few rows.

    >>> round(mutual_information(np.array([0, 0, 1, 1] * 25), np.array([0, 0, 1, 1] * 25)), 2)
    0.69
    """
    width = int(other.max()) + 1
    cells, joint = np.unique(one.astype(np.int64) * width + other, return_counts=True)
    first, second = np.bincount(one), np.bincount(other)
    n = len(one)
    shares = joint / n
    expected = first[cells // width] * (second[cells % width] / n) / n
    # the mean for independent columns (Miller and Madow)
    bias = (len(cells) - int((first > 0).sum()) - int((second > 0).sum()) + 1) / (2 * n)
    return float((shares * np.log(shares / expected)).sum() - max(0.0, bias))
