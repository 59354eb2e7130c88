"""The beliefs of adversaries who ignore the tree of a nested release and only match descriptions with people.

One adversary takes all assignments of rows to people for equally likely in which everybody lies in the description of
the row's node, whether or not the person is in that node. Where descriptions admit only the persons of their nodes,
this adversary arrives at the tree again. Elsewhere the chances are found by scaling. People are of the same kind if the
same descriptions admit them. Of all tables of chances whose sums are the people of each kind and the rows of each node,
the likeliest is the one in which a chance is a factor of the kind times a factor of the node; scaling lines and columns
in turn converges to it (Sinkhorn). For few people this is an approximation, because rows are then given out one by one.

Another adversary counts the rows under all descriptions that admit a person. This gives a row of a large node as much
weight as one of a small node, although it may belong to many more people: such beliefs are not calibrated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check
from discreet.adversary.formats.generalized.align import Aligned
from discreet.adversary.verdict import counts_of
from discreet.kernels.boxes.search import incidences
from discreet.kernels.judging import SLACK
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.principles.wording import rows
from discreet.releases.boxes import mixed, plant, points_of
from discreet.releases.nested.release import NestedRelease
from discreet.table.combinations import numbered
from discreet.table.table import Column

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PAIRS = 5_000_000
"""The most pairs of a kind of people and a node that admits them for which scaling is tried."""
ROUNDS, EFFORT = 2_000, 1_000_000_000
"""The most rounds of scaling, and the most chances scaled in total."""
CLOSE, LOOSE = 1e-7, 1e-3
"""How far sums may be off, as a share of all people, for scaling to stop early, and at its end."""
POINTS = 20_000
"""For how many combinations of quasi-identifiers rows are counted, at most."""

Floats = NDArray[np.float64]


class People(NamedTuple):
    """The combinations of quasi-identifiers of the publishable original rows."""

    columns: tuple[Column, ...]
    numbers: NDArray[np.int64]
    """Per combination: its number of rows."""
    of_row: NDArray[np.intp]
    """Per publishable row: its combination."""


def people_of(aligned: Aligned) -> People:
    """Return the people of an original."""
    codes = [column.codes[aligned.usable] for column in aligned.columns]
    keys = numbered(codes, [len(column.values) for column in aligned.columns], len(aligned.usable))
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    columns = tuple(replace(column, codes=of[first]) for column, of in zip(aligned.columns, codes, strict=True))
    return People(columns, np.bincount(of_row, minlength=len(first)), of_row)


# ------------------------------------------------------------------------------------------------ all ways to match


def by_descriptions(
    parts: Sequence[Principle],
    release: NestedRelease,
    aligned: Aligned,
    people: People,
    prior: Prior,
    left: NDArray[np.int64],
) -> Check:
    """Check the beliefs of an adversary who ignores the tree; the promise assumes it known, so excess is a caveat."""
    kinds, node_of = _kinds(release, people)
    placed = node_of >= 0
    alike = np.bincount(node_of[placed], people.numbers[placed], release.groups).astype(np.int64)
    nowhere = int(people.numbers[node_of == -2].sum())
    if bool((placed | (node_of == -2)).all()) and bool((alike == release.persons).all()):
        gone = f" but the {rows(nowhere)} that no description admits" if nowhere else ""
        sentence = (
            "No description admits anybody who is not in its node, and who is in which leaf can be told from the "
            f"descriptions for all original rows{gone}: whoever only matches descriptions believes what was judged."
        )
        return Check("descriptions", True, sentence)
    _, first, kind_of = np.unique(kinds[node_of != -2], return_index=True, return_inverse=True)
    seen = np.flatnonzero(node_of != -2)
    sizes = np.bincount(kind_of, people.numbers[seen]).astype(np.float64)
    some = (
        "Descriptions admit people who are not in their nodes, or who is in which leaf cannot be told from them. So "
        "whoever ignores the tree and only matches descriptions believes something else than was judged"
    )
    admits = _admits(aligned, people, seen[first])
    shares, why = None, f"there are {len(first):,} kinds of people and {release.groups:,} nodes"
    if admits is not None:
        shares = _scaled(admits, sizes, release.sizes.astype(np.float64))
        why = "no chances were found by which everybody has a row"
    if shares is None:
        caveat = "what someone believes who ignores the tree and only matches descriptions was not looked at"
        return Check("descriptions", True, f"{some}, which was not looked at, as {why}.", caveat=caveat)
    width = len(prior.values)
    published = counts_of(aligned, width).matrix() / np.maximum(1, release.sizes)[:, None]
    beliefs = shares[:, : release.groups] @ published
    if shares.shape[1] > release.groups and left.sum():
        beliefs += shares[:, [release.groups]].toarray() * (left / left.sum())
    return _beyond(parts, prior, beliefs, sizes, some)


def _beyond(parts: Sequence[Principle], prior: Prior, beliefs: Floats, sizes: Floats, some: str) -> Check:
    """Report how far the beliefs about kinds of people exceed the promises."""
    lines, values = np.nonzero(beliefs)
    starts = np.searchsorted(lines, np.arange(len(beliefs) + 1))
    amounts = beliefs[lines, values] * sizes[lines]
    counts = Counts(starts, values.astype(np.int32), amounts, len(prior.values), sizes.astype(np.int64))
    told, beyond = [], []
    for part in parts:
        strains = part.strain(counts, prior)
        worst = float(strains.max(initial=0.0))
        if worst > 1.0 + 1e-4:  # scaling is this accurate
            number = int(sizes[strains > 1.0 + 1e-4].sum())
            told.append(f"up to {worst:.2f} times what {part} allows, beyond it about {rows(number)}")
            beyond.append(f"{worst:.2f} times what {part} allows")
        else:
            told.append(f"at most {100 * worst:.0f} % of what {part} allows")
    caveat = ""
    if beyond:
        caveat = (
            "the promise is about whoever knows the tree, and one who ignores it and only matches descriptions may "
            f"believe up to {', '.join(beyond)}"
        )
    return Check("descriptions", True, f"{some}: {'; '.join(told)}.", caveat=caveat)


def _kinds(release: NestedRelease, people: People) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, per combination, a number for the set of descriptions that admit it, and the node these lead down to.

    The number is a sum of random marks, one per node, so that two different sets have the same number with probability
    2^-63. The node is -1 if the descriptions are not those of a node and its ancestors, and -2 if there are none.
    """
    nodes, tree = release.groups, release.tree
    marks = np.random.default_rng(0).integers(-(1 << 62), 1 << 62, nodes)
    pairs = np.stack([np.ones(nodes, np.int64), marks], axis=1).ravel()
    both = Counts(np.arange(nodes + 1) * 2, np.tile(np.array([0, 1], np.int32), nodes), pairs, 2)
    found = mixed(release, people.columns, both)
    paths = marks.copy()
    for level in tree.levels[1:]:
        paths[level] += paths[tree.parents[level]]
    order = np.argsort(paths)
    at = order[np.minimum(np.searchsorted(paths[order], found[:, 1]), nodes - 1)]
    known = (paths[at] == found[:, 1]) & (found[:, 0] == tree.depths[at] + 1)
    return found[:, 1], np.where(found[:, 0] == 0, -2, np.where(known, at, -1))


