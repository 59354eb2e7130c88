"""Whether a release is sound in itself: its files, their consistency, their domains, and what they state."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.adversary.check import Check
from discreet.adversary.laying import Laid
from discreet.errors import DiscreetError
from discreet.principles import KAnonymity, Principle, Prior, parse, together
from discreet.principles.several import named
from discreet.releases.files import MANIFEST
from discreet.releases.generalized import GeneralizedRelease
from discreet.releases.keeping import kept_sentence
from discreet.releases.release import Release
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Table
from discreet.table.texts import MISSING
from discreet.table.write import digest

BESIDE = re.compile(r"(readme|licen[cs]e)[\w-]*(\.(txt|md|rst))?", re.IGNORECASE)
"""Files that may lie beside those of a release; any other would be published unaudited."""

COMMON = frozenset(
    ("discreet", "format", "format_version", "scheme", "promise", "attributes", "rows", "tables", "assumptions")
) | {"experimental_seed"}
"""What the manifest of every format may say."""
ATTRIBUTE = frozenset(("name", "role", "kind", "domain", "values", "hierarchy"))


def files(home: Path, manifest: dict[str, Any]) -> Check:
    """Whether the files are those that the manifest names, unaltered, and no others."""
    tables = manifest.get("tables")
    tables = tables if isinstance(tables, dict) else {}
    faults = []
    for name, entry in tables.items():
        path = home / str(name)
        if not path.is_file() or not isinstance(entry, dict) or digest(path) != entry.get("sha256"):
            faults.append(f"the file {name} is not the one that the manifest describes (its SHA-256 digest differs)")
    beside = []
    for path in sorted(home.iterdir()):
        if path.is_symlink():
            faults.append(f"{path.name} is a link to a file elsewhere, which may change or hold more")
        elif path.is_file() and BESIDE.fullmatch(path.name):
            beside.append(path.name)
        elif path.name not in tables and path.name != MANIFEST:
            faults.append(f"the folder also holds {path.name}, which the manifest does not name and nobody audited")
    if faults:
        return Check("files", False, _sentence(faults))
    sentence = "The tables are those that the manifest describes, byte for byte, and the folder holds no others."
    if beside:
        sentence += f" Not audited: {', '.join(beside)}."
    return Check("files", True, sentence)


def entries(manifest: dict[str, Any], more: Iterable[str]) -> Check:
    """Whether the manifest says nothing but what its format knows: the common entries, and ``more``."""
    attributes = manifest.get("attributes")
    parts = [
        ("", manifest, COMMON | set(more)),
        (" under 'scheme'", manifest.get("scheme"), {"name", "options"}),
        (" under 'rows'", manifest.get("rows"), {"published", "withheld"}),
    ]
    for one in attributes if isinstance(attributes, list) else []:
        parts.append((f" of the attribute {one.get('name')!r}" if isinstance(one, dict) else "", one, ATTRIBUTE))
    tables = manifest.get("tables")
    for name, one in tables.items() if isinstance(tables, dict) else ():
        parts.append((f" of the table {name!r}", one, {"sha256"}))
    faults = [
        f"the manifest has the entry {key!r}{where}, which this format does not know and nobody audited"
        for where, part, known in parts
        if isinstance(part, dict)
        for key in part
        if key not in known
    ]
    if faults:
        return Check("manifest", False, _sentence(faults))
    return Check("manifest", True, "The manifest has no entries but those of its format.")


def kept(release: Release) -> list[Check]:
    """That some columns are published as they are, and outside the promise; nothing when there are none."""
    names = [attribute.name for attribute in release.attributes if attribute.role == "other"]
    return [Check("kept", True, kept_sentence(names))] if names else []


def taken(parts: Iterable[Principle], prior: Prior, from_release: Collection[str]) -> tuple[str | None, list[Check]]:
    """What promises are judged by that the release alone tells: ``hierarchy`` or ``order``, and the warning.

    ``from_release`` are attributes whose hierarchy or order the original was read with as the release states it.
    """
    if prior.attribute is None or prior.attribute not in from_release:
        return None, []
    for part in parts:
        distance, level = getattr(part, "distance", None), getattr(part, "level", 0)
        if distance == "hierarchical" or level:
            what, file = "hierarchy", "the hierarchy"
        elif distance == "ordered" and prior.kind == "ordinal":
            what, file = "order", "the values in their order, one per line,"
        else:
            continue
        name = prior.attribute
        sentence = (
            f"{part} depends on the {what} of {name!r}, which was taken from the release that is judged; to have it "
            f"judged by your own, put {file} into a file and say --hierarchy {name}=FILE."
        )
        return what, [Check("given", True, sentence)]
    return None, []


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
        elif complete:
            told = attribute.values if attribute.hierarchy is None else attribute.hierarchy.leaves
            texts = column.texts
            unlisted = {MISSING} if attribute.kind == "ordinal" else set()
            if not {*told, *unlisted}.issuperset(texts[code] for code in seen):
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
        if told is None or read is None or read.height <= 1:
            continue
        partly = laid.release.withheld > 0 and not original.column(attribute.name).declared_values
        if not _same(told, read, partly):
            faults.append(f"the hierarchy of {attribute.name!r} is not the one that the original was read with")
    return faults


def _same(told: Hierarchy, read: Hierarchy, partly: bool) -> bool:
    """Whether two hierarchies agree, but for a leaf for missing values, which depends on the reading.

    With ``partly``, the one that is told may lack leaves: those that only withheld rows hold.
    """
    one, other = ({row for row in tree.rows() if row[0] != MISSING} for tree in (told, read))
    return one <= other if partly else one == other


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


def each_promised(parts: tuple[Principle, ...], original: Table) -> list[tuple[str | None, tuple[Principle, ...]]]:
    """Per sensitive attribute its name, where there are several, and the promises to be judged on it.

    A promise that names an attribute which the release does not have is judged on the first one, where it cannot hold.
    """
    columns = original.all_sensitive
    if len(columns) < 2:
        return [(None, parts)]
    names = [column.name for column in columns]
    found: list[tuple[str | None, tuple[Principle, ...]]] = []
    for at, name in enumerate(names):
        about = [part for part in parts if part.about in (None, name) or (at == 0 and part.about not in names)]
        own = [named(part, name) for part in about if at == 0 or not isinstance(part, KAnonymity)]
        found.append((name, tuple(own)))
    return found


def _sentence(faults: list[str]) -> str:
    text = "; ".join(faults)
    return f"{text[:1].upper()}{text[1:]}."
