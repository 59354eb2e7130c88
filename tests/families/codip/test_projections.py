"""The frontier of plans for several sensitive attributes, and its pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.codip.projections import Projections, projections
from naive import codip as naive


@pytest.fixture(scope="module")
def told() -> Projections:
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 3, 300)
    noise = rng.integers(0, 3, (4, 300))
    columns = {name: np.where(rng.random(300) < 0.2, own, kind) for name, own in zip("abc", noise, strict=False)}
    columns |= {"d <d>": noise[3], "age": np.arange(300)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["a", "b", "c", "d <d>"])
    return projections(table)


def test_nobody_beats_the_frontier(told: Projections) -> None:
    every = [
        (told.dependency.exposure(plan), told.dependency.association_loss(plan))
        for plan in naive.partitions((0, 1, 2, 3))
    ]
    for one in told.plans:
        better = [each for each in every if each[0] < one.exposure - 1e-6 and each[1] < one.association_loss - 1e-6]
        assert not better
    assert told.plans[0].exposure == 1.0 and told.plans[-1].association_loss == 1.0
    assert all(sum(len(table) for table in one.tables) == 4 for one in told.plans)
    assert [len(one.tables) for one in told.paper] == [4, 3, 2, 1]
    assert told.best in told.by_tables() and told.best.tables == (("a", "b", "c"), ("d <d>",))
    assert told.best.text == "a + b + c" and told.plans[-1].text == "none"
    json.dumps(told.as_dict(), allow_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<svg "), ("html", b"<!doctype html>")])
def test_pictures(told: Projections, tmp_path: Path, suffix: str, start: bytes) -> None:
    told.plot(tmp_path / f"plans.{suffix}", "people <b>.csv")
    content = (tmp_path / f"plans.{suffix}").read_bytes()
    assert content[: len(start)].lower() == start.lower()
    if suffix == "html":
        text = content.decode()
        assert "people &lt;b&gt;.csv" in text and "<td>a + b + c</td>" in text and "d <d>" not in text


def test_one_attribute_is_not_divided() -> None:
    table = dc.read(pa.table({"age": [1, 2], "a": ["x", "y"]}), quasi=["age"], sensitive="a")
    with pytest.raises(dc.DiscreetError, match="at least two"):
        projections(table)
