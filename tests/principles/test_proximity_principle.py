"""(epsilon, m)-anonymity against the definition and against every partition of tiny tables."""

from __future__ import annotations

import json
import math
import pickle
import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.command.main import main
from discreet.errors import DiscreetError
from discreet.principles import KAnonymity, Prior, parse
from discreet.principles.counts import Counts
from discreet.principles.proximity import Proximity, rounded_down
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes import Cuts
from discreet.table.read import read
from discreet.table.table import Column, Table
from naive import proximity as naive

SALARIES = (1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000)


def examples(number):
    """At least so many, and more where the profile asks for more."""
    return settings(max_examples=max(number, settings().max_examples))


def prior_of(rows, extra=()):
    """The prior of these numbers (texts, or ``None`` for missing ones), and the code of each row."""
    values = sorted({*rows, *extra} - {None}, key=Fraction)
    texts = (["(missing)"] if None in rows else []) + [str(value) for value in values]
    codes = [0 if row is None else texts.index(str(row)) for row in rows]
    return Prior(np.bincount(codes, minlength=len(texts)), tuple(texts), "numeric", attribute="pay"), codes


def exact(rows):
    return [None if row is None else Fraction(str(row)) for row in rows]


def promise_of(kind, below, above, m):
    if kind == "relative":
        return Proximity(float(below), m, "relative")
    return Proximity(float(below), m, above=float(above))


# ----------------------------------------------------------------------------------------------- the paper's examples


def test_the_running_example():
    prior, _ = prior_of(SALARIES)
    lopsided = Proximity(10000, 2, below=20)
    for promise in (lopsided, Proximity(10000, 2, above=20), Proximity(10000, 2), Proximity(20, 2)):
        size, first, last = promise.crowd(prior)
        assert size == 3 and promise.reachable(prior).strongest == 2 and promise.reachable(prior).feasible
        assert (prior.values[first], prior.values[last]) in {("1000", "1020"), ("24000", "33000")}
    reach = Proximity(10000, 3, below=20).reachable(prior)
    assert not reach.feasible and reach.strongest == 2
    assert "ask for m=2, or widths on both sides below 20 with m=3" in reach.sentence
    assert lopsided.widest(prior) == 24000 - 1000  # four places apart
    assert Proximity(0, 3).widest(prior) == 20.0


def test_the_running_example_in_logarithms():
    below, above = math.log2(1 / (1 - 0.2)), math.log2(1 + 0.2)
    assert (round(below, 2), round(above, 2)) == (0.32, 0.26)
    rows = (10, 11, 12, 13, 20, 50, 55)
    logs, _ = prior_of([repr(math.log2(row)) for row in rows])
    plain, _ = prior_of(rows)
    groups = np.random.default_rng(1).integers(0, 3, (200, len(rows)))
    relative, absolute = Proximity(0.2, 2, "relative"), Proximity(m=2, below=below, above=above)
    assert (relative.holds(groups, plain) == absolute.holds(groups, logs)).all()
    assert relative.crowd(plain) == absolute.crowd(logs)


def test_the_example_of_lemma_2():
    """t1 and t2 against t3 to t8: 3/8 is at most the larger of 2/2 and 3/6."""
    sizes = [Proximity(10000, 2, below=20).crowd(prior_of(part)[0])[0] for part in (SALARIES[:2], SALARIES[2:])]
    whole = Proximity(10000, 2, below=20).crowd(prior_of(SALARIES)[0])[0]
    assert [*sizes, whole] == [2, 3, 3] and whole / 8 <= max(sizes[0] / 2, sizes[1] / 6)


def test_it_is_not_monotone():
    """Lemma 4, for both neighbourhoods."""
    prior, _ = prior_of((40, 50, 60, 80))
    for promise in (Proximity(15, 2), Proximity(0.3, 2, "relative")):
        assert not promise.monotone
        assert not (promise & KAnonymity(2)).monotone
        assert promise.holds([[1, 0, 1, 0], [0, 1, 0, 1]], prior).all()
        assert not promise.holds([[1, 1, 1, 1]], prior)[0]


