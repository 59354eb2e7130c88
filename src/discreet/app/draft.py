"""A hierarchy that is being drawn up for a column: its text, what came before it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from discreet.errors import DiscreetError
from discreet.table.hierarchy_check import Examined, examine
from discreet.table.hierarchy_sources import csv_text
from discreet.table.raw_column import RawColumn


@dataclass
class Draft:
    """The hierarchy of a column, beside the values of the column."""

    column: RawColumn
    folder: Path
    """Where its text is kept while it is looked at."""
    recipe: bool
    """Whether its text is a recipe in TOML, not a list of leaves in CSV."""
    texts: list[str]
    """What it was and is, the latest last."""
    kept: str | None = None
    """The file that it was written to."""
    examined: Examined = field(init=False)

    def __post_init__(self) -> None:
        """Look at it."""
        self._examine(self.text)

    @property
    def text(self) -> str:
        """The text of its file."""
        return self.texts[-1]

    @property
    def ending(self) -> str:
        """How the name of its file ends."""
        return ".toml" if self.recipe else ".csv"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Its leaves with their ancestors, which can be changed one by one."""
        tree = self.examined.tree
        if self.recipe or tree is None:
            raise DiscreetError(
                "a recipe is changed in its text"
                if self.recipe
                else "the text has faults, so there is no tree to change; correct the text, or undo"
            )
        return [tuple(row) for row in tree.rows()]

    def change(self, text: str) -> None:
        """Take another text."""
        text = text.replace("\r\n", "\n")
        if text != self.text:
            self._examine(text)
            self.texts.append(text)

    def change_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Take other rows."""
        self.change(csv_text([tuple(row) for row in rows]))

    def undo(self) -> None:
        """Take back the last change."""
        if len(self.texts) > 1:
            self._examine(self.texts[-2])
            self.texts.pop()

    def _examine(self, text: str) -> None:
        path = self.folder / f"hierarchy{self.ending}"
        path.write_text(text, encoding="utf-8")
        try:
            self.examined = examine(self.column.name, path, self.column)
        finally:
            path.unlink()
