"""What is published of the tests of sealed releases: minimality takes it into account, and audits judge it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census
from discreet.families.sealed import scheme as sealed


@pytest.mark.slow
def test_tables_whose_tests_tell_something_else_are_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same groups count only with the same amounts beside them; probabilities of groups alone are not asked for."""
    monkeypatch.setattr(sealed, "FOLLOWED", 0)
    table = census(3000)
    release = dc.publish(table, "beta-likeness(beta=4)", dc.Sealed(random_state=1))
    assert release.groups > 1
    told = release.leakage + np.where(np.arange(release.groups) % 2, 0.25, 0.0)
    odd = release.trace % 2 == 1
    both = [
        dc.attack(one, table, dc.Minimality(runs=40), trace=release.trace, random_state=1).evidence[0]
        for one in (release, replace(release, leakage=told))
    ]
    assert both[0].details["concluded"] > both[1].details["concluded"]
    assert both[1].details["concluded"] <= (~odd).sum()


@pytest.mark.parametrize(
    ("promise", "told", "holds"),
    [
        (dc.TCloseness(0.05) & dc.LDiversity(1.05), 2.9, False),
        (dc.LDiversity(1.5, kind="entropy") & dc.LDiversity(1.05), 2.9, False),
        (dc.BetaLikeness(10, "basic", negative=0.1), 2.9, False),
        (dc.DeltaDisclosure(0.1), 0.05, False),
        (dc.TCloseness(0.05), 0.05, False),
        (dc.TCloseness(0.05) & dc.LDiversity(1.05), 0.0, True),
        (dc.KAnonymity(5) & dc.LDiversity(1.05), 2.9, True),
        (dc.KAnonymity(5) & dc.LDiversity(1.05), 3.1, False),
    ],
)
def test_nothing_may_have_been_told_beside_promises_that_are_not_only_bounds_from_above(
    promise: dc.Principle, told: float, holds: bool, tmp_path: Path
) -> None:
    """Half of each group has either value: its odds are 1, and l-diversity(l=1.05) allows 20, which is exp(2.996)."""
    columns = {"x": np.arange(400) % 2, "s": list("aabb") * 100}
    table = dc.read(pa.table(columns), quasi="x", sensitive="s")
    release = dc.publish(table, promise, dc.Mirrored())
    forged = replace(release, leakage=np.full(release.groups, told))
    found = dc.audit(forged.save(tmp_path / "release"), table)
    assert [check.name for check in found.checks if not check.holds] == ([] if holds else ["seal"])
    assert found.holds == holds
