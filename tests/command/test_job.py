"""Job files: the same words as the flags, and every fault in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from discreet.command.main import main
from discreet.datasets import diseases, patients_arrow
from discreet.errors import DiscreetError
from discreet.jobs.job import Job, as_toml, merged, read_job
from discreet.table.documents import toml
from discreet.table.write import write_table

FULL = """
input = "data/patients.csv"
output = "out/release"
quasi = ["age", "sex", "zip"]
sensitive = "disease"
promises = ["beta-likeness(beta=2)", "k-anonymity(k=2)"]
scheme = "cuts"
identifiers = ["name"]
keep = ["weight"]
numeric = ["age"]
categorical = "zip"
missing = "withhold"
format = "parquet"
trace = "trace.csv"
seed = 5

[options]
effort = "fast"
withhold = 0.0
cuts = ["plain", "stratified"]

[hierarchies]
disease = "trees/disease.csv"

[hierarchies.sex]
any = ["F", "M"]

[domains]
age = [0, 120]
weight = "40:120"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "trees").mkdir()
    write_table(patients_arrow(), tmp_path / "data" / "patients.csv")
    (tmp_path / "trees" / "disease.csv").write_text("".join(";".join(row) + "\n" for row in diseases().rows()))
    (tmp_path / "job.toml").write_text(FULL)
    return tmp_path


def test_a_job_file_says_all_that_flags_say(home: Path) -> None:
    job = Job.of(read_job(home / "job.toml"))
    assert job.input == str(home / "data" / "patients.csv")
    assert job.output == str(home / "out" / "release") and job.trace == str(home / "trace.csv")
    assert job.table.categorical == ("zip",)
    assert job.options == {"effort": "fast", "withhold": "0.0", "cuts": "plain+stratified"}
    assert job.table.trees["disease"] == str(home / "trees" / "disease.csv")
    assert job.table.trees["sex"] == {"any": ["F", "M"]}
    assert job.table.domains == {"age": (0.0, 120.0), "weight": (40.0, 120.0)}
    assert set(job.files) == {"the input", "the hierarchy of 'disease'"}


