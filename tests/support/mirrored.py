"""Runs of mirrored beside what is likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

import discreet as dc

Toy = tuple[list[tuple[float, ...]], Sequence[str], dict[str, float]]
"""The places of persons, their values, and the largest share that each may have."""


def as_frequent_as_likely(
    points: Sequence[tuple[float, ...]],
    values: Sequence[str],
    promise: dc.Principle,
    likely: Mapping[frozenset[frozenset[int]], Fraction],
) -> None:
    """Assert that runs of mirrored give every partition as often as it is likely."""
    columns = {"x": [x for x, _ in points], "y": [y for _, y in points], "s": list(values)}
    table = dc.read(pa.table(columns), quasi=["x", "y"], sensitive="s")
    runs = 600
    seen: Counter[frozenset[frozenset[int]]] = Counter()
    for at in range(runs):
        trace = dc.Mirrored(random_state=at).publish(table, promise).trace
        assert trace is not None
        seen[frozenset(frozenset(np.flatnonzero(trace == group).tolist()) for group in set(trace.tolist()))] += 1
    assert set(seen) <= set(likely)
    squared = sum((seen[one] - runs * float(share)) ** 2 / (runs * float(share)) for one, share in likely.items())
    assert squared < len(likely) + 5 * (2 * len(likely)) ** 0.5 + 10  # chance: less than once in 10,000 times
