"""deFinetti: learn across groups how quasi-identifiers go with sensitive values, and deal the values of each anew.

After Kifer ("Attacks on Privacy and deFinetti's Theorem", SIGMOD 2009): which member of a group has which of its values
is unknown, but groups differ, and so tell which quasi-identifiers go with which values; that, in turn, tells members of
a group apart. Here the two steps alternate, with probabilities in place of single permutations:

1. From the probability with which everyone is assumed to have each value, estimate Pr[t | v] for every quasi-identifier
   t by itself, as naive Bayes does (with Laplace's correction). At first every member has the group's shares.
2. In every group, a member with t_1, t_2, ... has v with a probability in proportion to the product of the Pr[t | v],
   scaled in turns so that every member has one value, and every value as many members as it is counted (Sinkhorn's
   scaling, which approximates the share of all permutations, weighted by their likelihood: the order of the
   members is right, the probabilities are closer to each other).

It ends when the probabilities hardly change any more. Persons whose group is not certain have each value, all the time,
with the probability that the release says, and are guessed in the end by naive Bayes of what was learnt. No promise
here takes into account what groups tell about each other, so this attack can succeed where each group by itself keeps
its promise: most with few values per group, and if these depend much on the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Insight, batches
from discreet.adversary.attacks.beliefs import normalised
from discreet.adversary.attacks.target import Floats, Target
from discreet.kernels import proportional_fit
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.releases.exact_rows import lines_at
from discreet.releases.grouped import Members
from discreet.table.table import Column

kernels = cast(Any, proportional_fit)

ROUNDS = 8
"""How often probabilities are scaled in each step."""
SETTLED = 1e-3
"""The share of persons whose values change in a step at which learning ends."""
MOST_CELLS = 1 << 26
"""How many pairs of a person and a value are kept in memory at most."""


@dataclass(frozen=True)
class DeFinetti(Attack):
    """Guess the value that is likeliest in a person's group, by what all groups together tell; at most ``steps``.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.LDiversity(2), scheme=dc.Anatomy())
    >>> dc.attack(release, patients(), "definetti").evidence[0].victims
    48
    """

    name: ClassVar[str] = "definetti"

    steps: Annotated[int, Interval(1)] = 20
    """How often values are dealt and frequencies learnt anew, at most."""

    def refusal(self, target: Target) -> str | None:
        """Only the values of groups can be dealt anew, and what is learnt has to fit into memory."""
        if target.release.grouped is None:
            return "it deals the values of groups anew, and in this format no persons share the values of a group"
        if target.everyone.lines * target.width > MOST_CELLS:
            return "there are too many persons with different quasi-identifiers, times values, to be kept in memory"
        return None

    def learn(self, target: Target) -> Insight:
        """Alternate between the two steps until they agree."""
        everyone = target.everyone
        known = Assignment.of(everyone)
        likely = np.ones((everyone.lines, target.width))
        joints: list[Floats] = []
        steps, change = 0, 1.0
        while steps < self.steps and change > SETTLED:
            target.tell(steps / self.steps)
            dealt = known.deal(likely)
            before, joints = joints, [known.joint(dealt, column) for column in known.people]
            moved = [float(np.abs(new - old).sum()) for new, old in zip(joints, before, strict=False)]
            change = max(moved, default=np.inf) / (2.0 * known.numbers.sum())
            likely = _likelihoods(joints, known.people)
            steps += 1
        details = {"steps": steps, "group_certain": int(known.members.numbers.sum())}
        if target.strangers:
            learnt = [_matched(*columns) for columns in zip(joints, known.people, target.people, strict=False)]
            weights = _likelihoods(learnt, target.people) * target.prior
            return Insight(lambda part: weights[part] / weights[part].sum(axis=1, keepdims=True), details=details)
        lines = known.by_person(known.deal(likely), likely * target.prior)
        return Insight(lambda part: lines[target.line_of[part]], details=details)


@dataclass(frozen=True, eq=False)
class Assignment:
    """The persons of a release with their groups, so far as these are certain."""

    counts: Counts
    people: tuple[Column, ...]
    numbers: NDArray[np.int64]
    """How many persons each line of the people stands for."""
    members: Members
    rest: NDArray[np.intp]
    """The lines of people whose group is not certain."""
    rest_beliefs: Floats
    """What the release says about these."""

    @classmethod
    def of(cls, target: Target) -> Assignment:
        """The persons of a target that has everyone in the original for victims."""
        release = target.release.grouped
        assert release is not None, "refused otherwise"
        doubtful = np.ones(target.lines, np.bool_)
        doubtful[target.members.lines] = False
        beliefs = [target.beliefs(part)[doubtful[part]] for part in batches(target.lines, target.width)]
        rest = np.flatnonzero(doubtful)
        return cls(release.counts, target.known, target.persons, target.members, rest, np.concatenate(beliefs))

    @cached_property
    def layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first member of each group, and the place of its first probability; each followed by the end."""
        firsts = np.searchsorted(self.members.groups, np.arange(len(self.counts) + 1))
        places = np.cumsum(np.r_[0, np.diff(firsts) * np.diff(self.counts.starts)])
        return firsts, places

    def deal(self, likely: Floats) -> Floats:
        """Deal the values of all groups, given how likely each line of the people is to have each value, in any unit.

        Returns the probability of each value of a group for each of its members: group by group, one line per member.
        """
        counts, members, (firsts, places) = self.counts, self.members, self.layout
        dealt = np.empty(int(places[-1]))
        held = counts.starts, counts.values, counts.amounts
        kernels.reassign(firsts, members.lines, members.numbers, *held, likely, ROUNDS, places, dealt)
        return dealt

    def joint(self, dealt: Floats, column: Column) -> Floats:
        """How many persons are expected to have each value of a quasi-identifier and each sensitive value."""
        result = self._tallied(dealt, column.codes.astype(np.int64), len(column.values))
        if len(self.rest):
            from scipy.sparse import csr_array

            lines = (self.numbers[self.rest], (column.codes[self.rest], np.arange(len(self.rest))))
            result += csr_array(lines, shape=(len(column.values), len(self.rest))) @ self.rest_beliefs
        return result

    def by_person(self, dealt: Floats, otherwise: Floats) -> Floats:
        """The probability of each value for each line of the people: a mean where they are in several groups, and in
        proportion to ``otherwise`` where their group is not certain."""
        result = self._tallied(dealt, np.arange(len(self.numbers)), len(self.numbers))
        result[self.rest] = otherwise[self.rest]
        return np.asarray(result / result.sum(axis=1, keepdims=True))

    def _tallied(self, dealt: Floats, codes: NDArray[np.int64], size: int) -> Floats:
        counts, members, (firsts, places) = self.counts, self.members, self.layout
        result = np.zeros((size, counts.width))
        kernels.tally(
            firsts, members.lines, members.numbers, counts.starts, counts.values, places, dealt, codes, result
        )
        return result


def _likelihoods(joints: Sequence[Floats], people: Sequence[Column]) -> Floats:
    """How likely each of the people is to have each value, were all values equally frequent, in any unit."""
    total = np.zeros((len(people[0].codes), joints[0].shape[1]))
    for joint, column in zip(joints, people, strict=False):
        shares = (joint + 1.0) / (joint.sum(axis=0) + len(joint))  # Laplace's correction, as for naive Bayes
        total += np.log(shares)[column.codes]
    return normalised(total, np.ones(total.shape[1]))


def _matched(joint: Floats, known: Column, column: Column) -> Floats:
    """What was learnt about the values of a column, for those of the same column in another table; else nothing."""
    place = {text: code for code, text in enumerate(known.texts)}
    return lines_at(joint, np.array([place.get(text, -1) for text in column.texts], np.int64))
