"""Damages files of every kind that is read: each must be read or refused in one sentence, and end no process.

A kind and a number determine a case. Cases run in a process of their own, which is started again when one has ended it.
"""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import json
import lzma
import shutil
import sqlite3
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq

import discreet as dc
from discreet.errors import DiscreetError

ROWS = 60
PATIENCE = 300
"""The seconds after which a case counts as endless: none takes more than a few, even on a busy machine."""
ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zip", "born", "dose"], "sensitive": "ill", "keep": ["day", "well"]}
TREE = "".join(f"{city},{city[0]},*\n" for city in ("Bath", "Bonn", "Köln", "Kiel"))


@cache
def people() -> pa.Table:
    """A table with columns of all types that files may have, some of them with missing values."""
    chance = Random(7)

    def column(draw: Callable[[], Any], kind: pa.DataType, gaps: bool = False) -> pa.Array:
        return pa.array([None if gaps and at % 11 == 5 else draw() for at in range(ROWS)], kind)

    start = datetime.datetime(1970, 1, 1)
    return pa.table(
        {
            "age": column(lambda: chance.randrange(17, 90), pa.int64()),
            "sex": column(lambda: chance.choice("fm"), pa.string(), gaps=True).dictionary_encode(),
            "zip": column(lambda: f"0130{chance.randrange(6)}", pa.large_string()),
            "born": column(lambda: start + datetime.timedelta(days=chance.randrange(9999)), pa.timestamp("us")),
            "dose": column(lambda: Decimal(chance.randrange(999)) / 100, pa.decimal128(10, 2)),
            "day": column(lambda: (start + datetime.timedelta(days=chance.randrange(99))).date(), pa.date32(), True),
            "well": column(lambda: chance.random() < 0.5, pa.bool_(), gaps=True),
            "ill": column(lambda: chance.choice(["flu", "Köln, cold", "angina", '"x"']), pa.string()),
        }
    )


