"""Estimate how many of a group's rows have each of the values that it lists: more for values that are common.

Of a group of g rows the release publishes which values occur, not how often. Suppose that each group has its own
composition, drawn from a Dirichlet distribution around the frequencies f of the whole table, closer to f the larger its
concentration a, and that the rows of the group are drawn at random from this composition. Then a group lists a value of
frequency f with the chance

    1 - product over k from 0 to g - 1 of (a (1 - f) + k) / (a + k),          or 1 - (1 - f)^g for infinite a.

So for any a the share of the groups that list a value determines its frequency. The frequencies must add up to 1, which
determines a: a scheme that groups neighbours leaves fewer values in each group, hence a small a. A scheme that prefers
rows with new values leaves more values than chance would. Then the frequencies add up to more than 1 for every a; in
this case each group is assumed to have been drawn from a larger number of rows, by the factor that makes them add up to
1. The values that all groups list share the frequency that the others leave.

Given the values that a group lists, their counts are distributed like negative binomial numbers that are at least 1 and
add up to g. Their expectations are, very nearly,

    b r / (1 - (1 + r)^-b) with b = a f,          or x / (1 - exp(-x)) with x = r f for infinite a,

where r is chosen so that they add up to g: one each if a group has as many values as rows, in proportion to f if it has
far fewer and a is large, closer to equal if a is small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.canonical import line_keys
from discreet.table.combinations import ranks

if TYPE_CHECKING:
    from discreet.families.ambiguity.release import AmbiguousRelease

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

QUANTILES = 8
"""How many quantiles represent the sizes of the groups."""
LOWEST, HIGHEST = 1e-2, 1e5
"""The range of concentrations to search, apart from an infinite one."""
HALVINGS = 40
NEWTON = 12
SETTLED = 1e-10
"""The largest relative step of a rate at which iteration stops: the next step would be about its square."""


class Spread(NamedTuple):
    """The distribution of the values of a block over the groups."""

    frequencies: Floats
    concentration: float | None
    """How close the compositions of groups are to the frequencies; ``None`` if infinite."""
    draws: float = 1.0
    """The factor by which a group's values were drawn from more rows than it has; above 1 only without a
    concentration."""


class LikelyShares(dict[int, Floats]):
    """For each auxiliary table and entry, the expected number of its group's rows that have it, up to a factor.

    Each table is evaluated on first access.
    """

    def __init__(self, release: AmbiguousRelease) -> None:
        """Use the tables and the group sizes of this release."""
        super().__init__()
        self._tables, self._sizes = release.auxiliaries, release.sizes.astype(np.float64)

    def __missing__(self, at: int) -> Floats:
        """Evaluate one table."""
        groups, columns = self._tables[at]
        values = ranks(line_keys(columns, len(groups)))
        spread = likely_spread(np.bincount(values), self._sizes)
        self[at] = expected_numbers(groups.astype(np.intp), values, spread, self._sizes)
        return self[at]


def likely_spread(shown: NDArray[np.int64], sizes: Floats) -> Spread:
    """The spread of values over groups, given how many groups list each value and the sizes of all groups.

    >>> likely_spread(np.array([4, 1]), np.full(4, 3.0)).frequencies.round(2).tolist()
    [0.91, 0.09]
    """
    groups = len(sizes)
    # values listed by equally many groups are equally frequent
    often, place, number = np.unique(shown, return_inverse=True, return_counts=True)
    typical = np.quantile(sizes, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    everywhere = often >= groups
    chances = np.minimum(often, groups - 0.5) / groups
    frequencies = _frequencies(chances, typical, None)
    total = float(frequencies @ number)
    concentration, draws = None, 1.0
    if total > 1.0:
        draws = _crossing(lambda times: float(_frequencies(chances, typical * times, None) @ number), 1.0, 1e3)
        frequencies = _frequencies(chances, typical * draws, None)
    elif everywhere.any():
        frequencies[everywhere] = (1.0 - frequencies[~everywhere] @ number[~everywhere]) / number[everywhere].sum()
    else:
        concentration = _crossing(lambda a: float(_frequencies(chances, typical, a) @ number), LOWEST, HIGHEST)
        frequencies = _frequencies(chances, typical, concentration)
    return Spread((frequencies / (frequencies @ number))[place], concentration, draws)


def expected_numbers(groups: Places, values: Places, spread: Spread, sizes: Floats) -> Floats:
    """The expected number of rows that have each entry, given its group and value.

    >>> spread = Spread(np.array([0.9, 0.1]), None)
    >>> entries = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> expected_numbers(*entries, spread, np.array([2.0, 100.0])).round(1).tolist()
    [1.0, 1.0, 90.0, 10.0]
    """
    wanted = sizes * spread.draws
    weights = spread.frequencies[values]
    endless = spread.concentration is None
    if spread.concentration is not None:
        weights = weights * spread.concentration
    number = len(sizes)
    listed = np.bincount(groups, minlength=number)
    total = np.bincount(groups, weights, minlength=number)
    rates = np.divide(wanted, total, out=np.zeros(number), where=total > 0)  # too large; every step comes closer
    rates[listed >= wanted] = 0.0
    moving = rates > 0.0
    for _ in range(NEWTON):
        entries = np.flatnonzero(moving[groups])
        if not len(entries):
            break
        of = groups[entries]
        means, slopes = _at_least_one(rates[of], weights[entries], endless)
        sums, slope = (np.bincount(of, terms, minlength=number) for terms in (means, slopes))
        # the sums grow like powers of the rate, so Newton steps are taken in its logarithm
        above = np.log(np.maximum(sums, 1.0) / np.maximum(wanted, 1.0)) * sums
        steps = np.divide(above, slope * rates, out=np.zeros(number), where=moving & (slope * rates > 0))
        rates = rates * np.exp(-np.clip(steps, -3.0, 3.0))
        moving &= np.abs(steps) > SETTLED
    return _at_least_one(rates[groups], weights, endless)[0]


def _at_least_one(rates: Floats, weights: Floats, endless: bool) -> tuple[Floats, Floats]:
    """The mean, given at least 1, of a negative binomial number (or Poisson, if endless), and its slope in the rate."""
    growth = weights * (rates if endless else np.log1p(rates))
    small = growth < 1e-9  # so small that the number is 1
    some = np.where(small, 1.0, -np.expm1(-growth))
    mean = np.where(small, 1.0, weights * rates / some)
    change = weights * (1.0 - some) / (1.0 if endless else 1.0 + rates)
    slope = np.where(small, weights / 2.0, (weights - mean * change) / some)
    return mean, slope


def _frequencies(chances: Floats, sizes: Floats, concentration: float | None) -> Floats:
    """The frequencies at which groups of these sizes list values with these chances, found by bisection."""
    from scipy.special import gammaln

    # not scipy.optimize: SciPy 1.14 brackets one value at a time; here all are halved at once, clamped at the ends
    low, high = np.full(len(chances), 1e-12), np.full(len(chances), 1.0 - 1e-9)
    for step in range(HALVINGS):
        middle = np.sqrt(low * high) if step < HALVINGS // 2 else (low + high) / 2.0
        if concentration is None:
            absent = np.exp(np.log1p(-middle)[:, None] * sizes)
        else:
            rest = concentration * (1.0 - middle)[:, None]
            before = gammaln(concentration) - gammaln(concentration + sizes)
            absent = np.exp(gammaln(rest + sizes) - gammaln(rest) + before)
        below = 1.0 - absent.mean(axis=1) < chances
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)


def _crossing(total: Callable[[float], float], low: float, high: float) -> float:
    """The argument at which a decreasing total crosses 1, found by bisection of the logarithm."""
    # not scipy.optimize, which raises an error without a crossing: here the nearest end of the range is the answer
    for _ in range(HALVINGS // 2):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if total(middle) > 1.0 else (low, middle)
    return float(np.sqrt(low * high))
