"""Whatever is in the data, the terminal does not obey it: it is shown, and so is everything that is not seen."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from discreet.command.console import complain, note, output
from discreet.command.main import main
from discreet.command.render import grid
from discreet.errors import UNSEEN
from discreet.table.write import write_table

CLEAR, TITLE, CSI, TURN = "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202e"
VALUES = [f"flu{CLEAR}", f"cold{TITLE}", f"gout{CSI}", f"mumps{TURN}"]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    many = 10
    table = {
        f"age{CLEAR}": list(range(40)),
        "sex": ["f", f"m{CSI}"] * 20,
        "sick": VALUES * many,
        "pay": list(range(40)),
    }
    write_table(pa.table(table), tmp_path / "people.csv")
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    for text in (result.stdout, result.stderr):
        assert not set(UNSEEN.findall(text)) - {"\n"}, text
    return result


READ = ("people.csv", "--quasi", f"age{CLEAR},sex", "--sensitive", "sick")


def test_no_command_prints_them(people: Path) -> None:
    assert "flu\\x1b[2J" in run("profile", "people.csv").stdout
    assert "\\x9b31m" in run("profile", *READ).stdout
    assert "age\\x1b[2J" in run("profile", *READ).stdout
    run("plan", *READ)
    run("plan", "people.csv", "--sensitive", "pay")
    run("publish", *READ, "--promise", "k-anonymity(k=4)", "-o", f"out{CLEAR}")
    run("audit", f"out{CLEAR}", "--original", "people.csv")
    said = run("query", f"out{CLEAR}", f"SELECT COUNT(*) FROM t WHERE sex = 'x{CLEAR}'").stderr
    assert "x\\x1b[2J" in said
    run("query", f"out{CLEAR}", "SELECT sick, COUNT(*) FROM t GROUP BY sick")
    run("compare", *READ, "--promise", "k-anonymity(k=4)", "--schemes", "cuts", "--queries", "10")


def test_no_refusal_prints_them(people: Path) -> None:
    for words in (
        ("profile", f"nowhere{CLEAR}.csv"),
        ("profile", "people.csv", "--quasi", f"no{CSI}"),
        ("publish", *READ, "--promise", f"k{TITLE}(k=4)", "-o", "out"),
        ("publish", *READ, "--promise", "k-anonymity(k=4)", "-o", "out", f"--no{CLEAR}"),
        ("audit", f"nowhere{TURN}", "--original", "people.csv"),
    ):
        (line,) = run(*words, code=2).stderr.splitlines()
        assert line.startswith("discreet: ")


def test_json_escapes_them_its_own_way(people: Path) -> None:
    document = json.loads(run("profile", *READ, "--json").stdout)
    column = next(one for one in document["columns"] if one["name"] == "sick")
    assert {one["value"] for one in column["top"]} <= set(VALUES)


def test_pages_show_them(people: Path) -> None:
    words = ("compare", *READ, "--promise", "k-anonymity(k=4)", "--schemes", "cuts", "--queries", "10")
    run(*words, "--html", "page.html")
    page = (people / "page.html").read_text()
    assert not set(UNSEEN.findall(page)) - {"\n"}


def test_one_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    note("said\nThe promise holds.")
    complain("bad\rgood")
    console = output()
    console.print("value\nThe promise holds.")
    console.print(grid(["name"], [["Ann\nBob"]]))
    seen = capsys.readouterr()
    assert seen.err.splitlines() == ["said\\nThe promise holds.", "discreet: bad\\rgood"]
    assert "value\\nThe promise holds." in seen.out.splitlines() and "Ann\\nBob" in seen.out
