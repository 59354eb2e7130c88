"""Composition: what several releases about the same people say together, in any format.

A promise covers one release. Two releases that each keep theirs, of the same table under different promises, say, or of
two tables that overlap, can break them together. With the beliefs b1, b2, ... in a value by each of them, two rules:

- ``odds``: every release tells something about the value that the others do not, as if made of different rows:

      belief proportional to prior x (b1 / prior) x (b2 / prior) x ...

  Where releases say the same, this believes too much; so the rate of success is judged, and no single belief.
- ``candidates``: only what is certain is used: a value is possible if no release rules it out, and what is left is
  believed by the prior. This needs no assumption but that the releases are true; randomised ones rule nothing out.

A projected release is also combined with itself: what its other tables say is taken for a statement about the attribute
under attack (see ``links``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from discreet.adversary.attacks.attack import Attack, Insight, batches, guessed
from discreet.adversary.attacks.beliefs import Beliefs, normalised
from discreet.adversary.attacks.evidence import Evidence
from discreet.adversary.attacks.target import Floats, Target, places
from discreet.arguments import argument
from discreet.principles.wording import counted, listed, percent
from discreet.releases.exact_rows import crossed
from discreet.releases.release import Release
from discreet.table.dependency import mutual_information
from discreet.table.table import Column

Said = Callable[[slice], Floats]
"""What a release says about some of the people: the belief in each value, one line per person."""


class Combination(Attack):
    """What attacks on several releases at once have in common."""

    several: ClassVar[bool] = True

    def refusal(self, target: Target) -> str | None:
        """There has to be something to combine."""
        if target.others or links(target):
            return None
        return f"it combines releases about the same people, and there is one; give another with {argument('others')}"

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Measure as always, and what each of the releases achieves alone."""
        evidence = super().measure(target, ceiling, outsiders)
        single = replace(target, others=())
        alone = [guessed(single, Insight(beliefs)) for beliefs in said_by_each(target)]
        remark = (
            f"The promise covers one release; {len(alone)} are combined here, which alone lead to the right guess for "
            f"{listed(map(percent, alone))}. {evidence.remark}"
        )
        return replace(evidence, details={**evidence.details, "alone": alone}, remark=remark.rstrip())


@dataclass(frozen=True)
class Composition(Combination):
    """Guess by the beliefs of several releases together, combined by a ``rule``: odds or candidates.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> first, second = (dc.publish(patients(), dc.LDiversity(l), scheme=dc.Mondrian()) for l in (2, 3))
    >>> evidence = dc.attack(first, patients(), "composition", others=[second]).evidence[0]
    >>> len(evidence.details["alone"]), evidence.rate >= evidence.details["alone"][1]
    (2, True)
    """

    name: ClassVar[str] = "composition"

    rule: Literal["odds", "candidates"] = "odds"
    """``odds``: the beliefs of all releases are multiplied; ``candidates``: values that one of them excludes are
    dropped."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Both rules."""
        return (cls(), cls("candidates"))

    def learn(self, target: Target) -> Insight:
        """Nothing needs to be learnt beforehand; who is left with one value is counted."""
        said = said_by_each(target)
        if len(said) == 1:  # the original itself, or people of whom the other tables say nothing
            return Beliefs().learn(target)
        possible = partial(_candidates, said, target.prior)
        exposed = np.zeros(target.lines, np.bool_)
        for part in batches(len(exposed), target.width):
            alone = (said[0](part) > 0.0).sum(axis=1)
            exposed[part] = ((possible(part) > 0.0).sum(axis=1) == 1) & (alone > 1)
        persons = int(exposed[target.person_of].sum())
        return Insight(
            possible if self.rule == "candidates" else partial(_odds, said, target.prior),
            details={"exposed": persons},
            remark=leave_one_value(persons),
        )


def leave_one_value(persons: int) -> str:
    """How many persons several releases expose together, in a sentence."""
    return f"Together they leave a single value for {counted(persons, 'person')} for whom the first leaves several."


def said_by_each(target: Target) -> list[Said]:
    """What each release says about the people in the values of the first, which is the one under attack; then what its
    other tables say."""

    def translated(link: Link, part: slice) -> Floats:
        lines = target.beliefs_of(link.release, part)
        lines[np.isnan(lines).any(axis=1)] = 0.0
        result = lines @ link.shares
        result[~result.any(axis=1)] = target.prior
        return result

    by_others = [partial(target.beliefs_by, other) for other in target.others]
    return [target.beliefs, *by_others, *(partial(translated, link) for link in links(target))]


def _odds(said: list[Said], prior: Floats, part: slice) -> Floats:
    # in logarithms, since the product of many shares may vanish
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (1 - len(said)) * np.log(prior) + np.log(said[0](part))
        for beliefs in said[1:]:
            total += np.log(beliefs(part))
    return normalised(total, prior)


def _candidates(said: list[Said], prior: Floats, part: slice) -> Floats:
    result = prior * np.logical_and.reduce([beliefs(part) > 0.0 for beliefs in said])
    result[~result.any(axis=1)] = prior  # releases that contradict each other are not of the same people
    return np.asarray(result / result.sum(axis=1, keepdims=True))


class Link(NamedTuple):
    """A table about another attribute."""

    release: Release
    shares: Floats
    """Per value of the other attribute: the share of each value of the attribute under attack beside it."""


def links(target: Target) -> list[Link]:
    """Each of the other tables, by the attribute in it that tells most about the one under attack.

    The tables of a projected release publish different sensitive attributes of the same people. An adversary who knows
    how often the values of two attributes go together in the whole original (which no table says) takes what a table
    says about the attribute b for a statement about a: Pr[a] = sum over b of Pr[b] x Pr[a | b].
    """
    if target.context is None:
        return []
    release, original = target.context
    linked = []
    for table in release.projections:
        names = [attribute.name for attribute in table.sensitive]
        if target.sensitive_attribute.name in names:
            continue
        joints = [(name, _joint(target, release.about(name), original.column(name))) for name in names]
        best, joint = max(joints, key=lambda known: mutual_information(known[1].T))
        totals = joint.sum(axis=1, keepdims=True)
        shares = np.divide(joint, totals, out=np.tile(target.prior, (len(joint), 1)), where=totals > 0.0)
        linked.append(Link(release.about(best), shares))
    return linked


def _joint(target: Target, other: Release, column: Column) -> Floats:
    """How many persons of the original have each value of another release together with each of this one."""
    first, second = target.places[target.sensitive_attribute.codes], places(other, column.values)[column.codes]
    known = (first >= 0) & (second >= 0)
    return crossed(second[known], len(other.values), first[known], target.width).astype(np.float64)
