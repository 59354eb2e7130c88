"""Check that published and withheld rows together make up the original."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, ComparedRows
from discreet.adversary.check import Check
from discreet.principles import wording
from discreet.releases.columns import value_name
from discreet.releases.exact_rows import ExactRowsRelease
from discreet.releases.release import Release
from discreet.table.table import Table


def totals(aligned: Aligned, original: Table) -> Check:
    """Check that published and withheld rows together make up the original, value by value."""
    had, shown = (np.bincount(kinds, minlength=aligned.kinds + 1) for kinds in (aligned.had, aligned.shown))

    def named(kind: int) -> str:
        row, column = int(np.argmax(aligned.had == kind)), original.sensitive_attribute
        if not had[kind] or not aligned.release.sensitive_columns or column is None:
            return "the same values published as they are"
        return f"{column.name} {column.texts[int(column.codes[row])]!r}"

    what = "a sensitive value, or a combination of the columns published as they are,"
    fault = excess(int(shown[-1]), what, shown, had, named)
    return as_many(aligned.release, original, "published") if fault is None else Check("totals", False, fault)


def excess(
    strange: int, what: str, shown: NDArray[np.int64], had: NDArray[np.int64], named: Callable[[int], str]
) -> str | None:
    """Return a sentence if published rows have something that no original row has, or that fewer have."""
    if strange:
        have = "has" if strange == 1 else "have"
        return f"{wording.rows(strange)} of the release {have} {what} that no original row has."
    over = np.flatnonzero(shown > had)
    if not len(over):
        return None
    worst = int(over[np.argmax((shown - had)[over])])
    number = wording.rows(int(shown[worst]))
    return f"The release has {number} with {named(worst)}, but the original only has {had[worst]:,}."


def as_many(release: Release, original: Table, shown: str) -> Check:
    """Check that the numbers of published and withheld rows add up; ``shown`` is the verb used for values."""
    fault = withheld_fault(release, original)
    if fault is not None:
        return Check("totals", False, fault)
    and_left = f" and the {release.withheld:,} withheld" if release.withheld else ""
    sentence = f"The {wording.rows(release.rows)} published{and_left} make up the original's {original.rows:,}"
    return Check("totals", True, f"{sentence}, and no value is {shown} more often than it occurs.")


def rows_of_original(release: ExactRowsRelease, rows: ComparedRows, usable: NDArray[np.intp]) -> Check:
    """Check that every published combination of quasi-identifiers occurs in the original at least as often."""
    had, known = np.bincount(rows.had[usable], minlength=rows.kinds), rows.shown[rows.shown < rows.kinds]

    def named(kind: int) -> str:
        row = int(np.argmax(rows.shown == kind))
        return ", ".join(
            f"{attribute.name} {value_name(exact_column.values[exact_column.codes[row]], exact_column.notation)}"
            for attribute, exact_column in zip(release.quasi, release.exact, strict=True)
        )

    shown = np.bincount(known, minlength=rows.kinds)
    fault = excess(len(rows.shown) - len(known), "quasi-identifiers", shown, had, named)
    if fault is not None:
        return Check("rows", False, fault)
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
