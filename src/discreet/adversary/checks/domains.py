"""Check that the domains and hierarchies in a manifest agree with the original, for every format."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check, one_sentence
from discreet.arguments import argument
from discreet.principles.wording import listed
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, ordered_values
from discreet.releases.described import DescribedRelease
from discreet.releases.release import Release
from discreet.table.hierarchy import Hierarchy
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
            remarks += _narrower(attribute, column, used) + _wider(attribute, column, _known(column, seen), used)
        else:
            held = {column.texts[code] for code in seen.tolist()}
            faults += _unlisted(attribute, held) if complete else []
            remarks += _unheld(attribute, held | (set(column.texts) if column.declared_values else set()))
    if faults:
        return Check("domains", False, one_sentence(faults))
    if open_ends:
        remarks.append(
            f"The original was read without the domains of {listed(map(repr, open_ends))}, so those of the release "
            f"were not compared with what was declared; name your own (as in "
            f"{argument('domains', {open_ends[0]: (0, 100)})})."
        )
    taken = [repr(one.name) for one in release.attributes if one.name in from_release and _tells_more(one)]
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
    found = {}
    for attribute, regions in zip(release.quasi, release.descriptions.regions, strict=True):
        if attribute.kind == "numeric" and attribute.hierarchy is None:
            bounded = ~regions.whole & (regions.low <= regions.high)
            found[attribute.name] = np.concatenate([regions.low[bounded], regions.high[bounded]])
    return found


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


def _wider(attribute: Attribute, column: Column, known: NDArray[np.float64], used: bool) -> list[str]:
    """Remark that a domain is wider than the original's; ``used`` when losses are measured by this domain."""
    if attribute.domain is None:
        return []
    bottom, top = attribute.domain
    own = column.domain or ((float(known.min()), float(known.max())) if len(known) else (bottom, top))
    if bottom >= own[0] and top <= own[1]:
        return []
    return [f"The release declares a wider domain for {attribute.name!r} {_compared(attribute, used)}"]


def _compared(attribute: Attribute, used: bool) -> str:
    assert attribute.domain is not None
    ends = " to ".join(written(end, attribute.notation) for end in attribute.domain)
    return f"than the original was read with, {ends}{'; losses use it' if used else ''}."


def _narrower(attribute: Attribute, column: Column, used: bool) -> list[str]:
    """Remark that a domain is narrower than the one that was given for reading the original."""
    if attribute.domain is None or column.domain is None or not column.declared_domain:
        return []
    if attribute.domain[0] <= column.domain[0] and attribute.domain[1] >= column.domain[1]:
        return []
    return [f"The release states a narrower domain for {attribute.name!r} {_compared(attribute, used)}"]


def _undeclared(attribute: Attribute, column: Column) -> list[str]:
    """Report a domain that is said to be declared, and is not the one that was declared for reading the original."""
    if not column.declared_domain or attribute.domain is None or column.domain is None:
        return []
    if tuple(map(float, attribute.domain)) == tuple(map(float, column.domain)):
        return []
    told, own = (
        " to ".join(written(end, attribute.notation) for end in ends) for ends in (attribute.domain, column.domain)
    )
    return [f"the domain of {attribute.name!r} is said to be declared as {told}, and the original was read with {own}"]


# ------------------------------------------------------------------------------------------------------------- values


def _unlisted(attribute: Attribute, held: set[str]) -> list[str]:
    """Report values of the original that the manifest does not list; an order never lists the missing value."""
    known = {*ordered_values(attribute), *({MISSING} if attribute.kind == "ordinal" else ())}
    return [] if held <= known else [f"the manifest does not list all values of {attribute.name!r}"]


def _unheld(attribute: Attribute, known: set[str]) -> list[str]:
    """Remark on listed values that are absent from the original as it was read."""
    more = [value for value in ordered_values(attribute) if value not in known]
    if not more:
        return []
    rest = f" and {len(more) - SHOWN:,} more" if len(more) > SHOWN else ""
    names = ", ".join(repr(value) for value in more[:SHOWN])
    return [
        f"The release declares {len(more):,} {'value' if len(more) == 1 else 'values'} of {attribute.name!r} that the "
        f"original does not have: {names}{rest}."
    ]


def _tells_more(attribute: Attribute) -> bool:
    """Whether the manifest states an order or a hierarchy of an attribute, not only its values."""
    return attribute.kind == "ordinal" or (attribute.hierarchy is not None and not attribute.flat)


# -------------------------------------------------------------------------------------------------------- hierarchies


def _other_trees(release: Release, original: Table) -> list[str]:
    """Report the attributes whose hierarchy in the release differs from the one that the original was read with."""
    faults = []
    for attribute in release.attributes:
        told, read = attribute.hierarchy, original.column(attribute.name).hierarchy
        if told is None or read is None or read.bare:
            continue
        partly = release.withheld > 0 and not original.column(attribute.name).declared_values
        if not _same(told, read, partly):
            faults.append(f"the hierarchy of {attribute.name!r} is not the one that the original was read with")
    return faults


def _same(told: Hierarchy, read: Hierarchy, partly: bool) -> bool:
    """Whether two hierarchies agree, apart from a leaf for missing values, which depends on how the table was read.

    With ``partly``, the release's hierarchy may lack leaves: those that only withheld rows have.
    """
    one, other = ({row for row in tree.rows() if row[0] != MISSING} for tree in (told, read))
    return one <= other if partly else one == other
