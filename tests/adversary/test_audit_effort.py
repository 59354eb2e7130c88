"""What audits do no more often than they must, and how they tell how far they are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.adversary.alignment import align
from discreet.adversary.checks import support
from discreet.adversary.checks.support import without_trace
from discreet.datasets import HETEROGENEOUS_QUASI, census
from discreet.families.ambiguity import lookup as finding
from discreet.families.ambiguity import release as ambiguous_asking
from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.boxes.forest import Forest


def published(tmp_path: Path, promise: str, **how: Any) -> tuple[dc.Table, Path, Any]:
    table = census(1_500, **how)
    release = dc.publish(table, promise)
    release.save(tmp_path / "release")
    return table, tmp_path / "release", release.trace


@pytest.mark.parametrize("promise", ["beta-likeness(beta=4)", "alpha-beta(alpha=0.5, beta=0.3)"])
def test_audits_tell_the_share_that_is_done(tmp_path: Path, promise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "LINES", 100)
    table, folder, trace = published(tmp_path, promise, quasi=HETEROGENEOUS_QUASI)
    told: list[tuple[str, float]] = []
    assert dc.audit(folder, table, trace=trace, progress=lambda *one: told.append(one)).holds
    shares = [share for _, share in told]
    assert {stage for stage, _ in told} == {"auditing"}
    assert shares == sorted(shares)
    assert (shares[0], shares[-1] <= 1.0) == (0.0, True)
    assert len(set(shares)) >= (10 if "alpha" in promise else 4)


def test_the_share_grows_while_unions_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.adversary.checks import unions

    monkeypatch.setattr(unions, "POINTS", 50)
    table, folder, trace = published(tmp_path, "proximity(epsilon=500, m=3)", sensitive="income")
    shares: list[float] = []
    dc.audit(folder, table, trace=trace, progress=lambda _, share: shares.append(share))
    assert len(set(shares)) > 8
    assert shares == sorted(shares)


def test_lists_of_an_ambiguous_release_are_indexed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, trace = published(tmp_path, "alpha-beta(alpha=0.5, beta=0.3)", quasi=HETEROGENEOUS_QUASI)
    calls: list[object] = []
    listed = ambiguous_asking.listed
    monkeypatch.setattr(ambiguous_asking, "listed", lambda release: calls.append(release) or listed(release))
    assert dc.audit(folder, table, trace=trace).holds
    assert len(calls) == 1


def test_people_with_the_same_values_are_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, trace = published(tmp_path, "alpha-beta(alpha=0.9, beta=0.5)", quasi=("age", "gender"))
    mixed: list[NDArray[np.int64]] = []
    mix = finding.kernels.mix
    monkeypatch.setattr(finding.kernels, "mix", lambda lines, *given: mixed.append(lines) or mix(lines, *given))
    assert dc.audit(folder, table, trace=trace).holds
    (lines,) = mixed
    assert len(lines) == len(np.unique(lines, axis=0)) < table.rows / 4


@pytest.mark.slow
def test_an_audit_keeps_few_columns_of_a_long_table_at_a_time(tmp_path: Path) -> None:
    table = census(20_000, quasi=HETEROGENEOUS_QUASI)
    release = dc.publish(table, "alpha-beta(alpha=0.2, beta=0.05)")
    release.save(tmp_path / "release")
    dc.audit(tmp_path / "release", table, trace=release.trace)  # which compiles and imports
    tracemalloc.start()
    try:
        dc.audit(tmp_path / "release", table, trace=release.trace)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 800 * table.rows  # 954 bytes a row if the lines of all tables are made at once


def test_one_search_finds_the_rows_that_could_serve_a_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, _ = published(tmp_path, "beta-likeness(beta=4)")

    def never(*given: Any) -> Any:
        raise AssertionError("a second search for the same claims")

    monkeypatch.setattr(support, "tally", never)
    assert dc.audit(folder, table).support == "assignment"


def looked_at(forest: Forest, boxes: Boxes, box_of: NDArray[np.int64], tree_of: NDArray[np.int64]) -> int:
    """How many nodes and points searches for boxes of intervals compare with them."""
    looked = 0
    coming = {int(root): box_of[tree_of == tree] for tree, root in enumerate(forest.roots)}
    for node in range(len(forest.left)):  # children come after their parent
        own = coming.pop(node)
        least, most = forest.low[node], forest.high[node]
        meets = (boxes.low[own] <= most).all(axis=1) & (boxes.high[own] >= least).all(axis=1)
        within = (boxes.low[own] <= least).all(axis=1) & (boxes.high[own] >= most).all(axis=1)
        on = own[meets & ~within]
        looked += len(own)
        if forest.left[node] < 0:
            looked += len(on) * int(forest.last[node] - forest.first[node])
        else:
            coming |= {int(forest.left[node]): on, int(forest.left[node]) + 1: on}
    return looked


def of_sixty(rows: int) -> dc.Table:
    """A table with thirty numbers and thirty categories, some of them missing, as quasi-identifiers."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    for at in range(30):
        numbers = np.round(rng.normal(size=rows) * (3 + at)).astype(int)
        columns[f"n{at}"] = pa.array(numbers.tolist(), mask=rng.random(rows) < 0.02 * (at % 3))
        columns[f"c{at}"] = np.char.add("c", rng.binomial(2 + at % 7, 0.4, rows).astype(str))
    columns["s"] = np.char.add("s", rng.integers(0, 4, rows).astype(str))
    names = list(columns)[:-1]
    kinds = [*names[1::2], "s"]
    return dc.read(pa.table(columns), quasi=names, sensitive="s", categorical=kinds, missing="value")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [dc.Mondrian(), dc.Cuts()])
