"""Workloads of prefix queries, as "One-off Disclosure Control by Heterogeneous Generalization" (USENIX Security 2022)
asks them."""

from __future__ import annotations

import numpy as np

from discreet.analyst.workload import check_number, ranges_on
from discreet.errors import DiscreetError
from discreet.randomness import generator
from discreet.table.query import Condition, OneOf, Query, Range
from discreet.table.table import Column, Table


def prefix_workload(
    table: Table,
    *,
    prefix: str | None = None,
    dimensionality: int | None = None,
    sensitive: float = 0.5,
    number: int = 1_000,
    seed: int | None = 0,
) -> list[Query]:
    """Random prefix queries, as in Section 5.2 of "One-off Disclosure Control by Heterogeneous Generalization" (USENIX
    Security 2022): how many people up to this level of one attribute have exactly these values of some others?

    A query has a prefix, all values from the lowest of the domain up to a random one, on an attribute with an order; a
    single value on each of some other quasi-identifiers; and, if there is one, a range on the sensitive attribute.
    Values drawn one by one rarely occur together, so those of a query are the values of a random row, and the prefix
    ends anywhere in its domain. Then some queries select nobody, and are dropped and counted as in other workloads.

    ``prefix`` is the attribute with the prefix, by default the first quasi-identifier that has an order.
    ``dimensionality`` is the number of quasi-identifiers in a query, that one included, by default 3 or as many as
    there are. ``sensitive`` is the share of the sensitive attribute's domain that its range covers.
    """
    ordered = [column for column in table.quasi if column.kind != "categorical"]
    first = next((column for column in ordered if prefix in (None, column.name)), None)
    if first is None:
        named = f"the quasi-identifier {prefix!r}" if prefix is not None else "a quasi-identifier"
        raise DiscreetError(
            f"a prefix needs {named} to be numeric or ordinal, and this table has "
            f"{', '.join(column.name for column in ordered) or 'none'}; choose one of those, or another workload"
        )
    others = [column for column in table.quasi if column is not first]
    dimensionality = min(3, len(table.quasi)) if dimensionality is None else dimensionality
    if not 1 <= dimensionality <= len(table.quasi):
        raise DiscreetError(
            f"a query cannot have conditions on {dimensionality} of the {len(table.quasi)} quasi-identifiers of this "
            f"table; choose a dimensionality from 1 to {len(table.quasi)}"
        )
    if not 0 < sensitive <= 1:
        raise DiscreetError(f"a share of the sensitive domain must lie above 0 and at most at 1, not at {sensitive}")
    check_number(number)
    chance = generator(seed)
    last = [] if table.sensitive_attribute is None else [ranges_on(table.sensitive_attribute, chance)]
    queries = []
    for _ in range(number):
        row = int(chance.integers(table.rows))
        chosen = np.sort(chance.permutation(len(others))[: dimensionality - 1]).tolist()
        singles = [_single(others[at], row) for at in chosen]
        queries.append(Query((_prefix(first, chance), *singles, *(draw(sensitive) for draw in last))))
    return queries


def _prefix(column: Column, chance: np.random.Generator) -> Condition:
    """All values up to a random one that occurs."""
    known = [value for code, value in enumerate(column.values.tolist()) if code != column.missing]
    end = int(chance.integers(len(known)))
    if column.kind == "ordinal":
        return OneOf(column.name, tuple(map(str, known[: end + 1])))
    low = known[0] if column.domain is None else column.domain[0]
    return Range(column.name, float(low), float(known[end]))


def _single(column: Column, row: int) -> Condition:
    """The value of a row; where it is missing, the lowest that is not."""
    code = int(column.codes[row])
    value = column.values[code if code != column.missing else (code + 1) % len(column.values)]
    return OneOf(column.name, (float(value),) if column.kind == "numeric" else (str(value),))
