"""The scheme for (epsilon, m)-anonymity: what it publishes keeps the promise, and what cannot be kept is refused."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import ail
from discreet.command.main import main
from discreet.datasets import census
from discreet.families.proximity.kernels.deals import deal
from discreet.families.proximity.kernels.nearness import crowd_of, divisible, keeps_as_one, turns
from discreet.families.proximity.kernels.splits import split
from discreet.families.proximity.near_withholding import chain, next_places
from discreet.principles import Principle, Prior, parse
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes import Scheme, make_scheme
from discreet.schemes.axes import axes_of
from discreet.table.read import read
from discreet.table.table import Table
from naive import proximity as naive
from support.audits import audits
from support.promises import promises
from support.tables import numeric_tables

SALARIES = {
    "age": [17, 19, 20, 24, 29, 34, 39, 45],
    "zip": [12, 13, 14, 16, 21, 24, 36, 39],
    "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
}


def salaries() -> Table:
    """Table 1a of the paper."""
    return read(pa.table(SALARIES), quasi=["age", "zip"], sensitive="salary")


def published(table: Table, promise: Principle, scheme: Scheme | None = None) -> GeneralizedRelease:
    """A release by the scheme."""
    release = dc.publish(table, promise, scheme or dc.SplitAndPartition(random_state=1), most_withheld=1)
    assert isinstance(release, GeneralizedRelease)
    return release


# ------------------------------------------------------------------------------------------------------------- promise


@pytest.mark.slow
@given(
    table=numeric_tables(),
    promise=promises(),
    partition=st.sampled_from(["matched", "round-robin"]),
    positions=st.sampled_from([1, 3, 9]),
    values=st.sampled_from(["interval", "set", "label"]),
)
@settings(max_examples=150, deadline=None)
def test_what_is_reachable_is_published_and_the_rest_refused_with_the_bound(
    table: Table, promise: dc.Proximity, partition: str, positions: int, values: str
) -> None:
    scheme = dc.SplitAndPartition(partition=partition, positions=positions, values=values)  # type: ignore[arg-type]
    prior = Prior.of(table)
    reach = promise.reachable(prior)
    event("reachable" if reach.feasible else "unreachable")
    if not reach.feasible:
        with pytest.raises(dc.DiscreetError, match=f"m can be at most {reach.strongest}"):
            scheme.publish(table, promise)
        return
    release = published(table, promise, scheme)
    assert release.withheld == 0 and release.trace is not None
    for result in audits(release, table):
        assert result.promises[0].achieved is not None and result.promises[0].achieved >= promise.m
    # and by the definition, in exact fractions
    assert table.sensitive_attribute is not None
    below = Fraction(promise.epsilon if promise.below is None else promise.below)
    above = Fraction(promise.epsilon if promise.above is None else promise.above)
    pay = [
        Fraction(float(value))
        for value in np.asarray(table.sensitive_attribute.values)[table.sensitive_attribute.codes]
    ]
    for group in range(release.groups):
        numbers = [pay[row] for row in np.flatnonzero(release.trace == group)]
        if promise.epsilon != 0.1:  # which is no binary fraction
            assert naive.holds(numbers, promise.m, promise.neighbourhood, below, above)


@pytest.mark.slow
@given(table=numeric_tables(), promise=promises(), positions=st.sampled_from([1, 9]))
@settings(max_examples=150, deadline=None)
def test_matched_is_never_worse_than_round_robin(table: Table, promise: dc.Proximity, positions: int) -> None:
    assume(promise.reachable(Prior.of(table)).feasible)
    losses = [
        ail(published(table, promise, make_scheme("proximity", {"partition": how, "positions": str(positions)}, 3)))
        for how in ("matched", "round-robin")
    ]
    assert losses[0] <= losses[1] + 1e-12
    event("lower" if losses[0] < losses[1] - 1e-12 else "equal")


@pytest.mark.slow
@given(table=numeric_tables(missing=True), promise=promises(3))
@settings(max_examples=100, deadline=None)
def test_withheld_rows_keep_the_promise_too(table: Table, promise: dc.Proximity) -> None:
    prior = Prior.of(table)
    assume(promise.reachable(prior).feasible)
    try:
        release = published(table, promise)
    except dc.DiscreetError as refusal:
        assert table.unusable is not None and len(table.unusable), str(refusal)
        event("refused")
        return
    assert release.withheld >= (0 if table.unusable is None else len(table.unusable))
    event("withheld" if release.withheld else "none missing")
    audits(release, table)


def ages_and_pay(age: list[int | None], pay: list[int]) -> Table:
    return read(pa.table({"age": pa.array(age), "pay": pay}), quasi=["age"], sensitive="pay", missing="withhold")


def test_a_rest_that_cannot_keep_it() -> None:
    """The rows with an age are near to each other; those without are not."""
    table = ages_and_pay([None, None, 30, 40, 50, 60], [1, 100, 10, 10, 200, 10])
    release = published(table, dc.Proximity(5, 2))  # two of the three are withheld too
    assert release.withheld == 4
    audits(release, table)
    table = ages_and_pay([None, None, None, 40, 50, 60], [1, 100, 200, 10, 10, 10])
    with pytest.raises(dc.DiscreetError, match=r"^3 rows with .* nor were others found .* Treat missing as a value"):
        published(table, dc.Proximity(5, 2))
    table = ages_and_pay([None, None, 40, 50], [10, 11, 100, 200])
    with pytest.raises(dc.DiscreetError, match=r"^2 rows with .* as one group they break the promise, and no others"):
        published(table, dc.Proximity(5, 2))


@pytest.mark.slow
def test_one_row_can_be_withheld_from_every_table_that_can_keep_the_promise() -> None:
    """The row's group after dealing all rows in turn: n = g m, so that nothing but a group as large is left over."""
    rng = np.random.default_rng(4)
    for turn in range(40):
        n, epsilon = int(rng.integers(12, 60)), int(rng.choice([0, 5, 20, 50]))
        pay = rng.integers(0, 400, n).tolist()
        table = ages_and_pay([None, *rng.integers(20, 40, n - 1).tolist()], pay)
        most = int(dc.Proximity(epsilon, 1).reachable(Prior.of(table)).strongest or 1)
        if n // most >= 2:  # else the table is one group
            release = published(table, dc.Proximity(epsilon, most))
            assert 1 <= release.withheld < n, turn
            audits(release, table)


