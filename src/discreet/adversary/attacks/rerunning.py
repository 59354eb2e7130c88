"""The scheme of a release, run again on tables that agree with its files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.target import Context, Target, places
from discreet.adversary.checks.manifest import stated_promise, stated_scheme
from discreet.errors import DiscreetError
from discreet.principles.principle import Principle
from discreet.releases.grouped import Combined
from discreet.releases.release import Release
from discreet.table.table import Table


def combinations(target: Target) -> Combined | None:
    """Which values of several sensitive attributes go together, in all rows and by one table; None if that is open."""
    if target.context is None or target.context.release.manifest is not target.release.manifest:
        return None
    release = target.context.release.grouped
    return None if release is None or release.withheld else release.combined


class Pools(NamedTuple):
    """Persons who share values, without knowing whose is which: those of a group, the withheld, or all."""

    certain: bool
    """Whether they are the groups of the release, and the withheld rows."""
    of_row: NDArray[np.int64]
    """Per row of the original: its pool."""
    order: NDArray[np.intp]
    """The rows pool by pool."""
    values: NDArray[np.int64]
    """For each of these, one of the values of the pool, or one of its combinations of values."""
    worlds: float
    """How many ways there are to deal them; infinite if too many to be counted."""

    @classmethod
    def of(cls, target: Target) -> Pools:
        """The pools of a target that has everyone in the original for victims."""
        release, of_row = target.release.grouped, np.zeros(len(target.rows), np.int64)
        left = target.withheld
        assert left is not None, "refused otherwise"
        amounts, combined, certain = target.as_published(target.whole.counts, 0.0), combinations(target), False
        if combined is not None:
            of = combined.counts
            amounts, left = np.bincount(of.values, of.amounts, of.width).astype(np.float64), np.zeros(of.width)
        kinds, sizes = np.arange(len(amounts)), amounts.sum(keepdims=True)
        if release is not None:
            groups = target.group_of[target.person_of]
            groups = np.where(groups < 0, release.groups, groups)
            held = release.counts if combined is None else combined.counts
            members = np.append(held.sizes, left.sum())
            certain = bool((np.bincount(groups, minlength=len(members)) == members).all())
            if certain:
                amounts, kinds = np.append(held.amounts, left), np.append(held.values, kinds)
                sizes, of_row = members, groups
        order = np.argsort(of_row, kind="stable")
        values = np.repeat(kinds, amounts.astype(np.int64)).astype(np.int64)
        ways = sum(math.lgamma(n + 1) for n in sizes) - sum(math.lgamma(n + 1) for n in amounts[amounts > 1])
        return cls(certain, of_row, order, values, round(math.exp(ways)) if ways < 40 else math.inf)

    def everything(self) -> Iterator[NDArray[np.int64]]:
        """All worlds: per row the value."""
        pools = [self.values[self.of_row[self.order] == pool] for pool in np.unique(self.of_row)]
        for dealt in product(*(list(arrangements(Counter(pool.tolist()), len(pool))) for pool in pools)):
            world = np.empty(len(self.order), np.int64)
            world[self.order] = [value for values in dealt for value in values]
            yield world

    def drawn(self, random: np.random.Generator) -> NDArray[np.int64]:
        """One of the worlds, all of which are equally likely."""
        world = np.empty(len(self.order), np.int64)
        world[np.lexsort((random.random(len(self.order)), self.of_row))] = self.values
        return world


@dataclass(frozen=True, eq=False)
class Rerun:
    """A scheme with its promise, and the table that it is run on with other values."""

    scheme: Any
    principle: Principle
    target: Target

    @classmethod
    def of(cls, target: Target) -> Rerun:
        """As the manifest of the target's release says."""
        principle = stated_promise(target.release.manifest.get("promise"))
        assert principle is not None, "refused otherwise"
        return cls(known_scheme(target), principle, target)

    @cached_property
    def whole(self) -> Context:
        """The release and its original with all sensitive attributes."""
        return self.target.context or Context(self.target.release, self.target.original)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Per sensitive attribute and kind of person, which is a value or a combination of values: the value, as an
        index into those of the release."""
        combined = combinations(self.target)
        return np.arange(self.target.width)[None] if combined is None else combined.codes

    @cached_property
    def codes(self) -> list[NDArray[np.int32]]:
        """The same as codes in the columns of the original."""
        codes = []
        for column, values in zip(self.whole.original.sensitive, self.kinds, strict=True):
            release = self.whole.release.about(column.name)
            place, of_value = places(release, column.values), np.zeros(len(release.values), np.int32)
            of_value[place[place >= 0]] = np.flatnonzero(place >= 0)
            codes.append(of_value[values])
        return codes

    @cached_property
    def seen(self) -> Any:
        """What the release under attack says."""
        return content(self.whole.release)

    def table(self, world: NDArray[np.int64]) -> Table:
        """The original with the values of a world."""
        original = self.whole.original
        dealt = (replace(column, codes=of[world]) for column, of in zip(original.sensitive, self.codes, strict=True))
        return replace(original, sensitive=tuple(dealt))

    def values(self, world: NDArray[np.int64]) -> NDArray[np.int64]:
        """Per row of a world: the value of the attribute under attack."""
        names = [column.name for column in self.whole.original.sensitive]
        return np.asarray(self.kinds[names.index(self.target.sensitive_attribute.name), world])

    def published(self, world: NDArray[np.int64]) -> Any:
        """What the scheme makes of a world; None if it refuses, so that nothing would have been published."""
        try:
            return self.scheme.publish(self.table(world), self.principle)
        except DiscreetError:
            return None

    def likelihood(self, world: NDArray[np.int64], groups: NDArray[np.int64]) -> Any:
        """The probability of these groups by the scheme's own account; None if it does not tell."""
        tell: Callable[..., Any] | None = getattr(self.scheme, "likelihood", None)
        if tell is None:
            return None
        leakage = getattr(self.target.release, "leakage", np.zeros(0))
        return tell(self.table(world), self.principle, groups.astype(np.int32), *([leakage] if len(leakage) else []))

    def alike(self, made: Any, pools: Pools) -> NDArray[np.bool_]:
        """Per row: whether what was made puts the same persons into one group as the release does, and leaks as much
        about the group where that is published beside it."""
        same = again(pools.of_row, made.trace)
        leaked, mine = (getattr(release, "leakage", np.zeros(0)) for release in (made, self.target.release))
        if pools.certain and len(leaked) and len(mine):
            rows = np.flatnonzero(same & (made.trace >= 0))
            same[rows] = np.isclose(leaked[made.trace[rows]], mine[pools.of_row[rows]], rtol=1e-9, atol=1e-12)
        return same

    def agreeing(self, world: NDArray[np.int64], times: int) -> int:
        """How many of several runs on a world give the release under attack."""
        releases = (self.published(world) for _ in range(times))
        return sum(release is not None and content(release) == self.seen for release in releases)


