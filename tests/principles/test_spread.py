"""(k, e)-anonymity and variance control: by the definition, as promises about themselves, and through a scheme."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.audit import audit
from discreet.errors import DiscreetError
from discreet.principles import KEAnonymity, Prior, Proximity, TCloseness, Variance, conjunction, parse
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

ROWS = st.lists(st.integers(-8, 8), min_size=1, max_size=9)


def prior_of(rows):
    values = sorted(set(rows))
    return Prior(np.array([rows.count(value) for value in values]), tuple(map(str, values)), "numeric", attribute="pay")


def lines(groups, prior):
    values = [int(text) for text in prior.values]
    return np.array([[group.count(value) for value in values] for group in groups])


def variance(group):
    mean = Fraction(sum(group), len(group))
    return sum((one - mean) ** 2 for one in group) / len(group)


@pytest.mark.slow
@given(first=ROWS, second=ROWS, k=st.integers(1, 6), e=st.integers(0, 12), v=st.integers(0, 60))
@settings(max_examples=150)
def test_the_definitions_and_that_unions_keep_them(first, second, k, e, v):
    groups = [first, second, first + second]
    prior = prior_of(first + second)
    counts = lines(groups, prior)
    spread, varied = KEAnonymity(k, e), Variance(v)
    held = [len(set(group)) >= k and max(group) - min(group) >= e for group in groups]
    assert spread.holds(counts, prior).tolist() == held
    assert varied.holds(counts, prior).tolist() == [variance(group) >= v for group in groups]
    for promise in (spread, varied):
        kept = promise.holds(counts, prior)
        assert promise.monotone and (kept[2] or not kept[:2].all())
        assert promise.reachable(prior).feasible == kept[2]
        for line, fine in zip(counts, kept, strict=True):
            assert ("keeps" if fine else "required") in promise.explain(line, prior)
    assert varied.achieved(counts, prior) == pytest.approx(float(min(map(variance, groups))), abs=1e-9)
    strongest = spread.achieved(counts, prior)
    if strongest:
        assert replace(spread, k=int(strongest)).holds(counts, prior).all()
    assert not replace(spread, k=int(strongest) + 1).holds(counts, prior).all()


def test_what_they_say():
    prior = prior_of([1000, 1010, 9000])
    few = KEAnonymity(4, 500).reachable(prior)
    assert few.sentence.endswith("that span 8,000, so k can be at most 3; ask for k=3 and e=500 or less.")
    narrow = KEAnonymity(2, 9000).reachable(prior)
    assert narrow.strongest == 0 and narrow.sentence.endswith("e can be at most 8,000; ask for k=2 and e=8000 or less.")
    assert KEAnonymity(2, 500).explain([2, 0, 0], prior) == (
        "This group of 2 rows holds 1 different value; at least 2 are required."
    )
    assert "so v can be at most that" in Variance(1e9).reachable(prior).sentence
    assert str(parse("ke-anonymity(k=3, e=2000)")) == "ke-anonymity(k=3, e=2000)"
    assert str(parse("variance(v=0.5)")) == "variance(v=0.5)"
    for text in ("ke-anonymity(k=0, e=1)", "ke-anonymity(k=2, e=-1)", "variance(v=-1)", "ke-anonymity(k=2)"):
        with pytest.raises(DiscreetError):
            parse(text)
    for promise in (KEAnonymity(2, 1), Variance(1)):
        with pytest.raises(DiscreetError, match="is categorical; declare it numeric"):
            promise.reachable(Prior(np.array([1, 1]), ("a", "b")))


def test_neither_keeps_numbers_apart():
    """The paper's Section 3: one number far away satisfies both, and all others lie together."""
    prior = prior_of([*range(1000, 1009), 90000])
    group = np.ones((1, 10), int)
    assert KEAnonymity(10, 80000).holds(group, prior)[0] and Variance(1e8).holds(group, prior)[0]
    assert Proximity(10, 1).achieved(group, prior) == 1


@pytest.mark.parametrize("promise", ["ke-anonymity(k=3, e=20)", "variance(v=150)", "k-anonymity(k=4) & variance(v=90)"])
def test_a_release_keeps_them(promise, tmp_path):
    draw = np.random.default_rng(5)
    age = Column("age", "numeric", draw.integers(0, 50, 300, dtype=np.int32), np.arange(50), domain=(0, 49))
    values, codes = np.unique(draw.integers(0, 60, 300).astype(float), return_inverse=True)
    table = Table(300, (age,), Column("pay", "numeric", codes.astype(np.int32), values))
    release = dc.publish(table, parse(promise))
    assert release.groups > 10
    release.save(tmp_path / "release")
    result = audit(tmp_path / "release", table)
    assert result.holds, result.sentences()


def group_of(*numbers):
    """One group of these numbers, and a table that is this group."""
    values = sorted(set(numbers))
    counts = np.array([numbers.count(value) for value in values])
    return counts[None], Prior(counts, tuple(map(repr, values)), "numeric", attribute="pay")


