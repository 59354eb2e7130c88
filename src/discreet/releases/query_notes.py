"""Notes on queries that a release answers with little or nothing, because it has no such values.

They are no errors: withheld rows may have the values, and 0 may be the true count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from discreet.principles.wording import listed
from discreet.table.date_numbers import written
from discreet.table.query import OneOf, Query, texts_of
from discreet.table.texts import near
from discreet.table.unnamed import OTHERS, UNNAMED

if TYPE_CHECKING:
    from discreet.releases.attributes import Attribute
    from discreet.releases.release import Release
    from discreet.table.query import Condition


class Estimate(float):
    """An estimated count with the notes on it: a number like any other.

    >>> Estimate.noted(2.0, ("column 'age' lies between 17 and 90 in the release",)) + 1
    3.0
    """

    notes: tuple[str, ...] = ()
    """Sentences on what the estimate rests on, without a full stop."""

    @classmethod
    def noted(cls, estimate: float, notes: tuple[str, ...]) -> Self:
        """Return an estimate with its notes."""
        estimated = cls(estimate)
        estimated.notes = notes
        return estimated


def notes_on_values(release: Release, asked: Query) -> Iterator[str]:
    """Yield a sentence, without a full stop, for each condition on values that the release does not have."""
    attributes = {attribute.name: attribute for attribute in release.attributes}
    for condition in asked.conditions:
        attribute = attributes.get(condition.attribute)
        if attribute is not None and attribute.fit is not None and not attribute.fit.edges:
            yield f"column {attribute.name!r} is published {attribute.fit}"
        if attribute is not None:
            yield from _beyond(attribute, condition) if attribute.kind == "numeric" else _unlisted(attribute, condition)


def _unlisted(attribute: Attribute, condition: Condition) -> Iterator[str]:
    known = attribute.hierarchy.leaves if attribute.hierarchy else attribute.values
    if known:
        values, asked = set(known), texts_of(condition)
        instead = attribute.stand_ins(asked)
        named = [value for value in known if not value.startswith(UNNAMED)]
        if instead:
            shown = listed(map(repr, instead))
            one = "it counts as one" if len(instead) == 1 else "they count as some"
            yield f"no cell names {shown}: {one} of the values of {attribute.name!r} without a name"
        tree = attribute.hierarchy
        for value in asked if isinstance(condition, OneOf) else ():
            label = tree is not None and bool(tree.below(value))
            if not label and value not in values and value not in instead and value != OTHERS:
                yield f"column {attribute.name!r} has no value {value!r}; {near(value, named)}"


def _beyond(attribute: Attribute, condition: Condition) -> Iterator[str]:
    """Note a condition that no number within the published domain satisfies."""
    if attribute.domain is None:
        return
    low, high = attribute.domain
    if isinstance(condition, OneOf):
        numbers = condition.numbers(attribute.meaning)
        inside = bool(((numbers >= low) & (numbers <= high)).any())
    else:
        first, last = condition.ends(attribute.meaning)
        inside = max(first, low) <= min(last, high)
        if first > last and condition.low is not None:
            yield f"no value lies in the range that is asked for in column {attribute.name!r}; give its lower end first"
            return
    if not inside:
        ends = " and ".join(written(end, attribute.notation) for end in attribute.domain)
        yield f"column {attribute.name!r} lies between {ends} in the release, where no value satisfies the condition"
