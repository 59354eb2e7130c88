"""Load an ambiguous release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.ambiguous.blocks import Blocks
from discreet.releases.ambiguous.release import SENSITIVE, AmbiguousRelease, Auxiliary
from discreet.releases.anatomy.load import count_lines, read_amounts
from discreet.releases.anatomy.release import COUNT
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, read_sensitive
from discreet.releases.folder import DAMAGED
from discreet.releases.generalized.load import read_attributes, read_columns
from discreet.releases.generalized.release import GROUP
from discreet.table.combinations import distinct, numbered, places_among, ranked


def load_ambiguous(home: Path, manifest: dict[str, Any]) -> AmbiguousRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = read_attributes(manifest)
    if [attribute.role for attribute in attributes].count("sensitive") != 1 or attributes[-1].role != "sensitive":
        raise DiscreetError(
            f"the manifest of the release must list quasi-identifiers and then one sensitive attribute; {DAMAGED}"
        )
    secret = attributes[-1]
    stems, blocks = _auxiliaries(manifest, attributes)
    ending = _ending(manifest, stems)
    sensitive = f"{SENSITIVE}{ending}"
    held = read_columns(home / sensitive, [GROUP, secret.name, COUNT])
    read = [read_columns(home / f"{stem}{ending}", [*block, GROUP]) for stem, block in zip(stems, blocks, strict=True)]
    for stem, columns in zip(stems, read, strict=True):
        if len(columns[GROUP][1]) == 0:  # a group without values is a fault, but nobody can be looked up in no values
            raise DiscreetError(f"'{stem}{ending}' of the release has no rows; {DAMAGED}")
    faults: list[str] = []
    lines = held[GROUP][1]
    ids = distinct(np.concatenate([lines, *(columns[GROUP][1] for columns in read)]))
    if len(ids) != manifest["groups"]:
        faults.append(f"The tables have {len(ids):,} groups, but the manifest says {manifest['groups']:,}.")
    elif len(ids) and (ids[0] != 0 or ids[-1] != len(ids) - 1):
        faults.append(f"The groups of {sensitive} are not numbered from 0 to {len(ids) - 1:,}.")
    shown = read_sensitive(secret, *held[secret.name], faults)
    places = places_among(ids, lines)
    counts = count_lines(places, shown, read_amounts(*held[COUNT], sensitive), len(ids), faults)
    total = int(counts.sizes.sum())
    if total != manifest["rows"]["published"]:
        faults.append(f"{sensitive} counts {total:,} rows, but the manifest says {manifest['rows']['published']:,}.")
    kinds = {attribute.name: attribute for attribute in attributes}
    auxiliaries, orders = [], []
    for stem, block, columns in zip(stems, blocks, read, strict=True):
        payloads = [read_sensitive(kinds[name], *columns[name], faults) for name in block]
        groups = places_among(ids, columns[GROUP][1]).astype(np.int32)
        auxiliary, order = _sorted(f"{stem}{ending}", groups, payloads, len(ids), faults)
        _check_entries(f"{stem}{ending}", auxiliary, counts.sizes, ids, faults)
        auxiliaries.append(auxiliary)
        orders.append(order)
    # lines with a count of 0 and duplicate lines are faults and have been dropped, so the file's order cannot be kept
    plain = len(lines) == len(counts.values)
    orders.append(ranked(places * counts.width + shown.codes)[2] if plain else np.arange(len(counts.values)))
    return AmbiguousRelease(
        manifest, attributes, blocks, tuple(auxiliaries), ids, shown.values, counts, tuple(orders), tuple(faults)
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


def _ending(manifest: Mapping[str, Any], stems: list[str]) -> str:
    tables = manifest.get("tables")
    for ending in (".csv", ".parquet"):
        named = {f"{stem}{ending}" for stem in [*stems, SENSITIVE]}
        if isinstance(tables, dict) and set(tables) == named and len(named) == len(stems) + 1:
            return ending
    raise DiscreetError(
        "the manifest of the release must name its auxiliary tables and 'sensitive', all .csv or all .parquet; "
        f"{DAMAGED}"
    )


def _sorted(
    name: str, groups: NDArray[np.int32], payloads: list[ExactColumn], number: int, faults: list[str]
) -> tuple[Auxiliary, NDArray[np.int64]]:
    """An auxiliary table in ascending order without duplicate lines, and the order of its file."""
    sizes = [number, *(len(payload.values) for payload in payloads)]
    keys = numbered([groups, *(payload.codes for payload in payloads)], sizes, len(groups))
    _, first, place = ranked(keys)
    if len(first) < len(keys):
        faults.append(f"{name} lists a value of a group more than once.")
    order = place if len(first) == len(keys) else np.arange(len(first))
    kept = tuple(payload._replace(codes=payload.codes[first]) for payload in payloads)
    return Auxiliary(groups[first], kept), order.astype(np.int64)


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
