"""What every scheme is: an object with keyword parameters and one verb."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.releases.generalized import GeneralizedRelease
from discreet.schemes.top_down import Progress
from discreet.table.table import Table


class Scheme(ABC):
    """A published algorithm: from a table and a promise to a release that keeps it, or a refusal that says why."""

    name: ClassVar[str]

    @abstractmethod
    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> GeneralizedRelease:
        """A release of the table that keeps the promise."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""


def feasible(table: Table, principle: Principle) -> Prior:
    """The prior of a table that can keep the promise; a refusal, with the strongest reachable one, if it cannot."""
    if table.rows == 0:
        raise DiscreetError("the table has no rows, so there is nothing to publish; check the input")
    if not table.quasi:
        raise DiscreetError("the table has no quasi-identifiers; name those that others may know with --quasi")
    prior = Prior.of(table)
    principle.require(prior)
    reach = principle.reachable(prior)
    if not reach.feasible:
        raise DiscreetError(f"this table cannot keep {principle}: {reach.sentence}")
    return prior
