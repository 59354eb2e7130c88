"""Promises about a table with several sensitive attributes: each attribute has its own prior and its own promises."""

from __future__ import annotations

from typing import NamedTuple

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle, together
from discreet.principles.prior import Prior
from discreet.table.table import Table


class Promised(NamedTuple):
    """The prior of one sensitive attribute and the promise about it."""

    prior: Prior
    promise: Principle


def by_attribute(principle: Principle, table: Table) -> tuple[Promised, ...]:
    """The promises about each sensitive attribute: those that name it, and those that name no attribute.

    With at most one sensitive attribute this is the given promise unchanged. With several, promises of proximity name
    their attribute, so that messages do too, and every attribute needs a promise about its values.

    >>> from discreet.datasets import census
    >>> from discreet.principles import Proximity
    >>> table = census(50, quasi=("age",), sensitive="income")
    >>> [str(one.promise) for one in by_attribute(Proximity(2000, 4), table)]
    ['proximity(epsilon=2000, m=4)']
    """
    if len(table.sensitive) < 2:
        return (Promised(Prior.of(table), principle),)
    names = [column.name for column in table.sensitive]
    for part in principle.parts:
        if part.about is not None and part.about not in names:
            raise DiscreetError(
                f"{part} names the attribute '{part.about}', which is not sensitive; the sensitive attributes are "
                f"{', '.join(names)}"
            )
    found = []
    for column in table.sensitive:
        parts = [part.naming(column.name) for part in principle.parts if part.about in (None, column.name)]
        if not any(part.about_values for part in parts):
            raise DiscreetError(
                f"nothing is promised about the values of the sensitive attribute '{column.name}'; promise something "
                f"about it, or do not declare it sensitive"
            )
        found.append(Promised(Prior.of_column(column), together(parts)))
    return tuple(found)


def stated(principle: Principle, table: Table) -> Principle:
    """The promise as a manifest states it, with its complete text: see ``Principle.stated``.

    A promise whose text depends on the attribute (proximity by a function of the numbers) is stated for each attribute.
    """
    known = by_attribute(principle, table)
    parts: list[Principle] = []
    for part in principle.parts:
        if len(known) > 1 and part.stated_by_attribute:
            about = [one.prior for one in known if part.about in (None, one.prior.attribute)]
            parts += [part.naming(str(prior.attribute)).stated(prior) for prior in about]
        else:
            parts.append(part.stated(known[0].prior))
    return together(parts)
