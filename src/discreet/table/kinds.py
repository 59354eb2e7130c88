"""Gives every column a kind (numeric, ordinal, categorical), and orders its values and codes accordingly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table import numerals
from discreet.table.bins import bin_labels, bins_of, quantiles
from discreet.table.date_numbers import DAY, Notation, moment, written
from discreet.table.fit import Fit
from discreet.table.floors import CALENDAR, Cells, characters, shortened
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from discreet.table.hierarchy_sources import Offered, lists_leaves, recipe_of
from discreet.table.raw_column import RawColumn
from discreet.table.table import Column, Kind
from discreet.table.texts import LARGEST_WHOLE, MISSING, NUMBER, is_number, number_text, value_text

Missing = Literal["error", "withhold", "value"]


@dataclass(frozen=True)
class ColumnSpec:
    """What the user has declared about one column."""

    kind: Kind | None = None
    hierarchy: Any = None
    domain: tuple[float | str, float | str] | None = None
    date: bool = False
    """Whether the column contains dates."""
    form: str | None = None
    """The form of the dates, as for ``strptime``; None to detect it."""
    floor: str | None = None
    """The smallest detail in which the column is published."""
    fit: Fit | None = None
    """What is done to its numbers."""

    @property
    def kind_from_hierarchy(self) -> bool:
        """Whether the column is categorical for no other reason than that the user gives a hierarchy for it."""
        return self.kind is None and not isinstance(self.hierarchy, NoneType | Offered | PublishedHierarchy)


def code(
    column: RawColumn, wish: ColumnSpec, missing: Missing, *, withheld: bool = True
) -> tuple[Column, NDArray[np.int64]]:
    """Return the column with its kind settled, and the rows to withhold because they miss a number.

    There are such rows only under the policy ``withhold``. With ``withheld`` a missing number then gets no value of its
    own, because its row is withheld.

    >>> from discreet.table.raw_column import encode
    >>> import pyarrow as pa
    >>> column, _ = code(encode("age", pa.chunked_array([[30, 7, 30]])), ColumnSpec(), "error")
    >>> column.values.tolist(), column.codes.tolist(), column.domain
    ([7, 30], [1, 0, 1], (7.0, 30.0))
    """
    if isinstance(wish.hierarchy, Offered):
        settled = wish.kind or infer(column)
        wish = replace(wish, kind=settled, hierarchy=None if settled == "numeric" else wish.hierarchy.path)
    kind = wish.kind or ("categorical" if wish.hierarchy is not None else infer(column))
    if kind == "numeric":
        return _numeric(column, wish, missing, withheld)
    if wish.domain is not None:
        raise DiscreetError(
            f"a domain is declared for column {column.name!r}, which is {kind}; "
            "declare it numeric or to hold dates, or leave the domain out"
        )
    if wish.fit is not None:
        raise DiscreetError(
            f"column {column.name!r} is {kind}, and only numbers are published {wish.fit}; leave that out, or say "
            f"{argument('numeric', [column.name])}"
        )
    if wish.floor is not None:
        column = _shortened(column, wish.floor, kind)
    return _named(column, wish, kind), np.empty(0, np.int64)


def infer(column: RawColumn) -> Kind:
    """Infer the kind of a column.

    Numbers are numeric; texts, truth values and unordered categories are categorical; ordered categories are ordinal.
    A CSV column is numeric only if all its cells are numbers, none has leading zeros that would be lost (01301), and
    no two different ones become equal as floating-point numbers.
    """
    if column.order is not None:
        return "ordinal"
    if column.numbers is not None:
        return "categorical" if column.categories or numerals.too_large(column).any() else "numeric"
    return "numeric" if column.untyped and numerals.are_numbers(column) else "categorical"


# -------------------------------------------------------------------------------------------------------- numeric


def _numeric(column: RawColumn, wish: ColumnSpec, missing: Missing, withheld: bool) -> tuple[Column, NDArray[np.int64]]:
    name = column.name
    distinct = numerals.numbers_of(column)
    if wish.fit is not None:
        distinct = _fitted(column, wish.fit, distinct)
    numbers, codes = _coded(distinct, column.codes)
    gone = np.flatnonzero(codes < 0)
    _check_numbers(column, numbers, gone, missing)
    unusable = gone.astype(np.int64) if missing == "withhold" else np.empty(0, np.int64)
    valued = len(gone) > 0 and (missing == "value" or not withheld)
    if wish.fit is not None and wish.fit.bins is not None:
        return _binned(column, wish.fit, numbers, codes, valued), unusable
    domain = _domain(column, wish, distinct, numbers)
    notation: Notation = column.notation
    hierarchy = None
    if wish.floor is not None:
        notation, scale = _cells(column, wish, distinct), DAY if column.notation == "datetime" else 1
        low, high = notation.places(np.array(domain) / scale).tolist()
        domain = low, high
        numbers, codes = _coded(notation.places(distinct / scale), column.codes)
    # A published hierarchy may lack numbers that occur here. Unlike names, they cannot be appended as last leaves,
    # because leaves must ascend; the column then has no hierarchy.
    lacking = isinstance(wish.hierarchy, PublishedHierarchy) and any(
        wish.hierarchy.tree.find(number_text(number)) < 0 for number in numbers.tolist()
    )
    if wish.hierarchy is not None and not lacking:
        hierarchy, numbers, codes = _number_leaves(column, wish, numbers, codes)
    values: NDArray[Any] = numbers
    if np.all(numbers == np.floor(numbers)) and np.abs(numbers).max() <= LARGEST_WHOLE:
        values = numbers.astype(np.int64)
    code_of_missing = None
    if valued:
        codes, values, code_of_missing = codes + np.int32(1), np.concatenate(([np.nan], numbers)), 0
        hierarchy = None if hierarchy is None else hierarchy.with_missing(first=True)
    codes[gone] = 0
    settled = Column(
        name,
        "numeric",
        codes,
        values,
        hierarchy,
        domain,
        code_of_missing,
        declared_values=_declares(name, wish),
        declared_domain=wish.domain is not None,
        notation=notation,
        recipe=None if hierarchy is None else _recipe(name, wish),
        floor=wish.floor,
        fit=wish.fit,
    )
    return settled, unusable


def _check_numbers(column: RawColumn, numbers: NDArray[np.float64], gone: NDArray[np.intp], missing: Missing) -> None:
    """Refuse a column without numbers, and rows that miss one unless that is said to be no error."""
    if len(gone) and missing == "error":
        kind = "is numeric" if column.notation == "number" else "holds dates"
        raise DiscreetError(
            f"column {column.name!r} {kind} and has {len(gone):,} missing {'value' if len(gone) == 1 else 'values'} "
            f"(the first in row {gone[0] + 1}); choose {argument('missing', 'value')} to treat missing as a value of "
            f"its own, or {argument('missing', 'withhold')} to withhold those rows"
        )
    if not len(numbers):
        raise DiscreetError(f"column {column.name!r} holds no number at all; leave it out, or declare it categorical")


def _binned(
    column: RawColumn, fit: Fit, numbers: NDArray[np.float64], codes: NDArray[np.int32], valued: bool
) -> Column:
    """Return a column of bins; if that is a value, a missing number comes before all of them."""
    name, edges = column.name, fit.edges
    if isinstance(fit.bins, int):
        counts = np.bincount(codes[codes >= 0], minlength=len(numbers))
        edges = quantiles(name, numbers, counts, fit.bins)
    places = bins_of(edges, numbers)
    if (outside := np.flatnonzero(places < 0)).size:
        at, low, high = (number_text(number) for number in (numbers[outside[0]], edges[0], edges[-1]))
        row = int(np.argmax(codes == outside[0])) + 1
        raise DiscreetError(
            f"column {name!r} holds {at} in row {row}, outside its bins, which reach from {low} to {high}; add an edge "
            f"beyond it, limit the column with {argument('top')} or {argument('bottom')}, or correct the value"
        )
    values = [MISSING, *bin_labels(edges)] if valued else bin_labels(edges)
    codes = np.append(places + int(valued), 0).astype(np.int32)[codes]
    fit, missing = replace(fit, bins=edges), 0 if valued else None
    return Column(name, "ordinal", codes, np.array(values, object), missing=missing, declared_values=True, fit=fit)


def _fitted(column: RawColumn, fit: Fit, distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distinct numbers of a column as they are published; refuse dates."""
    if column.notation != "number":
        raise DiscreetError(
            f"column {column.name!r} holds dates, and only numbers are published {fit}; leave that out, or say for "
            f"example {argument('floor', {column.name: 'year'})}"
        )
    return fit.numbers(column.name, distinct)


