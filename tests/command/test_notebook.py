"""Results in notebooks: a few lines of text, and HTML that says what the command says, escaped."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.display import MOST_LINES, Displayed
from support.command import run

EVIL = "<script>alert('x')</script> & [bold]flu[/bold]"
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease")


@pytest.fixture
def release(people: Path) -> str:
    dc.publish(dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease"), dc.KAnonymity(4)).save(
        "release"
    )
    return "release"


def text_of(result: Any) -> str:
    """What is read in a browser."""
    return html.unescape(re.sub(r"<[^>]*>", "", result._repr_html_()))


def words(text: str) -> list[str]:
    return [word for word in re.sub(r"[─\s]+", " ", text).split(" ") if word]


@pytest.mark.slow
def test_html_says_what_the_command_says(release: str) -> None:
    table = dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease")
    audit = words(text_of(dc.audit("release", table)))
    printed = words(run("audit", "release", "--original", "patients.csv", *ROLES).stdout)
    assert audit and set(audit) <= set(printed) and audit[:2] == ["k-anonymity(k=4)", "holds,"]
    assert words(text_of(dc.plan(table))) == words(run("plan", "patients.csv", *ROLES).stdout)
    assert words(text_of(dc.attack("release", table, "naive-bayes"))) == words(
        run("attack", "release", "--original", "patients.csv", "--attack", "naive-bayes").stdout
    )
    profile = words(run("profile", "patients.csv", *ROLES).stdout)
    shown = words(text_of(dc.profile(table)))
    assert shown == profile[: len(shown)] and profile[len(shown) :][:3] == ["To", "publish", "it:"]


@pytest.mark.slow
def test_a_comparison_is_a_few_lines(release: str) -> None:
    compared = dc.compare(patients(), dc.KAnonymity(4), ["mondrian", "burel"], queries=50)
    first, mondrian, burel = repr(compared).splitlines()
    assert first == "Comparison of 2 releases of 48 rows"
    assert mondrian == "  mondrian under k-anonymity(k=4): holds (k 4)"
    assert burel == "  burel under k-anonymity(k=4): no release"
    assert "mondrian" in text_of(compared) and "refused" in text_of(compared).casefold()


def test_results_are_a_few_lines(release: str) -> None:
    table = dc.read("patients.csv", quasi=["age", "sex", "zip"], sensitive="disease")
    assert repr(dc.plan(table)).splitlines()[:3] == [
        "Plan for 48 rows, sensitive attribute 'disease'",
        "  k-anonymity: k=48",
        "  l-diversity (frequency): l=4.8",
    ]
    assert repr(dc.profile(table)).splitlines()[:3] == [
        "Profile of 48 rows",
        "  48 rows (100.0 %) with a combination that no other row has",
        "  age: quasi, numeric, 34 values",
    ]
    assert "age: quasi" in repr(dc.profile(table, combinations=False)) and text_of(
        dc.profile(table, combinations=False)
    )
    assert repr(dc.audit(release, table)).splitlines() == [
        "k-anonymity(k=4) holds, as the release itself states it.",
        "  k-anonymity(k=4): achieved 4",
    ]
    broken = repr(dc.audit(release, table, promises=["l-diversity(l=9)"])).splitlines()
    assert broken[0] == "The promise is NOT shown to hold." and any(
        "l-diversity(l=9) is broken" in line for line in broken
    )
    attacked = dc.attack(release, table, "naive-bayes")
    assert repr(attacked).splitlines()[1].startswith("  naive-bayes: ") and len(repr(attacked)) < 200


def test_text_of_many_parts_ends() -> None:
    class Many(Displayed):
        def _shown(self) -> list[str]:
            return ["first", *map(str, range(MOST_LINES + 5))]

    assert repr(Many()).splitlines() == ["first", *(f"  {at}" for at in range(MOST_LINES)), "  ... and 5 more"]


def test_values_and_names_are_escaped_and_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = dc.read(pa.table({"<b>age": range(8), "ill": [EVIL, "gout"] * 4}), quasi=["<b>age"], sensitive="ill")
    drawn = dc.profile(table)._repr_html_()
    assert capsys.readouterr().out == ""
    assert set(re.findall(r"<(/?\w+)", drawn)) == {"pre", "/pre", "span", "/span"}
    assert EVIL in re.sub(r"\s+", " ", text_of(dc.profile(table))) and "<b>age" in text_of(dc.profile(table))
    assert not re.search(r"background|color: #0{6}", drawn), "the colours of the page stay"