def test_the_breach_of_table_1():
    prior, _ = prior_of(SALARIES)
    promise = Proximity(100, 2)
    group = [1, 1, 1, 0, 0, 0, 0, 1]
    assert promise.explain(group, prior) == (
        "3 of the 4 rows of this group (75.0 %) hold a number from 1000 to 1020, near to '1000'; at most 50.0 % "
        "(2 rows) is allowed, because of m=2."
    )
    assert promise.achieved([group], prior) == 1
    assert "'1000'; at most 50.0 % (1 row)" in promise.explain([2, 0, 0, 0, 0, 0, 0, 1], prior)
    assert "keeps proximity(epsilon=100, m=2)" in promise.explain([1, 0, 0, 1, 0, 0, 0, 0], prior)


def figure_3(group, below, above, m):
    """The paper's anonymity-check, line by line: it ends once j has passed the last tuple."""
    x, i, j = 1, 1, 2
    while j <= len(group):
        if group[i - 1] < group[x - 1] - below:
            i += 1
            continue
        if group[j - 1] <= group[x - 1] + above:
            j += 1
        if j > len(group) or group[j - 1] > group[x - 1] + above:
            if (j - i) * m > len(group):
                return False
            x += 1
    return True


@pytest.mark.slow
def test_figure_3_leaves_tuples_unchecked_and_misjudges_none_but_a_single_one():
    """Those after the first whose neighbourhood reaches the end have no more tuples in theirs than it has."""
    for rows in range(1, 6):
        for group in combinations_with_replacement(range(7), rows):
            for below, above, m in product(range(4), range(4), (2, 3)):
                held = (sum(x - below <= y <= x + above for y in group) for x in group)
                keeps = all(number * m <= rows for number in held)
                assert figure_3(group, below, above, m) == (keeps or rows == 1)


# ------------------------------------------------------------------------------------------------- against the oracle

NUMBERS = st.one_of(st.integers(-6, 6).map(str), st.integers(-40, 40).map(lambda n: str(n / 10)), st.just("0"))
ROWS = st.lists(st.one_of(NUMBERS, NUMBERS, NUMBERS, st.none()), min_size=1, max_size=12)
WIDTHS = st.integers(0, 40).map(lambda n: Fraction(n, 10))


@st.composite
def neighbourhoods(draw):
    kind = draw(st.sampled_from(["absolute", "relative"]))
    if kind == "relative":
        width = Fraction(draw(st.integers(0, 10)), 10)
        return kind, width, width
    return kind, draw(WIDTHS), draw(WIDTHS)