def test_searches_among_sixty_quasi_identifiers_look_at_few_rows(
    scheme: dc.Scheme, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_claim, kept = [], support.incidences
    for rows in (1_500, 6_000):
        asked: list[tuple[Any, ...]] = []
        monkeypatch.setattr(support, "incidences", lambda *given, own=asked: own.append(given[:4]) or kept(*given))
        table = of_sixty(rows)
        release = dc.publish(table, dc.KAnonymity(5) & dc.BetaLikeness(2), scheme)
        assert without_trace(align(release.revealed(table), table))[1] == "assignment"
        per_claim.append(looked_at(*asked[0]) / len(asked[0][2]))
    assert per_claim[1] < min(200, 2 * per_claim[0])  # 1,284 and 3.5 times as many where trees do not know the boxes


def test_regions_are_searched_once_for_all_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, _ = published(tmp_path, "k-anonymity(k=3)")
    asked: list[int] = []
    tally = support.tally
    monkeypatch.setattr(support, "EDGES", -1)
    monkeypatch.setattr(support, "tally", lambda *given: asked.append(len(given[2])) or tally(*given))
    assert dc.audit(folder, table).support == "necessary"
    assert len(asked) == 1  # the claims of the groups; what lies in regions is not searched for value by value


def test_values_that_all_groups_show_are_looked_up_as_one() -> None:
    table = census(400, quasi=("gender", "education", "age"))
    release = dc.publish(table, "alpha-beta(alpha=0.9, beta=0.5)")
    lists = finding.ByLists(release)
    lines, _, shown, firsts = lists.located(table.quasi)
    fewer, of_line = finding._without_everywhere(lines, shown, firsts, release.groups)
    everywhere = np.flatnonzero(np.diff(shown.starts) == release.groups)
    taken = [int(line[0]) for line in fewer if line[0] in everywhere]
    assert len(set(taken)) <= 1
    whole = finding.kernels.cover(lines, shown, release.groups, release.presences)
    short = finding.kernels.cover(fewer, shown, release.groups, release.presences)
    for one, other in zip(whole, short, strict=True):
        assert one.tolist() == other[of_line].tolist()


def test_people_are_looked_up_once_in_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder, trace = published(tmp_path, "alpha-beta(alpha=0.9, beta=0.5)")
    found: list[int] = []
    located = finding.located
    monkeypatch.setattr(finding, "located", lambda *given: found.append(1) or located(*given))
    assert dc.audit(folder, table, trace=trace).holds
    assert len(found) == 1
    others = [replace(column, codes=column.codes[:5]) for column in table.quasi]
    assert len(dc.load(folder).lookup().located(others).of_point) == 5
