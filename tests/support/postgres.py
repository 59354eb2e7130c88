"""A PostgreSQL server in a temporary folder, and roles with rights that differ."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/pgsql/bin")
"""Where distributions put the programs of the server."""
PASSWORD = "s3cr3t%horse"
"""What no file and no message may contain, not even written as in an address."""
WRITTEN = "s3cr3t%25horse"
"""The password as an address has it."""


def programs() -> Path | None:
    """The folder of the server's programs, of the newest version; None if there is none."""
    found = [path for pattern in PLACES for path in Path("/").glob(f"{pattern[1:]}/initdb")]
    there = shutil.which("initdb")
    named = [Path(there)] if there else []
    return next((path.parent for path in [*sorted(found, reverse=True), *named]), None)


class Server(NamedTuple):
    """A server that runs."""

    port: int

    def address(self, user: str = "reader", password: str | None = WRITTEN, base: str = "clinic") -> str:
        """The address of a database, for a user."""
        said = "" if password is None else f":{password}"
        return f"postgresql://{user}{said}@127.0.0.1:{self.port}/{base}"

    def execute(self, *statements: str) -> list[Any]:
        """Execute statements as the owner, and return the rows of the last one."""
        from adbc_driver_postgresql import dbapi

        with closing(dbapi.connect(self.address("owner"), autocommit=True)) as base, closing(base.cursor()) as cursor:
            rows: list[Any] = []
            for statement in statements:
                cursor.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            return rows

    def write(self, name: str, table: Any) -> None:
        """Write an Arrow table as the owner."""
        from adbc_driver_postgresql import dbapi

        with closing(dbapi.connect(self.address("owner"), autocommit=True)) as base, closing(base.cursor()) as cursor:
            cursor.adbc_ingest(name, table, mode="replace")


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server with a database ``clinic``: of ``owner``; ``reader`` may read what it owns; ``nobody`` nothing."""
    home = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    server = _Programs(home)
    try:
        (home / "password").write_text(PASSWORD, encoding="utf-8")
        if server.user is not None:
            for path in (home, home / "password"):
                shutil.chown(path, server.user)
        data, port = home / "data", _free_port()
        how = ("--username=owner", f"--pwfile={home / 'password'}", "--auth=scram-sha-256", "--no-sync")
        server.run("initdb", f"--pgdata={data}", "--encoding=UTF8", "--locale=C", *how)
        options = f"-p {port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off -c log_min_messages=fatal"
        server.run("pg_ctl", "-D", str(data), "-l", str(home / "log"), "-w", "-o", options, "start")
        try:
            running = Server(port)
            _prepare(running)
            yield running
        finally:
            server.run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _prepare(server: Server) -> None:
    from adbc_driver_postgresql import dbapi

    whole = server.address("owner", base="postgres")
    with closing(dbapi.connect(whole, autocommit=True)) as base, closing(base.cursor()) as cursor:
        cursor.execute("CREATE DATABASE clinic")
    roles = (f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'" for role in ("reader", "nobody", "writer"))
    server.execute(
        *roles,
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader",
        "CREATE SCHEMA published AUTHORIZATION writer",
    )


class _Programs:
    """The programs of the server, which refuse to be run as root."""

    def __init__(self, home: Path) -> None:
        folder = programs()
        assert folder is not None
        self._folder, self._home, self.user = folder, home, None
        if getpass.getuser() == "root" and os.geteuid() == 0:
            names = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()
            known = {line.partition(":")[0] for line in names}
            self.user: str | None = "postgres" if "postgres" in known else "nobody"

    def run(self, name: str, *given: str) -> None:
        """Run one of them."""
        before = [] if self.user is None else ["runuser", "-u", self.user, "--"]
        command = [*before, str(self._folder / name), *given]
        # pg_ctl leaves the server behind, which would keep a pipe open.
        with (self._home / "output").open("wb") as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode == 0, (self._home / "output").read_text(encoding="utf-8", errors="replace")


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
