"""What papers call things that have another name here, so that anybody who knows a paper finds them."""

from __future__ import annotations

from typing import Literal, NamedTuple
from unicodedata import lookup

Kind = Literal["schemes", "promises", "attacks"]


class Term(NamedTuple):
    """A name in the literature, and what it is here."""

    kind: Kind
    """Where it is found here."""
    name: str
    """The scheme, promise or attack that it is, or that it is about."""
    written: str
    """How it is written or seen here; a sentence without its full stop."""


TERMS = {
    "LMondrian": Term("schemes", "mondrian", "mondrian with a promise of beta-likeness"),
    "DMondrian": Term("schemes", "mondrian", "mondrian with the promise delta-disclosure(beta=...)"),
    "tMondrian": Term("schemes", "mondrian", "mondrian with a promise of t-closeness"),
    "BUREL": Term("schemes", "burel", "burel(published); our own default is burel"),
    "SABRE": Term("schemes", "sabre", "sabre(published); our own default is sabre"),
    "(rho1, rho2)-privacy": Term(
        "promises",
        "beta-likeness",
        "beta-likeness of scheme perturbation: per value rho1 = p and rho2 = f(p)",
    ),
    "(epsilon, m)-anonymity": Term("promises", "proximity", "proximity(epsilon=..., m=...)"),
    "proximity breach": Term("attacks", "similarity", "what attack similarity measures, and proximity bounds"),
    "private neighbourhood": Term("promises", "proximity", "the neighbourhood of proximity around a person's number"),
    "(alpha, beta)-privacy": Term("promises", "alpha-beta", "alpha-beta(alpha=..., beta=...)"),
    "alpha-presence": Term("promises", "alpha-beta", "the bound alpha of alpha-beta on the belief in presence"),
    "beta-association": Term("promises", "alpha-beta", "the bound beta of alpha-beta on the belief in a value"),
    "delta-presence": Term(
        "promises",
        "alpha-beta",
        "what audits with a population measure, and no promise, as it holds against one list of people only; see "
        "alpha-beta",
    ),
    "AT": Term("schemes", "ambiguity", "auxiliary table: auxiliary_NAME.csv of an ambiguous release"),
    "ST": Term("schemes", "ambiguity", "sensitive table: sensitive.csv of an ambiguous release"),
    "one-off disclosure": Term("schemes", "heterogeneous", "one publication of heterogeneous generalization"),
    "GR": Term("schemes", "heterogeneous", "heterogeneous(published, matching=greedy)"),
    "SG": Term("schemes", "heterogeneous", "heterogeneous(published, matching=sort-greedy)"),
    "HG": Term("schemes", "heterogeneous", "heterogeneous(published, matching=hungarian)"),
    "NH": Term("schemes", "nh", "nh: ring generalization, the competitor of heterogeneous generalization"),
    "CODIP*": Term("schemes", "codip", "codip(search=paper); our own default is codip(search=best)"),
    "ALR": Term("schemes", "codip", "association loss ratio: the option association of codip bounds it"),
    "IER": Term("schemes", "codip", "information exposure ratio: the option exposure of codip bounds it"),
    "projection plan": Term("schemes", "codip", "which sensitive attributes codip publishes in one table"),
    "bitmap": Term("schemes", "codip", "a column of lists, or a second table joined: one attribute per value"),
    "diminishing closeness": Term(
        "schemes", "codip", "that t grows with the number of sensitive attributes of a table: why codip divides them"
    ),
    "join threat": Term("attacks", "background-join", "what attack background-join measures, and codip bounds"),
    "(X, Y)-linkability": Term(
        "promises",
        "l-diversity",
        "l-diversity(l=..., kind=frequency) in each of the tables of codip",
    ),
}
"""By the name in the literature, in the order of the papers."""


GREEK = {lookup(f"GREEK SMALL LETTER {name}"): name for name in ("alpha", "beta", "delta", "epsilon", "rho")}
"""Greek letters, which names here spell out."""


def term(name: str) -> tuple[str, Term] | None:
    """Return a name in the literature as it is written there, and what it is here; case and spaces do not matter.

    >>> term("lmondrian")
    ('LMondrian', Term(kind='schemes', name='mondrian', written='mondrian with a promise of beta-likeness'))
    >>> term("(EPSILON,m)-anonymity")[1].name, term("\N{GREEK SMALL LETTER DELTA}-presence")[0], term("cuts")
    ('proximity', 'delta-presence', None)
    """
    return next(((known, found) for known, found in TERMS.items() if _plain(known) == _plain(name)), None)


def _plain(name: str) -> str:
    words = "".join(GREEK.get(sign, sign) for sign in "".join(name.split()).casefold())
    return words.replace("neighborhood", "neighbourhood").replace("-", "")
