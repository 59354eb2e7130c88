"""A toy: quasi-identifiers and sensitive values in separate tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.release import Release
from discreet.releases.separate.release import SeparateRelease
from discreet.schemes.grouping import published_rows
from discreet.schemes.keepers import way_out
from discreet.schemes.scheme import Scheme, feasible
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Separate(Scheme):
    """Publishes quasi-identifiers and sensitive values in separate tables.

    Why the promise is kept: whoever is found in the table may have any of its sensitive values, so that the belief in
    each is its share in the whole table, which is judged before anything is published. Chance only decides which rows
    are withheld along with those that lack values.
    """

    name: ClassVar[str] = "separate"
    format: ClassVar[type[Release]] = SeparateRelease

    random_state: int | None = None

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Refuse to hide rows among others, because quasi-identifiers are published as they are."""
        if any(not part.about_values for part in principle.parts):
            return f"scheme {self.name!r} publishes quasi-identifiers as they are; {way_out(principle)}"
        return super().refusal(principle, prior)

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> SeparateRelease:
        """Publish all rows that need not be withheld; raises if together they break the promise."""
        prior = feasible(self, table, principle)
        rows = published_rows(table, principle, prior, generator(self.random_state))
        return SeparateRelease.of_rows(table, rows, **self.statement(principle, self.random_state is not None))
