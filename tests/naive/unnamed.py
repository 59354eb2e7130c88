"""Values that a release counts and does not name: where they belong, by the words of the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Entry = Mapping[str, Any]


def rows_of(entry: Entry) -> list[list[str]]:
    """Return a row per value, from the value to the root; values without a name are called by their number."""
    rows = []
    for row in entry["hierarchy"]:
        first, *above = row if isinstance(row, list) else [row, "*"]
        rows += [[first, *above]] if isinstance(first, str) else [[f"?{at} {above}", *above] for at in range(first)]
    return rows


def named(entry: Entry) -> set[str]:
    """Return the values that have a name."""
    return {row[0] for row in rows_of(entry) if not row[0].startswith("?")}


def counts_unnamed(entry: Entry) -> bool:
    """Whether there are values without a name."""
    return len(named(entry)) < len(rows_of(entry))


def under(entry: Entry, label: str, value: str) -> bool:
    """Whether a value without a name belongs below a label."""
    if not counts_unnamed(entry) or value in named(entry):
        return False
    if label == rows_of(entry)[0][-1]:
        return True
    recipe = entry.get("recipe", {})
    if "prefix" in recipe:
        return label.endswith("*") and value != "(missing)" and value.startswith(label.rstrip("*"))
    if "intervals" in recipe and " to " in label and value != "(missing)":
        low, high = label.split(" to ")
        if high.startswith("below "):
            return float(low) <= float(value) < float(high.removeprefix("below "))
        return float(low) <= float(value) <= float(high)
    return False


def standing_in(entry: Entry, values: Iterable[str]) -> set[str]:
    """Return the values of a condition, a value without a name in place of each that the release does not name."""
    rows, found, used = rows_of(entry), set(), Counter[tuple[str, ...]]()
    for value in dict.fromkeys(values):
        if value == "(not named)":
            found |= {row[0] for row in rows if row[0].startswith("?")}
        elif value in named(entry):
            found.add(value)
        else:
            labels = {tuple(row[at:]) for row in rows for at in range(1, len(row)) if under(entry, row[at], value)}
            lowest = max(labels, key=len, default=())
            free = [row[0] for row in rows if row[0].startswith("?") and tuple(row[1:]) == lowest]
            found |= {free[used[lowest] % len(free)]} if free else set()
            used[lowest] += 1
    return found
