"""Random tables for property tests: quasi-identifiers of every kind, a skewed or a numeric sensitive attribute."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.table.read import read
from discreet.table.table import Table

CITIES = [
    ["Bonn", "West", "*"],
    ["Essen", "West", "*"],
    ["Jena", "East", "*"],
    ["Halle", "East", "*"],
    ["Gera", "East", "*"],
]


@st.composite
def tables(draw: st.DrawFn, largest: int = 80, missing: bool = False) -> Table:
    """Draw a table of 1 to ``largest`` rows: numeric age, categorical city (with hierarchy) and sex, ordinal grade."""
    n = draw(st.integers(1, largest))
    values = draw(st.integers(1, 6))
    skew = draw(st.sampled_from([0.0, 1.0, 2.5]))
    seed = draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    shares = (np.arange(values) + 1.0) ** -skew
    age = rng.integers(20, 20 + draw(st.integers(1, 50)), n)
    lean = 1 if draw(st.booleans()) else 0  # whether the sensitive value depends on age
    disease = rng.choice(values, n, p=shares / shares.sum())
    disease = np.minimum(values - 1, disease + lean * (age > 40))
    columns: dict[str, object] = {
        # the first row always has an age, because `read` refuses a numeric column without any number
        "age": pa.array(age, mask=(rng.random(n) < 0.1) & (np.arange(n) > 0) if missing else None),
        "city": [CITIES[i][0] for i in rng.integers(0, 5, n)],
        "sex": [["f", "m"][i] for i in rng.integers(0, 2, n)],
        "grade": rng.integers(1, 5, n),
        "disease": [f"d{i}" for i in disease],
    }
    quasi = draw(st.sampled_from([["age"], ["age", "city"], ["city", "sex", "grade"], ["age", "city", "sex", "grade"]]))
    return read(
        pa.table(columns),
        quasi=quasi,
        sensitive="disease",
        ordinal=["grade"] if "grade" in quasi else [],
        hierarchies={"city": {"West": ["Bonn", "Essen"], "East": ["Jena", "Halle", "Gera"]}} if "city" in quasi else {},
        missing=draw(st.sampled_from(["withhold", "value"])) if missing else "error",
    )


@st.composite
def with_missing(draw: st.DrawFn) -> Table:
    """Draw a table in which some numbers are missing; one without missing numbers if `read` refuses it."""
    try:
        return draw(tables(missing=True))
    except DiscreetError:
        return draw(tables())


@st.composite
def numeric_tables(draw: st.DrawFn, missing: bool = False) -> Table:
    """Draw a table with a numeric sensitive attribute: ties, zeros, negatives, correlated with age or not."""
    n = draw(st.integers(1, 90))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    age = rng.integers(20, 20 + draw(st.integers(1, 50)), n)
    spread = draw(st.sampled_from([1, 6, 40, 400]))
    pay = rng.integers(-spread, spread + 1, n) * draw(st.sampled_from([0.5, 1.0, 3.25]))
    pay = pay + draw(st.sampled_from([0, 1, 5])) * (age - 20)
    pay[rng.random(n) < draw(st.sampled_from([0.0, 0.2]))] = 0.0
    hidden = (rng.random(n) < 0.1) & (np.arange(n) > 0)
    columns: dict[str, object] = {
        "age": pa.array(age, mask=hidden if missing else None),
        "city": [["Bonn", "Essen", "Jena", "Halle"][i] for i in rng.integers(0, 4, n)],
        "sex": [["f", "m"][i] for i in rng.integers(0, 2, n)],
        "pay": pay,
    }
    quasi = draw(st.sampled_from([["age"], ["age", "city"], ["age", "city", "sex"]] + [["city"]] * (not missing)))
    return read(
        pa.table(columns),
        quasi=quasi,
        sensitive="pay",
        hierarchies={"city": {"West": ["Bonn", "Essen"], "East": ["Jena", "Halle"]}} if "city" in quasi else {},
        missing="withhold" if missing else "error",
    )
