"""Information losses of a release that publishes descriptions, computed from the release alone.

Every withheld row counts with a loss of 1.

- AIL, average information loss: Eq. 2-5 of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012).
- GCP, global certainty penalty: the mean NCP of "One-off Disclosure Control by Heterogeneous Generalization"
  (USENIX Security 2022).
- Discernibility: for each row the number of rows indistinguishable from it, summed over all rows.
- Average class size: published rows per group.

AIL and GCP are means over the quasi-identifiers; one with a weight, which the manifest states, counts so many times.

Of a release of several tables, each loss is the mean over the tables.

Both AIL and GCP measure an interval of numbers by its share of the domain, and an interval of ordered values by its
share of the steps between them. They differ for categorical attributes: AIL takes the share of leaves below the lowest
common ancestor of the published values, whether these are published as its label or as a set; GCP counts the values
that the published text admits. ``*`` costs 1 everywhere, and so does a mixture of missing and known values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.releases.attributes import Attribute
    from discreet.releases.descriptions import Descriptions
    from discreet.releases.labels import Regions
    from discreet.releases.release import Release

Measure = Callable[["Attribute", "Regions"], NDArray[np.float64]]


def over_tables(loss: Callable[[Release], float]) -> Callable[[Release], float]:
    """The mean of a loss over the tables of a release."""

    @wraps(loss)
    def mean(release: Release) -> float:
        losses = [loss(part) for part in release.projections]
        return losses[0] if len(losses) == 1 else sum(losses) / len(losses)

    return mean


@over_tables
def ail(release: Release) -> float:
    """The average information loss (Eq. 4 and 5), with the weights that the quasi-identifiers have."""
    return _average(release, information_loss)


@over_tables
def gcp(release: Release) -> float:
    """The global certainty penalty, with the same weights."""
    return _average(release, certainty_penalty)


@over_tables
def discernibility(release: Release) -> float:
    """The sum over rows of the rows like them; a withheld row is indistinguishable from every row of the table."""
    cells = _descriptions(release)
    alike = cells.sizes if cells.alike is None else cells.alike
    return int((cells.sizes * alike).sum()) + release.withheld * (release.rows + release.withheld)


@over_tables
def average_class_size(release: Release) -> float:
    """The mean number of rows per cell, those with the same description counted as one where rows have their own."""
    cells = _descriptions(release)
    sensitive_codes = cells.cells if cells.alike is None else round(float((cells.sizes / cells.alike).sum()))
    return release.rows / sensitive_codes if sensitive_codes else 0.0


def losses(release: Release) -> dict[str, float]:
    """All losses by name."""
    return {
        "ail": ail(release),
        "gcp": gcp(release),
        "discernibility": discernibility(release),
        "average_class_size": average_class_size(release),
    }


def by_attribute(release: Release) -> dict[str, float]:
    """The average information loss of each quasi-identifier; withheld rows count as 1."""

    def loss(at: int, part: Release) -> float:
        cells = _descriptions(part)
        return _mean(part, information_loss(cells.quasi[at], cells.regions[at])[cells.texts[at].of_cell])

    return {quasi.name: over_tables(partial(loss, at))(release) for at, quasi in enumerate(release.quasi)}


def information_loss(attribute: Attribute, regions: Regions) -> NDArray[np.float64]:
    """The information loss of each published text of an attribute (Eq. 2 and 3)."""
    if attribute.kind != "categorical":
        return _extent(attribute, regions)
    tree = attribute.hierarchy
    assert tree is not None
    low, high = (np.where(regions.whole, 0, end).astype(np.int64) for end in (regions.low, regions.high))
    return np.where(regions.whole, 1.0, tree.cost(low, high))


def certainty_penalty(attribute: Attribute, regions: Regions) -> NDArray[np.float64]:
    """The normalized certainty penalty of each published text of an attribute."""
    if attribute.kind != "categorical":
        return _extent(attribute, regions)
    assert attribute.hierarchy is not None
    steps = max(1, len(attribute.hierarchy.leaves) - 1)
    extra = np.where(regions.whole, steps, regions.high - regions.low)
    for at, ranks in regions.sets.items():
        extra[at] = len(ranks) - 1
    return np.asarray(extra / steps, np.float64)


def _extent(attribute: Attribute, regions: Regions) -> NDArray[np.float64]:
    """The share of the domain that each interval covers; parts of an interval outside the domain cost nothing."""
    if attribute.kind == "numeric":
        bottom, top = attribute.domain if attribute.domain is not None else (0.0, 0.0)
    else:
        bottom, top = 0.0, float(len(attribute.values) - 1)
    width = np.clip(regions.high, bottom, top) - np.clip(regions.low, bottom, top)
    # "only missing values" is an empty interval (its low end lies above its high end) and costs nothing
    share = np.maximum(0.0, width) / (top - bottom) if top > bottom else np.zeros(len(width))
    return np.where(regions.whole, 1.0, share)


def _descriptions(release: Release) -> Descriptions:
    if release.descriptions is None:
        raise DiscreetError(
            f"a release of the format {release.format} describes no quasi-identifiers, so it has no such loss; compare "
            "it by the errors of queries"
        )
    return release.descriptions


def _average(release: Release, measure: Measure) -> float:
    """The mean over all rows, withheld ones included, of the weighted mean loss over attributes."""
    cells = _descriptions(release)
    total = np.zeros(cells.cells)
    for attribute, regions, texts in zip(cells.quasi, cells.regions, cells.texts, strict=True):
        total += attribute.weight * measure(attribute, regions)[texts.of_cell]
    return _mean(release, total / (sum(attribute.weight for attribute in cells.quasi) or 1.0))


def _mean(release: Release, of_cell: NDArray[np.float64]) -> float:
    rows = release.rows + release.withheld
    return (float(of_cell @ _descriptions(release).sizes) + release.withheld) / rows if rows else 0.0
