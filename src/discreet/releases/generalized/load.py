"""Read a generalized release back from its folder, and report its inconsistencies in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles import wording
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, read_other, read_sensitive
from discreet.releases.descriptions import Texts
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP
from discreet.table.texts import LARGEST_WHOLE
from discreet.table.write import read_table

Columns = dict[str, tuple[list[str], NDArray[Any]]]
"""Per column of a table: its distinct texts, and the index of each row's text."""

TABLES = ("table.csv", "table.parquet")

G = TypeVar("G", bound=GeneralizedRelease)


def load_generalized(home: Home, manifest: dict[str, Any], kind: type[G]) -> G:
    """Return the release in a folder whose manifest has been read, of the generalized format or one built on it."""
    attributes = read_attributes(manifest, several=True)
    path = home / _table_name(manifest, kind.more_tables)
    name, names = path.name, [GROUP, *(attribute.name for attribute in attributes)]
    columns = read_columns(path, names)
    faults: list[str] = []
    numbers = columns[GROUP][1].astype(np.int64)
    ids, group_of = _groups(numbers)
    if len(numbers) != manifest["rows"]["published"]:
        faults.append(f"{name} has {len(numbers):,} rows, but the manifest says {manifest['rows']['published']:,}.")
    if len(ids) != manifest["groups"]:
        faults.append(f"{name} has {len(ids):,} groups, but the manifest says {manifest['groups']:,}.")
    elif len(ids) and (ids[0] != 0 or ids[-1] != len(ids) - 1):
        faults.append(f"The groups of {name} are not numbered from 0 to {len(ids) - 1:,}.")
    texts: list[Texts] = []
    secrets: list[ExactColumn] = []
    others: list[ExactColumn] = []
    for attribute in attributes:
        words, codes = columns[attribute.name]
        if attribute.role == "quasi":
            texts.append(_described(attribute, words, codes, ids, group_of, faults))
        elif attribute.role == "sensitive":
            secrets.append(read_sensitive(attribute, words, codes, faults))
        else:
            others.append(read_other(attribute, words, codes))
    release = kind(
        manifest,
        attributes,
        tuple(texts),
        ids,
        group_of,
        tuple(secrets),
        tuple(others),
        tuple(faults),
    )
    # report unreadable texts now, not when they are first needed
    _ = release.descriptions.regions
    return release


def read_attributes(manifest: Mapping[str, Any], several: bool = False) -> tuple[Attribute, ...]:
    """Return the attributes listed in the manifest of a release in groups; raise an error if their order is wrong.

    ``several`` allows more than one sensitive attribute.
    """
    entries = manifest.get("attributes")
    if not isinstance(entries, list):
        raise DiscreetError(f"the manifest of the release lists no attributes; {DAMAGED}")
    attributes = tuple(Attribute.from_dict(entry) for entry in entries)
    roles = [attribute.role for attribute in attributes]
    names = {attribute.name for attribute in attributes}
    ordered = sorted(roles, key=["quasi", "sensitive", "other"].index)
    too_many = roles.count("sensitive") > 1 and not several
    if roles != ordered or too_many or len(names) < len(roles) or GROUP in names:
        raise DiscreetError(
            "the manifest of the release must list each attribute once: quasi-identifiers, then "
            f"{'sensitive attributes' if several else 'at most one sensitive attribute'}, then others; {DAMAGED}"
        )
    rows = manifest.get("rows")
    whole = [rows.get("published"), rows.get("withheld")] if isinstance(rows, dict) else [None]
    if not all(type(number) is int and 0 <= number <= LARGEST_WHOLE for number in [*whole, manifest.get("groups")]):
        raise DiscreetError(f"the manifest of the release does not say how many rows and groups there are; {DAMAGED}")
    persons = manifest.get("persons", {"published": 0, "withheld": 0})
    counted = [persons.get(key) for key in ("published", "withheld")] if isinstance(persons, dict) else [None]
    if not all(type(number) is int and 0 <= number <= LARGEST_WHOLE for number in counted):
        raise DiscreetError(f"the manifest of the release does not say how many persons there are; {DAMAGED}")
    return attributes


def _table_name(manifest: Mapping[str, Any], more: Sequence[str]) -> str:
    tables = manifest.get("tables")
    names = list(tables) if isinstance(tables, dict) else []
    for ending in ("csv", "parquet"):
        if set(names) == {f"{name}.{ending}" for name in ("table", *more)}:
            return f"table.{ending}"
    needed = f"the tables {wording.listed(['table', *more])}" if more else "one table, 'table'"
    raise DiscreetError(f"the manifest of the release must name {needed}, as .csv or .parquet; {DAMAGED}")


def read_columns(path: Path, names: list[str]) -> Columns:
    """Return the columns of a table like ``read_texts``, but the group column as numbers, without texts."""
    table = _table(path, names, "its manifest says", GROUP)
    at = names.index(GROUP)
    try:
        numbers = table.column(at).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise DiscreetError(
            f"the column {GROUP!r} of {path.name!r} does not hold a whole number in every row; publish it again"
        ) from None
    return {**_texts(table.remove_column(at)), GROUP: ([], numbers)}


def read_texts(path: Path, names: list[str], because: str = "it must have") -> Columns:
    """Return the columns of a table, each as its distinct texts and the index of each row's text."""
    return _texts(_table(path, names, because))


def _table(path: Path, names: list[str], because: str, uncoded: str | None = None) -> pa.Table:
    if not path.is_file():
        raise DiscreetError(f"the release is incomplete: {path.name!r} is missing; publish it again")
    table = read_table(path, uncoded)
    if table.column_names != names:
        raise DiscreetError(
            f"{path.name!r} of the release has the columns {', '.join(table.column_names)}, "
            f"but {because} {', '.join(names)}; it was damaged or edited, so publish the release again"
        )
    return table


def _texts(table: pa.Table) -> Columns:
    arrays = {name: column.chunk(0) for name, column in zip(table.column_names, table.columns, strict=True)}
    return {name: (array.dictionary.to_pylist(), array.indices.to_numpy()) for name, array in arrays.items()}


def _groups(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the numbers of the groups, ascending, and the index among them of every row's group."""
    if len(numbers) and numbers.min() >= 0 and numbers.max() < len(numbers):
        sizes = np.bincount(numbers)
        if bool(sizes.all()):
            return np.arange(len(sizes)), numbers.astype(np.int32)
    ids, places = np.unique(numbers, return_inverse=True)
    return ids, places.astype(np.int32)


def _described(
    attribute: Attribute,
    words: list[str],
    codes: NDArray[Any],
    ids: NDArray[np.int64],
    group_of: NDArray[np.int32],
    faults: list[str],
) -> Texts:
    """Return the text of each group on one attribute; rows that differ from their group's text are a fault."""
    codes = codes.astype(np.int32)
    of_group = np.zeros(len(ids), np.int32)
    of_group[group_of] = codes
    differ = np.flatnonzero(of_group[group_of] != codes)
    if len(differ):
        row = differ[0]
        group = group_of[row]
        number = len(np.unique(group_of[differ]))
        faults.append(
            f"Rows of one group must share one description, but group {ids[group]} has both {words[codes[row]]!r} and "
            f"{words[of_group[group]]!r} in column {attribute.name!r}"
            + (f", and so have {number - 1:,} other groups." if number > 1 else ".")
        )
    return Texts(tuple(words), of_group)
