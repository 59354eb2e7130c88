"""What the files of a sealed release with exact quasi-identifiers tell somebody who knows the algorithm: by all worlds.

A *world* gives the values of the table to its persons in some way; all are equally likely beforehand. In each the
algorithm publishes something with a known probability (``naive.sealed``, ``naive.mirrored``). Here that is what the
files say: of every group the quasi-identifiers of its members, its values and its leakage, and nothing about who of
several persons with the same quasi-identifiers is in which group.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from naive.sealed import Part, Point, worlds

Told = frozenset[tuple[Part, float]]
"""Groups of persons, and the leakage of each."""
Group = tuple[tuple[Point, ...], tuple[str, ...], str]
"""The quasi-identifiers of its members, its values, and its leakage, up to the order in which amounts were added."""
Files = frozenset[tuple[Group, int]]
"""How often each group occurs in them."""
Beliefs = dict[tuple[int, str], Fraction]
"""The belief that a person has a value."""


def posteriors(
    points: Sequence[Point], values: Sequence[str], published: Callable[[Sequence[str]], Mapping[Told, Fraction]]
) -> dict[Files, Beliefs]:
    """What is believed given each release that any world may lead to; ``published`` has the probabilities in one."""
    beliefs: dict[Files, Beliefs] = defaultdict(lambda: defaultdict(Fraction))
    totals: dict[Files, Fraction] = defaultdict(Fraction)
    for world in worlds(values):
        for told, chance in published(world).items():
            files = written(points, world, told)
            totals[files] += chance
            for person, value in enumerate(world):
                beliefs[files][person, value] += chance
    return {
        files: {about: chance / totals[files] for about, chance in beliefs[files].items()}
        for files in beliefs
        if totals[files]
    }


def written(points: Sequence[Point], world: Sequence[str], told: Iterable[tuple[Part, float]]) -> Files:
    """What the files say of groups of persons."""
    return _counted(([points[t] for t in part], [world[t] for t in part], amount) for part, amount in told)


def read(folder: Path, quasi: Sequence[str], sensitive: str) -> Files:
    """What the files of a folder say."""
    members: dict[str, list[Point]] = defaultdict(list)
    for line in _lines(folder / "table.csv"):
        members[line["group"]].append(tuple(float(line[name]) for name in quasi))
    held: dict[str, list[str]] = defaultdict(list)
    for line in _lines(folder / "sensitive.csv"):
        held[line["group"]] += [line[sensitive]] * int(line["count"])
    leakage = {line["group"]: float(line["leakage"]) for line in _lines(folder / "seal.csv")}
    assert members.keys() == held.keys() == leakage.keys()
    return _counted((members[group], held[group], leakage[group]) for group in members)


def mean_of_groups(files: Files, point: Point, value: str) -> Fraction:
    """The share of a value in the groups with rows at a point, each as often as it has rows there."""
    rows = [(group[0].count(point) * times, Fraction(group[1].count(value), len(group[1]))) for group, times in files]
    return sum((number * share for number, share in rows), Fraction(0)) / sum(number for number, _ in rows)


def _counted(groups: Iterable[tuple[Sequence[Point], Sequence[str], float]]) -> Files:
    said = Counter((tuple(sorted(points)), tuple(sorted(held)), f"{amount:.8e}") for points, held, amount in groups)
    return frozenset(said.items())


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
