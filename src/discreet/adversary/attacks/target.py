"""A release under attack, and the people whom it is about.

The adversary has the files of the release, knows the quasi-identifiers of everyone in the original, and knows how often
each sensitive value occurs in the whole original, as every promise assumes. The values of the victims only serve to
score the guesses (and attacks on persons of whom some are known take the values of these).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import check_sensitive, quasi_column
from discreet.adversary.checks.soundness import promises
from discreet.adversary.checks.totals import withheld_fault
from discreet.adversary.checks.trace import place_rows, read_trace
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.progress import Tell, no_progress
from discreet.randomness import generator
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.attributes import describe
from discreet.releases.columns import ExactColumn, exact_column
from discreet.releases.counted import Counted
from discreet.releases.exact_rows import codes_found
from discreet.releases.grouped import Members
from discreet.releases.release import Release
from discreet.table.combinations import numbered, ranked
from discreet.table.table import Column, Table

Floats = NDArray[np.float64]


def victims_of(release: Release, original: Table) -> str:
    """What is attacked: rows where a person may have several, else persons."""
    return "rows" if "persons" in release.manifest or original.person is not None else "persons"


class Context(NamedTuple):
    """Where the attribute under attack was taken from: a release and its original with all sensitive attributes."""

    release: Release
    original: Table


@dataclass(frozen=True, eq=False)
class Target:
    """A release, and people whose sensitive value it is asked for."""

    release: Release
    original: Table
    """Everyone in the release, with one sensitive attribute: the one under attack."""
    people: tuple[Column, ...]
    """What the adversary knows of the victims, one column per quasi-identifier: those of the release in its order, then
    those that only further releases have. People with the same values (and group, if that is known) are one line."""
    person_of: NDArray[np.intp]
    """Per victim: the line of ``people``."""
    rows: NDArray[np.intp]
    """Per victim: the row of the table that the victims were taken from."""
    truth: NDArray[np.int64]
    """Per victim: the sensitive value, as an index into the values of the release; -1 if that does not list it."""
    others: tuple[Release, ...] = ()
    """Further releases about the same people."""
    random: np.random.Generator = field(default_factory=generator)
    tell: Tell = no_progress
    groups: NDArray[np.int64] | None = None
    """Per row of the original: its group, if the adversary is taken to know it, as an index; -1 if withheld."""
    population: Table | None = None
    """Everyone who may be in the table, if that is known."""
    strangers: bool = False
    """Whether the victims are not in the release, and so not in the original."""
    context: Context | None = None
    """Where release and original were taken from, if these have more sensitive attributes."""
    remembered: dict[Any, Any] = field(default_factory=dict)
    """A cache: by first and last line what the release says, which every attack needs; by name what an attack needs in
    all its forms."""

    @classmethod
    def of(
        cls,
        release: Release,
        original: Table,
        victims: Table | None = None,
        rows: NDArray[np.intp] | None = None,
        others: tuple[Release, ...] = (),
        groups: NDArray[np.int64] | None = None,
        **more: Any,
    ) -> Target:
        """Aim at these rows (default: all) of a table of victims (default: the original).

        With ``groups``, the group of every row of the original, the adversary knows these as well.
        """
        table = original if victims is None else victims
        rows = np.arange(table.rows) if rows is None else rows
        quasi = {attribute.name: attribute for source in (release, *others) for attribute in source.quasi}
        columns = [quasi_column(attribute, table) for attribute in quasi.values()]
        codes = [column.codes[rows] for column in columns]
        sizes = [len(column.values) for column in columns]
        keyed: list[NDArray[Any]] = [*codes]
        if groups is not None and victims is None:
            keyed.append(groups[rows] + 1)
            sizes.append(int(keyed[-1].max(initial=0)) + 1)
        _, first, person_of = ranked(numbered(keyed, sizes, len(rows)))
        people = tuple(replace(column, codes=of[first]) for column, of in zip(columns, codes, strict=True))
        assert table.sensitive_attribute is not None, "releases without sensitive attributes are refused"
        truth = places(release, table.sensitive_attribute.values)[table.sensitive_attribute.codes[rows]]
        more |= {"groups": groups, "strangers": victims is not None}
        return cls(release, original, people, person_of, rows, truth, others, **more)

    @property
    def width(self) -> int:
        """How many sensitive values there are."""
        return len(self.release.values)

    @property
    def lines(self) -> int:
        """How many lines the people have."""
        return len(self.people[0].codes)

    @cached_property
    def persons(self) -> NDArray[np.int64]:
        """How many victims each line of the people stands for."""
        return np.bincount(self.person_of, minlength=self.lines)

    @property
    def sensitive_attribute(self) -> Column:
        """The sensitive attribute of the original."""
        return self.original.sensitive[0]

    @cached_property
    def whole(self) -> Prior:
        """The prior, in the order of the original."""
        return Prior.of_column(self.sensitive_attribute)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Per value of the original: its place among the values of the release, or -1."""
        return places(self.release, self.sensitive_attribute.values)

    @cached_property
    def prior(self) -> Floats:
        """The share of each value of the release in the whole original."""
        return self.as_published(self.whole.frequencies, 0.0)

    def as_published(self, amounts: NDArray[Any], otherwise: float) -> Floats:
        """Amounts per value of the original, in the order of the values of the release."""
        result = np.full(self.width, otherwise)
        known = self.places >= 0
        result[self.places[known]] = amounts[known]
        return result

    @cached_property
    def promised(self) -> tuple[Principle, ...]:
        """What the release promises about the attribute under attack and can be asked of it."""
        parts = []
        for part in promises(self.release.manifest, None)[0]:
            if part.about in (None, self.sensitive_attribute.name) and part.about_values:
                try:
                    part.require(self.whole)
                except DiscreetError:
                    continue  # the audit reports promises that cannot be judged
                parts.append(part)
        return tuple(parts)

    @cached_property
    def caps(self) -> Floats | None:
        """The largest belief that the promise allows in each value of the release; None if it sets no such bounds."""
        caps = [bounds for part in self.promised if (bounds := part.caps(self.whole)) is not None]
        return self.as_published(np.min(caps, axis=0), 1.0) if caps else None

    @cached_property
    def withheld(self) -> Floats | None:
        """How often each value occurs in withheld rows: what is missing from the prior; None if that is unknown."""
        return missing_from(self.release, self.sensitive_attribute)

    @cached_property
    def everyone(self) -> Target:
        """The same release, with everyone in the original as victims."""
        whole = not self.strangers and len(self.rows) == self.original.rows
        more: dict[str, Any] = {
            name: getattr(self, name) for name in ("others", "groups", "random", "tell", "context", "population")
        }
        return self if whole else Target.of(self.release, self.original, **more)

    @cached_property
    def line_of(self) -> NDArray[np.intp]:
        """Per line of the people: the line of the same people in ``everyone``."""
        lines = np.zeros(self.lines, np.intp)
        lines[self.person_of] = self.everyone.person_of[self.rows]
        return lines

    @property
    def known(self) -> tuple[Column, ...]:
        """The quasi-identifiers of the release itself."""
        return self.people[: len(self.release.quasi)]

    @cached_property
    def group_of(self) -> NDArray[np.int64]:
        """Per line of the people: their group, as an index; -1 if it is not certain."""
        release = self.release.grouped
        assert release is not None, "only groups have persons of their own"
        if self.groups is None or self.strangers:
            return release.certain_groups(self.known)
        result = np.full(self.lines, -1, np.int64)
        result[self.person_of] = self.groups[self.rows]
        return result

    @cached_property
    def members(self) -> Members:
        """The people of whom it is certain in which group they are."""
        release = self.release.grouped
        assert release is not None, "only groups have members"
        if self.groups is None or self.strangers:
            return release.members(self.known, self.persons)
        lines = np.flatnonzero(self.group_of >= 0)
        return Members.of(lines, self.group_of[lines], self.persons[lines])

    def beliefs(self, part: slice) -> Floats:
        """What the release itself says about some of the people: the belief in each value, one line per person."""
        known = (part.start, part.stop)
        if known in self.remembered:
            remembered: Floats = self.remembered[known].copy()
            return remembered
        lines = self.release.beliefs(self._points(part), self.withheld)
        lines[np.isnan(lines).any(axis=1)] = self.prior
        if self.groups is not None and not self.strangers:
            # the shares of the group that everyone is known to be in, or of the withheld rows
            assert self.release.grouped is not None and self.withheld is not None, "only groups are known"
            groups = self.group_of[part]
            held = self.release.grouped.counts.only(groups[groups >= 0])
            lines[groups >= 0] = held.matrix() / held.sizes[:, None]
            if self.withheld.any():
                lines[groups < 0] = self.withheld / self.withheld.sum()
        if part.stop - part.start == self.lines:  # otherwise there are too many to be kept
            self.remembered[known] = lines.copy()
        return lines

    def beliefs_of(self, other: Release, part: slice) -> Floats:
        """What a further release says about some of the people, in its own values; NaN if it says nothing."""
        column = (
            self.sensitive_attribute
            if self.context is None
            else self.context.original.column(other.sensitive_attribute.name)
        )
        return other.beliefs(self._points(part), missing_from(other, column))

    def beliefs_by(self, other: Release, part: slice) -> Floats:
        """The same in the values of this release: the prior if nothing is known."""
        result = self.in_own_values(other, self.beliefs_of(other, part))
        result[np.isnan(result).any(axis=1) | ~result.any(axis=1)] = self.prior
        return result

    def in_own_values(self, other: Release, lines: Floats) -> Floats:
        """Lines with a number for each value of a further release, in the values of this one; others are left out."""
        at = places(self.release, other.values)
        result = np.zeros((len(lines), self.width))
        result[:, at[at >= 0]] = lines[:, at >= 0]
        return result

    def groups_in(self, other: Release) -> NDArray[np.int64]:
        """Per line of the people: their group in a further release, as an index; -1 if it is not certain."""
        assert other.grouped is not None, "only groups have persons of their own"
        known = {column.name: column for column in self.people}
        return other.grouped.certain_groups([known[attribute.name] for attribute in other.quasi])

    def _points(self, part: slice) -> dict[str, NDArray[Any]]:
        return {column.name: column.points[column.codes[part]] for column in self.people}


