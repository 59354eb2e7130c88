"""Carry out attacks on a release, one or all, and collect the evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks import ATTACKS
from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.evidence import NOT_BEYOND_DOUBT, Evidence
from discreet.adversary.attacks.target import Context, Target, check_attackable, check_original, groups_by, opened
from discreet.adversary.checks.roles import as_published
from discreet.adversary.checks.soundness import promises
from discreet.adversary.checks.trace import read_trace
from discreet.adversary.presence.population import check_population_covers
from discreet.errors import DiscreetError, in_words
from discreet.expressions import parse_one
from discreet.options import brief, checked, several
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.principles.wording import listed
from discreet.progress import Progress, silent
from discreet.randomness import generator
from discreet.releases import as_release
from discreet.releases.release import Release
from discreet.releases.synthetic.release import Privacy, SyntheticRelease
from discreet.table.table import Table, as_table

ALL = "all"
EXAMPLE = "'naive-bayes(correction=1)'"
MOST_BELIEFS = 1 << 30
"""How many beliefs an attack computes at most: with more victims x values, victims are drawn."""


@dataclass(frozen=True)
class Campaign:
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

    @property
    def holds(self) -> bool:
        """Whether no attack achieved more than the promise allows, and none broke down."""
        return not self.exceeded and not self.failures

    @property
    def exceeded(self) -> bool:
        """Whether an attack achieved more than the promise allows."""
        return any(one.exceeds for one in self.evidence)

    @property
    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        told = self._outcome if self.evidence or not self.failures else ""
        if self.failures:
            told = f"{listed(self.failures)} FAILED, by an internal error, and judged nothing. {told}".rstrip()
        return told

    @property
    def _outcome(self) -> str:
        """What the attacks achieved that were carried out."""
        if not self.evidence:
            return "No attack applies to this release."
        over = [one.attack for one in self.evidence if one.exceeds]
        if over:
            return f"The promise is EXCEEDED by {', '.join(over)}."
        bounded = [one for one in self.evidence if one.bound is not None]
        if not bounded:
            return "The promise sets no bound that these attacks could exceed; judge by the rates of success."
        above = [one.attack for one in bounded if one.above]
        if above:
            return (
                f"The promise is not exceeded beyond doubt: {listed(above)} guessed rightly more often than it allows, "
                f"but {NOT_BEYOND_DOUBT}."
            )
        free = len(self.evidence) - len(bounded)
        many = f"Each of the {len(bounded)} attacks" if len(bounded) > 1 else "The attack"
        if not free:
            return f"{many} stays within what is promised."
        others = "the other" if free == 1 else f"the {free} others"
        return f"{many} that the promise bounds stays within what is promised; it sets no bound for {others}."

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "promise": list(self.promise),
            "attacks": [one.as_dict() for one in self.evidence],
            "refusals": dict(self.refusals),
            "failures": {name: in_words(fault) for name, fault in self.failures.items()},
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """Return the findings in reading order."""
        told = [one.sentence for one in self.evidence]
        told += [f"{name} was not carried out: {reason}." for name, reason in self.refusals.items()]
        told += [f"{name} FAILED by an internal error ({in_words(one)})." for name, one in self.failures.items()]
        return [self.verdict, *told, *self.notes]


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
    anybody. ``population`` is a table of everyone who may be in the original, for the attack on presence. ``trace`` is
    the private file (or array) with the group of every row, if the adversary is to know these, too: the worst case,
    which promises about groups reckon with. ``victims`` limits how many people are attacked, drawn at random; by
    default all are, or as many as take about a minute. Everything drawn comes from the operating system, unless
    ``random_state`` asks for a repeatable experiment. ``progress`` is called with the name of the attack and the share
    of it that is done.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> found = dc.attack(dc.publish(patients(), dc.KAnonymity(4)), patients(), "beliefs")
    >>> found.evidence[0].victims, found.holds
    (48, True)
    """
    original = as_table(original)
    asked = chosen(attack)
    victims = checked("victims", victims, int | None)
    progress = checked("progress", progress, Progress | None)
    notes = []
    if isinstance(release, Table):
        release = synthetic(release)
    main, further = as_release(release), [as_release(one) for one in several(others)]
    if not main.of_people:
        notes.append(NOTE)
    original = as_published(original, main)
    names = [attribute.name for attribute in main.sensitive]
    _check_shared(names, further)
    for one in (main, *further):
        check_original(one, as_published(original, one))
    if "persons" in main.manifest:
        notes.append("A person may have several rows here; each row was attacked as if it were a person of its own.")
    if outsiders is not None:
        outsiders = as_published(as_table(outsiders), main)
        check_attackable(main, outsiders)
    if population is not None:
        population = as_table(population)
        check_population_covers(population, original, main.quasi)
    random = generator(checked("random_state", random_state, int | None))
    views = [main.about(name).with_values(original.column(name)) for name in names]
    limit = max(1, MOST_BELIEFS // sum(len(view.values) for view in views)) if victims is None else victims
    if limit < 1:
        raise DiscreetError(f"victims={victims} leaves nobody to attack; give a number of at least 1")
    rows = np.arange(original.rows)
    if limit < len(rows):
        rows = np.sort(random.permutation(original.rows)[:limit])
        notes.append(f"Of {original.rows:,} persons {limit:,} were attacked, drawn at random.")
    evidence: list[Evidence] = []
    refusals: dict[str, str] = {}
    failures: dict[str, Exception] = {}
    for name, view in zip(names, views, strict=True):
        aim = partial(Target.of, random=random)
        alone = _only(original, name)
        target = aim(
            view,
            alone,
            rows=rows,
            others=tuple(one.about(name) for one in further if name in [own.name for own in one.sensitive]),
            groups=None if trace is None else _groups(trace, view, alone),
            context=Context(main, original) if len(names) > 1 else None,
            population=population,
        )
        ceiling = aim(opened(view, alone), alone, rows=rows)
        beyond = None if outsiders is None else aim(view, alone, victims=_only(outsiders, name))
        about = f" about '{name}'" if len(names) > 1 else ""
        for general in asked:
            with _apart(f"{general}{about}", refusals, failures):
                for attacker in general.against(target):
                    if name != names[0] and not attacker.about_values:
                        continue  # once is enough
                    tell = silent if progress is None else partial(progress, f"attacking: {attacker}{about}")
                    tell(0.0)
                    with _apart(f"{attacker}{about}", refusals, failures):
                        reason = attacker.refusal(target)
                        if target.others and not attacker.several and reason is None:
                            reason = (
                                "it looks at one release at a time; 'composition' and 'intersection' combine several"
                            )
                        if reason is not None:
                            raise DiscreetError(reason)
                        evidence.append(attacker.measure(replace(target, tell=tell), ceiling, beyond))
    if refusals and not evidence and not failures and attack != ALL:
        raise DiscreetError("; ".join(f"{name} does not apply: {reason}" for name, reason in refusals.items()))
    told = tuple(map(str, promises(main.manifest, None)[0]))
    return Campaign(evidence, refusals, told, tuple(notes), failures)


@contextmanager
def _apart(name: str, refusals: dict[str, str], failures: dict[str, Exception]) -> Iterator[None]:
    """Keep what goes wrong in one attack from the others: a refusal, or an error of ours."""
    try:
        yield
    except DiscreetError as refusal:
        refusals[name] = str(refusal)
    except MemoryError:
        refusals[name] = "there is not enough memory for it; attack fewer victims, or use a larger machine"
    except Exception as fault:
        failures[name] = fault


def _only(table: Table, name: str) -> Table:
    """A table with one of its sensitive attributes."""
    return replace(table, sensitive=tuple(column for column in table.sensitive if column.name == name))


def _check_shared(names: list[str], further: list[Release]) -> None:
    """Raise an error for a further release that protects none of these attributes."""
    for one in further:
        own = [attribute.name for attribute in one.sensitive]
        if not set(names) & set(own):
            raise DiscreetError(
                f"the releases protect different attributes, {listed(map(repr, names))} and {listed(map(repr, own))}; "
                "give releases of the same one"
            )


def _groups(trace: str | os.PathLike[str] | NDArray[Any], release: Release, original: Table) -> NDArray[np.int64]:
    """The group of every row by a trace that may be a file."""
    faults: list[str] = []
    if not isinstance(trace, np.ndarray):
        trace, faults = read_trace(trace, original.rows)
    if faults:
        raise DiscreetError(f"{faults[0]}; give the trace that the release was published with")
    return groups_by(trace, release, original)


def chosen(given: Attack | str | Iterable[Attack | str]) -> list[Attack]:
    """The attacks that an argument asks for, each once.

    >>> [str(one) for one in chosen("beliefs")]
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


def synthetic(table: Table) -> SyntheticRelease:
    """Make a table attackable as a synthetic one that promises nothing known.

    What a differentially private table promises is that no person's row changes the probability of any outcome by more
    than a factor. That cannot be seen from the table: that it was drawn so is an assumption. Attacks guess as from
    published rows, and find what the model has learnt of everyone.

    >>> from discreet.datasets import patients
    >>> synthetic(patients()).rows
    48
    """
    unknown = Privacy(float("inf"), "observed")
    made = SyntheticRelease.of_rows(table, unknown, promise=DifferentialPrivacy(1.0), scheme="none")
    return replace(made, manifest={**made.manifest, "promise": []})
