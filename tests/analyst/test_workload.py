"""Random workloads: their shape, their selectivity, and the errors measured with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet.analyst.workload import WorkloadResult, _run, run, workload
from discreet.datasets import LIKENESS_QUASI, census, patients
from discreet.errors import DiscreetError
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Column, Table
from support.releases import publish

ROWS = 20_000


def uniform_table(seed: int = 0) -> Table:
    """Independent attributes of every kind, all values equally frequent."""
    rng = np.random.default_rng(seed)

    def codes(number: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return rng.integers(0, number, ROWS).astype(np.int32)

    names = [f"v{i:02}" for i in range(23)]
    grades = np.array(["low", "fair", "good", "high", "top"], object)
    weights = np.sort(rng.random(ROWS) * 80)
    return Table(
        ROWS,
        (
            Column("age", "numeric", codes(79), np.arange(17, 96), domain=(17.0, 95.0)),
            Column("weight", "numeric", rng.permutation(ROWS).astype(np.int32), weights, domain=(0.0, 80.0)),
            Column("job", "categorical", codes(23), np.array(names, object), dc.Hierarchy.flat("job", names)),
            Column("grade", "ordinal", codes(5), grades),
        ),
        Column("salary", "numeric", codes(50), np.arange(1, 51), domain=(1.0, 50.0)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("dimensionality", [1, 2, 3, 4])
@pytest.mark.parametrize("selectivity", [0.05, 0.1, 0.25])
def test_the_mean_selectivity_on_uniform_data_is_the_one_wanted(dimensionality: int, selectivity: float) -> None:
    """Within 5 %, which is 15 standard errors of the mean of 3,000 queries or more: chance alone never fails it."""
    table = uniform_table()
    queries = workload(table, dimensionality=dimensionality, selectivity=selectivity, number=3_000, seed=1)
    mean = exact_counts(table, queries).mean() / ROWS
    assert mean == pytest.approx(selectivity, rel=0.05)


def test_queries_ask_for_some_quasi_identifiers_and_always_for_the_sensitive_attribute() -> None:
    """Each of four is asked for by half of 2,000 queries: 100 off are 4.5 deviations, once in 30,000 runs for any."""
    table = uniform_table()
    asked = dict.fromkeys(table.quasi_names, 0)
    for query in workload(table, dimensionality=2, number=2_000):
        *names, last = [condition.attribute for condition in query.conditions]
        assert last == "salary" and len(set(names)) == 2
        for name in names:
            asked[name] += 1
    assert all(900 <= times <= 1100 for times in asked.values()), asked


@pytest.mark.slow
def test_ranges_have_the_length_that_the_paper_gives_them() -> None:
    """Means of 1,500 lengths, each rounded up or down, are 0.05 off less than once in 2,000 runs: 3.8 deviations."""
    table = uniform_table()
    share = 0.1 ** (1 / 4)
    lengths: dict[str, list[float]] = {column.name: [] for column in table.columns}
    for query in workload(table, dimensionality=3, selectivity=0.1, number=2_000):
        for condition in query.conditions:
            column = table.column(condition.attribute)
            if isinstance(condition, OneOf):
                ranks = [column.values.tolist().index(value) for value in condition.values]
                assert ranks == list(range(ranks[0], ranks[0] + len(ranks)))
                lengths[column.name].append(len(ranks))
            else:
                assert column.domain is not None
                low, high = float(condition.low or 0), float(condition.high or 0)
                assert column.domain[0] <= low <= high <= column.domain[1] + 1e-9
                lengths[column.name].append(high - low + (column.name != "weight"))
    assert np.allclose(lengths["weight"], 80 * share)
    for name, size in (("age", 79), ("job", 23), ("grade", 5), ("salary", 50)):
        assert set(lengths[name]) == {math.floor(size * share), math.ceil(size * share)}
        assert np.mean(lengths[name]) == pytest.approx(size * share, abs=0.05)


def test_a_whole_number_of_values_is_not_rounded_down_to_one_less() -> None:
    """29 % of 100 values are 29, though 100 * 0.29 is 28.999999999999996 in binary; 28.9 % are 28."""
    assert 100 * 0.29 < 29
    chance = np.random.default_rng(0)
    assert [_run(100, share, chance, True)[1] for share in (0.29, 0.289, 0.001)] == [29, 28, 1]


@pytest.mark.slow
def test_a_seed_repeats_a_workload() -> None:
    table = patients()
    assert workload(table, number=50, seed=3) == workload(table, number=50, seed=3)
    assert workload(table, number=50, seed=3) != workload(table, number=50, seed=4)
    assert len(workload(table)) == 10_000


def test_workloads_that_cannot_be_are_refused() -> None:
    table = patients()
    for options, said in (
        ({"dimensionality": 9}, "9 of the 3 quasi-identifiers"),
        ({"dimensionality": -1}, "-1 of the 3"),
        ({"selectivity": 1.0}, "between 0 and 1"),
        ({"selectivity": 0.0}, "between 0 and 1"),
        ({"number": 0}, "at least one query"),
    ):
        with pytest.raises(DiscreetError, match=said):
            workload(table, **options)  # type: ignore[arg-type]
    nobody = Table(table.rows, table.quasi, None)
    assert len(workload(nobody, dimensionality=2, number=1)[0].conditions) == 2
    with pytest.raises(DiscreetError, match="0 of the 3"):
        workload(nobody, dimensionality=0)


def test_missing_values_stand_in_no_range() -> None:
    sizes = Column(
        "size", "ordinal", np.array([0, 1, 2], np.int32), np.array(["(missing)", "s", "l"], object), missing=0
    )
    ages = Column("age", "numeric", np.array([0, 1, 2], np.int32), np.array([math.nan, 20, 30]), missing=0)
    for query in workload(Table(3, (sizes, ages), None), selectivity=0.9, number=50):
        for condition in query.conditions:
            assert isinstance(condition, Range) or "(missing)" not in condition.values


def test_zero_counts_are_dropped_and_counted() -> None:
    table = Table(4, (Column("age", "numeric", np.array([0, 0, 1, 1], np.int32), np.array([20, 23])),), None)
    queries = [Query(Range("age", 20, 21)), Query(Range("age", 21, 22)), Query(Range("age", 20, 20)), Query()]
    result = run(publish(table, [0] * 4), table, queries)
    # estimates 2, 2, 1, 4 where 2, 0, 2, 4 are true
    assert result == WorkloadResult(median=0.0, mean=pytest.approx(0.5 / 3), dropped=1, queries=4)
    assert result == run(publish(table, [0] * 4), table, queries, exact=[2, 0, 2, 4])
    nothing = run(publish(table, [0] * 4), table, queries[1:2])
    assert math.isnan(nothing.median) and math.isnan(nothing.mean) and nothing.dropped == 1
    assert result.dropped == 1


def test_finer_groups_answer_better() -> None:
    table = census(5_000, quasi=LIKENESS_QUASI[:3])
    queries = workload(table, number=500)
    errors = [
        run(dc.publish(table, dc.KAnonymity(k), "cuts(snap=false)"), table, queries).median for k in (1, 20, 1000)
    ]
    assert errors[0] < errors[1] < errors[2]
    assert errors[0] < 0.01