@pytest.mark.slow
@examples(400)
@given(rows=ROWS, where=neighbourhoods(), m=st.integers(1, 5), draws=st.randoms(use_true_random=False))
def test_groups_are_judged_by_the_definition(rows, where, m, draws):
    rows = [None if row is None else Fraction(row) for row in rows]
    texts = [None if row is None else str(float(row)) for row in rows]
    prior, codes = prior_of(texts)
    promise = promise_of(*where, m)
    groups = [[at for at in range(len(rows)) if draws.random() < 0.6] or [0] for _ in range(3)]
    counts = np.array([np.bincount([codes[at] for at in group], minlength=len(prior.values)) for group in groups])
    held = [[rows[at] for at in group] for group in groups]
    assert promise.holds(counts, prior).tolist() == [naive.holds(group, m, *where) for group in held]
    achieved = min(len(group) // naive.fullest(group, *where) for group in held)
    assert promise.achieved(counts, prior) == achieved
    assert promise_of(*where, achieved).holds(counts, prior).all()
    assert not promise_of(*where, achieved + 1).holds(counts, prior).all()
    for line, group in zip(counts, held, strict=True):
        if not naive.holds(group, m, *where):
            said = promise.explain(line, prior)
            assert said.startswith(f"{naive.fullest(group, *where)} of the {len(group)} row"), said
    assert promise.crowd(prior)[0] == naive.maxsize(rows, *where)


@pytest.mark.slow
@examples(200)
@given(rows=ROWS, where=neighbourhoods())
def test_the_ends_of_neighbourhoods_never_fall(rows, where):
    prior, _ = prior_of([None if row is None else str(float(row)) for row in rows])
    promise = promise_of(*where, 2)
    for ends in (*promise.windows(prior), *promise.reach(prior.numbers[np.isfinite(prior.numbers)])):
        assert (np.diff(ends) >= 0).all()
    first, last = promise.windows(prior)
    own = np.arange(len(first))
    assert (first <= own).all() and (last >= own).all()


def tiny(turn):
    """A table of at most seven rows, with ties, zeros, negatives and now and then a missing value."""
    draw = random.Random(turn)
    pool = draw.choice(
        [range(0, 4), range(-3, 4), range(-20, 21), (0, 1, 2, 4, 8, 16), (-10, -9, -1, 0, 1, 9, 10, None)]
    )
    rows = [draw.choice(list(pool)) for _ in range(draw.randint(1, 7))]
    kind = draw.choice(["absolute", "relative"])
    below = Fraction(draw.randint(0, 10), 10) if kind == "relative" else Fraction(draw.randint(0, 12), 2)
    above = below if kind == "relative" or draw.random() < 0.5 else Fraction(draw.randint(0, 12), 2)
    return rows, (kind, below, above)


@pytest.mark.slow
def test_theorem_1_against_every_partition():
    seen = set()
    for turn in range(3000):
        rows, where = tiny(turn)
        prior, _ = prior_of(rows)
        strongest = naive.strongest(exact(rows), *where)
        for m in {1, strongest, strongest + 1}:
            reach = promise_of(*where, m).reachable(prior)
            assert (reach.feasible, reach.strongest) == (m <= strongest, strongest), (rows, where, m, reach)
        seen.add((len(rows), strongest))
    assert len(seen) > 15


@pytest.mark.slow
def test_theorem_2_against_every_partition():
    step = Fraction(1, 1000)
    finite = none = 0
    for turn in range(1500):
        rows, (kind, _, _) = tiny(turn)
        prior, _ = prior_of(rows)
        m = random.Random(turn).randint(1, 4)
        widest = Proximity(0, m, kind).widest(prior)
        if widest == 0.0:
            none += 1
            assert naive.strongest(exact(rows), kind, Fraction(0), Fraction(0)) < m
        elif math.isinf(widest):
            reach = Fraction(1) if kind == "relative" else Fraction(1000)
            assert naive.strongest(exact(rows), kind, reach, reach) >= m
        else:
            finite += 1
            edge = Fraction(widest).limit_denominator(100)
            assert float(edge) == widest
            assert naive.strongest(exact(rows), kind, edge, edge) < m  # the supremum is not attained
            inside = edge * (1 - step)
            assert naive.strongest(exact(rows), kind, inside, inside) >= m
            assert not promise_of(kind, edge, edge, m).reachable(prior).feasible
            assert promise_of(kind, inside, inside, m).reachable(prior).feasible
    assert min(finite, none) > 100


@pytest.mark.slow
def test_the_oracles_agree_with_each_other():
    for turn in range(150):
        rows, where = tiny(turn)
        strongest = naive.strongest(exact(rows), *where)
        assert naive.feasible(exact(rows), strongest, *where)
        assert not naive.feasible(exact(rows), strongest + 1, *where)


# ------------------------------------------------------------------------------------------------------ what it refuses


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("proximity(epsilon=-1, m=2)", "epsilon must be a number of at least 0"),
        ("proximity(epsilon=1, m=0.5)", "m must be a whole number of at least 1, not 0.5; "),
        ("proximity(epsilon=1, m=2.5)", "m must be a whole number of at least 1, not 2.5; did you mean m=2"),
        ("proximity(epsilon=1)", "needs its parameter m"),
        ("proximity(epsilon=1, m=2, neighbourhood=near)", "absolute or relative"),
        ("proximity(epsilon=1.5, m=2, neighbourhood=relative)", "between 0 and 1 when neighbourhood=relative"),
        ("proximity(epsilon=1, m=2, neighbourhood=relative, below=1)", "belong to neighbourhood=absolute"),
        ("proximity(epsilon=nan, m=2)", "epsilon must be a number"),
    ],
)
def test_bad_parameters(text, message):
    with pytest.raises(DiscreetError, match=message):
        parse(text)


