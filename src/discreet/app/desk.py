"""What is being worked on: one table, how it is read, a choice, and the release that was made of it.

There is one desk for all tabs of the browser. Every change gives it another number, which forms bring along, so that a
form of a page that is out of date changes nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.app.draft import Draft
from discreet.app.task import Task, Work
from discreet.arguments import as_flags, command_line
from discreet.errors import DiscreetError


class StaleError(DiscreetError):
    """Raised for a form of a page that is out of date."""


class Desk:
    """The state of the app."""

    def __init__(self, folder: Path | None = None) -> None:
        self.private = Path(tempfile.mkdtemp(prefix="discreet-app-")) if folder is None else folder
        """A folder of this app alone, which is removed at the end."""
        self.number = 0
        self.task: Task | None = None
        self.input: str | None = None
        self.title = ""
        self.found: dict[str, Any] | None = None
        """What was found in an audit of some release."""
        self._forget_table()

    def _forget_table(self) -> None:
        self.columns: list[dict[str, Any]] = []
        """All columns, as they were read at first."""
        self.reading: dict[str, Any] = {}
        self.profile: dict[str, Any] | None = None
        self.drafts: dict[str, Draft] = {}
        """The hierarchies that are drawn up, by column."""
        self._forget_reading()

    def _forget_reading(self) -> None:
        self.advice: dict[str, Any] | None = None
        self.promises: list[str] = []
        self.scheme: str | None = None
        self._forget_choice()

    def _forget_choice(self) -> None:
        self.number += 1
        self.outcome: dict[str, Any] | None = None
        self.report: dict[str, Any] | None = None
        self.counts: list[dict[str, Any]] = []
        """What was counted in the release, the latest first."""
        self.person: dict[str, Any] | None = None
        """What is believed about somebody."""

    def check(self, number: str) -> None:
        """Raise an error for a form of another state, or while there is work under way."""
        if number != str(self.number):
            raise StaleError(
                "this page was out of date, because something was changed in another tab or since; nothing was done: "
                "look at it again"
            )
        if self.task is not None and self.task.running:
            raise StaleError(f"there is work under way ({self.task.title}); wait for it, or cancel it")

    def open(self, path: str, title: str) -> None:
        """Take another table."""
        self.input, self.title = path, title
        self._forget_table()

    def read_as(self, reading: Mapping[str, Any], profile: dict[str, Any]) -> None:
        """Take the table as it was read."""
        self._forget_reading()
        self.reading, self.profile = dict(reading), profile
        self.columns = self.columns or profile["columns"]

    def choose(self, promises: list[str], scheme: str | None) -> None:
        """Choose what to promise, and by which scheme."""
        self._forget_choice()
        self.promises, self.scheme = promises, scheme

    @property
    def folder(self) -> str | None:
        """The folder of the release that was published, if one was."""
        return None if self.outcome is None or self.outcome["folder"] is None else str(self.outcome["output"])

    def published(self) -> str:
        """The same; raises an error if nothing was published."""
        if self.folder is None:
            raise DiscreetError("nothing was published, so there is nothing to look at; publish first")
        return self.folder

    def begin(self, title: str, then: str, work: Work, done: Callable[[Any], None], **given: Any) -> None:
        """Begin long work."""
        self.number += 1
        self.task = Task(title, then, work, given, done)

    def close(self) -> None:
        """End the work, and remove the private folder with all uploads in it."""
        if self.task is not None:
            self.task.kill()
        shutil.rmtree(self.private, ignore_errors=True)

    # ---------------------------------------------------------------------------------------------------- equivalents

    def command(self, name: str, **more: Any) -> str:
        """The command that does the same, with further arguments."""
        given = {**more, **self.reading}
        flags = [word for key, value in given.items() if value for word in as_flags(key, value)]
        return command_line(["discreet", name, self.input or "TABLE", *flags])

    def job(self, output: str) -> dict[str, Any]:
        """The job that publishes the table as it was chosen, with its keys and values."""
        made = {"input": self.input, "output": output, **self.reading, "promises": self.promises, "scheme": self.scheme}
        return {key: value for key, value in made.items() if value}
