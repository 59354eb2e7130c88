"""Check that the published sensitive values are what randomising the original values plausibly produces.

This holds for every randomised format. The statistics are: how often each value is published; how often it is published
where it occurred, where a published v counts by the share of v among the original rows with the same quasi-identifiers
and other columns (with a trace: 1 if v is the row's own value, else 0); and the latter for all values together. This
last one detects values that were never, or too rarely, randomised even where single values are too rare to detect it.

Given the original, each statistic is a sum of independent terms between 0 and 1. Two bounds limit the probability that
such a sum deviates from its mean by d or more. Both hold for any number of rows; an asymptotic test would raise false
alarms on rare values. The stronger bound counts, and the level is divided among the statistics.

Bernstein: at most exp(-d^2 / (2 (variance + d / 3))) to either side.
Chernoff: a sum X reaches x with probability at most E exp(t X) / exp(t x), for any t above 0, and falls to x likewise
for t below 0. A row that publishes value v with probability m_v, weighted w_v, contributes the factor 1 + sum_v m_v
(exp(t w_v) - 1). The rows of one combination share the weights w. By the inequality of arithmetic and geometric means,
the product of their factors is at most that of equally many rows that all have the mean m. The bound is exact for rows
with the same original value, as with a trace: if all of these are published unchanged, the bound is the probability of
that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.families.randomised.auditor.align import AlignedRandomised
from discreet.principles import wording
from discreet.principles.counts import Counts

Floats = NDArray[np.float64]
LEVEL = 1e-6
"""Upper bound on the probability that a correctly randomised release is rejected."""
TRIED = (0.7, 1.0, 1.4, 2.0, 3.0, 6.0, 16.0, 64.0)
"""Values of t tried in Chernoff's bound, as multiples of the t that yields Bernstein's bound."""
STEEPEST = 500.0
"""The largest t that is tried; beyond it, exp overflows."""
FEW = 1 << 14
"""Up to this many counts, the undetectable share of unchanged rows is narrowed down by halving."""
STEPS = 8
"""Number of halvings."""
EPSILON = 1e-12
"""Added to the probability that a row does not count, so that rounding cannot make it 0."""


class Expected(NamedTuple):
    """Means and variances of the statistics for given original rows."""

    published: Floats
    """Per value: the mean number of times it is published."""
    published_spread: Floats
    """The variance of that number."""
    placed: Floats
    """Per combination and value in it, as in the counts: the mean number of times the value is published there."""
    placed_spread: Floats
    """The variance of that number."""
    total_spread: float
    """The variance of the statistic of all values together."""


@dataclass(frozen=True, eq=False)
class Look:
    """Original rows, what was published in their place, and the expectation."""

    had: Counts
    got: Counts
    expect: Callable[[Counts], Expected]
    names: list[str]
    """The name of each value in sentences."""
    any: str
    """The name of all values together."""
    place: str
    """The words for "where the value occurred"."""

    @cached_property
    def expected(self) -> Expected:
        """The expectation for these rows."""
        return self.expect(self.had)


class Figures(NamedTuple):
    """The statistics, each a sum of independent terms; the last one is that of all values together."""

    observed: Floats
    means: Floats
    variances: Floats
    surprise: Floats
    """-log of a bound on the probability of such a deviation."""


def plausible(aligned: AlignedRandomised, looks: Sequence[Look], at_fault: str, sound: str) -> Check:
    """Check that what is published is plausible for the original.

    The check also reports its own power: whether it would reject a release that publishes every value unchanged.
    """
    for look, (measured, beyond) in zip(looks, _judged(looks, [look.got for look in looks]), strict=True):
        if beyond.max() > 0.0:
            worst = int(np.argmax(beyond))
            names = [f"{name} is published" for name in look.names]
            names += [f"{name} is published {look.place}" for name in (*look.names, look.any)]
            sentence = (
                f"{at_fault}: {names[worst]} about {measured.observed[worst]:,.0f} times where "
                f"{measured.means[worst]:,.0f} are expected, give or take "
                f"{math.sqrt(max(0.0, measured.variances[worst])):,.0f}."
            )
            return Check("draws", False, sentence)
    tells = "as far as a statistical test can tell: a release drawn in this way is rejected less than once in a"
    if aligned.release.retention > 1.0 - EPSILON:
        return Check("draws", True, f"{sound}, {tells} million times.")
    if _found(looks):
        left = wording.percent(_unseen(looks))
        caveat = f"a release with up to {left} of the values unchanged would have passed at this size"
        return Check("draws", True, f"{sound}, {tells} million times; but {caveat}.", caveat=caveat)
    caveat = "these rows do not show whether the sensitive values were randomised at all"
    if aligned.how != "trace" and _found([replace(look, had=_by_value(look.had)) for look in looks]):
        caveat += ": give the trace for certainty"
    same = "but so would unchanged values be, so this does not show that they were randomised"
    return Check("draws", True, f"{sound}; {same}.", caveat=caveat)


def figures(had: Counts, got: Counts, expected: Expected) -> Figures:
    """Compute the statistics of what was published, with how surprising each of them is.

    >>> had, got = Counts.of([[40, 0], [0, 40]], 2), Counts.of([[21, 19], [17, 23]], 2)
    >>> half, ten = np.full(2, 20.0), np.full(2, 10.0)
    >>> fair = Expected(2 * half, 2 * ten, half, ten, 20.0)
    >>> [figures(had, of, fair).surprise.round(1).tolist() for of in (got, had)]
    [[0.1, 0.1, 0.0, 0.4, 0.4], [0.0, 0.0, 27.7, 27.7, 55.5]]
    """
    width, share = had.width, had.shares
    keys, seen = (of.groups * width + of.values for of in (had, got))
    places = np.searchsorted(seen, keys)
    hit = np.append(seen, -1)[places] == keys
    times = np.where(hit, np.append(got.amounts, 0)[places], 0)
    single = np.bincount(got.values, got.amounts, minlength=width).astype(np.float64)
    return _surprises(had, _stacked(had, single, share * times), expected)


def _stacked(had: Counts, single: Floats, in_place: Floats, total: float | None = None) -> Floats:
    """Concatenate the statistics: of every value, of every value where it occurred, and of all values together."""
    placed = np.bincount(had.values, in_place, minlength=had.width)
    return np.concatenate([single, placed, [float(placed.sum()) if total is None else total]])


def _surprises(had: Counts, observed: Floats, expected: Expected) -> Figures:
    """Return how surprising the observed statistics are."""
    width, at, share, size = had.width, had.values, had.shares, had.sizes[had.groups]
    means = _stacked(had, expected.published, share * expected.placed)
    variances = _stacked(had, expected.published_spread, share**2 * expected.placed_spread, expected.total_spread)
    off = np.abs(observed - means)
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.nan_to_num(off / (variances + off / 3.0))
    surprise = off * steep / 2.0
    rows, chance = float(had.sizes.sum()), expected.placed / size
    published = expected.published / max(1.0, rows)
    side = np.sign(observed - means)
    for multiple in TRIED:
        t = side * np.minimum(multiple * steep, STEEPEST)
        single, placed, total = t[:width], t[width:-1], float(t[-1])
        logs = np.concatenate(
            [
                rows * np.log(_rest(published) + published * np.exp(single)),
                np.bincount(at, size * np.log(_rest(chance) + chance * np.exp(placed[at] * share)), minlength=width),
                [_together(had, chance, np.exp(total * share))],
            ]
        )
        surprise = np.maximum(surprise, t * observed - logs)
    return Figures(observed, means, variances, surprise)


def _together(had: Counts, chance: Floats, factors: Floats) -> float:
    """Return the log of the mean of exp(t X), where X is the statistic of all values together."""
    taken, counted = (np.bincount(had.groups, part, minlength=len(had)) for part in (chance, chance * factors))
    return float(had.sizes @ np.log(_rest(taken) + counted))


def _rest(chance: NDArray[Any]) -> Floats:
    """Return the probability that none of the given outcomes occurs, kept above 0."""
    return np.asarray(np.maximum(1.0 - chance, 0.0) + EPSILON)


def _judged(looks: Sequence[Look], got: Sequence[Counts]) -> list[tuple[Figures, Floats]]:
    """Return the statistics of what every look may have got, and by how much each exceeds its limit.

    Half of the level is for the statistic of all values together, half for the single values; deviations count on both
    sides.
    """
    result = []
    for look, counts, limits in zip(looks, got, _limits(looks), strict=True):
        measured = figures(look.had, counts, look.expected)
        result.append((measured, measured.surprise - limits))
    return result


def _limits(looks: Sequence[Look]) -> list[Floats]:
    """Return the largest surprise that each statistic of every look may have."""
    numbers = sum(2 * len(look.names) for look in looks), len(looks)
    single, together = (math.log(4.0 * number / LEVEL) for number in numbers)
    return [np.append(np.full(2 * look.had.width, single), together) for look in looks]


def _unseen(looks: Sequence[Look]) -> float:
    """Return the share of rows that could be unchanged, all others being randomised, without being detected.

    This is the share at which such a release is detected if its statistics equal their means. Bernstein's bound yields
    a sufficient share; where there are few counts, halving finds a smaller one.
    """
    raw = [figures(look.had, look.had, look.expected) for look in looks]
    cases = list(zip(looks, raw, _limits(looks), strict=True))

    def seen(share: float) -> bool:
        for look, whole, limits in cases:
            figure = whole.means + share * (whole.observed - whole.means)
            if bool((_surprises(look.had, figure, look.expected).surprise > limits).any()):
                return True
        return False

    low, high = 0.0, 1.0
    for _, whole, limits in cases:
        off, least = np.abs(whole.observed - whole.means), limits / 3.0
        needed = least + np.sqrt(least**2 + 2.0 * limits * np.maximum(whole.variances, 0.0))
        high = min(high, float((needed / np.maximum(off, EPSILON)).min()))
    if sum(len(look.had.values) for look in looks) > FEW:
        return high
    # not scipy.optimize: ``seen`` answers yes or no, and ``high``, the cautious end, always stays a detected share
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def _found(looks: Sequence[Look]) -> bool:
    """Whether a release that publishes every value unchanged would be rejected."""
    return any(float(beyond.max()) > 0.0 for _, beyond in _judged(looks, [look.had for look in looks]))


def _by_value(had: Counts) -> Counts:
    """Return the same rows in combinations of one value each, as if a trace identified every row."""
    held = np.bincount(had.values, had.amounts, minlength=had.width)
    values = np.flatnonzero(held)
    return Counts(np.arange(len(values) + 1), values.astype(np.int32), held[values].astype(np.int64), had.width)
