"""Several sensitive attributes as one: rows are counted by the combinations of their values, and judged by each.

A scheme that cuts and judges groups works with the counts of one attribute. Here these are the counts of combinations,
which tell the counts of every attribute; so the promises about each are judged as if it were the only one. (To bound
the combinations themselves would be another promise, which neither implies the promises about each attribute nor
follows from them.)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import Joint, Rules
from discreet.principles.per_attribute import Promised, by_attribute
from discreet.principles.principle import All, Principle, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import stack
from discreet.table.combinations import numbered, ranked
from discreet.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class Jointly(All):
    """The promises about several sensitive attributes, judged by counts of the combinations of their values."""

    name: ClassVar[str] = "jointly"

    each: tuple[Promised, ...] = field(default=(), kw_only=True)
    codes: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32), kw_only=True)
    """Per attribute and combination: the value of the attribute."""

    def __post_init__(self) -> None:
        """Keep the promises as they are: even a single one is about several attributes here."""

    def rules(self, prior: Prior) -> Rules:
        """The rules about each attribute, and how combinations tell its counts."""
        widths = np.array([len(own_prior.values) for own_prior, _ in self.each], np.int64)
        offsets = np.append(0, np.cumsum(widths))
        rules, starts, heights = stack(
            [promise.rules(own_prior) for own_prior, promise in self.each], int(widths.max())
        )
        caps, floors = np.ones((len(widths), widths.max())), np.zeros((len(widths), widths.max()))
        for at, (own_prior, promise) in enumerate(self.each):
            known = promise.caps(own_prior), promise.floors(own_prior)
            caps[at, : widths[at]] = 1.0 if known[0] is None else np.minimum(known[0], 1.0)
            floors[at, : widths[at]] = 0.0 if known[1] is None else known[1]
        bounded = np.flatnonzero((caps < 1.0).any(axis=1) | (floors > 0.0).any(axis=1))
        scratch = _scratch(widths)
        joint = Joint(self.codes, widths, offsets, starts, heights, caps, floors, bounded, np.argsort(widths), *scratch)
        return rules._replace(joint=joint)

    def counts_of(self, at: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of one attribute's values in a group, given those of the combinations."""
        width = len(self.each[at].prior.values)
        return np.bincount(self.codes[at], weights=counts, minlength=width).astype(np.int64)

    def require(self, prior: Prior) -> None:
        """Raise ``DiscreetError`` if what is promised about an attribute cannot be."""
        for own_prior, promise in self.each:
            promise.require(own_prior)

    def reachable(self, prior: Prior) -> Reach:
        """Whether the promises about each attribute can be kept, which is necessary for keeping them all."""
        return Reach.of_all([promise.reachable(own_prior) for own_prior, promise in self.each])

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        lines = [self.counts_of(at, counts) for at in range(len(self.each))]
        strains = [
            float(promise.strain(line[None], own_prior)[0])
            for (own_prior, promise), line in zip(self.each, lines, strict=True)
        ]
        worst = int(np.argmax(strains))
        own_prior, promise = self.each[worst]
        return f"About '{own_prior.attribute}': {promise.explain(lines[worst], own_prior, subject)}"

    def caps(self, prior: Prior) -> None:
        """None: what is bounded are values, not combinations of them."""

    def floors(self, prior: Prior) -> None:
        """None, as there are no caps."""

    def buckets(self, prior: Prior) -> NDArray[np.int32]:
        """Combinations whose values are in the same bucket of every attribute.

        A group that takes the same share of each takes the same share of every bucket of an attribute, which keeps the
        attribute's caps.
        An attribute without caps tells no combinations apart, unless none has any.
        """
        bounded = [at for at, (own_prior, promise) in enumerate(self.each) if promise.caps(own_prior) is not None]
        if not bounded:
            return np.arange(len(prior.counts), dtype=np.int32)
        buckets = [self.each[at].promise.buckets(self.each[at].prior)[self.codes[at]] for at in bounded]
        numbers = numbered(buckets, [int(codes.max()) + 1 for codes in buckets], len(prior.counts))
        return ranked(numbers)[2].astype(np.int32)


def jointly(principle: Principle, table: Table) -> tuple[Table, Principle, Prior]:
    """The table with its sensitive attributes as one, what is promised about them, and the prior.

    With at most one sensitive attribute nothing changes.

    >>> from discreet.principles import LDiversity
    >>> ill = Column("ill", "categorical", np.array([0, 0, 1, 1], np.int32), np.array(["flu", "cold"], object))
    >>> pay = Column("pay", "numeric", np.array([0, 1, 1, 1], np.int32), np.array([10.0, 20.0]))
    >>> table, promise, prior = jointly(LDiversity(1.5), Table(4, (), (ill, pay)))
    >>> table.sensitive_codes.tolist(), prior.counts.tolist()
    ([0, 1, 2, 2], [1, 1, 2])
    >>> promise.explain([0, 1, 2], prior)  # doctest: +ELLIPSIS
    "About 'pay': '20' makes up 100.0 % of this group of 3 rows (3 rows); at most 66.7 % (2 rows) is allowed, ..."
    """
    if len(table.sensitive) < 2:
        return table, principle, Prior.of(table)
    columns = table.sensitive
    numbers = numbered([column.codes for column in columns], [len(column.values) for column in columns], table.rows)
    combinations, first, place = ranked(numbers)
    codes = np.stack([column.codes[first] for column in columns]).astype(np.int32)
    name = columns[0].name  # a name that no other column has
    sensitive_attribute = Column(name, "categorical", place.astype(np.int32), np.full(len(combinations), "", object))
    prior = Prior(np.bincount(place, minlength=len(combinations)), ("",) * len(combinations), attribute=name)
    promise = Jointly(principle.parts, each=by_attribute(principle, table), codes=codes)
    return replace(table, sensitive=(sensitive_attribute,)), promise, prior


def unshared(rules: Rules) -> Rules:
    """The same rules with scratch memory of their own, for another thread."""
    if rules.joint is None:
        return rules
    counts, present, sides = _scratch(rules.joint.widths)
    return rules._replace(joint=rules.joint._replace(counts=counts, present=present, sides=sides))


def _scratch(widths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    width = int(widths.max())
    return np.zeros(width, np.int64), np.empty(width, np.int32), np.zeros((3, len(widths), width), np.int64)
