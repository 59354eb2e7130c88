"""(epsilon, m)-anonymity: few numbers of a group lie near any one of them (Li, Tao and Xiao, SIGMOD 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Annotated, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, MissingParameterError
from discreet.expressions import written
from discreet.kernels.judging import SLACK, WINDOWS, Rules
from discreet.options import WAY_OUT, Interval
from discreet.principles.counts import Counts
from discreet.principles.measuring import Ruler
from discreet.principles.neighbourhoods import (
    Ends,
    Neighbourhood,
    StatedEnds,
    Width,
    Widths,
    covered,
    ends_by,
    ends_given,
    ends_stated,
    widened,
)
from discreet.principles.principle import AttributeName, Principle, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import rule
from discreet.principles.wording import percent, rows
from discreet.table.texts import LARGEST_WHOLE, number_text

LEFT_OUT = -math.inf
"""Marks an epsilon that was not given."""


@dataclass(frozen=True)
class Proximity(Principle):
    """For each row of a group, at most 1 / m of the group's rows have a number near the row's own.

    The neighbourhood of a number x defines near:

    - ``absolute``: from x - epsilon to x + epsilon; ``below`` and ``above`` replace epsilon on one side;
    - ``relative``: from x - epsilon |x| to x + epsilon |x|, with epsilon at most 1;
    - a pair of widths, such as ``(20, 10000)``: the same as ``below=20, above=10000``; epsilon can then be omitted;
    - a function that maps an array of numbers to two arrays, the lower and the upper ends; epsilon is then ignored.

    A function has no text, and an auditor has only the files of a release. So the release states the ends that the
    function returned for every number (``neighbourhood=stated``, ``ends``).

    Neighbourhoods include their ends. In relative terms, a zero is near zeros only; for a negative x the interval is
    from x (1 + epsilon) to x (1 - epsilon). A missing value is near missing values only. Both ends of a neighbourhood
    are nondecreasing in the number; the check and ``reachable`` rely on nothing else. A relative epsilon above 1 would
    violate this, because the neighbourhood of a larger number would reach further down.

    Not monotone: a union may bring near numbers together. So groups must never be merged, and the adversary who only
    matches descriptions must be audited separately.

    With several sensitive attributes the promise applies to each numeric one, unless it names one (``attribute``).

    >>> prior = Prior(np.array([1, 1, 1, 1]), ("40", "50", "60", "80"), "numeric")
    >>> promise = Proximity(15, 2)
    >>> promise.holds([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]], prior).tolist()
    [True, True, False]
    >>> print(promise.explain([1, 1, 1, 1], prior))  # doctest: +NORMALIZE_WHITESPACE
    3 of the 4 rows of this group (75.0 %) hold a number from 40 to 60, near to '50'; at most 50.0 % (2 rows) is
    allowed, because of m=2.
    """

    name: ClassVar[str] = "proximity"
    example: ClassVar[str] = "'proximity(epsilon=2000, m=4)'"
    larger_is_stronger: ClassVar[bool] = True
    monotone = False  # numbers of two groups may be near each other

    epsilon: Width = LEFT_OUT
    """The distance up to which numbers are near, or the share of the number with ``relative``. It can be left out if
    both ``below`` and ``above`` are given, and is then the larger of these; or if the ends are, and is then 0."""
    m: Annotated[int, Interval(1)] = -1
    """At most one in m of a group's rows may have a number near any one of them."""
    neighbourhood: Neighbourhood = "absolute"
    """What is near: numbers within a distance, within a share of the number, or between ends that are given. A pair of
    widths becomes ``below`` and ``above`` on construction."""
    below: Width | None = None
    """How far neighbourhoods reach below a number, if not by epsilon."""
    above: Width | None = None
    """How far neighbourhoods reach above a number, if not by epsilon."""
    ends: StatedEnds | None = None
    """Only with ``stated``: every number with the lower and upper end of its neighbourhood."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def __post_init__(self) -> None:
        """Check each parameter, and that they are compatible."""
        if isinstance(self.m, int) and self.m == -1:
            raise MissingParameterError(self.name, "m", f"write for example {self.example}", ", at least 1")
        given: object = self.m
        if isinstance(given, float) and given.is_integer():
            object.__setattr__(self, "m", int(given))
        for name in ("neighbourhood", "below", "above"):  # which decide whether epsilon may be omitted
            self.check_parameter(name, WAY_OUT)
        if isinstance(self.neighbourhood, tuple):
            if self.below is not None or self.above is not None:
                raise DiscreetError(
                    f"{self.name}: the pair of widths {self.neighbourhood} says the same as below and above; give only "
                    "one"
                )
            object.__setattr__(self, "below", self.neighbourhood[0])
            object.__setattr__(self, "above", self.neighbourhood[1])
            object.__setattr__(self, "neighbourhood", "absolute")
        self._check_ends()
        if isinstance(self.epsilon, float) and self.epsilon == LEFT_OUT:
            if not self.given and (self.below is None or self.above is None):
                raise MissingParameterError(self.name, "epsilon", f"write for example {self.example}")
            object.__setattr__(self, "epsilon", max(self.below or 0.0, self.above or 0.0))
        super().__post_init__()
        if None not in (self.below, self.above) and self.epsilon != max(self.below or 0.0, self.above or 0.0):
            raise DiscreetError(
                f"{self.name}: below={number_text(cast(float, self.below))} and "
                f"above={number_text(cast(float, self.above))} already define what is near, so "
                f"epsilon={number_text(self.epsilon)} would have no effect; leave out epsilon, or the side that "
                "it should define"
            )
        if self.neighbourhood == "relative":
            if self.below is not None or self.above is not None:
                raise DiscreetError(
                    f"{self.name}: below and above belong to neighbourhood=absolute, not to neighbourhood=relative; "
                    f"leave them out"
                )
            if self.epsilon > 1.0:
                raise DiscreetError(
                    f"{self.name}: epsilon must be a number between 0 and 1 when neighbourhood=relative, not "
                    f"{number_text(self.epsilon)}; write for example epsilon=0.2 for 20 percent"
                )

    def _check_ends(self) -> None:
        """Check that ``ends`` come with ``neighbourhood=stated``, and that no widths come with custom ends."""
        if self.neighbourhood == "stated" and self.ends is None:
            raise DiscreetError(
                f"{self.name}: neighbourhood=stated needs the ends of the neighbourhood of every number, such as "
                f"ends=1000:900:1100 2000:1800:2200"
            )
        if self.ends is not None and self.neighbourhood != "stated":
            raise DiscreetError(f"{self.name}: ends belong to neighbourhood=stated; leave them out")
        if self.ends is not None:
            object.__setattr__(self, "ends", ends_given(self.ends))
        if self.given and (self.below is not None or self.above is not None):
            raise DiscreetError(
                f"{self.name}: below and above belong to neighbourhood=absolute, not to ends that are given; leave "
                f"them out"
            )

    @classmethod
    def main_parameter(cls) -> str:
        """m: epsilon says what is near, and m how much is promised about it."""
        return "m"

    @property
    def given(self) -> bool:
        """Whether the ends are custom, from a function or stated, so that epsilon is ignored."""
        return self.neighbourhood == "stated" or callable(self.neighbourhood)

    def stated(self, prior: Prior) -> Proximity:
        """The promise with a function replaced by the ends it returns for the table's numbers, so ``text`` is complete.

        >>> prior = Prior(np.ones(2, int), ("10", "20"), "numeric")
        >>> Proximity(m=2, neighbourhood=lambda x: (x - 1, x + 2)).stated(prior).text
        'proximity(m=2, neighbourhood=stated, ends=10:9:12 20:19:22)'
        """
        if not callable(self.neighbourhood):
            return self
        numbers = self._known(prior)
        if not len(numbers):  # all values are missing, so there are no ends to state
            return replace(self, epsilon=0.0, neighbourhood="absolute")
        low, high = ends_by(self.neighbourhood, numbers)
        table = tuple(zip(numbers.tolist(), low.tolist(), high.tolist(), strict=True))
        return replace(self, epsilon=0.0, neighbourhood="stated", ends=table)

    @property
    def text(self) -> str:
        """The promise as text, including all stated ends."""
        if callable(self.neighbourhood):
            raise DiscreetError(
                f"{self} cannot be written down, so nobody could audit it; publish it with scheme 'proximity', which "
                "states the ends that the function gives, or give a pair of widths"
            )
        if self.ends is None:
            return str(self)
        ends = " ".join(":".join(map(number_text, triple)) for triple in cast(Ends, self.ends))
        return str(self).replace("neighbourhood=stated", f"neighbourhood=stated, ends={ends}", 1)

    def __str__(self) -> str:
        """The promise as text without stated ends, which may be too many to read."""
        if not self.given:
            return super().__str__()
        kind = "stated" if self.ends is not None else "a function"
        which = "" if self.attribute is None else f", attribute={written(self.attribute)}"
        return f"{self.name}(m={self.m}, neighbourhood={kind}{which})"

    @property
    def nearness(self) -> Proximity:
        """The promise itself."""
        return self

    @property
    def stated_by_attribute(self) -> bool:
        """True for a function: it returns different ends for the numbers of each attribute."""
        return callable(self.neighbourhood)

    def misfit(self, prior: Prior) -> str | None:
        """The attribute must be numeric, and no date if neighbourhoods are relative."""
        if prior.numbers is not None and self.neighbourhood == "relative" and prior.notation != "number":
            return (
                f"{self} is about shares of a number and the sensitive attribute '{prior.attribute}' holds dates; ask "
                f"for epsilon in {'days' if prior.notation == 'date' else 'seconds'} instead, with "
                f"neighbourhood=absolute"
            )
        return prior.without_numbers(str(self))

    def require(self, prior: Prior) -> None:
        """Require a numeric sensitive attribute with its values in ascending order (a missing one first)."""
        super().require(prior)
        numbers = prior.require_numbers(str(self))
        known = numbers[1:] if np.isnan(numbers[0]) else numbers
        if np.isnan(known).any() or (known[1:] <= known[:-1]).any():
            raise DiscreetError(
                f"{self} needs the values of the sensitive attribute '{prior.attribute}' in ascending order; leave out "
                f"its hierarchy, or list the leaves in ascending order"
            )

    def reach(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and upper ends of the neighbourhoods of these ascending numbers, widened for rounding.

        >>> [end.round(9).tolist() for end in Proximity(0.2, 2, "relative").reach(np.array([-10.0, 0.0, 10.0]))]
        [[-12.0, 0.0, 8.0], [-8.0, 0.0, 12.0]]
        """
        if callable(self.neighbourhood):
            return widened(numbers, *ends_by(self.neighbourhood, numbers))
        if self.ends is not None:
            return widened(numbers, *ends_stated(cast(Ends, self.ends), numbers))
        return self._widths.ends(numbers)

    def windows(self, prior: Prior) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of the first and the last value in the neighbourhood of each value.

        >>> prior = Prior(np.ones(4, int), ("40", "50", "60", "80"), "numeric")
        >>> [codes.tolist() for codes in Proximity(10, 2).windows(prior)]
        [[0, 0, 1, 3], [1, 2, 2, 3]]
        """
        known = self._known(prior)
        which = ("windows", self.neighbourhood, self.epsilon, self.below, self.above, self.ends)
        if which not in prior.remembered:
            prior.remembered[which] = self._windows(known, len(prior.values) - len(known))
        first, last = prior.remembered[which]
        return first, last

    def _windows(self, known: NDArray[np.float64], missing: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        begin, end = covered(known, *self.reach(known)) if self.given else self._widths.windows(known)
        none = np.zeros(missing, np.int64)  # a missing value is near itself only
        return np.concatenate([none, begin + missing]), np.concatenate([none, end + missing])

    @property
    def _widths(self) -> Widths:
        below = self.epsilon if self.below is None else self.below
        above = self.epsilon if self.above is None else self.above
        return Widths(below, above, relative=self.neighbourhood == "relative")

    def _known(self, prior: Prior) -> NDArray[np.float64]:
        """The numbers of the prior in ascending order, without a missing value."""
        self.require(prior)
        assert prior.numbers is not None
        return prior.numbers[1:] if np.isnan(prior.numbers[0]) else prior.numbers

    def rules(self, prior: Prior) -> Rules:
        """One rule: a window of codes around every value."""
        first, last = self.windows(prior)
        bounds, nodes = first.astype(np.float64), last.astype(np.int32)
        return rule(WINDOWS, self.m, width=len(prior.values), bounds=bounds, nodes=nodes)

    def crowd(self, prior: Prior) -> tuple[int, int, int]:
        """The size of the largest one-sided neighbourhood in the table, and the first and last code of its values.

        A one-sided neighbourhood of a value consists of the rows from that value to one end of its neighbourhood. The
        paper calls the largest size the maximum covering-set size.
        """
        first, last = self.windows(prior)
        up_to = np.concatenate([[0], np.cumsum(prior.counts)])
        codes = np.arange(len(prior.counts))
        left = np.where(prior.counts > 0, up_to[codes + 1] - up_to[first], 0)
        right = np.where(prior.counts > 0, up_to[last + 1] - up_to[codes], 0)
        if left.max() >= right.max():
            value = int(left.argmax())
            return int(left[value]), int(first[value]), value
        value = int(right.argmax())
        return int(right[value]), value, int(last[value])

    def widest(self, prior: Prior) -> float:
        """The supremum of the epsilons with which the table can keep this m: smaller ones work, the supremum does not.

        Infinite if any epsilon works (up to 1 for relative neighbourhoods); 0 if none does, not even 0. The result does
        not depend on this promise's epsilon, ``below`` and ``above``: the larger width must stay below it.

        >>> salaries = ("1000", "1010", "1020", "16000", "24000", "31000", "33000", "50000")
        >>> Proximity(0, 3).widest(Prior(np.ones(8, int), salaries, "numeric"))
        20.0
        """
        self.require(prior)
        if self.given:
            raise DiscreetError(f"{self} has no epsilon, as its neighbourhoods are given; ask for absolute ones")
        known = self._known(prior)
        missing = len(prior.values) - len(known)
        apart = prior.rows // self.m
        if apart == 0:
            return 0.0
        ordered = np.repeat(np.arange(len(prior.values)), prior.counts) - missing  # a missing value has position -1
        lower, upper = ordered[: len(ordered) - apart], ordered[apart:]
        if ((upper < 0) & (lower < 0)).any():
            return 0.0
        lower, upper = lower[lower >= 0], upper[lower >= 0]
        ruler = Ruler.of(known)
        # two numbers are near each other if either neighbourhood includes the other number
        gaps = np.minimum(self._widths.apart(ruler, lower, upper), self._widths.apart(ruler, upper, lower))
        if self.neighbourhood == "relative":
            gaps[gaps > 1.0] = np.inf
        return float(gaps.min(initial=np.inf))

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if m times the largest one-sided neighbourhood is at most the number of rows (Theorem 1)."""
        crowd, first, last = self.crowd(prior)
        strongest = prior.rows // crowd
        if first == last:
            fact = f"the value '{prior.values[first]}' of the sensitive attribute has {rows(crowd)} of {prior.rows:,}"
        else:
            span = f"from {prior.values[first]} to {prior.values[last]}"
            fact = f"{crowd:,} of {rows(prior.rows)} hold numbers {span}, one side of a neighbourhood"
        if self.m <= strongest:
            return Reach(True, strongest, f"{self} can be kept: {fact}, so m can be up to {strongest:,}.")
        return Reach(False, strongest, f"{fact[0].upper()}{fact[1:]}, so {self._advice(strongest, prior)}.")

    def _advice(self, strongest: int, prior: Prior) -> str:
        """What to ask for if the promise cannot be kept: a smaller m, or a smaller epsilon."""
        limit = f"m can be at most {strongest:,}"
        if strongest == 1:
            limit += ", which promises nothing"
        if self.given or (widest := self.widest(prior)) > 0.0:
            smaller = "smaller neighbourhoods"
            if not self.given:
                sides = "epsilon" if self.below is None and self.above is None else "widths on both sides"
                smaller = f"{sides} below {number_text(rounded_down(widest))} with m={self.m}"
                if self.below is None and self.above is None:
                    smaller += f", such as {replace(self, epsilon=_just_below(widest))}"
            return f"{limit}; ask for {smaller}" if strongest == 1 else f"{limit}; ask for m={strongest}, or {smaller}"
        alone = replace(self, epsilon=0.0, below=None, above=None)
        best = prior.rows // alone.crowd(prior)[0]
        if strongest > 1:
            return f"{limit}; ask for m={strongest} (no epsilon will do for m={self.m})"
        if best > 1:
            return f"{limit}; ask for m={best:,} or less with a smaller epsilon"
        return f"{limit} with any epsilon; choose another sensitive attribute"

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        first, last = self.windows(prior)
        up_to = np.concatenate([[0], np.cumsum(counts)])
        inside = np.where(counts > 0, up_to[last + 1] - up_to[first], 0)
        worst = int(inside.argmax())
        size, near = int(counts.sum()), int(inside[worst])
        held = np.flatnonzero(counts[first[worst] : last[worst] + 1]) + first[worst]
        which = f"from {prior.values[held[0]]} to {prior.values[held[-1]]}, near to '{prior.values[worst]}'"
        what = f"hold the value '{prior.values[worst]}'" if len(held) == 1 else f"hold a number {which}"
        allowed = rows(math.floor(size / self.m + SLACK))
        return (
            f"{near:,} of the {rows(size)} of {subject} ({percent(near / size)}) {what}; at most "
            f"{percent(1.0 / self.m)} ({allowed}) is allowed, because of m={self.m:,}."
        )

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.int64]:
        """The largest whole m with this epsilon."""
        strains = counts.strains(replace(self, m=1).rules(prior))
        fullest = np.rint(strains * counts.sizes).astype(np.int64)
        return np.asarray(counts.sizes // fullest)


def rounded_down(width: float) -> float:
    """A width rounded down to five digits: every width below the printed one must be feasible.

    >>> rounded_down(20.0), rounded_down(0.333333333), rounded_down(1234.5678), rounded_down(1e-320)
    (20.0, 0.33333, 1234.5, 1e-320)
    """
    if width == 0.0 or math.isinf(width) or (width.is_integer() and width <= LARGEST_WHOLE):
        return width
    decimal = Decimal(repr(width))
    return float(decimal.quantize(Decimal(1).scaleb(decimal.adjusted() - 4), ROUND_FLOOR))


def _just_below(width: float) -> float:
    """A number of one digit that is smaller than a width, to be written as an example.

    >>> _just_below(20.0), _just_below(0.68), _just_below(1000.0), _just_below(math.inf)
    (10.0, 0.6, 900.0, 1.0)
    """
    if math.isinf(width):
        return 1.0
    exact = Decimal(repr(width))
    step = Decimal(1).scaleb(exact.adjusted())
    digit = exact // step
    if digit * step == exact:
        digit, step = (digit - 1, step) if digit > 1 else (Decimal(9), step / 10)
    return float(digit * step)
