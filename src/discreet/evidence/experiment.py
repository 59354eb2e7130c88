"""An experiment of a paper: its design and axes, what the paper found, and how it is judged whether that holds here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from discreet.evidence.claims import Claim, Record, Records, Verdict, judged
from discreet.evidence.ground import Ground, Size

Place = float | str
"""Where on the x axis something is measured."""
Measuring = Callable[[Ground, Any], Iterator[Record]]
"""Measures all methods at a place."""


@dataclass(frozen=True)
class Axis:
    """What is drawn along an axis: a field of the records."""

    name: str
    title: str
    ticks: str = ".6~g"
    """The format of its numbers."""
    log: bool = False


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure or table of a paper.

    An experiment without ``measure`` cannot be run, and ``because`` says why.
    """

    paper: str
    figure: str
    title: str
    found: str
    """What the paper found, in a sentence."""
    x: Axis
    y: tuple[Axis, ...] = ()
    places: tuple[Place, ...] = ()
    measure: Measuring | None = None
    claims: tuple[Claim, ...] = ()
    """What has to be true of the measurements for the finding to hold."""
    because: str = ""
    """Why the finding does not hold here, where it does not; or why it cannot be run."""
    rows: dict[Size, int] = field(default_factory=lambda: {"full": 500_000, "quick": 30_000, "tiny": 600})

    @property
    def name(self) -> str:
        """How it is asked for: ``beta-likeness/4a``."""
        return f"{self.paper}/{self.figure}"

    def judge(self, records: Records) -> Verdict:
        """Whether the finding holds here, as data and a sentence."""
        return judged(self.claims, records, self.because)
