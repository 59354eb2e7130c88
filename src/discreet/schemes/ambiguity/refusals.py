"""The error when no groups of an ambiguous release are found: the reason, and an alpha for which there are some."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import SLACK
from discreet.principles.wording import percent
from discreet.releases.ambiguous.blocks import Blocks
from discreet.schemes.ambiguity.attempts import MOST_WITHHELD, nearest_alpha
from discreet.schemes.ambiguity.terms import Aim, CodedRows, lowest_alpha
from discreet.table.texts import number_text

Finish = Callable[[NDArray[np.int32]], NDArray[np.int32]]
"""Returns groups without those that must be withheld so that the withheld rows keep the promise."""


@dataclass
class Refused:
    """Rows for which no groups were found, and the nearest attempt."""

    blocks: Blocks
    rows: CodedRows
    left_over: float = 1.0
    """The smallest share of rows that fit into no group."""
    withheld: float = 1.0
    """The smallest share that would have to be withheld in attempts where enough rows fit."""

    def record(self, left_over: float, withheld: float) -> None:
        """Record one more failed attempt."""
        self.left_over = min(self.left_over, left_over)
        if left_over <= MOST_WITHHELD:
            self.withheld = min(self.withheld, withheld)

    def error(self, aim: Aim, finished: Finish) -> DiscreetError:
        """Return the error: why nothing is published, and what could be."""
        asked = f"alpha={number_text(aim.alpha)}"
        limit = lowest_alpha(self.rows, aim)
        shown = ["+".join(block) for block in self.blocks]
        if aim.alpha < min(1.0, limit) - SLACK and len(shown) == 1:
            return DiscreetError(
                f"this table cannot keep {asked}: a group shows no more values of {shown[0]!r} than it has rows, so "
                "whoever has one is known to be in the table; ask for alpha=1, or add a quasi-identifier that is "
                "published on its own"
            )
        if aim.alpha < min(1.0, limit) - SLACK:
            listed = ", ".join(f"{number:,} of {name!r}" for name, number in zip(shown, self.rows.numbers, strict=True))
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
        return DiscreetError(f"{why}; {self._advice(aim, finished)}")

    def _advice(self, aim: Aim, finished: Finish) -> str:
        """Return what to ask for instead."""

        def fits(groups: NDArray[np.int32]) -> bool:
            return float((finished(groups) < 0).mean()) <= MOST_WITHHELD

        alpha = nearest_alpha(self.rows, aim, fits)
        if alpha is None:
            return "no alpha below 1 was found that can be kept; add quasi-identifiers, or hide nobody with alpha=1"
        also = "" if aim.together is None else " for presence=group,"
        return f"ask for alpha={number_text(alpha)},{also} or add quasi-identifiers"
