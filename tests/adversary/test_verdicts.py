"""A verdict is one sentence that says what holds, by whose word, and what it rests on that nobody looked at."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.adversary import Audit, Check
from discreet.command.main import main
from discreet.families.randomised.scheme.perturbation import Perturbation, draw
from discreet.principles import BetaLikeness, Prior
from discreet.table.table import Table
from support.releases import perturbed
from support.tampering import describe

ROLES = ("--quasi", "age,city,grade", "--sensitive", "ill")
TREE = "Lyon;FR\nNice;FR\nBonn;DE\nKiel;DE\n"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(4), 200
    table = pa.table(
        {
            "age": rng.integers(20, 60, n),
            "city": rng.choice(["Lyon", "Nice", "Bonn", "Kiel"], n),
            "grade": rng.choice(["low", "mid", "top"], n),
            "ill": rng.choice(list("stuv"), n),
        }
    )
    pyarrow.csv.write_csv(table, "people.csv")
    Path("city.csv").write_text(TREE)
    Path("grade.csv").write_text("low\nmid\ntop\n")
    return tmp_path


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "internal error" not in result.output
    return result.output


def published(*more: str, promise: str = "l-diversity(l=2)") -> None:
    words = ("publish", "people.csv", "-o", "release", *ROLES, "--promise", promise, "--ordinal", "grade", *more)
    assert run(*words).splitlines()[-1].startswith("The release is in release")


def verdict(*more: str, code: int = 0) -> str:
    told = run("audit", "release", "--original", "people.csv", "--json", *more, code=code)
    return str(json.loads(told[told.index("{") :])["verdict"])


def edit(change: Callable[[dict[str, Any]], None]) -> None:
    path = Path("release/release.json")
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    describe(path.parent)


# --------------------------------------------------------------------------------------------------- whose word it is


def test_a_weaker_promise_in_the_manifest_is_named_as_the_word_of_the_release(people: Path) -> None:
    published(promise="beta-likeness(beta=1)")

    def weaker(manifest: dict[str, Any]) -> None:
        manifest["promise"] = ["beta-likeness(beta=9)"]

    assert verdict(*ROLES) == "beta-likeness(beta=1) holds, as the release itself states it."
    edit(weaker)
    assert verdict(*ROLES) == "beta-likeness(beta=9) holds, as the release itself states it."
    both = verdict(*ROLES, "--promise", "beta-likeness(beta=1)")
    assert both == "beta-likeness(beta=1) holds, and beta-likeness(beta=9) holds as the release itself states it."
    assert verdict(*ROLES, "--promise", "k-anonymity(k=150)", code=1) == "The promise is NOT shown to hold."


def test_what_the_auditor_asks_for_is_named_alone(people: Path) -> None:
    published("--promise", "k-anonymity(k=3)")
    asked = ("--promise", "l-diversity(l=2)", "--promise", "k-anonymity(k=3)")
    assert verdict(*ROLES, *asked) == "l-diversity(l=2) and k-anonymity(k=3) hold."
    assert verdict(*ROLES) == "l-diversity(l=2) and k-anonymity(k=3) hold, as the release itself states them."
    assert verdict(*asked).startswith("l-diversity(l=2) and k-anonymity(k=3) hold; the roles of the columns are ")


def test_publishing_names_what_it_was_asked_for(people: Path) -> None:
    words = ("publish", "people.csv", "-o", "release", *ROLES, "--promise", "l-diversity(l=2)")
    assert "\nl-diversity(l=2) holds.\n" in "\n" + run(*words)


def test_an_audit_of_nothing_in_particular() -> None:
    assert Audit([Check("files", True, "Fine.")]).verdict == "The promise holds."
    assert Audit([Check("files", False, "Not fine.")], asked=("k-anonymity(k=3)",)).verdict.endswith(
        "NOT shown to hold."
    )


# ------------------------------------------------------------------------------------------------ files nobody audited


@pytest.mark.parametrize("name", ["LICENSE", "README.txt"])
def test_the_original_beside_a_release_is_in_the_verdict(people: Path, name: str) -> None:
    published()
    shutil.copy("people.csv", Path("release") / name)
    told = "l-diversity(l=2) holds, as the release itself states it; nobody audited what else lies in the folder: "
    assert verdict(*ROLES) == f"{told}{name}."


@pytest.mark.parametrize(
    "name", ["{home}/people.csv", "../people.csv", "sub/table.csv", "..", "", "C:table.csv", "a\\b"]
)
def test_tables_are_plain_names_in_the_folder(people: Path, name: str) -> None:
    published()
    name = name.format(home=people)
    digest = hashlib.sha256(Path("people.csv").read_bytes()).hexdigest()
    edit(lambda manifest: manifest["tables"].update({name: {"sha256": digest}}))
    told = run("audit", "release", "--original", "people.csv", code=2)
    assert "not the plain name of a file in its folder" in told
    with pytest.raises(dc.DiscreetError, match="not the plain name"):
        dc.load("release")


def test_a_table_that_is_a_link_is_not_followed(people: Path) -> None:
    published()
    table = Path("release/table.csv")
    table.rename("elsewhere.csv")
    table.symlink_to(people / "elsewhere.csv")
    with pytest.raises(dc.DiscreetError, match="is a link to a file elsewhere, which is not followed"):
        dc.load("release")
    told = run("audit", "release", "--original", "people.csv", code=1)
    assert "FAILED files" in told and "Table.csv is a link" in told


# --------------------------------------------------------------------------------------- values that nothing else shows


def test_a_value_that_only_the_manifest_lists_is_in_the_verdict(people: Path) -> None:
    published()
    assert "lists" not in verdict(*ROLES)
    note = "Ann is in group 3"
    edit(lambda manifest: manifest["attributes"][2]["values"].append("Bob"))
    said = " ".join(run("audit", "release", "--original", "people.csv", code=1).split())
    assert "The manifest names 'Bob' of 'grade', which stands in no cell" in said
    edit(lambda manifest: manifest["attributes"][2].update({"declared": True}))
    told = "the manifest lists 'Bob' of 'grade': neither the original nor a published cell contains them"
    assert verdict(*ROLES) == f"l-diversity(l=2) holds, as the release itself states it; {told}."
    assert "--hierarchy grade=FILE" in run("audit", "release", "--original", "people.csv")
    edit(lambda manifest: manifest["attributes"][1]["hierarchy"].insert(0, note))
    said = " ".join(run("audit", "release", "--original", "people.csv", code=1).split())
    assert f"The manifest names '{note}' of 'city', which stands in no cell" in said
    edit(lambda manifest: manifest["attributes"][1].update({"declared": True}))
    assert f"the manifest lists '{note}' of 'city'; 'Bob' of 'grade': neither" in verdict(*ROLES)
    told = run("audit", "release", "--original", "people.csv", "--hierarchy", "grade=grade.csv", code=1)
    assert "FAILED listed" in told and "lists 'Bob' of 'grade', which the auditor's own hierarchy does not" in told


def test_a_value_of_a_sensitive_attribute_that_nobody_has_is_in_the_verdict(people: Path) -> None:
    published()
    edit(lambda manifest: manifest["attributes"][3]["hierarchy"].append("w: Ann"))
    assert "the manifest lists 'w: Ann' of 'ill': neither" in verdict(*ROLES)


def test_a_leaf_or_label_added_to_a_hierarchy_is_found(people: Path) -> None:
    published("--hierarchy", "city=city.csv")
    own = ("--hierarchy", "city=city.csv")
    assert verdict(*ROLES, *own) == "l-diversity(l=2) holds, as the release itself states it."

    def leaf(manifest: dict[str, Any]) -> None:
        manifest["attributes"][1]["hierarchy"].insert(0, ["Ann is in group 3", "DE", "*"])

    edit(leaf)
    assert "'Ann is in group 3'" in verdict(*ROLES)
    assert "NOT" in verdict(*ROLES, *own, code=1)
    read = {"quasi": ["age", "city", "grade"], "sensitive": "ill", "ordinal": ["grade"]}
    assert dc.audit("release", dc.read("people.csv", **read)).holds
    assert not dc.audit("release", dc.read("people.csv", **read, hierarchies={"city": "city.csv"})).holds

    def label(manifest: dict[str, Any]) -> None:
        rows = manifest["attributes"][1]["hierarchy"]
        rows[:] = [[leaf, node.replace("DE", "Ann lives in DE"), root] for leaf, node, root in rows]

    published("--hierarchy", "city=city.csv", "--option", "values=set", "--force")  # which shows no labels
    edit(label)
    assert "NOT" in verdict(*ROLES, *own, code=1)
    assert "the manifest lists 'FR' and 'Ann lives in DE' of 'city': neither" in verdict(*ROLES).replace(
        "'Ann lives in DE' and 'FR'", "'FR' and 'Ann lives in DE'"
    )


def test_numbers_of_a_hierarchy_may_be_written_in_other_ways(people: Path) -> None:
    Path("x.csv").write_text("-4.25;below\n1.50;low\n2.0;low\n3;high\n7;high\n")
    rng = np.random.default_rng(0)
    data = pa.table({"x": rng.choice([1.5, 2.0, 3.0], 90), "s": rng.choice(list("pqr"), 90)})
    table = dc.read(data, quasi=["x"], sensitive="s", numeric=["x"], hierarchies={"x": "x.csv"})
    home = dc.publish(table, "l-diversity(l=2)", dc.Cuts(values="label")).save("labels")
    assert dc.audit(home, table).verdict == "l-diversity(l=2) holds, as the release itself states it."
    plain = dc.audit(home, dc.read(data, quasi=["x"], sensitive="s"))
    assert plain.holds and "the manifest lists '-4.25', '7'" in plain.verdict


# ---------------------------------------------------------------------------------------------------- tests of chance


def small(rows: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    return dc.read(
        pa.table({"age": np.arange(rows), "ill": rng.choice(list("abcdef"), rows)}), quasi=["age"], sensitive="ill"
    )


def share_in(found: Audit) -> float:
    told = re.search(r"a release with up to ([\d.]+) % of the values unchanged would have passed", found.verdict)
    assert told is not None, found.verdict
    return float(told[1]) / 100.0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [60, 400, 3000])
def test_the_power_of_a_test_of_draws_is_in_the_verdict(tmp_path: Path, rows: int) -> None:
    """Releases with a part left true: below the share they pass more often than not, above it they do not."""
    table, rng = small(rows, 1), np.random.default_rng([9, rows])
    matrix = Perturbation().find(BetaLikeness(1), Prior.of(table))

    def audited(share: float) -> Audit:
        left = rng.random(rows) < share
        drawn = np.where(left, table.sensitive_codes, draw(matrix, table.sensitive_codes, rng))
        release = perturbed(table, drawn, matrix, BetaLikeness(1))
        return dc.audit(release.save(tmp_path / "r", force=True), table)

    honest = audited(0.0)
    assert honest.holds and honest.verdict in honest.sentences()[0]
    share = share_in(honest)
    assert 0.0 < share < 1.0
    assert sum(audited(0.7 * share).holds for _ in range(7)) >= 4
    assert sum(audited(min(1.0, 1.3 * share)).holds for _ in range(7)) <= 3


@pytest.mark.slow
def test_more_rows_tell_more(tmp_path: Path) -> None:
    shares = []
    for rows in (60, 600, 20000):
        table = small(rows, 2)
        home = dc.publish(table, "beta-likeness(beta=1)", dc.Perturbation()).save(tmp_path / "r", force=True)
        shares.append(share_in(dc.audit(home, table)))
    assert shares == sorted(shares, reverse=True) and shares[0] > 0.4 and shares[-1] < 0.05


def test_the_power_for_numbers_that_are_kept_or_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = dc.read(pa.table({"age": np.arange(800), "pay": rng.integers(0, 100, 800)}), quasi=["age"], sensitive="pay")
    home = dc.publish(table, "proximity(epsilon=3, m=4)", dc.Retention()).save(tmp_path / "r")
    assert 0.0 < share_in(dc.audit(home, table)) < 0.5


def test_withheld_rows_that_are_not_decided_are_in_the_verdict(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    age = [None if rng.random() < 0.03 else int(year) for year in rng.integers(20, 25, 500)]
    data = pa.table({"age": age, "ill": rng.choice(list("abcd"), 500)})
    table = dc.read(data, quasi=["age"], sensitive="ill", missing="withhold")
    home = dc.publish(table, "beta-likeness(beta=0.5)", dc.Perturbation(random_state=4)).save(tmp_path / "r")
    found = dc.audit(home, table)
    assert found.holds and "; whether the withheld rows keep it is not decided: give the trace" in found.verdict
