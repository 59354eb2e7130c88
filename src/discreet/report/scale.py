"""Scales: how strong a promise may be made, from mild to strict, and what each strength means for a table."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.principles import Principle, Prior, parse
from discreet.report.promised import promised_about
from discreet.table.table import Table

SCALES = {
    "k-anonymity": ("k", (2, 3, 5, 10, 20, 50)),
    "beta-likeness": ("beta", (8, 4, 3, 2, 1.5, 1, 0.5, 0.25)),
    "l-diversity": ("l", (1.5, 2, 3, 4, 5, 8, 10)),
    "t-closeness": ("t", (0.5, 0.3, 0.2, 0.1, 0.05)),
}
"""Per promise its main parameter, and strengths of it, the mildest first."""
USUAL = {"k-anonymity": 5, "beta-likeness": 2, "l-diversity": 2, "t-closeness": 0.2}
"""Where a scale begins."""


@dataclass(frozen=True)
class Step:
    """A strength of a promise."""

    promise: str
    feasible: bool
    sentence: str
    """What it means with numbers of the table, or why the table cannot keep it."""


@dataclass(frozen=True)
class Scale:
    """The strengths of one promise, the mildest first."""

    name: str
    steps: tuple[Step, ...]
    usual: int
    """The place of the usual one."""


def scales(table: Table) -> tuple[Scale, ...]:
    """Return the scales of the promises that suit a table with at most one sensitive attribute and no persons.

    >>> from discreet.datasets import patients
    >>> likeness = scales(patients())[1]
    >>> likeness.steps[likeness.usual].promise, likeness.steps[likeness.usual].sentence[:59]
    ('beta-likeness(beta=2)', "A value of 'disease' that 14.6 % of the rows have is believ")
    """
    if len(table.sensitive) > 1 or table.person is not None or not table.rows:
        return ()
    prior = Prior.of(table)
    named = SCALES if table.sensitive else ("k-anonymity",)
    found = []
    for name in named:
        parameter, values = SCALES[name]
        distance = ", distance=ordered" if name == "t-closeness" and prior.kind != "categorical" else ""
        steps = tuple(_step(parse(f"{name}({parameter}={value:g}{distance})"), prior) for value in values)
        found.append(Scale(name, steps, values.index(USUAL[name])))
    return tuple(found)


def _step(promise: Principle, prior: Prior) -> Step:
    reach = promise.reachable(prior)
    if not reach.feasible:
        return Step(str(promise), False, reach.sentence)
    if not promise.about_values or prior.attribute is None:
        return Step(str(promise), True, promise.plainly(prior) or reach.sentence)
    (found,) = promised_about([promise], {prior.attribute: prior})
    return Step(str(promise), True, found.sentence or " ".join(found.meanings))
