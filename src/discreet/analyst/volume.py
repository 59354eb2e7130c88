"""Random workloads of a given volume, as in Section 6 of "Preservation of Proximity Privacy" (SIGMOD 2008).

A query of dimensionality w has a range on w - 1 random quasi-identifiers and always one on the sensitive attribute. Its
volume s, from 0 to 1, is the share of the space of these w attributes that it covers: each range has length
floor(|A| x s^(1 / w)) and a random position, where |A| is the number of values in the attribute's domain. If a domain
is continuous, |A| is its length and nothing is rounded. No range is empty.

This differs from ``discreet.analyst.workload`` in two ways: the sensitive attribute counts as one of the w, and lengths
are rounded down as in the paper, so that a query covers less than its share of a narrow domain.
"""

from __future__ import annotations

import numpy as np

from discreet.analyst.queries import check_number
from discreet.analyst.workload import any_one, ranges_on
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.randomness import generator
from discreet.table.query import Query
from discreet.table.table import Table

USUAL = 4
"""The default dimensionality, if the table has that many attributes."""


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
    >>> [(one.attribute, one.high - one.low + 1) for one in query.conditions]
    [('age', 39), ('income', 113550)]
    """
    if table.secret is None:
        raise DiscreetError(
            "a workload of a given volume asks for the sensitive value, and the table has no sensitive attribute; name "
            "one, or ask for a selectivity instead"
        )
    most = len(table.quasi) + 1
    dimensionality = checked("dimensionality", dimensionality, int | None)
    dimensionality = min(USUAL, most) if dimensionality is None else dimensionality
    if not 1 <= dimensionality <= most:
        raise DiscreetError(
            f"a query cannot have {dimensionality} dimensions: this table has {most - 1} quasi-identifiers and the "
            f"sensitive attribute; choose from 1 to {most}"
        )
    if not 0 < checked("volume", volume, float) <= 1:
        raise DiscreetError(f"the volume of a query must be above 0 and at most 1, and {volume} is not; try 0.1")
    check_number(number)
    chance = generator(checked("seed", seed, int | None))
    draws = [ranges_on(column, chance, down=True) for column in table.quasi]
    last = [ranges_on(column, chance, down=True) for column in table.sensitive]
    share = volume ** (1.0 / dimensionality)
    queries = []
    for _ in range(number):
        chosen = np.sort(chance.permutation(most - 1)[: dimensionality - 1]).tolist()
        asked = [*(draws[axis] for axis in chosen), *any_one(last, chance)]
        queries.append(Query(tuple(draw(share) for draw in asked)))
    return queries
