"""The attributes of a release as its manifest describes them: role, kind, and domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Kind

Role = Literal["quasi", "sensitive", "other"]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One published attribute."""

    name: str
    role: Role
    kind: Kind
    domain: tuple[float, float] | None = None
    """Smallest and largest number (numeric)."""
    values: tuple[str, ...] = ()
    """The values in their order (ordinal), missing ones not among them."""
    hierarchy: Hierarchy | None = None
    """Categorical: always, flat when none was declared. Otherwise only where labels are published, or where a promise
    may be about the levels of the sensitive attribute."""

    @property
    def flat(self) -> bool:
        """Whether the values have no nodes between them and the root."""
        return self.hierarchy is not None and self.hierarchy.height <= 1

    def as_dict(self) -> dict[str, Any]:
        """The attribute as the manifest holds it."""
        entry: dict[str, Any] = {"name": self.name, "role": self.role, "kind": self.kind}
        if self.domain is not None:
            entry["domain"] = [_number(bound) for bound in self.domain]
        if self.kind == "ordinal" and self.role != "other":
            entry["values"] = list(self.values)
        if self.hierarchy is not None:
            tree = self.hierarchy
            entry["hierarchy"] = list(tree.leaves) if self.flat else [list(row) for row in tree.rows()]
        return entry

    @classmethod
    def from_dict(cls, entry: Any) -> Attribute:
        """The attribute that a manifest describes."""
        try:
            name, role, kind = str(entry["name"]), entry["role"], entry["kind"]
            if role not in get_args(Role) or kind not in get_args(Kind):
                raise ValueError(role)
            domain = entry.get("domain")
            tree = entry.get("hierarchy")
            hierarchy = None
            if tree is not None:
                if all(isinstance(row, str) for row in tree):
                    hierarchy = Hierarchy.flat(name, tree)
                else:
                    hierarchy = Hierarchy.from_rows(name, tree)
            if kind == "categorical" and role != "other" and hierarchy is None:
                raise ValueError("hierarchy")
            return cls(
                name,
                role,
                kind,
                None if domain is None else (float(domain[0]), float(domain[1])),
                tuple(str(value) for value in entry.get("values", ())),
                hierarchy,
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise DiscreetError(
                f"the manifest describes an attribute in a way that cannot be understood: {str(entry)[:200]}"
            ) from None


def describe(column: Column, role: Role, published: NDArray[np.bool_] | None, labels: bool) -> Attribute:
    """What the manifest says about a column; with ``labels``, also the hierarchy of a numeric or ordinal one.

    A domain that was declared is public. One that was only observed is told as far as the ``published`` rows show it:
    the extreme or rare value of a withheld row must not appear in the manifest. The sensitive attribute's values are
    public with the prior (``published`` is None then).
    """
    if role == "other":
        return Attribute(column.name, role, column.kind)
    codes = _seen(column, published)
    tree = column.hierarchy if labels or column.kind == "categorical" else None
    if column.kind == "numeric":
        return Attribute(column.name, role, "numeric", domain=_domain(column, codes), hierarchy=tree)
    if column.kind == "ordinal":
        order = [str(value) for code, value in enumerate(column.values) if code != column.missing]
        return Attribute(column.name, role, "ordinal", values=tuple(order), hierarchy=tree)
    assert tree is not None, "every categorical column has a hierarchy"
    if tree.height <= 1:
        observed = _seen(column, None)
        declared = published is None or len(observed) < len(column.values)
        values = sorted(str(column.values[code]) for code in (range(len(column.values)) if declared else codes))
        tree = Hierarchy.flat(column.name, values)
    return Attribute(column.name, role, "categorical", hierarchy=tree)


def _seen(column: Column, rows: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    codes = column.codes if rows is None or bool(rows.all()) else column.codes[rows]
    return np.flatnonzero(np.bincount(codes, minlength=len(column.values)))


def _domain(column: Column, codes: NDArray[np.intp]) -> tuple[float, float]:
    observed = _ends(column, _seen(column, None))
    if column.domain is not None and (float(column.domain[0]), float(column.domain[1])) != observed:
        return float(column.domain[0]), float(column.domain[1])
    return _ends(column, codes)


def _ends(column: Column, codes: NDArray[np.intp]) -> tuple[float, float]:
    known = column.values[codes[codes != -1 if column.missing is None else codes != column.missing]].astype(np.float64)
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < 2.0**53 else value
