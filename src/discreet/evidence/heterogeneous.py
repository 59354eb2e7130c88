"""Gkountouna, Doka, Xue, Cao and Karras: "One-off Disclosure Control by Heterogeneous Generalization" (USENIX Security
2022).

GR, SG and HG publish the graph over the paper's buckets, with sets of values, and minimise GCP; beta-likeness is the
basic variant. NH cuts at medians, merges partitions and publishes rings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from discreet.adversary.attacks.campaign import attack
from discreet.analyst.prefix_workload import prefix_workload
from discreet.datasets import HETEROGENEOUS_QUASI
from discreet.evidence.claims import Claim, Record, at, below, flat, peaks, trend
from discreet.evidence.experiment import Axis, Experiment, Measuring
from discreet.evidence.generated import coil, with_values
from discreet.evidence.ground import Asked, Ground, Size
from discreet.evidence.method import Method, measured
from discreet.releases.bit_counts import exact_counts
from discreet.table.table import Table

DIVERSE, LIKE, PRIVATE = (
    "l-diversity(l={l})",
    "beta-likeness(beta={beta}, variant=basic)",
    "differential-privacy(epsilon={epsilon})",
)
GRAPH = "heterogeneous(published, matching={matching}, values=set, loss=gcp, marginals=none{more})"
MATCHINGS = {"GR": "greedy", "SG": "sort-greedy", "HG": "hungarian"}


def graphs(promise: str, more: str = "", names: tuple[str, ...] = ("GR", "SG", "HG")) -> tuple[Method, ...]:
    """The paper's methods; ``more`` are further options."""
    return tuple(
        Method(name + ("p" if more else ""), GRAPH.format(matching=MATCHINGS[name], more=more), promise, "even")
        for name in names
    )


NH = Method("NH", "nh(values=set)", DIVERSE, "even")
BUREL = Method("BuReL", "burel(published, values=set, marginals=none)", LIKE, "even")
PRIVBAYES = Method("PrivBayes", "privbayes(domains=observed)", PRIVATE)
OWN_L = (
    Method("heterogeneous (ours)", "heterogeneous(values=set, loss=gcp)", DIVERSE),
    Method("cuts (ours)", "cuts(values=set, loss=gcp)", DIVERSE),
)
OWN_BETA = (
    Method("heterogeneous (ours)", "heterogeneous(values=set, loss=gcp)", LIKE),
    Method("cuts (ours)", "cuts(values=set, loss=gcp)", LIKE),
    Method("lifting (ours)", "lifting(loss=gcp)", LIKE),
)
BY_L = (*graphs(DIVERSE), NH, *OWN_L)
BY_BETA = (*graphs(LIKE), BUREL, *OWN_BETA)
ANSWERING = (*graphs(LIKE), BUREL, PRIVBAYES, OWN_BETA[0], OWN_BETA[2])
USUAL: dict[str, Any] = {
    **{"l": 10, "beta": 3.0, "quasi": 7, "share": 1.0, "theta": 0.5, "queried": 3, "selectivity": 0.1},
    "partition": 1.0,
}
X_L, X_BETA, X_ROWS = Axis("l", "l"), Axis("beta", "beta"), Axis("share", "share of the rows", "~%", log=True)
X_QUASI, X_THETA = Axis("quasi", "quasi-identifiers"), Axis("theta", "theta")
X_PART = Axis("partition", "share of the rows in a partition", "~%", log=True)
X_LAMBDA, X_SELECTIVITY = Axis("queried", "lambda"), Axis("selectivity", "selectivity", "~%")
GCP, TIME = Axis("GCP", "GCP"), Axis("seconds", "processor time, seconds", log=True)
ERROR, GUESSED = Axis("error", "median relative error", "~%"), Axis("guessed", "guessed rightly", "~%")
KINDS = {"a": "CENSUS", "b": "Uniform", "c": "Zipfian"}


@lru_cache(maxsize=12)
def _drawn(table: Table, theta: float | None, seed: int) -> Table:
    return with_values(table, theta, seed)


@lru_cache(maxsize=4)
def _coil(rows: int, seed: int) -> Table:
    return coil(rows, seed)


