"""How useful a release is: information losses, count queries and workloads."""

from __future__ import annotations

from discreet.analyst.loss import ail, average_class_size, by_attribute, discernibility, gcp, losses
from discreet.analyst.queries import exact_counts, relative_errors

__all__ = [
    "ail",
    "average_class_size",
    "by_attribute",
    "discernibility",
    "exact_counts",
    "gcp",
    "losses",
    "relative_errors",
]
