"""A table, and for each scheme a promise that it can keep about the table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.table.table import Table

ROWS = 900


PROMISES = {
    "cuts": "beta-likeness(beta=2)",
    "mondrian": "k-anonymity(k=5)",
    "incognito": "k-anonymity(k=5)",
    "lifting": "beta-likeness(beta=2)",
    "sealed": "beta-likeness(beta=4)",
    "mirrored": "beta-likeness(beta=4)",
    "burel": "beta-likeness(beta=2)",
    "sabre": "t-closeness(t=0.35)",
    "heterogeneous": "beta-likeness(beta=2)",
    "nh": "l-diversity(l=3)",
    "proximity": "proximity(epsilon=100, m=3)",
    "perturbation": "beta-likeness(beta=1)",
    "retention": "proximity(epsilon=100, m=2)",
    "anatomy": "l-diversity(l=4)",
    "baseline": "l-diversity(l=4)",
    "ambiguity": "alpha-beta(alpha=0.5, beta=0.5)",
    "codip": "beta-likeness(beta=2)",
    "privbayes": "differential-privacy(epsilon=1)",
}
OPTIONS = {"privbayes": {"domains": "observed"}}
"""Options without which a scheme refuses the table."""


def people(keep: bool) -> Table:
    """Return a table whose rows are sorted by age, and by the hour of their entry, which is kept along if ``keep``."""
    rng = np.random.default_rng(0)
    data = {
        "age": np.arange(ROWS) // 10,
        "height": rng.integers(150, 200, ROWS),
        "sex": rng.choice(["f", "m"], ROWS),
        "pay": rng.integers(0, 12, ROWS) * 100,
        "hour": np.arange(ROWS) // 60,
    }
    return dc.read(
        pa.table(data if keep else {name: data[name] for name in ("age", "height", "sex", "pay")}),
        quasi=["age", "height", "sex"],
        sensitive="pay",
        keep=["hour"] if keep else [],
    )
