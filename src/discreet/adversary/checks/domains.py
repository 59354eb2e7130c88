"""Check that the domains and hierarchies in a manifest agree with the original, and list no texts of their own.

The publisher may declare more values than occur, and most labels of a hierarchy are never published in a cell. The
original cannot confirm such texts, and a person's name among them would be published unnoticed. The auditor's own
hierarchy or order can confirm them, and a text that it does not contain is a fault. Without one, the verdict quotes
some of the texts so that a person reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check, one_sentence
from discreet.arguments import argument
from discreet.principles import wording
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, ordered_values
from discreet.releases.described import DescribedRelease
from discreet.releases.labels import ANYTHING
from discreet.releases.release import Release
from discreet.table.moments import written
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING

SHOWN = 3
"""How many values that only the manifest lists are quoted in a finding."""


def domains(
    release: Release,
    original: Table,
    published: Mapping[str, NDArray[np.float64]],
    from_release: Collection[str] = (),
    declared: bool = False,
) -> Check:
    """Check that domains, values and hierarchies agree with the original.

    A release may declare values that the original does not contain. This is no fault, but the finding lists them,
    because the original cannot confirm them. ``published`` are the numbers, or ends of intervals, that each numeric
    quasi-identifier is published with; ``from_release`` are the attributes whose hierarchy or order was copied from the
    release when the original was read. If the release says that all domains were ``declared``, then they are the ones
    that the original was read with, where it was read with any.
    """
    faults, remarks, open_ends = _other_trees(release, original), [], []
    for attribute in release.attributes:
        if attribute.role == "other":
            continue
        column = original.column(attribute.name)
        # the release declares the sensitive values of all rows, withheld ones included
        complete = release.withheld == 0 or attribute.role == "sensitive"
        seen = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        if attribute.kind == "numeric":
            shown = published.get(attribute.name, np.zeros(0))
            faults += _outside(attribute, shown, _known(column, seen) if complete else np.zeros(0))
            used = release.descriptions is not None and attribute.role == "quasi"
            if declared:
                faults += _undeclared(attribute, column)
                open_ends += [] if column.declared_domain else [attribute.name]
            remarks += _other_domain(attribute, column, _known(column, seen), used)
        else:
            held = {column.texts[code] for code in seen.tolist()}
            # an order never lists the missing value
            stated = {*ordered_values(attribute), *({MISSING} if attribute.kind == "ordinal" else ())}
            if complete and not held <= stated:
                faults.append(f"the manifest does not list all values of {attribute.name!r}")
            remarks += _unheld(attribute, held | (set(column.texts) if column.declared_values else set()))
    if faults:
        return Check("domains", False, one_sentence(faults))
    if open_ends:
        remarks.append(
            f"The original was read without the domains of {wording.listed(map(repr, open_ends))}, so those of the "
            "release were not compared with what was declared; name your own (as in "
            f"{argument('domains', {open_ends[0]: (0, 100)})})."
        )
    taken = [
        repr(attribute.name)
        for attribute in release.attributes
        if attribute.name in from_release
        and (attribute.kind == "ordinal" or (attribute.hierarchy is not None and not attribute.flat))
    ]
    if taken:
        remarks.append(f"The hierarchy or order of {', '.join(taken)} is taken from the release.")
    return Check("domains", True, " ".join(["Domains and hierarchies agree with the original.", *remarks]))


def numbers_of(attributes: Collection[Attribute], payloads: Collection[ExactColumn]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers that numeric attributes are published with, where these are published exactly."""
    return {
        attribute.name: _numbers(payload.values)
        for attribute, payload in zip(attributes, payloads, strict=True)
        if attribute.kind == "numeric"
    }


def ends_of(release: DescribedRelease) -> dict[str, NDArray[np.float64]]:
    """Return the ends of the published intervals of numeric attributes that have no hierarchy."""
    ends = {}
    for attribute, regions in zip(release.quasi, release.descriptions.regions, strict=True):
        if attribute.kind == "numeric" and attribute.hierarchy is None:
            bounded = ~regions.whole & (regions.low <= regions.high)
            ends[attribute.name] = np.concatenate([regions.low[bounded], regions.high[bounded]])
    return ends


# ------------------------------------------------------------------------------------------------------------ numbers


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    numbers = values.astype(np.float64)
    return numbers[~np.isnan(numbers)]


