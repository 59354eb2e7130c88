"""Bounds on the share of every sensitive value in every group, and buckets of values that can replace one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import CAPS, FLOORS, SIZE, SLACK, Rules
from discreet.principles.rules import combine, rule
from discreet.principles.wording import percent, rows

STRICT = 2 * SLACK
"""How much a strict bound is tightened so that callers can compare with ``<=``: more than the slack, at any size."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """The largest and smallest share that each value (or each node of a hierarchy) may have in a group."""

    labels: tuple[str, ...]
    shares: NDArray[np.float64]
    """The share of each value or node in the whole table."""
    caps: NDArray[np.float64] | None = None
    floors: NDArray[np.float64] | None = None
    strict: bool = False
    """Whether a group that meets a bound exactly violates it."""
    nodes: NDArray[np.int32] | None = None
    """The node that each value is counted under; ``None`` when the values themselves are bounded."""
    reason: str | None = None
    """The reason for the bounds, for messages; by default the value's share in the whole table."""

    def rules(self, width: int) -> Rules:
        """The bounds as rules for an attribute of ``width`` values."""
        slack = -SLACK if self.strict else SLACK
        parts = []
        if self.caps is not None:
            parts.append(rule(CAPS, slack, width=width, bounds=self.caps, nodes=self.nodes))
        if self.floors is not None:
            parts.append(rule(FLOORS, slack, width=width, bounds=self.floors, nodes=self.nodes))
        return combine(parts)

    def leaf_caps(self) -> NDArray[np.float64] | None:
        """Caps per value, at most 1, for comparison with ``<=``; ``None`` when the bounds concern nodes."""
        if self.caps is None or self.nodes is not None:
            return None
        return np.clip(self.caps - STRICT if self.strict else self.caps, 0.0, 1.0)

    def leaf_floors(self) -> NDArray[np.float64] | None:
        """Floors per value, for comparison with ``>=``; ``None`` when the bounds concern nodes."""
        if self.floors is None or self.nodes is not None:
            return None
        return np.where(self.shares > 0, self.floors + STRICT, 0.0) if self.strict else self.floors

    def tally(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts (or expected counts) per value, or per node when the bounds concern nodes."""
        return counts if self.nodes is None else np.bincount(self.nodes, counts, len(self.labels)).astype(counts.dtype)

    def explain(self, counts: NDArray[np.int64], subject: str) -> str:
        """A sentence on the worst violation in one group, given its counts (or expected counts) per value."""
        counts = self.tally(counts)
        whole = counts.dtype.kind in "iu"
        size = int(counts.sum()) if whole else float(counts.sum())
        slack = -SLACK if self.strict else SLACK
        over, under = np.zeros(len(counts)), np.zeros(len(counts))
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.caps is not None:
                over = np.where(counts > 0, counts / np.maximum(self.caps * size + slack, 0.0), 0.0)
            if self.floors is not None:
                under = np.where(self.floors > 0, self.floors * size / np.maximum(counts + slack, 0.0), 0.0)
        if over.max() >= under.max() and self.caps is not None:
            worst = int(over.argmax())
            bound = float(self.caps[worst])
            allowed = int(np.ceil(bound * size - SLACK)) - 1 if self.strict else int(np.floor(bound * size + SLACK))
            limit = f"at most {rows(max(0, allowed))}" if self.strict else rows(allowed)
            claim, end = f"{'less than' if self.strict else 'at most'} {percent(bound)}", "is allowed"
        else:
            assert self.floors is not None
            worst = int(under.argmax())
            bound = float(self.floors[worst])
            needed = int(np.floor(bound * size + SLACK)) + 1 if self.strict else int(np.ceil(bound * size - SLACK))
            limit = f"at least {rows(needed)}" if self.strict else rows(needed)
            claim, end = f"{'more than' if self.strict else 'at least'} {percent(bound)}", "is required"
        reason = self.reason or f"because it is {percent(float(self.shares[worst]))} of the whole table"
        share = percent(counts[worst] / size if size else 0.0)
        if not whole:
            return f"'{self.labels[worst]}' is believed of {subject} with {share}; {claim} {end}, {reason}."
        return (
            f"'{self.labels[worst]}' makes up {share} of {subject} of {rows(int(size))} "
            f"({rows(int(counts[worst]))}); {claim} ({limit}) {end}, {reason}."
        )


class Shares(NamedTuple):
    """The shares that values, or the nodes of one level of a hierarchy, may have in a group."""

    nodes: NDArray[np.int32]
    """Per value: itself, or the node that it is counted under."""
    caps: NDArray[np.float64]
    """Per node: at most 1, for comparison with ``<=``."""
    floors: NDArray[np.float64]
    """Per node, for comparison with ``>=``."""


def bounded_shares(rules: Rules) -> Shares | None:
    """The shares that rules bound; ``None`` if they bound none, nodes of several levels, or more than these and sizes.

    >>> from discreet.principles import BetaLikeness, KAnonymity, TCloseness
    >>> from discreet.principles.prior import Prior
    >>> prior = Prior(np.array([1, 3]), ("HIV", "flu"))
    >>> shares = bounded_shares((BetaLikeness(0.5, "basic", negative=0.2) & KAnonymity(5)).rules(prior))
    >>> shares.caps.round(3).tolist(), shares.floors.round(3).tolist()
    ([0.375, 1.0], [0.2, 0.6])
    >>> bounded_shares(TCloseness(0.2).rules(prior)) is None
    True
    """
    bounding = np.flatnonzero(rules.kinds != SIZE)
    levels = rules.nodes[bounding]
    if not len(bounding) or not np.isin(rules.kinds[bounding], (CAPS, FLOORS)).all() or (levels != levels[0]).any():
        return None
    nodes = np.arange(levels.shape[1], dtype=np.int32) if levels[0, 0] < 0 else levels[0]
    caps, floors = np.ones(int(nodes.max()) + 1), np.zeros(int(nodes.max()) + 1)
    for at in bounding:
        bounds, strict = rules.bounds[at, : len(caps)], STRICT if rules.parameters[at, 0] < 0 else 0.0
        if rules.kinds[at] == CAPS:
            caps = np.clip(bounds - strict, 0.0, caps)
        else:
            floors = np.maximum(floors, np.where(bounds > 0, bounds + strict, 0.0))
    return Shares(nodes, caps, floors)


def fewest_buckets(counts: NDArray[np.int64], caps: NDArray[np.float64] | None, room: int = 0) -> NDArray[np.int32]:
    """The bucket of each value, in the fewest buckets of values with neighbouring caps.

    A bucket is safe if its total count is at most ``cap x rows`` for the smallest cap among its values. A group that
    draws from each bucket in proportion to the bucket's size then keeps every cap, whichever rows of the bucket it
    draws; equality is allowed.

    Values are sorted by cap, and each bucket is a run of this order. If a run is safe, so is every part of it, because
    dropping its first values cannot lower its smallest cap. Taking the longest safe run from the front therefore gives
    the fewest buckets. For the caps of beta-likeness this matches ``DPpartition`` of the paper.

    With ``room``, values share a bucket only if that many more rows would still fit.

    Values that do not occur in the table share a bucket of their own. Without caps, every value has its own bucket.

    >>> fewest_buckets(np.array([2, 3, 3, 3, 4, 4]), np.array([0.31, 0.45, 0.45, 0.45, 0.54, 0.54])).tolist()
    [0, 0, 1, 1, 2, 2]
    >>> fewest_buckets(np.array([2, 3, 3, 3, 4, 4]), np.array([0.31, 0.45, 0.45, 0.45, 0.54, 0.54]), 1).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    m = len(counts)
    if caps is None:
        return np.arange(m, dtype=np.int32)
    rows = int(counts.sum())
    limits = np.where(counts > 0, caps, 0.0) * rows + SLACK
    order = np.lexsort((np.arange(m), counts, limits))
    up_to = np.concatenate([[0], np.cumsum(counts[order])])
    # in whole rows; the bucket of values that do not occur needs no room
    most = np.maximum(np.floor(limits[order]).astype(np.int64) - room, 0)
    ends = np.maximum(np.searchsorted(up_to, up_to[:-1] + most, "right") - 1, np.arange(1, m + 1)).tolist()
    first = np.zeros(m, dtype=np.int32)
    start = 0
    while start < m:
        first[start] = 1
        start = ends[start]
    result = np.empty(m, dtype=np.int32)
    result[order] = np.cumsum(first) - 1
    return result
