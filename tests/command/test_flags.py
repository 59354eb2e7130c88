"""Flags: commands that read the same table take the same flags and obey them, and a slip is shown mended."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.command.main import main

ROLES = ("--quasi", "age,sex", "--sensitive", "disease")
ROWS = [(20 + at % 18, "fm"[at % 2], ["flu", "cold", "cough"][at % 3], f"p{at // 2}") for at in range(36)]
TABLE = "age,sex,disease,id\n" + "".join(f"{age},{sex},{disease},{one}\n" for age, sex, disease, one in ROWS)
EXAMPLE = "proximity(epsilon=2000, m=4)"
"""The promise that the page of proximity shows."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, and with one that lacks an age."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)
    Path("gaps.csv").write_text(TABLE + ",f,flu,q0\n")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def refused(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 2, result.output
    return result.stderr


@pytest.mark.parametrize("command", ["plan", "profile"])
def test_missing_numbers_are_refused_counted_or_values_as_in_publish(command: str, home: Path) -> None:
    words = (command, "gaps.csv", *ROLES)
    assert "1 missing value" in refused(*words, "--missing", "error")
    withheld = run(*words, "--missing", "withhold")
    assert (
        withheld.exit_code == 0
        and "1 row has a missing number and is counted here; publish withholds it." in withheld.stderr
    )
    for one in (run(*words), run(*words, "--missing", "value")):
        assert one.exit_code == 0 and "withholds" not in one.stderr


def test_a_profile_suggests_the_way_with_missing_numbers_that_was_asked_for(home: Path) -> None:
    Path("gaps.csv").write_text(
        "age,sex,disease\n" + "".join(f"{at},f,{'ab'[at % 2]}\n" for at in range(40)) + ",f,a\n"
    )
    told = run("profile", "gaps.csv", *ROLES, "--missing", "withhold").stdout
    assert "--missing withhold" in told and "--missing value" not in told


def test_an_audit_reads_the_original_with_the_missing_numbers_as_told(home: Path) -> None:
    words = ("publish", "gaps.csv", "-o", "release", *ROLES, "--promise", "k-anonymity(k=1)")
    assert run(*words, "--missing", "withhold").exit_code == 0
    audit = ("audit", "release", "--original", "gaps.csv", "--missing")
    assert run(*audit, "withhold").exit_code == run(*audit, "value").exit_code == 0
    assert "1 missing value" in refused(*audit, "error")


@pytest.mark.parametrize("command", ["plan", "profile"])
def test_an_identifier_is_no_quasi_identifier(command: str, home: Path) -> None:
    words = (command, "people.csv", "--sensitive", "disease")
    assert "no column 'nobody'" in refused(*words, "--identifier", "nobody")
    assert "repeat" in refused(*words, "--identifier", "id"), "as publish says"
    Path("once.csv").write_text("id,age,sex\n" + "".join(f"p{at},{at % 5},f\n" for at in range(20)))
    told = run("profile", "once.csv", "--quasi", "age", "--identifier", "id").stdout
    assert "--identifier id" in told


def test_an_attack_knows_whose_rows_they_are(home: Path) -> None:
    words = ("publish", "people.csv", "-o", "release", *ROLES, "--promise", "k-anonymity(k=2)", "--person", "id")
    assert run(*words).exit_code == 0
    attack = ("attack", "release", "--original", "people.csv", "--attack", "beliefs", "--attack", "minimality")
    told = json.loads(run(*attack, "--person", "id", "--json").stdout)
    assert "it rebuilds tables with one row per person" in str(told)
    assert "no column 'nobody'" in refused(*attack, "--person", "nobody")


def test_the_flag_of_another_command_is_told_with_the_commands_that_take_it(home: Path) -> None:
    told = refused("query", "release", "SELECT COUNT(*) FROM t", "--promise", "k-anonymity(k=2)")
    assert "query takes no --promise, which is for publish, audit, compare and report; leave it out" in told
    assert "say --person COLUMN" in refused("publish", "t.csv", "--household", "id")
    assert "attack takes no --epsilon, which is for plan; leave it out" in refused("attack", "r", "--epsilon", "5")
    assert "did you mean" in refused("attack", "r", "--vctims", "5").lower()


@pytest.mark.parametrize(
    ("words", "way"),
    [
        (("people.csv", "--quasi", "age", "sex", "--sensitive", "disease"), "--quasi age,sex"),
        (("--quasi", "age", "sex", "id", "people.csv", "--sensitive", "disease"), "--quasi age,sex,id"),
        (("people.csv", "--sensitive", "disease", "--quasi=age", "sex"), "--quasi age,sex"),
        (("people.csv", "--quasi", "age,", "sex"), "--quasi age,sex"),
        (("people.csv", "--quasi", "age", "home town"), "--quasi 'age,home town'"),
    ],
)
def test_columns_with_blanks_between_them_are_shown_with_commas(words: tuple[str, ...], way: str, home: Path) -> None:
    assert f"columns are separated by commas: write {way}; see" in refused("profile", *words)


def test_a_word_too_many_is_told_where_no_flag_takes_columns(home: Path) -> None:
    assert "unexpected extra argument (more)" in refused("plan", "people.csv", "more")


def test_a_misspelt_command_is_told_the_nearest() -> None:
    told = refused("publsh", "people.csv")
    assert "No such command 'publsh'" in told and "did you mean 'publish'?" in told
    assert "did you mean 'get'?" in refused("data", "gett")


@pytest.mark.parametrize("shown", [EXAMPLE, "proximity(epsilon=0.9, m=4, neighbourhood=relative)"])
def test_a_promise_about_numbers_that_cannot_be_kept_is_followed_by_one_that_runs(shown: str, home: Path) -> None:
    pays = "".join(f"{20 + at % 9},{1000 + 10 * at}\n" for at in range(40))
    Path("pay.csv").write_text("age,pay\n" + pays)
    publish = ("publish", "pay.csv", "-o", "release", "--quasi", "age", "--sensitive", "pay", "--promise")
    found = re.search(r"such as (proximity\(.*?\))", refused(*publish, shown))
    assert found is not None
    assert run(*publish, found[1]).exit_code == 0
    assert dc.load("release").manifest["promise"] == [found[1]]


def test_the_flags_of_publish_are_those_of_its_audit_attack_and_query(home: Path) -> None:
    lines = TABLE.splitlines()
    named = [f"{line},n{at},{at % 3}\n" for at, line in enumerate(lines[1:])]
    Path("named.csv").write_text("".join([f"{lines[0]},name,pay\n", *named]))
    flags = [*ROLES, "--identifier", "name", "--person", "id", "--keep", "pay", "--numeric", "age", "--na", "none"]
    flags += ["--categorical", "sex", "--domain", "age=0:99", "--missing", "value", "--delimiter", ","]
    assert run("publish", "named.csv", "-o", "release", *flags, "--promise", "k-anonymity(k=2)").exit_code == 0
    original = ("--original", "named.csv", *flags)
    assert run("audit", "release", *original).exit_code == 0
    assert run("attack", "release", *original, "--attack", "beliefs").exit_code == 0
    count = "SELECT COUNT(*) FROM t WHERE age >= 30"
    assert json.loads(run("query", "release", count, *original, "--json").stdout)["exact"] == 16
    for command in ("plan", "profile"):
        told = run(command, "named.csv", *flags)
        assert told.exit_code == 0 and "pay" not in told.stdout.replace("--keep pay", ""), told.output
    assert "--keep pay" in told.stdout


def test_what_is_declared_of_a_column_overrides_what_the_release_says(home: Path) -> None:
    words = ("publish", "people.csv", "-o", "release", *ROLES, "--promise", "k-anonymity(k=2)")
    assert run(*words, "--hierarchy", "sex=sex.csv").exit_code == 2
    Path("sex.csv").write_text("f;*\nm;*\n")
    assert run(*words, "--hierarchy", "sex=sex.csv").exit_code == 0
    audit = ("audit", "release", "--original", "people.csv")
    assert run(*audit).exit_code == run(*audit, "--categorical", "sex,disease", "--numeric", "age").exit_code == 0
    otherwise = run(*audit, "--categorical", "age")
    assert otherwise.exit_code in (1, 2) and "age" in otherwise.output
    kept = run(*audit, "--keep", "age")
    assert kept.exit_code == 1 and "age" in kept.stdout
    assert "no column 'nobody'" in refused(*audit, "--identifier", "nobody")
