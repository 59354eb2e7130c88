"""Audits of matched releases: by the trace, from the files alone, and what others believe."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.adversary.alignment import align
from discreet.adversary.checks import matching
from discreet.adversary.checks.matching import (
    Believed,
    Hits,
    believed_by_matching,
    beyond,
    marked_sets,
    people_of,
)
from discreet.datasets import patients, patients_arrow
from discreet.principles import Prior
from discreet.releases import write_trace
from discreet.schemes import SCHEMES, Scheme
from discreet.table.table import Table
from fuzz import run as fuzz
from naive import nested as naive
from support.audits import failing, said
from support.command import run
from support.tampering import Folder, altered, as_it_lies

LIKE_MATCHING = dc.Heterogeneous(publishes="graph", buckets="published", snap=False, random_state=1)


def published(folder: Path, promise: str = "l-diversity(l=3)", scheme: Scheme = LIKE_MATCHING) -> Table:
    """The patients, and their release with its trace beside it."""
    table = patients()
    release = dc.publish(table, promise, scheme)
    release.save(folder / "r")
    write_trace(release, folder / "trace.csv")
    return table


# ------------------------------------------------------------------------------------------------------- what is shown


def test_the_verdict_says_whom_the_promise_covers(tmp_path: Path) -> None:
    table = published(tmp_path)
    found = dc.audit(tmp_path / "r", table, trace=tmp_path / "trace.csv")
    assert found.holds and found.support == "trace" and failing(found) == {}
    assert "kept by all 48 persons" in found.promises[0].sentence and found.promises[0].strain == pytest.approx(1.0)
    assert "a person has as many candidates as each of them has persons" in said(found, "support")
    assert "for an attacker who knows who is matched with which rows, which is not published" in found.verdict
    assert "one who only matches descriptions, as anybody may, may believe up to 1." in found.verdict
    assert "rows would have the value" in said(found, "descriptions") and "claims" in said(found, "counting")
    assert found.groups == 0 and "48 rows, 0 withheld; AIL" in found.sentences()[-1]


def test_files_alone_do_not_show_what_who_only_matches_breaks(tmp_path: Path) -> None:
    table = published(tmp_path)
    found = dc.audit(tmp_path / "r", table)
    assert not found.holds and list(failing(found)) == ["l-diversity(l=3)"]
    told = found.promises[0].sentence
    assert "Without the trace, by an attacker who only matches descriptions" in told and "give the trace" in told
    assert "is believed of this kind of people with" in told


def test_files_alone_show_what_whoever_only_matches_keeps_too(tmp_path: Path) -> None:
    table = published(tmp_path, "l-diversity(l=2)", dc.Heterogeneous(publishes="graph", random_state=1))
    release = dc.MatchedRelease.from_groups(
        table, np.arange(48) // 24, promise=dc.LDiversity(2), scheme="halves", seeded=np.random.default_rng(1)
    )
    release.save(tmp_path / "halves")
    found = dc.audit(tmp_path / "halves", table)
    assert not found.holds and "is kept by all" in found.promises[0].sentence
    assert "does not confirm the promise, which is about the matches" in found.promises[0].sentence
    assert any("only the trace tells who is matched" in sentence for sentence in found.sentences())


def test_what_cannot_be_judged_from_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = published(tmp_path, "k-anonymity(k=4) & beta-likeness(beta=3)")
    found = dc.audit(tmp_path / "r", table, trace=tmp_path / "trace.csv")
    assert found.holds and "k-anonymity(k=4) is kept by all 48 persons" in found.promises[0].sentence
    assert not dc.audit(tmp_path / "r", table, trace=tmp_path / "trace.csv", promises="k-anonymity(k=9)").holds
    assert "k-anonymity(k=4)" in failing(dc.audit(tmp_path / "r", table))
    monkeypatch.setattr(matching, "PAIRS", 1)
    assert "cannot be judged without the trace" in failing(dc.audit(tmp_path / "r", table))["beta-likeness(beta=3)"]
    found = dc.audit(tmp_path / "r", table, trace=tmp_path / "trace.csv")
    assert found.holds and "only matches descriptions were not computed" in found.verdict


def test_a_graph_that_breaks_the_promise_is_found(tmp_path: Path) -> None:
    """Everyone's candidates are neighbours in a ring sorted by value, so that many are alike."""
    table = patients()
    rank = np.argsort(np.argsort(table.sensitive_codes, kind="stable"), kind="stable")
    ring = (rank[:, None] + np.arange(4)) % 48
    release = dc.MatchedRelease.from_candidates(table, ring, promise=dc.LDiversity(3), scheme="ring")
    release.save(tmp_path / "r")
    (kept,) = dc.audit(tmp_path / "r", table, trace=release.trace).promises
    sizes = [max(np.bincount(np.sort(table.sensitive_codes)[line])) for line in ring]
    assert not kept.holds and kept.broken == sum(size > 4 / 3 for size in sizes)
    assert kept.strain == pytest.approx(3 * max(sizes) / 4) and "of this set of candidates" in kept.sentence


