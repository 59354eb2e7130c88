"""Estimates by laying out every value that a published text may stand for, and counting those that a query admits."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.table.query import Condition, OneOf, Query
from naive import unnamed

Entry = Mapping[str, Any]
"""An attribute as the manifest describes it."""


def estimate(folder: Path, query: Query) -> float:
    """The expected number of rows of a saved release that satisfy a query, rows lying anywhere in their boxes."""
    manifest = json.loads((folder / "release.json").read_text())
    with (folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    entries = {entry["name"]: entry for entry in manifest["attributes"]}
    steps = {
        name: step_of(entry, ends(entry, {row[name] for row in rows}))
        for name, entry in entries.items()
        if entry["kind"] == "numeric" and entry["role"] == "quasi"
    }
    total = 0.0
    for row in rows:
        product = 1.0
        for name, entry in entries.items():
            asked = [condition for condition in query.conditions if condition.attribute == name]
            if asked:
                product *= share(entry, row[name], asked, steps.get(name))
        total += product
    return total


def share(entry: Entry, text: str, asked: Sequence[Condition], step: float | None) -> float:
    """How much of what a text may stand for satisfies all conditions."""
    if entry["kind"] == "numeric" and entry["role"] == "quasi" and "hierarchy" not in entry:
        if text == "(missing)":
            return 0.0
        low, high = entry["domain"] if text == "*" else interval(text)
        if step is None and low < high:
            return length(float(low), float(high), asked)
        numbers = [low] if step is None else multiples(float(low), float(high), step)
        return counted(numbers, lambda value: admits(entry, value, asked))
    values = possible(entry, text)
    return counted(values, lambda value: admits(entry, value, asked)) if values else 0.0


def step_of(entry: Entry, ends: Sequence[float]) -> float | None:
    """The distance of the numbers of an attribute: what is stated, or 1 if all published ones are whole."""
    if "step" in entry or entry.get("unit", 0) in (1, *(10.0**-digits for digits in range(7))):
        return float(entry.get("step", entry.get("unit")))
    return 1.0 if all(end == math.floor(end) and abs(end) <= 2**53 for end in ends) else None


def multiples(low: float, high: float, step: float) -> list[float]:
    """The multiples of a decimal place from one to another."""
    one = Decimal(str(step))
    first, last = (int(Decimal(repr(end)) / one) for end in (low, high))
    return [float(at * one) for at in range(first, last + 1)]


def counted(values: Iterable[Any], holds: Callable[[Any], bool]) -> float:
    """The share of values that hold."""
    verdicts = [holds(value) for value in values]
    return float(Fraction(sum(verdicts), len(verdicts)))


def length(low: float, high: float, asked: Sequence[Condition]) -> float:
    """The share of the length of an interval; single numbers have none."""
    start, end = low, high
    for condition in asked:
        if isinstance(condition, OneOf):
            return 0.0
        start = start if condition.low is None else max(start, float(condition.low))
        end = end if condition.high is None else min(end, float(condition.high))
    return max(0.0, end - start) / (high - low)


def admits(entry: Entry, value: Any, asked: Sequence[Condition]) -> bool:
    """Whether one value satisfies all conditions."""
    for condition in asked:
        if isinstance(condition, OneOf):
            numeric = entry["kind"] == "numeric"
            if entry["kind"] != "numeric" and entry["role"] == "quasi":
                if value not in unnamed.standing_in(entry, map(str, condition.values)):
                    return False
                continue
            if not any(float(one) == float(value) if numeric else str(one) == value for one in condition.values):
                return False
            continue

        if entry["kind"] == "numeric":
            place, at = float, float(value)
        else:
            place, at = unnamed.places(entry, condition), float(unnamed.order_of(entry).index(value))
        if condition.low is not None and not (
            at > place(condition.low) if condition.low_open else at >= place(condition.low)
        ):
            return False
        if condition.high is not None and not (
            at < place(condition.high) if condition.high_open else at <= place(condition.high)
        ):
            return False
    return True


def possible(entry: Entry, text: str) -> list[Any]:
    """The values that a text may stand for."""
    numeric = entry["kind"] == "numeric"
    if entry["role"] != "quasi":
        missing = text == "" if numeric else text == "(missing)" and entry["kind"] == "ordinal"
        return [] if missing else [float(text) if numeric else text]
    if entry["kind"] == "ordinal" and "hierarchy" not in entry:
        values = unnamed.order_of(entry)
        if text in ("*", "(missing)"):
            return list(values) if text == "*" else []
        first, last = (values.index(item) for item in items(text))
        return list(values[first : last + 1])
    rows = unnamed.rows_of(entry)
    leaves = [row[0] for row in rows]
    if text == "*":
        found = leaves
    elif text[:1] == "{":
        found = json_items(text[1:-1])
    elif text[:1] == '"':
        found = [json.loads(text)]
    elif text in leaves:
        found = [text]
    else:
        level = min(at for row in rows for at, label in enumerate(row) if label == text)
        found = [row[0] for row in rows if row[level] == text]
    if entry["kind"] == "categorical":
        return found
    return [float(leaf) if numeric else leaf for leaf in found if leaf != "(missing)"]


def ends(entry: Entry, texts: Iterable[str]) -> list[float]:
    """All ends of intervals that are published of a numeric attribute."""
    found = [float(end) for end in entry["domain"]]
    for text in texts:
        if text not in ("*", "(missing)") and "hierarchy" not in entry:
            found += interval(text)
    return found


def interval(text: str) -> tuple[float, float]:
    low, _, high = text.strip("[]").partition(", ")
    return float(low), float(high or low)


def items(text: str) -> list[str]:
    found = json_items(text[1:-1]) if text[:1] == "[" else json_items(text)
    return found if len(found) == 2 else found * 2


def json_items(text: str) -> list[str]:
    """The values of a list, some of them JSON strings."""
    found: list[str] = []
    while text:
        if text[0] == '"':
            item, end = json.JSONDecoder().raw_decode(text)
        else:
            end = text.find(", ") if ", " in text else len(text)
            item = text[:end]
        found.append(item)
        text = text[end + 2 :]
    return found
