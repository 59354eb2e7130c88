"""Conditions of queries on columns with a floor: they ask for whole cells, because nothing tells parts of one apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.date_numbers import Meaning, written
from discreet.table.floors import Cells, cells_in, characters
from discreet.table.query import Condition, HasTree, OneOf, Query, Range, number_given
from discreet.table.texts import MISSING
from discreet.table.unnamed import OTHERS, is_unnamed


def in_cells(columns: Iterable[HasTree], asked: Query) -> Query:
    """Return a query whose conditions on columns with a floor are about places of cells; refuse parts of cells.

    >>> from discreet.table.table import Column
    >>> cells, none = Cells("number", "5"), np.zeros(0, np.int32)
    >>> age = Column("age", "numeric", none, np.arange(20), None, (0, 19), notation=cells, floor="5")
    >>> in_cells([age], Query(Range("age", 20, 29))).conditions
    (Range(attribute='age', low=4.0, high=5.0, low_open=False, high_open=False),)
    """
    floored = {each.name: each for each in columns if each.floor is not None}

    def placed(condition: Condition) -> Condition:
        column = floored.get(condition.attribute)
        if column is None or condition.placed:
            return condition
        cells = cells_in(column.notation)
        if cells is None:
            return _of_codes(column, condition)
        return _range(column, cells, condition) if isinstance(condition, Range) else _values(column, cells, condition)

    return Query(tuple(map(placed, asked.conditions)))


def _of_codes(column: HasTree, condition: Condition) -> Condition:
    """Refuse codes that are longer than what is published of them."""
    assert column.floor is not None
    length, tree = characters(column.name, column.floor), column.hierarchy
    for value in condition.values if isinstance(condition, OneOf) else ():
        text = str(value)
        known = text in (MISSING, OTHERS) or is_unnamed(text) or (tree is not None and bool(tree.below(text)))
        if len(text) > length and not known and (tree is None or tree.find(text) < 0):
            raise DiscreetError(
                f"column {column.name!r} is published by its first {length} characters, so nothing tells who has "
                f"{text!r}; ask for {text[:length]!r}"
            )
    return condition


def _range(column: HasTree, cells: Cells, condition: Range) -> Range:
    """Return the range of places of a range of numbers."""
    ruler, gap = cells.ruler, cells.ruler.gap
    low: float | None = None
    high: float | None = None
    if condition.low is not None and (number := _number(column, condition.low)) > -np.inf:
        step = ruler.up(number)
        start = float(ruler.numbers(step + gap if condition.low_open and ruler.numbers(step) == number else step))
        low = float(cells.places(start))
        if float(cells.first(low)) != start and _inside(column, low):
            raise _part(column, cells, low, start)
    if condition.high is not None and (number := _number(column, condition.high)) < np.inf:
        step = ruler.down(number)
        end = float(ruler.numbers(step - gap if condition.high_open and ruler.numbers(step) == number else step))
        high = float(cells.places(end))
        if float(cells.last(high)) != end and _inside(column, high):
            raise _part(column, cells, high, end)
    return Range(column.name, low, high, placed=True)


def _values(column: HasTree, cells: Cells, condition: OneOf) -> OneOf:
    """Return the places of the cells of which all numbers are listed."""
    numbers = np.unique([_number(column, value) for value in condition.values])
    numbers = numbers[np.isfinite(numbers) & cells.ruler.on(numbers)]
    places, listed = np.unique(cells.places(numbers), return_counts=True)
    sizes = cells.ruler.down(cells.last(places)) - cells.ruler.down(cells.first(places)) + 1.0
    for at in np.flatnonzero(listed < sizes).tolist():
        if _inside(column, places[at]):
            raise _part(column, cells, float(places[at]), float(numbers[cells.places(numbers) == places[at]][0]))
    return replace(condition, values=tuple(places[listed == sizes].tolist()), placed=True)


def _number(column: HasTree, value: float | str) -> float:
    meaning: Meaning = column.meaning
    return number_given(column.name, value, meaning)


def _inside(column: HasTree, place: float) -> bool:
    """Whether the column may have numbers in a cell: beyond its domain, it does not matter where a range ends."""
    return column.domain is None or column.domain[0] <= place <= column.domain[1]


def _part(column: HasTree, cells: Cells, place: float, number: float) -> DiscreetError:
    """Return the refusal of a condition that separates a number from others of its cell."""
    first, last = (written(float(end), cells.base) for end in (cells.first(place), cells.last(place)))
    return DiscreetError(
        f"column {column.name!r} is published in {cells}, so nothing tells {written(number, cells.base)} from the rest "
        f"of {first} to {last}; ask for whole cells, as in BETWEEN {first} AND {last}",
        column.name,
    )
