"""PostgreSQL as a source: read like a file, only read, and the password is nowhere."""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients_arrow
from discreet.errors import DiscreetError
from discreet.table import postgres
from discreet.table.addresses import addressed
from support.command import refused, run
from support.postgres import PASSWORD, WRITTEN, Server, programs, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="no PostgreSQL server is installed here: apt-get install postgresql"),
]
ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zip", "weight"], "sensitive": "disease"}
FLAGS = ("--quasi", "age,sex,zip,weight", "--sensitive", "disease")
PROMISE = ("--promise", "l-diversity(l=2)")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        running.write("patients", patients_arrow())
        running.execute(
            "CREATE TABLE secret AS SELECT * FROM patients",
            "REVOKE ALL ON secret FROM reader",
            'CREATE SCHEMA "odd ""one"', 'GRANT USAGE ON SCHEMA "odd ""one" TO reader',
            'CREATE TABLE "odd ""one"."a.b; --" ("the ""age" int, ill text)',
            """INSERT INTO "odd ""one"."a.b; --" VALUES (17, 'x'), (18, 'y')""",
            'GRANT SELECT ON "odd ""one"."a.b; --" TO reader',
        )  # fmt: skip
        yield running


def test_a_table_gives_the_release_of_the_same_file(server: Server, people: Path) -> None:
    """Byte for byte; and audit, attack and report find the original again."""
    base = server.address()
    run("publish", "patients.csv", "-o", "of-file", *FLAGS, *PROMISE, "--seed", "1", "--quiet")
    way = ("--table", "patients")
    run("publish", base, *way, "-o", "of-base", *FLAGS, *PROMISE, "--seed", "1", "--quiet")
    assert (people / "of-file/table.csv").read_bytes() == (people / "of-base/table.csv").read_bytes()
    manifests = [json.loads((people / f"of-{name}/release.json").read_text()) for name in ("file", "base")]
    assert manifests[1]["reading"] == {**manifests[0].get("reading", {}), "table": "patients"}
    assert {**manifests[0], "reading": 0} == {**manifests[1], "reading": 0}
    audited = json.loads(run("audit", "of-base", "--original", base, "--json").stdout)
    assert audited["original"] == base.replace(f":{WRITTEN}", "") and audited["holds"]
    run("attack", "of-base", "--original", base, "--attack", "naive-bayes", "--seed", "1")
    run("report", "of-base", "--original", base, "-o", "page.html")
    profiled = run("profile", base, *way, *FLAGS).output
    assert f"discreet publish {audited['original']} -o release" in profiled.replace("\n", " ")
    run("plan", base, *way, *FLAGS)
    table = dc.read(base, **ROLES, query="SELECT * FROM patients WHERE age >= 40;")
    assert table.rows == sum(age >= 40 for age in patients_arrow()["age"].to_pylist())


def test_the_password_is_in_no_file_and_no_message(server: Server, people: Path) -> None:
    base = server.address()
    shown = []
    for words, code in (
        (("publish", base, "--table", "patients", "-o", "out", *FLAGS, *PROMISE, "--json", "--trace", "trace.csv"), 0),
        (("publish", base, "--table", "patient", "-o", "not", *FLAGS, *PROMISE), 2),
        (("audit", "out", "--original", base, "--json"), 0),
        (("attack", "out", "--original", base, "--attack", "naive-bayes", "--json"), 0),
        (("report", "out", "--original", base, "-o", "page.html", "--json"), 0),
        (
            (
                "compare",
                base,
                "--table",
                "patients",
                *FLAGS,
                *PROMISE,
                "--schemes",
                "cuts",
                "--html",
                "c.html",
                "--json",
            ),
            0,
        ),
        (("plan", base, "--table", "patients", *FLAGS, "--json"), 0),
        (("profile", base, "--table", "patients", "--json"), 0),
        (("profile", base, "--table", "patients", "--quasi", "age", base), 2),
        (("profile", base.replace("clinic", "clinics"), *FLAGS), 2),
        (("profile", base.replace("reader", "stranger"), *FLAGS), 2),
        (("profile", f"{base}?what={WRITTEN}", *FLAGS), 2),
        (("profile", base.replace(WRITTEN, "s3cr3t@ho/rse"), *FLAGS), 2),
        (("profile", base.replace("://", ":/"), *FLAGS), 2),
        (("profile", base.replace("postgresql", "mysql"), *FLAGS), 2),
        (("publish", base, "--table", "patients", "-o", base, *FLAGS, *PROMISE), 2),
    ):
        shown.append(run(*words, code=code).output)
    job = people / "job.toml"
    job.write_text(
        f'input = "{base}"\noutput = "by-job"\ntable = "patients"\nquasi = ["age"]\nsensitive = "disease"\n'
        'promises = ["l-diversity(l=2)"]\n'
    )
    shown.append(run("publish", "--job", str(job), "--json").output)
    job.unlink()
    files = [path for path in people.rglob("*") if path.is_file()]
    assert len(files) > 6
    for content in (*(path.read_text(encoding="utf-8") for path in files), *shown):
        assert PASSWORD not in content and WRITTEN not in content and "s3cr3t" not in content
    assert repr(addressed(base)) == repr(base.replace(f":{WRITTEN}", ""))