@pytest.mark.slow
@pytest.mark.parametrize("unusable", [1, 2, 3])
def test_how_often_a_refusal_to_withhold_was_avoidable(unusable: int) -> None:
    rng = np.random.default_rng(unusable)
    found = Counter[tuple[bool, bool]]()
    for _ in range(60):
        n, width = int(rng.integers(4, 8)), Fraction(int(rng.choice([0, 3, 6])))
        pay = rng.integers(0, 40, n).tolist()
        ages = [None] * unusable + rng.integers(20, 26, n - unusable).tolist()
        try:
            table = ages_and_pay(ages, pay)
            dc.SplitAndPartition(random_state=1).release_of(table, dc.Proximity(float(width), 2))
            done = True
        except dc.DiscreetError:
            done = False
        others = range(unusable, n)
        sets = [set(some) for size in range(n - unusable) for some in combinations(others, size)]
        can = any(
            naive.holds([Fraction(pay[row]) for row in [*range(unusable), *some]], 2, "absolute", width, width)
            and naive.feasible([Fraction(pay[row]) for row in others if row not in some], 2, "absolute", width, width)
            for some in sets
        )
        found[can, done] += 1
    assert found[True, True] > 15 and found[False, True] == 0
    assert found[True, False] <= (0 if unusable == 1 else 0.15 * found[True, True]), found


