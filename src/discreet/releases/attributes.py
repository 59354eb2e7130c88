"""The attributes of a release as its manifest describes them: role, kind, and domain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.folder import DAMAGED
from discreet.table.hierarchy import Hierarchy
from discreet.table.moments import Meaning, Notation, moment, written
from discreet.table.query import number_given
from discreet.table.table import Column, Derived, Kind
from discreet.table.texts import MISSING, is_missing, value_text

Role = Literal["quasi", "sensitive", "other"]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One published attribute."""

    name: str
    role: Role
    kind: Kind
    domain: tuple[float, float] | None = None
    """The smallest and largest number, if the attribute is numeric."""
    values: tuple[str, ...] = ()
    """The values in ascending order, without a missing one, if the attribute is ordinal."""
    hierarchy: Hierarchy | None = None
    """Always present for a categorical attribute, flat if none was declared. For other kinds only if labels are
    published, or if a promise may concern the levels of the sensitive attribute."""
    notation: Notation = "number"
    """How the numbers of a numeric attribute are written: as numbers or as dates."""
    derived: Derived | None = None
    """The attribute and the value that it stands for, if it says who has which value of a multi-valued one."""

    @property
    def meaning(self) -> Meaning:
        """The kind as stated in the manifest, which distinguishes dates from numbers."""
        return self.kind if self.notation == "number" else self.notation

    @property
    def flat(self) -> bool:
        """Whether the hierarchy contains nothing but the values."""
        return self.hierarchy is not None and self.hierarchy.bare

    def as_dict(self) -> dict[str, Any]:
        """The attribute as stored in the manifest."""
        entry: dict[str, Any] = {"name": self.name, "role": self.role, "kind": self.meaning}
        if self.role == "other":
            return entry
        if self.derived is not None:
            entry["derived"] = {"attribute": self.derived.attribute, "value": self.derived.value}
        if self.kind == "numeric" and self.domain is not None:
            plain = self.notation == "number"
            entry["domain"] = [_number(end) if plain else written(end, self.notation) for end in self.domain]
        if self.kind == "ordinal":
            entry["values"] = list(self.values)
        if self.hierarchy is not None:
            tree = self.hierarchy
            # sort: the order of unordered values must not be able to carry information
            leaves = sorted(tree.leaves) if self.kind == "categorical" else list(tree.leaves)
            rows = _in_order(tree) if self.kind == "categorical" else tree.rows()
            entry["hierarchy"] = leaves if self.flat else [list(row) for row in rows]
        return entry

    @classmethod
    def from_dict(cls, entry: Any) -> Attribute:
        """The attribute described by an entry of a manifest."""
        try:
            name, role, kind = str(entry["name"]), entry["role"], entry["kind"]
            if role not in get_args(Role) or kind not in get_args(Meaning):
                raise ValueError(role)
            domain = entry.get("domain")
            notation: Notation = "number"
            if kind in ("date", "datetime"):
                kind, notation = "numeric", cast(Notation, kind)
                domain = None if domain is None else [moment(end, notation) for end in domain]
                if "hierarchy" in entry:
                    raise ValueError("hierarchy")
            values = tuple(str(value) for value in entry.get("values", ()))
            tree = entry.get("hierarchy")
            hierarchy = None
            if tree is not None:
                flat = all(isinstance(row, str) for row in tree)
                hierarchy = Hierarchy.flat(name, tree) if flat else Hierarchy.from_rows(name, tree)
            known = () if hierarchy is None else tuple(leaf for leaf in hierarchy.leaves if leaf != MISSING)
            if kind == "numeric" and not all(math.isfinite(float(leaf)) for leaf in known):
                raise ValueError("hierarchy")
            if kind == "categorical" and role != "other" and hierarchy is None:
                raise ValueError("hierarchy")
            in_order = len(set(values)) == len(values) and (hierarchy is None or known == values)
            if kind == "ordinal" and role != "other" and not in_order:
                raise ValueError("values")
            if domain is not None and not all(math.isfinite(bound) for bound in domain):
                raise ValueError("domain")
            origin, derived = entry.get("derived"), None
            if origin is not None:
                derived = Derived(str(origin["attribute"]), str(origin["value"]))
                if derived.name != name or len(origin) > 2:  # the name could tell something else
                    raise ValueError("derived")
            ends = None if domain is None else (float(domain[0]), float(domain[1]))
            return cls(name, role, kind, ends, values, hierarchy, notation, derived)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
            raise DiscreetError(
                f"the manifest describes an attribute in a way that cannot be understood: {str(entry)[:200]}; {DAMAGED}"
            ) from None


