"""Groups merged into larger ones: their counts, and the costs of the intervals that describe them."""

import numpy as np

from discreet.kernels.compiling import kernel
from discreet.kernels.costs import interval_cost


@kernel
def merged_counts(order, first, starts, values, amounts, width):
    """Return starts, values and amounts of merged groups: ``order`` lists the old ones, and a new one begins at every
    ``first``. An old group ``g`` holds ``values[starts[g]:starts[g + 1]]``, as often as ``amounts`` says."""
    begins = np.empty(first.sum() + 1, np.int64)
    held = np.empty_like(values)
    sums = np.empty_like(amounts)
    place = np.full(width, -1)  # where each value was last written: before the begin of a group if it is new to it
    group, begin, end = 0, 0, 0
    for at in range(order.shape[0]):
        if first[at]:
            begins[group] = begin = end
            group += 1
        for entry in range(starts[order[at]], starts[order[at] + 1]):
            value = values[entry]
            if place[value] < begin:
                place[value] = end
                held[end] = value
                sums[end] = 0
                end += 1
            sums[place[value]] += amounts[entry]
    begins[group] = end
    return begins, held[:end], sums[:end]


@kernel
def interval_costs(axes, j, low, high):
    """Return the costs of publishing the codes ``low[i]`` to ``high[i]`` of axis ``j``."""
    result = np.empty(low.shape[0])
    for i in range(low.shape[0]):
        result[i] = interval_cost(axes, j, low[i], high[i])
    return result
