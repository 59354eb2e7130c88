"""The report for a privacy board: its facts are those of the audit, the attacks and the definitions; its shareable kind
has nothing that the release does not have."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.adversary.reidentification import Risks, reidentification
from discreet.datasets import census, patients
from discreet.jobs.report import read_context, report_files
from discreet.report.board import report
from discreet.report.one_way import one_way
from discreet.report.promised import promised
from support.command import refused, run
from support.formats import MAKERS, published_as

HOSTILE = "<script>alert(1)</script>"


def odd_table(sensitive: str) -> dc.Table:
    """A table whose values are all texts that nothing else on a page looks like, with names under a hierarchy."""
    random = np.random.default_rng(7)
    towns = [f"Qx{at}wold" for at in range(24)]
    frame = pd.DataFrame(
        {
            "town": random.choice(towns, 240),
            "weighed": random.integers(10_007, 90_011, 240),
            "ill": random.choice([f"Zz{at}itis" for at in range(6)], 240),
            "paid": random.permutation(240) * 137 + 100_003,
        }
    )
    tree = [(town, f"region {at % 3}", "*") for at, town in enumerate(towns)]
    levels = dc.Hierarchy.from_rows("town", tree)
    return dc.read(frame, quasi=["town", "weighed"], sensitive=sensitive, hierarchies={"town": levels})


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_a_shareable_report_has_no_value_that_the_release_has_not(format: str, tmp_path: Path) -> None:
    table = odd_table("paid" if format == "retained" else "ill")
    folder = published_as(format, table).save(tmp_path / "release")
    shared = report(folder)
    shown = words(shared.page()) | words(json.dumps(shared.as_dict()))
    licensed = words("".join(path.read_text(encoding="utf-8") for path in folder.iterdir()))
    values = {str(value) for column in table.columns for value in column.texts}
    ranges = {word for each in shared.one_way for label in each.labels if " to " in label for word in words(label)}
    assert values & shown <= licensed | ranges
    # a range follows from the ends of its domain, which the manifest states, and not from other rows
    assert shared.kind == "shareable" and "<script" not in shared.page()


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_every_format_has_both_reports(format: str, tmp_path: Path) -> None:
    sensitive = "income" if format == "retained" else "work_class"
    table = census(300, quasi=("age", "gender", "education"), sensitive=sensitive, seed=3)
    folder = published_as(format, table).save(tmp_path / "release")
    shared, internal = report(folder), report(folder, table, random_state=1)
    for made in (shared, internal):
        page = made.page()
        assert "Content-Security-Policy" in page and "default-src 'none'" in page
        assert not re.search(r"(src|href)=|@import|<script", page), "a page needs nothing else"
        json.dumps(made.as_dict(), allow_nan=False)
    assert internal.audit is not None and internal.campaign is not None and not internal.campaign.failures
    assert internal.audit.holds == dc.audit(folder, table).holds
    assert [each.before for each in shared.one_way] == [None] * 4
    for each in internal.one_way:
        assert each.before is not None and len(each.before) == len(each.after) == len(each.labels) > 0


def test_risks_are_those_of_the_definitions() -> None:
    table = patients()
    release = dc.publish(table, "k-anonymity(k=6)", "mondrian")
    found = reidentification(release, table, population=patients())
    exact = Counter(zip(*([column.texts[code] for code in column.codes] for column in table.quasi), strict=True))
    before, after = found.before, found.after
    assert before is not None and after is not None and found.population == 48
    assert before.highest == 1 / min(exact.values()) and before.mean == len(exact) / 48
    assert before.journalist == before.highest and before.marketer == pytest.approx(before.mean)
    sizes = release.grouped.counts.sizes.tolist()  # type: ignore[union-attr]
    assert after.highest == 1 / min(sizes) and after.mean == len(sizes) / 48
    assert (after.smallest, after.classes, after.small) == (min(sizes), len(sizes), sum(size < 5 for size in sizes))


def test_a_larger_population_hides_people_better() -> None:
    table = census(60, quasi=("age", "gender"), sensitive="work_class", seed=2)
    everyone = census(60, quasi=("age", "gender"), sensitive="work_class", seed=2).reordered(np.arange(120) % 60)
    release = dc.publish(table, "k-anonymity(k=3)", "mondrian")
    found = reidentification(release, table, everyone)
    assert found.before is not None and found.after is not None and found.before.journalist is not None
    assert found.before.journalist == pytest.approx(found.before.highest / 2)
    assert found.before.marketer == pytest.approx(found.before.mean / 2)
    assert found.after.journalist is not None and found.after.journalist <= found.after.highest / 2 + 1e-12


def test_no_rows_have_no_risk() -> None:
    assert Risks.of(np.zeros(3, np.int64)) is None


def test_risks_of_formats_without_groups_are_explained() -> None:
    table = patients()
    exact = reidentification(dc.publish(table, "l-diversity(l=2)", "anatomy"))
    assert exact.before is None and exact.after is not None and "published as they are" in exact.reason
    drawn = reidentification(published_as("synthetic", table), table)
    assert drawn.before is not None and drawn.after is None and "nobody" in drawn.reason


def test_the_promise_is_told_with_the_numbers_of_the_table() -> None:
    table = patients()
    release = dc.publish(table, dc.BetaLikeness(0.5))
    (told,) = promised(release, table)
    column = table.sensitive[0]
    counts = Counter(column.texts[code] for code in column.codes)
    shares = sorted((number / 48 for number in counts.values()), reverse=True)
    assert [example.share for example in told.examples] == [shares[0], shares[len(shares) // 2], shares[-1]]
    for example in told.examples:
        assert example.share == counts[example.value] / 48
        assert example.most == pytest.approx(example.share * (1 + min(0.5, -np.log(example.share))))
    assert promised(release) == (told,), "nothing is withheld, so the release tells the same"
    (sizes,) = promised(dc.publish(table, dc.KAnonymity(4)))
    assert sizes.sentence is None and sizes.meanings[0].startswith("Every group has at least 4 rows: whoever")


def test_counts_beside_the_original_are_counts() -> None:
    table = patients()
    counted = {each.attribute: each for each in one_way(dc.publish(table, dc.KAnonymity(4)), table)}
    assert list(counted) == ["age", "sex", "zip", "disease"]
    for each in counted.values():
        assert each.before is not None and sum(each.before) == 48 and sum(each.after) == pytest.approx(48, abs=0.01)
    ages = [table.columns[0].values[code] for code in table.columns[0].codes]
    for label, number in zip(counted["age"].labels, counted["age"].before or (), strict=True):
        low, _, high = label.partition(" to ")
        assert number == sum(int(low) <= age <= int(high or low) for age in ages)
    diseases = counted["disease"]
    assert diseases.before == tuple(round(count) for count in diseases.after) and diseases.moved == 0.0


@pytest.mark.slow
def test_hostile_names_and_values_are_escaped(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            HOSTILE: random.choice([HOSTILE, "b\x1b[2J", "{{ 7 * 7 }}", "'; --"], 80),
            "n": random.integers(0, 9, 80),
            "ill & <b>": random.choice([HOSTILE, "</svg><b>", "flu"], 80),
        }
    )
    table = dc.read(frame, quasi=[HOSTILE, "n"], sensitive="ill & <b>")
    folder = dc.publish(table, dc.BetaLikeness(2)).save(tmp_path / "release")
    context = dc.Context(HOSTILE, "</b>", "<i>")
    for made in (report(folder, context=context), report(folder, table, context=context, random_state=1)):
        page = made.page()
        assert "<script" not in page and "\x1b" not in page and "</svg><b>" not in page and "<i>" not in page
        assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 3 and "{{ 7 * 7 }}" in page


def test_the_room_of_reports_is_called_as_the_function(tmp_path: Path) -> None:
    folder = dc.publish(patients(), dc.KAnonymity(4)).save(tmp_path / "release")
    assert dc.report(folder).as_dict() == report(folder).as_dict()


# --------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its release."""
    monkeypatch.chdir(tmp_path)
    run("data", "get", "patients")
    roles = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifier", "name")
    run("publish", "patients.csv", "-o", "release", *roles, "--promise", "beta-likeness(beta=2)", "--quiet")
    return tmp_path


