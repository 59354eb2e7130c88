"""Load an anatomy release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.wording import listed
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, read_other, read_sensitive
from discreet.releases.counted import COUNT, Counted, sensitive_names
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalized.load import read_attributes, read_columns
from discreet.releases.partition import GROUP
from discreet.table.combinations import distinct, places_among, ranked


def load_anatomy(home: Home, manifest: dict[str, Any]) -> AnatomyRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = read_attributes(manifest, several=True)
    secrets = [attribute for attribute in attributes if attribute.role == "sensitive"]
    if not secrets or any(secret.name == COUNT for secret in secrets):
        raise DiscreetError(
            f"the manifest of the release must list a sensitive attribute, whose values are counted; {DAMAGED}"
        )
    table, *sensitive = _table_names(manifest, len(secrets))
    own = [attribute for attribute in attributes if attribute.role != "sensitive"]
    columns = read_columns(home / table, [GROUP, *(attribute.name for attribute in own)])
    held = [
        read_columns(home / name, [GROUP, secret.name, COUNT]) for name, secret in zip(sensitive, secrets, strict=True)
    ]
    faults: list[str] = []
    of_rows = columns[GROUP][1].astype(np.int64)
    ids = distinct(np.concatenate([of_rows, *(lines[GROUP][1].astype(np.int64) for lines in held)]))
    group_of = places_among(ids, of_rows).astype(np.int32)
    if len(of_rows) != manifest["rows"]["published"]:
        faults.append(f"{table} has {len(of_rows):,} rows, but the manifest says {manifest['rows']['published']:,}.")
    if len(ids) != manifest["groups"]:
        faults.append(f"The tables have {len(ids):,} groups, but the manifest says {manifest['groups']:,}.")
    elif len(ids) and (ids[0] != 0 or ids[-1] != len(ids) - 1):
        faults.append(f"The groups of {table} are not numbered from 0 to {len(ids) - 1:,}.")
    exact: list[ExactColumn] = []
    others: list[ExactColumn] = []
    for attribute in own:
        words, codes = columns[attribute.name]
        if attribute.role == "quasi":
            exact.append(read_sensitive(attribute, words, codes, faults))
        else:
            others.append(read_other(attribute, words, codes))
    sizes = np.bincount(group_of, minlength=len(ids))
    first, *further = [
        read_counted(secret, name, lines, ids, faults, sizes, table)
        for secret, name, lines in zip(secrets, sensitive, held, strict=True)
    ]
    return AnatomyRelease(
        manifest,
        attributes,
        tuple(exact),
        ids,
        group_of,
        *first,
        tuple(others),
        tuple(faults),
        further=tuple(further),
    )


def read_counted(
    secret: Attribute,
    name: str,
    lines: Mapping[str, tuple[list[str], NDArray[Any]]],
    ids: NDArray[np.int64],
    faults: list[str],
    sizes: NDArray[np.int64] | None = None,
    other: str = "",
) -> Counted:
    """One sensitive attribute, from the columns of its table; ``sizes`` of groups in another table must be the same."""
    shown = read_sensitive(secret, *lines[secret.name], faults)
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


def _table_names(manifest: Mapping[str, Any], number: int) -> list[str]:
    """The files of a release with so many sensitive attributes."""
    tables, stems = manifest.get("tables"), ["table", *sensitive_names(number)]
    for ending in ("csv", "parquet"):
        names = [f"{stem}.{ending}" for stem in stems]
        if isinstance(tables, dict) and set(tables) == set(names):
            return names
    raise DiscreetError(
        f"the manifest of the release must name the tables {listed(stems)}, all .csv or all .parquet; {DAMAGED}"
    )


def read_amounts(words: list[str], codes: NDArray[Any], name: str) -> NDArray[np.int64]:
    """The column of counts; raises unless all are whole numbers."""
    try:
        numbers = np.array([int(word) for word in words], np.int64)
    except (ValueError, OverflowError):
        raise DiscreetError(
            f"the column {COUNT!r} of {name!r} does not hold a whole number in every row; publish it again"
        ) from None
    return numbers[codes] if len(numbers) else np.zeros(0, np.int64)


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
