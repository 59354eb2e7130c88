"""What an attack achieved: a rate of success with its interval, and what to compare it with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.principles.wording import about, counted, percent

USUAL, BEYOND_DOUBT = 1.959964, 4.0
"""How many standard deviations an interval spans to either side: of 95 % as reported, and of 99.994 %, so that hardly
one attack in 30,000 is said to exceed a bound that it keeps."""
NOT_BEYOND_DOUBT = "not beyond doubt, as the 99.994 % interval of the rate reaches down to what is allowed"
"""Why a rate above its bound is not said to exceed it."""


def wilson(successes: int, trials: int, deviations: float = USUAL) -> tuple[float, float]:
    """Wilson's interval for a rate, which is right for rare successes and few trials, too.

    >>> [round(end, 3) for end in wilson(0, 10)], [round(end, 3) for end in wilson(50, 100)]
    ([0.0, 0.278], [0.404, 0.596])
    """
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, deviations**2 / trials
    middle = (share + square / 2.0) / (1.0 + square)
    half = deviations / (1.0 + square) * math.sqrt(share * (1.0 - share) / trials + square / (4.0 * trials))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    return low, 1.0 if successes == trials else min(1.0, middle + half)


class Hurt(NamedTuple):
    """The victim about whom something true was believed most strongly."""

    row: int
    """The row of the original, from 0."""
    belief: float
    prior: float
    """The belief in the same without the release."""

    @classmethod
    def worst(
        cls, hits: NDArray[np.bool_], rows: NDArray[Any], beliefs: NDArray[np.float64], priors: NDArray[np.float64]
    ) -> Hurt | None:
        """The strongest belief that came true; among equal ones that in the least likely claim, then the first."""
        true = np.flatnonzero(hits)
        if not len(true):
            return None
        worst = true[np.lexsort((priors[true], -beliefs[true]))[0]]
        return cls(int(rows[worst]), float(beliefs[worst]), float(priors[worst]))


@dataclass(frozen=True)
class Evidence:
    """The result of one attack on a release."""

    attack: str
    """The attack with its parameters."""
    about: str
    """What was guessed of everyone, in words."""
    victims: int
    successes: int
    baseline: float
    """The rate of success without the release: always guess what is most frequent in the whole original."""
    ceiling: float | None = None
    """The rate of success of the same attack if the original is published as it is."""
    redrawn: float | None = None
    """The rate of success to expect of these guesses if chance dealt the sensitive values anew in every way that the
    release leaves open: what goes beyond it was learnt about people from what they have in common with others."""
    by_beliefs: float | None = None
    """The rate of success on the same people by what the release itself makes most likely."""
    outsiders: float | None = None
    """The rate of success on people who are not in the release, if some were given: their values were not published, so
    this much is learnt about anybody."""
    bound: float | None = None
    """The rate of success that the promise allows: the mean of its bounds on what was guessed."""
    strain: float | None = None
    """For attacks whose beliefs the promise bounds: the largest belief in anything, divided by its bound."""
    gain: float | None = None
    """The largest belief in anything, divided by the belief in it without the release."""
    hurt: Hurt | None = None
    """Who is hurt most: the strongest belief that came true; None if no guess was right."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further figures of this attack alone."""
    remark: str = ""
    """What else a reader should know, in a sentence."""
    attribute: str = ""
    """The sensitive attribute that was guessed."""
    of: str = "persons"
    """What the victims are, if not persons."""

    @property
    def rate(self) -> float:
        """The share of the victims about whom the guess was right."""
        return self.successes / self.victims if self.victims else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate."""
        return wilson(self.successes, self.victims)

    @property
    def too_often(self) -> bool:
        """Whether more guesses are right than the promise allows, beyond doubt."""
        return self.bound is not None and wilson(self.successes, self.victims, BEYOND_DOUBT)[0] > self.bound + 1e-9

    @property
    def too_sure(self) -> bool:
        """Whether a belief that the promise bounds is above its bound."""
        return self.strain is not None and self.strain > 1.0 + 1e-9

    @property
    def exceeds(self) -> bool:
        """Whether the attack achieved more than the promise allows."""
        return self.too_often or self.too_sure

    @property
    def above(self) -> bool:
        """Whether more guesses are right than the promise allows, but not beyond doubt."""
        return self.bound is not None and self.rate > self.bound + 1e-9 and not self.exceeds

    @property
    def sentence(self) -> str:
        """What this means to a privacy board."""
        low, high = self.interval
        text = (
            f"Of {counted(self.victims, self.of.removesuffix('s'))}, {self.attack} guesses {self.about} correctly for "
            f"{percent(self.rate)} (95 % interval {percent(low)} to {percent(high)}); without the release it is "
            f"{percent(self.baseline)}"
        )
        if self.ceiling is not None:
            text += f", from the original itself {percent(self.ceiling)}"
        if self.outsiders is not None:
            text += f", about people who are not in it {percent(self.outsiders)}"
        if self.bound is not None:
            text += f", and the promise allows {percent(self.bound)}"
        text += f"; the rate is above this, but {NOT_BEYOND_DOUBT}." if self.above else "."
        if self.strain is not None:
            where = "beyond" if self.too_sure else "within"
            text += f" The strongest belief is {where} its bound, at {about(100.0 * self.strain)} % of it."
        if self.too_often and not self.too_sure:
            text += (
                " So more guesses are right than the promise allows: if an audit holds, the reason is what groups "
                "tell about each other, which no promise about single groups bounds."
            )
        return f"{text} {self.remark}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        fields = {name: value for name, value in vars(self).items() if name not in ("of", "remark")}
        return {
            **fields,
            "rate": self.rate,
            "interval": list(self.interval),
            "above": self.above,
            "exceeds": self.exceeds,
            "hurt": None if self.hurt is None else self.hurt._asdict(),
            "details": dict(self.details),
            "sentence": self.sentence,
        }
