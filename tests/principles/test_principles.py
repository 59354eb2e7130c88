"""Promises against the brute-force oracle, and what they say about themselves."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.principles import (
    PRINCIPLES,
    All,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    Prior,
    Proximity,
    TCloseness,
    Variance,
    conjunction,
    parse,
)
from discreet.principles.bounds import fewest_buckets
from discreet.principles.counts import Counts
from discreet.principles.persons import Judged, rules_about
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table
from naive import persons as naive_persons
from naive import principles as naive

EIGHTHS = st.integers(1, 40).map(lambda n: n / 8)
REAL = st.floats(1e-6, 1e6, allow_nan=False)


def examples(number):
    """At least so many, and more where the profile asks for more."""
    return settings(max_examples=max(number, settings().max_examples))


def hierarchy(tree):
    labels = tuple(tuple(f"{level}.{node}" for node in range(max(line) + 1)) for level, line in enumerate(tree))
    return Hierarchy("illness", labels, np.array(tree, dtype=np.int32))


@st.composite
def priors(draw, smallest=1, rows=9):
    """A prior over a few values, some of them perhaps absent, ordered, and with a hierarchy of height 2 or 3."""
    m = draw(st.integers(smallest, 6))
    counts = draw(st.lists(st.integers(0, rows), min_size=m, max_size=m).filter(any))
    tree = [list(range(m))]
    for _ in range(draw(st.integers(1, 2))):
        joins = draw(st.lists(st.integers(0, 1), min_size=m, max_size=m))
        line, node = [0], 0
        for i in range(1, m):
            node += joins[i] if tree[-1][i] != tree[-1][i - 1] else 0
            line.append(node)
        tree.append(line)
    tree.append([0] * m)
    values = tuple(f"value {i}" for i in range(m))
    return Prior(np.array(counts), values, "ordinal", hierarchy(tree), "illness")


KINDS = ["k", "distinct", "entropy", "recursive", "frequency", "t", "basic", "enhanced", "delta"]


@st.composite
def promises(draw, kind=None, number=EIGHTHS, levels=1):
    """Any single promise; with small round numbers, so that groups often meet its bounds exactly."""
    kind = kind or draw(st.sampled_from(KINDS))
    if kind == "k":
        return KAnonymity(draw(st.integers(1, 12)))
    if kind in ("distinct", "recursive"):
        c = draw(number) if kind == "recursive" else None
        return LDiversity(draw(st.integers(1, 6)), kind, c)
    if kind in ("entropy", "frequency"):
        return LDiversity(draw(st.one_of(st.integers(1, 4), number.map(lambda x: 1 + x))), kind)
    if kind == "t":
        t = draw(number) % 1.0
        return TCloseness(t, draw(st.sampled_from(["equal", "ordered", "hierarchical"])))
    if kind == "delta":
        return DeltaDisclosure(draw(st.one_of(number, st.integers(2, 6).map(math.log))))
    negative = draw(st.one_of(st.none(), st.integers(0, 8).map(lambda n: n / 8)))
    return BetaLikeness(draw(st.one_of(number, st.just(0))), kind, negative, draw(st.integers(0, levels)))


@st.composite
def situations(draw, smallest=1):
    """A prior and some groups, of which some may be empty."""
    prior = draw(priors(smallest))
    m = len(prior.values)
    groups = draw(st.lists(st.lists(st.integers(0, 9), min_size=m, max_size=m), min_size=1, max_size=4))
    return prior, np.array(groups)


def truth(promise, group, prior):
    """Whether one group keeps one promise, by the oracle."""
    group, whole = [int(c) for c in group], prior.counts.tolist()
    if not any(group):
        return True
    if isinstance(promise, KAnonymity):
        return naive.k_anonymity(group, promise.k)
    if isinstance(promise, DeltaDisclosure):
        return naive.delta_disclosure(group, whole, promise.delta)
    if isinstance(promise, TCloseness):
        ground = {"equal": naive.equal, "ordered": naive.ordered(whole)}.get(promise.distance)
        distance = naive.emd(group, whole, ground or naive.hierarchical(prior.hierarchy.ancestors.tolist()))
        return distance <= promise.t + 1.5e-9
    if isinstance(promise, BetaLikeness):
        nodes = prior.hierarchy.ancestors[promise.level].tolist()
        group, whole = naive.by_node(group, nodes), naive.by_node(whole, nodes)
        return naive.beta_likeness(group, whole, promise.beta, promise.variant, promise.negative)
    if promise.kind == "distinct":
        return naive.distinct(group, int(promise.l))
    if promise.kind == "entropy":
        return naive.entropic(group, promise.l)
    if promise.kind == "recursive":
        return naive.recursive(group, int(promise.l), promise.c)
    return naive.frequency(group, promise.l)


# --------------------------------------------------------------------------------------------------------- judging


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(80)
@given(situation=situations(), data=st.data())
def test_judges_like_the_oracle(kind, situation, data):
    prior, groups = situation
    promise = data.draw(promises(kind))
    holds = promise.holds(groups, prior)
    assert holds.tolist() == [truth(promise, group, prior) for group in groups]
    for group, kept in zip(groups, holds, strict=True):
        sentence = promise.explain(group, prior)
        assert sentence.endswith(".") and "nan" not in sentence and "inf" not in sentence
        assert kept == (f"keeps {promise}" in sentence)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(situation=situations(), data=st.data())
def test_the_union_of_two_groups_that_keep_a_promise_keeps_it(kind, situation, data):
    prior, groups = situation
    promise = data.draw(promises(kind))
    assert promise.monotone
    kept = groups[promise.holds(groups, prior)]
    unions = (kept[:, None] + kept[None]).reshape(-1, len(prior.values))
    assert promise.holds(unions, prior).all()


@pytest.mark.slow
@examples(60)
@given(situations(), st.lists(promises(), min_size=2, max_size=4))
def test_several_promises_hold_when_each_does(situation, parts):
    prior, groups = situation
    joined = conjunction(parts)
    assert np.array_equal(joined.strain(groups, prior), np.max([p.strain(groups, prior) for p in parts], axis=0))
    worst = max(joined.parts, key=lambda part: part.strain(groups[:1], prior)[0])
    if not joined.holds(groups[:1], prior)[0]:
        assert joined.explain(groups[0], prior) == worst.explain(groups[0], prior)
    assert joined.reachable(prior).feasible == all(part.reachable(prior).feasible for part in parts)
    assert joined.rules(prior).kinds.tolist() == [k for part in joined.parts for k in part.rules(prior).kinds]


# ------------------------------------------------------------------------------------------- two promises of a kind


def numeric_truth(promise, group, numbers):
    """Whether one group keeps one promise about numbers, by the definition."""
    rows = [Fraction(number) for number, count in zip(numbers, group, strict=True) for _ in range(int(count))]
    if not rows:
        return True
    if isinstance(promise, KEAnonymity):
        return len(set(rows)) >= promise.k and max(rows) - min(rows) >= promise.e
    if isinstance(promise, Variance):
        mean = sum(rows) / len(rows)
        return sum((one - mean) ** 2 for one in rows) / len(rows) >= promise.v
    below, above = (promise.epsilon if side is None else side for side in (promise.below, promise.above))
    return all(sum(x - below <= y <= x + above for y in rows) * promise.m <= len(rows) for x in rows)


@st.composite
def about_numbers(draw):
    """A promise about numbers, with whole parameters so that groups often meet its bounds exactly."""
    kind = draw(st.sampled_from(["proximity", "sides", "ke", "variance"]))
    if kind == "ke":
        return KEAnonymity(draw(st.integers(1, 4)), draw(st.integers(0, 8)))
    if kind == "variance":
        return Variance(draw(st.integers(0, 12)))
    m, widths = draw(st.integers(1, 4)), st.integers(0, 6)
    return Proximity(draw(widths), m) if kind == "proximity" else Proximity(m=m, below=draw(widths), above=draw(widths))


FAMILIES = {
    "k-anonymity": ("k",),
    "l-diversity": ("distinct", "entropy", "recursive", "frequency"),
    "t-closeness": ("t",),
    "beta-likeness": ("basic", "enhanced"),
    "delta-disclosure": ("delta",),
    "along the hierarchy": ("along",),
    "about numbers": ("numbers",),
}
"""Promises of one kind, which differ in their variant, distance, level or number."""


@st.composite
def pairs_of_a_kind(draw, family):
    """A prior, some groups, and two different promises of one kind."""
    prior, groups = draw(situations())
    if family == "about numbers":
        numbers = sorted(draw(st.sets(st.integers(-9, 9), min_size=groups.shape[1], max_size=groups.shape[1])))
        prior = replace(prior, values=tuple(map(str, numbers)), kind="numeric")
        one, other = draw(about_numbers()), draw(about_numbers())
    elif family == "along the hierarchy":
        levels = len(prior.hierarchy.ancestors) - 2
        either = st.one_of(
            st.builds(TCloseness, EIGHTHS.map(lambda t: t % 1.0), st.just("hierarchical")),
            st.builds(BetaLikeness, EIGHTHS, level=st.integers(1, levels)),
        )
        one, other = draw(either), draw(either)
    else:
        levels = len(prior.hierarchy.ancestors) - 2
        one, other = (draw(promises(draw(st.sampled_from(FAMILIES[family])), levels=levels)) for _ in range(2))
    assume(one != other)
    return prior, groups, one, other


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@examples(150)
@given(data=st.data())
def test_a_group_keeps_two_promises_of_a_kind_exactly_if_it_keeps_each(family, data):
    """Rules of one kind share their parameters, bounds, nodes and tree in the one judge of schemes and audits."""
    prior, groups, one, other = data.draw(pairs_of_a_kind(family))

    def kept(promise, group):
        if family == "about numbers":
            return numeric_truth(promise, group, prior.values)
        return truth(promise, group, prior)

    each = [[kept(promise, group) for group in groups] for promise in (one, other)]
    wanted = [first and second for first, second in zip(*each, strict=True)]
    for both in (one & other, conjunction([other, one])):
        assert both.holds(groups, prior).tolist() == wanted
        assert both.holds(Counts.of(groups, groups.shape[1]), prior).tolist() == wanted
        for group, keeps in zip(groups, wanted, strict=True):
            assert keeps == (" keeps " in both.explain(group, prior))
        bounds = [bound for bound in (one.caps(prior), other.caps(prior)) if bound is not None]
        if bounds:
            assert both.caps(prior).tolist() == np.min(bounds, axis=0).tolist()


OF_PERSONS = {
    "k": st.builds(KAnonymity, st.integers(1, 4)),
    "l": st.builds(LDiversity, st.integers(1, 3)),
    "beta": st.builds(BetaLikeness, EIGHTHS),
}


@pytest.mark.slow
@pytest.mark.parametrize("names", [("k", "k"), ("k", "l"), ("l", "l"), ("beta", "beta"), ("l", "beta"), ("k", "beta")])
@examples(80)
@given(data=st.data())
def test_persons_keep_two_promises_exactly_if_they_keep_each(names, data):
    """By rows and by persons at once, where one of the promises may bind by rows and the other by persons."""
    values_of_one = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
    persons = data.draw(st.lists(st.tuples(st.integers(0, 2), values_of_one), min_size=1, max_size=8))
    rows = [(person, group, value) for person, (group, values) in enumerate(persons) for value in values]
    texts = sorted({value for _, _, value in rows})
    codes = np.array([texts.index(value) for _, _, value in rows], np.int32)
    sensitive_attribute = Column("ill", "categorical", codes, np.array(texts, object), Hierarchy.flat("ill", texts))
    table = Table(len(rows), (), sensitive_attribute, person=np.array([person for person, _, _ in rows], np.int32))
    everyone = [(person, value) for person, _, value in rows]
    found = [data.draw(OF_PERSONS[name]) for name in names]

    def kept(promise, group):
        some = [(person, value) for person, where, value in rows if where == group]
        if isinstance(promise, BetaLikeness):
            return naive_persons.keeps_beta(some, everyone, promise.beta)
        if isinstance(promise, KAnonymity):
            return naive_persons.keeps_k(some, promise.k)
        return naive_persons.keeps_l(some, int(promise.l))

    numbers = sorted({group for _, group, _ in rows})
    places = np.array([numbers.index(group) for _, group, _ in rows])
    strains = Judged.of(table, places, len(numbers)).strains(rules_about(conjunction(found), table))
    assert (strains <= 1.0).tolist() == [all(kept(promise, group) for promise in found) for group in numbers]


@pytest.mark.parametrize(
    "text",
    [
        "k-anonymity(k=3)",
        "l-diversity(l=2)",
        "l-diversity(l=2, kind=distinct)",
        "l-diversity(l=2, kind=entropy)",
        "l-diversity(l=2, kind=recursive, c=2)",
        "t-closeness(t=0.1)",
        "t-closeness(t=0.1, distance=ordered)",
        "t-closeness(t=0.1, distance=hierarchical)",
        "beta-likeness(beta=1, negative=0.5, level=1)",
        "delta-disclosure(delta=1)",
    ],
)
def test_counts_of_any_type_layout_and_number(text):
    tree = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    prior = Prior(np.array([5, 10, 20, 40]), tuple("abcd"), "ordinal", hierarchy(tree))
    promise = parse(text)
    groups = np.random.default_rng(1).integers(0, 20, (101, 4))
    groups[[0, 50, 100]] = 0
    expected = promise.strain(groups, prior)
    assert expected[[0, 50, 100]].tolist() == [0.0, 0.0, 0.0]
    reached = promise.achieved(groups, prior)
    frozen = groups.copy()
    frozen.setflags(write=False)
    for same in (groups.astype(np.int32), groups.astype(np.uint8), np.asfortranarray(groups), frozen, groups.tolist()):
        assert np.array_equal(promise.strain(same, prior), expected)
    assert np.array_equal(promise.strain(np.repeat(groups, 2, axis=0)[::2], prior), expected)
    sparse = Counts.of(groups, groups.shape[1])
    assert np.array_equal(promise.strain(sparse, prior), expected)
    assert promise.achieved(sparse, prior) == reached
    kept = groups[groups.any(axis=1)]
    assert promise.achieved_each(groups, prior).tolist() == [promise.achieved(one[None], prior) for one in kept]
    assert promise.strain(groups[:0], prior).shape == (0,)
    assert promise.achieved(groups[:1], prior) == (math.inf if promise.larger_is_stronger else 0.0)


@pytest.mark.parametrize("bad", [[[1, 2, 3]], [1, 2], [[0.5, 0.5]]])
def test_counts_of_the_wrong_form_are_refused(bad):
    with pytest.raises(DiscreetError, match="counts of the 2 values"):
        KAnonymity(2).holds(bad, Prior(np.array([1, 1]), ("a", "b")))


# ------------------------------------------------------------------------------------------- achieved and reachable


def main_parameter(promise):
    return promise.main_parameter()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@examples(60)
@given(situation=situations(), data=st.data())
def test_what_is_achieved_is_kept_and_nothing_stronger(kind, situation, data):
    prior, groups = situation
    promise = data.draw(promises(kind))
    groups = groups[groups.any(axis=1)]
    reached = promise.achieved(groups, prior)
    if not len(groups):
        return
    name = main_parameter(promise)
    whole = isinstance(promise, KAnonymity) or getattr(promise, "kind", "") in ("distinct", "recursive")

    def kept(value):
        return replace(promise, **{name: value}).holds(groups, prior).all()

    if promise.larger_is_stronger:
        if reached >= 1:
            assert kept(reached)
        assert not kept(reached + 1 if whole else reached * (1 + 1e-6))
    elif math.isinf(reached):
        assert not kept(50.0) and not kept(1e6 if isinstance(promise, BetaLikeness) else 500.0)
    else:
        if not isinstance(promise, TCloseness) or reached <= 1 - 1e-6:
            assert kept(reached + 1e-6)
        if reached > 1e-5:
            assert not kept(reached - 1e-6)


def groupings(rows):
    """Every way to put these rows into groups."""
    if not rows:
        yield []
        return
    for rest in groupings(rows[1:]):
        yield [[rows[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [rows[0], *rest[i]], *rest[i + 1 :]]


@examples(60)
@given(priors(rows=3), promises())
def test_reachable_when_some_grouping_keeps_it(prior, promise):
    reach = promise.reachable(prior)
    assert reach.sentence.endswith(".") and "nan" not in reach.sentence
    rows = np.repeat(np.arange(len(prior.values)), prior.counts).tolist()
    if len(rows) <= 6:
        m = len(prior.values)
        options = [np.array([np.bincount(g, minlength=m) for g in groups]) for groups in groupings(rows)]
        assert reach.feasible == any(promise.holds(groups, prior).all() for groups in options)
        best = min if not promise.larger_is_stronger else max
        if promise.larger_is_stronger:
            assert reach.strongest == best(promise.achieved(groups, prior) for groups in options)
    if not reach.feasible and "; ask for " in reach.sentence:
        asked = reach.sentence.rsplit("; ask for ", 1)[1].removesuffix(".").removesuffix(" or less")
        weaker = replace(promise, **{k: float(v) if k != "k" else int(v) for k, v in terms(asked)})
        assert weaker.reachable(prior).feasible, (promise, reach.sentence)


def terms(asked):
    return [item.split("=") for item in asked.replace(" with ", ",").split(",")]


OCCUPATIONS = Prior(np.array([4, 3, 2, 1]), ("Sales", "Craft", "Farming", "Army"), attribute="occupation")


@pytest.mark.parametrize(
    ("text", "feasible", "strongest", "sentence"),
    [
        (
            "k-anonymity(k=5)",
            True,
            10,
            "k-anonymity(k=5) can be kept: the table has 10 rows, enough for at most 2 groups.",
        ),
        ("k-anonymity(k=11)", False, 10, "The table has 10 rows, so k can be at most 10; ask for k=10 or less."),
        (
            "l-diversity(l=3)",
            False,
            2.5,
            "The most frequent value of the sensitive attribute, 'Sales', holds 40.0 % of the rows, so l can be at "
            "most 2.5; ask for l=2.",
        ),
        (
            "l-diversity(l=5, kind=distinct)",
            False,
            4,
            "The sensitive attribute has 4 different values, so l can be at most 4; ask for l=4.",
        ),
        (
            "l-diversity(l=4, kind=entropy)",
            False,
            math.exp(float(naive.entropy([4, 3, 2, 1]))),
            "The values of the sensitive attribute are spread like 3.59 equally frequent ones, so l can be at most "
            "3.59; ask for l=3.",
        ),
        (
            "l-diversity(l=4, kind=recursive, c=2)",
            False,
            3,
            "The sensitive attribute has 4 different values, of which the most frequent, 'Sales', holds 40.0 % of the "
            "rows, so l can be at most 3 with c=2; ask for l=3.",
        ),
        (
            "l-diversity(l=4, kind=recursive, c=0.5)",
            False,
            1,
            "The sensitive attribute has 4 different values, of which the most frequent, 'Sales', holds 40.0 % of the "
            "rows, so l can be at most 1 with c=0.5; ask for l=4 with c=4.1.",
        ),
        (
            "beta-likeness(beta=1)",
            True,
            0.0,
            "beta-likeness(beta=1) can be kept, like any other; the rarest value, 'Army', is 10.0 % of the "
            "rows, so a group that holds it needs at least 5 rows.",
        ),
        (
            "beta-likeness(beta=0)",
            True,
            0.0,
            "beta-likeness(beta=0) can be kept; every group then has the distribution of the whole table, so there is "
            "at most 1 group, the greatest common divisor of the counts.",
        ),
        (
            "delta-disclosure(delta=1)",
            True,
            0.0,
            "delta-disclosure(delta=1) can be kept, like any delta above 0, but every group must hold every value: "
            "there can be only one group, because 'Army' has 1 row.",
        ),
        (
            "t-closeness(t=0)",
            True,
            0.0,
            "t-closeness(t=0) can be kept, like any t, because the whole table as one group has distance 0.",
        ),
    ],
)
def test_what_is_reachable_is_said_in_a_sentence(text, feasible, strongest, sentence):
    reach = parse(text).reachable(OCCUPATIONS)
    assert (reach.feasible, reach.sentence) == (feasible, sentence)
    assert reach.strongest == pytest.approx(strongest)


def test_one_value_alone_cannot_be_diverse():
    alone = Prior(np.array([7, 0]), ("flu", "cold"))
    assert LDiversity(2).reachable(alone).sentence == (
        "The most frequent value of the sensitive attribute, 'flu', holds 100.0 % of the rows, so l can be at most 1, "
        "which promises nothing; choose another sensitive attribute."
    )
    assert BetaLikeness(1).holds([[7, 0], [1, 0], [1, 1]], alone).tolist() == [True, True, False]
    assert BetaLikeness(1).achieved([[7, 0]], alone) == 0.0
    assert BetaLikeness(1).achieved([[7, 1]], alone) == math.inf


@pytest.mark.parametrize(
    ("text", "group", "sentence"),
    [
        ("k-anonymity(k=5)", [1, 0, 0, 0], "This group has 1 row; at least 5 are required."),
        (
            "l-diversity(l=2)",
            [3, 1, 1, 0],
            "'Sales' makes up 60.0 % of this group of 5 rows (3 rows); at most 50.0 % (2 rows) is allowed, "
            "because of l=2.",
        ),
        (
            "l-diversity(l=3, kind=distinct)",
            [9, 0, 0, 0],
            "This group of 9 rows holds 1 different value; at least 3 are required.",
        ),
        (
            "l-diversity(l=3, kind=entropy)",
            [2, 2, 0, 0],
            "The values of this group of 4 rows are spread like 2 equally frequent ones; at least 3 are required.",
        ),
        (
            "l-diversity(l=2, kind=recursive, c=2)",
            [6, 2, 1, 0],
            "'Sales' has 6 rows in this group of 9 rows; fewer than 2 times the 3 rows of the 2nd most frequent value "
            "and the rarer ones are allowed.",
        ),
        (
            "beta-likeness(beta=1, negative=0.5)",
            [4, 3, 3, 0],
            "'Army' makes up 0.0 % of this group of 10 rows (0 rows); at least 5.0 % (1 row) is required, because it "
            "is 10.0 % of the whole table.",
        ),
        (
            "delta-disclosure(delta=0.5)",
            [4, 1, 1, 4],
            "'Army' makes up 40.0 % of this group of 10 rows (4 rows); less than 16.5 % (at most 1 row) is allowed, "
            "because it is 10.0 % of the whole table.",
        ),
        (
            "beta-likeness(beta=1)",
            [400, 300, 200, 100],
            "This group of 1,000 rows keeps beta-likeness(beta=1).",
        ),
    ],
)
def test_violations_are_explained_in_a_sentence(text, group, sentence):
    assert parse(text).explain(group, OCCUPATIONS) == sentence


# ------------------------------------------------------------------------------------------------ bounds and buckets


@pytest.mark.slow
@examples(200)
@given(st.data())
def test_caps_and_floors_say_the_same_as_the_rules(data):
    """For the promises that are nothing but bounds on shares, and for several of them at once."""
    prior, groups = data.draw(situations())
    bounded = st.sampled_from(["frequency", "basic", "enhanced", "delta"])
    promise = conjunction(
        data.draw(promises(data.draw(bounded), levels=0)) for _ in range(data.draw(st.integers(1, 3)))
    )
    caps, floors = promise.caps(prior), promise.floors(prior)
    sizes = groups.sum(axis=1, keepdims=True)
    kept = (groups <= caps * sizes + 1e-9).all(axis=1)
    assert caps.max() <= 1.0
    if floors is not None:
        kept &= (groups + 1e-9 >= floors * sizes).all(axis=1)
    assert kept.tolist() == promise.holds(groups, prior).tolist()


def test_strict_bounds_leave_no_room_for_equality():
    """A share of exactly twice the prior, or half of it, with delta = ln 2, in small and large groups."""
    prior, promise = Prior(np.array([1, 3]), ("a", "b")), DeltaDisclosure(math.log(2))
    for times in (1, 10**6):
        groups = np.array([[4, 4], [1, 7], [4, 5], [2, 13]]) * times
        sizes = groups.sum(axis=1, keepdims=True)
        assert promise.holds(groups, prior).tolist() == [False, False, True, True]
        assert ((groups <= promise.caps(prior) * sizes + 1e-9).all(axis=1)).tolist() == [False, True, True, True]
        assert ((groups + 1e-9 >= promise.floors(prior) * sizes).all(axis=1)).tolist() == [True, False, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["k", "distinct", "entropy", "recursive", "t"])
@examples(5)
@given(prior=priors(), data=st.data())
def test_other_promises_say_no_bounds(kind, prior, data):
    promise = data.draw(promises(kind))
    assert promise.caps(prior) is None and promise.floors(prior) is None


@given(st.lists(st.integers(1, 10**11), min_size=2, max_size=6), st.sampled_from(["basic", "enhanced"]))
def test_the_whole_table_keeps_strict_0_likeness_whatever_its_size(counts, variant):
    """A share rounded down must not forbid what the table itself has; multiples keep it as well."""
    prior = Prior(np.array(counts), tuple(map(str, counts)))
    whole = np.array(counts) // math.gcd(*counts)
    assert BetaLikeness(0, variant).holds(np.array([counts, whole]), prior).all()


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), st.data())
def test_strict_0_likeness_is_the_distribution_of_the_table_and_nothing_else(counts, data):
    prior = Prior(np.array(counts), tuple(map(str, range(len(counts)))))
    group = data.draw(st.lists(st.integers(0, 30), min_size=len(counts), max_size=len(counts)).filter(any))
    same = all(held * sum(counts) == count * sum(group) for held, count in zip(group, counts, strict=True))
    assert BetaLikeness(0).holds(np.array([group]), prior)[0] == same


def test_recursive_at_its_bound():
    """Four rows are not fewer than twice two; and a tiny c is kept by nothing."""
    prior = Prior(np.array([4, 2, 2]), tuple("abc"))
    assert LDiversity(3, "recursive", 2).holds([[4, 2, 2], [3, 2, 2]], prior).tolist() == [False, True]
    assert LDiversity(3, "recursive", 2).achieved([[4, 2, 2]], prior) == 2
    for c in (1e-8, 1e-10, 1e-12):
        assert not LDiversity(1, "recursive", c).holds([[4, 2, 2], [1, 0, 0]], prior).any()


def test_bounds_on_nodes_are_not_bounds_on_values():
    prior = Prior(np.array([1, 1, 2]), tuple("abc"), hierarchy=hierarchy([[0, 1, 2], [0, 0, 1], [0, 0, 0]]))
    promise = BetaLikeness(1, negative=0.5, level=1)
    assert promise.caps(prior) is None and promise.floors(prior) is None
    assert promise.buckets(prior).tolist() == [0, 1, 2]


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 16)), min_size=1, max_size=8).filter(
        lambda x: any(c for c, _ in x)
    )
)
def test_buckets_are_as_few_as_possible_and_keep_the_caps(drawn):
    counts, caps = np.array([c for c, _ in drawn]), np.array([x / 16 if c else 0.0 for c, x in drawn])
    buckets = fewest_buckets(counts, caps)
    assert sorted(set(buckets.tolist())) == list(range(buckets.max() + 1))
    assert buckets.max() + 1 == naive.fewest_runs(counts.tolist(), caps.tolist())
    for bucket in range(buckets.max() + 1):
        run = np.flatnonzero(buckets == bucket)
        assert len(run) == 1 or naive.fits(run, counts.tolist(), caps.tolist(), int(counts.sum()))
    assert buckets.tolist() == naive.dp_partition(counts.tolist(), caps.tolist())


def test_buckets_are_compared_with_the_slack():
    """0.29 x 100 is a little less than 29 in floating point."""
    assert fewest_buckets(np.array([14, 15, 71]), np.array([0.29, 0.29, 1.0])).tolist() == [0, 0, 1]


def test_buckets_of_a_promise():
    prior = Prior(np.array([1, 0, 1, 2, 4, 0]), tuple("abcdef"))
    assert LDiversity(2).buckets(prior).tolist() == [1, 0, 1, 1, 2, 0]
    assert KAnonymity(2).buckets(prior).tolist() == [0, 1, 2, 3, 4, 5]
    assert (KAnonymity(2) & LDiversity(2)).buckets(prior).tolist() == [1, 0, 1, 1, 2, 0]


# ---------------------------------------------------------------------------------------------------- text and value


@pytest.mark.slow
@examples(200)
@given(st.lists(promises(number=REAL, levels=5), min_size=1, max_size=4))
def test_text_reads_back(parts):
    promise = conjunction(parts)
    again = parse(str(promise))
    assert again == promise and hash(again) == hash(promise) and type(again) is type(promise)
    assert parse(f"  {str(promise).upper()} ".replace("=", " = ")) == promise
    assert pickle.loads(pickle.dumps(promise)) == promise


def test_only_what_differs_from_the_defaults_is_written():
    assert str(BetaLikeness(2)) == "beta-likeness(beta=2)"
    assert str(BetaLikeness(0.1, "basic", 0.5, 1)) == "beta-likeness(beta=0.1, variant=basic, negative=0.5, level=1)"
    assert str(LDiversity(3, "recursive", 2)) == "l-diversity(l=3, kind=recursive, c=2)"
    assert str(KAnonymity(np.int64(5))) == "k-anonymity(k=5)"
    assert BetaLikeness(2) == BetaLikeness(2.0) == BetaLikeness(np.float32(2)) != BetaLikeness(2, "basic")
    for name, kind in PRINCIPLES.items():
        assert parse(kind.example.strip("'")).name == name


def test_several_promises_are_flat_and_different_and_in_any_order():
    a, b, c = KAnonymity(5), LDiversity(3), BetaLikeness(2)
    assert (a & b) & (c & a) == All((c, b, a)) == a & (b & c)
    assert hash(a & b) == hash(b & a)
    assert str(a & b & a) == "k-anonymity(k=5) & l-diversity(l=3)"
    assert a & a == a and (a & b).parts == (a, b) and a.parts == (a,)
    assert conjunction([a]) is a
    assert (a & b).achieved([[1, 1, 1, 1]], OCCUPATIONS) == pytest.approx(1.25)
    for nothing in ((), (a,), (a, a)):
        with pytest.raises(DiscreetError, match="two different"):
            All(nothing)
    with pytest.raises(DiscreetError, match="no promise was given"):
        conjunction([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "promise '' cannot be read; write it like 'beta-likeness(beta=2)'"),
        ("k-anonymity(k=5", "promise 'k-anonymity(k=5' cannot be read; write it like 'beta-likeness(beta=2)'"),
        ("k-anonymity(k=5) &", "promise '' cannot be read; write it like 'beta-likeness(beta=2)'"),
        ("k-anonymity(k=5) l-diversity(l=2)", "cannot be read"),
        ("k-anonimity(k=5)", "no promise is called 'k-anonimity'; did you mean 'k-anonymity'?"),
        ("privacy(x=5)", "no promise is called 'privacy'; there are 'k-anonymity', 'l-diversity', 't-closeness', "),
        ("k-anonymity", "k-anonymity needs its parameter k; write for example 'k-anonymity(k=5)'"),
        ("k-anonymity()", "k-anonymity needs its parameter k; write for example 'k-anonymity(k=5)'"),
        ("k-anonymity(5)", "k-anonymity: '5' is not of the form name=value; write for example 'k-anonymity(k=5)'"),
        ("k-anonymity(k=)", "k-anonymity: 'k=' is not of the form name=value"),
        ("k-anonymity(k=5, k=6)", "k-anonymity: k is given twice"),
        ("k-anonymity(k=0)", "k-anonymity: k must be a whole number of at least 1, not 0; write for example"),
        ("k-anonymity(k=2.5)", "k-anonymity: k must be a whole number of at least 1, not 2.5"),
        ("k-anonymity(k=1e99)", "k-anonymity: k must be a whole number of at least 1, not 1e+99"),
        ("k-anonymity(k=many)", "k-anonymity: k must be a whole number of at least 1, not 'many'"),
        ("beta-likeness(betta=2)", "beta-likeness has no parameter 'betta'; did you mean 'beta'?"),
        ("beta-likeness(q=2)", "beta-likeness has no parameter 'q'; there are 'beta', 'variant', 'negative', 'level'"),
        ("beta-likeness(beta=-0.5)", "beta-likeness: beta must be a number of at least 0, not -0.5;"),
        ("beta-likeness(beta=nan)", "beta-likeness: beta must be a number of at least 0, not 'nan';"),
        ("beta-likeness(beta=inf)", "beta-likeness: beta must be a number of at least 0, not 'inf';"),
        ("beta-likeness(beta=1e999)", "beta-likeness: beta must be a number of at least 0, not inf;"),
        (
            "beta-likeness(beta=2, variant=enhnced)",
            "variant must be enhanced or basic, not 'enhnced'; did you mean 'enh",
        ),
        ("beta-likeness(beta=2, negative=1.5)", "negative must be a number between 0 and 1, not 1.5"),
        ("beta-likeness(beta=2, level=-1)", "level must be a whole number of at least 0, not -1"),
        ("t-closeness(t=1e-400)", "t must be a number between 0 and 1, not '1e-400'; did you mean 0, from which it"),
        ("variance(v=1e-400)", "v must be a number of at least 0, not '1e-400'; did you mean 0, from which it"),
        ("ke-anonymity(k=2, e=0.01e-400)", "e must be a number of at least 0, not '0.01e-400'; did you mean 0"),
        ("proximity(epsilon=1e-400, m=2)", "epsilon must be a number of at least 0, not '1e-400'; did you mean 0"),
        ("beta-likeness(beta=1e-400)", "beta must be a number of at least 0, not '1e-400'; did you mean 0,"),
        ("delta-disclosure(delta=1e-400)", "delta must be a number above 0, not '1e-400'; correct it"),
        ("t-closeness(t=1.01)", "t-closeness: t must be a number between 0 and 1, not 1.01"),
        ("t-closeness(t=-0.1)", "t-closeness: t must be a number between 0 and 1, not -0.1"),
        ("t-closeness(t=0.1, distance=order)", "distance must be equal, ordered or hierarchical, not 'order'; did you"),
        ("delta-disclosure(delta=-1)", "delta-disclosure: delta must be a number above 0, not -1"),
        ("l-diversity(l=0.5)", "l-diversity: l must be a number of at least 1, not 0.5"),
        (
            "l-diversity(l=2.5, kind=distinct)",
            "l must be a whole number of at least 1 when kind=distinct, not 2.5; write l=2",
        ),
        ("l-diversity(l=2.5, kind=recursive, c=1)", "l must be a whole number of at least 1 when kind=recursive"),
        ("l-diversity(l=3, kind=recursive)", "l-diversity: kind=recursive needs its parameter c; write for example"),
        ("l-diversity(l=3, kind=recursive, c=0)", "l-diversity: c must be a number above 0, not 0"),
        ("l-diversity(l=3, c=2)", "l-diversity: c belongs to kind=recursive, not to kind=frequency; leave it out"),
    ],
)
def test_bad_texts_are_refused_in_a_sentence(text, message):
    with pytest.raises(DiscreetError) as caught:
        parse(text)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [True, None, "5", float("nan"), float("inf"), 10**400, [2], np.bool_(True), 1 + 0j])
def test_bad_values_are_refused_on_construction(value):
    for make in (KAnonymity, LDiversity, TCloseness, BetaLikeness, DeltaDisclosure):
        with pytest.raises(DiscreetError, match=r"must be a|needs its parameter delta"):
            make(value)


# ------------------------------------------------------------------------------------------------------ requirements


def test_promises_refuse_an_attribute_they_cannot_be_made_about():
    flat = hierarchy([[0, 1], [0, 0]])
    plain = Prior(np.array([1, 1]), ("a", "b"), "categorical", flat, "illness")
    nothing = Prior(np.array([2]), ("",), attribute=None)
    cases = [
        (TCloseness(0.1, "ordered"), plain, "'illness' is categorical; declare it ordinal or numeric, or ask for dist"),
        (TCloseness(0.1, "hierarchical"), plain, "needs a hierarchy of the sensitive attribute 'illness'"),
        (TCloseness(0.1, "hierarchical"), replace(plain, hierarchy=None), "needs a hierarchy of the sensitive"),
        (
            BetaLikeness(1, level=1),
            plain,
            "needs level 1 of the hierarchy of the sensitive attribute 'illness', which ",
        ),
        (BetaLikeness(1, level=1), replace(plain, hierarchy=None), "needs a hierarchy of the sensitive attribute"),
        (LDiversity(2), nothing, "is about a sensitive attribute and the table has none; name one, or ask for k-anon"),
        (KAnonymity(2) & BetaLikeness(1), nothing, "is about a sensitive attribute and the table has none"),
    ]
    for promise, prior, message in cases:
        for ask in (promise.require, promise.rules, promise.reachable):
            with pytest.raises(DiscreetError, match=message):
                ask(prior)
        with pytest.raises(DiscreetError, match=message):
            promise.achieved(prior.counts[None], prior)
    assert KAnonymity(2).reachable(nothing).feasible
    assert KAnonymity(2).holds([[2], [1]], nothing).tolist() == [True, False]


def test_prior_of_a_table():
    column = Column("wage", "numeric", np.array([0, 2, 2, 1], np.int32), np.array([np.nan, 7.0, 7.5]), missing=0)
    prior = Prior.of(Table(4, (), column))
    assert (prior.values, prior.counts.tolist(), prior.kind) == (("(missing)", "7", "7.5"), [1, 1, 2], "numeric")
    assert (prior.attribute, prior.rows, prior.frequencies.tolist()) == ("wage", 4, [0.25, 0.25, 0.5])
    words = Column("job", "categorical", np.array([1, 1], np.int32), np.array(["a", "b"]), hierarchy([[0, 1], [0, 0]]))
    assert Prior.of(Table(2, (), words)).counts.tolist() == [0, 2]
    assert Prior.of(Table(2, (), words)).rarest == 1
    bare = Prior.of(Table(3, (), None))
    assert bare.attribute is None and bare.rows == 3
    with pytest.raises(DiscreetError, match="no rows"):
        Prior(np.array([0]), ("a",))
    with pytest.raises(DiscreetError, match="one count"):
        Prior(np.array([1, 2]), ("a",))


def test_too_small_a_delta_is_said_to_be_so():
    reach = DeltaDisclosure(1e-12).reachable(OCCUPATIONS)
    assert not reach.feasible
    assert reach.sentence == "delta=1e-12 is too small to be told apart from 0; ask for delta=0.000001."
    assert DeltaDisclosure(1e-6).reachable(OCCUPATIONS).feasible
    assert DeltaDisclosure(1e300).holds([[97, 1, 1, 1]], OCCUPATIONS).all()
