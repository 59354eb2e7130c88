"""The beliefs of adversaries who ignore the tree of a nested release and only match descriptions with people.

Where descriptions admit only the persons of their nodes, matching them leads to the tree again; elsewhere the
chances are found by scaling (see `discreet.adversary.checks.matching`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check
from discreet.adversary.checks.matching import People, believed_by_matching, beyond, marked_sets
from discreet.principles import Principle, Prior
from discreet.principles.wording import rows
from discreet.releases.nested.release import NestedRelease


def by_descriptions(
    parts: Sequence[Principle],
    release: NestedRelease,
    aligned: Aligned,
    people: People,
    had: NDArray[np.int64],
    prior: Prior,
    left: NDArray[np.int64],
) -> Check:
    """Check the beliefs of an adversary who ignores the tree; the promise assumes it known, so excess is a caveat."""
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
        "an attacker who ignores the tree and only matches descriptions believes something else than was judged"
    )
    found = believed_by_matching(aligned, people, sets, np.flatnonzero(node_of != -2), had, left)
    if isinstance(found, str):
        caveat = "what an attacker believes who ignores the tree and only matches descriptions was not computed"
        return Check("descriptions", True, f"{some}, which was not computed, because {found}.", caveat=caveat)
    about = "the promise is about an attacker who knows the tree, and one who ignores it and only matches descriptions"
    return beyond(parts, prior, found, some, about)


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
