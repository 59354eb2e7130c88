"""How much attributes tell about each other: entropies, mutual information, and what a known value exposes.

"CODIP" measures a projection plan by two ratios. Both are sums over pairs of attributes of one table, so everything
they need is computed here once: the entropy of each attribute and the mutual information of each pair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.combinations import ranks
from discreet.table.table import Column
from discreet.table.texts import near

Plan = tuple[tuple[int, ...], ...]
"""Which attributes share a table: each attribute, by its number, is in exactly one part."""


@dataclass(frozen=True, eq=False)
class Dependency:
    """The entropies (in bits) of some attributes and the mutual information of their pairs.

    >>> smoker, cough = (Column(name, "ordinal", np.array([0, 1, 0, 1], np.int32), np.array(["n", "y"], object))
    ...                  for name in ("smoker", "cough"))
    >>> bits = dependency([smoker, cough])
    >>> bits.entropy.tolist(), bits.shared.tolist()
    ([1.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    >>> bits.association_loss(((0,), (1,))), bits.exposure(((0, 1),))
    (1.0, 0.0)
    """

    names: tuple[str, ...]
    entropy: NDArray[np.float64]
    shared: NDArray[np.float64]
    """Per pair of attributes: their mutual information; 0 on the diagonal, so that sums over pairs are sums of rows."""
    sensitive_share: NDArray[np.float64]
    """Per attribute: the share of rows whose value is sensitive."""

    @cached_property
    def exposable(self) -> NDArray[np.float64]:
        """Per pair: how much someone who knows one of the two values may learn about the other, E(Ai, Aj).

        The paper sums four cases over all pairs of values, weighted by their probability. A value contributes what its
        attribute keeps to itself, whenever it is sensitive and whatever the other value, so only the shares of
        sensitive values matter: E = Pr(Ai sensitive) H(Ai|Aj) + Pr(Aj sensitive) H(Aj|Ai).
        """
        exposed = np.maximum(0.0, self.entropy[:, None] - self.shared) * self.sensitive_share[:, None]
        np.fill_diagonal(exposed, 0.0)
        return np.asarray(exposed + exposed.T, np.float64)

    def association_loss(self, plan: Plan) -> float:
        """The Association Loss Ratio: the share of all mutual information that is between different tables."""
        whole = float(self.shared.sum())
        kept = sum(float(self.shared[np.ix_(part, part)].sum()) for part in plan)
        return max(0.0, 1.0 - kept / whole) if whole > 0.0 else 0.0

    def exposure(self, plan: Plan) -> float:
        """The Information Exposure Ratio: what may be learnt within tables, weighted by their shares of attributes."""
        whole = float(self.exposable.sum())
        if whole <= 0.0:
            return 0.0
        inside = sum(float(self.exposable[np.ix_(part, part)].sum()) * len(part) for part in plan)
        return inside / whole / len(self.names)


def dependency(columns: Sequence[Column], harmless: Mapping[str, Collection[str]] | None = None) -> Dependency:
    """Measure columns of the same rows; ``harmless`` names, per column, the values that are not sensitive."""
    names = tuple(column.name for column in columns)
    shares = sensitive_shares(columns, harmless or {})
    entropy = np.array([_entropy(np.bincount(column.codes)) for column in columns])
    shared = np.zeros((len(columns), len(columns)))
    for i, column in enumerate(columns):
        for j, other in enumerate(columns[:i]):
            pairs = column.codes.astype(np.int64) * len(other.values) + other.codes
            joint = _entropy(np.bincount(ranks(pairs)))
            shared[i, j] = shared[j, i] = max(0.0, entropy[i] + entropy[j] - joint)
    return Dependency(names, entropy, shared, shares)


def sensitive_shares(columns: Sequence[Column], harmless: Mapping[str, Collection[str]]) -> NDArray[np.float64]:
    """Measure the share of rows whose values are not harmless, per column; raise an error for values that none has."""
    names = [column.name for column in columns]
    shares = np.ones(len(columns))
    for name, values in harmless.items():
        if name not in names:
            raise DiscreetError(f"harmless values are given for {name!r}, which is not sensitive; {near(name, names)}")
        column = columns[names.index(name)]
        for value in values:
            if value not in column.texts:
                advice = near(value, column.texts)
                raise DiscreetError(f"column {name!r} has no value {value!r} that could be harmless; {advice}")
        safe = np.isin(np.array(column.texts, object), list(values))
        shares[names.index(name)] = 1.0 - float(safe[column.codes].mean()) if len(column.codes) else 1.0
    return shares


def harmless_values(text: str) -> dict[str, list[str]]:
    """Read which values are not sensitive, by attribute, from a text such as ``disease=none; job=not known``.

    >>> harmless_values("disease=none; disease=not known; job=none")
    {'disease': ['none', 'not known'], 'job': ['none']}
    """
    harmless: dict[str, list[str]] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise DiscreetError(f"harmless={part!r} names no value of an attribute; write for example disease=none")
        harmless.setdefault(name.strip(), []).append(value.strip())
    return harmless


def mutual_information(joint: NDArray[Any]) -> float:
    """How much two attributes tell about each other, in bits, given how often each pair of values occurs.

    >>> mutual_information(np.array([[2, 0], [0, 2]])), mutual_information(np.array([[1, 1], [1, 1]]))
    (1.0, 0.0)
    """
    return max(0.0, _entropy(joint.sum(axis=1)) + _entropy(joint.sum(axis=0)) - _entropy(joint.ravel()))


def plan_of(labels: Iterable[int]) -> Plan:
    """The plan in which attributes with equal labels share a table, in the order of their first attributes.

    >>> plan_of([5, 2, 5])
    ((0, 2), (1,))
    """
    parts: dict[int, list[int]] = {}
    for attribute, label in enumerate(labels):
        parts.setdefault(int(label), []).append(attribute)
    return tuple(tuple(part) for part in parts.values())


def _entropy(counts: NDArray[Any]) -> float:
    positive = counts[counts > 0]
    total = positive.sum()
    return float(np.log2(total) - (positive * np.log2(positive)).sum() / total) if total else 0.0
