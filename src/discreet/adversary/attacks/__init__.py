"""Attacks: what an adversary can guess from a release, measured on the people whom it is about.

The catalogue lists them; a class is imported when it is used.
"""

from __future__ import annotations

from typing import Any

from discreet.adversary.attacks.attack import Attack
from discreet.catalogue import ATTACKS

__all__ = ["ATTACKS", "Attack"]


def __getattr__(name: str) -> Any:
    return ATTACKS.class_named(name)
