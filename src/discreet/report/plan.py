"""The strongest parameter of every kind of promise that a table can keep, before anything is published."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.plugins import plugged
from discreet.principles import (
    AlphaBeta,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    KEAnonymity,
    LDiversity,
    Principle,
    Prior,
    Proximity,
    TCloseness,
    Variance,
    parse,
)
from discreet.principles.ke_anonymity import ends_of, gap_of
from discreet.principles.neighbourhoods import Function
from discreet.principles.persons import counted_parameter, reachable_by_persons, require_persons
from discreet.principles.proximity import rounded_down
from discreet.principles.wording import exact, rows
from discreet.table.table import Table

RELATIVE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""The epsilons on the frontier of relative neighbourhoods."""
MOST_POINTS = 12
"""The largest number of points on a frontier."""
RISKS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
"""The values of m for which the widest neighbourhood is reported."""
LEAST_POWER = -323
"""The exponent of the smallest power of ten that a float can represent."""
DIVERSITIES = ("frequency", "distinct", "entropy", "recursive")
"""The kinds of l-diversity."""
USUAL_C = 2.0
"""The c for which recursive l-diversity is planned."""
ALPHA = "How small alpha can be depends on the quasi-identifiers; publishing names an alpha if it finds none."
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


@dataclass(frozen=True)
class Point:
    """One epsilon, and the largest m that can be kept with it."""

    epsilon: float
    m: int


@dataclass(frozen=True)
class Width:
    """One m, and the supremum of the epsilons it can be kept with: smaller ones work, the supremum does not."""

    m: int
    epsilon: float
    """Infinite if any epsilon works."""


@dataclass(frozen=True)
class ProximityPlan:
    """What can be promised about how many numbers of a group lie near each other."""

    neighbourhood: str
    epsilon: float | None
    m: int | None
    largest_m: int | None
    """The largest m for the given epsilon."""
    widest_epsilon: float | None
    """The supremum of epsilon for the given m: not attained itself, infinite if any epsilon works, 0 if none does."""
    feasible: bool | None
    """Whether epsilon and m can be kept together, if both were given."""
    sentences: tuple[str, ...]
    frontier: tuple[Point, ...]
    widths: tuple[Width, ...]


@dataclass(frozen=True)
class Plan:
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

    @property
    def feasible(self) -> bool:
        """False if an epsilon and an m were given that no release of the table can keep."""
        return self.proximity is None or self.proximity.feasible is not False

    def as_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        found = asdict(replace(self, prior=None))
        del found["prior"]
        return {**found, "feasible": self.feasible}

    def plot(self, path: str | os.PathLike[str], title: str = "a table") -> None:
        """Plot the frontiers of epsilon and m to a file: ``.html`` (with tables), ``.svg`` or ``.png``."""
        from discreet.report.frontier import check_suffix, drawn

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
    >>> told = plan(patients())
    >>> [(one.promise, one.strongest) for one in told.strongest][:2]
    [('k-anonymity', 48), ('l-diversity (frequency)', 4.8)]
    """
    if len(table.sensitive) > 1:
        names = ", ".join(column.name for column in table.sensitive)
        raise DiscreetError(
            f"a plan is about one sensitive attribute, and the table has {names}; read it with one, or make plans"
        )
    prior = Prior.of(table)
    numbers = None
    asked = epsilon is not None or m is not None or neighbourhood != "absolute"
    if table.person is not None:
        if asked:
            require_persons(_asked(epsilon, m, neighbourhood), table)
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
    >>> [told.sensitive for told in plans(patients())]
    ['disease']
    """
    if len(table.sensitive) < 2:
        return [plan(table, epsilon=epsilon, m=m, neighbourhood=neighbourhood)]
    numbers = any(column.kind == "numeric" for column in table.sensitive)
    found = []
    for column in table.sensitive:
        alone = replace(table, sensitive=(column,))
        asked = column.kind == "numeric" or not numbers  # if none has numbers, the first refuses what is asked
        found.append(plan(alone, epsilon=epsilon, m=m, neighbourhood=neighbourhood) if asked else plan(alone))
    return found


