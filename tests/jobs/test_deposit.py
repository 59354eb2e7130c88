"""Releases in databases: the cells of the files in their order, all tables or none, and the password is nowhere."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.datasets import patients_arrow
from discreet.errors import DiscreetError
from discreet.jobs.deposit import Deposit
from discreet.progress import Remarks
from discreet.table import sinks
from discreet.table.addresses import Address
from discreet.table.sinks import Sink, TableName, open_sink
from support.command import refused, run
from support.formats import MAKERS, published_as
from support.postgres import PASSWORD, WRITTEN, Server, programs, serving

pytestmark = pytest.mark.slow
FLAGS = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--keep", "weight", "--seed", "1")
PROMISE = ("--promise", "l-diversity(l=2)")
NO_SERVER = pytest.mark.skipif(
    programs() is None, reason="no PostgreSQL server is installed: apt-get install postgresql"
)
KINDS = ("SQLite", "DuckDB", pytest.param("PostgreSQL", marks=NO_SERVER))


class Base:
    """A database of one kind, empty at first."""

    def __init__(self, kind: str, home: Path, server: Server | None) -> None:
        self.kind, self._server = kind, server
        self.output = server.address("writer") if server else str(home / f"base.{kind.lower()}")
        self.where: Any = Address.of(self.output) if server else Path(self.output)
        self.prefix = "published." if server else ""
        self.table = f"{self.prefix}people"

    def opened(self) -> Any:
        kind: Any = self.kind if self._server is None else "SQLite"
        return open_sink(self.where, kind, "the base")

    def tables(self) -> list[str]:
        """The names of all tables."""
        if self._server is None and not self.where.exists():
            return []
        with self.opened() as base:
            found = [tuple(row) for row in base._rows(base.listed)]
        schemas = ("published",) if self._server else ("main",)
        return sorted(name for schema, name in found if schema in schemas)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of a table, as they come."""
        with self.opened() as base:
            return [tuple(row) for row in base._rows(f"SELECT * FROM {base.named(self.prefix + name).sql}")]

    def execute(self, statement: str) -> None:
        with self.opened() as base:
            base._execute(statement)
            base.commit()

    def clear(self) -> None:
        for name in self.tables():
            self.execute(f'DROP TABLE {"published." if self._server else ""}"{name}"')


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[], Server]]:
    """Starts a server when first asked, and stops it."""
    running = serving()
    started = cache(running.__enter__)
    yield started
    if started.cache_info().currsize:
        running.__exit__(None, None, None)


@pytest.fixture(params=KINDS)
def base(request: pytest.FixtureRequest, people: Path, server: Callable[[], Server]) -> Iterator[Base]:
    made = Base(request.param, people, server() if request.param == "PostgreSQL" else None)
    yield made
    if request.param == "PostgreSQL":
        made.clear()


def publish(base: Base, *more: str, name: str = "people", code: int = 0) -> Any:
    into = ("-o", base.output, "--output-table", base.prefix + name)
    return run("publish", "patients.csv", *into, *FLAGS, *PROMISE, *more, code=code)


def not_published(base: Base, *more: str, name: str = "people") -> str:
    into = ("-o", base.output, "--output-table", base.prefix + name)
    return refused("publish", "patients.csv", *into, *FLAGS, *PROMISE, "--quiet", *more)


def cells(path: Path) -> list[tuple[Any, ...]]:
    table = pq.read_table(path)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_tables_have_the_cells_of_the_files_in_their_order(base: Base, people: Path) -> None:
    for more in ((), ("--scheme", "anatomy")):
        run("publish", "patients.csv", "-o", "files", *FLAGS, *PROMISE, *more, "--format", "parquet", "--force")
        shown = publish(base, *more, "--format", "parquet", "--json", "--trace", "rows.csv", "--force")
        said = json.loads(shown.stdout)
        assert said["table"] == base.table and said["holds"]
        stems = {path.stem: path for path in (people / "files").glob("*.parquet")}
        for stem, path in stems.items():
            assert base.rows("people" if stem == "table" else f"people_{stem}") == cells(path)
        manifest = (people / "files/release.json").read_text(encoding="utf-8")
        assert base.rows("people_manifest") == [(manifest.removesuffix("\n"),)]
        assert len(base.tables()) == len(stems) + 1, "what the first release had and the second lacks is gone"
        assert (people / "rows.csv").is_file()
    assert {type(cell) for row in base.rows("people") for cell in row} == {int, str}
    assert "The release is in the table" in publish(base, name="others").output


