"""The picture of advice has a point for each release that has a place in it, and rings the recommended ones."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from discreet.report.advice import Advice, Candidate, Strength
from discreet.report.advice_picture import drawn

ONE = Candidate("k-anonymity(k=5)", "cuts", False, True, 0.10, 0.2, 5, 0.0, 0.0, 0.3, 0.20, 0.1, 1.0)


def advice(*candidates: Candidate) -> Advice:
    strengths = (Strength("strict", "k-anonymity(k=5)", "k-anonymity(k=5)", (), candidates),)
    return Advice(100, 100, 100, ("age",), ("illness",), 0.5, strengths)


def points(svg: str) -> int:
    """The filled marks that stand for releases, without the legend."""
    drawing = ElementTree.fromstring(svg)
    marks = [each for each in drawing.iter() if (each.get("class") or "").startswith("mark-symbol role-mark")]
    return sum(path.get("fill") not in (None, "transparent", "none") for mark in marks for path in mark)


@pytest.mark.slow
def test_every_release_with_counts_that_can_be_attacked_has_a_point() -> None:
    others = (replace(ONE, error=0.0, exact=True, hidden=False), replace(ONE, guessed=0.9), replace(ONE, error=None))
    svg = drawn(advice(ONE, *others, replace(ONE, error=0.5, guessed=None)))
    assert svg is not None
    assert points(svg) == 3
    assert "for open web, registered researchers" in svg
    assert "for colleagues under contract" in svg
    assert "aria-label" in svg
    assert "<script" not in svg


def test_without_two_releases_to_compare_there_is_no_picture() -> None:
    assert drawn(advice(ONE, replace(ONE, guessed=None))) is None
    assert drawn(advice()) is None
