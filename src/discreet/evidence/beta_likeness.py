"""Cao and Karras: "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012).

Its BUREL and SABRE run with the paper's settings, its perturbation with the matrix of Theorem 3 and the inverse of the
matrix as the estimate, and boxes are taken to be filled evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from discreet.adversary.attacks.campaign import attack
from discreet.analyst.loss import ail
from discreet.datasets import LIKENESS_QUASI
from discreet.evidence.claims import Record, below, flat, trend, within
from discreet.evidence.experiment import Axis, Experiment
from discreet.evidence.ground import Ground
from discreet.evidence.method import Made, Method, achieved, average, measured
from discreet.report.equal import distance_of, farthest
from discreet.table.table import Table

BETA = "beta-likeness(beta={beta})"
BUREL = Method("BUREL", "burel(published, marginals=none)", BETA, "even")
MEDIAN_CUTS = "mondrian(snap=false, marginals=none)"
LMONDRIAN = Method("LMondrian", MEDIAN_CUTS, BETA, "even")
DMONDRIAN = Method("DMondrian", MEDIAN_CUTS, "delta-disclosure(beta={beta})", "even")
TMONDRIAN = Method("tMondrian", MEDIAN_CUTS, "t-closeness(t={t}, distance={distance})")
SABRE = Method("SABRE", "sabre(published, marginals=none)", "t-closeness(t={t}, distance={distance})")
OWN_SABRE = Method("sabre (ours)", "sabre(snap=false)", "t-closeness(t={t}, distance={distance})")
CLOSE = (TMONDRIAN, SABRE, OWN_SABRE)
CUTS = Method("cuts (ours)", "cuts(snap=false)", BETA)
OWN = (
    Method("burel (ours)", "burel(snap=false)", BETA),
    CUTS,
    Method("lifting (ours)", "lifting(snap=false)", BETA),
)
GENERALIZING = (BUREL, LMONDRIAN, DMONDRIAN, *OWN)
PERTURBING = (
    Method("perturbation", "perturbation(matrix=closed-form)", BETA, "inverse"),
    Method("Baseline", "baseline", BETA),
    Method("perturbation (ours)", "perturbation", BETA),
)
USUAL = {"beta": 4.0, "quasi": 3, "share": 1.0, "queried": 3, "selectivity": 0.1}
"""The paper's parameters where it does not vary them; ``share`` is that of the rows."""
FURTHER = {**USUAL, "quasi": 5}
"""The same in the figures about queries."""
BETAS = (1.0, 2.0, 3.0, 4.0, 5.0)
X_BETA = Axis("beta", "beta")
AIL, TIME = Axis("AIL", "AIL"), Axis("seconds", "processor time, seconds")
ERROR = Axis("error", "median relative error", "~%")
ACHIEVED = Axis("beta", "beta that is achieved", log=True)


def people(ground: Ground, quasi: int, share: float = 1.0) -> Table:
    """The first quasi-identifiers of the census, and the salary class."""
    return ground.people(LIKENESS_QUASI[:quasi], "salary", round(share * ground.rows))


def distance(table: Table) -> str:
    """The distance of t-closeness that suits the sensitive attribute."""
    return distance_of(table.sensitive_attribute)