def people(ground: Ground, kind: str, given: dict[str, Any]) -> Table:
    """The table of an experiment: CENSUS, Uniform, Zipfian or COIL2000."""
    if kind == "COIL2000":
        ground.generated_only("a table like COIL2000")
        return _coil(ground.rows, ground.seed)
    rows = max(100, round(given["share"] * ground.rows))
    table = ground.people(HETEROGENEOUS_QUASI[: given["quasi"]], "occupation", rows)
    if kind == "CENSUS":
        return table
    return _drawn(table, None if kind == "Uniform" else given["theta"], ground.seed)


def filled(given: dict[str, Any], table: Table) -> dict[str, Any]:
    """The parameters as promises and schemes take them: epsilon = ln(1 + beta), partitions in rows."""
    rows = max(100, round(given["partition"] * table.rows))
    return {**given, "epsilon": round(math.log1p(given["beta"]), 6), "partition": rows}


def losses(methods: tuple[Method, ...], parameter: str, kind: str, **usual: Any) -> Measuring:
    """Measure losses and times at each value of a parameter."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        given = {**USUAL, **usual, parameter: place}
        table = people(ground, kind, given)
        complete = filled(given, table)

        def one(method: Method) -> Record:
            made = method.publish(table, complete, ground.seed)
            return {**method.losses(made), "seconds": made.seconds}

        for method in methods:
            yield measured(method, partial(one, method))

    return measure


@lru_cache(maxsize=4)
def _prefixes(table: Table, number: int, seed: int) -> Asked:
    queries = prefix_workload(table, prefix="education", dimensionality=5, number=number, seed=seed)
    return Asked(queries, exact_counts(table, queries))


def errors(parameter: str, kind: str, *, prefixes: bool = False, **usual: Any) -> Measuring:
    """Measure errors of counts at each value of a parameter."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        given = {**USUAL, **usual, parameter: place}
        table = people(ground, kind, given)
        if prefixes:
            if "education" not in table.quasi_names:
                ground.generated_only("prefixes of education")
            asked = _prefixes(table, ground.number(10_000), ground.seed)
        else:
            asked = ground.ranges(table, given["queried"], given["selectivity"])

        def one(method: Method) -> Record:
            made = method.publish(table, filled(given, table), ground.seed)
            return method.errors(made, table, asked)

        for method in ANSWERING:
            yield measured(method, partial(one, method))

    return measure


def guesses(parameter: str, correction: float, distance: float) -> Measuring:
    """Measure how often naive Bayes guesses rightly; of synthetic rows those within a distance count."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        given = {**USUAL, parameter: place}
        table = people(ground, "CENSUS", given)
        near = place if parameter == "distance" else distance
        yield {"method": "most frequent value", "guessed": float(table.prior_counts.max() / table.rows)}
        for method in (*graphs(LIKE), BUREL, PRIVBAYES, OWN_BETA[0]):
            synthetic = method is PRIVBAYES
            if parameter == "distance" and not synthetic:
                continue

            def one(method: Method = method, synthetic: bool = synthetic) -> Record:
                release = method.publish(table, filled(given, table), ground.seed).release
                text = f"naive-bayes(correction={correction:g}, distance={near if synthetic else 0:g})"
                return {"guessed": attack(release, table, text, random_state=ground.seed).evidence[0].rate}

            yield measured(method, one)

    return measure


# --------------------------------------------------------------------------------------------------------- experiments

BETAS, LARGE_BETAS = (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 3.0, 9.0, 19.0, 49.0, 99.0)
SMALL: dict[Size, int] = {"full": 10_000, "quick": 1_500, "tiny": 300}
MANY: dict[Size, int] = {"full": 100_000, "quick": 4_000, "tiny": 600}
GRAPHS = ("GR", "SG", "HG")
NOISE = (
    "Wide boxes cost more than noise: whoever spreads a row over a box of four fifths of the domain knows hardly more "
    "than the marginals, which PrivBayes publishes exactly enough."
)
NARROW = "BuReL draws near rows along a curve, and sets of many attributes cost both about the same."
experiment = partial(Experiment, paper="heterogeneous", rows=SMALL)


def better(measure: str, others: tuple[str, ...], names: tuple[str, ...] = GRAPHS) -> tuple[Claim, ...]:
    """Each of the paper's methods has less than the others."""
    return tuple(below(measure, name, others) for name in names)


