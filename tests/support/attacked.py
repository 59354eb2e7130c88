"""A release in every format, for attacks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.principles import parse
from discreet.schemes.described import narrow
from discreet.table.table import Table
from support import formats
from support.claims import made

PROMISES = {maker.scheme: maker.strict for maker in formats.MAKERS.values()}
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
    return narrow(made(scheme, random_state=1)).publish(people(), parse(PROMISES[scheme]))


def made_formats() -> set[str]:
    """The formats of all these releases."""
    return {release_by(scheme).format for scheme in MAKERS}