def varied(methods: tuple[Method, ...], parameter: str, usual: dict[str, Any], queries: bool) -> Any:
    """Measure losses and times, or errors of queries, at each value of a parameter."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        given: dict[str, Any] = {**usual, parameter: place}
        table = people(ground, int(given["quasi"]), given["share"])

        def one(method: Method) -> Record:
            made = method.publish(table, given, ground.seed)
            if not queries:
                return {**method.losses(made), "seconds": made.seconds}
            return method.errors(made, table, ground.ranges(table, int(given["queried"]), given["selectivity"]))

        for method in methods:
            yield measured(method, partial(one, method))

    return measure


# ------------------------------------------------------------------------------------------- face to face (Figure 4)


def likeness(made: Made, table: Table) -> Record:
    """The beta and the t that a release achieves, and its loss."""
    t = achieved(made.release, table, f"t-closeness(t=1, distance={distance(table)})")
    beta = achieved(made.release, table, "beta-likeness(beta=1, variant=basic)")
    return {"beta": beta, "t": t, "AIL": ail(made.release)}


def searched(
    method: Method, table: Table, seed: int, parameter: str, start: float, keeps: Callable[[Made], bool], *, grows: bool
) -> Record:
    """The release whose parameter is farthest from the start and that keeps a condition."""

    def made(value: float) -> Made:
        return method.publish(table, {parameter: float(f"{value:.6g}"), "distance": distance(table)}, seed)

    return likeness(made(farthest(lambda value: keeps(made(value)), start, grows=grows)), table)


def same_t_from_beta(ground: Ground, beta: float) -> Iterator[Record]:
    """Figure 4(a): the t that BUREL achieves for a beta, and the beta that others achieve for that t."""
    table = people(ground, 3)
    made = BUREL.publish(table, {"beta": beta}, ground.seed)
    own = likeness(made, table)
    yield {"method": BUREL.name, **own}
    given = {"t": own["t"], "distance": distance(table)}
    for method in CLOSE:
        yield measured(method, lambda method=method: likeness(method.publish(table, given, ground.seed), table))


def same_t(ground: Ground, t: float) -> Iterator[Record]:
    """Figure 4(b): the beta achieved for a t; BUREL finds the beta for which it achieves this t."""
    table = people(ground, 3)
    given = {"t": t, "distance": distance(table)}
    for method in CLOSE:
        yield measured(method, lambda method=method: likeness(method.publish(table, given, ground.seed), table))
    for method in (BUREL, CUTS):

        def found(method: Method = method) -> Record:
            near = partial(likeness, table=table)
            return searched(method, table, ground.seed, "beta", 1.0, lambda one: near(one)["t"] <= t, grows=True)

        yield measured(method, found)


def same_loss(ground: Ground, loss: float) -> Iterator[Record]:
    """Figure 4(c): the beta achieved at an AIL; BUREL's is at most that, those of t-closeness at least BUREL's."""
    table = people(ground, 3)
    floor = loss
    for method in (BUREL, CUTS):

        def least(method: Method = method) -> Record:
            return searched(method, table, ground.seed, "beta", 2.0, lambda one: ail(one.release) <= loss, grows=False)

        record = measured(method, least)
        floor = record.get("AIL", loss) if method is BUREL else floor
        yield record
    for method in CLOSE:

        def most(method: Method = method) -> Record:
            return searched(method, table, ground.seed, "t", 0.05, lambda one: ail(one.release) >= floor, grows=True)

        yield measured(method, most)


# ------------------------------------------------------------------------------------------------- attacks (Section 7)


def diversity(ground: Ground, beta: float) -> Iterator[Record]:
    """The t and the l of releases by BUREL, the worst and the average over groups."""
    table = people(ground, 3)
    closeness, diverse = f"t-closeness(t=1, distance={distance(table)})", "l-diversity(l=1)"
    for method in (BUREL, OWN[0]):

        def one(method: Method = method) -> Record:
            release = method.publish(table, {"beta": beta}, ground.seed).release
            return {
                "t": achieved(release, table, closeness),
                "average t": average(release, table, closeness),
                "l": achieved(release, table, diverse),
                "average l": average(release, table, diverse),
            }

        yield measured(method, one)


def guesses(ground: Ground, beta: float) -> Iterator[Record]:
    """How often naive Bayes guesses a salary class rightly."""
    table = people(ground, 3)
    for method in (BUREL, CUTS):
        release = method.publish(table, {"beta": beta}, ground.seed).release
        found = attack(release, table, "naive-bayes", random_state=ground.seed).evidence[0]
        if method is BUREL:
            yield {"method": "most frequent value", "guessed": found.baseline}
        yield {
            "method": method.name,
            "guessed": found.rate,
            "ratio to the most frequent value": found.rate / found.baseline,
        }


# --------------------------------------------------------------------------------------------------------- experiments

LOSS_REASON = (
    "A median cut costs what it must near the data, while BUREL lets every group draw from all buckets, wherever their "
    "rows are."
)
BESIDE = ("LMondrian", "DMondrian")
experiment = partial(Experiment, paper="beta-likeness")
EXPERIMENTS = (
    experiment(
        figure="4a",
        title="Beta that is achieved at the t that BUREL achieves, by BUREL's beta",
        found="BUREL achieves a lower beta than tMondrian and SABRE at the same t.",
        x=X_BETA,
        y=(ACHIEVED,),
        places=BETAS,
        measure=same_t_from_beta,
        claims=(below("beta", "BUREL", ("tMondrian", "SABRE")),),
        because="At so small a t the others may have few groups left, and those are much like the whole table.",
    ),
    experiment(
        figure="4b",
        title="Beta that is achieved at the same t, by t",
        found="BUREL achieves a lower beta than tMondrian and SABRE at the same t.",
        x=Axis("t", "t"),
        y=(ACHIEVED,),
        places=(0.05, 0.1, 0.15, 0.2, 0.25),
        measure=same_t,
        claims=(below("beta", "BUREL", ("tMondrian", "SABRE")),),
        because="At a small t the others may have few groups left, and those are much like the whole table.",
    ),
    experiment(
        figure="4c",
        title="Beta that is achieved at the same AIL, by AIL",
        found="BUREL achieves the lowest beta at the same loss, then SABRE, then tMondrian.",
        x=Axis("AIL", "AIL"),
        y=(ACHIEVED,),
        places=(0.4, 0.5, 0.6, 0.7),
        measure=same_loss,
        claims=(below("beta", "BUREL", ("tMondrian", "SABRE")), below("beta", "SABRE", ("tMondrian",))),
        because=f"{LOSS_REASON} So tMondrian can afford a smaller t at the same loss.",
    ),
    experiment(
        figure="5",
        title="Loss and time by beta",
        found="BUREL loses half as much as LMondrian and DMondrian, in half the time; loss falls with beta.",
        x=X_BETA,
        y=(AIL, TIME),
        places=BETAS,
        measure=varied(GENERALIZING, "beta", USUAL, queries=False),
        claims=(
            below("AIL", "BUREL", BESIDE),
            below("AIL", "LMondrian", ("DMondrian",)),
            below("seconds", "BUREL", BESIDE),
            trend("AIL", ("BUREL", *BESIDE), falls=True),
        ),
        because=LOSS_REASON,
    ),
    experiment(
        figure="6",
        title="Loss and time by the number of quasi-identifiers",
        found="Loss rises with the number of quasi-identifiers; BUREL loses least and is the fastest.",
        x=Axis("quasi", "quasi-identifiers"),
        y=(AIL, TIME),
        places=(1, 2, 3, 4, 5),
        measure=varied(GENERALIZING, "quasi", USUAL, queries=False),
        claims=(
            trend("AIL", ("BUREL", *BESIDE), falls=False),
            below("AIL", "BUREL", BESIDE),
            below("seconds", "BUREL", BESIDE),
        ),
        because=LOSS_REASON,
    ),
    experiment(
        figure="7",
        title="Loss and time by the share of the rows",
        found="The number of rows has no clear effect on loss; time grows; BUREL loses least and is the fastest.",
        x=Axis("share", "share of the rows", "~%"),
        y=(AIL, TIME),
        places=(0.2, 0.4, 0.6, 0.8, 1.0),
        measure=varied(GENERALIZING, "share", USUAL, queries=False),
        claims=(
            flat("AIL", ("BUREL",), 1.2),
            trend("seconds", ("BUREL", *BESIDE), falls=False),
            below("AIL", "BUREL", BESIDE),
            below("seconds", "BUREL", BESIDE),
        ),
        because=f"{LOSS_REASON} With few rows, rounding leaves BUREL few groups.",
    ),
    *(
        experiment(
            figure=f"8{letter}",
            title=f"Error of counts by {axis.title}, after generalization",
            found=f"BUREL answers counts better than LMondrian and DMondrian; {finding[0]}.",
            x=axis,
            y=(ERROR,),
            places=places,
            measure=varied(GENERALIZING, axis.name, usual, queries=True),
            claims=(below("error", "BUREL", BESIDE), *finding[1]),
            because="Boxes of BUREL span much of the domain, as its loss shows.",
        )
        for letter, axis, places, usual, finding in (
            ("a", Axis("queried", "lambda"), (1, 2, 3, 4, 5), FURTHER, ("lambda matters little", ())),
            ("b", X_BETA, BETAS, FURTHER, ("errors fall with beta", (trend("error", ("BUREL",), falls=True),))),
            (
                *("c", Axis("quasi", "quasi-identifiers"), (1, 2, 3, 4, 5), USUAL),
                ("errors rise with the number of quasi-identifiers", (trend("error", ("BUREL",), falls=False),)),
            ),
            (
                *("d", Axis("selectivity", "selectivity", "~%"), (0.05, 0.1, 0.15, 0.2, 0.25), FURTHER),
                ("errors fall with selectivity", (trend("error", ("BUREL",), falls=True),)),
            ),
        )
    ),
    *(
        experiment(
            figure=f"9{letter}",
            title=f"Error of counts by {axis.title}, after perturbation",
            found=f"Perturbation answers counts better than Baseline{finding[0]}.",
            x=axis,
            y=(ERROR,),
            places=places,
            measure=varied(PERTURBING, axis.name, usual, queries=True),
            claims=(below("error", "perturbation", ("Baseline",)), *finding[1]),
            because="The inverse of the matrix is unbiased, and noisy where few rows are counted.",
            rows={"full": 500_000, "quick": 200_000, "tiny": 600},
        )
        for letter, axis, places, usual, finding in (
            (
                *("a", Axis("queried", "lambda"), (1, 2, 3, 4, 5), FURTHER),
                ("; errors fall with lambda", (trend("error", ("perturbation",), falls=True),)),
            ),
            (
                "b",
                X_BETA,
                BETAS,
                FURTHER,
                ("; errors fall with beta", (trend("error", ("perturbation",), falls=True),)),
            ),
            ("c", Axis("quasi", "quasi-identifiers"), (1, 2, 3, 4, 5), USUAL, ("", ())),
            (
                *("d", Axis("selectivity", "selectivity", "~%"), (0.05, 0.1, 0.15, 0.2, 0.25), FURTHER),
                ("; errors fall with selectivity", (trend("error", ("perturbation",), falls=True),)),
            ),
        )
    ),
    experiment(
        figure="table-7",
        title="The t and the l that BUREL achieves, the worst and the average of groups",
        found="For beta 1 to 5, t is .02 to .17 (average .01 to .05) and l is 19 to 6.6 (average 20.7 to 12.6).",
        x=X_BETA,
        y=(Axis("t", "t"), Axis("average t", "average t"), Axis("l", "l"), Axis("average l", "average l")),
        places=BETAS,
        measure=diversity,
        claims=(within("t", "BUREL", 0.2), within("l", "BUREL", 25, 5.5)),
        because="Groups of BUREL are closer to the caps here.",
    ),
    experiment(
        figure="naive-bayes",
        title="Salary classes guessed by naive Bayes",
        found="The rate stays remarkably close to the share of the most frequent value.",
        x=X_BETA,
        y=(Axis("guessed", "guessed rightly", "~%"),),
        places=BETAS,
        measure=guesses,
        claims=(within("ratio to the most frequent value", "BUREL", 1.2, 0.8),),
        because="What groups tell together is not bounded by what each of them tells.",
    ),
)
