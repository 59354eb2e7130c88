"""The tables of a release with types: what analysts get in Arrow, pandas and polars.

Files hold descriptions as texts, such as ``[17, 24]``. Each is parsed once, by the reader that audits
and estimates have, and its ends, its middle or its values are looked up for every row. The rows stay
in the order of the release.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.releases.attributes import Attribute
from discreet.releases.columns import whole, with_lists
from discreet.releases.labels import Regions, number_written, parse
from discreet.table.date_numbers import Notation
from discreet.table.decimals import middles
from discreet.table.floors import cells_in
from discreet.table.raw_column import one_dictionary
from discreet.table.texts import MISSING
from discreet.table.unnamed import is_unnamed

if TYPE_CHECKING:
    from discreet.releases.release import Release

Numbers = Literal["bounds", "middle", "text", "draw"]
"""How numbers, dates and ordered values that are published as intervals appear: as two columns of
ends, as one of middles, or as the published text; or rows are drawn that have a value of every
column."""
Sets = Literal["text", "lists"]
"""How categories that are published as sets and labels appear: as the published text, or as lists of
the values."""
Named = tuple[str, Any]
"""A column and its name."""


class Form(NamedTuple):
    """What was asked for."""

    numbers: Numbers
    sets: Sets
    random_state: int | None = None
    """The seed of what is drawn."""

    @classmethod
    def of(cls, numbers: object, sets: object, random_state: object = None) -> Form:
        """Return it as a caller gave it, checked."""
        seed = checked("random_state", random_state, int | None)
        form = cls(checked("numbers", numbers, Numbers), checked("sets", sets, Sets), seed)
        if seed is not None and form.numbers != "draw":
            raise DiscreetError("random_state is for drawn rows; say numbers='draw', or leave it out", "random_state")
        return form


# ----------------------------------------------------------------------------------- handing over


def framed(release: Release, form: Form, convert: Callable[[pa.Table], Any] | None = None) -> Any:
    """Return the tables of a release, each converted: the one, or a dict of several by name."""
    found: dict[str, Any] = {}
    for name, table in tables_of(release, form).items():
        found[name] = _listed(table, release.attributes)
        check_distinct(found[name].column_names)
        found[name] = found[name] if convert is None else convert(found[name])
    return next(iter(found.values())) if len(found) == 1 else found


def tables_of(release: Release, form: Form) -> dict[str, pa.Table]:
    """Return the tables of people by name, or one of drawn rows, with a type for every column."""
    if form.numbers == "draw":
        return {"table": release.draw(random_state=form.random_state)}
    return release.typed_tables(form)


def _listed(table: pa.Table, attributes: Sequence[Attribute]) -> pa.Table:
    """Return a table with multi-valued attributes as lists, of those all of whose values it has.

    Where values are divided among tables, a list of some would look as if a person had no others.
    """
    elsewhere = {
        attribute.derived.attribute
        for attribute in attributes
        if attribute.derived is not None and attribute.name not in table.column_names
    }
    return with_lists(
        table, [each for each in attributes if each.derived is not None and each.derived.attribute not in elsewhere]
    )


def check_distinct(names: Sequence[str]) -> None:
    """Raise if an end of an interval would have the name of another column."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DiscreetError(
            f"the release has a column {twice!r}, which is the name that an end of the intervals of "
            f"{twice[:-3]!r} would have; in Python, to_pandas(numbers='text') gives a frame without ends"
        )


def as_pandas() -> Callable[[pa.Table], Any]:
    """Return what makes a pandas frame of a table."""
    _library("pandas")
    return lambda table: table.to_pandas(date_as_object=False)


def as_polars() -> Callable[[pa.Table], Any]:
    """Return what makes a polars frame of a table; an order of categories becomes an Enum."""
    polars = _library("polars")

    def convert(table: pa.Table) -> Any:
        orders = {
            field.name: polars.Enum(one_dictionary(table.column(field.name)).dictionary.to_pylist())
            for field in table.schema
            if pa.types.is_dictionary(field.type) and field.type.ordered
        }
        frame = polars.from_arrow(table)
        return frame.with_columns(polars.col(name).cast(order) for name, order in orders.items())

    return convert


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DiscreetError(
            f"a frame of {name} needs the package {name}, which is not installed: pip install {name}"
        ) from None


# ------------------------------------------------------------------------------------------ typing


def typed(release: Release, form: Form) -> dict[str, pa.Table]:
    """Return the tables of a release by name, each column with its type.

    Every attribute stands in one table, the first that has a column of its name. Other columns, of
    counts, seals and priors, are typed already.
    """
    waiting = {attribute.name: attribute for attribute in release.attributes}
    randomised = release.randomised
    described = release.descriptions is not None
    result = {}
    for name, table in release.tables().items():
        columns: list[Named] = []
        for column, held in zip(table.column_names, table.columns, strict=True):
            attribute = waiting.pop(randomised.get(column, column), None)
            if attribute is None:
                columns.append((column, _plain(held)))
            elif attribute.role == "quasi" and (described or cells_in(attribute.notation) is not None):
                columns += _described(attribute, one_dictionary(_coded(held)), form)
            else:
                columns.append((column, single_values(attribute, held, attribute.notation)))
        result[name] = pa.table([held for _, held in columns], names=[column for column, _ in columns])
    return result


