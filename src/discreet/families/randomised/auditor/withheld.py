"""The withheld rows of a release with randomised values, judged as one group although not all their values are known.

Sensitive values are randomised, so the published ones do not determine those of the withheld rows. Without the trace
only quasi-identifiers and other columns are known: the number of withheld rows of each combination, but not which of
its rows they are. So there are three answers: the promise is broken if no choice of rows keeps it, kept if every choice
does, and otherwise undecided.

Whether some choice satisfies bounds on the number of rows with each value is a flow problem, solved exactly: from each
combination flow as many rows as are withheld, to each value at most as many as the combination has of it, and from each
value a number within its bounds. Proximity bounds neighbourhoods of values instead of values, which a flow cannot
express; necessary conditions are checked instead (see ``_near``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.checks.support import largest_flow
from discreet.adversary.verdict import PromiseVerdict
from discreet.families.randomised.auditor.align import AlignedRandomised
from discreet.kernels.judging import SLACK
from discreet.principles import Principle, Prior
from discreet.principles.bounds import bounded_shares
from discreet.principles.principle import Nearness

Numbers = NDArray[np.int64]


def with_withheld(
    kept: PromiseVerdict, part: Principle, aligned: AlignedRandomised, prior: Prior
) -> tuple[PromiseVerdict, bool]:
    """Extend a verdict on what is published to the withheld rows; also return whether that decides it.

    ``achieved`` becomes None while the values of the withheld rows are unknown. Where the published rows are not the
    original's, the withheld rows are unknown as well, and the verdict is returned unchanged.
    """
    size = aligned.withheld
    if size == 0 or kept.achieved is None or not aligned.check.holds:
        return kept, True
    who = "one withheld row" if size == 1 else f"{size:,} withheld rows"
    if not aligned.open:
        strain = float(part.strain(aligned.left[None], prior)[0])
        reached = part.achieved(aligned.left[None], prior)
        achieved: float | None = (min if part.larger_is_stronger else max)(kept.achieved, reached)
        keep = "keeps" if size == 1 else "keep"
        conclusion = f"The {who} {keep} it as a group." if strain <= 1.0 else part.explain(aligned.left, prior)
        decided = True
    else:
        unknown = "its value" if size == 1 else f"the values of {aligned.open:,}"
        unknown += " cannot be told without the trace"
        achieved, decided = None, True
        strain, some, every = _choices(part, aligned, prior)
        if not some:
            strain = max(strain, float(np.nextafter(1.0, 2.0)))
            conclusion = f"No choice of rows makes the {who} keep it as a group, although {unknown}."
        elif every:
            conclusion = f"The {who} keep it as a group, although {unknown}: every choice of rows does."
        else:
            decided = False
            conclusion = f"Whether the {who} keep it as a group is not decided: {unknown}."
    broken_by = kept.broken + (strain > 1.0)
    verdict = replace(kept, achieved=achieved, broken=broken_by, holds=broken_by == 0, strain=max(kept.strain, strain))
    return replace(verdict, sentence=f"{kept.sentence} {conclusion}"), decided


def undecided(aligned: AlignedRandomised) -> Check:
    """Return the check with the caveat that the withheld rows could not be judged."""
    sentence = (
        f"Of the {aligned.withheld:,} withheld, {aligned.open:,} could be any of several rows with the same "
        "quasi-identifiers and other columns; some choices of them keep the promise."
    )
    caveat = "whether the withheld rows keep it is not decided: give the trace for certainty"
    return Check("withheld", True, sentence, caveat=caveat)


def _choices(part: Principle, aligned: AlignedRandomised, prior: Prior) -> tuple[float, bool, bool]:
    """Return a lower bound on the strain, whichever rows are chosen, and whether some and whether all choices keep the
    promise: without some it is certainly broken, and with all it is certainly kept."""
    least, size = aligned.left, aligned.withheld
    most = least + np.bincount(aligned.choices.values, aligned.choices.amounts, len(least)).astype(np.int64)
    if near := part.nearness:
        first, last = near.windows(prior)
        within, at_most = (_inside(counts, first, last) for counts in (least, most))
        # withheld rows beyond those that can lie outside a neighbourhood must lie inside it
        within = np.maximum(within, size - (most.sum() - at_most))
        strain = float(within[least > 0].max(initial=0) / (size / near.m + SLACK))
        every = bool((at_most[most > 0] <= size // near.m).all())
        limits = list(_near(near, prior, size))
    else:
        bounds = bounded_shares(part.rules(prior))
        assert bounds is not None, "these promises bound every value, or every node"
        fewest, largest = (np.bincount(bounds.nodes, rows, len(bounds.caps)) for rows in (least, most))
        strain = float((fewest / (bounds.caps * size + SLACK)).max())
        low, high = np.ceil(bounds.floors * size - SLACK), np.floor(bounds.caps * size + SLACK)
        every = bool((fewest >= low).all() and (largest <= high).all())
        limits = [(bounds.nodes.astype(np.int64), np.maximum(low, 0.0).astype(np.int64), high.astype(np.int64))]
    return strain, strain <= 1.0 and all(_fits(aligned, *bounds) for bounds in limits), every


def _near(near: Nearness, prior: Prior, size: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Yield partitions of the values into intervals that each contain at most 1 / m of a group's rows under proximity:
    the interval of each value, and how many rows each has at least and at most.

    The upper side of any neighbourhood is such an interval, whether or not a row has its number: the neighbourhood of
    the least number that a row has in the interval contains the rest of the interval, because the ends of
    neighbourhoods do not decrease. The same holds for lower sides.
    """
    first, last = near.windows(prior)
    width = len(first)
    for up in (True, False):
        nodes, at, number = np.empty(width, np.int64), 0 if up else width - 1, 0
        while 0 <= at < width:
            low, high = (at, int(last[at])) if up else (int(first[at]), at)
            nodes[low : high + 1] = number
            at, number = high + 1 if up else low - 1, number + 1
        yield nodes, np.zeros(number, np.int64), np.full(number, size // near.m)


def _fits(aligned: AlignedRandomised, nodes: Numbers, low: Numbers, high: Numbers) -> bool:
    """Whether rows can be chosen so that the number of them in each bucket is within its bounds, given that of values.

    Source -> combination: as many as are open. Combination -> bucket: as many as the combination has. Bucket -> sink:
    as many as the bucket lacks; further rows, up to the bucket's bound, flow through one more node, whose capacity is
    the number of rows that no bucket lacks.
    """
    choices, chosen, number = aligned.choices, aligned.chosen, len(low)
    has = np.bincount(nodes, aligned.left, number).astype(np.int64)
    lacks, room = np.maximum(low - has, 0), high - has
    spare = aligned.open - int(lacks.sum())
    if spare < 0 or bool((room < lacks).any()):
        return False
    combinations = np.arange(1, len(chosen) + 1)
    buckets = np.arange(number) + len(chosen) + 1
    others = len(chosen) + number + 1
    sink = others + 1
    arcs = [
        (np.zeros(len(chosen), np.int64), combinations, chosen),
        (choices.groups + 1, buckets[nodes[choices.values]], choices.amounts),
        (buckets, np.full(number, sink), lacks),
        (buckets, np.full(number, others), np.minimum(room - lacks, aligned.open)),
        (np.array([others]), np.array([sink]), np.array([spare])),
    ]
    return int(largest_flow(arcs, sink).flow_value) == aligned.open


def _inside(counts: Numbers, first: Numbers, last: Numbers) -> Numbers:
    """Return how many rows lie in the neighbourhood of each value."""
    up_to = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(up_to[last + 1] - up_to[first], np.int64)
