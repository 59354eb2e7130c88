"""Merging groups until nobody's presence is believed more strongly than was promised.

The belief in presence by a description is that in the likeliest of the combinations of values that it admits, such as
the ends of its intervals (`discreet.releases.corners`): it falls as groups become larger and wider, but not with every
step, so it is computed for each union, not assumed. Unions keep every monotone promise about sensitive values that
their parts keep.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.costs import Axes
from discreet.kernels.judging import SLACK
from discreet.kernels.presence.merge import merge_in_order
from discreet.principles.principle import Principle
from discreet.releases.attributes import as_shown, describe
from discreet.releases.boxes import boxes_in
from discreet.releases.corners import strongest_beliefs
from discreet.releases.descriptions import Descriptions
from discreet.releases.generalization import Values, generalize
from discreet.releases.max_presence import BUDGET, lists_of_boxes, most_believed
from discreet.releases.partition import dense_groups
from discreet.schemes.axes import Axis, side_by_side
from discreet.schemes.default_scheme import keeper, way_out
from discreet.schemes.merge_broken import neighbours_in_order
from discreet.table.table import Column, Table
from discreet.table.texts import number_text

TRIES = 16
"""How often stronger merging is tried before all groups become one."""


def merge_for_presence(
    table: Table, groups: NDArray[np.int32], principle: Principle, values: Values, scheme: str
) -> NDArray[np.int32]:
    """Return groups that keep the promise about presence, merged where necessary; raise an error if that is impossible.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import AlphaBeta
    >>> table = patients()
    >>> one_each = np.arange(table.rows, dtype=np.int32)
    >>> merged = merge_for_presence(table, one_each, AlphaBeta(0.2, 1), "interval", "example")
    >>> beliefs(table, merged, "interval")[0] <= 0.2
    True
    """
    parts = [part for part in principle.parts if part.most_presence < 1.0]
    best = 1.0
    aim = min(part.most_presence for part in parts)
    together = min((part.most_presence for part in parts if part.combined_presence), default=None)
    for attempt in range(TRIES):
        # the sweep considers groups one by one, not combined beliefs: aim below what is needed, and lower each time
        groups = _each_below(table, groups, values, aim * 0.7**attempt)
        by_group, combined = beliefs(table, groups, values, aim, together)
        believed = [combined if part.combined_presence else by_group for part in parts]
        if all(belief <= part.most_presence * (1.0 + SLACK) for belief, part in zip(believed, parts, strict=True)):
            return groups
        best = min(best, max(believed))
        if int(groups.max()) == 0:
            break
        if attempt == TRIES - 2:
            groups = np.minimum(groups, 0)
    raise DiscreetError(
        f"scheme {scheme!r} cannot keep {principle}: with descriptions as it makes them of this table, alpha="
        f"{number_text(math.ceil(best * 1000.0 - 1e-7) / 1000.0)} is the smallest it reaches; ask for that"
        f"{f', or {way_out(principle)}' if keeper(principle) != scheme else ''}"
    )


def beliefs(
    table: Table, groups: NDArray[np.int32], values: Values, alpha: float = 0.0, together: float | None = None
) -> tuple[float, float]:
    """Return the strongest belief in anyone's presence that a group of a partition justifies once published, computed
    as in an audit, and an upper bound on the combined one about anyone, in the table or not; 1 if it was not computed.

    ``alpha`` is the belief by one group that is allowed, and ``together`` the combined one; a bound below these is not
    tightened further.
    """
    descriptions = _descriptions(table, *dense_groups(groups), values)
    chances = strongest_beliefs(descriptions, table.quasi, alpha if together is None else 0.0)
    group = float(chances.max(initial=0.0))
    if together is None:
        return group, 1.0
    lists = lists_of_boxes(boxes_in(descriptions, table.quasi), [len(column.values) for column in table.quasi])
    bound = most_believed(lists, chances, limit=together).bound
    if bound > together * (1.0 + SLACK):
        bound = most_believed(lists, chances, budget=BUDGET // 10).bound
    return group, bound


def _descriptions(table: Table, places: NDArray[np.int32], number: int, values: Values) -> Descriptions:
    """Return the descriptions with which groups 0 to ``number - 1`` would be published; -1 is a withheld row."""
    published = places >= 0
    columns = [as_shown(column, published) for column in table.quasi]
    return Descriptions(
        tuple(describe(column, "quasi", values == "label") for column in columns),
        tuple(generalize(column, places, number, values) for column in columns),
        np.bincount(places[published], minlength=number),
        np.arange(number),
    )


def _each_below(table: Table, groups: NDArray[np.int32], values: Values, alpha: float) -> NDArray[np.int32]:
    """Merge groups until no single one justifies a stronger belief than alpha, or all are one.

    A group that justifies a stronger one is merged with its neighbour along a curve through the centres of boxes, and
    the union is judged in the next round.
    """
    axes, known = _axes(table.quasi, values)
    while True:
        places, number = dense_groups(groups)
        descriptions = _descriptions(table, places, number, values)
        kept = strongest_beliefs(descriptions, table.quasi, alpha) <= alpha * (1.0 + SLACK)
        if number <= 1 or kept.all():
            return places
        low, high, order = neighbours_in_order(table.quasi, places, number)
        home = merge_in_order(order, low, high, descriptions.sizes, kept, axes, known, alpha)
        groups = np.where(places < 0, -1, home[places]).astype(np.int32)


def _axes(columns: tuple[Column, ...], values: Values) -> tuple[Axes, NDArray[np.int64]]:
    """Return axes on which an interval costs the share of occurring values beyond its first one, and their numbers."""
    axes, known = [], []
    for column in columns:
        mask = np.bincount(column.codes, minlength=len(column.values)) > 0
        many = int(mask.sum())
        tree = column.hierarchy
        if tree is not None and (column.kind == "categorical" or values == "label"):
            height, nodes = tree.height, np.ascontiguousarray(tree.ancestors[1:])
            under = [np.bincount(above, weights=mask)[above] for above in nodes]
            prices: NDArray[Any] = np.maximum(1.0, under) - 1.0
        else:
            height, nodes, prices = 0, np.zeros((1, len(mask)), np.int32), (np.cumsum(mask) - 1.0)[None]
            if column.missing is not None:
                # a missing value together with a number is published as the whole domain
                prices[0, column.missing] = -many
        axes.append(Axis(height, nodes, prices / max(1, many - 1)))
        known.append(many)
    return side_by_side(axes), np.array(known, np.int64)