@pytest.mark.slow
def test_chains_pass_through_their_stops_and_thin_the_crowd() -> None:
    rng = np.random.default_rng(9)
    for _ in range(200):
        codes = np.sort(rng.integers(0, 30, int(rng.integers(2, 60)))).astype(np.int32)
        prior = Prior(np.ones(30, np.int64), tuple(map(str, range(30))), "numeric")
        first, last = dc.Proximity(m=2, below=float(rng.integers(0, 4)), above=float(rng.integers(0, 4))).windows(prior)
        nexts = next_places(codes, first, last)
        pairs = [(i, j) for j in range(len(codes)) for i in range(j)]
        near = {(i, j) for i, j in pairs if codes[i] >= first[codes[j]] or codes[j] <= last[codes[i]]}
        crowd = crowd_of(codes, 0, len(codes), first, last)
        assert crowd == 1 + max((j - i for i, j in near), default=0)
        stops = np.sort(rng.choice(len(codes), min(len(codes), int(rng.integers(1, 4))), replace=False))
        got = chain(nexts, stops)
        apart = not any((i, j) in near for i, j in pairs if i in stops and j in stops)
        assert (got is not None) == apart
        if got is not None:
            assert set(stops.tolist()) <= set(got.tolist()) and (np.diff(got) > 0).all()
            assert not any((i, j) in near for i, j in combinations(got.tolist(), 2))
            left = np.delete(codes, got)
            if len(stops) == 1 and len(left):
                assert crowd_of(left, 0, len(left), first, last) <= crowd - 1


def test_hands_that_are_joined_keep_the_promise() -> None:
    rng = np.random.default_rng(2)
    seen = Counter[str]()
    for _ in range(400):
        n, m, least = int(rng.integers(4, 90)), int(rng.integers(2, 5)), int(rng.integers(1, 16))
        crowded = rng.random() < 0.7
        codes = np.sort(np.where(rng.random(n) < 0.25 * crowded, 3, rng.integers(0, 40, n))).astype(np.int32)
        prior = Prior(np.ones(40, np.int64), tuple(map(str, range(40))), "numeric")
        promise = dc.Proximity(float(rng.integers(0, 3)), m)
        first, last = promise.windows(prior)
        hands, g = turns(codes, 0, n, first, last, m, least, True)
        if g == 0:
            assert least > n or not keeps_as_one(codes, 0, n, first, last, m, least)
            continue
        groups = np.arange(n) % hands % g
        counts = np.stack([np.bincount(codes[groups == q], minlength=40) for q in range(g)])
        assert promise.holds(counts, prior).all() and counts.sum(axis=1).min() >= least
        seen["joined" if g < hands else "mixed" if hands < crowd_of(codes, 0, n, first, last) else "apart"] += 1
    assert min(seen["joined"], seen["mixed"], seen["apart"]) > 15, seen


@pytest.mark.slow
def test_groups_of_k_rows_may_hold_rows_that_are_near() -> None:
    """A quarter of the rows hold one number: there are not enough others for groups of 5 with one of these each."""
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(20, 70, 1200), "pay": np.where(rng.random(1200) < 0.25, 0, rng.permutation(1200))}
    table = read(pa.table(columns), quasi=["age"], sensitive="pay")
    release = published(table, dc.Proximity(1, 3) & dc.KAnonymity(5))
    assert isinstance(release, GeneralizedRelease) and release.groups > 1200 / 9
    thorough = published(table, dc.Proximity(1, 3) & dc.KAnonymity(5), make_scheme("proximity", {"effort": "thorough"}))
    assert ail(release) < 1.5 * ail(thorough) + 0.01
    audits(release, table)


