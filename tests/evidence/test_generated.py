"""Generated tables have the shape of those in the papers."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.datasets import census
from discreet.evidence.census_income import with_levels
from discreet.evidence.generated import (
    AGES,
    BIRTHPLACES,
    COIL,
    HIGHEST,
    LOWEST,
    OCCUPATIONS,
    SUBTYPES,
    coil,
    condensed,
    incomes,
    incomes_of_households,
    with_values,
)
from discreet.principles import Prior, Proximity


def test_incomes_are_like_those_of_the_paper() -> None:
    table = incomes(20_000, seed=3)
    ends = {column.name: column.domain for column in table.columns}
    assert ends == {
        "age": AGES,
        "birthplace": (1, BIRTHPLACES),
        "occupation": (1, OCCUPATIONS),
        "income": (LOWEST, HIGHEST),
    }
    (income,) = table.sensitive
    assert len(table.column("birthplace").values) > 600 and len(table.column("occupation").values) > 900
    assert table.prior_counts.max() < 0.002 * table.rows, "no amount is common"
    assert income.values.min() >= LOWEST and income.values.max() <= HIGHEST
    for promise in (Proximity(4500, 7), Proximity(0.125, 7, "relative")):
        assert promise.crowd(Prior.of(table))[0] * promise.m <= table.rows, "the paper publishes it with m=7"
    pay, job = income.values[income.codes], table.column("occupation")
    assert np.corrcoef(pay, job.values[job.codes])[0, 1] > 0.1


def test_the_same_seed_generates_the_same_people() -> None:
    for made in (incomes, coil, incomes_of_households):
        first, again, other = (made(300, seed) for seed in (1, 1, 2))
        assert [column.codes.tolist() for column in first.columns] == [
            column.codes.tolist() for column in again.columns
        ]
        assert first.quasi[0].codes.tolist() != other.quasi[0].codes.tolist()


def test_denser_tables_have_fewer_combinations_and_the_same_values() -> None:
    table = census(5_000, quasi=["age", "gender", "education"])
    denser = condensed(table, 5)
    assert np.array_equal(denser.sensitive_codes, table.sensitive_codes)
    numbers = [len(np.unique(np.stack([column.codes for column in some.quasi]), axis=1).T) for some in (denser, table)]
    assert numbers[0] < numbers[1] / 2 and numbers[0] <= 1_000
    assert np.array_equal(condensed(table, 1).quasi[0].codes, table.quasi[0].codes)


@pytest.mark.parametrize("theta", [None, 0.5, 0.9])
def test_values_are_drawn_with_the_shares_that_are_asked_for(theta: float | None) -> None:
    table = with_values(census(50_000, sensitive="occupation"), theta)
    shares = 1.0 / np.arange(1, 52) ** (theta or 0.0)
    shares /= shares.sum()
    assert np.abs(table.prior_counts / table.rows - shares).max() < 5 * np.sqrt(shares.max() / table.rows)


def test_customers_have_the_cardinalities_of_the_paper() -> None:
    table = coil(10_000)
    assert {column.name: len(column.values) for column in table.quasi} == COIL
    (subtype,) = table.sensitive
    assert len(subtype.values) == SUBTYPES == len(np.unique(subtype.codes))
    kinds = table.column("type").codes
    assert all(len(np.unique(kinds[subtype.codes == value])) == 1 for value in range(SUBTYPES))


def test_households_have_four_quasi_identifiers_and_fifteen_sensitive_attributes() -> None:
    table = incomes_of_households(2_000)
    assert table.quasi_names == ("age", "race", "sex", "citizenship") and len(table.sensitive) == 15
    assert sum(len(column.values) == 2 for column in table.sensitive) == 9
    leveled = with_levels(table, (5, 10, 20, 40))
    heights = {column.name: column.hierarchy.height for column in leveled.quasi if column.hierarchy is not None}
    assert heights == {"age": 5, "race": 3, "sex": 1, "citizenship": 3}
    assert leveled.sensitive == table.sensitive
