"""The generated tables have the attributes, the skew and the dependences they claim."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow.csv
import pytest
from numpy.typing import NDArray

from discreet.datasets import (
    DOMAINS,
    HETEROGENEOUS_QUASI,
    LIKENESS_QUASI,
    census,
    census_arrow,
    census_hierarchies,
    diseases,
    patients,
    patients_arrow,
)
from discreet.datasets.census import ATTRIBUTES, Conditional, quotas
from discreet.datasets.vocabulary import SALARY_SHARES
from discreet.errors import DiscreetError
from discreet.table.table import Column, Table

QUASI = tuple(name for name in ATTRIBUTES if name != "salary")


@pytest.fixture(scope="module")
def large() -> Table:
    return census(500_000, quasi=QUASI)


def columns(table: Table) -> dict[str, Column]:
    assert table.sensitive_attribute is not None
    return {column.name: column for column in (*table.quasi, table.sensitive_attribute)}


def crosstab(one: Column, two: Column) -> NDArray[np.int64]:
    width = len(two.values)
    joint = np.bincount(one.codes.astype(np.int64) * width + two.codes, minlength=len(one.values) * width)
    return joint.reshape(-1, width)


def information(joint: NDArray[np.int64]) -> float:
    """Mutual information in nats."""
    share = joint / joint.sum()
    alone = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    seen = share > 0
    return float((share[seen] * np.log(share[seen] / alone[seen])).sum())


@pytest.mark.parametrize(
    ("name", "cardinality", "height"),
    [
        *[("age", 79, None), ("gender", 2, 1), ("education", 17, None), ("marital", 6, 2), ("race", 9, 2)],
        *[("work_class", 10, 3), ("country", 83, 2), ("occupation", 51, 2), ("salary", 50, None)],
    ],
)
def test_every_attribute_has_the_cardinality_and_height_of_the_papers(
    large: Table, name: str, cardinality: int, height: int | None
) -> None:
    column = columns(large)[name]
    assert len(column.values) == cardinality
    assert np.bincount(column.codes, minlength=cardinality).min() > 0
    if height is None:
        assert column.kind == "numeric" and column.hierarchy is None
        assert column.domain == DOMAINS[name] == (column.values[0], column.values[-1])
    else:
        assert column.kind == "categorical" and column.hierarchy is not None
        assert column.hierarchy.height == height
        assert tuple(column.values) == column.hierarchy.leaves


@pytest.mark.parametrize("seed", [0, 1])
def test_salary_has_exactly_the_stated_skew(seed: int) -> None:
    column = columns(census(500_000, seed=seed))["salary"]
    counts = np.bincount(column.codes)
    assert counts.tolist() == SALARY_SHARES.tolist()
    assert column.values[counts.argmax()] == 12 and counts.max() / 500_000 == 0.048402
    assert column.values[counts.argmin()] == 49 and counts.min() / 500_000 == 0.002018


@pytest.mark.parametrize("rows", [777, 30_001])
def test_other_sizes_have_the_same_skew_within_one_row(rows: int) -> None:
    column = columns(census(rows))["salary"]
    counts = np.zeros(50)
    counts[column.values - 1] = np.bincount(column.codes)
    assert np.abs(counts - rows * SALARY_SHARES / SALARY_SHARES.sum()).max() < 1


def test_different_sizes_share_the_distribution(large: Table) -> None:
    small = columns(census(50_000, quasi=HETEROGENEOUS_QUASI, sensitive="occupation", seed=5))
    for name, column in small.items():
        share = np.bincount(column.codes, minlength=len(column.values)) / 50_000
        expected = np.bincount(columns(large)[name].codes) / 500_000
        assert np.abs(share - expected).max() < 0.01, name


def test_attributes_depend_on_each_other_and_foretell_the_salary(large: Table) -> None:
    by_name = columns(large)

    def between(one: str, two: str) -> float:
        return information(crosstab(by_name[one], by_name[two]))

    # With half a million rows, independent attributes would show less than 0.005.
    assert between("education", "salary") > 0.1
    assert between("age", "salary") > 0.1
    assert between("work_class", "salary") > 0.05
    assert between("age", "education") > 0.05
    assert between("age", "marital") > 0.2
    assert between("age", "work_class") > 0.1
    assert between("race", "country") > 0.1
    assert between("education", "occupation") > 0.1
    assert between("gender", "occupation") > 0.1
    assert between("work_class", "occupation") > 0.05
    assert between("race", "gender") < 0.005


def test_salary_rises_with_education_and_falls_after_retirement(large: Table) -> None:
    by_name = columns(large)
    salary = by_name["salary"].codes + 1

    def mean(name: str, low: int, high: int) -> float:
        column = by_name[name]
        number = column.values[column.codes]
        return float(salary[(number >= low) & (number <= high)].mean())

    assert mean("education", 1, 8) < mean("education", 9, 10) < mean("education", 14, 14) < mean("education", 15, 17)
    assert mean("age", 16, 20) < mean("age", 25, 34) < mean("age", 45, 54)
    assert mean("age", 45, 54) > mean("age", 60, 69) > mean("age", 75, 94)


def test_the_quasi_identifiers_do_not_determine_the_sensitive_value(large: Table) -> None:
    by_name = columns(large)
    cell = np.zeros(large.rows, dtype=np.int64)
    for name in ("age", "gender", "education"):
        cell = cell * len(by_name[name].values) + by_name[name].codes
    common = np.flatnonzero(np.bincount(cell) >= 200)
    inside = np.isin(cell, common)
    for name, most in (("salary", 0.2), ("occupation", 0.2)):
        joint = np.zeros((cell.max() + 1, len(by_name[name].values)), dtype=np.int64)
        np.add.at(joint, (cell[inside], by_name[name].codes[inside]), 1)
        guess = joint.max(axis=1).sum() / inside.sum()
        assert guess < most, name  # the best guess from the cell is usually wrong
        assert guess > 1.2 * np.bincount(by_name[name].codes).max() / large.rows, name  # but better than the prior


def test_no_occupation_is_so_frequent_that_ten_cannot_share_a_group(large: Table) -> None:
    share = np.bincount(columns(large)["occupation"].codes) / large.rows
    assert share.max() < 0.1
    assert share.max() / share.min() > 10


def test_income_has_zeros_ties_and_a_heavy_tail_and_follows_the_salary_class(large: Table) -> None:
    by_name = columns(large)
    income = by_name["income"].values[by_name["income"].codes]
    assert 0.11 < (income == 0).mean() < 0.135
    assert len(by_name["income"].values) < large.rows / 20
    assert income.max() > 20 * np.median(income) and income.max() <= 2_000_000
    ranks = np.argsort(np.argsort(income, kind="stable"), kind="stable")
    assert 0.85 < np.corrcoef(ranks, by_name["salary"].codes)[0, 1] < 0.99


def test_the_same_seed_gives_the_same_people_whatever_is_asked_for() -> None:
    whole = columns(census(2000, quasi=QUASI, seed=3))
    for name in ATTRIBUTES:
        alone = columns(census(2000, quasi=(), sensitive=name, seed=3))[name]
        assert np.array_equal(alone.codes, whole[name].codes)
        assert np.array_equal(alone.values, whole[name].values)


def test_different_seeds_give_different_people() -> None:
    one, two = (columns(census(2000, quasi=QUASI, seed=seed)) for seed in (0, 1))
    for name in ATTRIBUTES:
        assert not np.array_equal(one[name].codes, two[name].codes)


@pytest.mark.parametrize("rows", [1, 2, 10, 49])
def test_small_tables_list_only_the_numbers_that_occur(rows: int) -> None:
    table = census(rows, quasi=QUASI)
    assert table.rows == rows
    for column in columns(table).values():
        assert column.codes.dtype == np.int32 and column.codes.shape == (rows,)
        assert column.codes.min() >= 0 and column.codes.max() < len(column.values)
        if column.kind == "numeric":
            assert np.array_equal(np.unique(column.codes), np.arange(len(column.values)))
            assert np.all(np.diff(column.values) > 0)


def test_arrow_holds_the_same_values_and_survives_csv() -> None:
    table = columns(census(300, quasi=QUASI, seed=2))
    raw = census_arrow(300, seed=2)
    assert raw.column_names == list(ATTRIBUTES)
    for name in ATTRIBUTES:
        assert raw[name].to_pylist() == table[name].values[table[name].codes].tolist()
    text = io.BytesIO()
    pyarrow.csv.write_csv(raw, text)
    again = pyarrow.csv.read_csv(io.BytesIO(text.getvalue()))
    assert all(again[name].to_pylist() == raw[name].to_pylist() for name in ATTRIBUTES)


@pytest.mark.parametrize("rows", [0, -5, 2.5, "many", None])
def test_a_table_without_rows_is_refused_in_a_sentence(rows: Any) -> None:
    for make in (census, census_arrow):
        with pytest.raises(DiscreetError, match=r"rows is .*; a census table needs a whole number of at least 1"):
            make(rows)


def test_bad_names_are_refused_in_a_sentence() -> None:
    with pytest.raises(DiscreetError, match="no attribute 'shoes'; it has age, gender"):
        census(10, quasi=["shoes"])
    with pytest.raises(DiscreetError, match="'age' is in the table twice"):
        census(10, quasi=["age"], sensitive="age")
    with pytest.raises(DiscreetError, match="give a list"):
        census(10, quasi="age")
    with pytest.raises(DiscreetError, match="seed is -1"):
        census(10, seed=-1)
    with pytest.raises(DiscreetError, match="no attribute 'name'"):
        patients(quasi=["name"])
    with pytest.raises(DiscreetError, match="'age' is both a quasi-identifier and published unchanged"):
        patients(keep=["age"])


def test_roles_can_be_left_out() -> None:
    table = census(10, quasi=LIKENESS_QUASI, sensitive=None)
    assert table.sensitive_attribute is None and [column.name for column in table.quasi] == list(LIKENESS_QUASI)


def test_hierarchies_are_trees_in_preorder() -> None:
    for hierarchy in (*census_hierarchies().values(), diseases()):
        assert hierarchy.labels[-1] == ("*",)
        names = [name for level in hierarchy.labels for name in level]
        assert len(set(names)) == len(names)
        for level in range(hierarchy.height + 1):
            steps = np.diff(hierarchy.ancestors[level])
            assert hierarchy.ancestors[level][0] == 0 and set(steps) <= {0, 1}  # contiguous ranges of leaves
        for below, above in zip(hierarchy.ancestors, hierarchy.ancestors[1:], strict=False):
            pairs = set(zip(below.tolist(), above.tolist(), strict=True))
            assert len(pairs) == len(set(below.tolist()))  # one parent each


def test_patients_are_the_same_labelled_or_raw() -> None:
    table, raw = patients(keep=["weight"]), patients_arrow()
    assert table.rows == raw.num_rows == 48
    assert len(set(raw["name"].to_pylist())) == 48
    for column in (*columns(table).values(), *table.other):
        assert raw[column.name].to_pylist() == column.values[column.codes].tolist()
    disease = columns(table)["disease"]
    assert disease.hierarchy is not None
    assert disease.hierarchy.labels[1] == ("nervous diseases", "circulatory diseases")
    assert np.bincount(disease.codes).tolist() == [6, 7, 7, 8, 10, 10]


def test_alias_tables_hold_the_distributions_they_were_made_from() -> None:
    rng = np.random.default_rng(0)
    for values in (1, 2, 3, 17, 83):
        weights = rng.random((5, values)) ** 6
        slots = Conditional.of(weights)
        rebuilt = slots.keep.copy()
        for row in range(5):
            np.add.at(rebuilt[row], slots.other[row], 1 - slots.keep[row])
        assert np.allclose(rebuilt / values, weights / weights.sum(axis=1, keepdims=True))
        assert slots.keep.min() >= -1e-12 and slots.keep.max() <= 1 + 1e-9


def test_quotas_add_up_and_round_to_the_nearest_rows() -> None:
    rng = np.random.default_rng(0)
    for rows in (1, 7, 1000, 500_000):
        shares = rng.integers(1, 100, size=20)
        parts = quotas(rows, shares, rng)
        assert parts.sum() == rows and parts.min() >= 0
        assert np.abs(parts - rows * shares / shares.sum()).max() < 1
