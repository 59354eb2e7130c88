"""Check the counts of quasi-identifiers beside boxes: they are those of the original, and break no promise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from discreet.adversary.alignment import quasi_column
from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.adversary.checks.manifest import stated_promise, stated_scheme
from discreet.principles import wording
from discreet.releases.attributes import Attribute, as_shown, describe
from discreet.releases.box_uncertainty import has_misfit, misfit, stated
from discreet.releases.marginals import MARGINALS, Marginals
from discreet.table.table import Column, Table


def marginals(case: Case[Any], population: bool = False) -> list[Check]:
    """Check the marginals of a release, if it has any; they are wholly determined by the original.

    Without a ``population`` nobody asks who is believed to be in the table.
    """
    release, original = case.release, case.original
    scheme = stated_scheme(case.manifest.get("scheme"))
    asked = getattr(scheme, "marginals", "auto") == "one-way"
    if release.marginals is None:
        lacking = f"The scheme was asked for {MARGINALS}, by its options, and the release has none."
        return [Check("marginals", False, lacking)] if asked else []
    faults: list[str] = []
    if any(part.most_presence < 1.0 for part in case.parts):
        faults.append(
            f"the {MARGINALS} tell of single values that somebody has them, which a promise about presence forbids"
        )
    promise = stated_promise(case.manifest.get("promise"))
    smallest = max((part.least_rows for part in promise.parts), default=1) if promise else 1
    if release.marginals.least < smallest:
        faults.append(
            f"the {MARGINALS} may count {release.marginals.least:,} rows, and the promise is about {smallest:,}"
        )
    if asked and release.marginals.least != max(scheme.cells, smallest):
        faults.append(f"the scheme's options state other {MARGINALS}, of at least {max(scheme.cells, smallest):,} rows")
    if (fault := _misfit(release, original)) is not None:
        faults.append(fault)
    columns = [quasi_column(attribute, original) for attribute in release.quasi]
    attributes = [_observed(*both) for both in zip(release.quasi, columns, strict=True)]
    stated = release.marginals.as_dict(release.quasi)
    counted = Marginals.of(columns, attributes, release.marginals.least).as_dict(release.quasi)
    wrong = [cell for cell in {**stated, **counted} if stated.get(cell) != counted.get(cell)]
    if wrong:
        (name, text), number = wrong[0], len(wrong) - 1
        had, says = (table.get(wrong[0]) for table in (counted, stated))
        says = "nothing" if says is None else wording.rows(says)
        had = "is not a cell of the original" if had is None else f"has {had:,} in the original"
        more = f"; {wording.counted(number, 'other count')} {'differs' if number == 1 else 'differ'}" if number else ""
        faults.append(f"the {MARGINALS} state {says} for {text!r} of {name!r}, which {had}{more}")
    if faults:
        return [Check("marginals", False, one_sentence(faults))]
    sentence = "The counts of quasi-identifiers are those of the original, and follow from quasi-identifiers alone."
    if not population:
        return [Check("marginals", True, sentence)]
    caveat = "what counts of quasi-identifiers tell about who is in the table was not computed"
    return [Check("marginals", True, sentence, caveat=caveat)]


def _misfit(release: Any, original: Table) -> str | None:
    """Return what is wrong with the stated misfit; None if nothing is, or none is stated."""
    if (says := release.marginals.misfit) is None:
        return None
    if not has_misfit(release):
        return f"the {MARGINALS} state a misfit, which nobody measures for groups made like these, or so few"
    found = misfit(release, original)
    if says in {stated(found * factor) for factor in (1.0 - 1e-9, 1.0, 1.0 + 1e-9)}:  # sums differ in their last digits
        return None
    return f"the {MARGINALS} state a misfit of {says:g}, and it is {stated(found):g}"


def _observed(attribute: Attribute, column: Column) -> Attribute:
    """Return an attribute with the domain of the original, unless the release says that it was declared, or widened on
    a grid, which another check judges."""
    if attribute.kind != "numeric" or attribute.declared or attribute.unit is not None:
        return attribute
    return replace(attribute, domain=describe(as_shown(column, None), "quasi").domain)
