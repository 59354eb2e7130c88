"""How many of a group's rows hold each of the values that it shows: more of them for values that are common.

Of a group of g rows it is published which values occur, not how often. Suppose that the rows of a group are drawn at
random from a composition of its own, which lies around the frequencies f of the whole table, the closer the larger a
concentration a is (a Dirichlet distribution). Then it shows a value of frequency f with the chance

    1 - product over k from 0 to g - 1 of (a (1 - f) + k) / (a + k),          or 1 - (1 - f)^g without end of a.

The share of the groups that show a value thus tells its frequency for any a; and the frequencies have to add up to 1,
which tells a: a scheme that puts neighbours into a group leaves fewer values in it, and a small a. One that prefers
rows with new values leaves more than chance would: then the frequencies add up to more than 1 for every a, and groups
are taken to have been drawn from so many times more rows that they add up to 1. What all groups show shares what the
others leave.

Given the values that a group shows, their counts are then distributed like negative binomial numbers that are at least
1 and add up to g. Their expectations are, very nearly,

    b r / (1 - (1 + r)^-b) with b = a f,          or x / (1 - exp(-x)) with x = r f without end of a,

r being such that they add up to g: one each where a group has as many values as rows, in proportion to f where it has
far fewer and a is large, more alike where a is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.combinations import numbered

if TYPE_CHECKING:
    from discreet.releases.ambiguous.release import AmbiguousRelease, Auxiliary

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

QUANTILES = 8
"""The sizes of groups are stood for by so many of them."""
LEAST, MOST = 1e-2, 1e5
"""The concentrations that are considered, besides none."""
HALVINGS = 40
NEWTON = 12
SETTLED = 1e-10
"""A step that changes a rate by no larger a share is the last one: the next would be as small as its square."""


class Spread(NamedTuple):
    """How the values of a block are spread over the groups."""

    frequencies: Floats
    concentration: float | None
    """How close the composition of groups is to the frequencies; None without end."""
    draws: float = 1.0
    """From how many times its rows a group's values were drawn; above 1 only without end of the concentration."""


class LikelyShares(Sequence[Floats]):
    """Per auxiliary table and entry: the number of its group's rows that are expected to hold it, but for a factor.

    Each table is judged by itself, when it is asked for.
    """

    def __init__(self, release: AmbiguousRelease) -> None:
        """The tables and the sizes of groups of a release."""
        self._tables, self._sizes = release.auxiliaries, release.sizes.astype(np.float64)
        self._found: dict[int, Floats] = {}

    def __len__(self) -> int:
        """How many auxiliary tables there are."""
        return len(self._tables)

    def __getitem__(self, at: Any) -> Any:
        """The numbers of one table."""
        at = range(len(self))[at]
        if at not in self._found:
            self._found[at] = _expected(self._tables[at], self._sizes)
        return self._found[at]


def _expected(auxiliary: Auxiliary, sizes: Floats) -> Floats:
    columns = auxiliary.columns
    if not len(auxiliary.groups):  # files from which everything was deleted
        return np.zeros(0)
    values = columns[0].codes.astype(np.intp)
    if len(columns) > 1:
        keys = numbered([one.codes for one in columns], [len(one.values) for one in columns], len(auxiliary.groups))
        _, values = np.unique(keys, return_inverse=True)
    shown = np.bincount(values)
    place = np.cumsum(shown > 0) - 1  # of values that some group shows
    spread = likely_spread(shown[shown > 0], sizes)
    return expected_numbers(auxiliary.groups.astype(np.intp), place[values], spread, sizes)


def likely_spread(shown: NDArray[np.int64], sizes: Floats) -> Spread:
    """How values are spread over groups, from how many groups show each and from the sizes of all groups.

    >>> likely_spread(np.array([4, 1]), np.full(4, 3.0)).frequencies.round(2).tolist()
    [0.91, 0.09]
    """
    groups = len(sizes)
    # values that as many groups show are equally frequent
    often, place, number = np.unique(shown, return_inverse=True, return_counts=True)
    typical = np.quantile(sizes, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    everywhere = often >= groups
    chances = np.minimum(often, groups - 0.5) / groups
    found = _frequencies(chances, typical, None)
    total = float(found @ number)
    concentration, draws = None, 1.0
    if total > 1.0:
        draws = _crossing(lambda times: float(_frequencies(chances, typical * times, None) @ number), 1.0, 1e3)
        found = _frequencies(chances, typical * draws, None)
    elif everywhere.any():
        found[everywhere] = (1.0 - found[~everywhere] @ number[~everywhere]) / number[everywhere].sum()
    else:
        concentration = _crossing(lambda a: float(_frequencies(chances, typical, a) @ number), LEAST, MOST)
        found = _frequencies(chances, typical, concentration)
    return Spread((found / (found @ number))[place], concentration, draws)


def expected_numbers(groups: Places, values: Places, spread: Spread, sizes: Floats) -> Floats:
    """How many rows hold each entry, given its group and value.

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
    rates = np.divide(wanted, total, out=np.zeros(number), where=total > 0)  # too large, and nearer with every step
    rates[listed >= wanted] = 0.0
    moving = rates > 0.0
    for _ in range(NEWTON):
        entries = np.flatnonzero(moving[groups])
        if not len(entries):
            break
        of = groups[entries]
        means, slopes = _at_least_one(rates[of], weights[entries], endless)
        sums, slope = (np.bincount(of, one, minlength=number) for one in (means, slopes))
        # the numbers grow like powers of the rate, so that steps are taken in its logarithm
        above = np.log(np.maximum(sums, 1.0) / np.maximum(wanted, 1.0)) * sums
        steps = np.divide(above, slope * rates, out=np.zeros(number), where=moving & (slope * rates > 0))
        rates = rates * np.exp(-np.clip(steps, -3.0, 3.0))
        moving &= np.abs(steps) > SETTLED
    return _at_least_one(rates[groups], weights, endless)[0]


def _at_least_one(rates: Floats, weights: Floats, endless: bool) -> tuple[Floats, Floats]:
    """The mean of a negative binomial (or, endless, a Poisson) number that is at least 1, and its slope by the rate."""
    growth = weights * (rates if endless else np.log1p(rates))
    small = growth < 1e-9  # next to nothing: then the number is 1
    some = np.where(small, 1.0, -np.expm1(-growth))
    mean = np.where(small, 1.0, weights * rates / some)
    change = weights * (1.0 - some) / (1.0 if endless else 1.0 + rates)
    slope = np.where(small, weights / 2.0, (weights - mean * change) / some)
    return mean, slope


def _frequencies(chances: Floats, sizes: Floats, concentration: float | None) -> Floats:
    """The frequencies of values that groups of these sizes show with these chances, found by halving."""
    from scipy.special import gammaln

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
    """Where a total that falls crosses 1, found by halving the logarithm."""
    for _ in range(HALVINGS // 2):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if total(middle) > 1.0 else (low, middle)
    return float(np.sqrt(low * high))
