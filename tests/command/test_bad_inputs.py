"""Whatever a user may give: one sentence with a way out, exit code 2, nothing left on disk, never an internal error.

Every flag that takes a value is given absurd ones, every argument that takes a file absurd files, and every entry of a
manifest is removed or replaced.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.command.main import main
from discreet.report.compare import MOST_QUERIES
from support.formats import MAKERS, published_as

DIGITS = "9" * 5000
"""Python reads no whole number of so many digits."""
NESTED = "[" * 3000 + "]" * 3000
ROWS = [(20 + i % 9, "fm"[i % 2], ["flu", "cold", "cough", "angina"][i % 4], 100 * (i % 7)) for i in range(40)]
TABLE = "age,sex,disease,pay\n" + "".join(f"{age},{sex},{disease},{pay}\n" for age, sex, disease, pay in ROWS)
ROLES = ["--quasi", "age,sex", "--sensitive", "disease", "--promise", "k-anonymity(k=4)"]
COMMANDS: dict[str, list[str]] = {
    "publish": ["publish", "people.csv", "-o", "out", *ROLES],
    "audit": ["audit", "generalized", "--original", "people.csv"],
    "attack": ["attack", "generalized", "--original", "people.csv", "--attack", "beliefs"],
    "query": ["query", "generalized", "SELECT COUNT(*) FROM t"],
    "compare": ["compare", "people.csv", *ROLES, "--schemes", "mondrian", "--queries", "5"],
    "plan": ["plan", "people.csv", "--quasi", "age", "--sensitive", "pay"],
    "profile": ["profile", "people.csv"],
    "advise": ["advise", "people.csv", "--quasi", "age,sex", "--sensitive", "disease"],
    "report": ["report", "generalized", "--original", "people.csv", "-o", "page.html"],
    "export": ["export", "generalized", "-o", "people.parquet"],
    "hierarchy init": ["hierarchy", "init", "people.csv", "sex"],
    "hierarchy check": ["hierarchy", "check", "sex.toml", "people.csv", "sex"],
    "data get": ["data", "get", "census"],
    "app": ["app", "nowhere.csv", "--no-browser"],
    "reproduce": ["reproduce", "list"],
    "demo": ["demo", "-o", "demo", "--rows", "100"],
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of every format."""
    home = tmp_path_factory.mktemp("releases")
    (home / "people.csv").write_text(TABLE)
    (home / "sex.toml").write_text("[f]\n[m]\n")
    for format in MAKERS:
        sensitive_attribute = "pay" if format == "retained" else "disease"
        release = published_as(
            format, dc.read(home / "people.csv", quasi=["age", "sex"], sensitive=sensitive_attribute)
        )
        release.save(home / format)
    return home


