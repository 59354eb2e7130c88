"""The picture of risk against use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet as dc
from discreet.datasets import census, patients
from discreet.report.comparison import Comparison
from discreet.report.tradeoff import drawn
from support.command import refused, run

STRENGTHS = ["beta-likeness(beta=1)", "beta-likeness(beta=4)"]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return dc.compare(census(400), STRENGTHS, ["cuts", "baseline", "sabre"], queries=40, random_state=0)


def test_every_scheme_that_keeps_the_promise_is_a_line_through_what_it_keeps(comparison: Comparison) -> None:
    svg = drawn(comparison, ".svg").decode()
    told = re.findall(
        r'aria-label="beta really kept, as audited: ([\d.]+); median relative error: [^;]+; scheme: (\w+)', svg
    )
    kept = {
        (f"{result.achieved['beta']:.6f}", result.scheme) for result in comparison.results if result.audit is not None
    }
    assert {(f"{float(beta):.6f}", scheme) for beta, scheme in told} == kept
    assert {scheme for _, scheme in kept} == {"cuts", "baseline"}  # sabre keeps no beta-likeness


def test_the_success_of_attacks_is_beside_it(comparison: Comparison) -> None:
    told = re.findall(r"attacks guesses: ([\d.]+)%; [^;]+; scheme: (\w+)", drawn(comparison, ".svg").decode())
    guessed = {
        (f"{100 * result.guessed:.6f}", result.scheme) for result in comparison.results if result.guessed is not None
    }
    assert {(f"{float(share):.6f}", scheme) for share, scheme in told} == guessed


def test_without_a_sensitive_attribute_the_loss_is_beside_it() -> None:
    table = patients(sensitive=None)
    made = dc.compare(table, ["k-anonymity(k=2)", "k-anonymity(k=4)"], ["cuts", "mondrian"], queries=40, random_state=0)
    losses = re.findall(r"AIL \(0 exact, 1 nothing left\): ([\d.]+); scheme: (\w+)", drawn(made, ".svg").decode())
    wanted = {(f"{result.losses['ail']:.6f}", result.scheme) for result in made.results}
    assert {(f"{float(loss):.6f}", scheme) for loss, scheme in losses} == wanted


def test_descriptions_differ_in_their_lines_and_schemes_in_their_colours() -> None:
    formats = {"marginals=none": "boxes", "marginals=one-way": "boxes with counts of columns"}
    formats["descriptions=exact"] = "exact quasi-identifiers"
    texts = [f"{name}({options})" for name in ("cuts", "mondrian") for options in formats]
    made = dc.compare(census(400), STRENGTHS, texts, queries=40, random_state=0)
    assert [result.described for result in made.under(made.promises[0])] == [*formats.values()] * 2
    svg = drawn(made, ".svg").decode()
    assert len(set(re.findall(r'stroke-dasharray="([^"]*)"', svg))) == 3
    assert all(f">{words}<" in svg for words in (*formats.values(), "cuts", "mondrian"))
    assert "cuts(" not in re.sub(r'aria-[a-z]+="[^"]*"', "", svg)


def test_pictures_are_written_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("data", "get", "patients")
    words = ("compare", "patients.csv", "--quasi", "age,sex", "--sensitive", "disease", "--schemes", "cuts")
    words += ("--queries", "20", "--promise", "beta-likeness(beta=2)")
    result = run(*words, "--plot", "risk.png")
    assert "The plot is in risk.png" in result.stdout
    assert (tmp_path / "risk.png").read_bytes().startswith(b"\x89PNG")
    assert "exists already" in refused(*words, "--plot", "risk.png")
    assert "let it end in .svg or .png" in refused(*words, "--plot", "risk.pdf")


def test_nothing_to_draw_is_said() -> None:
    nothing = dc.compare(patients(), "t-closeness(t=0.1)", ["burel"], queries=10)
    with pytest.raises(dc.DiscreetError, match="nothing to draw"):
        drawn(nothing, ".svg")
