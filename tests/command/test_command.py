"""The command line: what people script stays as it is, and nobody ever sees a traceback."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command import console, publish
from discreet.command.main import main
from discreet.datasets import census_arrow, diseases, patients_arrow
from discreet.errors import DiscreetError
from discreet.table.write import write_table
from discreet.version import __version__
from support.command import refused, run
from support.house import SRC


def run_apart(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "discreet", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": SRC, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


PUBLISH = (
    *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex,zip", "--sensitive", "disease"),
    *("--identifier", "name", "--promise", "beta-likeness(beta=2)"),
)


def published(folder: Path) -> list[dict[str, str]]:
    with (folder / "table.csv").open(newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------------------------------------------------- publishing


def test_publish_writes_an_audited_release_and_says_so(people: Path) -> None:
    result = run(*PUBLISH)
    assert result.stdout.startswith("beta-likeness(beta=2) holds.\n") and "release" in result.stdout
    assert "Columns not published: name, weight." in result.stdout
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv", "release"]
    rows = published(people / "release")
    assert len(rows) == 48
    assert list(rows[0]) == ["group", "age", "sex", "zip", "disease"]


def test_publish_as_json_prints_nothing_else(people: Path) -> None:
    document = json.loads(run(*PUBLISH, "--json", "--trace", "trace.csv").stdout)
    assert document["holds"] is True
    assert document["rows"] == {"published": 48, "withheld": 0}
    assert document["folder"] == "release" and document["trace"] == "trace.csv"
    assert document["promises"][0]["promise"] == "beta-likeness(beta=2)"
    assert document["promises"][0]["achieved"] <= 2
    assert set(document["losses"]) == {"ail", "gcp", "discernibility", "average_class_size"}
    assert document["scheme"]["name"] == "cuts"


def test_publish_with_many_flags(people: Path) -> None:
    tree = "".join(";".join(row) + "\n" for row in diseases().rows())
    (people / "disease.csv").write_text(tree)
    result = run(
        *PUBLISH,
        *("--promise", "k-anonymity(k=4)", "--scheme", "mondrian", "--option", "loss=gcp", "--keep", "weight"),
        *("--hierarchy", "disease=disease.csv", "--domain", "age=0:120", "--categorical", "zip"),
        *("--format", "parquet", "--seed", "7", "--json"),
    )
    document = json.loads(result.stdout)
    assert [one["promise"] for one in document["promises"]] == ["beta-likeness(beta=2)", "k-anonymity(k=4)"]
    assert document["scheme"]["name"] == "mondrian" and document["scheme"]["options"]["loss"] == "gcp"
    assert "experiment" in result.stderr
    manifest = json.loads((people / "release" / "release.json").read_text())
    attributes = {entry["name"]: entry for entry in manifest["attributes"]}
    assert attributes["age"]["domain"] == [0, 120] and attributes["zip"]["kind"] == "categorical"
    assert attributes["weight"]["role"] == "other"
    assert manifest["experimental_seed"] is True and "7" not in json.dumps(manifest["scheme"])
    assert (people / "release" / "table.parquet").is_file()
    run("audit", "release", "--original", "patients.csv")


def test_a_seed_repeats_a_release(people: Path) -> None:
    for name in ("one", "two"):
        run(*PUBLISH[:3], name, *PUBLISH[4:], "--seed", "3")
    assert (people / "one" / "table.csv").read_bytes() == (people / "two" / "table.csv").read_bytes()


def test_columns_may_be_repeated_spaced_or_have_commas_in_their_names(people: Path) -> None:
    table = patients_arrow().rename_columns(["name", "age", "sex", "zip, home", "weight", "disease"])
    write_table(table, people / "odd.csv")
    run(
        *("publish", "odd.csv", "-o", "release", "--quasi", "age, sex", "--quasi", "zip, home"),
        *("--sensitive", "disease", "--promise", "l-diversity(l=2)"),
    )
    assert list(published(people / "release")[0]) == ["group", "age", "sex", "zip, home", "disease"]
    run("audit", "release", "--original", "odd.csv")


def test_columns_are_found_when_a_header_has_blanks_after_its_commas(people: Path) -> None:
    lines = (people / "patients.csv").read_text().splitlines()
    (people / "blanks.csv").write_text("\n".join([lines[0].replace(",", ", "), *lines[1:]]) + "\n")
    words = ("--quasi", "age,sex, zip", "--sensitive", "disease", "--domain", "age=0:120", "--hierarchy", "sex=sex.csv")
    (people / "sex.csv").write_text("F;any\nM;any\n")
    run("publish", "blanks.csv", "-o", "release", *words, "--promise", "l-diversity(l=2)", "--identifier", "name")
    assert list(published(people / "release")[0]) == ["group", "age", "sex", "zip", "disease"]
    run("audit", "release", "--original", "blanks.csv")
    assert "'disease'" in run("profile", "blanks.csv", *words).stdout
    (people / "twice.csv").write_text(" sex,sex ,disease\nF,F,a\nM,M,b\n")
    assert "two columns named 'sex'" in refused("profile", "twice.csv", "--quasi", "sex")


def test_a_release_is_only_replaced_when_asked_to(people: Path) -> None:
    run(*PUBLISH)
    before = (people / "release" / "table.csv").read_bytes()
    assert "--force" in refused(*PUBLISH)
    assert (people / "release" / "table.csv").read_bytes() == before
    run(*PUBLISH, "--force", "--promise", "k-anonymity(k=10)")
    assert (people / "release" / "table.csv").read_bytes() != before


def test_force_does_not_replace_what_is_no_release(people: Path) -> None:
    (people / "release").mkdir()
    (people / "release" / "thesis.txt").write_text("years of work")
    assert "holds no release" in refused(*PUBLISH, "--force")
    assert (people / "release" / "thesis.txt").read_text() == "years of work"


def test_force_does_not_remove_files_beside_a_release(people: Path) -> None:
    run(*PUBLISH)
    (people / "release" / "thesis.txt").write_text("years of work")
    assert "holds 'thesis.txt'" in refused(*PUBLISH, "--force")
    assert (people / "release" / "thesis.txt").read_text() == "years of work"


def test_the_input_is_never_replaced(people: Path) -> None:
    run(*PUBLISH)
    (people / "patients.csv").rename(people / "release" / "patients.csv")
    words = ["publish", "release/patients.csv", *PUBLISH[2:], "--force"]
    assert "inside the output folder" in refused(*words)
    assert (people / "release" / "patients.csv").is_file()


# -------------------------------------------------------------------------------------------------------------- traces


def test_the_trace_is_private_and_complete(people: Path) -> None:
    run(*PUBLISH, "--trace", "trace.csv")
    path = people / "trace.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["row", "group"]
    assert [int(row) for row, _ in lines[1:]] == list(range(48))
    groups = {row["group"] for row in published(people / "release")}
    assert {group for _, group in lines[1:]} == groups
    run("audit", "release", "--original", "patients.csv", "--trace", "trace.csv")


def test_the_trace_says_nothing_of_withheld_rows(people: Path) -> None:
    lines = (people / "patients.csv").read_text().splitlines()
    cells = lines[5].split(",")
    cells[1] = ""
    lines[5] = ",".join(cells)
    (people / "patients.csv").write_text("\n".join(lines) + "\n")
    assert "--missing withhold" in refused(*PUBLISH)
    words = [*PUBLISH[:-1], "l-diversity(l=2)", "--trace", "trace.csv", "--missing", "withhold"]
    result = run(*words)
    assert "Of the withheld rows, 1 has a missing number; 1 more makes the withheld rows keep" in result.stdout
    assert "4,\n" in (people / "trace.csv").read_text()
    run("audit", "release", "--original", "patients.csv", "--trace", "trace.csv")
    run("audit", "release", "--original", "patients.csv")


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        ("release/trace.csv", "inside the output folder"),
        ("release/../release/trace.csv", "inside the output folder"),
        ("patients.csv", "overwrite the input"),
        ("nowhere/trace.csv", "no folder"),
        (".", "is a folder"),
    ],
)
def test_a_trace_in_the_wrong_place_is_refused(people: Path, trace: str, says: str) -> None:
    assert says in refused(*PUBLISH, "--trace", trace, "--force")
    assert not (people / "release").exists()
    assert (people / "patients.csv").read_text().startswith("name,age")


def test_a_trace_is_only_replaced_when_asked_to(people: Path) -> None:
    (people / "trace.csv").write_text("precious")
    assert "exists already" in refused(*PUBLISH, "--trace", "trace.csv")
    assert (people / "trace.csv").read_text() == "precious"
    run(*PUBLISH, "--trace", "trace.csv", "--force")
    assert (people / "trace.csv").read_text().startswith("row,group")


# --------------------------------------------------------------------------------------------------------- hierarchies


@pytest.fixture
def trees(people: Path) -> Path:
    """A folder with hierarchies of all columns, each called in another way."""
    home = people / "trees"
    home.mkdir()
    (home / "hierarchy_disease.csv").write_text("".join(";".join(row) + "\n" for row in diseases().rows()))
    (home / "sex.toml").write_text('any = ["F", "M"]\n')
    ages = range(10, 100)
    (home / "hierarchy_age.csv").write_text("".join(f"{age};{age // 10 * 10}s\n" for age in ages))
    return home


def test_a_folder_of_hierarchies(people: Path, trees: Path) -> None:
    result = run(*PUBLISH, "--hierarchy", "trees")
    assert "Hierarchies taken from 'trees': sex, disease." in result.stderr
    assert "Not taken: hierarchy_age.csv, because 'age' holds numbers" in result.stderr
    manifest = json.loads((people / "release" / "release.json").read_text())
    entries = {entry["name"]: entry for entry in manifest["attributes"]}
    assert entries["age"]["kind"] == "numeric" and len(entries["disease"]["hierarchy"][0]) > 2
    again = run("audit", "release", "--original", "patients.csv", "--hierarchy", "trees")
    assert "Hierarchies taken from 'trees': sex, disease." in again.stderr
    assert "taken" not in run("audit", "release", "--original", "patients.csv").stderr
    assert "sex, disease" in run("profile", "patients.csv", *PUBLISH[4:8], "--hierarchy", "trees").stderr


def test_a_folder_of_hierarchies_gives_way_to_what_is_said_of_single_columns(people: Path, trees: Path) -> None:
    (people / "own.csv").write_text("F;*\nM;*\n")
    words = ("--hierarchy", "trees", "--hierarchy", "sex=own.csv", "--categorical", "age")
    assert "Hierarchies taken from 'trees': age, disease." in run(*PUBLISH, *words).stderr
    words = ("--hierarchy", "trees", "--hierarchy", "age=trees/hierarchy_age.csv", "--force")
    result = run(*PUBLISH, *words)
    assert "Note: 'age' holds numbers but has a hierarchy" in result.stderr and "Not taken" not in result.stderr


def test_folders_of_hierarchies_that_cannot_be_meant(people: Path, trees: Path) -> None:
    (people / "empty").mkdir()
    assert "holds no hierarchy of any of the columns 'age', 'sex'" in refused(*PUBLISH, "--hierarchy", "empty")
    assert "two folders" in refused(*PUBLISH, "--hierarchy", "empty", "--hierarchy", "trees")
    assert "overwrite the hierarchy file 'sex.toml'" in refused(
        *PUBLISH, "--hierarchy", "trees", "--trace", "trees/sex.toml", "--force"
    )


def test_codes_that_begin_with_zeros_are_no_numbers_to_remark_on(people: Path) -> None:
    zips = ["02139", "02140", "10001"]
    lines = "".join(f"{zips[at % 3]},{'ab'[at % 2]}\n" for at in range(30))
    (people / "t.csv").write_text("zip,x\n" + lines)
    (people / "zip.csv").write_text("".join(f"{code};{code[:2]}***\n" for code in zips))
    words = (
        "t.csv",
        "--quasi",
        "zip",
        "--sensitive",
        "x",
        "--promise",
        "k-anonymity(k=3)",
        "--hierarchy",
        "zip=zip.csv",
    )
    assert "Note" not in run("publish", *words, "-o", "release").stderr


@pytest.mark.parametrize("kind", ["ordinal", "numeric", "categorical"])
def test_audit_knows_the_hierarchy_of_the_sensitive_attribute(people: Path, kind: str) -> None:
    lines = "".join(f"{20 + at % 30},{at % 6 if at % 17 else ''}\n" for at in range(240))
    (people / "t.csv").write_text("age,stage\n" + lines)
    (people / "stage.csv").write_text("".join(f"{stage};{'early' if stage < 3 else 'late'};*\n" for stage in range(7)))
    run(
        *("publish", "t.csv", "-o", "release", "--quasi", "age", "--sensitive", "stage", f"--{kind}", "stage"),
        *("--promise", "t-closeness(t=0.3, distance=hierarchical)", "--hierarchy", "stage=stage.csv"),
        *("--missing", "value"),
    )
    run("audit", "release", "--original", "t.csv")
    run("audit", "release", "--original", "t.csv", "--hierarchy", "stage=stage.csv")
    (people / "other.csv").write_text("".join(f"{stage};{'odd' if stage % 2 else 'even'};*\n" for stage in range(7)))
    words = ("audit", "release", "--original", "t.csv", "--hierarchy", "stage=other.csv")
    if kind == "categorical":
        assert "hierarchy of 'stage' is not the one" in run(*words, code=1).stdout


# -------------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["publish"], "no input is named"),
        (["publish", "patients.csv"], "no output is named"),
        (["publish", "patients.csv", "-o", "r"], "no quasi-identifier is named"),
        (["publish", "patients.csv", "-o", "r", "--quasi", "age"], "no promise is named"),
        ([*PUBLISH, "--promise", "beta-liking(beta=2)"], "did you mean 'beta-likeness'"),
        ([*PUBLISH, "--promise", "l-diversity(l=40)"], "cannot keep"),
        ([*PUBLISH, "--quasi", "agee"], "no column 'agee'"),
        ([*PUBLISH, "--hierarchy", "sex"], "neither a folder nor of the form NAME=FILE"),
        ([*PUBLISH, "--hierarchy", "sex=none.csv"], "hierarchy of 'sex'"),
        (
            [*PUBLISH, "--domain", "age=old"],
            "the smaller first; say for example --domain age=16:93",
        ),
        ([*PUBLISH, "--domain", "age=0:20"], "outside its declared domain"),
        ([*PUBLISH, "--domain", "age=60:50"], "say for example --domain age=50:60"),
        ([*PUBLISH, "--option", "losss=ail"], "cuts has no parameter 'losss'; did you mean 'loss'?"),
        ([*PUBLISH, "--option", "loss=ail", "--option", "loss=gcp"], "twice"),
        ([*PUBLISH, "--scheme", "magic"], "no scheme"),
        ([*PUBLISH, "--missing", "perhaps"], "publish --help"),
        ([*PUBLISH, "--seed", "-1"], "publish --help"),
        ([*PUBLISH, "--no-such-flag"], "publish --help"),
        (["publish", "none.csv", *PUBLISH[2:]], "there is no file 'none.csv'"),
        (["publish", ".", "-o", "new", *PUBLISH[4:]], "is a folder"),
        ([*PUBLISH[:3], "patients.csv", *PUBLISH[4:]], "is a file"),
        ([*PUBLISH[:3], "patients.csv/x", *PUBLISH[4:]], "not writable"),
        ([*PUBLISH[:3], "/", *PUBLISH[4:]], "choose another"),
        (["audit", "none", "--original", "patients.csv"], "is not a release"),
        (["profile", "none.csv"], "there is no file"),
        (["profile", "patients.csv", "--quasi", "agee"], "did you mean 'age'?"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(people: Path, words: list[str], says: str) -> None:
    assert says in refused(*words)
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        (DiscreetError("column 'x' is odd"), 2, "discreet: column 'x' is odd"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "not enough memory"),
        (PermissionError(13, "Permission denied", "/secret"), 2, "'/secret': Permission denied"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (ZeroDivisionError("division by zero"), 4, "internal error (ZeroDivisionError: division by zero)"),
    ],
)
def test_every_exception_is_told_in_a_sentence(
    people: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, code: int, says: str
) -> None:
    def fail(job: Any) -> None:
        raise fault

    monkeypatch.setattr(publish, "carry_out", fail)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    result = CliRunner().invoke(main, PUBLISH)  # one of these is an internal error, and has to be told as such
    assert result.exit_code == code and "Traceback" not in result.output
    assert says in result.stderr and result.stdout == ""


def full(*given: Any, **more: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_with_the_file(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "write_bytes", full)
    said = refused("plan", "patients.csv", "--sensitive", "weight", "--plot", "plot.svg")
    assert "plot.svg': No space left on device" in said
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv"]


@pytest.mark.parametrize("where", ["release", "trace", "hidden folder"])
def test_a_full_disk_is_told_with_the_place_that_was_named(
    people: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = os.mkdir

    def no_folder(path: Any, *given: Any, **more: Any) -> None:
        if ".unfinished" in str(path):
            raise OSError(28, "No space left on device", str(path))
        real(path, *given, **more)

    if where == "hidden folder":
        monkeypatch.setattr(os, "mkdir", no_folder)
    else:
        monkeypatch.setattr(f"discreet.releases.{where}.write_table", full)
    said = refused(*PUBLISH, "--trace", "private.csv")
    assert repr(str(people / ("private.csv" if where == "trace" else "release"))) in said
    assert "No space left on device: the disk is full" in said and ".unfinished" not in said
    assert ("nothing has changed" if where == "release" else "nothing was published") in said
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv"]


def test_no_room_for_temporary_releases_is_no_fault_of_ours(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(people))
    monkeypatch.setattr("discreet.releases.release.write_table", full)
    compare = ("compare", "patients.csv", *PUBLISH[4:], "--schemes", "cuts")
    said = refused(*compare)
    assert f"could not be written to {str(people / 'discreet-comparison')!r} (No space left on device: the disk" in said
    assert "name a folder with more room in the environment variable TMPDIR" in said
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_behind_the_output_is_told(people: Path) -> None:
    command = [sys.executable, "-m", "discreet", "profile", "patients.csv", "--categorical", "zip"]
    with open("/dev/full", "w") as stdout:
        environment = {**os.environ, "PYTHONPATH": SRC}
        result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "'standard output': No space left" in result.stderr


def test_the_traceback_of_an_internal_error_is_there_for_whoever_asks(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(publish, "carry_out", fail)
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 4 and "Traceback" in result.stderr and "internal error" in result.stderr


def test_the_help_names_every_exit_code() -> None:
    told = " ".join(run("--help").stdout.split())
    assert "2 bad input, 3 everything is written" in told and "4 an internal error; 129, 130 or 143" in told
    for command in ("attack", "compare"):
        assert "4 if a" in " ".join(run(command, "--help").stdout.split())


def test_a_failed_audit_leaves_nothing_behind(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.adversary import audit as room

    run(*PUBLISH)
    before = (people / "release" / "table.csv").read_bytes()

    def doubting(folder: Any, *rest: Any, **more: Any) -> Any:
        assert (Path(folder) / "table.csv").is_file()
        return room.Audit([room.Check("support", False, "The original does not support it.")])

    monkeypatch.setattr("discreet.jobs.carry_out.audit", doubting)
    result = run(*PUBLISH, "--force", "--trace", "trace.csv", code=1)
    assert "Nothing was published" in result.stdout and "FAILED" in result.stderr
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv", "release"]
    assert (people / "release" / "table.csv").read_bytes() == before


# -------------------------------------------------------------------------------------------------------------- audits


def test_audit_needs_nothing_but_the_release_and_the_original(people: Path) -> None:
    run(
        *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex,zip", "--sensitive", "disease"),
        *("--promise", "beta-likeness(beta=2)", "--ordinal", "age", "--categorical", "zip", "--keep", "weight"),
    )
    result = run("audit", "release", "--original", "patients.csv")
    assert result.stdout.startswith("beta-likeness(beta=2) holds, as the release itself states it; ")
    document = json.loads(run("audit", "release", "--original", "patients.csv", "--json").stdout)
    assert document["holds"] is True and document["support"] in ("assignment", "necessary")


@pytest.mark.slow
def test_audit_of_a_release_with_withheld_rows(people: Path) -> None:
    words = ("--option", "withhold=0.1", "--promise", "k-anonymity(k=6)", "--categorical", "zip", "--trace", "t.csv")
    run(*PUBLISH, *words)
    run("audit", "release", "--original", "patients.csv")
    run("audit", "release", "--original", "patients.csv", "--trace", "t.csv")


def test_audit_judges_further_promises(people: Path) -> None:
    run(*PUBLISH)
    words = ("audit", "release", "--original", "patients.csv", "--promise", "k-anonymity(k=40)", "--json")
    document = json.loads(run(*words, code=1).stdout)
    assert {one["promise"]: one["holds"] for one in document["promises"]} == {
        "beta-likeness(beta=2)": True,
        "k-anonymity(k=40)": False,
    }
    assert "BROKEN" in run(*words[:-1], code=1).stdout


def test_audit_fails_a_tampered_release(people: Path) -> None:
    run(*PUBLISH)
    path = people / "release" / "table.csv"
    path.write_text(path.read_text().replace("epilepsy", "headache", 1))
    result = run("audit", "release", "--original", "patients.csv", code=1)
    assert "FAILED" in result.stdout and "NOT" in result.stdout


def test_audit_against_another_table_is_no_success(people: Path) -> None:
    run(*PUBLISH)
    lines = (people / "patients.csv").read_text().splitlines()
    (people / "other.csv").write_text("\n".join(lines[:-5]) + "\n")
    run("audit", "release", "--original", "other.csv", code=1)
    (people / "strange.csv").write_text("a,b\n1,2\n")
    assert "no column" in refused("audit", "release", "--original", "strange.csv")


# ------------------------------------------------------------------------------------------------------- the true thing


def test_the_help_of_publish_fits_on_one_screen_and_points_on() -> None:
    shown = CliRunner().invoke(main, ["publish", "--help"], terminal_width=100).output
    assert len(shown.splitlines()) <= 64 and max(map(len, shown.splitlines())) <= 100
    assert all(f"discreet {kind}" in " ".join(shown.split()) for kind in ("schemes", "promises", "attacks"))


def test_the_command_alone_shows_its_help() -> None:
    result = CliRunner().invoke(main, [])
    assert result.output.startswith("Usage: ") and "publish" in result.output and result.exit_code in (0, 2)
    assert "discreet: " not in result.output


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["burel", "perturbation", "baseline", "anatomy", "sabre", "proximity"])
def test_every_scheme_publishes_audits_and_answers(scheme: str, people: Path) -> None:
    promise = {
        "anatomy": "l-diversity(l=2)",
        "sabre": "t-closeness(t=0.3)",
        "proximity": "proximity(epsilon=2, m=3)",
    }.get(scheme, "beta-likeness(beta=2)")
    words = [word for word in PUBLISH if not word.startswith("beta")]
    if scheme == "proximity":
        words[words.index("disease")] = "weight"
    run(*words, promise, "--scheme", scheme, "--trace", "trace.csv")
    for trace in ([], ["--trace", "trace.csv"]):
        assert json.loads(run("audit", "release", "--original", "patients.csv", "--json", *trace).stdout)["holds"]
    answer = json.loads(run("query", "release", "SELECT COUNT(*) FROM t WHERE age >= 0", "--json").stdout)
    assert answer["estimate"] == pytest.approx(48)
    table = (people / "release" / "table.csv").read_text()
    (people / "release" / "table.csv").write_text(table[: table.rindex("\n", 0, -1) + 1])
    assert not json.loads(run("audit", "release", "--original", "patients.csv", "--json", code=1).stdout)["holds"]


def test_help_is_quick_and_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom discreet.command.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pyarrow', 'numba', 'pandas', 'polars', 'pydantic', 'rich', 'scipy'}\n"
        "sys.exit(str(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)"
    )
    for words in (["--help"], ["publish", "--help"], ["--version"]):
        environment = {**os.environ, "PYTHONPATH": SRC}
        command = [sys.executable, "-c", code, *words]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert result.returncode == 0, result.stderr


def test_version(tmp_path: Path) -> None:
    assert run("--version").stdout.strip() == f"discreet {__version__}"


@pytest.mark.slow
def test_exit_codes_of_the_true_command(people: Path) -> None:
    result = run_apart(*PUBLISH, cwd=people)
    assert result.returncode == 0 and "beta-likeness(beta=2) holds." in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    again = run_apart(*PUBLISH, cwd=people)
    assert again.returncode == 2 and again.stdout == "" and again.stderr.count("\n") == 1
    path = people / "release" / "table.csv"
    path.write_text(path.read_text().replace("angina", "anemia", 1))
    assert run_apart("audit", "release", "--original", "patients.csv", cwd=people).returncode == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_polite_kill_leaves_nothing_half_written(people: Path) -> None:
    slow = (
        "import signal, sys, time\nfrom discreet.adversary import audit\nfrom discreet.command.main import main\n"
        "def wait(folder, *rest, **more):\n    print('waiting', file=sys.stderr, flush=True)\n"
        "    signal.alarm(600)\n    time.sleep(3600)\n"  # should nobody end it
        "audit.audit = wait\nmain(sys.argv[1:])\n"
    )
    environment = {**os.environ, "PYTHONPATH": SRC}
    command = [sys.executable, "-c", slow, *PUBLISH]
    with subprocess.Popen(command, cwd=people, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.strip() == "waiting":
                break
        assert any(path.name.endswith(".unfinished") for path in people.iterdir())
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == console.Exit.TERMINATED
    assert sorted(path.name for path in people.iterdir()) == ["patients.csv"]


def test_a_reader_who_leaves_early_is_no_fault(people: Path) -> None:
    command = f"{sys.executable} -m discreet publish --help | head -c 10"
    environment = {**os.environ, "PYTHONPATH": SRC}
    result = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment, check=False)
    assert result.stderr == ""


# ---------------------------------------------------------------------------------------------------------------- demo


def test_demo_runs_twice_and_its_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--rows", "600")
    assert re.search(r"\) hold\.$", result.stdout, re.MULTILINE) and "discreet publish" in result.stdout
    again = json.loads(run("demo", "--rows", "400", "--json").stdout)
    assert again["rows"]["published"] == 400
    home = tmp_path / "discreet-demo"
    assert sorted(path.name for path in home.iterdir()) == [
        "census.csv",
        "hierarchies",
        "private-trace.csv",
        "release",
    ]
    for command in again["commands"]:
        run(*shlex.split(command)[1:])


def test_demo_does_not_take_the_place_of_files_it_has_not_made(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    run("demo", "-o", str(home), "--rows", "300")
    (home / "release" / "mine.txt").write_text("mine")
    assert "holds 'mine.txt'" in refused("demo", "-o", str(home), "--rows", "200", "--force")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "census.csv").write_text("mine")
    assert "not made by a demo" in refused("demo", "-o", str(tmp_path / "own"), "--force")
    assert (tmp_path / "own" / "census.csv").read_text() == "mine"


def test_a_demo_that_fails_leaves_things_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("demo", "-o", str(tmp_path / "old"), "--rows", "300")
    before = (tmp_path / "old" / "census.csv").read_bytes()
    monkeypatch.setattr("discreet.table.write._csv_parts", full)
    for name in ("old", "new"):
        assert "census.csv': No space left on device" in refused("demo", "-o", str(tmp_path / name), "--rows", "200")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old" / "census.csv").read_bytes() == before


def test_demo_leaves_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert "mine.txt" in refused("demo", "-o", str(tmp_path))
    run("demo", "-o", str(tmp_path), "--rows", "300", "--force")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_census_with_numeric_sensitive_values(tmp_path: Path) -> None:
    write_table(census_arrow(400), tmp_path / "census.csv")
    words = (
        "--quasi",
        "age,gender,country",
        "--sensitive",
        "salary",
        "--promise",
        "t-closeness(t=0.3, distance=ordered)",
    )
    release = str(tmp_path / "release")
    run("publish", str(tmp_path / "census.csv"), "-o", release, *words)
    run("audit", release, "--original", str(tmp_path / "census.csv"))


def test_audit_of_a_promise_that_only_its_release_states(tmp_path: Path) -> None:
    """A function as neighbourhood has no short text; the release states what it says, and the command reads that."""
    ages = [20 + row % 40 for row in range(60)]
    wages = [1000 + 37 * (row * 7 % 60) for row in range(60)]
    source = tmp_path / "people.csv"
    source.write_text("age,wage\n" + "".join(f"{a},{w}\n" for a, w in zip(ages, wages, strict=True)))
    table = dc.read(source, quasi=["age"], sensitive="wage")
    near = dc.Proximity(m=2, neighbourhood=lambda x: (x - 50, x * 1.1))
    dc.publish(table, near).save(tmp_path / "release")
    result = run("audit", str(tmp_path / "release"), "--original", str(source))
    assert "proximity(m=2, neighbourhood=stated)" in result.output
