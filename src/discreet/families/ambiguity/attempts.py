"""Ways of searching for the groups of an ambiguous release, tried in turn until one leaves few rows over.

Where none does, the error says why, and an alpha for which there are groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.ambiguity.blocks import Blocks
from discreet.families.ambiguity.groups import NOT_WORTH, GroupSearch, Manner
from discreet.families.ambiguity.terms import anyones_presence, kept_as_one, kept_together, lowest_alpha, presences
from discreet.kernels.judging import SLACK
from discreet.principles.wording import percent
from discreet.progress import no_progress
from discreet.randomness import generator
from discreet.releases.max_presence import BUDGET
from discreet.table.texts import number_text

MOST_WITHHELD = 0.5
"""A release that would withhold a larger share of the rows is refused: a larger alpha publishes more."""
LEFT_OVER = 0.0002
"""The share of rows that may be left over without trying another manner."""
HOPELESS = 0.8
"""Above this share of rows left over, there are too few groups to place them."""
FAR_BELOW = 0.0025
"""The share of alpha that each single group aims at if all groups that cover a row must keep alpha together."""
FITTING = 0.75
"""The share of rows that must fit into groups at an advised alpha."""
MARGIN = 1.03
"""The advised alpha is the one at which groups were found times this factor: another random draw finds other groups."""
TRIES = 4
"""How many alphas are tried before one is advised."""

CLOSE = (Manner(True, 256), Manner(True, 256, 0.5))
WIDE = (Manner(False, 32), *(Manner(False, 128, rounds=rounds) for rounds in (2, 4, 8, 16)), Manner(False, 512))
"""The manners, tried in turn until hardly any row is left over. Where values repeat often, only rows with the most new
values, and larger groups, help; rare values then make such a group wide for all its rows."""


class Attempt(NamedTuple):
    """Groups found by one attempt."""

    groups: NDArray[np.int32]
    """Per row: its group, or -1 if it fits into none."""
    near: bool
    """Whether groups consist of rows near each other."""

    @property
    def left_over(self) -> float:
        """The share of rows that fit into no group."""
        return float((self.groups < 0).mean())


def attempts(search: GroupSearch, closeness: bool) -> Iterator[Attempt]:
    """Yield groups that keep alpha: the best ones first, then fewer and larger ones, and finally one group of all rows.

    The later attempts are for callers who must reject the earlier ones because too many rows are left over.
    """
    if search.aim.together is not None:
        yield _together(search, closeness)
    else:
        yield from _each(search, closeness)
    if kept_as_one(search.rows, search.aim):
        yield Attempt(np.zeros(len(search.rows), np.int32), near=False)


def doubled(search: GroupSearch, rounds: int = 1) -> Iterator[int]:
    """Yield the numbers of rounds that groups may begin with, each twice the previous, up to one group of all rows."""
    most = max(1, len(search.rows) // search.first_size[0])
    while rounds < most:
        yield rounds
        rounds *= 2
    yield most


def _each(search: GroupSearch, closeness: bool) -> Iterator[Attempt]:
    """Yield attempts in which each group by itself keeps alpha."""
    best, chosen = Attempt(np.full(len(search.rows), -1, np.int32), near=False), WIDE[0]
    for manner in (*CLOSE, *WIDE) if closeness else WIDE:
        tried = Attempt(search.build(manner), manner.near)
        if tried.left_over < best.left_over:
            best, chosen = tried, manner
        if best.left_over <= LEFT_OVER:
            break
    larger = (Manner(False, 32, rounds=rounds) for rounds in doubled(search, 2 * WIDE[-2].rounds))
    last = 1.0
    while best.left_over > MOST_WITHHELD and (next_manner := next(larger, None)) is not None:
        tried = Attempt(search.build(next_manner), near=False)
        if tried.left_over < best.left_over:
            best, chosen = tried, next_manner
        if tried.left_over > last:  # beyond some size, groups show no more combinations per row
            break
        last = tried.left_over
    if NOT_WORTH[chosen.near] < best.left_over <= HOPELESS:
        placed = Attempt(search.build(chosen, placing=1.0), chosen.near)
        best = placed if placed.left_over < best.left_over else best
    yield best
    for manner in larger:
        yield Attempt(search.build(manner), near=False)


def _together(search: GroupSearch, closeness: bool) -> Attempt:
    """Return groups that keep alpha together; they are enlarged until they do, because fewer then cover a person."""
    best = Attempt(np.full(len(search.rows), -1, np.int32), near=closeness)
    for rounds in doubled(search):
        # larger groups are wide in any case
        close = (Manner(True, 256, FAR_BELOW),) if closeness and rounds <= 2 else ()
        for manner in (*close, Manner(False, 32)):
            tried = Attempt(search.build(manner._replace(rounds=rounds)), manner.near)
            if tried.left_over < best.left_over and kept_together(search.rows, tried.groups, search.aim):
                best = tried
                if best.left_over <= LEFT_OVER:
                    return best
    return best


def nearest_alpha(search: GroupSearch, fits: Callable[[NDArray[np.int32]], np.bool_]) -> float | None:
    """Return an alpha above the aim's that groups were found to keep; None if there is none below 1.

    Groups are built without a bound on presence, doubling the number of rounds each time; the belief that they justify
    is what can be promised with that many rounds. The smallest alpha that groups are then found to keep is returned, at
    worst that of all rows as one group, which is certain. ``fits`` returns whether the rest of the promise allows
    groups to be published.
    """
    rows, aim = search.rows, search.aim
    search = replace(search, seeded=generator(0), progress=no_progress)
    unbound = replace(search, aim=replace(aim, alpha=1.0, together=None))
    reachable = []
    for rounds in doubled(search):
        manner = Manner(False, 32, rounds=rounds)
        groups = unbound.build(manner)
        if (groups >= 0).any():
            reachable.append((_reachable_alpha(search, groups), manner))
    asked = aim.alpha if aim.together is None else min(aim.alpha, aim.together)
    whole = len(rows) / rows.combinations
    for alpha, manner in sorted(reachable, key=lambda pair: pair[0])[:TRIES]:
        higher = max(alpha, asked)
        if higher * MARGIN >= min(1.0, whole):
            break
        together = None if aim.together is None else max(higher, aim.together)
        wanted = replace(aim, alpha=max(higher, aim.alpha), together=together)
        groups = replace(search, aim=wanted).build(manner)
        if fits(groups) and kept_together(rows, groups, wanted):
            return rounded_up(higher * MARGIN)
    return rounded_up(whole) if rounded_up(whole) < 1.0 else None


def _reachable_alpha(search: GroupSearch, groups: NDArray[np.int32]) -> float:
    """Return the alpha that groups can promise: combined over all groups, or per group for ``FITTING`` of the rows."""
    if search.aim.together is not None:
        return anyones_presence(search.rows, groups, budget=BUDGET // 10).bound
    beliefs = np.sort(presences(search.rows, groups)[groups[groups >= 0]])
    return float(beliefs[min(len(beliefs), math.ceil(FITTING * len(groups))) - 1])


def rounded_up(alpha: float) -> float:
    """Round up to three significant digits.

    >>> rounded_up(0.0012341), rounded_up(0.25)
    (0.00124, 0.25)
    """
    unit = 10.0 ** (math.floor(math.log10(alpha)) - 2)
    return float(f"{math.ceil(alpha / unit - 1e-9) * unit:.3g}")


@dataclass
class Refused:
    """Rows for which no groups were found, and the nearest attempt."""

    blocks: Blocks
    search: GroupSearch
    finished: Callable[[NDArray[np.int32]], NDArray[np.int32]]
    """Returns groups without those that must be withheld so that the withheld rows keep the promise."""
    left_over: float = 1.0
    """The smallest share of rows that fit into no group."""
    withheld: float = 1.0
    """The smallest share that would have to be withheld in attempts where enough rows fit."""

    def record(self, left_over: float, withheld: float) -> None:
        """Record one more failed attempt."""
        self.left_over = min(self.left_over, left_over)
        if left_over <= MOST_WITHHELD:
            self.withheld = min(self.withheld, withheld)

    def error(self) -> DiscreetError:
        """Return the error: why nothing is published, and what could be."""
        rows, aim = self.search.rows, self.search.aim
        asked = f"alpha={number_text(aim.alpha)}"
        limit = lowest_alpha(rows, aim)
        shown = ["+".join(block) for block in self.blocks]
        if aim.alpha < min(1.0, limit) - SLACK and len(shown) == 1:
            return DiscreetError(
                f"this table cannot keep {asked}: a group shows no more values of {shown[0]!r} than it has rows, so "
                "anyone who has one is known to be in the table; ask for alpha=1, or add a quasi-identifier that is "
                "published on its own"
            )
        if aim.alpha < min(1.0, limit) - SLACK:
            listed = ", ".join(f"{number:,} of {name!r}" for name, number in zip(shown, rows.numbers, strict=True))
            why = (
                f"this table cannot keep {asked}: there are {listed}, so a group shows at most "
                f"{max(1.0, 1 / limit):.4g} combinations of values for each of its rows"
            )
        elif self.left_over <= MOST_WITHHELD:
            why = (
                "the rows that fit into no group of this table could only be withheld together with others, "
                f"{percent(self.withheld)} of all rows, to keep beta={number_text(aim.beta)}"
            )
        elif aim.together is not None:
            why = (
                f"no groups of most rows of this table were found that keep alpha={number_text(aim.together)} taken "
                "all together: the quasi-identifiers repeat their values too much"
            )
        else:
            why = (
                f"only {percent(1.0 - self.left_over)} of the rows were found to fit into groups that keep {asked}: "
                "the quasi-identifiers repeat their values too much"
            )
        alpha = nearest_alpha(self.search, lambda groups: (self.finished(groups) < 0).mean() <= MOST_WITHHELD)
        also = "" if aim.together is None else " for presence=group,"
        advice = "no alpha below 1 was found that can be kept; add quasi-identifiers, or hide nobody with alpha=1"
        if alpha is not None:
            advice = f"ask for alpha={number_text(alpha)},{also} or add quasi-identifiers"
        return DiscreetError(f"{why}; {advice}")
