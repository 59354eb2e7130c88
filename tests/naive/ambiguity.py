"""Brute-force counterparts of ambiguity: what its files say about a person, world by world and row by row."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple


class Group(NamedTuple):
    """What the files say about one group."""

    blocks: dict[tuple[str, ...], set[tuple[str, ...]]]
    counts: Counter[str]

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    @property
    def combinations(self) -> int:
        number = 1
        for entries in self.blocks.values():
            number *= len(entries)
        return number

    @property
    def presence(self) -> Fraction:
        return min(Fraction(1), Fraction(self.size, self.combinations))

    def covers(self, point: dict[str, str]) -> bool:
        return all(tuple(point[name] for name in block) in entries for block, entries in self.blocks.items())


def read_groups(folder: Path) -> list[Group]:
    """The groups of a saved release, read with nothing but the standard library; repeated lines are an error."""
    manifest = json.loads((folder / "release.json").read_text())
    sensitive_attribute = next(entry["name"] for entry in manifest["attributes"] if entry["role"] == "sensitive")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in _lines(folder / "sensitive.csv"):
        assert line[sensitive_attribute] not in counts[line["group"]], "a value is counted twice"
        counts[line["group"]][line[sensitive_attribute]] = int(line["count"])
    blocks: dict[str, dict[tuple[str, ...], set[tuple[str, ...]]]] = defaultdict(lambda: defaultdict(set))
    for entry in manifest["auxiliaries"]:
        block = tuple(entry["attributes"])
        for line in _lines(folder / f"{entry['table']}.csv"):
            held = tuple(line[name] for name in block)
            assert held not in blocks[line["group"]][block], "an entry is listed twice"
            blocks[line["group"]][block].add(held)
    assert set(blocks) == set(counts)
    return [Group(dict(blocks[number]), counts[number]) for number in counts]


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def presence(groups: list[Group], point: dict[str, str], combined: bool) -> Fraction:
    """The belief that a person is in the table, by formula."""
    chances = [group.presence for group in groups if group.covers(point)]
    if not combined:
        return max(chances, default=Fraction(0))
    absent = Fraction(1)
    for chance in chances:
        absent *= 1 - chance
    return 1 - absent


def listed(groups: list[Group], block: tuple[str, ...]) -> int:
    """How many different entries of a block there are."""
    return len(set().union(*(group.blocks[block] for group in groups)))


def anyones_presence(groups: list[Group]) -> Fraction:
    """The largest belief by all groups together over every combination of listed entries."""
    blocks = list(groups[0].blocks)
    entries = [sorted(set().union(*(group.blocks[block] for group in groups))) for block in blocks]
    best = Fraction(0)
    for chosen in itertools.product(*entries):
        point = dict(zip(itertools.chain(*blocks), itertools.chain(*chosen), strict=True))
        best = max(best, presence(groups, point, combined=True))
    return best


def association(groups: list[Group], point: dict[str, str]) -> dict[str, Fraction]:
    """The belief in each sensitive value of a person in the table, by formula; empty when no group covers them."""
    weights: dict[str, Fraction] = defaultdict(Fraction)
    for group in groups:
        if group.covers(point):
            for value, count in group.counts.items():
                weights[value] += group.presence * Fraction(count, group.size)
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


World = tuple[tuple[tuple[tuple[str, ...], ...], str], ...]
"""Rows of one group: per row its entry in every block, and its sensitive value."""


def worlds(group: Group, repeats: bool = False) -> list[World]:
    """All ways to fill one group's rows: each row a combination, every entry used, every value as often as counted.

    Rows are told apart by their sensitive values only: of rows with equal values the order does not count. Without
    ``repeats`` no two rows have the same combination.
    """
    blocks = list(group.blocks)
    cells = list(itertools.product(*(sorted(group.blocks[block]) for block in blocks)))
    ways = itertools.product(cells, repeat=group.size) if repeats else itertools.permutations(cells, group.size)
    values = sorted(group.counts.elements())
    found = set()
    for way in ways:
        shown = [{cell[j] for cell in way} for j in range(len(blocks))]
        if all(shown[j] == group.blocks[block] for j, block in enumerate(blocks)):
            found.add(tuple(sorted(zip(way, values, strict=True))))
    return sorted(found)


def enumerated(
    groups: list[Group], point: dict[str, str], repeats: bool = False
) -> tuple[Fraction, dict[Any, Fraction]]:
    """Over all worlds of all groups, equally likely: the belief in presence by any group, and in each sensitive value
    of a row of the person, drawn from the rows that hold the person's quasi-identifiers."""
    absent = Fraction(1)
    expected: dict[Any, Fraction] = defaultdict(Fraction)
    for group in groups:
        own = tuple(tuple(point[name] for name in block) for block in group.blocks)
        all_worlds = worlds(group, repeats)
        present = 0
        for world in all_worlds:
            held = [value for cell, value in world if cell == own]
            present += bool(held)
            for value in held:
                expected[value] += Fraction(1, len(all_worlds))
        absent *= 1 - Fraction(present, len(all_worlds))
    total = sum(expected.values())
    return 1 - absent, {value: weight / total for value, weight in expected.items()}


def exhaustive_groups(
    codes: list[tuple[int, ...]], sensitive_codes: list[int], alpha: float, needed: int
) -> list[list[int]]:
    """The paper's Algorithm 2 with its corrections: one row from each of the largest buckets, each the one of all rows
    of its bucket that shows most new values, and more of other values until alpha is kept; residues are not placed."""
    buckets: dict[int, list[int]] = defaultdict(list)
    for row, value in enumerate(sensitive_codes):
        buckets[value].append(row)
    groups = []
    while sum(bool(rows) for rows in buckets.values()) >= needed:
        group: list[int] = []
        turn = sorted((value for value in buckets if buckets[value]), key=lambda value: -len(buckets[value]))
        for value in turn:
            if len(group) >= needed and len(group) <= alpha * _product(codes, group) + 1e-9:
                break
            row = max(buckets[value], key=lambda row: _product(codes, [*group, row]))
            buckets[value].remove(row)
            group.append(row)
        groups.append(group)
    return [group for group in groups if len(group) <= alpha * _product(codes, group) + 1e-9]


def _product(codes: list[tuple[int, ...]], rows: list[int]) -> int:
    product = 1
    for j in range(len(codes[0])):
        product *= len({codes[row][j] for row in rows})
    return product
