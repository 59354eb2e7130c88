"""Every experiment runs, at a size at which its figures mean nothing, and is judged."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from discreet.evidence.experiment import Experiment
from discreet.evidence.ground import Ground
from discreet.evidence.registry import PAPERS, experiments
from support.house import ROOT

EACH = experiments()
RUN = [one for one in EACH.values() if one.measure is not None]


@pytest.mark.slow
@pytest.mark.parametrize("one", RUN, ids=lambda one: one.name)
def test_every_experiment_runs_and_is_judged(one: Experiment) -> None:
    assert one.measure is not None
    ground = Ground(one.rows["tiny"], size="tiny")
    ends = dict.fromkeys((one.places[0], one.places[len(one.places) // 2], one.places[-1]))
    records = [{"x": place, **record} for place in ends for record in one.measure(ground, place)]
    for record in records:
        assert record["method"] and ("refused" in record or len(record) > 2)
        if "refused" not in record:
            measures = [record[axis.name] for axis in one.y if axis.name in record]
            assert measures and all(isinstance(value, float | int) for value in measures)
    assert {axis.name for axis in one.y} <= {name for record in records for name in record}
    verdict = one.judge(records)
    assert verdict.sentence.endswith(".") and (verdict.figures or verdict.holds is None)
    assert not any(math.isnan(value) for value in verdict.figures.values())


@pytest.mark.parametrize("one", EACH.values(), ids=lambda one: one.name)
def test_every_experiment_says_what_the_paper_found(one: Experiment) -> None:
    assert one.paper in PAPERS and one.found.endswith(".") and not one.title.endswith(".")
    assert not one.because or one.because.endswith(".")
    if one.measure is None:
        assert one.because and not one.places
    else:
        assert one.claims and one.y and len(set(one.places)) == len(one.places) > 0
        assert one.rows["tiny"] <= one.rows["quick"] <= one.rows["full"]


@pytest.mark.parametrize("paper", PAPERS)
def test_figures_are_named_on_the_page_of_their_paper(paper: str) -> None:
    page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"discreet reproduce ([a-z-]+/[0-9a-z.-]+)", page))
    assert named == {one.name for one in EACH.values() if one.paper == paper}, "each figure has its line"


def test_there_is_one_file_for_each_paper() -> None:
    home = Path(ROOT, "src", "discreet", "evidence")
    assert all((home / f"{file}.py").is_file() for file in PAPERS.values())
