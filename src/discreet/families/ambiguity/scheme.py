"""Ambiguity (COMAD 2008): quasi-identifiers in separate tables, in groups that do not disclose who is in the table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.expressions import joined
from discreet.families.ambiguity.attempts import MOST_WITHHELD, Refused, attempts
from discreet.families.ambiguity.blocks import Blocks, as_blocks, check_publishable, parse_pairs
from discreet.families.ambiguity.groups import GroupSearch, withhold_with_groups
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.families.ambiguity.terms import Aim, CodedRows, confirm_presence, lowest_alpha
from discreet.kernels.judging import SLACK
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import by_attribute, stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.releases.release import Release
from discreet.schemes.default_scheme import kept_by_ambiguity
from discreet.schemes.grouping import confirm, published_rows
from discreet.schemes.merge_broken import JudgedAttribute
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme, feasible
from discreet.table.table import Column, Table

DEPENDENT = 0.01
"""Below this mutual information, in nats, a pair is not worth the combinations that it costs."""


@dataclass(frozen=True, kw_only=True)
class Ambiguity(Scheme):
    """Groups of rows with different sensitive values, each showing many more combinations than it has rows.

    Rows are put into one bucket per sensitive value. A group takes ceil(1 / beta) rows of as many different values, and
    further rows as long as it shows fewer combinations of quasi-identifiers than its rows / alpha. Rows left over join
    groups that lack their value, and then any group that keeps the promise with them; where there is none, two groups
    are joined. What remains is withheld, together with as many whole groups as the withheld rows need to keep the
    promise themselves. If that would be most of the table, groups are made larger, up to a single group of all rows.

    As in the paper, a group picks, row by row, the one that shows the most new values. This makes groups as wide as
    possible, and the belief in presence far weaker than alpha. With ``closeness`` a group takes rows that lie next to
    each other, preferring those with few new values, as many as alpha requires: counts are answered better under the
    same promise. But this spends alpha completely, and adversaries whom it does not bound gain: by all groups together,
    or to someone for whom common values are likelier, groups disclose more than alpha about far more rows (`python -m
    benchmarks ambiguity` measures both). So it is off by default. Where so few values occur that groups of near rows
    leave rows over, groups are searched for as in the paper.

    ``pairs`` preserves the dependence of two quasi-identifiers within a group. This pays for wide groups, and hardly
    for close ones, in which little dependence is left.

    Why the promise is kept. beta: a group begins with rows of which no value has a share above beta, and a row joins
    only if the count of its value stays within beta times the new size; so no value of any group exceeds beta, nor of
    joined groups, whose shares lie between those of their parts. alpha: a group is only kept, enlarged or joined if its
    size is at most alpha times the product of the numbers of different values that it shows, which are counted anew;
    there is no other way for a row to enter a group. The withheld rows are judged as one group. With
    ``presence=combined`` groups are made larger until it is proved that all groups that cover a person together justify
    a belief of at most alpha, whichever of the listed values the person combines; this covers everyone, published,
    withheld or not in the table at all. The result is judged once more, from the rows of each group alone, before it is
    published.

    Several sensitive attributes: one grouping, and a table of counts for each attribute. Groups are built for the one
    whose values may have the smallest share of a group. Then rows with the same value of it change places between
    groups until as few as possible repeat a value of another attribute too often; groups that still do so, or no longer
    keep alpha, are joined with others, and rows of groups that cannot be mended are put where they fit or are withheld.
    Whatever is published was judged: no value of any attribute has a larger share of a group than is promised about
    that attribute, and every group keeps the smallest alpha promised.

    Why this keeps the promise about each attribute against whoever reads all tables. Presence: the tables of counts
    agree in a group's size and say nothing else about which combinations are its rows (see
    ``release``); so the belief, by one group or by all of them together, is what it is with one
    attribute. Association: given that a person's row is in a group, it has a value of an attribute with the value's
    share, whatever the other tables count, and whoever knows which values of different attributes go together excludes
    no value for one row of a group more than for another. So beta holds for each attribute as if it were the only one;
    and so does ``association=combined``, whose proof needs the shares of one attribute and the belief in presence, and
    no more. Separate groups for each attribute would not keep alpha: their lists of quasi-identifiers, intersected,
    leave fewer combinations than each by itself, down to the rows themselves.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import AlphaBeta
    >>> release = Ambiguity(random_state=1).publish(patients(), AlphaBeta(0.5, 0.5))
    >>> release.withheld, bool(release.presences.max() <= 0.5)
    (0, True)
    """

    name: ClassVar[str] = "ambiguity"
    format: ClassVar[type[Release]] = AmbiguousRelease
    hides_presence: ClassVar[bool] = True
    several: ClassVar[bool] = True

    closeness: bool = False
    """Whether a group takes rows near each other; otherwise it takes those that show the most new values, as in the
    paper."""
    pairs: str | Sequence[Sequence[str]] = "none"
    """Quasi-identifiers to publish together, such as ``age+education,sex+race``; ``auto`` chooses pairs that depend on
    each other, as far as alpha allows at the same group sizes; ``none`` publishes each on its own."""

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest."""
        named = self.pairs if self.pairs == "auto" else joined(tuple(parse_pairs(self.pairs)))
        return {**super().options, "pairs": named or "none"}

    def check_words(self, table: Table) -> None:
        """Raise an error if there are no such quasi-identifiers to publish together."""
        as_blocks(table.quasi_names, [] if self.pairs == "auto" else parse_pairs(self.pairs))

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept alpha-beta, also with k-anonymity (of groups) and l-diversity of kinds frequency and distinct."""
        if kept_by_ambiguity(principle):
            return None
        return Refusal(
            f"scheme {self.name!r} keeps alpha-beta, alone or with k-anonymity and l-diversity of the kinds frequency "
            f"and distinct",
            principle,
        )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> AmbiguousRelease:
        """Return an ambiguous release of the table that keeps the promise."""
        check_publishable(table)
        feasible(self, table, principle)
        rng, seeded = self.draws()
        attributes = [
            JudgedAttribute(column.codes, promise, prior)
            for column, (prior, promise) in zip(table.sensitive, by_attribute(principle, table), strict=True)
        ]
        usable = published_rows(*jointly(principle, table), rng)

        def finished(groups: NDArray[np.int32]) -> NDArray[np.int32]:
            """Return the groups of usable rows without those that the withheld rows need to keep the promise."""
            every = np.full(table.rows, -1, np.int32)
            every[usable] = groups
            return withhold_with_groups(every, attributes)[usable]

        lead, aim = leading([attribute.promise for attribute in attributes])

        def build(pairs: Sequence[Sequence[str]]) -> Built | Refused:
            """Return the groups of the usable rows if these quasi-identifiers are published together."""
            blocks = as_blocks(table.quasi_names, pairs)
            search = GroupSearch(CodedRows.of(table, usable, blocks, lead), aim, seeded, progress or no_progress)
            refused = Refused(blocks, search, finished)
            if aim.alpha < min(1.0, lowest_alpha(search.rows, aim)) - SLACK:
                return refused
            for attempt in attempts(search, self.closeness):
                groups = attempt.groups
                if attempt.left_over <= MOST_WITHHELD:
                    groups = finished(groups)
                if (withheld := float((groups < 0).mean())) <= MOST_WITHHELD:
                    return Built(blocks, search.rows, groups, attempt.near)
                refused.record(attempt.left_over, withheld)
            return refused

        built = build([] if self.pairs == "auto" else parse_pairs(self.pairs))
        if isinstance(built, Refused):
            raise built.error()
        kept: list[tuple[str, str]] = []
        for pair in correlated_pairs(table.quasi, usable) if self.pairs == "auto" else ():
            if not any(name in other for name in pair for other in kept):
                tried = build([*kept, pair])
                if isinstance(tried, Built) and tried.about_as_good_as(built):
                    built, kept = tried, [*kept, pair]
        groups = np.full(table.rows, -1, np.int32)
        groups[usable] = built.groups
        for attribute in attributes:
            confirm(groups, attribute.sensitive_codes, attribute.promise, attribute.prior)
        confirm_presence(built.rows, built.groups, aim)
        statement = self.statement(stated(principle, table))
        return AmbiguousRelease.from_groups(table, groups, blocks=built.blocks, **statement)


@dataclass(frozen=True, eq=False)
class Built:
    """The result of building: blocks of quasi-identifiers, the rows coded by them, and the groups of the rows."""

    blocks: Blocks
    rows: CodedRows
    groups: NDArray[np.int32]
    """Per row: its group, or -1 if it is withheld."""
    near: bool
    """Whether groups consist of rows near each other."""

    def about_as_good_as(self, other: Built) -> bool:
        """Whether groups are as near and about as many as the other's, with hardly more rows withheld."""
        many, known = (int(built.groups.max(initial=-1)) + 1 for built in (self, other))
        more = float((self.groups < 0).mean()) - float((other.groups < 0).mean())
        return self.near == other.near and many >= 0.95 * known and more <= 0.001


