"""The seal beside groups of rows: for every group, how much the tests on the way to it may have leaked.

By how much, as the logarithm of odds, an adversary who knows the algorithm may believe more of the group's persons than
the group alone would justify.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.assumptions import FAIRLY_DRAWN
from discreet.releases.canonical import Lines, by_number
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.grouped import GroupedRowsRelease
from discreet.releases.partition import GROUP, check_one_row_each
from discreet.releases.reading import read_lines
from discreet.table.table import Table

SEAL, LEAKAGE = "seal", "leakage"
DEPENDENCE = (
    "The promise does not bound what an adversary believes who knows how quasi-identifiers and sensitive values depend "
    "on each other."
)
TESTED = (
    "The groups were found by tests with a coin, and the release says what the tests may have leaked about each group: "
    f"the odds of a value are at most those of its share in the group times exp({LEAKAGE}). That the amounts "
    "are true is an assumption.",
    "The promise therefore also covers an adversary who knows the algorithm, everybody's quasi-identifiers and how "
    "often each sensitive value occurs, and takes all ways to give the values to the persons as equally likely. It is "
    "the same for someone who knows the values of some persons, compared with what the group tells about the others.",
    FAIRLY_DRAWN,
    DEPENDENCE,
)
HALVED = (
    "The groups were found by lot, by cuts that need no test, and by tests whose two halves could be exchanged without "
    "anybody noticing, so that their choice tells nothing. Some halves were tidied by a test with a coin, and the "
    "release says what that may have leaked about each group. An adversary who knows the algorithm, everybody's "
    "quasi-identifiers and how often each sensitive value occurs, and takes all ways to give the values to the persons "
    "as equally likely, believes of everyone what the group says, or where something was leaked, in odds, at most "
    f"exp({LEAKAGE}) times as much. The promise covers this adversary. That the amounts are true is an assumption.",
    "The promise does not cover an adversary who knows the algorithm and the sensitive values of some persons.",
    FAIRLY_DRAWN,
    DEPENDENCE,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Seal(GroupedRowsRelease):
    """What a format of groups has that says what their choice may have leaked; it comes before that format's class."""

    more_tables: ClassVar[tuple[str, ...]] = (SEAL,)
    about_persons: ClassVar[bool] = False
    contents: ClassVar[Mapping[str, str]] = {SEAL: "what the choice of each group may tell beyond its values"}
    needs_secret: ClassVar[bool] = True
    """Whether there is nothing to publish without a sensitive attribute."""
    disjoint: ClassVar[bool] = True
    """Whether cuts between values set all groups apart."""

    leakage: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Per group: what tests may have leaked about it, as the logarithm of odds."""

    @classmethod
    def checked_leakage(cls, table: Table, groups: NDArray[np.int32], leakage: ArrayLike) -> NDArray[np.float64]:
        """Return the leakage of each group that has rows; raise an error for one that no test can have."""
        if cls.needs_secret or table.sensitive_attribute is not None or table.person is not None:
            check_one_row_each(table, cls.format, several=True)
        amounts = np.asarray(leakage, np.float64)
        if amounts.shape != (int(np.max(groups, initial=-1)) + 1,) or not bool((amounts >= 0.0).all()):
            raise DiscreetError("a seal needs a number that is not negative for each group, and groups count from 0")
        return amounts[np.unique(groups[groups >= 0])]

    @property
    def _contents(self) -> list[NDArray[Any] | Lines]:
        return [*cast(Any, super())._contents, self._amounts]

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        groups: Self = cast(Any, super())._rearranged(numbers, order)
        return replace(groups, leakage=by_number(numbers, self._amounts))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read, with what its seal says about each group."""
        release: Self = cast(Any, super()).load(home, manifest)
        if cls.needs_secret and not release.sensitive:
            raise DiscreetError(f"the manifest of a sealed release must list a sensitive attribute; {DAMAGED}")
        path = release.second_table(home, SEAL)
        groups, leakage = read_lines(path, [GROUP, LEAKAGE])
        faults = list(release.faults)
        if groups != [str(number) for number in release.ids.tolist()]:
            faults.append(f"{path.name} must list every group that has rows in the table once, in order.")
        try:
            amounts = np.array([float(text) for text in leakage], np.float64)
        except ValueError:
            raise DiscreetError(
                f"the column {LEAKAGE!r} of {path.name!r} does not hold a number in every row; publish the release "
                "again"
            ) from None
        if not bool(((amounts >= 0.0) & np.isfinite(amounts)).all()):
            faults.append(f"{path.name} says of a group what no test can leak: a negative amount, or an infinite one.")
        if faults:
            amounts = np.zeros(release.groups)
        return replace(release, leakage=amounts, faults=tuple(faults))

    def tables(self, numbers: bool = True) -> dict[str, pa.Table]:
        """Return the tables of the groups, and that of what was leaked about each, in the order of groups."""
        seal = pa.table({GROUP: self.ids, LEAKAGE: self._amounts})
        return {**cast(Any, super()).tables(numbers), SEAL: seal}

    @property
    def _amounts(self) -> NDArray[np.float64]:
        """What was leaked: nothing, if the release was made of groups alone."""
        return self.leakage if len(self.leakage) else np.zeros(self.groups)
