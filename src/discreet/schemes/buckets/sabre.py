"""SABRE (Cao, Karras, Kalnis and Tan, VLDB Journal 2011): bucketise by earth mover's distance, then redistribute."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import Interval
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.t_closeness import TCloseness
from discreet.releases.generalization import Values
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.described import Beside, Exactness, Snap
from discreet.schemes.grouping import GroupingTask
from discreet.schemes.leading import LeadingScheme
from discreet.schemes.merge_broken import JudgedAttribute, merge_broken
from discreet.schemes.refusal import Refusal

SLACK = 1e-12
"""Tolerance for sums of shares; a thousandth of what the judge allows."""
BATCH = 1 << 22
"""How many differences are computed together."""
LARGEST = 1 << 26
"""The largest number of differences per group, times buckets."""


@dataclass(frozen=True, kw_only=True)
class Sabre(LeadingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket nearly in proportion to its size.

    The budget t is spent twice. *Bucketisation* starts with one bucket of all sensitive values and splits where that
    lowers most the cost of the worst choice of rows from the buckets, until a ``share`` of t covers this cost.
    *Redistribution* halves the whole table, bucket by bucket, and the halves again, as long as the rest of t covers
    their deviation from proportion. How many rows a group draws from each bucket depends on the sensitive values alone;
    which rows these are depends on the quasi-identifiers alone.

    Why the promise is kept: let Q be the distribution of a group, P the whole table's, and R the distribution with the
    group's share of every bucket, distributed within each bucket as in the whole table. The distance from Q to P is at
    most that from Q to R plus that from R to P. The second is known from the numbers of rows drawn. The first is at
    most the sum, over buckets, of the group's share times the largest cost of turning a single value of the bucket into
    the bucket's own distribution, since any mixture of values costs at most as much as the worst one. A half that could
    cost more than t is not made. Besides, every group is judged by its actual counts: a group that breaks the promise,
    which may include more than t-closeness, is merged with its neighbour along the curve until the promise is kept; at
    the latest the whole table as one group keeps it.

    From the paper: the bound by the worst values of buckets, the search for buckets along the hierarchy, the binary
    tree of groups, retrieval along a Hilbert curve. Our own: buckets that are runs of ordered values, cut where that
    gains most; for the equal distance, frequent values separated one by one, which needs the fewest buckets; the second
    distance computed exactly instead of bounded; the odd rows of a halving dealt to the halves in turn; and that
    buckets may use half of t by default instead of all of it, which would leave groups little room to deviate from
    proportion.
    """

    name: ClassVar[str] = "sabre"
    published: ClassVar[Mapping[str, str]] = {"share": "1", "snap": "false"}

    share: Annotated[float, Interval(0, 1)] = 0.5
    """The share of t that the worst choice of rows from buckets may cost; 0.5 is ours. At 1, which is the paper's,
    there are the fewest buckets, and groups must be large to be close to proportion; at 0 every value is a bucket."""
    retrieval: Retrieval = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    values: Values = "interval"
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept exactly one t-closeness promise, with or without other monotone promises."""
        if len(principle.of(TCloseness)) == 1:
            return super().refusal(principle, prior)
        return Refusal(f"scheme {self.name!r} keeps a single promise of t-closeness", principle)

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows."""
        closeness = task.principle.of(TCloseness)[0]
        sensitive_codes = task.sensitive_codes
        buckets = bucketise(task.prior, closeness.distance, closeness.t)
        if buckets.number > 1:  # with one bucket any single row is within t, and t need not be shared
            buckets = bucketise(task.prior, closeness.distance, closeness.t * self.share)
        sizes = np.bincount(buckets.of_value, weights=task.counts, minlength=buckets.number).astype(np.int64)
        wanted = split_closely(buckets, sizes, closeness.t)
        groups, curve = draw_groups(task, buckets.of_value[sensitive_codes], wanted, self.retrieval)
        return merge_broken(groups, curve, [JudgedAttribute(sensitive_codes, task.principle, task.prior)])


