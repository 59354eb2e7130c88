"""What experiments stand on: tables of a number of rows, generated from a seed or read from a file, and workloads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.workload import volume_workload, workload
from discreet.datasets import census, census_hierarchies
from discreet.errors import DiscreetError
from discreet.evidence import census_income
from discreet.evidence.generated import incomes, incomes_of_households
from discreet.releases.bit_counts import exact_counts
from discreet.table.layout import Layout
from discreet.table.query import Query
from discreet.table.read import read
from discreet.table.sources import Source
from discreet.table.table import Table

Size = Literal["full", "quick", "tiny"]
"""``full``: the papers' rows and queries. ``quick``: minutes for all. ``tiny``: only whether it runs."""
QUERIES: dict[Size, float] = {"full": 1.0, "quick": 0.1, "tiny": 0.004}
"""The share of the papers' queries that is asked."""
GENERATED = "generated"
ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
"""The quasi-identifiers of Adult, in the order in which experiments take them; its occupation is sensitive."""
INCOMES = {
    "wages": ("age", "state", "filing_status", "household_size", "children"),
    "PINCP": ("AGEP", "SEX", "MSP", "RAC1P", "EDU"),
}
"""The quasi-identifiers of tables with incomes (cps, acs), by the sensitive column."""
CODES = ("state", "filing_status", "SEX", "MSP", "RAC1P")
"""Their columns that are read as names."""
PLACES = {
    "adult": "Adult (UCI Machine Learning Repository, 'Adult', complete rows, with a line of column names: sex, age, "
    "race, ..., occupation)"
}
"""Tables that have a name and are not generated, and where they are found."""


class Asked(NamedTuple):
    """Queries, and their exact answers on a table."""

    queries: Sequence[Query]
    exact: NDArray[np.int64]


@dataclass(frozen=True)
class Ground:
    """The rows, the seed and the source of an experiment's tables, and how much is measured."""

    rows: int
    seed: int = 1
    data: str = GENERATED
    size: Size = "full"

    def people(self, quasi: Sequence[str], sensitive: str, rows: int | None = None, seed: int | None = None) -> Table:
        """A table with these attributes of the census; of another source, with as many of its own."""
        return _people(self.data, self.rows if rows is None else rows, tuple(quasi), sensitive, seed or self.seed)

    def incomes(self) -> Table:
        """A table with a sensitive income: generated, or of a file whose columns are known."""
        return _incomes(self.data, self.rows, self.seed)

    def households(self) -> Table:
        """A table with many sensitive attributes: generated, or Census-Income (KDD) of a file."""
        return _households(self.data, self.rows, self.seed)

    def generated_only(self, what: str) -> None:
        """Refuse another source for an experiment on data of a known shape."""
        if self.data != GENERATED:
            raise DiscreetError(f"this experiment is about {what}, which is always generated")

    def number(self, wanted: int) -> int:
        """How many of the paper's queries are asked."""
        return max(20, round(wanted * QUERIES[self.size]))

    def ranges(self, table: Table, dimensions: int, share: float, wanted: int = 10_000) -> Asked:
        """Queries of an expected selectivity."""
        dimensions = min(dimensions, len(table.quasi))
        return _ranges(table, dimensions, share, self.number(wanted), self.seed)

    def volumes(self, table: Table, dimensions: int, volume: float, wanted: int = 1_000) -> Asked:
        """Queries of a dimensionality and a volume, as the paper on proximity asks them."""
        return _volumes(table, dimensions, volume, self.number(wanted), self.seed)


@lru_cache(maxsize=32)
def _ranges(table: Table, dimensions: int, share: float, number: int, seed: int) -> Asked:
    queries = workload(table, dimensionality=dimensions, selectivity=share, number=number, seed=seed)
    return Asked(queries, exact_counts(table, queries))


@lru_cache(maxsize=32)
def _volumes(table: Table, dimensions: int, volume: float, number: int, seed: int) -> Asked:
    queries = volume_workload(table, dimensionality=dimensions, volume=volume, number=number, seed=seed)
    return Asked(queries, exact_counts(table, queries))


@lru_cache(maxsize=8)
def _people(data: str, rows: int, quasi: tuple[str, ...], sensitive: str, seed: int) -> Table:
    if data == GENERATED:
        return census(rows, quasi=quasi, sensitive=sensitive, seed=seed)
    path = found(data)
    names = columns_of(path)
    if {*ADULT, "occupation"} <= names:
        known = {name: path.parent / f"hierarchy_{name}.csv" for name in ADULT if name != "age"}
        trees: dict[str, Any] = {name: file for name, file in known.items() if file.is_file()}
        some = ADULT[: len(quasi)]
        trees = {name: tree for name, tree in trees.items() if name in some}
        return _sampled(read(path, quasi=some, sensitive="occupation", hierarchies=trees), rows, seed)
    missing = {*quasi, sensitive} - names
    if missing:
        raise DiscreetError(
            f"the table '{data}' has no column {sorted(missing)[0]!r}; give a table with the columns of Adult, or of "
            "what 'discreet data get census' writes"
        )
    trees = {name: tree for name, tree in census_hierarchies().items() if name in quasi}
    return _sampled(read(path, quasi=quasi, sensitive=sensitive, hierarchies=trees), rows, seed)


@lru_cache(maxsize=4)
def _incomes(data: str, rows: int, seed: int) -> Table:
    if data == GENERATED:
        return incomes(rows, seed)
    path = found(data)
    names = columns_of(path)
    for sensitive, quasi in INCOMES.items():
        if {*quasi, sensitive} <= names:
            codes = [name for name in quasi if name in CODES]
            table = read(path, quasi=quasi, sensitive=sensitive, categorical=codes, missing="withhold")
            return _sampled(table, rows, seed)
    raise DiscreetError(f"the table '{data}' has no income (a column {' or '.join(INCOMES)}) beside known columns")


@lru_cache(maxsize=4)
def _households(data: str, rows: int, seed: int) -> Table:
    if data == GENERATED:
        return incomes_of_households(rows, seed)
    path = found(data)
    if not columns_of(path) >= census_income.SOURCES:
        raise DiscreetError(f"the table '{data}' has not the columns of Census-Income (KDD), such as AAGE and AMJOCC")
    return _sampled(census_income.census_income(path), rows, seed)


def found(data: str) -> Path:
    """The file of a table: a path, or a table that has a name and lies here or in a folder of that name."""
    path = Path(data)
    if data not in PLACES or path.is_file():
        if not path.is_file():
            raise DiscreetError(f"there is no file '{data}'; name a table, or leave it out for generated ones")
        return path
    for folder, suffix in itertools.product((Path(), Path(data)), (".csv", ".csv.gz", ".data")):
        if (folder / f"{data}{suffix}").is_file():
            return folder / f"{data}{suffix}"
    raise DiscreetError(
        f"there is no '{data}.csv' here and none in a folder '{data}'; get {PLACES[data]} and give its path instead of "
        "its name"
    )


@lru_cache(maxsize=4)
def columns_of(path: Path) -> frozenset[str]:
    """The names of a table's columns."""
    with Source(path) as source:
        return frozenset(source.names(Layout()))


def _sampled(table: Table, rows: int, seed: int) -> Table:
    """At most this many rows, drawn at random."""
    if rows >= table.rows:
        return table
    return table.reordered(np.sort(np.random.default_rng(seed).permutation(table.rows)[:rows]))
