"""Look up people in descriptions: the beliefs about who is in the table that follow.

Take a group of |G| rows whose description admits a person's quasi-identifiers. Then |G| of the combinations of values
that the description admits are in the table. If all are equally likely, the belief that the person's combination is
among them is |G| divided by their number, or 1 if that is less. Groups with the same description count separately, and
together they imply 1 - (1 - p1)(1 - p2)... .

Not all numbers in an interval need exist (codes of regions, salaries in hundreds), so only values known to occur are
counted. From the files alone these are, for numbers and ordered values, the ends of published intervals; so the number
of combinations is a lower bound and the belief an upper one. This belief is an average over the combinations that a
description admits: an attacker who knows that descriptions are as narrow as possible believes more in combinations of
ends of intervals, and less in others (`discreet.releases.corners`; promises are judged by the strongest of these
beliefs). Where values are listed one by one, as in ambiguous releases, all combinations are equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.search import tally
from discreet.kernels.presence.mixtures import cover
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.attributes import Attribute
from discreet.releases.boxes import boxes_in, mixed, occurring, plant_tree, points_of, values_in
from discreet.releases.corners import strongest_beliefs
from discreet.releases.descriptions import Descriptions
from discreet.releases.labels import Regions, finite
from discreet.releases.lookup import Lookup, Matches
from discreet.releases.max_presence import PresenceBound, lists_of_boxes, most_believed
from discreet.table.table import Column
from discreet.table.texts import MISSING


class ByBoxes(Lookup):
    """Looks up people by descriptions of groups, each on its own even where descriptions are equal."""

    def __init__(self, descriptions: Descriptions) -> None:
        """Use the cells of a release as groups."""
        self.descriptions, self.quasi = descriptions, descriptions.quasi
        self.sizes, self.ids = descriptions.sizes, descriptions.ids

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """Return, per group, how many combinations of values that occur in the original its description admits."""
        values = values_in(boxes_in(self.descriptions, original), occurring(original, self.quasi))
        return np.asarray(np.prod(values, axis=1, dtype=np.float64))

    def chances(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """Return, per group, the belief in the likeliest combination; descriptions are known to be narrow."""
        return strongest_beliefs(self.descriptions, original)

    @property
    def known_chances(self) -> NDArray[np.float64]:
        """Return, per group, its rows divided by the combinations of values that its description admits."""
        return np.minimum(1.0, self.sizes / combinations_known(self.descriptions))

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        described = boxes_in(self.descriptions, people)
        times, largest, logs = cover(plant_tree(points_of(people), described), described, chances)
        return Matches(times, largest, 0.0 - np.expm1(logs))

    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """Bound the combined belief over all combinations that descriptions admit."""
        lists = lists_of_boxes(boxes_in(self.descriptions, original), [len(column.values) for column in original])
        return most_believed(lists, chances, known, limit)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """Return how many people each description admits."""
        points, groups = points_of(people), self.descriptions.cells
        needs = np.full(groups, len(points) + 1)
        described = boxes_in(self.descriptions, people)
        forest = plant_tree(points, described)
        numbers = tally(forest, described, np.arange(groups), np.zeros(groups, np.int64), needs)
        return np.asarray(numbers, np.int64)

    def summed(self, people: Sequence[Column], rows: NDArray[np.intp], counts: Counts) -> NDArray[np.float64]:
        """Return the sums over the descriptions that admit each person."""
        some = [replace(column, codes=column.codes[rows]) for column in people]
        return np.asarray(mixed(self.descriptions, some, counts), np.float64)

    def description(self, group: int) -> dict[str, str]:
        """Return the published texts of a group."""
        return self.descriptions.text(group)

    def named(self, group: int) -> str:
        """Return a group's number, size and description in words."""
        texts = ", ".join(f"{name} {text}" for name, text in self.description(group).items())
        return f"group {self.descriptions.ids[group]} ({wording.rows(int(self.sizes[group]))}, {texts})"


def combinations_known(descriptions: Descriptions) -> NDArray[np.float64]:
    """For each cell, the number of combinations that its description admits, of values known from the files."""
    product = np.ones(descriptions.cells)
    for attribute, regions, texts in zip(descriptions.quasi, descriptions.regions, descriptions.texts, strict=True):
        if attribute.recipe is not None and attribute.kind == "numeric":
            known = np.zeros(0)  # ends of a recipe's intervals are nobody's
        elif attribute.kind == "categorical":
            assert attribute.hierarchy is not None, "every categorical attribute has a hierarchy"
            known = np.arange(len(attribute.hierarchy.leaves), dtype=np.float64)
        else:
            known = _ends(attribute, regions)
        numbers = np.searchsorted(known, regions.high, side="right") - np.searchsorted(known, regions.low, side="left")
        for at, ranks in regions.sets.items():
            numbers[at] = len(ranks)
        # a description that admits anything also admits missing values, if these are known to occur
        if bool((regions.missing & ~regions.whole).any()):
            numbers += regions.missing
        product *= np.maximum(1, numbers)[texts.of_cell]
    return product


def _ends(attribute: Attribute, regions: Regions) -> NDArray[np.float64]:
    """The numbers or ranks known to occur: ends of published intervals, and leaves if the hierarchy is published."""
    plain = ~regions.whole & (regions.low <= regions.high)
    ends = [regions.low[plain], regions.high[plain]]
    if attribute.hierarchy is not None:
        leaves = [leaf for leaf in attribute.hierarchy.leaves if leaf != MISSING]
        ends.append(
            np.arange(len(leaves), dtype=np.float64)
            if attribute.kind == "ordinal"
            else np.array([finite(leaf) for leaf in leaves], np.float64)
        )
    return np.unique(np.concatenate(ends))