def test_texts_read_back():
    for text in (
        "proximity(epsilon=2000, m=4)",
        "proximity(epsilon=0.2, m=2, neighbourhood=relative)",
        "proximity(epsilon=10000, m=3, below=20)",
        "proximity(epsilon=0, m=1, above=0.5)",
    ):
        promise = parse(text)
        assert str(promise) == text and parse(str(promise)) == promise and hash(parse(text)) == hash(promise)
        assert pickle.loads(pickle.dumps(promise)) == promise
    assert parse("proximity(epsilon=2, m=4, neighbourhood=absolute)") == dc.Proximity(2, 4.0)


def test_attributes_that_are_no_numbers():
    promise = Proximity(1, 2)
    for kind in ("categorical", "ordinal"):
        with pytest.raises(DiscreetError, match=f"'pay' is {kind}; declare it numeric"):
            promise.holds([[1, 1]], Prior(np.array([1, 1]), ("1", "2"), kind, attribute="pay"))
    with pytest.raises(DiscreetError, match="the table has none"):
        promise.reachable(Prior(np.array([3]), ("",), attribute=None))
    with pytest.raises(DiscreetError, match="ascending order"):
        promise.reachable(Prior(np.array([1, 1]), ("2", "1"), "numeric", attribute="pay"))
    with pytest.raises(DiscreetError, match="finite"):
        promise.reachable(Prior(np.array([1, 1]), ("2", "inf"), "numeric", attribute="pay"))


def test_what_a_table_can_promise():
    constant, _ = prior_of([5] * 4)
    reach = Proximity(1, 2).reachable(constant)
    assert not reach.feasible and "which promises nothing with any epsilon; choose another" in reach.sentence
    few, _ = prior_of([1, 2, 3])
    reach = Proximity(0, 4).reachable(few)
    assert not reach.feasible and "m can be at most 3; ask for m=3 (no epsilon will do for m=4)" in reach.sentence
    crowded = Proximity(10, 3).reachable(few)
    assert "which promises nothing; ask for epsilon below 1 with m=3" in crowded.sentence
    assert "ask for m=3 or less with a smaller epsilon" in Proximity(10, 4).reachable(few).sentence
    assert Proximity(10, 1).reachable(few).feasible and math.isinf(Proximity(10, 1).widest(few))
    zeros, _ = prior_of([0, 0, 0, 5, 9, 14])
    assert Proximity(0, 2).widest(zeros) == 5.0 and Proximity(0, 2, "relative").widest(zeros) == 1.0
    assert Proximity(0, 3).widest(zeros) == 0.0


def test_a_table_gives_its_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("age,pay\n20,1e3\n30,\n40,-2.50\n50,0\n")
    prior = Prior.of(read(tmp_path / "t.csv", quasi=["age"], sensitive="pay", missing="value"))
    assert prior.values[0] == "(missing)" and prior.numbers.tolist()[1:] == [-2.5, 0.0, 1000.0]
    assert Proximity(0.5, 4, "relative").reachable(prior).feasible
    codes = np.arange(3, dtype=np.int32)
    column = Column("pay", "numeric", codes, np.array([1, 2, 3]))
    assert Prior.of(Table(3, (), column)).numbers.tolist() == [1.0, 2.0, 3.0]


def test_schemes_that_begin_with_one_group_refuse_what_it_breaks():
    pay = Column("pay", "numeric", np.arange(4, dtype=np.int32), np.array([1.0, 5.0, 9.0, 13.0]))
    age = Column("age", "numeric", np.arange(4, dtype=np.int32), np.arange(4), domain=(0, 3))
    with pytest.raises(DiscreetError, match="starts with all rows as one group, which breaks the promise"):
        Cuts().publish(Table(4, (age,), pay), Proximity(5, 2))
    assert Cuts().publish(Table(4, (age,), pay), Proximity(1, 2)).rows == 4  # where that group keeps it


def test_many_values_in_little_time():
    numbers = np.sort(np.random.default_rng(3).normal(size=20000))
    prior = Prior(np.ones(20000, int), tuple(map(str, range(20000))), "numeric", numbers=numbers)
    promise = Proximity(0.01, 5)
    reach = promise.reachable(prior)
    groups = np.arange(20000) % promise.crowd(prior)[0]  # the published round-robin
    counts = Counts.of_rows(groups, np.arange(20000), int(groups.max()) + 1, 20000)
    assert reach.feasible and promise.achieved(counts, prior) == reach.strongest


