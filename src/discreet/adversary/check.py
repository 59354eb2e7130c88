"""One finding of an audit, and wording that findings share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.generalized.release import GeneralizedRelease

Grouped = GeneralizedRelease | AnatomyRelease | AmbiguousRelease
"""A release whose rows are in groups."""


@dataclass(frozen=True)
class Check:
    """One check of an audit, with its result."""

    name: str
    holds: bool
    sentence: str
    caveat: str = field(default="", kw_only=True)
    """What the check could not establish although the verdict rests on it."""


def described(release: Grouped, group: int) -> str:
    """Return the description of a group in words."""
    return ", ".join(f"{name} {text}" for name, text in release.description(group).items())


def one_sentence(faults: Iterable[str]) -> str:
    """Join faults into one sentence.

    >>> one_sentence(["a file is missing", "another is not named"])
    'A file is missing; another is not named.'
    """
    text = "; ".join(faults)
    return f"{text[:1].upper()}{text[1:]}."
