"""Estimates from the files of an ambiguous release, group by group and entry by entry, in fractions."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from discreet.table.query import Query
from naive.estimates import admits, possible


def estimate(folder: Path, query: Query) -> Fraction:
    """The sum over groups of the matching sensitive count times the matching share of the entries of every table."""
    manifest = json.loads((folder / "release.json").read_text())
    entries = {entry["name"]: {**entry, "role": "other"} for entry in manifest["attributes"]}
    sensitive_attribute = next(entry["name"] for entry in manifest["attributes"] if entry["role"] == "sensitive")

    def matches(line: dict[str, str], names: list[str]) -> bool:
        for name in names:
            asked = [condition for condition in query.conditions if condition.attribute == name]
            found = possible(entries[name], line[name])
            if asked and not (found and admits(entries[name], found[0], asked)):
                return False
        return True

    counts: dict[str, int] = {}
    for line in lines(folder / "sensitive.csv"):
        counts[line["group"]] = counts.get(line["group"], 0) + matches(line, [sensitive_attribute]) * int(line["count"])
    total = Fraction(0)
    for group, count in counts.items():
        share = Fraction(1)
        for auxiliary in manifest["auxiliaries"]:
            shown = [line for line in lines(folder / f"{auxiliary['table']}.csv") if line["group"] == group]
            share *= Fraction(sum(matches(line, auxiliary["attributes"]) for line in shown), len(shown))
        total += count * share
    return total


def lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="") as file:
        yield from csv.DictReader(file)


def expected_numbers(frequencies: list[float], size: int, concentration: float | None) -> list[float]:
    """How often each value occurs among so many random rows, given that each does and no other: over all counts.

    With a concentration, rows are drawn from an urn into which each is put back with another one like it.
    """
    totals, weight = [0.0] * len(frequencies), 0.0
    for counts in product(range(1, size + 1), repeat=len(frequencies)):
        if sum(counts) != size:
            continue
        chance: Any = 1.0
        for f, n in zip(frequencies, counts, strict=True):
            drawn = prod(concentration * f + k for k in range(n)) if concentration else f**n
            chance *= drawn / prod(range(1, n + 1))
        weight += chance
        totals = [total + chance * count for total, count in zip(totals, counts, strict=True)]
    return [total / weight for total in totals]
