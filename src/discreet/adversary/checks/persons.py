"""Promises about persons with several rows each, judged on a release of their rows.

The release does not publish which rows belong to the same person. With the trace, the persons of every group are known
and promises about persons are judged exactly. Without it, two things are certain: if nobody has more than r rows, a
group of n rows has at least n / r persons, and at most as many persons as rows have a given value. A promise that even
the smallest possible number of persons keeps is kept; any other cannot be decided.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case
from discreet.adversary.check import Check, named, one_sentence
from discreet.adversary.checks.trace import traced
from discreet.adversary.verdict import PromiseVerdict
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.principles.persons import Judged, broken_by_persons
from discreet.principles.wording import percent
from discreet.releases.described import DescribedRelease
from discreet.releases.release import Release
from discreet.table.persons import several_values
from discreet.table.table import Table


def check_format(release: Release, original: Table) -> list[Check]:
    """Report that a format that publishes rows one by one promises nothing about persons with several rows."""
    if original.person is None or release.about_persons:
        return []
    sentence = (
        f"Releases of the format {release.format} promise something about rows, and the original has "
        f"{original.rows:,} rows of {original.persons:,} persons: nothing is promised about a person with several "
        "rows."
    )
    return [Check("persons", False, sentence)]


def judged_by_persons(
    case: Case[DescribedRelease],
    parts: tuple[Principle, ...],
    original: Table,
    left: NDArray[np.int64],
    groups: Counts,
    kept: list[PromiseVerdict],
) -> tuple[list[Check], list[PromiseVerdict]]:
    """Judge promises, already judged by rows, by persons as well; also return the checks about persons.

    ``groups`` are the row counts of each group, and ``left`` those of the withheld rows.
    """
    assert original.person is not None
    prior, release = Prior.of_persons(original), case.release
    placed, counted = traced(release, original.rows, case.trace), by_persons(case, original)
    if counted is None:
        most = int(np.bincount(original.person).max())
        each, withheld = _fewest_persons(groups, most), _fewest_persons(Counts.of(left[None], groups.width), most)
        exact = most == 1
    else:
        each, withheld = counted
        exact = True
    several = 0 if original.sensitive_attribute is None else several_values(original, original.sensitive_attribute)
    verdicts = list(kept)
    for at, (part, verdict) in enumerate(zip(parts, kept, strict=True)):
        if math.isinf(verdict.strain) and verdict.achieved is None:  # it could not be judged at all
            continue
        if several and not part.bounds_each_value:
            why = f"By persons: {part} is about one value per person, and {several:,} persons have several."
            sentence = f"{verdict.sentence} {why}"
            verdicts[at] = replace(verdict, holds=False, strain=math.inf, achieved=None, sentence=sentence)
        else:
            verdicts[at] = _by_persons(part, verdict, release, each, withheld, prior, exact)
    return [_together(case, original, placed)], verdicts


def by_persons(case: Case[DescribedRelease], original: Table) -> tuple[Counts, Counts] | None:
    """Return the counts of groups and of the withheld by persons; None if each has one row, or without a trace."""
    placed = None if original.person is None else traced(case.release, original.rows, case.trace)
    if placed is None:
        return None
    withheld = Judged.of(original, np.where(placed < 0, 0, -1), 1)
    return Judged.of(original, placed, case.release.groups).by_persons, withheld.by_persons


def _fewest_persons(rows: Counts, most: int) -> Counts:
    """Return the worst possible counts when nobody has more than ``most`` rows: the fewest persons per group."""
    members = -(-rows.sizes // most)
    return replace(rows, amounts=np.minimum(rows.amounts, members[rows.groups]), members=members)


def _by_persons(
    part: Principle,
    kept: PromiseVerdict,
    release: DescribedRelease,
    each: Counts,
    withheld: Counts,
    prior: Prior,
    exact: bool,
) -> PromiseVerdict:
    """Judge one promise, already judged by rows, by persons too; ``exact`` when the persons of each group are known."""
    strains = np.append(part.strain(each, prior), part.strain(withheld, prior))
    worst, broken = int(strains.argmax()), int((strains > 1.0).sum())
    counts, group = (each, worst) if worst < len(each) else (withheld, 0)
    who = "the withheld persons" if counts is withheld else named(release, worst)
    if not exact and (broken or part.floors(prior) is not None):
        sentence = f"{kept.sentence} Whether its persons keep it cannot be told without the trace: give the trace."
        return replace(kept, holds=False, strain=max(kept.strain, float(np.nextafter(1.0, 2.0))), sentence=sentence)
    achieved, average = kept.achieved, kept.average
    if exact:
        weaker = min if part.larger_is_stronger else max
        reached = [part.achieved_each(subjects, prior) for subjects in (each, withheld)]
        known = [part.weakest(some) for some in reached if len(some)]
        achieved = weaker([*known, *([] if achieved is None else [achieved])])
        if len(reached[0]) and average is not None:
            average = weaker(average, float(reached[0].mean()))
    by_persons = "By persons it is kept too, however the rows are divided among them"
    if broken:
        explained = broken_by_persons(part, counts, group, prior)
        by_persons = f"By persons it is broken by {broken:,} groups; the worst is {who}: {explained}"
    elif exact:
        used = percent(float(strains[worst]))
        by_persons = f"By persons it is kept too; the closest to its bound, {who}, uses {used}"
    verdict = replace(kept, achieved=achieved, average=average)
    verdict = replace(verdict, broken=kept.broken + broken, holds=kept.holds and not broken)
    if strains[worst] > kept.strain and counts is each:
        where = int(release.ids[worst]), int(release.sizes[worst]), release.description(worst)
        verdict = replace(verdict, group=where[0], size=where[1], description=where[2])
    return replace(verdict, strain=max(kept.strain, float(strains[worst])), sentence=f"{kept.sentence} {by_persons}.")


def _together(case: Case[DescribedRelease], original: Table, placed: NDArray[np.int64] | None) -> Check:
    """Check that a person's rows are all in one group or all withheld, and that the manifest counts persons right."""
    assert original.person is not None
    stated = case.manifest.get("persons")
    faults = []
    if isinstance(stated, dict) and stated.get("published", 0) + stated.get("withheld", 0) != original.persons:
        faults.append(
            f"the manifest says that {stated.get('published'):,} persons are published and {stated.get('withheld'):,} "
            f"withheld, but the original has {original.persons:,}"
        )
    caveat, apart = "", 0
    if placed is None:
        caveat = "that all rows of a person are in one group was not checked: give the trace for certainty"
    else:
        first = np.empty(original.persons, np.int64)
        first[original.person] = placed
        apart = len(np.unique(original.person[first[original.person] != placed]))
        if apart and (stated is not None or any(part.about_values for part in case.parts)):
            faults.append(
                f"{apart:,} of {original.persons:,} persons have rows in several groups, which together may reveal "
                "more than each of them"
            )
        shown = len(np.unique(original.person[placed >= 0]))
        if isinstance(stated, dict) and stated.get("published") != shown:
            faults.append(
                f"the manifest says that {stated.get('published'):,} persons are published, but there are {shown:,}"
            )
    if faults:
        return Check("persons", False, one_sentence(faults))
    sentence = f"The {original.rows:,} rows are about {original.persons:,} persons, and promises are judged by both"
    one = "; all rows of a person are in one group or withheld" if placed is not None and not apart else ""
    return Check("persons", True, f"{sentence}{one}.", caveat=caveat)