def places(release: Release, values: NDArray[Any]) -> NDArray[np.int64]:
    """Per sensitive value: its place among the values of a release, or -1."""
    shown = ExactColumn(release.values, np.zeros(0, np.int32), release.sensitive_attribute.notation)
    return codes_found(release.sensitive_attribute, shown, values)


def missing_from(release: Release, column: Column) -> Floats | None:
    """How often each value of a release occurs in rows of the original that it withholds; None if that is unknown."""
    left = _left(release, column)
    return None if left is None else np.asarray(np.maximum(0.0, left), np.float64)


def _left(release: Release, column: Column) -> NDArray[np.int64] | None:
    """How much more often each value of a release occurs in the original than it is published; None if unknown."""
    if release.published is None:
        return None
    at = places(release, column.values)[column.codes]
    return np.asarray(np.bincount(at[at >= 0], minlength=len(release.values)) - release.published, np.int64)


def check_attackable(release: Release, table: Table) -> None:
    """Raise an error for a release that nothing can be learnt from, or a table that was read differently."""
    if release.faults:
        raise DiscreetError(f"the files of the release contradict each other, so audit it first: {release.faults[0]}")
    if not release.sensitive:
        raise DiscreetError("the release has no sensitive attribute, so there is nothing for an attack to learn")
    if not release.quasi:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    if release.rows == 0 or table.rows == 0:
        raise DiscreetError("without rows there is nobody to attack; check the release and the original")
    check_sensitive(release, table)
    for attribute in release.quasi:
        quasi_column(attribute, table)


