"""Check that the original supports a release without a trace.

An assignment of rows to groups exists exactly if a maximum flow from groups to rows fills every group; this detects
every release that no assignment of original rows explains. If that graph is too large, necessary conditions are checked
instead, following Hall's theorem: a description contains at least as many original rows of each sensitive value as all
groups whose descriptions lie inside it claim together. The group itself is always one of these groups; further ones are
searched for in up to ``REGIONS`` descriptions, from narrow to wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, in_words
from discreet.kernels.boxes.boxes import Boxes, nested
from discreet.kernels.boxes.forest import Forest
from discreet.kernels.boxes.search import incidences, sums_inside, tally
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.boxes import plant, plant_tree, points_of
from discreet.releases.descriptions import Descriptions
from discreet.table.combinations import numbered, ranked

Ints = NDArray[np.int64]

EDGES = 2_000_000
"""The largest graph searched for an assignment of rows to groups."""

REGIONS = 5_000
"""In how many descriptions other groups are searched for if the graph is too large."""

COMPARISONS = 30_000_000, 300_000_000
"""The most pairs of descriptions compared, in small releases and in large ones: up to two seconds."""

EFFORT = 100
"""How many pairs of descriptions are compared per published row, between these limits."""


class Claimed(NamedTuple):
    """How many original rows every group claims, by combination of values published unchanged."""

    aligned: Aligned
    cells: Descriptions
    """The groups."""
    groups: Ints
    """Per claim: its group."""
    kinds: Ints
    """Per claim: the combination."""
    needs: Ints
    """Per claim: the number of rows."""
    forest: Forest
    """The distinct original points, in one tree per combination, planted for these claims."""

    @classmethod
    def of(cls, aligned: Aligned, claims: Counts, cells: Descriptions) -> Claimed:
        """Return the claims to combinations that the original has."""
        groups, kinds, needs = claims.groups, claims.values.astype(np.int64), claims.amounts
        if claims.width > aligned.kinds:
            known = kinds < aligned.kinds
            groups, kinds, needs = groups[known], kinds[known], needs[known]
        # equal rows, with the same combination, are one point
        codes: list[NDArray[Any]] = [aligned.had, *(column.codes for column in aligned.columns)]
        sizes = [aligned.kinds, *(len(column.values) for column in aligned.columns)]
        keys = numbered([code[aligned.usable] for code in codes], sizes, len(aligned.usable))
        order = np.argsort(keys)
        firsts = np.append(np.flatnonzero(np.diff(keys[order], prepend=-1)), len(order))
        rows = aligned.usable[order[firsts[:-1]]]
        trees = np.searchsorted(aligned.had[rows], np.arange(aligned.kinds + 1))
        points = points_of(aligned.columns)[rows]
        forest = plant(points, np.diff(firsts), trees, aligned.boxes, groups, kinds)
        return cls(aligned, cells, groups, kinds, needs, forest)

    def named(self, group: int) -> str:
        """Return a group in words."""
        return f"group {self.cells.ids[group]} ({in_words(self.cells.text(group))})"


def without_trace(
    aligned: Aligned, limit: int | None = None, claims: Counts | None = None, cells: Descriptions | None = None
) -> tuple[Check, str]:
    """Check that original rows could be behind the groups; also return the method (``assignment`` or ``necessary``).

    ``claims`` are the counts of combinations of values published unchanged in every group, if they are known, and
    ``cells`` the groups, if they are not those of the release; ``limit`` is the largest graph that is searched.
    """
    release, limit = aligned.release, EDGES if limit is None else limit
    if claims is None:
        claims = Counts.of_rows(release.group_of, aligned.shown, release.groups, aligned.kinds + 1)
    claimed = Claimed.of(aligned, claims, release.descriptions if cells is None else cells)
    _, _, groups, kinds, needs, forest = claimed
    numbers, positions = incidences(forest, aligned.boxes, groups, kinds, limit)
    searched = len(positions) <= limit
    if searched:
        of_claim = np.repeat(np.arange(len(needs)), numbers)
        held = np.bincount(of_claim, forest.weights[positions], len(needs)).astype(np.int64)
    else:
        held = tally(forest, aligned.boxes, groups, kinds, needs)
    short = np.flatnonzero(held < needs)
    if short.size:
        many = len(np.unique(groups[short]))
        sentence = (
            f"The original does not hold the rows that {'1 group claims' if many == 1 else f'{many:,} groups claim'}: "
            f"the description of {claimed.named(int(groups[short[np.argmax((needs - held)[short])]]))} holds too few "
            "rows with one of its values."
        )
        return Check("support", False, sentence), "necessary"
    if int(needs.sum()) < int(claimed.cells.sizes.sum()):
        return Check("support", False, "Rows of the release have values that the original does not have."), "necessary"
    if not searched:
        return _crowded(claimed), "necessary"
    lacking = _lacking(forest, needs, of_claim, positions)
    if lacking.any():
        sentence = (
            f"No assignment of original rows to groups explains the release: however rows are assigned, "
            f"{wording.rows(int(lacking.sum()))} published cannot be an original row that the description of the group "
            f"admits, for example in {claimed.named(int(groups[np.argmax(lacking)]))}."
        )
    else:
        sentence = (
            "Without the trace: an assignment of original rows to groups exists in which every row lies in the "
            "description of its group and every group has exactly the sensitive values it is published with."
        )
    return Check("support", not lacking.any(), sentence), "assignment"


def _lacking(forest: Forest, needs: Ints, of_claim: Ints, positions: Ints) -> Ints:
    """Return how many rows of each claim (a group and a value) get no original row in a maximum assignment.

    Source -> claim: as many rows as the group claims. Claim -> original point inside: as many rows as the point has.
    Point -> sink: the same number.
    """
    claims, points = np.arange(len(needs)) + 1, np.arange(len(forest.weights)) + len(needs) + 1
    sink = len(needs) + len(points) + 1
    inside = np.minimum(forest.weights[positions], needs[of_claim])
    arcs = [
        (np.zeros_like(claims), claims, needs),
        (claims[of_claim], points[positions], inside),
        (points, np.full_like(points, sink), forest.weights),
    ]
    sent: Ints = largest_flow(arcs, sink).flow[[0]].toarray().ravel()
    return (needs - sent[1 : len(needs) + 1]).astype(np.int64)


def largest_flow(arcs: Sequence[tuple[Ints, Ints, Ints]], sink: int) -> Any:
    """Return the maximum flow from node 0 to the last one, through arcs with two ends and a capacity each."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    starts, ends, capacity = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    return maximum_flow(csr_array((capacity.astype(np.int32), (starts, ends)), shape=(sink + 1, sink + 1)), 0, sink)


