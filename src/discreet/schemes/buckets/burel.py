"""BUREL (Cao and Karras, PVLDB 2012): bucketise the sensitive values, then reallocate rows from buckets to groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bucket_draws import split_evenly
from discreet.kernels.cuts.terms import PLAIN, Recipe
from discreet.kernels.judging import SLACK
from discreet.options import Interval
from discreet.principles.bounds import bounded_shares, fewest_buckets
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.releases.generalization import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.buckets.drawing import Retrieval, draw_groups
from discreet.schemes.cuts.top_down import Problem, limits_of, partition_groups
from discreet.schemes.described import Beside, Exactness, Snap
from discreet.schemes.grouping import GroupingTask
from discreet.schemes.leading import LeadingScheme
from discreet.schemes.refusal import Refusal, not_of_shares

Room = Literal["enough", "any"]
LARGE = 1 << 15
"""Up to this many rows, the division into groups is tried; of larger tables, that of a half, a quarter and so on."""
PRICE = 0.06
"""The cost of a unit of the entropy of buckets, relative to the extent of groups: see ``expected_loss``."""


@dataclass(frozen=True, kw_only=True)
class Burel(LeadingScheme):
    """Rows are put into buckets of sensitive values; groups draw from every bucket in proportion to its size.

    How many rows a group draws from each bucket depends on the sensitive values alone; which rows these are depends on
    the quasi-identifiers alone.

    Why the promise is kept: the rows that a group draws from a bucket are, as a share of the group, at most the
    smallest cap of the bucket's values (``split_evenly``). Even if all of these rows had the same value, it would not
    exceed its cap. The root, which draws everything, satisfies this by the choice of buckets (``fewest_buckets``).
    A promise about the nodes of a level of a hierarchy is kept in the same way, with buckets of nodes: all rows of a
    node are in one bucket, so a group draws at most as many of them as the bucket's smallest cap allows. Where shares
    have floors (``negative``), every value or node is a bucket of its own. A group's counts are then what it draws, and
    a bucket is halved only if these keep caps and floors on both sides; the root keeps them, or is refused. With
    ``refine`` every group is cut further while both halves keep the promise on their actual counts, as in the authors'
    program but not in the paper; contents then no longer depend on quasi-identifiers alone, so it is off by default.

    The paper takes the fewest buckets (``room=any``). The default, the buckets with the smallest expected loss, is ours
    (``choose_buckets``). The paper has caps on values only; floors and levels are ours.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> Burel(random_state=1).publish(patients(), BetaLikeness(2)).withheld
    0
    """

    name: ClassVar[str] = "burel"
    published: ClassVar[Mapping[str, str]] = {"room": "any", "snap": "false"}

    retrieval: Retrieval = "hilbert"
    """How a group finds rows near each other: along a Hilbert curve, or by exact distance (slow on large tables)."""
    room: Room = "enough"
    """How full buckets may be: ``enough``, so that the expected loss is small, is ours; the paper's is ``any``."""
    refine: bool = False
    """Whether groups are cut further while both halves keep the promise."""
    values: Values = "interval"
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10
    snap: Snap = "auto"

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept only promises that bound shares of values, or of nodes of one level, with or without k-anonymity."""
        return super().refusal(principle, prior) or not_of_shares(self.name, principle, prior)

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows."""
        table, rows = task.table, task.rows
        rules = task.principle.rules(task.prior)
        shares = bounded_shares(rules)
        assert shares is not None, "a promise about anything else is refused"
        bounds = limits_of(task.principle, task.prior, rules)
        node = shares.nodes[table.sensitive_codes]
        counts, held = (np.bincount(some, minlength=len(shares.caps)) for some in (node, node[rows]))
        bucket_of, wanted = choose_buckets(counts, shares.caps, held, bounds.smallest, self.room, shares.floors)
        groups, _ = draw_groups(task, bucket_of[node[rows]], wanted, self.retrieval)
        if self.refine:
            task.progress("cutting groups", 0.0)
            points, axes = axes_of(table, "ail", self.values)
            problem = Problem(points, table.sensitive_codes, axes, rules, bounds).take(rows)
            groups = partition_groups(problem, groups, Recipe(PLAIN, 1, 1, 0.0, 0, True))
            task.progress("cutting groups", 1.0)
        return groups


