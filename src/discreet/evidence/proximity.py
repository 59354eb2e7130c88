"""Li, Tao and Xiao: "Preservation of Proximity Privacy in Publishing Numerical Sensitive Data" (SIGMOD 2008).

The published algorithm cuts at medians and deals round-robin; the competitor keeps numbers with the probability of
Equation 3. Where that probability breaks the promise, as a skewed distribution makes it, the largest that keeps it is
used. Errors are means, as in the paper, and medians.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from discreet.evidence.claims import Record, below, trend, within
from discreet.evidence.experiment import Axis, Experiment
from discreet.evidence.ground import Ground
from discreet.evidence.method import Method, measured

PROMISE = "proximity(epsilon={epsilon}, m={m}, neighbourhood={neighbourhood})"
PUBLISHED = Method("published", "proximity(published, marginals=none)", PROMISE, "even")
OWN = Method("proximity (ours)", "proximity(snap=false)", PROMISE)
PERTURBATION = Method("perturbation", "retention", PROMISE, "inverse")
USUAL: dict[str, Any] = {"m": 5, "w": 3, "s": 0.1}
ABSOLUTE = {**USUAL, "epsilon": 4500, "neighbourhood": "absolute"}
RELATIVE = {**USUAL, "epsilon": 0.125, "neighbourhood": "relative"}
X_M, X_EPSILON = Axis("m", "m"), Axis("epsilon", "epsilon")
MEAN, MEDIAN = Axis("mean error", "mean relative error", "~%"), Axis("error", "median relative error", "~%")
TIME = Axis("seconds", "processor time, seconds")


def errors(methods: tuple[Method, ...], parameter: str, *usual: dict[str, Any], label: str = "") -> Any:
    """Measure errors and times at each value of a parameter, for each of the usual settings."""

    def measure(ground: Ground, place: float) -> Iterator[Record]:
        table = ground.incomes()

        def one(method: Method, given: dict[str, Any]) -> Record:
            made = method.publish(table, given, ground.seed)
            asked = ground.volumes(table, min(given["w"], len(table.quasi) + 1), given["s"])
            return {**method.errors(made, table, asked), "seconds": made.seconds}

        for setting in usual:
            given = {**setting, parameter: place}
            for method in methods:
                record = measured(method, partial(one, method, given))
                about = f", {given[label]}{'D' if label == 'w' else ''}" if label else ""
                yield {**record, "method": f"{method.name}{about}"}

    return measure


def dimensions(usual: dict[str, Any]) -> list[dict[str, Any]]:
    """The settings of queries with two, three and four dimensions."""
    return [{**usual, "w": w} for w in (2, 3, 4)]


experiment = partial(
    Experiment, paper="proximity", rows={"full": 500_000, "quick": 60_000, "tiny": 1_000}, y=(MEAN, MEDIAN)
)
DEALT = "Round-robin looks at no quasi-identifier, so its groups are wide; small counts decide the mean."
EACH_D = tuple(f"published, {w}D" for w in (2, 3, 4))
EXPERIMENTS = (
    *(
        experiment(
            figure=f"4{letter}",
            title=f"Error of counts by {article} {usual['neighbourhood']} epsilon, beside perturbation",
            found=f"Perturbation is far worse, impossible above {most}; the algorithm's error is below 15 % and rises.",
            x=X_EPSILON,
            places=places,
            measure=errors((PUBLISHED, PERTURBATION, OWN), "epsilon", usual),
            claims=(
                below("mean error", "published", ("perturbation",)),
                within("mean error", "published", 0.15),
                trend("mean error", ("published",), falls=False),
            ),
            because=DEALT,
        )
        for letter, article, usual, most, places in (
            ("a", "an", ABSOLUTE, "4,000", (1000, 2000, 3000, 4000, 4500, 5000)),
            ("b", "a", RELATIVE, ".15", (0.05, 0.1, 0.125, 0.15, 0.2)),
        )
    ),
    *(
        experiment(
            figure=f"5{letter}",
            title=f"Error of counts by m, {usual['neighbourhood']} epsilon {usual['epsilon']}",
            found=f"Errors grow with m and stay below {most:.0%}.",
            x=X_M,
            places=(2, 3, 4, 5, 6, 7),
            measure=errors((PUBLISHED, OWN), "m", *dimensions(usual), label="w"),
            claims=(
                trend("mean error", EACH_D, falls=False),
                *(within("mean error", method, most) for method in EACH_D),
            ),
            because=DEALT,
        )
        for letter, usual, most in (("a", ABSOLUTE, 0.2), ("b", RELATIVE, 0.08))
    ),
    experiment(
        figure="6",
        title="Error of counts by the volume of queries",
        found="Errors fall as queries select more, and are small even for the smallest volume.",
        x=Axis("s", "volume s", "~%"),
        places=(0.01, 0.05, 0.1, 0.15, 0.2),
        measure=errors((PUBLISHED, OWN), "s", ABSOLUTE, RELATIVE, label="neighbourhood"),
        claims=(trend("mean error", ("published, absolute", "published, relative"), falls=True),),
        because="Ours may lose nothing at small volumes already.",
    ),
    experiment(
        figure="7a",
        title="Time by m, absolute epsilon 4500",
        found="Time falls as m grows, and is always below a minute.",
        x=X_M,
        y=(TIME,),
        places=(2, 3, 4, 5, 6, 7),
        measure=errors((PUBLISHED, OWN), "m", ABSOLUTE),
        claims=(trend("seconds", ("published",), falls=True), within("seconds", "published", 60)),
        because="The fewer pieces are split, the larger those that are dealt: dealing takes what splitting saves.",
    ),
    experiment(
        figure="7b",
        title="Time by a relative epsilon",
        found="Time first rises and then falls as epsilon grows, and is always below a minute.",
        x=X_EPSILON,
        y=(TIME,),
        places=(0.025, 0.05, 0.1, 0.125, 0.15, 0.2),
        measure=errors((PUBLISHED, OWN), "epsilon", RELATIVE),
        claims=(within("seconds", "published", 60), trend("seconds", ("published",), falls=True)),
        because="Whether it falls depends on how much dealing large pieces costs, which is more here.",
    ),
)
