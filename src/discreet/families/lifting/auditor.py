"""The audit of a nested release: rows under nodes of a tree of persons.

Promises are judged by the beliefs about the persons of every leaf, held by an adversary who knows the tree. The beliefs
of adversaries who only match descriptions or count rows are reported as well; the promise is not about them.

The leaf of every person is known from the private trace, or from the descriptions of leaves where no original row lies
in two of them. Then the rows of every node must belong to persons who are in the node and have no row below it: from
the leaves up, at least as many persons of every value arrive at a node as it has rows of that value, and nobody is left
over at the roots. If the leaves of persons are unknown, two necessary conditions are checked: that original rows can be
behind the rows of the nodes, each in the description of its node, and that every leaf can contain its stated number of
persons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, align, codes_in
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check, named
from discreet.adversary.checks import soundness
from discreet.adversary.checks import support as of_groups
from discreet.adversary.checks.certain import certain
from discreet.adversary.checks.domains import ends_of
from discreet.adversary.checks.manifest import stated_scheme
from discreet.adversary.checks.matching import (
    People,
    admitting,
    believed_by_matching,
    beyond,
    by_counting,
    marked_sets,
    people_of,
)
from discreet.adversary.checks.totals import totals
from discreet.adversary.checks.trace import outside
from discreet.adversary.verdict import PromiseVerdict, Subjects, counts_of, judged, number_of
from discreet.analyst.loss import losses
from discreet.families.lifting.nodes import Nested
from discreet.families.lifting.release import NestedRelease
from discreet.families.lifting.tree import Tree, expected
from discreet.kernels.boxes.boxes import Boxes
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts
from discreet.releases.boxes import boxes_in

CONSISTENT = (
    "The nodes form trees, and each has rows and one description; there are as many persons as rows; no node has "
    "more rows than persons in it without a row further down, and roots have exactly as many; the manifest gives "
    "the right numbers of rows and nodes."
)
EXPLAINED = (
    "everybody lies in the description of their leaf, every leaf has the stated number of persons, and the rows of "
    "every node belong to persons in it without a row further down"
)
AT_FAULT = "where rows belong was not checked, because the tree is faulty"
CHILDREN = 2
"""A node is cut into this many."""

Ints = NDArray[np.int64]


def audit_nested(case: Case[NestedRelease]) -> FormatFindings:
    """Audit a nested release against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    checks = soundness.opening(case, CONSISTENT, ends_of(release), groups=case.manifest["groups"])
    checks += [totals(aligned, original), nesting(release, aligned)]
    misplaced, without = partial(explained_by, release, aligned), partial(without_trace, release, aligned)
    check, how = case.support(EXPLAINED, misplaced, without)
    checks.append(check)
    prior = Prior.of(original)
    left = np.maximum(prior.counts - aligned.published, 0)
    if release.sound:
        checks += lifted_blindly(case)
        persons = leaves_of(release, counts_of(aligned, len(prior.values)))
        known = certain(original.sensitive_attribute, persons.counts, left)
        kept = [judged(part, persons, prior, left) for part in case.parts]
        clear = [part for part, verdict in zip(case.parts, kept, strict=True) if math.isfinite(verdict.strain)]
        if clear:
            people = people_of(aligned, original)
            checks.append(by_descriptions(clear, release, aligned, people, prior, left))
            checks.append(by_counting(clear, aligned, people, prior))
    else:
        known = []
        kept = [PromiseVerdict.unjudged(part, ": the tree of the release is faulty") for part in case.parts]
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    checks += warnings
    return FormatFindings(checks, kept, losses(release), how, given, release.groups, known)


def leaves_of(release: Nested, counts: Counts) -> Subjects:
    """Return the leaves with what is believed of their persons, given what is counted under every node."""
    chosen = np.flatnonzero(release.persons)
    return Subjects(
        expected(release.tree, counts).only(chosen),
        release.ids[chosen],
        lambda at: release.description(int(chosen[at])),
        "leaf",
        "leaves of the tree",
        partial(number_of, "person"),
    )


