"""The judging kernel against the definitions, rule by rule (also with NUMBA_DISABLE_JIT=1)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels import judging as kernel
from discreet.kernels.judging import SLACK, Rules
from discreet.principles.counts import Counts
from discreet.principles.rules import combine, rule
from naive import principles as naive

EIGHTHS = st.integers(1, 40).map(lambda n: n / 8)


def strains(groups, rules):
    matrix = np.asarray(groups)
    return Counts.of(matrix, matrix.shape[1]).strains(rules)


def examples(number):
    """At least so many, and more where the profile asks for more."""
    return settings(max_examples=max(number, settings().max_examples))


def one(kind, first, second=0.0, *, m, bounds=None, nodes=None, tree=None):
    lines = np.zeros((1, m))
    if bounds is not None:
        lines[0, : len(bounds)] = bounds
    under = np.full((1, m), -1, np.int32) if nodes is None else np.array([nodes], np.int32)
    above = np.zeros((0, m), np.int32) if tree is None else np.array(tree, np.int32)
    return Rules(np.array([kind]), np.array([[first, second]], dtype=float), lines, under, above)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "kind"),
    [("numeric", kind) for kind in kernel.NUMERIC] + [("spread", kind) for kind in kernel.SPREAD],
)
def test_a_rule_that_was_not_to_be_is_never_passed_over(field, kind):
    """What leaves the judging of some rules out refuses every group where it meets one of them."""
    rules = one(kind, 1, 1, m=2, bounds=[0, 1], nodes=[0, 1], tree=[[0, 1], [0, 0]])
    assert strains([[1, 1]], rules)[0] < np.inf
    without = rules._replace(**{field: None})
    assert strains([[1, 1]], without).tolist() == [np.inf]
    size = rule(kernel.SIZE, 2, width=2)
    assert getattr(size, field) is None and getattr(combine([size, size]), field) is None
    assert getattr(rule(kind, 1, width=2), field) and getattr(combine([size, without]), field)


@pytest.mark.parametrize("kind", [kernel.CAPS, kernel.FLOORS])
def test_a_bound_on_nodes_that_was_not_to_be_is_never_passed_over(kind):
    nodes = np.array([0, 0], np.int32)
    rules = rule(kind, SLACK, width=2, bounds=np.array([1.0, 0.0]), nodes=nodes)
    assert rules.layered and strains([[1, 1]], rules) == pytest.approx([1.0])
    assert strains([[1, 1]], rules._replace(layered=None)).tolist() == [np.inf]
    alone = rule(kind, SLACK, width=2, bounds=np.array([0.5, 0.5]))
    assert alone.layered is None and strains([[1, 1]], alone) == pytest.approx([1.0])
    assert combine([alone, rules]).layered and combine([alone, alone]).layered is None


def judge(groups, rules):
    return (strains(np.array(groups, dtype=np.int64), rules) <= 1.0).tolist()


@st.composite
def groups_and_prior(draw, smallest=1):
    """Some groups (none empty) and the counts of the whole table, over the same few values."""
    m = draw(st.integers(smallest, 6))
    line = st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any)
    return draw(st.lists(line, min_size=1, max_size=4)), draw(line)


@st.composite
def trees(draw, m):
    """The ancestors of m leaves: every level joins neighbours of the one below, the last level joins all."""
    levels = [list(range(m))]
    for _ in range(draw(st.integers(0, 2))):
        joined, node = [], 0
        for i, below in enumerate(levels[-1]):
            if i and below != levels[-1][i - 1]:
                node += draw(st.integers(0, 1))
            joined.append(node)
        levels.append(joined)
    return [*levels, [0] * m]


@pytest.mark.slow
@examples(60)
@given(groups_and_prior(), st.integers(1, 20))
def test_size(drawn, k):
    groups, prior = drawn
    assert judge(groups, one(kernel.SIZE, k, m=len(prior))) == [naive.k_anonymity(g, k) for g in groups]


@pytest.mark.slow
@examples(60)
@given(groups_and_prior(), st.integers(1, 7))
def test_distinct(drawn, needed):
    groups, prior = drawn
    assert judge(groups, one(kernel.DISTINCT, needed, m=len(prior))) == [naive.distinct(g, needed) for g in groups]


@examples(60)
@given(groups_and_prior(), st.one_of(st.integers(1, 6), EIGHTHS.map(lambda x: 1 + x)))
def test_entropy(drawn, needed):
    groups, prior = drawn
    assert judge(groups, one(kernel.ENTROPY, math.log(needed), m=len(prior))) == [
        naive.entropic(g, needed) for g in groups
    ]


@examples(60)
@given(groups_and_prior(), st.integers(1, 7), EIGHTHS)
def test_recursive(drawn, needed, c):
    groups, prior = drawn
    assert judge(groups, one(kernel.RECURSIVE, c, needed, m=len(prior))) == [
        naive.recursive(g, needed, c) for g in groups
    ]


@examples(60)
@given(groups_and_prior(), EIGHTHS)
def test_caps(drawn, beta):
    groups, prior = drawn
    bounds = [float(naive.cap(p, beta, "enhanced")) for p in naive.shares(prior)]
    assert judge(groups, one(kernel.CAPS, SLACK, m=len(prior), bounds=bounds)) == [
        naive.beta_likeness(g, prior, beta, "enhanced") for g in groups
    ]


@examples(60)
@given(groups_and_prior(), st.integers(0, 8).map(lambda n: n / 8))
def test_floors(drawn, negative):
    groups, prior = drawn
    p = naive.shares(prior)
    bounds = [float((1 - Fraction(negative)) * x) for x in p]
    expected = [
        all(c + naive.SLACK >= (1 - Fraction(negative)) * x * sum(g) for c, x in zip(g, p, strict=True)) for g in groups
    ]
    assert judge(groups, one(kernel.FLOORS, SLACK, m=len(prior), bounds=bounds)) == expected


@examples(60)
@given(groups_and_prior(), st.integers(1, 8))
def test_strict_bounds_refuse_equality(drawn, eighths):
    """With bounds in eighths and small groups, counts often meet them exactly."""
    groups, prior = drawn
    m, bound = len(prior), Fraction(eighths, 8)
    under = judge(groups, one(kernel.CAPS, -SLACK, m=m, bounds=[float(bound)] * m))
    assert under == [all(c < bound * sum(g) for c in g if c) for g in groups]
    over = judge(groups, one(kernel.FLOORS, -SLACK, m=m, bounds=[float(bound)] * m))
    assert over == [all(c > bound * sum(g) for c in g) for g in groups]


@examples(60)
@given(st.data())
def test_bounds_on_nodes(data):
    groups, prior = data.draw(groups_and_prior(2))
    m = len(prior)
    tree = data.draw(trees(m))
    beta, negative = data.draw(EIGHTHS), data.draw(st.integers(0, 8)) / 8
    nodes = tree[data.draw(st.integers(0, len(tree) - 1))]
    p = naive.shares(naive.by_node(prior, nodes))
    caps = one(kernel.CAPS, SLACK, m=m, nodes=nodes, bounds=[float(naive.cap(x, beta, "basic")) for x in p])
    floors = one(kernel.FLOORS, SLACK, m=m, nodes=nodes, bounds=[(1 - negative) * float(x) for x in p])
    both = combine([caps, floors])
    expected = [
        naive.beta_likeness(naive.by_node(g, nodes), naive.by_node(prior, nodes), beta, "basic", negative)
        for g in groups
    ]
    assert judge(groups, both) == expected


@pytest.mark.slow
@examples(60)
@given(st.data())
@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
def test_distances(distance, data):
    """The strain of t = 1 is the distance itself."""
    groups, prior = data.draw(groups_and_prior())
    m = len(prior)
    tree = data.draw(trees(m)) if distance == "hierarchical" else None
    kind = {"equal": kernel.EQUAL, "ordered": kernel.ORDERED, "hierarchical": kernel.HIERARCHICAL}[distance]
    ground = {"equal": naive.equal, "ordered": naive.ordered(prior)}.get(distance) or naive.hierarchical(tree)
    bounds = [float(p) for p in naive.shares(prior)]
    got = strains(np.array(groups), one(kind, 1 - SLACK, m=m, bounds=bounds, tree=tree))
    expected = [naive.emd(g, prior, ground) for g in groups]
    assert got == pytest.approx(expected, abs=1e-9)
    t = data.draw(st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0, round(expected[0], 12)]))
    assert judge(groups, one(kind, t, m=m, bounds=bounds, tree=tree)) == [e <= t + 1.5e-9 for e in expected]


def test_floors_at_their_bound():
    groups = [[1, 1], [2, 1], [1, 3]]
    assert judge(groups, one(kernel.FLOORS, SLACK, m=2, bounds=[0.5, 0.25])) == [True, True, False]
    assert judge(groups, one(kernel.FLOORS, -SLACK, m=2, bounds=[0.5, 0.25])) == [False, True, False]
    assert judge([[29, 71]], one(kernel.FLOORS, SLACK, m=2, bounds=[0.29 + 1e-12, 0.0])) == [True]


def test_every_rule_counts():
    """A group is as strained as its worst rule says."""
    groups = np.array([[3, 3, 3], [8, 1, 0]])
    size, distinct = one(kernel.SIZE, 4, m=3), one(kernel.DISTINCT, 3, m=3)
    both = combine([size, distinct])
    assert strains(groups, both).tolist() == [1.0, 1.5]
    assert np.array_equal(strains(groups, both), np.maximum(strains(groups, size), strains(groups, distinct)))


def test_narrow_counts_are_added_up_without_overflow():
    groups = np.array([[2_000_000_000, 2_000_000_000]], dtype=np.int32)
    assert strains(groups, one(kernel.SIZE, 4_000_000_000, m=2)).tolist() == [1.0]
    assert strains(groups, one(kernel.CAPS, SLACK, m=2, bounds=[0.5, 0.5])) == pytest.approx([1.0])


@pytest.mark.parametrize("missing", [False, True])
def test_a_value_the_table_does_not_hold_violates_its_cap(missing):
    groups = np.array([[5, 1 if missing else 0]])
    assert judge(groups, one(kernel.CAPS, SLACK, m=2, bounds=[1.0, 0.0])) == [not missing]


@st.composite
def windows(draw, m):
    """The first and last value in the window of each of m values: around it, and never falling."""
    lows, highs = [], []
    for i in range(m):
        lows.append(draw(st.integers(lows[-1] if lows else 0, i)))
        highs.append(draw(st.integers(max(i, highs[-1] if highs else 0), m - 1)))
    return lows, highs


@pytest.mark.slow
@examples(120)
@given(groups_and_prior(), st.data(), st.integers(1, 5))
def test_windows(drawn, data, m):
    groups, prior = drawn
    lows, highs = data.draw(windows(len(prior)))
    rules = one(kernel.WINDOWS, m, m=len(prior), bounds=lows, nodes=highs)
    fullest = [max(sum(g[lows[i] : highs[i] + 1]) for i in range(len(g)) if g[i]) for g in groups]
    assert judge(groups, rules) == [most * m <= sum(g) for most, g in zip(fullest, groups, strict=True)]
    assert strains(groups, rules) == pytest.approx(
        [most * m / sum(g) for most, g in zip(fullest, groups, strict=True)], rel=1e-6
    )
    # values may be listed in any order, and listed without being there
    order = np.array(data.draw(st.permutations(range(len(prior)))), np.int32)
    for group, expected in zip(groups, strains(groups, rules), strict=True):
        counts = np.array(group, np.int64)
        assert kernel.strain(counts, counts.sum(), rules, order) == expected


def test_windows_leave_caps_alone():
    caps = one(kernel.CAPS, SLACK, m=3, bounds=[0.5, 0.5, 0.5])
    beside = combine([caps, one(kernel.WINDOWS, 1, m=3, bounds=[0, 0, 0], nodes=[2, 2, 2])])
    assert judge([[1, 1, 0], [2, 1, 0]], beside) == judge([[1, 1, 0], [2, 1, 0]], caps) == [True, False]


@examples(80)
@given(groups_and_prior(), st.data(), st.integers(0, 60))
def test_range_and_variance(drawn, data, needed):
    groups, prior = drawn
    number = st.one_of(st.integers(-9, 9), st.none())
    numbers = data.draw(st.lists(number, min_size=len(prior), max_size=len(prior)))
    bounds = [math.nan if one is None else float(one) for one in numbers]
    known = [
        [one for one, count in zip(numbers, g, strict=True) for _ in range(count) if one is not None] for g in groups
    ]
    spans = [max(held, default=0) - min(held, default=0) for held in known]
    means = [Fraction(sum(held), max(1, len(held))) for held in known]
    variances = [
        sum((one - mean) ** 2 for one in held) / max(1, len(held)) for held, mean in zip(known, means, strict=True)
    ]
    for kind, has in ((kernel.RANGE, spans), (kernel.VARIANCE, variances)):
        rules = one(kind, needed, m=len(prior), bounds=bounds)
        assert judge(groups, rules) == [needed <= amount for amount in has]