def _typed() -> pa.Table:
    """The people and a column of lists, which text files do not have."""
    return people().append_column("list", pa.array([["a", "b"], [], None, ["c"]] * (ROWS // 4)))


def _text(delimiter: str) -> bytes:
    sink = io.BytesIO()
    pyarrow.csv.write_csv(people(), sink, pyarrow.csv.WriteOptions(delimiter=delimiter))
    return sink.getvalue()


def _plain(value: Any) -> float | str:
    """Return what JSON has in place of a decimal number or a date."""
    return float(value) if isinstance(value, Decimal) else str(value)


def _json_lines() -> bytes:
    return "\n".join(json.dumps(person, default=_plain) for person in _typed().to_pylist()).encode()


def _parquet(**how: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(_typed(), sink, row_group_size=25, **how)
    return sink.getvalue()


def _arrow(open_sink: Callable[..., Any]) -> bytes:
    sink = io.BytesIO()
    with open_sink(sink, _typed().schema) as writer:
        writer.write_table(_typed(), max_chunksize=25)
    return sink.getvalue()


def _feather(compression: str) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(_typed(), sink, compression=compression, chunksize=25)
    return sink.getvalue()


def _by_path(ending: str, write: Callable[[Any, str], Any]) -> bytes:
    """Return the file of the people that a library writes, which wants a path and a frame."""
    frame = people().drop_columns(["dose"]).to_pandas().astype({"sex": object, "born": str, "day": str, "well": str})
    frame["dose"] = 1.25
    with tempfile.TemporaryDirectory() as home:
        path = f"{home}/people.{ending}"
        write(frame, path)
        return Path(path).read_bytes()


def _library(name: str) -> Any:
    return import_module(name)


def _into_sqlite(frame: Any, path: str) -> None:
    with closing(sqlite3.connect(path)) as base:
        frame.to_sql("people", base, index=False)


def _into_duckdb(frame: Any, path: str) -> None:
    with _library("duckdb").connect(path) as base:
        base.register("frame", frame)
        base.execute("CREATE TABLE people AS SELECT * FROM frame")


FILES: dict[str, Callable[[], bytes]] = {
    "csv": lambda: _text(","),
    "tsv": lambda: _text("\t"),
    "utf-16": lambda: _text(";").decode().encode("utf-16"),
    "json lines": lambda: _json_lines(),
    "gzip": lambda: gzip.compress(_text(","), mtime=0),
    "bzip2": lambda: bz2.compress(_text(",")),
    "xz": lambda: lzma.compress(_text(",")),
    "zstd": lambda: pa.compress(_text(","), "zstd", asbytes=True),
    "parquet": lambda: _parquet(compression="none", use_dictionary=False),
    "parquet, packed": lambda: _parquet(compression="zstd", write_page_checksum=True),
    "arrow": lambda: _arrow(pa.ipc.new_file),
    "arrow stream": lambda: _arrow(pa.ipc.new_stream),
    "feather": lambda: _feather("uncompressed"),
    "feather, lz4": lambda: _feather("lz4"),
    "feather, zstd": lambda: _feather("zstd"),
    "json": lambda: b"[" + _json_lines().replace(b"\n", b",") + b"]",
    "spreadsheet": lambda: _by_path("xlsx", lambda frame, path: frame.to_excel(path, engine="xlsxwriter", index=False)),
    "stata": lambda: _by_path("dta", lambda frame, path: _library("pyreadstat").write_dta(frame, path)),
    "spss": lambda: _by_path("sav", lambda frame, path: _library("pyreadstat").write_sav(frame, path)),
    "sqlite": lambda: _by_path("db", _into_sqlite),
    "duckdb": lambda: _by_path("duckdb", _into_duckdb),
}
"""Tables of every kind, as ``read`` takes them."""
TREES: dict[str, Callable[[], bytes]] = {
    "hierarchy": TREE.encode,
    "hierarchy, toml": lambda: b'B = ["Bath", "Bonn"]\nK = ["Kiel", "K\xc3\xb6ln"]\n',
}
"""Hierarchies, which are files too."""
PARTS = {
    "manifest": ("csv", "release.json"),
    "table": ("csv", "table.csv"),
    "table, parquet": ("parquet", "table.parquet"),
    "trace": ("csv", "trace.csv"),
}
"""The files of a release and its trace: the format, and the file that is damaged."""
KINDS = (*FILES, *TREES, *PARTS)


def damaged(data: bytes, chance: Random) -> bytes:
    """Damage a file as disks, transfers and editors do: flipped bits, bytes of their own, a part lost or misplaced."""
    bad = bytearray(data)
    at, length = chance.randrange(len(bad)), chance.choice([1, 4, 8, 64, 512])
    match chance.randrange(6):
        case 0:
            for _ in range(chance.choice([1, 1, 2, 5, 20])):
                bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        case 1:
            for _ in range(chance.choice([1, 1, 2, 5, 20])):
                bad[chance.randrange(len(bad))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        case 2:
            del bad[at:]
        case 3:
            length = min(length, len(bad) - at)
            bad[at : at + length] = chance.choice([bytes(length), b"\xff" * length, chance.randbytes(length)])
        case 4:
            del bad[at : at + length]
        case _:
            start = chance.randrange(len(bad))
            bad[at : at + length] = bad[start : start + length]
    return bytes(bad)


@cache
def _whole(kind: str) -> bytes:
    return (FILES | TREES)[kind]()


@cache
def _release(home: Path) -> dc.Table:
    """Publish a release in each format, with a trace, and return its original."""
    from discreet.releases.trace import write_trace

    table = dc.read(people(), **ROLES)
    release = dc.publish(table, dc.KAnonymity(3), dc.Mondrian(random_state=7))
    for form in ("csv", "parquet"):
        release.save(home / form, form)
    write_trace(release, home / "trace.csv")
    return table


def attempt(kind: str, number: int, home: Path) -> str | None:
    """Use one damaged file; return the sentence of the refusal, or None if it can be used."""
    chance = Random(f"{kind} {number}")
    try:
        if kind in PARTS:
            _use_release(*PARTS[kind], chance, home)
        else:
            path = home / ("flawed.toml" if kind.endswith("toml") else "flawed")
            path.write_bytes(damaged(_whole(kind), chance))
            if kind in TREES:
                cities = pa.table({"city": ["Bath", "Bonn", "Köln", "Kiel"] * 3, "pay": range(12)})
                dc.read(cities, quasi=["city"], sensitive="pay", hierarchies={"city": path})
            else:
                _use_table(path)
    except DiscreetError as refusal:
        said = str(refusal)
        if "\n" in said or "; " not in said:
            raise ValueError(f"this is no sentence with a way out: {said!r}") from None
        return said
    return None


def _use_table(path: Path) -> None:
    """Read and publish a table: text that is no text, for instance, would be found only on publishing."""
    from discreet.table.layout import Layout
    from discreet.table.sources import Source

    table = dc.read(path, **ROLES, missing="value")
    with Source(path) as source:
        names = source.names(Layout())
    if "list" in names:
        dc.read(path, quasi=["age"], sensitive="list", missing="value")
    for one in dc.publish(table, dc.KAnonymity(2), "mondrian", most_withheld=1).tables(numbers=True).values():
        one.to_pylist()


def _use_release(form: str, name: str, chance: Random, home: Path) -> None:
    table = _release(home)
    shutil.copytree(home / form, home / "copy", dirs_exist_ok=True)
    whole = home / (name if name == "trace.csv" else f"{form}/{name}")
    flawed = home / ("flawed.csv" if name == "trace.csv" else f"copy/{name}")
    flawed.write_bytes(damaged(whole.read_bytes(), chance))
    dc.audit(home / "copy", table, trace=flawed if name == "trace.csv" else None)
    dc.load(home / "copy").estimate("SELECT COUNT(*) FROM t WHERE age > 20")


# ------------------------------------------------------------------------------------------------------------ running


@dataclass
class Damages:
    """What became of the damaged files of each kind."""

    kinds: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in KINDS})
    failures: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the printed summary."""
        heads = ("tried", "used", "refused", "failed")
        yield f"{'kind of file':<18}" + "".join(f"{head:>9}" for head in heads)
        for kind, counts in self.kinds.items():
            yield f"{kind:<18}" + "".join(f"{counts[head]:>9,}" for head in heads)
        tried = sum(counts["tried"] for counts in self.kinds.values())
        yield f"{tried:,} damaged files, {len(self.failures):,} failures."


def fuzz_files(numbers: range, tell: Callable[[str], None] = lambda failure: None) -> Damages:
    """Damage a file of every kind for each of these numbers; ``tell`` is called with every failure."""
    found = Damages()
    cases = [(kind, number) for kind in KINDS for number in numbers]
    while cases:
        cases = cases[_several(cases, found, tell) :]
    return found


def _several(cases: list[tuple[str, int]], found: Damages, tell: Callable[[str], None]) -> int:
    """Run cases in one process until one ends it; return how many were run."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    with tempfile.TemporaryDirectory(prefix="damage", ignore_cleanup_errors=True) as home:
        worker = context.Process(target=_work, args=(theirs, cases, home), daemon=True)
        worker.start()
        theirs.close()
        try:
            for at, (kind, number) in enumerate(cases):
                outcome, said = _answer(ours)
                found.kinds[kind].update(("tried", outcome))
                if outcome == "failed":
                    found.failures.append(f"{kind}, number {number}: {said}")
                    tell(found.failures[-1])
                if said == GONE:
                    return at + 1
            return len(cases)
        finally:
            worker.kill()
            worker.join()


GONE = "the process ended, or did not answer"


def _answer(connection: Connection) -> tuple[str, str]:
    try:
        answer: tuple[str, str] = connection.recv() if connection.poll(PATIENCE) else ("failed", GONE)
    except EOFError:
        return "failed", GONE
    return answer


def _work(connection: Connection, cases: list[tuple[str, int]], home: str) -> None:
    for kind, number in cases:
        try:
            said = attempt(kind, number, Path(home))
            connection.send(("used", "") if said is None else ("refused", said))
        except BaseException as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            connection.send(("failed", f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"))
