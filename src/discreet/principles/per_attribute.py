"""Promises about a table with several sensitive attributes: each attribute has its own prior and its own promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle, conjunction
from discreet.principles.prior import Prior
from discreet.principles.wording import listed
from discreet.table.table import Table


class Promised(NamedTuple):
    """The prior of one sensitive attribute and the promise about it."""

    prior: Prior
    promise: Principle


def concerned(part: Principle, priors: Sequence[Prior]) -> list[bool]:
    """Which of these sensitive attributes a single promise is about.

    That is the attribute that it names, or else every attribute that it fits: a promise about numbers fits numbers, one
    that needs an order or a hierarchy fits attributes that have one, and all others fit every attribute.

    >>> from discreet.principles import LDiversity, Proximity
    >>> pay, ill = Prior([1, 1], ("10", "20"), "numeric", attribute="pay"), Prior([1, 1], ("a", "b"), attribute="ill")
    >>> [concerned(part, (pay, ill)) for part in (LDiversity(2), Proximity(5, 2), LDiversity(2, attribute="ill"))]
    [[True, True], [True, False], [False, True]]
    """
    if part.about is not None:
        return [part.about == prior.attribute for prior in priors]
    return [part.misfit(prior) is None for prior in priors]


def by_attribute(principle: Principle, table: Table) -> tuple[Promised, ...]:
    """The promises about each sensitive attribute: see ``concerned``.

    With at most one sensitive attribute this is the given promise unchanged. With several, every promise about values
    names its attribute, so that messages do too. Each promise must be about some attribute, and something must be
    promised about the values of every attribute: that one was forgotten would not be noticed.

    >>> from discreet.datasets import census
    >>> from discreet.principles import Proximity
    >>> table = census(50, quasi=("age",), sensitive="income")
    >>> [str(promise) for _, promise in by_attribute(Proximity(2000, 4), table)]
    ['proximity(epsilon=2000, m=4)']
    """
    if len(table.sensitive) < 2:
        return (Promised(Prior.of(table), principle),)
    priors = [Prior.of_column(column) for column in table.sensitive]
    names = [column.name for column in table.sensitive]
    about = [concerned(part, priors) for part in principle.parts]
    for part, which in zip(principle.parts, about, strict=True):
        if part.about is not None and not any(which):
            raise DiscreetError(
                f"{part} names the attribute '{part.about}', which is not sensitive; the sensitive attributes are "
                f"{', '.join(names)}"
            )
        if not any(which):
            raise DiscreetError(
                f"{part} fits none of the sensitive attributes {listed(map(repr, names))}: {part.misfit(priors[0])}"
            )
    promised = []
    for at, prior in enumerate(priors):
        parts = [part.naming(names[at]) for part, which in zip(principle.parts, about, strict=True) if which[at]]
        if not any(part.about_values for part in parts):
            raise DiscreetError(
                f"nothing is promised about the values of the sensitive attribute '{names[at]}'; promise something "
                f"about it, or do not declare it sensitive"
            )
        promised.append(Promised(prior, conjunction(parts)))
    return tuple(promised)


def apart(principle: Principle, table: Table) -> list[tuple[Principle, Table]]:
    """The promise about each sensitive attribute, and the table with that attribute alone."""
    if len(table.sensitive) < 2:
        return [(principle, table)]
    return [
        (promised.promise, replace(table, sensitive=(column,)))
        for promised, column in zip(by_attribute(principle, table), table.sensitive, strict=True)
    ]


def on_numbers(principle: Principle, table: Table) -> list[str]:
    """Notes on promises that name no attribute and so are about numbers as well as names, which was perhaps not meant.

    Such promises take numbers as unrelated values; where nearly every row has its own, groups become very large.

    >>> from discreet.principles import LDiversity
    >>> import numpy as np
    >>> from discreet.table.table import Column
    >>> ill = Column("ill", "categorical", np.array([0, 1], np.int32), np.array(["flu", "cold"], object))
    >>> pay = Column("pay", "numeric", np.array([0, 1], np.int32), np.array([10.0, 20.0]))
    >>> print(*on_numbers(LDiversity(2), Table(2, (), (ill, pay))))  # doctest: +NORMALIZE_WHITESPACE
    l-diversity(l=2) names no attribute, so it is kept about 'pay' too, whose numbers it takes as unrelated values; if
    that is not meant, write l-diversity(l=2, attribute=ill)
    """
    priors = [Prior.of_column(column) for column in table.sensitive]
    names = [str(prior.attribute) for prior in priors if prior.numbers is None]
    numbers = [str(prior.attribute) for prior in priors if prior.numbers is not None]
    if not names or not numbers:
        return []
    return [
        f"{part} names no attribute, so it is kept about {listed(map(repr, numbers))} too, whose numbers it takes as "
        f"unrelated values; if that is not meant, write {part.naming(names[0])}"
        for part in principle.parts
        if part.about is None and part.may_name_attribute() and all(concerned(part, priors))
    ]


def stated(principle: Principle, table: Table) -> Principle:
    """The promise as a manifest states it, with its complete text: see ``Principle.stated``.

    What names no attribute there is about every sensitive attribute. So a promise that fits only some of them, or whose
    text depends on the attribute (proximity by a function of the numbers), is stated for each that it is about.
    """
    known = by_attribute(principle, table)
    priors = [prior for prior, _ in known]
    parts: list[Principle] = []
    for part in principle.parts:
        which = concerned(part, priors) if len(known) > 1 else [True]
        if len(known) > 1 and (part.stated_by_attribute or not all(which)):
            about = [prior for prior, own in zip(priors, which, strict=True) if own]
            parts += [part.naming(str(prior.attribute)).stated(prior) for prior in about]
        else:
            parts.append(part.stated(priors[0]))
    return conjunction(parts)
