"""Check that the original supports a nested release: its leaves can contain the persons, and its rows be theirs.

The leaf of every person is known from the private trace, or from the descriptions of leaves where no original row lies
in two of them. Then the rows of every node must belong to persons who are in the node and have no row below it: from
the leaves up, at least as many persons of every value arrive at a node as it has rows of that value, and nobody is left
over at the roots. If the leaves of persons are unknown, two necessary conditions are checked: that original rows can be
behind the rows of the nodes, each in the description of its node, and that every leaf can contain its stated number of
persons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, described
from discreet.adversary.checks import support as of_groups
from discreet.adversary.checks.trace import outside, place_rows, trace_check
from discreet.kernels.boxes.boxes import Boxes
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.releases.boxes import boxes_in, mixed
from discreet.releases.nested.release import NestedRelease
from discreet.releases.nested.tree import Tree

EXPLAINED = (
    "everybody lies in the description of their leaf, every leaf has the stated number of persons, and the rows of "
    "every node belong to persons in it without a row further down"
)
AT_FAULT = "where rows belong was not checked, because the tree is faulty"


def by_trace(release: NestedRelease, aligned: Aligned, trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that everybody belongs into the leaf given by the trace, and that nodes have the rows of their persons."""
    faults = list(faults)
    placed = place_rows(release, len(aligned.had), aligned.usable, trace, faults)
    if placed is not None:
        faults += explained_by(release, aligned, *placed)
    return trace_check(faults, EXPLAINED)


def explained_by(
    release: NestedRelease, aligned: Aligned, kept: NDArray[np.intp], places: NDArray[np.intp]
) -> list[str]:
    """Return why the original rows ``kept``, with their leaves at ``places``, do not explain the release, if so."""
    if not release.sound:
        return [AT_FAULT]
    faults = outside(aligned, kept, places)
    persons = np.bincount(places, minlength=release.groups)
    differ = np.flatnonzero(persons != release.persons)
    if len(differ):
        leaf = int(differ[0])
        faults.append(
            f"{_named(release, leaf)} has {persons[leaf]:,} persons, but the release states {release.persons[leaf]:,}"
        )
    width = aligned.kinds + 1
    had, shown = places * width + aligned.had[kept], release.group_of.astype(np.int64) * width + aligned.shown
    node = unfilled(release.tree, had, shown, width)
    if node is not None:
        faults.append(f"{_named(release, node)} is not published with rows of persons in it without a row further down")
    return faults


