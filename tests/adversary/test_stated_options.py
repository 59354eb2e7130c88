"""What a manifest states as an option of its scheme is compared with the tables, where these can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census
from support.projected import people
from support.tampering import Alteration, Folder, altered, stated


def failing(home: Path, table: dc.Table, **how: Any) -> dict[str, str]:
    return {check.name: check.sentence for check in dc.audit(home, table, **how).checks if not check.holds}


# --------------------------------------------------------------------------------------------------------------- codip


@pytest.mark.parametrize("inner", ["default", "anatomy"])
def test_tables_that_are_said_to_be_aligned_are(inner: str, tmp_path: Path) -> None:
    table, promise = people(200, attributes=3), dc.LDiversity(2)
    aligned, apart = (
        dc.Codip(exposure=0.0, scheme=inner, aligned=one, random_state=5).publish(table, promise)
        for one in (True, False)
    )
    assert failing(aligned.save(tmp_path / "aligned"), table) == {}
    home = altered(
        apart.save(tmp_path / "apart"), tmp_path / "said", stated("scheme", "options", "aligned", value=True)
    )
    assert set(failing(home, table)) == {"aligned"}


def test_groups_that_only_look_the_same_are_told_by_the_trace(tmp_path: Path) -> None:
    """Two persons who have everything in common change groups in one table, and nothing that is published shows it."""
    columns = {"age": [20, 30] * 20, "ill": list("abcd") * 10, "job": np.random.default_rng(1).choice(list("wxyz"), 40)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["ill", "job"])
    release = dc.Codip(exposure=0.0, scheme="anatomy", aligned=True, random_state=5).publish(table, dc.LDiversity(2))
    home, trace = release.save(tmp_path / "r"), release.trace
    assert trace is not None and trace.shape[1] == 2 and failing(home, table, trace=trace) == {}
    jobs = columns["job"]
    one, other = next(
        (one, other)
        for one in range(40)
        for other in range(one % 4, 40, 4)  # of the same age, with the same illness
        if jobs[one] == jobs[other] and trace[one, 1] != trace[other, 1]
    )
    crossed = trace.copy()
    crossed[[one, other], 1] = trace[[other, one], 1]
    assert set(failing(home, table, trace=crossed)) == {"aligned"}


# ------------------------------------------------------------------------------------------------------------- lifting


@pytest.mark.slow
@pytest.mark.parametrize("base", ["none", "cuts"])
def test_rows_that_are_said_to_be_lifted_blindly_are(base: Any, tmp_path: Path) -> None:
    table = census(1500)
    blind, companions = (
        dc.Lifting(lift=lift, base=base, random_state=2).publish(table, dc.BetaLikeness(2))
        for lift in ("blind", "companions")
    )
    assert "as lift=blind states" in str(dc.audit(blind.save(tmp_path / "blind"), table).as_dict()["checks"])
    home = companions.save(tmp_path / "r")
    assert failing(home, table) == {}
    said = altered(home, tmp_path / "said", stated("scheme", "options", "lift", value="blind"))
    assert set(failing(said, table)) == {"lifting"}


# -------------------------------------------------------------------------------------------------------- perturbation


def shifted(units: int) -> Alteration:
    """A probability off the diagonal takes from another of its column, in digits that no estimate shows."""

    def change(folder: Folder) -> None:
        one, other = folder.lines("matrix")[1:3]
        for line, by in ((one, units), (other, -units)):
            line[1] = f"{(round(float(line[1]) * 10**15) + by) / 10**15:.15f}".rstrip("0")

    return change


def nudged(folder: Folder) -> None:
    """A value is kept a little less often, in digits that a solver might leave open."""
    lines = folder.lines("matrix")
    for at, line in enumerate(lines):
        units = round(float(line[1]) * 10**15) + (1000 if at else -1000 * (len(lines) - 1))
        line[1] = f"{units / 10**15:.15f}".rstrip("0")


def ill(rows: int = 400) -> dc.Table:
    ills = np.random.default_rng(5).permutation(np.repeat(list("abcd"), [60, 80, 100, rows - 240]))
    return dc.read(pa.table({"age": np.arange(rows), "ill": ills}), quasi=["age"], sensitive="ill")


@pytest.mark.slow
@pytest.mark.parametrize("matrix", ["exact", "even", "closed-form"])
def test_digits_of_a_matrix_cannot_carry_anything_unnoticed(matrix: Any, tmp_path: Path) -> None:
    table = ill()
    home = dc.Perturbation(matrix=matrix).publish(table, dc.BetaLikeness(1)).save(tmp_path / "r")
    assert failing(home, table) == {} and "scipy" not in dc.audit(home, table).verdict
    other = altered(home, tmp_path / "other", shifted(1000))
    assert "are equal in every solution" in failing(other, table)["matrix"]
    near = altered(home, tmp_path / "near", nudged)
    found = dc.audit(near, table)
    assert failing(near, table) == {}
    assert "another version of the solver (scipy) explains" in found.verdict


# ------------------------------------------------------------------------------------------------------------ presence


def test_a_bound_that_is_only_sufficient_is_not_said_to_be_broken(tmp_path: Path) -> None:
    """In the only group there is, three of four have a value, which is less than beta."""
    columns = {"age": range(8), "weight": range(8), "ill": ["flu", "flu", "flu", "cold"] * 2}
    table = dc.read(pa.table(columns), quasi=["age", "weight"], sensitive="ill")
    release = dc.AmbiguousRelease.from_groups(
        table, np.zeros(8, np.int32), promise=dc.AlphaBeta(0.99, 0.875), scheme="ambiguity"
    )
    home = release.save(tmp_path / "r")
    for promise, verb in (("", "is kept"), (", association=combined", "is not shown to be kept")):
        text = f"alpha-beta(alpha=0.9, beta=0.875, presence=combined{promise})"
        (kept,) = (one for one in dc.audit(home, table, promises=text).promises if one.promise == text)
        assert verb in kept.sentence and "broken" not in kept.sentence
    assert "is broken by the only group" in str(
        dc.audit(home, table, promises="alpha-beta(alpha=0.9, beta=0.5)").promises
    )
