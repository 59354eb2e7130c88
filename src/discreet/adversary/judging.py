"""Promises judged on a release: on every group, on the withheld rows, and on what an adversary without groups faces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.check import Check, described
from discreet.adversary.laying import Laid
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, wording
from discreet.principles.counts import Counts
from discreet.releases.anatomy import AnatomyRelease
from discreet.releases.generalized import GeneralizedRelease
from discreet.releases.matching import mixed

CHUNK = 1 << 22
"""How many counts are judged at a time."""


@dataclass(frozen=True)
class Kept:
    """One promise as the audit found it."""

    promise: str
    holds: bool
    strain: float
    """How close the worst group comes: kept up to 1, broken above."""
    achieved: float | None
    """The strongest parameter that all groups and the withheld rows keep."""
    broken: int
    """How many groups break it, the withheld rows counting as one."""
    group: int | None
    """The worst group's published number; None when it is the withheld rows, or when nothing could be judged."""
    size: int
    description: dict[str, str]
    sentence: str

    @property
    def margin(self) -> float:
        """How much is left of the bound in the worst group; negative when it is broken."""
        return 1.0 - self.strain


def counts_of(laid: Laid, width: int) -> Counts:
    """The counts of all groups by the original's ``width`` values; values that it does not know are left out."""
    release = laid.release
    classes = np.zeros(release.rows, np.int64)
    if release.sensitive is not None:
        classes = laid.class_of[release.sensitive.codes]
    known = np.flatnonzero(classes < width)
    return Counts.of_rows(release.group_of[known], classes[known], release.groups, width)


def _recoded(counts: NDArray[np.int64], laid: Laid, width: int) -> NDArray[np.int64]:
    """Counts by the release's values as counts by the original's; values that it does not know are left out."""
    result = np.zeros((len(counts), width), np.int64)
    known = np.flatnonzero(laid.class_of < width)
    result[:, laid.class_of[known]] = counts[:, known]
    return result


def judged(
    part: Principle, release: GeneralizedRelease | AnatomyRelease, groups: Counts, prior: Prior, left: NDArray[np.int64]
) -> Kept:
    """One promise judged on every group and on the withheld rows, whose counts are ``left``."""
    strain, worst, broken = 0.0, None, 0
    counts = np.zeros(len(prior.values), np.int64)
    reached: list[float] = []
    try:
        part.require(prior)
        if len(groups):
            strains = part.strain(groups, prior)
            broken = int((strains > 1.0).sum())
            worst = int(np.argmax(strains))
            strain, counts = float(strains[worst]), groups.line(worst)
            reached.append(part.achieved(groups, prior))
        if left.sum():
            alone = float(part.strain(left[None], prior)[0])
            broken += alone > 1.0
            reached.append(part.achieved(left[None], prior))
            if worst is None or alone > strain:
                strain, worst, counts = alone, None, left
    except DiscreetError as error:
        return Kept(str(part), False, math.inf, None, 0, None, 0, {}, f"{part} cannot be judged: {error}.")
    weakest = (min if part.larger_is_stronger else max)(reached, default=None)
    size = int(counts.sum())
    if worst is None:
        who = f"the withheld rows ({size:,}) taken as one group" if size else "no group"
        description: dict[str, str] = {}
    else:
        description = release.description(worst)
        who = f"group {release.ids[worst]} ({wording.rows(size)}, {described(release, worst)})"
    everyone = release.groups + bool(left.sum())
    if broken:
        sentence = (
            f"{part} is broken by {broken:,} of {everyone:,} groups; the worst is {who}. {part.explain(counts, prior)}"
        )
    else:
        and_left = " and by the withheld rows" if left.sum() else ""
        sentence = (
            f"{part} is kept by all {release.groups:,} groups{and_left}; the closest to its bound, {who}, uses "
            f"{wording.percent(strain)} of what it allows."
        )
    return Kept(
        str(part),
        broken == 0,
        strain,
        weakest,
        broken,
        None if worst is None else int(release.ids[worst]),
        size,
        description,
        sentence,
    )


def unions(parts: tuple[Principle, ...], kept: list[Kept], laid: Laid, prior: Prior) -> Check:
    """Whether the promises also bound an adversary who knows no groups and only matches descriptions.

    A promise that unions of groups need not keep is a promise about the published groups: what such an adversary faces
    is then reported, with the worst figure, but it does not break the promise.
    """
    loose = [part for part, result in zip(parts, kept, strict=True) if not part.monotone and result.holds]
    if not loose:
        return Check(
            "unions",
            True,
            "An adversary who only matches descriptions faces a union of groups, and these promises hold for unions of "
            "groups that keep them: nothing more is to be checked.",
        )
    order = laid.usable[np.lexsort([column.codes[laid.usable] for column in laid.columns])]
    fresh = np.zeros(len(order), np.bool_)
    fresh[:1] = True
    for column in laid.columns:
        fresh[1:] |= np.diff(column.codes[order]) != 0
    rows = order[fresh]
    width = len(prior.values)
    step = max(1, CHUNK // width)
    beyond = dict.fromkeys(loose, 0)
    worst = dict.fromkeys(loose, (1.0, ""))
    for start in range(0, len(rows), step):
        points = [replace(column, codes=column.codes[rows[start : start + step]]) for column in laid.columns]
        counts = _recoded(mixed(laid.release, points), laid, width)
        for part in loose:
            strains = part.strain(counts, prior)
            beyond[part] += int((strains > 1.0).sum())
            at = int(np.argmax(strains))
            if strains[at] > worst[part][0]:
                worst[part] = float(strains[at]), part.explain(counts[at], prior)
    told = [
        f"{part} is kept by every group, which is what it promises; it promises nothing about unions of groups. An "
        f"adversary who only matches descriptions faces those, and at {beyond[part]:,} of {len(rows):,} points they go "
        f"beyond it, at worst {worst[part][0]:.2f} times. {worst[part][1]}"
        for part in loose
        if beyond[part]
    ]
    kept_too = f"The promises also hold for an adversary who only matches descriptions, at all {len(rows):,} points."
    return Check("unions", True, " ".join(told) or kept_too)
