"""An audit, an attack and a query read the original as it was read to publish it, without repeating the flags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from discreet.command.main import main

ROWS = 120
NAMES = ["id", "birth", "sex", "pay", "ill", "note"]
PROMISE = ["--promise", "l-diversity(l=2)"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table in ``people.csv``, and the same without header in ``rows.csv``."""
    monkeypatch.chdir(tmp_path)
    chance, lines = np.random.default_rng(4), []
    for at in range(ROWS):
        birth = f"{at % 12 + 1:02}.{at % 11 + 1:02}.{1930 + at % 60}"
        pay = "NA" if at % 9 == 0 else str(100 * chance.integers(10, 60))
        ill = "NA" if at % 15 == 0 else chance.choice(list("stuv"))
        lines.append(f"p{at},{birth},{'fm'[at % 2]},{pay},{ill},said {at}\n")
    Path("people.csv").write_text(",".join(NAMES) + "\n" + "".join(lines))
    Path("rows.csv").write_text("".join(lines))
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return result


def published(*more: str, input: str = "people.csv", promise: str = "l-diversity(l=2)") -> dict[str, Any]:
    run("publish", input, "-o", "release", "--sensitive", "ill", "--promise", promise, "--force", *more)
    manifest: dict[str, Any] = json.loads(Path("release/release.json").read_text())
    return manifest


def check(original: str = "people.csv", *more: str) -> str:
    """What the audit says of the manifest."""
    document = json.loads(run("audit", "release", "--original", original, "--json", *more).stdout)
    return next(each["sentence"] for each in document["checks"] if each["name"] == "manifest")


