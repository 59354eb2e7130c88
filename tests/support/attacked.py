"""A release in every format, for attacks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.principles import parse
from discreet.releases import FORMATS
from discreet.schemes import make_scheme
from discreet.table.table import Table

PROMISES = {
    "mondrian": "l-diversity(l=3)",
    "lifting": "beta-likeness(beta=1)",
    "anatomy": "l-diversity(l=3)",
    "ambiguity": "alpha-beta(alpha=0.8, beta=0.4)",
    "perturbation": "beta-likeness(beta=1)",
    "retention": "proximity(epsilon=50, m=2)",
    "heterogeneous:publishes=graph": "l-diversity(l=3)",
    "codip": "beta-likeness(beta=1)",
    "sealed": "beta-likeness(beta=3)",
    "mirrored": "beta-likeness(beta=1)",
    "privbayes:domains=observed": "differential-privacy(epsilon=2)",
}
"""A scheme for each format, with its option if one decides, and a promise that it keeps."""
MAKERS = tuple(PROMISES)


@cache
def people() -> Table:
    """The table whose releases these are: 240 persons, who earn more the older they are."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 240)
    pay = np.clip((age - 20) // 10 + rng.integers(-2, 4, 240), 0, 5) * 100
    columns = {"age": age, "sex": rng.choice(["f", "m"], 240), "pay": pay}
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive="pay")


@cache
def release_by(scheme: str) -> dc.Release:
    """The release of that table by a scheme, always the same."""
    name, _, option = scheme.partition(":")
    options = dict([option.split("=")]) if option else {}
    return make_scheme(name, options, random_state=1).publish(people(), parse(PROMISES[scheme]))


def formats() -> set[str]:
    """The formats that the schemes above make, to be compared with those that there are."""
    made = {release_by(scheme).format for scheme in MAKERS}
    assert made == set(FORMATS.built_in), "a new format needs a scheme here"
    return made
