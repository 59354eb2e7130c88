"""What the audits of formats have in common that count sensitive values, each attribute in a table of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import places_in, usable_rows
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import Certain, certain
from discreet.adversary.checks.totals import as_many, excess
from discreet.adversary.verdict import PromiseVerdict, Subjects, averages, judged, naming
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts
from discreet.releases.columns import ExactColumn
from discreet.releases.counted import CountingRelease
from discreet.table.combinations import first_difference
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

R = TypeVar("R", bound=CountingRelease)


@dataclass(frozen=True, eq=False)
class AlignedCounts(Generic[R]):
    """A release that counts sensitive values, aligned with its original, both in the codes of the original.

    It is about the first sensitive attribute; ``each_attribute`` returns as many as there are attributes.
    """

    release: R
    original: Table

    @property
    def sensitive_attribute(self) -> Column:
        """The original's sensitive attribute, the first if there are several."""
        return self.original.sensitive[0]

    @cached_property
    def counts(self) -> Counts:
        """The counts of all groups by the original's values, ascending; values unknown to the original are left out."""
        counts, width = self.release.counts, len(self.sensitive_attribute.values)
        shown = ExactColumn(self.release.values, np.zeros(0, np.int32))
        class_of = places_in(shown, self.sensitive_attribute)[counts.values]
        known = np.flatnonzero(class_of < width)
        cells = counts.groups[known] * width + class_of[known]
        known = known[np.argsort(cells, kind="stable")]
        starts = np.searchsorted(counts.groups[known], np.arange(len(counts) + 1))
        return Counts(starts, class_of[known].astype(np.int32), counts.amounts[known], width)

    @property
    def strange(self) -> int:
        """How many rows are counted with a value unknown to the original."""
        return int(self.release.counts.amounts.sum() - self.counts.amounts.sum())

    @cached_property
    def published(self) -> NDArray[np.int64]:
        """How often each sensitive value of the original is counted."""
        return np.bincount(self.counts.values, self.counts.amounts, self.counts.width).astype(np.int64)

    @cached_property
    def usable(self) -> NDArray[np.intp]:
        """The publishable original rows: those without a missing number that the reader was told to withhold."""
        return usable_rows(self.original)


A = TypeVar("A", bound=AlignedCounts[Any])
Views = Sequence[AlignedCounts[Any]]
"""A release aligned with its original, once for each sensitive attribute."""


def findings(
    case: Case[Any],
    views: Views,
    checks: list[Check],
    how: str,
    losses: dict[str, float],
    of_rows: Callable[[Principle, NDArray[np.int64]], PromiseVerdict] | None = None,
) -> FormatFindings:
    """Judge the promises about each sensitive attribute, on every group and on the withheld rows, after other checks.

    ``of_rows`` judges promises that are not about values, given the counts of the withheld rows.
    """
    kept: list[PromiseVerdict] = []
    known: list[Certain] = []
    given = None
    for view, (name, promised) in zip(views, soundness.each_promised(case.parts, case.original), strict=True):
        if name is not None:
            checks += soundness.unpromised(name, promised)
        prior = Prior.of(view.original)
        left = np.maximum(prior.counts - view.published, 0)
        subjects = Subjects.groups(case.release, view.counts)
        known += certain(view.original.sensitive_attribute, view.counts, left)
        verdicts = [
            judged(part, subjects, prior, left) if part.about_values or of_rows is None else of_rows(part, left)
            for part in promised
        ]
        kept += verdicts if name is None else naming(name, promised, verdicts)
        taken, warnings = soundness.taken(promised, prior, case.from_release)
        given = given or taken
        checks += warnings
    checks.append(averages(case.parts))
    if len(views) > 1:
        names = wording.listed(repr(view.release.sensitive_attribute.name) for view in views)
        apart = (
            f"The promises were judged about {names} separately; which of their values go together is not published."
        )
        checks.append(Check("each attribute", True, apart))
    return FormatFindings(checks, kept, losses, how, given, case.release.groups, known)


