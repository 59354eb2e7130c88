"""How far counts from groups may be off: what the groups themselves tell about the association in them.

An estimate takes quasi-identifiers and sensitive values to be independent inside a group. In a group
of n rows, K of which have a value that is asked for, and a share ``a`` of which satisfies the
conditions on quasi-identifiers, the rows that do both are then as if drawn without replacement: their
variance is n a(1-a) k(1-k) n/(n-1) with k = K/n. What this leaves out is the association inside groups.
Its strength is estimated from the groups themselves, for the very values that are asked for: by how
much more than by chance their shares ``k`` go with the shares of random conditions. It is measured for
every quasi-identifier by itself (for the part of a group that one condition cuts off) and for all
together.

Where groups are published under boxes, their rows may also lie in them otherwise than assumed. With
counts of whole columns, this is measured for counts on quasi-identifiers alone, which tell nothing
about sensitive values (`discreet.releases.misfit`).

Nothing can be learnt about the association where groups are made alike in their sensitive values, as
by ``burel``, or where values are moved among groups, as by ``lifting``; so there are standard errors
for schemes only that divide rows by quasi-identifiers. `FACTOR` makes the errors of a normal
distribution of these variances; it was chosen on releases of several data sets, and tests measure on
others how often 1.96 standard errors suffice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.releases.attributes import Attribute

Numbers = NDArray[np.float64]

DIVIDING = ("cuts", "mondrian", "incognito", "sealed", "mirrored")
"""The schemes that divide rows by quasi-identifiers."""
FEWEST = 10
"""The fewest groups from which the association can be estimated."""
CONDITIONS, STRONGEST, FACTOR = 40, 0.4, 2.8 / 1.96
"""Random conditions per quasi-identifier, the largest association assumed, and what errors are multiplied by."""
BATCH = 1 << 24
"""How many numbers about queries and groups are kept in memory at a time."""


class Asked(NamedTuple):
    """What a query asks of each group."""

    alone: Mapping[int, Numbers]
    """The share of its rows that satisfies the conditions on one quasi-identifier, by its place."""
    inside: Numbers
    """The share that satisfies all of them."""
    having: Numbers | None
    """How many of its rows have the sensitive values asked for; None if any will do."""


class Association:
    """How strongly sensitive values go with quasi-identifiers in groups of these sizes."""

    def __init__(self, sizes: Numbers, whose: Sequence[int], rows: Sequence[Numbers]) -> None:
        """``rows`` are those of each group that satisfy random conditions, ``whose`` each on one quasi-identifier."""
        self.sizes, self.whose = sizes, np.array(whose, np.int64)
        held = np.array(rows, np.float64).reshape(len(rows), len(sizes))
        self.away = held - sizes * (held.sum(axis=1) / sizes.sum())[:, None]
        self.spread = (self.away**2 / sizes).sum(axis=1)

    def errors(self, asked: Sequence[Asked], quasi: int, more: Numbers | None = None) -> Numbers:
        """Return the standard errors of estimates; ``more`` are variances that come from elsewhere."""
        result = np.zeros(len(asked)) if more is None else more.copy()
        step = max(1, BATCH // len(self.sizes))
        for start in range(0, len(asked), step):
            part = asked[start : start + step]
            having = np.array([self.sizes if each.having is None else each.having for each in part])
            for at, (each, strengths) in enumerate(zip(part, self._strengths(having, quasi), strict=True), start):
                result[at] += max(0.0, self._variance(each, strengths))
        return np.asarray(FACTOR * np.sqrt(result))

    def _strengths(self, having: Numbers, quasi: int) -> Numbers:
        """Return, per query, the association with each quasi-identifier, and with all of them at last."""
        share = having.sum(axis=1) / self.sizes.sum()
        alike = np.outer(self.spread, share * (1 - share))
        beyond = (self.away @ (having / self.sizes - share[:, None]).T) ** 2 - alike
        scale = self.spread[:, None] * alike
        which = np.array([*(self.whose == at for at in range(quasi)), self.whose >= 0], np.float64)
        found, scales = which @ beyond, which @ scale
        strengths = np.divide(found, scales, out=np.zeros_like(found), where=scales > 0.0)
        return np.asarray(np.clip(strengths, 0.0, STRONGEST**2).T)

    def _variance(self, asked: Asked, strengths: Numbers) -> float:
        if asked.having is None or bool((asked.inside == 1.0).all()):
            return 0.0
        n, a, k = self.sizes, asked.inside, asked.having / self.sizes
        p = float(asked.having.sum()) / float(n.sum())
        drawn = float((n * a * (1 - a) * k * (1 - k) * n / np.maximum(n - 1, 1)).sum())
        left = strengths[-1] * float((n * a * (1 - a)).sum()) ** 2
        for at, alone in asked.alone.items():
            left += strengths[at] * float((n * a * (1 - alone)).sum()) ** 2
        return drawn + p * (1 - p) / 2 * float(left)


def random_runs(attribute: Attribute, number: int) -> Iterator[NDArray[np.bool_]]:
    """Yield random conditions on an attribute that has so many values: which satisfy each, 10 to 75 % of them.

    They are always the same: chance decides about widths of intervals only, and nothing is secret about it.
    """
    chance = np.random.default_rng(0)
    for _ in range(CONDITIONS if number > 1 else 0):
        length = min(max(1, round(number * chance.uniform(0.1, 0.75))), number - 1)
        start = int(chance.integers(0, number - length + 1))
        held = (np.arange(number) >= start) & (np.arange(number) < start + length)
        yield chance.permutation(held) if attribute.kind == "categorical" else held


def tells(manifest: Mapping[str, Any], groups: int) -> bool:
    """Whether the groups of a release tell how strong the association in them may be."""
    scheme = manifest.get("scheme")
    dividing = isinstance(scheme, dict) and scheme.get("name") in DIVIDING
    return dividing and groups >= FEWEST
