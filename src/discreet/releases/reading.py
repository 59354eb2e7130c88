"""Read the attributes and tables of a release back from its folder; what no release has is an error or a fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.wording import listed
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, read_other, read_sensitive
from discreet.releases.counted import COUNT, Counted, sensitive_names
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.partition import GROUP
from discreet.table.combinations import places_among, ranked
from discreet.table.layout import LONGEST_MARK, MOST_MARKS
from discreet.table.spec import READING, TableSpec
from discreet.table.texts import LARGEST_WHOLE
from discreet.table.write import read_table

Columns = dict[str, tuple[list[str], NDArray[Any]]]
"""Per column of a table: its distinct texts, and the index of each row's text."""


MOST_COLUMNS, LONGEST_NAME = 10_000, 1_000
"""How many columns a file without a header may have by a manifest, and how many characters their names."""
MEANT = {
    "na": f"at most {MOST_MARKS} sorted texts of at most {LONGEST_MARK} characters that mark missing values",
    "dates": "sorted columns of dates and the formats of these",
    "lists": "sorted attributes with several values and the separators of these",
    "delimiter": "one character",
    "encoding": "the encoding of a file by the name that Python has for it",
    "header": "yes, or none with the names in columns",
    "decimal": "a mark of decimals",
    "thousands": "a mark of thousands",
    "sheet": "the name of a sheet",
    "table": "the name of a table",
    "where": "a condition on rows",
    "columns": "with the header none all names of columns, among them those of the release",
}
"""What stands under the keys of the entry about the reading of the original."""


def listed_attributes(
    manifest: Mapping[str, Any], fits: Callable[[list[str]], bool], wanted: str
) -> tuple[Attribute, ...]:
    """Return the attributes listed in a manifest that also says how many rows there are.

    Quasi-identifiers come first and kept columns last; ``fits`` says whether these roles are possible, and ``wanted``
    what comes after the quasi-identifiers.
    """
    entries = manifest.get("attributes")
    if not isinstance(entries, list):
        raise DiscreetError(f"the manifest of the release lists no attributes; {DAMAGED}")
    attributes = tuple(Attribute.from_dict(entry) for entry in entries)
    roles: list[str] = [attribute.role for attribute in attributes]
    ordered = sorted(roles, key=["quasi", "sensitive", "other"].index)
    if roles != ordered or not fits(roles) or len({attribute.name for attribute in attributes}) < len(roles):
        raise DiscreetError(
            f"the manifest of the release must list each attribute once: quasi-identifiers, then {wanted}; {DAMAGED}"
        )
    if not _counts(manifest.get("rows")):
        raise DiscreetError(f"the manifest of the release does not say how many rows there are; {DAMAGED}")
    return attributes


def _counts(entry: Any) -> bool:
    """Whether an entry of a manifest says how many rows or persons are published and withheld."""
    return isinstance(entry, dict) and all(_whole(entry.get(key)) for key in ("published", "withheld"))


def _whole(number: Any) -> bool:
    return type(number) is int and 0 <= number <= LARGEST_WHOLE


