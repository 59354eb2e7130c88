"""One finding of an audit, and the words that findings share."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.releases.ambiguous import AmbiguousRelease
from discreet.releases.anatomy import AnatomyRelease
from discreet.releases.generalized import GeneralizedRelease

Grouped = GeneralizedRelease | AnatomyRelease | AmbiguousRelease
"""A release whose rows are in groups."""


@dataclass(frozen=True)
class Check:
    """One thing an audit looked at, and what it found."""

    name: str
    holds: bool
    sentence: str


def described(release: Grouped, group: int) -> str:
    """The description of a group in words."""
    return ", ".join(f"{name} {text}" for name, text in release.description(group).items())
