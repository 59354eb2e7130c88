"""Small projected releases for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.table.table import Table

NAMES = ("ill", "job", "home")


def people(rows: int = 60, seed: int = 0, attributes: int = 2, **how: object) -> Table:
    """Persons of different ages, with some attributes that depend on each other."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, rows)
    columns: dict[str, object] = {"age": rng.permutation(rows) + 20, "sex": rng.choice(["f", "m"], rows)}
    for at, name in enumerate(NAMES[:attributes]):
        own = np.where(rng.random(rows) < 0.3, rng.integers(0, 4, rows), kind)
        columns[name] = [f"{name}{each}" for each in (own + at) % 4]
    columns["note"] = rng.choice(["x", "y"], rows)
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive=list(NAMES[:attributes]), **how)  # type: ignore[arg-type]


def published(
    table: Table, partitions: Sequence[Sequence[int]], promise: dc.Principle | None = None
) -> dc.ProjectedRelease:
    """A table for each sensitive attribute, on these partitions."""
    promise = promise or dc.KAnonymity(1)
    parts = [
        dc.GeneralizedRelease.from_groups(
            replace(table, sensitive=(column,), other=table.other if at == 0 else ()),
            np.array(groups, np.int32),
            promise=promise,
            scheme="mine",
        )
        for at, (column, groups) in enumerate(zip(table.sensitive, partitions, strict=True))
    ]
    return dc.ProjectedRelease.from_parts(parts, promise=promise, scheme="mine")
