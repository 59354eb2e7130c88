"""Read the seal of a release back from its folder, and report its inconsistencies in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from discreet.errors import DiscreetError
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.generalized.load import read_texts
from discreet.releases.partition import GROUP
from discreet.releases.sealed.release import SEAL, TOLD, SealedRelease

S = TypeVar("S", bound=SealedRelease)


def with_seal(release: S, home: Home) -> S:
    """Return a release whose rows have been read, with what its seal says about each group."""
    if release.needs_secret and not release.secrets:
        raise DiscreetError(f"the manifest of a sealed release must list a sensitive attribute; {DAMAGED}")
    path = next(home / name for name in release.manifest["tables"] if name.startswith(f"{SEAL}."))
    columns = read_texts(path, [GROUP, TOLD])
    groups, told = ([texts[code] for code in codes.tolist()] for texts, codes in (columns[GROUP], columns[TOLD]))
    faults = list(release.faults)
    if groups != [str(number) for number in release.ids.tolist()]:
        faults.append(f"{path.name} must list every group that has rows in the table once, in order.")
    try:
        amounts = np.array([float(text) for text in told], np.float64)
    except ValueError:
        raise DiscreetError(
            f"the column {TOLD!r} of {path.name!r} does not hold a number in every row; publish the release again"
        ) from None
    if not bool(((amounts >= 0.0) & np.isfinite(amounts)).all()):
        faults.append(f"{path.name} says of a group what no test can tell: a negative amount, or an infinite one.")
    if faults:
        amounts = np.zeros(release.groups)
    return replace(release, told=amounts, faults=tuple(faults))