@pytest.mark.slow
def test_both_kinds_are_written_by_the_command(home: Path) -> None:
    shared = run("report", "release")
    assert "Not audited" in shared.output
    assert "Shareable" in (home / "report.html").read_text(encoding="utf-8")
    (home / "context.toml").write_text('recipient = "The <Board>"\nnext_review = 2030-01-02\n', encoding="utf-8")
    flags = ("--original", "patients.csv", "--context", "context.toml", "-o", "internal.html", "--seed", "1")
    run("report", "release", *flags)
    page = (home / "internal.html").read_text(encoding="utf-8")
    assert "beta-likeness(beta=2) holds" in page and "The &lt;Board&gt;" in page and "2030-01-02" in page
    assert "exists already" in refused("report", "release", *flags)
    run("report", "release", *flags, "--force")
    assert (home / "internal.html").read_text(encoding="utf-8") == page, "the same seed gives the same page"


@pytest.mark.slow
def test_json_has_the_facts_and_writes_no_page(home: Path) -> None:
    done = run("report", "release", "--json")
    facts: dict[str, Any] = json.loads(done.output)
    assert facts["kind"] == "shareable" and facts["page"] is None and not (home / "report.html").exists()
    assert facts["files"].keys() == {"release.json", "table.csv", "marginals.csv"}
    (home / "job.toml").write_text(facts["job"], encoding="utf-8")
    run("publish", "patients.csv", "-o", "again", "--job", "job.toml", "--identifier", "name", "--quiet")
    first, second = (json.loads((home / name / "release.json").read_text()) for name in ("release", "again"))
    assert all(first[key] == second[key] for key in ("scheme", "promise", "format", "rows"))


