"""The hot loops of count estimates: shares of intervals, and cells weighed by the shares of their descriptions."""

import numpy as np

from discreet.kernels.compiling import kernel


@kernel
def overlaps(low, high, step, first, last, shares):
    """Write the share of every interval ``low`` to ``high`` that lies within ``first`` to ``last`` into ``shares``.

    With ``step`` 1 all ends are whole numbers, and numbers are counted; with 0 lengths are measured, and an interval
    without length lies within or not. An interval whose low end is above its high end has share 0.
    """
    for t in range(low.shape[0]):
        a, b = low[t], high[t]
        start, end = max(a, first), min(b, last)
        if a > b or start > end:
            shares[t] = 0.0
        elif b - a + step == 0.0:
            shares[t] = 1.0
        else:
            shares[t] = (end - start + step) / (b - a + step)


@kernel
def admitted_amounts(starts, values, amounts, mask, result):
    """Write into ``result`` how many rows of every cell have an admitted value."""
    for cell in range(starts.shape[0] - 1):
        total = 0.0
        for at in range(starts[cell], starts[cell + 1]):
            if mask[values[at]]:
                total += amounts[at]
        result[cell] = total


@kernel
def weigh(held, held_at, shares, lines, texts, result):
    """Write, per query, the rows of all cells, each times the shares of the cell's texts, into ``result``.

    ``held[held_at[q], cell]`` are the rows of a cell that count for query ``q``; ``texts[axis, cell]`` is the text of a
    cell, and ``shares[lines[q, axis] + text]`` its share; a negative line means no condition on that axis.
    """
    axes, cells = texts.shape
    weights = np.empty(cells)
    for q in range(lines.shape[0]):
        weights[:] = held[held_at[q]]
        for axis in range(axes):
            line = lines[q, axis]
            for cell in range(cells if line >= 0 else 0):
                weights[cell] *= shares[line + texts[axis, cell]]
        total = 0.0
        for cell in range(cells):
            total += weights[cell]
        result[q] = total