# ------------------------------------------------------------------------------------- neighbourhoods given by the user


def bands(numbers):
    """Whoever is in the same band of 10 is near, and so are the next 3."""
    low = np.floor(numbers / 10) * 10
    return low, np.maximum(low + 9, numbers + 3)


def test_a_pair_of_widths_is_below_and_above():
    pair = Proximity(m=2, neighbourhood=(20, 10000))
    assert (pair.epsilon, pair.below, pair.above, pair.neighbourhood) == (10000.0, 20.0, 10000.0, "absolute")
    assert pair == Proximity(10000, 2, below=20, above=10000) == parse("proximity(m=2, below=20, above=10000)")
    assert Proximity(m=2, neighbourhood=[20, 10000]) == Proximity(m=2, below=20, above=10000)
    prior, _ = prior_of(SALARIES)
    assert pair.crowd(prior) == Proximity(10000, 2, below=20).crowd(prior)
    assert parse(str(pair)) == pair and parse(pair.text) == pair


def test_a_function_says_what_widths_say():
    prior, _ = prior_of([None, "-2.5", "0", "0.1", "0.2", "0.3", "7"])
    absolute = Proximity(0.1, 2)
    function = Proximity(m=2, neighbourhood=lambda x: (x - 0.1, x + 0.1))
    for one, other in zip(absolute.windows(prior), function.windows(prior), strict=True):
        assert one.tolist() == other.tolist()
    assert function.reachable(prior).strongest == absolute.reachable(prior).strongest


@examples(100)
@given(rows=ROWS, m=st.integers(1, 4), draws=st.randoms(use_true_random=False))
def test_what_is_stated_is_what_the_function_says(rows, m, draws):
    texts = [None if row is None else str(float(Fraction(row))) for row in rows]
    prior, codes = prior_of(texts)
    promise = Proximity(m=m, neighbourhood=bands)
    stated = promise.stated(prior)
    assert parse(stated.text) == stated
    if set(rows) == {None}:
        assert stated == Proximity(0, m)
    else:
        assert str(stated) == f"proximity(m={m}, neighbourhood=stated)"
    for one, other in zip(promise.windows(prior), stated.windows(prior), strict=True):
        assert one.tolist() == other.tolist()
    numbers = [None if text is None else float(text) for text in texts]

    def near(x, y):
        return x is y if x is None or y is None else bands(np.array([x]))[0] <= y <= bands(np.array([x]))[1]

    group = [at for at in range(len(rows)) if draws.random() < 0.6] or [0]
    fullest = max(sum(bool(near(numbers[a], numbers[b])) for b in group) for a in group)
    counts = np.bincount([codes[at] for at in group], minlength=len(prior.values))
    assert bool(promise.holds(counts[None], prior)[0]) == (fullest * m <= len(group))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (x + 1, x + 2), "the neighbourhood of 1 goes from 2 to 3 and does not contain it"),
        (lambda x: (-x, x), "the neighbourhood of 2 begins at -2, below where that of 1 begins .-1.; its ends must"),
        (lambda x: (x, 9 - x), "the neighbourhood of 2 ends at 7, below where that of 1 ends .8."),
        (lambda x: (x - np.nan, x), "the neighbourhood of 1 has an end that is not a number"),
        (lambda x: x, "the function that gives the neighbourhoods failed"),
        (lambda x: (x[:2], x), "the function that gives the neighbourhoods failed"),
        (lambda x: 1 / 0, "failed .division by zero.; from an array of numbers it must make two arrays"),
    ],
)
def test_functions_that_give_no_neighbourhoods(function, message):
    prior, _ = prior_of([1, 2, 4])
    with pytest.raises(DiscreetError, match=message):
        Proximity(m=2, neighbourhood=function).reachable(prior)