def group_losses(rows: int, sizes: NDArray[np.int64], withheld: int) -> dict[str, float]:
    """Return the losses of publishing sensitive values by group; a withheld row is indistinguishable from any row."""
    return {
        "discernibility": int((sizes**2).sum()) + withheld * (rows + withheld),
        "average_class_size": rows / len(sizes) if len(sizes) else 0.0,
    }


def all_totals(views: Views) -> Check:
    """Check that counted and withheld values together make up the original's, for every sensitive attribute."""
    checks = []
    for view in views:
        column = view.sensitive_attribute
        had = np.bincount(column.codes, minlength=len(column.values))
        names = [f"{column.name} {text!r}" for text in column.texts]
        fault = excess(view.strange, "a sensitive value", view.published, had, names.__getitem__)
        whole = as_many(view.release, view.original, "counted")
        checks.append(whole if fault is None else Check("totals", False, fault))
    return next((check for check in checks if not check.holds), checks[0])


def supported(views: Sequence[A], without_trace: Callable[[A], tuple[Check, str]]) -> tuple[Check, str]:
    """Return whether the original supports the tables of all sensitive attributes, each checked without the trace.

    That is necessary only where there are several, as the rows of a group must be the same for all of them.
    """
    supports = [without_trace(view) for view in views]
    if len(supports) == 1:
        return supports[0]
    for view, (check, how) in zip(views, supports, strict=True):
        if not check.holds:
            return replace(check, sentence=f"About {view.release.sensitive_attribute.name!r}: {check.sentence}"), how
    sentence = (
        "For each sensitive attribute the groups can be made of the original's rows; whether the same rows would do "
        "for all of them was not checked without the trace."
    )
    return Check("support", True, sentence), "necessary"


def assigned(possible: bool) -> tuple[Check, str]:
    """Return the finding whether rows can be assigned to groups in a way that explains the release."""
    if not possible:
        reason = "However its rows are assigned to groups, some group does not have the values it is published with."
        return refuted(reason, "assignment")
    sentence = (
        "Without the trace: an assignment of original rows to groups exists in which every group has exactly the "
        "quasi-identifiers and the sensitive values it is published with."
    )
    return Check("support", True, sentence), "assignment"


def refuted(reason: str, how: str = "necessary") -> tuple[Check, str]:
    """Return the finding that the original does not support a release, and how that was found."""
    return Check("support", False, f"The original does not support the release. {reason}"), how


def wrongly_counted(views: Views, kept: NDArray[np.intp], places: NDArray[np.int64]) -> list[str]:
    """Return a fault for each sensitive attribute that is not counted as the rows in their groups have it."""
    faults = []
    for view in views:
        release, (column,) = view.release, view.original.sensitive
        claimed = view.counts
        cells = np.repeat(claimed.groups * claimed.width + claimed.values, claimed.amounts)
        differing = first_difference(cells, places * claimed.width + column.codes[kept])
        if differing is not None:
            of = "the sensitive values" if len(views) == 1 else f"the values of {column.name!r}"
            faults.append(f"group {release.ids[differing // claimed.width]} is not published with {of} of its rows")
    return faults


def each_attribute(aligned: A) -> list[A]:
    """Return the same for every sensitive attribute as if it were the only one."""
    release, original = aligned.release, aligned.original
    return [
        replace(aligned, release=release.about(column.name), original=replace(original, sensitive=(column,)))
        for column in original.sensitive
    ]


CELLS = 20_000
"""The largest number of cells searched for an assignment."""
SECONDS = 5.0
"""The time limit of the search."""


def whole_numbers_exist(
    room: NDArray[np.float64], sides: Sequence[csr_array], low: NDArray[Any], high: NDArray[Any]
) -> bool | None:
    """Whether whole numbers up to ``room`` have sums between ``low`` and ``high``; None if time ran out.

    Each line of ``sides`` marks the numbers of one sum.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import vstack

    solved = milp(
        np.zeros(len(room)),
        integrality=np.ones(len(room)),
        bounds=Bounds(0.0, room),
        constraints=LinearConstraint(vstack(sides, format="csr"), low, high),
        options={"time_limit": SECONDS},
    )
    return {0: True, 2: False}.get(int(solved.status))