# --------------------------------------------------------------------------------------------------- traces, tampering


def test_wrong_traces_are_found(tmp_path: Path) -> None:
    table = published(tmp_path)
    lines = [line.split(",") for line in (tmp_path / "trace.csv").read_text().splitlines()[1:]]
    trace = np.array([list(map(int, line[2].split())) for line in lines])

    def support(wrong: np.ndarray) -> str:
        return failing(dc.audit(tmp_path / "r", table, trace=wrong))["support"]

    assert "lists the candidates of every row, and this one does not" in support(trace[:, 0])
    moved = trace.copy()
    moved[[3, 9], 1] = moved[[9, 3], 1]
    assert "lie" in support(moved) and "outside the description" in support(moved)
    twice = trace.copy()
    twice[4, 1] = twice[4, 2]
    assert "is twice a candidate of one person" in support(twice)
    fewer = trace.copy()
    fewer[4, 2] = -1
    assert "one of whom has 2 candidates" in support(fewer)
    strange = trace.copy()
    strange[4, 2] = 4711
    assert "candidates that the release does not have" in support(strange)
    other = trace[:, [1, 0, 2]]  # another assignment than the one that was drawn
    assert "is not published with the sensitive values of its rows" in support(other)
    lost = trace.copy()
    lost[4, 0] = -1
    assert "withholds 1 row" in support(lost)


def test_files_of_traces_that_are_none_are_refused(tmp_path: Path) -> None:
    table = published(tmp_path)
    text = (tmp_path / "trace.csv").read_text()
    (tmp_path / "letters.csv").write_text(text.replace(" ", " x", 1))
    (tmp_path / "first.csv").write_text(text.replace("\n0,", "\n0,4", 1))
    for name in ("letters", "first"):
        with pytest.raises(dc.DiscreetError, match="cannot be read as a table with the columns row and group"):
            dc.audit(tmp_path / "r", table, trace=tmp_path / f"{name}.csv")


def test_a_description_that_leaves_out_somebody_who_is_matched_is_found_by_the_trace(tmp_path: Path) -> None:
    table = published(tmp_path)

    def narrowed(folder: Folder) -> None:
        line = next(line for line in folder.lines("table") if line[1].startswith("["))
        low, high = map(int, line[1].strip("[]").split(", "))
        line[1] = f"[{low}, {high - 1}]"

    found = dc.audit(altered(tmp_path / "r", tmp_path / "narrow", narrowed), table, trace=tmp_path / "trace.csv")
    assert "outside the description" in failing(found)["support"]