def test_ends_may_be_infinite_and_a_number():
    prior, _ = prior_of([1, 2, 400, 900])
    rich = Proximity(m=2, neighbourhood=lambda x: (np.where(x > 300, 300, x), np.where(x > 300, np.inf, x)))
    assert [codes.tolist() for codes in rich.windows(prior)] == [[0, 1, 2, 2], [0, 1, 3, 3]]
    assert parse(rich.stated(prior).text).windows(prior)[1].tolist() == [0, 1, 3, 3]
    assert Proximity(m=2, neighbourhood=lambda x: (-np.inf, np.inf)).reachable(prior).strongest == 1


def test_what_a_function_can_not_do():
    prior, _ = prior_of([1, 2, 4])
    promise = Proximity(5, 3, neighbourhood=bands)
    with pytest.raises(DiscreetError, match="cannot be written down, so nobody could audit"):
        _ = promise.text
    with pytest.raises(DiscreetError, match="has no epsilon"):
        promise.widest(prior)
    assert "ask for smaller neighbourhoods" in promise.reachable(prior).sentence
    assert str(promise) == "proximity(m=3, neighbourhood=a function)"
    stated = promise.stated(prior)
    with pytest.raises(DiscreetError, match="states no neighbourhood of the number 3"):
        stated.reachable(prior_of([1, 2, 3, 4])[0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"m": 2}, "needs its parameter epsilon"),
        ({"epsilon": 2}, "needs its parameter m"),
        ({"m": 2, "below": 3}, "needs its parameter epsilon"),
        ({"m": 2, "neighbourhood": (1, 2), "below": 3}, "says the same as below and above; give only one"),
        ({"m": 2, "neighbourhood": (1, -2)}, "a pair of widths"),
        ({"m": 2, "neighbourhood": (1, 2, 3)}, "a pair of widths"),
        ({"m": 2, "neighbourhood": bands, "below": 3}, "not to ends that are given"),
        ({"m": 2, "neighbourhood": "stated"}, "needs the ends of the neighbourhood of every number"),
        ({"m": 2, "epsilon": 1, "ends": ((1, 1, 1),)}, "ends belong to neighbourhood=stated"),
        (
            {"m": 2, "neighbourhood": "stated", "ends": ((2, 1, 3), (1, 0, 2))},
            "ends must be numbers in ascending order",
        ),
        ({"m": 2, "neighbourhood": "stated", "ends": "x"}, "ends must be numbers in ascending order"),
        ({"m": 2, "neighbourhood": "stated", "ends": ((1, 2, 3),)}, "the neighbourhood of 1 goes from 2 to 3"),
        ({"m": 2, "neighbourhood": 5}, "absolute or relative, a pair of widths"),
        ({"m": 2, "below": "a", "above": 1}, "below must be a number of at least 0"),
    ],
)
def test_parameters_that_do_not_go_together(given, message):
    with pytest.raises(DiscreetError, match=message):
        Proximity(**given)


def test_a_function_is_published_and_audited_from_the_files(tmp_path):
    rng = np.random.default_rng(2)
    table = read(
        pa.table({"age": rng.integers(20, 60, 200), "pay": rng.integers(0, 300, 200)}), quasi=["age"], sensitive="pay"
    )
    release = dc.publish(table, Proximity(m=3, neighbourhood=bands))
    assert release.manifest["promise"][0].startswith("proximity(m=3, neighbourhood=stated, ends=0:0:9 ")
    release.save(tmp_path / "release")
    found = dc.audit(tmp_path / "release", table)
    assert found.holds and found.promises[0].promise == "proximity(m=3, neighbourhood=stated)"
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    manifest["promise"] = [manifest["promise"][0].replace("ends=0:0:9 ", "ends=")]
    (tmp_path / "release" / "release.json").write_text(json.dumps(manifest))
    found = dc.audit(tmp_path / "release", table)
    assert not found.holds and "states no neighbourhood of the number 0" in found.promises[0].sentence
    with pytest.raises(DiscreetError, match="cannot be written down"):
        GeneralizedRelease.from_groups(
            table, np.zeros(200, np.int32), promise=Proximity(m=1, neighbourhood=bands), scheme="mine"
        )


# ------------------------------------------------------------------------------------------------- at the command line

