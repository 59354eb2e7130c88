"""Anatomy (Xiao and Tao, VLDB 2006), and Baseline, which publishes the sensitive attribute only for the whole table."""

from __future__ import annotations

import heapq
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK
from discreet.principles.joint import jointly
from discreet.principles.l_diversity import LDiversity
from discreet.principles.per_attribute import apart, by_attribute, stated
from discreet.principles.principle import Principle, conjunction
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.randomness import generator, numbers_below, permutation
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.release import Release
from discreet.schemes.default_scheme import keeper
from discreet.schemes.grouping import confirm, published_rows
from discreet.schemes.merge_broken import JudgedAttribute, merge_broken
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import GivenGroups, Scheme, feasible
from discreet.table.table import Table
from discreet.table.texts import number_text

DRAWS = 1 << 16
"""How many random numbers are drawn for exchanging rows, which uses them in turn."""


def different_values(share: float) -> int:
    """Return how many different values a group needs, each once, so that none has more than ``share`` of its rows.

    >>> different_values(0.5), different_values(0.3)
    (2, 4)
    """
    return math.ceil(1.0 / share - SLACK)


@dataclass(frozen=True, kw_only=True)
class _ExactScheme(GivenGroups):
    """A scheme that makes anatomy releases, and has no options."""

    format: ClassVar[type[Release]] = AnatomyRelease
    several: ClassVar[bool] = True

    refusal_of_several = Scheme.refusal_of_any

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> AnatomyRelease:
        """Return an anatomy release of the table in which every group keeps the promise."""
        feasible(self, table, principle)
        progress = progress or no_progress
        progress("drawing groups", 0.0)
        groups = self._groups(table, principle, generator(self.random_state))
        progress("drawing groups", 0.5)
        release = self.on_groups(table, groups, principle)
        progress("drawing groups", 1.0)
        return release

    @abstractmethod
    def _groups(self, table: Table, principle: Principle, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return the group of every row, -1 if it is withheld."""

    def on_groups(self, table: Table, groups: NDArray[np.int32], principle: Principle) -> AnatomyRelease:
        """Return the release of a table in these groups, which are judged once more."""
        for column, (prior, promise) in zip(table.sensitive, by_attribute(principle, table), strict=True):
            confirm(groups, column.codes, promise, prior)
        return AnatomyRelease.from_groups(table, groups, **self.statement(stated(principle, table)))


@dataclass(frozen=True, kw_only=True)
class Anatomy(_ExactScheme):
    """Exact quasi-identifiers; sensitive values are counted in groups that contain each of them at most once.

    Rows are put into one bucket per sensitive value. While l buckets have rows, a group is made of one row from each of
    the l largest, drawn at random. Rows left over join groups that lack their value.

    Why the promise is kept: let n rows make k = floor(n / l) groups, so that r = n - k l rows are left over, and let no
    value have more than k rows (it may have at most n / l, rounded down). While t groups are still to be made, no
    bucket has more than t + 1 rows, and at most r buckets have that many. This is true for t = k, and remains true
    after each group: the a buckets of t + 1 rows are among the l largest, since a <= r < l, and lose one row each. Of
    the b buckets of t rows, l - a lose one, or all of them if there are fewer. That leaves a + max(0, a + b - l)
    buckets with one row more than t - 1; and as their a (t + 1) + b t rows were among t l + r rows, (a + b - l) t <= r
    - a, so these buckets are at most r. While t >= 1, l buckets have rows, as l - 1 of them can contain at most (l - 1)
    t + r. So k groups are made, and each bucket has at most one row left. A value with a row left over is in at most k
    - 1 groups, so some group lacks it, and the row joins one of those at random. Every group then has l rows or more,
    all with different values: none has a share above 1 / l, and there are at least l of them.

    For ``kind=distinct`` more rows of a value may be left over. They join groups at random, as evenly as possible; a
    group with l different values keeps the promise whichever rows join it. The result is judged once more before it is
    published.

    Several sensitive attributes: groups are made for the one with the largest l. Then rows of one bucket change places,
    which leaves the values of that attribute as they are, until as few groups as possible repeat a value of another.
    Groups that still break a promise are merged with others. Unions keep what their parts keep, and all rows as one
    group keep every promise, so this ends with groups that keep all of them. Why no table says more about the attribute
    of another: they have the same groups, in which every person may have every value.

    >>> from discreet.datasets import patients
    >>> release = Anatomy(random_state=1).publish(patients(), LDiversity(3))
    >>> release.withheld, int(release.counts.amounts.max())
    (0, 1)
    """

    name: ClassVar[str] = "anatomy"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept l-diversity with a whole l, of the kinds frequency and distinct, or alpha-beta with alpha=1."""
        share = principle.sufficient_share
        if principle.hides_presence:
            return super().refusal(principle, prior)
        if share is None:
            exactly = keeper(principle) == "cuts" and Baseline().refusal(principle, prior) is None
            return Refusal(
                f"scheme {self.name!r} keeps l-diversity of the kinds frequency and distinct and nothing else",
                principle,
                "choose scheme 'baseline' to publish quasi-identifiers as they are" if exactly else "",
            )
        if different_values(share) * share > 1.0 + SLACK:
            return Refusal(
                f"scheme {self.name!r} makes groups of l different values, so l must be a whole number, not "
                f"{number_text(1.0 / share)}",
                advice=f"ask for l={different_values(share)}",
            )
        return None

    def _groups(self, table: Table, principle: Principle, rng: np.random.Generator) -> NDArray[np.int32]:
        each = [_as_diversity(self, promise, view) for promise, view in apart(principle, table)]
        rows = published_rows(*jointly(conjunction([attribute.promise for attribute in each]), table), rng)
        groups = np.full(table.rows, -1, np.int32)
        usable = [attribute._replace(sensitive_codes=attribute.sensitive_codes[rows]) for attribute in each]
        groups[rows] = _groups_of_all(usable, rng, self.random_state is not None)
        return groups


@dataclass(frozen=True, kw_only=True)
class Baseline(_ExactScheme):
    """Exact quasi-identifiers, and the distribution of the sensitive attribute in the whole table.

    Perturbation is compared with this in "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012): anatomy
    with a single group. Why the promise is kept: a monotone promise that some grouping keeps is kept by the whole table
    as one group; and nothing is learnt about anyone beyond the prior.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> Baseline().publish(patients(), BetaLikeness(0.1)).groups
    1
    """

    name: ClassVar[str] = "baseline"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept any monotone promise except hiding rows among others: quasi-identifiers are published exactly."""
        if any(not part.about_values for part in principle.parts):
            return Refusal(
                f"scheme {self.name!r} publishes quasi-identifiers as they are, so it cannot hide a row among others",
                principle,
            )
        return super().refusal(principle, prior)

    def _groups(self, table: Table, principle: Principle, rng: np.random.Generator) -> NDArray[np.int32]:
        groups = np.full(table.rows, -1, np.int32)
        groups[published_rows(*jointly(principle, table), rng)] = 0
        return groups


def _as_diversity(scheme: Scheme, promise: Principle, table: Table) -> JudgedAttribute:
    """Return the values of a table's only sensitive attribute and its promise, alpha-beta as l-diversity."""
    prior = Prior.of(table)
    if promise.hides_presence:
        assert promise.sufficient_share is not None, "all other promises are refused"
        promise = LDiversity(different_values(promise.sufficient_share), attribute=promise.parts[0].about)
        feasible(scheme, table, promise)
    return JudgedAttribute(table.sensitive_codes, promise, prior)


def _groups_of_all(each: Sequence[JudgedAttribute], rng: np.random.Generator, seeded: bool) -> NDArray[np.int32]:
    """Put rows into groups that keep the promises about all attributes (see ``Anatomy``)."""
    shares = [attribute.promise.sufficient_share or 1.0 for attribute in each]
    needed = [different_values(share) for share in shares]
    lead = max(range(len(each)), key=lambda at: (needed[at], int(each[at].prior.counts.max())))
    groups = diverse_groups(each[lead].sensitive_codes, needed[lead], rng if seeded else None)
    others = [at for at in range(len(each)) if at != lead]
    if not others:
        return groups
    from discreet.kernels.exchange import exchange

    sizes = np.bincount(groups)
    allowed = np.stack([np.floor(sizes * shares[at] + SLACK).astype(np.int64) for at in others])
    values = np.stack([each[at].sensitive_codes for at in others])
    exchange(groups, len(sizes), each[lead].sensitive_codes, values, allowed, rng.random(DRAWS))
    return merge_broken(groups, rng.random(len(groups)), each)


def diverse_groups(
    sensitive_codes: NDArray[np.int32],
    needed: int,
    seeded: np.random.Generator | None = None,
) -> NDArray[np.int32]:
    """Put rows into groups of at least ``needed`` different values (see ``Anatomy``), if this many values occur."""
    order = permutation(len(sensitive_codes), seeded)
    order = order[np.argsort(sensitive_codes[order], kind="stable")]
    ends = np.cumsum(np.bincount(sensitive_codes)).tolist()
    starts = [0, *ends[:-1]]
    # bucket b still has the rows from starts[b] on; the largest bucket is on top of the heap
    heap = [(start - end, value) for value, (start, end) in enumerate(zip(starts, ends, strict=True)) if start < end]
    heapq.heapify(heap)
    drawn: list[int] = []
    while len(heap) >= needed:
        largest = [heapq.heappop(heap) for _ in range(needed)]
        for left, value in largest:
            drawn.append(starts[value])
            starts[value] += 1
            if left < -1:
                heapq.heappush(heap, (left + 1, value))
    number = len(drawn) // needed
    groups = np.full(len(sensitive_codes), -1, np.int32)
    groups[order[drawn]] = np.repeat(np.arange(number, dtype=np.int32), needed)
    for _, value in sorted(heap):
        rest = order[starts[value] : ends[value]]
        lacking = np.ones(number, np.bool_)
        lacking[groups[order[ends[value - 1] if value else 0 : starts[value]]]] = False
        groups[rest] = _homes(np.flatnonzero(lacking), np.flatnonzero(~lacking), len(rest), seeded)
    return groups


def _homes(
    lacking: NDArray[np.intp], holding: NDArray[np.intp], number: int, seeded: np.random.Generator | None
) -> NDArray[np.intp]:
    """Return random groups for rows of one value: first those that lack it, then all groups in turn."""
    if number == 1 and len(lacking):
        return lacking[numbers_below(len(lacking), 1, seeded)]
    turn = np.concatenate([part[permutation(len(part), seeded)] for part in (lacking, holding)])
    return np.resize(turn, number)
