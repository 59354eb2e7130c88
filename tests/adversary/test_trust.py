"""What an audit may take on trust, and says so; what a release may tell, and what it must not."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import Result

import discreet as dc
from discreet.datasets import patients
from discreet.releases.attributes import Attribute
from discreet.releases.labels import parse
from discreet.releases.passthrough import kept_sentence
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from support.command import run
from support.house import SRC

GRADES = ("low", "mid", "top")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a table, one row of which misses its age and has values that nobody else has."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [
        {
            "age": str(rng.integers(20, 60)),
            "zip": str(rng.integers(10000, 10020)),
            "grade": str(rng.choice(GRADES)),
            "secret": str(rng.choice(["a", "b", "c"])),
            "kept": str(rng.choice(["k1", "k2"])),
            "number": str(at),
        }
        for at in range(200)
    ]
    rows[7] |= {"age": "", "zip": "77777", "grade": "zebra"}
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "tree.toml").write_text("[prefix]\nkeep = [4, 3]\n")
    return tmp_path


def published(*more: str, promise: str = "l-diversity(l=2)", quasi: str = "age,zip,grade") -> Result:
    return run(
        *("publish", "people.csv", "-o", "release", "--quasi", quasi, "--sensitive", "secret", "--promise", promise),
        *("--missing", "withhold", "--most-withheld", "1", *more),
    )


def audited(*more: str, code: int = 0) -> str:
    return run("audit", "release", "--original", "people.csv", *more, code=code).stdout


# ------------------------------------------------------------------------------------------------ what is not shown


@pytest.mark.slow
@pytest.mark.parametrize("values", ["interval", "label", "set"])
def test_what_only_withheld_rows_have_is_in_no_file_and_the_audit_copes(people: Path, values: str) -> None:
    published("--ordinal", "grade", "--hierarchy", "zip=tree.toml", "--option", f"values={values}", "--trace", "trace")
    for path in (people / "release").iterdir():
        assert b"77777" not in path.read_bytes() and b"zebra" not in path.read_bytes()
    assert "l-diversity(l=2) holds" in audited()
    assert "l-diversity(l=2) holds" in audited("--trace", "trace")
    assert "l-diversity(l=2) holds" in audited("--hierarchy", "zip=tree.toml")


def test_numbers_published_by_the_labels_of_a_recipe_can_be_audited(people: Path) -> None:
    (people / "ages.toml").write_text("[intervals]\nwidths = [5, 10]\n")
    text = (people / "people.csv").read_text().splitlines()
    text[4] = "119" + text[4][text[4].index(",") :]
    (people / "people.csv").write_text("\n".join(text) + "\n")
    published(
        *("--numeric", "age", "--hierarchy", "age=ages.toml", "--option", "values=label", "--option", "withhold=0.1")
    )
    assert "l-diversity(l=2) holds" in audited()


def test_what_is_declared_is_shown(people: Path) -> None:
    order = "".join(f"{value}\n" for value in (*GRADES, "never", "zebra"))
    (people / "order.csv").write_text(order)
    published("--ordinal", "grade", "--hierarchy", "grade=order.csv", "--domain", "age=0:130")
    ages, _, grades = json.loads((people / "release" / "release.json").read_text())["attributes"][:3]
    assert ages["domain"] == [0, 130]
    assert grades["values"] == [*GRADES, "never", "zebra"]


def test_flags_say_what_was_declared() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2], "zip": ["10", "11"], "city": ["a", "b"], "sex": ["f", "m"]})
    frame["grade"] = pandas.Categorical(["low", "mid"], GRADES, ordered=True)
    table = dc.read(
        frame,
        quasi=["age", "zip", "city", "sex", "grade"],
        domains={"age": (0, 9)},
        hierarchies={"zip": {"prefix": {"keep": [1]}}, "sex": {"f": {}, "m": {}, "x": {}}},
    )
    said = {column.name: (column.declared_values, column.declared_domain) for column in table.quasi}
    assert said == {
        "age": (False, True),
        "zip": (False, False),
        "city": (False, False),
        "sex": (True, False),
        "grade": (True, False),
    }


def test_a_told_hierarchy_takes_in_values_that_it_lacks() -> None:
    tree = Hierarchy.of("city", {"FR": ["Lyon", "Nice"], "DE": ["Bonn"]})
    cities = pa.table({"city": ["Lyon", "Oslo", None], "age": [1, 2, 99]})
    ages = Hierarchy.of("age", {"intervals": {"widths": [5]}}, [1, 2])
    column, age = dc.read(
        cities,
        quasi=["city", "age"],
        numeric=["age"],
        hierarchies={"city": PublishedHierarchy(tree), "age": PublishedHierarchy(ages)},
    ).quasi
    assert list(column.values) == ["Lyon", "Nice", "Bonn", "Oslo", "(missing)"] and not column.declared_values
    assert age.hierarchy is None and age.values.tolist() == [1, 2, 99]


# ------------------------------------------------------------------------------------------------------ kept columns


def test_kept_columns_are_named_as_outside_the_promise(people: Path) -> None:
    sentence = "The column 'kept' is published as it is; the promise does not cover what it reveals."
    assert f"Note: {sentence}" in published("--keep", "kept").stderr
    assert sentence in json.loads((people / "release" / "release.json").read_text())["assumptions"]
    found = dc.audit(
        "release",
        dc.read("people.csv", quasi=["age", "zip", "grade"], sensitive="secret", keep=["kept"], missing="withhold"),
    )
    assert [(check.holds, check.sentence) for check in found.checks if check.name == "kept"] == [(True, sentence)]
    assert sentence in audited()
    assert kept_sentence(["a", "b", "c"]).startswith("The columns 'a', 'b' and 'c' are")


def test_a_kept_column_that_tells_persons_apart_is_refused(people: Path) -> None:
    words = ("publish", "people.csv", "-o", "release", "--quasi", "zip", "--promise", "k-anonymity(k=2)")
    told = run(*words, "--keep", "number", code=2).stderr
    assert "'number'" in told and "200 of its 200 rows" in told and not (people / "release").exists()
    table = dc.read("people.csv", quasi=["zip"], keep=["number"])
    with pytest.raises(dc.DiscreetError, match="identifies persons"):
        dc.publish(table, "k-anonymity(k=2)")


def test_the_manifest_says_what_the_promise_does_not_cover() -> None:
    manifest = dc.publish(patients(), "l-diversity(l=2)").manifest
    text = " ".join(manifest["assumptions"])
    assert "who knows the algorithm" in text and "one release" in text


# ------------------------------------------------------------------------------------- what the audit takes on trust


def test_an_order_from_the_release_alone_is_told(people: Path) -> None:
    words = ("publish", "people.csv", "-o", "release", "--quasi", "zip", "--sensitive", "grade", "--ordinal", "grade")
    told = run(*words, "--promise", "t-closeness(t=0.3, distance=ordered)")
    promise, roles = "t-closeness(t=0.3, distance=ordered)", ("--quasi", "zip", "--sensitive", "grade")
    assert told.stdout.startswith(f"{promise} holds.\n")
    told_now = audited("--promise", promise, *roles)
    assert told_now.startswith(f"{promise} holds, given the order that the release states.\n")
    assert "--hierarchy grade=FILE" in told_now
    (people / "order.csv").write_text("".join(f"{value}\n" for value in (*GRADES, "zebra")))
    assert audited("--hierarchy", "grade=order.csv", "--promise", promise, *roles).startswith(f"{promise} holds.\n")
    found = json.loads(run("audit", "release", "--original", "people.csv", "--json").stdout)
    assert found["given"] == "order" and found["holds"] and "given the order" in found["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("promise", ["t-closeness(t=0.4, distance=hierarchical)", "beta-likeness(beta=2, level=1)"])
def test_a_hierarchy_from_the_release_alone_is_told(people: Path, promise: str) -> None:
    (people / "secret.csv").write_text("a;first;*\nb;first;*\nc;second;*\n")
    published("--hierarchy", "secret=secret.csv", promise=promise, quasi="zip")
    roles, own = ("--quasi", "zip", "--sensitive", "secret"), ("--hierarchy", "secret=secret.csv")
    unseen = (
        "; the manifest lists 'first' and 'second' of 'secret': neither the original nor a published cell contains them"
    )
    given = f"{promise} holds, given the hierarchy that the release states{unseen}.\n"
    assert audited("--promise", promise, *roles).startswith(given)
    assert audited(*own, "--promise", promise, *roles).startswith(f"{promise} holds.\n")
    published("--hierarchy", "secret=secret.csv", "--force", quasi="zip")
    asked = ("--promise", "l-diversity(l=2)", *roles)
    assert audited(*asked).startswith(f"l-diversity(l=2) holds{unseen}.\n")
    assert audited(*asked, *own).startswith("l-diversity(l=2) holds.\n")


def test_support_by_necessary_conditions_qualifies_the_verdict(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published("--trace", "trace")
    from discreet.adversary.checks import support

    monkeypatch.setattr(support, "EDGES", -1)
    roles = ("--quasi", "age,zip,grade", "--sensitive", "secret")
    told = audited(*roles).splitlines()[0]
    assert told.endswith("checked by a necessary condition only: give the trace for certainty.")
    asked = ("--trace", "trace", "--promise", "l-diversity(l=2)", *roles)
    assert audited(*asked).startswith("l-diversity(l=2) holds.\n")


# ------------------------------------------------------------------------------------------- the folder, the manifest


def _folder(home: Path) -> None:
    (home / "more").mkdir()


def _hidden(home: Path) -> None:
    (home / ".table.csv").write_text("")


def _link(home: Path) -> None:
    (home / "table.csv").rename(home.parent / "elsewhere.csv")
    (home / "table.csv").symlink_to(home.parent / "elsewhere.csv")


def _readme_link(home: Path) -> None:
    (home / "README").symlink_to(home.parent / "people.csv")


def _data(home: Path) -> None:
    (home / "README.csv").write_text("name\nAnn\n")


@pytest.mark.slow
@pytest.mark.parametrize("add", [_folder, _hidden, _link, _readme_link, _data])
def test_anything_beside_the_files_of_a_release_fails_it(people: Path, add: Callable[[Path], None]) -> None:
    published()
    add(people / "release")
    assert "FAILED files" in audited(code=1)


def test_a_readme_and_a_license_may_lie_beside(people: Path) -> None:
    published()
    (people / "release" / "README.txt").write_text("how this was made\n")
    (people / "release" / "LICENSE").write_text("use it well\n")
    told = audited()
    assert "Not audited: LICENSE, README.txt." in told
    assert "nobody audited what else lies in the folder: LICENSE and README.txt" in told.splitlines()[0]


@pytest.mark.parametrize("path", [(), ("attributes", 1), ("rows",), ("scheme",), ("tables", "table.csv")])
def test_unknown_entries_of_the_manifest_fail_it(people: Path, path: tuple[Any, ...]) -> None:
    published()
    manifest = json.loads((people / "release" / "release.json").read_text())
    inner = manifest
    for key in path:
        inner = inner[key]
    inner["comment"] = "Ann is in group 3"
    (people / "release" / "release.json").write_text(json.dumps(manifest))
    told = audited(code=1)
    assert "FAILED manifest" in told and "'comment'" in told


# --------------------------------------------------------------------------------------------------- reading, running


@pytest.mark.parametrize("text", ['"20"', "1_8", "[1_8, 20]", '["18", 20]', "18 ", "+-1", "١٨", "0x12", "1e999"])
def test_texts_that_are_no_numbers_of_a_release(text: str) -> None:
    with pytest.raises(dc.DiscreetError, match="'age'"):
        parse(Attribute("age", "quasi", "numeric", domain=(0.0, 99.0)), [text])


def test_a_star_among_ordered_values_is_refused_when_it_is_read() -> None:
    with pytest.raises(dc.DiscreetError, match="any value"):
        dc.read(pa.table({"grade": ["*", "a"]}), quasi=["grade"], ordinal=["grade"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "value", [',{}[]"x', " a", "a ", "{a}", "[a, b]", '"a"', "a\nb", "\u00a0a", "17.0", "(a)", "a*"]
)
def test_awkward_ordered_values_come_back(people: Path, value: str) -> None:
    rows = [{"grade": [value, "17", "b"][i % 3], "secret": "xyz"[(i // 3) % 3]} for i in range(90)]
    with (people / "people.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["grade", "secret"], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    words = (
        "publish",
        "people.csv",
        "-o",
        "release",
        "--quasi",
        "grade",
        "--sensitive",
        "secret",
        "--ordinal",
        "grade",
    )
    run(*words, "--promise", "l-diversity(l=2)")
    audited()


def test_a_zero_byte_in_a_text_is_named(people: Path) -> None:
    data = (people / "people.csv").read_bytes()
    (people / "people.csv").write_bytes(data[:1000] + b"\0" + data[1000:])
    words = ("publish", "people.csv", "-o", "release", "--quasi", "zip", "--promise", "k-anonymity(k=2)")
    assert "zero byte in line" in run(*words, code=2).stderr
    (people / "people.csv").write_bytes(data.decode().encode("utf-16-le"))
    run(*words)


def test_a_pipe_is_refused_in_a_sentence(people: Path) -> None:
    os.mkfifo(people / "pipe")
    words = ("publish", "pipe", "-o", "release", "--quasi", "zip", "--promise", "k-anonymity(k=2)")
    assert "read only once" in run(*words, code=2).stderr


def test_a_domain_of_one_number_in_a_job(people: Path) -> None:
    (people / "job.toml").write_text(
        'input = "people.csv"\noutput = "release"\nquasi = ["zip"]\npromises = ["k-anonymity(k=2)"]\n'
        "domains = {age = [1]}\n"
    )
    refused = run("publish", "--job", "job.toml", code=2).stderr
    assert "the domain [1] of column 'age' is not a pair of numbers" in refused


@pytest.mark.slow
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams_are_no_fault(people: Path, closed: tuple[int, ...]) -> None:
    words = [sys.executable, "-m", "discreet", "publish", "people.csv", "-o", "release", "--quasi", "zip"]
    shut = f"import os, sys; [os.close(n) for n in {closed}]; os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", shut, *words, "--promise", "k-anonymity(k=3)"],
        cwd=people,
        env={**os.environ, "PYTHONPATH": SRC},
        capture_output=True,
    )
    assert done.returncode == 0 and b"error" not in done.stderr
    assert dc.audit(people / "release", dc.read(people / "people.csv", quasi=["zip"])).holds