@pytest.mark.slow
def test_an_altered_release_is_said_to_be_altered(home: Path) -> None:
    table = home / "release" / "table.csv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join([*lines[:-2], lines[-1], lines[-2]]), encoding="utf-8", newline="")
    run("report", "release", code=1)
    assert "NOT those that were published" in (home / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_slips_are_refused_and_nothing_is_written(home: Path) -> None:
    for flags, said in (
        (("--trace", "x"), "are for a report with the original"),
        (("--population", "patients.csv"), "are for a report with the original"),
        (("--quasi", "age"), "are for a report with the original"),
        (("-o", "release/report.html"), "choose a place outside"),
        (("-o", "no/report.html"), "there is no folder"),
        (("--context", "none.toml"), "none.toml"),
        (("--original", "patients.csv", "-o", "patients.csv", "--force"), "would overwrite the original"),
    ):
        assert said in refused("report", "release", *flags)
        assert not (home / "report.html").exists()
    assert "nowhere" in refused("report", "nowhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not say who receives the release"),
        ('recipient = " "', "does not say who receives the release"),
        ('recipient = "a"\nreciever = "b"', "has a key 'reciever'"),
        ('recipient = ["a"]', "is not a text"),
        ("recipient = a", "is not valid TOML"),
    ],
)
def test_a_context_without_a_recipient_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "context.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(dc.DiscreetError, match=re.escape(said)):
        read_context(str(path))


def test_a_job_without_a_page_writes_nothing(tmp_path: Path) -> None:
    folder = dc.publish(patients(), dc.KAnonymity(4)).save(tmp_path / "release")
    outcome = report_files(str(folder))
    assert outcome.page is None and outcome.report.kind == "shareable"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
