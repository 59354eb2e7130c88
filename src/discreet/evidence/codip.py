"""Fang, Ashrafi and Ng: "Privacy beyond Single Sensitive Attribute" (DEXA 2011), with CODIP* and Incognito.

The levels of quasi-identifiers are not printed in the paper; they are guessed here. By default the table is generated
in the shape of Census-Income (KDD); the file itself may be named instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np

from discreet.evidence.census_income import with_levels
from discreet.evidence.claims import Record, at, below, flat, trend, within
from discreet.evidence.experiment import Axis, Experiment
from discreet.evidence.ground import Ground
from discreet.families.codip.plans import chosen, merged
from discreet.principles import KAnonymity, TCloseness
from discreet.schemes.incognito.levels import levels_of
from discreet.schemes.incognito.scheme import Incognito
from discreet.table.combinations import numbered
from discreet.table.dependency import Dependency, Plan, dependency
from discreet.table.table import Table

PAPER_ROWS = 98_839
LIMITS = (2.5, 3.5, 7.0)
"""The largest discernibility, in 10^9, for the paper's number of rows."""
AGES = {"5, 10, 20, 40": (5, 10, 20, 40), "5, 25, 50": (5, 25, 50)}
"""The widths of the levels of ages, which the paper does not tell: two guesses."""


@lru_cache(maxsize=4)
def _dependency(table: Table) -> Dependency:
    return dependency(table.sensitive)


def known(ground: Ground) -> Dependency:
    """How the sensitive attributes depend on each other."""
    return _dependency(ground.households())


def within_exposure(found: Dependency, exposure: float) -> Plan:
    """What CODIP* returns for this threshold."""
    return merged(found, lambda plan: found.exposure(plan) <= exposure)[-1]


def trade_off(ground: Ground, exposure: float) -> Iterator[Record]:
    """Figure 5: exposure and association loss of the plan for a threshold."""
    found = known(ground)
    for method, plan in (
        ("CODIP*", within_exposure(found, exposure)),
        ("codip (ours)", chosen(found, lambda plan: True, exposure)),
    ):
        assert plan is not None
        loss, exposed = found.association_loss(plan), found.exposure(plan)
        yield {"method": method, "loss": loss, "exposure": exposed, "tables": len(plan)}


def by_tables(ground: Ground, number: int) -> Iterator[Record]:
    """Figure 6: the same by the number of tables on the way of CODIP*."""
    found = known(ground)
    plan = next(plan for plan in merged(found, lambda plan: True) if len(plan) == number)
    loss, exposure = found.association_loss(plan), found.exposure(plan)
    yield {"method": "CODIP*", "loss": loss, "exposure": exposure, "reduction": 1 - exposure}


def by_attributes(ground: Ground, number: int) -> Iterator[Record]:
    """Figure 7: the number of tables by that of attributes, at exposure .2."""
    found, some = known(ground), slice(0, number)
    part = Dependency(found.names[some], found.entropy[some], found.shared[some, some], found.sensitive_share[some])
    plans = (("CODIP*", within_exposure(part, 0.2)), ("codip (ours)", chosen(part, lambda plan: True, 0.2)))
    for method, plan in plans:
        assert plan is not None
        yield {"method": method, "tables": len(plan), "loss": part.association_loss(plan)}


# ------------------------------------------------------------------------------------------------------ Figures 8 and 9


class Generalizations:
    """What full-domain generalization reaches, for any part of a plan."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.scale = (table.rows / PAPER_ROWS) ** 2 * 1e9
        self.scheme = Incognito(loss="discernibility")
        self.known: dict[tuple[tuple[int, ...], int, int], float] = {}

    def discernibility(self, part: tuple[int, ...], k: int, mills: int) -> float:
        """The smallest discernibility at which the table of these attributes keeps k and t = mills / 1000."""
        if (part, k, mills) not in self.known:
            some = replace(self.table, sensitive=tuple(self.table.sensitive[at] for at in part))
            promise = KAnonymity(k) & TCloseness(mills / 1000, "equal")
            found = self.scheme.search(some, promise).minimal
            self.known[part, k, mills] = min(one.discernibility for one in found) / self.scale
        return self.known[part, k, mills]

    def closeness(self, plan: Plan, k: int, most: float) -> float:
        """The smallest t that all tables of a plan keep, each generalized by itself; 1 if there is none."""
        return max(self._closeness(part, k, most) for part in plan)

    def _closeness(self, part: tuple[int, ...], k: int, most: float) -> float:
        low, high = 0, 1000  # in thousandths
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.discernibility(part, k, middle) <= most else (middle, high)
        return high / 1000

    def number(self, k: int, most: float) -> int:
        """How many combinations of levels are k-anonymous and within a discernibility."""
        each = levels_of(self.table)
        kept = self.scheme.search(replace(self.table, sensitive=()), KAnonymity(k)).kept
        found = 0
        for node in np.argwhere(kept):
            codes = [own.nodes[at][column.codes] for own, at, column in zip(each, node, self.table.quasi, strict=True)]
            keys = numbered(codes, [int(one.max()) + 1 for one in codes], self.table.rows)
            sizes = np.unique(keys, return_counts=True)[1].astype(np.float64)
            found += float((sizes**2).sum()) / self.scale <= most
        return found


@cache
def _generalizations(table: Table, ages: str) -> Generalizations:
    return Generalizations(with_levels(table, AGES[ages]))


def ways(ground: Ground) -> dict[int, Plan]:
    """The plans on the way of CODIP*, by the number of tables."""
    return {len(plan): plan for plan in merged(known(ground), lambda plan: True)}


def best_closeness(ground: Ground, number: int) -> Iterator[Record]:
    """Figure 8: the best closeness of a plan, and how much better that is than one table's."""
    plans = ways(ground)
    for ages in AGES:
        reached = _generalizations(ground.households(), ages)
        for most in LIMITS:
            best, naive = (reached.closeness(plans[tables], 2, most) for tables in (number, 1))
            yield {"method": f"dm={most}, ages by {ages}", "closeness": best, "better": 1 - best / naive}


