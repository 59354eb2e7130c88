"""What the other tables of a release tell about an attribute, to an attacker who knows which values go together.

The tables of a projected release publish different sensitive attributes of the same people. The adversary knows how
often the values of two attributes go together in the whole original (which no table says), and takes what a table says
about the attribute b for a statement about a: Pr[a] = sum over b of Pr[b] x Pr[a | b].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.adversary.attacks.target import Floats, Target, places
from discreet.releases.release import Release
from discreet.table.dependency import mutual_information
from discreet.table.table import Column


class Link(NamedTuple):
    """A table about another attribute."""

    release: Release
    shares: Floats
    """Per value of the other attribute: the share of each value of the attribute under attack beside it."""


def links(target: Target) -> list[Link]:
    """Each of the other tables, by the attribute in it that tells most about the one under attack."""
    if target.context is None:
        return []
    release, original = target.context
    name, found = target.secret.name, []
    for table in release.projections:
        names = [attribute.name for attribute in table.sensitive]
        if name in names:
            continue
        joints = [(one, _joint(target, release.about(one), original.column(one))) for one in names]
        best, joint = max(joints, key=lambda known: mutual_information(known[1].T))
        totals = joint.sum(axis=1, keepdims=True)
        shares = np.divide(joint, totals, out=np.tile(target.prior, (len(joint), 1)), where=totals > 0.0)
        found.append(Link(release.about(best), shares))
    return found


def _joint(target: Target, other: Release, column: Column) -> Floats:
    """How many persons of the original have each value of another release together with each of this one."""
    width, wide = target.width, len(other.values)
    one, two = target.places[target.secret.codes], places(other, column)[column.codes]
    known = (one >= 0) & (two >= 0)
    return np.bincount(two[known] * width + one[known], minlength=wide * width).reshape(wide, width).astype(np.float64)
