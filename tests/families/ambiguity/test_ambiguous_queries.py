"""Count queries on ambiguous releases: the paper's examples, an oracle over the files, and what the estimates cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.queries import relative_errors
from discreet.analyst.workload import workload
from discreet.datasets import HETEROGENEOUS_QUASI, census
from discreet.errors import DiscreetError
from discreet.families.ambiguity import estimate as ambiguous_estimating
from discreet.families.ambiguity import release as ambiguous_release
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.families.ambiguity.weights import Spread, expected_numbers, likely_spread
from discreet.principles import KAnonymity
from discreet.releases import load
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Column, Table
from naive import ambiguous_estimates as naive
from support.queries import random_query
from support.releases import publish as generalize
from support.releases import random_groups, random_table


def publish(table: Table, groups: Any, **options: Any) -> AmbiguousRelease:
    return AmbiguousRelease.from_groups(
        table, np.asarray(groups, np.int32), promise=KAnonymity(1), scheme="by-hand", **options
    )


@pytest.fixture
def figure_2() -> AmbiguousRelease:
    microdata = pa.table(
        {
            "age": [45, 20, 50, 60, 20, 50, 60, 60],
            "gender": list("MMMMFFFF"),
            "zipcode": ["11000", "12000", "23000", "12000", "54000", "23000", "23000", "21000"],
            "disease": ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"],
        }
    )
    table = dc.read(microdata, quasi=["age", "gender", "zipcode"], sensitive="disease", categorical=["zipcode"])
    return publish(table, [1] * 4 + [2] * 4)


def test_the_queries_of_the_paper(figure_2: AmbiguousRelease) -> None:
    """Query 1 of Section 1.1, Query 2 of Example 6.1."""
    first = "SELECT COUNT(*) FROM t WHERE disease = 'stroke' AND age >= 45"
    second = "SELECT COUNT(*) FROM t WHERE age >= 50 AND zipcode = '23000' AND disease = 'diabetes'"
    assert figure_2.estimate(first) == pytest.approx(3 / 4)
    assert figure_2.estimate(second) == pytest.approx(7 / 18)


def blocks_of(rng: np.random.Generator, table: Table) -> list[list[str]]:
    """Some quasi-identifiers in twos and threes."""
    names = rng.permutation(table.quasi_names).tolist()
    return [names[:2], names[2:5]][: int(rng.integers(0, 3))]


@pytest.mark.slow
@given(kind=st.sampled_from(["categorical", "numeric", "ordinal"]), rows=st.integers(1, 25), seed=st.integers(0, 2**20))
@settings(max_examples=25)
def test_estimates_are_those_of_going_through_the_files(
    tmp_path_factory: pytest.TempPathFactory, kind: str, rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, rows, kind)
    table = Table(table.rows, table.quasi, table.sensitive_attribute)
    release = publish(table, random_groups(rng, table), blocks=blocks_of(rng, table))
    queries = [random_query(rng, table, release) for _ in range(8)]  # type: ignore[arg-type]
    home = release.save(tmp_path_factory.mktemp("saved") / "release")
    wanted = [float(naive.estimate(home, query)) for query in queries]
    np.testing.assert_allclose(release.estimates(queries), wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(load(home).estimates(queries), wanted, rtol=1e-9, atol=1e-9)


def small(seed: int = 3) -> tuple[Table, AmbiguousRelease]:
    table = census(3_000, quasi=HETEROGENEOUS_QUASI, sensitive="salary")
    groups = np.random.default_rng(seed).permutation(3_000) // 20
    return table, publish(table, groups, blocks=[["age", "gender"]])


@pytest.mark.parametrize("estimator", ["product", "weighted"])
def test_whatever_covers_everything_returns_all_rows(estimator: Any) -> None:
    table, release = small()
    every = [
        Range(column.name) if column.kind == "numeric" else OneOf(column.name, tuple(column.values.tolist()))
        for column in table.columns
    ]
    assert release.estimates([Query(), Query(tuple(every))], estimator).tolist() == [3_000, 3_000]
    assert release.estimates([], estimator).tolist() == []


@pytest.mark.parametrize("estimator", ["product", "weighted"])
def test_answers_do_not_depend_on_what_is_remembered(estimator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table, release = small()
    queries = workload(table, number=60)
    together = release.estimates(queries, estimator)
    for name, one_more in (("LINES", 1), ("ROOM", 100)):
        monkeypatch.setattr(ambiguous_estimating, name, one_more)
        np.testing.assert_allclose(release.estimates(queries, estimator), together, rtol=1e-12)


def test_one_query_is_the_sum_of_its_parts() -> None:
    _, release = small()
    known = release.known_values("gender").tolist()
    parts = [Query((OneOf("gender", (one,)), Range("age", 30, 50))) for one in known]
    assert release.estimates(parts).sum() == pytest.approx(release.estimate(Query(Range("age", 30, 50))))


def test_what_cannot_be_answered_is_refused(figure_2: AmbiguousRelease) -> None:
    for query, said in (
        (Query(Range("agee", 1)), "no column 'agee' in the release; did you mean 'age' or"),
        (Query(Range("gender", "F")), "'gender' has no order"),
    ):
        with pytest.raises(DiscreetError) as fault:
            figure_2.estimate(query)
        assert said in str(fault.value)
    with pytest.raises(DiscreetError, match=r"has no estimator 'em'; it has product .* and weighted"):
        figure_2.estimates([Query()], "em")


# ------------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("concentration", [None, 5.0, 0.5])
@pytest.mark.parametrize(("frequencies", "size"), [([0.5, 0.3, 0.2], 3), ([0.6, 0.3, 0.1], 6), ([0.9, 0.1], 9)])
def test_expected_numbers_are_near_those_of_all_counts(
    frequencies: list[float], size: int, concentration: float | None
) -> None:
    """The rate stands for the condition on the sum: exact where all numbers are 1, within a tenth in small groups."""
    places = np.zeros(len(frequencies), np.intp), np.arange(len(frequencies))
    found = expected_numbers(*places, Spread(np.array(frequencies), concentration), np.array([float(size)]))
    assert found.sum() == pytest.approx(size)
    np.testing.assert_allclose(found, naive.expected_numbers(frequencies, size, concentration), rtol=0.1)


@pytest.mark.parametrize("concentration", [None, 20.0, 2.0])
def test_the_spread_is_found_again_from_the_sets_of_random_groups(concentration: float | None) -> None:
    """4,000 groups of 8: the standard error of the largest share is below .01."""
    rng = np.random.default_rng(0)
    truth = np.array([0.55, 0.25, 0.12, 0.05, 0.03])
    own = np.tile(truth, (4_000, 1)) if concentration is None else rng.dirichlet(concentration * truth, 4_000)
    held = np.stack([rng.multinomial(8, one / one.sum()) for one in own]) > 0
    found = likely_spread(held.sum(axis=0), np.full(4_000, 8.0))
    np.testing.assert_allclose(found.frequencies, truth, atol=0.03)
    assert found.draws == pytest.approx(1.0, rel=0.1)
    if concentration is None:
        assert found.concentration is None or found.concentration > 100
    else:
        assert found.concentration == pytest.approx(concentration, rel=0.3)


def test_groups_that_prefer_new_values_are_taken_to_have_been_drawn_from_more_rows() -> None:
    """Of 16 random rows each group keeps 8, those with new values first."""
    rng = np.random.default_rng(1)
    truth = np.array([0.4, 0.2, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
    held = np.stack([np.bincount(rng.choice(8, 16, p=truth), minlength=8) > 0 for _ in range(4_000)])
    found = likely_spread(held.sum(axis=0), np.full(4_000, 8.0))
    assert found.concentration is None and found.draws == pytest.approx(2.0, rel=0.1)
    np.testing.assert_allclose(found.frequencies, truth, atol=0.03)


def test_what_every_group_shows_shares_what_the_others_leave() -> None:
    found = likely_spread(np.array([100, 100, 10]), np.full(100, 20.0))
    rare = 1 - 0.9 ** (1 / 20)
    assert found.frequencies == pytest.approx([(1 - rare) / 2, (1 - rare) / 2, rare])
    assert likely_spread(np.array([1, 1, 1]), np.array([5.0])).frequencies == pytest.approx([1 / 3] * 3)


def test_weighing_common_values_lowers_the_error_where_values_are_skewed() -> None:
    table, release = small()
    queries = workload(table, dimensionality=3, selectivity=0.1, number=500)
    exact = exact_counts(table, queries)
    even, weighed = (
        np.nanmedian(relative_errors(release.estimates(queries, estimator), exact))
        for estimator in ("product", "weighted")
    )
    assert weighed < even / 3


def test_values_are_weighed_by_default_when_there_are_groups_enough_to_judge_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, release = small()
    queries = workload(table, dimensionality=3, selectivity=0.1, number=20)
    by_default = release.estimates(queries)
    assert by_default.tolist() == release.estimates(queries, "weighted").tolist()
    monkeypatch.setattr(ambiguous_release, "ENOUGH", release.groups + 1)
    assert release.estimates(queries).tolist() == release.estimates(queries, "product").tolist()
    assert release.estimates(queries).tolist() != by_default.tolist()


def test_weights_of_a_group_without_repeated_values_are_equal() -> None:
    ages = Column("age", "numeric", np.array([0, 1, 2, 0, 0, 1, 0, 0], np.int32), np.array([20, 30, 40]))
    sick = Column("sick", "ordinal", np.array([0, 1, 0, 1, 0, 1, 1, 0], np.int32), np.array(["no", "yes"], object))
    release = publish(Table(8, (ages,), sick), [0, 0, 0, 1, 1, 1, 2, 2])
    shares = [
        release.weights[at] / np.bincount(one.groups, release.weights[at])[one.groups]
        for at, one in enumerate(release.auxiliaries)
    ]
    alone = np.bincount(release.auxiliaries[0].groups) == 3
    held = shares[0][alone[release.auxiliaries[0].groups]]
    np.testing.assert_allclose(held, [1 / 3] * 3, rtol=1e-3)
    two = np.bincount(release.auxiliaries[0].groups) == 2
    assert shares[0][two[release.auxiliaries[0].groups]].max() > 0.52


# ------------------------------------------------------------------------------------------------------- Theorem 6.1


def test_ambiguity_is_not_always_better_than_the_generalization_of_the_same_groups() -> None:
    """Theorem 6.1 takes both estimates to be too low. Nine people of 1 and one of 10: the box from 1 to 10 is right
    about the one by chance, the set of the values 1 and 10 takes them to be five."""
    age = Column("age", "numeric", np.array([0] * 9 + [1], np.int32), np.array([1, 10]), domain=(1.0, 10.0))
    sick = Column("sick", "ordinal", np.array([0, 1] * 5, np.int32), np.array(["no", "yes"], object))
    table = Table(10, (age,), sick)
    query = Query(OneOf("age", (10,)))
    assert query.count(table) == 1
    assert generalize(table, [0] * 10).estimate(query) == pytest.approx(1.0)
    assert publish(table, [0] * 10).estimate(query) == pytest.approx(5.0)


def test_nor_is_it_where_no_value_is_repeated() -> None:
    """Nine people from 20 to 28 and one of 60; the youngest and the oldest are sick."""
    old = np.arange(10, dtype=np.int32)
    age = Column("age", "numeric", old, np.array([20, 21, 22, 23, 24, 25, 26, 27, 28, 60]), domain=(20.0, 60.0))
    sick = Column("sick", "ordinal", (old % 9 == 0).astype(np.int32), np.array(["no", "yes"], object))
    table = Table(10, (age,), sick)
    query = Query((Range("age", 20, 28), OneOf("sick", "yes")))
    boxes, sets = generalize(table, [0] * 10).estimate(query), publish(table, [0] * 10).estimate(query)
    assert query.count(table) == 1
    assert sets == pytest.approx(2 * 9 / 10) and boxes == pytest.approx(2 * 9 / 41)
    assert abs(boxes - 1) < abs(sets - 1)


# ---------------------------------------------------------------------------------------------------------- compare


@pytest.mark.slow
def test_a_comparison_gives_every_scheme_the_same_promise_and_shows_who_refuses() -> None:
    table = census(600, quasi=HETEROGENEOUS_QUASI[:4], sensitive="salary")
    hidden, certain = "alpha-beta(alpha=0.5, beta=0.2)", "alpha-beta(alpha=1, beta=0.2)"
    told = dc.compare(table, [hidden, certain], ["ambiguity", "cuts", "anatomy"], queries=40, random_state=1)
    assert told.holds
    by_name = {(result.promise, result.scheme): result for result in told.results}
    assert set(by_name) == {
        (promise, name) for promise in (hidden, certain) for name in ("ambiguity", "cuts", "anatomy")
    }
    refused = {key: result.refusal for key, result in by_name.items() if result.refusal is not None}
    assert list(refused) == [(hidden, "anatomy")]
    assert "who is in the table is certain" in refused[hidden, "anatomy"]
    assert "anatomy" in told.page("census") and "who is in the table is certain" not in told.page("census")
    for key, result in by_name.items():
        if key not in refused:
            assert result.audit is not None and result.audit.holds and result.workload is not None


# ------------------------------------------------------------------------------------------------------------- speed


def test_ten_thousand_queries_are_answered_without_a_pass_over_the_entries_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Conditions are put into numbers once: as many passes as distinct conditions."""
    table, release = small()
    passes = 0
    admits = ambiguous_estimating._Table.admits

    def counted(self: Any, conditions: Any) -> Any:
        nonlocal passes
        passes += 1
        return admits(self, conditions)

    monkeypatch.setattr(ambiguous_estimating._Table, "admits", counted)
    queries = workload(table, number=2_000)
    distinct = {(name, conditions) for query in queries for name, conditions in query.by_attribute.items()}
    release.estimates(queries)
    paired = {"age", "gender"}
    alone = sum(name not in paired for name, _ in distinct)
    both = {tuple(query.by_attribute.get(name, ()) for name in ("age", "gender")) for query in queries} - {((), ())}
    assert passes == alone + len(both)


def test_a_query_weighs_no_table_but_those_it_asks_for() -> None:
    _, release = small()
    release.estimate(Query(Range("age", 30, 50)))
    asked = [at for at, block in enumerate(release.blocks) if "age" in block]
    assert sorted(release.weights) == asked


def test_entries_are_added_up_once_for_all_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over the entries of each table that is asked for, however many conditions and queries there are."""
    table, release = small()
    release.estimates(workload(table, number=10))  # what tables weigh is known from here on
    passes = 0
    weigh = ambiguous_estimating._Table.weigh

    def counted(self: Any, conditions: Any) -> Any:
        nonlocal passes
        passes += 1
        return weigh(self, conditions)

    monkeypatch.setattr(ambiguous_estimating._Table, "weigh", counted)
    release.estimates(workload(table, number=500))
    assert passes == len(release.blocks) + 1
