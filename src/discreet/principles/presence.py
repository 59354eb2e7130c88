"""(alpha, beta)-privacy: bounds on the belief that someone is in the table, and on the belief in their sensitive value.

The promise of "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import Interval
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.families import BoundingPrinciple
from discreet.principles.principle import AttributeName, Reach
from discreet.principles.prior import Prior
from discreet.principles.wording import percent
from discreet.table.texts import number_text

Belief = Annotated[float, Interval(0, 1, closed="right")]
Groups = Literal["group", "combined"]


@dataclass(frozen=True)
class AlphaBeta(BoundingPrinciple):
    """Nobody who knows a person's quasi-identifiers believes with more than ``alpha`` that the person is in the table.

    And for a person in the table, nobody believes with more than ``beta`` in any sensitive value: no value has a larger
    share of a group's rows. Sensitive counts show only the second bound, so ``holds``, ``strain`` and ``achieved``
    concern beta alone. The first depends on the quasi-identifier values that a release publishes:
    ``Release.presence`` computes the belief, the scheme keeps it at or below alpha, and the audit checks that. Where
    groups are published under descriptions, alpha bounds the belief in the likeliest combination that a description
    admits, also for an adversary who knows that it is as narrow as possible, so that some row lies at each end of an
    interval.

    With ``presence=group`` alpha bounds the belief from each single group that lists all values of the person. Several
    groups may list them; ``presence=combined`` bounds the belief that at least one of these groups contains the person,
    1 - (1 - p1)(1 - p2)..., which is a stronger promise. It covers every combination of values that occur in the table,
    of persons in it and of others. Both are about published rows: a release says how many rows are withheld, and these
    may be anybody's. And both take groups as independent, as they are where two persons may have the same values:
    an adversary who knows that all rows differ may believe more (two groups of two rows that list the same two values
    of two attributes say 3/4 of each combination, and if all four rows differ, each is certain).

    With ``association=group`` beta bounds the belief in the value of a person's own row. Groups may overlap, and then
    more is believed of "*some* row with the person's values has it": 1 - (1 - p1 q1)(1 - p2 q2)... divided by the
    belief A = 1 - (1 - p1)(1 - p2)... that there is one at all, where the groups hold such a row with p1, p2, ... and
    the value has shares q1, q2, ... of them. ``association=combined``, together with ``presence=combined``, bounds this
    by beta, too. It does so by shares: no value may have more than b = log(1 - alpha beta) / log(1 - alpha) of a
    group, a little less than beta. *Proof:* 1 - p q >= 1 - p b >= (1 - p)^b for every group (Bernoulli), so that the
    belief is at most (1 - (1 - A)^b) / A; this grows with A, as 1 - (1 - A)^b is convex and 0 at A = 0; and for A =
    alpha it is beta.

    Monotone as far as sensitive values go: the share in a union lies between the shares in its parts.

    >>> prior = Prior(np.array([4, 3, 3]), ("flu", "cold", "cough"))
    >>> AlphaBeta(0.2, 0.5).holds([[1, 1, 0], [2, 1, 0]], prior).tolist()
    [True, False]
    >>> print(AlphaBeta(0.2, 0.3).reachable(prior).sentence)  # doctest: +NORMALIZE_WHITESPACE
    The most frequent value of the sensitive attribute, 'flu', holds 40.0 % of the rows, so beta can be 0.4 or more;
    ask for beta=0.4.
    """

    name: ClassVar[str] = "alpha-beta"
    example: ClassVar[str] = "'alpha-beta(alpha=0.2, beta=0.1)'"
    hides_presence: ClassVar[bool] = True

    alpha: Belief
    """The largest belief that a person is in the table."""
    beta: Belief
    """The largest belief in any sensitive value of a person in it."""
    presence: Groups = "group"
    """``group``: alpha bounds the belief from each group; ``combined``: from all of them together."""
    attribute: AttributeName | None = None
    """The sensitive attribute that beta is about; ``None`` for each."""
    association: Groups = "group"
    """``combined`` also bounds the belief that some row with the person's values has a sensitive value."""

    def __post_init__(self) -> None:
        """Raise an error if beta is to hold over all groups and alpha is not."""
        super().__post_init__()
        if self.association == "combined" and (not self.combined_presence or self.alpha >= 1.0):
            raise DiscreetError(
                f"{self.name}: association=combined needs presence=combined and alpha below 1, because it is kept by "
                "what all groups together reveal about presence; write for example "
                "'alpha-beta(alpha=0.2, beta=0.1, presence=combined, association=combined)'"
            )

    @property
    def combined_presence(self) -> bool:
        """Whether alpha bounds the belief combined over all groups that list a person's values."""
        return self.presence == "combined"

    @property
    def sufficient_share(self) -> float:
        """The largest share of a group that a value may have: beta, or less if beta is to hold over all groups."""
        if self.association == "group":
            return self.beta
        return math.log1p(-self.alpha * self.beta) / math.log1p(-self.alpha) if self.beta < 1.0 else 1.0

    def belief_from(self, share: float) -> float:
        """The belief that groups justify in a value with this share of each of them: what beta bounds."""
        if self.association == "group" or share >= 1.0:
            return share
        return -math.expm1(share * math.log1p(-self.alpha)) / self.alpha

    @property
    def only_sufficient(self) -> bool:
        """True if beta is to hold over all groups: which ones a person may be in is not looked at."""
        return self.association == "combined"

    @property
    def own_row_only(self) -> float | None:
        """Beta, unless it also bounds the belief that some row with a person's values has a value."""
        return self.beta if self.association == "group" else None

    @property
    def most_presence(self) -> float:
        """Alpha."""
        return self.alpha

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        caps = np.full(len(prior.values), self.sufficient_share)
        reason = f"because of beta={number_text(self.beta)}"
        if self.association == "combined":
            reason += f" over all groups together with alpha={number_text(self.alpha)}"
        return Bounds(prior.values, prior.frequencies, caps, reason=reason)

    def reachable(self, prior: Prior) -> Reach:
        """Whether the whole table keeps beta; whether alpha can be kept depends on the quasi-identifiers."""
        strongest = self.achieved(prior.counts[None], prior)
        most = prior.values[prior.most_frequent]
        share = float(prior.frequencies.max())
        fact = f"most frequent value of the sensitive attribute, '{most}', holds {percent(share)} of the rows"
        if self.holds(prior.counts[None], prior)[0]:
            return Reach(True, strongest, f"beta={number_text(self.beta)} can be kept: the {fact}.")
        nearest = math.ceil(strongest * 1000.0 - 1e-7) / 1000.0
        advice = f"beta can be {number_text(nearest)} or more; ask for beta={number_text(nearest)}"
        if nearest >= 1.0:
            advice = "no beta below 1 can be kept; choose another sensitive attribute"
        return Reach(False, strongest, f"The {fact}, so {advice}.")

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        """The largest share of any value, or what it makes of beta over all groups."""
        largest = np.maximum.reduceat(counts.shares, counts.starts[:-1])
        return np.asarray(np.vectorize(self.belief_from, [float])(largest))
