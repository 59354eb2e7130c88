"""People with several sensitive attributes, and the lines of what is published of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dc


def people(n: int, seed: int = 1, values: tuple[int, ...] = (6, 5)) -> dc.Table:
    """People with independent sensitive attributes ``s0``, ``s1``, ... of so many values."""
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "zip": rng.integers(0, 20, n)}
    names = [f"s{at}" for at in range(len(values))]
    columns |= {name: rng.choice([f"v{i}" for i in range(many)], n) for name, many in zip(names, values, strict=True)}
    return dc.read(pa.table(columns), quasi=["age", "sex", "zip"], sensitive=names)


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
