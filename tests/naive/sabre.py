"""What SABRE relies on, by trying everything: worst cases of buckets, and of groups that draw from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product

from naive.principles import Ground, emd


def worst_value(shares: Sequence[float], bucket: Sequence[int], ground: Ground) -> float:
    """The largest cost of turning one value of a bucket into the bucket's own distribution."""
    mass = sum(shares[i] for i in bucket)
    return max(sum(shares[i] / mass * float(ground(i, j)) for i in bucket) for j in bucket)


def worst_group(prior: Sequence[int], buckets: Sequence[Sequence[int]], drawn: Sequence[int], ground: Ground) -> float:
    """The largest distance from the prior of any group that draws so many rows from each bucket, by trying them all."""
    choices = [
        list(combinations_with_replacement(bucket, number)) for bucket, number in zip(buckets, drawn, strict=True)
    ]
    worst = 0.0
    for chosen in product(*choices):
        values = [value for part in chosen for value in part]
        group = [values.count(value) for value in range(len(prior))]
        worst = max(worst, emd(group, prior, ground))
    return worst
