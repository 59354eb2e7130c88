"""Whether a release is sound in itself: its files, their consistency, their domains, and what they state."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.adversary.check import Check
from discreet.adversary.laying import Laid
from discreet.errors import DiscreetError
from discreet.principles import Principle, parse, together
from discreet.releases.files import MANIFEST
from discreet.releases.generalized import GeneralizedRelease
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Table
from discreet.table.texts import MISSING
from discreet.table.write import digest

DATA = {".csv", ".tsv", ".json", ".parquet", ".feather", ".arrow", ".gz", ".zip", ".xlsx", ".db", ".npy", ".pkl"}
"""Files that may hold records: beside the tables of a release they would be published unaudited."""


def files(home: Path, manifest: dict[str, Any]) -> Check:
    """Whether the files are those that the manifest names, unaltered, and no others that may hold records."""
    tables = manifest.get("tables")
    tables = tables if isinstance(tables, dict) else {}
    faults = []
    for name, entry in tables.items():
        path = home / str(name)
        if not path.is_file() or not isinstance(entry, dict) or digest(path) != entry.get("sha256"):
            faults.append(f"the file {name} is not the one that the manifest describes (its SHA-256 digest differs)")
    for path in sorted(home.iterdir()):
        if path.name not in tables and path.name != MANIFEST and (path.is_dir() or path.suffix.lower() in DATA):
            faults.append(f"the folder also holds {path.name}, which the manifest does not name and nobody audited")
    if faults:
        return Check("files", False, _sentence(faults))
    return Check("files", True, "The tables are those that the manifest describes, byte for byte.")


def consistency(release: GeneralizedRelease) -> Check:
    """Whether the table agrees with itself and with the manifest."""
    if release.faults:
        return Check("consistency", False, " ".join(release.faults))
    return Check(
        "consistency", True, "Every group has one description, and rows and groups are as many as the manifest says."
    )


def domains(laid: Laid, original: Table) -> Check:
    """Whether the domains that losses are measured by, and the hierarchies, are those of the original."""
    faults, wide = _other_trees(laid, original), []
    complete = laid.release.withheld == 0
    for attribute, regions, column in zip(laid.release.quasi, laid.release.regions, laid.columns, strict=True):
        seen = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        if attribute.kind == "numeric":
            if attribute.domain is None or attribute.domain[0] > attribute.domain[1]:
                faults.append(f"the manifest gives no domain for {attribute.name!r}")
                continue
            bottom, top = attribute.domain
            bounded = ~regions.whole & (regions.low <= regions.high)
            inside = bool(np.all(regions.low[bounded] >= bottom) and np.all(regions.high[bounded] <= top))
            known = column.values[seen[seen != (-1 if column.missing is None else column.missing)]].astype(np.float64)
            covered = not len(known) or (known.min() >= bottom and known.max() <= top)
            if (not inside and attribute.hierarchy is None) or (complete and not covered):
                faults.append(f"the domain of {attribute.name!r} does not contain its values")
            own = column.domain or ((float(known.min()), float(known.max())) if len(known) else (bottom, top))
            if bottom < own[0] or top > own[1]:
                wide.append(attribute.name)
        elif attribute.kind == "categorical" and attribute.hierarchy is not None:
            leaves = set(attribute.hierarchy.leaves)
            if complete and not leaves.issuperset(column.texts[code] for code in seen):
                faults.append(f"the manifest does not list all values of {attribute.name!r}")
    if faults:
        return Check("domains", False, _sentence(faults))
    sentence = "Domains and hierarchies agree with the original."
    if wide:
        names = ", ".join(repr(name) for name in wide)
        sentence += f" The release declares a wider domain for {names} than the original was read with; losses use it."
    return Check("domains", True, sentence)


def _other_trees(laid: Laid, original: Table) -> list[str]:
    """The attributes that the release was made with another hierarchy of than the original was read with."""
    faults = []
    for attribute in laid.release.attributes:
        told, read = attribute.hierarchy, original.column(attribute.name).hierarchy
        if told is not None and read is not None and read.height > 1 and not _same(told, read):
            faults.append(f"the hierarchy of {attribute.name!r} is not the one that the original was read with")
    return faults


def _same(one: Hierarchy, other: Hierarchy) -> bool:
    """Whether two hierarchies agree, but for a leaf for missing values, which depends on the reading."""
    rows = (sorted(row for row in tree.rows() if row[0] != MISSING) for tree in (one, other))
    return next(rows) == next(rows)


def promises(
    manifest: dict[str, Any], given: Principle | str | Iterable[Principle | str] | None
) -> tuple[tuple[Principle, ...], Check]:
    """The promises to be judged: those given, and those that the manifest states."""
    if given is None:
        given = ()
    elif isinstance(given, (Principle, str)):
        given = (given,)
    parts: list[Principle] = [parse(one) if isinstance(one, str) else one for one in given]
    texts = manifest.get("promise")
    check = Check("promise", True, "The manifest states what is promised.")
    if not isinstance(texts, list) or not texts:
        check = Check("promise", False, "The manifest states no promise.")
    else:
        for text in texts:
            try:
                parts.append(parse(str(text)))
            except DiscreetError as error:
                check = Check("promise", False, f"The manifest states a promise that cannot be read: {error}.")
    return (together(parts).parts if parts else ()), check


def _sentence(faults: list[str]) -> str:
    text = "; ".join(faults)
    return f"{text[:1].upper()}{text[1:]}."
