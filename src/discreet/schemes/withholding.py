"""Rows that are not published because they cannot be, and further ones that are withheld with them.

An adversary who finds no group for a victim knows that the victim was withheld, and the withheld rows' sensitive values
are the difference between the public prior and what is published. So they must keep the promise as a group of their
own. It follows that they could always be published as one more group, at a loss of at most 1 each: withholding can make
a search for low loss easier, but it cannot lower the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import Interval, checked
from discreet.principles import wording
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.table.table import Table

Rows = NDArray[np.int64]
Withheld = Annotated[float, Interval(0, 1, closed="left")]
"""The share of rows that a scheme may withhold."""


def check_share(most: float) -> None:
    """Raise an error unless ``most`` is a share of rows."""
    checked("most_withheld", most, Annotated[float, Interval(0, 1)])


def check_complete(scheme: str, table: Table, otherwise: str = "") -> None:
    """Raise an error for rows that would have to be withheld, if a scheme withholds none."""
    if table.unusable is not None and len(table.unusable):
        raise DiscreetError(
            f"scheme {scheme!r} withholds no rows, and {len(table.unusable):,} have missing numbers; treat missing "
            f"as a value of its own instead ({argument('missing', 'value')}){otherwise}"
        )


def check_withheld(table: Table, withheld: int, most: float) -> None:
    """Raise an error if too many rows were withheld because numbers are missing.

    This is asked of a finished release, so that the share of rows that the error advises to allow is known to suffice.
    """
    missing = 0 if table.unusable is None else len(table.unusable)
    if not missing or withheld <= most * table.rows:
        return
    if withheld == missing:
        fate = f"have a missing number{_columns_at_fault(table)} and would be withheld"
    else:
        fate = (
            f"would be withheld: {wording.rows(missing)} for missing numbers"
            f"{_columns_at_fault(table)}, the others so that the withheld rows keep the promise as one group"
        )
    share = withheld / table.rows
    worst = max(
        (name for name in table.lacking if name in table.quasi_names), key=table.lacking.__getitem__, default=""
    )
    drop = f"drop {worst!r} from the quasi-identifiers, " if worst else ""
    enough = min(1.0, math.ceil(share * 100) / 100)
    raise DiscreetError(  # which leaves the decision to the user, the mildest way out first
        f"{withheld:,} of {wording.rows(table.rows)} ({wording.percent(share)}) {fate}, more than "
        f"{wording.percent(most)} of the table; choose {argument('missing', 'value')} to treat missing as a value of "
        f"its own and withhold none for it, {drop}or allow as many with {argument('most_withheld', enough)}"
    )


def _columns_at_fault(table: Table) -> str:
    """Return the columns in which numbers are missing, those with the most first."""
    order = sorted(table.lacking.items(), key=lambda item: -item[1])
    return f" ({', '.join(f'{name!r}: {count:,}' for name, count in order)})" if order else ""


def unusable_rows(table: Table, principle: Principle, prior: Prior, rng: np.random.Generator) -> Rows:
    """Return the rows that must be withheld for missing values, and as few others as make them keep the promise."""
    for rows in sets_to_withhold(table, prior, rng):
        counts = np.bincount(table.sensitive_codes[rows], minlength=len(prior.counts))
        if len(rows) == 0 or principle.holds(counts[None, :], prior)[0]:
            return rows
    assert table.unusable is not None
    has = np.bincount(table.sensitive_codes[table.unusable], minlength=len(prior.counts))
    why = f"as one group they break the promise. {principle.explain(has, prior)}"
    raise cannot_withhold(wording.rows(len(table.unusable)), why)


def cannot_withhold(whom: str, why: str) -> DiscreetError:
    """Return the error that this many rows or persons cannot be withheld, with the way out."""
    return DiscreetError(
        f"{whom} with missing values cannot be withheld: {why} Treat missing as a value of its own instead "
        f"({argument('missing', 'value')}), or drop the column with the missing values."
    )


def sets_to_withhold(table: Table, prior: Prior, rng: np.random.Generator) -> Iterator[Rows]:
    """Yield the rows that must be withheld for missing values, first alone and then with more and more others.

    The others are drawn at random from the sensitive values that the unusable rows lack most, compared with the prior.
    """
    if table.unusable is None or len(table.unusable) == 0:
        yield np.zeros(0, np.int64)
        return
    unusable = np.asarray(table.unusable, dtype=np.int64)
    yield unusable
    has = np.bincount(table.sensitive_codes[unusable], minlength=len(prior.counts))
    order = np.delete(np.arange(table.rows), unusable)
    order = order[rng.permutation(len(order))]
    order = order[np.argsort(table.sensitive_codes[order], kind="stable")]
    free = prior.counts - has
    rank = np.arange(len(order)) - np.repeat(np.cumsum(free) - free, free)
    size, limit = len(unusable), min(max(4 * len(unusable), 1000), table.rows // 2)
    while (size := size + max(1, size // 20)) <= limit:
        wanted = _whole_numbers(np.maximum(prior.frequencies * size - has, 0.0), size - len(unusable))
        yield np.sort(np.concatenate([unusable, order[rank < wanted[table.sensitive_codes[order]]]]))


def _whole_numbers(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to ``shares`` that add up to ``total``."""
    if total == 0 or shares.sum() == 0:
        return np.zeros(len(shares), np.int64)
    running = np.cumsum(shares) * (total / shares.sum())
    parts: Rows = np.diff(np.rint(running), prepend=0.0).astype(np.int64)
    return parts
