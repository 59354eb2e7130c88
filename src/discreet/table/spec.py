"""`TableSpec`: how a table is read, checked once, whether flags, a job file, a manifest or Python say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief, checked
from discreet.table.date_numbers import ends_given, given_text, is_moment, rising
from discreet.table.fit import FITTING, Fit
from discreet.table.floors import floor_given
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from discreet.table.hierarchy_sources import Offered, offered
from discreet.table.kinds import ColumnSpec, Missing
from discreet.table.layout import UNPAIRED, Layout
from discreet.table.paths import located
from discreet.table.table import Kind, as_name, as_names

KINDS: tuple[Kind, ...] = ("numeric", "categorical", "ordinal")
NAMED = ("quasi", "sensitive", "identifiers", "keep", *KINDS)
"""The fields that list columns."""
ROLES = ("a quasi-identifier", "the sensitive attribute", "an identifier", "published unchanged", "the person")
"""What messages call a column with each role, in the order of ``Roles``."""
READING = (
    "na", "dates", "lists", "delimiter", "encoding", "header", "columns", "decimal", "thousands", "sheet", "table",
    "where",
)  # fmt: skip
"""What a release records of how its original was read, in this order."""
BY_COLUMN: dict[str, tuple[str, dict[str, Any]]] = {
    "hierarchies": ("hierarchy", {"birth": "years.csv"}),
    "domains": ("domain", {"age": (16, 93)}),
    "dates": ("format of dates", {"birth": "%d.%m.%Y"}),
    "lists": ("separator of values", {"diagnosis": ";"}),
    "floor": ("smallest detail", {"age": 5}),
    "weight": ("weight of its loss", {"age": 3}),
    "round": ("number to round to", {"income": 1000}),
    "bottom": ("smallest number", {"income": 0}),
    "top": ("largest number", {"age": 90}),
    "bins": ("edges of bins", {"income": [0, 20000, 50000, 200000]}),
    "join": ("second table", {"diagnosis": ("visits.csv", "patient")}),
}
"""The fields that say something of single columns: what it is called, and an example."""


LONGEST_CONDITION = 1_000
"""How many characters a condition on rows may have: releases record it."""


class Roles(NamedTuple):
    """The columns with each role."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    other: tuple[str, ...]
    person: tuple[str, ...]

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that a release may have."""
        return (*self.quasi, *self.sensitive, *self.other)

    def with_derived(self, derived: Mapping[str, Sequence[str]]) -> Roles:
        """Replace each attribute with several values by the attributes that say who has each of them."""
        return self._replace(sensitive=tuple(each for name in self.sensitive for each in derived.get(name) or (name,)))


@dataclass(frozen=True, kw_only=True)
class TableSpec(Layout):
    """How a table is read; the fields are the keywords of `discreet.read`, which explains them.

    >>> spec = TableSpec(quasi="age", domains={"age": "16:93"}, encoding="latin1")
    >>> spec.quasi, spec.domains, spec.encoding
    (('age',), {'age': (16.0, 93.0)}, 'iso8859-1')
    """

    quasi: Sequence[str] = ()
    sensitive: Sequence[str] | None = ()
    identifiers: Sequence[str] = ()
    person: str | None = None
    keep: Sequence[str] = ()
    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    hierarchies: Mapping[str, Any] | str | PathLike[str] | None = None
    hierarchy_folder: str | PathLike[str] | None = None
    """A folder with hierarchies of columns that are not named in ``hierarchies``, which may also be the folder."""
    domains: Mapping[str, Any] = field(default_factory=dict)
    dates: Mapping[str, str | None] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    join: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    floor: Mapping[str, Any] = field(default_factory=dict)
    weight: Mapping[str, Any] = field(default_factory=dict)
    round: Mapping[str, Any] = field(default_factory=dict)
    bottom: Mapping[str, Any] = field(default_factory=dict)
    top: Mapping[str, Any] = field(default_factory=dict)
    bins: Mapping[str, Any] = field(default_factory=dict)
    where: str | None = None
    """The condition on the rows that are read, in the SQL of queries."""
    missing: Missing = "error"

    def __post_init__(self) -> None:
        """Check every field, and that no two contradict each other."""
        super().__post_init__()
        if isinstance(self.hierarchies, (str, PathLike)):
            self._settle("hierarchy_folder", self.hierarchies)
            self._settle("hierarchies", None)
        for key in NAMED:
            given = getattr(self, key)
            self._settle(key, () if key == "sensitive" and given is None else as_names(given, key))
        if self.person is not None:
            as_name(self.person, "person")
        for key in BY_COLUMN:
            self._settle(key, _by_column(key, getattr(self, key)))
        self._settle("domains", {name: _domain(name, ends) for name, ends in self.domains.items()})
        self._settle("floor", {name: floor_given(name, floor) for name, floor in self.floor.items()})
        if self.weight:
            from discreet.table.spared import weight_given  # imported late: few give any

            self._settle("weight", {name: weight_given(name, weight) for name, weight in self.weight.items()})
        self._settle("where", _condition(checked(argument("where"), self.where, str | None), bool(self.join)))
        self._settle("missing", checked(argument("missing"), self.missing, Missing))
        _ = self.roles, self.declared

    def _settle(self, key: str, value: object) -> None:
        object.__setattr__(self, key, value)

    @classmethod
    def of(cls, given: Mapping[str, Any], **otherwise: Any) -> Self:
        """Return the spec that flags or the keys of a job give; what is empty, or no field, says nothing.

        >>> TableSpec.of({"quasi": ("age",), "na": (), "missing": None, "force": True}, missing="value").missing
        'value'
        """
        said = {key.name: given[key.name] for key in fields(cls) if given.get(key.name)}
        return cls(**{**otherwise, **said})

    @property
    def trees(self) -> dict[str, Any]:
        """The hierarchies that are given by column."""
        assert isinstance(self.hierarchies, dict)
        return self.hierarchies

    @cached_property
    def roles(self) -> Roles:
        """The columns with each role; a column has one, except that the person may be an identifier, too."""
        person = () if self.person is None else (self.person,)
        identifiers = tuple(name for name in self.identifiers if name not in person)
        roles = Roles(*map(tuple, (self.quasi, self.sensitive or (), identifiers, self.keep, person)))
        taken: dict[str, str] = {}
        for role, names in zip(ROLES, roles, strict=True):
            for name in names:
                if name in taken:
                    twice = "named twice" if taken[name] == role else f"both {taken[name]} and {role}"
                    raise DiscreetError(f"column {name!r} is {twice}; give every column one role")
                taken[name] = role
        return roles

    @cached_property
    def declared(self) -> dict[str, ColumnSpec]:
        """What is declared about each column."""
        said: dict[str, Kind] = {}
        for kind in KINDS:
            for name in getattr(self, kind):
                if said.setdefault(name, kind) != kind:
                    raise DiscreetError(f"column {name!r} is declared both {said[name]} and {kind}; declare it once")
        for name in self.dates:
            if name in said:
                raise DiscreetError(f"column {name!r} is declared both {said[name]} and a date; declare it once")
            if name in self.trees and not isinstance(self.trees[name], Offered):
                raise DiscreetError(
                    f"column {name!r} is declared to hold dates and has a hierarchy; leave out the hierarchy to "
                    "publish ranges of dates, or the format of the dates to publish labels"
                )
        self._check_bins(said)
        return {
            name: ColumnSpec(
                said.get(name),
                self.trees.get(name),
                self.domains.get(name),
                name in self.dates,
                self.dates.get(name),
                self.floor.get(name),
                self.fits.get(name),
            )
            for name in {**said, **self.trees, **self.domains, **self.dates, **self.floor, **self.fits}
        }

    def _check_bins(self, kinds: Mapping[str, Kind]) -> None:
        """Refuse bins of columns about which something is said that columns in bins do not have."""
        for name in self.bins:
            others = {"a floor": name in self.floor, "a domain": name in self.domains, "a date": name in self.dates}
            others["a hierarchy"] = not isinstance(self.trees.get(name), Offered | None)
            others["another kind than numeric"] = kinds.get(name, "numeric") != "numeric"
            for what in (what for what, has in others.items() if has):
                raise DiscreetError(f"column {name!r} has both bins and {what}; leave one of them out")

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """What is done to the numbers of each column."""
        said: dict[str, dict[str, Any]] = {}
        for key in FITTING:
            for name, entry in getattr(self, key).items():
                said.setdefault(name, {})[key] = entry
        return {name: fit for name, entries in said.items() if (fit := Fit.of(name, entries)) is not None}

    @property
    def files(self) -> dict[str, Path]:
        """The files that are read beside the source, by description."""
        paths = {f"the hierarchy of {name!r}": tree for name, tree in self.trees.items()}
        paths |= {f"the values of {name!r}": second for name, (second, _) in self.join.items()}
        named = {what: Path(path) for what, path in paths.items() if isinstance(path, (str, PathLike))}
        if self.hierarchy_folder is None or not (folder := located(self.hierarchy_folder)).is_dir():
            return named
        return named | {f"the hierarchy file {path.name!r}": path for path in folder.iterdir() if path.is_file()}

    def without_kept(self) -> Self:
        """Return the spec without columns that are published unchanged, and without all declarations about them.

        >>> TableSpec(quasi=["age"], keep=["pay"], numeric=["age", "pay"]).without_kept().numeric
        ('age',)
        """
        left: dict[str, Any] = {kind: [name for name in getattr(self, kind) if name not in self.keep] for kind in KINDS}
        for key in ("hierarchies", "domains", "dates", "floor", "weight", *FITTING):
            left[key] = {name: entry for name, entry in getattr(self, key).items() if name not in self.keep}
        return replace(self, keep=(), **left)

    def named(self, names: Callable[[str], Sequence[str]]) -> Self:
        """Return the spec with every text that may list several columns replaced by the ``names`` in it."""
        listed: dict[str, Any] = {key: [name for text in getattr(self, key) for name in names(text)] for key in NAMED}
        return replace(self, **listed)

    def offered(self) -> Self:
        """Return the spec with the hierarchies that the folder offers beside those that are given."""
        if self.hierarchy_folder is None:
            return self
        found = offered(self.hierarchy_folder, (*self.roles.quasi, *self.roles.sensitive))
        return replace(self, hierarchies={**found, **self.trees}, hierarchy_folder=None)

    def recorded(self) -> dict[str, Any]:
        """Return what a release records, to read the source again alike.

        What was needed of it is not asked: that would depend on the rows.

        >>> TableSpec(na=["NA", "?"], dates={"birth": "%d.%m.%Y", "seen": None}).recorded()
        {'na': ['?', 'NA'], 'dates': {'birth': '%d.%m.%Y'}}
        """

        def writable(text: str | None) -> bool:
            return text is not None and text != "" and not UNPAIRED.search(text)

        def plain(entry: Any) -> Any:
            if isinstance(entry, Mapping):
                return {name: text for name, text in sorted(entry.items()) if writable(text)}
            return [text for text in entry if not UNPAIRED.search(text)] if isinstance(entry, tuple) else entry

        return {key: entry for key in READING if (entry := plain(getattr(self, key)))}


def _condition(given: str | None, joined: bool) -> str | None:
    """Return a condition on rows; refuse one that cannot be recorded, or that leaves out persons of a second table."""
    text = None if given is None else given.strip()
    if text is not None and not 0 < len(text) <= LONGEST_CONDITION:
        raise DiscreetError(
            f"{argument('where')} has {len(text):,} characters; give a condition of 1 to {LONGEST_CONDITION:,}, as in "
            f"{argument('where', 'year = 1984')}"
        )
    if text is not None and joined:
        raise DiscreetError(
            f"{argument('where')} selects rows of one table, and {argument('join')} names a second one; select the "
            "rows of both in the files, and leave it out"
        )
    return text


def _by_column(key: str, given: Any) -> dict[str, Any]:
    """Return what a field says of each column; refuse what does not say of which, or cannot be said of one."""
    what, example = BY_COLUMN[key]
    if given is not None and not isinstance(given, Mapping):
        raise DiscreetError(
            f"{brief(given)} does not say which column has which {what}; say for example {argument(key, example)}"
        )
    entries = {as_name(column, key): value for column, value in (given or {}).items()}
    if key in ("dates", "lists"):
        for column, text in entries.items():
            if text is not None and not isinstance(text, str):
                advice = argument(key, dict.fromkeys([column], *example.values()))
                raise DiscreetError(f"{brief(text)} is not a {what} in column {column!r}; say for example {advice}")
    if key == "hierarchies":
        for column, tree in entries.items():
            if not isinstance(tree, (str, PathLike, Mapping, Hierarchy, Offered, PublishedHierarchy)):
                raise DiscreetError(f"{brief(tree)} is not a {what} of column {column!r}; give a path or a mapping")
    if key == "join":
        for column, second in entries.items():
            pair = isinstance(second, Sequence) and not isinstance(second, str) and len(second) == 2
            if not pair or not isinstance(second[1], str):
                raise DiscreetError(
                    f"{brief(second)} does not name a table for column {column!r} and the identifier in it; say for "
                    f"example {argument(key, dict.fromkeys([column], *example.values()))}"
                )
        return {column: tuple(second) for column, second in entries.items()}
    return entries


def _domain(name: str, given: Any) -> tuple[float | str, float | str]:
    """Return the ends of a declared domain, which may also be written LOW:HIGH."""
    example: tuple[Any, Any] = (16, 93)
    try:
        ends: Iterable[Any] = (ends_given(given) or ()) if isinstance(given, str) else map(given_text, given)
        low, high = (end if isinstance(end, str) and is_moment(end) else float(end) for end in ends)
        if not {low, high} & {-np.inf, np.inf}:
            if rising(low, high):
                return low, high
            if rising(high, low):
                low, high = (int(end) if isinstance(end, float) and end.is_integer() else end for end in (high, low))
                example = low, high
    except (TypeError, ValueError):
        pass
    raise DiscreetError(
        f"the domain {brief(given)} of column {name!r} is not a pair of numbers or dates, the smaller first; say for "
        f"example {argument('domains', {name: example})}"
    )