@pytest.mark.slow
@given(table=numeric_tables(), promise=promises(4), k=st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_together_with_k_anonymity(table: Table, promise: dc.Proximity, k: int) -> None:
    both = promise & dc.KAnonymity(k)
    prior = Prior.of(table)
    assume(both.reachable(prior).feasible)
    crowd = promise.crowd(prior)[0]
    try:
        release = published(table, both)
    except dc.DiscreetError as refusal:
        assert k > prior.rows // crowd and not both.holds(prior.counts[None], prior)[0]
        assert f"ask for k={prior.rows // crowd} or less" in str(refusal)
        event("refused")
        return
    assert release.sizes.min() >= k
    event("published")
    audits(release, table)


@pytest.mark.slow
def test_a_k_that_dealing_cannot_reach_is_refused() -> None:
    table = read(pa.table({"age": [30] * 6, "pay": [0, 10, 20, 30, 40, 50]}), quasi=["age"], sensitive="pay")
    promise = dc.Proximity(10, 3)
    assert published(table, promise & dc.KAnonymity(3)).sizes.tolist() == [3, 3]
    with pytest.raises(
        dc.DiscreetError, match=r"k-anonymity\(k=4\) and proximity.* cannot be kept .* ask for k=3 or less"
    ):
        published(table, promise & dc.KAnonymity(4))


# ------------------------------------------------------------------------------------------------------------- example


@pytest.mark.parametrize("partition", ["matched", "round-robin"])
@pytest.mark.parametrize("below, above", [(20, 10000), (10000, 20), (10000, 10000), (20, 20)])
def test_the_running_example(partition: str, below: int, above: int) -> None:
    table = salaries()
    promise = dc.Proximity(below, 2, above=above)
    release = published(table, promise, make_scheme("proximity", {"partition": partition}))
    audits(release, table)
    if below == above == 20:  # the two oldest, whose salaries are far apart, are split off
        assert release.groups == (4 if partition == "matched" else 2)
    else:  # it cannot be split; it keeps the promise, so as published it is one group, but it can be dealt to three
        assert release.groups == (3 if partition == "matched" else 1)
    with pytest.raises(dc.DiscreetError, match="m can be at most 2; ask for m=2, or widths on both sides below 20"):
        published(table, dc.Proximity(below, 3, above=above))


def test_round_robin_is_what_the_paper_deals() -> None:
    """The table cannot be split: of its sorted rows the i-th goes to group i modulo 2, in the last round only one."""
    pay = [30, 0, 50, 20, 60, 10, 40]
    table = read(pa.table({"age": [30] * 7, "pay": pay}), quasi=["age"], sensitive="pay")
    trace = published(table, dc.Proximity(10, 3), dc.SplitAndPartition(partition="round-robin")).trace
    assert trace is not None
    groups = {tuple(sorted(np.array(pay)[trace == group].tolist())) for group in range(2)}
    assert groups == {(0, 20, 40, 60), (10, 30, 50)}


def test_a_piece_that_keeps_the_promise_is_a_group_as_published() -> None:
    table = read(pa.table({"age": [1, 2, 1, 2], "pay": [0, 10, 20, 30]}), quasi=["age"], sensitive="pay")
    promise = dc.Proximity(10, 1)
    assert published(table, promise, dc.SplitAndPartition(partition="round-robin", positions=1)).sizes.max() == 2
    assert ail(published(table, promise, dc.SplitAndPartition(snap=False))) == 0


# -------------------------------------------------------------------------------------------------------------- kernel


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=30), promises())
@settings(deadline=None)
def test_the_crowd_is_the_largest_covering_set(numbers: list[int], promise: dc.Proximity) -> None:
    values, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    prior = Prior(counts, tuple(map(str, values)), "numeric", numbers=values.astype(float))
    first, last = promise.windows(prior)
    sensitive_codes = np.sort(codes).astype(np.int32)
    crowd = crowd_of(sensitive_codes, 0, len(sensitive_codes), first, last)
    assert crowd == promise.crowd(prior)[0]
    assert (
        bool(divisible(sensitive_codes, 0, len(sensitive_codes), first, last, promise.m, 1))
        == promise.reachable(prior).feasible
    )
    whole = bool(keeps_as_one(sensitive_codes, 0, len(sensitive_codes), first, last, promise.m, 1))
    assert whole == bool(promise.holds(counts[None], prior)[0])
    if promise.epsilon != 0.1:
        below = Fraction(promise.epsilon)
        above = Fraction(promise.epsilon if promise.above is None else promise.above)
        assert crowd == naive.maxsize([Fraction(x) for x in numbers], promise.neighbourhood, below, above)


