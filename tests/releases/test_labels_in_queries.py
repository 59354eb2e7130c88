"""A label of a hierarchy in a query stands for the values below it, in estimates and in exact counts."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet as dc
from discreet.table.query import by_leaves

ZIPS = ["53701", "53702", "53801", "60101"] * 6
TREES = {"zip": {"prefix": {"keep": [3, 2]}}, "ill": {"chest": ["asthma", "cough"], "other": ["gout"]}}


@pytest.fixture(scope="module")
def table() -> dc.Table:
    ill = ["asthma", "cough", "gout"] * 8
    people = pa.table({"zip": ZIPS, "age": list(range(24)), "ill": ill})
    return dc.read(people, quasi=["zip", "age"], sensitive="ill", hierarchies=TREES)


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("zip = '53***'", "zip IN ('53701', '53702', '53801')"),
        ("zip IN ('53***', '60101')", "zip IN ('53701', '53702', '53801', '60101')"),
        ("ill = 'chest'", "ill IN ('asthma', 'cough')"),
        ("zip = '53701'", "zip = '53701'"),
    ],
)
def test_a_label_counts_what_its_values_count(table: dc.Table, label: str, values: str) -> None:
    release = dc.publish(table, dc.KAnonymity(4))
    asked, spelt = (release.query(f"SELECT COUNT(*) FROM t WHERE {where}") for where in (label, values))
    assert asked.count(table) == spelt.count(table) > 0
    assert release.estimate(asked) == release.estimate(f"SELECT COUNT(*) FROM t WHERE {label}") > 0
    assert release.estimate(asked) == pytest.approx(release.estimate(spelt))
    counted, other = (f"SELECT ill, COUNT(*) FROM t WHERE {where} GROUP BY ill" for where in (label, values))
    assert release.group_by(counted).equals(release.group_by(other)) and release.group_by(counted).num_rows


def test_a_label_in_a_query_that_is_no_text_counts_too(table: dc.Table) -> None:
    release = dc.publish(table, dc.KAnonymity(4))
    found = release.estimate(dc.Query(dc.OneOf("zip", "53***")))
    assert found == release.estimate(dc.Query(dc.OneOf("zip", ("53701", "53702", "53801")))) > 0 and found.notes == ()


def test_what_is_neither_value_nor_label_stays_and_is_noted(table: dc.Table) -> None:
    release = dc.publish(table, dc.KAnonymity(4))
    unknown = release.estimate("SELECT COUNT(*) FROM t WHERE ill = 'fever'")
    assert unknown == 0 and "has no value 'fever'" in unknown.notes[0]
    with pytest.raises(
        dc.DiscreetError, match=r"no cell has the label '99\*\*\*' of 'zip'.* ask for the values instead"
    ):
        release.estimate("SELECT COUNT(*) FROM t WHERE zip = '99***'")
    assert by_leaves(release.attributes, dc.Query(dc.Range("age", 3))).conditions == (dc.Range("age", 3),)
