"""Finds a column that may tell whose row it is, in a table where rows are taken to be of different persons.

Some columns say so by their names. Of others the values tell it: rows with the same value always agree in what persons
keep, such as sex and year of birth, although different values do not. A postcode also determines county and state, and
a code its chapter. So one column that never changes is no evidence, nor are several of which one determines the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.table.column_names import (
    names_identifier,
    names_quasi,
    names_sensitive,
    names_somebody,
    names_trait,
)
from discreet.table.kinds import infer
from discreet.table.notes import Note
from discreet.table.raw_column import RawColumn
from discreet.table.texts import is_number

MOST_READ = 8
"""How many columns without a role are searched for persons, or for what persons keep."""
FEWEST = 20
"""The fewest values of a column that are searched for persons without a name that says so."""
MEAN_ROWS = 1.5, 1000
"""The mean numbers of rows per value between which values may be persons."""
SAMPLE = 20_000
"""About how many rows are compared: all those of some values."""
SAME = 0.99
"""The share of rows that agree with others of the same value where a column never changes."""
SPREAD = 0.9
"""At most this share of all pairs of rows agrees in a column that can be evidence."""
CHANCE = 1e-6
"""How improbable it must be that a column never changes by chance."""
FEW_ROWS = 20
"""The mean number of rows per value up to which values of unknown meaning are rather persons than places."""
EVEN = 0.25
"""The variance of the number of rows per value, in units of the mean, below which that number was planned: it would be
1 if rows fell on values by chance."""


def telling(names: Iterable[str]) -> list[str]:
    """Return the columns, of those without a role, that are read to find out whose row it is: at most ``MOST_READ``.

    >>> telling(["note", "sex", "patient"]), telling(["note", "sex"])
    (['patient'], ['sex', 'note'])
    """
    filled = [name for name in names if name.strip()]
    named = [name for name in filled if names_somebody(name)]
    return named or sorted(filled, key=lambda name: not (names_identifier(name) or names_trait(name)))[:MOST_READ]


class Kept(NamedTuple):
    """A column that never changes within the values of another one."""

    name: str
    codes: NDArray[np.int32]
    """Per compared value of the other one its own value."""
    distinct: int

    def determines(self, other: Kept) -> bool:
        """Whether nothing shows that two values of the other column can go with the same value of this one."""
        order = np.argsort(self.codes, kind="stable")
        mine, its = self.codes[order], other.codes[order]
        alike = mine[1:] == mine[:-1]
        different = int((alike & (its[1:] != its[:-1])).sum())
        return different < max(5, 0.02 * len(mine))


def whose(columns: Sequence[RawColumn], rows: int) -> Note | None:
    """Return a note on the column that may tell whose row it is, if rows seem to be of the same persons.

    >>> import pyarrow as pa
    >>> from discreet.table.raw_column import encode
    >>> def coded(name, cells): return encode(name, pa.chunked_array([cells]))
    >>> str(whose([coded("patient", [1, 1, 2, 2, 3, 3]), coded("age", [7, 8, 30, 31, 30, 30])], 6)).partition(".")[0]
    "'patient' looks like an identifier and repeats"
    >>> panel = {"key": [f"x{at // 4}" for at in range(400)], "m": [at // 4 % 3 for at in range(400)]}
    >>> panel |= {"n": [at // 4 % 7 for at in range(400)], "wage": [at * 7919 % 1000 for at in range(400)]}
    >>> str(whose([coded(name, cells) for name, cells in panel.items()], 400)).partition("?")[0]
    "do the rows with the same 'key' belong to one person"
    """
    repeating = [column for column in columns if _repeats(column, rows)]
    named = next((column.name for column in repeating if names_somebody(column.name)), None)
    found = None if named else _by_values(repeating, columns)
    if named is None and found is None:
        named = next((column.name for column in repeating if _identifies(column, rows)), None)
    if named is not None:
        sentence = (
            f"{named!r} looks like an identifier and repeats. Each row counts as a person of its own; if rows with the "
            f"same {named!r} belong to one person, say"
        )
        return Note((named,), sentence, (("person", named),), either=True)
    if found is None:
        return None
    name, kept = found
    shown = " and ".join(map(repr, kept[:2]))
    sentence = (
        f"do the rows with the same {name!r} belong to one person? They always agree in {shown}, but each row counts "
        "as a person of its own; if they do, say"
    )
    return Note((name,), sentence, (("person", name),), either=True)


def _repeats(column: RawColumn, rows: int) -> bool:
    """Whether a column has values in several rows, and enough of them to be persons."""
    present = int((column.codes >= 0).sum())
    values = column.numbers if column.words is None else column.words
    distinct = 0 if values is None or column.moments or column.lists is not None else len(values)
    return _many(distinct, rows) and distinct < present


def _many(distinct: int, rows: int) -> bool:
    return distinct >= min(FEWEST, max(3, rows / 50))


def says_whose(name: str, distinct: int, rows: int) -> bool:
    """Whether a column is named for those whose rows it tells, and has enough values to tell them."""
    return names_somebody(name) and _many(distinct, rows)


def _identifies(column: RawColumn, rows: int) -> bool:
    """Whether a column is named like an identifier, or has very many codes with digits, each in few rows."""
    if names_identifier(column.name):
        return True
    if names_quasi(column.name) or names_sensitive(column.name) or column.words is None:
        return False
    counts = np.bincount(column.codes[column.codes >= 0])
    most = np.argsort(-counts, kind="stable")[:5].tolist()
    texts = [str(column.words[code]) for code in most]
    return looks_like_codes(texts, len(counts), int(counts[most[0]]), rows) and infer(column) == "categorical"


def looks_like_codes(texts: Sequence[str], distinct: int, most: int, rows: int) -> bool:
    """Whether values look like case or person numbers: very many codes with digits, each in few rows.

    ``texts`` are the most frequent values, and the first of them is in ``most`` rows.
    """
    many, few = distinct >= max(20, rows / 10), most <= max(5, rows // 20)
    return many and few and all(re.fullmatch(r"[^\W\d]{0,8}[-_ /.]?\d{2,}", text) for text in texts)


def _by_values(repeating: Sequence[RawColumn], columns: Sequence[RawColumn]) -> tuple[str, list[str]] | None:
    """Return the name of the column whose values are most likely persons, and what they keep; None without evidence."""
    best: tuple[int, int] | None = None
    found = None
    for column in repeating:
        counts = np.bincount(column.codes[column.codes >= 0])
        if not _may_be_persons(column, counts):
            continue
        kept = list(_kept(column, len(counts), [other for other in columns if other is not column]))
        evidence = _evidence(kept, counts)
        traits = sum(names_trait(one.name) for one in kept)
        if evidence and (best is None or (traits, -len(counts)) > best):
            best, found = (traits, -len(counts)), (column.name, evidence)
    return found


def _may_be_persons(column: RawColumn, counts: NDArray[np.int64]) -> bool:
    """Whether values may be persons: texts or whole numbers, no dates, none of them in most rows."""
    if names_quasi(column.name) or names_sensitive(column.name) or len(counts) < FEWEST:
        return False
    mean = float(counts.mean())
    if not MEAN_ROWS[0] <= mean <= MEAN_ROWS[1] or counts.max() > 20 * mean:
        return False
    if column.words is None:
        assert column.numbers is not None
        return bool((column.numbers[:100] % 1 == 0).all())
    texts = [str(word).strip() for word in column.words[:100]]
    if all(is_number(text.replace(",", ".", 1)) for text in texts):
        return all(re.fullmatch(r"[+-]?\d+", text) for text in texts)
    return not all(re.fullmatch(r"\d+([-./])\d+\1\d+.*", text) for text in texts)


def _kept(column: RawColumn, distinct: int, others: Sequence[RawColumn]) -> Iterator[Kept]:
    """Yield the other columns that never change within the values of a column, and would not do so by chance."""
    step = math.ceil(int((column.codes >= 0).sum()) / SAMPLE)
    places = np.flatnonzero((column.codes >= 0) & (column.codes % step == 0))
    places = places[np.argsort(column.codes[places], kind="stable")]
    mine = column.codes[places]
    new = np.concatenate([[True], mine[1:] != mine[:-1]])
    first = np.flatnonzero(new)[np.cumsum(new) - 1]
    for other in others:
        codes = other.codes[places]
        compared = ~new & (codes >= 0) & (codes[first] >= 0)
        pairs = int(compared.sum())
        shares = np.bincount(codes[codes >= 0]) / max(1, int((codes >= 0).sum()))
        alike = float((shares**2).sum())
        if not pairs or not 0.0 < alike <= SPREAD or pairs * math.log(alike) > math.log(CHANCE):
            continue
        if float((codes == codes[first])[compared].mean()) >= SAME:
            yield Kept(other.name, codes[new], int((shares > 0).sum()))


def _evidence(kept: Sequence[Kept], counts: NDArray[np.int64]) -> list[str]:
    """Return the names of the columns which show that values are persons; none if they may be something else.

    Two traits of persons do, or one beside something else, if it does not itself tell all values apart. So do, whatever
    their names, two columns that are independent of each other if the number of rows per value was planned, and three
    if few rows have each value.
    """
    traits = sorted((one for one in kept if names_trait(one.name)), key=lambda one: one.distinct)
    if len(traits) > 1 or (len(kept) > 1 and traits and traits[0].distinct < 0.9 * len(traits[0].codes)):
        return [one.name for one in (*traits, *(one for one in kept if one not in traits))]
    free: list[Kept] = []
    for one in sorted(kept, key=lambda one: one.distinct):
        if not any(one.determines(other) or other.determines(one) for other in free):
            free.append(one)
    mean = float(counts.mean())
    enough = 2 if float(counts.var()) <= EVEN * mean else 3 if mean <= FEW_ROWS else math.inf
    return [one.name for one in free] if len(free) >= enough else []
