"""Fits: numbers that are rounded, replaced by a limit beyond it, or put into bins, where their column is read.

Everything behind the reading knows the fitted numbers only, as if the original had held them. Rounding comes first,
then the limits; so a number that is rounded beyond a limit is the limit. Bins are of limited numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.bins import Edges, bin_labels, bins_given, bins_of
from discreet.table.decimals import Ruler
from discreet.table.floors import Cells
from discreet.table.texts import LARGEST_WHOLE, is_number, number_text, value_text

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """What is done to the numbers of a column; its fields are called as the options are.

    >>> fit = Fit(round=5, top=90)
    >>> fit.numbers("age", np.array([17.0, 42.5, 93.0])).tolist(), str(fit)
    ([15.0, 45.0, 90.0], 'rounded to multiples of 5, with 90 for all numbers above it')
    """

    round: float | None = None
    """The number whose multiples are kept, at most six decimals long."""
    bottom: float | None = None
    top: float | None = None
    bins: Edges | int | None = None
    """The edges of bins; or how many bins of equally many rows there are to be, until the column is read."""

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> Self | None:
        """Return the fit of a column from what options say of it; None if they say nothing.

        >>> Fit.of("age", {"top": "90", "round": 0.5})
        Fit(round=0.5, bottom=None, top=90.0, bins=None)
        """
        numbers = {key: _number(name, key, entry) for key, entry in given.items() if key != "bins"}
        fit = cls(**numbers, bins=bins_given(name, given["bins"]) if "bins" in given else None)
        if fit.bins is not None and fit.round is not None:
            raise DiscreetError(f"column {name!r} has both bins and a number to round to; leave one of them out")
        if fit.round is not None and Cells.of(_digits(fit.round), "number") is None:
            raise DiscreetError(
                f"column {name!r} cannot be rounded to multiples of {brief(given['round'])}; give a number above 0 "
                f"with at most six decimals, as in {argument('round', {name: 5})}"
            )
        if fit.bottom is not None and fit.top is not None and fit.top <= fit.bottom:
            low, high = number_text(fit.bottom), number_text(fit.top)
            raise DiscreetError(
                f"the top {high} of column {name!r} is not above its bottom {low}; say for example "
                f"{argument('bottom', {name: low})} and {argument('top', {name: number_text(fit.bottom + 1)})}"
            )
        return fit if given else None

    def as_dict(self) -> dict[str, Any]:
        """The options that say the same, as a manifest states them."""
        said = {key: _plain(number) for key in FITTING[:-1] if (number := getattr(self, key)) is not None}
        return said | ({"bins": list(map(_plain, self.edges))} if self.edges else {})

    @property
    def edges(self) -> Edges:
        """The edges of its bins; none if it has no bins."""
        return self.bins if isinstance(self.bins, tuple) else ()

    def numbers(self, name: str, numbers: Numbers) -> Numbers:
        """Return the numbers of a column as they are published; NaN stays."""
        if self.round is not None:
            cells = Cells("number", _digits(self.round))
            halves = Ruler(2 * cells.ruler.scale)  # on which all numbers lie where rounding changes its mind
            if float(np.nanmax(np.abs(numbers), initial=0.0)) * halves.scale > LARGEST_WHOLE:
                raise DiscreetError(
                    f"column {name!r} holds numbers too large to be rounded to multiples of {cells.floor}; leave that "
                    f"out, or correct them"
                )
            multiples = np.floor((halves.down(numbers) + cells.width) / (2 * cells.width))
            numbers = cells.ruler.numbers(multiples * cells.width)
        low = -math.inf if self.bottom is None else self.bottom
        return np.clip(numbers, low, math.inf if self.top is None else self.top) + 0.0  # without the sign of -0

    def limit(self, number: float) -> float | None:
        """Return the limit beyond which a number lies; None of any other number."""
        if self.top is not None and self.top < number < math.inf:
            return self.top
        return self.bottom if self.bottom is not None and -math.inf < number < self.bottom else None

    def __str__(self) -> str:
        """Say what is done, in words."""
        words = [] if self.round is None else [f"rounded to multiples of {number_text(self.round)}"]
        for side, limit in (("below", self.bottom), ("above", self.top)):
            words += [] if limit is None else [f"with {number_text(limit)} for all numbers {side} it"]
        words += (
            []
            if self.bins is None
            else [f"in the bins {', '.join(bin_labels(self.edges))}" if self.edges else "in bins"]
        )
        return ", ".join(words)


def binned(fit: Fit, text: str) -> str:
    """Return the bin of a number as a column in bins has it; any other text, and a number outside, stay.

    >>> binned(Fit(top=20.0, bins=(0.0, 10.0, 20.0)), "35"), binned(Fit(bins=(0.0, 10.0, 20.0)), "35")
    ('10 to 20', '35')
    """
    at = bins_of(fit.edges, fit.numbers("", np.array([float(text)])))[0] if is_number(text) else -1
    return bin_labels(fit.edges)[at] if at >= 0 else text


FITTING = tuple(each.name for each in fields(Fit))
"""The options that say how a column is fitted."""


def _plain(number: float) -> float:
    return int(number) if number.is_integer() else number


def _number(name: str, key: str, given: Any) -> float:
    """Return a number that an option gives for a column; refuse anything else."""
    plain = isinstance(given, (int, float, Decimal, np.number)) and not isinstance(given, bool)
    text = value_text(given).strip() if plain or isinstance(given, str) else ""
    if not is_number(text) or not math.isfinite(number := float(text)):
        raise DiscreetError(
            f"{brief(given)} for column {name!r} is not a number; say for example {argument(key, {name: 5})}"
        )
    return number + 0.0


def _digits(number: float) -> str:
    """Write a number without an exponent.

    >>> _digits(5000.0), _digits(1e-06)
    ('5000', '0.000001')
    """
    return f"{Decimal(number_text(number)):f}"
