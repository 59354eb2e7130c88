"""Why a scheme does not keep a promise, and what to do instead."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.errors import DiscreetError
from discreet.principles.bounds import bounded_shares
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.schemes.default_scheme import bounds_presence, way_out


@dataclass(frozen=True)
class Refusal:
    """Why a scheme does not keep a promise, and what to do instead.

    >>> from discreet.principles import KAnonymity
    >>> print(Refusal("scheme 'sabre' keeps a single promise of t-closeness", KAnonymity(5)))
    scheme 'sabre' keeps a single promise of t-closeness; for k-anonymity(k=5) choose scheme 'cuts'
    """

    reason: str
    promise: Principle | None = None
    """The promise, if another scheme keeps it, or no scheme does; None if it can be kept where ``advice`` is taken."""
    advice: str = ""
    """What helps without another scheme, or beside it."""

    def __str__(self) -> str:
        """The reason and the ways out, in one sentence without its full stop."""
        ways = [self.advice, "" if self.promise is None else way_out(self.promise)]
        return f"{self.reason}; {', or '.join(filter(None, ways))}"

    def about(self, promise: Principle) -> Refusal:
        """Return the refusal of all of a promise, of which a part was refused."""
        return self if self.promise is None else replace(self, promise=promise)


class RefusalError(DiscreetError):
    """Raised where a scheme refuses a promise; ``refusal`` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def hides_nobody(scheme: str, principle: Principle, condition: str = "") -> Refusal | None:
    """Why a scheme that does not hide who is in the table refuses a promise; ``None`` if it bounds no such belief."""
    if not bounds_presence(principle):
        return None
    return Refusal(f"scheme {scheme!r} does nothing to hide who is in the table{condition}", principle)


def not_of_groups(scheme: str, principle: Principle) -> Refusal | None:
    """Why a scheme that publishes people's rows refuses a promise about how rows are drawn; ``None`` if there is none.

    >>> from discreet.principles import DifferentialPrivacy
    >>> print(not_of_groups("cuts", DifferentialPrivacy(1)))  # doctest: +NORMALIZE_WHITESPACE
    scheme 'cuts' publishes people's own rows, and differential-privacy(epsilon=1) is about synthetic rows;
    for differential-privacy(epsilon=1) choose scheme 'privbayes'
    """
    drawn = [str(part) for part in principle.parts if not part.about_groups]
    if not drawn:
        return None
    return Refusal(f"scheme {scheme!r} publishes people's own rows, and {drawn[0]} is about synthetic rows", principle)


def not_only_caps(scheme: str, principle: Principle, prior: Prior) -> Refusal | None:
    """Why a scheme that only bounds shares from above refuses a promise; ``None`` if that, of values or of the nodes of
    one level, or k-anonymity, is all."""
    shares = bounded_shares(principle.rules(prior)) if principle.about_groups else None
    if shares is not None and not shares.floors.any():
        return None
    return Refusal(
        f"scheme {scheme!r} needs a promise that bounds every value, or every node at one level of a hierarchy, from "
        f"above and none from below, such as beta-likeness or l-diversity",
        principle,
    )


def not_of_shares(scheme: str, principle: Principle, prior: Prior) -> Refusal | None:
    """Why a scheme that decides how many rows of each value, or node of one level, a group has refuses a promise;
    ``None`` if bounds on these, with k-anonymity or without, are all."""
    if bounded_shares(principle.rules(prior)) is not None:
        return None
    return Refusal(
        f"scheme {scheme!r} needs a promise that bounds the share of every value, or of every node at one level of a "
        f"hierarchy, such as beta-likeness or l-diversity",
        principle,
    )
