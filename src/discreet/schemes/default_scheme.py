"""The scheme that keeps a promise: the default when none is asked for, and the way out that a refusal names."""

from __future__ import annotations

from discreet.principles.principle import Principle


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


def default_scheme(principle: Principle | None = None) -> str:
    """Return the name of the scheme that is used for a promise when none is asked for.

    >>> from discreet.principles import AlphaBeta, Proximity
    >>> default_scheme(), default_scheme(Proximity(2000, 4)), default_scheme(AlphaBeta(0.2, 0.1))
    ('cuts', 'proximity', 'ambiguity')
    """
    return "cuts" if principle is None else keeper(principle) or "proximity"
