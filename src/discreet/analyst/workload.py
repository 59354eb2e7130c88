"""Random workloads of count queries, and how accurately a release answers them.

Workloads of a selectivity follow Section 6.2 of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012). A
query has a condition on each of lambda random quasi-identifiers and one on the sensitive attribute. For an expected
selectivity theta, each of these lambda + 1 attributes gets a range of length |A| x theta^(1 / (lambda + 1)) at a random
position, where |A| is the length of its domain. The error of an estimate is relative to the exact count; queries whose
exact count is zero have no error, and are dropped and counted.

If a domain is discrete, |A| is the number of its values: whole numbers, or decimals, from one end of the domain to
the other, the values of an ordered attribute, the leaves of a hierarchy in pre-order. Such a range has a whole length
of at least 1. It is drawn from the two nearest whole lengths so that its mean is the wanted length, which keeps the
expected selectivity at theta.

Workloads of a volume follow Section 6 of "Preservation of Proximity Privacy" (SIGMOD 2008). A query of dimensionality w
has a range on w - 1 random quasi-identifiers and always one on the sensitive attribute. Its volume s is the share of
the space of these w attributes that it covers: each range has length floor(|A| x s^(1 / w)), at least 1, so that a
query covers less than its share of a narrow domain. If a domain is continuous, nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.analyst.queries import relative_errors
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.randomness import generator
from discreet.releases.bit_counts import exact_counts
from discreet.releases.release import Release
from discreet.table.decimals import STEPS, Ruler, unit_of
from discreet.table.query import Condition, OneOf, Query, Range, by_leaves
from discreet.table.table import Column, Table

T = TypeVar("T")
Draw = Callable[[float], Condition]
"""Draws a condition on one attribute that covers the given share of its domain, at a random position."""
USUAL, USUAL_VOLUME = 3, 4
"""The default dimensionality of both kinds of workload, if the table has that many attributes."""


@dataclass(frozen=True)
class WorkloadResult:
    """The errors of a release on a workload, relative to exact counts; NaN if every query was dropped."""

    median: float
    mean: float
    dropped: int
    """The number of queries whose exact count is zero, so that a relative error is undefined."""
    queries: int
    """The number of all queries, including dropped ones."""


def workload(
    table: Table,
    *,
    dimensionality: int | None = None,
    selectivity: float = 0.1,
    number: int = 10_000,
    seed: int | None = 0,
) -> list[Query]:
    """Random queries on a table, reproducible by ``seed``.

    ``dimensionality`` (lambda) is the number of quasi-identifiers in a query, by default 3 or as many as there are;
    ``selectivity`` (theta) is the share of rows that a query would select if all values were equally frequent. With
    several sensitive attributes, each query has a condition on one of them, drawn at random.

    >>> from discreet.datasets import patients
    >>> [len(query.conditions) for query in workload(patients(), dimensionality=2, number=3)]
    [3, 3, 3]
    """
    most = len(table.quasi)
    dimensionality = checked("dimensionality", dimensionality, int | None)
    dimensionality = min(USUAL, most) if dimensionality is None else dimensionality
    if not 0 <= dimensionality <= most or dimensionality + (table.sensitive_attribute is not None) == 0:
        raise DiscreetError(
            f"a query cannot have conditions on {dimensionality} of the {most} quasi-identifiers of this table; "
            f"choose a dimensionality from 1 to {most}"
        )
    if not 0 < checked("selectivity", selectivity, float) < 1:
        raise DiscreetError(f"the selectivity must lie between 0 and 1, and {selectivity} does not; try 0.1")
    chance = generator(checked("seed", seed, int | None))
    share = selectivity ** (1.0 / (dimensionality + (table.sensitive_attribute is not None)))
    return _queries(table, dimensionality, share, check_number(number), chance)


def volume_workload(
    table: Table,
    *,
    dimensionality: int | None = None,
    volume: float = 0.1,
    number: int = 1_000,
    seed: int | None = 0,
) -> list[Query]:
    """Random queries of one dimensionality (w) and volume (s), reproducible by ``seed``.

    With several sensitive attributes, each query has a condition on one of them, drawn at random.

    >>> from discreet.datasets import census
    >>> table = census(100, quasi=("age",), sensitive="income")
    >>> query = volume_workload(table, dimensionality=2, volume=0.25, number=1)[0]
    >>> [(condition.attribute, condition.high - condition.low + 1) for condition in query.conditions]
    [('age', 39), ('income', 113550)]
    """
    if table.sensitive_attribute is None:
        raise DiscreetError(
            "a workload of a given volume asks for the sensitive value, and the table has no sensitive attribute; name "
            "one, or ask for a selectivity instead"
        )
    most = len(table.quasi) + 1
    dimensionality = checked("dimensionality", dimensionality, int | None)
    dimensionality = min(USUAL_VOLUME, most) if dimensionality is None else dimensionality
    if not 1 <= dimensionality <= most:
        raise DiscreetError(
            f"a query cannot have {dimensionality} dimensions: this table has {most - 1} quasi-identifiers and the "
            f"sensitive attribute; choose from 1 to {most}"
        )
    if not 0 < checked("volume", volume, float) <= 1:
        raise DiscreetError(f"the volume of a query must be above 0 and at most 1, and {volume} is not; try 0.1")
    chance = generator(checked("seed", seed, int | None))
    share = volume ** (1.0 / dimensionality)
    return _queries(table, dimensionality - 1, share, check_number(number), chance, down=True)


def _queries(
    table: Table, quasi: int, share: float, number: int, chance: np.random.Generator, *, down: bool = False
) -> list[Query]:
    """Queries on this many random quasi-identifiers and one sensitive attribute, each range a share of its domain."""
    draws = [ranges_on(column, chance, down=down) for column in table.quasi]
    last = [ranges_on(column, chance, down=down) for column in table.sensitive]
    queries = []
    for _ in range(number):
        chosen = np.sort(chance.permutation(len(draws))[:quasi]).tolist()
        asked = [*(draws[axis] for axis in chosen), *any_one(last, chance)]
        queries.append(Query(tuple(draw(share) for draw in asked)))
    return queries


def check_number(number: int) -> int:
    """The number of queries in a workload; raises an error if there are none."""
    if checked("number", number, int) < 1:
        raise DiscreetError(f"a workload needs at least one query, not {number}")
    return number


def any_one(some: Sequence[T], chance: np.random.Generator) -> list[T]:
    """One of some things drawn at random, as a list; without chance if there is at most one."""
    return list(some) if len(some) < 2 else [some[int(chance.integers(len(some)))]]


def run(release: Release, table: Table, queries: Sequence[Query], exact: ArrayLike | None = None) -> WorkloadResult:
    """The errors of a release's estimates relative to the exact counts on the original.

    Pass ``exact`` if these counts are known already, for example when several releases of one table are compared.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> table = patients()
    >>> result = run(dc.publish(table, dc.KAnonymity(1)), table, workload(table, number=100))
    >>> result.queries
    100
    """
    if exact is None:
        exact = exact_counts(table, [by_leaves(table.columns, query) for query in queries])
    truth = np.asarray(exact)
    errors = relative_errors(release.estimates(queries), truth)
    errors = errors[~np.isnan(errors)]
    median, mean = (float(np.median(errors)), float(errors.mean())) if len(errors) else (math.nan, math.nan)
    return WorkloadResult(median, mean, len(queries) - len(errors), len(queries))


def ranges_on(column: Column, chance: np.random.Generator, *, down: bool = False) -> Draw:
    """A function that draws conditions on a column; with ``down``, fractional lengths are rounded down."""
    if column.kind != "numeric":
        return _of_values(column, chance, down)
    known = column.values.astype(np.float64)
    known = known[~np.isnan(known)]
    low, high = column.domain if column.domain is not None else (float(known.min()), float(known.max()))
    ends = np.array([*known, low, high])
    if (unit := unit_of(ends)) in (1.0, *STEPS):
        ruler = Ruler.of(unit)
        bottom, size = int(ruler.up(low)), int(ruler.down(high)) - int(ruler.up(low)) + 1

        def counted(share: float) -> Range:
            first, length = _run(size, share, chance, down)
            if ruler.scale == 1:
                placed = column.floor is not None
                return Range(column.name, bottom + first, bottom + first + length - 1, placed=placed)
            return Range(column.name, *ruler.numbers(np.array([bottom + first, bottom + first + length - 1])).tolist())

        return counted

    def real(share: float) -> Range:
        # interpolate between the ends: their difference may overflow
        place = float(chance.random()) * (1.0 - share)
        start, end = (low * (1.0 - at) + high * at for at in (place, min(1.0, place + share)))
        return Range(column.name, start, end)

    return real


def _of_values(column: Column, chance: np.random.Generator, down: bool) -> Draw:
    """Ranges of ordered values, or of leaves in pre-order; a missing value has no place in the order.

    Conditions list the values one by one, because a release need not know values that only withheld rows have, nor
    their positions.
    """
    values = [str(value) for code, value in enumerate(column.values.tolist()) if code != column.missing]

    def draw(share: float) -> Condition:
        first, length = _run(len(values), share, chance, down)
        return OneOf(column.name, tuple(values[first : first + length]))

    return draw


def _run(size: int, share: float, chance: np.random.Generator, down: bool) -> tuple[int, int]:
    """The start and length of a random range among ``size`` values: ``size x share`` long on average, or rounded down.

    If that product is a whole number, rounding errors must not shorten the range by one.
    """
    wanted = size * share
    more = 0 if down else int(chance.random() < wanted - math.floor(wanted))
    length = min(size, max(1, math.floor(wanted + (1e-9 if down else 0.0)) + more))
    return int(chance.integers(0, size - length + 1)), length
