"""What promises are worth against an adversary who does not know the groups and only matches descriptions.

Such an adversary faces the union of all groups whose description admits the victim. Monotone promises hold for a union
whenever every group keeps them. For other promises the strain of the union is computed here, at every point of the
original; for proximity also, for every person, the share of the union that lies in the neighbourhood of the person's
own number. The findings contain quasi-identifiers of people in the original, so they are for the data steward; they
contain nobody's own number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check, in_words
from discreet.adversary.verdict import PromiseVerdict
from discreet.kernels.boxes import unions as unions_kernels
from discreet.kernels.judging import SLACK
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.principles.wording import percent, rows
from discreet.progress import Tell, no_progress
from discreet.releases.boxes import points_of
from discreet.table.combinations import numbered
from discreet.table.table import Table

kernels = cast(Any, unions_kernels)

ROOM = 1 << 22
"""How many sums are kept in memory at a time."""
POINTS = 512
"""How many points are processed together, at most."""


@dataclass(frozen=True)
class UnionsCheck(Check):
    """The check, with the figures per promise that unions need not keep."""

    faced: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class UnionExposure:
    """What an adversary who only matches descriptions faces, for one promise."""

    part: Principle
    points: int
    """How many combinations of quasi-identifiers the original has."""
    beyond: int = 0
    """At how many of them the union of groups breaks the promise."""
    strain: float = 0.0
    """The strain at the worst point."""
    point: dict[str, str] = field(default_factory=dict)
    """The quasi-identifiers of the worst point."""
    sentence: str = ""
    """What breaks the promise there."""
    people: int | None = None
    """For how many rows of the original the neighbourhood of the own number contains more than the promise allows."""
    share: float | None = None
    """The largest share of a union in the neighbourhood of the own number of a person whom the union may describe."""
    person: dict[str, str] = field(default_factory=dict)
    """The quasi-identifiers of that person."""

    def explained(self, everybody: int) -> str:
        """Describe in a few sentences how unions exceed the promise."""
        worst = f"(at worst {in_words(self.point)})"
        where = f"{self.beyond:,} of {self.points:,} combinations of quasi-identifiers {worst}"
        alike = "An adversary who cannot tell which of several matching groups a person is in takes them as one"
        text = f"Every group keeps {self.part}, as promised. {alike}"
        if self.part.nearness is None:
            return f"{text}, and believes {self.strain:.2f} times what it allows for {where}. {self.sentence}"
        m = self.part.nearness.m
        # families.proximity proves that it is never more than 2 / m
        text += (
            f" and finds up to {percent(self.strain / m)} of their rows near one number instead of "
            f"{percent(1 / m)}, but never more than 2/m: if that is too much, ask for m={2 * m:,}. This concerns "
            f"{where}"
        )
        if self.people is None or self.share is None:
            return f"{text}."
        if not self.people:
            return f"{text}; around a row's own number it happens for no row."
        return (
            f"{text}; around a row's own number it happens for {rows(self.people)} of {everybody:,} (at worst "
            f"{percent(self.share)}, {in_words(self.person)})."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        figures = {name: value for name, value in vars(self).items() if name != "part"}
        return {"promise": str(self.part), **figures}


def unions(
    parts: tuple[Principle, ...],
    kept: list[PromiseVerdict],
    aligned: Aligned,
    groups: Counts,
    prior: Prior,
    original: Table,
    tell: Tell = no_progress,
) -> Check:
    """Check whether the promises also bound an adversary who does not know the groups and only matches descriptions.

    A promise that unions of groups need not keep is a promise about the published groups. What such an adversary faces
    is then reported, with the worst figures, but it does not break the promise.
    """
    loose = [part for part, verdict in zip(parts, kept, strict=True) if not part.monotone and verdict.holds]
    if not loose:
        sentence = (
            "An adversary who only matches descriptions faces a union of groups, and these promises hold for unions "
            "of groups that keep them: there is nothing more to check."
        )
        return Check("unions", True, sentence)
    faced = face(loose, aligned, groups, prior, original.sensitive_codes, tell)
    if any(result.beyond for result in faced):
        sentence = " ".join(result.explained(len(aligned.usable)) for result in faced if result.beyond)
    else:
        most = max(result.strain for result in faced)
        sentence = (
            "The promises also hold for an adversary who only matches descriptions, for all combinations of "
            f"quasi-identifiers ({faced[0].points:,}); at most {percent(most)} of what they allow is used."
        )
    return UnionsCheck("unions", True, sentence, [result.as_dict() for result in faced])


def face(
    parts: list[Principle],
    aligned: Aligned,
    groups: Counts,
    prior: Prior,
    sensitive_codes: NDArray[np.int32],
    tell: Tell = no_progress,
) -> list[UnionExposure]:
    """Compute, per promise, what an adversary who only matches descriptions faces at every point of the original.

    ``sensitive_codes`` is the code of every original row's sensitive value.
    """
    # those axes first on which the next code changes most about which descriptions admit a point
    boxes, last = aligned.boxes, np.array([max(1, len(column.values) - 1) for column in aligned.columns])
    ends = (boxes.low > 0).sum(axis=0) + (boxes.high < last).sum(axis=0)
    axes = np.argsort(ends / last, kind="stable")[::-1].copy()
    columns = [aligned.columns[axis] for axis in axes]
    codes = [column.codes[aligned.usable] for column in columns]
    keys = numbered(codes, [len(column.values) for column in columns], len(aligned.usable))
    order = np.argsort(keys, kind="stable")  # the next point is nearly always one that few descriptions tell apart
    people, keys = aligned.usable[order], keys[order]
    first_row = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(people))
    points = np.ascontiguousarray(points_of(aligned.columns)[people[first_row[:-1]]][:, axes])
    results = [UnionExposure(part, len(first_row) - 1) for part in parts]
    windows = [None if part.nearness is None else part.nearness.windows(prior) for part in parts]
    for start, counts in _gathered(aligned, groups, points, axes, len(prior.values)):
        tell(start / results[0].points)
        starts = first_row[start : start + len(counts) + 1]
        here, point_of = people[starts[0] : starts[-1]], np.repeat(np.arange(len(counts)), np.diff(starts))
        for result, window in zip(results, windows, strict=True):
            strains = result.part.strain(counts, prior)
            result.beyond += int((strains > 1.0).sum())
            at = int(np.argmax(strains))
            if strains[at] > result.strain:
                result.strain, result.point = float(strains[at]), _values_of(aligned, people[starts[at]])
                result.sentence = result.part.explain(counts.line(at), prior, "this union")
            if window is not None and result.part.nearness is not None:
                values = sensitive_codes[here]
                within = counts.starts, counts.values, counts.amounts, point_of, window[0][values], window[1][values]
                shares = kernels.shares_within(*within)
                allowed = (1.0 + SLACK) / result.part.nearness.m
                result.people = (result.people or 0) + int((shares > allowed).sum())
                at = int(np.argmax(shares))
                if result.share is None or shares[at] > result.share:
                    result.share, result.person = float(shares[at]), _values_of(aligned, here[at])
    return results


def _gathered(
    aligned: Aligned, groups: Counts, points: NDArray[np.int32], axes: NDArray[np.intp], width: int
) -> Iterator[tuple[int, Counts]]:
    """Yield the sensitive counts of the unions at points that are in order, some points at a time."""
    room = max(ROOM, width)
    columns, amounts = np.empty(room, np.int32), np.empty(room, np.int64)
    start = 0
    while start < len(points):
        part = points[start : start + POINTS]
        ends = kernels.gather(
            part, aligned.boxes, axes, groups.starts, groups.values, groups.amounts, width, columns, amounts
        )
        filled = int(ends[-1])
        yield start, Counts(ends, columns[:filled], amounts[:filled], width)
        start += len(ends) - 1


def _values_of(aligned: Aligned, row: np.intp) -> dict[str, str]:
    """Return the quasi-identifiers of a row of the original."""
    return {column.name: column.texts[int(column.codes[row])] for column in aligned.columns}
