"""Check that the domains and hierarchies in a manifest agree with the original, and list no texts of their own.

The publisher may declare more values than occur, and most labels of a hierarchy are never published in a cell. The
original cannot confirm such texts, and a person's name among them would be published unnoticed. The auditor's own
hierarchy or order can confirm them, and a text that it does not contain is a fault. Without one, the verdict quotes
some of the texts so that a person reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.arguments import argument
from discreet.principles import wording
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, ordered_values
from discreet.releases.described import DescribedRelease
from discreet.releases.labels import ANYTHING, told
from discreet.releases.release import Release
from discreet.table.date_numbers import written
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_sources import interval_named
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING
from discreet.table.unnamed import UNNAMED, is_unnamed

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
    because the original cannot confirm them. Intervals end at values of the original, or on a grid: other ends could
    tell anything.
    ``published`` are the numbers, or ends of intervals, that each numeric quasi-identifier is published with;
    ``from_release`` are the attributes whose hierarchy or order was copied from the release when the original was read.
    If the release says that all domains were ``declared``, then they are the ones that the original was read with,
    where it was read with any.
    """
    faults, remarks, open_ends = _other_trees(release, original), list[str](), list[str]()
    for attribute in release.attributes:
        if attribute.role == "other":
            continue
        column = original.column(attribute.name)
        # the release declares the sensitive values of all rows, withheld ones included
        complete = release.withheld == 0 or attribute.role == "sensitive"
        seen = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        if attribute.kind == "numeric":
            known = _numbers(column.values[seen[seen != (-1 if column.missing is None else column.missing)]])
            shown = np.concatenate([published.get(attribute.name, np.zeros(0)), known if complete else np.zeros(0)])
            used = release.descriptions is not None and attribute.role == "quasi"
            wrong, others = _domain(attribute, column, shown, known, declared, used)
            on_grid = attribute.unit is not None  # which another check judges
            ends = published.get(attribute.name, known) if used and not on_grid else known
            if strange := np.setdiff1d(ends, known).tolist():
                end = written(strange[0], attribute.notation)
                wrong.append(f"an interval of {attribute.name!r} ends at {end}, which the original does not have")
            faults, remarks = faults + wrong, remarks + others
            open_ends += [attribute.name] if declared and not column.declared_domain else []
            continue
        held, listed = {column.texts[code] for code in seen.tolist()}, ordered_values(attribute)
        if complete and not held <= {*listed, *({MISSING} if attribute.kind == "ordinal" else ())}:
            faults.append(f"the manifest does not list all values of {attribute.name!r}")
        held |= set(column.texts) if column.declared_values else set()
        more = [value for value in listed if value not in held]
        if more:
            number = f"{len(more):,} {'value' if len(more) == 1 else 'values'}"
            have = "that the original does not have"
            remarks.append(f"The release declares {number} of {attribute.name!r} {have}: {_some(more)}.")
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


