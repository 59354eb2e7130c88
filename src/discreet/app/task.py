"""Long work in a process of its own, which reports its progress and can be cancelled.

The server stays responsive meanwhile, and what a process held in memory is gone when it ends. Only plain values come
back: what the screens show.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread
from typing import Any

from discreet.errors import DiscreetError, in_words
from discreet.progress import Cancelled, Progress

EVERY = 0.1
"""Seconds between two reports of progress."""
GRACE = 5.0
"""Seconds until a process that was asked to stop is ended."""
Work = Callable[..., Any]
"""Called with keyword arguments and ``progress``; it returns plain values."""


@dataclass
class Task:
    """Some work, begun when it is made."""

    title: str
    then: str
    """The path of the screen that shows the result."""
    work: Work
    given: dict[str, Any]
    done: Callable[[Any], None]
    """Called with the result."""
    stage: str = "starting"
    share: float = 0.0
    fault: str | None = None
    """Why it failed, in a sentence."""
    cancelled: bool = False
    ended: Event = field(default_factory=Event)
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Begin."""
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_run, args=(theirs, self.work, self.given), daemon=True)
        self._process.start()
        theirs.close()
        Thread(target=self._follow, daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.ended.is_set()

    @property
    def state(self) -> dict[str, Any]:
        """How far it is, as plain values."""
        seconds = time.monotonic() - self.began
        left = seconds / self.share - seconds if 0.05 < self.share < 1.0 and seconds > 2.0 else None
        return {
            "stage": self.stage,
            "share": round(self.share, 3),
            "left": None if left is None else round(left),
            "running": self.running,
        }

    def cancel(self) -> None:
        """Ask the process to stop, which leaves nothing half-written; end it if it does not."""
        if not self.running:
            return
        self.cancelled = True
        try:
            self._pipe.send("stop")
        except OSError:
            return
        Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        if not self.ended.wait(GRACE):
            self._process.kill()

    def kill(self) -> None:
        """End the process at once, after a moment to tidy up."""
        if self.running:
            self.cancel()
            self.ended.wait(0.3)
            self._process.kill()

    def _follow(self) -> None:
        """Take in what the process reports, until it ends."""
        try:
            while True:
                kind, *told = self._pipe.recv()
                if kind == "progress":
                    self.stage, self.share = told
                    continue
                if kind == "result":
                    self.done(told[0])
                elif kind == "fault":
                    self.fault = told[0]
                break
        except (EOFError, OSError):
            if not self.cancelled:
                self.fault = "the work ended unexpectedly, perhaps for lack of memory; nothing was published"
        except DiscreetError as fault:
            self.fault = str(fault)
        finally:
            self._process.join(GRACE)
            self.ended.set()


def _run(pipe: Connection, work: Work, given: dict[str, Any]) -> None:
    """Do the work in this process, and report."""
    try:
        pipe.send(("result", work(**given, progress=_reporting(pipe))))
    except Cancelled:
        pipe.send(("cancelled",))
    except DiscreetError as fault:
        pipe.send(("fault", str(fault)))
    except MemoryError:
        pipe.send(("fault", "there is not enough memory for this table; use fewer columns or rows"))
    except OSError as fault:
        pipe.send(("fault", f"{fault.strerror or fault}; solve this and try again"))
    except Exception as fault:
        pipe.send(("fault", f"internal error ({in_words(fault)}); please report it with what you did"))


def _reporting(pipe: Connection) -> Progress:
    told: dict[str, float] = {}

    def progress(stage: str, share: float) -> None:
        if pipe.poll():
            raise Cancelled
        now = time.monotonic()
        if now - told.get(stage, -EVERY) >= EVERY:
            told.clear()
            told[stage] = now
            pipe.send(("progress", stage, share))

    return progress
