"""Carry out attacks on a release, one or all, and collect the evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks import ATTACKS
from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.evidence import NOT_BEYOND_DOUBT, Evidence
from discreet.adversary.attacks.target import (
    Context,
    Target,
    check_attackable,
    check_original,
    groups_by,
    opened,
    victims_of,
)
from discreet.adversary.checks.soundness import as_published, promises
from discreet.adversary.presence.population import check_population_covers
from discreet.catalogue import FORMATS
from discreet.display import Displayed
from discreet.errors import DiscreetError, in_words
from discreet.expressions import parse_one
from discreet.options import brief, checked, several
from discreet.principles.wording import listed, percent
from discreet.progress import Progress, no_progress
from discreet.randomness import generator
from discreet.releases import as_release
from discreet.releases.release import Release
from discreet.table.table import Table, as_table

ALL = "all"
EXAMPLE = "'naive-bayes(correction=1)'"
MOST_BELIEFS = 1 << 30
"""How many beliefs an attack computes at most: with more victims x values, victims are drawn."""


@dataclass(frozen=True, repr=False)
class Campaign(Displayed):
    """The evidence of all attacks on a release."""

    evidence: list[Evidence]
    refusals: dict[str, str] = field(default_factory=dict)
    """Per attack that does not apply to the release: why, in a sentence."""
    promise: tuple[str, ...] = ()
    """What the release promises."""
    notes: tuple[str, ...] = ()
    """Sentences on what was left out."""
    failures: dict[str, Exception] = field(default_factory=dict)
    """Per attack that broke down: the unexpected error, which is a fault of the attack and not of the release."""

    def _shown(self) -> list[str]:
        rates = ((each.attack, percent(each.rate), percent(each.baseline)) for each in self.evidence)
        return [self.verdict, *(f"{name}: {rate}, without the release {without}" for name, rate, without in rates)]

    @property
    def holds(self) -> bool:
        """Whether no attack achieved more than the promise allows, and none broke down."""
        return not self.exceeded and not self.failures

    @property
    def exceeded(self) -> bool:
        """Whether an attack achieved more than the promise allows."""
        return any(evidence.exceeds for evidence in self.evidence)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        if not self.failures:
            return self._outcome
        failed = f"{listed(self.failures)} FAILED, by an internal error, and judged nothing."
        return f"{failed} {self._outcome}" if self.evidence else failed

    @property
    def _outcome(self) -> str:
        """What the attacks that were carried out achieved."""
        if not self.evidence:
            return "No attack applies to this release."
        exceeding = [evidence.attack for evidence in self.evidence if evidence.exceeds]
        if exceeding:
            return f"The promise is EXCEEDED by {', '.join(exceeding)}."
        bounded = [evidence for evidence in self.evidence if evidence.bound is not None]
        if not bounded:
            return "The promise sets no bound that these attacks could exceed; judge by the rates of success."
        above = [evidence.attack for evidence in bounded if evidence.above]
        if above:
            return (
                f"The promise is not exceeded beyond doubt: {listed(above)} guessed correctly more often than it "
                f"allows, but {NOT_BEYOND_DOUBT}."
            )
        free = [evidence for evidence in self.evidence if evidence.bound is None]
        many = f"Each of the {len(bounded)} attacks" if len(bounded) > 1 else "The attack"
        if not free:
            return f"{many} stays within what is promised."
        several = f"the {len(free)} others", "guess", "them"
        others, guess, them = several if len(free) > 1 else ("the other", "guesses", "it")
        return (
            f"{many} that the promise bounds stays within what is promised. It does not bound {others} "
            f"({listed(evidence.attack for evidence in free)}), which {guess} correctly for up to "
            f"{percent(max(evidence.rate for evidence in free))}: judge {them} by the table."
        )

    def carry_out(
        self,
        attackers: Iterable[Attack],
        target: Target,
        ceiling: Target,
        outsiders: Target | None,
        progress: Progress | None,
    ) -> None:
        """Carry out attacks on one sensitive attribute, and add what came of them."""
        about = "" if target.context is None else f" about '{target.sensitive_attribute.name}'"
        for general in attackers:
            with self._apart(f"{general}{about}"):
                for attacker in general.against(target):
                    tell = no_progress if progress is None else partial(progress, f"attacking: {attacker}{about}")
                    tell(0.0)
                    with self._apart(f"{attacker}{about}"):
                        alone = "it looks at one release at a time; 'composition' and 'intersection' combine several"
                        single = target.others and not attacker.several
                        if reason := attacker.refusal(target) or (alone if single else None):
                            raise DiscreetError(reason)
                        self.evidence.append(attacker.measure(replace(target, tell=tell), ceiling, outsiders))

    @contextmanager
    def _apart(self, name: str) -> Iterator[None]:
        """Keep what goes wrong in one attack from the others: a refusal, or an error of ours."""
        try:
            yield
        except DiscreetError as refusal:
            self.refusals[name] = str(refusal)
        except MemoryError:
            self.refusals[name] = "there is not enough memory for it; attack fewer victims, or use a larger machine"
        except Exception as fault:
            self.failures[name] = fault

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "promise": list(self.promise),
            "attacks": [evidence.as_dict() for evidence in self.evidence],
            "refusals": dict(self.refusals),
            "failures": {name: in_words(fault) for name, fault in self.failures.items()},
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """Return the findings in reading order."""
        refused = [f"{name} was not carried out: {reason}." for name, reason in self.refusals.items()]
        failed = [f"{name} FAILED by an internal error ({in_words(error)})." for name, error in self.failures.items()]
        return [self.verdict, *(evidence.sentence for evidence in self.evidence), *refused, *failed, *self.notes]


def attack(
    release: Release | Table | str | os.PathLike[str],
    original: Table,
    attack: Attack | str | Iterable[Attack | str] = ALL,
    *,
    others: Iterable[Release | str | os.PathLike[str]] = (),
    outsiders: Table | None = None,
    population: Table | None = None,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    victims: int | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Campaign:
    """Attack a release, in memory or in a folder: guess the sensitive values of the people in its original.

    Instead of a release, a synthetic table of the original can be attacked: rows that belong to nobody.

    ``attack`` is one or several of: a name such as ``"naive-bayes"``, a text with parameters, an `Attack`; or
    ``"all"``. The attacks use what is published, and the quasi-identifiers of everyone in the original; its sensitive
    values only score the guesses. ``others`` are further releases about the same people, for attacks that combine
    several. ``outsiders`` is a table of people who are not in the release: success on them is what can be learnt about
    anybody. ``population`` is a table of everyone who may be in the original, for the attacks on presence and on
    singling out. ``trace`` is the private file (or array) with the group of every row, if the adversary is to know
    these, too: the worst case, which promises about groups allow for. ``victims`` limits how many people are attacked,
    drawn at random; by default all are, or as many as take about a minute. Everything drawn comes from the operating
    system, unless ``random_state`` asks for a repeatable experiment. ``progress`` is called with the name of the attack
    and the share of it that is done.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> campaign = dc.attack(dc.publish(patients(), dc.KAnonymity(4)), patients(), "beliefs")
    >>> campaign.evidence[0].victims, campaign.holds
    (48, True)
    """
    original = as_table(original)
    attackers = chosen(attack)
    victims = checked("victims", victims, int | None)
    progress = checked("progress", progress, Progress | None)
    sources = _Sources(release, others, original, outsiders, population)
    random = generator(checked("random_state", random_state, int | None))
    rows = sources.victims(victims, random)
    promise = tuple(map(str, promises(sources.release.manifest, None)[0]))
    campaign = Campaign([], promise=promise, notes=sources.notes(len(rows)))
    for view in sources.views:
        campaign.carry_out(attackers, *sources.targets(view, rows, trace, random), progress)
        attackers = [attacker for attacker in attackers if attacker.about_values]  # about presence, once is enough
    if campaign.refusals and not campaign.evidence and not campaign.failures and attack != ALL:
        reasons = (f"{name} does not apply: {reason}" for name, reason in campaign.refusals.items())
        raise DiscreetError("; ".join(reasons))
    return campaign


class _Sources:
    """A release under attack, its original, and what else the adversary has: read and checked."""

    def __init__(
        self,
        release: Release | Table | str | os.PathLike[str],
        others: Iterable[Release | str | os.PathLike[str]],
        original: Table,
        outsiders: Table | None,
        population: Table | None,
    ) -> None:
        """Read what was given, and reject tables that do not belong to the release."""
        synthetic: Any = FORMATS["synthetic"].release
        stated = as_release(synthetic.of_table(release) if isinstance(release, Table) else release)
        self.release = main = stated.revealed(as_table(original))
        self.others = [as_release(other).revealed(original) for other in several(others)]
        self.original = as_published(original, main)
        names = _protected(main)
        for other in self.others:
            if not other.sensitive:
                raise DiscreetError(
                    "a release to combine with has no sensitive attribute, so an attack learns nothing from it; "
                    "leave it out"
                )
            if not set(names) & set(_protected(other)):
                raise DiscreetError(
                    f"the releases protect different attributes, {listed(map(repr, names))} and "
                    f"{listed(map(repr, _protected(other)))}; give releases of the same one"
                )
        for source in (main, *self.others):
            check_original(source, as_published(self.original, source))
        self.outsiders = None if outsiders is None else as_published(as_table(outsiders), main)
        if self.outsiders is not None:
            check_attackable(main, self.outsiders)
        self.population = None if population is None else as_table(population)
        if self.population is not None:
            check_population_covers(self.population, self.original, main.quasi)

    @cached_property
    def views(self) -> list[Release]:
        """The release about each of its sensitive attributes."""
        return [self.release.about(name).with_values(self.original.column(name)) for name in _protected(self.release)]

    def victims(self, number: int | None, random: np.random.Generator) -> NDArray[np.intp]:
        """The rows that are attacked: this many, drawn at random, or by default as many as take about a minute."""
        if number is not None and number < 1:
            raise DiscreetError(f"victims={number} leaves nobody to attack; give a number of at least 1")
        everyone = self.original.rows
        limit = max(1, MOST_BELIEFS // sum(len(view.values) for view in self.views)) if number is None else number
        return np.sort(random.permutation(everyone)[:limit]) if limit < everyone else np.arange(everyone)

    def notes(self, attacked: int) -> tuple[str, ...]:
        """Sentences on what was left out, if this many rows are attacked."""
        notes = [] if self.release.of_people else [NOTE]
        who = victims_of(self.release, self.original)
        if who == "rows":
            notes.append(
                "A person may have several rows here; each row was attacked as if it were a person of its own."
            )
        if attacked < self.original.rows:
            notes.append(f"Of {self.original.rows:,} {who} {attacked:,} were attacked, drawn at random.")
        return tuple(notes)

    def targets(
        self,
        view: Release,
        rows: NDArray[np.intp],
        trace: str | os.PathLike[str] | NDArray[Any] | None,
        random: np.random.Generator,
    ) -> tuple[Target, Target, Target | None]:
        """The victims, the same people in the original as it is, and the outsiders, with one sensitive attribute."""
        name = view.sensitive_attribute.name
        original = _only(self.original, name)
        target = Target.of(
            view,
            original,
            rows=rows,
            random=random,
            others=tuple(other.about(name) for other in self.others if name in _protected(other)),
            groups=None if trace is None else groups_by(trace, view, original),
            context=Context(self.release, self.original) if len(self.views) > 1 else None,
            population=self.population,
        )
        ceiling = Target.of(opened(view, original), original, rows=rows, random=random)
        if self.outsiders is None:
            return target, ceiling, None
        return target, ceiling, Target.of(view, original, victims=_only(self.outsiders, name), random=random)


def _protected(release: Release) -> list[str]:
    """The names of the sensitive attributes of a release."""
    return [attribute.name for attribute in release.sensitive]


def _only(table: Table, name: str) -> Table:
    """A table with one of its sensitive attributes."""
    return replace(table, sensitive=(table.column(name),))


def chosen(given: Attack | str | Iterable[Attack | str]) -> list[Attack]:
    """The attacks that an argument asks for, each once.

    >>> [str(attack) for attack in chosen("beliefs")]
    ['beliefs']
    """
    attacks: list[Attack] = []
    for wish in several(given):
        if isinstance(wish, Attack):
            attacks.append(wish)
        elif not isinstance(wish, str):
            raise DiscreetError(f"{brief(wish)} is no attack; write its name, such as 'beliefs', or {ALL!r}")
        elif wish.strip().lower() == ALL:
            attacks += [variant for kind in ATTACKS.values() for variant in kind.variants()]
        else:
            attacks.append(parse_one(wish, ATTACKS, "attack", EXAMPLE))
    if not attacks:
        raise DiscreetError(f"no attack was given; name one of {', '.join(ATTACKS)}, or {ALL!r}")
    return list(dict.fromkeys(attacks))


NOTE = (
    "This is a synthetic table: no row of it belongs to anybody, and what it promises is of a different kind, which "
    "cannot be seen from it. An adversary takes its rows as if they were people's."
)
