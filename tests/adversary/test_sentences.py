"""Sentences about few things: one is no "1 groups", equal ends are no range, and what has no bound is not praised."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.adversary.attacks.campaign import Campaign
from discreet.adversary.attacks.composition import leave_one_value
from discreet.adversary.attacks.evidence import Evidence, Hurt
from discreet.adversary.attacks.naive_bayes import _remark
from discreet.adversary.presence.population import BeliefRange
from discreet.adversary.verdict import Subjects, judged
from discreet.principles import Prior
from discreet.principles.counts import Counts
from discreet.report.comparison import Asked, Comparison, Result

PRIOR = Prior(np.array([2, 2]), ("a", "b"))
NOBODY = np.zeros(2, np.int64)


def told(counts: list[list[int]], promise: dc.Principle, left: np.ndarray = NOBODY) -> str:
    return judged(promise, Subjects(Counts.of(counts, 2), np.arange(len(counts)), lambda at: {}), PRIOR, left).sentence


def test_a_single_group_is_not_all_of_them() -> None:
    kept = told([[2, 2]], dc.KAnonymity(2))
    assert kept.startswith("k-anonymity(k=2) is kept by the only group: group 0 (4 rows") and "uses 50.0 % of" in kept
    assert "is broken by the only group: group 0 (4 rows" in told([[2, 2]], dc.KAnonymity(5))
    assert "by all 2 groups; the closest to its bound, group 0 (2 rows" in told([[1, 1], [1, 1]], dc.KAnonymity(2))
    assert "is broken by 1 of 2 groups; the worst is group 1" in told([[1, 1], [1, 0]], dc.KAnonymity(2))


def test_a_single_group_beside_withheld_rows_is_told_apart_from_them() -> None:
    kept = told([[2, 2]], dc.KAnonymity(2), np.array([1, 1]))
    assert "is kept by the only group and by the withheld rows; the closest to its bound, the withheld rows (2)" in kept


@pytest.mark.parametrize("ratio", [1.0, 0.99999, 1.0000001])
def test_what_is_as_frequent_is_not_once_as_frequent(ratio: float) -> None:
    assert _remark(ratio, None) == "Every quasi-identifier is as frequent beside each sensitive value as in general."
    assert "at most 2.5 times as frequent" in _remark(2.5, None)
    assert "1 times" not in _remark(2.5, 1.0000001 + 1e-6)


def test_a_range_of_equal_ends_is_one_number() -> None:
    assert (str(BeliefRange(0.5, 0.50001)), str(BeliefRange(0.25, 0.5))) == ("50.0 %", "25.0 % to 50.0 %")


def found(name: str, rate: float, bound: float | None = None, of: str = "persons", victims: int = 1000) -> Evidence:
    hurt = Hurt(1, 0.1, rate)
    return Evidence(name, "the value", victims, round(victims * rate), 0.1, 0.9, bound=bound, hurt=hurt, of=of)


def trade(*rates: float) -> str:
    asked = Asked(10, 0, 1, 0.1)
    results = tuple(Result("k-anonymity(k=2)", f"s{at}", evidence=(found("x", rate),)) for at, rate in enumerate(rates))
    said = Comparison(9, ("a",), ("b",), (dc.KAnonymity(2),), ("s",), asked, results).trade
    assert said is not None
    return said


def test_the_trade_of_one_release_is_no_range() -> None:
    assert "and of 71.4 % from the release of s0. What" in trade(0.714)
    assert "and of 71.4 % from each of these releases. What" in trade(0.714, 0.714)
    assert "and of 50.0 % (s1) to 71.4 % (s0) from these releases. What" in trade(0.714, 0.5)


def test_attacks_without_a_bound_are_named_with_what_they_achieve() -> None:
    bounded, free = [found("beliefs", 0.4, 0.5)] * 7, [found("join", 0.5), found("similarity", 0.7), found("x", 0.2)]
    assert Campaign([*bounded, *free]).verdict == (
        "Each of the 7 attacks that the promise bounds stays within what is promised. It does not bound the 3 others "
        "(join, similarity and x), which guess correctly for up to 70.0 %: judge them by the table."
    )
    assert Campaign([bounded[0], free[2]]).verdict == (
        "The attack that the promise bounds stays within what is promised. It does not bound the other (x), which "
        "guesses correctly for up to 20.0 %: judge it by the table."
    )
    assert Campaign(bounded[:1]).verdict == "The attack stays within what is promised."


def test_one_victim_is_one_person() -> None:
    assert found("x", 1.0, victims=1).sentence.startswith("Of 1 person, ")
    assert found("x", 1.0, of="rows").sentence.startswith("Of 1,000 rows, ")
    assert leave_one_value(1) == "Together they leave a single value for 1 person for whom the first leaves several."


def test_the_limit_of_a_value_says_which_number_bounds_it() -> None:
    said = dc.BetaLikeness(2).binding(np.array([2, 2]), Prior(np.array([4, 6]), ("flu", "cold")))
    assert said == (
        "The value closest to its bound is 'flu': because its share p in the whole table is 40.0 %, its relative gain "
        "is bounded by -ln p = 0.916, which is less than beta = 2."
    )
