"""Assigns rows to persons in tables where a person may have several rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.raw_column import RawColumn, matches
from discreet.table.table import Column, Table
from discreet.table.texts import LEADING_ZERO, NUMBER, exact

ONE_WAY = r"^(-?[1-9][0-9]*|0[0-9]*)$"
"""Numbers in a spelling in which equal numbers have equal texts."""


def person_of_rows(column: RawColumn) -> NDArray[np.int32] | None:
    """Return the number of each row's person; None if every person has one row. A row without a person is refused.

    >>> import pyarrow as pa
    >>> from discreet.table.raw_column import encode
    >>> person_of_rows(encode("id", pa.chunked_array([["a7", "b1", "a7"]]))).tolist()
    [0, 1, 0]
    """
    nobody = np.flatnonzero(column.codes < 0)
    if len(nobody):
        others = "" if len(nobody) == 1 else f", nor whose {len(nobody) - 1:,} other rows are"
        raise DiscreetError(
            f"column {column.name!r} does not say whose row {nobody[0] + 1} is{others}; fill it in, or leave out rows "
            "without a person"
        )
    persons = meant(column)
    return persons if bool((np.bincount(persons) > 1).any()) else None


def meant(column: RawColumn) -> NDArray[np.int32]:
    """Return for each row the number of the person its cell denotes; -1 where the cell is missing.

    Blanks around a text are ignored. If all texts are numbers, 1, 1.0 and 1e0 denote the same person, but 007 and 7 do
    not.

    >>> import pyarrow as pa
    >>> from discreet.table.raw_column import encode
    >>> meant(encode("id", pa.chunked_array([["7", "7.0", " 7", "007", "8"]]))).tolist()
    [0, 0, 0, 1, 2]
    """
    keys: Sequence[Any]
    if column.words is None:
        assert column.numbers is not None
        if column.numbers.dtype.kind in "iu":
            return column.codes
        keys = column.numbers.tolist()  # 0.0 and -0.0 are equal keys
    else:
        words = pc.utf8_trim_whitespace(column.words)
        if matches(words, NUMBER).all() and not matches(words, ONE_WAY).all():
            texts, zeros = words.to_pylist(), matches(words, LEADING_ZERO).tolist()
            exactly = [None if zero else exact(text) for text, zero in zip(texts, zeros, strict=True)]
            keys = [text if number is None else number for text, number in zip(texts, exactly, strict=True)]
        elif words.equals(column.words):
            return column.codes
        else:
            keys = words.to_pylist()
    first: dict[Any, int] = {}
    places = [first.setdefault(key, len(first)) for key in keys]
    return np.array([*places, -1], np.int32)[column.codes]


def check_alone(column: RawColumn) -> None:
    """Refuse an identifier with repeated values, if no column assigns rows to persons.

    >>> import pyarrow as pa
    >>> from discreet.table.raw_column import encode
    >>> check_alone(encode("id", pa.chunked_array([["a7", "b1", None, None]])))
    """
    codes = meant(column)
    counts = np.bincount(codes[codes >= 0])
    if not bool((counts > 1).any()):
        return
    most = int(counts.argmax())
    text = column.texts[column.codes[int(np.argmax(codes == most))]]
    raise DiscreetError(
        f"the identifier {column.name!r} repeats: {int((counts > 1).sum()):,} of its {len(counts):,} values stand in "
        f"several rows, {text!r} in {counts[most]:,}; if these are rows of one person say "
        f"{argument('person', column.name)}, so that promises are kept about persons; if they are not, leave "
        f"{column.name!r} out of {argument('identifiers')}, and it is dropped anyway"
    )


def one_row_each(table: Table) -> Table:
    """Reduce a table to one row per person, in which schemes search for groups.

    Of a person's values of a quasi-identifier the row has the middle one, in the order of codes; of the sensitive
    values the one that the fewest persons have. A person is unusable if any of the person's rows is.

    >>> age = Column("age", "numeric", np.array([0, 1, 2, 0], np.int32), np.array([30, 31, 32]))
    >>> table = one_row_each(Table(4, (age,), None, person=np.array([0, 0, 0, 1], np.int32)))
    >>> table.rows, table.quasi[0].codes.tolist()
    (2, [1, 0])
    """
    person = table.person
    assert person is not None, "a table of persons has no other rows than theirs"
    starts = np.concatenate([[0], np.cumsum(np.bincount(person, minlength=table.persons))])
    middle = (starts[:-1] + starts[1:] - 1) // 2

    def chosen(column: Column, rank: NDArray[np.int64], place: NDArray[np.int64]) -> Column:
        return replace(column, codes=column.codes[np.lexsort((rank[column.codes], person))][place])

    def rarest_first(column: Column) -> NDArray[np.int64]:
        width = len(column.values)
        held = np.unique(person.astype(np.int64) * width + column.codes) % width
        rank = np.empty(width, np.int64)
        rank[np.argsort(np.bincount(held, minlength=width), kind="stable")] = np.arange(width)
        return rank

    return Table(
        table.persons,
        tuple(chosen(column, np.arange(len(column.values)), middle) for column in table.quasi),
        tuple(chosen(column, rarest_first(column), starts[:-1]) for column in table.sensitive),
        unusable=None if table.unusable is None else np.unique(person[table.unusable]).astype(np.int64),
    )


def several_values(table: Table, column: Column) -> int:
    """Count the persons who have more than one distinct value of a column.

    >>> flu = Column("flu", "categorical", np.array([0, 1, 0], np.int32), np.array(["no", "yes"], object))
    >>> several_values(Table(3, (), flu, person=np.array([0, 0, 1], np.int32)), flu)
    1
    """
    if table.person is None:
        return 0
    width = len(column.values)
    held = np.unique(table.person.astype(np.int64) * width + column.codes) // width
    return int((np.bincount(held) > 1).sum())
