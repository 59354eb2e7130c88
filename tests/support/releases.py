"""Random tables with values that are hard to quote, random partitions of them, and their releases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.families.randomised.release.coin import Coin
from discreet.families.randomised.release.matrix import Matrix
from discreet.principles import KAnonymity, Principle
from discreet.releases import GeneralizedRelease, PerturbedRelease, RetainedRelease
from discreet.schemes import Retention
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

TREE = Hierarchy.of(
    "job",
    {
        "office": {"clerk": {}, "manager, senior": {}},
        "outside": {"farmer": {}, "office boy": {}, 'the "boss"': {}},
        "rare": {"astronaut": {}},
    },
)


ODD = ("a, b", "{x}", "[1, 2]", ' lead "x"', "plain", "(missing)", "new\nline", "*x")


SIZES = ("low", "mid, lower", "high", "[top]")


def random_table(rng: np.random.Generator, rows: int, sensitive: str = "categorical", missing: bool = True) -> Table:
    """Draw a table with quasi-identifiers of every kind and values that are hard to quote."""
    lack = missing and rng.random() < 0.7
    ages: np.ndarray[Any, Any] = np.arange(20, 20 + 12)
    weights = np.array([-1.5, 0.1, 1 / 3, 2.0, 1e-7, 12345.678, 1e300])
    weights.sort()
    quasi = (
        Column(
            "age",
            "numeric",
            rng.integers(0, 12, rows).astype(np.int32),
            np.concatenate(([math.nan], ages[1:])) if lack else ages,
            domain=(20.0, 40.0),
            missing=0 if lack else None,
            declared_domain=True,
        ),
        Column("weight, kg", "numeric", rng.integers(0, 7, rows).astype(np.int32), weights),
        Column(
            "job",
            "categorical",
            rng.integers(0, 6, rows).astype(np.int32),
            objects(TREE.leaves),
            TREE,
            declared_values=True,
        ),
        Column(
            "odd", "categorical", rng.integers(0, 8, rows).astype(np.int32), objects(ODD), Hierarchy.flat("odd", ODD)
        ),
        Column(
            "size",
            "ordinal",
            rng.integers(0, 4 + lack, rows).astype(np.int32),
            objects(("(missing)", *SIZES) if lack else SIZES),
            missing=0 if lack else None,
            declared_values=bool(rng.random() < 0.5),
        ),
    )
    sensitive_attribute: Column | None
    codes = np.minimum(rng.geometric(0.4, rows) - 1, 4).astype(np.int32)
    if sensitive == "none":
        sensitive_attribute = None
    elif sensitive == "numeric":
        values = np.array([math.nan, 10, 20, 20.5, 40]) if lack else np.array([0, 10, 20, 30, 40])
        sensitive_attribute = Column("income", "numeric", codes, values, missing=0 if lack else None)
    elif sensitive == "ordinal":
        sensitive_attribute = Column(
            "stage", "ordinal", codes, objects(("(missing)", "i", "ii", "iii", "iv")), missing=0
        )
    else:
        names = ("flu", "cold, bad", "(missing)", 'the "bug"', "none")
        sensitive_attribute = Column("disease", "categorical", codes, objects(names), Hierarchy.flat("disease", names))
    note = Column("note", "categorical", codes[::-1].copy(), objects("vwxyz"), Hierarchy.flat("note", "vwxyz"))
    alone = int((np.bincount(note.codes) == 1).sum())
    other = (note,) if rng.random() < 0.5 and 2 * alone <= rows else ()
    return Table(rows, quasi, sensitive_attribute, other)


def random_groups(rng: np.random.Generator, table: Table, withhold: bool = True) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Draw a partition whose group numbers have gaps; -1 marks withheld rows."""
    groups = (rng.integers(0, max(1, table.rows // 4), table.rows) * 3).astype(np.int32)
    if withhold and rng.random() < 0.6:
        groups[rng.random(table.rows) < 0.2] = -1
    groups[0] = 1
    return groups


def publish(table: Table, groups: Any, **options: Any) -> GeneralizedRelease:
    return GeneralizedRelease.from_groups(
        table, np.asarray(groups, np.int32), promise=KAnonymity(1), scheme="by-hand", options={}, **options
    )


def perturbed(table: Table, codes: Any, matrix: Matrix, promise: Principle) -> PerturbedRelease:
    """These values published as those that the scheme would have drawn."""
    return PerturbedRelease.from_draws(
        table, codes.astype(np.int32), matrix, promise=promise, scheme="perturbation", options={"matrix": "exact"}
    )


def retained(table: Table, codes: Any, coin: Coin, scheme: Retention, promise: Principle) -> RetainedRelease:
    """These numbers published as those that the scheme would have kept or drawn."""
    how: dict[str, Any] = {"promise": promise, "scheme": scheme.name, "options": scheme.options}
    return RetainedRelease.from_draws(table, codes.astype(np.int32), coin, scheme.noise, **how)


def objects(values: Any) -> np.ndarray[Any, Any]:
    return np.array(list(values), object)


def original_values(column: Column) -> list[Any]:
    """Return the values of all rows as a user would give them."""
    return [column.values[code] for code in column.codes]
