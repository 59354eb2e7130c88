"""Findings are judged by the numbers, and the sentence says which."""

from __future__ import annotations

import math
from typing import Any

import pytest

from discreet.evidence.claims import Claim, at, below, flat, judged, peaks, series, trend, within


def records(**values: list[float | None]) -> list[dict[str, Any]]:
    """A measure ``loss`` of methods at the places 1, 2, 3, ..."""
    return [
        {"x": place, "method": method, "loss": value}
        for method, each in values.items()
        for place, value in enumerate(each, 1)
    ]


def test_a_series_has_no_places_without_a_number() -> None:
    assert series(records(a=[1.0, None, math.nan, 4.0]), "loss", "a") == {1: 1.0, 4: 4.0}


@pytest.mark.parametrize(
    ("claim", "holds", "said"),
    [
        (below("loss", "a", ("b",)), True, "a has no more than b in 2 of 2 comparisons of loss"),
        (below("loss", "b", ("a",)), False, "in 0 of 2 comparisons of loss (worst: 4 times a's at 2)"),
        (below("loss", "b", ("a",), factor=4.0), True, "at most 4 times the loss than a in 2 of 2"),
        (below("loss", "a", ("nobody",)), None, "nothing could be compared with a"),
        (trend("loss", ("a",), falls=True), True, "loss falls for a"),
        (trend("loss", ("a", "b"), falls=False), False, "loss rises not for a"),
        (trend("loss", ("nobody",), falls=False), None, "no method was measured at two places"),
        (flat("loss", ("b",), 1.5), True, "changes by a factor of 1.33"),
        (flat("loss", ("a",), 1.5), False, "changes by a factor of 2"),
        (flat("loss", ("nobody",), 1.5), None, "was not measured"),
        (within("loss", "a", 2.0), True, "loss of a is 1 to 2 (the paper: at most 2)"),
        (within("loss", "a", 2.0, 1.5), False, "(the paper: 1.5 to 2)"),
        (within("loss", "nobody", 2.0), None, "was not measured"),
        (at((2,), within("loss", "a", 1.0)), True, "loss of a is 1 to 1 (the paper: at most 1) (at 2)"),
        (peaks("loss", "a"), None, "was not measured at three places"),
    ],
)
def test_a_claim_is_judged_by_its_numbers(claim: Claim, holds: bool | None, said: str) -> None:
    verdict = claim(records(a=[2.0, 1.0], b=[3.0, 4.0]))
    assert verdict.holds is holds and said in verdict.sentence


def test_a_finding_holds_if_all_its_claims_do_and_else_the_reason_is_said() -> None:
    held, failed = within("loss", "a", 3.0), within("loss", "a", 1.5)
    some = records(a=[2.0, 1.0])
    assert judged((held,), some, "Because.").sentence == "loss of a is 1 to 2 (the paper: at most 3)."
    verdict = judged((held, failed), some, "Because.")
    assert not verdict.holds and verdict.sentence.endswith("(the paper: at most 1.5). Because.")
    assert verdict.figures == {"loss: least of a": 1.0, "loss: most of a": 2.0}
    unknown = judged((failed, within("loss", "nobody", 1.0)), some, "Because.")
    assert unknown.holds is None and unknown.sentence.endswith("was not measured.")


def test_a_method_without_loss_is_compared_too() -> None:
    some = records(a=[0.0], b=[0.0], c=[1.0])
    assert below("loss", "a", ("b", "c"))(some).holds
    assert not below("loss", "c", ("a",))(some).holds


@pytest.mark.parametrize(("values", "holds"), [([1.0, 3.0, 2.0], True), ([3.0, 1.0, 2.0], False), ([1.0] * 3, False)])
def test_a_peak_is_inside(values: list[float], holds: bool) -> None:
    assert peaks("loss", "a")(records(a=list(values))).holds == holds