def test_marks_of_missing_values_need_not_be_repeated() -> None:
    manifest = published("--quasi", "sex,pay", "--na", "NA", "--missing", "value")
    assert manifest["reading"] == {"na": ["NA"]}
    assert list(manifest)[5:8] == ["attributes", "reading", "rows"]
    assert check() == "The manifest has only the entries of its format."
    run("audit", "release", "--original", "people.csv", "--quasi", "sex,pay", "--sensitive", "ill", *PROMISE)
    run("attack", "release", "--original", "people.csv", "--victims", "20", "--attack", "beliefs")
    asked = "SELECT COUNT(*) FROM t WHERE pay >= 0"
    known = json.loads(run("query", "release", asked, "--original", "people.csv", "--json").stdout)
    assert known["exact"] == ROWS - -(-ROWS // 9)


def test_rows_withheld_for_a_mark_are_found_again() -> None:
    published("--quasi", "sex,pay", "--na", "NA", "--missing", "withhold", "--most-withheld", "0.5")
    assert check() == "The manifest has only the entries of its format."


def test_formats_of_dates_need_not_be_repeated() -> None:
    manifest = published("--quasi", "sex,birth", "--date", "birth=%d.%m.%Y")
    assert manifest["reading"] == {"dates": {"birth": "%d.%m.%Y"}}
    assert check() == "The manifest has only the entries of its format."
    told = run("audit", "release", "--original", "people.csv", "--date", "birth=%m.%d.%Y", code=1).stdout
    assert "read otherwise than the manifest says, which states {'dates': {'birth': '%d.%m.%Y'}}" in told


def test_a_file_without_header_is_read_so_again() -> None:
    layout = ["--header", "none", "--columns", ",".join(NAMES)]
    manifest = published("--quasi", "sex,pay", "--na", "NA", "--missing", "value", *layout, input="rows.csv")
    assert manifest["reading"] == {"na": ["NA"], "header": "none", "columns": NAMES}
    assert check("rows.csv") == "The manifest has only the entries of its format."
    roles = ["--quasi", "sex,pay", "--sensitive", "ill"]
    run("audit", "release", "--original", "rows.csv", *roles)
    run("attack", "release", "--original", "rows.csv", "--victims", "20", "--attack", "beliefs")
    columns = {
        name: [line.split(",")[at] for line in Path("rows.csv").read_text().splitlines()]
        for at, name in enumerate(NAMES)
    }
    pq.write_table(pa.table(columns), "typed.parquet")
    refused = run("audit", "release", "--original", "typed.parquet", code=2).stderr
    assert "say --header yes where a release says none" in " ".join(refused.split())
    told = check("people.csv", "--header", "yes")  # a flag says otherwise
    assert "states {'header': 'none', 'columns': ['id', 'birth'," in told


def test_separators_need_not_be_repeated() -> None:
    lines = [f"{at % 7},{'fm'[at % 2]},{'flu;NA;gout' if at % 3 else 'gout'}\n" for at in range(60)]
    Path("lists.csv").write_text("age,sex,ill\n" + "".join(lines))
    flags = ["--quasi", "age,sex", "--list", "ill=;", "--na", "NA"]
    manifest = published(*flags, input="lists.csv", promise="beta-likeness(beta=1)")
    assert manifest["reading"] == {"na": ["NA"], "lists": {"ill": ";"}}
    assert check("lists.csv") == "The manifest has only the entries of its format."


def test_nothing_is_recorded_where_nothing_was_said() -> None:
    assert "reading" not in published("--quasi", "sex")


def unusual(name: str, mark: str = "!", encoding: str = "utf-16-be", years: bool = True) -> None:
    """Write the table with two columns that look like years, cells and characters as few files have them."""
    lines = Path("people.csv").read_text().replace("sex,pay", "2019,2020" if years else "sex,pay")
    Path(name).write_bytes(lines.replace(",", mark).encode(encoding))


def test_delimiter_encoding_and_header_need_not_be_repeated() -> None:
    unusual("odd.csv")
    layout = ["--delimiter", "!", "--encoding", "UTF-16BE", "--header", "yes"]
    manifest = published("--quasi", "2019", *layout, input="odd.csv")
    assert manifest["reading"] == {"delimiter": "!", "encoding": "utf-16-be", "header": "yes"}
    run("publish", "odd.csv", "-o", "other", "--quasi", "2019", "--sensitive", "ill", *PROMISE, *layout)
    assert check("odd.csv") == "The manifest has only the entries of its format."
    run("audit", "release", "--original", "odd.csv", "--quasi", "2019", "--sensitive", "ill")
    run("attack", "release", "--original", "odd.csv", "--with", "other", "--victims", "9", "--attack", "composition")
    asked = "SELECT COUNT(*) FROM t WHERE \"2019\" = 'f'"
    known = json.loads(run("query", "release", asked, "--original", "odd.csv", "--json").stdout)
    assert known["exact"] == ROWS / 2


def test_flags_about_the_layout_override_those_of_the_release() -> None:
    """The same table, written as another file."""
    unusual("odd.csv", years=False)
    published("--quasi", "sex", "--delimiter", "!", "--encoding", "utf-16-be", input="odd.csv")
    refused = run("audit", "release", "--original", "people.csv", code=2).stderr
    assert "or say another --delimiter than '!' or --encoding than 'utf-16-be'" in " ".join(refused.split())
    refused = run("audit", "release", "--original", "people.csv", "--encoding", "utf-8", code=2).stderr
    assert "or say another --delimiter than '!' or --encoding than 'utf-8'" in " ".join(refused.split())
    told = check("people.csv", "--delimiter", ",", "--encoding", "utf-8")
    assert "states {'delimiter': '!', 'encoding': 'utf-16-be'}" in told


def test_populations_and_outsiders_are_other_files() -> None:
    unusual("odd.csv", years=False)
    published("--quasi", "sex", "--delimiter", "!", "--encoding", "utf-16-be", input="odd.csv")
    run("audit", "release", "--original", "odd.csv", "--population", "people.csv")
    words = ["--attack", "beliefs", "--victims", "9", "--outsiders", "people.csv"]
    run("attack", "release", "--original", "odd.csv", "--population", "people.csv", *words)


def test_what_was_said_is_recorded_where_it_was_not_needed() -> None:
    """Otherwise the entry would tell something of the rows: that some cell made a flag necessary."""
    said = {"delimiter": ",", "encoding": "utf-8", "header": "yes"}
    flags = [word for key, value in said.items() for word in (f"--{key}", value)]
    assert published("--quasi", "sex", *flags)["reading"] == said


@pytest.mark.parametrize(
    ("said", "stated"), [("tab", "\t"), ("\\t", "\t"), ("\t", "\t"), (";", ";")], ids=["word", "escape", "tab", "mark"]
)
def test_each_spelling_of_a_delimiter_is_recorded_alike(said: str, stated: str) -> None:
    unusual("odd.csv", stated, "latin-1", years=False)
    reading = published("--quasi", "sex", "--delimiter", said, "--encoding", "LATIN1", input="odd.csv")["reading"]
    assert reading == {"delimiter": stated, "encoding": "iso8859-1"}
    assert check("odd.csv") == "The manifest has only the entries of its format."


def disagreeing(first: list[str], second: list[str], *more: str) -> str:
    """How an attack on two releases of a file is refused that they say to read in different ways; "" if it is not."""
    for name, flags in (("first", first), ("second", second)):
        source, *flags = flags
        run("publish", source, "-o", name, "--quasi", "sex", "--sensitive", "ill", *PROMISE, "--force", *flags)
    words = ["attack", "first", "--with", "second", "--original", first[0], "--victims", "9", "--attack", "composition"]
    result = CliRunner().invoke(main, [*words, *more])
    assert result.exit_code == (2 if result.stderr else 0), result.output
    return " ".join(result.stderr.split())


@pytest.mark.slow
def test_releases_that_are_read_differently_are_not_attacked_together() -> None:
    marks = ["people.csv", "--na", "?"]
    told = "discreet: 'first' and 'second' say to read the original differently: na is ['?'] in one and nothing in "
    told += "the other; say --na for both, or attack them one at a time"
    assert disagreeing(marks, ["people.csv"]) == told
    assert disagreeing(marks, ["people.csv"], "--na", "?") == ""
    assert disagreeing(marks, marks) == ""
    layout = ["--header", "none", "--columns", ",".join(NAMES)]
    assert "header is 'none' in one and nothing in the other" in disagreeing(["rows.csv", *layout], ["people.csv"])
    renamed = [*layout[:-1], ",".join(["who", *NAMES[1:]])]
    assert "columns is ['id'," in disagreeing(["rows.csv", *layout], ["rows.csv", *renamed])
    assert disagreeing(["rows.csv", *layout], ["rows.csv", *renamed], *layout) == ""


def test_what_is_detected_agrees_with_what_was_said() -> None:
    assert disagreeing(["people.csv"], ["people.csv", "--delimiter", ",", "--header", "yes"]) == ""
    unusual("tabs.csv", "\t", "utf-8", years=False)
    told = disagreeing(["people.csv", "--delimiter", ","], ["tabs.csv", "--delimiter", "tab"])
    assert "delimiter is ',' in one and '\\t' in the other; say --delimiter for both" in told


def test_the_reading_of_every_release_is_used() -> None:
    """Only the second needed to be told."""
    unusual("odd.csv", years=False)
    layout = ["--delimiter", "!", "--encoding", "utf-16-be", "--header", "yes"]
    run("publish", "people.csv", "-o", "first", "--quasi", "sex", "--sensitive", "ill", *PROMISE)
    run("publish", "odd.csv", "-o", "second", "--quasi", "sex", "--sensitive", "ill", *PROMISE, *layout)
    run("attack", "first", "--with", "second", "--original", "odd.csv", "--victims", "9", "--attack", "composition")


def test_a_mark_that_the_original_does_not_hold_is_quoted() -> None:
    """Whoever reads the manifest reads it."""
    published("--quasi", "sex,pay", "--na", "NA", "--na", "Ann Smith", "--na", "?", "--missing", "value")
    assert check().endswith("says that '?' and 'Ann Smith' would mean missing, which no cell of the original holds.")
    assert "states {'na': ['?', 'Ann Smith', 'NA']}" in check("people.csv", "--na", "NA")


def test_what_is_too_long_to_record_is_refused() -> None:
    for marks in (["x" * 101], [f"m{at}" for at in range(101)]):
        flags = [word for mark in marks for word in ("--na", mark)]
        refused = run(
            "publish", "people.csv", "-o", "r", "--quasi", "sex", "--sensitive", "ill", *PROMISE, *flags, code=2
        )
        assert "name at most 100 of at most 100 characters" in " ".join(refused.stderr.split())


def test_an_entry_that_cannot_be_is_not_read_with() -> None:
    manifest = published("--quasi", "sex,pay", "--na", "NA", "--missing", "value")
    forgeries = {"na": ["NA"], "note": "Ann"}, {"na": 5}, 5, {"header": "none", "columns": [["Ann"]]}
    for forged in forgeries:
        Path("release/release.json").write_text(json.dumps({**manifest, "reading": forged}))
        document = run("audit", "release", "--original", "people.csv", "--na", "NA", "--json", code=1).stdout
        assert "manifest" in [each["name"] for each in json.loads(document)["checks"] if not each["holds"]]


def test_what_no_file_can_hold_is_not_recorded() -> None:
    manifest = published("--quasi", "sex,pay", "--na", "NA", "--na", "\udcff", "--missing", "value")
    assert manifest["reading"] == {"na": ["NA"]}
    layout = ["--header", "none", "--columns", ",".join([*NAMES[:-1], "\udcff"])]
    words = ["publish", "rows.csv", "-o", "r", "--quasi", "sex", "--sensitive", "ill", *PROMISE, *layout]
    assert "a name that no file can hold" in run(*words, code=2).stderr


@pytest.mark.slow
def test_persons_and_several_tables_have_one_entry() -> None:
    """Only whose rows they are is to be said again."""
    lines = [f"p{at // 2},{at % 7},{'stuv'[at % 4]},{'NA' if at % 5 == 0 else at % 9}\n" for at in range(120)]
    Path("visits.csv").write_text("who,age,ill,pay\n" + "".join(lines))
    flags = ["--quasi", "age,pay", "--person", "who", "--na", "NA", "--missing", "value"]
    assert published(*flags, input="visits.csv", promise="k-anonymity(k=3)")["reading"] == {"na": ["NA"]}
    check("visits.csv", "--person", "who")
    several = ["--quasi", "age", "--sensitive", "ill,pay", "--na", "NA", "--missing", "value"]
    run("publish", "visits.csv", "-o", "codip", *several, "--scheme", "codip(exposure=0)", *PROMISE)
    manifest = json.loads(Path("codip/release.json").read_text())
    assert manifest["reading"] == {"na": ["NA"]} and len(manifest["parts"]) == 2
    assert not any("reading" in part for part in manifest["parts"])
    run("audit", "codip", "--original", "visits.csv")
