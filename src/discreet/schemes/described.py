"""Groups under boxes or with exact quasi-identifiers: what schemes that form groups have in common where they describe
them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, cast

from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.options import Interval, hints_of
from discreet.principles.principle import Principle, as_principle
from discreet.progress import Progress
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.grid import column_unit
from discreet.releases.release import Release
from discreet.schemes.default_scheme import bounds_presence
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme
from discreet.table.table import Table, as_table

Exactness = Literal["boxes", "exact"]
"""Whether groups are published under boxes, or every row with its exact quasi-identifiers."""
Beside = Literal["auto", "none", "one-way"]
"""Which counts of quasi-identifiers are published beside boxes."""
Snap = Literal["auto"] | bool
"""Whether intervals are widened to a public grid."""
Overlap = Literal["any", "none"]
"""Whether a person may fit several groups."""


class BoxScheme(Scheme):
    """A scheme that describes groups by boxes, and may publish the counts of whole columns beside them."""

    values: Values
    """How boxes are published: ``interval``, ``label`` or ``set``."""
    marginals: Beside = "auto"
    """``one-way``: also how many rows of the whole table have which values of each quasi-identifier. Counts that are
    estimated from boxes become much better at the same promise; it may tell that somebody is in the table. ``auto``:
    where sensitive values are protected and presence is not, no row is withheld and nobody has several."""
    cells: Annotated[int, Interval(1)] = 10
    """How many rows each of these counts has at least; more, if k-anonymity is promised for a larger k."""
    snap: Snap = "auto"
    """Whether intervals are widened to a public grid, so that nobody is certain to be at their ends. ``auto``: those of
    columns that have a grid and more than a few values, unless a promise is about presence, which is judged for narrow
    intervals."""

    overlap: Overlap = "any"
    """``none``: nobody of the table fits two groups, so that guesses that go by groups are right at most as often as
    beliefs allow. Cuts are then plain, categories are published as sets, and intervals as narrow as they are."""

    def __post_init__(self) -> None:
        """Raise an error for options that contradict each other."""
        super().__post_init__()
        if self.overlap == "none":
            if self.snap is True or self.values == "label":
                widens = "snap=true" if self.snap is True else "values=label"
                raise DiscreetError(
                    f"{self.name}: {widens} makes descriptions overlap; leave it out, or say overlap=any"
                )
            object.__setattr__(self, "values", "set")
            object.__setattr__(self, "snap", False)
        if self.snap is True and self.values != "interval":
            raise DiscreetError(
                f"{self.name}: snap=true widens intervals, and values={self.values} also publishes single values; say "
                "values=interval"
            )

    @property
    def counts_columns(self) -> bool:
        """Whether it was asked for marginals."""
        return self.marginals == "one-way"

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest, with those of marginals and ``snap`` only if asked for."""
        stated = super().options
        left = {"marginals", "cells"} if not self.counts_columns else set()
        left |= {"snap"} if self.snap is not True else set()
        left |= {"overlap"} if self.overlap == "any" else set()
        return {name: stated[name] for name in stated if name not in left}

    def shows_ends(self, principle: Principle) -> Refusal | None:
        """Return why a promise is not made about intervals on a grid, or groups that do not overlap; None if it may be.

        Why promises about sensitive values and about sizes of groups stay: groups and what is counted in them are the
        same. Whoever knows everybody's quasi-identifiers and group is told nothing by descriptions. Whoever does not
        can only compute the widened ones from the narrow ones, and so believes a mean over all groups, trees or matches
        that have these, in each of which the belief is within the promise. Presence is judged for narrow intervals.
        """
        if self.overlap == "none" and bounds_presence(principle):
            return Refusal(
                f"scheme {self.name!r} merges groups to hide who is in the table, and merged ones overlap with others, "
                "which overlap=none excludes",
                principle,
                "say overlap=any",
            )
        if self.snap is not True or not bounds_presence(principle):
            return None
        return Refusal(
            f"scheme {self.name!r} with snap=true widens intervals after groups are formed, and presence is judged for "
            "the narrowest ones",
            principle,
            "say snap=false",
        )

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """Return a release of the table that keeps the promise; refuse a column without a grid before any work."""
        for column in as_table(table).quasi if self.snap is True else ():
            column_unit(column)
        if self.overlap == "none":
            self._check_apart(as_table(table))
        return super().publish(table, principle, progress)

    def _check_apart(self, table: Table) -> None:
        """Raise an error for a table whose groups may overlap although cuts are plain."""
        if table.person is not None:
            raise DiscreetError(
                f"{self.name}: overlap=none is about one row per person, and rows of a person stay together here; say "
                "overlap=any"
            )
        advice = "leave such rows out of the table, or say overlap=any"
        if table.unusable is not None and len(table.unusable):
            raise DiscreetError(f"{self.name}: people whose rows are withheld fit groups of others; {advice}")
        for column in table.quasi:
            if column.kind != "categorical" and column.missing is not None:
                raise DiscreetError(
                    f"column {column.name!r} has missing values, and the description '*' of a group with them overlaps "
                    f"with all others; {advice}"
                )

    def completed(self, release: Release, table: Table, principle: Principle) -> Release:
        """Return the release on a grid, or else with the steps of numbers, where presence is not protected; and with
        marginals, if they are asked for or disclose nothing that is protected."""
        if release.descriptions is not None and not bounds_presence(as_principle(principle)):
            boxes = cast(GeneralizedRelease, release)
            release = boxes.stepped(table) if self.snap is False else boxes.snapped(table, every=self.snap is True)
        parts = as_principle(principle).parts
        smallest = max(part.least_rows for part in parts)
        if self.marginals == "auto":
            of_values = any(part.about_values for part in parts) and not bounds_presence(as_principle(principle))
            if not (of_values and release.takes_marginals and not release.withheld and table.person is None):
                return release
        elif not self.counts_columns:
            return release
        return cast(GeneralizedRelease, release).with_marginals(table, max(self.cells, smallest))