@pytest.mark.parametrize("format", MAKERS)
def test_every_format_has_its_tables(format: str, tmp_path: Path) -> None:
    sensitive = "weight" if format == "retained" else "disease"
    table = dc.read(patients_arrow(), quasi=["age", "sex"], sensitive=sensitive)
    release = published_as(format, table)
    release.save(tmp_path / "release", "parquet")
    deposit = Deposit(tmp_path / "base.sqlite", "'base.sqlite'", "t", False)
    deposit.place(tmp_path / "release", deposit.check(), Remarks())
    with closing(sqlite3.connect(tmp_path / "base.sqlite")) as made:
        for path in (tmp_path / "release").glob("*.parquet"):
            name = "t" if path.stem == "table" else f"t_{path.stem.removeprefix('table_')}"
            assert made.execute(f'SELECT * FROM "{name}"').fetchall() == cells(path)


def test_what_is_there_is_replaced_only_with_force_and_if_it_is_a_release(base: Base) -> None:
    publish(base, "--scheme", "anatomy")
    before = {name: base.rows(name) for name in base.tables()}
    assert "has a table 'people' already; choose another name, or --force to replace a release" in not_published(base)
    assert {name: base.rows(name) for name in base.tables()} == before
    again = publish(base, "--force").output
    assert "this replaces the release in the table" in again.replace("\n", " ")
    others = {"people", "people_manifest", "people_marginals"}
    assert set(base.tables()) == others
    for name, content in (("own", "x TEXT"), ("sly_manifest", "manifest TEXT")):
        base.execute(f"CREATE TABLE {base.prefix}{name} ({content})")
        said = not_published(base, "--force", name=name.removesuffix("_manifest"))
        assert f"the table {name!r} of" in said and "is no part of a release, so it is not replaced even" in said
    assert set(base.tables()) == {"own", "sly_manifest", *others}


def test_if_anything_fails_nothing_is_written(base: Base, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(base, name="first")
    before = {name: base.rows(name) for name in base.tables()}
    read = {kind: kind.read for kind in Sink.__subclasses__()}

    def other(self: Sink, table: TableName, schema: pa.Schema) -> pa.Table:
        return read[type(self)](self, table, schema).slice(1)

    with monkeypatch.context() as only:
        for kind in read:
            only.setattr(kind, "read", other)
        assert "holds something else than was written to the table 'first'" in not_published(
            base, "--force", "--trace", "trace.csv", name="first"
        )
        assert "holds something else than was written to the table 'people'" in not_published(base)
    assert {name: base.rows(name) for name in base.tables()} == before
    left = {path.name for path in people.iterdir()} - {Path(base.output).name}
    assert left == {"patients.csv"}


def test_a_trace_that_cannot_follow_is_told(base: Base, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Deposit.place

    def late(self: Deposit, *given: Any) -> None:
        usual(self, *given)
        (people / "trace.csv").write_text("other")

    monkeypatch.setattr(Deposit, "place", late)
    said = not_published(base, "--trace", "trace.csv")
    assert "the release is in the table" in said and "but its trace cannot be put into its place" in said
    assert (people / "trace.csv").read_text() == "other" and len(base.rows("people")) == 48


def test_a_release_that_another_command_placed_meanwhile_stays(base: Base, people: Path) -> None:
    publish(base)
    run("publish", "patients.csv", "-o", "files", *FLAGS, *PROMISE)
    late = Deposit(base.where, "the base", base.table, True)
    before = late.check()
    publish(base, "--scheme", "mondrian", "--force")
    with pytest.raises(DiscreetError, match="another command published to the table"):
        late.place(people / "files", before, Remarks())
    assert '"mondrian"' in base.rows("people_manifest")[0][0]


@given(
    names=st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12), min_size=1, max_size=3),
    cells=st.lists(st.none() | st.text(st.characters(exclude_categories=["C"]), max_size=5), max_size=4),
    numbers=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False), max_size=4),
)
def test_any_names_and_cells_come_back(names: list[str], cells: list[str | None], numbers: list[Any]) -> None:
    names = [f"{at}{name}" for at, name in enumerate(names)]
    whole = all(number is None or isinstance(number, int) for number in numbers)
    kept = pa.array(numbers, pa.int64()) if whole else pa.array([None if n is None else float(n) for n in numbers])
    height = min(len(cells), len(kept))
    columns = [kept.slice(0, height), *(pa.array(cells[:height], pa.string()) for _ in names)]
    content = pa.table(columns, names=['\'); DROP TABLE "x"; --', *names])
    for kind in ("SQLite", "DuckDB"):
        with open_sink(Path(":memory:"), kind, "the base") as base:  # type: ignore[arg-type]
            table = base.named('a "b; --')
            base.create(table, content)
            assert base.has(table) and base.read(table, content.schema).equals(content)


