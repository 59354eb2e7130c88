"""`Deposit`: puts an audited release into a database, its tables and its manifest in one transaction, or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pyarrow as pa

from discreet.arguments import argument
from discreet.disk import sync, uninterrupted
from discreet.errors import DiscreetError
from discreet.jobs.outputs import check_file, tidy
from discreet.progress import Remarks
from discreet.releases import load
from discreet.releases.folder import MANIFEST
from discreet.releases.placement import enter_file, writing
from discreet.table.addresses import Address, addressed
from discreet.table.sinks import Sink, TableName, kind_of_sink, open_sink
from discreet.table.write import as_plain
from discreet.unfinished import settle, unfinished


@dataclass(frozen=True)
class Deposit:
    """The place of a release in a database."""

    where: Address | Path
    what: str
    """What messages call the database."""
    table: str
    """The table of the release; the names of others begin with it."""
    force: bool

    @property
    def staging(self) -> Path:
        """Beside this the files of the release are written and audited, in a folder that only their owner can read."""
        return Path(gettempdir(), "discreet")

    def check(self) -> str | None:
        """Return the digest of the manifest that is replaced, if one is; refuse what cannot be written."""
        with self._open() as base:
            before = self._claimed(base, ["table"])[0]
            base.create(base.named(f"{self.table}_unfinished"), _one_cell(""))  # and rolled back
        return before

    def place(self, folder: Path, before: str | None, remarks: Remarks) -> None:
        """Write the release in a folder to the database, compare what was written, and make it last."""
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        tables = {stem: as_plain(table) for stem, table in load(folder).tables().items()}
        with self._open() as base:
            digest, old = self._claimed(base, tables)
            if digest != before:
                raise DiscreetError(
                    f"another command published to the table {self.table!r} of {self.what} in the meantime, and its "
                    "release stays; choose another name, or run this again to replace it"
                )
            for name in old:
                base.drop(name)
            contents = {self._named(base, stem): table for stem, table in tables.items()}
            contents[self._named(base, "manifest")] = _one_cell(text.removesuffix("\n"))
            for name, content in contents.items():
                base.create(name, content)
            for name, content in contents.items():
                if not base.read(name, content.schema).equals(content):
                    raise DiscreetError(
                        f"{self.what} holds something else than was written to the table {name.name!r}, so nothing was "
                        "published; see which rules or settings of it change values"
                    )
            with uninterrupted():
                base.commit()
        if isinstance(self.where, Path):
            tidy(self.where, remarks)

    @contextmanager
    def _open(self) -> Iterator[Sink]:
        """Open the database; a file that is new comes into its place when it is complete."""
        where = self.where
        if isinstance(where, Address) or where.exists():
            kind = "SQLite" if isinstance(where, Address) else kind_of_sink(where, self.what)
            with open_sink(where, kind, self.what) as base:
                yield base
            return
        with writing(where), unfinished(where) as fresh:
            with open_sink(fresh, kind_of_sink(where, self.what), self.what) as base:
                yield base
            if not base.committed:
                return
            sync(fresh)
            with uninterrupted():
                enter_file(fresh, where, force=False)
                settle(where)
            sync(where.parent)

    def _named(self, base: Sink, stem: str) -> TableName:
        """Return the table in which a table of the release, or its manifest, lies."""
        whole = base.named(self.table)
        return whole if stem == "table" else whole._replace(name=f"{whole.name}_{stem.removeprefix('table_')}")

    def _claimed(self, base: Sink, stems: Iterable[str]) -> tuple[str | None, list[TableName]]:
        """Return the digest of the manifest that is there, and the tables to drop; refuse to replace any others."""
        needed = [self._named(base, stem) for stem in (*stems, "manifest")]
        there = [name for name in needed if base.has(name)]
        if there and not self.force:
            replace = argument("force", True)
            raise DiscreetError(
                f"{self.what} has a table {there[0].name!r} already; choose another name, or {replace} to replace a "
                "release"
            )
        text, old = None, list[TableName]()
        if needed[-1] in there:
            with suppress(ValueError, KeyError, TypeError):
                text = base.text(needed[-1])
                stated = json.loads(text)["tables"]
                old = [self._named(base, stem) for stem in (*(Path(name).stem for name in stated), "manifest")]
        kept = next((name for name in there if name not in old), None)
        if kept is not None:
            raise DiscreetError(
                f"the table {kept.name!r} of {self.what} is no part of a release, so it is not replaced even with "
                f"{argument('force', True)}; choose another name"
            )
        digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()
        return digest, [name for name in old if base.has(name)]


def check_deposit(output: str, table: str, force: bool, used: Mapping[str, Path], remarks: Remarks) -> Deposit:
    """Return the place of a release in a database; refuse it if something would be lost or it cannot be written."""
    where: Any = addressed(output)
    if isinstance(where, Address):
        return Deposit(where, where.what, table, force)
    path = check_file(output, "database", True, used, remarks)
    kind_of_sink(path, f"'{output}'")
    return Deposit(path, f"'{output}'", table, force)


def _one_cell(text: str) -> pa.Table:
    return pa.table({"manifest": [text]})
