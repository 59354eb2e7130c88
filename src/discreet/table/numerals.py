"""Decides whether the texts of a column are numbers, converts them, and refuses numbers that would be merged."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.encoded import Encoded
from discreet.table.texts import LARGEST_WHOLE, LEADING_ZERO, MARKS, NUMBER, WHOLE, exact

SURE_DIGITS = 15
"""Different numbers with at most this many digits never become the same floating-point number."""


def are_numbers(column: Encoded) -> bool:
    """Whether all texts are numbers, none has leading zeros that would be lost, and no two different ones are merged.

    >>> from discreet.table.encoded import encode
    >>> [are_numbers(encode("x", pa.chunked_array([texts]))) for texts in (["7", "1e2"], ["01301"], ["7", "seven"])]
    [True, False, False]
    """
    words = pc.utf8_trim_whitespace(column.words)
    plain = pc.match_substring_regex(words, NUMBER).to_numpy(zero_copy_only=False)
    if not plain.any() or not (plain | _nan_text(words) | _infinite_text(words)).all():
        return False
    if pc.any(pc.match_substring_regex(words, LEADING_ZERO)).as_py() or too_large(column).any():
        return False
    return not merged(words, _doubles(words)).any()


def numbers_of(column: Encoded) -> NDArray[np.float64]:
    """Convert the distinct values to numbers; the text ``nan`` becomes NaN."""
    name = column.name
    bad: NDArray[np.bool_]
    if column.numbers is not None:
        short = column.numbers.dtype in (np.float32, np.float16)
        # A short float means its shortest text: 0.1, not 0.10000000149.
        numbers = np.array([float(str(n)) for n in column.numbers]) if short else column.numbers.astype(np.float64)
    else:
        words = pc.utf8_trim_whitespace(column.words)
        fits = pc.match_substring_regex(words, NUMBER).to_numpy(zero_copy_only=False)
        bad = ~(fits | _nan_text(words) | _infinite_text(words))
        if bad.any():
            row = column.row_of(bad)
            text = column.texts[column.codes[row - 1]]
            way = "correct it (decimals take a point), or declare the column categorical or ordinal"
            if text.strip().lower() in MARKS:
                way = f"if it stands for a missing value, say {argument('na', [text.strip()])}"
            raise DiscreetError(
                f"column {name!r} is declared numeric but holds {text!r} in row {row}, which is no number; {way}"
            )
        numbers = _doubles(words)
    bad = np.isinf(numbers)
    if bad.any():
        row = column.row_of(bad)
        raise DiscreetError(
            f"column {name!r} holds the infinite value {column.texts[column.codes[row - 1]]!r} in row {row}; "
            "replace it by a number, or empty the cell"
        )
    bad = too_large(column)
    if bad.any():
        row = column.row_of(bad)
        raise DiscreetError(
            f"column {name!r} is declared numeric but holds {column.texts[column.codes[row - 1]]!r} in row {row}, too "
            "large to be told apart from its neighbours; declare the column categorical, or an identifier"
        )
    if column.words is not None and (bad := merged(words, numbers)).any():
        other = column.row_of(bad)
        shared = numbers == numbers[column.codes[other - 1]]
        row = column.row_of(shared & ~bad)
        one, two = (column.texts[column.codes[place - 1]] for place in (row, other))
        raise DiscreetError(
            f"column {name!r} is declared numeric but holds {one!r} in row {row} and {two!r} in row {other}, which "
            "have more digits than a number can hold and would become the same; round them, or declare the column "
            "categorical"
        )
    return numbers


def too_large(column: Encoded) -> NDArray[np.bool_]:
    """Mark the distinct values that are whole numbers too large to be distinguished from their neighbours."""
    if column.numbers is not None:
        if column.numbers.dtype.kind not in "iu":
            return np.zeros(len(column.numbers), np.bool_)
        large = column.numbers > LARGEST_WHOLE
        return large if column.numbers.dtype.kind == "u" else large | (column.numbers < -LARGEST_WHOLE)
    words = pc.utf8_trim_whitespace(column.words)
    # Fifteen digits always fit: only longer texts are checked one by one.
    suspects = pc.and_(pc.greater(pc.utf8_length(words), SURE_DIGITS), pc.match_substring_regex(words, WHOLE))
    large = np.array(suspects.to_numpy(zero_copy_only=False))
    for place in np.flatnonzero(large).tolist():
        large[place] = abs(Decimal(words[place].as_py())) > LARGEST_WHOLE
    return large


def merged(words: pa.Array, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the texts that become the same floating-point number as an earlier text of a different exact value.

    >>> texts = pa.array(["0.5", ".50", "0.50000000000000000001"])
    >>> merged(texts, np.array([0.5, 0.5, 0.5])).tolist()
    [False, False, True]
    """
    found = np.zeros(len(words), np.bool_)
    # Two different numbers can become equal only if some text is long or has an exponent.
    exponent = pc.or_(pc.match_substring(words, "e"), pc.match_substring(words, "E"))
    if not pc.any(pc.or_(pc.greater(pc.utf8_length(words), SURE_DIGITS), exponent)).as_py():
        return found
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True, equal_nan=False)
    first: dict[float, Decimal | None] = {}
    for place in np.flatnonzero(counts[inverse] > 1).tolist():
        number = exact(words[place].as_py())
        found[place] = first.setdefault(float(numbers[place]), number) != number
    return found


def _doubles(words: pa.Array) -> NDArray[np.float64]:
    """Convert texts to the nearest floating-point numbers."""
    try:
        return np.asarray(pc.cast(words, pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([float(word) for word in words.to_pylist()], dtype=np.float64)


def _nan_text(words: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.equal(pc.utf8_lower(words), "nan").to_numpy(zero_copy_only=False))


def _infinite_text(words: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.match_substring_regex(pc.utf8_lower(words), r"^[+-]?inf(inity)?$").to_numpy(False))
