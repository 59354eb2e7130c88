"""Plans: what a table can promise, and the command around them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.command.main import main
from discreet.datasets import patients
from discreet.principles import PRINCIPLES, LDiversity, Prior, Proximity, parse
from discreet.report.frontier import EVERY, steps
from discreet.report.plan import strongest
from discreet.report.proximity_plan import MOST_POINTS, frontier, plan_proximity, widths
from discreet.table.read import read

PAYMENTS = """age,zip,name,salary
17,12000,a,1000
19,13000,a,1010
20,14000,a,1020
24,16000,b,50000
29,21000,b,16000
34,24000,b,24000
39,36000,b,33000
45,39000,b,31000
"""


@pytest.fixture
def payments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "payments.csv"
    path.write_text(PAYMENTS)
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["plan", "payments.csv", "--quasi", "age,zip", *words])


SALARY = ("--sensitive", "salary")


# ------------------------------------------------------------------------------------------------------- the library


def test_the_running_example(payments: Path) -> None:
    table = read(payments, quasi=["age", "zip"], sensitive="salary")
    told = dc.plan(table, epsilon=10000, m=3)
    assert told.proximity is not None and not told.feasible
    assert (told.proximity.largest_m, told.proximity.widest_epsilon) == (2, 20.0)
    assert "cannot be kept" in told.proximity.sentences[0] and "not 20 itself" in told.proximity.sentences[1]
    only_m = dc.plan(table, m=2).proximity
    assert only_m is not None and only_m.feasible is None and only_m.widest_epsilon == 23000 and not only_m.largest_m
    only_epsilon = dc.plan(table, epsilon=20).proximity
    assert only_epsilon is not None and only_epsilon.largest_m == 2 and len(only_epsilon.sentences) == 1
    assert "m can be up to 2" in only_epsilon.sentences[0]
    assert dc.plan(table, epsilon=19.99, m=3).feasible
    neither = dc.plan(table).proximity
    assert neither is not None and neither.sentences == () and neither.frontier[0].m == 8


def test_sentences_for_every_case() -> None:
    prior = Prior(np.array([6, 1, 1, 1]), ("0", "5", "9", "12.3"), "numeric", attribute="pay")
    none = plan_proximity(prior, m=2)
    assert none.widest_epsilon == 0.0 and none.widths == () and [point.m for point in none.frontier] == [1]
    assert none.sentences == ("With m=2, no epsilon can be kept, not even 0: m can be at most 1.",)
    assert plan_proximity(prior, m=1).sentences == ("With m=1, epsilon can be anything.",)
    assert plan_proximity(prior, m=1, neighbourhood="relative").sentences[0].endswith("anything up to 1.")
    odd = Prior(np.ones(3, int), ("0.1", "0.4333333333", "0.9"), "numeric")
    assert plan_proximity(odd, m=3).sentences == (
        "With m=3, epsilon can be anything below 0.33333 or a little more (rounded down).",
    )


def test_a_table_without_numbers_or_without_a_sensitive_attribute() -> None:
    told = dc.plan(patients())
    assert told.proximity is None and told.feasible
    assert [one.parameter for one in told.strongest] == [
        "k",
        "l",
        "l",
        "l",
        "l",
        "t",
        "beta",
        "delta",
        "beta",
        "epsilon",
    ]
    assert [one.promise for one in dc.plan(patients(sensitive=None)).strongest] == ["k-anonymity"]
    with pytest.raises(dc.DiscreetError, match="is categorical; declare it numeric"):
        dc.plan(patients(), m=3)
    with pytest.raises(dc.DiscreetError, match="the table has none"):
        dc.plan(patients(sensitive=None), epsilon=3)
    two = read(pa.table({"age": [1, 2], "pay": [5, 6], "bill": [7, 8]}), quasi=["age"], sensitive=["pay", "bill"])
    with pytest.raises(dc.DiscreetError, match="one sensitive attribute, and the table has pay, bill"):
        dc.plan(two)


@pytest.mark.slow
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
@settings(max_examples=60)
def test_the_strongest_can_be_kept_and_nothing_stronger(counts: list[int]) -> None:
    prior = Prior(np.array(counts), tuple(f"value {at}" for at in range(len(counts))))
    whole = prior.counts[None]
    for one in strongest(prior):
        assert one.strongest is not None and one.sentence
        kind = one.promise.partition("(")[2].rstrip(")")
        if one.parameter == "k":
            assert one.strongest == prior.rows
        elif one.parameter == "l" and kind in ("frequency", "entropy"):
            assert LDiversity(max(1.0, one.strongest - 1e-6), kind).holds(whole, prior)[0]
            assert not LDiversity(one.strongest + 1e-6, kind).holds(whole, prior)[0]
        elif one.parameter == "l":
            best, text = int(one.strongest), f"kind={kind.replace(', c=2', '')}" + (", c=2" if "c=2" in kind else "")
            assert best == 0 or parse(f"l-diversity(l={best}, {text})").holds(whole, prior)[0]
            assert not parse(f"l-diversity(l={best + 1}, {text})").holds(whole, prior)[0]
        elif one.promise == "alpha-beta":
            assert dc.AlphaBeta(1.0, min(1.0, one.strongest + 1e-9)).holds(whole, prior)[0]
            assert not dc.AlphaBeta(1.0, one.strongest - 1e-6).holds(whole, prior)[0]
        else:
            assert one.strongest == 0.0


def test_a_plan_for_numbers_tells_how_much_they_differ_and_vary() -> None:
    """How strong ke-anonymity and variance can be kept, and nothing stronger."""
    pay = pa.table({"age": [1, 2, 3, 4], "pay": [1000, 1010, 1010, 9000]})
    told = {one.promise: one for one in dc.plan(read(pay, quasi=["age"], sensitive="pay")).strongest}
    differ, vary = told["ke-anonymity (e up to 8000)"], told["variance"]
    prior = Prior(np.array([1, 2, 1]), ("1000", "1010", "9000"), "numeric")
    whole = prior.counts[None]
    assert (differ.parameter, differ.strongest) == ("k", 3)
    assert dc.KEAnonymity(3, 8000).holds(whole, prior)[0] and not dc.KEAnonymity(4, 8000).holds(whole, prior)[0]
    assert not dc.KEAnonymity(3, 8001).holds(whole, prior)[0]
    assert vary.strongest == pytest.approx(np.var([1000, 1010, 1010, 9000]))


def test_the_command_shows_all_kinds_of_promises(tmp_path: Path) -> None:
    """Every promise that there is has a line, and its strongest parameter can be asked for."""
    (tmp_path / "pay.csv").write_text("age,pay\n" + "".join(f"{age},{900 + 7 * age % 50}\n" for age in range(60)))
    told = CliRunner().invoke(main, ["plan", str(tmp_path / "pay.csv"), "--quasi", "age", "--sensitive", "pay"])
    assert told.exit_code == 0, told.output
    for name in PRINCIPLES:
        assert name in told.output, name


@pytest.mark.slow
@given(
    st.lists(st.one_of(st.integers(-50, 50), st.integers(0, 3), st.just(0)), min_size=1, max_size=30),
    st.sampled_from([0.001, 1.0, 12345.6]),
    st.sampled_from(["absolute", "relative"]),
)
@settings(max_examples=80)
def test_frontiers(rows: list[int], scale: float, neighbourhood: str) -> None:
    numbers, counts = np.unique(np.array(rows) * scale, return_counts=True)
    prior = Prior(counts, tuple(map(str, numbers)), "numeric", numbers=numbers)
    points = frontier(prior, neighbourhood)
    assert 1 <= len(points) <= MOST_POINTS + 1 and points[0].epsilon == 0.0
    assert [point.epsilon for point in points] == sorted({point.epsilon for point in points})
    for point in points:
        assert Proximity(point.epsilon, point.m, neighbourhood).reachable(prior).feasible
        assert not Proximity(point.epsilon, point.m + 1, neighbourhood).reachable(prior).feasible
    assert points[-1].m == 1 or neighbourhood == "relative"
    for one in widths(prior, neighbourhood):
        inside = 1.0 if math.isinf(one.epsilon) else one.epsilon * (1 - 1e-9)
        assert Proximity(inside, one.m, neighbourhood).reachable(prior).feasible
        if not math.isinf(one.epsilon):
            assert not Proximity(one.epsilon, one.m, neighbourhood).reachable(prior).feasible


# ------------------------------------------------------------------------------------------------------- the command


def test_exit_codes_and_what_is_shown(payments: Path) -> None:
    shown = run(*SALARY)
    assert shown.exit_code == 0 and "k=8" in shown.stdout and "any beta" in shown.stdout
    assert "largest m" in shown.stdout and "epsilon below" in shown.stdout
    assert run(*SALARY, "--epsilon", "10000", "--m", "2").exit_code == 0
    cannot = run(*SALARY, "--epsilon", "20", "--m", "3")
    assert cannot.exit_code == 1 and "ask for m=2, or epsilon below 20 with m=3" in cannot.stdout
    assert run(*SALARY, "--epsilon", "20").exit_code == 0
    assert "below 0.68, but not 0.68 itself" in run(*SALARY, "--m", "2", "--neighbourhood", "relative").stdout
    alone = run()
    assert alone.exit_code == 0 and "no sensitive attribute" in alone.stdout and "largest m" not in alone.stdout


@pytest.mark.parametrize("m", ["2", "3", "4"])
def test_neighbourhoods_that_reach_further_on_one_side(payments: Path, m: str) -> None:
    table = dc.read("payments.csv", quasi="age", sensitive="salary")
    prior = Prior.of(table)
    for below, above in ((0, 10_000), (10_000, 0), (8_000, 20), (5, 5)):
        best = max(k for k in range(1, 9) if Proximity(m=k, below=below, above=above).reachable(prior).feasible)
        words = (*SALARY, "--below", str(below), "--above", str(above))
        document = json.loads(run(*words, "--json").stdout)["proximity"]
        assert (document["below"], document["above"], document["largest_m"]) == (below, above, best)
        asked = run(*words, "--m", m, "--json")
        assert asked.exit_code == (0 if int(m) <= best else 1)
        assert json.loads(asked.stdout)["feasible"] is (int(m) <= best)
        shown = run(*words, "--m", m).stdout
        assert f"from {below:,} below to {above:,} above" in shown and "largest m" not in shown
    one, other = (run(*SALARY, side, "20", "--above", "8000", "--json") for side in ("--epsilon", "--below"))
    assert one.stdout == other.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SALARY, "--below", "5"), "two sides; say how far it reaches above, or epsilon for that"),
        ((*SALARY, "--above", "5", "--m", "2"), "how far it reaches below, or epsilon"),
        ((*SALARY, "--below", "5", "--above", "5", "--epsilon", "5"), "leave out epsilon"),
        ((*SALARY, "--below", "-5", "--above", "5"), "below must be a number of at least 0"),
        (
            (*SALARY, "--below", "1", "--above", "5", "--neighbourhood", "relative"),
            "about shares of a number; choose absolute ones",
        ),
        ((*SALARY, "--epsilon", "-1"), "epsilon must be a number of at least 0"),
        ((*SALARY, "--m", "0"), "m must be a whole number of at least 1"),
        ((*SALARY, "--m", "2.5"), "whole number"),
        ((*SALARY, "--m", "many"), "many"),
        ((*SALARY, "--epsilon", "nan"), "epsilon must be a number"),
        ((*SALARY, "--epsilon", "2", "--neighbourhood", "relative"), "between 0 and 1"),
        (("--sensitive", "name", "--m", "2"), "declare it numeric"),
        (("--m", "2"), "the table has none"),
        (("--sensitive", "pay"), "'pay'"),
    ],
)
def test_bad_input(payments: Path, words: tuple[str, ...], message: str) -> None:
    result = run(*words)
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
    assert result.stdout == ""


def test_json(payments: Path) -> None:
    result = run(*SALARY, "--epsilon", "10000", "--m", "3", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1 and document["feasible"] is False and document["rows"] == 8
    assert document["proximity"]["largest_m"] == 2 and document["proximity"]["widest_epsilon"] == 20.0
    assert {"promise", "parameter", "strongest", "sentence"} == set(document["strongest"][0])
    assert document["proximity"]["frontier"][0] == {"epsilon": 0.0, "m": 8}


def test_without_quasi_identifiers_the_other_columns_are_taken(payments: Path) -> None:
    result = CliRunner().invoke(main, ["plan", "payments.csv", "--sensitive", "salary", "--json"])
    assert result.exit_code == 0 and json.loads(result.stdout)["sensitive"] == "salary"


# ---------------------------------------------------------------------------------------------------------- the plot


@given(
    st.lists(st.one_of(st.integers(-50, 50), st.just(0)), min_size=1, max_size=60),
    st.sampled_from(["absolute", "relative"]),
    st.floats(0.0, 1.0),
)
@settings(max_examples=60)
def test_the_line_is_never_above_what_can_be_kept(rows: list[int], neighbourhood: str, epsilon: float) -> None:
    """And touches it for every m that has a step of its own."""
    numbers, counts = np.unique(np.array(rows), return_counts=True)
    prior = Prior(counts, tuple(map(str, numbers)), "numeric")
    epsilon = epsilon * 60.0 if neighbourhood == "absolute" else epsilon
    best = int(Proximity(epsilon, 1, neighbourhood).reachable(prior).strongest or 1)
    found = steps(prior, neighbourhood)
    assert [m for m, _ in found] == sorted({m for m, _ in found}, reverse=True)
    assert [width for _, width in found] == sorted(width for _, width in found)
    drawn = max((m for m, width in found if width > epsilon), default=1)
    assert drawn <= best
    assert drawn == best or drawn >= EVERY or best > EVERY


def test_a_frontier_of_many_m_has_few_steps() -> None:
    prior = Prior(np.ones(20_000, int), tuple(map(str, range(20_000))), "numeric")
    found = steps(prior, "absolute")
    assert found[0] == (20_000, 1.0) and found[-1] == (2, 10_000.0) and len(found) < 120


@pytest.mark.slow
def test_plots_of_every_kind(payments: Path) -> None:
    table = read(payments, quasi=["age", "zip"], sensitive="salary")
    told = dc.plan(table, epsilon=20, m=3)
    for name in ("a.svg", "a.png", "a.HTML"):
        told.plot(payments.parent / name, "pay & <more>.csv")
    svg = (payments.parent / "a.svg").read_text()
    assert svg.startswith("<svg") and "epsilon=20, m=3: cannot be kept" in svg and "epsilon, in units of salary" in svg
    assert "Relative" in svg and "can be kept" in svg
    assert (payments.parent / "a.png").read_bytes().startswith(b"\x89PNG")
    page = (payments.parent / "a.HTML").read_text()
    assert "pay &amp; &lt;more&gt;.csv" in page and "cannot be kept. 3 of 8 rows" in page and svg in page
    assert '<td class="number">2</td><td class="number">23,000</td>' in page
    # nothing is loaded from elsewhere
    assert not re.search(r"(src|href)=|https?://(?!www\.w3\.org)|@import|url\(", page)
    with pytest.raises(dc.DiscreetError, match=r"let it end in \.html, \.svg or \.png"):
        told.plot(payments.parent / "a.pdf")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"epsilon": 10000, "m": 2}, "epsilon=10000, m=2: can be kept"),
        ({"epsilon": 20}, "epsilon=20: m up to 2"),
        ({"epsilon": 0}, "epsilon=0: m up to 8"),
        ({"epsilon": 1e9, "m": 7}, "epsilon=1000000000, m=7: cannot be kept"),
        ({"m": 3}, "m=3: epsilon below 20"),
        ({"m": 1}, "m=1: any epsilon"),
        ({"m": 9}, "m=9: no epsilon can be kept"),
        ({"m": 2, "neighbourhood": "relative"}, "m=2: epsilon below 0.68"),
        ({"m": 1, "neighbourhood": "relative"}, "m=1: any epsilon"),
        ({}, "cannot be kept"),
    ],
)
def test_what_was_asked_about_is_marked(payments: Path, asked: dict[str, Any], said: str) -> None:
    table = read(payments, quasi=["age", "zip"], sensitive="salary")
    dc.plan(table, **asked).plot("f.svg")
    assert said in Path("f.svg").read_text()


def test_plots_of_tables_that_allow_nothing(tmp_path: Path) -> None:
    rows = pa.table({"age": range(10), "pay": [0] * 8 + [4, 9], "flag": ["a"] * 10, "same": [7.5] * 10})
    dc.plan(read(rows, quasi=["age"], sensitive="pay")).plot(tmp_path / "f.svg")
    assert "No m above 1 can be kept" in (tmp_path / "f.svg").read_text()
    dc.plan(read(rows, quasi=["age"], sensitive="same"), epsilon=1, m=2).plot(tmp_path / "f.html")
    for sensitive, said in (("flag", "'flag', which is not numeric"), (None, "the table has none")):
        with pytest.raises(dc.DiscreetError, match=said):
            dc.plan(read(rows, quasi=["age"], sensitive=sensitive)).plot(tmp_path / "g.svg")


@pytest.mark.slow
def test_the_command_draws_and_protects_files(payments: Path) -> None:
    shown = run(*SALARY, "--epsilon", "20", "--plot", "frontier.html")
    assert shown.exit_code == 0 and "The plot is in frontier.html" in shown.stdout
    assert "payments.csv can promise about salary" in Path("frontier.html").read_text()
    for words, said in (
        (("--plot", "frontier.html"), "exists already"),
        (("--plot", "frontier.gif"), "let it end in .html, .svg or .png"),
        (("--plot", "nowhere/f.svg"), "there is no folder"),
        (("--plot", "payments.csv", "--force"), "let it end in"),
    ):
        result = run(*SALARY, *words)
        assert result.exit_code == 2 and said in result.stderr and result.stdout == ""
    again = run(*SALARY, "--plot", "frontier.html", "--force", "--json")
    assert again.exit_code == 0 and json.loads(again.stdout)["plot"] == "frontier.html"
    none = run("--sensitive", "name", "--plot", "f.svg")
    assert none.exit_code == 2 and "not numeric" in none.stderr and not Path("f.svg").exists()
    # what cannot be kept is drawn too
    assert run(*SALARY, "--epsilon", "20", "--m", "3", "--plot", "f.svg").exit_code == 1 and Path("f.svg").exists()


@pytest.mark.parametrize("scale", [1.7e308, 1e-320, 5e-324])
def test_numbers_of_any_size_are_planned(scale):
    numbers = np.array([-1.0, -0.999, 0.0, 0.5, 0.999, 1.0]) * scale if scale > 1 else np.arange(6) * scale
    numbers = np.unique(numbers)
    prior = Prior(np.ones(len(numbers), int), tuple(map(repr, numbers.tolist())), "numeric", attribute="pay")
    for kind in ("absolute", "relative"):
        told = plan_proximity(prior, epsilon=0.5 if kind == "relative" else scale / 3, m=2, neighbourhood=kind)
        assert all(len(sentence) < 300 for sentence in told.sentences)
        for point in told.frontier:
            assert math.isfinite(point.epsilon)
            assert Proximity(point.epsilon, point.m, kind).reachable(prior).feasible
        for width in told.widths:
            below = min(math.nextafter(width.epsilon, 0.0), 1.0 if kind == "relative" else 1.7e308)
            assert Proximity(below, width.m, kind).reachable(prior).feasible


def test_large_numbers_are_told_briefly():
    table = dc.read(pa.table({"age": [1, 2, 3], "pay": [-1.7e308, 1e300, 1.7e308]}), quasi=["age"], sensitive="pay")
    told = dc.plan(table, epsilon=1e300, m=2)
    said = [*told.proximity.sentences, *(one.sentence for one in told.strongest)]
    assert max(map(len, said)) < 250 and any("-1.7e+308" in sentence for sentence in said)


def test_large_numbers_are_planned_and_drawn_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    numbers = [-1.7e308, -1e308, -3.3e300, 0.5, 1e300, 1.5e307, 1e308, 1.7e308]
    (tmp_path / "huge.csv").write_text("age,v\n" + "".join(f"{20 + at},{one}\n" for at, one in enumerate(numbers)))
    words = ["plan", "huge.csv", "--quasi", "age", "--sensitive", "v"]
    told = CliRunner().invoke(main, [*words, "--m", "3"])
    assert told.exit_code == 0 and "epsilon can be anything below" in told.output
    assert max(map(len, re.findall(r"[\d,.]+", told.output))) < 30
    assert CliRunner().invoke(main, [*words, "--plot", "huge.svg"]).exit_code == 0


def test_publishing_says_which_distance_is_meant_where_values_have_an_order(payments: Path) -> None:
    """A plan speaks of distance=ordered; t-closeness(t=0.5) alone means distance=equal."""
    words = ["publish", str(payments), "--force", "-o", "out", "--quasi", "age", "--sensitive", "salary", "--promise"]
    told = CliRunner().invoke(main, [*words, "t-closeness(t=0.5)"])
    assert told.exit_code == 0 and told.stderr.count("distance=ordered") == 1, told.output
    assert "takes any two values of 'salary' as equally far apart (distance=equal)" in told.stderr
    for distance in ("equal", "ordered"):
        told = CliRunner().invoke(main, [*words, f"t-closeness(t=0.5, distance={distance})"])
        assert told.exit_code == 0 and "equally far" not in told.stderr