def narrow(scheme: Scheme) -> Scheme:
    """Return a scheme with intervals as narrow as they are, unless it was asked for others: so that losses can be
    compared with those of papers, and schemes that publish no intervals with those that do."""
    asked = getattr(scheme, "snap", False) != "auto" or "snap" not in hints_of(type(scheme))
    return scheme if asked else cast(Scheme, replace(cast(Any, scheme), snap=False))


class DescribedScheme(BoxScheme):
    """A scheme that forms groups, and describes them by boxes or publishes exact quasi-identifiers beside them.

    Why exact quasi-identifiers keep every promise about sensitive values that the groups keep: such a promise is judged
    for an adversary who knows everybody's quasi-identifiers and group. What is published beside the groups, their
    sensitive values, is the same either way; and the quasi-identifiers are what this adversary knows already. Where a
    person's quasi-identifiers occur in several groups, the belief is the average of these, so that the promise must
    hold for averages. Presence is certain, and any row may be the only one of its kind: promises about either are
    refused.
    """

    exact_format: ClassVar[str] = "anatomy"
    """The format of the releases with exact quasi-identifiers."""

    descriptions: Exactness = "boxes"
    """``boxes``: what the rows of a group have in common. ``exact``: every row with its quasi-identifiers as they are,
    and the sensitive values counted per group. Counts become much better at the same promise; presence is certain, and
    anybody who knows a person's quasi-identifiers finds the row."""

    @property
    def exact(self) -> bool:
        """Whether it publishes exact quasi-identifiers."""
        return self.descriptions == "exact"

    def __post_init__(self) -> None:
        """Raise an error for options that contradict each other."""
        super().__post_init__()
        if self.exact and self.snap is True:
            raise DiscreetError(
                f"{self.name}: descriptions=exact publishes quasi-identifiers as they are, and snap=true widens them; "
                "give only one of them"
            )
        if self.exact and self.counts_columns:
            raise DiscreetError(
                f"{self.name}: descriptions=exact publishes all quasi-identifiers, and marginals={self.marginals} "
                "counts of them; give only one of them"
            )

    @property
    def makes(self) -> type[Any]:
        """The class of releases that it makes: those with exact quasi-identifiers if these are asked for."""
        return FORMATS[self.exact_format].release if self.exact else self.format

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest, with ``descriptions`` only if they are exact: manifests of
        releases with boxes are as they were before there was a choice."""
        stated = super().options
        return stated if self.exact else {name: stated[name] for name in stated if name != "descriptions"}

    def broken_exactly(self, principle: Principle) -> Refusal | None:
        """Return why exact descriptions, marginals, or intervals on a grid would break a promise that boxes may keep;
        None if they would not."""
        if (refusal := self.shows_ends(principle)) is not None:
            return refusal
        if self.counts_columns and bounds_presence(principle):
            return Refusal(
                f"scheme {self.name!r} with marginals={self.marginals} publishes which values occur, so presence of "
                "whoever has one of them is certain",
                principle,
                "say marginals=none",
            )
        if not self.exact:
            return None
        instead = "say descriptions=boxes"
        if bounds_presence(principle) or any(not part.about_values for part in principle.parts):
            return Refusal(
                f"scheme {self.name!r} with descriptions=exact publishes quasi-identifiers as they are, which hides no "
                "row among others and nobody's presence",
                principle,
                instead,
            )
        if principle.monotone:
            return None
        return Refusal(
            f"a person's quasi-identifiers may occur in several groups that scheme {self.name!r} publishes with "
            "descriptions=exact, and not all of these promises hold for averages of groups that keep them",
            principle,
            instead,
        )

    def check_exact(self, table: Table) -> None:
        """Raise an error for a table that can be published with boxes only."""
        if self.exact and table.person is not None:
            raise DiscreetError(
                f"scheme {self.name!r} promises nothing about persons who have several rows if descriptions are exact; "
                "say descriptions=boxes, or give one row per person"
            )
