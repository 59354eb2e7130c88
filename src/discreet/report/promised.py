"""What a release promises about each sensitive attribute, in plain words with the numbers of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.catalogue import PRINCIPLES
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, conjunction, parse
from discreet.principles.per_attribute import concerned
from discreet.principles.wording import percent
from discreet.releases.columns import value_name
from discreet.releases.release import Release
from discreet.table.table import Table

NEVER_MORE = 1.0 - 1e-9
"""A bound above this bounds nothing."""


@dataclass(frozen=True)
class Example:
    """A value of a sensitive attribute."""

    value: str
    share: float
    """Its share of the rows."""
    most: float
    """How strongly it may be believed of a person at most."""


@dataclass(frozen=True)
class Promised:
    """What is promised about one sensitive attribute; ``attribute`` is None if nothing is sensitive."""

    attribute: str | None
    promises: tuple[str, ...]
    meanings: tuple[str, ...]
    """What each of them means, in a sentence."""
    examples: tuple[Example, ...] = ()
    """A frequent, a middling and a rare value, if each value's share is bounded."""
    unbounded: int = 0
    """How many values may be believed with certainty."""

    @property
    def sentence(self) -> str | None:
        """The bound in a sentence, by the middling example; None if no value's share is bounded.

        >>> example = Example("flu", 0.126, 0.378)
        >>> print(Promised("disease", ("beta-likeness(beta=2)",), ("...",), (example,)).sentence)
        A value of 'disease' that 12.6 % of the rows have is believed of a person with at most 37.8 %, by what is
        published of that person's row or group.
        """
        if not self.examples:
            return None
        middling = self.examples[len(self.examples) // 2]
        return (
            f"A value of {self.attribute!r} that {percent(middling.share)} of the rows have is believed of a person "
            f"with at most {percent(middling.most)}, by what is published of that person's row or group."
        )


def promised(release: Release, original: Table | None = None, more: Sequence[Principle] = ()) -> tuple[Promised, ...]:
    """What a release promises, and what ``more`` an auditor asked for, about each of its sensitive attributes.

    Shares are those of the original; without it, those of the prior, or of the rows that are published.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> for example in promised(dc.publish(patients(), dc.BetaLikeness(0.5)))[0].examples:
    ...     print(example.value, round(example.share, 3), round(example.most, 3))
    angina 0.208 0.312
    brain tumors 0.146 0.219
    headache 0.125 0.188
    """
    parts = [*more, *_stated(release)]
    if not parts:
        return ()
    parts = list(conjunction(parts).parts)
    if not release.sensitive:
        return (Promised(None, *_worded(parts)),)
    return promised_about(parts, {each.name: _prior(release, each.name, original) for each in release.sensitive})


def promised_about(parts: Sequence[Principle], priors: Mapping[str, Prior | None]) -> tuple[Promised, ...]:
    """What promises say about each sensitive attribute, whose prior is given as far as it is known.

    >>> from discreet.principles import BetaLikeness
    >>> prior = Prior(np.array([30, 70]), ("HIV", "flu"), attribute="ill")
    >>> (found,) = promised_about([BetaLikeness(0.5)], {"ill": prior})
    >>> [(example.value, round(example.most, 3)) for example in found.examples]
    [('flu', 0.95), ('HIV', 0.45)]
    """
    found = []
    for name, prior in priors.items():
        about = [part for part in parts if _is_about(part, name, prior)]
        found.append(Promised(name, *_worded(about, prior), *_examples(about, prior)))
    return tuple(found)


def _stated(release: Release) -> list[Principle]:
    """The promises in the manifest; those that cannot be read are left out, and an audit says so."""
    texts = release.manifest.get("promise")
    found = []
    for text in texts if isinstance(texts, list) else ():
        try:
            found.append(parse(str(text)))
        except DiscreetError:
            continue
    return found


def _worded(parts: Sequence[Principle], prior: Prior | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The promises as texts, and what they mean."""
    plain = [None if prior is None else part.plainly(prior) for part in parts]
    summaries = [PRINCIPLES.summary(part.name) for part in parts]
    return tuple(map(str, parts)), tuple(said or summary for said, summary in zip(plain, summaries, strict=True))


def _is_about(part: Principle, name: str, prior: Prior | None) -> bool:
    """Whether a promise concerns an attribute."""
    return part.about in (None, name) if prior is None else concerned(part, [prior])[0]


def _prior(release: Release, name: str, original: Table | None) -> Prior | None:
    """The shares of an attribute's values as the reader knows them; None if they are not published."""
    if original is not None:
        return Prior.of_column(original.column(name))
    if not release.of_people:
        return None
    about = release.about(name)
    attribute = about.sensitive_attribute
    prior: Any = getattr(about, "prior", None)
    counts = about.published if prior is None else prior
    if counts is None or not counts.sum():
        return None
    texts = tuple(value_name(value, attribute.notation) for value in about.values.tolist())
    fits = attribute.hierarchy is not None and attribute.hierarchy.leaves == texts
    tree = attribute.hierarchy if fits else None
    try:
        return Prior(np.asarray(counts), texts, attribute.kind, tree, name, notation=attribute.notation)
    except DiscreetError:
        return None


def _examples(parts: Sequence[Principle], prior: Prior | None) -> tuple[tuple[Example, ...], int]:
    """Values with the bounds on them, and how many values have none."""
    if prior is None or not parts:
        return (), 0
    try:
        caps = conjunction(parts).caps(prior)
    except DiscreetError:
        return (), 0
    if caps is None:
        return (), 0
    held = np.flatnonzero(prior.counts > 0)
    free = int((caps[held] >= NEVER_MORE).sum())
    picked = _picked(prior, held)
    shares = prior.frequencies
    examples = [Example(prior.values[at], float(shares[at]), min(1.0, float(caps[at]))) for at in picked]
    return tuple(examples), free


def _picked(prior: Prior, held: NDArray[np.intp]) -> list[int]:
    """The most frequent value, the one in the middle, and the rarest; equally frequent ones in the order of texts."""
    order = sorted(held.tolist(), key=lambda at: (-int(prior.counts[at]), prior.values[at]))
    return list(dict.fromkeys((order[0], order[len(order) // 2], order[-1])))