@pytest.mark.parametrize("positions", [1, 9])
@pytest.mark.parametrize("crowded", [False, True])
def test_pieces_stay_sorted_and_divisible_on_long_axes(positions: int, crowded: bool) -> None:
    rng = np.random.default_rng(5)
    n, m = 3000, 4
    place = rng.permutation(n)  # every row its own code: small pieces lie far apart on the axis
    pay = rng.integers(0, 2 if crowded else 5000, n) * 10 + np.arange(n) % (40 if crowded else 10)
    table = read(pa.table({"place": place, "pay": pay}), quasi=["place"], sensitive="pay")
    first, last = dc.Proximity(2, m).windows(Prior.of(table))
    order = np.argsort(table.sensitive_codes, kind="stable")
    points, axes = axes_of(table, "ail", "interval")
    points, sensitive_codes, rows = points[order], table.sensitive_codes[order], order.copy()
    starts = split(points, sensitive_codes, rows, axes, first, last, m, 1, positions)
    assert sorted(rows) == list(range(n)) and (sensitive_codes == table.sensitive_codes[rows]).all()
    assert starts[0] == 0 and (np.diff(starts) >= m).all()
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        assert (np.diff(sensitive_codes[start:end]) >= 0).all()
        assert divisible(sensitive_codes, start, end, first, last, m, 1)
    # one piece of all rows has very many groups: the search among them is bounded, and the promise still kept
    sorted_points, sorted_classes = np.ascontiguousarray(table_points(table)[order]), table.sensitive_codes[order]
    one = deal(sorted_points, sorted_classes, np.zeros(1, np.int64), axes, first, last, m, 1, True)
    gaps = [np.diff(sorted_classes[one == group]) for group in range(int(one.max()) + 1)]
    assert all((gap > 0).all() for gap in gaps)


def table_points(table: Table) -> np.ndarray:
    """The rows as points."""
    return axes_of(table, "ail", "interval")[0]


# ------------------------------------------------------------------------------------------------------------- choices


def test_other_promises_are_refused() -> None:
    table = salaries()
    for promise in (dc.KAnonymity(2), dc.LDiversity(2), dc.KAnonymity(2) & dc.LDiversity(2)):
        with pytest.raises(dc.DiscreetError, match="scheme 'proximity' keeps promises of proximity"):
            dc.SplitAndPartition().publish(table, promise)
    with pytest.raises(dc.DiscreetError, match="does not hide who is in the table"):
        dc.SplitAndPartition().publish(table, parse("proximity(epsilon=5, m=2) & alpha-beta(alpha=0.5, beta=0.5)"))
    with pytest.raises(dc.DiscreetError, match="effort=thorough is not"):
        dc.SplitAndPartition(effort="thorough", partition="round-robin")
    for options in (
        {"effort": "some"},
        {"partition": "best"},
        {"values": "all"},
        {"positions": "0"},
        {"positions": "2000"},
    ):
        with pytest.raises(dc.DiscreetError, match=next(iter(options))):
            make_scheme("proximity", options)


# ---------------------------------------------------------------------------------------------------- several promises


@pytest.mark.slow
@given(table=numeric_tables(), one=promises(4), other=promises(4), k=st.sampled_from([1, 1, 6]))
@settings(max_examples=80, deadline=None)
def test_several_promises_of_proximity(table: Table, one: dc.Proximity, other: dc.Proximity, k: int) -> None:
    """Absolute and relative at once, for example; what all rows keep as one group is never refused."""
    assume(one != other)
    both = one & other & dc.KAnonymity(k) if k > 1 else one & other
    prior = Prior.of(table)
    assume(both.reachable(prior).feasible)
    try:
        release = published(table, both)
    except dc.DiscreetError as refusal:
        assert "each promise can be kept alone, but scheme 'proximity' found no groups" in str(refusal)
        assert not both.holds(prior.counts[None], prior)[0]
        event("refused")
        return
    event("published")
    assert release.sizes.min() >= k
    for result in audits(release, table):
        assert len(result.promises) == len(both.parts)