def _plain(held: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of no attribute as it is in a file: numbers of groups as numbers."""
    return held.cast(held.type.value_type) if pa.types.is_dictionary(held.type) else held


def _coded(held: pa.ChunkedArray) -> pa.ChunkedArray:
    return held if pa.types.is_dictionary(held.type) else held.dictionary_encode()


def single_values(attribute: Attribute, held: pa.ChunkedArray, notation: Notation) -> Any:
    """Return a column of single values, whose numbers are written in a notation."""
    if attribute.kind == "numeric" and notation == "number":
        return held
    coded = one_dictionary(_coded(held))
    words = coded.dictionary.to_pylist()
    if attribute.kind == "numeric":
        numbers = [number_written(word, notation) for word in words]
        return _numbers(np.array(numbers, np.float64), notation).take(coded.indices)
    if attribute.kind == "ordinal":
        return _ordered(attribute, [None if word == MISSING else word for word in words]).take(coded.indices)
    return coded


def _described(attribute: Attribute, coded: pa.DictionaryArray, form: Form) -> Iterator[Named]:
    """Yield what a column of descriptions becomes."""
    words = coded.dictionary.to_pylist()
    if attribute.kind == "categorical":
        if form.sets == "text":
            yield attribute.name, coded
        else:
            yield attribute.name, _lists(attribute, parse(attribute, words)).take(coded.indices)
    elif form.numbers == "text" or (form.numbers == "middle" and attribute.kind == "ordinal"):
        yield attribute.name, coded  # ordered values have ends, but need not have a middle
    else:
        regions = parse(attribute, words)
        known = np.isfinite(regions.low) & np.isfinite(regions.high)  # neither * nor (missing)
        low, high = (np.where(known, ends, math.nan) for ends in (regions.low, regions.high))
        notation, cells = attribute.notation, cells_in(attribute.notation)
        if cells is not None:
            notation, low, high = cells.base, cells.first(low), cells.last(high)
        if form.numbers == "middle":
            yield attribute.name, _middles(low, high, notation).take(coded.indices)
            return
        for ending, ends in (("lo", low), ("hi", high)):
            if attribute.kind == "ordinal":
                places = ends.tolist()
                column = _ordered(attribute, [attribute.values[int(at)] if at == at else None for at in places])
            else:
                column = _numbers(ends, notation, whole(np.concatenate([low, high])))
            yield f"{attribute.name}_{ending}", column.take(coded.indices)


def _middles(low: NDArray[np.float64], high: NDArray[np.float64], notation: Notation) -> pa.Array:
    """Return the middles of intervals; of an even number of days the earlier one."""
    middle = middles(low, high)
    return _numbers(np.floor(middle) if notation == "date" else middle, notation)


def _numbers(numbers: NDArray[np.float64], notation: Notation, as_whole: bool = False) -> pa.Array:
    """Return numbers in the type of their notation; NaN is null."""
    lacking = np.isnan(numbers)
    if notation == "number":
        values = pa.array(numbers, mask=lacking)
        return values.cast(pa.int64()) if as_whole else values
    known = np.where(lacking, 0.0, numbers)
    if notation == "date":
        return pa.array(known.astype(np.int32), pa.int32(), mask=lacking).cast(pa.date32())
    seconds = np.floor(known)
    micro = seconds.astype(np.int64) * 1_000_000 + np.rint((known - seconds) * 1e6).astype(np.int64)
    return pa.array(micro, pa.timestamp("us"), mask=lacking)


def _ordered(attribute: Attribute, texts: Sequence[str | None]) -> pa.DictionaryArray:
    """Return ordered values as categories, all that have a name; a kept column has no stated order."""
    names = dict.fromkeys(value for value in attribute.values if not is_unnamed(value))
    names |= dict.fromkeys(text for text in texts if text is not None)
    place = {name: at for at, name in enumerate(names)}
    codes = pa.array([None if text is None else place[text] for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(names), pa.string()), ordered=bool(attribute.values))


def _lists(attribute: Attribute, regions: Regions) -> pa.Array:
    """Return the values that each text admits; null if some of them have no name."""
    assert attribute.hierarchy is not None, "every categorical attribute has a hierarchy"
    leaves = attribute.hierarchy.leaves
    lists: list[list[str] | None] = []
    for at, anything in enumerate(regions.whole.tolist()):
        ranks = range(len(leaves)) if anything else range(int(regions.low[at]), int(regions.high[at]) + 1)
        values = [leaves[rank] for rank in regions.sets.get(at, ranks)]
        lists.append(None if any(map(is_unnamed, values)) else values)
    return pa.array(lists, pa.list_(pa.string()))
