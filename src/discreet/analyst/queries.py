"""Relative errors of estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def relative_errors(estimated: ArrayLike, exact: ArrayLike) -> NDArray[np.float64]:
    """The distances of estimates from exact counts, relative to the exact counts; NaN where an exact count is zero.

    >>> relative_errors([3.0, 5.0, 1.0], [2, 5, 0]).tolist()
    [0.5, 0.0, nan]
    """
    truth = np.asarray(exact, np.float64)
    away = np.abs(np.asarray(estimated, np.float64) - truth)
    errors: NDArray[np.float64] = np.divide(away, truth, out=np.full(truth.shape, np.nan), where=truth > 0)
    return errors
