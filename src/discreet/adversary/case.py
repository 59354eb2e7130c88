"""The input of an audit (``Case``) and the findings specific to one format (``FormatFindings``)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks.certain import Certain
from discreet.adversary.checks.trace import place_rows, trace_check
from discreet.adversary.verdict import PromiseVerdict
from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.principles import Principle
from discreet.progress import Tell, no_progress
from discreet.releases.grouped import GroupedRelease
from discreet.releases.release import Release
from discreet.table.table import Table

R_co = TypeVar("R_co", bound=Release, covariant=True)


@dataclass(frozen=True, eq=False)
class Case(Generic[R_co]):
    """A release as found in its folder, its original, and the auditor's further knowledge and requests."""

    manifest: dict[str, Any]
    release: R_co
    original: Table
    parts: tuple[Principle, ...] = ()
    """The promises to judge, one by one."""
    trace: NDArray[Any] | None = None
    """The group of every input row, if the private trace was given."""
    trace_faults: tuple[str, ...] = ()
    """Faults found while reading the trace file."""
    from_release: Collection[str] = ()
    """The attributes whose hierarchy or order was copied from the manifest when the original was read."""
    tell: Tell = no_progress

    @property
    def withheld(self) -> int:
        """How many original rows are not published."""
        return max(0, self.original.rows - self.release.rows)

    def support(
        self: Case[GroupedRelease],
        explained: str,
        faults_of: Callable[[NDArray[np.intp], NDArray[np.intp]], list[str]],
        without: Callable[[], tuple[Check, str]],
    ) -> tuple[Check, str]:
        """Return whether the original supports the release, and how that was checked: by the trace, or ``without`` one.

        ``faults_of`` are those of the rows that a trace publishes, with the positions of their groups; if there are
        none, the trace confirms what is ``explained``.
        """
        if self.trace is None:
            return without()
        faults = list(self.trace_faults)
        placed = place_rows(self.release, self.release.ids, self.original, self.trace, faults)
        return trace_check(faults + ([] if placed is None else faults_of(*placed)), explained), "trace"


@dataclass(frozen=True)
class FormatFindings:
    """The findings specific to one format; the checks common to all formats are not among them."""

    checks: list[Check]
    promises: list[PromiseVerdict] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    support: str = "none"
    """How the original's support was checked: ``trace``, ``assignment``, ``necessary``, or ``none``."""
    given: str | None = None
    """What the promises were judged by that only the release states: the ``hierarchy`` or ``order`` of the sensitive
    attribute."""
    groups: int = 0
    certain: list[Certain] = field(default_factory=list)
    """Per sensitive attribute, and in an audit per kept column: whose value of it is certain, if anybody's is."""


Auditor = Callable[[Case[Any]], FormatFindings]


def auditor_of(release: Release) -> Auditor:
    """Return the auditor registered for exactly this release's class."""
    known = FORMATS.get(release.format)
    if known is not None and known.release is type(release):
        return known.audit
    raise DiscreetError(
        f"no auditor is registered for releases of the format {release.format}; register one with the format"
    )
