"""Schemes compared: every release audited as files, refusals told, and a page that needs nothing else."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.adversary.check import Check
from discreet.analyst.workload import run as run_workload
from discreet.analyst.workload import workload
from discreet.datasets import census, patients
from discreet.errors import DiscreetError
from discreet.principles import parse
from discreet.report import compare as comparing
from discreet.report.charts import COLORS, PACKAGES
from discreet.report.compare import contend
from discreet.report.measures import AIL, GCP, MEASURES, SECONDS, best, cell
from discreet.report.plots import families, looks_of
from discreet.schemes import SCHEMES, Burel, Cuts
from support.command import refused, run

BETAS = [f"beta-likeness(beta={beta})" for beta in (4, 1, 2)]


@pytest.fixture(scope="module")
def told() -> dc.Comparison:
    """Three schemes under three promises of a kind, and one that the last scheme refuses."""
    schemes = ["cuts", "mondrian", "burel(refine=true)"]
    return dc.compare(patients(), [*BETAS, "k-anonymity(k=4)"], schemes, queries=200, random_state=1)


COMPARE = ("compare", "patients.csv", "--quasi", "age,sex,zip", "--sensitive", "disease", "--queries", "100")


# ---------------------------------------------------------------------------------------------------------- measuring


@pytest.mark.slow
def test_every_scheme_under_every_promise(told: dc.Comparison) -> None:
    assert [(result.promise, result.scheme) for result in told.results] == [
        (promise, scheme)
        for promise in [*BETAS, "k-anonymity(k=4)"]
        for scheme in ("cuts", "mondrian", "burel(refine=true)")
    ]
    assert told.holds and told.published
    for result in told.results[:9]:
        assert result.audit is not None and result.audit.holds and result.audit.support == "trace"
        assert [kept.promise for kept in result.audit.promises] == [result.promise]
        assert 0 < result.losses["ail"] < 1 and result.failures == []
        assert result.workload is not None and result.workload.queries == 200
        assert set(result.seconds or {}) == {"publish", "save", "audit", "workload", "attack"}
        assert result.achieved["beta"] is not None and result.achieved_text.startswith("beta ")


def test_the_numbers_are_those_of_the_release(told: dc.Comparison) -> None:
    table = patients()
    release = Cuts(random_state=1, snap=False).publish(table, parse(BETAS[0]))
    expected = run_workload(release, table, workload(table, number=200, seed=1))
    assert told.results[0].workload == expected
    assert told.asked.dropped == expected.dropped and told.asked.dimensions == 3


def test_a_refusal_is_a_result(told: dc.Comparison) -> None:
    last = told.results[-1]
    assert last.scheme == "burel(refine=true)" and last.audit is None and last.workload is None
    assert last.refusal is not None and "k-anonymity(k=4)" in last.refusal
    assert last.as_dict()["holds"] is None and {cell(measure, last) for measure in MEASURES} == {"-"}


@pytest.mark.slow
def test_a_failed_audit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = comparing.audit

    def strict(*given: Any, **more: Any) -> dc.Audit:
        found = judge(*given, **more)
        return dc.Audit([*found.checks, Check("<invented>", False, "It fails.")], found.promises, found.losses)

    monkeypatch.setattr(comparing, "audit", strict)
    found = dc.compare(patients(), "k-anonymity(k=4)", ["cuts"], queries=20)
    assert not found.holds and found.results[0].failures == ["It fails."]
    assert best(AIL, found.results) == []
    page = found.page("patients")
    assert "FAILED" in page and "cuts, k-anonymity(k=4): &lt;invented&gt;" in page and "It fails" not in page


def test_schemes_by_name_with_options_or_as_objects() -> None:
    found = contend(["cuts", " cuts(effort=thorough, loss=gcp) ", Burel(refine=True), Cuts(withhold=0.02), "cuts"], 5)
    assert list(found) == ["cuts", "cuts(effort=thorough, loss=gcp)", "burel(refine=true)", "cuts(withhold=0.02)"]
    assert found["cuts(effort=thorough, loss=gcp)"].options["effort"] == "thorough"
    for text, said in (
        ("cutz", "did you mean 'cuts'"),
        ("cuts(effort)", "'effort' is not of the form name=value; write for example"),
        ("cuts(losss=gcp)", "no parameter 'losss'"),
        ("cuts(loss=gcp, loss=ail)", "twice"),
    ):
        with pytest.raises(DiscreetError, match=re.escape(said)):
            contend([text])


def test_what_no_scheme_could_answer_is_an_error() -> None:
    with pytest.raises(DiscreetError, match="no promise"):
        dc.compare(patients(), [], ["cuts"])
    with pytest.raises(DiscreetError, match="no scheme"):
        dc.compare(patients(), "k-anonymity(k=4)", [])
    with pytest.raises(DiscreetError, match="sensitive"):
        dc.compare(patients(sensitive=None), "beta-likeness(beta=2)", ["cuts"])
    with pytest.raises(DiscreetError, match="dimensionality"):
        dc.compare(patients(), "k-anonymity(k=4)", ["cuts"], dimensions=4)


def test_without_a_sensitive_attribute() -> None:
    found = dc.compare(patients(sensitive=None), "k-anonymity(k=4)", ["cuts", "mondrian"], queries=50)
    assert found.holds and found.sensitive == () and found.as_dict()["sensitive"] is None
    assert "sensitive attribute <b>" not in found.page()


def test_progress_never_goes_back() -> None:
    seen: list[tuple[str, float]] = []
    dc.compare(
        census(500, seed=1),
        ["beta-likeness(beta=2)"],
        ["cuts", "burel"],
        queries=20,
        progress=lambda *told: seen.append(told),
    )
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1
    assert any(stage.startswith("2 of 2: burel, beta-likeness(beta=2)") for stage, _ in seen)


@pytest.mark.slow
def test_a_loss_is_not_ranked_where_quasi_identifiers_stay_as_they_are() -> None:
    found = dc.compare(
        patients(), "beta-likeness(beta=2)", ["cuts", "mondrian", "perturbation", "baseline"], queries=50
    )
    exact = {result.scheme: result.exact_quasi for result in found.results}
    assert exact == {"cuts": False, "mondrian": False, "perturbation": True, "baseline": True}
    for measure in (AIL, GCP):
        assert [cell(measure, result) for result in found.results[2:]] == ["exact", "exact"]
        assert [result.scheme for result in best(measure, found.results)] == ["cuts"]
    page = found.page()
    assert "quasi-identifiers are exact: perturbation, baseline." in page
    loss = page[page.index("Loss of the quasi-identifiers") : page.index("Workload error")]
    assert "mondrian" in loss and "baseline" not in loss
    assert [one["exact_quasi"] for one in found.as_dict()["results"]] == [*exact.values()]


def test_the_best_is_the_lowest_as_written(told: dc.Comparison) -> None:
    results = told.results[:3]
    winners = best(AIL, results)
    assert min(AIL.of(result) or 1 for result in results) in [AIL.of(result) for result in winners]
    assert best(SECONDS, results[:1]) == []


# ----------------------------------------------------------------------------------------------------------- the page


def test_promises_that_differ_in_one_number_are_a_family() -> None:
    texts = [
        *BETAS,
        "beta-likeness(beta=2, variant=basic)",
        "t-closeness(t=0.2)",
        "k-anonymity(k=5) & l-diversity(l=3)",
    ]
    found = families([parse(text) for text in texts])
    assert [one.title for one in found] == ["beta-likeness(beta=1 to 4)", *map(str, map(parse, texts[3:]))]
    assert found[0].places == (1.0, 2.0, 4.0) and found[0].parameter == "beta"
    joined = [parse(f"k-anonymity(k={k}) & l-diversity(l=3)") for k in (5, 10)]
    assert [one.title for one in families(joined)] == ["k-anonymity(k=5 to 10) & l-diversity(l=3)"]


def test_no_two_schemes_look_the_same() -> None:
    for channel in ("color", "shape"):
        looks = looks_of(len(SCHEMES))[channel]
        assert len(set(looks)) == len(SCHEMES), f"there are more schemes than looks of this kind: {channel}"
    many = looks_of(100)  # options make more contenders of one scheme
    assert len(set(zip(many["color"], many["shape"], strict=True))) == 100


SEEN = {
    "all colours": np.eye(3),
    "no red": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "no green": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "no blue": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}
"""How linear RGB is seen by those who see fewer colours (Machado, Oliveira and Fernandes 2009, severity 1)."""


@pytest.mark.parametrize("seen", SEEN)
def test_colours_are_told_apart_by_all_eyes(seen: str) -> None:
    """Distances in CIE Lab; 16 is that of the closest two of Okabe and Ito's colours, among the first six here."""
    places = np.array([_lab(SEEN[seen] @ _linear(color)) for color in COLORS])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(COLORS), 1)]
    assert apart.min() > 16 - 0.1
    assert places[:, 0].max() < 85  # white has 100, and is behind them