def nesting(release: NestedRelease, aligned: Aligned) -> Check:
    """Check that the description of every node lies inside its parent's: everyone in the node is in the parent."""
    children = np.flatnonzero(release.parents >= 0)
    inside = np.ones(len(children), np.bool_)
    for axis in range(len(aligned.columns)):
        inside &= _within(aligned.boxes, axis, children, release.parents[children].astype(np.intp))
    if bool(inside.all()):
        return Check("nesting", True, "The description of every node lies inside that of its parent.")
    node = int(children[np.argmin(inside)])
    inner, outer = (named(release, at, "node") for at in (node, int(release.parents[node])))
    return Check("nesting", False, f"The description of {inner} does not lie inside that of its parent, {outer}.")


def _within(boxes: Boxes, axis: int, inner: NDArray[np.intp], outer: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which boxes lie inside others on an axis; an empty box lies inside any."""
    low, high, set_at = boxes.low[:, axis], boxes.high[:, axis], boxes.set_at[:, axis]
    result = (low[inner] > high[inner]) | ((low[inner] >= low[outer]) & (high[inner] <= high[outer]))
    gaps = np.flatnonzero(result & (set_at[outer] >= 0))
    keys = np.stack([low[inner[gaps]], high[inner[gaps]], set_at[inner[gaps]], set_at[outer[gaps]]], axis=1)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    held = [np.isin(codes_in(boxes, inner[at], axis), codes_in(boxes, outer[at], axis)).all() for at in gaps[first]]
    result[gaps] = np.array(held, np.bool_)[which.ravel()]
    return np.asarray(result)


def lifted_blindly(case: Case[Any]) -> list[Check]:
    """Check that rows were lifted blindly, if the manifest states so."""
    scheme = stated_scheme(case.manifest.get("scheme"))
    return [blind(case.release)] if scheme is not None and scheme.options.get("lift") == "blind" else []


def blind(release: Nested) -> Check:
    """Check that rows were lifted blindly, if the manifest states so: all rows of a value, or a sample of all others.

    Of the values that still have rows below a node, each of its two children lifted the same share, rounded. So where D
    are the rows of such a value below each child and L those at the node, L is x D summed over the children, with an
    x >= 0 of each child that all these values have in common: a share r was lifted, and x = r / (1 - r). Rounding adds
    less than 1 + x for each child. Nodes without rows are not published, and their children are their parents', so
    there may be more than two, and each is granted an x of its own.
    """
    rows = release.counts.matrix()
    below = np.zeros_like(rows)
    for level in reversed(release.tree.levels[1:]):
        np.add.at(below, release.parents[level], (rows + below)[level])
    children: dict[int, list[int]] = {}
    for child in np.flatnonzero(release.parents >= 0).tolist():
        children.setdefault(int(release.parents[child]), []).append(child)
    for node, nodes in children.items():
        # if the persons of one child are told of no more than the node, all its rows were lifted, of whatever value
        if release.persons[node] == 0 and not _sampled(rows[node], (rows + below)[nodes]):
            fault = f"The manifest states lift=blind, but the rows of node {release.ids[node]} are neither all of"
            return Check("lifting", False, f"{fault} their values nor a sample of all others below it.")
    return Check("lifting", True, "Every node has all rows of a value below it or a sample, as lift=blind states.")


def _sampled(lifted: Ints, below: Ints) -> bool:
    """Whether rows can be a sample of those of each value that has rows below, given by child."""
    from scipy.optimize import linprog

    open_values = np.flatnonzero(below.sum(axis=0))
    at, under = lifted[open_values], below[:, open_values].T
    share = at.sum() / under.sum()
    if bool((np.abs(at - share * under.sum(axis=1)) <= CHILDREN * (1.0 + share)).all()):
        return True
    sides, limits = np.concatenate([under - 1, -under - 1]), np.concatenate([at + CHILDREN, CHILDREN - at])
    solved = linprog(np.zeros(len(below)), A_ub=sides, b_ub=limits, bounds=(0.0, None), method="highs")
    return bool(solved.status != 2)  # 2: no x is possible


# ---------------------------------------------------------------------------------------- where persons and rows belong


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
        states = f"{persons[leaf]:,} persons, but the release states {release.persons[leaf]:,}"
        faults.append(f"{named(release, leaf, 'node')} has {states}")
    width = aligned.kinds + 1
    had, shown = places * width + aligned.had[kept], release.group_of.astype(np.int64) * width + aligned.shown
    return faults + not_of_persons(release, had, shown, width)


def not_of_persons(release: Nested, had: Ints, shown: Ints, width: int) -> list[str]:
    """Report a node whose rows cannot be those of persons in it; see ``unfilled``."""
    node = unfilled(release.tree, had, shown, width)
    if node is None:
        return []
    return [f"{named(release, node, 'node')} is not published with rows of persons in it without a row further down"]


def unfilled(tree: Tree, had: NDArray[np.int64], shown: NDArray[np.int64], width: int) -> int | None:
    """Return a node with rows that no persons from below can have, or a root with persons left over, if any.

    ``had`` are the persons and ``shown`` the rows, each as node x width + the number of the values published unchanged.
    """
    from scipy.sparse import csr_array

    keys, nodes = np.concatenate([had, shown]), len(tree.parents)
    signs = np.repeat([1, -1], [len(had), len(shown)])
    left = csr_array((signs, (keys // width, keys % width)), shape=(nodes, width))
    for level in reversed(tree.levels[1:]):  # what is left of a node is added to its parent
        ones = np.ones(len(level), np.int64)
        left = left + csr_array((ones, (tree.parents[level], level)), shape=(nodes, nodes)) @ left
    of_node, _ = left.nonzero()
    wrong = of_node[(left.data[left.data != 0] < 0) | (tree.parents[of_node] < 0)]
    return int(wrong[np.argmax(tree.depths[wrong])]) if len(wrong) else None


def without_trace(release: NestedRelease, aligned: Aligned) -> tuple[Check, str]:
    """Check that original rows could be behind the tree; also return the method (``assignment`` or ``necessary``)."""
    if not release.sound:
        return Check("support", False, f"{AT_FAULT[0].upper()}{AT_FAULT[1:]}."), "necessary"
    leaves = release.leaves
    columns = [replace(column, codes=column.codes[aligned.usable]) for column in aligned.columns]
    times, last = admitting(leaves, columns, np.arange(leaves.cells))  # the latter is the leaf, if it is only one
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


# ---------------------------------------------------------------------------------------------------- beliefs of others


def by_descriptions(
    parts: Sequence[Principle],
    release: NestedRelease,
    aligned: Aligned,
    people: People,
    prior: Prior,
    left: NDArray[np.int64],
) -> Check:
    """Check the beliefs of an adversary who ignores the tree; the promise assumes it known, so excess is a caveat.

    Where descriptions admit only the persons of their nodes, matching them leads to the tree again; elsewhere the
    chances are found by scaling (see `discreet.adversary.checks.matching`).
    """
    sets, node_of = _kinds(release, people)
    placed = node_of >= 0
    alike = np.bincount(node_of[placed], people.numbers[placed], release.groups).astype(np.int64)
    nowhere = int(people.numbers[node_of == -2].sum())
    if bool((placed | (node_of == -2)).all()) and bool((alike == release.persons).all()):
        gone = f" but the {wording.rows(nowhere)} that no description admits" if nowhere else ""
        sentence = (
            "No description admits anybody who is not in its node, and who is in which leaf can be told from the "
            f"descriptions for all original rows{gone}: an attacker who only matches descriptions believes what was "
            "judged."
        )
        return Check("descriptions", True, sentence)
    some = (
        "Descriptions admit people who are not in their nodes, or who is in which leaf cannot be told from them. So "
        "an attacker who ignores the tree and only matches descriptions believes something other than what was judged"
    )
    believed = believed_by_matching(aligned, people, sets, np.flatnonzero(node_of != -2), left)
    about = "the promise is about an attacker who knows the tree, and one who ignores it and only matches descriptions"
    return beyond(parts, prior, believed, some, about)


def _kinds(release: NestedRelease, people: People) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, per combination, a number for the set of descriptions that admit it, and the node these lead down to.

    The node is -1 if the descriptions are not those of a node and its ancestors, and -2 if there are none.
    """
    tree = release.tree
    times, sets, marks = marked_sets(release, people)
    paths = marks.copy()
    for level in tree.levels[1:]:
        paths[level] += paths[tree.parents[level]]
    order = np.argsort(paths)
    at = order[np.minimum(np.searchsorted(paths[order], sets), release.groups - 1)]
    known = (paths[at] == sets) & (times == tree.depths[at] + 1)
    return sets, np.where(times == 0, -2, np.where(known, at, -1))