def test_two_promises_that_one_neighbourhood_would_not_keep() -> None:
    """A wide neighbourhood with a small m beside a narrow one with a large m: dealing by both at once would fail."""
    rng = np.random.default_rng(4)
    table = read(
        pa.table({"age": rng.integers(20, 60, 300), "pay": rng.integers(0, 1000, 300)}), quasi=["age"], sensitive="pay"
    )
    promise = dc.Proximity(200, 2) & dc.Proximity(10, 12)
    assert not dc.Proximity(200, 12).reachable(Prior.of(table)).feasible
    release = published(table, promise)
    assert release.groups > 5
    audits(release, table)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        "l-diversity(l=3)",
        "l-diversity(l=6, kind=distinct)",
        "l-diversity(l=5, kind=entropy)",
        "t-closeness(t=0.25, distance=ordered)",
        "t-closeness(t=0.3)",
        "beta-likeness(beta=2)",
        "delta-disclosure(delta=2)",
        "ke-anonymity(k=5, e=40)",
        "variance(v=100)",
        "k-anonymity(k=7) & t-closeness(t=0.3, distance=ordered)",
    ],
)
def test_other_promises_are_kept_beside_it(more: str) -> None:
    rng = np.random.default_rng(6)
    pay = rng.choice([0, 0, 10, 25, 40, 60, 85, 110], 400)
    table = read(pa.table({"age": rng.integers(20, 60, 400), "pay": pay}), quasi=["age"], sensitive="pay")
    promise = parse(f"proximity(epsilon=5, m=3) & {more}")
    release = published(table, promise)
    assert release.groups > 1
    for result in audits(release, table):
        assert [kept.promise for kept in result.promises] == [str(part) for part in promise.parts]


def test_promises_that_cannot_be_kept_together() -> None:
    """Each has groups that keep it, but none has groups that keep both."""
    table = read(pa.table({"age": [30] * 6, "pay": [0, 10, 20, 30, 40, 50]}), quasi=["age"], sensitive="pay")
    promise = dc.Proximity(10, 3) & dc.TCloseness(0.05, "ordered")
    with pytest.raises(
        dc.DiscreetError, match=r"each promise can be kept alone, .* is broken by all rows as one group"
    ):
        published(table, promise)
    with pytest.raises(dc.DiscreetError, match="this table cannot keep"):
        published(table, dc.Proximity(10, 3) & dc.LDiversity(9))


@pytest.mark.slow
@given(table=numeric_tables(), promise=promises(4))
@settings(max_examples=40, deadline=None)
def test_thorough_is_never_worse(table: Table, promise: dc.Proximity) -> None:
    assume(promise.reachable(Prior.of(table)).feasible)
    fast, thorough = (
        published(table, promise, make_scheme("proximity", {"effort": how}, 3)) for how in ("fast", "thorough")
    )
    assert ail(thorough) <= ail(fast) + 1e-12
    event("lower" if ail(thorough) < ail(fast) - 1e-12 else "equal")
    audits(thorough, table)


@pytest.mark.slow
def test_thorough_pays_on_census_incomes() -> None:
    table = census(3000, quasi=("age", "gender", "education", "country"), sensitive="income")
    fast, thorough = (
        published(table, dc.Proximity(200, 3), make_scheme("proximity", {"effort": how, "snap": "false"}, 1))
        for how in ("fast", "thorough")
    )
    assert ail(thorough) < 0.9 * ail(fast)
    audits(thorough, table)


