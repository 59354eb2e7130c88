"""Generalization hierarchies: a tree over the values of one attribute, every leaf at the same depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.table.hierarchy_faults import (
    cell_faults,
    extent_faults,
    leaf_faults,
    levels,
    parent_faults,
    refuse,
    rooted,
)
from discreet.table.hierarchy_sources import source_rows
from discreet.table.texts import MISSING, ROOT, canonical, near
from discreet.table.unnamed import MEANT_BY_OTHERS, MOST_UNNAMED, OTHERS, UNNAMED, is_unnamed

__all__ = ["MISSING", "ROOT", "Hierarchy", "PublishedHierarchy"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over ``leaves``, stored level by level.

    Level 0 contains the leaves in pre-order, the last level only the root. Because leaves are in pre-order, every node
    covers a contiguous range of leaf ranks, and the lowest common ancestor of a set of leaves is that of the leaves
    with the smallest and the largest rank.

    >>> disease = Hierarchy.of("disease", {"nervous": ["headache", "epilepsy"], "circulatory": ["anemia"]})
    >>> disease
    Hierarchy('disease', 3 leaves, height 2)
    >>> disease.labels[1:]
    (('nervous', 'circulatory'), ('*',))
    >>> level, node = disease.lca(disease.rank("headache"), disease.rank("epilepsy"))
    >>> disease.labels[level][node]
    'nervous'
    """

    attribute: str
    labels: tuple[tuple[str, ...], ...]
    """``labels[level][node]``: the name of a node; ``labels[0]`` are the leaves."""
    ancestors: NDArray[np.int32]
    """``ancestors[level, leaf]``: the ancestor of a leaf at a level; row 0 is 0, 1, 2, ..."""

    # ------------------------------------------------------------------------------------------------------ making

    @classmethod
    def from_rows(cls, attribute: str, given: Iterable[Sequence[str]], unnamed: bool = False) -> Hierarchy:
        """Build from one row per leaf: the leaf first, then its ancestor at each level, the root last.

        Leaves are reordered so that every node covers a contiguous range of them; siblings stay in order of first
        appearance. If the rows end in different labels, the root ``*`` is added above them. Some leaves may be
        ``unnamed``.

        >>> Hierarchy.from_rows("city", [("Lyon", "FR"), ("Bonn", "DE"), ("Nice", "FR")]).leaves
        ('Lyon', 'Nice', 'Bonn')
        """
        rows = [tuple(row) for row in given]
        refuse(cell_faults(attribute, rows, unnamed))
        rows = rooted(rows)
        refuse(leaf_faults(attribute, rows))
        refuse(parent_faults(attribute, rows))
        labels, ancestors = levels(rows)
        refuse(extent_faults(attribute, rows, labels, ancestors))
        return cls(attribute, labels, ancestors)

    @classmethod
    def flat(cls, attribute: str, values: Iterable[str]) -> Hierarchy:
        """Build a tree with all values directly below the root ``*``, in the given order.

        >>> Hierarchy.flat("sex", ["f", "m"]).labels
        (('f', 'm'), ('*',))
        """
        values = list(values)
        for reserved, meaning in ((ROOT, "'any value' in a release"), (OTHERS, MEANT_BY_OTHERS)):
            if reserved in values:
                raise DiscreetError(
                    f"column {attribute!r} holds the value '{reserved}', which stands for {meaning}; "
                    "rename it in the data"
                )
        return cls.from_rows(attribute, [(value, ROOT) for value in values])

    @classmethod
    def of(
        cls,
        attribute: str,
        source: Hierarchy | Mapping[str, Any] | str | PathLike[str],
        values: Iterable[Any] | None = None,
    ) -> Hierarchy:
        """Build from any source a user may give: a path, a mapping, or another hierarchy.

        The innermost members of a nested mapping are lists of leaves, or leaves mapped to nothing. Another mapping is a
        recipe that is applied to ``values``: ``intervals`` of growing ``widths``, each a multiple of the one before,
        from an ``origin``; or ``prefix``, which masks all of a code but the first characters, as many as it is to
        ``keep``. Files are ``.toml``, with either mapping, or CSV without a header, the leaf first and the root last.

        >>> Hierarchy.of("sex", {"f": {}, "m": {}}).leaves
        ('f', 'm')
        >>> Hierarchy.of("age", {"intervals": {"widths": [5, 10]}}, [17, 23, 24]).labels
        (('17', '23', '24'), ('15 to 19', '20 to 24'), ('10 to 19', '20 to 29'), ('*',))
        """
        if isinstance(source, Hierarchy):
            return replace(source, attribute=attribute)
        return cls.from_rows(attribute, source_rows(attribute, source, values))

    def with_leaves(self, values: Iterable[str]) -> Hierarchy:
        """Return the tree with a leaf directly under the root, after all others, for every value it does not contain.

        >>> tree = Hierarchy.of("city", {"FR": ["Lyon", "Nice"], "NO": ["Oslo"]})
        >>> tree.with_leaves(["Bonn", "Nice"]).rows()[-1]
        ('Bonn', 'Bonn', '*')
        """
        new = [value for value in dict.fromkeys(values) if self.find(value) < 0]
        if not new:
            return self
        root = (self.labels[-1][0],)
        return Hierarchy.from_rows(self.attribute, [*self.rows(), *((value,) * self.height + root for value in new)])

    def only(self, ranks: Iterable[int]) -> Hierarchy:
        """Return the tree with only the leaves of these ranks; nodes that lose leaves keep their labels.

        >>> Hierarchy.of("zip", {"prefix": {"keep": [2]}}, ["123", "129", "777"]).only([0, 1]).labels
        (('123', '129'), ('12*',), ('*',))
        """
        rows = self.rows()
        return Hierarchy.from_rows(self.attribute, [rows[rank] for rank in ranks])

    def naming(self, texts: Collection[str]) -> Hierarchy:
        """Return the tree as somebody knows it to whom these leaves and labels are told, and what is above them.

        Other labels are dropped, and other leaves are only counted, under the lowest label above them that is told.

        >>> codes = Hierarchy.of("zip", {"prefix": {"keep": [2, 1]}}, ["123", "129", "145", "777"])
        >>> codes.naming(["129", "1**"]).listed()
        [['129', '12*', '1**', '*'], [1, '*'], [1, '1**', '*'], [1, '12*', '1**', '*']]
        """
        rows, told = self.rows(), self.told(texts)
        listed: list[Sequence[str | int]] = [row for row in rows if row in told]
        others = (row for row in rows if row not in told)
        known = (next(row[level:] for level in range(1, len(row)) if row[level:] in told) for row in others)
        listed += [(number, *row) for row, number in Counter(known).items()]
        return Hierarchy.from_listed(self.attribute, listed)

    def told(self, texts: Collection[str]) -> set[tuple[str, ...]]:
        """Return each of these leaves and labels, and what is above them, with its labels up to the root.

        >>> sorted(Hierarchy.of("zip", {"prefix": {"keep": [2]}}, ["123", "777"]).told(["123"]))
        [('*',), ('12*', '*'), ('123', '12*', '*')]
        """
        told = {self.labels[-1]}
        for row in self.rows():
            lowest = next((level for level, label in enumerate(row) if label in texts), len(row))
            told.update(row[level:] for level in range(lowest, len(row)))
        return told

    def naming_also(self, other: Hierarchy) -> Hierarchy:
        """Return what somebody knows of a tree who is told what this one and another show of it.

        >>> codes = Hierarchy.of("zip", {"prefix": {"keep": [2]}}, ["123", "129", "777"])
        >>> codes.naming(["123"]).naming_also(codes.naming(["12*", "777"])).listed()
        [['123', '12*', '*'], ['777', '77*', '*'], [1, '12*', '*']]
        """
        sizes: dict[tuple[str, ...], int] = {}
        for tree in (self, other):
            seen = Counter(row[level:] for row in tree.rows() for level in range(len(row)))
            sizes |= {row: size for row, size in seen.items() if not row[0].startswith(UNNAMED)}
        below = Counter[tuple[str, ...]]()
        for row, size in sizes.items():
            if len(row) > 1:
                below[row[1:]] += size
        leaves = {row for tree in (self, other) for row in tree.rows() if not row[0].startswith(UNNAMED)}
        listed: list[Sequence[str | int]] = [*leaves]
        listed += [(size - below[row], *row) for row, size in sizes.items() if row not in leaves and size > below[row]]
        return Hierarchy.from_listed(self.attribute, listed)

    @classmethod
    def from_listed(cls, attribute: str, listed: Iterable[Sequence[str | int]]) -> Hierarchy:
        """Build from rows as ``listed`` returns them."""
        rows = [tuple(row) for row in listed]
        width, full = max(map(len, rows), default=0), list[tuple[str, ...]]()
        counts = [row[0] for row in rows if not isinstance(row[0], str)]
        if not all(type(number) is int and number > 0 for number in counts) or sum(counts) * width > MOST_UNNAMED:
            raise ValueError(counts)
        for row in rows:
            labels = tuple(str(label) for label in row[1:])
            if isinstance(row[0], str):
                full.append((row[0], *labels))
                continue
            for number in range(row[0]):
                leaf = f"{UNNAMED}{labels[0]}{UNNAMED}{number:08}"
                full.append((*[leaf] * (width - len(labels)), *labels))
        full.sort(key=lambda row: row[::-1])  # the order of siblings carries nothing
        return cls.from_rows(attribute, full, unnamed=True)

    def listed(self) -> list[list[str | int]]:
        """Return one row per leaf that has a name, in their order, and one for the others of a node: their number."""
        listed: dict[tuple[str, ...], list[str | int]] = {}
        for row in self.rows():
            named = tuple(label for label in row if not label.startswith(UNNAMED))
            if len(named) == len(row):
                listed[row] = list(row)
            elif ("", *named) in listed:
                listed["", *named][0] = int(listed["", *named][0]) + 1
            else:
                listed["", *named] = [1, *named]
        # by name, those without one last
        return [listed[key] for key in sorted(listed, key=lambda key: (key[0] == "", key[::-1]))]

    def unnamed(self, labels: Iterable[str]) -> list[str]:
        """Return the leaves without names directly below the first of these labels that the tree has.

        >>> tree = Hierarchy.flat("city", ["Bonn", "Lyon", "Nice"]).naming(["Nice"])
        >>> len(tree.unnamed(["FR", "*"])), tree.unnamed([])
        (2, [])
        """
        label = next((label for label in labels if label in self._above), None)
        return [] if label is None else self._unnamed.get(label, [])

    def below(self, label: str) -> list[str]:
        """Return the leaves below a label, but no missing value; none for a leaf, and for what is no label.

        >>> Hierarchy.of("city", {"FR": ["Lyon", "Nice"], "NO": ["Oslo"]}).below("FR")
        ['Lyon', 'Nice']
        """
        if label in self._ranks or label not in self._above:
            return []
        level, node = next((at, line.index(label)) for at, line in enumerate(self.labels) if label in line)
        ranks = np.flatnonzero(self.ancestors[level] == node).tolist()
        return [self.leaves[rank] for rank in ranks if self.leaves[rank] != MISSING]

    def with_missing(self, *, first: bool = False) -> Hierarchy:
        """Return the tree with a leaf ``(missing)``: an existing one, or a new last one directly under the root.

        With ``first`` it is the first leaf; an existing leaf that has to move must have no value beside it below the
        root: nothing can be first and among others.

        >>> Hierarchy.flat("sex", ["f", "m"]).with_missing().leaves
        ('f', 'm', '(missing)')
        """
        if MISSING in self._ranks and (not first or self._ranks[MISSING] == 0):
            return self
        rows = self._without_missing()
        missing = (MISSING,) * self.height + (self.labels[-1][0],)
        return Hierarchy.from_rows(self.attribute, [missing, *rows] if first else [*rows, missing])

    def without_missing(self) -> Hierarchy:
        """Return the tree without a leaf ``(missing)``, which must have no value beside it below the root."""
        return Hierarchy.from_rows(self.attribute, self._without_missing())

    def _without_missing(self) -> list[tuple[str, ...]]:
        rows = [row for row in self.rows() if row[0] != MISSING]
        above = next((row[1:-1] for row in self.rows() if row[0] == MISSING), ())
        shared = next((label for level, label in enumerate(above, 1) if any(row[level] == label for row in rows)), None)
        if shared is not None:
            raise DiscreetError(
                f"the hierarchy of '{self.attribute}' lists '{MISSING}' under '{shared}' with other values, but these "
                f"have an order, and '{MISSING}' has no place in it; leave it out, or give it a node of its own"
            )
        return rows

    # ------------------------------------------------------------------------------------------------------ asking

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values of the attribute, in pre-order."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """The number of levels above the leaves."""
        return len(self.labels) - 1

    @property
    def bare(self) -> bool:
        """Whether there is only the root ``*`` above the leaves.

        >>> Hierarchy.flat("sex", ["f", "m"]).bare, Hierarchy.of("sex", {"anyone": ["f", "m"]}).bare
        (True, False)
        """
        return self.height == 1 and self.labels[1] == (ROOT,)

    @cached_property
    def hides(self) -> bool:
        """Whether some leaves have no name.

        >>> Hierarchy.flat("sex", ["f", "m"]).hides, Hierarchy.flat("sex", ["f", "m"]).naming(["f"]).hides
        (False, True)
        """
        return any(map(is_unnamed, self.leaves))

    def rank(self, value: str) -> int:
        """Return the position of a leaf in pre-order."""
        try:
            return self._ranks[value]
        except KeyError:
            raise DiscreetError(
                f"{value!r} is not a leaf of the hierarchy of {self.attribute!r}; {near(value, self.leaves)}"
            ) from None

    def find(self, text: str) -> int:
        """Return the rank of the leaf that a text denotes, even if spelled differently (17.0 for 17); -1 if none.

        >>> Hierarchy.flat("age", ["17", "18"]).find("17.0")
        0
        """
        rank = self._ranks.get(text)
        return self._canonical.get(canonical(text), -1) if rank is None else rank

    def lca(self, low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return level and node of the lowest common ancestor of leaf ranks ``low`` to ``high``, elementwise."""
        low, high = np.broadcast_arrays(np.asarray(low), np.asarray(high))
        # Leaves that share an ancestor share all higher ones: the level is the number of levels at which they differ.
        level = np.zeros(low.shape, dtype=np.int64)
        for line in self.ancestors[:-1]:
            level += line[low] != line[high]
        return level, self.ancestors[level, low]

    def cost(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
        """Return the information loss of publishing the lowest common ancestor: its share of all leaves, 0 for a leaf.

        This is Eq. 3 of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012).

        >>> tree = Hierarchy.of("x", {"A": ["a", "b"], "B": ["c", "d"]})
        >>> tree.cost([0, 0, 0], [0, 1, 2]).tolist()
        [0.0, 0.5, 1.0]
        """
        low = np.asarray(low)
        level, _ = self.lca(low, high)
        costs: NDArray[np.float64] = self._costs[level, low]
        return costs

    def node_sizes(self, level: int) -> NDArray[np.int64]:
        """Return the number of leaves that each node of a level covers."""
        return np.bincount(self.ancestors[level], minlength=len(self.labels[level])).astype(np.int64)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per leaf, the leaf first and the root last, as ``from_rows`` reads them."""
        return [
            tuple(labels[node] for labels, node in zip(self.labels, line, strict=True))
            for line in self.ancestors.T.tolist()
        ]

    def __repr__(self) -> str:
        """Show name and size, not the leaves."""
        return f"Hierarchy({self.attribute!r}, {len(self.leaves)} leaves, height {self.height})"

    @cached_property
    def _above(self) -> set[str]:
        """The labels above the leaves."""
        return {label for level in self.labels[1:] for label in level}

    @cached_property
    def _unnamed(self) -> dict[str, list[str]]:
        """The leaves without names by the label directly above them."""
        leaves: dict[str, list[str]] = {}
        for leaf in filter(is_unnamed, self.leaves):
            leaves.setdefault(leaf.split(UNNAMED)[1], []).append(leaf)
        return leaves

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
    """A hierarchy as published in a release; values that occur only in withheld rows may be absent.

    When a column is read with it, values that it lacks become leaves directly under its root.
    """

    tree: Hierarchy
