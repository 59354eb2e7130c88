"""What the pictures of the schemes are made of: people in the plane of two quasi-identifiers, boxes, and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa
from canvas import GREY, INK, PALE, Canvas, Point
from people import AGES, DISEASES, JOBS, WEIGHTS, Person

import discreet as dc

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
"""Colours that people with any kind of colour blindness tell apart (Okabe and Ito); shapes differ as well."""
LOOKS = {
    **{value: (COLOURS[i], i) for i, value in enumerate(DISEASES)},
    **{value: (COLOURS[i], i) for i, value in enumerate(JOBS)},
}
STRONG = ("#d55e00", "#000000")
"""The lines of the groups that a picture points out."""
INCOMES = (10_000, 60_000)
LIGHT, DARK = (0xE6, 0xF0, 0xF8), (0x08, 0x30, 0x6B)


class Box(NamedTuple):
    """What is published of the quasi-identifiers of a group: the ends of its ages and weights."""

    ages: tuple[float, float]
    weights: tuple[float, float]

    @property
    def area(self) -> float:
        """How large it is."""
        return (self.ages[1] - self.ages[0] + 1) * (self.weights[1] - self.weights[0] + 1)


class Plane:
    """A part of a canvas where ages run to the right and weights upwards."""

    def __init__(self, canvas: Canvas, low: Point, high: Point, labels: bool = True):
        self.canvas, self.low, self.high = canvas, low, high
        canvas.rect(low, high, "#fcfcfc", PALE)
        for age in range(AGES[0], AGES[1] + 1, 20):
            canvas.text((self.x(age), high[1] + 15), str(age), 12, GREY, "middle")
        for weight in range(60, WEIGHTS[1], 20):
            canvas.text((low[0] - 4, self.y(weight) + 4), str(weight), 12, GREY, "end")
        if labels:
            canvas.text((self.x(70), high[1] + 15), "age", 13, GREY, "middle")
            canvas.text((low[0] - 30, low[1] - 6), "weight", 13, GREY)
        self._labels: list[tuple[str, list[Point], str]] = []
        self._dots: list[Point] = []

    def x(self, age: float) -> float:
        """Where an age is."""
        return self.low[0] + (age - AGES[0]) / (AGES[1] - AGES[0]) * (self.high[0] - self.low[0])

    def y(self, weight: float) -> float:
        """Where a weight is."""
        return self.high[1] - (weight - WEIGHTS[0]) / (WEIGHTS[1] - WEIGHTS[0]) * (self.high[1] - self.low[1])

    def at(self, person: Person) -> Point:
        """Where somebody is."""
        return self.x(person.age), self.y(person.weight)

    def people(self, people: Iterable[Person], attribute: str = "disease", size: float = 4.5, **more: object) -> None:
        """Everybody at their exact place, by what they have."""
        for person in people:
            self._dots.append(self.at(person))
            mark(self.canvas, self._dots[-1], getattr(person, attribute), size, **more)

    def box(self, box: Box, label: str = "", line: str = INK, width: float = 1.2, tint: float = 0.1) -> None:
        """A box, half a year and half a kilogram around what it holds, and its label at a corner that is free."""
        low = (self.x(box.ages[0] - 0.5), self.y(box.weights[1] + 0.6))
        high = (self.x(box.ages[1] + 0.5), self.y(box.weights[0] - 0.6))
        self.canvas.rect(low, high, line, line, width, fill_opacity=str(tint), rx=2)
        if label:
            middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
            inner = [
                (low[0] + 8, low[1] + 9),
                (high[0] - 8, high[1] - 8),
                (high[0] - 8, low[1] + 9),
                (low[0] + 8, high[1] - 8),
            ]
            outer = [
                (middle[0], low[1] - 8),
                (middle[0], high[1] + 9),
                (low[0] - 9, middle[1]),
                (high[0] + 9, middle[1]),
            ]
            self._labels.append((label, inner + outer, line))

    def label(self) -> None:
        """Write the labels of all boxes, each where it is farthest from people and from other labels."""
        taken = list(self._dots)
        for words, places, colour in self._labels:
            free = max(places, key=lambda place: min((_distance(place, other) for other in taken), default=1e9))
            taken.append(free)
            look = {"font_weight": "bold", "stroke": "#ffffff", "stroke_width": 3, "paint_order": "stroke"}
            self.canvas.text((free[0], free[1] + 4), words, 12, colour, "middle", **look)


def mark(canvas: Canvas, at: Point, value: str | int, size: float = 4.5, **more: object) -> None:
    """The mark of a sensitive value: a colour and a shape for a category, lighter or darker for a number."""
    x, y = at
    look = {"line": "#ffffff", "width": 0.7, **more}
    if not isinstance(value, str):
        canvas.circle(at, size, shade(value), **{**look, "line": look.get("line") if "line" in more else "#3a3a3a"})
        return
    colour, shape = LOOKS[value]
    if shape == 0:
        canvas.circle(at, size, colour, **look)
    elif shape == 1:
        canvas.rect((x - 0.9 * size, y - 0.9 * size), (x + 0.9 * size, y + 0.9 * size), colour, **look)
    elif shape == 2:
        canvas.shape(
            [(x, y - 1.2 * size), (x + 1.15 * size, y + 0.9 * size), (x - 1.15 * size, y + 0.9 * size)], colour, **look
        )
    else:
        canvas.shape(
            [(x, y - 1.3 * size), (x + 1.3 * size, y), (x, y + 1.3 * size), (x - 1.3 * size, y)], colour, **look
        )


def shade(income: float) -> str:
    """The colour of a number: the larger, the darker."""
    share = min(1.0, max(0.0, (income - INCOMES[0]) / (INCOMES[1] - INCOMES[0])))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(LIGHT, DARK, strict=True))


def legend(canvas: Canvas, at: Point, values: Sequence[str], step: float = 76) -> None:
    """Which mark stands for which value."""
    for i, value in enumerate(values):
        mark(canvas, (at[0] + i * step, at[1] - 4.5), value, 5)
        canvas.text((at[0] + 10 + i * step, at[1]), value, 13)


def scale(canvas: Canvas, at: Point) -> None:
    """Which colour stands for which income."""
    canvas.text(at, "income:", 13)
    for i, income in enumerate(range(INCOMES[0], INCOMES[1] + 1, 10_000)):
        mark(canvas, (at[0] + 66 + i * 52, at[1] - 4.5), income, 5)
        canvas.text((at[0] + 74 + i * 52, at[1]), f"{income // 1000}k", 12)


def lists(
    canvas: Canvas,
    at: Point,
    groups: Mapping[str, Sequence[str]],
    width: float,
    step: float = 18,
    strong: Mapping[str, str] | None = None,
) -> None:
    """What is published of the sensitive values of each group: its number, and a mark for each."""
    for i, (name, values) in enumerate(groups.items()):
        y = at[1] + i * step
        colour = (strong or {}).get(name)
        canvas.text((at[0] + 12, y + 4), name, 11, colour or INK, "end", **({"font_weight": "bold"} if colour else {}))
        gap = min(11.0, (width - 24) / max(1, len(values)))
        for j, value in enumerate(sorted(values, key=lambda each: LOOKS[each][1])):
            mark(canvas, (at[0] + 22 + j * gap, y), value, min(4.0, max(2.2, 0.42 * gap)))


def bars(canvas: Canvas, at: Point, counts: Mapping[str, int], width: float, height: float = 16) -> None:
    """A bar of values, as wide as there are rows of each."""
    total, x = sum(counts.values()), at[0]
    for value, count in counts.items():
        wide = width * count / total
        canvas.rect((x, at[1]), (x + wide, at[1] + height), LOOKS[value][0], "#ffffff")
        x += wide


def caption(canvas: Canvas, *lines: str) -> None:
    """What is to be seen, below everything."""
    for i, words in enumerate(lines):
        canvas.text((10, canvas.height - 10 - 18 * (len(lines) - 1 - i)), words, 13.5)


# ------------------------------------------------------------------------------------------- what a release publishes


def boxes(table: pa.Table) -> dict[int, Box]:
    """The box of every group, as it is printed in a published table."""
    found = {}
    for group, age, weight in zip(*(table[name].to_pylist() for name in ("group", "age", "weight")), strict=True):
        found[group] = Box(_ends(age, AGES), _ends(weight, WEIGHTS))
    return found


def values(table: pa.Table, attribute: str = "disease") -> dict[str, list[str]]:
    """The published values of every group, by its number counted from 1."""
    listed: dict[str, list[str]] = {}
    counts = table["count"].to_pylist() if "count" in table.column_names else [1] * table.num_rows
    for group, value, count in zip(table["group"].to_pylist(), table[attribute].to_pylist(), counts, strict=True):
        listed.setdefault(str(group + 1), []).extend([value] * count)
    return listed


def members(release: dc.Release, people: Sequence[Person]) -> dict[int, list[Person]]:
    """Who is in which group, by the private trace: readers of the release cannot know it so exactly."""
    sets: dict[int, list[Person]] = {}
    for person, group in zip(people, release.trace, strict=True):
        sets.setdefault(int(group), []).append(person)
    return sets


def _ends(text: object, domain: tuple[int, int]) -> tuple[float, float]:
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", str(text))]
    return (min(numbers), max(numbers)) if numbers else (float(domain[0]), float(domain[1]))


def _distance(first: Point, second: Point) -> float:
    return max(abs(first[0] - second[0]), abs(first[1] - second[1]))


def around(points: Sequence[Point], centre: Point) -> Iterable[Sequence[Point]]:
    """A line from each point to the centre."""
    return ([point, centre] for point in points)


def steps(ends: Iterable[tuple[float, float]]) -> list[float]:
    """Between which numbers neighbouring intervals meet."""
    ordered = sorted(set(ends))
    return [(first[1] + second[0]) / 2 for first, second in pairwise(ordered) if first[1] < second[0]]
