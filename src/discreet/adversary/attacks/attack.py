"""The contract of every attack: what an adversary learns from a release, and how often this leads to the right guess.

To add an attack, write a subclass of `Attack` with a name and ``learn``, and add its line to `discreet.catalogue`, or
register it from another package through the entry point group ``discreet.attacks``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.evidence import Evidence, Hurt
from discreet.adversary.attacks.target import Floats, Target, victims_of
from discreet.expressions import Expression
from discreet.progress import Tell, no_progress, part_of

BATCH = 1 << 23
"""How many beliefs are held at a time."""
TIE = 1e-12
"""Beliefs that differ by less are equal but for rounding: the first of them is guessed."""


@dataclass(frozen=True)
class Insight:
    """What an adversary has learnt from a release."""

    beliefs: Callable[[slice], Floats]
    """The belief in each sensitive value, one line for each of the target's people in a range."""
    victims: NDArray[np.bool_] | None = None
    """Which of the victims are left to be guessed; None if all are."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Figures to report."""
    remark: str = ""
    """A sentence to report."""
    exact: NDArray[np.bool_] | None = None
    """Per line of the people: whether a single belief above its bound breaks a promise; None if ``Attack.exact`` says
    so for all."""


class Claims(NamedTuple):
    """What can be guessed of a person: that the sensitive value is one from ``first`` to ``last``, both included."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    caps: Floats | None
    """The largest belief that the promise allows in each claim; None if it sets no such bounds."""
    about: str
    """What is guessed, in words."""

    @classmethod
    def of_ranges(cls, target: Target, first: NDArray[np.int64], last: NDArray[np.int64], about: str) -> Claims:
        """Claims of several values together, whose bounds are the sums of those on each."""
        if target.caps is None:
            return cls(first, last, None, about)
        sums = np.r_[0.0, np.cumsum(target.caps)]
        return cls(first, last, np.minimum(1.0, sums[last + 1] - sums[first]), about)

    def masses(self, lines: Floats) -> Floats:
        """The beliefs in the claims, given those in the values: one line per person."""
        if len(self.first) == lines.shape[1] and bool((self.first == self.last).all()):
            return lines
        sums = np.zeros((len(lines), lines.shape[1] + 1))
        np.cumsum(lines, axis=1, out=sums[:, 1:])
        return np.asarray(sums[:, self.last + 1] - sums[:, self.first])

    def hold(self, which: NDArray[np.intp], truth: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which claims are true, one claim per person."""
        return (self.first[which] <= truth) & (truth <= self.last[which])


class Attack(Expression):
    """A way to learn about people from a release, with its parameters: an immutable value, checked on construction."""

    about_values: ClassVar[bool] = True
    """Whether it guesses sensitive values, and not who is in the table."""
    several: ClassVar[bool] = False
    """Whether it combines several releases about the same people."""
    judged: ClassVar[bool] = True
    """Whether the promise bounds the rate of success; not if the adversary knows more than it takes into account."""
    exact: ClassVar[bool] = False
    """Whether its beliefs are those that the promise bounds: then a single one above its bound breaks the promise."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """The attacks to carry out if all are asked for."""
        return (cls(),)

    def against(self, target: Target) -> tuple[Attack, ...]:
        """The attacks that it stands for on this release: itself, unless a parameter that is left out has choices."""
        return (self,)

    def refusal(self, target: Target) -> str | None:
        """Why the attack does not apply to this release, in a sentence; None if it does."""
        return None

    def judges(self, target: Target) -> bool:
        """Whether the promise of this release bounds the rate of success."""
        return self.judged

    def claims(self, target: Target) -> Claims:
        """What is guessed: by default the sensitive value."""
        values = np.arange(target.width)
        return Claims(values, values, target.caps, f"the value of '{target.sensitive_attribute.name}'")

    def learn(self, target: Target) -> Insight:
        """Learn from the release; by default no more than it says.

        ``target.truth`` may be used only of people whose values the adversary is assumed to know.
        """
        return Insight(target.beliefs)

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Carry out the attack on all victims, on the original itself, and on people who are not in the release."""
        claims, tell = self.claims(target), target.tell
        claims = claims if self.judges(target) else claims._replace(caps=None)
        insight = self.learn(replace(target, tell=part_of(tell, 0.0, 0.3)))
        score = _score(target, insight, claims, part_of(tell, 0.3, 0.5), redraw=True)
        exact = self.exact if insight.exact is None else bool(insight.exact.any())
        return replace(
            score,
            attack=str(self),
            ceiling=self._rate(ceiling, part_of(tell, 0.5, 0.75)),
            outsiders=self._rate(outsiders, part_of(tell, 0.75, 1.0)),
            strain=score.strain if exact else None,
            details=insight.details,
            remark=insight.remark,
        )

    def _rate(self, target: Target | None, tell: Tell) -> float | None:
        """How often the attack guesses correctly on a target that it is compared with."""
        if target is None:
            return None
        insight = self.learn(replace(target, tell=part_of(tell, 0.0, 0.6)))
        return _score(target, insight, self.claims(target), part_of(tell, 0.6, 1.0)).rate


