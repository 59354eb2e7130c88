"""Random tables: quasi-identifiers of every kind, with or without hierarchies, with odd names and odd values."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from discreet.table.hierarchy import Hierarchy
from discreet.table.read import read
from discreet.table.table import Table

Value = Fraction | str | None
"""The value of a cell: in a numeric column a number, or ``None`` if it is missing; in all others a text."""

MISSING = "(missing)"
ANYTHING = "*"
PLAIN_NAMES = ["age", "sex", "city", "grade", "pay", "disease", "hours", "kin"]
ODD_NAMES = [
    "a,b", 'quo"te', " blank ", "новый", "count", "row", "value", "published", "[x]", "{y}", "a/b", "..", "x" * 80,
    "line\nbreak", "=1+1", "ß😀", "a&b", "name(k=1)", "1", "NULL", "t", "select", "CON", "tab\tbed", "'", "a;b", "a b",
]  # fmt: skip
PLAIN_VALUES = [f"{letter}{number}" for letter in "abcd" for number in range(1, 5)]
ODD_VALUES = [
    "a, b", "{x}", "{x, y}", "[1, 2]", '"q"', '"', " lead", "trail ", MISSING, "NA", "null", "nan", "1e5", "007", "17",
    "17.0", "-0", "True", "é", "e\u0301", "two\nlines", "cr\rhere", "tab\there", ",", ";", "=1+1", "\\", "x" * 300,
    "\u202eleft", "\U0001d538", "west", "all", "[a, b]", "a", "{a", "b}", "'", "#", "(missing", "inf", "1_0",
    "\ufeffmark",
]  # fmt: skip


@dataclass
class Column:
    """One column: the texts of its cells, and what is declared about it."""

    name: str
    kind: str
    cells: list[str | None]
    """The text of each row; blank or ``None`` if the value is missing."""
    order: list[str] = field(default_factory=list)
    """The values of an ordinal column in their order."""
    tree: list[list[str]] | None = None
    """The hierarchy: a line per leaf, from the leaf to the root."""
    domain: tuple[int, int] | None = None

    @property
    def meant(self) -> list[Value]:
        """The values of the cells."""
        return [meaning(self.kind, cell) for cell in self.cells]


@dataclass
class Case:
    """A table with its roles, and how to read it."""

    quasi: list[Column]
    sensitive: list[Column]
    kept: list[Column]
    missing: str
    through_csv: bool

    @property
    def rows(self) -> int:
        return len(self.quasi[0].cells)

    @property
    def columns(self) -> list[Column]:
        return [*self.quasi, *self.sensitive, *self.kept]


@cache
def meaning(kind: str, cell: str | None) -> Value:
    """Return the value of a cell in a column of this kind: 17.0 is the number 17, and a blank cell is missing."""
    blank = cell is None or not cell.strip()
    if kind == "numeric":
        return None if blank or cell == MISSING else Fraction(cell)
    return MISSING if blank else cell


def draw_case(chance: Random, several: bool) -> Case:
    """Draw a table of up to 60 rows, with few values, so that they repeat and promises can be kept.

    With ``several`` more than one attribute may be sensitive.
    """
    rows = chance.choice([1, 2, 3, 5, 8, 12, 12, 20, 20, 30, 30, 45, 60])
    names = _names(chance, 8)
    missing = chance.choice(["error", "error", "withhold", "value"])
    quasi = [_quasi(chance, names.pop(), rows, missing) for _ in range(chance.choice([1, 2, 2, 3, 3]))]
    sensitive_columns = chance.choice([2, 2, 3]) if several and chance.random() < 0.3 else 1
    kinds = ["numeric", "numeric", "categorical", "categorical", "ordinal"]
    sensitive = [_sensitive(chance, names.pop(), rows, chance.choice(kinds), missing) for _ in range(sensitive_columns)]
    kept = [_kept(chance, names.pop(), rows)] if chance.random() < 0.15 else []
    case = Case(quasi, sensitive, kept, missing, chance.random() < 0.25)
    if case.through_csv:  # blanks around a cell of a CSV file are ignored
        for column in case.columns:
            column.cells = [None if cell is None else cell.strip() for cell in column.cells]
            column.name = column.name.strip()
            column.order = [value.strip() for value in column.order]
            if column.tree is None:
                column.order = _sorted(set(column.order))
            column.tree = column.tree and [[label.strip() for label in line] for line in column.tree]
    return case


def read_case(case: Case, folder: Path) -> Table:
    """Read the case with the library, through a CSV file or an Arrow table."""
    if case.through_csv:
        source: Any = folder / "table.csv"
        with source.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, quoting=csv.QUOTE_ALL)
            lines.writerow([column.name for column in case.columns])
            lines.writerows(zip(*map(_padded, case.columns), strict=True))
    else:
        source = pa.table([array_of(column) for column in case.columns], names=[one.name for one in case.columns])
    kinds = {
        kind: [column.name for column in case.columns if column.kind == kind and column not in case.kept]
        for kind in ("numeric", "categorical", "ordinal")
    }
    return read(
        source,
        quasi=[column.name for column in case.quasi],
        sensitive=[column.name for column in case.sensitive],
        keep=[column.name for column in case.kept],
        hierarchies={one.name: Hierarchy.from_rows(one.name, one.tree) for one in case.columns if one.tree is not None},
        domains={column.name: column.domain for column in case.columns if column.domain is not None},
        missing=case.missing,
        delimiter="," if case.through_csv else None,
        header="yes",  # odd names may look like data
        **kinds,
    )


def _padded(column: Column) -> list[str]:
    """Return the cells with blanks around some of them, as if typed by hand."""
    return [f" {cell or ''} " if row % 3 == 0 else cell or "" for row, cell in enumerate(column.cells)]


def array_of(column: Column) -> pa.Array:
    if column.kind != "numeric":
        return pa.array(column.cells, pa.string())
    return pa.array([None if cell is None else float(cell) for cell in column.cells], pa.float64())


def _names(chance: Random, number: int) -> list[str]:
    odd = chance.sample(ODD_NAMES, number)
    plain = chance.sample(PLAIN_NAMES, number)
    often = chance.choice([0.0, 0.0, 0.3])
    return [one if chance.random() < often else other for one, other in zip(odd, plain, strict=True)]


def _quasi(chance: Random, name: str, rows: int, missing: str) -> Column:
    kind = chance.choice(["numeric", "numeric", "categorical", "categorical", "ordinal"])
    if kind == "numeric":
        cells = _numbers(chance, rows, chance.choice([2, 5, 12, 40]))
        column = Column(name, kind, _with_gaps(chance, cells, missing != "error"))
        known = [Fraction(cell) for cell in column.cells if cell is not None]
        if known and chance.random() < 0.3:
            column.domain = (int(min(known)) - 3, int(max(known)) + 4)
        return column
    values = _values(chance, chance.choice([1, 2, 4, 7]))
    return _named(chance, name, kind, values, [1.0] * len(values), rows)


def _sensitive(chance: Random, name: str, rows: int, kind: str, missing: str) -> Column:
    if kind == "numeric":
        cells = _numbers(chance, rows, chance.choice([3, 10, 60]), steep=chance.choice([0.0, 1.0]))
        return Column(name, kind, _with_gaps(chance, cells, missing == "value"))
    values = _values(chance, chance.choice([1, 2, 3, 5, 8]))
    steep = chance.choice([0.0, 0.5, 1.5])
    return _named(chance, name, kind, values, [(at + 1.0) ** -steep for at in range(len(values))], rows)


def _kept(chance: Random, name: str, rows: int) -> Column:
    return Column(name, "categorical", [chance.choice(["u", "v, w"]) for _ in range(rows)])


def _named(chance: Random, name: str, kind: str, values: list[str], weights: Sequence[float], rows: int) -> Column:
    """Draw a categorical or ordinal column with these values."""
    cells = list(chance.choices(values, weights, k=rows))
    blanks: list[str | None] = [None, "", " "]
    column = Column(name, kind, [chance.choice(blanks) if chance.random() < 0.01 else cell for cell in cells])
    if len(values) > 1 and chance.random() < 0.4:
        leaves = sorted({cell for cell in values if cell != ANYTHING} | ({MISSING} if kind == "categorical" else set()))
        chance.shuffle(leaves)
        column.tree = _tree(chance, leaves)
        if kind == "ordinal":
            column.order = [line[0] for line in column.tree]
    elif kind == "ordinal":
        column.order = _sorted({cell for cell in cells if cell.strip() and cell != MISSING})
    return column


def _sorted(values: set[str]) -> list[str]:
    """Sort values as the library does without a declared order: as numbers if all are numbers, else as texts.

    1_0 is a number to Python, but not to people.
    """
    try:
        return sorted(values, key=lambda value: (Fraction(value.replace("_", "no digit")), value))
    except ValueError:
        return sorted(values)


def _tree(chance: Random, leaves: list[str]) -> list[list[str]]:
    """Draw a hierarchy: neighbouring leaves below common labels, on one or two levels, and a root above all."""
    lines = [[leaf] for leaf in leaves]
    for level in range(chance.choice([1, 1, 2])):
        stems = chance.choice([["west", "east", "north"], ["a, b", "{x}", "all"]])
        label, last = 0, lines[0][-1]
        for line in lines:
            if line[-1] != last and chance.random() < 0.5:  # never split a node of the level below
                label += 1
            last = line[-1]
            line.append(f"{stems[label % 3]} {level}.{label}")
    root = chance.choice(["*", "everything"])
    return [[*line, root] for line in lines]


def _values(chance: Random, number: int) -> list[str]:
    source = (
        ODD_VALUES if chance.random() < 0.25 else PLAIN_VALUES if chance.random() < 0.8 else list(map(str, range(12)))
    )
    return chance.sample(source, number)


def _numbers(chance: Random, rows: int, width: int, steep: float = 0.0) -> list[str]:
    """Draw the texts of integers, decimals, negative or large numbers."""
    how = chance.choice(["{}", "{}", "{}", "{}.5", "0.{}", "-{}", "{}00000", "{}.0", "1.{:02d}"])
    start = chance.choice([0, 1, 17])
    places = chance.choices(range(width), [(at + 1.0) ** -steep for at in range(width)], k=rows)
    return [how.format(start + place) for place in places]


def _with_gaps(chance: Random, cells: list[str], allowed: bool) -> list[str | None]:
    often = chance.choice([0.0, 0.1, 0.3]) if allowed else 0.0
    # the first row always has a number, because `read` refuses a numeric column without any
    return [None if at and chance.random() < often else cell for at, cell in enumerate(cells)]
