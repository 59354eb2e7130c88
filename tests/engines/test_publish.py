"""Releases that an engine makes of tables in several parts: judged by definitions, and by the ordinary audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets.census import census_arrow
from discreet.engines import groups
from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.scale import Scale
from discreet.engines.source import Files, Readable
from discreet.engines.vocabulary import Vocabulary, coded
from discreet.errors import DiscreetError
from discreet.jobs.job import Job
from discreet.jobs.large import Large, carry_out_large
from discreet.releases.boxes import columns_at
from discreet.schemes import make_scheme
from discreet.schemes.cuts.scheme import Cuts
from discreet.table.spec import TableSpec
from support.command import run
from support.engines import SMALL

pytest.importorskip("duckdb")


def published(path: Path, folder: Path, promise: str, scale: Scale = SMALL, **more: Any) -> Large:
    """Publish a file with the engine."""
    keys = {"input": str(path), "output": str(folder), "promises": [promise], "engine": "duckdb", "scheme": "cuts"}
    return carry_out_large(Job.of({**keys, **more}), scale=scale)


def census_file(folder: Path, rows: int = 6_000) -> Path:
    """A census without hierarchies, with a column of few values."""
    path = folder / "census.parquet"
    pq.write_table(census_arrow(rows, attributes=["age", "gender", "education", "salary"]), path)
    return path


ROLES: dict[str, Any] = {"quasi": ["age", "gender", "education"], "sensitive": ["salary"]}


@pytest.mark.parametrize("scheme", ["cuts", "mondrian"])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_in_parts_loses_as_much_as_one_in_memory(tmp_path: Path, scheme: str, format: str) -> None:
    path, promise = census_file(tmp_path), "beta-likeness(beta=4)"
    scale = Scale(200_000_000, 800, (3_000, 3_000))
    trace = tmp_path / "trace.csv"
    kept: dict[str, Any] = {"seed": 1, "format": format, "trace": str(trace), **ROLES}
    made = published(path, tmp_path / "release", promise, scale, scheme=scheme, **kept)
    assert made.written.parts > 4 and made.written.rows == 6_000
    table = dc.read(path, **ROLES)
    audited = dc.audit(tmp_path / "release", table, trace=trace, promises=[promise])
    assert audited.holds and audited.support == "trace" and trace.stat().st_mode & 0o077 == 0
    whole = dc.publish(table, promise, make_scheme(scheme, random_state=1))
    assert ail(dc.load(tmp_path / "release")) == pytest.approx(ail(whole), rel=0.25)


def test_one_part_is_what_memory_publishes(tmp_path: Path) -> None:
    """Byte for byte but for the marginals: names, numbers of groups, the order of lines, the pages of the file."""
    path, promise = census_file(tmp_path), "beta-likeness(beta=2)"
    scale = Scale(200_000_000, 10_000)
    published(
        path, tmp_path / "release", promise, scale, options={"marginals": "none"}, seed=1, format="parquet", **ROLES
    )
    scheme = make_scheme("cuts(marginals=none)", random_state=1)
    dc.publish(dc.read(path, **ROLES), promise, scheme).save(tmp_path / "memory", format="parquet")
    for name in ("table.parquet", "release.json"):
        assert (tmp_path / "release" / name).read_bytes() == (tmp_path / "memory" / name).read_bytes()


def test_texts_are_sorted_as_everywhere_and_pieces_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b", "B", "é", "a b", 'q"x', "z,", "😀", "\uffee", "", None]
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "city": pa.array([names[at] for at in rng.integers(0, len(names), 600)]),
            "pay": pa.array(rng.choice([1.5, -0.0, 2.0, 1e20], 600)),
            "ill": pa.array([names[at] for at in rng.integers(0, 4, 600)]),
        }
    )
    path = tmp_path / "odd[1]*.parquet"
    pq.write_table(table, path)
    roles: dict[str, Any] = {"quasi": ["city", "pay"], "sensitive": ["ill"]}
    for format in ("csv", "parquet"):
        with monkeypatch.context() as patched:
            if format == "csv":
                patched.setattr("discreet.engines.groups.PIECE_ROWS", 64)
            published(
                path, tmp_path / format, "l-diversity(l=2)", Scale(200_000_000, 100, (200, 200)), format=format, **roles
            )
        audit = dc.audit(tmp_path / format, dc.read(path, **roles), promises=["l-diversity(l=2)"])
        assert audit.holds, [check.sentence for check in audit.checks if not check.holds]


def test_the_rows_of_large_groups_are_not_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "PIECE_ROWS", 100)
    sizes = np.random.default_rng(0).integers(1, 60, 500).tolist()
    batch = pa.record_batch({"q0": ["*"] * 500, "members": [bytes(4 * size) for size in sizes]})
    runs = [pc.binary_length(run.column(1)).to_pylist() for run in groups._few_rows(batch)]
    assert [length // 4 for run in runs for length in run] == sizes
    assert max(sum(run) // 4 for run in runs) <= 100 + 60


def test_groups_of_plain_cuts_do_not_overlap_in_several_parts_either(tmp_path: Path) -> None:
    path, options = census_file(tmp_path), {"snap": "false", "values": "set", "cuts": "plain"}
    scale = Scale(200_000_000, 800, (3_000, 3_000))
    made = published(path, tmp_path / "release", "k-anonymity(k=20)", scale, options=options, **ROLES)
    assert made.written.parts > 4
    release, table = dc.load(tmp_path / "release"), dc.read(path, **ROLES)
    points = {column.name: np.array(column.values)[column.codes] for column in table.quasi}
    found = release.lookup().find(columns_at(release.quasi, points), release.lookup().known_chances)
    assert set(found.groups.tolist()) == {1}


# ------------------------------------------------------------------------------------------------------------- faults


def test_a_value_that_no_sample_has_and_a_part_with_one_row_are_published(tmp_path: Path) -> None:
    ages = [*range(20, 40)] * 20 + [99]
    table = pa.table({"age": ages, "ill": [("a", "b")[at % 2] for at in range(len(ages))]})
    pq.write_table(table, tmp_path / "t.parquet")
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"]}
    published(tmp_path / "t.parquet", tmp_path / "r", "k-anonymity(k=1)", Scale(200_000_000, 20, (40, 40)), **roles)
    assert dc.audit(tmp_path / "r", dc.read(tmp_path / "t.parquet", **roles)).holds


def test_a_source_that_changes_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = census_file(tmp_path)
    changed = pq.read_table(path).slice(0, 5_990)
    for replaced in (changed, pa.concat_tables([changed, pq.read_table(path).slice(0, 10)])):
        rows = DuckdbEngine.over_rows

        def late(self: Any, *given: Any, replaced: pa.Table = replaced, rows: Any = rows) -> Any:
            pq.write_table(replaced, path)
            return rows(self, *given)

        with monkeypatch.context() as patched:
            patched.setattr(DuckdbEngine, "over_rows", late)
            with pytest.raises(DiscreetError, match="changed while it was read"):
                published(path, tmp_path / "release", "beta-likeness(beta=4)", **ROLES)
        assert [each.name for each in tmp_path.iterdir()] == ["census.parquet"]
        census_file(tmp_path)


def test_nothing_is_published_if_a_scheme_breaks_the_promise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cuts, "groups", lambda self, task: np.arange(len(task.rows), dtype=np.int32))
    with pytest.raises(AssertionError, match="a group breaks"):
        published(census_file(tmp_path), tmp_path / "r", "beta-likeness(beta=4)", Scale(200_000_000, 9_000), **ROLES)
    assert [each.name for each in tmp_path.iterdir()] == ["census.parquet"]


REFUSED: dict[str, dict[str, Any]] = {
    "only with cuts and mondrian": {"scheme": "burel"},
    "only with one": {"sensitive": ["salary", "education"], "quasi": ["age"]},
    "columns as they are": {"keep": ["gender"], "quasi": ["age"]},
    "persons who have several rows": {"person": "gender", "quasi": ["age"]},
    "under promises about presence": {"promises": ["alpha-beta(alpha=0.2, beta=0.5)"]},
    "exact descriptions": {"options": {"descriptions": "exact"}},
    "counts of quasi-identifiers": {"options": {"marginals": "one-way"}},
    "groups that nobody fits two of": {"options": {"overlap": "none"}},
    "bins by quantiles": {"bins": {"age": "quantiles:4"}},
    "releases that withhold rows": {"missing": "withhold"},
    "into no database": {"output_table": "people"},
    "about other tables than": {"delimiter": ";"},
    "has repeated values": {"identifiers": ["gender"], "quasi": ["age"]},
    "there is no column 'agee'": {"quasi": ["agee"]},
    "is no amount of memory": {"memory": "2 elephants"},
    "is too little": {"memory": "10MB"},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_not_supported_is_refused_with_a_way_out(tmp_path: Path, sentence: str) -> None:
    path = census_file(tmp_path, 200)
    keys = {"input": str(path), "output": str(tmp_path / "release"), "promises": ["l-diversity(l=2)"], "scheme": "cuts"}
    with pytest.raises(DiscreetError, match=sentence) as refused:
        carry_out_large(Job.of({**keys, **ROLES, "engine": "duckdb", **REFUSED[sentence]}))
    assert "\n" not in str(refused.value)
    assert [each.name for each in tmp_path.iterdir()] == ["census.parquet"]


def test_columns_that_duckdb_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    how: dict[str, Any] = {"quasi": ["age"], "sensitive": ["salary"]}
    pq.write_table(pa.table({"age": [1], "Age": [2], "salary": [3]}), tmp_path / "t.parquet")
    with pytest.raises(DiscreetError, match="upper or lower case"):
        published(tmp_path / "t.parquet", tmp_path / "r", "l-diversity(l=2)", **how)


def test_the_vocabulary_has_the_columns_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    days = pa.array([19_000, 19_031, 19_000, 18_000], pa.int32()).cast(pa.date32())
    table = pa.table(
        {"day": days, "pay": [1.25, float("nan"), None, 3.0], "ok": [True, None, False, True], "s": list("abca")}
    )
    pq.write_table(table, path)
    spec = TableSpec(quasi=["day", "pay", "ok"], sensitive="s", missing="value")
    source = Readable.of(Files.of(str(path)), spec, tmp_path)
    with DuckdbEngine(source, tmp_path / "work", 200_000_000) as engine:
        names = ("day", "pay", "ok", "s")
        found = Vocabulary.of([engine.count(name) for name in names], spec)
        [[rows]] = list(engine.over_rows(names, 1, list, lambda rows: None))
    memory = dc.read(path, quasi=["day", "pay", "ok"], sensitive="s", missing="value")
    held = coded(found.codes, rows)
    order = np.argsort(rows.lots)
    assert (rows.lots[order] < 1).all()
    for at, (own, column) in enumerate(zip(found.table.columns, memory.columns, strict=True)):
        assert own.texts == column.texts and own.kind == column.kind and own.domain == column.domain
        assert found.counts[at].tolist() == np.bincount(column.codes, minlength=len(column.values)).tolist()
    assert sorted(held.sensitive.tolist()) == sorted(memory.sensitive_codes.tolist())


def test_the_command_publishes_and_says_what_was_counted(tmp_path: Path) -> None:
    path = census_file(tmp_path, 500)
    words = ["publish", path, "-o", tmp_path / "release", "--quasi", "age,gender", "--sensitive", "salary", "--promise"]
    done = run(*map(str, words), "l-diversity(l=3)", "--engine", "duckdb", "--memory", "1GB", "--scheme", "cuts")
    assert "l-diversity(l=3) holds in every group, counted in the files" in done.output
