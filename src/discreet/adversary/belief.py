"""What an adversary believes about the people in the original, having seen a release.

Two adversaries. One only matches boxes: whoever's quasi-identifiers a group's description admits may be in it. The
other knows the group as well, as someone may who saw the table being made; to be safe from this one is to be safe from
both, as long as the promise holds for unions of groups that keep it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.generalized import GeneralizedRelease
from discreet.releases.matching import mixed, shares
from discreet.table.table import Table


def by_boxes(release: GeneralizedRelease, original: Table, withheld: ArrayLike | None = None) -> NDArray[np.float64]:
    """Per row of the original, the belief of an adversary who matches its quasi-identifiers with the descriptions.

    Columns follow ``release.values``. ``withheld`` are the counts of the withheld rows' values, believed of those whom
    no group admits; without it such beliefs are NaN.
    """
    columns = [original.column(attribute.name) for attribute in release.quasi]
    return shares(mixed(release, columns), withheld)


def by_group(
    release: GeneralizedRelease, trace: NDArray[np.integer], withheld: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Per row of the original, the belief of an adversary who knows its group (``trace``, -1 when withheld)."""
    trace = np.asarray(trace)
    places = np.searchsorted(release.ids, trace)
    known = trace >= 0
    if bool(np.any(release.ids[np.minimum(places, release.groups - 1)][known] != trace[known])):
        raise DiscreetError("the trace names a group that is not in the release; it belongs to another one")
    result = np.zeros((len(trace), len(release.values)), np.int64)
    result[known] = release.counts.matrix()[places[known]]
    return shares(result, withheld)
