"""Schemes: from a table and a promise to a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches

from discreet.errors import DiscreetError
from discreet.schemes.cuts import Cuts
from discreet.schemes.mondrian import Mondrian
from discreet.schemes.scheme import Scheme

__all__ = ["SCHEMES", "Cuts", "Mondrian", "Scheme", "make_scheme"]

SCHEMES: dict[str, type[Cuts]] = {scheme.name: scheme for scheme in (Cuts, Mondrian)}


def make_scheme(
    name: str | None = None, options: Mapping[str, str] | None = None, random_state: int | None = None
) -> Scheme:
    """The scheme of that name (the default one when there is none), with options given as text.

    >>> make_scheme("cuts", {"effort": "thorough", "withhold": "0.02"}).options["withhold"]
    0.02
    """
    name = name or Cuts.name
    if name not in SCHEMES:
        raise DiscreetError(f"no scheme is called {name!r}; {_near(name, list(SCHEMES))}")
    scheme = SCHEMES[name]
    known = [field.name for field in fields(scheme) if field.name != "random_state"]
    given: dict[str, object] = {}
    for key, text in (options or {}).items():
        if key not in known:
            raise DiscreetError(f"scheme {name!r} has no option {key!r}; {_near(key, known)}")
        if key == "withhold":
            try:
                given[key] = float(text)
            except ValueError:
                raise DiscreetError(f"withhold={text!r} is not a share of rows; give a number such as 0.02") from None
        else:
            given[key] = tuple(text.replace("+", " ").replace(",", " ").split()) if key == "cuts" else text
    return scheme(**given, random_state=random_state)  # type: ignore[arg-type]


def _near(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known)}"
