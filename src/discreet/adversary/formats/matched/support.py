"""Check a matched release with its private trace: everyone's own row, and the graph of persons and candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned
from discreet.adversary.check import Check
from discreet.adversary.checks import trace as of_groups
from discreet.adversary.checks.trace import outside, trace_check
from discreet.releases.matched.candidates import irregularities, pairs
from discreet.table.combinations import places_among

EXPLAINED = (
    "every row has the values of its person and a description that admits all persons whose candidate it is; a person "
    "has as many candidates as each of them has persons, and no two assignments give anyone the same row"
)


def by_trace(aligned: Aligned, trace: NDArray[Any], faults: list[str]) -> Check:
    """Check that the trace's candidates are a regular graph that explains the release."""
    if trace.ndim != 2 or trace.shape[1] == 0:
        told = "the trace of a matched release lists the candidates of every row, and this one does not"
        return trace_check([*faults, told], EXPLAINED)
    own = of_groups.by_trace(aligned, trace[:, 0], faults)
    if not own.holds:
        return own
    places = candidates_in(aligned, trace)
    if places is None:
        told = "it lists candidates that the release has not, or some of a row that is withheld"
        return trace_check([told], EXPLAINED)
    names = aligned.release.ids.tolist()
    return trace_check([*irregularities(places, len(names), names), *outside(aligned, *pairs(places))], EXPLAINED)


def candidates_in(aligned: Aligned, trace: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the candidates as positions among the published rows; None if there are others."""
    ids = aligned.release.ids
    listed = trace >= 0
    places = np.full(trace.shape, -1, np.int64)
    places[listed] = np.minimum(places_among(ids, trace[listed].astype(np.int64)), len(ids) - 1)
    known = bool((ids[places[listed]] == trace[listed]).all())
    return places if known and not bool((listed & ~listed[:, :1]).any()) else None
