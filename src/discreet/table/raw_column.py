"""Columns of any source in one form: the distinct values, and for every row the code of its value."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.date_numbers import Notation, written
from discreet.table.texts import LARGEST_WHOLE, is_null, number_text, value_text


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A coded column whose kind is not settled yet; its distinct values are either ``words`` or ``numbers``."""

    name: str
    codes: NDArray[np.int32]
    """Per row: the index of its distinct value; -1 where the value is missing."""
    words: pa.Array | None
    """The distinct values of a text column."""
    numbers: NDArray[Any] | None
    """The distinct values of a column of numbers, in any order."""
    categories: bool = False
    """Whether the source declares the values to be categories, even if they are numbers."""
    untyped: bool = False
    """Whether texts may represent numbers, as in CSV."""
    order: tuple[str, ...] | None = None
    """The order of the values, if the source declares one."""
    moments: bool = False
    """Whether the source declares the values to be dates or times."""
    notation: Notation = "number"
    """How the numbers are written: as numbers, dates, or dates with a time of day."""
    lists: tuple[tuple[str, ...], ...] | None = None
    """Per distinct value: the values that it lists, if every cell of the source is a list."""
    marked: frozenset[str] = frozenset()
    """The marks of missing values that were found in cells."""

    @cached_property
    def texts(self) -> list[str]:
        """The distinct values as text."""
        if self.words is not None:
            return [str(word) for word in self.words.to_pylist()]
        assert self.numbers is not None
        if self.numbers.dtype == np.float32:
            return [number_text(float(str(number))) for number in self.numbers]
        return [written(number, self.notation) for number in self.numbers.tolist()]

    def first(self, places: NDArray[np.bool_]) -> tuple[int, str]:
        """Return the first row (counted from 1) with a distinct value marked in ``places``, and the value's text."""
        row = int(np.argmax(np.append(places, False)[self.codes]))
        return row + 1, self.texts[self.codes[row]]


def encode(name: str, column: pa.ChunkedArray, *, untyped: bool = False) -> RawColumn:
    """Code an Arrow column of any plain type; null, NaN and blank text are missing.

    >>> coded = encode("dose", pa.chunked_array([[2.0, None, 2.0, 1.5]]))
    >>> coded.codes.tolist(), coded.texts
    ([0, -1, 0, 1], ['2', '1.5'])
    """
    kind = column.type
    categories = pa.types.is_dictionary(kind)
    if isinstance(kind, pa.ExtensionType):
        raise _unfit(name, kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _encode_lists(name, column.to_pylist())
    if pa.types.is_null(kind):
        return RawColumn(name, np.full(len(column), -1, np.int32), pa.array([], pa.string()), None)
    if categories and pa.types.is_nested(kind.value_type):
        raise _unfit(name, kind.value_type)
    if str(kind) == "string_view":
        column = column.cast(pa.large_string())
    elif pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):  # Arrow does not code these
        column = column.cast(pa.decimal128(kind.precision, kind.scale))
    elif not (categories or _is_text(kind) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind)):
        raise _unfit(name, kind)
    array = one_dictionary(column if categories else column.dictionary_encode())
    codes = array.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    values, missing = _plain(name, array.dictionary)
    order = None
    if categories and kind.ordered:
        texts = RawColumn(name, codes, *_sides(values)).texts
        order = tuple(text for text, gone in zip(texts, missing.tolist(), strict=True) if not gone)
    codes, values = _drop(codes, values, missing)
    inner = kind.value_type if categories else kind
    moments = pa.types.is_date(inner) or pa.types.is_timestamp(inner)
    return RawColumn(name, codes, *_sides(values), categories, untyped, order, moments)


def one_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a coded column as one array."""
    array = pa.chunked_array(map(_without_null, column.chunks), column.type).unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        return array.chunk(0) if array.num_chunks else pa.array([], column.type)
    return array


def _without_null(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return a coded array whose dictionary has no null, because Arrow cannot merge dictionaries that have one."""
    kept = array.dictionary.is_valid().to_numpy(zero_copy_only=False)
    if kept.all():
        return array
    places = pa.array(np.cumsum(kept) - 1, array.type.index_type, mask=~kept)
    values = array.dictionary.drop_null()
    return pa.DictionaryArray.from_arrays(places.take(array.indices), values, ordered=array.type.ordered)


