"""A matched release: every row under a description of its own, around the persons that it is matched with.

The graph of heterogeneous generalization. A row may be that of any person it is matched with, and a person is matched
with as many rows as each of these is with persons. Who is matched with which rows is not published: it is in the
private trace. An attacker who only has the files finds more rows whose descriptions admit a person, and may take some
of them for likelier than others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.families.heterogeneous.candidates import irregularities, of_groups, pairs
from discreet.options import checked
from discreet.releases.assumptions import ONE_RELEASE, TRUE_VALUES
from discreet.releases.columns import ExactColumn
from discreet.releases.descriptions import Descriptions, Texts
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalization import Values, generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import PublishedRows, check_one_row_each, check_partition
from discreet.releases.statement import Stated, Statement
from discreet.table.table import Column, Table

ASSUMPTIONS = (
    TRUE_VALUES,
    "Every row has a number and a description of its own. It is matched with some persons, all of whom its description "
    "admits, and is the row of one of them; a person is matched with as many rows as each of these is with persons. "
    "Who is matched with which rows is not published.",
    "The matches are made of assignments that give every person a row; which of these is the true one was drawn, all "
    "being equally likely.",
    "The order of the rows and their numbers carry no information.",
    "The promise is kept against the distribution of the sensitive attribute in the whole original, withheld rows "
    "included, by the values that are published with the rows that each person is matched with, and by the withheld "
    "rows taken as one group.",
    "The promise covers an adversary who knows with which rows a person is matched, and takes each of these for "
    "equally likely to be the person's.",
    "The promise does not cover an adversary who does not know the matches, and takes all ways to give everyone a row "
    "whose description admits them for equally likely: more rows may then be a person's, some likelier than others, so "
    "that more may be believed than is promised, and rightly. Nor does it cover an adversary who counts all rows "
    "whose descriptions admit a person as equally likely, though rows of large descriptions belong to a person more "
    "rarely than rows of small ones.",
    "The promise does not cover an adversary who knows the matches and the sensitive values of some persons: as one "
    "draw decides about all, these may tell which assignment is the true one, and so the values of all others.",
    "The promise bounds what the matches and the rows say; it does not bound what the choice of these matches may tell "
    "an adversary who knows the algorithm.",
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MatchedRelease(GeneralizedRelease):
    """The published release, as made by a scheme (``from_candidates``) or as found in a folder (``load``).

    It is a generalized release in which every row is a group of its own. The private ``trace`` has a line for every
    input row: the numbers of the published rows that may be its person's, its own first, and -1 where there are fewer.
    """

    format: ClassVar[str] = "matched"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    takes_marginals: ClassVar[bool] = False
    about_persons: ClassVar[bool] = False
    contents: ClassVar[Mapping[str, str]] = {"table": "a line for each published row, with its own number in group"}

    @classmethod
    def from_candidates(
        cls,
        table: Table,
        candidates: ArrayLike,
        *,
        values: Values = "interval",
        **stated: Unpack[Stated],
    ) -> Self:
        """Publish rows that are matched with persons.

        ``candidates[row]`` lists the published rows, numbered from 0 in any order, that may be the one of this input
        row's person, beginning with the one that is; -1 where there are fewer, and in all places to withhold the row.
        A column gives no row to two persons, and all persons whose candidate a row is have as many candidates as it has
        persons.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> table = patients()
        >>> ring = (np.arange(48)[:, None] + np.arange(4)) % 48  # everyone is matched with the next three rows, too
        >>> dc.MatchedRelease.from_candidates(table, ring, promise=dc.LDiversity(2), scheme="ring")
        <matched release of 48 rows, 0 withheld: l-diversity(l=2)>
        """
        given = np.asarray(candidates)
        check_one_row_each(table, cls.format)
        number = _check_candidates(table.rows, given)
        checked("values", values, Values)
        check_partition(table, given[:, 0])
        matched = given.astype(np.int32)
        persons, lines = pairs(matched)

        def described(column: Column) -> Texts:
            return generalize(replace(column, codes=column.codes[persons]), lines.astype(np.int32), number, values)

        rows = PublishedRows(table, matched[:, 0].copy(), labels=values == "label")
        return replace(cls._of_rows(rows, described, Statement(**stated)), trace=matched).in_order()

    @property
    def kept_rows(self) -> tuple[NDArray[np.int64], tuple[ExactColumn, ...]]:
        """It is not published by which rows a person is found."""
        return np.zeros(0, np.int64), ()

    @classmethod
    def refusal_as_part(cls) -> str | None:
        """Everybody's matches are in the trace, of which there is one for all tables."""
        return "only its private trace tells which rows may be whose"

    @property
    def grouped(self) -> None:
        """None: everyone has candidates of their own."""
        return None

    def trace_columns(self, trace: NDArray[np.int32]) -> dict[str, Any]:
        """The own row of every person, and all rows that may be, the own one first."""
        listed = [" ".join(map(str, line[line >= 0].tolist())) for line in trace]
        return {**super().trace_columns(trace[:, 0].copy()), "candidates": listed}

    @classmethod
    def _of_groups(cls, table: Table, groups: NDArray[np.int32], values: Values, statement: Statement) -> Self:
        """Return a release of a partition: every person is matched with the rows of the group."""
        rows = PublishedRows.of_groups(table, groups)
        return cls.from_candidates(table, of_groups(rows.places), values=values, **vars(statement))

    @classmethod
    def load(cls, home: Home, manifest: dict[str, Any]) -> Self:
        """Return the release in a folder whose manifest has been read."""
        release = super().load(home, manifest)
        if len(release.sensitive_columns) != 1:
            raise DiscreetError(f"the manifest of a matched release must list one sensitive attribute; {DAMAGED}")
        shared = np.flatnonzero(release.sizes != 1)
        if not len(shared):
            return release
        fault = f"Every row must have a number of its own, and {release.sizes[shared[0]]:,} rows have {shared[0]}."
        return replace(release, faults=(*release.faults, fault))

    @cached_property
    def descriptions(self) -> Descriptions:
        """The rows as cells, those with the same description being alike."""
        of_cell = self.cells.of_row[np.argsort(self.group_of, kind="stable")]  # rows in the order of their numbers
        alike = np.bincount(of_cell)[of_cell] if self.groups == self.rows else None
        return Descriptions(self.quasi, self.texts, self.sizes, self.ids, alike)


def _check_candidates(rows: int, candidates: NDArray[Any]) -> int:
    """Raise an error if these are no regular matches; return the number of published rows."""
    if candidates.ndim != 2 or len(candidates) != rows or candidates.shape[1] == 0:
        raise DiscreetError(f"candidates are a matrix with a line for each of the {rows:,} rows")
    if candidates.dtype.kind not in "iu":
        raise DiscreetError("candidates are given as whole numbers")
    number = int((candidates[:, 0] >= 0).sum())
    if bool(((candidates < -1) | (candidates >= number)).any()):
        raise DiscreetError(f"candidates name a row outside -1 to {number - 1:,}, and {number:,} rows are published")
    if bool(((candidates[:, :1] < 0) & (candidates >= 0)).any()):
        raise DiscreetError("a person without a row of its own, whose line begins with -1, can have no candidates")
    for fault in irregularities(candidates, number, range(number)):
        raise DiscreetError(f"the candidates are no regular matches: {fault}")
    return number