def _about_persons(table: Table, prior: Prior) -> list[Strongest]:
    """The strongest promise of each kind about persons who have several rows, or why there is none of it."""
    promises: list[tuple[Principle, str]] = [(KAnonymity(1), "")]
    if prior.attribute is not None:
        promises += [(_weakest(kind), f" ({_which(kind)})") for kind in DIVERSITIES]
        promises += [*_usual(prior), (AlphaBeta(1.0, 1.0), "")]
        promises += [(parse(kind.example.strip("'")), "") for kind in plugged("principles").values()]
    if prior.numbers is not None:
        promises += [(KEAnonymity(1, 0.0), f" ({_span(prior)})"), (Variance(0.0), ""), (Proximity(0.0, 1), "")]
    found = []
    for promise, which in promises:
        reach = reachable_by_persons(promise, table)
        sentence = f"{reach.sentence} {ALPHA}" if promise.hides_presence else reach.sentence
        found.append(Strongest(f"{promise.name}{which}", counted_parameter(promise), reach.strongest, sentence))
    return found


def strongest(prior: Prior) -> list[Strongest]:
    """The strongest promise of each kind except proximity, which has two parameters."""
    one_group = f"The table has {rows(prior.rows)}: k can be up to {prior.rows:,}, which is one group."
    found = [Strongest(KAnonymity.name, "k", prior.rows, one_group)]
    if prior.attribute is None:
        return found
    found += [_diversity(kind, prior) for kind in DIVERSITIES]
    for promise, which in _usual(prior):
        reach = promise.reachable(prior)
        name = f"{promise.name}{which}"
        found.append(Strongest(name, promise.parameters[0].name, reach.strongest, reach.sentence))
    found.append(_hidden(prior))
    found += _plugged(prior)
    return found if prior.numbers is None else [*found, *_spread(prior)]


def _usual(prior: Prior) -> list[tuple[Principle, str]]:
    """Promises that any table can keep, however strong, and what tells each from others of its name."""
    distance = "equal" if prior.kind == "categorical" else "ordered"
    return [(TCloseness(0.2, distance), f" ({distance})"), (BetaLikeness(2.0), ""), (DeltaDisclosure(1.0), "")]


def _hidden(prior: Prior) -> Strongest:
    """The smallest beta of alpha-beta; the possible alpha depends on the quasi-identifiers."""
    least = AlphaBeta(1.0, 1.0).reachable(prior).strongest or 0.0
    reach = AlphaBeta(1.0, min(1.0, math.ceil(least * 1000.0 - 1e-7) / 1000.0)).reachable(prior)
    return Strongest(AlphaBeta.name, "beta", least, f"{reach.sentence} {ALPHA}")


def _spread(prior: Prior) -> list[Strongest]:
    """The strongest promises about the range and the variance of numbers."""
    differ = KEAnonymity(1, 0.0).reachable(prior)
    vary = Variance(0.0).reachable(prior)
    return [
        Strongest(f"{KEAnonymity.name} ({_span(prior)})", "k", differ.strongest, differ.sentence),
        Strongest(Variance.name, "v", vary.strongest, vary.sentence),
    ]


def _span(prior: Prior) -> str:
    """How large the e of ke-anonymity can be."""
    low, high = ends_of(prior.counts, prior)
    span = gap_of(low, high, prior)
    return "any e" if math.isinf(span) else f"e up to {exact(rounded_down(span))}"


def _weakest(kind: str) -> LDiversity:
    return LDiversity(1.0, kind, USUAL_C if kind == "recursive" else None)


def _which(kind: str) -> str:
    return f"{kind}, c={exact(USUAL_C)}" if kind == "recursive" else kind