def choose_buckets(
    counts: NDArray[np.int64],
    caps: NDArray[np.float64],
    held: NDArray[np.int64],
    smallest: int,
    room: Room = "enough",
    floors: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the bucket of each value, and how many rows of each bucket every group draws.

    The paper takes the fewest buckets. But a group draws whole rows, so it may draw one row more than its share from a
    bucket, and a bucket that only just keeps its cap leaves no room for that: the fewest buckets may make few groups,
    or a single one. More buckets make more groups, but their rows come from more places and so lie further apart. With
    ``room="enough"`` the buckets with the smallest expected loss are taken, among many that keep the promise.

    The choice depends only on how often each sensitive value occurs: an adversary who knows these counts and the
    algorithm can predict the choice and learns nothing from it. A weaker beta-likeness promise has all candidates of a
    stronger one, and each makes at least as many groups; so the expected loss never rises when beta grows.

    ``counts`` are the values' counts in the whole table, ``held`` those among the rows to divide. Where any value has a
    floor, each is in a bucket of its own: of values that share one, a group might draw none.

    >>> counts, caps = np.array([21, 22, 57]), np.array([0.43, 0.44, 1.0])
    >>> for room in ("enough", "any"):
    ...     buckets, groups = choose_buckets(counts, caps, counts, 1, room)
    ...     print(buckets.tolist(), len(groups))
    [0, 1, 2] 56
    [0, 0, 1] 1
    """
    if floors is not None and floors.any():
        return np.arange(len(counts), dtype=np.int32), split_evenly(held, caps, floors, smallest)
    choices = [fewest_buckets(counts, caps)] if room == "any" else list(candidates(counts, caps))
    sizes = [np.bincount(buckets, weights=held).astype(np.int64) for buckets in choices]
    limits = [_limits(buckets, counts, caps) for buckets in choices]
    most = [max(1, int(held.sum()) // max(smallest, _fewest_rows(shares))) for shares in limits]
    # a lower bound on each candidate's loss, from its largest possible number of groups, saves dividing most of them
    least = [groups ** (-1 / 3) + PRICE * _entropy(rows) for rows, groups in zip(sizes, most, strict=True)]
    best, choice = np.inf, 0
    for at in np.argsort(least, kind="stable").tolist():
        if least[at] >= best:
            break
        loss = expected_loss(sizes[at], _groups(sizes[at], limits[at], smallest))
        if loss < best:
            best, choice = loss, at
    return choices[choice], split_evenly(sizes[choice], limits[choice], np.zeros(len(sizes[choice])), smallest)


def _groups(sizes: NDArray[np.int64], limits: NDArray[np.float64], smallest: int) -> NDArray[np.int64]:
    """Return the sizes of the groups that would be drawn; for a large table, estimated from a part of it."""
    total = sizes.sum()
    while sizes.sum() > LARGE:
        halves = np.stack([(sizes + 1) // 2, sizes // 2])
        rows = halves.sum(axis=1, keepdims=True)
        if rows.min() < smallest or (halves > limits * rows + SLACK).any():
            break  # this part is a group
        sizes = halves[1]
    return np.tile(split_evenly(sizes, limits, np.zeros(len(sizes)), smallest).sum(axis=1), round(total / sizes.sum()))


def _limits(buckets: NDArray[np.int32], counts: NDArray[np.int64], caps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cap of each bucket: the smallest cap of its values; 0 if none of its values occurs."""
    limits = np.full(int(buckets.max()) + 1, np.inf)
    np.minimum.at(limits, buckets[counts > 0], caps[counts > 0])
    return np.where(np.isinf(limits), 0.0, limits)


def _fewest_rows(limits: NDArray[np.float64]) -> int:
    """Return the size of the smallest group that buckets can fill within these caps, or at most 128."""
    rows = np.arange(1, 129)
    filled = np.floor(rows[:, None] * limits + SLACK).sum(axis=1) >= rows
    return int(rows[filled.argmax()]) if filled.any() else len(rows)


def candidates(counts: NDArray[np.int64], caps: NDArray[np.float64]) -> Iterator[NDArray[np.int32]]:
    """Yield different assignments of values to buckets that keep their caps, as the bucket of each value.

    These are the fewest buckets under lower caps, with room for 0, 1, 4, 16, ... more rows.
    """
    rows, present = int(counts.sum()), counts > 0
    apart = int(present.sum()) + (not present.all())
    seen = set()
    for lowered in _lowered(caps, np.where(present, counts / rows, 1.0), present):
        for room in (0, *(4**power for power in range(rows.bit_length() // 2))):
            buckets = fewest_buckets(counts, lowered, room)
            if buckets.tobytes() not in seen:
                seen.add(buckets.tobytes())
                yield buckets
            if buckets.max() + 1 == apart:
                break  # more room changes nothing: every value already has its own bucket


def _lowered(
    caps: NDArray[np.float64], shares: NDArray[np.float64], present: NDArray[np.bool_]
) -> Iterator[NDArray[np.float64]]:
    """Yield the caps of stronger promises: of beta-likeness with a smaller beta, of l-diversity with a larger l.

    For the same values they come from one fixed sequence; a weaker promise uses more of it.
    """
    for times in _steps(1.0, float((caps[present] / shares[present]).max())):
        yield np.minimum(caps, times * shares)
    for parts in _steps(1.0 / float(caps[present].min()), 1.0 / float(shares[present].min())):
        yield np.full(len(caps), 1.0 / parts)


def _steps(low: float, high: float) -> Iterator[float]:
    """Yield all numbers from ``low`` to ``high`` among 1, 5/4, 6/4, 7/4, and these times 2, 4, 8 and so on."""
    quarters, scale = 4, 0.25
    while quarters * scale <= high * (1 + 1e-12):
        if quarters * scale >= low * (1 - 1e-12):
            yield quarters * scale
        quarters += 1
        if quarters == 8:
            quarters, scale = 4, 2 * scale


def expected_loss(buckets: NDArray[Any], groups: NDArray[Any]) -> float:
    """Return the expected loss of drawing groups from buckets of the given sizes; comparable only for the same table.

    The first term is the extent of a group along one of three attributes if groups were boxes, in the geometric mean
    over rows. The second term estimates by how much groups exceed that because their rows come from different buckets:
    in proportion to the entropy of a row's bucket. This is a fit: on thousands of random tables (30 to 20,000 rows, 2
    to 5 quasi-identifiers, related to the sensitive values or not) the candidate that it prefers lost .007 more than
    the best one on average, and prices from .05 to .1 made little difference.

    >>> round(expected_loss(np.array([4, 4]), np.ones(8)), 4), round(expected_loss(np.array([8]), np.ones(8)), 4)
    (0.5416, 0.5)
    """
    return float(np.exp(-_entropy(groups) / 3) + PRICE * _entropy(buckets))


def _entropy(sizes: NDArray[Any]) -> float:
    """Return the entropy of a row's bucket or group, given their sizes."""
    shares = sizes[sizes > 0] / sizes.sum()
    return -float((shares * np.log(shares)).sum())