def describe(column: Column, role: Role, labels: bool = False) -> Attribute:
    """The manifest's description of a column ``as_shown``; with ``labels``, also a numeric or ordinal hierarchy.

    Declared domains and values are public. Observed ones are published only as far as the published rows show them: an
    extreme or rare value of a withheld row must not appear in the manifest. The values of the sensitive attribute are
    public with the prior, so they are taken from all rows.
    """
    if role == "other":
        return Attribute(column.name, role, column.kind, notation=column.notation)
    tree = column.hierarchy if labels or column.kind == "categorical" else None
    if column.kind == "numeric":
        return Attribute(column.name, role, "numeric", column.domain, hierarchy=tree, notation=column.notation)
    if column.kind == "ordinal":
        order = [str(value) for code, value in enumerate(column.values) if code != column.missing]
        return Attribute(column.name, role, "ordinal", values=tuple(order), hierarchy=tree)
    assert tree is not None, "every categorical column has a hierarchy"
    tree = Hierarchy.from_rows(column.name, _in_order(tree))
    return Attribute(column.name, role, "categorical", hierarchy=tree, derived=column.derived)


def _in_order(tree: Hierarchy) -> list[tuple[str, ...]]:
    """The rows of a tree of unordered values, siblings by their code points: their order can carry nothing."""
    return sorted(tree.rows(), key=lambda row: tuple(reversed(row)))


def as_shown(column: Column, published: NDArray[np.bool_] | None) -> Column:
    """A column without undeclared values, leaves and bounds that occur in withheld rows only.

    The codes of withheld rows are meaningless in the result. Without ``published``, all rows count as published.

    >>> age = Column("age", "numeric", np.array([0, 1, 2], np.int32), np.array([17, 20, 99]))
    >>> as_shown(age, np.array([True, True, False])).domain
    (17.0, 20.0)
    """
    everyone = published is None or bool(published.all())
    used = np.bincount(column.codes if everyone else column.codes[published], minlength=len(column.values)) > 0
    if column.kind == "numeric" and not (column.declared_domain and column.domain is not None):
        column = replace(column, domain=_ends(column, np.flatnonzero(used)))
    if published is None or (column.kind == "numeric" and column.hierarchy is None):
        return column
    if column.declared_values:
        # a missing value counts only if it is observed: nobody declares it
        used |= np.array([text != MISSING for text in column.texts], np.bool_)
    if bool(used.all()):
        return column
    ranks = np.flatnonzero(used)
    place = np.maximum(np.cumsum(used) - 1, 0).astype(np.int32)
    return replace(
        column,
        codes=place[column.codes],
        values=column.values[ranks],
        hierarchy=None if column.hierarchy is None else column.hierarchy.only(ranks.tolist()),
        missing=None if column.missing is None or not used[column.missing] else 0,
    )


def _ends(column: Column, codes: NDArray[np.intp]) -> tuple[float, float]:
    known = column.values[codes[codes != -1 if column.missing is None else codes != column.missing]].astype(np.float64)
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def points_given(quasi: Sequence[Attribute], points: Mapping[str, ArrayLike]) -> list[NDArray[Any]]:
    """The coordinates of points as one array per quasi-identifier, all of equal length.

    >>> [values.tolist() for values in points_given([Attribute("sex", "quasi", "categorical")], {"sex": ["f", None]})]
    [['f', None]]
    """
    coordinates = []
    for attribute in quasi:
        if attribute.name not in points:
            raise DiscreetError(f"the quasi-identifier {attribute.name!r} of the release is not among the points given")
        values = points[attribute.name]
        # as objects, so that numpy does not turn numbers (and NaN) among texts into texts
        coordinates.append(
            np.atleast_1d(np.array(values, object) if isinstance(values, list | tuple) else np.asarray(values))
        )
    if len({len(values) for values in coordinates}) > 1:
        raise DiscreetError("the points need as many values for every quasi-identifier")
    return coordinates


def texts_given(values: NDArray[Any]) -> list[str]:
    """Original values of a non-numeric attribute as the texts used in releases.

    >>> texts_given(np.array(["f", None, "", float("nan")], object))
    ['f', '(missing)', '(missing)', '(missing)']
    """
    return [MISSING if is_missing(value) else value_text(value) for value in values.tolist()]


def numbers_given(attribute: Attribute, values: NDArray[Any]) -> NDArray[np.float64]:
    """Original values of a numeric attribute as numbers, NaN where a value is missing."""
    try:
        if values.dtype.kind not in "biuf":
            listed = list(values) if values.dtype.kind == "M" else values.tolist()
            if attribute.notation != "number":
                name, kind = attribute.name, attribute.meaning
                listed = [value if is_missing(value) else number_given(name, value, kind) for value in listed]
            values = np.array([math.nan if is_missing(value) else value for value in listed], np.float64)
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise DiscreetError(f"the points hold something that is no number in {attribute.name!r}") from None


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < 2.0**53 else value