def read_attributes(manifest: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """Return the attributes listed in the manifest of a release in groups."""
    attributes = listed_attributes(manifest, lambda roles: True, "sensitive attributes, then others")
    if any(attribute.name == GROUP for attribute in attributes):
        raise DiscreetError(f"the manifest of the release lists an attribute with the name {GROUP!r}; {DAMAGED}")
    if not _whole(manifest.get("groups")):
        raise DiscreetError(f"the manifest of the release does not say how many groups there are; {DAMAGED}")
    if not _counts(manifest.get("persons", {"published": 0, "withheld": 0})):
        raise DiscreetError(f"the manifest of the release does not say how many persons there are; {DAMAGED}")
    return attributes


def row_attributes(manifest: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """Return the attributes listed in the manifest of a release of rows without groups, one of them sensitive."""
    return listed_attributes(
        manifest,
        lambda roles: "quasi" in roles and roles.count("sensitive") == 1,
        "one sensitive attribute, then others",
    )


def stated_reading(manifest: Mapping[str, Any], attributes: Sequence[Attribute]) -> tuple[dict[str, Any], list[str]]:
    """Return what a manifest says of how its original was read, and the faults of that entry; nothing if it has any."""
    entry = manifest.get("reading", {})
    faults = list(_faults_of_reading(entry, attributes))
    return ({} if faults else entry), faults


def _faults_of_reading(entry: Any, attributes: Sequence[Attribute]) -> Iterator[str]:
    """Yield what is wrong with the entry: it may say what its columns need, in short texts, and nothing else."""
    if not isinstance(entry, dict):
        yield "the manifest does not say under 'reading' how the original was read"
        return
    for key in entry:
        if key not in READING:
            yield f"the manifest has the entry {key[:200]!r} under 'reading', which no original is read with"
    derived = {attribute.derived.attribute for attribute in attributes if attribute.derived is not None}
    dates = {attribute.name for attribute in attributes if attribute.meaning in ("date", "datetime")}
    own = {attribute.name for attribute in attributes if attribute.derived is None}
    names = entry.get("columns", [])
    fits = {
        "na": _marks(entry.get("na")),
        "dates": _texts_of(entry.get("dates"), dates),
        "lists": _texts_of(entry.get("lists"), derived),
        **{key: _recorded(entry, key) for key in ("delimiter", "encoding", "decimal", "sheet", "table", "where")},
        "thousands": _recorded(entry, "thousands", "decimal"),
        "header": entry.get("header") == "none" if "columns" in entry else _recorded(entry, "header"),
        "columns": _names(names) and own <= set(names) and "header" in entry,
    }
    for key, fit in fits.items():
        if key in entry and not fit:
            shown = json.dumps(entry[key])[:80]
            yield f"the manifest has {shown} as {key!r} under 'reading', where {MEANT[key]} must stand"
    if list(entry) not in ([key for key in READING if key in entry], sorted(entry)):
        yield "the entries under 'reading' are not in the order in which discreet writes them"


def _recorded(entry: Mapping[str, Any], *keys: str) -> bool:
    """Whether the first of these would be recorded if the same was said of the layout again."""
    said: dict[str, Any] = {key: entry[key] for key in keys if key in entry}
    try:
        return TableSpec(**said).recorded() == said
    except DiscreetError:
        return False


def _short(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= LONGEST_MARK


def _marks(entry: Any) -> bool:
    """Whether an entry of a manifest lists marks of missing values, each once."""
    texts = isinstance(entry, list) and 0 < len(entry) <= MOST_MARKS and all(map(_short, entry))
    return texts and entry == sorted({mark.strip() for mark in entry})


def _texts_of(entry: Any, columns: Collection[str]) -> bool:
    """Whether an entry of a manifest has short texts for some of these columns."""
    texts = isinstance(entry, dict) and bool(entry) and all(map(_short, entry.values()))
    return texts and list(entry) == sorted(set(entry) & set(columns))


def _names(entry: Any) -> bool:
    """Whether an entry of a manifest lists names, each once."""
    names = isinstance(entry, list) and 0 < len(entry) <= MOST_COLUMNS
    texts = names and all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in entry)
    return texts and len(set(entry)) == len(entry)


def read_columns(path: Path, names: list[str]) -> Columns:
    """Return the columns of a table like ``read_texts``, but the group column as numbers, without texts."""
    return coded_columns(_table(path, names, "its manifest says", GROUP), path.name)


def coded_columns(table: pa.Table, name: str) -> Columns:
    """Return the columns of a table of coded texts, with the group column, which is not coded, as numbers."""
    at = table.column_names.index(GROUP)
    try:
        numbers = table.column(at).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        raise DiscreetError(
            f"the column {GROUP!r} of {name!r} does not hold a whole number in every row; publish it again"
        ) from None
    return {**_texts(table.remove_column(at)), GROUP: ([], numbers)}


def read_texts(path: Path, names: list[str], because: str = "it must have") -> Columns:
    """Return the columns of a table, each as its distinct texts and the index of each row's text."""
    return _texts(_table(path, names, because))


def read_lines(path: Path, names: list[str]) -> list[list[str]]:
    """Return the columns of a small table, each as the texts of its lines."""
    return [[texts[code] for code in codes.tolist()] for texts, codes in read_texts(path, names).values()]


def _table(path: Path, names: list[str], because: str, uncoded: str | None = None) -> pa.Table:
    if not path.is_file():
        raise DiscreetError(f"the release is incomplete: {path.name!r} is missing; publish it again")
    table = read_table(path, uncoded)
    check_names(path, table.column_names, names, because)
    return table


def check_names(path: Path, found: Sequence[str], names: Sequence[str], because: str = "its manifest says") -> None:
    """Raise an error if a table has not the columns that it must have."""
    if list(found) != list(names):
        raise DiscreetError(
            f"{path.name!r} of the release has the columns {', '.join(found)}, "
            f"but {because} {', '.join(names)}; it was damaged or edited, so publish the release again"
        )


def _texts(table: pa.Table) -> Columns:
    arrays = {name: column.chunk(0) for name, column in zip(table.column_names, table.columns, strict=True)}
    return {name: (array.dictionary.to_pylist(), array.indices.to_numpy()) for name, array in arrays.items()}


def ending_of(manifest: Mapping[str, Any], names: Sequence[str]) -> str:
    """The ending of the files of a release whose tables are called ``names``."""
    tables = manifest.get("tables")
    for ending in ("csv", "parquet"):
        files = {f"{name}.{ending}" for name in names}
        if isinstance(tables, dict) and set(tables) == files and len(files) == len(names):
            return ending
    needed = f"the tables {listed(names)}" if len(names) > 1 else f"one table, {names[0]!r}"
    raise DiscreetError(f"the manifest of the release must name {needed}, as .csv or .parquet; {DAMAGED}")


def check_rows(name: str, number: int, manifest: Mapping[str, Any], faults: list[str], verb: str = "has") -> None:
    """Report a table that has, or counts, not as many rows as the manifest says."""
    if number != manifest["rows"]["published"]:
        faults.append(f"{name} {verb} {number:,} rows, but the manifest says {manifest['rows']['published']:,}.")


def check_groups(name: str, ids: NDArray[np.int64], manifest: Mapping[str, Any], faults: list[str]) -> None:
    """Report groups that are not as many as the manifest says, or not numbered from 0."""
    if len(ids) != manifest["groups"]:
        faults.append(f"There are {len(ids):,} groups, but the manifest says {manifest['groups']:,}.")
    elif len(ids) and (ids[0] != 0 or ids[-1] != len(ids) - 1):
        faults.append(f"The groups of {name} are not numbered from 0 to {len(ids) - 1:,}.")


def read_exact(
    attributes: Sequence[Attribute], columns: Columns, faults: list[str]
) -> tuple[tuple[ExactColumn, ...], tuple[ExactColumn, ...]]:
    """The quasi-identifiers that are published unchanged, and the kept columns."""
    exact = [read_sensitive(each, *columns[each.name], faults) for each in attributes if each.role == "quasi"]
    return tuple(exact), read_others(attributes, columns)


def read_others(attributes: Sequence[Attribute], columns: Columns) -> tuple[ExactColumn, ...]:
    """The kept columns."""
    return tuple(read_other(each, *columns[each.name]) for each in attributes if each.role == "other")


def counted_tables(
    home: Home, attributes: Sequence[Attribute], manifest: Mapping[str, Any], others: Sequence[str]
) -> tuple[list[Attribute], list[str], list[Columns], str]:
    """The sensitive attributes, the names and columns of their tables beside ``others``, and the ending of all."""
    sensitive_columns = [attribute for attribute in attributes if attribute.role == "sensitive"]
    if not sensitive_columns or any(sensitive_attribute.name == COUNT for sensitive_attribute in sensitive_columns):
        raise DiscreetError(
            f"the manifest of the release must list a sensitive attribute, whose values are counted; {DAMAGED}"
        )
    stems = sensitive_names(len(sensitive_columns))
    ending = ending_of(manifest, [*others, *stems])
    names = [f"{stem}.{ending}" for stem in stems]
    both = zip(names, sensitive_columns, strict=True)
    return (
        sensitive_columns,
        names,
        [read_columns(home / name, [GROUP, sensitive_attribute.name, COUNT]) for name, sensitive_attribute in both],
        ending,
    )


def read_counted(
    sensitive_attribute: Attribute,
    name: str,
    lines: Columns,
    ids: NDArray[np.int64],
    faults: list[str],
    sizes: NDArray[np.int64] | None = None,
    other: str = "",
) -> Counted:
    """One sensitive attribute, from the columns of its table; ``sizes`` of groups in another table must be the same."""
    shown = read_sensitive(sensitive_attribute, *lines[sensitive_attribute.name], faults)
    places = places_among(ids, lines[GROUP][1].astype(np.int64))
    counts = count_lines(places, shown, read_amounts(*lines[COUNT], name), len(ids), faults)
    differ = np.flatnonzero(sizes != counts.sizes) if sizes is not None else np.zeros(0, np.intp)
    if sizes is not None and len(differ):
        worst = differ[0]
        faults.append(
            f"A group must have as many rows as values, but group {ids[worst]} has {sizes[worst]:,} rows in {other} "
            f"and {counts.sizes[worst]:,} values in {name}"
            + (f", and {len(differ) - 1:,} other groups differ as well." if len(differ) > 1 else ".")
        )
    return Counted(shown.values, counts)


def read_amounts(words: list[str], codes: NDArray[Any], name: str) -> NDArray[np.int64]:
    """The column of counts; raises unless all are whole numbers."""
    return np.asarray(whole_numbers(words, COUNT, name)[codes], np.int64)


def whole_numbers(words: list[str], column: str, file: str) -> NDArray[np.int64]:
    """The numbers in a column of a file; raises unless all are whole numbers, and not too large."""
    try:
        numbers = np.array([int(word) for word in words], np.int64)
        if bool((np.abs(numbers) >= LARGEST_WHOLE).any()):
            raise OverflowError
        return numbers
    except (ValueError, OverflowError):
        raise DiscreetError(
            f"the column {column!r} of {file!r} does not hold a whole number in every row; publish it again"
        ) from None


def count_lines(
    places: NDArray[np.int64], shown: ExactColumn, amounts: NDArray[np.int64], number: int, faults: list[str]
) -> Counts:
    """The counts per group and value in the sensitive table; counts below 1 and duplicate lines are faults."""
    width = max(1, len(shown.values))
    if bool((amounts < 1).any()):
        faults.append("The sensitive table holds a count below 1.")
    kept = amounts > 0
    cells, _, at = ranked(places[kept] * width + shown.codes[kept])
    if len(cells) < int(kept.sum()):
        faults.append("The sensitive table lists a value of a group more than once.")
    totals = np.zeros(len(cells), np.int64)
    np.add.at(totals, at, amounts[kept])
    starts = np.searchsorted(cells, np.arange(number + 1) * width)
    return Counts(starts, (cells % width).astype(np.int32), totals, width)
