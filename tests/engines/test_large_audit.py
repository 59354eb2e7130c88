"""The audit of large releases: its verdict is that of the ordinary audit, whatever is done to a release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import discreet as dc
from batteries import BATTERIES
from batteries.battery import alterations
from discreet.adversary.audit import Audit
from discreet.engines.audit import audit
from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.examination import UNTRACED
from discreet.engines.source import Files, Readable
from discreet.errors import DiscreetError
from discreet.table.spec import TableSpec
from fuzz.cases import draw_case
from fuzz.promises import draw_promise
from support.command import run
from support.engines import as_array, of_case
from support.tampering import Alteration, altered_folder, dropped, put, repeated, shuffled, swapped

pytest.importorskip("duckdb")
NUMBERS = count()


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables have many slices, too."""
    monkeypatch.setattr("discreet.engines.slices.SLICE_ROWS", 7)


@contextmanager
def reading(table: pa.Table, spec: TableSpec, folder: Path) -> Iterator[DuckdbEngine]:
    """Open an engine on a table."""
    work = folder / f"engine-{next(NUMBERS)}"
    work.mkdir()
    pq.write_table(table, work / "table.parquet")
    with DuckdbEngine(
        Readable.of(Files.of(str(work / "table.parquet")), spec, work), work / "base", 200_000_000
    ) as engine:
        yield engine


def audited(home: Path, engine: DuckdbEngine, spec: TableSpec, folder: Path, trace: Any, promises: Any = None) -> Audit:
    """Audit a release with the engine; the trace is an array."""
    work = folder / f"work-{next(NUMBERS)}"
    work.mkdir()
    path = None
    if trace is not None:
        path = work / "trace.csv"
        path.write_text(
            "row,group\n" + "".join(f"{row},{'' if group < 0 else group}\n" for row, group in enumerate(trace))
        )
    return audit(str(home), engine, spec, work, trace=path, promises=promises)


def failed(found: Audit) -> set[str]:
    """The names of what fails."""
    names = {check.name for check in found.checks if not check.holds}
    names |= {"broken" for kept in found.promises if not kept.holds}
    assert found.holds == (not names)
    return names


def names_of(make: Any, *given: Any, **more: Any) -> tuple[set[str], str]:
    """The names of what fails in an audit, and its verdict."""
    try:
        found = make(*given, **more)
    except DiscreetError as refusal:
        return {"refused"}, str(refusal)
    return failed(found), found.verdict


def same(large: Audit, ordinary: Audit) -> None:
    """Both found the same."""
    assert (large.holds, large.rows, large.groups, large.asked, large.stated, large.given) == (
        ordinary.holds, ordinary.rows, ordinary.groups, ordinary.asked, ordinary.stated, ordinary.given
    )  # fmt: skip
    assert large.certain == ordinary.certain
    for own, other in zip(large.promises, ordinary.promises, strict=True):
        assert (own.promise, own.holds, own.broken) == (other.promise, other.holds, other.broken)
        assert own.strain == pytest.approx(other.strain) and own.achieved == pytest.approx(other.achieved)
        assert own.average == pytest.approx(other.average)
        if own.group == other.group:
            assert own == replace(other, average=own.average, achieved=own.achieved, strain=own.strain)
    assert large.losses == pytest.approx(ordinary.losses)
    said = {check.name: check for check in ordinary.checks}
    for check in large.checks:
        if check.name in (
            "manifest",
            "domains",
            "listed",
            "grid",
            "steps",
            "roles",
            "promise",
            "certain",
            "consistency",
        ):
            assert check == said[check.name]
    assert {check.name for check in ordinary.checks} == {check.name for check in large.checks}


ANYWHERE = (swapped, put, repeated, dropped)


def somehow(chance: Random, names: list[str], rows: int) -> Alteration:
    """Something that is done to a table by chance."""
    done, line, column = chance.choice(ANYWHERE), chance.randrange(rows), chance.choice(names)
    if done is swapped:
        return swapped("table", column, line, chance.randrange(rows))
    if done is put:
        return put("table", column, lambda text: chance.choice([f"{text}0", "1", "*", text]), line)
    return done("table", line)


