"""The audit of a matched release: rows under descriptions of their own, around the persons they are matched with.

With the trace promises are judged by what is published with the candidates of every person. What is believed by those
who only match descriptions, or count rows, is reported as well; the promise is not about them. Without the trace nobody
knows who is matched with which rows: what someone believes who only matches descriptions is then reported, but no
promise is confirmed by it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, align
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import certain
from discreet.adversary.checks.domains import ends_of
from discreet.adversary.checks.matching import (
    ACCURATE,
    Believed,
    believed_by_matching,
    beyond,
    by_counting,
    marked_sets,
    people_of,
)
from discreet.adversary.checks.support import without_trace
from discreet.adversary.checks.totals import totals
from discreet.adversary.checks.trace import misplaced, outside, trace_check
from discreet.adversary.verdict import PromiseVerdict, Subjects, judged, number_of
from discreet.analyst.loss import losses
from discreet.families.heterogeneous.candidates import irregularities, pairs, published_values
from discreet.families.heterogeneous.release import MatchedRelease
from discreet.principles import Principle, Prior
from discreet.principles.bounds import bounded_shares
from discreet.table.combinations import looked_up

CONSISTENT = "Every row has a number of its own, and there are as many rows as the manifest says."
IGNORANT = (
    "An attacker who does not know the matches and only matches descriptions finds more rows that may be a person's, "
    "and believes"
)
KNOWING = (
    "that is so for an attacker who knows who is matched with which rows, which is not published: one who only "
    "matches descriptions, as anybody may,"
)
ONLY_MATCHING = "Without the trace, by an attacker who only matches descriptions"


def audit_matched(case: Case[MatchedRelease]) -> FormatFindings:
    """Audit a matched release against its original; see ``audit``."""
    release, original = case.release, case.original
    aligned = align(release, original)
    checks = soundness.opening(case, CONSISTENT, ends_of(release), groups=case.manifest["groups"])
    check, how = _support(case, aligned)
    checks += [totals(aligned, original), check]
    prior = Prior.of(original)
    left = np.maximum(prior.counts - aligned.published, 0)
    people = people_of(aligned, original)
    times, sets, _ = marked_sets(release, people)
    believed = believed_by_matching(aligned, people, sets, np.flatnonzero(times), left)
    if how == "trace" and check.holds and case.trace is not None:
        persons = _persons(aligned, case.trace, prior)
        known = certain(original.sensitive_attribute, persons.counts, left, alone=True)
        kept = [judged(part, persons, prior, left) for part in case.parts]
        clear = [part for part, verdict in zip(case.parts, kept, strict=True) if math.isfinite(verdict.strain)]
        bounding = [part for part in clear if bounded_shares(part.rules(prior)) is not None]
        checks.append(beyond(bounding, prior, believed, IGNORANT, KNOWING))
    else:
        known = []
        kept = [_by_matching(part, aligned, believed, prior, left) for part in case.parts]
        clear = list(case.parts)
        caveat = (
            "because only the trace tells who is matched with which rows, it was judged by the beliefs of an attacker "
            "who only matches descriptions and takes all ways to do so for equally likely"
        )
        checks.append(Check("matches", True, f"The promise is judged without the matches: {caveat}.", caveat=caveat))
    checks.append(by_counting(clear, aligned, people, prior))
    given, warnings = soundness.taken(case.parts, prior, case.from_release)
    checks += warnings
    return FormatFindings(checks, kept, losses(release), how, given, certain=known)


def _persons(aligned: Aligned, trace: NDArray[np.int64], prior: Prior) -> Subjects:
    """Return the persons with what is published with their candidates; each is named by one of these, not its own."""
    release = aligned.release
    places = candidates_in(aligned, trace)
    assert places is not None, "the trace explains the release"
    of_place = np.empty(release.groups, np.int64)
    of_place[release.group_of] = aligned.class_of[release.sensitive_codes]
    shown, counts = published_values(places, of_place, len(prior.values))
    first = np.where(places[shown] < 0, release.groups, places[shown]).min(axis=1, initial=release.groups)
    return Subjects(
        counts,
        release.ids[first],
        lambda at: release.description(int(first[at])),
        "person with the candidate",
        "persons",
        partial(number_of, "candidate"),
        "set of candidates",
    )


def _by_matching(
    part: Principle, aligned: Aligned, believed: Believed | str, prior: Prior, left: NDArray[np.int64]
) -> PromiseVerdict:
    """Judge a promise without the trace, by the beliefs of someone who only matches descriptions.

    It does not hold by these: the files do not tell the matches, by which the promise is kept.
    """
    if isinstance(believed, str):
        return PromiseVerdict.unjudged(
            part, f" without the trace, which tells who is matched with which rows: {believed}"
        )
    counts = believed.counts
    release, rows = aligned.release, believed.likeliest
    kinds = Subjects(
        replace(counts, amounts=counts.amounts * (1.0 - ACCURATE)),  # what scaling may be off by breaks no promise
        release.ids[rows],
        lambda at: release.description(int(rows[at])),
        "kind of people likeliest to have row",
        "kinds of people",
        partial(number_of, "person"),
        "kind of people",
    )
    verdict = judged(part, kinds, prior, left)
    # what is scaled, not counted, may be off; and rows of the same description may have changed places unseen
    advice = "The promise is about an attacker who knows the matches: give the trace to have it judged."
    if verdict.holds:
        advice = "That does not confirm the promise, which is about the matches: give the trace."
    return replace(verdict, holds=False, sentence=f"{ONLY_MATCHING}: {verdict.sentence} {advice}")


EXPLAINED = (
    "every row has the values of its person and a description that admits all persons whose candidate it is; a person "
    "has as many candidates as each of them has persons, and no two assignments give anyone the same row"
)


def _support(case: Case[MatchedRelease], aligned: Aligned) -> tuple[Check, str]:
    """Check that the original supports the release; by the trace, whose candidates must be a regular graph."""
    rows, trace = case, case.trace
    if trace is not None:
        if trace.ndim != 2 or trace.shape[1] == 0:
            fault = "the trace of a matched release lists the candidates of every row, and this one does not"
            return trace_check([*case.trace_faults, fault], EXPLAINED), "trace"
        rows = replace(case, trace=trace[:, 0])
    check, how = rows.support(EXPLAINED, partial(misplaced, aligned), partial(without_trace, aligned))
    if trace is None or not check.holds:
        return check, how
    places = candidates_in(aligned, trace)
    if places is None:
        fault = "it lists candidates that the release does not have, or candidates of a withheld row"
        return trace_check([fault], EXPLAINED), how
    names = aligned.release.ids.tolist()
    faults = [*irregularities(places, len(names), names), *outside(aligned, *pairs(places))]
    return trace_check(faults, EXPLAINED), how


def candidates_in(aligned: Aligned, trace: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the candidates as positions among the published rows; None if there are others."""
    ids = aligned.release.ids
    listed = trace >= 0
    places = np.full(trace.shape, -1, np.int64)
    places[listed], known = looked_up(ids, trace[listed].astype(np.int64))
    return places if bool(known.all()) and not bool((listed & ~listed[:, :1]).any()) else None
