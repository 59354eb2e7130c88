"""Conditions of queries on columns whose numbers were fitted: beyond a limit nothing tells numbers apart."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.errors import DiscreetError
from discreet.table.query import HasTree, Query, Range
from discreet.table.texts import number_text


def within_limits(columns: Iterable[HasTree], asked: Query) -> Query:
    """Return a query; refuse one with a bound beyond a limit of a column."""
    fits = {each.name: each.fit for each in columns if each.fit is not None}
    for condition in asked.conditions:
        name = condition.attribute
        if name not in fits or condition.placed:
            continue
        bounds = condition.ends() if isinstance(condition, Range) else condition.numbers().tolist()
        for limit in (each for each in map(fits[name].limit, bounds) if each is not None):
            text, sign, side = number_text(limit), *((">=", "above") if limit == fits[name].top else ("<=", "below"))
            raise DiscreetError(
                f"column {name!r} is published with {text} for all numbers {side} it, so nothing tells these apart; "
                f"ask for all of them, as in {name} {sign} {text}, or leave the bound beyond it out",
                name,
            )
    return asked
