"""Wang: "Ambiguity: Hide the Presence of Individuals and Their Privacy with Low Information Loss" (COMAD 2008).

Counts of ambiguity are estimated by products, as in the paper, and by our weights beside it. The competitor, Mondrian,
promises the same about values and, as in the paper, nothing about presence. The error of a GROUP BY count is the mean
relative error of its cells that have rows; a workload's is the mean of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from discreet.analyst.grouped_workload import SELECTIVITIES, GroupCells, cells_of, group_by_workload
from discreet.analyst.queries import relative_errors
from discreet.datasets import HETEROGENEOUS_QUASI
from discreet.evidence.claims import Claim, Record, Records, Verdict, below, series, trend, within
from discreet.evidence.experiment import Axis, Experiment
from discreet.evidence.generated import condensed
from discreet.evidence.ground import Ground
from discreet.evidence.method import Made, Method, measured, published
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.principles import KAnonymity
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.table.table import Table

HIDDEN, SHOWN = "alpha-beta(alpha={alpha}, beta={beta})", "alpha-beta(alpha=1, beta={beta})"
AMBIGUITY = Method("ambiguity", "ambiguity", HIDDEN, "product")
OWN = Method("ambiguity (ours)", "ambiguity", HIDDEN)
MONDRIAN = Method("generalization", "mondrian(snap=false, marginals=none)", SHOWN, "even")
CUTS = Method("cuts (ours)", "cuts(snap=false)", SHOWN)
METHODS = (AMBIGUITY, MONDRIAN, OWN, CUTS)
LEAST = {"occupation": 0.1, "salary": 0.05}
"""The smallest beta of the paper that the most frequent value of each sensitive attribute allows."""
BATCH, FEW, CELLS = 20, 6, 150
"""GROUP BY counts in a workload, and in that of a quick run; and cells of each that are looked at."""
TIME = Axis("seconds", "processor time, seconds")
ERRORS = tuple(Axis(name, f"error of {name} ({share:.0%})", "~%") for name, share in SELECTIVITIES.items())


@lru_cache(maxsize=6)
def dense(table: Table, density: int) -> Table:
    """A table of a density; kept, so that its releases are, too."""
    return table if density == 1 else condensed(table, density)


def people(ground: Ground, sensitive: str, density: int = 1) -> Table:
    """Occ or Sal."""
    return dense(ground.people(HETEROGENEOUS_QUASI, sensitive), density)


@lru_cache(maxsize=24)
def cells(table: Table, name: str, dimensions: int, number: int, seed: int) -> GroupCells:
    """The cells of a workload that have rows."""
    wanted = group_by_workload(table, dimensions=dimensions, selectivity=SELECTIVITIES[name], number=number, seed=seed)
    return cells_of(table, wanted, CELLS, seed)


def error(method: Method, made: Made, asked: GroupCells) -> float:
    """The mean over GROUP BY counts of the mean relative error of their cells."""
    found = relative_errors(made.release.estimates(asked.queries, method.estimator), asked.exact)
    counts = np.bincount(asked.of)
    return float((np.bincount(asked.of, found)[counts > 0] / counts[counts > 0]).mean())


def errors(parameter: str, sensitive: tuple[str, ...], names: tuple[str, ...], **usual: Any) -> Any:
    """Measure the errors of workloads at each value of a parameter."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        batch = BATCH if ground.size == "full" else FEW
        for attribute in sensitive:
            given = {"alpha": 0.2, "beta": LEAST[attribute], "density": 1, "dimensions": 2, **usual, parameter: place}
            table = people(ground, attribute, given["density"])
            for method in METHODS:

                def one(method: Method = method, table: Table = table, given: dict[str, Any] = given) -> Record:
                    made = method.publish(table, given, ground.seed)
                    return {
                        name: error(method, made, cells(table, name, given["dimensions"], batch, ground.seed))
                        for name in names
                    }

                record = measured(method, one)
                about = f", {attribute}" if len(sensitive) > 1 else ""
                yield {**record, "method": f"{method.name}{about}"}

    return measure


def times(parameter: str, alphas: tuple[float, ...]) -> Any:
    """Measure times at each value of a parameter, by alpha and by sensitive attribute."""

    def measure(ground: Ground, place: Any) -> Iterator[Record]:
        for attribute, least in LEAST.items():
            for alpha in alphas:
                given: dict[str, Any] = {"alpha": alpha, "beta": least, "density": 1, parameter: place}
                table = people(ground, attribute, given["density"])

                def one(table: Table = table, given: dict[str, Any] = given) -> Record:
                    return {"seconds": AMBIGUITY.publish(table, given, ground.seed).seconds}

                yield {**measured(AMBIGUITY, one), "method": f"{attribute}, alpha={alpha:g}"}

    return measure


def theorem(ground: Ground, groups: str) -> Iterator[Record]:
    """Theorem 6.1: lists of values answer better than boxes of the same groups."""
    table = people(ground, "salary")
    scheme, promise = {
        "cuts": ("cuts(snap=false)", "l-diversity(l=20, kind=frequency)"),
        "generalization": ("mondrian(snap=false)", "l-diversity(l=20, kind=frequency)"),
        "ambiguity": ("ambiguity", "alpha-beta(alpha=0.2, beta=0.05)"),
    }[groups]
    trace = published(table, scheme, promise, ground.seed).release.trace
    asked = ground.ranges(table, 3, 0.1, 8_000)
    told = {}
    for name, kind in (("boxes", GeneralizedRelease), ("lists", AmbiguousRelease)):
        release: Any = kind.from_groups(table, trace, promise=KAnonymity(1), scheme="as given")
        told[name] = release.estimates(asked.queries, "even" if name == "boxes" else "product")
    boxes, lists = (relative_errors(told[name], asked.exact) for name in ("boxes", "lists"))
    there = ~np.isnan(boxes)
    yield {"method": "boxes", "error": float(np.median(boxes[there]))}
    yield {
        "method": "lists",
        "error": float(np.median(lists[there])),
        "worse": float((lists[there] > boxes[there] + 1e-9).mean()),
        "too much": float((told["lists"] > asked.exact)[there].mean()),
    }


