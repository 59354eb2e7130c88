"""Losses: the papers' definitions by hand, and a brute-force oracle on random partitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.analyst.loss import ail, average_class_size, by_attribute, discernibility, gcp, losses
from discreet.releases import load
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table
from naive import loss as naive
from support.releases import TREE, publish, random_groups, random_table

DISEASES = Hierarchy.of(
    "disease",
    {
        "nervous": ["headache", "epilepsy", "brain tumors"],
        "circulatory": ["anemia", "angina", "heart murmur"],
    },
)


def patients() -> Table:
    """Table 1 of the beta-likeness paper, with the disease as a third quasi-identifier to have a hierarchy (Fig. 1)."""
    weights, ages = np.array([50, 60, 70, 80]), np.array([40, 50, 60, 70])
    weight = np.searchsorted(weights, [70, 60, 50, 70, 80, 60]).astype(np.int32)
    age = np.searchsorted(ages, [40, 60, 50, 50, 50, 70]).astype(np.int32)
    names = ["headache", "epilepsy", "brain tumors", "heart murmur", "anemia", "angina"]
    disease = np.array([DISEASES.rank(name) for name in names], np.int32)
    return Table(
        6,
        (
            Column("weight", "numeric", weight, weights),
            Column("age", "numeric", age, ages),
            Column("disease", "categorical", disease, np.array(DISEASES.leaves, object), DISEASES),
        ),
        None,
    )


def test_information_loss_of_the_example_in_the_beta_likeness_paper() -> None:
    """Example 1: one group covers the whole space; two groups of one tuple per bucket are smaller (Fig. 2)."""
    table = patients()
    table = Table(6, table.quasi[:2], None)
    assert ail(publish(table, [0] * 6)) == 1.0
    # headache, anemia, heart murmur: weight 70-80, age 40-50; the others: weight 50-60, age 50-70
    release = publish(table, [0, 1, 1, 0, 0, 1])
    assert by_attribute(release) == {"weight": pytest.approx(1 / 3), "age": pytest.approx((1 / 3 + 2 / 3) / 2)}
    assert ail(release) == pytest.approx((3 * (1 / 3 + 1 / 3) / 2 + 3 * (1 / 3 + 2 / 3) / 2) / 6)
    assert ail(release) == pytest.approx(5 / 12)
    assert gcp(release) == pytest.approx(5 / 12)


def test_a_label_costs_its_share_of_the_leaves_and_a_single_leaf_nothing() -> None:
    table = Table(6, patients().quasi[2:], None)
    nervous_and_others = publish(table, [0, 0, 0, 1, 2, 3])
    assert ail(nervous_and_others) == pytest.approx((3 * 3 / 6 + 0) / 6)
    assert gcp(nervous_and_others) == pytest.approx(3 * (2 / 5) / 6)
    # two leaves of one parent: AIL takes the parent, a published set admits only the two
    pair = publish(table, [0, 0, 1, 2, 3, 4], values="set")
    assert ail(pair) == pytest.approx(2 * (3 / 6) / 6)
    assert gcp(pair) == pytest.approx(2 * (1 / 5) / 6)


def test_certainty_penalty_of_the_example_in_the_heterogeneous_paper(tmp_path: Path) -> None:
    """Table 1: eight recast tuples, each a group of its own, written by hand."""
    ages = ["[53, 59]", "[53, 59]", "[28, 39]", "[28, 41]", "[40, 59]", "[28, 39]", "[39, 41]", "[40, 57]"]
    salaries = ["[25, 34]", "[25, 34]", "[41, 59]", "[20, 59]", "[20, 35]", "[41, 59]", "[20, 47]", "[27, 35]"]
    lines = [f'{row},"{age}","{salary}"' for row, (age, salary) in enumerate(zip(ages, salaries, strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(["group,age,salary", *lines]) + "\n")
    manifest: dict[str, Any] = {
        "format": "generalized",
        "format_version": 1,
        "attributes": [
            {"name": "age", "role": "quasi", "kind": "numeric", "domain": [28, 59]},
            {"name": "salary", "role": "quasi", "kind": "numeric", "domain": [20, 59]},
        ],
        "rows": {"published": 8, "withheld": 0},
        "groups": 8,
        "tables": {"table.csv": {}},
    }
    (tmp_path / "release.json").write_text(json.dumps(manifest))
    release = load(tmp_path)
    assert release.faults == ()
    age = [6, 6, 11, 13, 19, 11, 2, 17]
    salary = [9, 9, 18, 39, 15, 18, 27, 8]
    assert gcp(release) == pytest.approx((sum(age) / 31 + sum(salary) / 39) / (2 * 8))


def test_withheld_rows_cost_everything() -> None:
    table = Table(6, patients().quasi[:2], None)
    release = publish(table, [0, 1, 2, 3, -1, -1])
    assert ail(release) == gcp(release) == pytest.approx(2 / 6)
    assert discernibility(release) == 4 * 1 + 2 * 6
    assert average_class_size(release) == 1.0
    assert discernibility(publish(table, [0, 0, 0, 1, 1, 1])) == 18
    assert set(losses(release)) == {"ail", "gcp", "discernibility", "average_class_size"}


def test_a_constant_attribute_costs_nothing() -> None:
    one = Column("one", "numeric", np.zeros(3, np.int32), np.array([7]))
    only = Column("only", "categorical", np.zeros(3, np.int32), np.array(["x"], object), Hierarchy.flat("only", ["x"]))
    release = publish(Table(3, (one, only), None), [0, 0, 0])
    assert (ail(release), gcp(release)) == (0.0, 0.0)


def test_anything_costs_everything_even_where_only_one_number_is_known() -> None:
    """A number or none: `*` admits both, and the domain has no width that it could be a share of."""
    one = Column("one", "numeric", np.array([0, 1, 1, 1], np.int32), np.array([np.nan, 7.0]), missing=0)
    release = publish(Table(4, (one,), None), [0, 0, 1, 1])
    assert release.texts[0].texts == ("*", "7") or release.texts[0].texts == ("7", "*")
    assert (ail(release), gcp(release)) == (0.5, 0.5)


@given(st.integers(0, 10**6), st.sampled_from(["interval", "set"]))
def test_losses_agree_with_their_definitions(seed: int, values: Any) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(1, 50)))
    groups = random_groups(rng, table)
    release = publish(table, groups, values=values)
    assert release.trace is not None
    shown = release.trace >= 0
    domains = []
    for column in table.quasi:
        seen = [str(column.values[code]) for code in sorted(set(column.codes[shown].tolist()))]
        listed = column.values.tolist() if column.declared_values else seen
        if column.kind == "categorical":
            flat = [(value, "*") for value in listed]
            domains.append(naive.Domain(tree=TREE.rows() if column.name == "job" else flat, as_set=values == "set"))
        elif column.kind == "ordinal":
            domains.append(naive.Domain(order=[value for value in listed if value != "(missing)"]))
        elif column.domain is not None:
            domains.append(naive.Domain(bounds=column.domain))
        else:
            known = column.values[column.codes[shown]]
            domains.append(naive.Domain(bounds=(float(known.min()), float(known.max()))))
    rows = [
        [None if c.codes[row] == c.missing else c.values[c.codes[row]] for c in table.quasi]
        for row in range(table.rows)
    ]
    members = [[rows[row] for row in np.flatnonzero(release.trace == group)] for group in range(release.groups)]
    withheld = int((~shown).sum())
    assert ail(release) == pytest.approx(naive.average(members, domains, withheld, naive.attribute_ail))
    assert gcp(release) == pytest.approx(naive.average(members, domains, withheld, naive.attribute_ncp))
    assert discernibility(release) == sum(len(group) ** 2 for group in members) + withheld * table.rows
    for value in by_attribute(release).values():
        assert 0.0 <= value <= 1.0
