"""Ways of searching for the groups of an ambiguous release, tried in turn until one leaves few rows over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.max_presence import BUDGET
from discreet.schemes.ambiguity.groups import NOT_WORTH, Manner, build, first_size
from discreet.schemes.ambiguity.terms import Aim, CodedRows, anyones_presence, kept_as_one, kept_together, presences

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


def attempts(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None = None
) -> Iterator[Attempt]:
    """Yield groups that keep alpha: the best ones first, then fewer and larger ones, and finally one group of all rows.

    The later attempts are for callers who must reject the earlier ones because too many rows are left over.
    """
    if aim.together is not None:
        yield _together(rows, aim, closeness, seeded, progress)
    else:
        yield from _each(rows, aim, closeness, seeded, progress)
    if kept_as_one(rows, aim):
        yield Attempt(np.zeros(len(rows), np.int32), near=False)


def doubled(rows: CodedRows, aim: Aim, rounds: int = 1) -> Iterator[int]:
    """Yield the numbers of rounds that groups may begin with, each twice the previous, up to one group of all rows."""
    most = max(1, len(rows) // first_size(rows, aim)[0])
    while rounds < most:
        yield rounds
        rounds *= 2
    yield most


def _each(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None
) -> Iterator[Attempt]:
    """Yield attempts in which each group by itself keeps alpha."""
    best, chosen = Attempt(np.full(len(rows), -1, np.int32), near=False), WIDE[0]
    for manner in (*CLOSE, *WIDE) if closeness else WIDE:
        tried = Attempt(build(rows, aim, manner, seeded, progress), manner.near)
        if tried.left_over < best.left_over:
            best, chosen = tried, manner
        if best.left_over <= LEFT_OVER:
            break
    larger = (Manner(False, 32, rounds=rounds) for rounds in doubled(rows, aim, 2 * WIDE[-2].rounds))
    last = 1.0
    while best.left_over > MOST_WITHHELD and (next_manner := next(larger, None)) is not None:
        tried = Attempt(build(rows, aim, next_manner, seeded, progress), near=False)
        if tried.left_over < best.left_over:
            best, chosen = tried, next_manner
        if tried.left_over > last:  # beyond some size, groups show no more combinations per row
            break
        last = tried.left_over
    if NOT_WORTH[chosen.near] < best.left_over <= HOPELESS:
        placed = Attempt(build(rows, aim, chosen, seeded, progress, placing=1.0), chosen.near)
        best = placed if placed.left_over < best.left_over else best
    yield best
    for manner in larger:
        yield Attempt(build(rows, aim, manner, seeded, progress), near=False)


def _together(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None
) -> Attempt:
    """Return groups that keep alpha together; they are enlarged until they do, because fewer then cover a person."""
    best = Attempt(np.full(len(rows), -1, np.int32), near=closeness)
    for rounds in doubled(rows, aim):
        # larger groups are wide in any case
        close = (Manner(True, 256, FAR_BELOW),) if closeness and rounds <= 2 else ()
        for manner in (*close, Manner(False, 32)):
            tried = Attempt(build(rows, aim, manner._replace(rounds=rounds), seeded, progress), manner.near)
            if tried.left_over < best.left_over and kept_together(rows, tried.groups, aim):
                best = tried
                if best.left_over <= LEFT_OVER:
                    return best
    return best


def nearest_alpha(rows: CodedRows, aim: Aim, fits: Callable[[NDArray[np.int32]], bool]) -> float | None:
    """Return an alpha above the aim's that groups were found to keep; None if there is none below 1.

    Groups are built without a bound on presence, doubling the number of rounds each time; the belief that they justify
    is what can be promised with that many rounds. The smallest alpha that groups are then found to keep is returned, at
    worst that of all rows as one group, which is certain. ``fits`` returns whether the rest of the promise allows
    groups to be published.
    """
    rng = generator(0)
    reachable = []
    for rounds in doubled(rows, aim):
        manner = Manner(False, 32, rounds=rounds)
        groups = build(rows, replace(aim, alpha=1.0, together=None), manner, rng, None)
        if (groups >= 0).any():
            reachable.append((_reachable_alpha(rows, groups, aim), manner))
    asked = aim.alpha if aim.together is None else min(aim.alpha, aim.together)
    whole = len(rows) / rows.combinations
    for alpha, manner in sorted(reachable, key=lambda pair: pair[0])[:TRIES]:
        higher = max(alpha, asked)
        if higher * MARGIN >= min(1.0, whole):
            break
        wanted = replace(aim, alpha=max(higher, aim.alpha))
        if aim.together is not None:
            wanted = replace(wanted, together=max(higher, aim.together))
        groups = build(rows, wanted, manner, rng, None)
        if fits(groups) and kept_together(rows, groups, wanted):
            return rounded_up(higher * MARGIN)
    return rounded_up(whole) if rounded_up(whole) < 1.0 else None


def _reachable_alpha(rows: CodedRows, groups: NDArray[np.int32], aim: Aim) -> float:
    """Return the alpha that groups can promise: combined over all groups, or per group for ``FITTING`` of the rows."""
    if aim.together is not None:
        return anyones_presence(rows, groups, budget=BUDGET // 10).bound
    beliefs = np.sort(presences(rows, groups)[groups[groups >= 0]])
    return float(beliefs[min(len(beliefs), math.ceil(FITTING * len(rows))) - 1])


def rounded_up(alpha: float) -> float:
    """Round up to three significant digits.

    >>> rounded_up(0.0012341), rounded_up(0.25)
    (0.00124, 0.25)
    """
    unit = 10.0 ** (math.floor(math.log10(alpha)) - 2)
    return float(f"{math.ceil(alpha / unit - 1e-9) * unit:.3g}")
