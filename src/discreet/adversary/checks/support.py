"""Check that the original supports a release without a trace.

An assignment of rows to groups exists exactly if a maximum flow from groups to rows fills every group; this detects
every release that no assignment of original rows explains. If that graph is too large, necessary conditions are checked
instead, following Hall's theorem: a description contains at least as many original rows of each sensitive value as all
groups whose descriptions lie inside it claim together. The group itself is always one of these groups; further ones are
searched for in up to ``REGIONS`` descriptions, from narrow to wide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, in_words
from discreet.kernels.boxes.boxes import Boxes, nested
from discreet.kernels.boxes.forest import Forest
from discreet.kernels.boxes.search import incidences, sums_inside, tally
from discreet.kernels.bucket_draws import counting_order
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.boxes import plant, plant_tree, points_of
from discreet.releases.descriptions import Descriptions
from discreet.table.combinations import numbered, ranked

EDGES = 2_000_000
"""The largest graph searched for an assignment of rows to groups."""

REGIONS = 5_000
"""In how many descriptions other groups are searched for if the graph is too large."""

COMPARISONS = 30_000_000, 300_000_000
"""The most pairs of descriptions compared, in small releases and in large ones: up to two seconds."""

EFFORT = 100
"""How many pairs of descriptions are compared per published row, between these limits."""


def without_trace(
    aligned: Aligned, limit: int = EDGES, claims: Counts | None = None, cells: Descriptions | None = None
) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``).

    ``claims`` are the counts of combinations of values published unchanged in every group, if they are known, and
    ``cells`` the groups, if they are not those of the release.
    """
    release = aligned.release
    cells = release.descriptions if cells is None else cells
    if claims is None:
        claims = Counts.of_rows(release.group_of, aligned.shown, release.groups, aligned.kinds + 1)
    groups = np.repeat(np.arange(cells.cells), np.diff(claims.starts))
    kinds, needs = claims.values.astype(np.int64), claims.amounts
    if claims.width > aligned.kinds:
        known = kinds < aligned.kinds
        groups, kinds, needs = groups[known], kinds[known], needs[known]
    forest = _forest(aligned, groups, kinds)
    served = _candidates(forest, aligned.boxes, groups, kinds, limit)
    held = _held(forest, aligned.boxes, groups, kinds, needs) if served is None else _weights(forest, *served)
    short = np.flatnonzero(held < needs)
    if short.size or int(needs.sum()) < int(cells.sizes.sum()):
        sentence = "Rows of the release have values that the original does not have."
        if short.size:
            worst = int(groups[short[np.argmax((needs - held)[short])]])
            many = len(np.unique(groups[short]))
            who = "1 group claims" if many == 1 else f"{many:,} groups claim"
            sentence = (
                f"The original does not hold the rows that {who}: the description of group {cells.ids[worst]} "
                f"({in_words(cells.text(worst))}) holds too few rows with one of its values."
            )
        return Check("support", False, sentence), "necessary"
    if served is not None:
        lacking = _lacking(forest, needs, *served)
        if not lacking.any():
            sentence = (
                "Without the trace: an assignment of original rows to groups exists in which every row lies in the "
                "description of its group and every group has exactly the sensitive values it is published with."
            )
            return Check("support", True, sentence), "assignment"
        group = int(groups[np.argmax(lacking)])
        sentence = (
            f"No assignment of original rows to groups explains the release: however rows are assigned, "
            f"{wording.rows(int(lacking.sum()))} published cannot be an original row that the description of the group "
            f"admits, for example in group {cells.ids[group]} ({in_words(cells.text(group))})."
        )
        return Check("support", False, sentence), "assignment"
    return _crowded(aligned, cells, forest, groups, kinds, needs), "necessary"


