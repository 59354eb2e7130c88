"""The strongest parameter of every kind of promise that a table can keep, before anything is published."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.catalogue import PRINCIPLES
from discreet.display import Displayed
from discreet.errors import DiscreetError
from discreet.plugins import plugged_names
from discreet.principles import Principle, Prior, parse
from discreet.principles.beta_likeness import BetaLikeness
from discreet.principles.delta_disclosure import DeltaDisclosure
from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.ke_anonymity import KEAnonymity, ends_of, gap_of
from discreet.principles.l_diversity import Diversity, LDiversity
from discreet.principles.neighbourhoods import Function
from discreet.principles.persons import counted_parameter, reachable_by_persons, require_persons
from discreet.principles.presence import AlphaBeta
from discreet.principles.principle import Reach
from discreet.principles.proximity import Proximity, rounded_down
from discreet.principles.t_closeness import Distance, TCloseness
from discreet.principles.variance import Variance
from discreet.principles.wording import rows
from discreet.report.proximity_plan import ProximityPlan, asked_about, plan_proximity
from discreet.table.table import Table, as_table
from discreet.table.texts import number_text

DIVERSITIES: tuple[Diversity, ...] = ("frequency", "distinct", "entropy", "recursive")
"""The kinds of l-diversity."""
SMALLEST = ("t", "beta", "delta", "epsilon")
"""The parameters of which less is stronger."""
USUAL_C = 2.0
"""The c for which recursive l-diversity is planned."""
ALPHA = (
    "How small alpha can be depends on the quasi-identifiers; if alpha is too small, publishing suggests a larger one."
)
"""The remark beside the beta of alpha-beta."""


@dataclass(frozen=True)
class Strongest:
    """The strongest promise of one kind that the table can keep."""

    promise: str
    """The name of the promise, with its variant in parentheses."""
    parameter: str
    strongest: float | None
    """The largest k or l, or the smallest t, beta or delta; 0 means arbitrarily small."""
    sentence: str

    @property
    def reached(self) -> str:
        """The strongest parameter in words, rounded in the direction in which it can still be kept."""
        value, smallest = self.strongest, self.parameter in SMALLEST
        if value is None:
            return "-"
        if math.isinf(value) or (smallest and value == 0.0):
            return f"any {self.parameter}"
        if self.parameter == "v":
            rounded = float(rounded_down(value))
        elif smallest:
            rounded = math.ceil(value * 1000.0 - 1e-7) / 1000.0
        else:
            rounded = math.floor(value * 100.0 + 1e-7) / 100.0
        return f"{self.parameter}={f'{rounded:,.0f}' if rounded.is_integer() else number_text(rounded)}"


@dataclass(frozen=True, repr=False)
class Plan(Displayed):
    """The promises that a table can keep."""

    rows: int
    persons: int
    """How many persons the rows are about; as many, unless a column says whose row it is."""
    sensitive: str | None
    strongest: tuple[Strongest, ...]
    proximity: ProximityPlan | None
    """Only for a numeric sensitive attribute, and where every person has one row."""
    prior: Prior | None = field(default=None, repr=False, compare=False)
    """The prior from which the plan was computed."""

    def _shown(self) -> list[str]:
        of = "no sensitive attribute" if self.sensitive is None else f"sensitive attribute {self.sensitive!r}"
        reached = [f"{each.promise}: {each.reached}" for each in self.strongest]
        return [f"Plan for {rows(self.rows)}, {of}", *reached]

    @property
    def feasible(self) -> bool:
        """False if an epsilon and an m were given that no release of the table can keep."""
        return self.proximity is None or self.proximity.feasible is not False

    def as_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        plain = asdict(replace(self, prior=None))
        del plain["prior"]
        return {**plain, "feasible": self.feasible}

    def plot(self, path: str | os.PathLike[str], title: str = "a table") -> None:
        """Plot the frontiers of epsilon and m to a file: ``.html`` (with tables), ``.svg`` or ``.png``."""
        from discreet.report.charts import check_suffix
        from discreet.report.frontier import drawn

        Path(path).write_bytes(drawn(self, check_suffix(os.fspath(path)), title))


def plan(
    table: Table,
    *,
    epsilon: float | None = None,
    m: float | None = None,
    neighbourhood: str | tuple[float, float] | Function = "absolute",
) -> Plan:
    """The strongest promise of each kind that a table can keep and, for numbers, what ``epsilon`` and ``m`` allow.

    Given epsilon, the plan reports the largest m; given m, the bound on epsilon; given both, whether they can be kept
    together. Its ``plot`` draws the frontier between what can be kept and what cannot. With custom neighbourhoods (a
    pair of widths or a function) epsilon is ignored: the plan reports the largest m, and whether ``m`` can be kept.

    Where persons have several rows, promises are about persons; there is none about numbers near to each other.

    >>> from discreet.datasets import patients
    >>> [(strongest.promise, strongest.strongest) for strongest in plan(patients()).strongest][:2]
    [('k-anonymity', 48), ('l-diversity (frequency)', 4.8)]
    """
    if len(as_table(table).sensitive) > 1:
        names = ", ".join(column.name for column in table.sensitive)
        raise DiscreetError(
            f"a plan is about one sensitive attribute, and the table has {names}; read it with one, or make plans"
        )
    prior = Prior.of(table)
    numbers = None
    asked = epsilon is not None or m is not None or neighbourhood != "absolute"
    if table.person is not None:
        if asked:
            require_persons(asked_about(epsilon, m, neighbourhood), table)
        return Plan(table.rows, table.persons, prior.attribute, tuple(_about_persons(table, prior)), None, prior)
    if asked or prior.numbers is not None:
        numbers = plan_proximity(prior, epsilon=epsilon, m=m, neighbourhood=neighbourhood)
    return Plan(prior.rows, prior.rows, prior.attribute, tuple(strongest(prior)), numbers, prior)


def plans(
    table: Table,
    *,
    epsilon: float | None = None,
    m: float | None = None,
    neighbourhood: str | tuple[float, float] | Function = "absolute",
) -> list[Plan]:
    """A plan for each sensitive attribute by itself; ``epsilon`` and ``m`` are asked about those with numbers.

    Whatever the plans say is possible can be promised about all attributes at once, except that promises of proximity
    may each be possible and not together.

    >>> from discreet.datasets import patients
    >>> [each.sensitive for each in plans(patients())]
    ['disease']
    """
    if len(as_table(table).sensitive) < 2:
        return [plan(table, epsilon=epsilon, m=m, neighbourhood=neighbourhood)]
    numbers = any(column.kind == "numeric" for column in table.sensitive)
    each = []
    for column in table.sensitive:
        alone = replace(table, sensitive=(column,))
        asked = column.kind == "numeric" or not numbers  # if none has numbers, the first refuses what is asked
        each.append(plan(alone, epsilon=epsilon, m=m, neighbourhood=neighbourhood) if asked else plan(alone))
    return each


def _about_persons(table: Table, prior: Prior) -> list[Strongest]:
    """The strongest promise of each kind about persons who have several rows, or why there is none of it."""
    promises = [(promise, which) for promise, which in _kinds(prior) if promise.about_groups]
    if prior.numbers is not None:
        promises.append((Proximity(0.0, 1), ""))
    return [_stated(promise, which, reachable_by_persons(promise, table)) for promise, which in promises]


def strongest(prior: Prior) -> list[Strongest]:
    """The strongest promise of each kind except proximity, which has two parameters."""
    return [_stated(promise, which, _reach(promise, prior)) for promise, which in _kinds(prior)]


def _kinds(prior: Prior) -> Iterator[tuple[Principle, str]]:
    """A promise of each kind except proximity, and what tells it from others of its name.

    It is the weakest one, or any of a kind that any table can keep, however strong; of a plug-in it is the example.
    """
    yield KAnonymity(1), ""
    if prior.attribute is not None:
        for kind in DIVERSITIES:
            recursive = kind == "recursive"
            which = f"{kind}, c={number_text(USUAL_C)}" if recursive else kind
            yield LDiversity(1.0, kind, USUAL_C if recursive else None), f" ({which})"
        distance: Distance = "equal" if prior.kind == "categorical" else "ordered"
        yield TCloseness(0.2, distance), f" ({distance})"
        for promise in (BetaLikeness(2.0), DeltaDisclosure(1.0), AlphaBeta(1.0, 1.0), DifferentialPrivacy(1.0)):
            yield promise, ""
        for name in plugged_names("principles"):
            yield parse(PRINCIPLES[name].example.strip("'")), ""
    if prior.numbers is not None:
        span = gap_of(*ends_of(prior.counts, prior), prior)
        yield KEAnonymity(1, 0.0), " (any e)" if math.isinf(span) else f" (e up to {number_text(rounded_down(span))})"
        yield Variance(0.0), ""


def _stated(promise: Principle, which: str, reach: Reach) -> Strongest:
    # the sentence on alpha-beta is about its beta: the possible alpha depends on the quasi-identifiers
    sentence = f"{reach.sentence} {ALPHA}" if promise.hides_presence else reach.sentence
    return Strongest(f"{promise.name}{which}", counted_parameter(promise), reach.strongest, sentence)


def _reach(promise: Principle, prior: Prior) -> Reach:
    """How far the kind of a promise reaches; the sentence is about the strongest one where that has a round number."""
    try:
        promise.require(prior)
        best = promise.reachable(prior)
    except DiscreetError as refusal:  # of a plug-in
        return Reach(False, None, f"{refusal}.")
    reached = best.strongest or 0.0
    if promise.of(KAnonymity):
        one_group = f"The table has {rows(prior.rows)}: k can be up to {prior.rows:,}, which is one group."
        return replace(best, sentence=one_group)
    for part in promise.of(AlphaBeta):
        asked = min(1.0, math.ceil(reached * 1000.0 - 1e-7) / 1000.0)
        return replace(best, sentence=replace(part, beta=asked).reachable(prior).sentence)
    for weakest in promise.of(LDiversity):
        whole = float(max(1, math.floor(reached + 1e-9)))
        asked = math.floor(reached * 100.0 + 1e-7) / 100.0 if 1.0 < reached < 2.0 else whole
        reach = replace(weakest, l=asked).reachable(prior)
        nothing = " That promises nothing." if reach.feasible and reached < 1.005 else ""
        return Reach(reach.feasible, reached, f"{reach.sentence}{nothing}")
    return best
