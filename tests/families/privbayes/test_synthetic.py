"""Attacks on synthetic tables that are given as they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from support.attacked import people


def test_the_original_as_a_synthetic_table_is_guessed_as_the_original() -> None:
    found = dc.attack(people(), people(), ["beliefs", "naive-bayes", "presence"], random_state=1)
    assert all(one.rate == pytest.approx(one.ceiling) for one in found.evidence)
    assert any("different kind" in note for note in found.notes) and found.promise == ()
    assert not any(one.exceeds for one in found.evidence) and all(one.bound is None for one in found.evidence)


def test_people_whom_no_synthetic_row_resembles_are_guessed_by_the_prior() -> None:
    table = people()
    sensitive_attribute = table.sensitive[0].codes
    rows = np.r_[np.unique(sensitive_attribute, return_index=True)[1], 0:20]  # every value, and some more
    (found,) = dc.attack(table_of(table, rows), table, "beliefs").evidence
    usual, right = np.bincount(sensitive_attribute).argmax(), 0
    for person in range(table.rows):
        alike = [row for row in rows if all(c.codes[row] == c.codes[person] for c in table.quasi)]
        guess = np.bincount(sensitive_attribute[alike]).argmax() if alike else usual
        right += guess == sensitive_attribute[person]
    assert found.successes == right


def table_of(table: dc.Table, rows: np.ndarray) -> dc.Table:
    columns = {c.name: c.values[c.codes[rows]] for c in (*table.quasi, *table.sensitive)}
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive="pay")


def test_attacks_on_groups_do_not_apply() -> None:
    found = dc.attack(people(), people(), random_state=1)
    assert {"corruption", "definetti", "corners"} <= {name.split("(")[0] for name in found.refusals}
