"""The share of each part, when what is heavier than a share counts as one: all numbers of such are tried."""

from __future__ import annotations

from collections.abc import Sequence


def heaviest_share(weights: Sequence[int], number: int) -> float:
    """The largest share that is the mean of the parts' weights, none of which is counted beyond the share."""
    ordered = sorted(weights)
    found = [sum(ordered[: len(ordered) - heavy]) / (number - heavy) for heavy in range(number)]
    return max(
        share for share in found if abs(sum(min(weight, share) for weight in weights) - number * share) < 1e-9 * number
    )
