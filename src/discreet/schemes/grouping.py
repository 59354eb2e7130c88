"""The common part of schemes that put rows into groups: everything except how the groups are formed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.joint import jointly
from discreet.principles.per_attribute import by_attribute, stated
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.randomness import generator
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.release import Release
from discreet.schemes.default_scheme import bounds_presence, way_out
from discreet.schemes.described import DescribedScheme
from discreet.schemes.refusal import Refusal, not_of_groups
from discreet.schemes.scheme import GivenGroups, feasible
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Table

View = tuple[Table, Principle, Prior]
"""A table, the promise about it, and the prior that it is judged against."""


@dataclass(frozen=True, eq=False)
class GroupingTask:
    """Some rows of a table to put into groups, what is promised about them, and where chance comes from."""

    table: Table
    principle: Principle
    prior: Prior
    rows: NDArray[np.int64]
    rng: np.random.Generator
    progress: Progress = no_progress

    @property
    def sensitive_codes(self) -> NDArray[np.int32]:
        """The sensitive value of each of the rows."""
        return self.table.sensitive_codes[self.rows]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many of the rows have each sensitive value."""
        return np.bincount(self.sensitive_codes, minlength=len(self.prior.counts))


class GroupingScheme(DescribedScheme, GivenGroups):
    """A scheme that publishes groups of rows under one description each, or with exact quasi-identifiers."""

    format: ClassVar[type[GeneralizedRelease]] = GeneralizedRelease
    hides_presence: ClassVar[bool] = True
    persons: ClassVar[bool] = True
    several: ClassVar[bool] = True

    @abstractmethod
    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows; -1 withholds a row.

        The rows as one group keep the promise, unless ``check_whole`` admits others.
        """

    def withheld(
        self, table: Table, principle: Principle, prior: Prior, rng: np.random.Generator
    ) -> Iterator[NDArray[np.int64]]:
        """Yield sets of rows to withhold, the best first; each contains all unusable rows and keeps the promise."""
        yield unusable_rows(table, principle, prior, rng)

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept every promise, but none that merging groups to hide who is in the table might break."""
        refusal = not_of_groups(self.name, principle) or self.broken_exactly(principle)
        if refusal is not None or principle.monotone or not bounds_presence(principle):
            return refusal
        return Refusal(
            f"scheme {self.name!r} merges groups to hide who is in the table, and not all of these promises hold for "
            f"unions of groups that keep them",
            principle,
        )

    def _divided(
        self, table: Table, principle: Principle, rng: np.random.Generator, progress: Progress
    ) -> NDArray[np.int32]:
        """Return the group of every row, -1 if withheld, for the first set to withhold that leaves divisible rows."""
        view = self.view(table, principle)
        refusal: DiscreetError | None = None
        for missing in self.withheld(*view, rng):
            groups = np.full(table.rows, -1, np.int32)
            rows = np.delete(np.arange(table.rows), missing)
            if len(rows) == 0:
                return groups
            self.check_whole(view, rows)
            try:
                groups[rows] = self.groups_for_all(table, principle, GroupingTask(*view, rows, rng, progress))
            except DiscreetError as error:
                refusal = refusal or error
            else:
                return groups
        assert refusal is not None
        raise refusal

    def view(self, table: Table, principle: Principle) -> View:
        """Return the table, the promise and the prior that rows are divided by: all sensitive attributes as one."""
        return jointly(principle, table)

    def groups_for_all(self, table: Table, principle: Principle, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each row, under what is promised about all sensitive attributes of the table."""
        return self.groups(task)

    def check_whole(self, view: View, rows: NDArray[np.int64]) -> None:
        """Refuse rows that as one group break the promise: whatever they are divided into starts from there."""
        table, principle, prior = view
        if principle.monotone or len(rows) < table.rows:
            _check_rest(principle, prior, table.sensitive_codes[rows])
        elif not principle.holds(prior.counts[None], prior)[0]:
            raise DiscreetError(
                f"scheme {self.name!r} starts with all rows as one group, which breaks the promise: "
                f"{principle.explain(prior.counts, prior)} Instead, {way_out(principle)}."
            )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """Return a release of the table in which every group keeps the promise."""
        self.check_exact(table)
        feasible(self, table, principle)
        principle = stated(principle, table)
        rng = generator(self.random_state)

        def divide(whole: Table) -> NDArray[np.int32]:
            return self._divided(whole, principle, rng, progress or no_progress)

        if table.person is None:
            groups = divide(table)
        else:
            from discreet.schemes.merge_broken import groups_of_persons  # imported late: few tables have persons

            groups = groups_of_persons(table, principle, divide)
        if groups.max() >= 0 and bounds_presence(principle):
            from discreet.schemes.merge_for_presence import merge_for_presence  # imported late: few promise it

            groups = merge_for_presence(table, groups, principle, self.values, self.name)
        for column, (prior, promise) in zip(table.sensitive or (None,), by_attribute(principle, table), strict=True):
            confirm(groups, table.sensitive_codes if column is None else column.codes, promise, prior)
        if table.person is not None:
            from discreet.schemes.merge_broken import confirm_persons

            confirm_persons(table, groups, principle)
        return self.on_groups(table, groups, principle)

    def on_groups(self, table: Table, groups: NDArray[np.int32], principle: Principle) -> Release:
        """Return the release of a table in these groups."""
        statement = self.statement(stated(principle, table))
        if self.exact:
            made: Release = self.makes.from_groups(table, groups, **statement)
            return made
        return self.format.from_groups(table, groups, values=self.values, **statement)


def published_rows(table: Table, principle: Principle, prior: Prior, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows that need not be withheld; raise an error if as one group they break the promise."""
    rows = np.delete(np.arange(table.rows), unusable_rows(table, principle, prior, rng))
    _check_rest(principle, prior, table.sensitive_codes[rows])
    return rows


def _check_rest(principle: Principle, prior: Prior, sensitive_codes: NDArray[np.int32]) -> None:
    """Refuse a table of which the rows that are not withheld, as one group, break the promise."""
    counts = np.bincount(sensitive_codes, minlength=len(prior.counts))
    if not principle.holds(counts[None, :], prior)[0]:
        raise DiscreetError(
            f"without the rows that have to be withheld, the table cannot keep the promise: "
            f"{principle.explain(counts, prior)} Treat missing as a value of its own instead "
            f"({argument('missing', 'value')})."
        )


def confirm(groups: NDArray[np.int32], sensitive_codes: NDArray[np.int32], principle: Principle, prior: Prior) -> None:
    """Judge once more what is about to be published: a fault in a scheme must not become a broken promise."""
    counts = Counts.of_rows(groups + 1, sensitive_codes, int(groups.max()) + 2, len(prior.counts))
    if not principle.holds(counts, prior).all():
        raise AssertionError(f"the partition breaks {principle}; nothing was published")