EXPERIMENTS = (
    *(
        experiment(
            figure=f"2{letter}",
            title=f"Loss by l, {kind}",
            found="GR, SG and HG lose less than NH, the more so the larger l is.",
            x=X_L,
            y=(GCP,),
            places=(2, 4, 6, 8, 10),
            measure=losses(BY_L, "l", kind),
            claims=better("GCP", ("NH",)),
            because="For small l, and where values are even, median cuts are diverse by themselves and narrow.",
        )
        for letter, kind in KINDS.items()
    ),
    *(
        experiment(
            figure=f"3{letter}",
            title=f"Loss by the number of quasi-identifiers at l=10, {kind}",
            found=f"GR, SG and HG lose less than NH {when}.",
            x=X_QUASI,
            y=(GCP,),
            places=(2, 3, 4, 5, 6, 7),
            measure=losses(BY_L, "quasi", kind),
            claims=tuple(at(range(first, 8), claim) for claim in better("GCP", ("NH",))),
            because="With few quasi-identifiers median cuts are narrow; the paper says so of Uniform and Zipfian.",
        )
        for (letter, kind), first, when in zip(
            KINDS.items(), (2, 7, 4), ("for all numbers", "above 6", "above 3"), strict=True
        )
    ),
    experiment(
        figure="4a-5a",
        title="Loss and time by rows at l=10, with and without partitions of a tenth",
        found="GR, SG and HG lose less than NH; partitions lose more, and take about NH's time.",
        x=X_ROWS,
        y=(GCP, TIME),
        places=(0.05, 0.1, 0.2, 0.5, 1.0),
        measure=losses(
            (*graphs(DIVERSE), *graphs(DIVERSE, ", partition={partition}"), NH, OWN_L[1]),
            "share",
            "CENSUS",
            partition=0.1,
        ),
        claims=(*better("GCP", ("NH",)), *(below("GCP", name, (f"{name}p",), 1.02) for name in GRAPHS)),
        because="Blocks that are matched whole are limited to what takes seconds, so partitions of that size change "
        "nothing.",
        rows=MANY,
    ),
    experiment(
        figure="4b-5b",
        title="Loss and time by the size of partitions at l=10",
        found="Time falls with partitions, at a modest cost in loss, which stays below NH's.",
        x=X_PART,
        y=(GCP, TIME),
        places=(0.05, 0.1, 0.2, 0.5, 1.0),
        measure=losses((*graphs(DIVERSE, ", partition={partition}"), NH), "partition", "CENSUS"),
        claims=(
            *better("GCP", ("NH",), ("GRp", "SGp", "HGp")),
            trend("seconds", ("SGp", "HGp"), falls=False),
            trend("GCP", ("GRp", "SGp", "HGp"), falls=True),
        ),
        because="Small partitions take more calls, which costs more than it saves where matching is fast.",
        rows=MANY,
    ),
    experiment(
        figure="4c-5c",
        title="Loss and time by skew at l=5, Zipfian",
        found="GR, SG and HG are resilient, while NH loses more as theta grows; times are stable.",
        x=X_THETA,
        y=(GCP, TIME),
        places=(0.5, 0.6, 0.7, 0.8, 0.9),
        measure=losses(BY_L, "theta", "Zipfian", l=5),
        claims=(
            *better("GCP", ("NH",)),
            trend("GCP", ("NH",), falls=False),
            flat("GCP", GRAPHS, 1.3),
            flat("seconds", GRAPHS, 2.0),
        ),
        because="With 51 values the most frequent one has 18 % of the rows at theta=.9, so that l=10 of the paper "
        "cannot be kept; at l=5 hardly any partition has to be merged.",
    ),
    *(
        experiment(
            figure=f"6{letter}",
            title=f"Loss by beta, {kind}",
            found="HG loses less than BuReL, SG and GR slightly more than HG; loss falls with beta.",
            x=X_BETA,
            y=(GCP,),
            places=BETAS,
            measure=losses(BY_BETA, "beta", kind),
            claims=(below("GCP", "HG", ("BuReL",)), trend("GCP", (*GRAPHS, "BuReL"), falls=True)),
            because=NARROW,
        )
        for letter, kind in KINDS.items()
    ),
    experiment(
        figure="7a-7b",
        title="Loss and time by rows at beta=3",
        found="The gap between GR, SG, HG and BuReL grows with the rows; they take more time.",
        x=X_ROWS,
        y=(GCP, TIME),
        places=(0.05, 0.1, 0.2, 0.5, 1.0),
        measure=losses((*graphs(LIKE), BUREL, OWN_BETA[2]), "share", "CENSUS"),
        claims=(*better("GCP", ("BuReL",)), below("seconds", "BuReL", GRAPHS)),
        because=NARROW,
        rows={**MANY, "full": 50_000},
    ),
    experiment(
        figure="7c",
        title="Loss by skew at beta=3, Zipfian",
        found="More skewed values cost more; HG loses less than BuReL, at theta=.5 a third less.",
        x=X_THETA,
        y=(GCP,),
        places=(0.5, 0.6, 0.7, 0.8, 0.9),
        measure=losses(BY_BETA, "theta", "Zipfian"),
        claims=(below("GCP", "HG", ("BuReL",)), trend("GCP", GRAPHS, falls=False)),
        because=NARROW,
    ),
    *(
        experiment(
            figure=f"{number}{letter}",
            title=f"Error of counts by {axis.title}, {kind}",
            found=f"GR, SG and HG answer better than BuReL and PrivBayes, by up to {times} times.",
            x=axis,
            y=(ERROR,),
            places=places if axis is not X_LAMBDA or number == 8 else places[:4],
            measure=errors(axis.name, kind),
            claims=better("error", ("BuReL", "PrivBayes")),
            because=NOISE,
        )
        for number, kind, times in ((8, "CENSUS", 4), (9, "COIL2000", 10))
        for letter, axis, places in (
            ("a", X_BETA, BETAS),
            ("b", X_LAMBDA, (1, 2, 3, 4, 5, 6)),
            ("c", X_SELECTIVITY, (0.05, 0.1, 0.15, 0.2, 0.25)),
        )
    ),
    *(
        experiment(
            figure=f"10{letter}",
            title=f"Error of {'prefix queries by beta' if prefixes else 'counts by beta up to 99'}, {kind}",
            found="GR, SG and HG answer better than PrivBayes at every epsilon = ln(1 + beta).",
            x=Axis("beta", "beta", log=True),
            y=(ERROR,),
            places=BETAS if prefixes else LARGE_BETAS,
            measure=errors("beta", kind, prefixes=prefixes),
            claims=better("error", ("PrivBayes",)),
            because=NOISE,
        )
        for letter, kind, prefixes in (("a", "CENSUS", False), ("b", "COIL2000", False), ("c", "CENSUS", True))
    ),
    *(
        experiment(
            figure=f"11{letter}",
            title=f"Occupations guessed by naive Bayes, {kind}",
            found="The rate from GR, SG and HG does not depend on beta; that from PrivBayes is higher and grows.",
            x=X_BETA,
            y=(GUESSED,),
            places=BETAS,
            measure=guesses("beta", correction, distance),
            claims=(
                flat("guessed", GRAPHS, 1.25),
                trend("guessed", ("PrivBayes",), falls=False),
                *better("guessed", ("PrivBayes",)),
            ),
            because="At so few rows what PrivBayes publishes of 51 values is mostly noise.",
        )
        for letter, kind, correction, distance in (("a", "classic", 0.0, 0.1), ("b", "with correction", 1.0, 0.0495))
    ),
    experiment(
        figure="11c",
        title="Occupations guessed by naive Bayes from PrivBayes, by the distance delta of noisy values",
        found="There is a delta that serves the attacker best, between 0 and 1.",
        x=Axis("distance", "delta"),
        y=(GUESSED,),
        places=(0.0, 0.05, 0.1, 0.2, 0.5, 1.0),
        measure=guesses("distance", 0.0, 0.0),
        claims=(peaks("guessed", "PrivBayes"),),
        because="What PrivBayes publishes of 51 values at so few rows is mostly noise, at every delta.",
    ),
    experiment(
        figure="tau",
        title="GR, SG and HG in threshold mode",
        found="Threshold mode loses slightly less, takes prohibitively long, and invites minimality attacks.",
        x=X_L,
        because="The paper's text breaks off before it defines the mode: it names neither the threshold nor the "
        "distance of a row from a bucket.",
    ),
)
