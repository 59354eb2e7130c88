"""Retention perturbation, the competitor of (epsilon, m)-anonymity (Section 3.2 of Li, Tao and Xiao, SIGMOD 2008)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.randomised.release.coin import Coin, Crowds, Noise, crowds, distinct
from discreet.families.randomised.release.matrix import DIGITS, TOLERANCE
from discreet.families.randomised.release.retained import RetainedRelease
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.proximity import Proximity, rounded_down
from discreet.principles.wording import percent, rows
from discreet.progress import Progress, no_progress
from discreet.randomness import numbers_below
from discreet.releases.release import Release
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Table
from discreet.table.texts import number_text

Probability = Literal["exact", "published"]
Whole = NDArray[np.int64]
SCALE: int = 10**DIGITS


@dataclass(frozen=True, kw_only=True)
class Retention(Scheme):
    """Every sensitive number is kept with the same probability p, and otherwise drawn anew from those that occur.

    Why the promise is kept: an adversary who has found a person's row sees one published number y and nothing else that
    depends on the original number, since rows are randomised one by one. The belief that the original number lies in
    the neighbourhood of any occurring number x follows from the prior and from p by Bayes. It is strongest for the most
    crowded neighbourhood that contains y; with C its number of rows, c that of y, N that of the table and w the
    probability of y when a number is drawn, it is at most 1 / m exactly when

        p / (1 - p)  <=  w (N - m C) / (c (m - 1)).

    The largest p that satisfies this for all y is used, rounded down to the printed decimals, and checked again in
    whole numbers as it will be read; numbers are drawn with exactly the printed probabilities. If several rows may be
    the person's, the belief is an average of such beliefs, which is bounded as well. Rows that must be withheld keep
    the promise as a group. Around a number that does not occur, beliefs are at most 2 / m: what lies up to it is in the
    neighbourhood of the largest number there, and what lies above it in that of the smallest.

    What is not bounded: all published numbers together with the exact counts of the prior disclose a little more about
    each row than its own number does, the less the more rows there are (see ``Perturbation``).

    Numbers are drawn from the k values that occur, which the prior lists anyway: this is ours. The paper draws them
    from the whole domain, of d values, which is not offered, because it is the same release with rows erased at random:
    *Proof.* The bound above is p / (1 - p) <= R / k here and R / d there, with the same R. So p is R / (R + k) and
    R / (R + d), and each number that occurs is published with the same probability as here, given any original, times
    the share s = (R + k) / (R + d). The other numbers are equally likely given any original: they tell nothing, and
    stand for erased rows. What remains of n rows tells an analyst what s n rows tell here, and an attacker no less
    about the person of each.

    The paper's Equation 3 assumes that the adversary learns only that y lies in the neighbourhood, not y itself.
    Compared with the condition above it has the average count of the values in the neighbourhood in place of c, and so
    allows a larger p, which breaks the promise unless counts are even where it matters. With numbers drawn from the
    prior the two agree.

    >>> from discreet.datasets import census
    >>> table = census(2000, quasi=("age", "education"), sensitive="income")
    >>> release = Retention(noise="prior", random_state=1).publish(table, Proximity(2000, 4))
    >>> round(release.coin.probability, 3), release.withheld
    (0.084, 0)
    """

    name: ClassVar[str] = "retention"
    published: ClassVar[Mapping[str, str]] = {"probability": "published"}
    format: ClassVar[type[Release]] = RetainedRelease

    noise: Noise = "uniform"
    """How a number that is not kept is drawn: ``uniform``, all occurring values alike (the paper's: all of the domain);
    ``prior``, ours, each as often as it occurs, which keeps far more numbers where some are more common than others."""
    probability: Probability = "exact"
    """How p is found: ``exact``, ours, the largest that keeps the promise; ``published``, the paper's, by Equation 3,
    refused where that breaks the promise."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept only proximity promises, and only those that let some numbers be kept."""
        near = principle.of(Proximity)
        if len(near) < len(principle.parts):
            return Refusal(
                f"scheme {self.name!r} bounds the belief that a number lies near another, so it can only promise "
                f"proximity",
                principle,
            )
        for part in near:
            crowd = crowds(prior.counts, *part.windows(prior))
            if part.m * int(crowd.rows.max()) >= prior.rows and part.m > 1:
                return _hopeless(part, prior, crowd)
        return None

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> RetainedRelease:
        """Return a retained release of the table in which no published number discloses more than is promised."""
        prior = feasible(self, table, principle)
        principle = principle.stated(prior)
        rng, seeded = self.draws()
        coin = self.find(principle, prior)
        progress = progress or no_progress
        progress("drawing numbers", 0.0)
        drawn = np.flatnonzero(prior.counts).astype(np.int32)[draw(coin, table.rows, seeded)]
        kept = numbers_below(coin.scale, table.rows, seeded) < coin.units
        drawn[kept] = table.sensitive_codes[kept]
        drawn[unusable_rows(table, principle, prior, rng)] = -1
        release = RetainedRelease.from_draws(table, drawn, coin, self.noise, **self.statement(principle))
        progress("drawing numbers", 1.0)
        return release

    def find(self, principle: Principle, prior: Prior) -> Coin:
        """Return the coin that decides which numbers are kept, over the occurring values, checked as it is printed."""
        held = np.flatnonzero(prior.counts)
        counts = prior.counts[held]
        draws = np.minimum(prior.counts, 1) if self.noise == "uniform" else prior.counts
        weights = draws[held]
        units = SCALE
        tests: list[tuple[Proximity, Whole]] = []
        for part in principle.of(Proximity):
            crowd = crowds(prior.counts, *part.windows(prior))
            tests.append((part, crowd.around[held]))
            if self.probability == "exact":
                most = largest(counts, weights, crowd.around[held], int(weights.sum()), prior.rows, part.m)
            else:
                up_to = np.concatenate([[0], np.cumsum(draws)])
                inside, near = (up_to[crowd.last + 1] - up_to[crowd.first])[held], crowd.rows[held]
                most = largest(near, inside, near, int(weights.sum()), prior.rows, part.m)
            units = min(units, most)
        if units <= 0:
            raise DiscreetError(
                f"{principle} would let fewer than one of {SCALE:,} numbers be kept; ask for a smaller m or epsilon, "
                "or choose scheme 'proximity'"
            )
        coin = Coin(units, weights)
        printed = Fraction(repr(coin.probability))
        assert Fraction(units, SCALE) == printed, "so few decimals survive being held as a floating-point number"
        for part, around in tests:
            worst = coin.nearest(counts, around, prior.rows, part.m, TOLERANCE / 2)
            if worst.broken and self.probability == "published":
                raise DiscreetError(
                    f"Equation 3 keeps numbers with probability {coin.probability:.4g}, which breaks {part} for this "
                    f"distribution: an attacker who sees {prior.values[held[worst.published]]} published would believe "
                    f"with {percent(worst.belief)} that the original number is near it; use probability=exact, which "
                    "never does"
                )
            if worst.broken:
                raise AssertionError(f"the probability breaks {part}; nothing was published")
        return coin


def largest(counts: Whole, weights: Whole, around: Whole, whole: int, total: int, m: int) -> int:
    """Return the largest retention probability that bounds all beliefs by 1 / m, in units of 1 / SCALE, rounded down.

    Per published value: ``counts`` is its count, ``weights`` its weight, of ``whole``, when a number is drawn, and
    ``around`` how many of the ``total`` rows lie around it. Given the sums over the values of a range instead, this is
    Equation 3.

    >>> ones = np.ones(10, np.int64)
    >>> largest(ones, ones, 2 * ones, 10, 10, 4) / SCALE
    0.0625
    """
    if m == 1:
        return SCALE
    odds = weights.astype(np.float64) * (total - m * around) / (float(whole) * (m - 1) * counts)
    # whole numbers decide which one is smallest
    close = np.flatnonzero(odds <= odds.min() + 1e-9 * abs(odds.min()))
    return min(
        SCALE * weight * (total - m * near) // (weight * (total - m * near) + whole * (m - 1) * count)
        for count, weight, near, _ in distinct(counts[close], weights[close], around[close])
    )


def draw(coin: Coin, number: int, seeded: np.random.Generator | None = None) -> Whole:
    """Draw ``number`` new numbers, as indices among the occurring values, with exactly their probabilities."""
    ends = np.cumsum(coin.weights)
    return np.searchsorted(ends, numbers_below(int(ends[-1]), number, seeded), side="right").astype(np.int64)


def _hopeless(part: Proximity, prior: Prior, crowd: Crowds) -> Refusal:
    """Return why no number may be kept, and what to ask for instead."""
    worst = int(crowd.rows.argmax())
    most = int(crowd.rows[worst])
    reach = (prior.rows - 1) // most
    first, last = prior.values[crowd.first[worst]], prior.values[crowd.last[worst]]
    where = f"hold {first}" if first == last else f"hold numbers from {first} to {last}, near to {prior.values[worst]}"
    ways = [f"m={reach:,}"] if reach > 1 else []
    if part.given or part.below is not None or part.above is not None:
        ways += [f"smaller neighbourhoods with m={part.m:,}"] if part.m * int(prior.counts.max()) < prior.rows else []
    elif (widest := _widest(part, prior)) > 0.0:
        ways.append(f"epsilon below {number_text(rounded_down(widest))} with m={part.m:,}")
    ways = [f"ask for {' or '.join(ways)}"] if ways else []
    if part.reachable(prior).feasible:
        ways.append("choose scheme 'proximity'")
    return Refusal(
        f"this table cannot keep {part} by scheme 'retention': {most:,} of {rows(prior.rows)} {where}, so even if all "
        f"published numbers were noise, the belief in these would be {percent(most / prior.rows)} where less than "
        f"{percent(1.0 / part.m)} is needed",
        advice=", or ".join(ways) or "choose another sensitive attribute",
    )


def _widest(part: Proximity, prior: Prior) -> float:
    """Return the supremum of the epsilons that let some numbers be kept with this m; 0 if there is none."""

    def number(bits: int) -> float:
        return float(np.int64(bits).view(np.float64))

    def hopes(bits: int) -> bool:
        narrower = replace(part, epsilon=number(bits))
        known = replace(prior)  # a copy, so that these windows are not cached
        return part.m * int(crowds(prior.counts, *narrower.windows(known)).rows.max()) < prior.rows

    if not hopes(0):
        return 0.0
    # non-negative floats are ordered like the integers of their bits: 63 halvings end with two adjacent floats,
    # however small or large
    low, high = 0, int(np.float64(part.epsilon).view(np.int64))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if hopes(middle) else (low, middle)
    return number(high)
