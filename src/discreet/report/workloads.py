"""The workloads by which comparisons measure errors: those of the papers, by name."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.analyst.grouped_workload import SELECTIVITIES, cells_of, group_by_workload
from discreet.analyst.prefix_workload import prefix_workload
from discreet.analyst.workload import volume_workload, workload
from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.releases.bit_counts import exact_counts
from discreet.report.comparison import Asked
from discreet.table.query import Query
from discreet.table.table import Table

Workload = Literal["beta", "proximity", "ambiguity-1", "ambiguity-2", "ambiguity-3", "prefix"]
WORKLOADS: tuple[str, ...] = get_args(Workload)
"""Ranges of a selectivity (the paper on beta-likeness), ranges of a volume (on proximity), cells of GROUP BY counts
whose WHERE clause selects 1, 5 or 10 % (on ambiguity), prefixes and single values (on heterogeneous generalization)."""
BATCH = 20
"""How many GROUP BY counts there are at most."""


class Drawn(NamedTuple):
    """A workload that was drawn for a table, with its exact answers."""

    queries: list[Query]
    exact: NDArray[np.int64]
    asked: Asked


def draw(
    table: Table,
    name: str | None,
    queries: int,
    dimensions: int | None,
    selectivity: float | None,
    volume: float | None,
    seed: int,
) -> Drawn:
    """Draw a workload by its name; without one by what is asked for, of a selectivity by default."""
    if selectivity is not None and volume is not None:
        raise DiscreetError("a workload has a selectivity or a volume, not both; give one")
    name = name or ("beta" if volume is None else "proximity")
    if name not in WORKLOADS:
        raise DiscreetError(f"no workload is called {name!r}; choose from {', '.join(WORKLOADS)}")
    for own, what, value in (("beta", "selectivity", selectivity), ("proximity", "volume", volume)):
        if value is not None and name != own:
            raise DiscreetError(f"the workload {name} has no {what}; leave out {argument(what)}, or choose {own}")
    if name.startswith("ambiguity"):
        return _grouped(table, name, queries, dimensions, seed)
    known = min(3, len(table.quasi)) if dimensions is None else dimensions
    if name == "prefix":
        drawn = prefix_workload(table, dimensionality=known, number=queries, seed=seed)
    elif name == "beta":
        selectivity = 0.1 if selectivity is None else selectivity
        drawn = workload(table, dimensionality=known, selectivity=selectivity, number=queries, seed=seed)
    else:
        volume = 0.1 if volume is None else volume
        drawn = volume_workload(table, dimensionality=known + 1, volume=volume, number=queries, seed=seed)
    exact = exact_counts(table, drawn)
    return Drawn(drawn, exact, Asked(queries, int((exact == 0).sum()), known, selectivity, volume, name))


def _grouped(table: Table, name: str, queries: int, dimensions: int | None, seed: int) -> Drawn:
    """Cells of GROUP BY counts that have rows: at most as many as there are to be queries."""
    known = min(2, len(table.quasi)) if dimensions is None else dimensions
    share = SELECTIVITIES[name.replace("ambiguity", "Query")]
    counts = group_by_workload(table, dimensions=known, selectivity=share, number=min(BATCH, queries), seed=seed)
    cells = cells_of(table, counts, max(1, queries // len(counts)), seed)
    return Drawn(cells.queries, cells.exact, Asked(len(cells.queries), 0, known, share, None, name))
