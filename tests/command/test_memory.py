"""A small file may have many rows: what they take is said before they are read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from discreet.command.main import main
from discreet.jobs import reading


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (499_999, "has 2,000 rows; with 2 columns they may take about 0.0 GB of memory, more than half of the 0.0 GB"),
        (10**9, None),
        (None, None),
    ],
)
def test_what_many_rows_take_is_said_before_they_are_read(
    memory: int | None, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    columns = {"age": [20 + row % 4 for row in range(2_000)], "ill": list("abcd") * 500, "not asked for": [1] * 2_000}
    pq.write_table(pa.table(columns), path)
    monkeypatch.setattr(reading, "memory", lambda: memory)
    words = ("publish", str(path), "--quasi", "age", "--sensitive", "ill", "--promise", "k-anonymity(k=4)", "-o")
    made = CliRunner().invoke(main, [*words, str(tmp_path / "release")])
    assert made.exit_code == 0, made.output
    assert (said or "of memory") in made.stderr if said else "of memory" not in made.stderr


def test_files_that_do_not_tell_their_rows_are_read_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "20,a\n30,b\n" * 10)
    monkeypatch.setattr(reading, "memory", lambda: 1)
    words = ("publish", str(path), "--quasi", "age", "--sensitive", "ill", "--promise", "k-anonymity(k=4)", "-o")
    made = CliRunner().invoke(main, [*words, str(tmp_path / "release")])
    assert made.exit_code == 0 and "of memory" not in made.stderr
