"""Selects the rows of a table by a condition, in the SQL of count queries, before anything else is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.dates import as_dates
from discreet.table.kinds import ColumnSpec, code
from discreet.table.raw_column import RawColumn
from discreet.table.table import Column


def columns_in(condition: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a condition is about.

    >>> columns_in("year = 1984 AND SEX = 'f'", ["sex", "year", "pay"])
    ('year', 'sex')
    """
    from discreet.table.sql import parse_condition

    try:
        return tuple(parse_condition(condition, dict.fromkeys(names, "categorical")).by_attribute)
    except DiscreetError as fault:
        # whether columns have an order is known only when they are read
        raise _unfit(condition, fault) from None


def rows_with(condition: str, columns: Mapping[str, RawColumn], specs: Mapping[str, ColumnSpec]) -> NDArray[np.intp]:
    """Return the rows that satisfy a condition on these columns; a missing value satisfies none but ``(missing)``."""
    from discreet.table.sql import parse_condition

    settled = {name: _settled(column, specs.get(name, ColumnSpec())) for name, column in columns.items()}
    try:
        asked = parse_condition(condition, {name: column.meaning for name, column in settled.items()})
        keep = [
            each.admits(column.values, column.meaning)[column.codes]
            for each in asked.conditions
            for column in (settled[each.attribute],)
        ]
    except DiscreetError as fault:
        raise _unfit(condition, fault) from None
    rows = np.flatnonzero(np.logical_and.reduce(keep))
    if not len(rows):
        raise DiscreetError(f"no row satisfies {argument('where', condition)}; correct the condition, or leave it out")
    return rows


def _settled(column: RawColumn, spec: ColumnSpec) -> Column:
    """Return a column as the source has it: neither made coarse nor under a hierarchy."""
    dates = as_dates(column, spec.form, spec.date) if spec.kind is None and column.order is None else column
    return code(dates, ColumnSpec(spec.kind, date=spec.date, form=spec.form), "value", withheld=False)[0]


def _unfit(condition: str, fault: DiscreetError) -> DiscreetError:
    return DiscreetError(f"{argument('where', condition)} cannot be used: {fault}")
