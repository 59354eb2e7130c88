"""Sealed releases: groups whose choice tells no more than a published amount about each, under boxes or with exact
quasi-identifiers.

The format ``sealed`` is the generalized one, ``sealed-exact`` that of anatomy; both have the table of the seal beside
(``seal``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.families.sealed.seal import HALVED, TESTED, Seal
from discreet.releases.anatomy.release import EXACT, AnatomyRelease
from discreet.releases.assumptions import (
    COUNTED,
    DESCRIBED,
    FOR_RECIPIENTS,
    KEPT_BY_GROUPS,
    ONE_RELEASE,
    SHUFFLED,
    TRUE_VALUES,
)
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.statement import Stated, Statement
from discreet.table.table import Table

OF_BOXES = TRUE_VALUES, DESCRIBED, SHUFFLED, KEPT_BY_GROUPS
OF_ROWS = EXACT, FOR_RECIPIENTS, COUNTED, SHUFFLED, KEPT_BY_GROUPS


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SealedRelease(Seal, GeneralizedRelease):
    """The published release, as made by a scheme (``from_seal``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "sealed"
    assumptions: ClassVar[tuple[str, ...]] = (*OF_BOXES, *TESTED, ONE_RELEASE)

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
        amounts = cls.checked_leakage(table, groups, leakage)
        return replace(cls._of_groups(table, groups, values, Statement(**stated)), leakage=amounts).in_order()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MirroredRelease(SealedRelease):
    """A sealed release whose choice of groups tells nothing about anybody's value, but in few of them."""

    format: ClassVar[str] = "mirrored"
    assumptions: ClassVar[tuple[str, ...]] = (*OF_BOXES, *HALVED, ONE_RELEASE)
    needs_secret: ClassVar[bool] = False
    disjoint: ClassVar[bool] = False  # rows stay behind, and persons at one place may be in either half


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SealedExactRelease(Seal, AnatomyRelease):
    """A sealed release with exact quasi-identifiers, and the sensitive values counted per group."""

    format: ClassVar[str] = "sealed-exact"
    assumptions: ClassVar[tuple[str, ...]] = (*OF_ROWS, *TESTED, ONE_RELEASE)
    described_exactly: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_seal(cls, table: Table, groups: NDArray[np.int32], leakage: ArrayLike, **stated: Unpack[Stated]) -> Self:
        """Publish a partition into groups numbered from 0, with what was leaked about each of them."""
        amounts = cls.checked_leakage(table, groups, leakage)
        return replace(cls._of_groups(table, groups, Statement(**stated)), leakage=amounts).in_order()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MirroredExactRelease(SealedExactRelease):
    """A mirrored release with exact quasi-identifiers, and the sensitive values counted per group."""

    format: ClassVar[str] = "mirrored-exact"
    assumptions: ClassVar[tuple[str, ...]] = (*OF_ROWS, *HALVED, ONE_RELEASE)
    disjoint: ClassVar[bool] = False
