"""The interface of all schemes: an object with keyword parameters and one verb."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.catalogue import SCHEMES
from discreet.errors import DiscreetError
from discreet.expressions import SEED, Expression, form_of, joined
from discreet.options import brief, hints_of
from discreet.principles.per_attribute import Promised, by_attribute
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.release import Release
from discreet.schemes.default_scheme import bounds_presence, default_scheme, keeper
from discreet.schemes.refusal import Refusal, RefusalError, not_of_groups
from discreet.schemes.row_order import row_order
from discreet.table.table import Table, as_table

EXAMPLE = "'cuts(effort=thorough)'"


@dataclass(frozen=True, kw_only=True)
class Scheme(Expression, ABC):
    """A published algorithm: turns a table and a promise into a release that keeps it, or refuses with a reason."""

    format: ClassVar[type[Any]]
    """The class of releases that it makes."""
    hides_presence: ClassVar[bool] = False
    """Whether it can hide who is in the table."""
    several: ClassVar[bool] = False
    """Whether it protects several sensitive attributes at once."""
    one_run: ClassVar[bool] = False
    """Whether its promise covers one run only: choosing among several runs undoes it."""
    persons: ClassVar[bool] = False
    """Whether it keeps promises about persons who have several rows each."""

    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    @property
    def makes(self) -> type[Any]:
        """The class of releases that it makes with its options, where these decide about that."""
        return self.format

    @property
    def holds_for_one_run(self) -> bool:
        """Whether ``one_run`` is true of it with its options, where these decide about that."""
        return self.one_run

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest: all but the seed."""
        return {name: joined(getattr(self, name)) for name in hints_of(type(self)) if name != SEED}

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """Return a release of the table that keeps the promise, whatever the order of the rows.

        An attacker may know the order of the input and how ties between equal rows fall. So no scheme sees that order:
        rows come to it by lot or, for experiments with a seed, as their content and the seed decide.
        """
        order = row_order(as_table(table), self.random_state)
        reordered = table.reordered(order)
        release = self.release_of(reordered, principle, progress)
        return self.completed(release, reordered, principle).traced_to(order)

    def completed(self, release: Release, table: Table, principle: Principle) -> Release:
        """Return a release that was just made of a table, with what the options ask for beside it."""
        return release

    @abstractmethod
    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """Return a release of the table, whose rows are in no order of the input's, that keeps the promise."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Return why the scheme cannot make this promise about any such table; None if it can."""
        drawn = not_of_groups(self.name, principle)
        if drawn is not None:
            return drawn
        if bounds_presence(principle) and not self.hides_presence:
            return Refusal(
                f"scheme {self.name!r} publishes quasi-identifiers as they are, so who is in the table is certain and "
                f"no alpha below 1 can be kept",
                principle,
            )
        if principle.monotone:
            return None
        return Refusal(
            f"scheme {self.name!r} only keeps promises that still hold when groups that keep them are merged",
            principle,
        )

    def refusal_of_several(self, principle: Principle, each: Sequence[Promised]) -> Refusal | None:
        """Return why the scheme cannot make these promises about several sensitive attributes; None if it can."""
        if self.several:
            return self.refusal(principle, each[0].prior)
        names = ", ".join(str(promised.prior.attribute) for promised in each)
        return Refusal(
            f"scheme {self.name!r} protects one sensitive attribute and the table has several ({names})",
            principle,
            "" if keeper(principle) is None else "name one of them",
        )

    def refusal_of_any(self, principle: Principle, each: Sequence[Promised]) -> Refusal | None:
        """Return the first refusal of what is promised about one of the attributes; None if there is none."""
        refusals = (self.refusal(promise, prior) for prior, promise in each)
        return next((refusal.about(principle) for refusal in refusals if refusal is not None), None)

    def draws(self) -> tuple[np.random.Generator, np.random.Generator | None]:
        """Return a generator for what is not published, and one for what is: None, for the operating system's entropy,
        unless there is a seed."""
        rng = generator(self.random_state)
        return rng, None if self.random_state is None else rng

    def check_words(self, table: Table) -> None:
        """Raise an error if an option names a column or a value that the table does not have."""

    def statement(self, principle: Principle, seeded: bool | None = None) -> dict[str, Any]:
        """Return what a release states about how it was made, as arguments of its constructor; by default, what was
        drawn was ``seeded`` if there is a seed."""
        seeded = self.random_state is not None if seeded is None else seeded
        return {"promise": principle, "scheme": self.name, "options": self.options, "seeded": seeded}


class GivenGroups(Scheme):
    """A scheme that also publishes a table in groups that it is given, for one partition of several tables."""

    @abstractmethod
    def on_groups(self, table: Table, groups: NDArray[np.int32], principle: Principle) -> Release:
        """Return the release of a table in given groups."""


def feasible(scheme: Scheme, table: Table, principle: Principle) -> Prior:
    """Return the prior of a table that can keep the promise; else raise an error with the strongest reachable one.

    With several sensitive attributes this is the prior of the first; the promises about each of them are checked.
    """
    if as_table(table).rows == 0:
        raise DiscreetError("the table has no rows, so there is nothing to publish; check the input")
    if not table.quasi:
        raise DiscreetError(
            f"the table has no quasi-identifiers; name those that others may know with {argument('quasi')}"
        )
    if table.person is not None and not scheme.persons:
        raise DiscreetError(
            f"scheme {scheme.name!r} promises nothing about persons who have several rows; "
            "choose scheme 'cuts', or give one row per person"
        )
    if not isinstance(principle, Principle):
        raise DiscreetError(f"{brief(principle)} is not a promise; give one such as BetaLikeness(2)")
    each = by_attribute(principle, table)
    check_kept_by(scheme, principle, each)
    return each[0].prior


def check_kept_by(scheme: Scheme, principle: Principle, each: Sequence[Promised]) -> None:
    """Raise an error if the scheme refuses what is promised about each sensitive attribute, or no grouping keeps it."""
    for prior, promise in each:
        promise.require(prior)
    refusal = scheme.refusal_of_several(principle, each) if len(each) > 1 else scheme.refusal(principle, each[0].prior)
    if refusal is not None:
        raise RefusalError(refusal)
    for prior, promise in each:
        reach = promise.reachable(prior)
        if not reach.feasible:
            about = f" about '{prior.attribute}'" if len(each) > 1 else ""
            raise DiscreetError(f"this table cannot keep {promise}{about}: {reach.sentence}")


def as_scheme(given: object) -> Scheme:
    """Return the argument if it is a scheme; refuse anything else."""
    if not isinstance(given, Scheme):
        raise DiscreetError(f"{brief(given)} is not a scheme; give one such as Burel(), or its name")
    return given


def make_scheme(
    text: str | None = None,
    options: Mapping[str, str] | None = None,
    random_state: int | None = None,
    principle: Principle | None = None,
) -> Scheme:
    """Return the scheme that a text describes, with further options as texts; by default the one for the promise.

    >>> make_scheme("cuts(effort=thorough)", {"withhold": "0.02"}).options["withhold"]
    0.02
    """
    text = default_scheme(principle) if text is None else text
    name, given = form_of(text, "scheme", EXAMPLE, SCHEMES)
    for key in options or {}:
        if key in given:
            raise DiscreetError(
                f"{name}: {key} is given twice, in {brief(text)} and as an option of its own; give it once"
            )
    scheme: Scheme = SCHEMES[name].from_texts({**given, **(options or {})}, random_state=random_state)
    return scheme
