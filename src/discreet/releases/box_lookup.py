"""Look up people in descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.search import tally
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.boxes import boxes_in, mixed, plant_tree, points_of
from discreet.releases.corners import strongest_beliefs
from discreet.releases.descriptions import Descriptions
from discreet.releases.lookup import Lookup, Matches
from discreet.releases.max_presence import PresenceBound, lists_of_boxes, most_believed
from discreet.releases.presence import combinations_in, combinations_known, covered, occurring
from discreet.table.table import Column


class ByBoxes(Lookup):
    """Looks up people by descriptions of groups, each on its own even where descriptions are equal."""

    def __init__(self, descriptions: Descriptions) -> None:
        """Use the cells of a release as groups."""
        self.descriptions, self.quasi = descriptions, descriptions.quasi
        self.sizes, self.ids = descriptions.sizes, descriptions.ids

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """Return, per group, how many combinations of values that occur in the original its description admits."""
        return combinations_in(boxes_in(self.descriptions, original), occurring(original, self.quasi))

    def chances(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """Return, per group, the belief in the likeliest combination; descriptions are known to be narrow."""
        return strongest_beliefs(self.descriptions, original)

    @property
    def known_chances(self) -> NDArray[np.float64]:
        """Return, per group, its rows divided by the combinations of values that its description admits."""
        return np.minimum(1.0, self.sizes / combinations_known(self.descriptions))

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        return Matches(*covered(boxes_in(self.descriptions, people), people, chances))

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
