"""Check that published and withheld rows together make up the original."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, ComparedRows
from discreet.adversary.check import Check
from discreet.principles import wording
from discreet.releases.exact_rows import ExactRowsRelease
from discreet.releases.release import Release
from discreet.table.table import Table
from discreet.table.texts import number_text


def totals(aligned: Aligned, original: Table) -> Check:
    """Check that published and withheld rows together make up the original, value by value."""
    release = aligned.release
    had = np.bincount(aligned.had, minlength=aligned.kinds)
    shown = np.bincount(aligned.shown, minlength=aligned.kinds + 1)
    if shown[aligned.kinds]:
        verb = "has" if shown[aligned.kinds] == 1 else "have"
        sentence = (
            f"{wording.rows(int(shown[aligned.kinds]))} of the release {verb} a sensitive value, or a "
            "combination of the columns published as they are, that no original row has."
        )
    elif (over := np.flatnonzero(shown[:-1] > had)).size:
        worst = over[np.argmax(shown[over] - had[over])]
        sentence = (
            f"The release has {wording.rows(int(shown[worst]))} with {_named(aligned, original, int(worst))}, but the "
            f"original only has {had[worst]:,}."
        )
    else:
        return as_many(release, original, "published")
    return Check("totals", False, sentence)


def as_many(release: Release, original: Table, shown: str) -> Check:
    """Check that the numbers of published and withheld rows add up; ``shown`` is the verb used for values."""
    fault = withheld_fault(release, original)
    if fault is not None:
        return Check("totals", False, fault)
    and_left = f" and the {release.withheld:,} withheld" if release.withheld else ""
    return Check(
        "totals",
        True,
        f"The {wording.rows(release.rows)} published{and_left} make up the original's {original.rows:,}, and no value "
        f"is {shown} more often than it occurs.",
    )


def rows_of_original(release: ExactRowsRelease, rows: ComparedRows, usable: NDArray[np.intp]) -> Check:
    """Check that every published combination of quasi-identifiers occurs in the original at least as often."""
    strange = int((rows.shown >= rows.kinds).sum())
    if strange:
        verb = "has" if strange == 1 else "have"
        sentence = f"{wording.rows(strange)} of the release {verb} quasi-identifiers that no original row has."
        return Check("rows", False, sentence)
    had = np.bincount(rows.had[usable], minlength=rows.kinds)
    shown = np.bincount(rows.shown, minlength=rows.kinds)
    over = np.flatnonzero(shown > had)
    if len(over):
        row = int(np.argmax(rows.shown == over[0]))
        words = []
        for attribute, payload in zip(release.quasi, release.exact, strict=True):
            value = payload.values[payload.codes[row]]
            words.append(f"{attribute.name} {number_text(value) if isinstance(value, float) else value}")
        sentence = (
            f"The release has {wording.rows(int(shown[over[0]]))} with {', '.join(words)}, but the original only has "
            f"{had[over[0]]:,} that may be published."
        )
        return Check("rows", False, sentence)
    which = "are exactly those of the original" if len(rows.shown) == len(rows.had) else "all belong to original rows"
    return Check("rows", True, f"The published quasi-identifiers {which}, none more often than it occurs.")


def withheld_fault(release: Release, original: Table) -> str | None:
    """Return a sentence if the manifest gives a wrong number of withheld rows."""
    left = original.rows - release.rows
    if left == release.withheld:
        return None
    return (
        f"The original has {wording.rows(original.rows)} and the release {release.rows:,}, so {wording.rows(left)} "
        f"must have been withheld, but the manifest says {release.withheld:,}."
    )


def _named(aligned: Aligned, original: Table, kind: int) -> str:
    row = int(np.flatnonzero(aligned.had == kind)[0]) if bool((aligned.had == kind).any()) else -1
    if row < 0 or not aligned.release.secrets or original.secret is None:
        return "the same values published as they are"
    column = original.secret
    return f"{column.name} {column.texts[int(column.codes[row])]!r}"