def numbers_of(
    attributes: Collection[Attribute], exact_columns: Collection[ExactColumn]
) -> dict[str, NDArray[np.float64]]:
    """Return the numbers that numeric attributes are published with, where these are published exactly."""
    return {
        attribute.name: _numbers(exact_column.values)
        for attribute, exact_column in zip(attributes, exact_columns, strict=True)
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


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    numbers = values.astype(np.float64)
    return numbers[~np.isnan(numbers)]


def _domain(
    attribute: Attribute,
    column: Column,
    shown: NDArray[np.float64],
    known: NDArray[np.float64],
    declared: bool,
    used: bool,
) -> tuple[list[str], list[str]]:
    """Return the faults of a domain, which must contain the numbers ``shown``, and remarks on it.

    ``known`` are the numbers in the original's rows. The domain may be wider than the original's, or narrower than the
    one given for reading the original, unless it is said to be ``declared``; ``used`` when losses are measured by it.
    """
    if attribute.domain is None or attribute.domain[0] > attribute.domain[1]:
        return [f"the manifest gives no domain for {attribute.name!r}"], []
    (bottom, top), faults, remarks = attribute.domain, [], []

    def ends(domain: tuple[float, float]) -> str:
        return " to ".join(written(end, attribute.notation) for end in domain)

    if not bool(np.all((shown >= bottom) & (shown <= top))):
        faults.append(f"the domain of {attribute.name!r} does not contain its values")
    given = column.domain if column.declared_domain else None
    if declared and given is not None and (bottom, top) != tuple(given):
        stated = f"the domain of {attribute.name!r} is said to be declared as {ends(attribute.domain)}"
        faults.append(f"{stated}, but the original was read with {ends(given)}")
    than = f"domain for {attribute.name!r} than the original was read with, {ends(attribute.domain)}"
    than += "; losses use it." if used else "."
    if given is not None and (bottom > given[0] or top < given[1]):
        remarks.append(f"The release states a narrower {than}")
    read = column.domain or ((float(known.min()), float(known.max())) if len(known) else (bottom, top))
    if (bottom < read[0] or top > read[1]) and (attribute.declared or attribute.unit is None):
        remarks.append(f"The release declares a wider {than}")
    low, high = _observable(attribute, known)
    if not attribute.declared and attribute.unit is None and (bottom < low or top > high):
        faults.append(
            f"the domain of {attribute.name!r}, {ends(attribute.domain)}, is wider than the original's numbers and not "
            "said to be declared"
        )
    return faults, remarks


def _observable(attribute: Attribute, known: NDArray[np.float64]) -> tuple[float, float]:
    """Return the widest domain that nobody has to declare: that of the numbers, or of the intervals of a recipe."""
    labels = (
        attribute.hierarchy.labels[-2] if attribute.hierarchy is not None and attribute.hierarchy.height > 1 else ()
    )
    ends = [*known.tolist(), *(end for label in labels for end in interval_named(label) or ())]
    return (min(ends), max(ends)) if ends else (-np.inf, np.inf)


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


def listed(case: Case[Any]) -> Check:
    """Check that every value and label in the manifest is the auditor's or the original's, or is published."""
    release, from_release = case.release, case.from_release
    cells: dict[str, set[str]] = {}
    for part in release.projections:
        if part.descriptions is not None:
            for attribute, of in zip(release.quasi, part.descriptions.texts, strict=True):
                cells.setdefault(attribute.name, set()).update(of.texts)
        if part.marginals is not None:
            for attribute, counted in zip(part.quasi, part.marginals.cells, strict=True):
                cells.setdefault(attribute.name, set()).update(counted)
    stated = [Attribute.from_dict(entry) for entry in case.manifest["attributes"]]
    faults, unseen, where = _named_beyond_cells(case, stated, cells) + _of_recipes(case, stated), [], []
    for attribute in release.attributes:
        if attribute.role == "other":
            continue
        column = case.original.column(attribute.name)
        declared = column.declared_values and attribute.name not in from_release
        texts = _unseen_values(attribute, column, declared)
        own = column.hierarchy is not None and not column.hierarchy.bare and attribute.name not in from_release
        if attribute.hierarchy is not None and not own:  # labels above the values that no published cell contains
            known = {*attribute.hierarchy.leaves, *cells.get(attribute.name, ()), ANYTHING, MISSING}
            labels = dict.fromkeys(label for level in attribute.hierarchy.labels[1:] for label in level)
            texts += [label for label in labels if label not in known]
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


def _named_beyond_cells(case: Case[Any], described: list[Attribute], cells: Mapping[str, set[str]]) -> list[str]:
    """Return the faults of quasi-identifiers of which the manifest names more, or counts other values, than it may.

    It names the values and labels that stand in a cell, unless the publisher declared them.
    """
    faults = []
    for attribute in described:
        if attribute.name not in cells or attribute.kind == "numeric":
            continue
        if attribute.kind == "ordinal":
            faults += _ordered_beyond_cells(case, attribute, cells[attribute.name])
            continue
        if attribute.declared:
            if attribute.hierarchy is not None and attribute.hierarchy.hides:
                faults.append(f"the values of {attribute.name!r} are said to be declared, and not all are listed")
            continue
        stated, texts = attribute.hierarchy, told(cells[attribute.name])
        assert stated is not None, "every categorical attribute has a hierarchy"
        beyond = _names(stated) - {row[0] for row in stated.told(texts)}
        if beyond:
            faults.append(
                f"the manifest names {_some(sorted(beyond))} of {attribute.name!r}, which stands in no cell and is not "
                "said to be declared"
            )
            continue
        column, known = case.original.column(attribute.name), case.release.attribute(attribute.name).hierarchy
        if known is None or column.declared_values:
            continue
        counted, held, shown = _sizes(stated), _sizes(known), known.told(texts)
        rightly = {row: size for row, size in held.items() if row in shown}
        # of withheld rows the manifest counts no values
        more = any(size > rightly.get(row, 0) for row, size in counted.items())
        if more or (not case.withheld and counted != rightly):
            faults.append(f"the manifest counts other values of {attribute.name!r} than the original has")
    return faults


def _ordered_beyond_cells(case: Case[Any], attribute: Attribute, cells: set[str]) -> list[str]:
    """Return the fault of an ordered quasi-identifier of which the manifest names, or counts, more than it may."""
    if attribute.declared:
        return []
    texts = told(cells, ordered=True)
    beyond = [value for value in attribute.values if not is_unnamed(value) and value not in texts]
    if beyond:
        return [
            f"the manifest names {_some(beyond)} of {attribute.name!r}, which stands in no cell and is not said to be "
            "declared"
        ]
    rightly, counted = _gaps(case.release.attribute(attribute.name).naming(texts)), _gaps(attribute)
    # of withheld rows the manifest counts no values
    more = any(size > right for size, right in zip(counted, rightly, strict=True))
    if more or (not case.withheld and counted != rightly):
        return [f"the manifest counts other values of {attribute.name!r} than the original has"]
    return []


def _gaps(attribute: Attribute) -> list[int]:
    """Return how many values without a name lie before, between and after those that have one."""
    names = [at for at, value in enumerate(attribute.values) if not is_unnamed(value)]
    return [after - at - 1 for at, after in pairwise([-1, *names, len(attribute.values)])]


def _of_recipes(case: Case[Any], described: list[Attribute]) -> list[str]:
    """Return the faults of quasi-identifiers that the original was read with a recipe for, and the release was not."""
    faults = []
    for attribute in described:
        if attribute.role != "quasi" or case.release.exact_quasi:
            continue
        column = case.original.column(attribute.name)
        listed = attribute.hierarchy is not None and not attribute.flat
        if column.recipe is not None and column.recipe != attribute.recipe and (listed or attribute.recipe is not None):
            faults.append(
                f"the labels of {attribute.name!r} are not those of the recipe that the original was read with"
            )
    return faults


def _sizes(tree: Hierarchy) -> dict[tuple[str, ...], int]:
    """Return how many leaves are below each node that has a name, by its label and those above it."""
    sizes = Counter(row[level:] for row in tree.rows() for level in range(len(row)))
    return {row: size for row, size in sizes.items() if not row[0].startswith(UNNAMED)}


def _names(tree: Hierarchy) -> set[str]:
    return {label for level in tree.labels for label in level if not label.startswith(UNNAMED)}


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


def _some(texts: list[str]) -> str:
    rest = [f"{len(texts) - SHOWN:,} more"] if len(texts) > SHOWN else []
    return wording.listed([*(repr(text) for text in texts[:SHOWN]), *rest])
