"""Orders of whole numbers, found in linear time where they are small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.bucket_draws import counting_order


def ordered(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the order that sorts the numbers, ties as they stand.

    >>> ordered(np.array([3, 1, 3])).tolist(), ordered(np.array([-1, 1 << 40, 0])).tolist()
    ([1, 0, 2], [0, 2, 1])
    """
    if len(numbers) and numbers.min() >= 0 and (most := int(numbers.max())) <= len(numbers):
        order: NDArray[np.int64] = counting_order(numbers, most + 1)[0]
        return order
    return np.argsort(numbers, kind="stable")
