"""Minimality as an attack: the adversary knows the algorithm, and asks which tables it would publish like this.

The adversary has the files, which name the scheme, its options and the promise. The scheme is run again on tables that
agree with them, called *worlds*. Where it is certain who is in which group (or the trace tells it), these are all ways
to deal the values of each group to its members: no other table can give the same files. Otherwise they are all ways to
give the people the values of the whole table. Of several sensitive attributes, the combinations of values are dealt, if
the release says which values go together.

- *Exact*, if there are few worlds: the belief in a value is the share of the worlds that give this release, each
  weighed by its probability to do so: one or none for a scheme without chance; else what the scheme says itself, if it
  offers ``likelihood(table, principle, groups)``, or how often several runs on the world give it.
- *Sampled*, if there are many: the values of all groups are dealt anew at random, again and again, and the scheme is
  run on each table. The whole release hardly ever recurs, but single groups do: the belief about the members of a
  group is taken from the tables in which the same persons were put into one group again. What became of the other
  groups is not used, so that an adversary with more patience may learn more. With ``likelihood`` every table counts by
  that instead. Nothing is concluded about persons whose groups recur too rarely.

Of a sealed release, tables also have to leak as much about a group as the release says (``leakage``). Only the
promises of schemes for one run cover this adversary (``Scheme.one_run``); the others are measured and not judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Insight
from discreet.adversary.attacks.rerunning import Pools, Rerun, combinations, content, known_scheme, standard_errors
from discreet.adversary.attacks.target import Floats, Target
from discreet.arguments import argument
from discreet.options import Interval
from discreet.principles.wording import about

MOST_WORLDS = 1_000
"""This many worlds are looked at one by one."""
REPEATS = 20
"""How often a scheme that uses chance is run on each world, if it does not tell its probabilities."""
WORK, LEAST = 1.5e7, 30
"""How many rows are published again in all, and how many runs there are at least, if this many are asked for."""
ENOUGH = 20
"""How many runs have to put the same persons into one group for a conclusion about them."""
CAUTION = 10.0
"""As many runs as what the group says counts for, beside those that agree."""
DOUBT = 1e-4
"""The chance that any belief is said to exceed its bound that does not."""


@dataclass(frozen=True)
class Minimality(Attack):
    """Guess by the tables that the scheme would have published like this; with at most this many ``runs`` if sampled.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.LDiversity(2), scheme=dc.Mondrian(snap=False))
    >>> found = dc.attack(release, patients(), dc.Minimality(runs=40), random_state=1).evidence[0]
    >>> found.details["exact"], found.details["runs"], found.bound
    (False, 40, None)
    """

    name: ClassVar[str] = "minimality"

    runs: Annotated[int, Interval(1)] = 100
    """How often the scheme is run on tables that fit."""

    def refusal(self, target: Target) -> str | None:
        """The scheme has to be known, and its tables to be few, or rearrangements of certain groups."""
        if target.original.person is not None:
            return "it rebuilds tables with one row per person, and here people may have several"
        if not target.release.of_people:
            return "rows were drawn from noisy counts, which bound what the algorithm reveals about anyone's row"
        if target.release.published is None:
            return "every value was randomised by itself, so that knowing the algorithm helps no attacker"
        if known_scheme(target) is None:
            return "the scheme that the manifest names, or its promise, is not known here, so it cannot be run again"
        if target.context is not None and combinations(target) is None:
            return (
                "it rebuilds tables of several sensitive attributes only if the release says which values go together "
                "in every row, and this one does not"
            )
        pools = Pools.of(target.everyone)
        if not pools.certain and pools.worlds > MOST_WORLDS:
            return (
                "it is not certain who is in which group, and there are too many ways to give people their values; if "
                f"the attacker is to know the groups, give {argument('trace')}"
            )
        return None

    def judges(self, target: Target) -> bool:
        """Only schemes whose promise covers an attacker who knows the algorithm, and so one run of theirs."""
        scheme = known_scheme(target)
        return scheme is not None and scheme.one_run

    def learn(self, target: Target) -> Insight:
        """Run the scheme again on every world, or on many."""
        if target.strangers or known_scheme(target) is None:  # not in any of the tables; the original as it is
            return Insight(target.beliefs)
        everyone = target.everyone
        pools, rerun = Pools.of(everyone), Rerun.of(everyone)
        exact = pools.worlds <= MOST_WORLDS
        findings = _enumerated(pools, rerun, target) if exact else _sampled(pools, rerun, target, self.runs)
        return findings.insight(target, exact)


class Findings(NamedTuple):
    """What worlds tell about the lines of the people."""

    weights: Floats
    """Per line and value: the weight of the worlds that agree with the release in which a person has it."""
    matches: Floats
    """Per line: from how many runs that was learnt; infinite if it is exact."""
    runs: int
    agreeing: float
    """How many of the runs gave the same: the release or, on average over persons, their group."""

    def insight(self, target: Target, exact: bool) -> Insight:
        """What follows for the victims."""
        persons, line_of = target.everyone.persons, target.line_of
        published = target.everyone.beliefs(slice(0, target.everyone.lines))
        totals = self.weights.sum(axis=1, keepdims=True)
        chances = np.divide(self.weights, totals, out=published.copy(), where=totals > 0.0)
        enough = (totals[:, 0] > 0.0) & (self.matches >= (1 if exact else ENOUGH))
        lines = chances
        if not exact:  # few runs say little, and less than the group
            runs = self.matches[:, None]
            lines = (chances * runs + published * CAUTION) / (runs + CAUTION)
        details = {
            "exact": exact,
            "runs": self.runs,
            "agreeing": self.agreeing,
            "concluded": int(persons[enough].sum()),
            **self._beyond(target, chances, enough),
        }
        return Insight(
            lambda part: lines[line_of[part]],
            victims=enough[line_of][target.person_of],
            details=details,
            remark=_remark(details, int(persons.sum())),
            exact=np.isinf(self.matches)[line_of],
        )

    def _beyond(self, target: Target, chances: Floats, enough: NDArray[np.bool_]) -> dict[str, Any]:
        """How many persons are believed, beyond doubt, to have some value more than the promise allows; and how far."""
        if target.caps is None or not enough.any():
            return {}
        from scipy.special import ndtri

        with np.errstate(divide="ignore", invalid="ignore"):
            finite = np.where(np.isinf(self.matches), 1.0, self.matches)[:, None]
            errors = np.where(np.isinf(self.matches)[:, None], 0.0, standard_errors(chances, finite))
            surely = chances + ndtri(DOUBT / max(1, int(enough.sum()) * chances.shape[1])) * errors
            ratios = np.where(target.caps > 0.0, surely / target.caps, 0.0)[enough]
        over = ratios.max(axis=1) > 1.0 + 1e-9
        return {"over": int(target.everyone.persons[enough][over].sum()), "worst": max(0.0, float(ratios.max()))}


def _enumerated(pools: Pools, rerun: Rerun, target: Target) -> Findings:
    """Look at every world."""
    everyone, width = rerun.target, rerun.target.width
    worlds = list(pools.everything())
    stated = pools.certain and rerun.likelihood(worlds[0], pools.of_row) is not None
    times = 1
    if not stated:  # a scheme without chance gives the same again
        probed = [{content(made) for _ in range(3) if (made := rerun.published(world))} for world in worlds[:3]]
        times = 1 if all(len(contents) <= 1 for contents in probed) else REPEATS
    totals, matches, by_chance = np.zeros(everyone.lines * width), 0.0, False
    for at, world in enumerate(worlds):
        target.tell(at / len(worlds))
        if stated:
            weight = float(rerun.likelihood(world, pools.of_row))
        else:
            agreeing = rerun.agreeing(world, times)
            weight, by_chance = agreeing / times, by_chance or 0 < agreeing < times
            matches += agreeing
        totals += weight * np.bincount(everyone.person_of * width + rerun.values(world), minlength=len(totals))
    lines = totals.reshape(-1, width)
    learnt = np.full(len(lines), matches if by_chance else math.inf)
    return Findings(lines, learnt, len(worlds) * times, float(lines.sum() / len(everyone.rows)) * times)


def _sampled(pools: Pools, rerun: Rerun, target: Target, runs: int) -> Findings:
    """Look at worlds drawn at random, and at every group by itself."""
    everyone, width = rerun.target, rerun.target.width
    rows, lines = len(everyone.rows), everyone.lines
    runs = min(runs, max(LEAST, int(WORK / rows)))
    totals, squares, weights = np.zeros(lines * width), np.zeros(rows), np.zeros(rows)
    for run in range(runs):
        target.tell(run / runs)
        world = pools.drawn(target.random)
        likelihood = rerun.likelihood(world, pools.of_row)
        if likelihood is not None:
            weight = np.full(rows, float(likelihood))
        else:
            made = rerun.published(world)
            weight = np.zeros(rows) if made is None else rerun.alike(made, pools).astype(np.float64)
        weights += weight
        squares += weight**2
        totals += np.bincount(everyone.person_of * width + rerun.values(world), weight, len(totals))
    # as many equal weights as these tell as much: all of those that agree, if there are no others
    effective = np.divide(weights**2, squares, out=np.zeros(rows), where=squares > 0.0)
    matches = np.zeros(lines)
    matches[everyone.person_of] = effective
    return Findings(totals.reshape(lines, width), matches, runs, float(effective.mean()))


def _remark(details: dict[str, Any], persons: int) -> str:
    """What the reruns tell, in sentences."""
    if details["exact"]:
        text = f"All {details['runs']:,} tables that fit were published again"
    else:
        text = f"{details['runs']:,} tables that fit were drawn and published again"
    if not details["concluded"]:
        return f"{text}, and too few gave the same to conclude anything."
    if details["concluded"] < persons:
        text += f", and too few gave the same to conclude anything about {persons - details['concluded']:,} persons"
    if details.get("over"):
        text += (
            f"; about {details['over']:,} persons the belief in a value exceeds, beyond doubt, what the promise allows "
            f"an attacker who does not know the algorithm ({about(details['worst'])} times the bound at least)"
        )
    elif "over" in details:
        text += "; about nobody does the belief in a value exceed, beyond doubt, what the promise allows"
    return f"{text}."