def again(pools: NDArray[np.int64], trace: NDArray[Any]) -> NDArray[np.bool_]:
    """Per row: whether the same rows are in one group by a trace; those withheld are a group, too.

    >>> again(np.array([0, 0, 1, 1, 2]), np.array([5, 5, 7, 7, 7])).tolist()
    [True, True, False, False, False]
    """
    _, first, pool = np.unique(pools, return_index=True, return_inverse=True)
    group = trace.astype(np.int64) + 1
    sizes, held = np.bincount(group)[group], np.bincount(pool)[pool]
    alike = np.bincount(pool, group == group[first][pool])[pool]
    return np.asarray((alike == held) & (sizes == held))


def known_scheme(target: Target) -> Any:
    """The scheme that the manifest names, with its options; None if it or the promise is not known here."""
    manifest = target.release.manifest
    known = stated_promise(manifest.get("promise")) is not None
    return stated_scheme(manifest.get("scheme")) if known else None


def content(release: Release) -> Hashable:
    """What a release says: two with equal content are the same to an adversary, as tables are in canonical order.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> first, second = (dc.publish(patients(), dc.LDiversity(3)) for _ in range(2))
    >>> content(first) == content(second)
    True
    """
    tables = release.tables(numbers=False).values()
    return release.withheld, *(tuple(column) for table in tables for column in table.to_pydict().values())


def arrangements(held: Counter[int], size: int) -> Iterator[list[int]]:
    """Yield all ways to lay these values in a row.

    >>> list(arrangements(Counter("aab"), 3))
    [['a', 'a', 'b'], ['a', 'b', 'a'], ['b', 'a', 'a']]
    """
    if size == 0:
        yield []
        return
    for value in sorted(held):
        if held[value]:
            held[value] -= 1
            for rest in arrangements(held, size - 1):
                yield [value, *rest]
            held[value] += 1


def standard_errors(chances: NDArray[np.float64], matches: Any) -> NDArray[np.float64]:
    """Return the standard errors of shares among this many matches, with one more success and one more failure: a share
    of 0 or 1 among few is not certain.

    >>> standard_errors(np.array([0.5, 1.0]), 98).round(3).tolist()
    [0.05, 0.01]
    """
    guarded = (chances * matches + 1) / (matches + 2)
    return np.asarray(np.sqrt(guarded * (1 - guarded) / (matches + 2)))
