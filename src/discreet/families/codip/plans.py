"""Which sensitive attributes share a table: the paper's merges, all plans of few attributes, and a search.

A plan is good if it loses little association and exposes little. Both ratios are sums over the parts of the plan, so a
change of one or two parts is judged by these parts alone.

- `merged` is CODIP* (Figure 4): start with a table per attribute, merge the two parts whose union has the largest mean
  mutual information, and stop before the first merge that is not allowed. Where the best merge fails, the paper stops;
  with ``others``, the next best is tried.
- `plan_given` is the plan that the user gives.
- `frontier` finds plans that no other plan beats in both ratios: all of them for at most `EXACT` attributes (the number
  of plans, a Bell number, is 115,975 for ten), otherwise those found by annealing under many bounds of exposure. The
  search counts its steps and never looks at a clock, so it finds the same plans however busy the machine is; more steps
  go on where fewer end, and so never find worse plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.codip.kernels.annealing import SLACK, anneal
from discreet.options import brief
from discreet.principles.wording import listed
from discreet.table.dependency import Dependency, Plan, plan_of
from discreet.table.texts import near

EXACT = 10
"""The largest number of attributes of which all plans are looked at."""
STEPS = 256_000
"""How many steps the search takes for each bound of exposure by default: about a second in all."""
BOUNDS = (0.0, *np.geomspace(0.005, 1.0, 47).tolist())
"""The exposures for which plans are sought, beside one that is asked for."""
FIRST, LONGEST = 1000, 1 << 17
"""How many steps the first round of annealing has, and the most that any has."""
HOT, COLD = 10.0, 0.1
"""What a step may lose at the start and at the end of a round, as multiples of what a pair shares on average."""
PRICE = 0.3
"""The loss of association that weighs as much as exposing twice as much as is allowed."""

Labels = NDArray[np.int16]
"""Per attribute: the number of its part."""


def tables_given(text: str) -> tuple[tuple[str, ...], ...]:
    """The names in a text such as ``ill, drug | job``, by table; a name that is missing or given twice is refused.

    >>> tables_given("ill,drug | job")
    (('ill', 'drug'), ('job',))
    """
    tables = tuple(tuple(name.strip() for name in table.split(",")) for table in text.split("|"))
    names = [name for table in tables for name in table]
    if not all(names):
        raise DiscreetError(
            f"codip: plan={brief(text)} lacks the name of an attribute; write names with commas between them, and bars "
            "between tables, as in 'ill, drug | job'",
            "plan",
        )
    for name in names:
        if names.count(name) > 1:
            raise DiscreetError(f"codip: plan={brief(text)} names {name!r} twice; put it into one table only", "plan")
    return tables


def plan_given(text: str, names: Sequence[str]) -> Plan:
    """The plan in such a text, which must name each of the sensitive attributes; the others are refused.

    >>> plan_given("ill,drug | job", ["job", "drug", "ill"])
    ((0,), (1, 2))
    """
    tables = tables_given(text)
    given = [name for table in tables for name in table]
    for name in given:
        if name not in names:
            raise DiscreetError(
                f"codip: plan={brief(text)} names {name!r}, which is not a sensitive attribute; {near(name, names)}",
                "plan",
            )
    left = [repr(name) for name in names if name not in given]
    if left:
        raise DiscreetError(
            f"codip: plan={brief(text)} leaves out {listed(left)}; put every sensitive attribute into a table", "plan"
        )
    return tuple(sorted(tuple(sorted(names.index(name) for name in table)) for table in tables))


def merged(dependency: Dependency, allowed: Callable[[Plan], bool], *, others: bool = False) -> list[Plan]:
    """The plans on the way of CODIP*, from a table per attribute to the last that is allowed; empty if none is."""
    parts: list[tuple[int, ...]] = [(each,) for each in range(len(dependency.names))]
    if not allowed(tuple(parts)):
        return []
    way = [tuple(parts)]
    while len(parts) > 1:
        pairs = [(first, second) for first in range(len(parts)) for second in range(first)]
        pairs.sort(key=lambda pair: -_mean_shared(dependency, parts[pair[0]] + parts[pair[1]]))
        for first, second in pairs if others else pairs[:1]:
            union = tuple(sorted(parts[first] + parts[second]))
            rest = [part for at, part in enumerate(parts) if at not in (first, second)]
            plan = tuple(sorted([*rest, union]))
            if allowed(plan):
                parts = list(plan)
                way.append(plan)
                break
        else:
            break
    return way


def frontier(dependency: Dependency, steps: int = STEPS, *asked: float) -> list[Plan]:
    """Plans that no other plan found beats in both ratios, from no association lost to none exposed.

    Plans are also sought for the exposures ``asked`` for, which only adds to what is found for others.
    """
    size = len(dependency.names)
    if size <= EXACT:
        labels = _all_plans(size)
    else:
        way = [_labels(plan, size) for plan in merged(dependency, lambda plan: True)]
        labels = np.concatenate([way, _annealed(dependency, np.unique([*BOUNDS, *asked]), steps)])
    loss, exposure = _ratios(dependency, labels)
    order = np.lexsort((exposure, loss))
    best = np.minimum.accumulate(np.append(np.inf, exposure[order][:-1]))
    return [plan_of(labels[at]) for at in order[exposure[order] < best - SLACK]]


def _mean_shared(dependency: Dependency, part: tuple[int, ...]) -> float:
    return float(dependency.shared[np.ix_(part, part)].sum()) / (len(part) * (len(part) - 1))


def _all_plans(size: int) -> Labels:
    """Every partition of this many attributes, as labels in which a new part has the smallest number not yet used."""
    labels = np.zeros((1, 1 if size else 0), np.int16)
    for _ in range(1, size):
        choices = labels.max(axis=1).astype(np.int64) + 2
        grown = np.repeat(labels, choices, axis=0)
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.column_stack([grown, (np.arange(len(grown)) - starts).astype(np.int16)])
    return labels


def _ratios(dependency: Dependency, labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The association loss and the exposure of many plans."""
    size = len(dependency.names)
    kept, inside = np.zeros(len(labels)), np.zeros(len(labels))
    members = [(labels == labels[:, [i]]).sum(axis=1) for i in range(size)]
    for i in range(size):
        for j in range(i):
            together = labels[:, i] == labels[:, j]
            kept += together * dependency.shared[i, j]
            inside += together * members[i] * dependency.exposable[i, j]
    shared, exposable = dependency.shared.sum() / 2, dependency.exposable.sum() / 2
    loss = np.maximum(0.0, 1.0 - kept / shared) if shared > 0.0 else np.zeros(len(labels))
    return loss, inside / exposable / size if exposable > 0.0 else np.zeros(len(labels))


