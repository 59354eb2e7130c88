"""Load an anatomy release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.releases.anatomy.release import COUNT, AnatomyRelease
from discreet.releases.columns import ExactColumn, read_other, read_sensitive
from discreet.releases.folder import DAMAGED
from discreet.releases.generalized.load import read_attributes, read_columns
from discreet.releases.generalized.release import GROUP
from discreet.table.combinations import distinct, places_among, ranked

PAIRS = (("table.csv", "sensitive.csv"), ("table.parquet", "sensitive.parquet"))


def load_anatomy(home: Path, manifest: dict[str, Any]) -> AnatomyRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = read_attributes(manifest)
    secret = next((attribute for attribute in attributes if attribute.role == "sensitive"), None)
    if secret is None or secret.name == COUNT:
        raise DiscreetError(
            f"the manifest of the release must list one sensitive attribute, whose values are counted; {DAMAGED}"
        )
    table, sensitive = _table_names(manifest)
    own = [attribute for attribute in attributes if attribute is not secret]
    columns = read_columns(home / table, [GROUP, *(attribute.name for attribute in own)])
    held = read_columns(home / sensitive, [GROUP, secret.name, COUNT])
    faults: list[str] = []
    of_rows, of_lines = columns[GROUP][1].astype(np.int64), held[GROUP][1].astype(np.int64)
    ids = distinct(np.concatenate([of_rows, of_lines]))
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
    shown = read_sensitive(secret, *held[secret.name], faults)
    counts = count_lines(places_among(ids, of_lines), shown, read_amounts(*held[COUNT], sensitive), len(ids), faults)
    sizes = np.bincount(group_of, minlength=len(ids))
    differ = np.flatnonzero(sizes != counts.sizes)
    if len(differ):
        worst = differ[0]
        faults.append(
            f"A group must have as many rows as values, but group {ids[worst]} has {sizes[worst]:,} rows in {table} "
            f"and {counts.sizes[worst]:,} values in {sensitive}"
            + (f", and {len(differ) - 1:,} other groups differ as well." if len(differ) > 1 else ".")
        )
    return AnatomyRelease(
        manifest, attributes, tuple(exact), ids, group_of, shown.values, counts, tuple(others), tuple(faults)
    )


def _table_names(manifest: Mapping[str, Any]) -> tuple[str, str]:
    tables = manifest.get("tables")
    for pair in PAIRS:
        if isinstance(tables, dict) and set(tables) == set(pair):
            return pair
    raise DiscreetError(
        f"the manifest of the release must name two tables, {' or '.join(' and '.join(pair) for pair in PAIRS)}; "
        f"{DAMAGED}"
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
