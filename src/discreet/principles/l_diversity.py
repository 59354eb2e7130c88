"""l-diversity: every group has at least l well-represented sensitive values (Machanavajjhala et al., ICDE 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import DISTINCT, ENTROPY, RECURSIVE, SLACK, Rules
from discreet.options import Interval
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.principle import AttributeName, Principle, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import rule
from discreet.principles.wording import about, counted, ordinal, percent, rows
from discreet.table.texts import number_text

Diversity = Literal["distinct", "entropy", "recursive", "frequency"]


@dataclass(frozen=True)
class LDiversity(Principle):
    """Every group has at least ``l`` well-represented sensitive values.

    The ``kind`` defines well-represented:

    - ``frequency``: no value has more than 1 / l of a group's rows;
    - ``distinct``: a group has at least l different values (l whole);
    - ``entropy``: the entropy of a group's values is at least log l, that of l equally frequent values;
    - ``recursive``: with the counts of a group in descending order, r1 < c (r_l + ... + r_m) (l whole, ``c`` above 0):
      the most frequent value does not dominate even after an adversary has ruled out l - 2 others.

    ``frequency`` is the default because it bounds the adversary's belief: nobody's value can be guessed with more than
    1 / l confidence. ``distinct`` protects little: 98 of 100 rows may share one value in a group that is 3-diverse.

    All kinds are monotone. Distinct: a union has the values of both parts. Frequency: a share in a union lies between
    the shares in its parts. Entropy: it is concave. Recursive: the largest count of a union is at most the sum of the
    largest counts of its parts. Likewise its l - 1 largest counts add up to at most the sum of theirs, so its tail is
    at least the sum of their tails.

    >>> prior = Prior(np.array([4, 3, 3]), ("Sales", "Farming", "Craft"))
    >>> print(LDiversity(3).reachable(prior).sentence)  # doctest: +NORMALIZE_WHITESPACE
    The most frequent value of the sensitive attribute, 'Sales', holds 40.0 % of the rows,
    so l can be at most 2.5; ask for l=2.
    """

    name: ClassVar[str] = "l-diversity"
    example: ClassVar[str] = "'l-diversity(l=3)'"
    larger_is_stronger: ClassVar[bool] = True

    l: Annotated[float, Interval(1)]  # noqa: E741 - its name in the literature
    """How many values at least: at frequency, no value has a larger share of a group than 1/l."""
    kind: Diversity = "frequency"
    """``frequency``: no share above 1/l; ``distinct``: l different values; ``entropy``: an entropy of at least log l;
    ``recursive``: the commonest value occurs less than c times as often as all but the l - 1 commonest together."""
    c: Annotated[float, Interval(0, closed="neither")] | None = None
    """The factor of the recursive kind."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def __post_init__(self) -> None:
        """Check each parameter, and that they are compatible."""
        super().__post_init__()
        if self.kind in ("distinct", "recursive") and not self.l.is_integer():
            raise DiscreetError(
                f"{self.name}: l must be a whole number of at least 1 when kind={self.kind}, not "
                f"{number_text(self.l)}; write l={math.floor(self.l)}, or choose kind=frequency or kind=entropy"
            )
        if self.kind == "recursive" and self.c is None:
            raise DiscreetError(
                f"{self.name}: kind=recursive needs its parameter c; "
                f"write for example 'l-diversity(l=3, kind=recursive, c=2)'"
            )
        if self.kind != "recursive" and self.c is not None:
            raise DiscreetError(f"{self.name}: c belongs to kind=recursive, not to kind={self.kind}; leave it out")

    @property
    def bounds_each_value(self) -> bool:
        """True for frequency only; the other kinds consider all values of a group together."""
        return self.kind == "frequency"

    @property
    def sufficient_share(self) -> float | None:
        """1 / l for frequency and distinct: in a group of fewer than l values, one has a share above 1 / l."""
        return 1.0 / self.l if self.kind in ("frequency", "distinct") else None

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        caps = np.full(len(prior.values), 1.0 / self.l)
        return Bounds(prior.values, prior.frequencies, caps, reason=f"because of l={number_text(self.l)}")

    def rules(self, prior: Prior) -> Rules:
        """One rule, depending on the kind."""
        self.require(prior)
        width = len(prior.values)
        if self.kind == "distinct":
            return rule(DISTINCT, self.l, width=width)
        if self.kind == "entropy":
            return rule(ENTROPY, math.log(self.l), width=width)
        if self.kind == "recursive":
            assert self.c is not None
            # no group keeps a smaller c, and the slack would exceed it
            return rule(RECURSIVE, max(self.c, 1e-8), min(self.l, width + 1), width=width)
        return self._bounds(prior).rules(width)

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """1 / l for every value if the kind is frequency, else ``None``."""
        return self._bounds(prior).leaf_caps() if self.kind == "frequency" else None

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the whole table keeps it."""
        strongest = self.achieved(prior.counts[None], prior)
        fact = self._fact(strongest, prior)
        if self.holds(prior.counts[None], prior)[0]:
            return Reach(True, strongest, f"{self} can be kept: {fact}, so l can be up to {_down(strongest)}.")
        advice = self._recursive_advice(int(strongest), prior) if self.kind == "recursive" else _advice(strongest)
        return Reach(False, strongest, f"{fact[0].upper()}{fact[1:]}, so {advice}.")

    def _fact(self, strongest: float, prior: Prior) -> str:
        """A clause on what limits l in this table."""
        most = prior.most_frequent
        share = f"holds {percent(float(prior.frequencies[most]))} of the rows"
        if self.kind == "frequency":
            return f"the most frequent value of the sensitive attribute, '{prior.values[most]}', {share}"
        if self.kind == "entropy":
            return f"the values of the sensitive attribute are spread like {_down(strongest)} equally frequent ones"
        fact = f"the sensitive attribute has {counted(int((prior.counts > 0).sum()), 'different value')}"
        if self.kind == "distinct":
            return fact
        return f"{fact}, of which the most frequent, '{prior.values[most]}', {share}"

    def _recursive_advice(self, strongest: int, prior: Prior) -> str:
        """What to ask for if the recursive kind cannot be kept: a smaller l, or a larger c."""
        assert self.c is not None
        ranked = np.sort(prior.counts)[::-1]
        wanted, tail = int(self.l), int(ranked[int(self.l) - 1 :].sum())
        limit = f"l can be at most {strongest}" if strongest else "no l can be kept"
        if strongest > 1:
            return f"{limit} with c={number_text(self.c)}; ask for l={strongest}"
        if tail == 0:  # no c suffices for this l
            wanted = int((ranked > 0).sum())
            tail = int(ranked[wanted - 1])
        larger = number_text(_above(float(ranked[0] / tail)))
        return f"{limit} with c={number_text(self.c)}; ask for l={wanted} with c={larger}"

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        size = int(counts.sum())
        if self.kind == "frequency":
            return self._bounds(prior).explain(counts, subject)
        if self.kind == "distinct":
            held = counted(int((counts > 0).sum()), "different value")
            return f"{subject.capitalize()} of {rows(size)} holds {held}; at least {number_text(self.l)} are required."
        if self.kind == "entropy":
            spread = about(self.achieved(counts[None], prior))
            return (
                f"The values of {subject} of {rows(size)} are spread like {spread} equally frequent ones; "
                f"at least {number_text(self.l)} are required."
            )
        assert self.c is not None
        ranked = np.sort(counts)[::-1]
        tail = rows(int(ranked[int(self.l) - 1 :].sum()))
        return (
            f"'{prior.values[int(counts.argmax())]}' has {rows(int(ranked[0]))} in {subject} of {rows(size)}; fewer "
            f"than {number_text(self.c)} times the {tail} of the {ordinal(int(self.l))} most frequent value and the "
            f"rarer ones are allowed."
        )

    def achieved_by(self, beliefs: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
        """The reciprocal of the largest belief: the number of values if all were equally likely."""
        return float(1.0 / max(np.nanmax(beliefs, initial=0.0), SLACK))

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[Any]:
        """The largest l; for the recursive kind with this c, and 0 if not even l = 1 is kept."""
        first = counts.starts[:-1]
        if self.kind == "frequency":
            return np.asarray(counts.sizes / np.maximum.reduceat(counts.amounts, first))
        if self.kind == "distinct":
            return np.diff(counts.starts)
        if self.kind == "entropy":
            q = counts.shares
            return np.exp(-np.add.reduceat(q * np.log(q), first))
        assert self.c is not None
        # with a group's d counts in ascending order, the sum of the first j is the tail for l = d - j + 1
        rising = counts.amounts[np.lexsort((counts.amounts, counts.groups))]
        tails = np.cumsum(rising)
        tails -= (tails[first] - rising[first])[counts.groups]
        kept = np.maximum.reduceat(rising, first)[counts.groups] <= self.c * tails - SLACK
        return np.add.reduceat(kept.astype(np.int64), first)


def _advice(strongest: float) -> str:
    """The largest l to ask for, phrased to follow "so"."""
    limit = f"l can be at most {_down(strongest)}"
    # a whole number reads best; below 2 the only one is 1, which promises nothing
    asked = str(math.floor(strongest + 1e-9)) if strongest + 1e-9 >= 2.0 else _down(strongest)
    if float(asked) <= 1.0:
        return f"{limit}, which promises nothing; choose another sensitive attribute"
    return f"{limit}; ask for l={asked}"


def _down(strongest: float) -> str:
    """A limit rounded down to two decimals, so that the printed value can be asked for."""
    return number_text(math.floor(strongest * 100.0 + 1e-7) / 100.0)


def _above(bound: float) -> float:
    """A number of two significant digits just above a bound."""
    step = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return round((math.floor(bound / step) + 1) * step, 12)
