"""Manual pages of schemes, promises and attacks, made from their docstrings and annotations, so that they stay true."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import numpy as np

from discreet.catalogue import PRINCIPLES
from discreet.errors import DiscreetError
from discreet.expressions import SEED, without_none, written
from discreet.literature import TERMS
from discreet.options import checked, described, hints_of
from discreet.plugins import Registry
from discreet.principles.principle import parse
from discreet.principles.prior import Prior
from discreet.schemes.scheme import Scheme
from discreet.table.texts import near

CATEGORIES = Prior(np.array([30, 30, 40]), ("angina", "flu", "gout"), attribute="disease")
AMOUNTS = Prior(np.ones(100, np.int64), tuple(str(100_000 * at) for at in range(100)), "numeric", attribute="income")
"""Sensitive attributes of the two kinds, for which schemes say which promises they keep."""


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme, a promise or an attack."""

    name: str
    values: str
    """What it may be, in words."""
    default: str | None
    """None if it has to be given."""
    meaning: str


@dataclass(frozen=True)
class ManualPage:
    """What there is to know about a scheme, a promise or an attack."""

    name: str
    summary: str
    origin: str
    """What it is and the paper it comes from: the first sentence of its module."""
    text: str
    """The docstring of its class, without examples."""
    options: tuple[Option, ...]
    keeps: tuple[str, ...] = ()
    """The promises that a scheme keeps."""
    refuses: tuple[str, ...] = ()
    """The promises that it refuses."""
    published: str = ""
    """The parameters that make it what its paper describes, as a text, where the defaults are ours."""
    literature: tuple[str, ...] = ()
    """What it, or a part of it, is called in papers, and how that is written here."""

    def as_dict(self) -> dict[str, Any]:
        """The page as plain values, for JSON."""
        return asdict(self)


def manual_page(registry: Registry[Any], name: str) -> ManualPage:
    """The manual page of something in the catalogue.

    >>> from discreet.catalogue import SCHEMES
    >>> page = manual_page(SCHEMES, "burel")
    >>> [option.name for option in page.options], "t-closeness" in page.refuses
    (['retrieval', 'room', 'refine', 'values', 'descriptions', 'marginals', 'cells', 'snap'], True)
    >>> manual_page(PRINCIPLES, "k-anonymity").options[0].values
    'a whole number of at least 1'
    """
    if name not in registry:
        raise DiscreetError(f"the {registry.group} know no {name!r}; {near(name, registry, most=1)}")
    kind = registry[name]
    text = re.split(r"\n\s*>>>", inspect.cleandoc(kind.__doc__ or ""))[0].strip()
    module = inspect.getmodule(kind)
    origin = " ".join(((module.__doc__ or "") if module else "").split("\n\n")[0].split())
    kept = dict(_verdicts(kind)) if issubclass(kind, Scheme) else {}
    return ManualPage(
        name,
        registry.summary(name),
        origin,
        text,
        tuple(_options(kind)),
        tuple(promise for promise, keeps in kept.items() if keeps),
        tuple(promise for promise, keeps in kept.items() if not keeps),
        ", ".join(f"{key}={text}" for key, text in kind.published.items()),
        tuple(f"{known}: {found.written}" for known, found in TERMS.items() if found[:2] == (_kind(registry), name)),
    )


def _kind(registry: Registry[Any]) -> str:
    """Return what users call the things of a registry."""
    return "promises" if registry.group == "principles" else registry.group


def _options(kind: type) -> Iterator[Option]:
    meanings, hints = _attribute_docstrings(kind), hints_of(kind)
    for field in fields(kind):
        if field.name != SEED:  # which is given on its own
            must = field.default is MISSING or _must_be_given(kind, field.name)
            default = None if must else "none" if field.default is None else written(field.default)
            yield Option(field.name, described(without_none(hints[field.name])), default, meanings.get(field.name, ""))


def _must_be_given(kind: Any, name: str) -> bool:
    """Whether a parameter is needed although its field has a default, which then only marks that it is missing."""
    try:
        checked(name, next(field.default for field in fields(kind) if field.name == name), hints_of(kind)[name])
    except DiscreetError:
        return True
    return False


def _attribute_docstrings(kind: type) -> dict[str, str]:
    """The texts below the fields of a dataclass, which Python does not keep, from its source and that of its bases."""
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        try:
            (body,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        except (OSError, TypeError):
            continue
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                    meanings[name] = " ".join(meaning.split())
    return meanings


def _verdicts(kind: type[Scheme]) -> Iterator[tuple[str, bool]]:
    """Every promise by name, and whether the scheme keeps it, about categories or about numbers."""
    scheme = kind()
    for name, promise in PRINCIPLES.items():
        asked = parse(promise.example.strip("'"))
        fitting = [prior for prior in (CATEGORIES, AMOUNTS) if asked.misfit(prior) is None]
        yield name, any(scheme.refusal(asked, prior) is None for prior in fitting)
