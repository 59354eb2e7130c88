"""How often each value of a quasi-identifier may go with each sensitive value, according to the descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.releases.boxes import ranges
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.releases.generalized.release import GeneralizedRelease


def contingency(release: GeneralizedRelease, column: Column, spread: bool) -> NDArray[np.float64]:
    """One line per value of the column, one column per sensitive value (see ``Release.contingency``)."""
    axis = next(at for at, attribute in enumerate(release.quasi) if attribute.name == column.name)
    cells, size = release.cells, len(column.values)
    width = cells.counts.width
    first, last, gaps = ranges(release.quasi[axis], release.descriptions.regions[axis], column)
    shares = np.ones(len(first))
    if spread:
        admitted = np.maximum(1, last - first + 1).astype(np.float64)
        for text, codes in gaps.items():
            admitted[text] = len(codes)
        shares /= admitted
    texts, values = cells.texts[axis][cells.counts.groups], cells.counts.values.astype(np.int64)
    amounts = cells.counts.amounts * shares[texts]
    gapped = np.zeros(len(first), np.bool_)
    gapped[list(gaps)] = True
    # an interval begins to count at its first value and ends after its last, so that sums over values count it inside
    plain = ~gapped[texts]
    ends = np.concatenate([first[texts[plain]].astype(np.int64), last[texts[plain]].astype(np.int64) + 1])
    signed = np.concatenate([amounts[plain], -amounts[plain]])
    steps = np.bincount(ends * width + np.tile(values[plain], 2), signed, (size + 1) * width)
    result: NDArray[np.float64] = np.cumsum(steps.astype(np.float64).reshape(size + 1, width), axis=0)[:size]
    result += _of_sets(gaps, texts[~plain], values[~plain], amounts[~plain], (size, len(first), width))
    # intervals that have ended may leave rounding errors behind
    return np.where(result < 1e-9, 0.0, result)


def _of_sets(
    gaps: dict[int, NDArray[np.int64]],
    texts: NDArray[Any],
    values: NDArray[Any],
    amounts: NDArray[Any],
    shape: tuple[int, int, int],
) -> NDArray[np.float64]:
    """The same for texts that admit values with gaps between them; ``shape`` numbers values, texts and columns."""
    from scipy.sparse import csr_array

    size, number, width = shape
    if not gaps:
        return np.zeros((size, width))
    codes = np.concatenate(list(gaps.values()))
    of_code = np.repeat(np.array(list(gaps), np.int64), [len(one) for one in gaps.values()])
    admits = csr_array((np.ones(len(codes)), (codes, of_code)), shape=(size, number))
    held = csr_array((amounts, (texts, values)), shape=(number, width))
    return np.asarray((admits @ held).toarray(), np.float64)
