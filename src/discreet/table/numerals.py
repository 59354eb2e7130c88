"""Decides whether the texts of a column are numbers, converts them, and refuses numbers that would be merged."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.raw_column import RawColumn, matches
from discreet.table.texts import LARGEST_WHOLE, LEADING_ZERO, MARKS, NUMBER, WHOLE, exact

SURE_DIGITS = 15
"""Different numbers with at most this many digits never become the same floating-point number."""


def are_numbers(column: RawColumn) -> bool:
    """Whether all texts are numbers, none has leading zeros that would be lost, and no two different ones are merged.

    >>> from discreet.table.raw_column import encode
    >>> [are_numbers(encode("x", pa.chunked_array([texts]))) for texts in (["7", "1e2"], ["01301"], ["7", "seven"])]
    [True, False, False]
    """
    words = pc.utf8_trim_whitespace(column.words)
    if not matches(words, NUMBER).any() or not _readable(words).all():
        return False
    if matches(words, LEADING_ZERO).any() or too_large(column).any():
        return False
    return not _merged(words, _doubles(words)).any()


def numbers_of(column: RawColumn) -> NDArray[np.float64]:
    """Convert the distinct values to numbers; the text ``nan`` becomes NaN."""
    name = column.name
    words = None if column.words is None else pc.utf8_trim_whitespace(column.words)
    if words is not None:
        if not (readable := _readable(words)).all():
            row, text = column.first(~readable)
            way = "correct it (decimals take a point), or declare the column categorical or ordinal"
            raise DiscreetError(
                f"column {name!r} is declared numeric but holds {text!r} in row {row}, which is not a number; "
                f"{mark_advice(text) or way}"
            )
        numbers = _doubles(words)
    else:
        assert column.numbers is not None
        short = column.numbers.dtype in (np.float32, np.float16)
        # A short float means its shortest text: 0.1, not 0.10000000149.
        numbers = np.array([float(str(n)) for n in column.numbers]) if short else column.numbers.astype(np.float64)
    if (infinite := np.isinf(numbers)).any():
        row, text = column.first(infinite)
        raise DiscreetError(
            f"column {name!r} holds the infinite value {text!r} in row {row}; replace it by a number, or empty the cell"
        )
    if (large := too_large(column)).any():
        row, text = column.first(large)
        raise DiscreetError(
            f"column {name!r} is declared numeric but holds {text!r} in row {row}, too large to be told apart from its "
            "neighbours; declare the column categorical, or an identifier"
        )
    if words is not None and (later := _merged(words, numbers)).any():
        row, text = column.first(later)
        before, other = column.first((numbers == numbers[column.codes[row - 1]]) & ~later)
        raise DiscreetError(
            f"column {name!r} is declared numeric but holds {other!r} in row {before} and {text!r} in row {row}, which "
            "have more digits than a number can hold and would become the same; round them, or declare the column "
            "categorical"
        )
    return numbers


def mark_advice(text: str) -> str | None:
    """What to do about a text that commonly marks a missing value; None about any other."""
    mark = text.strip()
    return f"if it stands for a missing value, say {argument('na', [mark])}" if mark.lower() in MARKS else None


def too_large(column: RawColumn) -> NDArray[np.bool_]:
    """Mark the distinct values that are whole numbers too large to be distinguished from their neighbours."""
    if column.numbers is not None:
        if column.numbers.dtype.kind not in "iu":
            return np.zeros(len(column.numbers), np.bool_)
        large = column.numbers > LARGEST_WHOLE
        return large if column.numbers.dtype.kind == "u" else large | (column.numbers < -LARGEST_WHOLE)
    words = pc.utf8_trim_whitespace(column.words)
    # Fifteen digits always fit: only longer texts are checked one by one.
    large = matches(words, WHOLE)
    large &= pc.greater(pc.utf8_length(words), SURE_DIGITS).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(large).tolist():
        large[place] = abs(Decimal(words[place].as_py())) > LARGEST_WHOLE
    return large


def _merged(words: pa.Array, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the texts that become the same floating-point number as an earlier text of a different exact value."""
    differ = np.zeros(len(words), np.bool_)
    # Two different numbers can become equal only if some text is long or has an exponent.
    exponent = pc.match_substring(words, "e", ignore_case=True)
    if not pc.any(pc.or_(pc.greater(pc.utf8_length(words), SURE_DIGITS), exponent)).as_py():
        return differ
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True, equal_nan=False)
    first: dict[float, Decimal | None] = {}
    for place in np.flatnonzero(counts[inverse] > 1).tolist():
        number = exact(words[place].as_py())
        differ[place] = first.setdefault(float(numbers[place]), number) != number
    return differ


def _doubles(words: pa.Array) -> NDArray[np.float64]:
    """Convert texts to the nearest floating-point numbers."""
    try:
        return np.asarray(pc.cast(words, pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([float(word) for word in words.to_pylist()], dtype=np.float64)


def _readable(words: pa.Array) -> NDArray[np.bool_]:
    """Mark the texts that are numbers, nan or infinite."""
    return matches(words, NUMBER) | matches(pc.utf8_lower(words), r"^(nan|[+-]?inf(inity)?)$")