@pytest.fixture
def home(releases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(releases, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("loop", "loop")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def listed(home: Path) -> set[str]:
    return {str(path) for path in home.rglob("*")}


def refused(home: Path, *words: str, way_out: str = ";") -> str:
    """The one sentence with which a command is refused, after notes on how columns were read."""
    before = listed(home)
    return refusal(run(*words), home, before, words, way_out)


def refusal(done: Result, home: Path, before: set[str], words: tuple[str, ...], way_out: str = ";") -> str:
    """The sentence of a refusal, checked, after which the folder lists what it did before."""
    said = "\n".join(line for line in done.stderr.strip().splitlines() if not line.startswith("Note: column "))
    assert done.exit_code == 2, (words, done.exit_code, done.output)
    assert len(said.splitlines()) == 1 and said.startswith("discreet: "), (words, said)
    assert "internal error" not in said, (words, said)
    assert way_out in said, (words, said)
    assert len(said) < 2500, (words, said)
    assert listed(home) == before, words
    return said


def taken_or_refused(home: Path, *words: str) -> None:
    """Exit code 0 or 1 where what was given has a meaning, else a refusal."""
    before = listed(home)
    done = run(*words)
    if done.exit_code == 2:
        refusal(done, home, before, words)
        return
    assert done.exit_code in (0, 1) and isinstance(done.exception, SystemExit | None), (words, done.output)
    for path in sorted(listed(home) - before, reverse=True):
        shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()


# -------------------------------------------------------------------------------------------------------------- flags

ABSURD = ["", "-1", DIGITS, "nan", "1e999", "~nosuchuser/x", "\udcff", "x" * 300, "age=~nosuchuser", f"age=1:{DIGITS}"]


def every_command() -> dict[str, click.Command]:
    return dict(commands_of(main))


def commands_of(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """The commands of a group by name, and those of the groups in it: "data get"."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((f"{name} {within}", each) for within, each in commands_of(command))
        elif command is not None:
            yield name, command


def options() -> Iterator[tuple[str, str]]:
    for name, command in every_command().items():
        for flag in command.params:
            if isinstance(flag, click.Option) and not flag.is_flag:
                yield name, flag.opts[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "flag"), list(options()))
def test_absurd_values_of_every_flag(home: Path, command: str, flag: str) -> None:
    words = COMMANDS[command]
    for value in ABSURD:
        if flag in words or (flag == "--output" and "-o" in words):
            at = words.index("-o" if flag == "--output" else flag)
            taken_or_refused(home, *words[: at + 1], value, *words[at + 2 :])
        else:
            taken_or_refused(home, *words, flag, value)


@pytest.mark.parametrize(
    "name", ["undefined", "base64", "idna", "punycode", "rot13", "unicode_escape", "hex", "klingon"]
)
def test_encodings_that_no_file_is_in(home: Path, name: str) -> None:
    assert "there is no encoding" in refused(home, *COMMANDS["publish"], "--encoding", name)


def test_encodings_that_let_anything_through(home: Path) -> None:
    Path("seven.csv").write_bytes(TABLE.encode() + b"20,+2AA-,flu,1\n")  # half of a pair, which is no text
    refused(home, "profile", "seven.csv", "--encoding", "utf-7")


@pytest.mark.parametrize(
    "text", [f"k-anonymity(k={DIGITS})", f"proximity(epsilon={DIGITS}, m=2)", f"beta-likeness(beta=1e{DIGITS})"]
)
def test_numbers_of_thousands_of_digits_in_promises(home: Path, text: str) -> None:
    refused(home, "publish", "people.csv", "-o", "out", "--quasi", "age,sex", "--sensitive", "pay", "--promise", text)


@pytest.mark.parametrize("condition", [f"age > {DIGITS}", f"age IN (-{DIGITS})", "(" * 3000 + "age = 1" + ")" * 3000])
def test_queries_of_thousands_of_digits_or_parentheses(home: Path, condition: str) -> None:
    taken_or_refused(home, "query", "generalized", f"SELECT COUNT(*) FROM t WHERE {condition}")


@pytest.mark.parametrize(
    "place", ["{} FROM t", "COUNT(*) FROM {}", "COUNT(*) FROM t WHERE {} = 1", "{} FROM t GROUP BY {}"]
)
def test_queries_of_hundreds_of_dots(home: Path, place: str) -> None:
    refused(home, "query", "generalized", "SELECT " + place.replace("{}", ".".join("a" * 900)))


def test_a_workload_without_end_is_refused(home: Path) -> None:
    said = refused(home, *COMMANDS["compare"][:-1], str(10**12))
    assert f"{MOST_QUERIES:,} queries at most" in said


def test_a_comparison_without_any_release_leaves_no_page(home: Path) -> None:
    words = ["compare", "people.csv", *ROLES[:-1], "k-anonymity(k=41)", "--schemes", "mondrian", "--queries", "5"]
    before = listed(home)
    done = run(*words, "--html", "page.html")
    assert done.exit_code == 2 and "; ask for less, or name other schemes" in done.stderr
    assert listed(home) == before


# -------------------------------------------------------------------------------------------------------------- files


def readers(path: str) -> dict[str, list[str]]:
    """Commands that read a file, by what they take it for."""
    return {
        "input": ["publish", path, "-o", "out", *ROLES],
        "profile": ["profile", path],
        "compare": ["compare", path, *ROLES, "--schemes", "mondrian", "--queries", "5"],
        "original": ["audit", "generalized", "--original", path],
        "trace": [*COMMANDS["audit"], "--trace", path],
        "population": [*COMMANDS["audit"], "--population", path],
        "hierarchy": [*COMMANDS["publish"], "--hierarchy", f"sex={path}"],
        "job": ["publish", "--job", path],
        "folder": ["audit", path, "--original", "people.csv"],
    }


KINDS = list(readers(""))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_pipes_devices_loops_folders_and_homes_of_nobody(home: Path, kind: str) -> None:
    os.mkdir("folder")
    for path in (
        "pipe",
        "/dev/zero",
        "loop",
        "folder",
        "nosuch",
        "~nosuchuser/x",
        "people.csv/x",
        "x" * 300,
        "n\udcff",
    ):
        refused(home, *readers(path)[kind])


def damaged() -> dict[str, bytes]:
    table = pa.table(
        {"age": range(3000), "sex": ["f", "m"] * 1500, "disease": ["a", "b", "c"] * 1000, "pay": range(3000)}
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="none", use_dictionary=False)
    whole = buffer.getvalue()
    garbled = bytearray(whole)
    garbled[2000:9000] = b"\xff" * 7000
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("people.csv", TABLE)
    return {
        "empty.csv": b"",
        "blank.csv": b"\n\n",
        "cut.parquet": whole[: len(whole) // 2],
        "garbled.parquet": bytes(garbled),
        "footer.parquet": whole[:-20] + b"\xff" * 12 + whole[-8:],
        "cut.csv.gz": gzip.compress(TABLE.encode())[:50],
        "cut.csv.bz2": bz2.compress(TABLE.encode())[:50],
        "cut.csv.xz": lzma.compress(TABLE.encode())[:50],
        "cut.csv.zst": pa.compress(TABLE.encode(), codec="zstd", asbytes=True)[:50],
        "people.zip": archive.getvalue(),
        "people.7z": b"7z\xbc\xaf\x27\x1c" + bytes(50),
        "binary": bytes(range(256)) * 20,
        "digits.csv": f"age,sex,disease,pay\n{DIGITS},f,flu,1\n{DIGITS},m,cold,2\n".encode(),
        "digits.toml": f"seed = {DIGITS}".encode(),
        "nested.toml": f"quasi = {NESTED}".encode(),
        "deep.toml": ("quasi = " + "[" * 150 + "]" * 150).encode(),
        "zero.toml": b'input = "a\\u0000b"\noutput = "out"\nquasi = "age"\npromises = "k-anonymity(k=2)"\n',
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(damaged()))
def test_damaged_and_strange_files(home: Path, name: str) -> None:
    Path(name).write_bytes(damaged()[name])
    for kind, words in readers(name).items():
        # a file of anything may hold one column of names, which can be looked at, or be the leaves of a hierarchy
        lenient = kind in ("profile", "hierarchy", "population")
        (taken_or_refused if lenient else refused)(home, *words)


def test_advice_fits_the_file(home: Path) -> None:
    for name, content in damaged().items():
        Path(name).write_bytes(content)
    assert "is empty; give a file" in refused(home, "profile", "empty.csv")
    assert "is empty; give a file" in refused(home, "publish", "blank.csv", "-o", "out", *ROLES)
    for name in ("cut.parquet", "garbled.parquet", "footer.parquet"):
        for command in (["profile", name], ["publish", name, "-o", "out", *ROLES]):
            assert "damaged" in refused(home, *command, way_out="; write it again as Parquet or CSV")
    assert "zip archive; unpack it" in refused(home, "profile", "people.zip")
    assert "7z archive; unpack it" in refused(home, "profile", "people.7z")
    for ending, kind in (("gz", "gzip"), ("bz2", "bzip2"), ("xz", "xz"), ("zst", "zstd")):
        assert f"damaged {kind} file; fetch" in refused(home, "profile", f"cut.csv.{ending}")


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_compressed_tables_are_read(home: Path, ending: str) -> None:
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    data = TABLE.encode()
    Path(f"p.{ending}").write_bytes(pack[ending](data) if ending in pack else pa.compress(data, "zstd", asbytes=True))
    assert run("publish", f"p.{ending}", "-o", "out", *ROLES).exit_code == 0
    assert run("audit", "out", "--original", "people.csv").exit_code == 0


@pytest.mark.slow
def test_names_that_are_not_utf_8_work(home: Path) -> None:
    odd = Path(os.fsdecode(b"f\xff"))
    odd.mkdir()
    table, job = odd / os.fsdecode(b"p\xfe.csv"), odd / os.fsdecode(b"job\xfd.toml")
    table.write_text(TABLE)
    (odd / "people.csv").write_text(TABLE)
    job.write_text('input = "people.csv"\noutput = "job"\nquasi = "age,sex"\npromises = "k-anonymity(k=4)"\n')
    out, trace = str(odd / os.fsdecode(b"o\xfc")), str(odd / os.fsdecode(b"t\xfb"))
    for words in (
        ["publish", str(table), "-o", out, *ROLES, "--trace", trace],
        ["audit", out, "--original", str(table), "--trace", trace, "--json"],
        ["query", out, "SELECT COUNT(*) FROM t", "--original", str(table)],
        ["publish", str(table), "-o", out, *ROLES, "--format", "parquet", "--force", "--json"],
        ["audit", out, "--original", str(table)],
        ["profile", str(table)],
        ["compare", str(table), *ROLES, "--schemes", "mondrian", "--queries", "5", "--html", str(odd / "c\udcff.html")],
        ["publish", "--job", str(job)],
    ):
        done = run(*words)
        assert done.exit_code == 0, (words, done.output)
    assert "\\udcff" in refused(home, "profile", str(odd / "nosuch"))


@pytest.mark.slow
def test_a_user_without_a_home(home: Path) -> None:
    """Neither HOME nor an entry in the list of users, as in many containers."""
    nobody = (
        "import os, pwd, sys\n"
        "def unknown(user): raise KeyError(user)\n"
        "pwd.getpwuid = unknown\n"
        "os.environ.pop('HOME', None)\n"
        "from discreet.kernels.compiling import cache_folder\n"
        "assert cache_folder().is_dir()\n"
        "from discreet.command.main import main\n"
        "main(sys.argv[1:])\n"
    )
    # where compiled kernels are found is not what is tried here, so that nothing is compiled again
    kept = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(dc.__file__).parent.parent), **kept}
    for words, code in ((COMMANDS["publish"], 0), (["profile", "~/people.csv"], 2)):
        done = subprocess.run([sys.executable, "-c", nobody, *words], env=environment, capture_output=True, text=True)
        assert done.returncode == code and "internal error" not in done.stderr, done.stderr


# ---------------------------------------------------------------------------------------------- manifests and traces


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document, of lists only the first things."""
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*place, key))


STRANGE: list[Any] = [None, True, -1, 3.5, "", [], {}, [{}], {"a": 1}, 10**20]


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_damaged_manifests(home: Path, name: str) -> None:
    path = home / name / "release.json"
    manifest = json.loads(path.read_text())
    spots = [place for place in places(manifest) if place[0] != "assumptions" or len(place) == 1]
    for at, place in enumerate(spots):
        for turn in range(3):  # every place is emptied, and takes turns with what is put there
            changed = copy.deepcopy(manifest)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            if turn == 0:
                del inner[place[-1]]
            else:
                inner[place[-1]] = STRANGE[(2 * at + turn) % len(STRANGE)]
            path.write_text(json.dumps(changed))
            taken_or_refused(home, "audit", name, "--original", "people.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", NESTED, f'{{"format_version": {DIGITS}}}', '{"a": ' * 150 + "1" + "}" * 150, "\udcff"],
)
def test_manifests_that_are_none(home: Path, name: str, text: str) -> None:
    (home / name / "release.json").write_bytes(text.encode(errors="surrogateescape"))
    refused(home, "audit", name, "--original", "people.csv")
    refused(home, "query", name, "SELECT COUNT(*) FROM t")


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_files_of_a_release_that_are_none(home: Path, name: str) -> None:
    usual = run("audit", name, "--original", "people.csv").exit_code
    for path in sorted((home / name).iterdir()):
        content = path.read_bytes()
        for strange in ("pipe", "loop", "folder", "device", "nothing"):
            path.unlink()
            if strange == "pipe":
                os.mkfifo(path)
            elif strange == "folder":
                path.mkdir()
            elif strange != "nothing":
                path.symlink_to("/dev/zero" if strange == "device" else path.name)
            if path.name == "README.md":  # a page, which nothing is computed from
                done = run("audit", name, "--original", "people.csv")
                assert done.exit_code == (usual if strange == "nothing" else 1), done.output
                assert "README.md" in done.output
                assert run("query", name, "SELECT COUNT(*) FROM t").exit_code == 0
            else:
                refused(home, "audit", name, "--original", "people.csv")
                refused(home, "query", name, "SELECT COUNT(*) FROM t")
            path.rmdir() if strange == "folder" else path.unlink(missing_ok=True)
            path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["", "row\n0\n", "row,grp\n0,0\n", "row,group\na,b\n", f"row,group\n0,{DIGITS}\n", '"row,group\n0,0\n', NESTED],
)
def test_traces_that_are_none(home: Path, text: str) -> None:
    Path("trace").write_text(text)
    for name in MAKERS:
        refused(home, "audit", name, "--original", "people.csv", "--trace", "trace")


