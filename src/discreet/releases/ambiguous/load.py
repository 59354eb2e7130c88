"""Load an ambiguous release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.ambiguous.blocks import Blocks
from discreet.releases.ambiguous.release import AmbiguousRelease, Auxiliary
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, read_sensitive
from discreet.releases.counted import COUNT, Counted, sensitive_names
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.partition import GROUP
from discreet.releases.reading import read_attributes, read_columns, read_counted
from discreet.table.combinations import distinct, numbered, places_among, ranked


def load_ambiguous(home: Home, manifest: dict[str, Any]) -> AmbiguousRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = read_attributes(manifest, several=True)
    secrets = [attribute for attribute in attributes if attribute.role == "sensitive"]
    named_so = any(secret.name == COUNT for secret in secrets)
    if not secrets or named_so or any(one.role != "quasi" for one in attributes[: -len(secrets)]):
        raise DiscreetError(
            "the manifest of the release must list quasi-identifiers and then sensitive attributes, whose values are "
            f"counted; {DAMAGED}"
        )
    stems, blocks = _auxiliaries(manifest, attributes)
    ending = _ending(manifest, [*stems, *sensitive_names(len(secrets))])
    tables = [f"{stem}{ending}" for stem in sensitive_names(len(secrets))]
    held = [
        read_columns(home / name, [GROUP, secret.name, COUNT]) for name, secret in zip(tables, secrets, strict=True)
    ]
    read = [read_columns(home / f"{stem}{ending}", [*block, GROUP]) for stem, block in zip(stems, blocks, strict=True)]
    for stem, columns in zip(stems, read, strict=True):
        if len(columns[GROUP][1]) == 0:  # a group without values is a fault, but nobody can be looked up in no values
            raise DiscreetError(f"'{stem}{ending}' of the release has no rows; {DAMAGED}")
    faults: list[str] = []
    ids = distinct(np.concatenate([columns[GROUP][1] for columns in (*held, *read)]))
    if len(ids) != manifest["groups"]:
        faults.append(f"The tables have {len(ids):,} groups, but the manifest says {manifest['groups']:,}.")
    elif len(ids) and (ids[0] != 0 or ids[-1] != len(ids) - 1):
        faults.append(f"The groups of {tables[0]} are not numbered from 0 to {len(ids) - 1:,}.")
    counted: list[Counted] = []
    for name, secret, lines in zip(tables, secrets, held, strict=True):
        first = (counted[0].counts.sizes, tables[0]) if counted else ()
        counted.append(read_counted(secret, name, lines, ids, faults, *first))
    counts = counted[0].counts
    total = int(counts.sizes.sum())
    if total != manifest["rows"]["published"]:
        faults.append(f"{tables[0]} counts {total:,} rows, but the manifest says {manifest['rows']['published']:,}.")
    kinds = {attribute.name: attribute for attribute in attributes}
    auxiliaries = []
    for stem, block, columns in zip(stems, blocks, read, strict=True):
        payloads = [read_sensitive(kinds[name], *columns[name], faults) for name in block]
        groups = places_among(ids, columns[GROUP][1]).astype(np.int32)
        auxiliary = _sorted(f"{stem}{ending}", groups, payloads, len(ids), faults)
        _check_entries(f"{stem}{ending}", auxiliary, counts.sizes, ids, faults)
        auxiliaries.append(auxiliary)
    return AmbiguousRelease(
        manifest,
        attributes,
        blocks,
        tuple(auxiliaries),
        ids,
        *counted[0],
        tuple(faults),
        further=tuple(counted[1:]),
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
    """The ending of the files; raises unless the manifest names exactly the tables with these stems."""
    tables = manifest.get("tables")
    for ending in (".csv", ".parquet"):
        named = {f"{stem}{ending}" for stem in stems}
        if isinstance(tables, dict) and set(tables) == named and len(named) == len(stems):
            return ending
    raise DiscreetError(
        "the manifest of the release must name its auxiliary tables and those of its sensitive attributes, all .csv or "
        f"all .parquet; {DAMAGED}"
    )


def _sorted(
    name: str, groups: NDArray[np.int32], payloads: list[ExactColumn], number: int, faults: list[str]
) -> Auxiliary:
    """An auxiliary table in ascending order without duplicate lines."""
    sizes = [number, *(len(payload.values) for payload in payloads)]
    keys = numbered([groups, *(payload.codes for payload in payloads)], sizes, len(groups))
    _, first, _ = ranked(keys)
    if len(first) < len(keys):
        faults.append(f"{name} lists a value of a group more than once.")
    kept = tuple(payload._replace(codes=payload.codes[first]) for payload in payloads)
    return Auxiliary(groups[first], kept)


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