def _known(column: Column, seen: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the numbers in the original's rows."""
    return _numbers(column.values[seen[seen != (-1 if column.missing is None else column.missing)]])


def _outside(attribute: Attribute, shown: NDArray[np.float64], known: NDArray[np.float64]) -> list[str]:
    if attribute.domain is None or attribute.domain[0] > attribute.domain[1]:
        return [f"the manifest gives no domain for {attribute.name!r}"]
    bottom, top = attribute.domain
    numbers = np.concatenate([shown, known])
    if bool(np.all((numbers >= bottom) & (numbers <= top))):
        return []
    return [f"the domain of {attribute.name!r} does not contain its values"]


def _other_domain(attribute: Attribute, column: Column, known: NDArray[np.float64], used: bool) -> list[str]:
    """Remark on a domain that is wider than the original's, or narrower than the one given for reading the original.

    ``used`` when losses are measured by this domain.
    """
    if attribute.domain is None:
        return []
    bottom, top = attribute.domain
    ends = f"{_ends(attribute, attribute.domain)}{'; losses use it' if used else ''}"
    than = f"domain for {attribute.name!r} than the original was read with, {ends}."
    read = column.domain or ((float(known.min()), float(known.max())) if len(known) else (bottom, top))
    narrower = column.declared_domain and column.domain is not None and (bottom > read[0] or top < read[1])
    remarks = [f"The release states a narrower {than}"] if narrower else []
    return remarks + ([f"The release declares a wider {than}"] if bottom < read[0] or top > read[1] else [])


def _ends(attribute: Attribute, domain: tuple[float, float]) -> str:
    return " to ".join(written(end, attribute.notation) for end in domain)


def _undeclared(attribute: Attribute, column: Column) -> list[str]:
    """Report a domain that is said to be declared, and is not the one that was declared for reading the original."""
    if not column.declared_domain or attribute.domain is None or column.domain is None:
        return []
    if tuple(map(float, attribute.domain)) == tuple(map(float, column.domain)):
        return []
    stated = f"the domain of {attribute.name!r} is said to be declared as {_ends(attribute, attribute.domain)}"
    return [f"{stated}, but the original was read with {_ends(attribute, column.domain)}"]


# ------------------------------------------------------------------------------------------------------------- values


def _unheld(attribute: Attribute, known: set[str]) -> list[str]:
    """Remark on listed values that are absent from the original as it was read."""
    more = [value for value in ordered_values(attribute) if value not in known]
    if not more:
        return []
    return [
        f"The release declares {len(more):,} {'value' if len(more) == 1 else 'values'} of {attribute.name!r} that the "
        f"original does not have: {_some(more)}."
    ]


# -------------------------------------------------------------------------------------------------------- hierarchies


def _other_trees(release: Release, original: Table) -> list[str]:
    """Report the attributes whose hierarchy in the release differs from the one that the original was read with.

    A leaf for missing values depends on how the table was read, and leaves that only withheld rows have may be lacking.
    """
    faults = []
    for attribute in release.attributes:
        column = original.column(attribute.name)
        if attribute.hierarchy is None or column.hierarchy is None or column.hierarchy.bare:
            continue
        trees = attribute.hierarchy, column.hierarchy
        stated, read = ({row for row in tree.rows() if row[0] != MISSING} for tree in trees)
        partly = release.withheld > 0 and not column.declared_values
        if not (stated <= read if partly else stated == read):
            faults.append(f"the hierarchy of {attribute.name!r} is not the one that the original was read with")
    return faults


# -------------------------------------------------------------------------------------- texts that occur nowhere else


def listed(release: Release, original: Table, from_release: Collection[str] = ()) -> Check:
    """Check that every value and label in the manifest is the auditor's or the original's, or is published.

    ``from_release`` are the attributes whose hierarchy or order was copied from the release when the original was read.
    """
    cells: dict[str, set[str]] = {}
    for part in release.projections:
        if part.descriptions is not None:
            for attribute, of in zip(release.quasi, part.descriptions.texts, strict=True):
                cells.setdefault(attribute.name, set()).update(of.texts)
    faults, unseen, where = [], [], []
    for attribute in release.attributes:
        if attribute.role == "other":
            continue
        column = original.column(attribute.name)
        declared = column.declared_values and attribute.name not in from_release
        texts = _unseen_values(attribute, column, declared)
        if column.hierarchy is None or column.hierarchy.bare or attribute.name in from_release:
            texts += _unseen_labels(attribute, cells.get(attribute.name, set()))
        if texts and declared:
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
    caveat = f"the manifest lists {'; '.join(unseen)}: neither the original nor a published cell contains them"
    files = argument("hierarchies", {name: "FILE" for name in where})
    return Check("listed", True, one_sentence([f"{caveat}; to have them checked, say {files}"]), caveat=caveat)


def _unseen_values(attribute: Attribute, column: Column, declared: bool) -> list[str]:
    """Return the values in the manifest that no row of the original has and the auditor did not declare."""
    codes = np.arange(len(column.values)) if declared else np.unique(column.codes)
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
    labels = dict.fromkeys(label for level in attribute.hierarchy.labels[1:] for label in level)
    return [label for label in labels if label not in known]


def _some(texts: list[str]) -> str:
    rest = [f"{len(texts) - SHOWN:,} more"] if len(texts) > SHOWN else []
    return wording.listed([*(repr(text) for text in texts[:SHOWN]), *rest])