GOOD = [str(number * 37 % 101) for number in range(12)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "promise", "says"),
    [
        (["low", "high"] * 6, "proximity(epsilon=1, m=2)", "'pay' is categorical; declare it numeric"),
        ([*GOOD[:-1], "inf"], "proximity(epsilon=1, m=2)", "pay"),
        ([*GOOD[:-1], "NaN"], "proximity(epsilon=1, m=2)", "pay"),
        ([*GOOD[:-1], ""], "proximity(epsilon=1, m=2)", "pay"),
        (GOOD, "proximity(epsilon=-1, m=2)", "epsilon must be a number of at least 0, not -1"),
        (GOOD, "proximity(epsilon=1, m=0)", "m must be a whole number of at least 1, not 0"),
        (GOOD, "proximity(epsilon=1, m=1.5)", "m must be a whole number of at least 1, not 1.5; did you mean m=1"),
        (GOOD, "proximity(epsilon=0, m=13)", "m can be at most 12; ask for m=12"),
        (["5"] * 12, "proximity(epsilon=1, m=2)", "m can be at most 1, which promises nothing with any epsilon"),
        (GOOD, "proximity(epsilon=1, m=2, neighbourhood=relative, above=1)", "belong to neighbourhood=absolute"),
        (GOOD, "proximity(m=2, neighbourhood=stated, ends=0:0:1)", "states no neighbourhood of the number 3"),
    ],
)
@pytest.mark.parametrize("numeric", [True, False])
def test_errors_are_one_sentence_and_leave_nothing(tmp_path, numbers, promise, says, numeric):
    source = tmp_path / "people.csv"
    source.write_text("age,pay\n" + "".join(f"{20 + at},{number}\n" for at, number in enumerate(numbers)))
    words = ["publish", str(source), "-o", str(tmp_path / "out"), "--quasi", "age", "--sensitive", "pay"]
    words += ["--trace", str(tmp_path / "trace.csv"), "--promise", promise, *(["--numeric", "pay"] if numeric else [])]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2, done.output
    lines = [line for line in done.output.splitlines() if line.startswith("discreet:")]
    assert len(lines) == 1 and (says in lines[0] or (numeric and "low" in numbers)), done.output
    assert "Traceback" not in done.output and sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]
    plan = CliRunner().invoke(main, ["plan", str(source), "--quasi", "age", "--sensitive", "pay"])
    assert plan.exit_code in (0, 2) and "Traceback" not in plan.output


@pytest.mark.slow
def test_plan_answers_for_every_table(tmp_path):
    for at, numbers in enumerate((["5"] * 4, ["1"], GOOD, ["1e308", "-1e308", "0", "1"], ["", "1", "2", "2"])):
        source = tmp_path / f"{at}.csv"
        source.write_text("age,pay\n" + "".join(f"{20 + at},{number}\n" for at, number in enumerate(numbers)))
        words = ["plan", str(source), "--quasi", "age", "--sensitive", "pay", "--numeric", "pay", "--json"]
        for asked in ([], ["--epsilon", "1"], ["--m", "2"], ["--epsilon", "0", "--m", "2"]):
            for how in ("absolute", "relative"):
                done = CliRunner().invoke(main, [*words, *asked, "--neighbourhood", how])
                assert done.exit_code in (0, 1), done.output
                assert json.loads(done.stdout)["proximity"]["neighbourhood"] == how
        for wrong in (["--epsilon", "-1"], ["--m", "0.5"], ["--m", "2.5"], ["--epsilon", "nan"]):
            done = CliRunner().invoke(main, [*words, *wrong])
            assert done.exit_code == 2 and "discreet: proximity: " in done.output, done.output


def test_plan_with_given_neighbourhoods():
    table = read(pa.table({"age": list(range(8)), "pay": list(SALARIES)}), quasi=["age"], sensitive="pay")
    for ends in ((20, 10000), lambda x: (x - 20, x + 10000)):
        told = dc.plan(table, neighbourhood=ends)
        assert told.proximity is not None and told.proximity.largest_m == 2 and told.feasible
        assert dc.plan(table, m=2, neighbourhood=ends).feasible
        refused = dc.plan(table, m=3, neighbourhood=ends)
        assert not refused.feasible and "m can be at most 2" in refused.as_dict()["proximity"]["sentences"][0]


