"""What is left for the analyst of a release."""

from __future__ import annotations

from discreet.analyst.loss import ail, average_class_size, by_attribute, discernibility, gcp, losses

__all__ = ["ail", "average_class_size", "by_attribute", "discernibility", "gcp", "losses"]
