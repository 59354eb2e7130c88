"""Buckets of heterogeneous generalization: the paper's examples, and widths and contents by definition."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.families.heterogeneous.buckets import (
    Bucketing,
    bucketize,
    contents,
    in_sequence,
    kept_apart,
    widths,
    widths_in_sequence,
)
from discreet.principles import Prior
from discreet.principles.bounds import bounded_shares
from naive import heterogeneous as naive

PAPER = np.array([6, 7, 12])
"""The supports of a, b and d in Section 4.4."""


def buckets_of(counts: np.ndarray, width: int) -> list[int]:
    return [sum(run.value == value for run in in_sequence(counts, width)) for value in range(len(counts))]


@pytest.mark.parametrize(
    ("width", "buckets", "beta"), [(4, [2, 3, 3], 0.71), (5, [2, 2, 3], 0.66), (6, [1, 2, 2], 0.71)]
)
def test_section_4_4(width: int, buckets: list[int], beta: float) -> None:
    assert buckets_of(PAPER, width) == buckets
    assert naive.attainable_beta(PAPER, width, buckets) == pytest.approx(beta, abs=0.01)


def test_decreasing_support_as_in_the_text_would_not_give_what_table_7_gives() -> None:
    """d fills three buckets; then b before a: bbbb bbba aaaa a."""
    assert naive.attainable_beta(PAPER, 4, [3, 2, 3]) == 1.0


def keeps(counts: list[int], beta: float, width: int) -> bool:
    """By the definition of beta-likeness, over all groups of a row of every bucket, with the short one or not."""
    rows = sum(counts)
    held = [[run.value for run in in_sequence(np.array(counts), width) if run.bucket == b] for b in range(rows)]
    full = rows // width
    return all(
        group.count(value) / len(group) <= (1 + beta) * count / rows + 1e-9
        for size in {full, -(-rows // width)}
        for group in product(*held[:size])
        for value, count in enumerate(counts)
    )


def by_algorithm_3(counts: list[int], beta: float) -> list[int]:
    """The widths that Equation 7 allows, largest first; the paper takes the first of them."""
    return [
        width
        for width in range(max(counts), 0, -1)
        if naive.attainable_beta(counts, width, buckets_of(np.array(counts), width)) <= beta + 1e-9
    ]


def published_width(counts: list[int], beta: float) -> tuple[int, int]:
    """The width of buckets and their number, as published."""
    caps = dc.BetaLikeness(beta, "basic").caps(Prior(np.array(counts), tuple(map(str, range(len(counts))))))
    assert caps is not None
    width, runs = contents(np.array(counts), caps, 1, "published")
    return width, len({run.bucket for run in runs})


@pytest.mark.parametrize(
    ("counts", "beta", "width", "matches"),
    [
        ([6, 7, 12], 0.72, 6, 5),  # Table 9
        ([6, 7, 12], 0.67, 5, 5),  # Table 8
        ([6, 7, 12], 0.0, 1, 25),  # "to achieve 0-likeness we need to place the tuples in 25 buckets of size 1"
        ([72, 84, 144], 0.72, 72, 5),
        ([72, 84, 144], 0.0, 12, 25),
    ],
)
def test_algorithm_3_finds_the_width_of_the_paper(counts: list[int], beta: float, width: int, matches: int) -> None:
    assert by_algorithm_3(counts, beta)[0] == width
    assert published_width(counts, beta) == (width, matches)


def test_a_width_that_equation_7_allows_and_the_promise_does_not_is_passed_over() -> None:
    """Without dummies two groups of the five have four rows, and may then have 25 % where 22 % are allowed."""
    counts, beta = [3, 6, 14], 0.67
    assert by_algorithm_3(counts, beta)[0] == 5 and not keeps(counts, beta, 5)
    width, _ = published_width(counts, beta)
    assert width == next(width for width in by_algorithm_3(counts, beta) if keeps(counts, beta, width)) == 3


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.sampled_from([0.0, 0.1, 0.3, 0.72, 1.0, 2.0]))
def test_the_published_width_is_the_widest_of_algorithm_3_that_keeps_the_promise(
    counts: list[int], beta: float
) -> None:
    rows, allowed = sum(counts), by_algorithm_3(counts, beta)
    caps = dc.BetaLikeness(beta, "basic").caps(Prior(np.array(counts), tuple(map(str, range(len(counts))))))
    assert caps is not None
    found = list(widths_in_sequence(np.array(counts), caps, 1))
    assert set(found) <= set(allowed) and found == sorted(found, reverse=True)
    assert all(width in found for width in allowed if rows % width == 0)  # no dummies, so it is exact
    if caps.max() < 1.0 and rows <= 20:
        bounds = (caps * rows).tolist()
        assert all((width in found) == within(counts, bounds, width) for width in allowed)


def within(counts: list[int], bounds: list[float], width: int) -> bool:
    """Whether no value is in more of the buckets that a group has a row of than it may have of that many rows."""
    rows, sequence = sum(counts), in_sequence(np.array(counts), width)
    return all(
        sum(run.value == value and run.bucket < size for run in sequence) <= bounds[value] * size / rows + 1e-9
        for size in {rows // width, -(-rows // width)}
        for value in range(len(counts))
    )


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=4).filter(lambda counts: sum(counts) <= 16),
    st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]),
)
def test_floors_are_kept_by_all_groups_of_a_row_of_every_bucket(
    counts: list[int], beta: float, negative: float
) -> None:
    """By the definition, over all groups that buckets allow."""
    prior = Prior(np.array(counts), tuple(map(str, range(len(counts)))))
    bounds = bounded_shares(dc.BetaLikeness(beta, "basic", negative=negative).rules(prior))
    assert bounds is not None
    rows = sum(counts)
    for fill, search in ((kept_apart, widths), (in_sequence, widths_in_sequence)):
        found = list(search(prior.counts, bounds.caps, 1, bounds.floors))
        assert found[-1] == 1
        for width in range(1, rows + 1):
            runs = fill(prior.counts, width)
            held = [{run.value for run in runs if run.bucket == bucket} for bucket in range(-(-rows // width))]
            fewest = [
                sum(some == {value} for some in held[: rows // width]) for value in range(len(counts))
            ]  # in any group: the short bucket has no row for some of them
            low = all(
                count + 1e-9 >= floor * len(held) for count, floor in zip(fewest, bounds.floors.tolist(), strict=True)
            )
            if width in found:
                assert low
            elif low:  # then it is a cap, or Equation 7, that it breaks
                assert width not in search(prior.counts, bounds.caps, 1)
        for width in found:
            groups = product(
                *([run.value for run in fill(prior.counts, width) if run.bucket == at] for at in range(rows // width))
            )
            for group in groups:
                assert all(
                    group.count(value) + 1e-9 >= (1.0 - negative) * count / rows * -(-rows // width)
                    for value, count in enumerate(counts)
                )


def test_section_3_3_shares_only_the_rarest_value_between_buckets() -> None:
    sensitive_codes = np.array([ord(letter) - ord("a") for letter in "aaabbbcccddeeff"], np.int32)
    buckets = bucketize(sensitive_codes, np.full(6, 0.2), 1, "published", np.random.default_rng(0))
    held = ["".join(sorted("abcdef"[value] for value in line)) for line in sensitive_codes[buckets.rows].reshape(5, 3)]
    assert held == ["aaa", "bbb", "ccc", "ddf", "eef"]
    assert [buckets.marks[buckets[at]].tolist() for at in range(5)] == [[-1] * 3] * 3 + [[0, -1, -1]] * 2


@pytest.mark.parametrize(
    ("counts", "beta", "applies"),
    [
        ([10, 15, 15, 20], 1.0, True),  # the largest is twice the smallest: l = 3 is enough for beta, and eligible
        ([10, 15, 15, 20], 0.99, False),
        ([10, 15, 15, 20], 1.5, True),
        ([10, 14, 18, 20], 1.0, False),  # beta needs l = 3.1, so 4, and the largest value allows 3: the theorem's
        ([10, 14, 18, 20], 1.1, True),  # condition is necessary, but for whole l it is not sufficient
    ],
)
def test_theorem_4_takes_algorithm_1_when_and_only_when_it_applies(
    counts: list[int], beta: float, applies: bool
) -> None:
    prior = Prior(np.array(counts), tuple("abcd"))
    caps = dc.BetaLikeness(beta, "basic").caps(prior)
    assert caps is not None
    rows, least, most = sum(counts), min(counts), max(counts)
    assert applies == any(most <= rows / whole <= (1 + beta) * least + 1e-9 for whole in range(1, rows + 1))
    width, runs = contents(prior.counts, caps, 1, "published")
    assert any(run.apart for run in runs) == applies == (width >= most)
    assert not applies or beta >= most / least - 1


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=8),
    st.sampled_from([0.05, 0.3, 0.7, 1.0, 2.0, 5.0]),
    st.sampled_from(["basic", "enhanced"]),
)
def test_widths_are_those_that_the_caps_allow_and_ours_are_no_smaller(
    drawn: list[int], beta: float, variant: str
) -> None:
    counts = np.array(drawn)
    caps = dc.BetaLikeness(beta, variant).caps(Prior(counts, tuple(map(str, range(len(counts))))))
    assert caps is not None
    found = list(widths(counts, caps, 1))
    assert found[0] == naive.widest(drawn, caps.tolist()) and found[-1] == 1
    assert contents(counts, caps, 1, "fewest")[0] == found[0]
    rows = int(counts.sum())
    assert list(widths(counts, caps, min(3, rows))) == [width for width in found if rows // width >= min(3, rows)]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any), st.data())
def test_buckets_are_filled_and_what_is_left_of_a_value_is_kept_apart(drawn: list[int], data: st.DataObject) -> None:
    counts = np.array(drawn)
    rows = int(counts.sum())
    width = data.draw(st.integers(1, rows))
    for runs in (kept_apart(counts, width), in_sequence(counts, width)):
        filled: Counter[int] = Counter()
        values: Counter[int] = Counter()
        for run in runs:
            assert run.rows > 0
            filled[run.bucket] += run.rows
            values[run.value] += run.rows
        assert [filled[bucket] for bucket in sorted(filled)] == [width] * (rows // width) + [rows % width] * (
            rows % width > 0
        )
        assert all(values[value] == count for value, count in enumerate(drawn))
        assert len({(run.value, run.bucket) for run in runs}) == len(runs)
    whole: Counter[int] = Counter()
    apart: Counter[int] = Counter()
    for run in kept_apart(counts, width):
        whole[run.value] += not run.apart
        apart[run.value] += run.rows if run.apart else 0
    assert all(whole[value] == count // width and apart[value] == count % width for value, count in enumerate(drawn))


@pytest.mark.parametrize("bucketing", ["fewest", "published"])
def test_zero_likeness_makes_pure_buckets_of_the_common_divisor(bucketing: Bucketing) -> None:
    """Theorem 5 and Corollary 1; co-prime counts, as in Section 4.4, make one group of all."""
    for counts, width in (([6, 9, 12], 3), ([7, 9, 12], 1), (PAPER.tolist(), 1), ([0, 8, 4, 20], 4)):
        prior = Prior(np.array(counts), tuple(map(str, counts)))
        caps = dc.BetaLikeness(0, "basic").caps(prior)
        assert caps is not None
        found, runs = contents(prior.counts, caps, 1, bucketing)
        assert found == width and {run.rows for run in runs} == {width}


@pytest.mark.parametrize("bucketing", ["fewest", "published"])
def test_which_rows_are_in_a_bucket_is_left_to_chance(bucketing: Bucketing) -> None:
    sensitive_codes = np.repeat(np.arange(4, dtype=np.int32), 25)
    caps = np.full(4, 0.3)
    first, second = (bucketize(sensitive_codes, caps, 1, bucketing, np.random.default_rng(seed)) for seed in (1, 2))
    assert (sensitive_codes[first.rows] == sensitive_codes[second.rows]).mean() > 0.5
    assert (first.rows == second.rows).mean() < 0.2
    assert sorted(first.rows.tolist()) == list(range(100))
