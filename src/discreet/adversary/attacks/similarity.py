"""Similarity: which of similar values a person has is unclear, but that it is one of them may be certain.

Of a numeric attribute an interval is guessed, of any other a node of its hierarchy: those that the release makes most
likely for each person. The belief in them is the sum over their values (Li, Tao and Xiao, SIGMOD 2008, call it the
proximity breach).

An interval is as long as a neighbourhood of the promise reaches upwards, if the release promises proximity: then the
belief in any such interval is at most 1 / m. *Proof:* the rows of a group in the interval that begins at x are also in
that which begins at x', the smallest of them, and this lies in the neighbourhood of x', because ends of neighbourhoods
do not decrease; of the rows of the group 1 / m are there at most. In several groups together it is an average of these
shares. Without such a promise the interval has a twentieth of the range of all numbers, or the length asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Claims
from discreet.adversary.attacks.target import Target
from discreet.options import Interval
from discreet.principles.wording import about

USUAL = 0.05
"""The length of intervals, as a share of the range of all numbers."""


@dataclass(frozen=True)
class Similarity(Attack):
    """Guess an interval of this ``length`` of a number, or the node at a ``level`` of a hierarchy of names.

    >>> import discreet as dc
    >>> from discreet.datasets import census
    >>> table = census(500, sensitive="income")
    >>> found = dc.attack(dc.publish(table, dc.Proximity(2000, 4)), table, "similarity").evidence[0]
    >>> found.about, found.bound, found.exceeds
    ("an interval of 'income' as short as promised", 0.25, False)
    """

    name: ClassVar[str] = "similarity"
    exact: ClassVar[bool] = True

    length: Annotated[float, Interval(0)] | None = None
    """How far apart similar numbers may be; by default what the promise says, or a twentieth of the range."""
    level: Annotated[int, Interval(1)] = 1
    """The level of the hierarchy whose nodes hold similar values."""

    def refusal(self, target: Target) -> str | None:
        """Values without order and hierarchy are not similar to each other."""
        attribute = target.release.sensitive_attribute
        if attribute.kind == "numeric":
            return None
        if attribute.hierarchy is None or attribute.hierarchy.height <= 1:
            return f"'{attribute.name}' is not numeric and has no hierarchy, so that no values of it are similar"
        inner = attribute.hierarchy.height - 1
        if self.level > inner:
            return f"the hierarchy of '{attribute.name}' has {inner} levels between its values and its root"
        return None

    def claims(self, target: Target) -> Claims:
        """The intervals that begin at each of the values, or the nodes at the level."""
        name, attribute = target.sensitive_attribute.name, target.release.sensitive_attribute
        if attribute.kind != "numeric":
            assert attribute.hierarchy is not None, "refused otherwise"
            nodes = attribute.hierarchy.ancestors[self.level]
            starts = np.flatnonzero(np.r_[True, nodes[1:] != nodes[:-1]])  # a node covers consecutive leaves
            first = starts + target.width - len(nodes)  # a missing value comes before all leaves
            last = np.r_[first[1:] - 1, target.width - 1]
            return Claims.of_ranges(target, first, last, f"the kind of '{name}' (level {self.level})")
        first = np.arange(target.width)
        promised = None if self.length is not None else _promised(target)
        if promised is not None:
            last, most = promised
            return Claims(first, last, np.full(len(first), most), f"an interval of '{name}' as short as promised")
        values = target.release.values.astype(np.float64)
        skip = int(bool(np.isnan(values[:1]).any()))  # a missing number is similar to nothing else
        known = values[skip:]
        length = self.length
        if length is None:
            length = float(np.ptp(known)) * USUAL if len(known) else 0.0
        last = np.r_[first[:skip], np.searchsorted(known, known + length, "right") - 1 + skip]
        return Claims.of_ranges(target, first, last, f"an interval of '{name}' of the length {about(length)}")


def _promised(target: Target) -> tuple[NDArray[np.int64], float] | None:
    """The last value near each value and above it, and the largest belief in all of them, by the promise of proximity.

    None if there is no such promise, or the release has values that the original does not have.
    """
    near = next((part.nearness for part in target.promised if part.nearness is not None), None)
    published = target.places >= 0
    if near is None or published.sum() != target.width:
        return None
    _, last = near.windows(target.whole)
    shown = np.cumsum(published)  # the values of the release are those of the original, some left out
    return shown[last[published]] - 1, 1.0 / near.m
