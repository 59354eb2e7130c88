"""Manners in which groups of an ambiguous release are looked for, one after another, until one leaves few rows over."""

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
"""A release that withholds a larger share of the rows is refused: it says little, and a larger alpha says more."""
LEFT_OVER = 0.0002
"""The share of the rows that may be left over without looking for groups in another manner."""
HOPELESS = 0.8
"""The share of the rows above which groups are too few to place those that are left over."""
FAR_BELOW = 0.0025
"""How far below alpha each single group tries to stay when all that cover a row must keep it together."""
FITTING = 0.75
"""The share of the rows that are to fit into groups at an alpha that is advised."""
MARGIN = 1.03
"""How many times the alpha at which groups were found is advised: chance finds other ones next time."""
TRIES = 4
"""At how many alphas groups are looked for before one is advised."""

CLOSE = (Manner(True, 256), Manner(True, 256, 0.5))
WIDE = (Manner(False, 32), *(Manner(False, 128, rounds=rounds) for rounds in (2, 4, 8, 16)), Manner(False, 512))
"""The manners in which groups are looked for, in turn until hardly any row is left over: where values repeat much, it
takes the rows that show most new values, and larger groups, which rare values make wide for all of their rows."""


class Attempt(NamedTuple):
    """Groups that were found."""

    groups: NDArray[np.int32]
    """Per row: its group, -1 when it fits into none."""
    near: bool
    """Whether groups are of rows near each other."""

    @property
    def left_over(self) -> float:
        """The share of the rows that fit into no group."""
        return float((self.groups < 0).mean())


def attempts(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None = None
) -> Iterator[Attempt]:
    """Groups that keep alpha, the best that were found first; then fewer and larger ones, and in the end one of all.

    The next ones are for those who cannot take these because too many rows are left over.
    """
    if aim.together is not None:
        yield _together(rows, aim, closeness, seeded, progress)
    else:
        yield from _each(rows, aim, closeness, seeded, progress)
    if kept_as_one(rows, aim):
        yield Attempt(np.zeros(len(rows), np.int32), near=False)


def doubled(rows: CodedRows, aim: Aim, rounds: int = 1) -> Iterator[int]:
    """Numbers of rounds with which groups may begin, each twice the last, up to a single group of all rows."""
    most = max(1, len(rows) // first_size(rows, aim)[0])
    while rounds < most:
        yield rounds
        rounds *= 2
    yield most


def _each(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None
) -> Iterator[Attempt]:
    """Groups each of which keeps alpha."""
    best, found = Attempt(np.full(len(rows), -1, np.int32), near=False), WIDE[0]
    for manner in (*CLOSE, *WIDE) if closeness else WIDE:
        tried = Attempt(build(rows, aim, manner, seeded, progress), manner.near)
        if tried.left_over < best.left_over:
            best, found = tried, manner
        if best.left_over <= LEFT_OVER:
            break
    larger = (Manner(False, 32, rounds=rounds) for rounds in doubled(rows, aim, 2 * WIDE[-2].rounds))
    last = 1.0
    while best.left_over > MOST_WITHHELD and (next_manner := next(larger, None)) is not None:
        tried = Attempt(build(rows, aim, next_manner, seeded, progress), near=False)
        if tried.left_over < best.left_over:
            best, found = tried, next_manner
        if tried.left_over > last:  # beyond some size, groups show no more for each of their rows
            break
        last = tried.left_over
    if NOT_WORTH[found.near] < best.left_over <= HOPELESS:
        placed = Attempt(build(rows, aim, found, seeded, progress, placing=1.0), found.near)
        best = placed if placed.left_over < best.left_over else best
    yield best
    for manner in larger:
        yield Attempt(build(rows, aim, manner, seeded, progress), near=False)


def _together(
    rows: CodedRows, aim: Aim, closeness: bool, seeded: np.random.Generator | None, progress: Progress | None
) -> Attempt:
    """Groups that keep alpha together: made larger until they do, as fewer then cover a person, and each shows more."""
    best = Attempt(np.full(len(rows), -1, np.int32), near=closeness)
    for rounds in doubled(rows, aim):
        # larger groups than that are wide whatever is looked for
        close = (Manner(True, 256, FAR_BELOW),) if closeness and rounds <= 2 else ()
        for manner in (*close, Manner(False, 32)):
            tried = Attempt(build(rows, aim, manner._replace(rounds=rounds), seeded, progress), manner.near)
            if tried.left_over < best.left_over and kept_together(rows, tried.groups, aim):
                best = tried
                if best.left_over <= LEFT_OVER:
                    return best
    return best


def nearest_alpha(rows: CodedRows, aim: Aim, fits: Callable[[NDArray[np.int32]], bool]) -> float | None:
    """An alpha above that of an aim which groups were found to keep, None when there is none below 1.

    Groups are built as if nothing were asked of presence, the number of rounds doubled each time, and what they say is
    what can be promised with so many. The smallest that groups are then found to keep is the answer, and at worst that
    of all rows as one group, which is certain. ``fits``: whether the rest of the promise lets groups be published.
    """
    rng = generator(0)
    told = []
    for rounds in doubled(rows, aim):
        manner = Manner(False, 32, rounds=rounds)
        groups = build(rows, replace(aim, alpha=1.0, together=None), manner, rng, None)
        if (groups >= 0).any():
            told.append((_told(rows, groups, aim), manner))
    asked = aim.alpha if aim.together is None else min(aim.alpha, aim.together)
    whole = len(rows) / rows.combinations
    for alpha, manner in sorted(told, key=lambda one: one[0])[:TRIES]:
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


def _told(rows: CodedRows, groups: NDArray[np.int32], aim: Aim) -> float:
    """What can be promised of groups: of all that cover anyone together, or of those that most rows are in."""
    if aim.together is not None:
        return anyones_presence(rows, groups, budget=BUDGET // 10).bound
    beliefs = np.sort(presences(rows, groups)[groups[groups >= 0]])
    return float(beliefs[min(len(beliefs), math.ceil(FITTING * len(rows))) - 1])


def rounded_up(alpha: float) -> float:
    """The next number of three digits that is not below.

    >>> rounded_up(0.0012341), rounded_up(0.25)
    (0.00124, 0.25)
    """
    unit = 10.0 ** (math.floor(math.log10(alpha)) - 2)
    return float(f"{math.ceil(alpha / unit - 1e-9) * unit:.3g}")