def _score(
    target: Target, insight: Insight, claims: Claims, tell: Tell = no_progress, redraw: bool = False
) -> Evidence:
    """Guess what is believed most of everyone, and compare with the truth; the attack is not named."""
    number = target.lines
    prior = claims.masses(target.prior[None])[0]
    guess, belief, expected = np.zeros(number, np.intp), np.zeros(number), np.zeros(number)
    plain = np.zeros(number, np.intp)
    strain = gain = 0.0
    for part in batches(number, max(target.width, len(claims.first))):
        tell(part.start / number)
        masses = claims.masses(insight.beliefs(part))
        lines = np.arange(len(masses))
        guess[part] = _likeliest(masses)
        belief[part] = masses[lines, guess[part]]
        if redraw:
            said = claims.masses(target.beliefs(part))
            expected[part], plain[part] = said[lines, guess[part]], _likeliest(said)
            exact = masses if insight.exact is None else masses[insight.exact[part]]
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = max(gain, float(np.nanmax(masses.max(axis=0) / prior)))
                if claims.caps is not None:
                    strain = max(strain, float(np.nanmax(exact.max(axis=0, initial=0.0) / claims.caps)))
    chosen = slice(None) if insight.victims is None else insight.victims
    person_of, truth = target.person_of[chosen], target.truth[chosen]
    guesses = guess[person_of]
    hits = claims.hold(guesses, truth)
    usual = np.full(len(truth), int(prior.argmax()), np.intp)
    some = len(truth) > 0
    return Evidence(
        "",
        claims.about,
        victims=len(hits),
        successes=int(hits.sum()),
        baseline=float(claims.hold(usual, truth).mean()) if some else 0.0,
        redrawn=float(expected[person_of].mean()) if redraw and some else None,
        by_beliefs=float(claims.hold(plain[person_of], truth).mean()) if redraw and some else None,
        bound=float(np.mean(claims.caps[guesses])) if claims.caps is not None and some else None,
        strain=None if claims.caps is None else strain,
        gain=gain,
        hurt=Hurt.worst(hits, target.rows[chosen], belief[person_of], prior[guesses]),
        attribute=target.sensitive_attribute.name,
        of=victims_of(target.release, target.original),
    )


def _likeliest(masses: Floats) -> NDArray[np.intp]:
    """Per line: the claim that is believed in most, the first if several are."""
    return np.asarray((masses >= masses.max(axis=1, keepdims=True) - TIE).argmax(axis=1))


def guessed(target: Target, insight: Insight) -> float:
    """How often the value that is believed in most is the true one."""
    values = np.arange(target.width)
    return _score(target, insight, Claims(values, values, None, "")).rate


def batches(number: int, width: int) -> list[slice]:
    """Ranges of lines that fit into memory together.

    >>> batches(5, BATCH // 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, BATCH // max(1, width))
    return [slice(start, min(number, start + step)) for start in range(0, number, step)]