def random_release(seed: int, folder: Path) -> tuple[Random, pa.Table, TableSpec, Any, dc.Release, str] | None:
    """A random table and a release of it, if there is one."""
    chance = Random(seed)
    case = draw_case(chance, several=False)
    promise = draw_promise(chance, case.sensitive[0])
    if case.kept or case.missing == "withhold":
        return None
    table = pa.table([as_array(one) for one in case.columns], [one.name for one in case.columns])
    how = of_case(case)
    try:
        read = dc.read(table, **how)
        release = dc.publish(
            read, promise.text, f"cuts(marginals=none, snap={chance.choice(['true', 'false', 'auto'])})"
        )
        release.save(folder)
    except DiscreetError:
        return None
    bounds_presence = any(part.hides_presence for part in dc.parse(promise.text).parts)
    if release.withheld or bounds_presence:
        return None
    return chance, table, TableSpec(**how), read, release, promise.text


@pytest.mark.slow
def test_random_releases_have_the_verdict_of_the_ordinary_audit(tmp_path: Path) -> None:
    done = rejected = 0
    for seed in range(150):
        home = tmp_path / f"release-{seed}"
        made = random_release(seed, home)
        if made is None:
            continue
        chance, table, spec, read, release, promise = made
        done += 1
        promises = [dc.parse(promise), dc.parse("k-anonymity(k=3)")]
        with reading(table, spec, tmp_path) as engine:
            for trace in (None, release.trace):
                large = audited(home, engine, spec, tmp_path, trace, promises)
                same(large, dc.audit(home, read, trace=trace, promises=promises))
                assert (UNTRACED in large.verdict) == (trace is None and large.holds)
            names = [attribute.name for attribute in release.attributes]
            for number in range(3):
                bad = tmp_path / f"bad-{seed}-{number}"
                alteration = somehow(chance, [*names, "group"], release.rows)
                try:
                    trace = altered_folder(home, bad, alteration).moved(release.trace)
                except (ValueError, IndexError):
                    continue
                ordinary, _ = names_of(dc.audit, bad, read, trace=trace)
                own, told = names_of(audited, bad, engine, spec, tmp_path, trace)
                assert bool(own) == bool(ordinary), (seed, number, ordinary, own, told)
                rejected += bool(own)
    assert done >= 40 and rejected >= 60


