"""How much the loss of each quasi-identifier counts: those with larger weights are spared.

This has nothing to do with survey weights, which are a column of the table: here a column has one weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief

LARGEST = 1_000.0
"""The largest weight."""


def weight_given(name: str, given: Any) -> float:
    """Return the weight of a column, which is given as a number or a text.

    >>> weight_given("age", "3"), weight_given("age", 0.5)
    (3.0, 0.5)
    """
    try:
        weight = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not is_weight(weight):
        raise DiscreetError(
            f"the weight {brief(given)} of column {name!r} is not a number above 0 and up to {LARGEST:,.0f}; say how "
            f"many times its loss counts, as in {argument('weight', {name: 3})}"
        )
    return weight


def is_weight(weight: float) -> bool:
    """Whether a number may be a weight."""
    return 0.0 < weight <= LARGEST


def weights_of(quasi: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    """Return the weight of each quasi-identifier, 1 unless it is given; of equal ones each is 1, as they say nothing.

    >>> weights_of(["age", "sex"], {"age": 3.0}), weights_of(["age", "sex"], {"age": 3.0, "sex": 3.0})
    ({'age': 3.0, 'sex': 1.0}, {'age': 1.0, 'sex': 1.0})
    """
    idle = next((name for name in given if name not in quasi), None)
    if idle is not None:
        raise DiscreetError(
            f"a weight is given for column {idle!r}, which is not a quasi-identifier; name it in {argument('quasi')}, "
            f"or leave the weight out (a column of survey weights is named in {argument('keep')})"
        )
    weights = {name: given.get(name, 1.0) for name in quasi}
    return weights if len(set(weights.values())) > 1 else dict.fromkeys(quasi, 1.0)
