"""Random count queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.releases import GeneralizedRelease
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Column, Table
from discreet.table.unnamed import is_unnamed


def random_query(rng: np.random.Generator, table: Table, release: GeneralizedRelease | None = None) -> Query:
    """Draw a query with ranges and lists of values on some columns, sometimes several on the same column.

    Ranges of an ordinal column end at values that the release names, because it does not know the rank of others.
    """
    attributes = () if release is None else release.attributes
    listed = {
        one.name: [value for value in one.values if not is_unnamed(value)]
        for one in attributes
        if one.kind == "ordinal"
    }
    conditions: list[Any] = []
    for column in table.columns:
        while rng.random() < 0.5:
            conditions.append(random_condition(rng, column, listed.get(column.name), column not in table.other))
    return Query(tuple(conditions))


def random_condition(rng: np.random.Generator, column: Column, listed: Any, ordered: bool) -> Range | OneOf:
    known = (
        listed
        if listed is not None
        else [value for code, value in enumerate(column.values.tolist()) if code != column.missing]
    )
    if not known:
        return Range(column.name)
    some = [known[i] for i in rng.integers(0, len(known), rng.integers(0, 4))]
    if column.kind == "categorical" or not ordered or rng.random() < 0.3:
        return OneOf(column.name, (*some, *(["stranger"] if column.kind != "numeric" else [12.5])))
    ends = [known[i] for i in sorted(rng.integers(0, len(known), 2))]
    if column.kind == "numeric":
        ends = sorted(end + step for end, step in zip(ends, rng.choice([-0.5, 0.0, 0.0, 3.0], 2), strict=True))
    low, high = (None if rng.random() < 0.2 else end for end in ends)
    return Range(column.name, low, high, bool(rng.random() < 0.3), bool(rng.random() < 0.3))
