"""The schemes that take part in a comparison, and their labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any, cast

from discreet.errors import DiscreetError
from discreet.principles.wording import exact
from discreet.schemes import Scheme, as_scheme, make_scheme


def contend(schemes: str | Scheme | Iterable[str | Scheme], random_state: int | None = None) -> dict[str, Scheme]:
    """The schemes to compare, by their labels.

    >>> list(contend(["cuts", "cuts:effort=thorough", make_scheme("burel", {"refine": "true"})]))
    ['cuts', 'cuts:effort=thorough', 'burel:refine=true']
    """
    found: dict[str, Scheme] = {}
    each: Iterable[Any] = [schemes] if isinstance(schemes, str) or not isinstance(schemes, Iterable) else schemes
    for scheme in each:
        if isinstance(scheme, str):
            name, colon, rest = (part.strip() for part in scheme.partition(":"))
            options = _options(scheme, rest) if colon else {}
            label = f"{name}:{';'.join(f'{key}={value}' for key, value in options.items())}" if options else name
            scheme = make_scheme(name, options, random_state)
        else:
            label = _called(as_scheme(scheme))
        found[label] = scheme
    return found


def _options(text: str, inside: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for item in filter(None, (piece.strip() for piece in inside.split(";"))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not key or not value:
            raise DiscreetError(
                f"scheme {text!r} cannot be read at {item!r}; write for example cuts:effort=thorough;loss=gcp"
            )
        if key in options:
            raise DiscreetError(f"scheme {text!r} sets {key!r} twice; set it once")
        options[key] = value
    return options


def _called(scheme: Scheme) -> str:
    """The name of a scheme with all options that differ from their defaults."""
    known: tuple[Field[Any], ...] = fields(cast(Any, scheme))
    chosen = []
    for field in known:
        value = getattr(scheme, field.name)
        if field.name != "random_state" and value != field.default:
            chosen.append(f"{field.name}={_option_text(value)}")
    return f"{scheme.name}:{';'.join(chosen)}" if chosen else scheme.name


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return exact(value) if isinstance(value, int | float) else str(value)
