"""The attributes of a release as its manifest describes them: role, kind, and domain."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.releases.folder import DAMAGED
from discreet.table import unnamed as without_names
from discreet.table.bins import bin_labels
from discreet.table.date_numbers import Meaning, Notation, meaning_of, moment, written
from discreet.table.decimals import STEPS, UNITS
from discreet.table.fit import FITTING, Fit, binned
from discreet.table.floors import Cells, cells_in, characters, shortened
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_sources import interval_named, recipe_of, source_rows
from discreet.table.query import Condition, Range, as_text, number_given, texts_of
from discreet.table.table import Column, Derived, Kind
from discreet.table.texts import MISSING, ROOT, is_missing, value_text
from discreet.table.unnamed import OTHERS, UNNAMED, is_unnamed

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
    """The values in ascending order, without a missing one, if the attribute is ordinal; some may have no name."""
    hierarchy: Hierarchy | None = None
    """Always present for a categorical attribute, flat if none was declared. For other kinds only if labels are
    published, or if a promise may concern the levels of the sensitive attribute."""
    notation: Notation = "number"
    """How the numbers of a numeric attribute are written: as numbers or as dates."""
    derived: Derived | None = None
    """The attribute and the value that it stands for, if it says who has which value of a multi-valued one."""
    recipe: Mapping[str, Any] | None = None
    """The recipe of its labels. A numeric attribute then has no hierarchy: its labels are intervals."""
    declared: bool = False
    """Whether the publisher declared the domain of numbers, or the values of another quasi-identifier, which are public
    as they are."""
    unit: float | None = None
    """The unit of the grid on which published intervals end (`discreet.releases.grid`); None if there is no grid."""
    step: float | None = None
    """The decimal place on which numbers published by intervals lie, if they are not whole and there is no grid."""
    floor: str | None = None
    """The smallest detail in which it is published, if the publisher chose one (`discreet.table.floors`). The numbers
    of a numeric attribute are then the places of cells, which its notation writes."""
    fit: Fit | None = None
    """What the publisher did to its numbers before anything else (`discreet.table.fit`)."""
    weight: float = 1.0
    """How much its loss counts among those of the quasi-identifiers (`discreet.table.spared`)."""

    @property
    def spacing(self) -> float | None:
        """The distance of neighbouring numbers; None if the manifest gives none in which they can be counted."""
        if cells_in(self.notation) is not None:
            return 1.0  # places are counted
        return self.unit if self.unit in (1.0, *STEPS) else self.step

    @property
    def fitting(self) -> dict[str, Any]:
        """What was done to its numbers, as options say it."""
        return {} if self.fit is None else self.fit.as_dict()

    @property
    def meaning(self) -> Meaning:
        """The kind as stated in the manifest, which distinguishes dates from numbers."""
        return meaning_of(self.kind, self.notation)

    @property
    def labelled(self) -> bool:
        """Whether it is published by the labels of a hierarchy."""
        return self.hierarchy is not None or self.recipe is not None

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
        if self.floor is not None:
            entry["floor"] = self.floor
        entry |= self.fitting
        if self.kind == "numeric" and self.domain is not None:
            notation, ends, cells = self.notation, self.domain, cells_in(self.notation)
            if cells is not None:
                notation, ends = cells.base, (float(cells.first(ends[0])), float(cells.last(ends[1])))
            entry["domain"] = [_number(end) if notation == "number" else written(end, notation) for end in ends]
        if self.kind == "ordinal":
            entry["values"] = without_names.listed(self.values)
        if self.hierarchy is not None:
            tree = self.hierarchy
            # sort: the order of unordered values must not be able to carry information
            rows = tree.listed() if self.kind == "categorical" else [list(row) for row in tree.rows()]
            entry["hierarchy"] = [row[0] for row in rows] if self.flat else rows
        if self.recipe is not None:
            entry["recipe"] = {name: dict(options) for name, options in self.recipe.items()}
        if self.declared:
            entry["declared"] = True
        if self.unit is not None:
            entry["unit"] = _number(self.unit)
        if self.step is not None:
            entry["step"] = self.step
        if self.weight != 1.0:
            entry["weight"] = _number(self.weight)
        return entry

    def naming(self, texts: Iterable[str]) -> Attribute:
        """Return the attribute as a release describes it that publishes these texts: it names nothing that they do not.

        Values that the publisher declared are public, and those of a sensitive attribute are, with the prior.
        """
        if self.role != "quasi" or self.declared:
            return self
        if self.kind == "ordinal" and self.hierarchy is None:
            return replace(self, values=without_names.naming(self.values, set(texts)))
        if self.kind != "categorical" or self.hierarchy is None:
            return self
        return replace(self, hierarchy=self.hierarchy.naming(set(texts)))

    def naming_also(self, other: Attribute) -> Attribute:
        """Return the attribute as two releases describe it that are published together."""
        if self.kind == "ordinal":
            values = without_names.naming_also(self.values, other.values)
            return self if values is None else replace(self, values=values)
        if self.hierarchy is None or other.hierarchy is None or self.kind != "categorical":
            return self
        return replace(self, hierarchy=self.hierarchy.naming_also(other.hierarchy))

    def revealed(self, column: Column) -> Attribute:
        """Return the attribute as who has the original knows it: with the names of all values."""
        if self.kind == "ordinal" and any(map(is_unnamed, self.values)):
            used = (column.texts[code] for code in np.unique(column.codes).tolist())
            known = [text for text in used if text != MISSING]
            return replace(self, values=without_names.revealed(self.values, known))
        hides = self.hierarchy is not None and self.hierarchy.hides
        told = () if self.hierarchy is None else self.hierarchy.leaves
        if self.role != "quasi" or not (hides or self.recipe is not None):
            return self
        texts = {column.texts[code] for code in np.unique(column.codes).tolist()}
        missing = MISSING in texts or MISSING in told
        texts = (texts | {leaf for leaf in told if not leaf.startswith(UNNAMED)}) - {MISSING}
        if self.recipe is None:
            tree = Hierarchy.flat(self.name, texts)
        else:
            by_number = self.kind == "numeric"
            tree = Hierarchy.of(self.name, dict(self.recipe), sorted(texts, key=float) if by_number else sorted(texts))
        if missing:
            tree = tree.with_missing(first=self.kind == "numeric")
        if self.kind == "categorical":
            tree = Hierarchy.from_rows(self.name, _in_order(tree))
        return replace(self, hierarchy=tree, recipe=None)

    def stand_ins(self, values: Iterable[str]) -> dict[str, str]:
        """Return, per value that the hierarchy does not name, one of the leaves without names that may be it.

        >>> zip = Attribute("zip", "quasi", "categorical", hierarchy=Hierarchy.flat("zip", ["1", "2", "3"]).naming("3"))
        >>> sorted(zip.stand_ins(["1", "3"])), len(set(zip.stand_ins(["1", "2"]).values()))
        (['1'], 2)
        """
        if self.kind == "ordinal":
            return without_names.standing_in(self.values, set(values) - {MISSING, OTHERS})
        tree = self.hierarchy
        if tree is None or not tree.hides:
            return {}
        known = {*tree.leaves, OTHERS}
        unnamed = [value for value in dict.fromkeys(values) if value not in known and not tree.below(value)]
        above = self._labels_above(unnamed)
        found: dict[str, str] = {}
        used: Counter[tuple[str, ...]] = Counter()
        for value, labels in zip(unnamed, above, strict=True):
            leaves = tree.unnamed(labels)
            if leaves:
                found[value] = leaves[used[labels] % len(leaves)]
                used[labels] += 1
        return found

    def standing_in(self, condition: Condition) -> Condition:
        """Return a condition that names a value without a name in place of each that the release does not name."""
        if self.kind == "numeric" or (self.kind == "categorical" and isinstance(condition, Range)):
            return condition
        instead = self.stand_ins(texts_of(condition))
        if isinstance(condition, Range):
            ends = (condition.low, condition.high)
            low, high = (None if end is None else instead.get(as_text(end), end) for end in ends)
            return replace(condition, low=low, high=high)
        tree = self.hierarchy if self.kind == "categorical" else None
        known = self.values if tree is None else tree.leaves
        if condition.values == (OTHERS,) and OTHERS not in known:
            return replace(condition, values=tuple(value for value in known if is_unnamed(value)))
        values = list[str]()
        for text in texts_of(condition):
            below = [] if tree is None else tree.below(text)
            values += below or [instead.get(text, text)]
        return replace(condition, values=tuple(values))

    def _labels_above(self, values: list[str]) -> list[tuple[str, ...]]:
        """Return the labels above values, from the leaf's parent to the root, as the recipe has them."""
        assert self.hierarchy is not None
        root = self.hierarchy.labels[-1]
        if self.recipe is None:
            return [root] * len(values)
        named = (label for level in self.hierarchy.labels[:-1] for label in level if not label.startswith(UNNAMED))
        longest = max(named, key=len, default="") if "prefix" in self.recipe else ""
        above = {MISSING: root}
        for value in values:  # one by one: what one of them is decides nothing about others
            if value != MISSING and ("prefix" not in self.recipe or len(value) <= len(longest)):
                # masks are as long as the longest code; what the recipe does not take is no value of the table
                with suppress(DiscreetError):
                    rows = source_rows(self.name, self.recipe, [value, *([longest] if longest else [])])
                    above |= {row[0]: row[1:] for row in rows if row[0] == value}
        label = next((value for value in values if value.endswith(ROOT) and value in above.get(value, ())[:-1]), None)
        if label is not None:
            raise DiscreetError(
                f"no cell has the label {label!r} of {self.name!r}, so the release does not say how many values lie "
                "below it; ask for the values instead, as in IN ('...', '...')"
            )
        return [above.get(value, ()) for value in values]

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
            floor = entry.get("floor")
            if floor is not None:
                cells = _stated_floor(entry, kind)
                if cells is not None:
                    notation, domain = cells, None if domain is None else cells.between(*map(float, domain))
            tree = entry.get("hierarchy")
            ordered = entry.get("values", ())
            if not all(isinstance(value, str) for value in ordered) and (
                kind != "ordinal" or role != "quasi" or tree is not None or "declared" in entry
            ):
                raise ValueError("values")
            values = without_names.from_listed(ordered)
            recipe, hierarchy = entry.get("recipe"), None
            if recipe is not None and (role != "quasi" or recipe_of(name, recipe) != recipe):
                raise ValueError("recipe")
            if tree is not None:
                flat = all(isinstance(row, str | int) for row in tree)
                listed = [(row, ROOT) for row in tree] if flat else tree
                unnamed = any(isinstance(row[0], int) for row in listed)
                if unnamed and (kind != "categorical" or role != "quasi"):
                    raise ValueError("hierarchy")
                hierarchy = (Hierarchy.from_listed if unnamed else Hierarchy.from_rows)(name, listed)
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
            if entry.get("declared", True) is not True:
                raise ValueError("declared")
            origin, derived = entry.get("derived"), None
            if origin is not None:
                derived = Derived(str(origin["attribute"]), str(origin["value"]))
                if derived.name != name or len(origin) > 2:  # the name could tell something else
                    raise ValueError("derived")
            ends = None if domain is None else (float(domain[0]), float(domain[1]))
            public, spacing, fit = "declared" in entry, _stated_spacing(entry, kind), _stated_fit(entry)
            told = (notation, derived, recipe, public, *spacing, floor, fit, _stated_weight(entry))
            return cls(name, role, kind, ends, values, hierarchy, *told)
        except (DiscreetError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
            raise DiscreetError(
                f"the manifest describes an attribute in a way that cannot be understood: {str(entry)[:200]}; {DAMAGED}"
            ) from None


def _stated_spacing(entry: Mapping[str, Any], kind: Kind) -> tuple[float | None, float | None]:
    """Return the unit of a grid and the step of numbers that an entry of a manifest states: one of them at most."""
    unit, step = entry.get("unit"), entry.get("step")
    quasi = entry["role"] == "quasi"
    units = {"numeric": UNITS, "ordinal": UNITS[:1]}.get(kind, ()) if quasi else ()
    if unit is not None and (unit is True or unit not in units):
        raise ValueError("unit")
    intervals = quasi and kind == "numeric" and "hierarchy" not in entry and "recipe" not in entry
    if step is not None and not (intervals and unit is None and step in STEPS):
        raise ValueError("step")
    return None if unit is None else float(unit), step


def _stated_floor(entry: Mapping[str, Any], kind: Kind) -> Cells | None:
    """Return the cells of the floor that an entry of a manifest states; None if that is a number of characters."""
    floor = entry["floor"]
    if entry["role"] != "quasi" or not isinstance(floor, str) or kind == "ordinal":
        raise ValueError("floor")
    if kind == "categorical":
        characters(entry["name"], floor)
        return None
    cells = Cells.of(floor, "number" if entry["kind"] == "numeric" else entry["kind"])
    if cells is None or "step" in entry or "hierarchy" in entry or "recipe" in entry:
        raise ValueError("floor")
    return cells


def _stated_weight(entry: Mapping[str, Any]) -> float:
    """Return the weight that an entry of a manifest states."""
    if "weight" not in entry:
        return 1.0
    from discreet.table.spared import is_weight  # imported late: few releases state any

    weight = entry["weight"]
    if isinstance(weight, bool) or not is_weight(weight) or entry["role"] != "quasi":
        raise ValueError("weight")
    return float(weight)


def _stated_fit(entry: Mapping[str, Any]) -> Fit | None:
    """Return what an entry of a manifest says was done to its numbers."""
    said = {key: entry[key] for key in FITTING if key in entry}
    fit = Fit.of(entry["name"], said)
    if fit is not None and (entry["role"] == "other" or fit.as_dict() != said):
        raise ValueError("fit")
    if fit is not None and entry["kind"] != ("ordinal" if fit.edges else "numeric"):
        raise ValueError("kind")
    if fit is not None and fit.edges and ("hierarchy" in entry or tuple(entry["values"]) != bin_labels(fit.edges)):
        raise ValueError("bins")
    if fit is not None and fit.round is not None and entry["role"] == "quasi":
        raise ValueError("round")
    return fit


def describe(column: Column, role: Role, labels: bool = False) -> Attribute:
    """The manifest's description of a column ``as_shown``; with ``labels``, also a numeric or ordinal hierarchy.

    Declared domains and values are public. Observed ones are published only as far as the published rows show them: an
    extreme or rare value of a withheld row must not appear in the manifest. The values of the sensitive attribute are
    public with the prior, so they are taken from all rows.
    """
    described = _described(column, role, labels)
    return replace(described, weight=column.weight) if role == "quasi" else described


def _described(column: Column, role: Role, labels: bool) -> Attribute:
    """Return the description without the weight."""
    if role == "other":
        return Attribute(column.name, role, column.kind, notation=column.notation)
    tree = column.hierarchy if labels or column.kind == "categorical" else None
    if column.kind == "numeric" and column.recipe is not None and labels:
        domain = column.domain if column.declared_domain else _whole_intervals(column)
        recipe, declared = column.recipe, column.declared_domain
        labelled = Attribute(column.name, role, "numeric", domain, notation=column.notation, recipe=recipe)
        return replace(labelled, declared=declared, fit=column.fit)
    if column.kind == "numeric":
        return Attribute(
            column.name,
            role,
            "numeric",
            column.domain,
            hierarchy=tree,
            notation=column.notation,
            declared=column.declared_domain,
            floor=column.floor,
            fit=column.fit,
        )
    if column.kind == "ordinal":
        order = [str(value) for code, value in enumerate(column.values) if code != column.missing]
        declared = role == "quasi" and column.declared_values
        ordinal = Attribute(column.name, role, "ordinal", values=tuple(order), hierarchy=tree)
        return replace(ordinal, declared=declared, fit=column.fit)
    assert tree is not None, "every categorical column has a hierarchy"
    tree = Hierarchy.from_rows(column.name, _in_order(tree))
    return Attribute(
        column.name,
        role,
        "categorical",
        hierarchy=tree,
        derived=column.derived,
        recipe=column.recipe if role == "quasi" else None,
        declared=role == "quasi" and (column.declared_values or (column.recipe is None and not tree.bare)),
        floor=column.floor,
    )


def _whole_intervals(column: Column) -> tuple[float, float] | None:
    """Return the ends of the widest intervals of a recipe that numbers of a column lie in: they are nobody's."""
    assert column.hierarchy is not None
    widest = column.hierarchy.labels[-2] if column.hierarchy.height > 1 else ()
    ends = [ends for label in widest if (ends := interval_named(label)) is not None]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else column.domain


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


def texts_given(values: NDArray[Any], floor: str | None = None, fit: Fit | None = None) -> list[str]:
    """Original values of a non-numeric attribute as the texts used in releases: shortened if it has a floor, or bins in
    place of numbers.

    >>> texts_given(np.array(["f", None, "", float("nan")], object))
    ['f', '(missing)', '(missing)', '(missing)']
    """
    texts = [MISSING if is_missing(value) else value_text(value) for value in values.tolist()]
    if fit is not None:
        return [binned(fit, text) for text in texts]
    return texts if floor is None else [text if text == MISSING else shortened(text, int(floor)) for text in texts]


def numbers_given(attribute: Attribute, values: NDArray[Any]) -> NDArray[np.float64]:
    """Original values of a numeric attribute as numbers, NaN where a value is missing; with a floor as places."""
    try:
        if values.dtype.kind not in "biuf":
            listed = list(values) if values.dtype.kind == "M" else values.tolist()
            if attribute.notation != "number":
                name, kind = attribute.name, attribute.meaning
                listed = [value if is_missing(value) else number_given(name, value, kind) for value in listed]
            values = np.array([math.nan if is_missing(value) else value for value in listed], np.float64)
        cells, numbers = cells_in(attribute.notation), values.astype(np.float64)
        numbers = numbers if attribute.fit is None else attribute.fit.numbers(attribute.name, numbers)
        return numbers if cells is None else cells.places(numbers)
    except (TypeError, ValueError):
        raise DiscreetError(f"the points hold something that is no number in {attribute.name!r}") from None


def _number(value: float) -> float | int:
    return int(value) if float(value).is_integer() and abs(value) < 2.0**53 else value
