"""Which scheme keeps a promise: what is taken when none is asked for, and what a refusal names as the way out."""

from __future__ import annotations

from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.l_diversity import LDiversity
from discreet.principles.presence import AlphaBeta
from discreet.principles.principle import Principle
from discreet.principles.proximity import Proximity


def keeper(principle: Principle) -> str | None:
    """The name of the scheme that is made for a promise; ``None`` when no scheme keeps all parts of it.

    >>> keeper(Proximity(2000, 4)), keeper(AlphaBeta(0.2, 0.1)), keeper(Proximity(2000, 4) & AlphaBeta(0.2, 0.1))
    ('proximity', 'ambiguity', None)
    """
    near = any(isinstance(part, Proximity) for part in principle.parts)
    hidden = any(part.hides_presence for part in principle.parts)
    if near:
        return None if hidden else "proximity"
    return "ambiguity" if kept_by_ambiguity(principle) else "cuts"


def kept_by_ambiguity(principle: Principle) -> bool:
    """Whether a promise is alpha-beta, alone or with k-anonymity and l-diversity of the kinds frequency and distinct.

    >>> kept_by_ambiguity(AlphaBeta(0.2, 0.1) & KAnonymity(5)), kept_by_ambiguity(KAnonymity(5))
    (True, False)
    """
    others = [part for part in principle.parts if not isinstance(part, AlphaBeta)]
    return len(others) < len(principle.parts) and all(
        isinstance(part, KAnonymity) or (isinstance(part, LDiversity) and part.kind in ("frequency", "distinct"))
        for part in others
    )


def way_out(principle: Principle) -> str:
    """What to do about a promise that some scheme refuses: following it never leads back to that scheme.

    >>> way_out(KAnonymity(5))
    "for k-anonymity(k=5) choose scheme 'cuts'"
    """
    name = keeper(principle)
    if name is None:
        return f"for {principle} there is none that hides who is in the table as well; leave one of the promises out"
    return f"for {principle} choose scheme {name!r}"