def _annealed(dependency: Dependency, bounds: NDArray[np.float64], steps: int) -> Labels:
    """The plans that lose least between any two of these exposures, of those met by this many steps for each of them.

    Every round takes as many steps as all before it and starts anew. All bounds have the same random moves, so that
    what is met for one does not depend on the others; a round that is cut short is the beginning of the whole round.
    """
    size = len(dependency.names)
    shared = dependency.shared / max(dependency.shared.sum() / 2, 1e-300)
    exposed = dependency.exposable / max(dependency.exposable.sum() / 2, 1e-300) / size
    kept, labels = np.full(len(bounds), -np.inf), np.zeros((len(bounds), size), np.int16)
    random = np.random.Generator(np.random.PCG64(0))  # a search, not a secret: the same plans for the same table
    taken = 0
    while taken < steps:
        length = min(max(FIRST, taken), LONGEST)
        moves = np.column_stack([random.integers(0, size, (length, 2)), random.integers(0, 2, length)])
        heat = np.geomspace(HOT, COLD, length) / (size * (size - 1) / 2)
        patience = heat * random.standard_exponential(length)
        now = slice(0, steps - taken)
        for aim, bound in enumerate(bounds.tolist()):
            anneal(shared, exposed, bounds, aim, PRICE / max(bound, 0.001), moves[now], patience[now], kept, labels)
        taken += length
    return labels[kept > -np.inf]


def _labels(plan: Plan, size: int) -> Labels:
    labels = np.zeros(size, np.int16)
    for number, part in enumerate(plan):
        labels[list(part)] = number
    return labels


def chosen(
    dependency: Dependency,
    allowed: Callable[[Plan], bool],
    most_exposure: float,
    steps: int = STEPS,
) -> Plan | None:
    """The allowed plan with the least association loss at an exposure of at most so much; None if none was found.

    What merges find is among the candidates, with ``others`` and without, so the plan never loses more association than
    the paper's. ``allowed`` is asked about the most promising plan first, and seldom about more than one.
    """

    def ratios(plan: Plan) -> tuple[float, float]:
        return dependency.association_loss(plan), dependency.exposure(plan)

    def within(plan: Plan) -> bool:
        return dependency.exposure(plan) <= most_exposure + SLACK

    ways = {*merged(dependency, within), *merged(dependency, within, others=True)}
    candidates = sorted({*ways, *filter(within, frontier(dependency, steps, most_exposure))}, key=ratios)
    best = next(filter(allowed, candidates), None)
    if candidates and best != candidates[0]:  # merges of what is allowed may lead elsewhere

        def kept(plan: Plan) -> bool:
            return within(plan) and allowed(plan)

        possible = [*merged(dependency, kept), *merged(dependency, kept, others=True)]
        best = min([*possible, *([] if best is None else [best])], key=ratios, default=None)
    return best