def test_a_job_runs_from_anywhere_and_flags_override_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    words = ["publish", "--job", "../job.toml", "--promise", "l-diversity(l=2)", "--format", "csv", "--json"]
    result = CliRunner().invoke(main, [*words, "--option", "loss=gcp", "-o", "here"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [one["promise"] for one in document["promises"]] == ["l-diversity(l=2)"]
    assert document["scheme"]["options"]["loss"] == "gcp"
    assert document["scheme"]["options"]["cuts"] == "plain+stratified"
    assert (elsewhere / "here" / "table.csv").is_file() and (home / "trace.csv").is_file()
    assert not (home / "out").exists()


def test_a_job_may_name_a_folder_of_hierarchies(home: Path) -> None:
    text = FULL.split("[hierarchies]")[0] + "[domains]" + FULL.split("[domains]")[1]
    (home / "job.toml").write_text('hierarchies = "trees"\n' + text)
    job = Job.of(read_job(home / "job.toml"))
    assert job.table.hierarchy_folder == str(home / "trees") and job.table.trees == {}
    assert set(job.files) == {"the input", "the hierarchy file 'disease.csv'"}
    result = CliRunner().invoke(main, ["publish", "--job", str(home / "job.toml")])
    assert result.exit_code == 0, result.output
    assert f"Hierarchies taken from '{home / 'trees'}': disease." in result.stderr


def test_the_job_file_is_never_replaced(home: Path) -> None:
    words = ["publish", "--job", str(home / "job.toml"), "--force"]
    result = CliRunner().invoke(main, [*words, "--trace", str(home / "job.toml")])
    assert result.exit_code == 2 and "would overwrite the job file" in result.stderr
    assert CliRunner().invoke(main, words).exit_code == 0
    (home / "job.toml").rename(home / "out" / "release" / "job.toml")
    words = ["publish", str(home / "data" / "patients.csv"), "--job", str(home / "out" / "release" / "job.toml")]
    result = CliRunner().invoke(main, [*words, "-o", str(home / "out" / "release"), "--force"])
    assert result.exit_code == 2 and "the job file" in result.stderr and "inside the output folder" in result.stderr


def test_keys_may_be_called_like_the_flags(home: Path) -> None:
    text = FULL
    for key in ("promises", "identifiers", "options", "hierarchies", "domains"):
        text = text.replace(key, "hierarchy" if key == "hierarchies" else key.removesuffix("s"))
    (home / "flags.toml").write_text(text)
    assert "promise = [" in text and "[hierarchy.sex]" in text
    assert Job.of(read_job(home / "flags.toml")) == Job.of(read_job(home / "job.toml"))


def test_compare_takes_a_job_and_keeps_its_promises_together(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    words = ["compare", "--job", "job.toml", "--schemes", "cuts,mondrian", "--queries", "20", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["promises"] == ["beta-likeness(beta=2) & k-anonymity(k=2)"]
    assert document["holds"] and document["quasi"] == ["age", "sex", "zip"]
    assert sorted(path.name for path in home.iterdir()) == ["data", "job.toml", "trees"]
    again = CliRunner().invoke(main, [*words, "--promise", "l-diversity(l=2)", "--promise", "k-anonymity(k=3)"])
    assert json.loads(again.stdout)["promises"] == ["l-diversity(l=2)", "k-anonymity(k=3)"]
    refused = CliRunner().invoke(main, [*words, "--html", "job.toml", "--force"])
    assert refused.exit_code == 2 and "would overwrite the job file" in refused.stderr


def test_flags_override_single_entries_of_tables_and_whole_lists() -> None:
    content = {"quasi": ["age"], "options": {"loss": "ail"}, "force": True, "seed": 3}
    flags = {"quasi": ("sex",), "options": {"effort": "fast"}, "force": False, "seed": 0, "trace": None}
    assert merged(content, flags) == {
        "quasi": ["sex"],
        "options": {"loss": "ail", "effort": "fast"},
        "force": True,
        "seed": 0,
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('quassi = ["age"]', "has the unknown key 'quassi'; did you mean 'quasi'?"),
        ("sensitive = 3", "3 is not a column name; name columns by text, as in --sensitive age,sex"),
        ("quasi = 5", "5 is not a column name"),
        ("quasi = [5]", "5 is not a column name"),
        ('seed = "seven"', "seed must be a whole number of at least 0, not 'seven'"),
        ("seed = -1", "seed must be a whole number of at least 0, not -1"),
        ('missing = "drop"', "missing must be error, withhold or value, not 'drop'"),
        ('format = "xlsx"', "format must be csv or parquet, not 'xlsx'"),
        ("force = 3", "force must be true or false"),
        ('domains = {age = "old"}', "of column 'age' is not a pair of numbers or dates"),
        ("domains = {age = [1, 2, 3]}", "of column 'age' is not a pair of numbers or dates"),
        (
            "domains = {age = [60, 50]}",
            "the domain [60, 50] of column 'age' is not a pair of",
        ),
        ('promise = "k-anonymity(k=3)"', "has both 'promise' and 'promises'; keep one"),
        ("hierarchies = {sex = 5}", "5 is not a hierarchy of column 'sex'; give a path or a mapping"),
        ("hierarchies = 5", "5 does not say which column has which hierarchy"),
        ("na = [[5]]", "[5] cannot mark a missing value; give the text of such a cell, as in --na NA"),
        ("options = 5", "options must be a table of names and values"),
        ("options = {loss = {a = 1}}", "options.loss must be a text"),
    ],
)
def test_faults_are_one_sentence_that_names_the_key(tmp_path: Path, line: str, says: str) -> None:
    base = {"input": '"a.csv"', "output": '"out"', "quasi": '["age"]', "promises": '["k-anonymity(k=2)"]'}
    key = line.split(" = ", 1)[0]
    text = "\n".join([line, *(f"{name} = {value}" for name, value in base.items() if name != key)])
    (tmp_path / "job.toml").write_text(text)
    result = CliRunner().invoke(main, ["publish", "--job", str(tmp_path / "job.toml")])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and says in result.stderr, result.stderr


def test_unreadable_job_files(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match=r"there is no file .* for the job"):
        read_job(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("quasi = [")
    with pytest.raises(DiscreetError, match="not valid TOML"):
        read_job(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes(b'input = "K\xf6ln.csv"')
    with pytest.raises(DiscreetError, match="UTF-8"):
        read_job(tmp_path / "latin.toml")
    with pytest.raises(DiscreetError, match="is a folder"):
        read_job(tmp_path)


@pytest.mark.parametrize(
    ("key", "says"), [("input", "no input"), ("output", "no output"), ("quasi", "no quasi"), ("promises", "no promise")]
)
def test_what_is_needed_is_asked_for(key: str, says: str) -> None:
    content = {"input": "a.csv", "output": "out", "quasi": ["age"], "promises": ["k-anonymity(k=2)"]}
    with pytest.raises(DiscreetError, match=says):
        Job.of({name: value for name, value in content.items() if name != key})
    if key in ("quasi", "promises"):
        with pytest.raises(DiscreetError, match=says):
            Job.of({**content, key: []})


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(roles=st.lists(TEXTS, max_size=3), trees=st.dictionaries(TEXTS, TEXTS, max_size=3), sensitive=TEXTS)
def test_a_job_is_read_as_it_was_written(roles: list[str], trees: dict[str, str], sensitive: str) -> None:
    content = {"quasi": roles, "sensitive": sensitive, "options": trees}
    assert toml(as_toml(content), "the job") == content