def test_what_is_dropped_from_a_file_of_sqlite_is_overwritten(people: Path, server: Callable[[], Server]) -> None:
    base = Base("SQLite", people, None)
    publish(base, "--scheme", "anatomy")
    assert b"anatomy" in base.where.read_bytes()
    publish(base, "--force")
    assert b"anatomy" not in base.where.read_bytes()


def test_what_cannot_be_an_output_is_one_sentence(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_to = ("publish", "patients.csv", *FLAGS, *PROMISE)
    (people / "folder").mkdir()
    (people / "damaged.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 4000)
    (people / "damaged.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + b"x" * 4000)
    with closing(sqlite3.connect("held.sqlite")) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sinks, "PATIENCE", 0.1)
        for output, name, said in (
            ("patients.csv", "people", "the database 'patients.csv' would overwrite the input"),
            ("folder", "people", "the database 'folder' is a folder; name a file"),
            ("new.txt", "people", "'new.txt' is no database, in which --output-table could name a table"),
            ("none/new.sqlite", "people", "there is no folder"),
            ("new.sqlite", "a.b", "SQLite has no schemas"),
            ("new.duckdb", "none.people", "cannot be written (Catalog Error: Schema with name none does not exist!)"),
            ("new.sqlite", "sqlite_x", "object name reserved for internal use"),
            ("new.duckdb", ".people", "names no table; write for example --output-table people"),
            ("held.sqlite", "people", "cannot be written (database is locked), and nothing was"),
            ("damaged.sqlite", "people", "cannot be written"),
            ("damaged.duckdb", "people", "cannot be written"),
            ("postgresql://h.example:1/x", "people", "cannot be reached"),
        ):
            found = refused(*publish_to, "-o", output, "--output-table", name)
            assert said in found, (output, found)
    assert "the address of a database is no folder" in refused(*publish_to, "-o", "postgresql://h/x")
    assert "is no database" in refused(*publish_to, "-o", "trace.csv", "--output-table", "t")
    assert not [path for path in people.iterdir() if path.name.startswith(("new", "."))]
    (people / "held.sqlite").chmod(0o400)
    monkeypatch.setattr(sinks, "_sqlite", lambda package, where: package.connect(f"file:{where}?mode=ro", uri=True))
    assert "cannot be written (attempt to write a readonly database)" in refused(
        *publish_to, "-o", "held.sqlite", "--output-table", "people"
    )


# ---------------------------------------------------------------------------------------------------------- PostgreSQL


@pytest.fixture
def clinic(people: Path, server: Callable[[], Server]) -> Iterator[Base]:
    made = Base("PostgreSQL", people, server())
    yield made
    made.clear()


@NO_SERVER
def test_faults_of_the_server_are_one_sentence(clinic: Base, server: Callable[[], Server], people: Path) -> None:
    run_by = server()
    here = f"'postgresql://127.0.0.1:{run_by.port}/clinic'"
    run_by.execute("ALTER ROLE nobody SET default_transaction_read_only = on")
    longest = "x" * 60
    for output, table, said in (
        (run_by.address("writer", "wrong"), "published.people", f"{here} refuses the login"),
        (run_by.address("reader"), "published.people", "does not give this user the right to that (permission denied"),
        (run_by.address("writer"), "people", "(permission denied for schema public); ask for it"),
        (run_by.address("writer"), "publishd.people", '(schema "publishd" does not exist)'),
        (run_by.address("nobody"), "public.people", "read-only transaction"),
        (run_by.address("writer"), f"published.{longest}", f"the name '{longest}_unfinished' has more than the 63"),
    ):
        assert said in refused("publish", "patients.csv", "-o", output, "--output-table", table, *FLAGS, *PROMISE), (
            table
        )
    assert clinic.tables() == [] and [path.name for path in people.iterdir()] == ["patients.csv"]


@NO_SERVER
@pytest.mark.parametrize("moment", ["_fill", "read", "_commit"])
def test_a_connection_that_breaks_off(
    moment: str, clinic: Base, server: Callable[[], Server], people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, calls = getattr(sinks._Postgres, moment), []

    def broken(self: Sink, *given: Any) -> Any:
        calls.append(given)
        if len(calls) == (1 if moment != "_fill" else 2):  # after the rehearsal
            server().execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'writer'")
        return usual(self, *given)

    monkeypatch.setattr(sinks._Postgres, moment, broken)
    said = not_published(clinic, "--trace", "trace.csv")
    monkeypatch.undo()
    os.chdir(people)
    assert "broke off in the last step" in said if moment == "_commit" else "broke off, and nothing was written" in said
    assert clinic.tables() == [] and [path.name for path in people.iterdir()] == ["patients.csv"]


@NO_SERVER
def test_the_password_is_nowhere(clinic: Base, people: Path) -> None:
    job = people / "job.toml"
    job.write_text(
        f'input = "patients.csv"\noutput = "{clinic.output}"\noutput_table = "{clinic.table}"\nquasi = ["age"]\n'
        'sensitive = "disease"\npromises = ["l-diversity(l=2)"]\nforce = true\n'
    )
    shown = [run("publish", "--job", str(job), *more).output for more in ((), ("--json",))]
    shown.append(run("publish", "--job", str(job), "--output-table", "publishd.people", code=2).output)
    job.unlink()
    assert f"of 'postgresql://writer@127.0.0.1:{server_port(clinic)}/clinic'" in shown[0].replace("\n", " ")
    stored = [str(row) for name in clinic.tables() for row in clinic.rows(name)]
    for content in (*shown, *stored):
        assert PASSWORD not in content and WRITTEN not in content


def server_port(base: Base) -> str:
    return base.output.partition("127.0.0.1:")[2].partition("/")[0]


@NO_SERVER
@pytest.mark.skipif(not (programs() or Path()).joinpath("psql").exists(), reason="no psql is installed here")
def test_the_page_says_how_to_get_the_folder_back(clinic: Base, people: Path, server: Callable[[], Server]) -> None:
    publish(clinic)
    page = (Path(__file__).parents[2] / "docs/tables/databases.md").read_text(encoding="utf-8")
    (script,) = (block for block in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) if "psql" in block)
    run_by = server()
    run_by.execute(
        "GRANT USAGE ON SCHEMA published TO reader", "GRANT SELECT ON ALL TABLES IN SCHEMA published TO reader"
    )
    script = script.replace("@db.example/", f"@127.0.0.1:{run_by.port}/")
    script = script.replace("psql ", f"{(programs() or Path()) / 'psql'} ")
    folder = people / "fetched"
    folder.mkdir()
    subprocess.run(["bash", "-ec", script], check=True, env={**os.environ, "PGPASSWORD": PASSWORD}, cwd=folder)
    run("audit", "fetched", "--original", "patients.csv", *FLAGS[:-2])
