"""The order of a sensitive attribute's values is the auditor's, and rows are withheld from all tables or from none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.codip.auditor import _withheld_apart


def test_a_sensitive_attribute_in_another_order(tmp_path: Path) -> None:
    """Distances between ordered values would be others."""
    rng = np.random.default_rng(0)
    data = pa.table({"age": rng.integers(20, 60, 60), "grade": rng.choice(["1", "2", "3", "4"], 60)})
    table = dc.read(data, quasi=["age"], sensitive="grade", ordinal=["grade"])
    dc.publish(table, "t-closeness(t=0.2, distance=ordered)").save(tmp_path / "r")
    assert dc.audit(tmp_path / "r", table).holds
    manifest = json.loads((tmp_path / "r" / "release.json").read_text())
    (grade,) = [entry for entry in manifest["attributes"] if entry["name"] == "grade"]
    grade["values"] = ["1", "4", "2", "3"]
    (tmp_path / "r" / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(dc.DiscreetError, match="'grade' was published in another order of its values"):
        dc.audit(tmp_path / "r", table)


def test_a_row_that_only_one_table_withholds() -> None:
    (found,) = _withheld_apart(np.array([[0, 1], [-1, -1], [2, -1]]))
    assert not found.holds and "input row 2 is published in one table and withheld from another" in found.sentence
    assert _withheld_apart(np.array([[0, 1], [-1, -1]])) == [] == _withheld_apart(None)
