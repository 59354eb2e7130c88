"""Schemes: from a table and a promise to a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from difflib import get_close_matches
from typing import Any, cast

from discreet.errors import DiscreetError
from discreet.plugins import Registry
from discreet.principles.principle import Principle
from discreet.schemes.ambiguity.scheme import Ambiguity
from discreet.schemes.anatomy import Anatomy, Baseline
from discreet.schemes.buckets.burel import Burel
from discreet.schemes.buckets.sabre import Sabre
from discreet.schemes.cuts.mondrian import Mondrian
from discreet.schemes.cuts.scheme import Cuts
from discreet.schemes.keepers import keeper
from discreet.schemes.proximity.scheme import Proximal
from discreet.schemes.randomised.perturbation import Perturbation
from discreet.schemes.randomised.retention import Retention
from discreet.schemes.scheme import Scheme

__all__ = [
    "SCHEMES",
    "Ambiguity",
    "Anatomy",
    "Baseline",
    "Burel",
    "Cuts",
    "Mondrian",
    "Perturbation",
    "Proximal",
    "Retention",
    "Sabre",
    "Scheme",
    "default_scheme",
    "make_scheme",
]

SCHEMES: Registry[type[Scheme]] = Registry(
    "schemes",
    {
        scheme.name: scheme
        for scheme in (Cuts, Mondrian, Burel, Sabre, Proximal, Perturbation, Retention, Anatomy, Baseline, Ambiguity)
    },
)


def default_scheme(principle: Principle | None = None) -> str:
    """The name of the scheme that is taken for a promise when none is asked for.

    >>> from discreet.principles import AlphaBeta, Proximity
    >>> default_scheme(), default_scheme(Proximity(2000, 4)), default_scheme(AlphaBeta(0.2, 0.1))
    ('cuts', 'proximity', 'ambiguity')
    """
    return Cuts.name if principle is None else keeper(principle) or Proximal.name


def make_scheme(
    name: str | None = None,
    options: Mapping[str, str] | None = None,
    random_state: int | None = None,
    principle: Principle | None = None,
) -> Scheme:
    """The scheme of that name, with options given as text; without a name, the default one for the promise.

    >>> make_scheme("cuts", {"effort": "thorough", "withhold": "0.02"}).options["withhold"]
    0.02
    """
    name = name or default_scheme(principle)
    if name not in SCHEMES:
        raise DiscreetError(f"no scheme is called {name!r}; {_near(name, list(SCHEMES))}")
    scheme = cast(Any, SCHEMES[name])
    known = {field.name: field for field in fields(scheme) if field.name != "random_state"}
    given: dict[str, object] = {}
    for key, text in (options or {}).items():
        if key not in known:
            raise DiscreetError(f"scheme {name!r} has no option {key!r}; {_near(key, list(known))}")
        given[key] = _value(known[key], text)
    return cast(Scheme, scheme(**given, random_state=random_state))


def _value(field: Field[Any], text: str) -> object:
    """An option's value from its text, of the type that its default has."""
    if isinstance(field.default, bool):
        if text.lower() not in ("true", "false"):
            raise DiscreetError(f"{field.name}={text!r} is neither true nor false; write {field.name}=true")
        return text.lower() == "true"
    if isinstance(field.default, int | float):
        try:
            return type(field.default)(text)
        except ValueError:
            raise DiscreetError(f"{field.name}={text!r} is not a number; write for example 0.02") from None
    return tuple(text.replace("+", " ").replace(",", " ").split()) if isinstance(field.default, tuple) else text


def _near(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}"