def leading(promises: Sequence[Principle]) -> tuple[int, Aim]:
    """Return which sensitive attribute's values may have the smallest share of a group, and what groups must keep.

    >>> from discreet.principles import AlphaBeta, KAnonymity, LDiversity
    >>> leading([AlphaBeta(0.2, 0.5), AlphaBeta(0.1, 0.5) & LDiversity(4) & KAnonymity(10)])
    (1, Aim(alpha=0.1, beta=0.25, smallest=10, together=None, others=(0.5,)))
    """
    shares = [[part.sufficient_share for part in promise.parts] for promise in promises]
    betas = [min(share for share in some if share is not None) for some in shares]
    lead = betas.index(min(betas))
    parts = [part for promise in promises for part in promise.parts]
    aim = Aim(
        min(part.most_presence for part in parts),
        betas.pop(lead),
        max(part.least_rows for part in parts),
        min((part.most_presence for part in parts if part.combined_presence), default=None),
        tuple(betas),
    )
    return lead, aim


def correlated_pairs(columns: Sequence[Column], rows: NDArray[np.int64]) -> list[tuple[str, str]]:
    """Return the pairs of columns that depend on each other, the largest mutual information first.

    >>> from discreet.datasets import patients
    >>> correlated_pairs(patients().quasi, np.arange(48))[0]
    ('age', 'zip')
    """
    dependent = []
    for column, other in itertools.combinations(columns, 2):
        information = mutual_information(column.codes[rows], other.codes[rows])
        if information >= DEPENDENT:
            dependent.append((-information, (column.name, other.name)))
    return [pair for _, pair in sorted(dependent)]


def mutual_information(column: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mutual information of two columns of codes, in nats, corrected for the bias of few rows.

    >>> round(mutual_information(np.array([0, 0, 1, 1] * 25), np.array([0, 0, 1, 1] * 25)), 2)
    0.69
    """
    width = int(other.max()) + 1
    cells, joint = np.unique(column.astype(np.int64) * width + other, return_counts=True)
    first, second = np.bincount(column), np.bincount(other)
    n = len(column)
    shares = joint / n
    expected = first[cells // width] * (second[cells % width] / n) / n
    # the mean for independent columns (Miller and Madow)
    bias = (len(cells) - int((first > 0).sum()) - int((second > 0).sum()) + 1) / (2 * n)
    return float((shares * np.log(shares / expected)).sum() - max(0.0, bias))