def _admits(aligned: Aligned, people: People, chosen: NDArray[np.intp]) -> csr_array | None:
    """Return which combinations (lines) the descriptions of nodes (columns) admit; None if there are too many pairs."""
    from scipy.sparse import csr_array

    points, nodes = points_of(people.columns)[chosen], len(aligned.boxes.low)
    forest = plant(points, np.ones(len(points), np.int64), np.array([0, len(points)]))
    numbers, positions = incidences(forest, aligned.boxes, np.arange(nodes), np.zeros(nodes, np.int64), PAIRS)
    if len(positions) > PAIRS:
        return None
    where = forest.order[positions], np.repeat(np.arange(nodes), numbers)
    return csr_array((np.ones(len(positions)), where), shape=(len(points), nodes))


def _scaled(admits: csr_array, sizes: Floats, held: Floats) -> csr_array | None:
    """Return, per kind of people, the chance that their row belongs to each node, and lastly that it is withheld.

    None if no chances were found that give out all rows and leave nobody without one.
    """
    from scipy.sparse import csr_array, hstack

    spare = float(sizes.sum() - held.sum())
    if spare < 0:
        return None
    if spare:
        admits = csr_array(hstack([admits, np.ones((len(sizes), 1))]))
        held = np.append(held, spare)
    turned = csr_array(admits.T)
    of_kind, off = np.ones(len(sizes)), np.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(max(10, min(ROUNDS, EFFORT // max(1, admits.nnz)))):
            of_node = held / (turned @ of_kind)
            reached = admits @ of_node
            off = float(np.abs(of_kind * reached - sizes).sum() / sizes.sum())
            if off <= CLOSE:
                break
            of_kind = sizes / reached
    if not off <= LOOSE:
        return None
    # the lines are the beliefs, so these must sum to 1
    chances = of_node[admits.indices] / np.repeat(reached, np.diff(admits.indptr))
    return csr_array((chances, admits.indices, admits.indptr), shape=admits.shape)


# ------------------------------------------------------------------------------------------------- counting of rows


def by_counting(
    parts: Sequence[Principle],
    release: NestedRelease,
    aligned: Aligned,
    people: People,
    prior: Prior,
    classes: NDArray[np.int32],
) -> Check:
    """Report how wrong it is to count the rows of all nodes that admit a person; this breaks no promise."""
    chosen = np.unique(np.linspace(0, len(people.numbers) - 1, min(POINTS, len(people.numbers))).astype(np.intp))
    columns = [replace(column, codes=column.codes[chosen]) for column in people.columns]
    counts = mixed(release, columns, counts_of(aligned, len(prior.values)))
    totals = counts.sum(axis=1, keepdims=True)
    place = np.full(len(people.numbers), -1)
    place[chosen] = np.arange(len(chosen))
    of_row = place[people.of_row]
    own = classes[aligned.usable][of_row >= 0]
    cells = np.bincount(of_row[of_row >= 0] * counts.shape[1] + own, minlength=counts.size)
    had = cells.reshape(counts.shape)
    told = []
    for part in parts:
        caps = part.caps(prior)
        if caps is None:
            continue
        over = (counts > caps * totals + SLACK) & (totals > 0)
        if not bool(over.any()):
            told.append(f"no more than {part} allows")
            continue
        shares = counts / np.maximum(1, totals)
        times = float((shares / np.maximum(caps, 1e-300))[over].max())
        weighed = people.numbers[chosen][:, None]
        claimed, allowed = float((shares * weighed)[over].sum()), float((caps * weighed)[over].sum())
        told.append(
            f"up to {times:.2f} times what {part} allows, and is wrong: where it is more than allowed, about "
            f"{claimed:,.0f} rows would have the value, {allowed:,.0f} are allowed, and {had[over].sum():,} have it"
        )
    some = f" (of {len(people.numbers):,} combinations, {len(chosen):,} were looked at)"
    sentence = (
        "Whoever counts all rows under descriptions that admit a person as equally likely to be the person's claims "
        f"{'; '.join(told) or 'what no promise here bounds'}{some if len(chosen) < len(people.numbers) else ''}."
    )
    return Check("counting", True, sentence)
