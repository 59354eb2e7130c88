"""The beliefs of adversaries who only match descriptions with people, where a promise is about more than that.

One adversary takes all assignments of rows to people for equally likely in which everybody lies in the description of
the row. The chances are found by scaling. People are of the same kind if the same descriptions admit them. Of all
tables of chances whose sums are the people of each kind and the rows of each group, the likeliest is the one in which a
chance is a factor of the kind times a factor of the group; scaling lines and columns in turn converges to it
(Sinkhorn). For few people this is an approximation, because rows are then given out one by one.

Another adversary counts the rows under all descriptions that admit a person. This gives a row of a large description as
much weight as one of a small one, although it may belong to many more people: such beliefs are not calibrated.

How calibrated beliefs are is told where they go beyond a bound: how many people would have the values that are believed
too strongly if the beliefs were right, how many may have them by the bound, and how many do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check
from discreet.adversary.verdict import counts_of
from discreet.kernels.boxes.search import incidences
from discreet.kernels.judging import SLACK
from discreet.principles import Principle, Prior
from discreet.principles.bounds import bounded_shares
from discreet.principles.counts import Counts
from discreet.principles.wording import rows
from discreet.randomness import numbers_below
from discreet.releases.boxes import mixed, plant_tree, points_of
from discreet.releases.described import DescribedRelease
from discreet.releases.descriptions import Descriptions
from discreet.releases.exact_rows import crossed
from discreet.table.combinations import numbered
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PAIRS = 5_000_000
"""The most pairs of a kind of people and a node that admits them for which scaling is tried."""
ROUNDS, EFFORT = 2_000, 1_000_000_000
"""The most rounds of scaling, and the most chances scaled in total."""
CLOSE, LOOSE = 1e-7, 1e-3
"""How far sums may be off, as a share of all people, for scaling to stop early, and at its end."""
ACCURATE = 1e-4
"""How accurate scaling is."""
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
    had: NDArray[np.int64]
    """Per combination and sensitive value of the original: its number of rows with the value."""


def people_of(aligned: Aligned, original: Table) -> People:
    """Return the people of an original."""
    codes = [column.codes[aligned.usable] for column in aligned.columns]
    keys = numbered(codes, [len(column.values) for column in aligned.columns], len(aligned.usable))
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    columns = tuple(replace(column, codes=of[first]) for column, of in zip(aligned.columns, codes, strict=True))
    had = crossed(of_row, len(first), original.sensitive_codes[aligned.usable], len(original.prior_counts))
    return People(columns, had.sum(axis=1), of_row, had)


class Believed(NamedTuple):
    """What is believed of kinds of people."""

    beliefs: Floats
    """A line for each kind, a column for each value."""
    sizes: Floats
    """How many people are of each kind."""
    had: NDArray[np.int64]
    """How many people of each kind have each value."""
    likeliest: NDArray[np.intp]
    """The group that each kind's rows are likeliest in."""

    def under(self, nodes: NDArray[np.int32]) -> Believed:
        """The same by the node above each value."""
        above = np.zeros((len(nodes), int(nodes.max()) + 1), np.int64)
        above[np.arange(len(nodes)), nodes] = 1
        return self._replace(beliefs=self.beliefs @ above, had=self.had @ above)

    @property
    def counts(self) -> Counts:
        """How many people of each kind are believed to have each value."""
        lines, values = np.nonzero(self.beliefs)
        starts = np.searchsorted(lines, np.arange(len(self.beliefs) + 1))
        amounts = self.beliefs[lines, values] * self.sizes[lines]
        width = self.beliefs.shape[1]
        return Counts(starts, values.astype(np.int32), amounts, width, self.sizes.astype(np.int64))