def test_a_range_of_whole_numbers_is_not_rounded():
    group, prior = group_of(0, 10**9)
    assert KEAnonymity(2, 10**9).holds(group, prior)[0]
    assert (
        not KEAnonymity(2, 10**9 + 1).holds(group, prior)[0] and not KEAnonymity(2, 1e9 + 1e-6).holds(group, prior)[0]
    )
    assert "e can be at most 1,000,000,000" in KEAnonymity(2, 10**9 + 1).reachable(prior).sentence
    group, prior = group_of(2**53 - 2, -1)
    assert KEAnonymity(2, 2**53 - 1).holds(group, prior)[0] and not KEAnonymity(2, 2**53).holds(group, prior)[0]


@given(low=st.integers(-(10**6), 10**6), gap=st.integers(1, 10**6), places=st.integers(1, 6))
@settings(max_examples=150)
def test_a_range_of_decimals_is_what_their_texts_say(low, gap, places):
    low, high, gap = (float(Fraction(one, 10**places)) for one in (low, low + gap, gap))
    group, prior = group_of(low, high)
    assert KEAnonymity(2, gap).holds(group, prior)[0]
    assert not KEAnonymity(2, gap + 1e-9).holds(group, prior)[0]


@given(rows=st.lists(st.integers(-(10**5), 10**5), min_size=2, max_size=12), shift=st.integers(-(10**9), 10**9))
@settings(max_examples=150)
def test_the_variance_of_whole_numbers_is_not_rounded(rows, shift):
    group, prior = group_of(*(one + shift for one in rows))
    has = variance(rows)
    v = float(has)
    assert Variance(v).holds(group, prior)[0] == (has >= Fraction(repr(v)))
    assert Variance(float(np.nextafter(v, 0))).holds(group, prior)[0]
    assert Variance(float(has) * 2 + 1).holds(group, prior)[0] == (has >= float(has) * 2 + 1)
    assert not Variance(float(np.nextafter(float(has), np.inf))).holds(group, prior)[0]


@pytest.mark.slow
@given(
    rows=st.lists(st.integers(-300, 300), min_size=2, max_size=12),
    power=st.integers(-1040, 1010),
    share=st.sampled_from([Fraction(1, 2), 1 - Fraction(1, 10**9), 1 + Fraction(1, 10**9), Fraction(2)]),
)
@settings(max_examples=300)
def test_the_variance_of_very_large_and_very_small_numbers(rows, power, share):
    numbers = [float(one * Fraction(2) ** power) for one in rows]
    group, prior = group_of(*numbers)
    has = variance(list(map(Fraction, numbers)))
    asked = has * share
    if Fraction(2) ** -1000 < asked < Fraction(2) ** 1000:
        assert Variance(float(asked)).holds(group, prior)[0] == (has >= asked)
        assert Variance(float(asked)).achieved(group, prior) == pytest.approx(float(has))
    for v in (1e-300, 1.0, 1e300):  # far from what there is
        if not Fraction(1, 2) < has / Fraction(v) < 2:
            assert Variance(v).holds(group, prior)[0] == (has >= v)


def test_numbers_whose_sum_is_no_number():
    constant, prior = group_of(1.7e308, 1.7e308, 1.7e308)
    assert not Variance(1e-300).holds(constant, prior)[0] and Variance(1.0).achieved(constant, prior) == 0.0
    apart, prior = group_of(1.7e308, 1.6e308)
    assert Variance(1e308).holds(apart, prior)[0] and math.isinf(Variance(1e300).achieved(apart, prior))
    apart, prior = group_of(-1.7e308, 1.7e308)  # so far that their distance is none either
    assert Variance(1e308).holds(apart, prior)[0] and KEAnonymity(2, 1.7e308).holds(apart, prior)[0]
    assert len(Variance(1e308).reachable(prior).sentence) < 200
    assert KEAnonymity(3, 1).reachable(prior).sentence.endswith("so k can be at most 2; ask for k=2 and e=1 or less.")
    told = KEAnonymity(2, 1e308).reachable(group_of(1.6e308, 1.7e308)[1]).sentence
    assert "1e+307" in told and len(told) < 200


def test_two_promises_by_one_hierarchy_are_both_kept() -> None:
    """Each brings the hierarchy along, and it counts once."""
    tree = Hierarchy.of("grade", {"low": ["c", "a"], "high": ["d"]})
    prior = Prior(np.array([8, 2, 20]), ("c", "a", "d"), hierarchy=tree)
    groups = np.array([[4, 0, 10], [4, 2, 10], [8, 2, 20], [3, 3, 0]])
    strict, lax = TCloseness(0.05, "hierarchical"), TCloseness(0.3, "hierarchical")
    wanted = strict.holds(groups, prior).tolist()
    assert wanted == [False, True, True, False]
    for both in (conjunction([lax, strict]), conjunction([strict, lax])):
        assert both.holds(groups, prior).tolist() == wanted
