"""Promises about a table with several sensitive attributes: each attribute has its own prior and its own promises."""

from __future__ import annotations

from typing import NamedTuple

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle, together
from discreet.principles.prior import Prior
from discreet.table.table import Table


class Promised(NamedTuple):
    """One sensitive attribute, and what is promised about it."""

    prior: Prior
    promise: Principle


def by_attribute(principle: Principle, table: Table) -> tuple[Promised, ...]:
    """The promises about each sensitive attribute: those that name it, and those that name none.

    With one sensitive attribute, or none, that is the promise as it is. Else promises of proximity are made to name the
    attribute, so that what is said of them says of which; and a promise must be made about the values of each.

    >>> from discreet.datasets import census
    >>> from discreet.principles import Proximity
    >>> table = census(50, quasi=("age",), sensitive="income")
    >>> [str(one.promise) for one in by_attribute(Proximity(2000, 4), table)]
    ['proximity(epsilon=2000, m=4)']
    """
    if not table.also_sensitive:
        return (Promised(Prior.of(table), principle),)
    names = [column.name for column in table.all_sensitive]
    for part in principle.parts:
        if part.about is not None and part.about not in names:
            raise DiscreetError(
                f"{part} names the attribute '{part.about}', which is not sensitive; the sensitive attributes are "
                f"{', '.join(names)}"
            )
    found = []
    for column in table.all_sensitive:
        parts = [part.naming(column.name) for part in principle.parts if part.about in (None, column.name)]
        if not any(part.about_values for part in parts):
            raise DiscreetError(
                f"nothing is promised about the values of the sensitive attribute '{column.name}'; promise something "
                f"about it, or do not declare it sensitive"
            )
        found.append(Promised(Prior.of_column(column), together(parts)))
    return tuple(found)


def stated(principle: Principle, table: Table) -> Principle:
    """The promise as a manifest has to state it, so that its text says all: see ``Principle.stated``.

    A function of the numbers says something else about every attribute, so there it is stated for each.
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
