"""Generalization hierarchies: a tree over the values of one attribute, every leaf at the same depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.table.hierarchy_files import read_mapping, read_rows
from discreet.table.hierarchy_rows import ROOT, arrange
from discreet.table.hierarchy_specs import interval_rows, nested_rows, prefix_rows, specification
from discreet.table.texts import MISSING, canonical, near

__all__ = ["MISSING", "ROOT", "Hierarchy", "PublishedHierarchy"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over ``leaves``, held level by level.

    Level 0 holds the leaves in pre-order, the last level the root alone. Because leaves are in pre-order, every node
    covers a contiguous range of leaf ranks, and the lowest common ancestor of a set of leaves is that of its smallest
    and largest rank.

    >>> disease = Hierarchy.from_nested("disease", {"nervous": ["headache", "epilepsy"], "circulatory": ["anemia"]})
    >>> disease
    Hierarchy('disease', 3 leaves, height 2)
    >>> disease.labels[1:]
    (('nervous', 'circulatory'), ('*',))
    >>> level, node = disease.lca(disease.rank("headache"), disease.rank("epilepsy"))
    >>> disease.label(level, node)
    'nervous'
    """

    attribute: str
    labels: tuple[tuple[str, ...], ...]
    """``labels[level][node]``: the name of a node; ``labels[0]`` are the leaves."""
    ancestors: NDArray[np.int32]
    """``ancestors[level, leaf]``: the node of that level above a leaf; row 0 is 0, 1, 2, ..."""

    # ------------------------------------------------------------------------------------------------------ making

    @classmethod
    def from_rows(cls, attribute: str, rows: Iterable[Sequence[str]]) -> Hierarchy:
        """Build from one row per leaf: the leaf first, then the label of each level above it, the root last.

        Leaves are reordered so that every node covers a contiguous range of them, nodes in order of first appearance.
        When the rows end in more than one label, the root ``*`` is added above.

        >>> Hierarchy.from_rows("city", [("Lyon", "FR"), ("Bonn", "DE"), ("Nice", "FR")]).leaves
        ('Lyon', 'Nice', 'Bonn')
        """
        labels, ancestors = arrange(attribute, rows)
        return cls(attribute, labels, ancestors)

    @classmethod
    def flat(cls, attribute: str, values: Iterable[str]) -> Hierarchy:
        """All values directly below the root ``*``, in the order given.

        >>> Hierarchy.flat("sex", ["f", "m"]).labels
        (('f', 'm'), ('*',))
        """
        values = list(values)
        if ROOT in values:
            raise DiscreetError(
                f"column {attribute!r} holds the value '{ROOT}', which stands for 'any value' in a release; "
                "rename it in the data"
            )
        return cls.from_rows(attribute, [(value, ROOT) for value in values])

    @classmethod
    def from_nested(cls, attribute: str, mapping: Mapping[str, Any]) -> Hierarchy:
        """Build from nested mappings whose innermost members are lists of leaves (or leaves mapped to nothing).

        >>> Hierarchy.from_nested("sex", {"f": {}, "m": {}}).leaves
        ('f', 'm')
        """
        return cls.from_rows(attribute, nested_rows(attribute, mapping))

    @classmethod
    def intervals(
        cls, attribute: str, values: Iterable[Any], widths: Sequence[float] = (5, 10, 20), origin: float = 0
    ) -> Hierarchy:
        """Numbers below intervals of growing width, each width a multiple of the one before.

        >>> Hierarchy.intervals("age", [17, 23, 24], widths=[5, 10]).labels
        (('17', '23', '24'), ('15 to 19', '20 to 24'), ('10 to 19', '20 to 29'), ('*',))
        """
        return cls.from_rows(attribute, interval_rows(attribute, values, widths, origin))

    @classmethod
    def prefix(cls, attribute: str, values: Iterable[Any], keep: Sequence[int] = (4, 3, 2)) -> Hierarchy:
        """Codes such as postcodes below their own beginnings, the rest masked.

        >>> Hierarchy.prefix("zip", ["12345", "12399"], keep=[4, 3]).labels
        (('12345', '12399'), ('1234*', '1239*'), ('123**',), ('*',))
        """
        return cls.from_rows(attribute, prefix_rows(attribute, values, keep))

    @classmethod
    def read(cls, attribute: str, path: str | PathLike[str], values: Iterable[Any] | None = None) -> Hierarchy:
        """Read a file: ``.toml`` with nested tables, ``[intervals]`` or ``[prefix]``; any other as CSV, leaf first.

        The last two are recipes that need the ``values`` they are to be applied to. A CSV file has no header.
        """
        if Path(path).suffix.lower() == ".toml":
            return cls.of(attribute, read_mapping(attribute, Path(path)), values)
        return cls.from_rows(attribute, read_rows(attribute, Path(path), () if values is None else values))

    @classmethod
    def of(
        cls, attribute: str, source: Hierarchy | Mapping[str, Any] | str | PathLike[str], values: Iterable[Any] | None
    ) -> Hierarchy:
        """Whatever a user may give as a hierarchy: a path, a mapping (nested, or a recipe), or one made before.

        >>> Hierarchy.of("age", {"intervals": {"widths": [10]}}, [4, 11]).labels[1]
        ('0 to 9', '10 to 19')
        """
        if isinstance(source, Hierarchy):
            return replace(source, attribute=attribute)
        if isinstance(source, (str, PathLike)):
            return cls.read(attribute, source, values)
        if not isinstance(source, Mapping):
            raise DiscreetError(
                f"the hierarchy of {attribute!r} is a {type(source).__name__}; give a path, a mapping or a Hierarchy"
            )
        recipe = specification(attribute, source)
        if recipe is None:
            return cls.from_nested(attribute, source)
        name, options = recipe
        if values is None:
            raise DiscreetError(
                f"the hierarchy of {attribute!r} is made of {name} and needs the values of the column; "
                "pass values= or let read() apply it"
            )
        return (
            cls.intervals(attribute, values, **options)
            if name == "intervals"
            else cls.prefix(attribute, values, **options)
        )

    @staticmethod
    def lists_leaves(attribute: str, source: Hierarchy | Mapping[str, Any] | str | PathLike[str]) -> bool:
        """Whether a source of ``of`` lists its leaves itself; a recipe makes them of the values it is applied to.

        >>> Hierarchy.lists_leaves("sex", {"f": {}, "m": {}}), Hierarchy.lists_leaves("zip", {"prefix": {"keep": [3]}})
        (True, False)
        """
        if isinstance(source, (str, PathLike)):
            if Path(source).suffix.lower() != ".toml":
                return True
            source = read_mapping(attribute, Path(source))
        return not isinstance(source, Mapping) or specification(attribute, source) is None

    def with_leaves(self, values: Iterable[str]) -> Hierarchy:
        """The same tree with further leaves directly under its root, last, for values that it does not hold.

        >>> tree = Hierarchy.from_nested("city", {"FR": ["Lyon", "Nice"], "NO": ["Oslo"]})
        >>> tree.with_leaves(["Bonn", "Nice"]).rows()[-1]
        ('Bonn', 'Bonn', '*')
        """
        new = [value for value in dict.fromkeys(values) if self.find(value) < 0]
        if not new:
            return self
        root = (self.labels[-1][0],)
        return Hierarchy.from_rows(self.attribute, [*self.rows(), *((value,) * self.height + root for value in new)])

    def only(self, ranks: Iterable[int]) -> Hierarchy:
        """The same tree with no other leaves than those of these ranks; nodes that had others keep their labels.

        >>> Hierarchy.prefix("zip", ["123", "129", "777"], keep=[2]).only([0, 1]).labels
        (('123', '129'), ('12*',), ('*',))
        """
        rows = self.rows()
        return Hierarchy.from_rows(self.attribute, [rows[rank] for rank in ranks])

    def with_missing(self, *, first: bool = False) -> Hierarchy:
        """The same tree with a leaf ``(missing)`` directly under the root, last unless ``first`` (if it has none yet).

        >>> Hierarchy.flat("sex", ["f", "m"]).with_missing().leaves
        ('f', 'm', '(missing)')
        """
        if MISSING in self._ranks and (not first or self._ranks[MISSING] == 0):
            return self
        rows = [row for row in self.rows() if row[0] != MISSING]
        missing = (MISSING,) * self.height + (self.labels[-1][0],)
        return Hierarchy.from_rows(self.attribute, [missing, *rows] if first else [*rows, missing])

    # ------------------------------------------------------------------------------------------------------ asking

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values of the attribute, in pre-order."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """How many levels stand above the leaves."""
        return len(self.labels) - 1

    @property
    def bare(self) -> bool:
        """Whether nothing but the root ``*`` stands above the leaves.

        >>> Hierarchy.flat("sex", ["f", "m"]).bare, Hierarchy.from_nested("sex", {"anyone": ["f", "m"]}).bare
        (True, False)
        """
        return self.height == 1 and self.labels[1] == (ROOT,)

    def rank(self, value: str) -> int:
        """The place of a leaf in pre-order."""
        try:
            return self._ranks[value]
        except KeyError:
            raise DiscreetError(
                f"{value!r} is no leaf of the hierarchy of {self.attribute!r}; {near(value, self.leaves)}"
            ) from None

    def find(self, text: str) -> int:
        """The rank of the leaf a text means, though written differently (17.0 for 17, blanks around it); -1 if none.

        >>> Hierarchy.flat("age", ["17", "18"]).find("17.0")
        0
        """
        rank = self._ranks.get(text)
        return self._canonical.get(canonical(text), -1) if rank is None else rank

    def lca(self, low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Level and node of the lowest common ancestor of the leaves from rank ``low`` to ``high``; any shape."""
        low, high = np.broadcast_arrays(np.asarray(low), np.asarray(high))
        # Two leaves that share an ancestor share all those above it: the level is the number of disagreements below.
        level = np.zeros(low.shape, dtype=np.int64)
        for line in self.ancestors[:-1]:
            level += line[low] != line[high]
        return level, self.ancestors[level, low]

    def cost(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
        """What publishing the lowest common ancestor gives up: its share of the leaves, nothing for a single leaf.

        This is Eq. 3 of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012).

        >>> tree = Hierarchy.from_nested("x", {"A": ["a", "b"], "B": ["c", "d"]})
        >>> tree.cost([0, 0, 0], [0, 1, 2]).tolist()
        [0.0, 0.5, 1.0]
        """
        low = np.asarray(low)
        level, _ = self.lca(low, high)
        costs: NDArray[np.float64] = self._costs[level, low]
        return costs

    def label(self, level: ArrayLike, node: ArrayLike) -> str:
        """The name of a node."""
        return self.labels[int(np.asarray(level))][int(np.asarray(node))]

    def node_sizes(self, level: int) -> NDArray[np.int64]:
        """How many leaves each node of a level covers."""
        return np.bincount(self.ancestors[level], minlength=len(self.labels[level])).astype(np.int64)

    def rows(self) -> list[tuple[str, ...]]:
        """One row per leaf, leaf first and root last: what ``from_rows`` reads."""
        return [
            tuple(labels[node] for labels, node in zip(self.labels, line, strict=True))
            for line in self.ancestors.T.tolist()
        ]

    def __repr__(self) -> str:
        """Name and extent, not the leaves."""
        return f"Hierarchy({self.attribute!r}, {len(self.leaves)} leaves, height {self.height})"

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {leaf: rank for rank, leaf in enumerate(self.leaves)}

    @cached_property
    def _canonical(self) -> dict[str, int]:
        return {canonical(leaf): rank for rank, leaf in reversed(list(enumerate(self.leaves)))}

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        sizes = np.stack([self.node_sizes(level)[line] for level, line in enumerate(self.ancestors)])
        return np.where(sizes == 1, 0.0, sizes / len(self.leaves))


@dataclass(frozen=True)
class PublishedHierarchy:
    """A hierarchy as a release tells it, which need not list what only withheld rows hold.

    Values that it lacks become leaves directly under its root when a column is read with it.
    """

    tree: Hierarchy
