"""What a refused plan advises leads to a release, whichever search is asked for and whatever cannot be published."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.table.table import Table


def people(seed: int) -> Table:
    """Five attributes that go together more or less, in ways of which the paper's merges do not find the best."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 6, 80)
    columns: dict[str, object] = {"age": rng.integers(20, 60, 80)}
    for name in "abcde":
        noise = rng.choice([0.2, 0.5, 0.8])
        columns[name] = [f"{name}{v}" for v in np.where(rng.random(80) < noise, rng.integers(0, 6, 80), one // 2)]
    return dc.read(pa.table(columns), quasi=["age"], sensitive=list("abcde"))


@pytest.mark.slow
@pytest.mark.parametrize("search", ["paper", "best"])
def test_both_ways_out_are_ways_out(search: str) -> None:
    taken: Counter[str] = Counter()
    for seed in range(6):
        table = people(seed)
        for exposure, association in ((0.0, 0.5), (0.1, 0.3), (0.2, 0.05)):
            options = {"search": search, "exposure": exposure, "association": association, "steps": 0}
            try:
                dc.Codip(**options).publish(table, dc.LDiversity(1.2))  # type: ignore[arg-type]
                continue
            except dc.DiscreetError as refusal:
                told = dict(re.findall(r"(association|exposure)=([0-9.]+)", str(refusal).partition(";")[2]))
            assert "association" in told
            for name, value in told.items():
                taken[name] += 1
                dc.Codip(**{**options, name: float(value)}).publish(table, dc.LDiversity(1.2))  # type: ignore[arg-type]
    assert taken["association"] > 5 and taken["exposure"] > 5


@pytest.mark.parametrize("search", ["paper", "best"])
def test_plans_that_cannot_be_published_are_not_advised(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    publish = dc.Cuts.publish

    def alone(self: dc.Cuts, some: Table, *rest: object) -> object:
        if len(some.sensitive) > 1:
            raise dc.DiscreetError("two are too many")
        return publish(self, some, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(dc.Cuts, "publish", alone)
    with pytest.raises(dc.DiscreetError, match=r"ask for association=1$"):
        dc.Codip(search=search, exposure=0.5, association=0.2, steps=0).publish(people(0), dc.LDiversity(1.2))  # type: ignore[arg-type]
