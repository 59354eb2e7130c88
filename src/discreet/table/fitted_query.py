"""Conditions of queries on fitted columns: nothing tells numbers in a bin, or beyond a limit, apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.bins import bin_labels, ends
from discreet.table.fit import Fit
from discreet.table.query import Condition, HasTree, OneOf, Query, Range, texts_of
from discreet.table.texts import is_number, number_text


def of_fitted(columns: Iterable[HasTree], asked: Query) -> Query:
    """Return a query whose conditions on columns in bins list bins; refuse bounds in a bin, or beyond a limit.

    >>> from discreet.table.table import Column
    >>> fit, none = Fit(bins=(0.0, 10.0, 20.0, 40.0)), np.zeros(0, np.int32)
    >>> pay = Column("pay", "ordinal", none, np.array(bin_labels(fit.edges), object), fit=fit)
    >>> of_fitted([pay], Query(Range("pay", 10, 20, high_open=True))).conditions
    (OneOf(attribute='pay', values=('10 to below 20',)),)
    """
    fits = {each.name: each.fit for each in columns if each.fit is not None}

    def told_apart(condition: Condition) -> Condition:
        fit = fits.get(condition.attribute)
        numbers = all(is_number(text.strip()) for text in texts_of(condition))
        if fit is None or condition.placed or (fit.edges and not numbers):
            return condition
        _check_limits(condition, fit)
        return _in_bins(condition, fit) if fit.edges and texts_of(condition) else condition

    return Query(tuple(map(told_apart, asked.conditions)))


def _check_limits(condition: Condition, fit: Fit) -> None:
    """Refuse a condition with a bound beyond a limit."""
    name = condition.attribute
    bounds = condition.ends() if isinstance(condition, Range) else condition.numbers().tolist()
    for limit in (each for each in map(fit.limit, bounds) if each is not None):
        text, sign, side = number_text(limit), *((">=", "above") if limit == fit.top else ("<=", "below"))
        raise DiscreetError(
            f"column {name!r} is published with {text} for all numbers {side} it, so nothing tells these apart; "
            f"ask for all of them, as in {name} {sign} {text}, or leave the bound beyond it out",
            name,
        )


def _in_bins(condition: Condition, fit: Fit) -> OneOf:
    """Return the bins that a condition admits; refuse one that admits a part of a bin."""
    name, (first, last), bins = condition.attribute, ends(fit.edges), bin_labels(fit.edges)
    if isinstance(condition, Range):
        low, high = condition.ends()
        whole, touched = (first >= low) & (last <= high), (first <= high) & (last >= low)
    else:
        numbers = condition.numbers()
        whole = np.zeros(len(bins), np.bool_)
        touched = np.searchsorted(numbers, first, "left") < np.searchsorted(numbers, last, "right")
    for at in np.flatnonzero(touched & ~whole).tolist():
        raise DiscreetError(
            f"column {name!r} is published in bins, and the condition on it admits a part of {bins[at]!r}; ask "
            f"for whole bins, as in {name} = {bins[at]!r}",
            name,
        )
    return OneOf(name, tuple(bins[at] for at in np.flatnonzero(whole)))
