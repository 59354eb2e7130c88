"""A sealed release: a generalized one whose choice of groups tells no more than a published amount about each of them.

A second table says, for every group, what the tests on the way to it may have leaked: by how much, as the logarithm of
odds, an adversary who knows the algorithm may believe more of its persons than the group alone would justify.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.assumptions import DESCRIBED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.canonical import Lines, by_number
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP, check_one_row_each
from discreet.releases.reading import read_lines
from discreet.releases.statement import Stated, Statement
from discreet.table.table import Table

SEAL, LEAKAGE = "seal", "leakage"
BELIEVED = (
    "What was drawn was drawn fairly, nobody can repeat it, and this release was not chosen among several of the same "
    "table. No file can show this; it is an assumption."
)
DEPENDENCE = (
    "The promise does not bound what an adversary believes who knows how quasi-identifiers and sensitive values depend "
    "on each other."
)
ASSUMPTIONS = (
    TRUE_VALUES,
    DESCRIBED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    "The groups were found by tests with a coin, and the release says what the tests may have leaked about each group: "
    f"the odds of a value are at most those of its share in the group times exp({LEAKAGE}). That the amounts "
    "are true is an assumption.",
    "The promise therefore also covers an adversary who knows the algorithm, everybody's quasi-identifiers and how "
    "often each sensitive value occurs, and takes all ways to give the values to the persons as equally likely. It is "
    "the same for someone who knows the values of some persons, compared with what the group tells about the others.",
    BELIEVED,
    DEPENDENCE,
    ONE_RELEASE,
)
MIRRORED = (
    TRUE_VALUES,
    DESCRIBED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    "The groups were found by lot, by cuts that need no test, and by tests whose two halves could be exchanged without "
    "anybody noticing, so that their choice tells nothing. Some halves were tidied by a test with a coin, and the "
    "release says what that may have leaked about each group. An adversary who knows the algorithm, everybody's "
    "quasi-identifiers and how often each sensitive value occurs, and takes all ways to give the values to the persons "
    "as equally likely, believes of everyone what the group says, or where something was leaked, in odds, at most "
    f"exp({LEAKAGE}) times as much. The promise covers this adversary. That the amounts are true is an assumption.",
    "The promise does not cover an adversary who knows the algorithm and the sensitive values of some persons.",
    BELIEVED,
    DEPENDENCE,
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SealedRelease(GeneralizedRelease):
    """The published release, as made by a scheme (``from_seal``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "sealed"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    about_persons: ClassVar[bool] = False
    more_tables: ClassVar[tuple[str, ...]] = (SEAL,)
    needs_secret: ClassVar[bool] = True
    """Whether there is nothing to publish without a sensitive attribute."""
    disjoint: ClassVar[bool] = True
    """Whether cuts between values set all groups apart."""

    leakage: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Per group: what tests may have leaked about it, as the logarithm of odds."""

    @classmethod
    def from_seal(
        cls,
        table: Table,
        groups: NDArray[np.int32],
        leakage: ArrayLike,
        *,
        values: Values = "interval",
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish a partition into groups numbered from 0, with what was leaked about each of them.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table, how = patients(), {"promise": dc.LDiversity(2), "scheme": "halves"}
        >>> halves = (table.quasi[0].codes > 20).astype(np.int32)
        >>> dc.SealedRelease.from_seal(table, halves, [0.0, 0.5], **how)
        <sealed release of 48 rows, 0 withheld: l-diversity(l=2)>
        """
        if cls.needs_secret or table.sensitive_attribute is not None or table.person is not None:
            check_one_row_each(table, cls.format, several=True)
        amounts = np.asarray(leakage, np.float64)
        if amounts.shape != (int(np.max(groups, initial=-1)) + 1,) or not bool((amounts >= 0.0).all()):
            raise DiscreetError("a seal needs a number that is not negative for each group, and groups count from 0")
        release = cls._of_groups(table, groups, values, Statement(**stated))
        return replace(release, leakage=amounts[np.unique(groups[groups >= 0])]).in_order()

    @property
    def _contents(self) -> list[NDArray[Any] | Lines]:
        return [*super()._contents, self._amounts]

    def _rearranged(self, numbers: NDArray[np.int64], order: NDArray[np.int64] | None) -> Self:
        return replace(super()._rearranged(numbers, order), leakage=by_number(numbers, self._amounts))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read, with what its seal says about each group."""
        release = super().load(home, manifest)
        if cls.needs_secret and not release.sensitive_columns:
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
        """Return the table of rows, and the table of what was leaked about each group, in the order of groups."""
        return {**super().tables(numbers), SEAL: pa.table({GROUP: self.ids, LEAKAGE: self._amounts})}

    @property
    def _amounts(self) -> NDArray[np.float64]:
        """What was leaked: nothing, if the release was made of groups alone."""
        return self.leakage if len(self.leakage) else np.zeros(self.groups)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MirroredRelease(SealedRelease):
    """A sealed release whose choice of groups tells nothing about anybody's value, but in few of them."""

    format: ClassVar[str] = "mirrored"
    assumptions: ClassVar[tuple[str, ...]] = MIRRORED
    needs_secret: ClassVar[bool] = False
    disjoint: ClassVar[bool] = False  # rows stay behind, and persons at one place may be in either half
