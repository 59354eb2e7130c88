"""Which scheme claims to keep which promise: the matrix, written down independently of what schemes say themselves.

A scheme that is not named beside a promise has to refuse it, and to say what to do instead. A scheme or a promise that
is added is added here.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.schemes import SCHEMES, Scheme

GRAPH = "heterogeneous:publishes=graph"
DRAWN = "privbayes:domains=observed"
DESCRIBING = ("cuts", "mondrian", "incognito", "burel", "sabre", "heterogeneous", "sealed", "mirrored", "lifting")
"""The schemes that publish exact quasi-identifiers in place of boxes if they are asked for them."""
EXACT = {name: f"{name}:descriptions=exact" for name in DESCRIBING}
LABELS = [*(name for name in SCHEMES if name != "privbayes"), GRAPH, DRAWN, *EXACT.values()]
"""The schemes, and those with an option that decides about what they claim."""

ABOUT_VALUES = {
    "k-anonymity(k=3)": "cuts mirrored mondrian incognito codip nh",
    "l-diversity(l=2)": "cuts lifting sealed mirrored mondrian incognito burel heterogeneous anatomy baseline codip nh",
    "l-diversity(l=2, kind=distinct)": "cuts mirrored mondrian incognito anatomy baseline codip nh",
    "l-diversity(l=1.5, kind=entropy)": "cuts mirrored mondrian incognito baseline codip",
    "l-diversity(l=2, kind=recursive, c=3)": "cuts mirrored mondrian incognito baseline codip",
    "t-closeness(t=0.3)": "cuts mirrored mondrian incognito sabre baseline codip",
    "t-closeness(t=0.15)": "cuts mirrored mondrian incognito sabre baseline codip",
    "beta-likeness(beta=0.5)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "beta-likeness(beta=2)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "beta-likeness(beta=2, variant=basic)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "beta-likeness(beta=2, negative=0.9)": (
        "cuts mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "delta-disclosure(delta=1.5)": "cuts mirrored mondrian incognito burel heterogeneous baseline codip",
    "alpha-beta(alpha=0.7, beta=0.6)": "cuts mondrian incognito burel heterogeneous ambiguity",
    "alpha-beta(alpha=0.5, beta=0.5, presence=combined)": "cuts mondrian incognito burel heterogeneous ambiguity",
    "alpha-beta(alpha=0.5, beta=0.6, presence=combined, association=combined)": (
        "cuts mondrian incognito burel heterogeneous ambiguity"
    ),
    "k-anonymity(k=4) & beta-likeness(beta=3)": "cuts sealed mirrored mondrian incognito burel heterogeneous codip",
    "k-anonymity(k=2) & t-closeness(t=0.4) & l-diversity(l=2)": "cuts mirrored mondrian incognito sabre codip",
    "differential-privacy(epsilon=1)": DRAWN,
}
"""Promises about sensitive attributes of any kind."""

ABOUT_NUMBERS = {
    "proximity(epsilon=3, m=2)": "cuts mondrian proximity retention codip",
    "proximity(epsilon=0.2, m=3, neighbourhood=relative)": "cuts mondrian proximity retention codip",
    "proximity(epsilon=0.5, m=2) & k-anonymity(k=3)": "cuts mondrian proximity codip",
    "ke-anonymity(k=2, e=3)": "cuts mirrored mondrian incognito baseline codip",
    "variance(v=2) & k-anonymity(k=2)": "cuts mirrored mondrian incognito codip",
}
"""Promises about a numeric sensitive attribute."""

AT_BORDERS = {
    "beta-likeness(beta=0)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "l-diversity(l=2.5)": "cuts lifting sealed mirrored mondrian incognito burel heterogeneous baseline codip nh",
    "alpha-beta(alpha=1, beta=0.5)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous anatomy baseline ambiguity codip nh"
    ),
    "k-anonymity(k=2) & l-diversity(l=2) & alpha-beta(alpha=0.7, beta=0.6)": (
        "cuts mondrian incognito burel heterogeneous ambiguity"
    ),
    "variance(v=2)": "cuts mirrored mondrian incognito baseline codip",
}
"""Promises that differ little from others above, but for who keeps them."""

ABOUT_NODES = {
    "beta-likeness(beta=1, level=1)": (
        "cuts lifting sealed mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "beta-likeness(beta=2, negative=0.9, level=1)": (
        "cuts mirrored mondrian incognito burel heterogeneous perturbation baseline codip"
    ),
    "k-anonymity(k=3) & beta-likeness(beta=1, level=1)": (
        "cuts sealed mirrored mondrian incognito burel heterogeneous codip"
    ),
    "beta-likeness(beta=3) & beta-likeness(beta=1, level=1)": "cuts mirrored mondrian incognito baseline codip",
}
"""Promises about the nodes of a sensitive attribute's hierarchy, and about nodes of two levels at once."""

CLAIMS = {
    promise: schemes.split() for promise, schemes in (ABOUT_VALUES | ABOUT_NUMBERS | AT_BORDERS | ABOUT_NODES).items()
}
for promise, schemes in CLAIMS.items():
    if "heterogeneous" in schemes and "alpha=0" not in promise:  # the graph hides nobody's presence
        schemes.append(GRAPH)
    if not any(kind in promise for kind in ("k-anonymity", "alpha=0", "proximity")):
        # exact quasi-identifiers hide nobody, and those of a person may be in several groups
        schemes += [EXACT[name] for name in schemes if name in EXACT]

CROWDED = {"retention", "nh"}
"""Schemes that refuse what they claim about a table in which too many numbers are near to each other."""


def pairs(promises: Iterable[str]) -> list[tuple[str, str]]:
    """Every scheme with every one of these promises that it claims."""
    return [(scheme, promise) for promise in promises for scheme in CLAIMS[promise]]


def claimed(scheme: str, promise: str) -> bool:
    """Whether a scheme has to keep a promise; one that is not listed is only asked of schemes that claim its kind."""
    return promise not in CLAIMS or scheme in CLAIMS[promise]


def made(label: str, random_state: int | None = None, **options: object) -> Scheme:
    """The scheme of a label, with further options."""
    name, _, option = label.partition(":")
    text = dict([option.split("=")]) if option else {}
    texts = {**text, **{key: str(value) for key, value in options.items()}}
    return SCHEMES[name].from_texts(texts, random_state=random_state)