def marked_sets(
    release: DescribedRelease, people: People
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, per combination, how many descriptions admit it and the sum of their marks; and the marks.

    These are random, one per group, so that two different sets have the same sum with probability 2^-63. They come from
    the operating system: an attacker who knew them could publish descriptions that are taken for the same sets.
    """
    marks = numbers_below(1 << 63, release.groups) - (1 << 62)
    return *admitting(release.descriptions, people.columns, marks), marks


def admitting(
    cells: Descriptions, people: Sequence[Column], marks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, per line of the people, how many descriptions admit it and the sum of the marks of these."""
    number = len(marks)
    pairs = np.stack([np.ones(number, np.int64), marks], axis=1).ravel()
    both = Counts(np.arange(number + 1) * 2, np.tile(np.array([0, 1], np.int32), number), pairs, 2)
    sums = mixed(cells, people, both)
    return sums[:, 0], sums[:, 1]


def believed_by_matching(
    aligned: Aligned, people: People, sets: NDArray[np.int64], seen: NDArray[np.intp], left: NDArray[np.int64]
) -> Believed | str:
    """Return what someone believes who only matches descriptions, or why that is not known.

    ``sets`` numbers the set of descriptions that admit each combination, of which those at ``seen`` are admitted by
    some; ``left`` are the values of the withheld rows.
    """
    from scipy.sparse import csr_array

    release, had = aligned.release, people.had
    _, first, kind_of = np.unique(sets[seen], return_index=True, return_inverse=True)
    sizes = np.bincount(kind_of, people.numbers[seen]).astype(np.float64)
    points, nodes = points_of(people.columns)[seen[first]], len(aligned.boxes.low)
    forest = plant_tree(points, aligned.boxes)
    numbers, positions = incidences(forest, aligned.boxes, np.arange(nodes), np.zeros(nodes, np.int64), PAIRS)
    if len(positions) > PAIRS:
        return f"there are {len(first):,} kinds of people and {release.groups:,} descriptions"
    # which kinds (lines) the descriptions of nodes (columns) admit
    where = forest.order[positions], np.repeat(np.arange(nodes), numbers)
    admits = csr_array((np.ones(len(positions)), where), shape=(len(points), nodes))
    shares = _scaled(admits, sizes, release.sizes.astype(np.float64))
    if shares is None:
        return "no chances were found by which everybody has a row"
    published = counts_of(aligned, had.shape[1]).matrix() / np.maximum(1, release.sizes)[:, None]
    beliefs = shares[:, : release.groups] @ published
    if shares.shape[1] > release.groups and left.sum():
        beliefs += shares[:, [release.groups]].toarray() * (left / left.sum())
    of_kind = np.zeros((len(first), had.shape[1]), np.int64)
    np.add.at(of_kind, kind_of, had[seen])
    likeliest = np.asarray(shares[:, : release.groups].argmax(axis=1)).ravel()
    return Believed(beliefs, sizes, of_kind, likeliest)


def beyond(parts: Sequence[Principle], prior: Prior, believed: Believed | str, who: str, caveat: str) -> Check:
    """Report how far the beliefs about kinds of people exceed the promises, or why that is not known.

    ``who`` is a sentence, without its end, on who believes it; ``caveat`` is one for the verdict if they do.
    """
    if isinstance(believed, str):
        unknown = "the beliefs of an attacker who only matches descriptions were not computed"
        return Check("descriptions", True, f"{who}: that was not computed, because {believed}.", caveat=unknown)
    counts = believed.counts
    figures, over = [], []
    for part in parts:
        strains = part.strain(counts, prior)
        worst = float(strains.max(initial=0.0))
        if worst <= 1.0 + ACCURATE:
            figures.append(f"at most {100 * worst:.0f} % of what {part} allows")
            continue
        number, hits = int(believed.sizes[strains > 1.0 + ACCURATE].sum()), None
        shares = bounded_shares(part.rules(prior))
        if shares is not None:
            hits = Hits.of(believed.under(shares.nodes), shares.caps * (1.0 + ACCURATE))
        some = f" ({hits.sentence})" if hits else ""
        figures.append(f"up to {worst:.2f} times what {part} allows, beyond it about {rows(number)}{some}")
        right = f", and with reason: {hits.true:,} have what {hits.allowed:,.0f} may" if hits and hits.too_many else ""
        over.append(f"{worst:.2f} times what {part} allows{right}")
    said = f"{caveat} may believe up to {', '.join(over)}" if over else ""
    return Check("descriptions", True, f"{who}: {'; '.join(figures)}.", caveat=said)


class Hits(NamedTuple):
    """How calibrated beliefs are that go beyond a bound."""

    claimed: float
    """How many people have the values that are believed too strongly, if the beliefs are right."""
    allowed: float
    """How many may have them by the bound."""
    true: int
    """How many have them."""

    @classmethod
    def of(cls, believed: Believed, caps: Floats) -> Hits:
        """Return the hits of beliefs above these caps."""
        over = believed.beliefs > caps + SLACK
        weighed = believed.sizes[:, None]
        claimed, allowed = (float(np.where(over, shares * weighed, 0.0).sum()) for shares in (believed.beliefs, caps))
        return cls(claimed, allowed, int(believed.had[over].sum()))

    @property
    def too_many(self) -> bool:
        """Whether clearly more have the values than may, by more than three times what chance makes of them."""
        return self.true > self.allowed + 3.0 * math.sqrt(self.allowed)

    @property
    def sentence(self) -> str:
        """The three numbers in words."""
        claimed, allowed = (f"{number:,.{1 if number < 100 else 0}f}" for number in (self.claimed, self.allowed))
        return (
            f"where it is more than allowed, about {claimed} rows would have the value, {allowed} are allowed, and "
            f"{self.true:,} have it"
        )


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


def believed_by_counting(aligned: Aligned, people: People) -> Believed:
    """Return what someone claims of combinations, at most ``POINTS``, who counts the rows that admit a person."""
    chosen = np.unique(np.linspace(0, len(people.numbers) - 1, min(POINTS, len(people.numbers))).astype(np.intp))
    columns = [replace(column, codes=column.codes[chosen]) for column in people.columns]
    counts = mixed(aligned.release.descriptions, columns, counts_of(aligned, people.had.shape[1]))
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    return Believed(shares, people.numbers[chosen].astype(np.float64), people.had[chosen], np.zeros(0, np.intp))


def by_counting(parts: Sequence[Principle], aligned: Aligned, people: People, prior: Prior) -> Check:
    """Report what comes of counting the rows of all descriptions that admit a person; this breaks no promise."""
    believed = believed_by_counting(aligned, people)
    chosen, everyone = len(believed.sizes), len(people.numbers)
    figures = []
    for part in parts:
        bounded = bounded_shares(part.rules(prior))
        if bounded is None:
            continue
        claims, caps = believed.under(bounded.nodes), bounded.caps
        if not bool((claims.beliefs > caps + SLACK).any()):
            figures.append(f"no more than {part} allows")
            continue
        times, hits = float((claims.beliefs / np.maximum(caps, 1e-300)).max(initial=0.0)), Hits.of(claims, caps)
        how = "and more rows have the value than are allowed" if hits.too_many else "and is wrong"
        figures.append(f"up to {times:.2f} times what {part} allows, {how}: {hits.sentence}")
    some = f" (of {everyone:,} combinations, {chosen:,} were looked at)" if chosen < everyone else ""
    sentence = (
        "An attacker who takes all rows under descriptions that admit a person as equally likely to be theirs claims "
        f"{'; '.join(figures) or 'what no promise here bounds'}{some}."
    )
    return Check("counting", True, sentence)