def _diversity(kind: str, prior: Prior) -> Strongest:
    weakest = _weakest(kind)
    best = weakest.reachable(prior).strongest or 0.0
    asked = math.floor(best * 100.0 + 1e-7) / 100.0 if 1.0 < best < 2.0 else float(max(1, math.floor(best + 1e-9)))
    reach = replace(weakest, l=asked).reachable(prior)
    nothing = " That promises nothing." if reach.feasible and best < 1.005 else ""
    return Strongest(f"{LDiversity.name} ({_which(kind)})", "l", best, f"{reach.sentence}{nothing}")


# ----------------------------------------------------------------------------------------------- epsilon, m and numbers


def _plugged(prior: Prior) -> list[Strongest]:
    """The reach of each plug-in's promise, as given by its example."""
    found = []
    for name, kind in plugged("principles").items():
        promise = parse(kind.example.strip("'"))
        try:
            promise.require(prior)
            reach = promise.reachable(prior)
        except DiscreetError as refusal:
            found.append(Strongest(name, kind.parameters[0].name, None, f"{refusal}."))
        else:
            found.append(Strongest(name, kind.parameters[0].name, reach.strongest, reach.sentence))
    return found


def plan_proximity(
    prior: Prior,
    *,
    epsilon: float | None = None,
    m: float | None = None,
    neighbourhood: str | tuple[float, float] | Function = "absolute",
) -> ProximityPlan:
    """What can be promised about numbers that lie near each other, given ``epsilon``, ``m`` or both.

    >>> import numpy as np
    >>> salaries = ("1000", "1010", "1020", "16000", "24000", "31000", "33000", "50000")
    >>> prior = Prior(np.ones(8, int), salaries, "numeric", attribute="salary")
    >>> told = plan_proximity(prior, epsilon=20, m=3)
    >>> told.feasible, told.largest_m, told.widest_epsilon
    (False, 2, 20.0)
    >>> print(told.sentences[-1])
    With m=3, epsilon can be anything below 20, but not 20 itself.
    """
    if not isinstance(neighbourhood, str):
        return _plan_given(prior, m, neighbourhood)
    asked = _asked(epsilon, m, neighbourhood)
    asked.require(prior)
    reach = asked.reachable(prior)
    assert reach.strongest is not None
    largest, widest = int(reach.strongest), asked.widest(prior)
    said = []
    if epsilon is not None and m is not None:
        said.append(reach.sentence if reach.feasible else f"{asked} cannot be kept. {reach.sentence}")
    elif epsilon is not None:
        said.append(replace(asked, m=largest).reachable(prior).sentence)
    if m is not None:
        said.append(on_widest(asked, prior))
    return ProximityPlan(
        neighbourhood,
        None if epsilon is None else asked.epsilon,
        None if m is None else asked.m,
        None if epsilon is None else largest,
        None if m is None else widest,
        reach.feasible if epsilon is not None and m is not None else None,
        tuple(said),
        frontier(prior, neighbourhood),
        widths(prior, neighbourhood),
    )


def _asked(epsilon: float | None, m: float | None, neighbourhood: str | tuple[float, float] | Function) -> Proximity:
    """The promise that is asked about; what is left open is as weak as can be."""
    least = 1 if m is None else m
    if not isinstance(neighbourhood, str):
        return Proximity(m=least, neighbourhood=neighbourhood)  # type: ignore[arg-type]
    return Proximity(0.0 if epsilon is None else epsilon, least, neighbourhood)  # type: ignore[arg-type]


def _plan_given(prior: Prior, m: float | None, neighbourhood: tuple[float, float] | Function) -> ProximityPlan:
    """The plan for custom neighbourhoods, for which only m is open."""
    asked = _asked(None, m, neighbourhood)
    reach = asked.reachable(prior)
    assert reach.strongest is not None
    largest = int(reach.strongest)
    if m is None:
        said = replace(asked, m=largest).reachable(prior).sentence
    else:
        said = reach.sentence if reach.feasible else f"{asked} cannot be kept. {reach.sentence}"
    whole = None if m is None else asked.m
    feasible = None if m is None else reach.feasible
    return ProximityPlan("given", None, whole, largest, None, feasible, (said,), (), ())


