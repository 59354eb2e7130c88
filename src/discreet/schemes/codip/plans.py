"""Which sensitive attributes share a table: the paper's merges, all plans of few attributes, and a search.

A plan is good if it loses little association and exposes little. Both ratios are sums over the parts of the plan, so a
change of one or two parts is judged by these parts alone.

- `merged` is CODIP* (Figure 4): start with a table per attribute, merge the two parts whose union has the largest mean
  mutual information, and stop before the first merge that is not allowed. Where the best merge fails, the paper stops;
  with ``others``, the next best is tried.
- `frontier` finds plans that no other plan beats in both ratios: all of them for at most `EXACT` attributes (the number
  of plans, a Bell number, is 115,975 for ten), otherwise those found by descents for many prices of exposure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.table.dependency import Dependency, Plan, plan_of

EXACT = 10
"""The largest number of attributes of which all plans are looked at."""
SLACK = 1e-12
"""What sums of the same ratios in another order may differ by."""

Labels = NDArray[np.int8]
"""Per attribute: the number of its part."""


def merged(found: Dependency, allowed: Callable[[Plan], bool], *, others: bool = False) -> list[Plan]:
    """The plans on the way of CODIP*, from a table per attribute to the last that is allowed; empty if none is."""
    parts: list[tuple[int, ...]] = [(each,) for each in range(len(found.names))]
    if not allowed(tuple(parts)):
        return []
    way = [tuple(parts)]
    while len(parts) > 1:
        pairs = [(one, other) for one in range(len(parts)) for other in range(one)]
        pairs.sort(key=lambda pair: -_mean_shared(found, parts[pair[0]] + parts[pair[1]]))
        for one, other in pairs if others else pairs[:1]:
            union = tuple(sorted(parts[one] + parts[other]))
            rest = [part for at, part in enumerate(parts) if at not in (one, other)]
            plan = tuple(sorted([*rest, union]))
            if allowed(plan):
                parts = list(plan)
                way.append(plan)
                break
        else:
            break
    return way


def frontier(found: Dependency, seconds: float = 1.0) -> list[Plan]:
    """Plans that no other plan found beats in both ratios, from no association lost to none exposed."""
    size = len(found.names)
    if size <= EXACT:
        labels = _all_plans(size)
    else:
        labels = np.unique(np.array(list(_descents(found, seconds)), np.int8), axis=0)
    loss, exposure = _ratios(found, labels)
    order = np.lexsort((exposure, loss))
    best = np.minimum.accumulate(np.append(np.inf, exposure[order][:-1]))
    return [plan_of(labels[at]) for at in order[exposure[order] < best - SLACK]]


def _mean_shared(found: Dependency, part: tuple[int, ...]) -> float:
    return float(found.shared[np.ix_(part, part)].sum()) / (len(part) * (len(part) - 1))


def _all_plans(size: int) -> Labels:
    """Every partition of so many attributes, as labels in which a new part has the smallest number not used before."""
    labels = np.zeros((1, 1 if size else 0), np.int8)
    for _ in range(1, size):
        choices = labels.max(axis=1).astype(np.int64) + 2
        grown = np.repeat(labels, choices, axis=0)
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.column_stack([grown, (np.arange(len(grown)) - starts).astype(np.int8)])
    return labels


def _ratios(found: Dependency, labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The association loss and the exposure of many plans."""
    size = len(found.names)
    kept, inside = np.zeros(len(labels)), np.zeros(len(labels))
    members = [(labels == labels[:, [i]]).sum(axis=1) for i in range(size)]
    for i in range(size):
        for j in range(i):
            together = labels[:, i] == labels[:, j]
            kept += together * found.shared[i, j]
            inside += together * members[i] * found.exposable[i, j]
    shared, exposable = found.shared.sum() / 2, found.exposable.sum() / 2
    loss = np.maximum(0.0, 1.0 - kept / shared) if shared > 0.0 else np.zeros(len(labels))
    return loss, inside / exposable / size if exposable > 0.0 else np.zeros(len(labels))


