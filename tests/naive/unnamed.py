"""Values that a release counts and does not name: where they belong, by the words of the format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any

Entry = Mapping[str, Any]


def rows_of(entry: Entry) -> list[list[str]]:
    """Return a row per value, from the value to the root; values without a name are called by their number."""
    if entry["kind"] == "ordinal":
        return [[value, "*"] for value in order_of(entry)]
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
    if entry["kind"] == "ordinal":
        asked = set(values)
        if asked == {"(not named)"}:
            return {value for value in order_of(entry) if value.startswith("?")}
        return (asked & named(entry)) | set(between(entry, asked).values())
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


def order_of(entry: Entry) -> list[str]:
    """Return the values of an ordered attribute; those without a name are called by their place."""
    values: list[str] = []
    for item in entry["values"]:
        values += [item] if isinstance(item, str) else [f"?{len(values) + at}" for at in range(item)]
    return values


def between(entry: Entry, asked: Iterable[str]) -> dict[str, str]:
    """Return the value that each one asked for is counted as that has no name, evenly spread over those it may be.

    An order of numbers, or a question that has only numbers where no value has a name, is that of numbers: no other
    text has a place in it. Nothing has a place in an order that is neither that of numbers nor that of texts.
    """
    order = order_of(entry)
    names = [value for value in order if not value.startswith("?")]
    new = set(asked) - set(order) - {"(missing)"}
    numbers = all(map(is_number, names or new)) and names == sorted(names, key=float)
    key: Callable[[str], Any] = (lambda text: (float(text), text)) if numbers else str
    if names != sorted(names, key=key):
        return {}
    gaps: dict[int, list[str]] = {}
    for value in sorted(filter(is_number, new) if numbers else new, key=key):
        before = [name for name in names if key(name) < key(value)]
        gaps.setdefault(max((order.index(name) + 1 for name in before), default=0), []).append(value)
    found = {}
    for start, values in gaps.items():
        free = list(takewhile(lambda value: value.startswith("?"), order[start:]))
        for at, value in enumerate(values if free else []):
            found[value] = free[int((at + 0.5) * len(free) / len(values))]
    return found


def is_number(text: str) -> bool:
    """Whether a text is a decimal number."""
    return re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) is not None


def places(entry: Entry, condition: Any) -> Callable[[Any], float]:
    """Return the places of the ends of a range in the order."""
    order = order_of(entry)
    found = between(entry, [str(end) for end in (condition.low, condition.high) if end is not None])
    return lambda end: float(order.index(found.get(str(end), str(end))))