# -------------------------------------------------------------------------------------------------------------- quiet


def test_every_command_can_be_quiet() -> None:
    for name, command in every_command().items():
        for each in command.commands.values() if isinstance(command, click.Group) else (command,):
            assert any("--quiet" in flag.opts for flag in each.params), f"{name} {each.name}"


@pytest.mark.slow
def test_quiet_commands_say_what_a_script_wants(home: Path) -> None:
    def said(*words: str) -> tuple[int, str, str]:
        done = run(*words, "--quiet")
        return done.exit_code, done.stdout, done.stderr

    assert said(*COMMANDS["publish"], "--seed", "1") == (0, "", "")  # not even that a seed is an experiment
    assert said(*COMMANDS["audit"]) == (0, "", "")
    assert said(*COMMANDS["demo"]) == (0, "", "")
    assert said(*COMMANDS["query"]) == (0, "40.0\n", "")
    assert said(*COMMANDS["query"], "--original", "people.csv") == (0, "40.0 40\n", "")
    for name in ("plan", "profile", "compare"):
        code, out, err = said(*COMMANDS[name])
        assert code == 0 and out and not err, name
    code, out, err = said(*COMMANDS["audit"], "--promise", "k-anonymity(k=41)")
    assert code == 1 and "NOT shown to hold" in out and "BROKEN" in out and not err
    code, out, err = said("audit", "nosuch", "--original", "people.csv")
    assert code == 2 and not out and len(err.splitlines()) == 1
