"""Counts from several tables.

A count whose conditions on sensitive attributes all fall into one table is estimated by that table, and one without
such conditions by the mean over all tables. Otherwise nothing tells how values of different tables go together. The
estimate then takes the attributes of different tables to be independent among the rows that satisfy the conditions on
quasi-identifiers: of these rows, each table tells the share that satisfies the conditions on its own attributes, and
the shares are multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.principles.wording import listed
from discreet.table.query import Query

if TYPE_CHECKING:
    from discreet.releases.projected.release import ProjectedRelease


def estimates(release: ProjectedRelease, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Estimate how many rows satisfy each query."""
    parts = _parts_of(release)
    everywhere = [_of(query, parts) for query in queries]
    asked = [{parts[name] for name in query.by_attribute if name in parts} for query in queries]
    across = [at for at, numbers in enumerate(asked) if len(numbers) != 1]
    result = np.empty(len(queries))
    among = np.empty((len(release.parts), len(across)))
    shares = np.ones(len(across))
    for number, part in enumerate(release.parts):
        alone = [at for at, numbers in enumerate(asked) if numbers == {number}]
        result[alone] = part.estimates([queries[at] for at in alone])
        among[number] = part.estimates([everywhere[at] for at in across])
        mine = [place for place, at in enumerate(across) if number in asked[at]]
        matching = part.estimates([_of(queries[across[place]], parts, number) for place in mine])
        whole = among[number, mine]
        shares[mine] *= np.divide(matching, whole, out=np.zeros(len(mine)), where=whole > 0.0)
    result[across] = among.mean(axis=0) * shares
    return result


def independence(release: ProjectedRelease, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note if these columns are in different tables; otherwise nothing."""
    parts = _parts_of(release)
    apart = {parts[name]: [each for each in names if parts.get(each) == parts[name]] for name in names if name in parts}
    if len(apart) < 2:
        return ()
    columns = listed(listed(repr(name) for name in dict.fromkeys(each)) for each in apart.values())
    return (
        f"{columns} are in different tables of the release, so that the estimate takes them to be independent "
        "among the rows that satisfy the conditions on quasi-identifiers",
    )


def _parts_of(release: ProjectedRelease) -> dict[str, int]:
    """The number of the part of every column that is in one table only."""
    return {
        attribute.name: number
        for number, part in enumerate(release.parts)
        for attribute in part.attributes
        if attribute.role != "quasi"
    }


def _of(query: Query, parts: dict[str, int], number: int = -1) -> Query:
    """The conditions of a query on quasi-identifiers and, if a part is given by its number, on its attributes."""
    return Query(tuple(condition for condition in query.conditions if parts.get(condition.attribute, number) == number))
