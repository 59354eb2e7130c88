"""Promises about nodes of a hierarchy and with floors, kept by groups and by candidates, counted by definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.audit import audit
from discreet.datasets import patients
from discreet.families.heterogeneous.buckets import Bucketing


def people(counts: list[int], seed: int) -> dc.Table:
    """Values of two nodes, 0 and 1, each as often as is said."""
    names = [f"{at % 2}{at}" for at in range(len(counts))]
    tree = dc.Hierarchy.of("s", {node: tuple(name for name in names if name[0] == node) for node in "01"})
    values = np.repeat(names, counts)
    ages = np.random.default_rng(seed).integers(0, 50, len(values))
    return dc.read(pa.table({"age": ages, "s": values}), quasi=["age"], sensitive="s", hierarchies={"s": tree})


def seen_by(release: Any, values: list[str]) -> list[list[str]]:
    """What is published with each group, or with everybody's candidates."""
    if release.trace.ndim == 1:
        groups = range(release.groups)
        return [[value for value, at in zip(values, release.trace, strict=True) if at == group] for group in groups]
    shown = dict(zip(release.trace[:, 0].tolist(), values, strict=True))
    return [[shown[row] for row in line if row >= 0] for line in release.trace.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize("publishes", ["best-bucket", "graph"])
@pytest.mark.parametrize("buckets", ["fewest", "published"])
@given(
    counts=st.lists(st.integers(1, 25), min_size=4, max_size=7),
    beta=st.sampled_from([0.5, 1.0, 3.0]),
    negative=st.sampled_from([None, 0.3, 0.8, 1.0]),
    level=st.integers(0, 1),
    seed=st.integers(0, 9),
)
def test_shares_of_nodes_and_floors_are_kept_by_definition(
    publishes: Any, buckets: Bucketing, counts: list[int], beta: float, negative: float | None, level: int, seed: int
) -> None:
    table = people(counts, seed)
    scheme = dc.Heterogeneous(publishes=publishes, buckets=buckets, matching="greedy", random_state=seed)
    release = dc.publish(table, dc.BetaLikeness(beta, "basic", negative, level), scheme)
    assert table.sensitive_attribute is not None
    texts = np.array(table.sensitive_attribute.texts)[table.sensitive_codes].tolist()
    units = [text[0] if level else text for text in texts]
    for inside in seen_by(release, units):
        for unit in set(units):
            share, prior = inside.count(unit) / len(inside), units.count(unit) / len(units)
            assert share <= (1 + beta) * prior + 1e-9
            assert share >= (1 - (1 if negative is None else negative)) * prior - 1e-9


def test_floors_and_nodes_leave_more_than_one_group_and_audits_see_them(tmp_path: Path) -> None:
    table = people([20, 30, 40, 30, 20, 40], 1)
    for at, promise in enumerate(
        (dc.BetaLikeness(1, negative=0.5), dc.BetaLikeness(1, level=1), dc.BetaLikeness(1, negative=0.5, level=1))
    ):
        release = dc.publish(table, promise, dc.Heterogeneous(random_state=1))
        release.save(tmp_path / str(at))
        found = audit(tmp_path / str(at), table, release.trace)
        assert found.holds and release.groups >= 10 and release.withheld == 0
        assert found.promises[0].achieved is not None and found.promises[0].achieved <= 1


def test_nodes_let_groups_be_smaller_than_values_do() -> None:
    """Of seven values no group of two has a fair share, of two nodes it has."""
    table = people([20, 20, 20, 20, 20, 20], 2)
    groups = [dc.publish(table, dc.BetaLikeness(1, level=level), dc.Heterogeneous()).groups for level in (0, 1)]
    assert groups[1] > groups[0]


def test_what_is_believed_beyond_promises_about_nodes_is_told(tmp_path: Path) -> None:
    """Of the graph: attackers who only match descriptions, or count rows, are judged by nodes as well."""
    table = people([20, 30, 40, 30, 20, 40], 3)
    scheme = dc.Heterogeneous(publishes="graph", random_state=1)
    release = dc.publish(table, "beta-likeness(beta=0.3, level=1)", scheme)
    release.save(tmp_path / "release")
    found = {check.name: check.sentence for check in audit(tmp_path / "release", table, release.trace).checks}
    assert "beta-likeness(beta=0.3, level=1) allows" in found["descriptions"]
    assert "beta-likeness(beta=0.3, level=1) allows" in found["counting"]


def test_promises_about_two_levels_are_refused() -> None:
    with pytest.raises(dc.DiscreetError, match=r"node at one level of a hierarchy.*choose scheme 'cuts'"):
        dc.publish(
            people([9, 9, 9, 9], 1), ["beta-likeness(beta=3)", "beta-likeness(beta=1, level=1)"], dc.Heterogeneous()
        )
    assert dc.publish(patients(), "beta-likeness(beta=2, negative=0.9)", dc.Heterogeneous()).groups > 1
