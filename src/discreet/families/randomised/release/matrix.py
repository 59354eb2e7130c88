"""The matrix of a perturbation, and what a published value implies about the original one, decided exactly.

By Bayes, an adversary who sees a published value v believes that the original one was i with probability
p_i Pr(i -> v) / sum_u p_u Pr(u -> v). Schemes use this module before they write, and audits after they have read, to
decide whether these beliefs keep their bounds: in whole numbers and on the matrix as printed, so that rounding cannot
affect the decision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

DIGITS = 15
"""The decimals of a printed probability: as many as survive conversion to a float."""
TOLERANCE = Fraction(1, 10**12)
"""How far a belief may exceed its bound, relative to it: an allowance for the rounding of the bounds themselves."""

_PROBABILITY = re.compile(r"(0|1|[01]?\.[0-9]+|[0-9]\.?[0-9]*e-[0-9]{1,3})", re.IGNORECASE)


class Worst(NamedTuple):
    """The belief that comes closest to a bound, or exceeds it most."""

    strain: float
    """Belief over bound (bound over belief, for a lower bound): kept up to 1."""
    published: int
    original: int
    """The original value, or the node that it is under."""
    broken: int
    """The number of pairs of a published and an original value, or a node, that break a bound."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """The probabilities Pr(original -> published), one line per published and one column per original value.

    >>> half = Matrix.from_texts([["0.75", "0.25"], ["0.25", "0.75"]])
    >>> half.stochastic, half.posteriors(np.array([1, 3])).round(2).tolist()
    (True, [[0.5, 0.5], [0.1, 0.9]])
    """

    units: NDArray[np.object_]
    """Whole numbers; the probability of a cell is its number divided by ``scale``."""
    scale: int = 10**DIGITS

    @classmethod
    def from_texts(cls, texts: Sequence[Sequence[str]]) -> Matrix:
        """Read the matrix as printed, line by line."""
        width = len(texts)
        # there are many cells, but most columns have only two different texts
        read = {text: _fraction(text) for line in texts for text in dict.fromkeys(line)}
        if any(len(line) != width for line in texts):
            raise DiscreetError("the matrix of the release does not have as many lines as columns; publish it again")
        scale = 10 ** max((digits for _, digits in read.values()), default=0)
        unit = {text: number * (scale // 10**digits) for text, (number, digits) in read.items()}
        units = np.empty((width, width), object)
        for row, line in enumerate(texts):
            units[row] = [unit[text] for text in line]
        return cls(units, scale)

    @property
    def width(self) -> int:
        """The number of values."""
        return len(self.units)

    @cached_property
    def cells(self) -> NDArray[np.float64]:
        """The probabilities as floats."""
        return np.asarray(self.units / self.scale, dtype=np.float64).reshape(self.units.shape)

    def texts(self) -> list[list[str]]:
        """The probabilities as printed, exactly."""
        lines = self.units.tolist()
        text = {unit: _text(unit, self.scale) for unit in set().union(*lines)}
        return [[text[unit] for unit in line] for line in lines]

    @property
    def stochastic(self) -> bool:
        """Whether the probabilities of every original value add up to exactly 1, and none is negative."""
        return bool((self.units.sum(axis=0) == self.scale).all()) and bool((self.units >= 0).all())

    @property
    def retention(self) -> NDArray[np.float64]:
        """The probability of each value to be published unchanged."""
        return np.diagonal(self.cells).astype(np.float64)

    def posteriors(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """The belief in every original value (column), given the published value (line) and these prior counts.

        A line is NaN if its published value cannot occur.
        """
        joint = self.cells * (np.asarray(counts, np.float64) / max(1, int(np.sum(counts))))
        totals = joint.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(joint, totals, out=np.full_like(joint, np.nan), where=totals > 0))

    def worst(
        self,
        counts: NDArray[np.int64],
        caps: NDArray[np.float64] | None,
        floors: NDArray[np.float64] | None = None,
        tolerance: Fraction = TOLERANCE,
        nodes: NDArray[np.int32] | None = None,
    ) -> Worst:
        """The worst belief against upper and lower bounds; whether a bound is broken is decided exactly.

        The bounds are those of the original values, or of the ``nodes`` that these are under.
        """
        amounts = np.array([int(count) for count in counts], object)
        number = max(len(bounds) for bounds in (caps, floors) if bounds is not None)
        joint = in_nodes(self.units * amounts, nodes, number)
        seen = joint.sum(axis=1)
        broken = np.zeros(joint.shape, np.bool_)
        strains = np.zeros(joint.shape)
        beliefs = in_nodes(self.posteriors(counts), nodes, number)
        with np.errstate(divide="ignore", invalid="ignore"):
            if caps is not None:
                top, bottom = _ratios(caps, 1 + tolerance)
                broken |= (joint * bottom > np.multiply.outer(seen, top)).astype(np.bool_)
                strains = np.fmax(strains, np.where(beliefs > 0, beliefs / caps, 0.0))
            if floors is not None:
                top, bottom = _ratios(floors, 1 - tolerance)
                broken |= (joint * bottom < np.multiply.outer(seen, top)).astype(np.bool_)
                strains = np.fmax(strains, np.where(floors > 0, floors / beliefs, 0.0))
        strains = np.where(broken, np.maximum(strains, np.nextafter(1.0, 2.0)), np.minimum(strains, 1.0))
        published, original = divmod(int(np.argmax(strains)), joint.shape[1])
        return Worst(float(strains[published, original]), published, original, int(broken.sum()))


def in_nodes(columns: NDArray[Any], nodes: NDArray[np.int32] | None, number: int) -> NDArray[Any]:
    """The sums of the columns of each of so many nodes; the columns themselves without nodes.

    >>> in_nodes(np.array([[0.5, 0.2, 0.3]]), np.array([1, 0, 1], np.int32), 2).tolist()
    [[0.2, 0.8]]
    """
    if nodes is None:
        return columns
    sums = np.zeros((len(columns), number), columns.dtype)
    for column, node in enumerate(nodes.tolist()):
        sums[:, node] += columns[:, column]
    return sums


def _ratios(bounds: NDArray[np.float64], factor: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    """Every bound times a factor, as numerators and denominators."""
    exact = [Fraction(float(bound)) * factor for bound in bounds]
    return (
        np.array([bound.numerator for bound in exact], object),
        np.array([bound.denominator for bound in exact], object),
    )


def _fraction(text: str) -> tuple[int, int]:
    """A printed probability as a whole number, and the number of decimal places to shift it by."""
    if _PROBABILITY.fullmatch(text) is None:
        raise DiscreetError(
            f"the matrix of the release holds {text!r}, which is no probability; the file was damaged or edited, so "
            "publish it again"
        )
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    return int(whole + decimals), len(decimals) - int(exponent or 0)


def _text(unit: int, scale: int) -> str:
    digits = len(str(scale)) - 1
    text = f"{unit // scale}.{unit % scale:0{digits}d}" if digits else str(unit)
    return text.rstrip("0").rstrip(".") if "." in text else text
