"""Names in the literature lead to what is written here; ``published`` stands for the settings of a paper."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.catalogue import SCHEMES
from discreet.command.interface import CATALOGUED
from discreet.datasets import census
from discreet.literature import TERMS, term
from discreet.principles import parse
from discreet.principles.prior import Prior
from discreet.schemes import make_scheme
from support.command import run

GLOSSARY = Path(__file__).parent.parent / "docs" / "glossary.md"


@pytest.mark.parametrize("name", TERMS)
def test_a_name_in_the_literature_leads_to_what_is_here(name: str) -> None:
    found = TERMS[name]
    assert found.name in CATALOGUED[found.kind]
    assert term(name.upper().replace(" ", "")) == (name, found)
    for text in re.findall(r"[\w-]+\([^).]*\)", found.written):  # what is written out is in the grammar
        if found.kind == "schemes" and text.partition("(")[0] in SCHEMES:
            assert make_scheme(text).name == found.name


@pytest.mark.parametrize("name", TERMS)
def test_the_glossary_has_every_name_and_the_search_of_the_site_finds_it(name: str) -> None:
    """The search leaves out words such as AT, but not what is in the index."""
    text = GLOSSARY.read_text(encoding="utf-8")
    assert f"| {name} | {TERMS[name].written} |" in text
    assert f"\n   single: {name}\n" in text


def test_commands_and_messages_know_names_in_the_literature() -> None:
    said = run("schemes", "LMONDRIAN").stdout
    assert said.startswith("Here LMondrian is mondrian with a promise of beta-likeness.")
    assert "\nmondrian: " in said and "In the literature: LMondrian: " in said
    assert json.loads(run("schemes", "BUREL", "--json").stdout)["published"] == "room=any, snap=false"
    assert json.loads(run("promises", "ALR", "--json").stdout)["name"] == "codip"
    with pytest.raises(dc.DiscreetError, match="no scheme is called 'GR'; here GR is heterogeneous"):
        make_scheme("GR")
    with pytest.raises(dc.DiscreetError, match=r"cannot be read; here \(epsilon, m\)-anonymity is proximity\("):
        parse("(epsilon, m)-anonymity")


@pytest.mark.parametrize("name", [name for name in SCHEMES if SCHEMES[name].published])
def test_published_stands_for_the_settings_of_the_paper(name: str) -> None:
    written = ", ".join(f"{key}={text}" for key, text in SCHEMES[name].published.items())
    assert make_scheme(f"{name}(published)") == make_scheme(f"{name}({written})") != make_scheme(name)
    key = next(iter(SCHEMES[name].published))
    own = make_scheme(name).options[key]
    assert make_scheme(f"{name}(published, {key}={own})").options[key] == own


def test_published_is_refused_where_no_paper_differs() -> None:
    with pytest.raises(dc.DiscreetError, match="mondrian has no settings of a paper; leave out 'published'"):
        make_scheme("mondrian(published)")
    with pytest.raises(dc.DiscreetError, match="published is given twice"):
        make_scheme("burel(published, published)")


@pytest.mark.parametrize("beta", [0.5, 1, 3, 50])
def test_delta_of_beta_implies_beta_likeness(beta: float) -> None:
    """The formula of Section 6.2: the largest delta for which delta-disclosure implies beta-likeness of every value."""
    table = census(3000, quasi=("age", "gender"), sensitive="education")
    prior = Prior.of(table)
    promise = dc.DeltaDisclosure(beta=beta)
    delta = promise.stated(prior).delta
    assert delta == pytest.approx(math.log(1 + min(beta, -math.log(prior.frequencies.max()))))
    rng = np.random.default_rng(0)
    groups = rng.multinomial(400, prior.frequencies, 300)
    kept = promise.holds(groups, prior)
    assert dc.BetaLikeness(beta).holds(groups[kept], prior).all()
    assert (kept == dc.DeltaDisclosure(delta).holds(groups, prior)).all()
    release = dc.publish(table, promise, "mondrian")
    assert f"delta-disclosure(delta={delta!r})" in release.manifest["promise"]


def test_delta_and_beta_are_not_given_together() -> None:
    with pytest.raises(dc.DiscreetError, match="delta follows from beta; give only one of them"):
        dc.DeltaDisclosure(1, 2)
    with pytest.raises(dc.DiscreetError, match="needs its parameter delta"):
        dc.DeltaDisclosure()
    alone = Prior(np.array([4]), ("a",))
    with pytest.raises(dc.DiscreetError, match="all rows have the same; give delta"):
        dc.DeltaDisclosure(beta=1).require(alone)
