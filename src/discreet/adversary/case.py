"""What an audit looks at, and what the audit of one format finds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.verdict import PromiseVerdict
from discreet.principles import Principle
from discreet.progress import Tell, silent
from discreet.releases.release import Release
from discreet.table.table import Table

R = TypeVar("R", bound=Release)


@dataclass(frozen=True, eq=False)
class Case(Generic[R]):
    """A release as it was found in its folder, its original, and what is known and asked besides."""

    manifest: dict[str, Any]
    release: R
    original: Table
    parts: tuple[Principle, ...] = ()
    """The promises to be judged, one by one."""
    trace: NDArray[Any] | None = None
    """The private knowledge of every input row's group, if it is at hand."""
    trace_faults: tuple[str, ...] = ()
    """What is wrong with the file that it was read from."""
    from_release: Collection[str] = ()
    """The attributes whose hierarchy or order the original was read with as the manifest states it."""
    tell: Tell = silent

    @property
    def withheld(self) -> int:
        """How many original rows are not published."""
        return max(0, self.original.rows - self.release.rows)

    def support(
        self, by_trace: Callable[[NDArray[Any], list[str]], Check], without: Callable[[], tuple[Check, str]]
    ) -> tuple[Check, str]:
        """Whether original rows can stand behind what is published, and how that was checked."""
        if self.trace is None:
            return without()
        return by_trace(self.trace, list(self.trace_faults)), "trace"


@dataclass(frozen=True)
class FormatFindings:
    """What the audit of a format finds, besides what is the same for all formats."""

    checks: list[Check]
    promises: list[PromiseVerdict]
    losses: dict[str, float] = field(default_factory=dict)
    support: str = "none"
    given: str | None = None
    groups: int = 0
