"""The common part of schemes that put rows into groups: everything except how the groups are formed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import by_attribute, stated
from discreet.principles.persons import Judged, require_persons, rules_about
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.generalized.describe import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes.merging import hide_presence
from discreet.schemes.persons import groups_of_persons
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Table


class GroupingScheme(Scheme):
    """A scheme that publishes groups of rows under one description each."""

    format: ClassVar[type[GeneralizedRelease]] = GeneralizedRelease
    hides_presence: ClassVar[bool] = True
    persons: ClassVar[bool] = True
    values: Values
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    @abstractmethod
    def groups(
        self,
        table: Table,
        principle: Principle,
        prior: Prior,
        rows: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> NDArray[np.int32]:
        """Return the group of each of the given rows; -1 withholds a row.

        If the promise is monotone, the rows as one group keep it; otherwise the scheme must find out whether they can
        be divided into groups that keep it.
        """

    def withheld(
        self, table: Table, principle: Principle, prior: Prior, rng: np.random.Generator
    ) -> Iterator[NDArray[np.int64]]:
        """Yield sets of rows to withhold, the best first; each contains all unusable rows and keeps the promise."""
        yield unusable_rows(table, principle, prior, rng)

    def _divided(
        self, table: Table, principle: Principle, prior: Prior, rng: np.random.Generator, progress: Progress | None
    ) -> NDArray[np.int32]:
        """Return the group of every row, -1 if withheld, for the first set to withhold that leaves divisible rows."""
        refusal: DiscreetError | None = None
        for missing in self.withheld(table, principle, prior, rng):
            groups = np.full(table.rows, -1, np.int32)
            rows = np.delete(np.arange(table.rows), missing)
            if len(rows) == 0:
                return groups
            if principle.monotone:  # else the rows may well be divided into groups that keep it, though they do not
                _see_that_the_rest_keeps(principle, prior, table.classes[rows])
            try:
                groups[rows] = self.groups(table, principle, prior, rows, rng, progress)
            except DiscreetError as error:
                refusal = refusal or error
            else:
                return groups
        assert refusal is not None
        raise refusal

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> GeneralizedRelease:
        """Return a generalized release of the table in which every group keeps the promise."""
        prior = feasible(self, table, principle)
        principle = stated(principle, table)
        rng = generator(self.random_state)
        if table.person is None:
            groups = self._divided(table, principle, prior, rng, progress)
        else:
            require_persons(principle, table)

            def divide(persons: Table) -> NDArray[np.int32]:
                return self._divided(persons, principle, Prior.of(persons), rng, progress)

            groups = groups_of_persons(table, principle, divide)
        if groups.max() >= 0:
            groups = hide_presence(table, groups, principle, self.values, self.name)
        each = by_attribute(principle, table)
        confirm(groups, table.classes, each[0].promise, prior)
        if table.person is not None:
            confirm_persons(table, groups, principle)
        for column, (own, promise) in zip(table.sensitive[1:], each[1:], strict=True):
            confirm(groups, column.codes, promise, own)
        return self.format.from_groups(
            table,
            groups,
            promise=principle,
            scheme=self.name,
            options=self.options,
            values=self.values,
            seeded=None if self.random_state is None else rng,
        )


def published_rows(table: Table, principle: Principle, prior: Prior, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows that need not be withheld; raise an error if as one group they break the promise."""
    rows = np.delete(np.arange(table.rows), unusable_rows(table, principle, prior, rng))
    _see_that_the_rest_keeps(principle, prior, table.classes[rows])
    return rows


def _see_that_the_rest_keeps(principle: Principle, prior: Prior, classes: NDArray[np.int32]) -> None:
    """Refuse a table of which the rows that are not withheld, as one group, break the promise."""
    counts = np.bincount(classes, minlength=len(prior.counts))
    if not principle.holds(counts[None, :], prior)[0]:
        raise DiscreetError(
            f"without the rows that have to be withheld, the table cannot keep the promise: "
            f"{principle.explain(counts, prior)} Treat missing as a value of its own instead "
            f"({argument('missing', 'value')})."
        )


def confirm(groups: NDArray[np.int32], classes: NDArray[np.int32], principle: Principle, prior: Prior) -> None:
    """Judge once more what is about to be published: a fault in a scheme must not become a broken promise."""
    counts = Counts.of_rows(groups + 1, classes, int(groups.max()) + 2, len(prior.counts))
    if not principle.holds(counts, prior).all():
        raise AssertionError(f"the partition breaks {principle}; nothing was published")


def confirm_persons(table: Table, groups: NDArray[np.int32], principle: Principle) -> None:
    """Confirm the promise about persons with several rows: each person is in one group, which keeps it by persons."""
    assert table.person is not None
    one_of = np.empty(table.persons, np.int32)
    one_of[table.person] = groups
    kept = Judged.of(table, groups + 1, int(groups.max()) + 2).strains(rules_about(principle, table)) <= 1.0
    if not bool((one_of[table.person] == groups).all()) or not bool(kept.all()):
        raise AssertionError(f"the partition breaks {principle} about persons; nothing was published")