def test_an_order_that_tells_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = pa.table({"age": np.sort(rng.integers(0, 500, 300)), "x": [f"d{at % 6}" for at in range(300)]})
    table = dc.read(data, quasi=["age"], sensitive="x")
    dc.publish(table, "l-diversity(l=3)", LIKE_MATCHING).save(tmp_path / "r")

    def ordered(folder: Folder) -> None:
        folder.tables["table"][1:] = sorted(
            folder.lines("table"), key=lambda line: int(line[1].strip("[]").split(",")[0])
        )

    assert "order" in failing(dc.audit(altered(tmp_path / "r", tmp_path / "o", as_it_lies(ordered)), table))


@pytest.mark.slow
def test_random_releases_are_true_by_definition_and_what_is_altered_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = fuzz.draw_scheme

    def graph(chance: Random, name: str) -> Scheme:
        return dataclasses.replace(drawn(chance, name), publishes="graph")  # type: ignore[type-var]

    monkeypatch.setattr(fuzz, "draw_scheme", graph)
    first = list(SCHEMES).index("heterogeneous")
    tally = fuzz.fuzz(range(first, 40 * len(SCHEMES), len(SCHEMES)))
    assert tally.failures == []
    assert tally.schemes["heterogeneous"]["published"] > 15 and tally.schemes["heterogeneous"]["noticed"] > 10


# ------------------------------------------------------------------------------------------ who only matches or counts


def by_matching(release: dc.MatchedRelease, table: Table) -> tuple[Believed, np.ndarray]:
    aligned = align(release, table)
    people = people_of(aligned, table)
    times, sets, _ = marked_sets(release, people)
    found = believed_by_matching(aligned, people, sets, np.flatnonzero(times), np.zeros(0, int))
    assert isinstance(found, Believed)
    _, kind_of = np.unique(sets, return_inverse=True)
    return found, kind_of[people.of_row]


def test_sets_of_descriptions_are_told_apart_by_marks_that_nobody_can_know() -> None:
    """Else descriptions could be made that are taken for the same sets: the sums of known numbers can be steered."""
    table = patients()
    release = dc.Heterogeneous(publishes="graph", random_state=1).publish(table, dc.LDiversity(2))
    people = people_of(align(release, table), table)
    (times, sets, marks), (again, others, drawn) = (marked_sets(release, people) for _ in range(2))
    assert (times == again).all() and not np.intersect1d(marks, drawn).size
    kinds, of = (np.unique(found, return_inverse=True)[1] for found in (sets, others))
    assert len(set(zip(kinds.tolist(), of.tolist(), strict=True))) == kinds.max() + 1 == of.max() + 1
    assert abs(marks).max() <= 1 << 62 and len(set(marks.tolist())) == release.groups


@pytest.mark.parametrize("seed", range(6))
def test_scaling_comes_close_to_all_worlds_of_a_published_graph(seed: int) -> None:
    """All ways to give eight persons the rows that admit them, enumerated: beliefs within a sixth."""
    rng = np.random.default_rng(seed)
    data = pa.table({"q": rng.integers(0, 9, 8), "r": rng.integers(0, 9, 8), "x": list("aabbccdd")})
    table = dc.read(data, quasi=["q", "r"], sensitive="x")
    release = dc.Heterogeneous(publishes="graph", random_state=seed).publish(table, dc.LDiversity(2))
    values = release.values[release.sensitive_codes].tolist()
    box = [release.description(int(group)) for group in release.group_of]

    def admits(person: int, row: int) -> bool:
        ends = [[float(end) for end in text.strip("[]").split(", ")] for text in box[row].values()]
        return all(low[0] <= data[name][person].as_py() <= low[-1] for name, low in zip("qr", ends, strict=True))

    may = [[row for row in range(8) if admits(person, row)] for person in range(8)]
    truth = naive.beliefs_by_boxes(may, list(enumerate(values)))
    found, kind_of = by_matching(release, table)
    for person in range(8):
        exact = [float(truth[person].get(str(value), 0)) for value in table.sensitive[0].values]
        assert np.abs(found.beliefs[kind_of[person]] - exact).max() < 1 / 6


