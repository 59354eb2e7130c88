"""Predicates that single somebody out: what an attacker writes down from a release alone, as boxes of codes.

A predicate is a condition on one row: a set of values for each quasi-identifier, and for the first sensitive attribute.
From each group one is made by lot, in one of these *forms*:

    end     in the group's box, and a value is one of the two ends of its interval
    inner   in the box, and a value lies inside its interval, at neither end: what ends are compared with
    corner  in the box, and all values with an interval are at one of its ends
    value   in the box, and with a sensitive value that occurs once in the group
    row     all quasi-identifiers of a row that is published as it is, also the sensitive value of a drawn row; of
            lists of values, one combination of each group

*Weight.* A predicate that few rows of any table fit says little if it fits one row of this table by chance. Its weight
is the chance that a row fits it: the product, over the columns, of the share of rows with an admitted value. This takes
columns to be independent. Counts are of the whole original, and so include the row that is found; a share of no rows
counts as of one. With a population the weight is at least the share, among those of it who are not in the table, of
those who fit the conditions on quasi-identifiers. Where columns go together the product is too small: so predicates
are also tried on rows that they were not made from, whose weight errs alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import places_in, quasi_column, usable_rows
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW, Boxes
from discreet.kernels.boxes.search import EVERYTHING, tally
from discreet.randomness import generator
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import boxes_in, plant_tree, points_of, values_in
from discreet.releases.columns import ExactColumn, coded_numbers
from discreet.releases.grid import ranked_numbers
from discreet.releases.release import Release
from discreet.table.decimals import unit_of
from discreet.table.table import Column, Table

Form = Literal["end", "inner", "corner", "value", "row"]
FORMS: tuple[Form, ...] = get_args(Form)
MOST = 100_000
"""How many predicates of a form are tried at most; of more groups, some are drawn."""


class Tried(NamedTuple):
    """What came of predicates."""

    attempts: int
    alone: int
    """How many fit exactly one row."""
    light: int
    """How many are so improbable that they count."""
    successes: int
    """How many do both."""
    expected: float
    """How many would, if the rows were drawn anew by the weights of the predicates."""

    @property
    def rate(self) -> float:
        """The share of successes."""
        return self.successes / self.attempts if self.attempts else 0.0


@dataclass(frozen=True, eq=False)
class Ground:
    """The rows that predicates are about."""

    columns: tuple[Column, ...]
    """One per quasi-identifier of a release, then that of its sensitive attribute; their values are also those of the
    population."""
    points: NDArray[np.int32]
    """The codes of each usable row."""
    rows: NDArray[np.intp]
    """The row of the original that each of them is."""
    everyone: NDArray[np.int32] | None
    """The codes of everyone in the population, without a sensitive value; None if there is none."""

    @classmethod
    def of(cls, release: Release, original: Table, population: Table | None) -> Ground:
        """The rows of the original by the columns of a release."""
        columns, others = [], []
        for attribute in release.quasi:
            column = quasi_column(attribute, original)
            if population is not None:
                from discreet.adversary.presence.population import population_column  # imported late: few give one

                column, codes = _joint(column, population_column(attribute, population))
                others.append(codes)
            columns.append(column)
        nothing = Column("", "categorical", np.zeros(original.rows, np.int32), np.array([""], object))
        columns.append(original.sensitive[0] if original.sensitive else nothing)
        rows = usable_rows(original)
        everyone = None if population is None else np.stack(others, axis=1)
        return cls(tuple(columns), points_of(columns)[rows], rows, everyone)

    @cached_property
    def frequencies(self) -> list[NDArray[np.int64]]:
        """Per column: how many rows have each code."""
        pairs = zip(self.columns, self.points.T, strict=True)
        return [np.bincount(codes, minlength=len(column.values)) for column, codes in pairs]

    def weights(self, boxes: Boxes) -> NDArray[np.float64]:
        """The chance that a row fits each predicate."""
        shares = values_in(boxes, self.frequencies) / len(self.points)
        result: NDArray[np.float64] = shares.prod(axis=1)
        if self.everyone is not None and len(self.everyone) > len(self.points):
            low, high, set_at = (np.ascontiguousarray(part[:, :-1]) for part in boxes[:3])
            free = boxes._replace(low=low, high=high, set_at=set_at)
            among = fitting(free, self.everyone) - fitting(free, np.ascontiguousarray(self.points[:, :-1]))
            share = np.maximum(0, among) / (len(self.everyone) - len(self.points))
            result = np.maximum(result, share * shares[:, -1])
        return result

    def tried(self, boxes: Boxes, expected: float, rows: NDArray[np.bool_] | None = None) -> Tried:
        """Try predicates on the rows, or on some; those count that at most so many rows are expected to fit."""
        points = self.points if rows is None else self.points[rows]
        number, weights = len(points), self.weights(boxes)
        alone, light = fitting(boxes, points, most=2) == 1, number * weights <= expected
        chances = np.where(light, number * weights * (1.0 - weights) ** max(0, number - 1), 0.0)
        return Tried(len(alone), int(alone.sum()), int(light.sum()), int((alone & light).sum()), float(chances.sum()))

    def guessed(self, boxes: Boxes, random: np.random.Generator) -> Boxes:
        """As many predicates without a release: around values drawn by their frequencies, column by column, as many
        values are admitted."""
        widths = values_in(boxes, [np.ones(len(column.values), np.int64) for column in self.columns])
        first = np.zeros_like(boxes.low)
        for axis, codes in enumerate(self.points.T):
            wide = widths[:, axis]
            start = codes[random.integers(0, len(codes), len(wide))] - random.integers(0, wide)
            first[:, axis] = np.clip(start, 0, len(self.columns[axis].values) - wide)
        last = (first + widths - 1).astype(np.int32)
        return Boxes(first, last, np.full_like(first, -1), np.zeros(1, np.int64), np.zeros(0, np.int32))


def fitting(boxes: Boxes, points: NDArray[np.int32], most: int = EVERYTHING) -> NDArray[np.int64]:
    """How many points fit each box; counted until there are as many as ``most``."""
    number = len(boxes.low)
    if not len(points) or not number:
        return np.zeros(number, np.int64)
    every, needs = np.arange(number), np.full(number, most)
    found: NDArray[np.int64] = tally(plant_tree(points, boxes), boxes, every, np.zeros(number, np.int64), needs)
    return found


def singled_at_ends(release: Release, original: Table) -> int:
    """In how many groups the box and one end of an interval fit exactly one row of the original."""
    if release.descriptions is None:
        return 0
    release = release.revealed(original)
    ground = Ground.of(release, original, None)
    return Source(release, ground.columns, generator()).singled_at_ends(ground.points)


# -------------------------------------------------------------------------------------------------------------- making


class Source:
    """A release that predicates are made from."""

    def __init__(self, release: Release, columns: tuple[Column, ...], random: np.random.Generator) -> None:
        """Read the descriptions, or the rows that are published as they are."""
        self.release, self.columns, self.random = release, columns, random
        self.named = release.named_rows(random)
        self.described = release.descriptions
        if self.described is None:
            return
        self.boxes = boxes_in(self.described, columns[:-1])
        shape = self.described.cells, len(columns) - 1
        self.ends = np.zeros(shape, np.bool_)
        """Per cell and quasi-identifier: whether it is an interval of several values."""
        self.low, self.high, self.scale = np.zeros(shape), np.zeros(shape), np.zeros(shape[1])
        for axis, attribute in enumerate(self.described.quasi):
            regions, texts = self.described.regions[axis], self.described.texts[axis]
            of_text = np.array([text.startswith("[") for text in texts.texts], np.bool_)
            self.ends[:, axis] = of_text[texts.of_cell]
            self.low[:, axis], self.high[:, axis] = regions.low[texts.of_cell], regions.high[texts.of_cell]
            self.scale[axis] = _scale(attribute, np.r_[regions.low[of_text], regions.high[of_text]])

    @cached_property
    def inside(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The first and the last number inside each interval, in units, of those that a reader can name."""
        with np.errstate(invalid="ignore"):
            return np.rint(self.low * self.scale) + 1, np.rint(self.high * self.scale) - 1

    @cached_property
    def once(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cells with a sensitive value that occurs once in them, each with one of these, by lot."""
        counts: Any = getattr(self.release, "counts", None)
        if counts is None or not self.release.sensitive:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        single = self.random.permutation(np.flatnonzero(counts.amounts == 1))
        cells, first = np.unique(counts.groups[single], return_index=True)
        return cells.astype(np.int64), counts.values[single[first]].astype(np.int64)

    def axes(self, form: Form) -> NDArray[np.bool_]:
        """Per cell and quasi-identifier: whether the form can be made by it."""
        if form != "inner":
            return self.ends
        first, last = self.inside
        return self.ends & (self.scale > 0) & (first <= last)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms that can be made of it."""
        if self.described is None:
            return ("row",) if self.named else ()
        some = {form: bool(self.axes(form).any()) for form in ("end", "inner", "corner")}
        some["value"] = len(self.once[0]) > 0
        return tuple(form for form in FORMS if some.get(form))

    def made(self, form: Form) -> Boxes:
        """One predicate of each group that allows the form."""
        if form == "row":
            return self._rows()
        axes = self.axes(form)
        cells, values = self.once if form == "value" else (np.flatnonzero(axes.any(axis=1)), np.zeros(0, np.int64))
        drawn = self._drawn(len(cells))
        cells, axes = cells[drawn], axes[cells[drawn]]
        picked = np.zeros(axes.shape, np.bool_)
        codes = np.full((len(cells), len(self.columns)), -1, np.int64)
        if form == "corner":
            picked = axes
        elif form != "value":
            picked[np.arange(len(cells)), np.argmax(axes * (1.0 - self.random.random(axes.shape)), axis=1)] = True
        for axis in range(len(self.columns) - 1):
            lines = np.flatnonzero(picked[:, axis])
            codes[lines, axis] = self._codes(axis, self._numbers(form, axis, cells[lines]))
        last = np.full((len(cells), 1), form == "value")
        if form == "value":
            shown = ExactColumn(self.release.values, np.zeros(0, np.int32))
            codes[:, -1] = _places(shown, self.columns[-1])[values[drawn]]
        return _pinned(self._wide(cells), np.hstack([picked, last]), codes)

    def singled_at_ends(self, points: NDArray[np.int32]) -> int:
        """In how many cells the box and one of the two ends of some interval fit exactly one point."""
        if self.described is None:
            return 0
        cells, axes = (np.tile(each, 2) for each in np.nonzero(self.ends))
        upper = np.arange(len(cells)) >= len(cells) // 2
        codes = np.full((len(cells), len(self.columns)), -1, np.int64)
        picked = axes[:, None] == np.arange(len(self.columns))
        for axis in range(len(self.columns) - 1):
            lines = np.flatnonzero(picked[:, axis])
            ends = np.where(upper[lines], self.high[cells[lines], axis], self.low[cells[lines], axis])
            codes[lines, axis] = self._codes(axis, ends)
        alone = fitting(_pinned(self._wide(cells), picked, codes), points, most=2) == 1
        return len(np.unique(cells[alone]))

    def _drawn(self, number: int) -> NDArray[np.intp]:
        """Which of so many are tried."""
        return np.sort(self.random.permutation(number)[:MOST])

    def _numbers(self, form: Form, axis: int, cells: NDArray[np.intp]) -> NDArray[np.float64]:
        """An end of each interval by lot, or a number inside it."""
        lot = self.random.random(len(cells))
        first, last = self.inside if form == "inner" else (self.low, self.high)
        low, high = first[cells, axis], last[cells, axis]
        if form == "inner":
            return np.asarray(np.floor(low + lot * (high - low + 1)) / self.scale[axis], np.float64)
        return np.asarray(np.where(lot < 0.5, low, high), np.float64)

    def _codes(self, axis: int, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """The codes of numbers; -1 for one that nobody has."""
        assert self.described is not None, "only descriptions have numbers"
        known = ranked_numbers(self.described.quasi[axis], self.columns[axis])
        order = np.argsort(known, kind="stable")  # a missing number comes last
        at = np.minimum(np.searchsorted(known[order], numbers), len(order) - 1)
        return np.where(known[order][at] == numbers, order[at], -1).astype(np.int64)

    def _wide(self, cells: NDArray[np.intp]) -> Boxes:
        """The boxes of cells, with any sensitive value."""
        least, most = np.zeros((len(cells), 1), np.int32), np.full((len(cells), 1), len(self.columns[-1].values) - 1)
        low, high = np.hstack([self.boxes.low[cells], least]), np.hstack([self.boxes.high[cells], most])
        sets = np.hstack([self.boxes.set_at[cells], least - 1])
        return Boxes(low, high.astype(np.int32), sets, self.boxes.starts, self.boxes.members)

    def _rows(self) -> Boxes:
        """The rows that are published as they are."""
        drawn = self._drawn(len(self.named[0].codes))
        width = len(self.columns)
        codes, pinned = np.zeros((len(drawn), width), np.int64), np.zeros((len(drawn), width), np.bool_)
        for axis, (exact, column) in enumerate(zip(self.named, self.columns, strict=False)):
            codes[:, axis] = _places(exact, column)[exact.codes[drawn]]
            pinned[:, axis] = True
        low = np.zeros(codes.shape, np.int32)
        high = np.broadcast_to([len(column.values) - 1 for column in self.columns], codes.shape).astype(np.int32)
        free = Boxes(low, high, np.full_like(low, -1), np.zeros(1, np.int64), np.zeros(0, np.int32))
        return _pinned(free, pinned, codes)


def _places(shown: ExactColumn, column: Column) -> NDArray[np.int64]:
    """Per published value: its code in a column, -1 if nobody has it."""
    places = places_in(shown, column)
    return np.where(places == len(column.values), -1, places)


def _pinned(boxes: Boxes, picked: NDArray[np.bool_], codes: NDArray[np.int64]) -> Boxes:
    """Boxes with a single code where one is picked; -1 is none."""
    nobody = codes < 0
    low = np.where(picked, np.where(nobody, NO_LOW, codes), boxes.low).astype(np.int32)
    high = np.where(picked, np.where(nobody, NO_HIGH, codes), boxes.high).astype(np.int32)
    return boxes._replace(low=low, high=high, set_at=np.where(picked, -1, boxes.set_at).astype(np.int32))


def _scale(attribute: Attribute, ends: NDArray[np.float64]) -> float:
    """How many numbers a reader can name between 0 and 1, by the last decimal place of published ends; 0 if any."""
    if attribute.kind == "ordinal":
        return 1.0
    if attribute.kind != "numeric" or not len(ends):
        return 0.0
    unit = attribute.unit or unit_of(ends)
    return 0.0 if unit is None else float(round(1.0 / unit))


def _joint(column: Column, among: Column) -> tuple[Column, NDArray[np.int32]]:
    """A column of the original in codes that a population has in common with it, and the codes of the population."""
    rows = len(column.codes)
    if column.kind == "numeric":
        both = [each.values[each.codes].astype(np.float64) for each in (column, among)]
        values, codes = coded_numbers(np.concatenate(both))
        missing = 0 if np.isnan(values[:1]).any() else None
        return replace(column, codes=codes[:rows], values=values, missing=missing), codes[rows:]
    place = {str(value): code for code, value in enumerate(column.values.tolist())}
    of_value = np.array([place.setdefault(str(value), len(place)) for value in among.values.tolist()], np.int32)
    return replace(column, values=np.array(list(place), object), hierarchy=None), of_value[among.codes]
