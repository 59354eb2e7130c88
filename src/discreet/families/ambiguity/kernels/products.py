"""Sums of products over groups, and the factors of these products."""

import numpy as np

from discreet.kernels.compiling import kernel

BLOCK = 128
"""How many groups are processed together: few enough for all their data to stay in the processor's caches."""


@kernel
def add_up(groups, kinds, weights, marks, first, shares, lines):
    """Write the weight of the marked entries of each group into ``lines``, initially 0, one line per kind of mark.

    Entry ``e``, of group ``first`` or a later one in ascending order, counts in line ``l`` if ``marks[kinds[e], l]`` is
    1, and does not if it is 0. With ``shares``, weights are shares of all entries of the group.
    """
    number = marks.shape[1]
    sums = np.zeros(number)
    total = 0.0
    for entry in range(groups.shape[0]):
        weight, marked = weights[entry], marks[kinds[entry]]
        total += weight
        for line in range(number):
            sums[line] += weight * marked[line]
        if entry + 1 == groups.shape[0] or groups[entry + 1] != groups[entry]:
            group = groups[entry] - first
            if shares and total > 0.0:
                for line in range(number):
                    sums[line] /= total
            for line in range(number):
                lines[line, group] = sums[line]
                sums[line] = 0.0
            total = 0.0


@kernel
def add_products(lines, starts, factors, results):
    """Add to result ``i`` the sum over groups of the product of its lines, ``factors[starts[i]:starts[i + 1]]``."""
    width = lines.shape[1]
    product = np.empty(BLOCK)
    for first in range(0, width, BLOCK):
        many = min(BLOCK, width - first)
        product[many:] = 0.0
        for i in range(results.shape[0]):
            product[:many] = 1.0
            for f in range(starts[i], starts[i + 1]):
                factor = lines[factors[f], first : first + many]  # one contiguous row, so that the loop is vectorised
                for at in range(many):
                    product[at] *= factor[at]
            # four independent sums, which the processor computes in parallel
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for at in range(0, BLOCK, 4):
                a += product[at]
                b += product[at + 1]
                c += product[at + 2]
                d += product[at + 3]
            results[i] += (a + b) + (c + d)