def _coded(distinct: NDArray[np.float64], codes: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the numbers among distinct values, ascending, and codes that are their places; -1 where there is none."""
    known = ~np.isnan(distinct)
    numbers, inverse = np.unique(distinct[known], return_inverse=True)
    lookup = np.full(len(distinct) + 1, -1, np.int32)
    lookup[:-1][known] = inverse
    return numbers, lookup[codes]


def _cells(column: RawColumn, wish: ColumnSpec, distinct: NDArray[np.float64]) -> Cells:
    """Return the cells of the floor of a numeric column; refuse a floor that its numbers do not have."""
    assert wish.floor is not None
    name, number = column.name, column.notation == "number"
    if wish.hierarchy is not None:
        raise DiscreetError(
            f"column {name!r} holds numbers or dates and has both a floor and a hierarchy; leave one of them out"
        )
    cells = Cells.of(wish.floor, "number" if number else "date")
    if cells is None:
        sort, meant = ("numbers", "the width of its cells") if number else ("dates", f"one of {', '.join(CALENDAR)}")
        raise DiscreetError(
            f"column {name!r} holds {sort}, of which a floor is {meant}, and {wish.floor!r} is not; say for example "
            f"{argument('floor', {name: 5 if number else 'month'})}"
        )
    return cells


def _domain(
    column: RawColumn, wish: ColumnSpec, distinct: NDArray[np.float64], numbers: NDArray[np.float64]
) -> tuple[float, float]:
    observed = float(numbers[0]), float(numbers[-1])
    if wish.domain is None:
        return observed
    low, high = (_end(column, end) for end in wish.domain)
    for value, outside in ((observed[0], observed[0] < low), (observed[1], observed[1] > high)):
        if outside:
            shown, bottom, top = (written(number, column.notation) for number in (value, low, high))
            raise DiscreetError(
                f"column {column.name!r} holds {shown} in row {column.first(distinct == value)[0]}, "
                f"outside its declared domain {bottom} to {top}; widen the domain, or correct the value"
            )
    if wish.fit is not None:
        low, high = wish.fit.numbers(column.name, np.array([low, high])).tolist()
    return low, high


def _end(column: RawColumn, end: float | str) -> float:
    """Convert an end of the declared domain to a number of the column."""
    if isinstance(end, str) != (column.notation != "number"):
        sort, other = ("numbers", "dates") if column.notation == "number" else ("dates", "numbers")
        raise DiscreetError(
            f"column {column.name!r} holds {sort}, but its domain is declared by {other} ({value_text(end)}); declare "
            f"it by {sort}"
        )
    number = moment(end, column.notation) if isinstance(end, str) else end
    if column.notation == "date" and number != np.floor(number):
        raise DiscreetError(
            f"column {column.name!r} holds dates without a time of day, but its domain ends at {end}; leave it out"
        )
    return number


def _number_leaves(
    column: RawColumn, wish: ColumnSpec, numbers: NDArray[np.float64], codes: NDArray[np.int32]
) -> tuple[Hierarchy, NDArray[np.float64], NDArray[np.int32]]:
    """Return the hierarchy of a numeric column, its leaves as numbers, and codes that are ranks of leaves."""
    texts = [number_text(number) for number in numbers.tolist()]
    hierarchy = (
        wish.hierarchy.tree if isinstance(wish.hierarchy, PublishedHierarchy) else _tree(column.name, wish, texts)
    )
    if MISSING in hierarchy.leaves:
        # The policy for missing numbers decides whether they get a value, and which code it has.
        hierarchy = hierarchy.without_missing()
    plain = all(re.match(NUMBER, leaf) for leaf in hierarchy.leaves)
    leaves = np.array([float(leaf) if plain else np.nan for leaf in hierarchy.leaves])
    if not plain or not bool(np.all(np.diff(leaves) > 0)):
        raise DiscreetError(
            f"column {column.name!r} is declared numeric but the leaves of its hierarchy are not ascending numbers; "
            "sort the hierarchy, or declare the column categorical"
        )
    ranks = np.searchsorted(leaves, numbers)
    absent = leaves[np.minimum(ranks, len(leaves) - 1)] != numbers
    if absent.any():
        first = int(np.argmax(absent))
        row = int(np.argmax(codes == first)) + 1
        raise _no_leaf(column.name, texts[first], row, int(absent.sum()))
    return hierarchy, leaves, np.append(ranks, -1).astype(np.int32)[codes]


# ------------------------------------------------------------------------------------------ ordinal and categorical


def _named(column: RawColumn, wish: ColumnSpec, kind: Literal["ordinal", "categorical"]) -> Column:
    """Code names: by their place in a hierarchy, the given one or a flat one, in which missing is a value."""
    ordinal = kind == "ordinal"
    present = sorted(text for text in column.texts if text != MISSING)  # not in the order of the rows
    missing = len(present) < len(column.texts) or bool((column.codes < 0).any())
    if wish.hierarchy is not None:
        tree = _tree(column.name, wish, present)
        missing = missing or (ordinal and MISSING in tree.leaves)
        # In an order, what is missing comes first, wherever the hierarchy lists it.
        tree = tree.with_missing(first=ordinal) if missing else tree
    elif ordinal:
        values = [text for text in column.order or () if text != MISSING]
        if column.order is None:  # by their numbers if all are numbers, which nan is not: it has no place among them
            numbers = all(map(is_number, present))
            values = sorted(set(present), key=lambda text: (float(text) if numbers else 0.0, text))
        tree = Hierarchy.flat(column.name, [MISSING, *values] if missing else values)
    else:
        tree = Hierarchy.flat(column.name, sorted({*present, MISSING} if missing else set(present)))
    places = _ranks(column, tree)
    codes = np.array([*places, tree.rank(MISSING) if missing else 0], dtype=np.int32)[column.codes]
    listed = ordinal and wish.hierarchy is None
    return Column(
        column.name,
        kind,
        codes,
        np.array(tree.leaves, object),
        None if listed else tree,
        missing=0 if ordinal and missing else None,
        declared_values=_declares(column.name, wish) or (listed and column.order is not None),
        recipe=_recipe(column.name, wish),
        floor=wish.floor,
    )


def _shortened(column: RawColumn, floor: str, kind: Literal["ordinal", "categorical"]) -> RawColumn:
    """Return a column of names in which every value has only its first characters."""
    length = characters(column.name, floor)
    if kind == "ordinal":
        raise DiscreetError(
            f"column {column.name!r} is ordinal, and its floor would cut off the ends of its values, which then have "
            f"no order; say {argument('categorical', [column.name])}, or leave out the floor"
        )
    texts = [text if text == MISSING else shortened(text, length) for text in column.texts]
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([*map(place.__getitem__, texts), -1], np.int32)[column.codes]
    return replace(column, codes=codes, words=pa.array(list(place), pa.string()), numbers=None, order=None)


def _tree(name: str, wish: ColumnSpec, texts: list[str]) -> Hierarchy:
    """Build the hierarchy that the user has given for a column with these values."""
    if isinstance(wish.hierarchy, PublishedHierarchy):
        return replace(wish.hierarchy.tree, attribute=name).with_leaves(texts)
    return Hierarchy.of(name, wish.hierarchy, texts)


def _declares(name: str, wish: ColumnSpec) -> bool:
    """Whether the user has listed the values of a column, by a hierarchy other than a recipe."""
    if wish.hierarchy is None or isinstance(wish.hierarchy, PublishedHierarchy):
        return False
    return lists_leaves(name, wish.hierarchy)


def _recipe(name: str, wish: ColumnSpec) -> Mapping[str, Any] | None:
    """Return the recipe that the user has given for the hierarchy of a column, if any."""
    if wish.hierarchy is None or isinstance(wish.hierarchy, PublishedHierarchy):
        return None
    return recipe_of(name, wish.hierarchy)


def _ranks(column: RawColumn, hierarchy: Hierarchy) -> list[int]:
    ranks = [hierarchy.find(text) for text in column.texts]
    absent = np.array(ranks) < 0
    if absent.any():
        row, text = column.first(absent)
        raise _no_leaf(column.name, text, row, int(absent.sum()))
    return ranks


def _no_leaf(name: str, text: str, row: int, count: int) -> DiscreetError:
    others = "" if count < 2 else f" ({count:,} values in all are not)"
    return DiscreetError(
        f"column {name!r} holds {text!r} in row {row}, which is not a leaf of its hierarchy{others}; "
        "add it to the hierarchy, or correct the value"
    )
