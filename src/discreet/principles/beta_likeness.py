"""beta-likeness: no sensitive value becomes much likelier than in the whole table (Cao and Karras, PVLDB 2012)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import SLACK
from discreet.options import Interval
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.families import BoundingPrinciple
from discreet.principles.principle import AttributeName, Reach
from discreet.principles.prior import Prior
from discreet.principles.wording import about, counted, percent, rows
from discreet.table.texts import number_text


@dataclass(frozen=True)
class BetaLikeness(BoundingPrinciple):
    """In no group is a sensitive value's share q more than 1 + beta times its share p in the whole table.

    ``basic``: q <= (1 + beta) p. ``enhanced`` (the default): q <= (1 + min(beta, -ln p)) p, which also keeps frequent
    values from becoming certain: (1 - ln p) p < 1 for every p < 1.

    ``negative`` (between 0 and 1) also bounds how much rarer a value may become: q >= (1 - negative) p; with 1 there is
    no such bound. ``level`` applies the promise to the nodes at a level of the sensitive attribute's hierarchy instead
    of to the values (1 is the level just above the values); the prior of a node is the sum over its values. Then a
    group of different but similar values violates the promise.

    With ``beta=0``, the paper's 0-likeness, every group has exactly the distribution of the whole table.

    Monotone: the share in a union lies between the shares in its parts.

    >>> prior = Prior(np.array([1, 99]), ("HIV", "flu"))
    >>> print(BetaLikeness(4).explain([11, 89], prior))  # doctest: +NORMALIZE_WHITESPACE
    'HIV' makes up 11.0 % of this group of 100 rows (11 rows); at most 5.0 % (5 rows) is allowed,
    because it is 1.0 % of the whole table.
    """

    name: ClassVar[str] = "beta-likeness"
    example: ClassVar[str] = "'beta-likeness(beta=2)'"

    beta: Annotated[float, Interval(0)]
    """The largest relative gain of a value's share over its share in the whole table."""
    variant: Literal["enhanced", "basic"] = "enhanced"
    """``enhanced`` bounds the gain by -ln p as well, for frequent values; ``basic`` by beta alone."""
    negative: Annotated[float, Interval(0, 1)] | None = None
    """The largest relative loss of share."""
    level: Annotated[int, Interval(0)] = 0
    """The level of the sensitive hierarchy whose nodes are protected; 0 for the values themselves."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    @property
    def bounds_each_value(self) -> bool:
        """True at level 0 only: a node's share sums several values, and a person may have more than one of them."""
        return self.level == 0

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        p, nodes, labels = prior.frequencies, None, prior.values
        if self.level > 0:
            nodes = prior.nodes(self.level, str(self))
            assert prior.hierarchy is not None
            labels = prior.hierarchy.labels[self.level]
            p = np.bincount(nodes, prior.counts, len(labels)) / prior.rows
        # the caps are the paper's function f at each value's share
        floors = None if self.negative is None else (1.0 - self.negative) * p
        caps = (1.0 + self._gains(p)) * p
        if self.beta == 0.0:
            caps = np.nextafter(caps, 2.0)  # at least count / rows, of which p is a rounding: all rows keep the promise
        return Bounds(labels, p, np.minimum(1.0, caps), floors, nodes=nodes)

    def _gains(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest relative gain allowed to a value, given its share in the whole table."""
        gains = np.full(len(p), self.beta)
        if self.variant == "enhanced":
            held = p > 0
            gains[held] = np.minimum(self.beta, -np.log(p[held]))
        return gains

    def misfit(self, prior: Prior) -> str | None:
        """With a level, the attribute needs a hierarchy that has this level below its root."""
        if self.level > 0:
            try:
                prior.nodes(self.level, str(self))
            except DiscreetError as error:
                return str(error)
        return None

    def reachable(self, prior: Prior) -> Reach:
        """Always feasible: the whole table as one group has the distribution of the prior."""
        bounds = self._bounds(prior)
        assert bounds.caps is not None
        if self.beta == 0.0:
            most = int(np.gcd.reduce(bounds.tally(prior.counts)))
            sentence = (
                f"{self} can be kept; every group then has the distribution of the whole table, so there "
                f"{'is' if most == 1 else 'are'} at most {counted(most, 'group')}, the greatest common divisor of the "
                "counts."
            )
            return Reach(True, 0.0, sentence)
        rarest = int(np.where(bounds.shares > 0, bounds.shares, 2.0).argmin())
        share = percent(float(bounds.shares[rarest]))
        size = rows(int(np.ceil(1.0 / bounds.caps[rarest] - SLACK)))
        sentence = (
            f"{self} can be kept, like any other; the rarest value, '{bounds.labels[rarest]}', is {share} "
            f"of the rows, so a group that holds it needs at least {size}."
        )
        return Reach(True, 0.0, sentence)

    def binding(self, counts: NDArray[np.int64], prior: Prior) -> str | None:
        """A sentence if -ln p, rather than beta, bounds the value that comes closest to its cap.

        >>> prior = Prior(np.array([4, 6]), ("flu", "cold"))
        >>> BetaLikeness(2).binding(np.array([2, 2]), prior)
        "The value closest to its bound is 'flu': because its share p in the whole table is 40.0 %, its relative gain
        is bounded by -ln p = 0.916, which is less than beta = 2."
        """
        bounds = self._bounds(prior)
        assert bounds.caps is not None
        tally = bounds.tally(counts)
        held = np.flatnonzero((tally > 0) & (bounds.caps > 0))
        if self.variant != "enhanced" or not len(held):
            return None
        tightest = int(held[(tally[held] / bounds.caps[held]).argmax()])
        p = float(bounds.shares[tightest])
        gain = float(self._gains(np.array([p]))[0])
        if gain >= self.beta:
            return None
        return (
            f"The value closest to its bound is '{bounds.labels[tightest]}': because its share p in the whole table is "
            f"{percent(p)}, its relative gain is bounded by -ln p = {about(gain)}, which is less than beta = "
            f"{number_text(self.beta)}."
        )

    def achieved_by(self, beliefs: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
        """The largest relative gain of any belief over the value's share."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nanmax(beliefs / shares - 1.0, initial=0.0))

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        """The largest relative gain of any value; 0 if no value gains.

        Infinite if no beta suffices: a group has a value that the whole table does not have, a gain exceeds -ln p
        (enhanced), or a share falls below its floor.
        """
        bounds = self._bounds(prior)
        tally = counts if bounds.nodes is None else counts.under(bounds.nodes)
        p = bounds.shares[tally.values]
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = tally.shares / p - 1.0
            limits = (1.0 - np.log(p)) * p * tally.sizes[tally.groups]
        if self.variant == "enhanced":
            gains[tally.amounts > limits + SLACK] = np.inf
        largest = np.maximum(np.maximum.reduceat(gains, tally.starts[:-1]), 0.0)
        if bounds.floors is not None:
            largest[counts.strains(replace(bounds, caps=None).rules(counts.width)) > 1.0] = np.inf
        return largest
