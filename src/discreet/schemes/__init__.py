"""Schemes: from a table and a promise to a release."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.plugins import Registry
from discreet.principles.principle import Principle
from discreet.schemes.ambiguity.scheme import Ambiguity
from discreet.schemes.anatomy import Anatomy, Baseline
from discreet.schemes.buckets.burel import Burel
from discreet.schemes.buckets.sabre import Sabre
from discreet.schemes.codip.scheme import Codip
from discreet.schemes.cuts.mondrian import Mondrian
from discreet.schemes.cuts.scheme import Cuts
from discreet.schemes.heterogeneous.scheme import Heterogeneous
from discreet.schemes.incognito.scheme import Incognito
from discreet.schemes.keepers import keeper
from discreet.schemes.lifting.scheme import Lifting
from discreet.schemes.privbayes.scheme import PrivBayes
from discreet.schemes.proximity.scheme import SplitAndPartition
from discreet.schemes.randomised.perturbation import Perturbation
from discreet.schemes.randomised.retention import Retention
from discreet.schemes.scheme import Scheme
from discreet.schemes.sealed.mirrored import Mirrored
from discreet.schemes.sealed.scheme import Sealed
from discreet.table.texts import near

__all__ = [
    "SCHEMES",
    "Ambiguity",
    "Anatomy",
    "Baseline",
    "Burel",
    "Codip",
    "Cuts",
    "Heterogeneous",
    "Incognito",
    "Lifting",
    "Mirrored",
    "Mondrian",
    "Perturbation",
    "PrivBayes",
    "Retention",
    "Sabre",
    "Scheme",
    "Sealed",
    "SplitAndPartition",
    "as_scheme",
    "default_scheme",
    "make_scheme",
]

SCHEMES: Registry[type[Scheme]] = Registry(
    "schemes",
    {
        scheme.name: scheme
        for scheme in (
            Cuts,
            Mondrian,
            Incognito,
            Lifting,
            Burel,
            Sabre,
            Heterogeneous,
            Sealed,
            Mirrored,
            SplitAndPartition,
            Perturbation,
            Retention,
            Anatomy,
            Baseline,
            Ambiguity,
            Codip,
            PrivBayes,
        )
    },
)


def default_scheme(principle: Principle | None = None) -> str:
    """Return the name of the scheme that is used for a promise when none is asked for.

    >>> from discreet.principles import AlphaBeta, Proximity
    >>> default_scheme(), default_scheme(Proximity(2000, 4)), default_scheme(AlphaBeta(0.2, 0.1))
    ('cuts', 'proximity', 'ambiguity')
    """
    return Cuts.name if principle is None else keeper(principle) or SplitAndPartition.name


def as_scheme(given: object) -> Scheme:
    """Return the argument if it is a scheme; refuse anything else."""
    if not isinstance(given, Scheme):
        raise DiscreetError(f"{brief(given)} is not a scheme; give one such as Burel(), or its name")
    return given


def make_scheme(
    name: str | None = None,
    options: Mapping[str, str] | None = None,
    random_state: int | None = None,
    principle: Principle | None = None,
) -> Scheme:
    """Return the scheme of a given name, with options given as text; without a name, the default one for the promise.

    >>> make_scheme("cuts", {"effort": "thorough", "withhold": "0.02"}).options["withhold"]
    0.02
    """
    name = name or default_scheme(principle)
    if name not in SCHEMES:
        raise DiscreetError(f"no scheme is called {name!r}; {near(name, SCHEMES, most=1)}")
    return SCHEMES[name].from_texts(options or {}, random_state)