def _crowded(claimed: Claimed) -> Check:
    """Check that no description contains fewer rows of a value than the groups inside it claim together."""
    aligned, cells, boxes = claimed.aligned, claimed.cells, claimed.aligned.boxes
    least, most = COMPARISONS
    comparisons = max(least, min(most, EFFORT * int(cells.sizes.sum())))
    chosen = _spread(boxes, min(REGIONS, comparisons // max(1, cells.cells)))
    starts = np.searchsorted(claimed.groups, np.arange(cells.cells + 1))
    places, values, sums = nested(boxes, chosen, starts, claimed.kinds, claimed.needs, aligned.kinds)
    # a region fills the gaps of its description, so that more groups lie inside it
    whole = boxes._replace(set_at=np.full_like(boxes.set_at, -1))
    held = _inside(claimed.forest, aligned, whole, chosen[places], values)
    short = np.flatnonzero(held < sums)
    if short.size:
        worst = int(chosen[places[short[np.argmax((sums - held)[short])]]])
        sentence = (
            "No assignment of original rows to groups explains the release: the groups whose descriptions lie inside "
            f"that of {claimed.named(worst)} claim more rows with one sensitive value than the original has there."
        )
        return Check("support", False, sentence)
    sentence = (
        "Without the trace: the description of every group holds at least as many original rows of each of its "
        f"sensitive values as the group claims, and in {len(chosen):,} descriptions as many as all groups inside them "
        "claim together; this is necessary but not sufficient, and only the trace can tell more."
    )
    return Check("support", True, sentence)


def _spread(boxes: Boxes, number: int) -> Ints:
    """Return the boxes to search: all distinct ones, or ``number`` of them evenly spaced from narrow to wide."""
    ends = [end.astype(np.int64) + 1 for end in (*boxes.low.T, *boxes.high.T)]  # an interval without codes ends at -1
    first = ranked(numbered(ends, [int(end.max(initial=0)) + 1 for end in ends], len(boxes.low)))[1]
    if len(first) <= number:
        return np.sort(first).astype(np.int64)
    widths = (boxes.high[first] - boxes.low[first] + 1).clip(min=1)
    ordered = first[np.argsort(np.log(widths).sum(axis=1), kind="stable")]
    return ordered[np.linspace(0, len(ordered) - 1, max(1, number)).astype(np.int64)].astype(np.int64)


def _inside(forest: Forest, aligned: Aligned, boxes: Boxes, box_of: Ints, wanted: Ints) -> Ints:
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
