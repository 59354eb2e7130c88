"""The audit of a nested release: rows under nodes of a tree of persons.

Promises are judged by the beliefs about the persons of every leaf, held by an adversary who knows the tree. The beliefs
of adversaries who only match descriptions or count rows are reported as well; the promise is not about them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, align
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.domains import domains, ends_of
from discreet.adversary.checks.manifest import entries, stated_scheme
from discreet.adversary.checks.matching import (
    People,
    believed_by_matching,
    beyond,
    by_counting,
    marked_sets,
    people_of,
)
from discreet.adversary.checks.totals import totals
from discreet.adversary.formats.nested.support import by_trace, nesting, without_trace
from discreet.adversary.verdict import PromiseVerdict, Subjects, counts_of, judged
from discreet.analyst.loss import losses
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.principles.wording import rows
from discreet.releases.nested.beliefs import expected
from discreet.releases.nested.release import NestedRelease

CONSISTENT = (
    "The nodes form trees, and each has rows and one description; there are as many persons as rows; no node has "
    "more rows than persons in it without a row further down, and roots have exactly as many; the manifest gives "
    "the right numbers of rows and nodes."
)

CHILDREN = 2
"""A node is cut into so many."""

Ints = NDArray[np.int64]


def audit_nested(case: Case[NestedRelease]) -> FormatFindings:
    """Audit a nested release against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    checks = [entries(case, groups=case.manifest["groups"]), soundness.consistency(release, CONSISTENT)]
    checks += [domains(release, original, ends_of(release), case.from_release), totals(aligned, original)]
    checks.append(nesting(release, aligned))
    check, how = case.support(partial(by_trace, release, aligned), partial(without_trace, release, aligned))
    checks.append(check)
    prior = Prior.of(original)
    left = np.maximum(prior.counts - aligned.published, 0)
    if release.sound:
        scheme = stated_scheme(case.manifest.get("scheme"))
        if scheme is not None and scheme.options.get("lift") == "blind":
            checks.append(blind(release))
        subjects = leaves_of(release, aligned, prior)
        kept = [judged(part, subjects, prior, left) for part in case.parts]
        clear = [part for part, verdict in zip(case.parts, kept, strict=True) if math.isfinite(verdict.strain)]
        if clear:
            people = people_of(aligned, original)
            checks.append(by_descriptions(clear, release, aligned, people, prior, left))
            checks.append(by_counting(clear, aligned, people, prior))
    else:
        kept = [PromiseVerdict.unjudged(part, ": the tree of the release is faulty") for part in case.parts]
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    checks += warnings
    return FormatFindings(checks, kept, losses(release), how, given, release.groups)


def leaves_of(release: NestedRelease, aligned: Aligned, prior: Prior) -> Subjects:
    """Return the persons by leaf, with their expected sensitive values."""
    beliefs = expected(release.tree, counts_of(aligned, len(prior.values)))
    chosen = np.flatnonzero(release.persons)
    return Subjects(
        beliefs.only(chosen), release.leaves.ids, release.leaves.text, "leaf", "leaves of the tree", _persons
    )


def _persons(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} persons"


def blind(release: NestedRelease) -> Check:
    """Check that rows were lifted blindly, if the manifest states so: all rows of a value, or a sample of all others.

    Of the values that still have rows below a node, each of its two children lifted the same share, rounded. So where D
    are the rows of such a value below each child and L those at the node, L is x D summed over the children, with an
    x >= 0 of each child that all these values have in common: a share r was lifted, and x = r / (1 - r). Rounding adds
    less than 1 + x for each child. Nodes without rows are not published, and their children are their parents', so
    there may be more than two, and each is granted an x of its own.
    """
    rows = _dense(release.counts)
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


def _dense(counts: Counts) -> Ints:
    """Return how often each value occurs at each node."""
    table = np.zeros((len(counts), counts.width), np.int64)
    np.add.at(table, (counts.groups, counts.values), counts.amounts)
    return table


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
        gone = f" but the {rows(nowhere)} that no description admits" if nowhere else ""
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
    if isinstance(believed, str):
        caveat = "the beliefs of an attacker who ignores the tree and only matches descriptions were not computed"
        return Check("descriptions", True, f"{some}, which was not computed, because {believed}.", caveat=caveat)
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