def unfilled(tree: Tree, had: NDArray[np.int64], shown: NDArray[np.int64], width: int) -> int | None:
    """Return the first node with rows that no persons from below can have, or a root with persons left over, if any.

    ``had`` are the persons and ``shown`` the rows, each as node x width + the number of the values published unchanged.
    """
    keys, place = np.unique(np.concatenate([had, shown]), return_inverse=True)
    more = np.bincount(place[: len(had)], minlength=len(keys)) - np.bincount(place[len(had) :], minlength=len(keys))
    depths = tree.depths[keys // width]
    order = np.argsort(depths, kind="stable")
    starts = np.searchsorted(depths[order], np.arange(len(tree.levels) + 1))
    carried, amounts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for depth in range(len(tree.levels) - 1, -1, -1):
        keys_here = order[starts[depth] : starts[depth + 1]]
        here, at = np.unique(np.concatenate([keys[keys_here], carried]), return_inverse=True)
        left = np.bincount(at, np.concatenate([more[keys_here], amounts]), len(here)).astype(np.int64)
        wrong = np.flatnonzero(left < 0) if depth else np.flatnonzero(left)
        if len(wrong):
            return int(here[wrong[0]] // width)
        held = left > 0
        carried = tree.parents[here[held] // width].astype(np.int64) * width + here[held] % width
        amounts = left[held]
    return None


def without_trace(release: NestedRelease, aligned: Aligned) -> tuple[Check, str]:
    """Check that original rows could be behind the tree; also return the method (``assignment`` or ``necessary``)."""
    if not release.sound:
        return Check("support", False, f"{AT_FAULT[0].upper()}{AT_FAULT[1:]}."), "necessary"
    leaves = release.leaves
    times, last = _leaves_at(release, aligned)
    placed = int((times > 0).sum())
    if placed < release.rows:
        sentence = (
            f"Only {wording.rows(placed)} of the original lie in the description of a leaf, and "
            f"{release.rows:,} are published."
        )
        return Check("support", False, sentence), "necessary"
    if placed == release.rows and int(times.max(initial=0)) == 1:
        kept = aligned.usable[times == 1]
        places = np.searchsorted(release.ids, leaves.ids)[last[times == 1]]
        faults = explained_by(release, aligned, kept, places)
        if faults:
            known = "No original row lies in two leaves, so everyone's leaf is known, and the original does not"
            return Check("support", False, f"{known} explain the release: {'; '.join(faults)}."), "assignment"
        known = "Without the trace: no original row lies in two leaves, so everyone's leaf is known; "
        return Check("support", True, f"{known}{EXPLAINED}."), "assignment"
    rows, how = of_groups.without_trace(aligned)
    if not rows.holds:
        return rows, how
    alike = aligned._replace(boxes=boxes_in(leaves, aligned.columns), had=np.zeros(len(aligned.had), np.int64), kinds=1)
    persons, how = of_groups.without_trace(
        alike,
        claims=Counts(np.arange(leaves.cells + 1), np.zeros(leaves.cells, np.int32), leaves.sizes, 1),
        cells=leaves,
    )
    if not persons.holds:
        return replace(persons, sentence=f"Persons and their leaves: {persons.sentence}"), how
    sentence = (
        "Without the trace: original rows can stand behind the rows of all nodes, each in the description of its "
        "node, and the description of every leaf can hold the stated number of persons; this is necessary but not "
        "sufficient where original rows lie in several leaves, and only the trace can tell more."
    )
    return Check("support", True, sentence), "necessary"


def _leaves_at(release: NestedRelease, aligned: Aligned) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, per publishable original row, how many leaves it lies in, and which leaf if it is only one."""
    number = release.leaves.cells
    pairs = np.stack([np.ones(number, np.int64), np.arange(number)], axis=1).ravel()
    twice = Counts(np.arange(number + 1) * 2, np.tile(np.array([0, 1], np.int32), number), pairs, 2)
    columns = [replace(column, codes=column.codes[aligned.usable]) for column in aligned.columns]
    sums = mixed(release.leaves, columns, twice)
    return sums[:, 0], sums[:, 1]


def _named(release: NestedRelease, node: int) -> str:
    return f"node {release.ids[node]} ({described(release, node)})"


# ------------------------------------------------------------------------------------------------------- descriptions


def nesting(release: NestedRelease, aligned: Aligned) -> Check:
    """Check that the description of every node lies inside its parent's: everyone in the node is in the parent."""
    children = np.flatnonzero(release.parents >= 0)
    inside = np.ones(len(children), np.bool_)
    for axis in range(len(aligned.columns)):
        inside &= _within(aligned.boxes, axis, children, release.parents[children].astype(np.intp))
    if bool(inside.all()):
        return Check("nesting", True, "The description of every node lies inside that of its parent.")
    node = int(children[np.argmin(inside)])
    sentence = (
        f"The description of {_named(release, node)} does not lie inside that of its parent, "
        f"{_named(release, int(release.parents[node]))}."
    )
    return Check("nesting", False, sentence)


def _within(boxes: Boxes, axis: int, inner: NDArray[np.intp], outer: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which boxes lie inside others on an axis; an empty box lies inside any."""

    def members(of_set: int) -> NDArray[np.int32]:
        return boxes.members[boxes.starts[of_set] : boxes.starts[of_set + 1]]

    low, high, set_at = boxes.low[:, axis], boxes.high[:, axis], boxes.set_at[:, axis]
    empty = low[inner] > high[inner]
    result = empty | ((low[inner] >= low[outer]) & (high[inner] <= high[outer]))
    gaps = np.flatnonzero(result & ~empty & (set_at[outer] >= 0))
    keys = np.stack([low[inner[gaps]], high[inner[gaps]], set_at[inner[gaps]], set_at[outer[gaps]]], axis=1)
    pairs, which = np.unique(keys, axis=0, return_inverse=True)
    holds = np.ones(len(pairs), np.bool_)
    for at, (first, last, inner_set, outer_set) in enumerate(pairs.tolist()):
        codes = np.arange(first, last + 1) if inner_set < 0 else members(inner_set)
        holds[at] = bool(np.isin(codes, members(outer_set)).all())
    result[gaps] = holds[which.ravel()]
    return result