def check_original(release: Release, original: Table) -> None:
    """Raise an error for a table that the release cannot have been made from; synthetic rows may be of any."""
    check_attackable(release, original)
    fault = withheld_fault(release, original) if release.of_people else None
    for attribute in release.sensitive if release.of_people and fault is None else ():
        left = _left(release.about(attribute.name), original.column(attribute.name))
        if left is not None and (left < 0).any():
            fault = f"A value of '{attribute.name}' is published more often than it occurs in the original."
    if fault is not None:
        raise DiscreetError(f"this is not the table that was published; give that one as the original. {fault}")


def opened(release: Release, original: Table) -> AnatomyRelease:
    """The original published as it is, under the promise of a release: every row with its own value."""
    rows = np.arange(original.rows)
    columns = [original.column(attribute.name) for attribute in release.quasi]
    quasi = [describe(column, "quasi") for column in columns]
    sensitive_attribute = describe(original.sensitive[0], "sensitive", True)
    shown = exact_column(original.sensitive[0], sensitive_attribute, rows)
    return AnatomyRelease(
        manifest={"promise": release.manifest.get("promise"), "rows": {"published": len(rows), "withheld": 0}},
        attributes=(*quasi, sensitive_attribute),
        exact=tuple(exact_column(column, attribute, rows) for column, attribute in zip(columns, quasi, strict=True)),
        ids=rows,
        group_of=rows.astype(np.int32),
        counted=(Counted(shown.values, Counts.of_rows(rows, shown.codes, len(rows), len(shown.values))),),
    )


def groups_by(trace: str | os.PathLike[str] | NDArray[Any], release: Release, original: Table) -> NDArray[np.int64]:
    """The group of every row of the original by the private trace, a file or an array, as an index; -1 if withheld."""
    grouped, faults = release.grouped, list[str]()
    if not isinstance(trace, np.ndarray):
        trace, faults = read_trace(trace, original.rows)
    if faults:
        raise DiscreetError(f"{faults[0]}; give the trace that the release was published with")
    if grouped is None or trace.ndim > 1:
        raise DiscreetError(
            "in this format persons are not in one group each that an adversary could know; leave out the trace"
        )
    placed = place_rows(grouped, grouped.ids, original, trace, faults)
    if placed is None or faults:
        raise DiscreetError(
            f"this is not the trace of the release: {faults[0]}; give the one that it was published with"
        )
    result = np.full(original.rows, -1, np.int64)
    result[placed[0]] = placed[1]
    return result