def matches(words: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Mark the texts that match a pattern of Arrow's (RE2).

    >>> matches(pa.array(["7", "seven"]), "^[0-9]$").tolist()
    [True, False]
    """
    return np.array(pc.match_substring_regex(words, pattern).to_numpy(zero_copy_only=False))


def encode_objects(name: str, values: Sequence[Any], marks: Collection[str] = ()) -> RawColumn:
    """Code a column of Python objects: as numbers if all are, else as text; texts in ``marks`` are missing.

    >>> encode_objects("mixed", [1, "a", True, None, 1.0]).texts
    ['1', 'a', 'True']
    """
    marked = (None if isinstance(value, str) and value.strip() in marks else value for value in values)
    cells = [None if is_null(value) else value for value in marked]
    present = [value for value in cells if value is not None]
    if present and all(isinstance(value, (list, tuple, set, frozenset, np.ndarray)) for value in present):
        return _encode_lists(name, cells)
    nested = next((value for value in present if isinstance(value, (list, tuple, set, dict, np.ndarray, bytes))), None)
    if nested is not None:
        raise _unfit(name, type(nested).__name__)
    spelled: dict[Any, str] | None = None
    if present and all(isinstance(value, (Real, Decimal)) and not isinstance(value, bool) for value in present):
        whole = all(isinstance(value, Integral) for value in present)
        try:
            if whole or _as_doubles(present) is not None:
                numbers = [None if value is None else value if whole else float(value) for value in cells]
                return encode(name, pa.chunked_array([pa.array(numbers, pa.int64() if whole else pa.float64())]))
        except (pa.ArrowInvalid, OverflowError):
            pass  # integers beyond 64 bits are treated as names, not quantities
        spelled = {value: value_text(value) for value in reversed(present)}  # 1.5 and 1.50 get the same name, the first
    texts = [None if value is None else spelled[value] if spelled else value_text(value) for value in cells]
    return encode(name, pa.chunked_array([_texts(name, texts)]))


def _texts(name: str, texts: Sequence[str | None]) -> pa.Array:
    """Return texts of Python as an Arrow array; refuse what is no text to anyone else."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError as fault:
        raise DiscreetError(
            f"column {name!r} holds {brief(fault.object)}, which is not a text that a file can hold, because half of a "
            "surrogate pair is not a character; correct it"
        ) from None


def _check_readable(name: str, words: pa.Array) -> None:
    """Refuse texts that many programs would read only in part."""
    ended = words.filter(pc.match_substring(words, "\0"))
    if len(ended):
        shown = brief(ended[0].as_py())
        raise DiscreetError(
            f"column {name!r} holds {shown}, which has the character NUL, where many programs stop reading; correct it"
        )


def _encode_lists(name: str, cells: Sequence[Any]) -> RawColumn:
    """Code a column of lists; null is an empty list, and null in a list is nothing."""
    numbers: dict[tuple[str, ...], int] = {}
    codes = np.empty(len(cells), np.int32)
    for row, cell in enumerate(cells):
        items = () if cell is None else cell
        nested = next((item for item in items if isinstance(item, (list, tuple, set, dict, np.ndarray, bytes))), None)
        if nested is not None:
            raise _unfit(name, f"list of {type(nested).__name__}")
        texts = {value_text(item).strip() for item in items if not is_null(item)} - {""}
        codes[row] = numbers.setdefault(tuple(sorted(texts)), len(numbers))
    listed = _texts(name, [text for texts in numbers for text in texts])  # how a list is written hides what is no text
    _check_readable(name, listed)
    words = pa.array([str(list(texts)) for texts in numbers], pa.string())
    return RawColumn(name, codes, words, None, categories=True, lists=tuple(numbers))


def unmarked(column: RawColumn, marks: Collection[str]) -> RawColumn:
    """Return a column in which the cells that contain one of the marks are missing.

    >>> unmarked(encode("pay", pa.chunked_array([["7", "NA", "9"]])), ["NA"]).codes.tolist()
    [0, -1, 1]
    """
    if column.lists is not None:
        kept = tuple(tuple(item for item in cell if item not in marks) for cell in column.lists)
        return replace(column, lists=kept, marked=frozenset(marks).intersection(chain.from_iterable(column.lists)))
    missing = np.array([text.strip() in marks for text in column.texts] if marks else [], np.bool_)
    if not missing.any():
        return column
    found = frozenset(column.texts[at].strip() for at in np.flatnonzero(missing))
    order = None if column.order is None else tuple(text for text in column.order if text.strip() not in marks)
    codes, values = _drop(column.codes, column.numbers if column.words is None else column.words, missing)
    words, numbers = _sides(values)
    return replace(column, codes=codes, words=words, numbers=numbers, order=order, marked=column.marked | found)


def only(column: RawColumn, rows: NDArray[np.intp]) -> RawColumn:
    """Return a column with some of its rows, and with the values that these have.

    >>> only(encode("pay", pa.chunked_array([["7", "8", "9"]])), np.array([0, 2])).texts
    ['7', '9']
    """
    values: Any = column.numbers if column.words is None else column.words
    codes, left = _drop(column.codes[rows], values, np.zeros(len(values), np.bool_))
    used = np.unique(column.codes[rows])
    lists = None if column.lists is None else tuple(column.lists[code] for code in used.tolist() if code >= 0)
    words, numbers = _sides(left)
    return replace(column, codes=codes, words=words, numbers=numbers, lists=lists)


def _as_doubles(values: Sequence[Any]) -> NDArray[np.float64] | None:
    """Convert exact numbers to floating-point ones; None if two different numbers might become equal."""
    try:
        numbers = [float(value) for value in values]
    except OverflowError:
        return None
    if len(set(numbers)) < len(set(values)):
        return None
    exact = (value for value in values if not isinstance(value, (float, np.floating)))
    large = any(LARGEST_WHOLE < abs(value) != math.inf for value in exact)
    return None if large else np.array(numbers, np.float64)


def _sides(values: pa.Array | NDArray[Any]) -> tuple[pa.Array | None, NDArray[Any] | None]:
    return (None, values) if isinstance(values, np.ndarray) else (values, None)


def _plain(name: str, values: pa.Array) -> tuple[pa.Array | NDArray[Any], NDArray[np.bool_]]:
    """Return the distinct values as text or numbers, and mark those that mean a missing value."""
    kind = values.type
    null = values.is_null().to_numpy(zero_copy_only=False)
    if _is_text(kind):
        words = values.cast(pa.string()) if kind != pa.string() else values
        _check_readable(name, words)
        blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(words)), 0).fill_null(True)
        return words, null | blank.to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(kind):
        return pa.array([None if truth is None else str(truth) for truth in values.to_pylist()], pa.string()), null
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return _moments(name, values), null
    if pa.types.is_decimal(kind):
        exact = values.to_pylist()
        doubles = _as_doubles([number for number in exact if number is not None])
        if doubles is None:
            return pa.array([None if number is None else str(number) for number in exact], pa.string()), null
        values = pa.array([None if number is None else float(number) for number in exact], pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise _unfit(name, kind)
    numbers = values.drop_null().to_numpy(zero_copy_only=False)
    if null.any():
        full = np.zeros(len(null), dtype=numbers.dtype)
        full[~null] = numbers
        numbers = full
    return numbers, null | np.isnan(numbers)


def _moments(name: str, values: pa.Array) -> pa.Array:
    """Write dates and times in ISO 8601: no trailing zeros of fractions, no time of day if all are midnight."""
    kind = values.type
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _unfit(name, kind) from None
    beyond = texts.filter(pc.starts_with(texts, "<"))
    if len(beyond):  # Arrow writes <value out of range: ...> for times outside its calendar
        number = re.sub(r"[^\d-]", "", beyond[0].as_py())
        raise DiscreetError(
            f"column {name!r} of the type {kind} holds {number}, a time too far from 1970 to be written as a "
            "date; correct it, or empty the cell"
        )
    texts = pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+(\D|$)", r"\1\2")
    texts = pc.replace_substring_regex(texts, r"\.0+(\D|$)", r"\1")
    if not pa.types.is_timestamp(kind):
        return texts
    if kind.tz is None and pc.all(pc.ends_with(texts, " 00:00:00")).as_py():
        texts = pc.utf8_slice_codeunits(texts, 0, -len(" 00:00:00"))
    return pc.replace_substring(texts, " ", "T", max_replacements=1)


def _drop(
    codes: NDArray[np.int32], values: pa.Array | NDArray[Any], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], pa.Array | NDArray[Any]]:
    """Drop distinct values that are missing or do not occur in any row."""
    kept = (np.bincount(codes + 1, minlength=len(missing) + 1)[1:] > 0) & ~missing
    if kept.all():
        return codes, values
    lookup = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    return lookup[codes], values[kept] if isinstance(values, np.ndarray) else values.filter(pa.array(kept))


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"


def _unfit(name: str, kind: pa.DataType | str) -> DiscreetError:
    return DiscreetError(
        f"column {name!r} holds values of the type {kind}, which cannot be coded; turn them into text or numbers"
    )
