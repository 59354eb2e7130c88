"""One-way marginals of a release, as an analyst counts them, beside those of the original.

Without the original, bars are those of values that the release names, and nothing else is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.analyst.loss import by_attribute
from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.releases.bit_counts import exact_counts
from discreet.releases.release import Release
from discreet.table.date_numbers import written
from discreet.table.query import Condition, OneOf, Query, Range
from discreet.table.table import Column, Table
from discreet.table.texts import MISSING
from discreet.table.unnamed import is_unnamed

BARS = 10
"""How many bars a picture has at most."""
MOST_VALUES = 300
"""Of an attribute with more values that have no order, no picture is drawn."""


@dataclass(frozen=True)
class OneWay:
    """The counts of one attribute."""

    attribute: str
    role: str
    loss: float | None
    """Its average information loss; None where it is not described."""
    labels: tuple[str, ...] = ()
    """The values, or ranges of numbers, that are counted; none if there is no picture."""
    after: tuple[float, ...] = ()
    """The count of each as an analyst estimates it from the release."""
    before: tuple[int, ...] | None = None
    """The count of each in the original; None without one."""

    @property
    def moved(self) -> float | None:
        """The share of the rows that would have to change their bar to turn one distribution into the other."""
        if self.before is None or not sum(self.before) or not sum(self.after) > 0:
            return None
        shares = [np.asarray(counts, np.float64) / sum(counts) for counts in (self.before, self.after)]
        return float(np.abs(shares[0] - shares[1]).sum()) / 2.0

    @property
    def most(self) -> float:
        """The largest count, which has the longest bar."""
        return max([1.0, *self.after, *(self.before or ())])

    def as_dict(self) -> dict[str, Any]:
        """The counts, ready for JSON."""
        return {**vars(self), "moved": self.moved}


def one_way(release: Release, original: Table | None = None) -> tuple[OneWay, ...]:
    """The counts of each attribute that is published, but those of columns that are kept unchanged.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> counts = one_way(dc.publish(patients(), dc.KAnonymity(4)), patients())[1]
    >>> counts.attribute, counts.labels, counts.before, counts.after
    ('sex', ('F', 'M'), (24, 24), (24.0, 24.0))
    """
    described = all(part.descriptions is not None for part in release.projections)
    losses = by_attribute(release) if described and release.quasi else {}
    release = release if original is None else release.revealed(original)
    found = []
    for attribute in (*release.quasi, *release.sensitive):
        column = None if original is None else original.column(attribute.name)
        one = OneWay(attribute.name, attribute.role, losses.get(attribute.name))
        try:
            asked = _asked(release, attribute, column)
            estimates = release.estimates([Query((condition,)) for _, condition in asked]).tolist() if asked else []
        except DiscreetError:  # of a value that this format cannot count
            found.append(one)
            continue
        before: list[int] | None = None
        if original is not None and asked:
            before = exact_counts(original, [Query((condition,)) for _, condition in asked]).tolist()
        found.append(_largest(one, [label for label, _ in asked], estimates, before, attribute.kind == "categorical"))
    return tuple(found)


def _largest(one: OneWay, labels: list[str], after: list[float], before: list[int] | None, unordered: bool) -> OneWay:
    """The counts with the bars that there is room for: of values without an order the most frequent ones."""
    order = list(range(len(labels)))
    if unordered and before is not None:
        order.sort(key=lambda at: -before[at])
    elif unordered:
        order.sort(key=lambda at: -after[at])
    order = order[:BARS]

    def taken(counts: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(counts[at] for at in order)

    rounded = tuple(round(count, 3) for count in taken(after))
    shown = OneWay(one.attribute, one.role, one.loss, taken(labels), rounded)
    return shown if before is None else OneWay(**{**vars(shown), "before": taken(before)})


def _asked(release: Release, attribute: Attribute, column: Column | None) -> list[tuple[str, Condition]]:
    """What is counted of an attribute: a label and a condition for each bar."""
    if attribute.kind == "numeric":
        return _ranges(release, attribute, column)
    if column is not None:
        values = list(column.texts)
    elif attribute.kind == "categorical" and attribute.role == "quasi" and attribute.hierarchy is not None:
        values = [leaf for leaf in attribute.hierarchy.leaves if not is_unnamed(leaf)]
    else:
        values = [str(value) for value in release.known_values(attribute.name).tolist()]
    values = [value for value in values if value != MISSING and not is_unnamed(value)]
    if len(values) > MOST_VALUES:
        return []
    if attribute.kind == "ordinal" and len(values) > BARS:
        ends = np.array_split(np.arange(len(values)), BARS)
        runs = [(values[run[0]], values[run[-1]]) for run in ends]
        return [(low if low == high else f"{low} to {high}", Range(attribute.name, low, high)) for low, high in runs]
    return [(value, OneOf(attribute.name, (value,))) for value in values]


def _ranges(release: Release, attribute: Attribute, column: Column | None) -> list[tuple[str, Condition]]:
    """Ranges of equal width over the domain of numbers, half-open unless numbers are whole."""
    domain = attribute.domain
    if domain is None or not all(np.isfinite(domain)):
        held = np.asarray(release.known_values(attribute.name) if column is None else column.values, np.float64)
        held = held[np.isfinite(held)]
        if not len(held):
            return []
        domain = float(held.min()), float(held.max())
    low, high = domain
    whole = attribute.spacing == 1.0 or attribute.notation != "number" or (low == int(low) and high == int(high))
    step = (high - low) / BARS
    if whole:
        step = max(1.0, float(np.ceil((high - low + 1) / BARS)))
    number = 1 if high == low else min(BARS, int(np.ceil((high - low + whole) / step)))
    asked: list[tuple[str, Condition]] = []
    for at in range(number):
        first, after = low + at * step, low + (at + 1) * step
        last = at == number - 1
        end = high if last else after - 1 if whole else after
        words = [written(float(f"{each:.6g}") if not whole else each, attribute.notation) for each in (first, end)]
        label = words[0] if words[0] == words[1] else f"{words[0]} to {words[1]}"
        texts: list[Any] = [written(each, attribute.notation) for each in (first, end if last else after)]
        ends = texts if attribute.notation != "number" else [first, end if last else after]
        asked.append((label, Range(attribute.name, ends[0], ends[1], high_open=not last)))
    return asked
