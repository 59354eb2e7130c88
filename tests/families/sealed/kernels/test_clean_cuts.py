"""The best cut between two values of an axis, against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.datasets import census
from discreet.families.sealed.kernels.candidates import best_cut
from discreet.kernels.costs import interval_cost
from discreet.kernels.cuts.layout import layout_of
from discreet.schemes.axes import axes_of


@pytest.mark.slow
@pytest.mark.parametrize("quasi", [("age", "gender", "education"), ("income", "country"), ("marital",)])
@pytest.mark.parametrize(
    ("seed", "rows", "least"), [(0, 200, 1), (1, 33, 5), (2, 90, 44), (3, 7, 2), (4, 2, 1), (5, 5, 3)]
)
def test_it_saves_as_much_as_any(quasi: tuple[str, ...], seed: int, rows: int, least: int) -> None:
    points, axes = axes_of(census(rows, quasi=quasi, sensitive="occupation", seed=seed), "ail", "interval")
    axis, code, saved = best_cut(points, axes, least, layout_of(rows, int(axes.cards.max()), 0))
    every = {}
    for j, place in enumerate(points.T):
        for start in np.unique(place)[1:]:
            left = place < start
            if min(left.sum(), (~left).sum()) >= least:
                cost = [
                    len(some) * interval_cost(axes, j, some.min(), some.max())
                    for some in (place, place[left], place[~left])
                ]
                every[j, int(start)] = axes.weights[j] * (cost[0] - cost[1] - cost[2])
    best = max(every.values(), default=0.0)
    if best <= 0.0:
        assert axis == -1
    else:
        assert every[axis, code] == pytest.approx(best)
        assert saved == pytest.approx(best)