# ----------------------------------------------------------------------------- many digits, and what can be asked for

DIGITS = {
    "whole": st.integers(2**53 - 40, 2**53).map(float),
    "times": st.integers(0, 30).map(lambda at: 1.7e15 + at),
    "seconds": st.integers(0, 60).map(lambda at: float(f"1700000000.{at:06d}")),
    "cents": st.integers(-(10**7), 10**7).map(lambda at: at / 100),
    "tiny": st.integers(0, 900).map(lambda at: float(f"{at}e-14")),
    "least": st.integers(0, 90).map(lambda at: at * 5e-324),
    "huge": st.integers(-90, 90).map(lambda at: at * 1.99e306),
    "any": st.floats(allow_nan=False, allow_infinity=False),
    "close": st.integers(0, 40).map(lambda at: 0.1 + at * 2.0**-56),
}


@pytest.mark.slow
@examples(150)
@given(
    data=st.data(),
    digits=st.sampled_from(sorted(DIGITS)),
    kind=st.sampled_from(["absolute", "relative"]),
    m=st.integers(1, 8),
)
def test_everything_below_the_widest_can_be_kept_and_itself_not(data, digits, kind, m):
    rows = sorted(data.draw(st.lists(DIGITS[digits], min_size=1, max_size=24)))
    values, counts = np.unique(np.array(rows) + 0.0, return_counts=True)
    prior = Prior(counts, tuple(map(repr, values.tolist())), "numeric")
    widest = Proximity(0, m, kind).widest(prior)
    if widest == 0.0:
        assert not Proximity(0, m, kind).reachable(prior).feasible
        return
    said = rounded_down(widest)
    assert said <= widest and (said >= widest * (1 - 1e-4) or widest < 1e-319)
    most = 1.0 if kind == "relative" else 1.7e308
    for epsilon in (0.0, said / 2, math.nextafter(said, 0.0), math.nextafter(widest, 0.0)):
        assert Proximity(min(epsilon, most), m, kind).reachable(prior).feasible, (rows, epsilon)
    assert Proximity(min(widest, most), m, kind).reachable(prior).feasible == math.isinf(widest)


@pytest.mark.slow
@examples(150)
@given(
    rows=st.lists(st.integers(-3000, 3000), min_size=1, max_size=9),
    places=st.integers(0, 17),
    width=st.integers(0, 900),
    kind=st.sampled_from(["absolute", "relative"]),
)
def test_numbers_are_as_near_as_their_decimals_say(rows, places, width, kind):
    values = sorted(set(rows))
    prior = Prior(np.ones(len(values), int), tuple(f"{value}e-{places}" for value in values), "numeric")
    epsilon, scale = (f"{width}e-3", 1000) if kind == "relative" else (f"{width}e-{places}", 1)
    first, last = Proximity(float(epsilon), 2, kind).windows(prior)
    for code, value in enumerate(values):
        reach = width * (abs(value) if kind == "relative" else 1)
        held = [other for other, y in enumerate(values) if abs(y - value) * scale <= reach]
        assert (first[code], last[code]) == (held[0], held[-1])


def test_times_of_sixteen_digits():
    times = tuple(str(1700000000000000 + at) for at in range(200))
    prior = Prior(np.ones(200, int), times, "numeric")
    for kind in ("absolute", "relative"):
        assert Proximity(0, 200, kind).reachable(prior).feasible
    assert Proximity(0.5, 200).reachable(prior).feasible and Proximity(0, 200).widest(prior) == 1.0
    assert Proximity(1, 2).windows(prior)[1].tolist() == [*range(1, 200), 199]
    stated = Proximity(m=200, neighbourhood=lambda x: (x, x)).stated(prior)
    assert stated.reachable(prior).feasible


def test_widths_are_never_rounded_up():
    for width in (1e-14, 0.1 + 0.2, 2.4792e-11, 1.23456789e-300, 5e-324, 1e-320, 99999.99, 0.000123455, math.inf, 0.0):
        read = rounded_down(width)
        assert read <= width and (read > 0) == (width > 0) and len(repr(read)) <= 11