def _held(
    forest: Forest, boxes: Boxes, groups: NDArray[np.int64], kinds: NDArray[np.int64], needs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many rows could serve each claim, or at least as many as it needs.

    Claims are searched for tree by tree: a tree fits into the processor's cache, and the boxes of all groups do not.
    """
    order = ordered(kinds)
    held = np.empty_like(needs)
    held[order] = tally(forest, boxes, groups[order], kinds[order], needs[order])
    return held


def _crowded(
    aligned: Aligned,
    cells: Descriptions,
    forest: Forest,
    groups: NDArray[np.int64],
    kinds: NDArray[np.int64],
    needs: NDArray[np.int64],
) -> Check:
    """Check that no description contains fewer rows of a value than the groups inside it claim together."""
    least, most = COMPARISONS
    comparisons = max(least, min(most, EFFORT * int(cells.sizes.sum())))
    chosen = _spread(aligned.boxes, min(REGIONS, comparisons // max(1, cells.cells)))
    starts = np.searchsorted(groups, np.arange(cells.cells + 1))
    places, values, sums = nested(aligned.boxes, chosen, starts, kinds, needs, aligned.kinds)
    # a region fills the gaps of its description, so that more groups lie inside it
    whole = aligned.boxes._replace(set_at=np.full_like(aligned.boxes.set_at, -1))
    held = _inside(forest, aligned, whole, chosen[places], values)
    short = np.flatnonzero(held < sums)
    if short.size:
        worst = int(chosen[places[short[np.argmax((sums - held)[short])]]])
        return Check(
            "support",
            False,
            "No assignment of original rows to groups explains the release: the groups whose descriptions lie inside "
            f"that of group {cells.ids[worst]} ({in_words(cells.text(worst))}) claim more rows with one sensitive "
            "value than the original has there.",
        )
    return Check(
        "support",
        True,
        "Without the trace: the description of every group holds at least as many original rows of each of its "
        f"sensitive values as the group claims, and in {len(chosen):,} descriptions as many as all groups inside them "
        "claim together; this is necessary but not sufficient, and only the trace can tell more.",
    )


def _spread(boxes: Boxes, number: int) -> NDArray[np.int64]:
    """Return the boxes to search: all distinct ones, or ``number`` of them evenly spaced from narrow to wide."""
    ends = [end.astype(np.int64) + 1 for end in (*boxes.low.T, *boxes.high.T)]  # an interval without codes ends at -1
    first = ranked(numbered(ends, [int(end.max(initial=0)) + 1 for end in ends], len(boxes.low)))[1]
    if len(first) <= number:
        return np.sort(first).astype(np.int64)
    widths = (boxes.high[first] - boxes.low[first] + 1).clip(min=1)
    ordered = first[np.argsort(np.log(widths).sum(axis=1), kind="stable")]
    return ordered[np.linspace(0, len(ordered) - 1, max(1, number)).astype(np.int64)].astype(np.int64)


def _forest(aligned: Aligned, groups: NDArray[np.int64], kinds: NDArray[np.int64]) -> Forest:
    """Return the distinct original points, in one tree per combination of values published unchanged, planted for
    these claims."""
    order, firsts = _collapsed(aligned)
    points = points_of(aligned.columns)[order[firsts[:-1]]]
    trees = np.searchsorted(aligned.had[order[firsts[:-1]]], np.arange(aligned.kinds + 1))
    return plant(points, np.diff(firsts), trees, aligned.boxes, groups, kinds)


def _collapsed(aligned: Aligned) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the rows sorted by combination and then by point, and where each set of equal rows begins."""
    sizes = [aligned.kinds, *(len(column.values) for column in aligned.columns)]
    codes: list[NDArray[Any]] = [aligned.had, *(column.codes for column in aligned.columns)]
    keys = numbered([code[aligned.usable] for code in codes], sizes, len(aligned.usable))
    order = np.argsort(keys)
    fresh = np.diff(keys[order], prepend=-1) != 0
    return aligned.usable[order], np.append(np.flatnonzero(fresh), len(order))


def _inside(
    forest: Forest, aligned: Aligned, boxes: Boxes, box_of: NDArray[np.int64], wanted: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, per query, how many original rows with a combination of values lie in a box; queries are sorted by box.

    Each box has so many queries that all its rows are visited once, in one tree of all points.
    """
    keys = numbered(list(forest.points.T), [len(column.values) for column in aligned.columns], len(forest.points))
    _, first, point_of = np.unique(keys, return_index=True, return_inverse=True)
    tree = plant_tree(forest.points[first], boxes)
    place = np.empty(len(first), np.int64)
    place[tree.order] = np.arange(len(first))
    sizes = forest.last[forest.roots] - forest.first[forest.roots]
    kind_of = np.repeat(np.arange(aligned.kinds), sizes)
    turn = np.argsort(place[point_of], kind="stable")
    starts = np.searchsorted(place[point_of][turn], np.arange(len(first) + 1))
    held = sums_inside(tree, boxes, box_of, starts, kind_of[turn], forest.weights[turn], aligned.kinds, wanted)
    return np.asarray(held, np.int64)


def _candidates(
    forest: Forest, boxes: Boxes, groups: NDArray[np.int64], kinds: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return how many distinct points could serve each claim, and their positions, claim by claim; None if these are
    more than ``limit`` in total."""
    numbers, positions = incidences(forest, boxes, groups, kinds, limit)
    return None if len(positions) > limit else (numbers, positions)


def _weights(forest: Forest, numbers: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows could serve each claim."""
    ends = np.concatenate([[0], np.cumsum(forest.weights[positions])])
    at = np.cumsum(numbers)
    return np.asarray(ends[at] - ends[at - numbers], np.int64)


def _lacking(
    forest: Forest, needs: NDArray[np.int64], numbers: NDArray[np.int64], positions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many rows of each claim (a group and a value) get no original row in a maximum assignment.

    Source -> claim: as many rows as the group claims. Claim -> original point inside: as many rows as the point has.
    Point -> sink: the same number.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    claims, points = len(needs), len(forest.weights)
    size = 1 + claims + points + 1
    capacity: NDArray[np.int64] = np.concatenate(
        [needs, np.minimum(forest.weights[positions], np.repeat(needs, numbers)), forest.weights]
    )
    ends = [np.arange(1, claims + 1), positions + claims + 1, np.full(points, size - 1)]
    targets = np.concatenate(ends)
    degrees = np.concatenate([[claims], numbers, np.ones(points, np.int64), [0]])
    starts = np.concatenate([[0], np.cumsum(degrees)])
    graph = csr_array(
        (capacity.astype(np.int32), targets.astype(np.int32), starts.astype(np.int32)), shape=(size, size)
    )
    graph.sort_indices()
    result = maximum_flow(graph, 0, size - 1)
    if result.flow_value == int(needs.sum()):
        return np.zeros(claims, np.int64)
    sent: NDArray[np.int64] = result.flow[[0]].toarray().ravel()[1 : claims + 1]
    return (needs - sent).astype(np.int64)


def ordered(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order that sorts the numbers, ties as they stand.

    >>> ordered(np.array([3, 1, 3])).tolist(), ordered(np.array([-1, 1 << 40, 0])).tolist()
    ([1, 0, 2], [0, 2, 1])
    """
    if len(numbers) and numbers.min() >= 0 and (most := int(numbers.max())) <= len(numbers):
        order: NDArray[np.int64] = counting_order(numbers, most + 1)[0]
        return order
    return np.argsort(numbers, kind="stable")
