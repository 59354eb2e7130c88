"""Promises: bounds on what a release reveals about anyone's sensitive value, and how groups are judged by them.

The catalogue lists them; a class is imported when it is used.
"""

from __future__ import annotations

from typing import Any

from discreet.catalogue import PRINCIPLES
from discreet.principles.principle import All, Principle, Reach, conjunction, parse
from discreet.principles.prior import Prior

__all__ = ["PRINCIPLES", "All", "Principle", "Prior", "Reach", "conjunction", "parse"]


def __getattr__(name: str) -> Any:
    return PRINCIPLES.class_named(name)
