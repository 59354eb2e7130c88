"""`discreet query RELEASE -f FILE`: many queries, one load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.command.main import main
from discreet.command.query import split_statements
from discreet.datasets import patients

COUNT = "SELECT COUNT(*) FROM t WHERE age >= 40"
GROUPS = "SELECT sex, COUNT(*) FROM t GROUP BY sex"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    dc.publish(patients(), dc.KAnonymity(4)).save(tmp_path / "release")
    return tmp_path / "release"


def ask(release: Path, text: str | bytes, *more: str) -> Result:
    path = release.parent / "queries.sql"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return CliRunner().invoke(main, ["query", str(release), "-f", str(path), *more])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n\n  b  \n", [("a", 1), ("b", 3)]),
        ("a; b\n;c", [("a", 1), ("b", 1), ("c", 2)]),
        ("-- a;\na\nb -- c\n", [("a", 2), ("b", 3)]),
        ("/* a;\n b */ c;\n", [("c", 2)]),
        ("a = ';--'\nb = '/*''\n'\n", [("a = ';--'", 1), ("b = '/*''\n'", 2)]),
        ('"x;y" = 1\n[p;q] = 2\n`r;s`\n', [('"x;y" = 1', 1), ("[p;q] = 2", 2), ("`r;s`", 3)]),
        ("a\nb;\n\n\nc\n  d", [("a b", 1), ("c d", 5)]),
        ("a\r\nb\r\n", [("a", 1), ("b", 2)]),
        (";;\n -- nothing\n;", []),
    ],
)
def test_statements_are_told_apart(text: str, found: list[tuple[str, int]]) -> None:
    assert [tuple(one) for one in split_statements(text)] == found


def test_every_query_is_answered_as_it_is_alone(release: Path) -> None:
    result = ask(release, f"-- two of them\n{COUNT}\n\n{GROUPS}\n", "--json")
    assert result.exit_code == 0, result.output
    first, second = json.loads(result.stdout)
    for one, sql, line in ((first, COUNT, 2), (second, GROUPS, 4)):
        alone = json.loads(CliRunner().invoke(main, ["query", str(release), sql, "--json"]).stdout)
        assert one == {**alone, "line": line}
    shown = ask(release, f"{COUNT};\n{GROUPS};\n").stdout
    blocks = shown.rstrip("\n").split("\n\n")
    for block, sql in zip(blocks, (COUNT, GROUPS), strict=True):
        assert block == f"{sql}\n" + CliRunner().invoke(main, ["query", str(release), sql]).stdout.rstrip("\n")


def test_a_release_is_loaded_once(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    load = dc.load
    monkeypatch.setattr("discreet.command.query.load", lambda folder: loaded.append(folder) or load(folder))
    assert ask(release, f"{COUNT}\n" * 20).exit_code == 0
    assert len(loaded) == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("SELECT COUNT(*) FROM t WHERE agee > 3", "no column 'agee'"),
        ("SELECT COUNT(*) FROM t WHERE disease > 'flu'", "'disease' has no order"),
        ("SELECT SUM(disease) FROM t", "holds no numbers"),
        ("SELECT COUNT(*", "SQL"),
        ("SELECT disease, COUNT(*) FROM t WHERE disease > 'flu' GROUP BY disease", "'disease' has no order"),
    ],
)
def test_a_statement_that_cannot_be_answered_is_named_and_nothing_is_answered(
    release: Path, bad: str, said: str
) -> None:
    result = ask(release, f"{COUNT}\n{GROUPS}\n{bad}\n{COUNT}\n")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "line 3 of " in result.stderr
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"), [("\n-- nothing\n", "holds no statement"), (b"SELECT \xff", "not text in UTF-8")]
)
def test_files_without_queries_are_refused(release: Path, text: str | bytes, said: str) -> None:
    result = ask(release, text)
    assert result.exit_code == 2
    assert said in result.stderr


def test_one_query_or_a_file_of_them(release: Path) -> None:
    for words in ([], [COUNT, "-f", "queries.sql"]):
        result = CliRunner().invoke(main, ["query", str(release), *words])
        assert result.exit_code == 2
        assert "a query is SQL or a file of queries" in result.stderr
    missing = CliRunner().invoke(main, ["query", str(release), "-f", str(release / "none.sql")])
    assert missing.exit_code == 2
    assert "none.sql" in missing.stderr


def test_the_original_is_counted_beside_every_query(release: Path, tmp_path: Path) -> None:
    from pyarrow.csv import write_csv

    from discreet.datasets import patients_arrow

    write_csv(patients_arrow(), tmp_path / "patients.csv")
    result = ask(release, f"{COUNT}\n{GROUPS}", "--json", "--original", str(tmp_path / "patients.csv"))
    assert result.exit_code == 0, result.output
    first, second = json.loads(result.stdout)
    assert first["exact"] == dc.Query(dc.Range("age", 40)).count(patients())
    assert second["mean_relative_error"] is not None
