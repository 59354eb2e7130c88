"""What the groups of a large release make of a promise, slice by slice: one verdict on all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.verdict import PromiseVerdict, Subjects, judged
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior
from discreet.principles.counts import Counts
from discreet.releases.generalized.release import GeneralizedRelease


@dataclass
class Tally:
    """What groups make of a promise, so far."""

    groups: int = 0
    broken: int = 0
    worst: tuple[float, Counts, int, dict[str, str]] | None = None
    """The strain on the group closest to its bound, its counts, its number and its description."""
    achieved: list[float] = field(default_factory=list)
    total: float = 0.0
    """The sum of what each group achieves."""
    refusal: PromiseVerdict | None = None

    def add(self, part: Principle, release: GeneralizedRelease, counts: Counts, prior: Prior) -> None:
        """Judge the groups of a slice."""
        try:
            part.require(prior)
            strains = part.strain(counts, prior)
            each = part.achieved_each(counts, prior)
        except DiscreetError as fault:
            self.refusal = PromiseVerdict.unjudged(part, f": {fault}")
            return
        at = int(np.argmax(strains))
        if self.worst is None or strains[at] > self.worst[0]:
            only = counts.only(np.array([at]))
            self.worst = float(strains[at]), only, int(release.ids[at]), release.description(at)
        self.groups += len(strains)
        self.broken += int((strains > 1.0).sum())
        self.achieved.append(part.weakest(each))
        self.total += float(each.sum())

    def verdict(self, part: Principle, prior: Prior, left: NDArray[np.int64]) -> PromiseVerdict:
        """Return the verdict on all groups, and on the rows that are left."""
        if self.refusal is not None or self.worst is None:
            return self.refusal or PromiseVerdict.unjudged(part, "")
        strain, counts, number, description = self.worst
        beside = self.groups - 1, self.broken - (strain > 1.0)
        subjects = Subjects(counts, np.array([number]), lambda at: description, beside=beside[0])
        made = judged(part, replace(subjects, broken_beside=beside[1]), prior, left)
        achieved = [*self.achieved, *([] if made.achieved is None else [made.achieved])]
        return replace(made, achieved=part.weakest(np.array(achieved)), average=self.total / self.groups)
