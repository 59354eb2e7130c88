"""The graph of the paper: every row in a box of its own, around the rows that it is matched with.

The best of the partitions that it is made of loses no more (see ``Heterogeneous``), so the graph is published only when
it is asked for. Boxes that keep the promise are then not enough. A box of the paper's graph is around rows of different
buckets, and rows of a value that are kept apart do not meet in it. But a person looks at something else: at the values
that are published with the boxes around the person. These come from different buckets too, whichever assignment is
drawn, but not out of one box: so rows that are kept apart in all boxes may meet here. On some tables 5-diversity
becomes 2.5-diversity for a few persons.

So the table is divided into zones first, and each becomes a graph of its own. Groups are grown from one bucket, as for
the partition that is published otherwise. A zone is made of whole groups, all with a row of the short bucket or all
without one, such that the rows that are kept apart of a value lie in one bucket only.

Why the promise is kept: in a zone all buckets have as many rows as the zone has groups, and a value is in the buckets
that it fills alone and in one more at most: in no more than it may be in a group (see ``Heterogeneous``). Whichever
assignment of a zone's graph is drawn, the values published with the candidates of a person are those of one row of each
bucket of the zone. So a value is among them as often as there are buckets with it, at most. With buckets as
``published`` no rows need be kept apart, or each value is in a group once, which is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.families.heterogeneous.buckets import Buckets
from discreet.families.heterogeneous.candidates import published_values
from discreet.families.heterogeneous.matching import Grown, Matching, Space, grow_from
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.processors import threads
from discreet.randomness import numbers_below
from discreet.schemes.grouping import confirm

Graph = NDArray[np.int32]
"""``graph[box, at]``: the rows that a box is around. Each column is an assignment: it holds every row once."""


def matches_in_zones(
    space: Space,
    buckets: Buckets,
    matching: Matching,
    block: int | None,
    rng: np.random.Generator,
    seeded: np.random.Generator | None,
    tell: Callable[[float], object],
) -> NDArray[np.int32]:
    """For each row the boxes around it, beginning with the one that its value is published with; -1 for no more.

    Boxes have the numbers of the rows that they were grown from. Each zone's assignment is drawn on its own.
    """
    start = int(rng.integers(buckets.full))
    shuffled = [_shuffled(zone, rng) for zone in zones(grow_from(space, buckets, start, matching, block), buckets)]
    matches = np.full((len(buckets.rows), max(map(len, shuffled))), -1, np.int32)

    def graph_of(zone: Buckets) -> tuple[NDArray[np.int64], Graph]:
        rows, places = np.unique(zone.rows, return_inverse=True)
        numbered = Buckets(zone.width, places, zone.marks)
        return rows, matched_graph(replace(space, points=space.points[rows]), numbered, matching, block)

    with ThreadPoolExecutor(threads()) as pool:
        for at, (rows, graph) in enumerate(pool.map(graph_of, shuffled), 1):
            matches[rows, : graph.shape[1]] = rows[drawn_matches(graph, seeded)]
            tell(at / len(shuffled))
    return matches


def matched_graph(space: Space, buckets: Buckets, matching: Matching, block: int | None = None) -> Graph:
    """The graph of the paper: around each row one row of every bucket, found by matching its bucket with the others.

    Column s matches every bucket with the one s places further on. There must be no short bucket: what would be
    published where it has no row?
    """
    assert buckets.full == len(buckets), "all buckets have the same number of rows"
    graph = np.empty((len(buckets.rows), len(buckets)), np.int32)  # the largest array by far
    for start in range(len(buckets)):
        grown = grow_from(space, buckets, start, matching, block)
        graph[buckets.rows[buckets[start]]] = np.roll(grown.members, -start, axis=1)
    return graph


def drawn_matches(graph: Graph, seeded: np.random.Generator | None = None) -> NDArray[np.int32]:
    """For each row the boxes that are around it, beginning with the one that its value is published with.

    That one is given by one of the assignments, all equally likely; the assignments after it follow in their order.
    Which one it was must not be guessed, so chance comes from the operating system unless a generator is given. The
    paper draws a perfect matching of the graph instead, which need not be one of the assignments that it was built of.
    Then a person may find one value with several candidates, though every box is around different ones. In an
    assignment from buckets to buckets, the candidates of a person, one of each bucket, have the values of rows of
    different buckets.
    """
    boxes, size = graph.shape
    first = int(numbers_below(size, 1, seeded)[0])
    matches = np.empty((boxes, size), np.int32)
    for at in range(size):
        matches[graph[:, (first + at) % size], at] = np.arange(boxes)
    return matches


def confirm_graph(
    candidates: NDArray[np.int32], sensitive_codes: NDArray[np.int32], principle: Principle, prior: Prior
) -> None:
    """Judge once more what is about to be published: a fault in a scheme must not become a broken promise.

    That the graph is regular is seen to where the release is made.
    """
    confirm(
        np.where(candidates[:, 0] < 0, -1, 0).astype(np.int32), sensitive_codes, principle, prior
    )  # withheld, all others
    kept = np.flatnonzero(candidates[:, 0] >= 0)
    shown = np.empty(len(kept), np.int32)
    shown[candidates[kept, 0]] = sensitive_codes[kept]
    _, counts = published_values(candidates, shown, len(prior.counts))
    if not principle.holds(counts, prior).all():
        raise AssertionError(f"the graph breaks {principle}; nothing was published")


def zones(grown: Grown, buckets: Buckets) -> Iterator[Buckets]:
    """The rows in zones of whole groups, each zone with its buckets; every group goes to the first zone that it fits.

    >>> grown = Grown(np.array([[0, 4], [1, 5], [2, 6], [3, 7]]), np.zeros(4))
    >>> buckets = Buckets(4, np.arange(8), np.array([0, 0, -1, -1, -1, -1, 0, -1]))  # 0 and 1 must not meet 6
    >>> [zone.rows.tolist() for zone in zones(grown, buckets)]
    [[0, 1, 3, 4, 5, 7], [2, 6]]
    """
    groups, width = grown.members.shape
    mark_of = np.empty(len(buckets.rows), np.int64)
    mark_of[buckets.rows] = buckets.marks
    held = np.where(grown.members >= 0, mark_of[grown.members], -1)
    # per group: the bucket in which it has the marked rows of each value, -1 for none
    place = np.full((groups, int(buckets.marks.max(initial=-1)) + 1), -1, np.int64)
    group, bucket = np.nonzero(held >= 0)
    place[group, held[group, bucket]] = bucket
    short = grown.members[:, -1] < 0 if width > buckets.full else np.zeros(groups, np.bool_)
    zone_of = np.empty(groups, np.int64)
    for without in (False, True):
        known: list[NDArray[np.int64]] = []
        for number in np.flatnonzero(short == without).tolist():
            here, at = place[number], 0
            # marked rows of a value that a zone has, too, must be in the same bucket there
            while at < len(known) and ((here != known[at]) & (here >= 0) & (known[at] >= 0)).any():
                at += 1
            if at == len(known):
                known.append(here)
            known[at] = np.maximum(known[at], here)
            zone_of[number] = at
        for at in range(len(known)):
            members = grown.members[(short == without) & (zone_of == at)]
            rows = members[:, : buckets.full if without else width].T.ravel()
            yield Buckets(len(members), rows, np.full(len(rows), -1, np.int32))


def _shuffled(zone: Buckets, rng: np.random.Generator) -> Buckets:
    """The same buckets in a random order, as the order in which they were made follows the values."""
    order = rng.permutation(len(zone))
    rows = zone.rows.reshape(len(zone), zone.width)[order].ravel()
    return Buckets(zone.width, rows, zone.marks)