def test_it_is_the_default_for_proximity_alone() -> None:
    table = salaries()
    for promise in ("proximity(epsilon=20, m=2)", "proximity(epsilon=20, m=2) & k-anonymity(k=2)"):
        assert dc.publish(table, promise).manifest["scheme"]["name"] == "proximity"
    assert dc.publish(table, "k-anonymity(k=2)").manifest["scheme"]["name"] == "cuts"


def test_matching_pays_on_census_incomes() -> None:
    table = census(2000, quasi=("age", "gender", "education", "country"), sensitive="income")
    matched, dealt = (
        published(table, dc.Proximity(200, 3), make_scheme("proximity", {"partition": how}, 1))
        for how in ("matched", "round-robin")
    )
    assert ail(matched) < 0.8 * ail(dealt)
    audits(matched, table)


def test_the_audit_tells_what_matching_descriptions_gives() -> None:
    """Two groups of one description: the promise is kept by each, and 50 has 40 and 60 near to it in the union."""
    table = read(pa.table({"age": [30] * 4, "pay": [40, 50, 60, 80]}), quasi=["age"], sensitive="pay")
    for result in audits(published(table, dc.Proximity(15, 2)), table):
        told = next(check.sentence for check in result.checks if check.name == "unions")
        assert "finds up to 75.0 % of their rows near one number instead of 50.0 %" in told
        assert "This concerns 1 of 1 comb" in told


@pytest.mark.slow
@given(numeric_tables(), promises(), st.integers(0, 2**20), st.sampled_from(["matched", "round-robin"]))
@settings(max_examples=100, deadline=None)
def test_a_union_goes_at_most_twice_beyond(table: Table, promise: dc.Proximity, seed: int, partition: str) -> None:
    prior = Prior.of(table)
    assume(promise.reachable(prior).feasible)
    release = published(table, promise, make_scheme("proximity", {"partition": partition}))
    assert release.trace is not None
    counts = np.zeros((release.groups, len(prior.values)), np.int64)
    np.add.at(counts, (release.trace, table.sensitive_codes), 1)
    chosen = np.random.default_rng(seed).random((20, len(counts))) < 0.5
    strains = promise.strain(chosen.astype(np.int64) @ counts, prior)
    assert (strains <= 2.0).all()
    event("beyond" if (strains > 1.0).any() else "kept")


def test_the_command_line_takes_it_by_default(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    rows = zip(*SALARIES.values(), strict=True)
    source.write_text("age,zip,salary\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    words = ["publish", str(source), "-o", str(tmp_path / "out"), "--quasi", "age,zip", "--sensitive", "salary"]
    words += ["--numeric", "salary", "--trace", str(tmp_path / "trace.csv"), "--json", "--promise"]
    done = CliRunner().invoke(main, [*words, "proximity(epsilon=20, m=2)"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["holds"] and told["scheme"]["name"] == "proximity"
    again = CliRunner().invoke(main, ["audit", str(tmp_path / "out"), "--original", str(source), "--json"])
    assert again.exit_code == 0 and json.loads(again.stdout)["holds"]
    refused = CliRunner().invoke(main, [*words, "proximity(epsilon=20, m=3)", "--force"])
    assert refused.exit_code == 2 and "m can be at most 2" in refused.output


def test_a_refusal_beside_k_anonymity_counts_the_crowd() -> None:
    """Of 100 rows, 28 lie from 0 to 10 and as many from 10 to 20; each of the others is far from all."""
    pay = [0] * 16 + [10] * 12 + [20] * 16 + list(range(1000, 1000 + 56 * 100, 100))
    table = read(pa.table({"age": [i % 20 for i in range(100)], "pay": pay}), quasi=["age"], sensitive="pay")
    with pytest.raises(dc.DiscreetError, match=r"28 of 100 rows lie on one side .* ask for k=3 or less"):
        dc.publish(table, [dc.Proximity(10, 3), dc.KAnonymity(40)])
    assert dc.publish(table, [dc.Proximity(10, 3), dc.KAnonymity(3)]).withheld == 0