def test_the_password_may_come_from_the_environment_or_the_service_file(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = server.address(password=None)
    here = f"'postgresql://127.0.0.1:{server.port}/clinic'"
    with pytest.raises(DiscreetError, match=f"{here} refuses the login; check the user and the password"):
        dc.read(base, **ROLES)
    own = tmp_path / "pgpass"
    own.write_text(f"127.0.0.1:*:*:reader:{PASSWORD}\n")
    own.chmod(0o600)
    for name, value in (("PGPASSWORD", PASSWORD), ("PGPASSFILE", str(own))):
        with monkeypatch.context() as only:
            only.setenv(name, value)
            assert dc.read(base, **ROLES, table="patients").rows == 48


def test_what_is_wrong_is_one_sentence(server: Server, people: Path) -> None:
    base, here = server.address(), f"'postgresql://127.0.0.1:{server.port}/clinic'"
    publish = ("publish", base, "-o", "out", *FLAGS, *PROMISE)
    for words, said in (
        (("publish", server.address(password="wrong"), *publish[2:]), f"{here} refuses the login"),
        (("publish", server.address(base="none"), *publish[2:]), "there is no database"),
        (("publish", base.replace(str(server.port), "1"), *publish[2:]), "cannot be reached (Connection refused)"),
        ((*publish, "--table", "secret"), f"{here} does not give this user the right to that (permission denied for"),
        ((*publish, "--table", "patient"), f"{here} has no table 'patient'; did you mean 'patients'"),
        (publish, f"{here} has 2 tables ('odd \"one.a.b; --', 'patients'); name one"),
        ((*publish, "--sheet", "a"), "of which --sheet a says nothing"),
        ((*publish, "--query", "SELECT nothing FROM patients"), 'does not answer --query (column "nothing" does not'),
        ((*publish, "--query", "SELECT 1/0 AS age"), "has no column 'sex'"),
        ((*publish, "--query", "DELETE FROM patients"), "--query must be one statement that reads"),
        ((*publish, "--query", "SELECT 1; DROP TABLE patients"), "these are 2"),
        ((*publish, "--query", "SELECT * INTO other FROM patients"), "this one would write"),
        ((*publish, "--query", "SELECT * FROM patients FOR UPDATE"), "this one would write"),
        ((*publish, "--table", "patients", "--query", "TABLE patients"), "give only one of them"),
    ):
        assert said in refused(*words), words
    assert [path.name for path in people.iterdir()] == ["patients.csv"]


def test_the_commands_of_the_page_work(server: Server, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    page = (Path(__file__).parents[2] / "docs/tables/databases.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) if "psql" not in block]
    words = [shlex.split(line) for block in blocks for line in block.replace("\\\n", "").splitlines()]
    assert len(words) >= 4
    for name, *given in words:
        assert name == "discreet"
        run(*(word.replace("@db.example/", f"@127.0.0.1:{server.port}/") for word in given))
    assert (people / "release/release.json").is_file()


def test_the_server_refuses_to_write_as_well(server: Server) -> None:
    """Even for an owner, and in a function that a statement calls which seems to read."""
    server.execute(
        "CREATE OR REPLACE FUNCTION grows() RETURNS int LANGUAGE sql AS "
        "$$ INSERT INTO patients (age) VALUES (1) RETURNING 1 $$"
    )
    before = server.execute("SELECT count(*) FROM patients")
    for query in ("SELECT grows() AS age", "SELECT set_config('transaction_read_only', 'off', true) AS age"):
        with pytest.raises(DiscreetError, match=r"read-only transaction|read-write mode"):
            dc.read(server.address("owner"), quasi=["age"], query=query)
    assert server.execute("SELECT count(*) FROM patients") == before


def test_names_are_quoted(server: Server) -> None:
    table = dc.read(server.address(), quasi=['the "age'], sensitive="ill", table='odd "one.a.b; --')
    assert table.rows == 2 and table.quasi[0].texts == ("17", "18")


def test_types_of_the_server_become_kinds(server: Server) -> None:
    server.execute(
        "CREATE TYPE mood AS ENUM ('low', 'high')",
        "CREATE TABLE kinds (n numeric(8, 2), m money, c char(4), d date, t timestamptz, u uuid, j jsonb, l text[], "
        "b bytea, y bool, a inet, o mood, r real, h time, w numeric[])",
        "INSERT INTO kinds SELECT 1.50, 3.2, 'ab', '2020-01-02', '2020-01-02 03:04+02', "
        "'00000000-0000-0000-0000-000000000001', '{\"a\": 1}', '{x,y}', '\\x01', true, '1.2.3.4', 'high', 1.5, "
        "'03:04', '{1.5}' FROM generate_series(1, 2)",
        "INSERT INTO kinds (n, c) VALUES ('NaN', 'cd')",
    )
    names = ["n", "m", "c", "d", "t", "u", "j", "y", "a", "o", "r", "h"]
    table = dc.read(server.address(), quasi=names, sensitive="l", table="kinds", missing="value")
    shown = {column.name: column.texts[-1] for column in table.quasi}
    assert shown == {
        **{"n": "1.5", "m": "3.2", "c": "cd", "d": "2020-01-02", "t": "2020-01-02T01:04:00Z", "y": "True"},
        **{"u": "00000000-0000-0000-0000-000000000001", "j": '{"a": 1}', "a": "1.2.3.4/32", "o": "high"},
        **{"r": "1.5", "h": "03:04:00"},
    }
    assert [column.kind for column in table.quasi][:2] == ["numeric", "numeric"] and table.column("n").texts[
        0
    ] == "(missing)"
    assert {column.name for column in table.sensitive} == {"l_x", "l_y"}
    with pytest.raises(DiscreetError, match="column 'b' holds bytes"):
        dc.read(server.address(), quasi=["b"], table="kinds")
    with pytest.raises(DiscreetError, match="has no rows"):
        dc.read(server.address(), quasi=["n"], query="SELECT n FROM kinds WHERE false")


def test_a_connection_that_breaks_off_and_a_table_that_goes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    base = server.address()
    collected = postgres._collected

    def broken(batches: pa.RecordBatchReader) -> Any:
        batches.read_next_batch()
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
        return collected(batches)

    many = "SELECT g AS age, repeat('x', 100) AS ill FROM generate_series(1, 2000000) g"
    with monkeypatch.context() as only:
        only.setattr(postgres, "_collected", broken)
        with pytest.raises(DiscreetError, match=r"the connection to '.*/clinic' broke off, and nothing was written"):
            dc.read(base, quasi=["age"], sensitive="ill", query=many)
    server.execute("CREATE TABLE brief AS SELECT 1 AS age")
    with dc.table.sources.Source(base) as source:
        spec = dc.table.spec.TableSpec(quasi=["age"], table="brief")
        assert source.names(spec) == ["age"]
        server.execute("DROP TABLE brief")
        with pytest.raises(DiscreetError, match=r"was changed while it was read \(relation .* does not exist\)"):
            source.fetch(["age"], ["age"], spec)


def test_batches_are_coded_one_by_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def watched(batches: pa.RecordBatchReader) -> Any:
        every = list(batches)
        sizes.extend(batch.num_rows for batch in every)
        return collected(pa.RecordBatchReader.from_batches(batches.schema, every))

    collected = postgres._collected
    monkeypatch.setattr(postgres, "_collected", watched)
    many = "SELECT g % 7 AS age, repeat('x', 90) || g % 5 AS ill FROM generate_series(1, 400000) g"
    table = dc.read(server.address(), quasi=["age"], sensitive="ill", query=many)
    assert table.rows == 400_000 == sum(sizes) and len(sizes) > 1
    assert [len(column.texts) for column in table.columns] == [7, 5]


def test_two_threads_read_at_once(server: Server) -> None:
    rows: list[int] = []
    readers = [
        threading.Thread(target=lambda: rows.append(dc.read(server.address(), **ROLES, table="patients").rows))
        for _ in range(4)
    ]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    assert rows == [48] * 4


def test_without_the_driver_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, postgres.DRIVER, None)
    with pytest.raises(DiscreetError, match=r"needs the package adbc-driver-postgresql, .*'discreet\[postgres\]'"):
        dc.read("postgresql://h/clinic", **ROLES)
