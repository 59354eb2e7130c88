"""One finding of an audit, and wording that findings share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from discreet.releases.grouped import GroupedRelease


@dataclass(frozen=True)
class Check:
    """One check of an audit, with its result."""

    name: str
    holds: bool
    sentence: str
    caveat: str = field(default="", kw_only=True)
    """What the check could not establish although the verdict rests on it."""
    premise: str = field(default="", kw_only=True)
    """The same, if without it nothing of what is promised would follow: the verdict begins with it."""


def named(release: GroupedRelease, group: int, noun: str = "group") -> str:
    """Return a group in words, by its number and description."""
    return f"{noun} {release.ids[group]} ({in_words(release.description(group))})"


def in_words(description: Mapping[str, str]) -> str:
    """Return published quasi-identifiers in words.

    >>> in_words({"age": "[17, 24]", "sex": "f"})
    'age [17, 24], sex f'
    """
    return ", ".join(f"{name} {text}" for name, text in description.items())


def one_sentence(faults: Iterable[str]) -> str:
    """Join faults into one sentence.

    >>> one_sentence(["a file is missing", "another is not named"])
    'A file is missing; another is not named.'
    """
    text = "; ".join(faults)
    return f"{text[:1].upper()}{text[1:]}."
