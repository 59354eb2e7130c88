"""Schemes: from a table and a promise to a release. The catalogue lists them; a class is imported when it is used."""

from __future__ import annotations

from typing import Any

from discreet.catalogue import SCHEMES
from discreet.schemes.scheme import Scheme, as_scheme, make_scheme

__all__ = ["SCHEMES", "Scheme", "as_scheme", "make_scheme"]


def __getattr__(name: str) -> Any:
    return SCHEMES.class_named(name)
