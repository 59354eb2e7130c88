"""Load an ambiguous release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.ambiguous.blocks import Blocks
from discreet.releases.ambiguous.release import AmbiguousRelease, Auxiliary, make_auxiliary
from discreet.releases.attributes import Attribute
from discreet.releases.columns import read_sensitive
from discreet.releases.counted import Counted
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.partition import GROUP
from discreet.releases.reading import check_groups, counted_tables, read_attributes, read_columns, read_counted
from discreet.table.combinations import distinct, places_among


def load_ambiguous(home: Home, manifest: dict[str, Any]) -> AmbiguousRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = read_attributes(manifest)
    stems, blocks = _auxiliaries(manifest, attributes)
    secrets, tables, of_secrets, ending = counted_tables(home, attributes, manifest, stems)
    if any(attribute.role == "other" for attribute in attributes):
        raise DiscreetError(
            "the manifest of the release must list quasi-identifiers and then sensitive attributes, and no others; "
            f"{DAMAGED}"
        )
    names = [f"{stem}.{ending}" for stem in stems]
    read = [read_columns(home / name, [*block, GROUP]) for name, block in zip(names, blocks, strict=True)]
    for name, columns in zip(names, read, strict=True):
        if len(columns[GROUP][1]) == 0:  # a group without values is a fault, but nobody can be looked up in no values
            raise DiscreetError(f"{name!r} of the release has no rows; {DAMAGED}")
    faults: list[str] = []
    ids = distinct(np.concatenate([distinct(columns[GROUP][1]) for columns in (*of_secrets, *read)]))
    check_groups(tables[0], ids, manifest, faults)
    counted: list[Counted] = []
    for name, secret, lines in zip(tables, secrets, of_secrets, strict=True):
        first = (counted[0].counts.sizes, tables[0]) if counted else ()
        counted.append(read_counted(secret, name, lines, ids, faults, *first))
    counts = counted[0].counts
    total = int(counts.sizes.sum())
    if total != manifest["rows"]["published"]:
        faults.append(f"{tables[0]} counts {total:,} rows, but the manifest says {manifest['rows']['published']:,}.")
    kinds = {attribute.name: attribute for attribute in attributes}
    auxiliaries = []
    for name, block, columns in zip(names, blocks, read, strict=True):
        payloads = [read_sensitive(kinds[each], *columns[each], faults) for each in block]
        groups = places_among(ids, columns[GROUP][1]).astype(np.int32)
        auxiliary = make_auxiliary(groups, len(ids), payloads)
        if len(auxiliary.groups) < len(groups):
            faults.append(f"{name} lists a value of a group more than once.")
        _check_entries(name, auxiliary, counts.sizes, ids, faults)
        auxiliaries.append(auxiliary)
    return AmbiguousRelease(
        manifest=manifest,
        attributes=attributes,
        blocks=blocks,
        auxiliaries=tuple(auxiliaries),
        ids=ids,
        faults=tuple(faults),
        counted=tuple(counted),
    )


def _auxiliaries(manifest: Mapping[str, Any], attributes: tuple[Attribute, ...]) -> tuple[list[str], Blocks]:
    """The names of the auxiliary tables and the attributes in each of them."""
    try:
        entries = [(str(entry["table"]), tuple(map(str, entry["attributes"]))) for entry in manifest["auxiliaries"]]
    except (KeyError, TypeError):
        entries = []
    listed = sorted(name for _, block in entries for name in block)
    if listed != sorted(attribute.name for attribute in attributes if attribute.role == "quasi"):
        raise DiscreetError(
            f"the manifest of the release must name an auxiliary table for every quasi-identifier; {DAMAGED}"
        )
    return [stem for stem, _ in entries], tuple(block for _, block in entries)


def _check_entries(
    name: str, auxiliary: Auxiliary, sizes: NDArray[np.int64], ids: NDArray[np.int64], faults: list[str]
) -> None:
    """Report groups without entries, or with more entries than rows, in an auxiliary table."""
    entries = np.bincount(auxiliary.groups, minlength=len(sizes))
    wrong = np.flatnonzero((entries < 1) | (entries > sizes))
    if len(wrong):
        g = wrong[0]
        faults.append(
            f"A group must show between one value and as many as it has rows, but group {ids[g]} has {sizes[g]:,} rows "
            f"and {entries[g]:,} values in {name}"
            + (f", and {len(wrong) - 1:,} other groups are like that." if len(wrong) > 1 else ".")
        )
