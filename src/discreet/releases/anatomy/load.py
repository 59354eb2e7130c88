"""Load an anatomy release from its folder and report inconsistencies as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.principles.wording import listed
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.counted import COUNT, sensitive_names
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.partition import GROUP
from discreet.releases.reading import read_attributes, read_columns, read_counted, read_unchanged
from discreet.table.combinations import distinct, places_among


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
    exact, others = read_unchanged(own, columns, faults)
    sizes = np.bincount(group_of, minlength=len(ids))
    first, *further = [
        read_counted(secret, name, lines, ids, faults, sizes, table)
        for secret, name, lines in zip(secrets, sensitive, held, strict=True)
    ]
    return AnatomyRelease(
        manifest,
        attributes,
        exact,
        ids,
        group_of,
        *first,
        others,
        tuple(faults),
        further=tuple(further),
    )


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
