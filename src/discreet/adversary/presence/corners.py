"""How much more than average the ends of intervals disclose.

An interval that is as narrow as possible has a row at each of its ends. An adversary who knows this rules out all
choices of a group's rows that leave an end untouched. Among the remaining choices, a combination of ends is more
probable than average, because it already touches one end of every interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from discreet.releases.boxes import boxes_in
from discreet.releases.descriptions import Descriptions
from discreet.releases.presence import occurring, values_in
from discreet.table.table import Column

GROUPS = 500
"""How many groups are examined: those with the fewest rows, where ends disclose most."""
LARGEST = 300
"""The largest group examined; the numbers involved grow with it."""
AXES = 6
"""The most intervals examined per group: the sum has 3 to the power of this many terms."""


class Corner(NamedTuple):
    """The combination of ends with the strongest belief."""

    belief: float
    group: int
    """An index into the release's ``ids``."""


def belief_at_ends(intervals: Sequence[int], others: int, rows: int) -> float:
    """Return the belief that a combination of ends is among ``rows`` distinct combinations that touch all ends.

    ``intervals`` are the numbers of values of the intervals, at least 2 each; ``others`` is the number of combinations
    of the group's remaining values. Returns 0 if so many rows cannot touch all ends.

    >>> belief_at_ends([4, 4], 1, 2), belief_at_ends([], 8, 2)
    (0.5, 0.25)
    """
    with_it = in_all = 0
    for left_out in product((0, 1, 2), repeat=len(intervals)):
        sign = (-1) ** sum(left_out)
        choices = others * math.prod(many - out for many, out in zip(intervals, left_out, strict=True))
        in_all += sign * 2 ** left_out.count(1) * math.comb(choices, rows)
        if 2 not in left_out:
            # a combination of ends touches one end of every interval, so only the other end can be untouched
            with_it += sign * math.comb(choices - 1, rows - 1)
    return with_it / in_all if in_all > 0 else 0.0


def strongest_corner(descriptions: Descriptions, original: Sequence[Column]) -> Corner | None:
    """Return the combination of ends with the strongest belief in the examined groups; None if there is none."""
    values = values_in(boxes_in(descriptions, original), occurring(original))
    tight = np.zeros(values.shape, np.bool_)
    told = zip(descriptions.quasi, descriptions.regions, descriptions.texts, strict=True)
    for axis, (attribute, regions, texts) in enumerate(told):
        # a label names a node of a hierarchy, whose first and last value need not occur
        if attribute.kind != "categorical" and attribute.hierarchy is None:
            tight[:, axis] = (~regions.whole & (regions.low < regions.high))[texts.of_cell] & (values[:, axis] > 1)
    worst = None
    for group in np.argsort(descriptions.sizes, kind="stable")[:GROUPS].tolist():
        rows = int(descriptions.sizes[group])
        ends = np.sort(values[group, tight[group]])[::-1][:AXES].tolist()
        others = math.prod(values[group].tolist()) // math.prod(ends)
        if rows > LARGEST or not ends or rows >= others * math.prod(ends):
            continue
        belief = belief_at_ends(ends, others, rows)
        if worst is None or belief > worst.belief:
            worst = Corner(belief, group)
    return worst