def by_k(ground: Ground, k: int) -> Iterator[Record]:
    """Figure 9: plans of 2 to 7 tables that keep a closeness, and generalizations that are k-anonymous."""
    plans = ways(ground)
    for ages in AGES:
        reached = _generalizations(ground.households(), ages)
        for mills in (400, 370):
            kept = sum(
                all(reached.discernibility(part, k, mills) <= 3.5 for part in plans[number]) for number in range(2, 8)
            )
            yield {"method": f"t={mills / 1000:g}, ages by {ages}", "plans": kept}
        yield {"method": f"t=1, ages by {ages}", "generalizations": reached.number(k, 3.5)}


experiment = partial(Experiment, paper="codip", rows={"full": PAPER_ROWS, "quick": 20_000, "tiny": 600})
LOSS, EXPOSURE = Axis("loss", "association loss ratio"), Axis("exposure", "information exposure ratio")
TABLES = Axis("tables", "tables")
GENERATED_TABLE = "What goes together in a generated table is not what goes together in the real one."
GUESSED_LEVELS = "It depends on the levels of ages, which the paper does not print, and on the table."
EXPERIMENTS = (
    experiment(
        figure="5",
        title="Association loss by the exposure that is allowed",
        found="Exposure falls from 1 to .15 while association loss rises from 0 to .19.",
        x=Axis("threshold", "exposure at most"),
        y=(LOSS, EXPOSURE, TABLES),
        places=(1.0, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.0),
        measure=trade_off,
        claims=(
            trend("loss", ("CODIP*",), falls=False),
            at((0.15,), within("loss", "CODIP*", 0.19)),
            below("loss", "codip (ours)", ("CODIP*",)),
        ),
        because=GENERATED_TABLE,
    ),
    experiment(
        figure="6",
        title="Exposure and association loss by the number of tables",
        found="More tables expose less and lose more; fewer than 7 are a good trade-off.",
        x=Axis("number", "tables"),
        y=(LOSS, Axis("reduction", "reduction of exposure")),
        places=tuple(range(1, 16)),
        measure=by_tables,
        claims=(
            trend("loss", ("CODIP*",), falls=False),
            trend("exposure", ("CODIP*",), falls=True),
            at((6,), within("reduction", "CODIP*", 1.0, 0.5)),
            at((6,), within("loss", "CODIP*", 0.2)),
        ),
        because=GENERATED_TABLE,
    ),
    experiment(
        figure="7",
        title="Tables by the number of attributes, exposure at most .2",
        found="The number of tables rises with that of attributes, and hardly from 9 attributes on.",
        x=Axis("attributes", "sensitive attributes"),
        y=(TABLES,),
        places=(3, 5, 7, 9, 11, 13, 15),
        measure=by_attributes,
        claims=(trend("tables", ("CODIP*",), falls=False), at((9, 11, 13, 15), flat("tables", ("CODIP*",), 1.34))),
        because="Attributes that depend on no other need a table each.",
    ),
    experiment(
        figure="8",
        title="Best closeness by the number of tables, k=2",
        found="More tables allow a better closeness, by up to 40 %, the more the less discernibility is allowed.",
        x=Axis("number", "tables"),
        y=(Axis("closeness", "closeness t"), Axis("better", "better than one table by", "~%")),
        places=(1, 2, 4, 6, 15),
        measure=best_closeness,
        claims=(
            *(at((15,), within("better", f"dm=2.5, ages by {ages}", 1.0, 0.2)) for ages in AGES),
            below("better", "dm=7.0, ages by 5, 10, 20, 40", ("dm=2.5, ages by 5, 10, 20, 40",)),
            below("better", "dm=7.0, ages by 5, 25, 50", ("dm=2.5, ages by 5, 25, 50",)),
        ),
        because=GUESSED_LEVELS,
    ),
    experiment(
        figure="9",
        title="Plans of 2 to 7 tables that keep t, and generalizations, by k (dm=3.5)",
        found="Six plans keep t=.4 and two t=.37 up to k=20, none beyond; generalizations fall from 46 to 1.",
        x=Axis("k", "k", log=True),
        y=(Axis("plans", "plans"), Axis("generalizations", "k-anonymous generalizations")),
        places=(2, 5, 10, 20, 50, 100),
        measure=by_k,
        claims=(
            trend("generalizations", tuple(f"t=1, ages by {ages}" for ages in AGES), falls=True),
            within("plans", "t=0.37, ages by 5, 10, 20, 40", 2, 0),
        ),
        because=GUESSED_LEVELS,
    ),
)
