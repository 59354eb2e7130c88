"""Scales say what each strength of a promise means for a table, and why a table cannot keep one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census, patients
from discreet.principles import Prior, parse
from discreet.report.scale import SCALES, scales


@pytest.mark.parametrize("table", [patients(), census(500)], ids=["patients", "census"])
def test_what_is_offered_can_be_kept_and_what_is_not_says_why(table: dc.Table) -> None:
    prior = Prior.of(table)
    found = scales(table)
    assert [scale.name for scale in found] == list(SCALES)
    for scale in found:
        for step in scale.steps:
            promise = parse(step.promise)
            assert step.feasible == bool(promise.holds(prior.counts[None], prior)[0]), step.promise
            assert step.sentence.endswith(".")
            assert step.feasible or "ask for" in step.sentence
        assert scale.steps[scale.usual].promise.startswith(scale.name)


def test_a_stricter_step_implies_the_milder_ones() -> None:
    prior = Prior.of(patients())
    chance = np.random.default_rng(3)
    groups = chance.integers(0, 9, (200, len(prior.counts)))
    for scale in scales(patients()):
        kept = [parse(step.promise).holds(groups, prior) for step in scale.steps]
        for milder, stricter in pairwise(kept):
            assert (milder | ~stricter).all(), scale.name


def test_without_a_sensitive_attribute_only_sizes_are_promised_and_persons_have_no_scale() -> None:
    data = pa.table({"age": [1, 2, 3, 4], "who": ["a", "a", "b", "b"], "ill": ["x", "y", "x", "y"]})
    assert [scale.name for scale in scales(dc.read(data, quasi=["age"]))] == ["k-anonymity"]
    assert scales(dc.read(data, quasi=["age"], sensitive="ill", person="who")) == ()
    assert scales(dc.read(data, quasi=["age"], sensitive=["ill", "who"])) == ()
