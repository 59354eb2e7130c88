"""Tables with the shape of those in the papers, from a seed; nobody in them exists.

The census, which most of the experiments are about, is in `discreet.datasets`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

AGES = (16, 93)
BIRTHPLACES, OCCUPATIONS = 710, 983
LOWEST, HIGHEST = 1_000, 100_000


def incomes(rows: int, seed: int = 1) -> Table:
    """A table like SAL of the paper on proximity: age 16 to 93, birthplace 1 to 710, occupation 1 to 983, all numbers,
    and an income from 1,000 to 100,000 of which no amount is common.

    Few birthplaces and occupations have most of the people. Income follows age and occupation, with noise; its
    distribution is wide, so that at most 13 % of the people have one within 4,500 of any other.

    >>> table = incomes(2000)
    >>> [len(column.values) > 60 for column in table.columns], table.sensitive_attribute.domain
    ([True, True, True, True], (1000.0, 100000.0))
    """
    rng = np.random.default_rng([seed, BIRTHPLACES])
    age = np.clip(rng.normal(42, 16, rows).round(), *AGES).astype(np.int64)
    outside = (age == AGES[0]) | (age == AGES[1])
    age[outside] = rng.integers(AGES[0], AGES[1] + 1, outside.sum())
    birthplace = rng.permutation(BIRTHPLACES)[_skewed(rng, rows, BIRTHPLACES, 1.1)] + 1
    occupation = rng.permutation(OCCUPATIONS)[_skewed(rng, rows, OCCUPATIONS, 0.8)] + 1
    score = (occupation / OCCUPATIONS - 0.5) - ((age - 50) / 40.0) ** 2 + rng.normal(0, 0.6, rows)
    share = (np.argsort(np.argsort(score)) + rng.random(rows)) / rows
    low, high = norm.cdf((np.array([LOWEST, HIGHEST]) - 42_000) / 32_000)
    income = norm.ppf(low + share * (high - low)) * 32_000 + 42_000
    income = np.clip((income / 10).round() * 10, LOWEST, HIGHEST).astype(np.int64)
    return Table(
        rows,
        (
            numeric("age", age, *AGES),
            numeric("birthplace", birthplace, 1, BIRTHPLACES),
            numeric("occupation", occupation, 1, OCCUPATIONS),
        ),
        (numeric("income", income, LOWEST, HIGHEST),),
    )


def _skewed(rng: np.random.Generator, rows: int, values: int, theta: float) -> NDArray[np.int64]:
    """Codes of which the i-th occurs with a share proportional to 1 / i^theta."""
    shares = 1.0 / np.arange(1, values + 1) ** theta
    return rng.choice(values, rows, p=shares / shares.sum())


def numeric(name: str, numbers: ArrayLike, low: float, high: float) -> Column:
    """A column of numbers with a declared domain."""
    values, codes = np.unique(np.asarray(numbers), return_inverse=True)
    return Column(
        name, "numeric", codes.astype(np.int32), values, domain=(float(low), float(high)), declared_domain=True
    )


def condensed(table: Table, density: int) -> Table:
    """The same sensitive values over 1 / density as many combinations of quasi-identifiers.

    The paper on ambiguity distributes "the sensitive values to (100 / d) % of tuples", and says no more. Here rows are
    sorted by their quasi-identifiers, and each run of d rows gets the quasi-identifiers of its first row.

    >>> from discreet.datasets import census
    >>> table = condensed(census(1000), 5)
    >>> len({tuple(column.codes[row] for column in table.quasi) for row in range(1000)}) <= 200
    True
    """
    order = np.lexsort([column.codes for column in reversed(table.quasi)])
    first = np.empty(table.rows, np.int64)
    first[order] = order[np.arange(table.rows) // density * density]
    return replace(table, quasi=tuple(replace(column, codes=column.codes[first]) for column in table.quasi))


def with_values(table: Table, theta: float | None, seed: int = 1) -> Table:
    """The same quasi-identifiers, with sensitive values drawn at random from the same domain: the i-th with a share
    proportional to 1 / i^theta, or all alike.

    >>> from discreet.datasets import census
    >>> table = with_values(census(5000, sensitive="occupation"), 0.5)
    >>> bool(0.05 < table.prior_counts.max() / 5000 < 0.1)
    True
    """
    (column,) = table.sensitive
    rng = np.random.default_rng([seed, len(column.values)])
    codes = _skewed(rng, table.rows, len(column.values), theta or 0.0).astype(np.int32)
    return replace(table, sensitive=(replace(column, codes=codes),))


COIL = {"houses": 10, "household": 6, "age": 6, "type": 10}
"""The quasi-identifiers of COIL2000 that the paper on heterogeneous generalization keeps, with their cardinalities."""
SUBTYPES = 41


def coil(rows: int, seed: int = 1) -> Table:
    """A table like the first attributes of COIL2000: four categorical quasi-identifiers and a customer's subtype, which
    says the customer's type, and is more likely at some ages and sizes of household than at others.

    >>> [len(column.values) for column in coil(5000).columns]
    [10, 6, 6, 10, 41]
    """
    rng = np.random.default_rng([seed, SUBTYPES])
    subtype = rng.permutation(SUBTYPES)[_skewed(rng, rows, SUBTYPES, 0.6)]

    def near(values: int, factor: int, spread: float) -> NDArray[np.int64]:
        middle = subtype * factor % values
        return np.clip((middle + rng.normal(0, spread, rows)).round(), 0, values - 1).astype(np.int64)

    houses = np.minimum(rng.geometric(0.9, rows) - 1, COIL["houses"] - 1)
    columns = {"houses": houses, "household": near(6, 5, 1.2), "age": near(6, 7, 1.0), "type": subtype * 10 // SUBTYPES}
    quasi = tuple(category(name, codes, COIL[name]) for name, codes in columns.items())
    return Table(rows, quasi, (category("subtype", subtype, SUBTYPES),))


def category(name: str, codes: ArrayLike, number: int) -> Column:
    """A column of a number of names, in a hierarchy without inner nodes."""
    names = [f"{name} {at:02d}" for at in range(number)]
    return Column(
        name,
        "categorical",
        np.asarray(codes, np.int32),
        np.array(names, object),
        Hierarchy.flat(name, names),
        declared_values=True,
    )


def incomes_of_households(rows: int, seed: int = 1) -> Table:
    """A table like that of the paper on CODIP: four quasi-identifiers and fifteen sensitive attributes, of which some
    go together: what depends on the job, on wealth, and on the household.

    >>> table = incomes_of_households(500)
    >>> len(table.quasi), len(table.sensitive)
    (4, 15)
    """
    rng = np.random.default_rng([seed, 15])

    def follows(parent: NDArray[np.int64], values: int, noise: float) -> NDArray[np.int64]:
        return np.where(rng.random(rows) < noise, _skewed(rng, rows, values, 1.0), parent % values)

    def rare(share: float) -> NDArray[np.int64]:
        return (rng.random(rows) < share).astype(np.int64)

    age = np.clip(rng.normal(38, 14, rows).round(), 15, 90).astype(np.int64)
    job, home = _skewed(rng, rows, 14, 0.4), _skewed(rng, rows, 8, 0.7)
    wealth = np.minimum(rng.geometric(0.5, rows), 5)
    sensitive = {
        "worker": (follows(job, 8, 0.5), 8),
        "education": (follows(wealth * 3 + job % 3, 16, 0.6), 16),
        "industry": (follows(job * 3 + 1, 23, 0.35), 23),
        "employment": (_skewed(rng, rows, 7, 1.6), 7),
        "business": (_skewed(rng, rows, 3, 2.5), 3),
        "salary": ((rng.random(rows) < 0.03 * wealth).astype(np.int64), 2),
        "occupation": (job, 14),
        "wage": (rare(0.1), 2),
        "dividend": ((rng.random(rows) < 0.06 * wealth).astype(np.int64), 2),
        "gain": ((rng.random(rows) < 0.03 * wealth).astype(np.int64), 2),
        "loss": (rare(0.03), 2),
        "married": (follows(home, 2, 0.1), 2),
        "minor": ((age < 18).astype(np.int64), 2),
        "descendent": (follows(home + home // 2, 2, 0.15), 2),
        "subfamily": (((home > 6) & (rng.random(rows) < 0.6)).astype(np.int64), 2),
    }
    quasi = (
        numeric("age", age, 15, 90),
        category("race", _skewed(rng, rows, 5, 2.5), 5),
        category("sex", rng.integers(0, 2, rows), 2),
        category("citizenship", _skewed(rng, rows, 5, 2.5), 5),
    )
    return Table(rows, quasi, tuple(category(name, codes, number) for name, (codes, number) in sensitive.items()))