@pytest.mark.slow
def test_matching_alone_goes_beyond_what_the_graph_keeps_on_many_small_tables() -> None:
    """Which is why the verdict says so; the graph keeps the promise on all of them."""
    number = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = pa.table({"q": rng.integers(0, 12, 12), "r": rng.integers(0, 12, 12), "x": list("aaabbbcccddd")})
        table = dc.read(data, quasi=["q", "r"], sensitive="x")
        release = dc.Heterogeneous(publishes="graph", random_state=seed).publish(table, dc.LDiversity(4))
        number += float(by_matching(release, table)[0].beliefs.max()) > 1 / 4 + 1e-3
    assert number >= 10


def test_hits_are_counted_where_beliefs_go_beyond() -> None:
    beliefs = np.array([[0.6, 0.4], [0.2, 0.8], [0.5, 0.5]])
    found = Believed(beliefs, np.array([10.0, 20.0, 5.0]), np.array([[4, 6], [5, 15], [5, 0]]), np.zeros(3, int))
    hits = Hits.of(found, np.array([0.5, 0.7]))
    assert (hits.claimed, hits.allowed, hits.true) == (6.0 + 16.0, 5.0 + 14.0, 4 + 15) and not hits.too_many
    assert (
        hits.sentence
        == "where it is more than allowed, about 22.0 rows would have the value, 19.0 are allowed, and 19 have it"
    )
    assert Hits(200.0, 100.0, 131).too_many and not Hits(200.0, 100.0, 129).too_many


def test_who_is_right_to_believe_more_is_said_in_the_verdict() -> None:
    prior, promise = Prior(np.array([500, 500]), ("a", "b")), dc.LDiversity(2)
    believed = np.array([[0.6, 0.4], [0.5, 0.5]])
    for true, reason in ((262, True), (210, False)):
        had = np.array([[true, 400 - true], [500 - true, 100 + true]])
        found = Believed(believed, np.array([400.0, 600.0]), had, np.zeros(2, int))
        check = beyond([promise], prior, found, "Someone", "someone")
        assert check.caveat.startswith("someone may believe up to 1.20 times what l-diversity(l=2) allows")
        assert ("and with reason: 262 have what 200 may" in check.caveat) == reason
        assert f"about 240 rows would have the value, 200 are allowed, and {true} have it" in check.sentence


# ---------------------------------------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_commands_publish_audit_query_and_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(patients_arrow(), "patients.csv")
    read = ["patients.csv", "--quasi", "age,sex,zip", "--sensitive", "disease"]
    promise = ["--promise", "beta-likeness(beta=2)"]
    graph = ["--scheme", "heterogeneous", "--option", "publishes=graph"]
    told = run("publish", *read, "-o", "r", *promise, *graph, "--identifier", "name", "--trace", "t.csv").output
    assert "beta-likeness(beta=2)" in told
    assert json.loads(Path("r/release.json").read_text())["format"] == "matched"
    assert Path("t.csv").read_text().startswith("row,group,candidates\n")
    audit = ["audit", "r", "--original", "patients.csv"]
    assert "which is not published" in run(*audit, "--trace", "t.csv").output.replace("\n", " ")
    assert "of 48" in run("query", "r", "SELECT COUNT(*) FROM t WHERE age >= 40 AND disease = 'angina'").output
    assert "angina" in run("query", "r", "SELECT disease, COUNT(*) FROM t GROUP BY disease").output
    schemes = [
        "--schemes",
        "cuts,heterogeneous,heterogeneous(publishes=graph)",
        "--queries",
        "50",
        "--json",
        "--categorical",
        "zip",
    ]
    results = json.loads(run("compare", *read, *promise, *schemes, "--json").output)["results"]
    assert [one["scheme"] for one in results][-1] == "heterogeneous(publishes=graph)"
    assert "beta-likeness" in run("plan", *read).output
