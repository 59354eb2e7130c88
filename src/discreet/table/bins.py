"""Bins: numbers replaced by the interval that they lie in, whose edges the publisher gives or quantiles suggest.

A column in bins is ordinal. Its values are all bins, also those without a row, written as the labels of intervals are:
``10 to below 20``, and the last one, which has both of its edges, ``20 to 40``.

Edges that are quantiles would be somebody's numbers. They are rounded to multiples of 1, 2 or 5 times a power of ten,
the first down and the last up; half of the bins or more are five multiples wide. Which multiples are edges
follows from all rows, as counts do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.texts import is_number, number_text, value_text

Numbers = NDArray[np.float64]
Edges = tuple[float, ...]

MOST = 1_000
"""How many bins a column may have."""
_quantiles = re.compile(r"\s*quantiles\s*:\s*([1-9]\d{0,3})\s*")


def bins_given(name: str, given: Any) -> Edges | int:
    """Return the edges that an option gives for a column, or how many bins of about equally many rows it asks for.

    >>> bins_given("pay", "0, 10, 20.5"), bins_given("pay", [0, 10, 20]), bins_given("pay", "quantiles:8")
    ((0.0, 10.0, 20.5), (0.0, 10.0, 20.0), 8)
    """
    if isinstance(given, str) and (found := _quantiles.fullmatch(given)) and 2 <= int(found[1]) <= MOST:
        return int(found[1])
    listed = given.split(",") if isinstance(given, str) else given
    several = isinstance(listed, Sequence | np.ndarray) and not any(isinstance(each, bool) for each in listed)
    texts = [value_text(each).strip() for each in listed] if several else []
    edges = tuple(float(text) + 0.0 for text in texts if is_number(text))
    if not 3 <= len(edges) == len(texts) <= MOST + 1 or not all(map(math.isfinite, edges)):
        raise DiscreetError(
            f"the bins {brief(given)} of column {name!r} are not three edges or more, nor quantiles:N; say for example "
            f"{argument('bins', {name: [0, 10, 20, 40]})} or {argument('bins', {name: 'quantiles:4'})}"
        )
    for low, high in pairwise(edges):
        if low >= high:
            raise DiscreetError(
                f"the edges of the bins of column {name!r} do not ascend: {number_text(high)} follows "
                f"{number_text(low)}; list them from the smallest to the largest, each once"
            )
    return edges


def bin_labels(edges: Edges) -> tuple[str, ...]:
    """Return the names of the bins between edges.

    >>> bin_labels((0.0, 10.0, 20.5))
    ('0 to below 10', '10 to 20.5')
    """
    ends = [number_text(edge) for edge in edges]
    return (*(f"{low} to below {high}" for low, high in pairwise(ends[:-1])), f"{ends[-2]} to {ends[-1]}")


def bins_of(edges: Edges, numbers: Any) -> NDArray[np.int64]:
    """Return the bins that numbers lie in, from 0; -1 outside all of them, and where a number is missing.

    >>> bins_of((0.0, 10.0, 20.0), [0, 10, 20, 21, float("nan")]).tolist()
    [0, 1, 1, -1, -1]
    """
    known = np.asarray(numbers, np.float64)
    places = np.searchsorted(edges, known, side="right") - 1
    places[known == edges[-1]] = len(edges) - 2
    return np.where((known >= edges[0]) & (known <= edges[-1]), places, -1).astype(np.int64)


def ends(edges: Edges) -> tuple[Numbers, Numbers]:
    """Return the smallest and the largest number of each bin."""
    bounds = np.array(edges)
    return bounds[:-1], np.append(np.nextafter(bounds[1:-1], -np.inf), bounds[-1])


def quantiles(name: str, numbers: Numbers, counts: NDArray[Any], parts: int) -> Edges:
    """Return the edges of bins with about equally many rows each; ``numbers`` ascend, ``counts`` rows have each.

    >>> quantiles("age", np.arange(17.0, 91.0), np.ones(74), 4)
    (16.0, 36.0, 52.0, 72.0, 90.0)
    """
    reached = np.cumsum(counts)
    wanted = reached[-1] * np.arange(1, parts) / parts
    inner = numbers[np.searchsorted(reached, wanted, side="left")]
    found = np.unique([numbers[0], *inner, numbers[-1]])
    if len(found) >= 3:
        step, power = _unit(float(np.median(np.diff(found))) / 5)

        def multiple(whole: float) -> float:
            return float(f"{int(whole) * step}e{power}") + 0.0

        unit = multiple(1)
        edges = {multiple(math.floor(found[0] / unit)), multiple(math.ceil(found[-1] / unit))}
        edges |= {multiple(round(number / unit)) for number in found[1:-1].tolist()}
        if len(edges) >= 3:
            return tuple(sorted(edges))
    raise DiscreetError(
        f"column {name!r} has too few numbers, or too many of one, for {parts} bins of equally many rows; give their "
        f"edges, as in {argument('bins', {name: [0, 10, 20, 40]})}"
    )


def _unit(most: float) -> tuple[int, int]:
    """Return the largest of 1, 2 or 5 times a power of ten up to a number, as factor and power.

    >>> _unit(350), _unit(0.05), _unit(1)
    ((2, 2), (5, -2), (1, 0))
    """
    power = math.floor(math.log10(most))
    for exponent in (power + 1, power, power - 1):
        for step in (5, 2, 1):
            if float(f"{step}e{exponent}") <= most:
                return step, exponent
    raise AssertionError("one of them is smaller")
