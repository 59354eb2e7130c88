"""Check for values and labels that only the manifest contains: a person's name among them would be published unnoticed.

The publisher may declare more values than occur, and most labels of a hierarchy are never published in a cell. The
original cannot confirm such texts. The auditor's own hierarchy or order can, and a text that it does not contain is a
fault. Without one, the verdict quotes some of the texts so that a person reads them.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from discreet.adversary.check import Check, one_sentence
from discreet.arguments import argument
from discreet.principles import wording
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ordered_values
from discreet.releases.labels import ANYTHING
from discreet.releases.release import Release
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING

SHOWN = 3
"""How many texts that only the manifest lists are quoted."""


def listed(release: Release, original: Table, from_release: Collection[str] = ()) -> Check:
    """Check that every value and label in the manifest is the auditor's or the original's, or is published.

    ``from_release`` are the attributes whose hierarchy or order was copied from the release when the original was read.
    """
    cells: dict[str, set[str]] = {}
    for part in release.projections:
        if part.descriptions is not None:
            for one, of in zip(release.quasi, part.descriptions.texts, strict=True):
                cells.setdefault(one.name, set()).update(of.texts)
    faults, unseen, where = [], [], []
    for attribute in release.attributes:
        if attribute.role == "other":
            continue
        column = original.column(attribute.name)
        own = column.declared_values and attribute.name not in from_release
        texts = _unseen_values(attribute, column, own)
        if column.hierarchy is None or column.hierarchy.bare or attribute.name in from_release:
            texts += _unseen_labels(attribute, cells.get(attribute.name, set()))
        if texts and own:
            faults.append(
                f"the manifest lists {_some(texts)} of {attribute.name!r}, which the auditor's own hierarchy does not"
            )
        elif texts:
            unseen.append(f"{_some(texts)} of {attribute.name!r}")
            where.append(attribute.name)
    if faults:
        return Check("listed", False, one_sentence(faults))
    if not unseen:
        return Check("listed", True, "The manifest lists no values or labels that occur nowhere else.")
    told = f"the manifest lists {'; '.join(unseen)}: neither the original nor a published cell contains them"
    files = argument("hierarchies", {name: "FILE" for name in where})
    return Check("listed", True, one_sentence([f"{told}; to have them checked, say {files}"]), caveat=told)


def _unseen_values(attribute: Attribute, column: Column, own: bool) -> list[str]:
    """Return the values in the manifest that no row of the original has and the auditor did not declare."""
    codes = np.arange(len(column.values)) if own else np.unique(column.codes)
    if attribute.kind == "numeric":  # one number can be written in several ways
        numbers = set(column.values[codes].tolist())
        leaves = () if attribute.hierarchy is None else attribute.hierarchy.leaves
        return [leaf for leaf in leaves if leaf != MISSING and float(leaf) not in numbers]
    texts = column.texts
    held = {MISSING, *(texts[code] for code in codes.tolist())}
    return [value for value in ordered_values(attribute) if value not in held]


def _unseen_labels(attribute: Attribute, cells: set[str]) -> list[str]:
    """Return the labels above the values that no published cell contains."""
    if attribute.hierarchy is None:
        return []
    known = {*attribute.hierarchy.leaves, *cells, ANYTHING, MISSING}
    found = dict.fromkeys(label for level in attribute.hierarchy.labels[1:] for label in level)
    return [label for label in found if label not in known]


def _some(texts: list[str]) -> str:
    rest = [f"{len(texts) - SHOWN:,} more"] if len(texts) > SHOWN else []
    return wording.listed([*(repr(text) for text in texts[:SHOWN]), *rest])