def not_proportional(*methods: str) -> Claim:
    """Time is proportional neither to beta nor to 1 / beta, by 20 %."""

    def claim(records: Records) -> Verdict:
        figures, linear = {}, []
        for method in methods:
            found = series(records, "seconds", method)
            if len(found) < 2:
                continue
            (first, before), *_, (last, after) = found.items()
            ratio, wanted = after / max(before, 1e-9), last / first
            figures[f"seconds: last by first of {method}"] = ratio
            if abs(ratio / wanted - 1) < 0.2 or abs(ratio * wanted - 1) < 0.2:
                linear.append(method)
        if not figures:
            return Verdict(None, "no time was measured at two places")
        said = f"time is proportional to beta or 1 / beta for {len(linear)} of {len(figures)} alphas"
        return Verdict(not linear, said, figures)

    return claim


experiment = partial(Experiment, paper="ambiguity", rows={"full": 100_000, "quick": 100_000, "tiny": 1_500})
X_DENSITY = Axis("density", "density d")
PRODUCT = (
    "The product of matching fractions says too much where values are skewed, because common values count no more than "
    "rare ones; our estimator weighs them."
)
BOTH = ("occupation", "salary")
TIMED = tuple(f"salary, alpha={alpha:g}" for alpha in (0.5, 0.2, 0.1))
EXPERIMENTS = (
    experiment(
        figure="6",
        title="Time by beta and alpha",
        found="Time is linear neither in alpha nor in beta, and 20 to 120 s.",
        x=Axis("beta", "beta"),
        y=(TIME,),
        places=(0.1, 0.05, 0.025),
        measure=times("beta", (0.5, 0.2, 0.1)),
        claims=(not_proportional(*TIMED), *(within("seconds", method, 120) for method in TIMED)),
        because="Looking for a row takes the same time in every group here, and larger groups are fewer.",
        rows={"full": 500_000, "quick": 100_000, "tiny": 1_500},
    ),
    experiment(
        figure="7",
        title="Time by density",
        found="The denser the table, the longer it takes.",
        x=X_DENSITY,
        y=(TIME,),
        places=(1, 2, 3, 4, 5),
        measure=times("density", (0.2,)),
        claims=(trend("seconds", ("occupation, alpha=0.2", "salary, alpha=0.2"), falls=False),),
        because="Only a window of rows is looked at for each group, whatever they repeat.",
    ),
    experiment(
        figure="8",
        title="Errors of GROUP BY counts by beta, salary",
        found="Ambiguity always answers better than generalization.",
        x=Axis("beta", "beta"),
        y=ERRORS,
        places=(0.2, 0.1, 0.05),
        measure=errors("beta", ("salary",), tuple(SELECTIVITIES)),
        claims=tuple(below(name, "ambiguity", ("generalization",)) for name in SELECTIVITIES),
        because=PRODUCT,
    ),
    experiment(
        figure="9-1",
        title="Error of Query-2 by the number of attributes, salary",
        found="Errors of both rise with the number of attributes; ambiguity always wins.",
        x=Axis("dimensions", "attributes to group by"),
        y=(ERRORS[1],),
        places=(2, 3, 4),
        measure=errors("dimensions", ("salary",), ("Query-2",)),
        claims=(
            trend("Query-2", ("ambiguity", "generalization"), falls=False),
            below("Query-2", "ambiguity", ("generalization",)),
        ),
        because="With more attributes there are more cells, and only those with rows are asked for: small counts are "
        "answered with little, which is wrong by 100 % at most, while large ones can be exceeded many times.",
    ),
    experiment(
        figure="9-2",
        title="Error of Query-2 by density, ambiguity",
        found="Denser tables are answered worse.",
        x=X_DENSITY,
        y=(ERRORS[1],),
        places=(1, 2, 3, 4, 5),
        measure=errors("density", BOTH, ("Query-2",)),
        claims=(trend("Query-2", ("ambiguity, occupation", "ambiguity, salary"), falls=False),),
        because="Groups are as large as beta demands, and hardly larger where rows repeat.",
    ),
    experiment(
        figure="10",
        title="Error of Query-2 by density, beside generalization",
        found="Ambiguity always answers better than generalization.",
        x=X_DENSITY,
        y=(ERRORS[1],),
        places=(1, 2, 3, 4, 5),
        measure=errors("density", BOTH, ("Query-2",)),
        claims=tuple(below("Query-2", f"ambiguity, {name}", (f"generalization, {name}",)) for name in BOTH),
        because=PRODUCT,
    ),
    experiment(
        figure="theorem-6.1",
        title="Lists of values beside boxes of the same groups",
        found="Lists of values always answer counts better than the boxes of the same groups.",
        x=Axis("groups", "groups of"),
        y=(Axis("error", "median relative error", "~%"), Axis("worse", "lists are worse", "~%")),
        places=("cuts", "generalization", "ambiguity"),
        measure=theorem,
        claims=(within("worse", "lists", 0.0),),
        because="The proof takes the estimates of both to be too low; most of those from lists are too high.",
    ),
)