def _linear(color: str) -> np.ndarray:
    shares = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def _lab(linear: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    part = xyz @ np.clip(linear, 0, 1) / xyz.sum(axis=1)
    x, y, z = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


class Reader(HTMLParser):
    """Collects what a browser would load, and sees that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)
        self.loads += [f"{name}={value}" for name, value in attrs if name in ("src", "href", "xlink:href", "srcset")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_the_page_needs_nothing_else_and_holds_no_row(told: dc.Comparison) -> None:
    text = told.page("patients & <others>.csv")
    reader = Reader()
    reader.feed(text)
    assert reader.open == [] and reader.loads == []
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(reader.tags)
    assert set(re.findall(r"https?://[^\"' <]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "url(" not in text and "@import" not in text
    assert reader.tags.count("svg") == 8 and text.count('role="img"') == 8  # lines for the betas, bars for k
    assert "patients &amp; &lt;others&gt;.csv" in text and "<others>" not in text
    assert told.results[-1].refusal is not None and "refused: " in text
    for name in ("Joel", "53719", "headache"):
        assert name not in text


@pytest.mark.parametrize(("module", "package"), PACKAGES.items())
def test_the_page_says_what_is_missing(
    told: dc.Comparison, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DiscreetError, match=rf"package {package},.* pip install 'discreet\[report\]'"):
        told.page()


# -------------------------------------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_compare_on_screen_and_as_a_page(people: Path) -> None:
    words = (*COMPARE, "--promise", BETAS[2], "--promise", "k-anonymity(k=4)", "--schemes", "cuts,mondrian,burel")
    result = run(*words, "--html", "page.html")
    assert "median error" in result.stdout and "refused" in result.stdout and "page.html" in result.stdout
    assert result.stdout.index(BETAS[2]) < result.stdout.index("k-anonymity(k=4)")
    assert "<svg" in (people / "page.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in people.iterdir()) == ["page.html", "patients.csv"]
    assert "exists already" in refused(*words, "--html", "page.html")
    run(*words, "--html", "page.html", "--force")


def test_compare_as_json_prints_nothing_else(people: Path) -> None:
    said = run(*COMPARE, "--promise", BETAS[2], "--schemes", "cuts", "--schemes", "burel(refine=true)", "--json")
    document = json.loads(said.stdout)
    assert document["holds"] is True and document["schemes"] == ["cuts", "burel(refine=true)"]
    assert document["workload"] == {
        "name": "beta",
        "queries": 100,
        "dimensions": 3,
        "selectivity": 0.1,
        "volume": None,
    } | {"dropped": document["workload"]["dropped"]}
    first = document["results"][0]
    assert set(first["losses"]) >= {"ail", "gcp"} and set(first["workload"]) == {"median", "mean"}
    assert first["achieved"]["beta"] <= 2 and first["seconds"]["publish"] >= 0


def test_compare_repeats_an_experiment(people: Path) -> None:
    words = (*COMPARE, "--promise", BETAS[2], "--schemes", "cuts,burel", "--seed", "3", "--json")
    first, second = (json.loads(run(*words).stdout)["results"] for _ in range(2))
    for one in (*first, *second):
        del one["seconds"]
    assert first == second


def test_compare_leaves_with_the_right_code(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(*COMPARE, "--promise", "l-diversity(l=20)", "--schemes", "cuts", code=2)
    assert "refused" in result.stdout and "no scheme could make" in result.stderr
    monkeypatch.setattr(dc.Audit, "holds", False)
    run(*COMPARE, "--promise", BETAS[2], "--schemes", "cuts", code=1)


def test_compare_refuses_before_it_works(people: Path) -> None:
    asked = (*COMPARE, "--promise", BETAS[2])
    assert "no promise is named" in refused(*COMPARE)
    assert "did you mean 'mondrian'" in refused(*asked, "--schemes", "cuts,mondrain")
    assert "would overwrite the input" in refused(*asked, "--html", "patients.csv", "--force")
    assert "is a folder" in refused(*asked, "--html", ".")
    assert "there is no folder" in refused(*asked, "--html", "nowhere/page.html")
    assert "selectivity" in refused(*asked, "--selectivity", "2", "--schemes", "cuts")
    assert "dimensionality" in refused(*asked, "--dimensions", "9", "--schemes", "cuts")
    assert "no quasi-identifier" in refused("compare", "patients.csv", "--promise", BETAS[2])
