"""What long work tells its caller meanwhile, by callbacks: its progress, and remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Progress = Callable[[str, float], None]
"""Called with a description of the current work and the share of it that is done. To end the work, it raises
`Cancelled`."""

Tell = Callable[[float], None]
"""Called with the share of the work that is done."""

COMPILES = "compiling"
"""The work of compiling kernels, which may take longer than everything else."""
PATIENCE = 1.0
"""Seconds of compiling before it is announced."""


class Cancelled(BaseException):
    """Raised by a progress callback to end the work, which leaves nothing half-written.

    It is no Exception, so that nobody takes it for a failure of a single scheme or attack and goes on.
    """


def no_progress(*work: object) -> None:
    """A progress callback that does nothing: a `Progress` and a `Tell`."""


def part_of(tell: Tell, first: float, last: float) -> Tell:
    """Return a callback for a part of the work that spans the shares ``first`` to ``last`` of the whole.

    >>> part_of(print, 0.5, 1.0)(0.5)
    0.75
    """
    return lambda share: tell(first + (last - first) * share)


Topic = Literal["place", "caution", "memory", "hierarchies", "columns", "promise", "randomised", "certain", "groups"]
"""What a remark is about: the places written to; what to be careful about; the memory that the work
takes; the hierarchies that were found, and how columns were read; what the promise means for this table;
randomised columns; what is certain; and what an attacker may believe beyond what single groups reveal."""


@dataclass(frozen=True)
class Remark:
    """A sentence that the user of a job should read, and what it is about."""

    about: Topic
    sentence: str


class Remarks:
    """Collects remarks, and passes each on to a callback at once.

    >>> remarks = Remarks(print)
    >>> remarks("caution", "this replaces a release.")
    Remark(about='caution', sentence='this replaces a release.')
    >>> len(remarks.made)
    1
    """

    def __init__(self, hear: Callable[[Remark], None] | None = None) -> None:
        self.made: list[Remark] = []
        self._hear = hear

    def __call__(self, about: Topic, *sentences: str) -> None:
        """Make a remark of each sentence."""
        for sentence in sentences:
            remark = Remark(about, sentence)
            self.made.append(remark)
            if self._hear is not None:
                self._hear(remark)

    def extend(self, remarks: Iterable[Remark]) -> None:
        """Make remarks that others have worded."""
        for remark in remarks:
            self(remark.about, remark.sentence)
