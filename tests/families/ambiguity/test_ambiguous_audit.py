"""The audit of ambiguous releases: true ones hold with and without their trace."""

from __future__ import annotations

import json
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.families.ambiguity import auditor as ambiguous_support
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.principles import AlphaBeta
from discreet.table.read import read
from discreet.table.table import Table
from support.paper_tables import figure_1
from support.tables import tables
from support.tampering import altered, stated


def published(tmp_path: Path, blocks: list[list[str]] | None = None) -> tuple[AmbiguousRelease, Path]:
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    # with a seed, so that groups have the same numbers in every run
    release = AmbiguousRelease.from_groups(
        figure_1(), groups, promise=AlphaBeta(1, 0.5), scheme="test", blocks=blocks, seeded=np.random.default_rng(3)
    )
    return release, release.save(tmp_path / "release", force=True)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [None, [["age", "zipcode"]]])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_true_release_holds(tmp_path: Path, blocks: list[list[str]] | None, traced: bool, kind: str) -> None:
    release, _ = published(tmp_path, blocks)
    home = release.save(tmp_path / kind, format=kind)
    found = dc.audit(home, figure_1(), trace=release.trace if traced else None)
    assert found.holds, found.sentences()
    assert found.support == ("trace" if traced else "assignment")
    assert found.presence is not None
    assert found.presence.group == pytest.approx(1.0 if blocks else 4 / 9)
    assert (found.rows, found.withheld, found.groups) == (8, 0, 2)
    assert json.dumps(found.as_dict())


def test_rows_that_fit_into_no_group_must_have_been_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every count finds a row, though two of them the same one; but the row of a man fits into no group."""
    monkeypatch.setattr(ambiguous_support, "CELLS", 0)
    people = {"age": [1, 1, 2], "sex": ["f", "f", "f"], "s": ["x", "x", "y"]}
    as_told = read(pa.table(people), quasi=["age", "sex"], sensitive="s")
    groups = np.array([0, 1, 1], np.int32)
    release = AmbiguousRelease.from_groups(as_told, groups, promise=AlphaBeta(1, 1), scheme="test")
    home = release.save(tmp_path / "r")
    assert dc.audit(home, as_told).support == "necessary"
    real = read(pa.table({**people, "age": [1, 2, 2], "sex": ["f", "m", "f"]}), quasi=["age", "sex"], sensitive="s")
    (told,) = (check for check in dc.audit(home, real).checks if check.name == "support")
    assert not told.holds and "1 row with s 'x' fit into no group, but only 0 can have been withheld" in told.sentence


def test_the_alpha_and_the_beta_that_are_stated_are_judged(tmp_path: Path) -> None:
    release, home = published(tmp_path)

    def broken(promise: str) -> list[str]:
        folder = altered(home, tmp_path / promise, stated("promise", value=[promise]))
        return [kept.sentence for kept in dc.audit(folder, figure_1(), trace=release.trace).promises if not kept.holds]

    (told,) = broken("alpha-beta(alpha=0.4, beta=0.5)")
    assert "44.4 %" in told and "40.0 % is allowed" in told
    assert len(broken("alpha-beta(alpha=0.5, beta=0.4)")) == 1
    assert broken("alpha-beta(alpha=0.5, beta=0.5)") == []


def test_a_trace_that_exchanges_rows_is_told_by_what_their_group_does_not_list(tmp_path: Path) -> None:
    release, home = published(tmp_path)
    assert release.trace is not None
    trace = release.trace.copy()
    trace[[0, 4]] = trace[[4, 0]]
    assert "does not list the age of its rows" in " ".join(dc.audit(home, figure_1(), trace=trace).sentences())


def test_withheld_rows_are_a_group(tmp_path: Path) -> None:
    table = figure_1()
    groups = np.array([0, 0, 0, 0, -1, 1, 1, -1], np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 0.5), scheme="test")
    home = release.save(tmp_path / "release")
    for trace in (None, release.trace):
        found = dc.audit(home, table, trace=trace)
        assert found.holds and found.withheld == 2, found.sentences()
    # both leukemias withheld: one value makes up the group of the withheld
    groups = np.array([0, 0, 0, 0, -1, 1, -1, 1], np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 0.5), scheme="test")
    home = release.save(tmp_path / "release", force=True)
    found = dc.audit(home, table, trace=release.trace)
    assert not found.holds and "the withheld rows (2) taken as one group" in found.promises[0].sentence


@pytest.mark.slow
@given(tables(largest=40, missing=True), st.integers(0, 1000), st.booleans())
def test_true_releases_hold_and_large_ones_are_checked_too(table: Table, seed: int, large: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(-1 if table.rows > 8 else 0, max(1, table.rows // 4), table.rows).astype(np.int32)
    if table.unusable is not None:
        groups[table.unusable] = -1
    if not (groups >= 0).any():
        return
    blocks = [table.quasi_names[:2]] if len(table.quasi) > 2 and seed % 2 else None
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test", blocks=blocks)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(ambiguous_support, "CELLS", 0)
        home = release.save(Path(folder) / "release")
        for trace in (None, release.trace):
            found = dc.audit(home, table, trace=trace)
            assert found.holds, found.sentences()
            assert found.support == ("trace" if trace is not None else "necessary" if large else "assignment")


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_what_is_refuted_without_a_trace_has_no_explanation(seed: int) -> None:
    """Random lists and counts over a tiny table: the audit refutes exactly those that no dealing of rows explains."""
    rng = np.random.default_rng(seed)
    rows = 5
    columns = {name: rng.integers(0, 3, rows).astype(str) for name in "ab"}
    sensitive_columns = rng.integers(0, 2, rows).astype(str)
    table = read(pa.table({**columns, "s": sensitive_columns}), quasi=["a", "b"], sensitive="s")
    groups = rng.integers(0, 2, rows).astype(np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test")
    # the same lists and counts, laid over a table whose column b was shuffled
    columns["b"] = rng.permutation(columns["b"])
    shuffled = read(pa.table({**columns, "s": sensitive_columns}), quasi=["a", "b"], sensitive="s")

    def shown(chosen: tuple[int, ...]) -> list[tuple[frozenset[str], frozenset[str], tuple[str, ...]]]:
        found = []
        for group in sorted(set(chosen)):
            inside = [row for row in range(rows) if chosen[row] == group]
            found.append(
                (
                    frozenset(columns["a"][inside]),
                    frozenset(columns["b"][inside]),
                    tuple(sorted(sensitive_columns[inside])),
                )
            )
        return found

    real_b = [str(value) for value in table.column("b").values[table.column("b").codes]]
    wanted = []
    for group in sorted(set(groups.tolist())):
        inside = [row for row in range(rows) if groups[row] == group]
        wanted.append(
            (
                frozenset(columns["a"][inside]),
                frozenset(real_b[row] for row in inside),
                tuple(sorted(sensitive_columns[inside])),
            )
        )
    possible = any(shown(chosen) == wanted for chosen in product(sorted(set(groups.tolist())), repeat=rows))
    with tempfile.TemporaryDirectory() as folder:
        home = release.save(Path(folder) / "release")
        found = dc.audit(home, shuffled)
    assert found.holds == possible, found.sentences()
