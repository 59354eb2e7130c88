"""All experiments by name, in the order of the papers and of their figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from discreet.errors import DiscreetError
from discreet.evidence.experiment import Experiment
from discreet.table.texts import near

PAPERS = {
    "beta-likeness": "beta_likeness",
    "proximity": "proximity",
    "ambiguity": "ambiguity",
    "heterogeneous": "heterogeneous",
    "codip": "codip",
}
"""The file of each paper."""
ALL = "all"


@cache
def experiments() -> dict[str, Experiment]:
    """All experiments by name."""
    each = [one for file in PAPERS.values() for one in import_module(f"discreet.evidence.{file}").EXPERIMENTS]
    return {one.name: one for one in each}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments that are named by paper, by paper and figure, or by ``all``.

    >>> [one.figure for one in chosen(["beta-likeness/5", "beta-likeness/4a"])]
    ['5', '4a']
    """
    known = experiments()
    found: dict[str, Experiment] = {}
    for name in names:
        some = [one for one in known.values() if name in (ALL, one.paper, one.name)]
        if not some:
            raise DiscreetError(
                f"no experiment is called {name!r}; {near(name, [*PAPERS, *known])}; 'discreet reproduce list' has all"
            )
        found |= {one.name: one for one in some}
    return list(found.values())
