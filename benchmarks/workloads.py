"""Queries as SQL for databases."""

from __future__ import annotations

from discreet.table.query import OneOf, Query
from discreet.table.texts import number_text


def sql_text(query: Query, table: str = "t") -> str:
    """Write a query as SQL for a database.

    Ranges of an ordinal attribute of texts are not supported: a database would compare them alphabetically.
    """
    parts: list[str] = []
    for condition in query.conditions:
        name = _quoted(condition.attribute, '"')
        if isinstance(condition, OneOf):
            listed = ", ".join(_literal(value) for value in condition.values)
            parts.append(f"{name} IN ({listed})" if listed else "1 = 0")
            continue
        if condition.low is None and condition.high is None:
            parts.append(f"{name} IS NOT NULL")
        if condition.low is not None:
            parts.append(f"{name} {'>' if condition.low_open else '>='} {_literal(condition.low)}")
        if condition.high is not None:
            parts.append(f"{name} {'<' if condition.high_open else '<='} {_literal(condition.high)}")
    return f"SELECT COUNT(*) FROM {table}" + (f" WHERE {' AND '.join(parts)}" if parts else "")


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, 2 * mark) + mark


def _literal(value: float | str) -> str:
    return _quoted(value, "'") if isinstance(value, str) else number_text(value)
