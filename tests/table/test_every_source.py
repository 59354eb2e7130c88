"""One table in every kind of file and database: the same profile, the same release, the same audit."""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from support.command import run
from support.every_kind import KINDS, write
from support.postgres import Server, programs, serving

pytestmark = pytest.mark.slow
ROWS = 3_000
FLAGS = (
    *("--quasi", "age,sex,zip,born,dose", "--sensitive", "ill", "--keep", "score", "--categorical", "zip"),
    *("--missing", "value"),
)
PROMISE = ("--promise", "beta-likeness(beta=3)", "--seed", "1")


def people() -> pd.DataFrame:
    """People with numbers, dates, codes that begin with zeros, decimals, and missing values."""
    rng = np.random.default_rng(11)
    first = datetime.date(1931, 2, 27)

    def with_gaps(values: Any) -> list[Any]:
        gone = rng.random(ROWS) < 0.02
        return [None if lacks else value for value, lacks in zip(values, gone, strict=True)]

    return pd.DataFrame(
        {
            "age": pd.array(with_gaps(rng.integers(16, 94, ROWS)), dtype="Float64").astype("float64"),
            "sex": rng.choice(["female", "male"], ROWS),
            "zip": with_gaps(rng.choice(["00501", "01302", "09999", "10115"], ROWS)),
            "born": [first + datetime.timedelta(days=int(days)) for days in rng.integers(0, 27_000, ROWS)],
            "dose": rng.integers(0, 400, ROWS) / 20,
            "ill": rng.choice(["flu, mild", "größe", "angina", '"gout"', "asthma"], ROWS, p=[0.3, 0.1, 0.2, 0.2, 0.2]),
            "score": rng.integers(-3, 9, ROWS) / 2,
        }
    )


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        running.write("people", pa.Table.from_pandas(people(), preserve_index=False))
        yield running


def shown(source: str, home: Path) -> tuple[Any, ...]:
    """What a source gives: its profile, the files of its release, and the audit of it, all without its name."""
    with contextlib.chdir(home):
        profile = json.loads(run("profile", source, *FLAGS, "--json").stdout)
        run("publish", source, "-o", "release", *FLAGS, *PROMISE, "--quiet", "--force")
        audit = json.loads(run("audit", "release", "--original", source, "--json").stdout)
    called = audit.pop("original")
    profile["suggested_command"] = profile["suggested_command"].replace(called, "INPUT")
    assert audit["holds"]
    return profile, audit, {path.name: path.read_bytes() for path in (home / "release").iterdir()}


@pytest.fixture(scope="module")
def of_text(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    home = tmp_path_factory.mktemp("text")
    return shown(write(people(), home / "people.csv").name, home)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same(kind: str, tmp_path: Path, of_text: tuple[Any, ...]) -> None:
    assert shown(write(people(), tmp_path / f"people.{kind}").name, tmp_path) == of_text


@pytest.mark.skipif(programs() is None, reason="no PostgreSQL server is installed here: apt-get install postgresql")
def test_a_database_gives_the_same(server: Server, tmp_path: Path, of_text: tuple[Any, ...]) -> None:
    assert shown(server.address(), tmp_path) == of_text
