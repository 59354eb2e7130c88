"""Reads a table: selects its columns and gives each a role and a kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.dates import as_dates
from discreet.table.hierarchy_sources import Offered
from discreet.table.kinds import ColumnSpec, Missing, code
from discreet.table.layout import Layout
from discreet.table.multivalued import check_clashes, check_replaced, check_several, derived_columns
from discreet.table.notes import Note, notes_on, numbers_by_label
from discreet.table.persons import check_alone, person_of_rows
from discreet.table.raw_column import RawColumn, only
from discreet.table.sources import Source, as_source
from discreet.table.spec import Roles, TableSpec
from discreet.table.table import Column, Derived, Table
from discreet.table.texts import number_text
from discreet.table.whose import telling, whose

P = ParamSpec("P")


def _by_keywords(spec: Callable[P, TableSpec]) -> Callable[[Any], Callable[Concatenate[Any, P], Table]]:
    """Let a function that reads by a spec take the fields of the spec as keywords instead."""

    def decorated(function: Any) -> Any:
        @wraps(function)
        def call(source: Any, *given: TableSpec, **how: Any) -> Table:
            table: Table = function(source, *given or (TableSpec(**how),))
            return table

        first = inspect.Parameter("source", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        keywords = sorted(inspect.signature(spec).parameters.values(), key=lambda each: hasattr(Layout, each.name))
        cast(Any, call).__signature__ = inspect.Signature([first, *keywords])
        return call

    return decorated


@_by_keywords(TableSpec)
def read(source: Any, spec: TableSpec) -> Table:
    """Read a table from a CSV (also compressed), Parquet or Arrow file, an Arrow table, or a pandas or polars frame.

    Of lazy frames of polars and relations of DuckDB the columns that have a role are computed. Streams of
    Arrow, such as a ``RecordBatchReader``, are read to their end.

    Roles: ``quasi`` columns are published in generalized form; ``sensitive`` columns (one, or a list) are protected;
    ``identifiers`` are dropped (but must exist); ``keep`` columns are published unchanged; all others are dropped.

    Each row is a person. If persons may have several rows, ``person`` names the column that identifies them: it is
    dropped too, and promises are then kept about persons. If that column contains only numbers, 1 and 1.0 are the same
    person, but 007 and 7 are not. Without ``person`` an identifier with repeated values is refused, because it may mean
    that persons have several rows.

    Kinds are inferred. Numbers are numeric; texts and truth values are categorical; a pandas ordered Categorical or a
    polars Enum is ordinal in its own order, with all its categories. In CSV files a column is numeric if all its cells
    are numbers and none has leading zeros that would be lost, as in postcodes. ``numeric``, ``categorical`` and
    ``ordinal`` override this. Ordinal values without a declared order are sorted, as numbers if all are numbers.

    Dates are the date types of Arrow, pandas and polars, and texts that all have one form, such as 2021-03-07,
    7.3.2021, 3/7/2021 or 2021-03-07T14:05. ``dates`` declares the form, as in ``dates={"birth": "%d.%m.%Y"}``, if it is
    another one, or if either the day or the month may come first. Dates are ordered like numbers, in days (in seconds
    if there is a time of day), and published in ISO 8601.

    ``hierarchies`` maps columns to files, mappings or hierarchies. A column with a hierarchy is categorical unless
    declared otherwise, and its values are all leaves, including those that do not occur. ``hierarchies`` may also be a
    folder, in which every quasi-identifier and sensitive attribute may have a file ``hierarchy_NAME.csv``, ``NAME.csv``
    or ``.toml``; it is used unless the column contains numbers or dates.

    ``floor`` maps quasi-identifiers to the smallest detail in which they are ever published: the width of cells of
    numbers (``{"age": 5}``: 35 to 39), how many characters codes keep (``{"zip": 3}``), or the ``month``, ``quarter``
    or ``year`` of dates. The columns are made coarse here, so everything that follows is about their coarse values.
    So it is with the numbers of quasi-identifiers and sensitive columns: ``top={"age": 90}`` makes those above 90 be
    90, ``bottom`` those below a limit, and ``round={"income": 1000}`` makes those of a sensitive column multiples.
    ``bins={"income": [0, 20000, 50000]}``, or ``"quantiles:4"``, makes the column ordinal: its values are intervals.

    ``weight={"age": 3}`` spares a quasi-identifier: its loss counts three times, to schemes and in AIL and GCP.

    A person may have several values of a sensitive attribute: in one cell with a separator, as in
    ``lists={"diagnosis": ";"}``; in a column of lists, which needs no mention; or in the rows of a second table, as in
    ``join={"diagnosis": ("visits.csv", "patient")}``, where both tables have the column ``patient``. Each value becomes
    a sensitive attribute of its own, ``diagnosis_asthma``, which is yes or no; an empty cell is a person without any.

    Empty or blank cells, null and NaN are missing, and in all columns the texts listed in ``na``, as in ``na=["NA",
    "?"]``; otherwise ``NA`` is text like any other. A missing value of a categorical or ordinal column is the value
    ``(missing)``, the first one of an ordinal column. A missing number is an error, unless ``missing`` is
    ``"withhold"`` (its row is listed in ``Table.unusable``) or ``"value"`` (it is a value of its own, below the
    smallest number). In columns that are published unchanged a missing number is never an error.

    ``where`` selects rows by a condition in the SQL of count queries, as in ``where="year = 1984 AND sex = 'f'"``, on
    any columns of the source. All others might as well not be in it: no prior, promise or count is about them.

    The first line of a text file names its columns. A first line that looks like a row is refused: ``header="none"``
    says that it is one, with the names of all columns in ``columns``; ``header="yes"`` says that it holds names.

    A `TableSpec` has these keywords as its fields, and may be given instead of them.

    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ann", "Bo", "Cy"], "age": [41, 17, 17], "flu": ["no", "yes", "no"]})
    >>> table = read(people, quasi=["age"], sensitive="flu", identifiers=["name"], domains={"age": (0, 99)})
    >>> table
    Table of 3 rows
      quasi      age  numeric      2 values in 0 to 99
      sensitive  flu  categorical  2 values
    >>> table.column("age").codes.tolist(), table.sensitive_codes.tolist()
    ([1, 0, 0], [0, 1, 0])
    """
    return table_of(source, spec)


def table_of(source: Any, spec: TableSpec) -> Table:
    """Read a table as a spec says."""
    if not spec.quasi:
        raise DiscreetError(
            f"no quasi-identifier is named; say which columns others may know, as in {argument('quasi', ['age'])}"
        )
    spec = spec.offered()
    check_several(spec.lists, spec.join, spec.roles.sensitive, spec.declared)
    with as_source(source) as opened:
        rows, raw, notes = _fetched(opened, spec)
    unseen = _unseen(spec.marks, raw.values(), spec.lists)
    roles, origins = _derived(raw, spec)
    _check_published(spec.declared, roles.published)
    _check_floors(spec, roles)
    weights = _weights(roles, spec)
    settled, unusable = _settled(raw, roles, spec, origins)
    return Table(
        rows,
        tuple(replace(settled[name], weight=weights[name]) for name in roles.quasi),
        tuple(settled[name] for name in roles.sensitive),
        tuple(settled[name] for name in roles.other),
        _withheld(list(unusable.values()), rows),
        {name: len(gone) for name, gone in unusable.items()},
        (*_notes(raw, settled, roles, spec.declared), *notes),
        person_of_rows(raw[roles.person[0]]) if roles.person else None,
        spec.recorded(),
        unseen,
    )


def _fetched(source: Source, spec: TableSpec) -> tuple[int, dict[str, RawColumn], list[Note]]:
    """Return the number of rows and the columns with a role, except those that come from a second table.

    If nobody said whose rows they are, other columns are searched for that, for a note.
    """
    roles, join = spec.roles, spec.join
    given = [name for name in roles.published if name not in join]
    naming = (*roles.identifiers, *roles.person, *(key for _, key in join.values()))
    needed = tuple(dict.fromkeys((*given, *naming, *spec.declared)))
    if join:
        check_replaced(join, source.names(spec, needed))
    coded, unsaid = tuple(dict.fromkeys((*given, *naming))), not roles.person and not join
    about: tuple[str, ...] = ()
    if spec.where is not None:
        from discreet.table.selection import columns_in, rows_with

        about = columns_in(spec.where, source.names(spec, needed))
    fetched = tuple(dict.fromkeys((*coded, *about)))
    rows, columns = source.fetch((*needed, *about), fetched, spec, telling if unsaid else None)
    if spec.where is not None:
        selected = rows_with(spec.where, {name: columns[name] for name in about}, spec.declared)
        rows, columns = len(selected), {name: only(column, selected) for name, column in columns.items()}
    for name in () if roles.person else roles.identifiers:
        check_alone(columns[name])
    searched = [column for name, column in columns.items() if unsaid and name not in roles.identifiers]
    note = whose(searched, rows)
    return rows, {name: columns[name] for name in coded}, [] if note is None else [note]


def _derived(columns: dict[str, RawColumn], spec: TableSpec) -> tuple[Roles, dict[str, Derived]]:
    """Add the attributes that say who has which value of a multi-valued one; return the roles, and what they are of."""
    derived = derived_columns(columns, spec.roles.sensitive, spec.lists, spec.join, spec)
    columns |= {origin.name: column for pairs in derived.values() for origin, column in pairs}
    origins = {origin.name: origin for pairs in derived.values() for origin, _ in pairs}
    roles = spec.roles.with_derived({name: [origin.name for origin, _ in pairs] for name, pairs in derived.items()})
    check_clashes(roles.published, origins)
    return roles, origins


def _settled(
    columns: dict[str, RawColumn], roles: Roles, spec: TableSpec, origins: Mapping[str, Derived]
) -> tuple[dict[str, Column], dict[str, NDArray[np.int64]]]:
    """Return the published columns with their kinds, and for each that lacks numbers the rows to be withheld."""
    specs = spec.declared
    dated = (*roles.quasi, *roles.sensitive, *(name for name in roles.other if name in specs and specs[name].date))
    columns |= {name: _as_dates(columns[name], specs.get(name, ColumnSpec())) for name in dated if name not in origins}
    settled, unusable = {}, {}
    for name in roles.published:
        policy: Missing = "value" if name in roles.other else spec.missing
        # Promises about a sensitive value are also judged on withheld rows, so a missing one needs a value of its own.
        column, gone = code(columns[name], specs.get(name, ColumnSpec()), policy, withheld=name in roles.quasi)
        if column.kind == "ordinal" and column.recipe is not None and name in roles.quasi:
            raise DiscreetError(
                f"column {name!r} is ordinal and its labels are a recipe, which says nothing of an order: its values "
                f"would have to be listed; give its hierarchy as a file in that order, or leave out "
                f"{argument('ordinal', [name])}"
            )
        settled[name] = replace(column, derived=origins.get(name))
        if len(gone):
            unusable[name] = gone
    return settled, unusable


def _notes(
    columns: Mapping[str, RawColumn], settled: Mapping[str, Column], roles: Roles, specs: Mapping[str, ColumnSpec]
) -> Iterator[Note]:
    """Yield the notes on columns that may have been read otherwise than was meant."""
    for name in roles.quasi:
        if name in specs and specs[name].kind_from_hierarchy:
            yield from numbers_by_label(columns[name])
    undeclared = [name for name in (*roles.quasi, *roles.sensitive) if name not in specs]
    yield from notes_on([(columns[name], settled[name]) for name in undeclared if settled[name].derived is None])


def _withheld(unusable: Sequence[NDArray[np.int64]], rows: int) -> NDArray[np.int64] | None:
    """Return the rows that miss a number of any column."""
    if not unusable:
        return None
    withheld = np.unique(np.concatenate(unusable))
    if len(withheld) == rows:
        raise DiscreetError(
            f"every row has a missing number and would be withheld; choose {argument('missing', 'value')} instead"
        )
    return withheld


def _check_published(specs: Iterable[str], published: Sequence[str]) -> None:
    """Raise an error if something is declared about a column that is not published."""
    idle = next((name for name in specs if name not in published), None)
    if idle is not None:
        raise DiscreetError(
            f"a kind, a domain, a hierarchy, a floor, bins, a limit or a number to round to is given for column "
            f"{idle!r}, which is not published; give the column a role, or leave that out"
        )


def _weights(roles: Roles, spec: TableSpec) -> dict[str, float]:
    """Return the weight of each quasi-identifier."""
    if not spec.weight:
        return dict.fromkeys(roles.quasi, 1.0)
    from discreet.table.spared import weights_of  # imported late: few give any

    return weights_of(roles.quasi, spec.weight)


def _check_floors(spec: TableSpec, roles: Roles) -> None:
    """Raise an error if a column is to be made coarse in a way that does not suit its role."""
    idle = next((name for name in spec.floor if name not in roles.quasi), None)
    if idle is not None:
        raise DiscreetError(
            f"a floor is given for column {idle!r}, which is not a quasi-identifier; name it in {argument('quasi')}, "
            "or leave the floor out"
        )
    for name, fit in spec.fits.items():
        if name in roles.other:
            raise DiscreetError(
                f"column {name!r} is published unchanged, so not {fit}; leave that out, or name the column in "
                f"{argument('sensitive')}"
            )
        if fit.round is not None and name in roles.quasi:
            raise DiscreetError(
                f"column {name!r} is a quasi-identifier, and intervals of rounded numbers would not say who lies in "
                f"them; say {argument('floor', {name: number_text(fit.round)})} instead of {argument('round')}"
            )


def _as_dates(column: RawColumn, spec: ColumnSpec) -> RawColumn:
    """Return a column with its dates recognised, unless something else is declared about it."""
    plain = spec.kind is None and (spec.hierarchy is None or isinstance(spec.hierarchy, Offered))
    return as_dates(column, spec.form, spec.date) if plain and column.order is None else column


def _unseen(marks: frozenset[str], columns: Iterable[RawColumn], lists: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks of missing values that the columns did not hold, not even within lists."""
    found = {""}
    for column in columns:
        found |= column.marked
        if (separator := lists.get(column.name)) and column.words is not None:
            found.update(part.strip() for text in column.texts for part in text.split(separator))
    return tuple(sorted(marks - found))