def on_widest(asked: Proximity, prior: Prior) -> str:
    """A sentence on how large epsilon can be with the m of a promise."""
    widest = asked.widest(prior)
    if math.isinf(widest):
        most = " up to 1" if asked.neighbourhood == "relative" else ""
        return f"With m={asked.m}, epsilon can be anything{most}."
    if widest > 0.0:
        read = rounded_down(widest)
        edge = f", but not {exact(read)} itself" if read == widest else " or a little more (rounded down)"
        return f"With m={asked.m}, epsilon can be anything below {exact(read)}{edge}."
    reach = replace(asked, epsilon=0.0).reachable(prior)
    return f"With m={asked.m}, no epsilon can be kept, not even 0: m can be at most {reach.strongest:,}."


def frontier(prior: Prior, neighbourhood: str = "absolute") -> tuple[Point, ...]:
    """The largest m for selected epsilons: round numbers over the range in which m falls to 2.

    >>> import numpy as np
    >>> prior = Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric")
    >>> [(point.epsilon, point.m) for point in frontier(prior)]
    [(0.0, 9), (7.0, 9), (10.0, 4), (20.0, 3), (30.0, 2), (40.0, 1)]
    """
    grid: Sequence[float] = RELATIVE
    if neighbourhood == "absolute":
        best = int(Proximity(0.0, 1).reachable(prior).strongest or 1)
        low, high = Proximity(0.0, best).widest(prior), Proximity(0.0, 2).widest(prior)
        grid = (0.0,) if best == 1 else (0.0, *_round_numbers(low, high))
    found = []
    for epsilon in grid:
        reach = Proximity(epsilon, 1, neighbourhood).reachable(prior)
        assert reach.strongest is not None
        found.append(Point(epsilon, int(reach.strongest)))
    return tuple(found)


def _round_numbers(low: float, high: float) -> list[float]:
    """Numbers such as 1, 2, 5, 10 from just below ``low`` to the first that is at least ``high``, if there is one."""
    if not (math.isfinite(low) and math.isfinite(high) and low > 0.0):
        return []
    numbers: list[float] = []
    power = max(LEAST_POWER, math.floor(math.log10(low)) - 1)
    while not numbers or numbers[-1] < high:
        numbers += [float(f"{digit}e{power}") for digit in (1, 2, 3, 4, 5, 7)]
        power += 1
    first = max(0, sum(number < low for number in numbers) - 1)
    last = next(at for at, number in enumerate(numbers) if number >= high)
    numbers = [number for number in numbers[first : last + 1] if math.isfinite(number)]
    if len(numbers) >= MOST_POINTS:  # only the leading digits 1, 2 and 5
        numbers = [number for number in numbers if f"{number:e}"[0] in "125"] + numbers[-1:]
    step = max(1, math.ceil(len(numbers) / (MOST_POINTS - 1)))
    return sorted({*numbers[::-step]})


def widths(prior: Prior, neighbourhood: str = "absolute") -> tuple[Width, ...]:
    """The supremum of epsilon for selected m, up to the largest m that can be kept with any epsilon.

    >>> import numpy as np
    >>> prior = Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric")
    >>> [(one.m, one.epsilon) for one in widths(prior)]
    [(2, 40.0), (3, 30.0), (4, 20.0), (5, 10.0), (6, 10.0), (8, 10.0), (9, 10.0)]
    """
    best = int(Proximity(0.0, 1, neighbourhood).reachable(prior).strongest or 1)
    if best == 1:
        return ()
    listed = sorted({m for m in RISKS if m <= best} | ({best} if best <= RISKS[-1] else set()))
    return tuple(Width(m, Proximity(0.0, m, neighbourhood).widest(prior)) for m in listed)