@dataclass(frozen=True, eq=False)
class DistanceBuckets:
    """Sensitive values in buckets, and a bound on the distance of groups that draw from them.

    For the distances of t-closeness, the earth mover's distance between two distributions of the same values is a
    weighted sum of absolute differences: of the shares of the values (equal), of the cumulative shares (ordered), or of
    the shares of the nodes of a tree (hierarchical).
    """

    of_value: NDArray[np.int32]
    """Per value: its bucket; values absent from the table are in the first."""
    worst: NDArray[np.float64]
    """Per bucket: the largest distance between the bucket's own distribution and one of its values."""
    shares: NDArray[np.float64] | None
    """``shares[bucket, place]``: the share of a bucket in each place where distributions are compared; None if the
    places are the buckets."""
    prior: NDArray[np.float64]
    """The share of the whole table in each place."""
    weight: float
    """The cost of a difference in any place."""

    @property
    def number(self) -> int:
        """The number of buckets."""
        return len(self.worst)

    def bounds(self, drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, per group, the largest possible distance from the whole table, given its rows drawn per bucket."""
        result = np.empty(len(drawn))
        step = max(1, BATCH // max(1, len(self.prior), self.number))
        for start in range(0, len(drawn), step):
            some = drawn[start : start + step]
            parts = some / np.maximum(some.sum(axis=1, keepdims=True), 1)
            placed = parts if self.shares is None else parts @ self.shares
            away = self.weight * np.abs(placed - self.prior).sum(axis=1)
            result[start : start + step] = parts @ self.worst + away
        return result


class _Domain(NamedTuple):
    """The values that occur: their codes, their shares, and the nodes above them, leaves first."""

    codes: NDArray[np.intp]
    shares: NDArray[np.float64]
    distance: str
    tree: NDArray[np.int32]


def bucketise(prior: Prior, distance: str, budget: float) -> DistanceBuckets:
    """Return buckets whose worst case costs at most ``budget``.

    Starting from one bucket of all values, the bucket whose split lowers the worst case most is split next.

    >>> prior = Prior(np.array([5, 3, 1, 1]), ("a", "b", "c", "d"))
    >>> bucketise(prior, "equal", 0.3).of_value.tolist()
    [0, 1, 2, 2]
    """
    held = np.flatnonzero(prior.counts)
    tree = np.zeros((0, len(held)), np.int32)
    if distance == "hierarchical":
        assert prior.hierarchy is not None, "the promise refuses an attribute without a hierarchy"
        tree = prior.hierarchy.ancestors[:, held]
    domain = _Domain(held, prior.frequencies[held], distance, tree)
    done: list[NDArray[np.intp]] = []
    # minus the gain of a split, a tie-breaker, the bucket and its parts
    waiting: list[tuple[float, int, NDArray[np.intp], list[NDArray[np.intp]]]] = []
    fresh, total, count = [np.arange(len(held))], 0.0, 0
    while True:
        for bucket in fresh:
            cost, count = _cost(domain, bucket), count + 1
            total += cost
            if len(bucket) == 1:
                done.append(bucket)
            else:
                parts = _split(domain, bucket)
                gain = cost - sum(_cost(domain, part) for part in parts)
                heapq.heappush(waiting, (-gain, count, bucket, parts))
        if not waiting or total <= budget + SLACK:
            return _buckets(domain, [*done, *(entry[2] for entry in waiting)], len(prior.counts))
        _, _, bucket, fresh = heapq.heappop(waiting)
        total -= _cost(domain, bucket)


def _cost(domain: _Domain, bucket: NDArray[np.intp]) -> float:
    """Return the share of a bucket times the largest distance between its own distribution and one of its values."""
    p = domain.shares[bucket]
    if len(bucket) == 1:
        return 0.0
    if domain.distance == "equal":
        return float(p.sum() - p.min())
    if domain.distance == "ordered":  # a sum of distances is convex: the worst value is at one of the ends
        steps = np.arange(len(bucket))
        return float(max(p @ steps, p @ steps[::-1]) / (len(domain.codes) - 1))
    cost = np.zeros(len(bucket))
    for line in domain.tree[:-1]:
        _, nodes = np.unique(line[bucket], return_inverse=True)
        cost += p.sum() - np.bincount(nodes, weights=p)[nodes]
    return float(cost.max() / (len(domain.tree) - 1))


def _split(domain: _Domain, bucket: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Split a bucket: the most frequent value and the others; two runs; or the values below each child of a node."""
    p = domain.shares[bucket]
    if domain.distance == "equal":
        most = int(p.argmax())
        return [bucket[[most]], np.delete(bucket, most)]
    if domain.distance == "ordered":
        steps = np.arange(len(bucket), dtype=np.float64)
        mass, moment = np.cumsum(p), np.cumsum(p * steps)
        ends = steps[:-1]
        left = np.maximum(moment[:-1], ends * mass[:-1] - moment[:-1])
        above, over = mass[-1] - mass[:-1], moment[-1] - moment[:-1]
        right = np.maximum(over - (ends + 1) * above, steps[-1] * above - over)
        cut = int((left + right).argmin()) + 1
        return [bucket[:cut], bucket[cut:]]
    lines = (line[bucket] for line in domain.tree[::-1])
    nodes = next(line for line in lines if line[0] != line[-1])  # in pre-order, equal ends mean that all are equal
    return [bucket[nodes == node] for node in np.unique(nodes)]


def _buckets(domain: _Domain, members: list[NDArray[np.intp]], width: int) -> DistanceBuckets:
    members = sorted(members, key=lambda bucket: int(bucket[0]))
    of_held = np.empty(len(domain.codes), np.int32)
    for number, bucket in enumerate(members):
        of_held[bucket] = number
    of_value = np.zeros(width, np.int32)
    of_value[domain.codes] = of_held
    mass = np.bincount(of_held, weights=domain.shares).astype(np.float64)
    worst = np.array([_cost(domain, bucket) for bucket in members]) / mass
    if domain.distance == "equal":
        return DistanceBuckets(of_value, worst, None, mass, 0.5)
    height = max(1, len(domain.tree) - 1)
    places = len(of_held) * (height if domain.distance == "hierarchical" else 1)
    if len(members) * places > LARGEST:
        raise DiscreetError(
            f"so small a t needs {len(members):,} buckets of {len(of_held):,} sensitive values, too many to compare; "
            "ask for a larger t, or choose scheme 'cuts'"
        )
    inside = np.zeros((len(members), len(of_held)))
    inside[of_held, np.arange(len(of_held))] = domain.shares / mass[of_held]
    if domain.distance == "ordered":
        shares, weight = np.cumsum(inside, axis=1)[:, :-1], 1.0 / max(1, len(of_held) - 1)
    else:
        levels = []
        for line in domain.tree[:-1]:
            present, nodes = np.unique(line, return_inverse=True)
            level = np.zeros((len(members), len(present)))
            np.add.at(level, (of_held, nodes), inside[of_held, np.arange(len(of_held))])
            levels.append(level)
        shares, weight = np.concatenate(levels, axis=1), 0.5 / height
    return DistanceBuckets(of_value, worst, shares, mass @ shares, weight)


def split_closely(buckets: DistanceBuckets, sizes: NDArray[np.int64], t: float) -> NDArray[np.int64]:
    """Halve the buckets as long as both halves stay within ``t`` in the worst case; return what every group draws.

    Every other bucket with an odd number of rows leaves its odd row to the second half.
    """
    waiting = sizes[None, :].astype(np.int64)
    done = [np.zeros((0, len(sizes)), np.int64)]
    while len(waiting):
        odd = waiting % 2
        first = waiting // 2 + odd * (np.cumsum(odd, axis=1) % 2)
        second = waiting - first
        good = np.ones(len(waiting), np.bool_)
        for half in (first, second):
            good &= (half.sum(axis=1) > 0) & (buckets.bounds(half) <= t + SLACK)
        done.append(waiting[~good])
        # halves of one group stay side by side
        waiting = np.stack([first[good], second[good]], axis=1).reshape(-1, len(sizes))
    return np.concatenate(done)
