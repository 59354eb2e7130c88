"""Ambiguity (COMAD 2008): quasi-identifiers in separate tables, in groups that leave it open who is in the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import SLACK
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.l_diversity import LDiversity
from discreet.principles.presence import AlphaBeta
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.wording import exact, percent
from discreet.randomness import generator
from discreet.releases.ambiguous import AmbiguousRelease
from discreet.releases.ambiguous_blocks import Blocks, as_blocks, check_publishable
from discreet.schemes.ambiguity_groups import (
    MOST_WITHHELD,
    ambiguous_groups,
    left_over,
    withhold_with_groups,
)
from discreet.schemes.ambiguity_judging import Aim, Rows, confirm_presence, lowest_alpha
from discreet.schemes.ambiguity_pairs import correlated_pairs
from discreet.schemes.anatomy import published_rows
from discreet.schemes.grouping import confirm
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.top_down import Progress
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Ambiguity(Scheme):
    """Groups of rows with different sensitive values, each of which shows many more combinations than it has rows.

    Rows are put into one bucket per sensitive value. A group takes ceil(1 / beta) rows of as many different values,
    and more for as long as it shows fewer combinations of quasi-identifiers than its rows / alpha. What is left over
    joins groups that lack its value, and then any that keep the promise with it; where none does, two groups are
    joined. What remains is withheld, with as many whole groups as it needs to keep the promise itself.

    As in the paper a group picks, row by row, the one that shows most new values, which makes groups as wide as
    possible and what they say about presence far less than alpha. With ``closeness`` a group takes rows that lie next
    to each other, and of these the ones that show few new values, as many as alpha asks for: counts are answered
    better, at the same promise. But alpha is then spent to the last, and adversaries whom it does not bound gain: taken
    together, or by someone for whom common values are likelier, groups say more than alpha about far more rows
    (`python -m benchmarks ambiguity` measures both). So it is for those who ask for it. Where so few values occur that
    groups of near rows leave rows over, they are looked for as in the paper.

    ``pairs`` keeps how two quasi-identifiers depend on each other within a group. That pays for wide groups, and hardly
    for close ones, which leave little to depend on.

    Why the promise is kept. beta: a group begins with rows of which no value has more than beta, and a row joins only
    if its value does not exceed beta times the new size; so no value of any group does, nor of joined ones, whose
    shares lie between those of their parts. alpha: a group is only kept, enlarged or joined when its size is at most
    alpha times the product of the numbers of different values that it shows, which are counted anew; a row joins
    nothing else. The withheld rows are judged as one group. With ``presence=combined`` groups are made larger until all
    groups that cover a row of the table say no more than alpha together, which is computed for each of them. Whatever
    was made is judged once more, from the rows of each group alone, before it is published.

    >>> from discreet.datasets import patients
    >>> release = Ambiguity(random_state=1).publish(patients(), AlphaBeta(0.5, 0.5))
    >>> release.withheld, bool(release.presences.max() <= 0.5)
    (0, True)
    """

    name: ClassVar[str] = "ambiguity"
    hides_presence: ClassVar[bool] = True

    closeness: bool = False
    """Whether a group takes rows that lie near each other; else those that show most new values, as in the paper."""
    pairs: str | Sequence[Sequence[str]] = "none"
    """Quasi-identifiers to be published together, such as ``age+education,sex+race``; ``auto`` chooses pairs that
    depend on each other, as far as alpha allows at the same size of groups; ``none`` publishes each on its own."""
    random_state: int | None = None
    """A seed, for experiments only; without one, chance comes from the operating system."""

    def __post_init__(self) -> None:
        """Refuse what is no parameter of this scheme."""
        if not isinstance(self.pairs, str):
            object.__setattr__(self, "pairs", tuple(tuple(block) for block in self.pairs))

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""
        pairs = self.pairs if isinstance(self.pairs, str) else ",".join("+".join(block) for block in self.pairs)
        return {"closeness": self.closeness, "pairs": pairs}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """alpha-beta, with k-anonymity (of groups) and l-diversity of the kinds frequency and distinct, if asked."""
        others = [part for part in principle.parts if not isinstance(part, AlphaBeta)]
        known = all(
            isinstance(part, KAnonymity) or (isinstance(part, LDiversity) and part.kind in ("frequency", "distinct"))
            for part in others
        )
        if known and len(others) < len(principle.parts):
            return None
        return (
            f"scheme {self.name!r} keeps alpha-beta, alone or with k-anonymity and l-diversity of the kinds frequency "
            f"and distinct; for {principle} choose scheme 'cuts'"
        )

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> AmbiguousRelease:
        """An ambiguous release of the table that keeps the promise."""
        check_publishable(table)
        prior = feasible(self, table, principle)
        rng = generator(self.random_state)
        seeded = None if self.random_state is None else rng
        aim = aim_of(principle)
        usable = published_rows(table, principle, prior, rng)
        built = self._built(table, usable, aim, seeded, progress)
        see_that_enough_is_published(built, aim)
        groups = np.full(table.rows, -1, np.int32)
        groups[usable] = built.groups
        groups = withhold_with_groups(groups, table.classes, principle, prior)
        gone = float((groups[usable] < 0).mean())
        if gone > MOST_WITHHELD:
            raise DiscreetError(
                f"the rows that fit into no group of this table could only be withheld together with others, "
                f"{percent(gone)} of all in the end, if they are to keep beta={exact(aim.beta)}; ask for a larger "
                "alpha or beta, or add quasi-identifiers"
            )
        confirm(groups, table.classes, principle, prior)
        confirm_presence(built.rows, groups[usable], aim)
        return AmbiguousRelease.from_groups(
            table,
            groups,
            promise=principle,
            scheme=self.name,
            options=self.options,
            blocks=built.blocks,
            seeded=seeded,
        )

    def _built(
        self,
        table: Table,
        usable: NDArray[np.int64],
        aim: Aim,
        seeded: np.random.Generator | None,
        progress: Progress | None,
    ) -> Built:
        """The groups of these rows of a table, and what they publish together."""

        def build(pairs: Sequence[Sequence[str]]) -> Built:
            blocks = as_blocks(table.quasi_names, pairs)
            rows = Rows.of(table, usable, blocks)
            see_that_alpha_can_be_kept(blocks, rows, aim)
            return Built(blocks, rows, *ambiguous_groups(rows, aim, self.closeness, seeded, progress))

        if self.pairs != "auto":
            return build(parse_pairs(self.pairs))
        built = build([])
        kept: list[tuple[str, str]] = []
        for pair in correlated_pairs(table.quasi, usable):
            if any(name in other for name in pair for other in kept):
                continue
            try:
                tried = build([*kept, pair])
            except DiscreetError:  # alpha cannot be kept with this pair
                continue
            if tried.about_as_good_as(built):
                built, kept = tried, [*kept, pair]
        return built


@dataclass(frozen=True, eq=False)
class Built:
    """What was built: blocks of quasi-identifiers, the rows as they show them, and the groups of the rows."""

    blocks: Blocks
    rows: Rows
    groups: NDArray[np.int32]
    """Per row: its group, -1 when it fits into none."""
    near: bool
    """Whether groups are of rows near each other."""

    @property
    def left_over(self) -> float:
        """The share of the rows that fit into no group."""
        return float((self.groups < 0).mean())

    def about_as_good_as(self, other: Built) -> bool:
        """Whether groups are as near and about as many, and hardly more rows are left over."""
        many, known = (int(built.groups.max(initial=-1)) + 1 for built in (self, other))
        return self.near == other.near and many >= 0.95 * known and self.left_over <= other.left_over + 0.001


def see_that_enough_is_published(built: Built, aim: Aim) -> None:
    """Refuse a release of a small part of the rows, with an alpha that most of them could keep."""
    if built.left_over <= MOST_WITHHELD:
        return
    low, high = aim.alpha, 1.0  # at 1 every row fits
    while high - low > 0.04:
        middle = round((low + high) / 2, 3)
        left = left_over(built.rows, replace(aim, alpha=middle))
        low, high = (low, middle) if left <= MOST_WITHHELD else (middle, high)
    raise DiscreetError(
        f"only {percent(1.0 - built.left_over)} of the rows fit into groups that keep alpha={exact(aim.alpha)}: the "
        f"quasi-identifiers repeat their values too much; ask for alpha={exact(high)}, or add quasi-identifiers"
    )


def aim_of(principle: Principle) -> Aim:
    """What groups have to keep, over all parts of a promise.

    >>> aim_of(AlphaBeta(0.2, 0.5) & LDiversity(4) & KAnonymity(10))
    Aim(alpha=0.2, beta=0.25, smallest=10, combined=False)
    """
    alphas = [part for part in principle.parts if isinstance(part, AlphaBeta)]
    shares = [1.0 / part.l for part in principle.parts if isinstance(part, LDiversity)]
    sizes = [part.k for part in principle.parts if isinstance(part, KAnonymity)]
    return Aim(
        min(part.alpha for part in alphas),
        min([*(part.beta for part in alphas), *shares]),
        max([1, *sizes]),
        any(part.combined for part in alphas),
    )


def parse_pairs(pairs: str | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The names to be published together, from a text such as ``age+education,sex+race``.

    >>> parse_pairs("age+education, sex+race")
    [('age', 'education'), ('sex', 'race')]
    """
    if not isinstance(pairs, str):
        return [tuple(block) for block in pairs]
    if pairs.strip() in ("", "none"):
        return []
    blocks = [tuple(name.strip() for name in part.split("+")) for part in pairs.split(",")]
    alone = next((block for block in blocks if len(block) < 2 or not all(block)), None)
    if alone is not None:
        raise DiscreetError(
            f"pairs={pairs!r} names nothing to publish {'+'.join(alone)!r} together with; write for example "
            "pairs=age+education, or pairs=auto"
        )
    return blocks


def see_that_alpha_can_be_kept(blocks: Blocks, rows: Rows, aim: Aim) -> None:
    """Refuse, before any group is built, an alpha that no group of the table can keep."""
    limit = lowest_alpha(rows, aim)
    if aim.alpha >= min(1.0, limit) - SLACK:
        return
    shown = ["+".join(block) for block in blocks]
    refused = f"this table cannot keep alpha={exact(aim.alpha)}"
    if len(blocks) == 1:
        raise DiscreetError(
            f"{refused}: a group shows no more values of {shown[0]!r} than it has rows, so whoever holds one is "
            "known to be in the table; ask for alpha=1, or add a quasi-identifier that is published on its own"
        )
    listed = ", ".join(f"{number:,} of {name!r}" for name, number in zip(shown, rows.numbers, strict=True))
    nearest = math.ceil(min(1.0, limit) * 1e4 - 1e-7) / 1e4
    raise DiscreetError(
        f"{refused}: there are {listed}, so that a group shows at most {max(1.0, 1 / limit):.4g} combinations of "
        f"values for each of its rows; ask for alpha={exact(nearest)} or more, or add quasi-identifiers"
    )
