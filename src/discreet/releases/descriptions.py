"""How a release describes quasi-identifiers: published texts, the values they admit, and the texts of each cell.

A cell is a description with the rows published under it, such as a group of a generalized release. Losses, boxes and
spelling checks are computed from these, so a format gets them all by providing its descriptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute
from discreet.releases.labels import ANYTHING, Nodes, Regions, braces, interval, parse, quoted
from discreet.table.date_numbers import written
from discreet.table.hierarchy_sources import source_rows
from discreet.table.texts import MISSING


class Texts(NamedTuple):
    """The distinct published texts of one attribute, and the index of each cell's text."""

    texts: tuple[str, ...]
    of_cell: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Descriptions:
    """The cells of a release.

    >>> age = Attribute("age", "quasi", "numeric", domain=(0.0, 99.0))
    >>> texts = Texts(("[17, 24]", "30"), np.array([1, 0], np.int32))
    >>> groups = Descriptions((age,), (texts,), np.array([4, 2]), np.arange(2))
    >>> groups.cells, groups.text(0), groups.regions[0].low.tolist()
    (2, {'age': '30'}, [17.0, 30.0])
    """

    quasi: tuple[Attribute, ...]
    texts: tuple[Texts, ...]
    """For each quasi-identifier, its distinct published texts and the index of each cell's text."""
    sizes: NDArray[np.int64]
    """The number of rows of each cell."""
    ids: NDArray[np.int64]
    """The published number of each cell."""
    alike: NDArray[np.int64] | None = None
    """Per cell: the number of rows with its description, where cells may have the same; else None."""

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.sizes)

    @cached_property
    def regions(self) -> tuple[Regions, ...]:
        """For each quasi-identifier, the values that each of its texts admits."""
        return tuple(parse(attribute, of.texts) for attribute, of in zip(self.quasi, self.texts, strict=True))

    def text(self, cell: int) -> dict[str, str]:
        """The published texts of a cell by quasi-identifier."""
        return {
            attribute.name: of.texts[of.of_cell[cell]] for attribute, of in zip(self.quasi, self.texts, strict=True)
        }

    @classmethod
    def joined(cls, several: Sequence[Descriptions]) -> Descriptions:
        """The cells of several descriptions of the same quasi-identifiers, side by side."""
        texts = []
        for axis in range(len(several[0].quasi)):
            place: dict[str, int] = {}
            of_cell = []
            for descriptions in several:
                words, places = descriptions.texts[axis]
                merged = np.array([place.setdefault(word, len(place)) for word in words], np.int32)
                of_cell.append(merged[places])
            texts.append(Texts(tuple(place), np.concatenate(of_cell)))
        sizes, ids = zip(*((descriptions.sizes, descriptions.ids) for descriptions in several), strict=True)
        return cls(several[0].quasi, tuple(texts), np.concatenate(sizes), np.concatenate(ids))

    def only(self, cells: NDArray[np.intp], sizes: NDArray[np.int64]) -> Descriptions:
        """Some of the cells, with other numbers of rows."""
        texts = tuple(Texts(words, of_cell[cells]) for words, of_cell in self.texts)
        return Descriptions(self.quasi, texts, sizes, self.ids[cells])

    def spelling_faults(self) -> list[str]:
        """Faults: texts not in their canonical form, or two texts with the same meaning.

        Free choices of spelling could carry information.
        """
        faults = []
        for attribute, of, regions in zip(self.quasi, self.texts, self.regions, strict=True):
            faults += _descriptions(attribute, of.texts, regions)
        return faults


def _descriptions(attribute: Attribute, texts: Sequence[str], regions: Regions) -> list[str]:
    """The spelling faults of one attribute's texts; at most one is reported."""
    nodes = None if attribute.hierarchy is None else Nodes(attribute.hierarchy)
    meanings: dict[object, str] = {}
    ranks_of = {value: float(rank) for rank, value in enumerate(attribute.values)}
    for at, text in enumerate(texts):
        if not _well_written(attribute, text, regions, at, nodes, ranks_of):
            return [f"{attribute.name!r} is published as {text!r}, which is not how this is written"]
        ranks = regions.sets.get(at)
        meaning = (
            regions.low[at],
            regions.high[at],
            regions.missing[at],
            None if ranks is None else (*ranks.tolist(),),
        )
        if meanings.setdefault(meaning, text) != text:
            return [
                f"{attribute.name!r} is published both as {meanings[meaning]!r} and as {text!r}, which mean the same"
            ]
    return []


def _well_written(
    attribute: Attribute, text: str, regions: Regions, at: int, nodes: Nodes | None, ranks_of: Mapping[str, float]
) -> bool:
    """Whether a text is a canonical form of its meaning: an interval, a label, or a set in a fixed order."""
    if text == ANYTHING or (text == MISSING and attribute.kind != "categorical"):
        return True
    low, high = float(regions.low[at]), float(regions.high[at])
    if nodes is not None:
        if text in nodes.ranges and (text not in nodes.leaves or text == quoted(text)):
            return True
        leaves = nodes.hierarchy.leaves
        ranks = regions.sets.get(at)
        if attribute.kind == "categorical":
            held = [leaves[rank] for rank in (range(int(low), int(high) + 1) if ranks is None else ranks.tolist())]
        else:
            place = ranks_of.__getitem__ if attribute.kind == "ordinal" else float
            held = [leaf for leaf in leaves if leaf != MISSING and low <= place(leaf) <= high]
        if text == braces(sorted(held)):
            return True
    if attribute.kind == "numeric" and attribute.recipe is not None:
        return text in source_rows(attribute.name, attribute.recipe, [low, high])[0]
    if attribute.kind == "numeric":
        return text == interval(written(low, attribute.notation), written(high, attribute.notation))
    if attribute.kind == "ordinal":
        return text == interval(*(quoted(attribute.values[int(rank)]) for rank in (low, high)))
    return False
