"""Check what a release says of its numbers: steps, and that intervals end on a public grid, at nobody's number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import quasi_column
from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.errors import DiscreetError
from discreet.principles.wording import listed
from discreet.releases.attributes import Attribute
from discreet.releases.descriptions import Descriptions
from discreet.releases.grid import Grid, column_step, column_unit, end_text, ranked_numbers
from discreet.releases.labels import Regions, interval
from discreet.table.date_numbers import written
from discreet.table.decimals import Ruler, unit_of
from discreet.table.table import Column


def grid(case: Case[Any]) -> list[Check]:
    """Check the grid of a release, if it has one or should have: its units, its start, and all ends."""
    release, scheme = case.release, case.manifest.get("scheme")
    options = scheme.get("options") if isinstance(scheme, dict) else None
    said = isinstance(options, dict) and options.get("snap") is True
    described: Descriptions | None = release.descriptions
    with_unit = [attribute.name for attribute in release.quasi if attribute.unit is not None]
    if not said and not with_unit:
        return []
    faults: list[str] = []
    if described is None:
        faults.append(f"quasi-identifiers are published as they are, but {listed(map(repr, with_unit))} has a unit")
    if any(part.most_presence < 1.0 for part in case.parts):
        faults.append("a promise about presence is judged for the narrowest intervals, which are not published")
    if described is not None:
        for attribute, regions in zip(described.quasi, described.regions, strict=True):
            if not said and attribute.unit is None:
                continue  # its intervals were left as they are
            faults += _faults(attribute, regions, quasi_column(attribute, case.original), release.withheld == 0)
    if faults:
        return [Check("grid", False, one_sentence(faults))]
    sentence = (
        f"All intervals of {listed(map(repr, with_unit))} end on the grid, so nobody is certain to be at an end."
        if with_unit
        else "No quasi-identifier is published by intervals, so there is no grid to check."
    )
    return [Check("grid", True, sentence)]


def steps(case: Case[Any], population: bool = False) -> list[Check]:
    """Check the steps of numbers that the manifest states, if any: counts rely on them, and they could tell anything.

    If rows are withheld, those with more decimal places may be among them; all others must be on the step. Without a
    ``population`` nobody asks who is believed to be in the table.
    """
    release = case.release
    stated = [attribute for attribute in release.quasi if attribute.step is not None]
    if not stated:
        return []
    faults: list[str] = []
    described = [part.descriptions for part in release.projections if part.descriptions is not None]
    if not described:
        faults.append("quasi-identifiers are published as they are, so nothing is to be said of the steps of numbers")
    if any(part.most_presence < 1.0 for part in case.parts):
        faults.append("steps follow from all numbers, so they may tell who is in the table, about which is promised")
    for attribute in stated:
        name, column = attribute.name, quasi_column(attribute, case.original)
        known = column.values.astype(np.float64)
        rows = np.bincount(column.codes, minlength=len(known))
        on_step = np.isnan(known) | Ruler.of(attribute.step).on(known)
        step = column_step(replace(column, domain=attribute.domain, declared_domain=attribute.declared))
        finest = unit_of(known[rows > 0]) or 0.0
        coarser = finest < cast(float, attribute.step) and release.rows <= int(rows[on_step].sum())
        if attribute.step == step or (release.withheld and coarser):
            continue
        faults.append(f"the manifest gives {attribute.step} as the step of {name!r}, which must be {step or 'none'}")
    for attribute, regions in (each for of in described for each in zip(of.quasi, of.regions, strict=True)):
        ends = np.r_[regions.low, regions.high, attribute.domain or ()]
        ends = ends[np.isfinite(ends)]
        off = ends[~Ruler.of(attribute.step).on(ends)]
        if attribute.step is not None and len(off):
            end = written(float(off[0]), attribute.notation)
            faults.append(f"an interval of {attribute.name!r} ends at {end}, which is not on its step {attribute.step}")
    if faults:
        return [Check("steps", False, one_sentence(faults))]
    caveat = "what steps of numbers tell about who is in the table was not computed" if population else ""
    sentence = f"The numbers of {listed(repr(each.name) for each in stated)} are on their steps."
    return [Check("steps", True, sentence, caveat=caveat)]


def _faults(attribute: Attribute, regions: Regions, column: Column, complete: bool) -> list[str]:
    """Return the first fault of an attribute: of its unit, its domain or an interval."""
    name, declared = attribute.name, attribute.declared
    published = replace(column, domain=attribute.domain, declared_domain=declared, declared_values=declared)
    try:
        unit = column_unit(published)
    except DiscreetError as error:
        return [f"the intervals of {name!r} cannot end on a grid: {error}"]
    # numbers with more decimal places may be withheld
    coarser = not complete and unit is not None and attribute.unit is not None and attribute.unit > unit
    if attribute.unit != unit and not coarser:
        return [f"the manifest gives {attribute.unit or 'no unit'} as the unit of {name!r}, which must be {unit}"]
    if unit is None:
        return []
    known = known_numbers(attribute, column)
    if attribute.kind == "numeric" and not attribute.declared and attribute.domain is not None and len(known):
        around, ends = Grid.from_zero(attribute.unit or unit), np.array(attribute.domain)
        other = complete and bool((np.concatenate(around.widened(known[:1], known[-1:])) != ends).any())
        if other or not around.possible(ends[:1], ends[1:], known)[0]:
            return [f"the domain of {name!r}, which is not said to be declared, does not end on the grid of its unit"]
    bounded = np.flatnonzero(~regions.whole & (regions.low <= regions.high))
    low, high = regions.low[bounded], regions.high[bounded]
    wrong = np.flatnonzero(~Grid.of(attribute).possible(low, high, known))
    if not len(wrong):
        return []
    text = interval(*(end_text(attribute, float(end[wrong[0]])) for end in (low, high)))
    return [f"the interval {text} of {name!r} does not end on the grid, or nobody is in a cell at its end"]


def known_numbers(attribute: Attribute, column: Column) -> NDArray[np.float64]:
    """Return the numbers of a column that occur in its rows, ascending; of ordered values, their places."""
    codes = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
    codes = codes[codes != (-1 if column.missing is None else column.missing)]
    numbers = ranked_numbers(attribute, column)[codes]
    return np.sort(numbers[numbers >= 0.0]) if attribute.kind == "ordinal" else numbers
