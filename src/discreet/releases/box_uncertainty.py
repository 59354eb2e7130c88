"""How far counts from boxes may be off that are fitted to counts of whole columns.

Rows may lie in their boxes otherwise than these counts say. By how much they do, the *misfit*, is
measured when a release is made, on random counts of quasi-identifiers alone, and published beside the
counts of columns. It is one number: the mean square of how far such counts are off, relative to how
far they could be. For conditions on several quasi-identifiers, a share ``a_j`` of a box of ``n`` rows
satisfies the condition on one of them and a share ``a`` all, so that the others decide about
D = sum n a(1-a_j) rows. A condition by itself is as good as exact, as the column is counted; of its
V = sum n a_j(1-a_j) rows, D are decided about together with others. So the counts could be off by
F_j = D(1 - D/V), and their mean square is misfit^2 x sum F_j^2. A condition that cuts through a counted
cell leaves all rows of this cell in doubt, which may have the same value.

The misfit follows from quasi-identifiers and from what is published. So whoever knows everybody's
quasi-identifiers learns nothing from it. Nor does exchanging two rows of a group change it, which is
why k-anonymity stays as it does with the counts of columns (`discreet.releases.marginals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute
from discreet.releases.bit_counts import exact_counts
from discreet.releases.box_estimate import estimates, rows_held
from discreet.releases.spread import Shares, counted_shares, domain_and_ruler, listed_values
from discreet.releases.uncertainty import Asked, Association, random_runs, tells
from discreet.table.query import Condition, OneOf, Query, Range
from discreet.table.table import Column, Table
from discreet.table.unnamed import UNNAMED

if TYPE_CHECKING:
    from discreet.releases.described import DescribedRelease

Numbers = NDArray[np.float64]

COUNTS, MOST, SHARES = 300, 5, (0.01, 0.3)
"""How many random counts the misfit is measured on, on how many quasi-identifiers at most, and the shares of rows that
they are expected to select."""
WIDE = 10_000
"""With columns of more values there are fewer counts, which would have to list them."""
LEAST_ESTIMATE = 10.0
"""Of fewer rows than these an estimate says nothing about how far it is off."""
PLACES = 41
"""Into how many equal parts the domain of numbers is cut for random conditions."""


def has_misfit(release: DescribedRelease) -> bool:
    """Whether the misfit of a release is published: where its groups tell how strong the association in them is."""
    return release.marginals is not None and tells(release.manifest, len(release.cells.counts))


def misfit(release: DescribedRelease, table: Table) -> float:
    """Return how far counts of quasi-identifiers from a release of a table are off, relative to how far they could
    be."""
    queries = _random_counts([table.column(attribute.name) for attribute in release.quasi])
    away = (estimates(release, queries, evenly=False) - exact_counts(table, queries)) ** 2
    could = np.array([_could_be_off(release, each) for each in _asked(release, queries)])
    told = could >= 1.0
    return float(np.sqrt((away[told] / could[told]).mean())) if told.any() else 0.0


def stated(misfit: float) -> float:
    """Return a misfit as it is published: with two digits.

    >>> stated(0.12345)
    0.12
    """
    return float(f"{misfit:.2g}")


def standard_errors(release: DescribedRelease, queries: Sequence[Query], misfit: float) -> Numbers:
    """Return the standard errors of estimates; NaN where several sensitive attributes or kept columns are asked for, or
    hardly any rows are estimated."""
    names = {attribute.name for attribute in (*release.quasi, *release.sensitive[:1])}
    asked, sizes = _asked(release, queries), release.cells.counts.sizes
    expected = np.array([float((sizes if each.having is None else each.having) @ each.inside) for each in asked])
    cut = _rows_in_doubt(release, queries)
    more = np.zeros(len(asked))
    for at, each in enumerate(asked):
        share = expected[at] / max(1e-9, float(sizes @ each.inside))
        more[at] = share**2 * misfit**2 * _could_be_off(release, each)
        for axis, alone in each.alone.items():
            more[at] += cut[at][axis] * (expected[at] / max(1.0, float(sizes @ alone))) ** 2
    errors = _association(release).errors(asked, len(release.quasi), more)
    known = np.array([names.issuperset(query.by_attribute) for query in queries], np.bool_)
    return np.where(known & (expected >= LEAST_ESTIMATE), errors, np.nan)


def _rows_in_doubt(release: DescribedRelease, queries: Sequence[Query]) -> list[dict[int, float]]:
    """Return the variance of the rows of a whole column that satisfy the conditions on it, by their place: of each
    counted cell that satisfies them in part, all rows may be at one value."""
    shares: dict[int, Shares] = {}
    for axis, attribute in enumerate(release.quasi):
        if (counted := release.counted_rows(axis)) is not None:
            shares[axis] = counted_shares(attribute, release.descriptions.regions[axis], counted)
    places, result = {attribute.name: at for at, attribute in enumerate(release.quasi)}, list[dict[int, float]]()
    assert release.marginals is not None
    counts = [each.astype(np.float64) for each in release.marginals.counts]
    known: dict[tuple[int, tuple[Condition, ...]], float] = {}
    for query in queries:
        asked = [(places[name], conditions) for name, conditions in query.by_attribute.items() if name in places]
        for axis, conditions in asked:
            if (axis, conditions) not in known:
                share = shares[axis](conditions) if axis in shares else np.zeros(0)
                known[axis, conditions] = (
                    float((counts[axis] ** 2 * share * (1.0 - share)).sum()) if len(share) else 0.0
                )
        result.append({axis: known[axis, conditions] for axis, conditions in asked})
    return result


def _asked(release: DescribedRelease, queries: Sequence[Query]) -> list[Asked]:
    """What each query asks of the groups, given conditions on quasi-identifiers and the sensitive attribute."""
    cells, places = release.cells, {attribute.name: at for at, attribute in enumerate(release.quasi)}
    held: dict[tuple[Condition, ...], Numbers] = {}
    result = []
    for query in queries:
        alone = {
            places[name]: _share(release, places[name], conditions)
            for name, conditions in query.by_attribute.items()
            if name in places
        }
        inside = reduce(np.multiply, alone.values(), np.ones(len(cells.counts)))
        carried = tuple(condition for condition in query.conditions if condition.attribute not in places)
        if carried and carried not in held:
            held[carried] = rows_held(release, carried)
        result.append(Asked(alone, inside, held[carried] if carried else None))
    return result


def _share(release: DescribedRelease, axis: int, conditions: tuple[Condition, ...]) -> Numbers:
    """The share of each group that satisfies conditions on a quasi-identifier."""
    shares = release.fitted_shares[axis](conditions)[release.cells.texts[axis]]
    return np.asarray(np.minimum(1.0, shares))  # sums may be more by their last digits


def _could_be_off(release: DescribedRelease, asked: Asked) -> float:
    """Return the mean square of how far a count of quasi-identifiers is off, if the misfit is 1."""
    sizes, result = release.cells.counts.sizes, 0.0
    for alone in asked.alone.values():
        decided, by_itself = float(sizes @ (asked.inside * (1 - alone))), float(sizes @ (alone * (1 - alone)))
        result += (decided * (1 - min(1.0, decided / by_itself))) ** 2 if by_itself > 0.0 else 0.0
    return result


def _association(release: DescribedRelease) -> Association:
    """How strongly sensitive values go with quasi-identifiers, as random conditions tell."""
    cells = release.cells
    whose, rows = list[int](), list[Numbers]()
    for axis, attribute in enumerate(release.quasi):
        for condition in _conditions(release, axis, attribute):
            whose.append(axis)
            rows.append(cells.counts.sizes * _share(release, axis, (condition,)))
    return Association(cells.counts.sizes.astype(np.float64), whose, rows)


def _conditions(release: DescribedRelease, axis: int, attribute: Attribute) -> list[Condition]:
    """Random conditions on a quasi-identifier."""
    if attribute.kind == "numeric" and attribute.hierarchy is None:
        (bottom, top), _ = domain_and_ruler(attribute, release.descriptions.regions[axis])
        points = np.linspace(bottom, top, PLACES + 1)
        runs = random_runs(attribute, PLACES if bottom < top else 1)
        ends = [points[[np.flatnonzero(held)[0], np.flatnonzero(held)[-1] + 1]].tolist() for held in runs]
        return [Range(attribute.name, low, high) for low, high in ends]
    values = [value for value in listed_values(attribute).tolist() if not str(value).startswith(UNNAMED)]
    return [
        OneOf(attribute.name, tuple(value for value, kept in zip(values, held, strict=True) if kept))
        for held in random_runs(attribute, len(values))
    ]


def _random_counts(columns: Sequence[Column]) -> list[Query]:
    """Random counts of rows, always the same for the same values, by conditions on two or more columns."""
    chance, result = np.random.default_rng(0), list[Query]()
    known = [_occurring(column) for column in columns]
    number = COUNTS if max(map(len, known)) <= WIDE else COUNTS // 10
    for _ in range(number if len(columns) > 1 else 0):
        many = int(chance.integers(2, min(MOST, len(columns)) + 1))
        share = float(chance.uniform(*SHARES)) ** (1 / many)
        chosen = chance.permutation(len(columns))[:many].tolist()
        result.append(Query(tuple(_drawn(columns[at], known[at], share, chance) for at in chosen)))
    return result


def _occurring(column: Column) -> NDArray[np.int64]:
    """The values that occur in a column, in an order that does not depend on how it was read."""
    codes = np.setdiff1d(column.codes, -1 if column.missing is None else column.missing).astype(np.int64)
    if column.kind != "categorical":
        return codes
    return codes[np.argsort(column.values[codes].astype(str), kind="stable")]


def _drawn(column: Column, known: NDArray[np.int64], share: float, chance: np.random.Generator) -> Condition:
    """A condition on a share of the values of a column: a run of them, or, half the time, any."""
    if column.kind != "numeric" and chance.random() < 0.5:
        known = chance.permutation(known)
    length = max(1, round(len(known) * share))
    start = int(chance.integers(0, len(known) - length + 1))
    values = column.values[known[start : start + length]]
    if column.kind == "numeric":
        return Range(column.name, float(values[0]), float(values[-1]))
    return OneOf(column.name, tuple(map(str, values.tolist())))
