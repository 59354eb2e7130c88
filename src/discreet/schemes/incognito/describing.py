"""Full-domain descriptions: every value of a quasi-identifier is published as its node at one and the same level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import as_shown
from discreet.releases.descriptions import Texts
from discreet.releases.generalization import Values, generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes.incognito.levels import Levels
from discreet.table.table import Column, Table


def at_levels(release: GeneralizedRelease, table: Table, each: Sequence[Levels], values: Values) -> GeneralizedRelease:
    """Return a release with every quasi-identifier at the lowest level at which no group has two of its nodes.

    A node is published under the smallest description of all rows that it has in any group.
    """
    groups = release.trace
    assert groups is not None, "a release that was just made has a trace"
    texts = tuple(
        _texts(column, levels, groups, release.groups, values) for column, levels in zip(table.quasi, each, strict=True)
    )
    return replace(release, texts=texts).in_order()


def _texts(column: Column, levels: Levels, groups: NDArray[np.int32], number: int, values: Values) -> Texts:
    published = groups >= 0
    rows = np.flatnonzero(published)
    of_group = np.empty(number, np.int32)
    for nodes in levels.nodes:
        of_row = nodes[column.codes]
        of_group[groups[rows]] = of_row[rows]
        if bool((of_group[groups[rows]] == of_row[rows]).all()):
            break
    used = np.bincount(of_group, minlength=len(column.values)) > 0
    place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    told = generalize(as_shown(column, published), np.where(published, place[of_row], -1), int(used.sum()), values)
    return Texts(told.texts, told.of_cell[place[of_group]])
