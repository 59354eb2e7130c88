"""What the combined belief in presence does not reckon with: somebody who knows that no two rows are alike."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pyarrow as pa

import discreet as dc


def test_two_groups_over_the_same_values_are_certain_to_whoever_knows_that_all_rows_differ() -> None:
    rows = [(1, 1), (2, 2), (1, 2), (2, 1)]
    people = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows], "s": list("abab")})
    table = dc.read(people, quasi=["x", "y"], sensitive="s", categorical=["x", "y"])
    groups = np.array([0, 0, 1, 1], np.int32)
    release = dc.AmbiguousRelease.from_groups(table, groups, promise=dc.AlphaBeta(0.75, 0.5), scheme="mine")
    points = {name: people[name].to_pylist() for name in ("x", "y")}
    believed = release.presence({name: np.array(list(map(str, held))) for name, held in points.items()}, combined=True)
    assert np.allclose(believed, 0.75)
    possible = list(product([1, 2], repeat=2))
    worlds = [set(one) | set(two) for one in combinations(possible, 2) for two in combinations(possible, 2)]
    different = [world for world in worlds if len(world) == 4]
    assert different and all(row in world for world in different for row in rows)
    assert any("no two rows agree" in sentence for sentence in release.manifest["assumptions"])
