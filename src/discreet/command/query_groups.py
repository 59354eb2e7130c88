"""Grouped counts of `discreet query`: one line per cell, with the exact count if the original is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from discreet.command.console import number, percent
from discreet.table.texts import MISSING

if TYPE_CHECKING:
    from discreet.releases.release import Release
    from discreet.table.grouping import GroupBy
    from discreet.table.table import Table

Cell = tuple[float | str, ...]


def grouped_answer(release: Release, asked: GroupBy, original: Table | None) -> tuple[dict[str, Any], list[str]]:
    """Return the answer to a grouped count, as a document and as lines.

    With the original, cells that only the original has are listed too, estimated at 0.
    """
    headings = [heading for name, heading in asked.shown if name is not None]
    counts = next(heading for name, heading in asked.shown if name is None)
    estimated = _by_cell(release.group_by(asked), headings, counts)
    exact = None if original is None else _by_cell(asked.count(original), headings, counts)
    cells = list(estimated) if exact is None else list(dict.fromkeys([*estimated, *exact]))
    listed: list[dict[str, Any]] = []
    for cell in cells:
        line: dict[str, Any] = {"values": dict(zip(headings, cell, strict=True)), "estimate": estimated.get(cell, 0.0)}
        listed.append(line if exact is None else {**line, "exact": exact.get(cell, 0)})
    document: dict[str, Any] = {"cells": listed}
    rows = [_words(line, asked, exact is not None) for line in listed]
    lines = list(
        _padded([[*(heading for _, heading in asked.shown), *(["exactly"] if exact is not None else [])], *rows])
    )
    if exact is not None:
        there = [line for line in listed if line["exact"]]
        errors = [abs(line["estimate"] - line["exact"]) / line["exact"] for line in there]
        error = sum(errors) / len(errors) if errors else None
        document["mean_relative_error"] = error
        away = "undefined, because no row satisfies the conditions" if error is None else percent(error)
        lines += ["", f"Mean relative error over the {len(there):,} cells that the original has: {away}."]
        if len(there) < len(listed):
            lines.append(f"{len(listed) - len(there):,} cells are estimated above 0 where the original has no row.")
    return document, lines


def _by_cell(table: Any, headings: list[str], counts: str) -> dict[Cell, Any]:
    columns = [table.column(heading).to_pylist() for heading in headings]
    amounts = table.column(counts).to_pylist()
    return dict(zip(zip(*columns, strict=True), amounts, strict=True)) if columns else {(): amounts[0]}


def _words(line: dict[str, Any], asked: GroupBy, with_exact: bool) -> list[str]:
    """Return the texts of one line, in the order of the query's columns."""
    cells = [
        number(line["estimate"], 4) if name is None else _on_one_line(line["values"][heading])
        for name, heading in asked.shown
    ]
    return [*cells, f"{line['exact']:,}"] if with_exact else cells


def _on_one_line(value: Any) -> str:
    """Return a value as printable text on one line."""
    text = MISSING if value is None else str(value)
    return text if text.isprintable() else repr(text)


def _padded(rows: list[list[str]]) -> Iterator[str]:
    """Yield rows of words with their columns aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
