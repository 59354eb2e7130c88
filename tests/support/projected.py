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
    promise = promise or dc.TCloseness(1)
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


def household(rows: int, seed: int = 0) -> Table:
    """Four quasi-identifiers and fifteen sensitive attributes in families, shaped like those of Census-Income."""
    rng = np.random.default_rng(seed)

    def follows(parent: np.ndarray, values: int, noise: float) -> np.ndarray:
        return np.where(rng.random(rows) < noise, rng.integers(0, values, rows), (parent * 7 + 3) % values)

    age = np.clip(rng.normal(40, 14, rows), 15, 90).astype(int)
    job, home, wealth = rng.integers(0, 14, rows), rng.integers(0, 6, rows), np.minimum(rng.geometric(0.5, rows), 5)
    sensitive = {
        "occupation": job,
        "industry": follows(job, 20, 0.25),
        "worker": follows(job, 8, 0.5),
        "education": follows(wealth * 2 + job % 2, 12, 0.5),
        "salary": follows(wealth, 2, 0.3),
        "dividend": follows(wealth, 2, 0.4),
        "gain": (rng.random(rows) < 0.04 * wealth).astype(int),
        "loss": (rng.random(rows) < 0.03).astype(int),
        "employment": rng.integers(0, 4, rows),
        "wage": (rng.random(rows) < 0.15).astype(int),
        "business": np.minimum(rng.geometric(0.9, rows), 3),
        "married": follows(home, 2, 0.2),
        "minor": (age < 18).astype(int),
        "descendent": follows(home, 2, 0.3),
        "subfamily": (rng.random(rows) < 0.05).astype(int),
    }
    columns: dict[str, object] = {
        "age": age,
        "race": rng.choice(["a", "b", "c", "d", "e"], rows, p=[0.8, 0.1, 0.05, 0.03, 0.02]),
        "sex": rng.choice(["f", "m"], rows),
        "citizenship": rng.choice(["native", "naturalised", "foreign"], rows, p=[0.88, 0.05, 0.07]),
        **{name: [f"{name}{code}" for code in codes.tolist()] for name, codes in sensitive.items()},
    }
    return dc.read(pa.table(columns), quasi=["age", "race", "sex", "citizenship"], sensitive=list(sensitive))
