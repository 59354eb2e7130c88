"""Columns published unchanged: taken from a table, written, and read back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.labels import number_written
from discreet.table.date_numbers import Notation, written
from discreet.table.multivalued import HAS
from discreet.table.table import Column
from discreet.table.texts import MISSING


class ExactColumn(NamedTuple):
    """A column published unchanged: its distinct values, and the code of each published row's value."""

    values: NDArray[Any]
    codes: NDArray[np.int32]
    notation: Notation = "number"
    """How the numbers are written."""


def exact_column(column: Column, attribute: Attribute | None, rows: NDArray[np.intp]) -> ExactColumn:
    """The published rows of a column, with its values in an order that loading the release restores."""
    codes = column.codes[rows]
    if attribute is None or attribute.kind == "numeric":
        used = np.flatnonzero(np.bincount(codes, minlength=len(column.values)))
        place = np.zeros(len(column.values), np.int32)
        if column.kind == "numeric":
            place[used] = np.arange(len(used))
            return ExactColumn(column.values[used].astype(np.float64) + 0.0, place[codes], column.notation)
        texts = np.array([str(column.values[code]) for code in used], object)
        order = np.argsort(texts)
        place[used[order]] = np.arange(len(used))
        return ExactColumn(texts[order], place[codes])
    known = ordered_values(attribute)
    if column.missing is not None and bool((codes == column.missing).any()):
        known = [MISSING, *known]
    place_of = {value: at for at, value in enumerate(known)}
    place = np.array([place_of.get(str(value), -1) for value in column.values.tolist()], np.int32)
    return ExactColumn(np.array(known, object), place[codes])


def ordered_values(attribute: Attribute) -> list[str]:
    """The values of a categorical or ordinal attribute in the order of the manifest."""
    if attribute.kind != "categorical":
        return list(attribute.values)
    assert attribute.hierarchy is not None, "every categorical attribute has a hierarchy"
    return list(attribute.hierarchy.leaves)


def column_array(coded: ExactColumn, numbers: bool) -> pa.Array:
    """A column for a file, in which a missing number is null; without ``numbers``, numbers become texts."""
    if coded.values.dtype.kind != "f":
        texts = [str(value) for value in coded.values.tolist()]
        return pa.DictionaryArray.from_arrays(pa.array(coded.codes), pa.array(texts, pa.string()))
    known = coded.values[~np.isnan(coded.values)]
    if not numbers or coded.notation != "number":
        words = pa.array(
            [None if math.isnan(value) else written(value, coded.notation) for value in coded.values], pa.string()
        )
        return words.dictionary_encode().take(pa.array(coded.codes))
    values = pa.array(coded.values, from_pandas=True).take(pa.array(coded.codes))
    return values.cast(pa.int64()) if whole(known) else values


def whole(numbers: NDArray[np.float64]) -> bool:
    """Whether all numbers but missing ones are whole, and such that they have one floating-point number each.

    >>> whole(np.array([17.0, np.nan])), whole(np.array([17.0, 0.5])), whole(np.array([2.0**53]))
    (True, False, False)
    """
    known = numbers[~np.isnan(numbers)]
    return bool(np.all((known == np.floor(known)) & (np.abs(known) < 2**53)))


def read_sensitive(attribute: Attribute, words: list[str], codes: NDArray[Any], faults: list[str]) -> ExactColumn:
    """The sensitive attribute, read from its published texts; values that the manifest does not list are faults."""
    if attribute.kind == "numeric":
        return _numbers(attribute, words, codes)
    known = ordered_values(attribute)
    if MISSING in words and MISSING not in known:
        known = [MISSING, *known]
    return read_listed(attribute.name, words, codes, known, "the manifest does not list among its values", faults)


def read_listed(
    name: str, words: list[str], codes: NDArray[Any], known: list[str], unlisted: str, faults: list[str]
) -> ExactColumn:
    """A column with the values that are ``known``, in their order; others are faults, at the end."""
    place = {value: at for at, value in enumerate(known)}
    strange = [word for word in words if word not in place]
    if strange:
        more = f", and {len(strange) - 1:,} other such values." if len(strange) > 1 else "."
        faults.append(f"Column {name!r} holds {strange[0]!r}, which {unlisted}{more}")
        place.update({word: len(place) + at for at, word in enumerate(strange)})
    of_word = np.array([place[word] for word in words], np.int32)
    return ExactColumn(np.array(list(place), object), of_word[codes])


def read_other(attribute: Attribute, words: list[str], codes: NDArray[Any]) -> ExactColumn:
    """A kept column, read from its published texts."""
    if attribute.kind == "numeric":
        return _numbers(attribute, words, codes)
    return read_listed(attribute.name, words, codes, sorted(set(words)), "", [])


def _numbers(attribute: Attribute, words: list[str], codes: NDArray[Any]) -> ExactColumn:
    """A numeric column, read from its published texts; an empty cell is a missing number, whose code is 0."""
    read: list[float] = []
    for word in words:
        try:
            read.append(number_written(word, attribute.notation) if word else math.nan)
        except ValueError:
            raise DiscreetError(
                f"column {attribute.name!r} of the release holds {word!r}, which is not {one_of(attribute)}; the "
                "file was damaged or edited, so publish it again"
            ) from None
    values, of_word = coded_numbers(np.array(read, np.float64))
    return ExactColumn(values, of_word[codes], attribute.notation)


def coded_numbers(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """The distinct numbers, ascending after a missing one, and the code of each number given."""
    values, codes = np.unique(numbers + 0.0, return_inverse=True)  # without the sign of -0
    if len(values) and math.isnan(values[-1]):
        values, codes = np.roll(values, 1), (codes + 1) % len(values)
    return values, codes.astype(np.int32)


def one_of(attribute: Attribute) -> str:
    """The words for a value of a numeric attribute in messages."""
    if attribute.floor is not None:
        return f"one of its {attribute.notation}"
    return "a number" if attribute.notation == "number" else "a date"


def value_name(value: Any, notation: Notation = "number") -> str:
    """A sensitive value as text, as the prior writes it.

    >>> value_name(17.0), value_name(float("nan")), value_name("flu")
    ('17', '(missing)', 'flu')
    """
    if isinstance(value, str):
        return value
    return MISSING if value != value else written(value, notation)


def with_lists(table: pa.Table, attributes: Sequence[Attribute]) -> pa.Table:
    """Replace the derived columns of a published table by one column of lists for each multi-valued attribute.

    >>> import discreet as dc
    >>> people = pa.table({"age": [30, 31, 40, 41], "ill": [["flu"], ["gout", "flu"], ["gout"], ["gout"]]})
    >>> release = dc.publish(dc.read(people, quasi=["age"], sensitive=["ill"]), "beta-likeness(beta=9)")
    >>> with_lists(release.tables(numbers=False)["table"], release.attributes).column_names
    ['group', 'age', 'ill']
    """
    origins: dict[str, dict[str, str]] = {}
    for attribute in attributes:
        if attribute.derived is not None and attribute.name in table.column_names:
            origins.setdefault(attribute.derived.attribute, {})[attribute.name] = attribute.derived.value
    for name, columns in origins.items():
        has = np.column_stack([pc.equal(table.column(each), HAS).to_numpy() for each in columns]).astype(bool)
        offsets = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int32)
        values = np.array(list(columns.values()), object)[np.nonzero(has)[1]]
        listed = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, pa.string()))
        table = table.drop_columns(list(columns)).append_column(name, listed)
    return table
