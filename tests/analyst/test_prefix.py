"""Prefix queries: all up to a level of one attribute with exactly some values of others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.prefix_workload import prefix_workload
from discreet.analyst.workload import run
from discreet.datasets import census, patients
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import OneOf, Range

PAPER = ("education", "age", "gender", "marital", "race")


def test_the_papers_queries_have_a_prefix_of_education_and_single_values_of_the_others() -> None:
    table = census(500, quasi=("age", "gender", "education", "marital", "race"))
    ends = set()
    for query in prefix_workload(table, prefix="education", dimensionality=5, number=200, seed=1):
        assert sorted(one.attribute for one in query.conditions[:-1]) == sorted(PAPER)
        first, *singles, sensitive_attribute = query.conditions
        assert isinstance(first, Range) and first.attribute == "education" and sensitive_attribute.attribute == "salary"
        education = next(column for column in table.quasi if column.name == "education")
        assert education.domain is not None and first.low == education.domain[0]
        ends.add(first.high)
        assert all(isinstance(one, OneOf) and len(one.values) == 1 for one in singles)
    assert len(ends) > 5


def test_counts_are_those_of_the_rows_by_definition() -> None:
    table = patients()
    queries = prefix_workload(table, dimensionality=3, number=60, seed=2)
    by_name = {column.name: column for column in (*table.quasi, *table.sensitive)}
    for query, count in zip(queries, exact_counts(table, queries).tolist(), strict=True):
        kept = np.ones(table.rows, bool)
        for one in query.conditions:
            values = by_name[one.attribute].values[by_name[one.attribute].codes]
            if isinstance(one, Range):
                kept &= (values.astype(float) >= one.low) & (values.astype(float) <= one.high)
            else:
                kept &= np.isin(values.astype(type(one.values[0])), one.values)
        assert kept.sum() == count
    assert run(dc.publish(table, dc.KAnonymity(1), "cuts"), table, queries).dropped < 60


def test_orders_and_seeds() -> None:
    data = pa.table({"level": ["low", "mid", "high", "mid"], "city": list("abab"), "x": list("uvuv")})
    table = dc.read(data, quasi=["city", "level"], sensitive="x", ordinal=["level"])
    found = {query.conditions[0].values for query in prefix_workload(table, number=40)}
    order = [str(value) for value in table.quasi[1].values]
    assert found == {tuple(order[: end + 1]) for end in range(3)}
    assert prefix_workload(table, number=5, seed=4) == prefix_workload(table, number=5, seed=4)
    assert prefix_workload(table, number=5, seed=4) != prefix_workload(table, number=5, seed=5)


def test_what_cannot_be_asked_is_refused() -> None:
    table = patients()
    with pytest.raises(dc.DiscreetError, match="'sex' to be numeric or ordinal, and this table has age, zip"):
        prefix_workload(table, prefix="sex")
    with pytest.raises(dc.DiscreetError, match="dimensionality from 1 to 3"):
        prefix_workload(table, dimensionality=4)
    with pytest.raises(dc.DiscreetError, match="share of the sensitive domain"):
        prefix_workload(table, sensitive=0)
    with pytest.raises(dc.DiscreetError, match="at least one query"):
        prefix_workload(table, number=0)
