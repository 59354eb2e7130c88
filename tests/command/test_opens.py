"""Every command opens the table that it reads once, and so each second table."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from discreet.command.main import main
from discreet.table import csv_files

ROLES = ("--quasi", "age,sex", "--sensitive", "ill")
PROMISE = ("--promise", "k-anonymity(k=2)")
FILES = ("people.csv", "people.csv.gz", "people.parquet", "people.arrow")


@pytest.fixture
def opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was opened, in a folder with the same table in files of several kinds."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + at % 9},{'fm'[at % 2]},{'abc'[at % 3]},note {at},k{at // 3}\n" for at in range(60)]
    text = "age,sex,ill,note,panel\n" + "".join(lines)
    Path("people.csv").write_text(text)
    Path("people.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = pc.read_csv("people.csv")
    pq.write_table(table, "people.parquet")
    feather.write_feather(table, "people.arrow")
    Path("visits.csv").write_text("note,drug\n" + "".join(f"note {at},{'xy'[at % 2]}\n" for at in range(60)))
    counts: Counter[str] = Counter()
    really = Path.open

    def counting(path: Path, *how: Any, **more: Any) -> Any:
        counts[path.name] += 1
        return really(path, *how, **more)

    monkeypatch.setattr(Path, "open", counting)
    return counts


def run(*words: str) -> None:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("file", [FILES[0], *(pytest.param(file, marks=pytest.mark.slow) for file in FILES[1:])])
def test_a_table_is_opened_once(file: str, opens: Counter[str]) -> None:
    asked = {
        "publish": ("publish", file, "-o", "release", *ROLES, *PROMISE),
        "audit": ("audit", "release", "--original", file, *ROLES),
        "attack": ("attack", "release", "--original", file, *ROLES, "--attack", "beliefs"),
        "query": ("query", "release", "SELECT COUNT(*) FROM t WHERE age > 22", "--original", file, *ROLES),
        "plan": ("plan", file, "--sensitive", "ill"),
        "profile": ("profile", file),
        "profile with roles": ("profile", file, *ROLES, "--na", "?"),
    }
    for name, words in asked.items():
        opens.clear()
        run(*words)
        assert opens[file] == 1, name


def test_a_table_is_parsed_once_and_a_second_one_opened_once(
    opens: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    really = csv_files.read_csv

    def counting(data: bytes, needed: Any, layout: Any, what: str, *more: Any) -> Any:
        parsed.append(what)
        return really(data, needed, layout, what, *more)

    monkeypatch.setattr("discreet.table.sources.read_csv", counting)
    words = ("--quasi", "age,sex", "--sensitive", "drug", "--join", "drug=visits.csv:note")
    run("publish", "people.csv", "-o", "release", *words, "--promise", "beta-likeness(beta=2)")
    assert parsed == ["'people.csv'", "'visits.csv'"]
    assert (opens["people.csv"], opens["visits.csv"]) == (1, 1)
