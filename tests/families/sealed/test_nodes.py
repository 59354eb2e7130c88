"""Promises about nodes under a seal: the same tests, chances and groups as if the nodes had been published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.audit import audit
from discreet.principles.per_attribute import by_attribute

TREE = dc.Hierarchy.of("s", {"0": ("01", "02", "03"), "1": ("11", "12", "13")})
FORM = dc.BetaLikeness(0.7, "basic")


def two_tables(rows: int, seed: int) -> tuple[dc.Table, dc.Table]:
    """Rows with values of two nodes, and the same rows with the nodes in place of the values."""
    rng = np.random.default_rng(seed)
    values = np.array(
        [f"{node}{leaf}" for node, leaf in zip(rng.integers(0, 2, rows), rng.integers(1, 4, rows), strict=True)]
    )
    quasi = {"x": rng.integers(0, 40, rows), "y": rng.integers(0, 4, rows)}
    leaves = dc.read(pa.table({**quasi, "s": values}), quasi=["x", "y"], sensitive="s", hierarchies={"s": TREE})
    nodes = dc.read(
        pa.table({**quasi, "s": [value[0] for value in values]}), quasi=["x", "y"], sensitive="s", categorical=["s"]
    )
    return leaves, nodes


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_those_of_a_table_of_nodes(seed: int) -> None:
    """And so is what is known of them: of a group's persons as many have a value of the node as have the node."""
    leaves, nodes = two_tables(600, seed)
    promise = dc.BetaLikeness(0.7, "basic", level=1)
    one = dc.publish(leaves, promise, dc.Sealed(random_state=seed))
    other = dc.publish(nodes, FORM, dc.Sealed(random_state=seed))
    assert isinstance(one, dc.SealedRelease) and isinstance(other, dc.SealedRelease)
    assert one.groups > 1 and sorted(one.leakage.tolist()) == sorted(other.leakage.tolist())
    assert one.trace is not None and other.trace is not None
    pairs = set(zip(one.trace.tolist(), other.trace.tolist(), strict=True))
    assert len(pairs) == one.groups == other.groups  # the same groups, whatever their numbers


@pytest.mark.parametrize("seed", range(4))
def test_partitions_are_as_likely_as_those_of_a_table_of_nodes(seed: int) -> None:
    leaves, nodes = two_tables(40, seed)
    promise = dc.BetaLikeness(0.7, "basic", level=1)
    whole, halves = np.zeros(40, np.int64), (leaves.quasi[0].codes >= np.median(leaves.quasi[0].codes)).astype(np.int64)
    for groups in (whole, halves):
        found = [dc.Sealed().likelihood(table, asked, groups) for table, asked in ((leaves, promise), (nodes, FORM))]
        assert found[0] is not None and found[0] == found[1]


def test_the_bounds_are_those_of_nodes() -> None:
    leaves, nodes = two_tables(300, 1)
    promise = dc.BetaLikeness(0.7, "basic", level=1)
    cuttings = [dc.Sealed()._cutting(table, asked) for table, asked in ((leaves, promise), (nodes, FORM))]
    assert cuttings[0].sealing.odds.tolist() == cuttings[1].sealing.odds.tolist()
    assert np.array_equal(cuttings[0].sensitive_codes, cuttings[1].sensitive_codes)
    assert len(by_attribute(promise, leaves)) == 1


@pytest.mark.parametrize("descriptions", ["boxes", "exact"])
def test_the_seal_is_audited_by_nodes(tmp_path: Path, descriptions: Any) -> None:
    leaves, _ = two_tables(600, 2)
    promise = dc.BetaLikeness(0.7, "basic", level=1)
    release = dc.publish(leaves, promise, dc.Sealed(descriptions=descriptions, random_state=2))
    release.save(tmp_path / "release")
    assert audit(tmp_path / "release", leaves, release.trace).holds
    # as a promise about single values, the same groups leave no room for what was leaked
    checks = {check.name: check for check in audit(tmp_path / "release", leaves, promises=dc.BetaLikeness(0.05)).checks}
    assert not checks["seal"].holds


def test_what_bounds_from_below_or_at_two_levels_is_refused() -> None:
    leaves, _ = two_tables(60, 3)
    for promises in (["beta-likeness(beta=2, negative=0.5, level=1)"], [FORM, dc.BetaLikeness(0.7, level=1)]):
        with pytest.raises(dc.DiscreetError, match="at one level of a hierarchy, from above and none from below"):
            dc.publish(leaves, promises, dc.Sealed())
