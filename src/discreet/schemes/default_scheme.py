"""The scheme that keeps a promise: the default when none is asked for, and the way out that a refusal names."""

from __future__ import annotations

from discreet.principles.principle import Principle
from discreet.principles.prior import Prior


def keeper(principle: Principle) -> str | None:
    """Return the name of the scheme made for a promise; None if no scheme keeps all parts of it.

    >>> from discreet.principles import AlphaBeta, Proximity
    >>> keeper(Proximity(2000, 4)), keeper(AlphaBeta(0.2, 0.1)), keeper(Proximity(2000, 4) & AlphaBeta(0.2, 0.1))
    ('proximity', 'ambiguity', None)
    """
    drawn = [not part.about_groups for part in principle.parts]
    if any(drawn):
        return "privbayes" if all(drawn) else None
    near = any(part.nearness for part in principle.parts)
    hidden = any(part.hides_presence for part in principle.parts)
    if near:
        return None if hidden else "proximity"
    return "ambiguity" if kept_by_ambiguity(principle) else "cuts"


def kept_by_ambiguity(principle: Principle) -> bool:
    """Whether a promise is about presence, alone or with promises that large groups or groups of different values keep.

    >>> from discreet.principles import AlphaBeta, KAnonymity
    >>> kept_by_ambiguity(AlphaBeta(0.2, 0.1) & KAnonymity(5)), kept_by_ambiguity(KAnonymity(5))
    (True, False)
    """
    return any(part.hides_presence for part in principle.parts) and all(
        part.sufficient_share is not None or not part.about_values for part in principle.parts
    )


def way_out(principle: Principle) -> str:
    """Return what to do about a promise that a scheme refuses; following it never leads back to that scheme.

    >>> from discreet.principles import KAnonymity
    >>> way_out(KAnonymity(5))
    "for k-anonymity(k=5) choose scheme 'cuts'"
    """
    name = keeper(principle)
    if name is None and not principle.about_groups:
        return "no scheme keeps a promise about groups and one about synthetic rows at once; leave one of them out"
    if name is None:
        return f"no scheme keeps {principle} and also hides who is in the table; leave one of the promises out"
    return f"for {principle} choose scheme {name!r}"


def bounds_presence(principle: Principle) -> bool:
    """Whether a promise bounds the belief that somebody is in the table.

    >>> from discreet.principles import AlphaBeta
    >>> bounds_presence(AlphaBeta(0.2, 0.1)), bounds_presence(AlphaBeta(1, 0.1))
    (True, False)
    """
    return any(part.most_presence < 1.0 for part in principle.parts)


def hides_nobody(scheme: str, principle: Principle, condition: str = "") -> str | None:
    """Why a scheme that does not hide who is in the table refuses a promise; ``None`` if it bounds no such belief."""
    if not bounds_presence(principle):
        return None
    return f"scheme {scheme!r} does nothing to hide who is in the table{condition}; {way_out(principle)}"


def not_of_groups(scheme: str, principle: Principle) -> str | None:
    """Why a scheme that publishes people's rows refuses a promise about how rows are drawn; ``None`` if there is none.

    >>> from discreet.principles import DifferentialPrivacy
    >>> print(not_of_groups("cuts", DifferentialPrivacy(1)))  # doctest: +NORMALIZE_WHITESPACE
    scheme 'cuts' publishes people's own rows, and differential-privacy(epsilon=1) is about synthetic rows;
    for differential-privacy(epsilon=1) choose scheme 'privbayes'
    """
    drawn = [str(part) for part in principle.parts if not part.about_groups]
    if not drawn:
        return None
    return (
        f"scheme {scheme!r} publishes people's own rows, and {drawn[0]} is about synthetic rows; {way_out(principle)}"
    )


def for_several(refusal: str | None, refused: Principle, principle: Principle) -> str | None:
    """Return the refusal of a promise with a way out for all that is promised about several sensitive attributes."""
    return refusal and refusal.replace(way_out(refused), way_out(principle))


def not_only_caps(scheme: str, principle: Principle, prior: Prior) -> str | None:
    """Why a scheme that only bounds values from above refuses a promise; ``None`` if that, or k-anonymity, is all."""
    if principle.only_caps(prior):
        return None
    return (
        f"scheme {scheme!r} needs a promise that bounds every value from above and none from below, such as "
        f"beta-likeness or l-diversity; {way_out(principle)}"
    )


def default_scheme(principle: Principle | None = None) -> str:
    """Return the name of the scheme that is used for a promise when none is asked for.

    >>> from discreet.principles import AlphaBeta, Proximity
    >>> default_scheme(), default_scheme(Proximity(2000, 4)), default_scheme(AlphaBeta(0.2, 0.1))
    ('cuts', 'proximity', 'ambiguity')
    """
    return "cuts" if principle is None else keeper(principle) or "proximity"
