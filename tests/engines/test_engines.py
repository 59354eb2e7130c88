"""What every engine does: the contract, and releases of tables in several parts, judged by definitions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.engines.engine import Rows
from discreet.errors import DiscreetError
from discreet.table.spec import TableSpec
from fuzz.cases import draw_case
from fuzz.files import cell, lines_of
from fuzz.promises import broken, draw_promise
from support.engines import NAMES, as_array, of_case, opened, published, trace_of

CITIES = ["b", "B", "é", 'q"x', "z,", "😀", "\uffee", "", None]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def odd_table(rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(1)
    days = pa.array(rng.integers(0, 30, rows).astype(np.int32)).cast(pa.date32())
    return pa.table(
        {
            "city": pa.array([CITIES[at] for at in rng.integers(0, len(CITIES), rows)]),
            "pay": pa.array(rng.choice([1.5, math.nan, 2.0, 1e20], rows), mask=rng.random(rows) < 0.1),
            "day": days,
            "ok": pa.array(rng.random(rows) < 0.5),
            "id": np.arange(rows),
        }
    )


def texts(table: pa.Table, name: str) -> list[str]:
    return [repr(value) for value in table.column(name).to_pylist()]


def cells_of(names: list[str], found: list[Rows], values: dict[str, pa.Array]) -> Counter[tuple[str, ...]]:
    columns = [
        [repr(values[name][int(place)].as_py()) for rows in found for place in rows.places[at]]
        for at, name in enumerate(names)
    ]
    return Counter(zip(*columns, strict=True))


@pytest.mark.slow
def test_an_engine_counts_codes_and_samples_the_rows_of_its_table(name: str, tmp_path: Path) -> None:
    table, names = odd_table(), ["city", "pay", "day", "ok"]
    with opened(name, table, TableSpec(quasi=names, sensitive="id"), tmp_path) as engine:
        values = {}
        for column in names:
            values[column], amounts = engine.count(column)
            counted = {repr(value): int(n) for value, n in zip(values[column].to_pylist(), amounts, strict=True)}
            assert counted == Counter(texts(table, column))
        assert engine.repeats("ok") and not engine.repeats("id")
        went: list[int] = []
        every = list(chain.from_iterable(engine.over_rows(names, 7, list, went.append)))
        meant = Counter(zip(*(texts(table, each) for each in names), strict=True))
        assert cells_of(names, every, values) == meant
        assert sum(went) in (0, table.num_rows)
        lots = np.concatenate([rows.lots for rows in every])
        assert ((lots >= 0) & (lots < 1)).all() and len(set(lots.tolist())) == table.num_rows
        some = list(engine.sample(names, 7, 0.5))
        assert 120 < sum(len(rows.lots) for rows in some) < 280
        assert not cells_of(names, some, values) - meant
        assert list(engine.over([3, 1, 2], str)) == ["3", "1", "2"]


def test_an_engine_sorts_texts_by_code_points_and_bytes_by_bytes(name: str, tmp_path: Path) -> None:
    rng, lines = Random(0), [(text or "", bytes(member)) for text in CITIES for member in ([0, 200], [0, 9, 9], [255])]
    rng.shuffle(lines)
    files = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    for file, some in zip(files, (lines[:9], lines[9:]), strict=True):
        pq.write_table(pa.table({"q0": [text for text, _ in some], "members": [member for _, member in some]}), file)
    with opened(name, odd_table(10), TableSpec(quasi="city", sensitive="ok"), tmp_path) as engine:
        found = [
            tuple(line.values()) for batch in engine.in_order(files, ["q0", "members"]) for line in batch.to_pylist()
        ]
    assert found == sorted(lines, key=lambda line: (line[0].encode(), line[1]))


@pytest.mark.slow
def test_random_tables_keep_their_promises_by_definition_and_by_the_ordinary_audit(name: str, tmp_path: Path) -> None:
    done, divided = 0, 0
    for seed in range(230):
        chance = Random(seed)
        case = draw_case(chance, several=False)
        promise = draw_promise(chance, case.sensitive[0])
        if case.kept or case.missing == "withhold":
            continue
        table = pa.table([as_array(one) for one in case.columns], [one.name for one in case.columns])
        folder, how = tmp_path / f"release-{seed}", of_case(case)
        try:
            made = published(name, table, folder, promise.text, format=chance.choice(["csv", "parquet"]), **how)
        except DiscreetError:
            assert not (folder / "release.json").exists()
            continue
        done, divided = done + 1, divided + (made.parts > 1)
        trace = trace_of(folder) if trace_of(folder).exists() else None
        audit = dc.audit(folder, dc.read(table, **how), trace=trace, promises=[promise.text])
        assert audit.holds, (seed, [check.sentence for check in audit.checks if not check.holds])
        [column] = case.sensitive
        groups: dict[str, list[Any]] = defaultdict(list)
        for line in lines_of(folder, "table"):
            groups[line["group"]].append(cell(column, line))
        assert Counter(value for group in groups.values() for value in group) == Counter(column.meant)
        assert not any(broken(promise, group, column.meant, column) for group in groups.values()), seed
    assert done >= 60 and divided >= 12