def _descents(found: Dependency, seconds: float) -> Iterator[Labels]:
    """Plans met by descents of loss + price x exposure, for many prices, from what CODIP* meets and from one another.

    The first round is always finished, so that the outcome without time to spare is the same everywhere.
    """
    size = len(found.names)
    way = [_labels(plan, size) for plan in merged(found, lambda plan: True)]
    yield from way
    random = np.random.Generator(np.random.PCG64(0))  # a search, not a secret: the same plans for the same table
    started = time.monotonic()
    prices = np.geomspace(0.02, 50.0, 24)
    round_ = 0
    while round_ == 0 or time.monotonic() - started < seconds:
        labels = way[len(way) // 2] if round_ == 0 else random.integers(0, size, size).astype(np.int8)
        for price in prices if round_ % 2 == 0 else prices[::-1]:
            met = list(_descent(found, labels, price))
            yield from met
            labels = met[-1]
            if round_ and time.monotonic() - started >= seconds:
                return
        round_ += 1


def _descent(found: Dependency, labels: Labels, price: float) -> Iterator[Labels]:
    """Move single attributes, or else merge two parts, while that lowers loss + price x exposure; yield every plan."""
    size = len(labels)
    shared = found.shared / max(found.shared.sum() / 2, 1e-300)
    exposed = found.exposable / max(found.exposable.sum() / 2, 1e-300) / size
    while True:
        labels = labels.copy()
        yield labels
        parts = (labels[:, None] == np.arange(size)).astype(np.float64)
        count = parts.sum(axis=0)
        to_part, exposed_to = shared @ parts, exposed @ parts
        inside = (parts * exposed_to).sum(axis=0) / 2
        own = labels.astype(np.intp)
        all_ = np.arange(size)
        # what leaving its part, and joining another, changes for each attribute
        leaving = to_part[all_, own] + price * (
            (inside[own] - exposed_to[all_, own]) * (count[own] - 1) - inside[own] * count[own]
        )
        joining = -to_part + price * ((inside + exposed_to) * (count + 1) - inside * count)
        change = leaving[:, None] + joining
        change[all_, own] = 0.0
        who, where = np.unravel_index(int(change.argmin()), change.shape)
        if change[who, where] < -SLACK:
            labels[who] = where
            continue
        between, exposed_between = parts.T @ to_part, parts.T @ exposed_to
        total = inside[:, None] + inside[None, :] + exposed_between
        union = -between + price * (total * (count[:, None] + count) - (inside * count)[:, None] - inside * count)
        union[(count[:, None] == 0) | (count == 0) | np.eye(size, dtype=bool)] = 0.0
        one, other = np.unravel_index(int(union.argmin()), union.shape)
        if union[one, other] >= -SLACK:
            return
        labels[labels == one] = other


def _labels(plan: Plan, size: int) -> Labels:
    labels = np.zeros(size, np.int8)
    for number, part in enumerate(plan):
        labels[list(part)] = number
    return labels


def chosen(
    found: Dependency,
    allowed: Callable[[Plan], bool],
    most_exposure: float,
    most_loss: float = 1.0,
    seconds: float = 1.0,
) -> Plan | None:
    """The allowed plan with the least association loss at an exposure of at most so much; None if none was found.

    What CODIP* finds is among the candidates, so the plan never loses more association than the paper's. ``allowed`` is
    asked about the most promising plan first, and seldom about more than one.
    """

    def ratios(plan: Plan) -> tuple[float, float]:
        return found.association_loss(plan), found.exposure(plan)

    def within(plan: Plan) -> bool:
        return found.exposure(plan) <= most_exposure + SLACK

    some = {*merged(found, within), *filter(within, frontier(found, seconds))}
    candidates = sorted(some, key=ratios)
    best = next(filter(allowed, candidates), None)
    if candidates and best != candidates[0]:  # merges of what is allowed may lead elsewhere

        def kept(plan: Plan) -> bool:
            return within(plan) and allowed(plan)

        ways = [*merged(found, kept), *merged(found, kept, others=True)]
        best = min([*ways, *([] if best is None else [best])], key=ratios, default=None)
    return best if best is not None and found.association_loss(best) <= most_loss + SLACK else None