BATTERY = BATTERIES["generalized"]._replace(keep=())
ALTERATIONS = {what: found for what, found in alterations(BATTERY).items() if "kept value" not in what}
OTHERWISE = {
    "more rows are said to be withheld": {"refused"},
    "the sensitive attribute is said to be kept along": {"roles"},
    "a line is dropped and said to be withheld": {"refused"},
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> tuple[pa.Table, Any, NDArray[np.int32], Path]:
    """All ages differ, so that whose value is whose is known."""
    rng, numbers = np.random.default_rng(0), np.arange(BATTERY.rows)
    pay = rng.permutation(np.maximum(numbers % 14 - 2, 0)) * 100
    table = pa.table({"age": 20 + numbers, "sex": rng.choice(["f", "m"], len(numbers)), "pay": pay})
    read = dc.read(table, quasi=["age", "sex"], sensitive="pay")
    release = dc.publish(read, BATTERY.promise, "cuts(marginals=none, snap=false)")
    home = tmp_path_factory.mktemp("audit") / "release"
    release.save(home)
    assert release.trace is not None
    return table, read, release.trace, home


@pytest.mark.slow
@pytest.mark.parametrize("what", ALTERATIONS)
def test_an_altered_release_fails_as_in_the_ordinary_audit(target: Any, tmp_path: Path, what: str) -> None:
    """Without the trace, what only the support of rows shows is not shown, and the verdict says so."""
    table, read, trace, home = target
    alteration, _ = ALTERATIONS[what]
    spec = TableSpec(quasi=["age", "sex"], sensitive="pay")
    folder = altered_folder(home, tmp_path / "bad", alteration)
    with reading(table, spec, tmp_path) as engine:
        for given in (None, folder.moved(trace)):
            ordinary, _ = names_of(dc.audit, tmp_path / "bad", read, trace=given)
            own, told = names_of(audited, tmp_path / "bad", engine, spec, tmp_path, given)
            assert ordinary
            if given is None and ordinary == {"support"}:
                assert not own and UNTRACED in told
            elif what in OTHERWISE:
                assert own == OTHERWISE[what]
            elif "order" in ordinary:  # where lines are in no order of groups, nothing else is judged
                assert "order" in own
            else:
                assert own == (ordinary - {"support"} if given is None else ordinary), told
            if what.startswith("a description is narrowed"):
                break


TRACES = {
    "does not name 1 row": lambda trace: trace[:-1],
    "has 2 rows that the original does not have": lambda trace: np.append(trace, [0, 0]),
    "names group 999|groups that the release does not have": lambda trace: np.r_[999, trace[1:]],
    "is not published with the sensitive values": lambda trace: np.roll(trace, 1),
    "withhold": lambda trace: np.r_[-1, trace[1:]],
}


@pytest.mark.parametrize("sentence", TRACES)
def test_another_trace_does_not_explain_the_release(target: Any, tmp_path: Path, sentence: str) -> None:
    table, _, trace, home = target
    spec = TableSpec(quasi=["age", "sex"], sensitive="pay")
    with reading(table, spec, tmp_path) as engine:
        found = audited(home, engine, spec, tmp_path, TRACES[sentence](trace))
        assert failed(found) == {"support"}
        [check] = [check for check in found.checks if check.name == "support"]
        assert any(part in check.sentence for part in sentence.split("|")), check.sentence


def test_a_trace_that_names_a_row_twice_or_is_none(target: Any, tmp_path: Path) -> None:
    table, _, trace, home = target
    spec = TableSpec(quasi=["age", "sex"], sensitive="pay")
    twice = "row,group\n" + "".join(f"{min(row, 58)},{group}\n" for row, group in enumerate(trace))
    with reading(table, spec, tmp_path) as engine:
        for text, says in (
            (twice, "more than once"),
            ("row,group\na,b\n", "the trace"),
            ("group\n0\n", "the columns row and group"),
        ):
            (tmp_path / "trace.csv").write_text(text)
            work = tmp_path / f"work-{len(text)}"
            work.mkdir()
            try:
                found = audit(str(home), engine, spec, work, trace=tmp_path / "trace.csv")
                told = " ".join(check.sentence for check in found.checks if not check.holds)
            except DiscreetError as fault:
                told = str(fault)
            assert says in told and "\n" not in told


def test_lines_in_another_order_of_groups_fail(target: Any, tmp_path: Path) -> None:
    table, _, trace, home = target
    spec = TableSpec(quasi=["age", "sex"], sensitive="pay")
    altered_folder(home, tmp_path / "bad", shuffled(groups=False))
    with reading(table, spec, tmp_path) as engine:
        assert failed(audited(tmp_path / "bad", engine, spec, tmp_path, trace)) == {"order"}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_command_audits_what_it_published(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"age": rng.integers(20, 60, 300), "ill": rng.choice(["a", "b", "c"], 300)})
    pq.write_table(table, tmp_path / "t.parquet")
    words = [
        "publish",
        "t.parquet",
        "-o",
        "release",
        "--quasi",
        "age",
        "--sensitive",
        "ill",
        "--promise",
        "l-diversity(l=2)",
    ]
    words += ["--scheme", "cuts", "--engine", "duckdb", "--trace", "trace.csv", "--format", format]
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path)
        run(*words)
        asked = [
            "--original",
            "t.parquet",
            "--engine",
            "duckdb",
            "--memory",
            "1GB",
            "--quasi",
            "age",
            "--sensitive",
            "ill",
        ]
        done = run("audit", "release", *asked, "--trace", "trace.csv")
        assert "By the private trace" in done.output and "not checked" not in done.output
        assert UNTRACED in " ".join(run("audit", "release", *asked).output.split())
        refused = run("audit", "release", *asked, "--population", "t.parquet", code=2)
        assert "no population" in refused.output


def test_releases_that_are_not_audited_in_parts_are_refused(target: Any, tmp_path: Path) -> None:
    table, read, _, _ = target
    spec = TableSpec(quasi=["age", "sex"], sensitive="pay")
    for scheme, what in (("anatomy", "format anatomy"), ("cuts(marginals=one-way)", "counts of quasi-identifiers")):
        home = tmp_path / what.split()[0]
        dc.publish(read, "l-diversity(l=2)", scheme).save(home)
        with reading(table, spec, tmp_path) as engine, pytest.raises(DiscreetError, match=what) as fault:
            audited(home, engine, spec, tmp_path, None)
        assert "engine" in str(fault.value)
