"""Reads the original of a release as its manifest says that it was read, unless the caller says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.arguments import argument
from discreet.errors import DiscreetError, UnknownColumnError
from discreet.jobs.reading import Named, split
from discreet.options import hints_of
from discreet.releases.attributes import Attribute
from discreet.releases.folder import DAMAGED, read_manifest
from discreet.releases.reading import stated_reading
from discreet.table.fit import FITTING
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from discreet.table.layout import Layout
from discreet.table.read import table_of
from discreet.table.sources import Source
from discreet.table.spec import KINDS, READING, TableSpec
from discreet.table.table import Table
from discreet.table.unnamed import is_unnamed

LAYOUT = tuple(hints_of(Layout))


def read_original(original: Source, spec: TableSpec) -> Table:
    """Read the original; a column that it lacks may be in a second table, if people have several values of it."""
    try:
        return table_of(original, spec)
    except UnknownColumnError as fault:
        if fault.field not in spec.lists:
            raise
        say = argument("join", {fault.field: ("visits.csv", "patient")})
        raise DiscreetError(f"{fault}; if its values are in a second table, say for example {say}") from None


def read_population(path: str, spec: TableSpec, given: Mapping[str, Any]) -> Table:
    """Read a population with the kinds of the original, but without hierarchies, which may lack some of its values.

    It is another file: what the release says of the original's delimiter and encoding is not true of it, but what is
    given is.
    """
    said: dict[str, Any] = {kind: [name for name in getattr(spec, kind) if name in spec.quasi] for kind in KINDS}
    said["dates"] = {name: form for name, form in spec.dates.items() if name in spec.quasi}
    for key in ("floor", *FITTING):
        said[key] = {name: entry for name, entry in getattr(spec, key).items() if name in spec.quasi}
    said |= {key: given.get(key) for key in ("delimiter", "encoding")}
    try:
        return table_of(path, TableSpec(quasi=spec.quasi, na=spec.na, missing="value", **said))
    except DiscreetError as error:
        raise DiscreetError(f"the population cannot be used: {error}") from None


def spec_with(folder: str, original: Named, given: Mapping[str, Any]) -> tuple[TableSpec, list[str]]:
    """Return how the original is read, as the manifest says and overridden by what is given, and whose role it states.

    ``given`` has keys of a job. Kept columns need not be given where the other roles are.
    """
    stated = spec_of(folder)
    said = {key: given.get(key) or getattr(stated, key) for key in (*LAYOUT, "where")}
    if given.get("header") == "yes":  # it names its columns itself, whatever the release says
        said["columns"] = ()
    own = TableSpec.of({**given, **said}, missing=stated.missing)
    own = split(own, original)
    roles = {*own.quasi, *(own.sensitive or ()), *own.identifiers, *own.keep}
    left = {key: [name for name in getattr(stated, key) if name not in roles] for key in ("quasi", "sensitive", "keep")}
    unsaid = [*left["quasi"], *left["sensitive"], *([] if own.quasi or own.sensitive else left["keep"])]
    # Sensitive columns stay in the order of the release, which is that of its promises.
    shown = list(stated.sensitive or ())
    protected = sorted(own.sensitive or (), key=lambda name: shown.index(name) if name in shown else len(shown))
    own = replace(
        own,
        quasi=[*own.quasi, *left["quasi"]],
        sensitive=[*protected, *left["sensitive"]],
        keep=[*own.keep, *left["keep"]],
        lists={name: mark for name, mark in {**stated.lists, **own.lists}.items() if name not in own.join},
    )
    return _with_declared(own.offered(), stated), unsaid


def _with_declared(own: TableSpec, stated: TableSpec) -> TableSpec:
    """Return a spec with the kinds, dates and hierarchies that a release states, where nothing else is said."""
    said = {name: kind for kind in (*KINDS, "dates") for name in getattr(own, kind)}
    kinds: dict[str, Any] = {kind: list(getattr(own, kind)) for kind in KINDS}
    dates, trees = dict(own.dates), dict(own.trees)
    coarse: dict[str, Any] = {
        key: {name: entry for name, entry in getattr(stated, key).items() if name in owned} | dict(getattr(own, key))
        for key, owned in {
            "floor": own.quasi,
            "weight": own.quasi,
            **dict.fromkeys(FITTING, (*own.quasi, *(own.sensitive or ()))),
        }.items()
    }
    for kind in (*KINDS, "dates"):
        for name in getattr(stated, kind):
            if name in own.identifiers or said.get(name, kind) != kind:
                continue
            if name in stated.trees:
                trees.setdefault(name, stated.trees[name])
            if kind == "dates":
                dates.setdefault(name, stated.dates[name])
            elif name not in said:
                kinds[kind].append(name)
    return replace(own, **kinds, dates=dates, hierarchies=trees, **coarse)


def spec_of_all(folder: str, original: Source, others: Sequence[str], given: Mapping[str, Any]) -> TableSpec:
    """Return how the original is read: as the release says, with further quasi-identifiers of others."""
    spec, _ = spec_with(folder, original, given)
    for other in others:
        more, _ = spec_with(other, original, given)
        layout = _one_layout(spec, more, f"'{folder}' and '{other}'")
        new = [name for name in more.quasi if name not in spec.quasi]
        merged: dict[str, Any] = {"keep": [name for name in spec.keep if name not in new]}
        for kind in KINDS:
            merged[kind] = [*getattr(spec, kind), *(name for name in getattr(more, kind) if name in new)]
        for key in ("dates", "hierarchies", "floor", "weight", *FITTING):
            further = {name: entry for name, entry in getattr(more, key).items() if name in new}
            merged[key] = {**further, **getattr(spec, key)}
        spec = replace(spec, quasi=[*spec.quasi, *new], **merged, **layout)
    return spec


def _one_layout(spec: TableSpec, more: TableSpec, both: str) -> dict[str, Any]:
    """Return how two releases say to read the original; refuse to read it in a way that one of them denies.

    What only one of them says of the file is detected for the other, which agrees with anything. But a mark of missing
    values is a value for the other, and a first line that is a row is a header.
    """
    said = [{key: getattr(each, key) for key in READING} for each in (spec, more)]
    for each, other in zip(said, (more, spec), strict=True):
        for key in ("dates", "lists"):
            each[key] = {name: text for name, text in each[key].items() if text and getattr(other, key).get(name)}
        for key in ("delimiter", "encoding"):
            each[key] = each[key] if getattr(other, key) else None
        each["header"] = each["header"] if each["header"] == "none" else None
    for key in READING:
        one, two = (list(each[key]) if isinstance(each[key], tuple) else each[key] for each in said)
        if (one or None) != (two or None):
            stated = [repr(entry) if entry else "nothing" for entry in (one, two)]
            raise DiscreetError(
                f"{both} say to read the original differently: {key} is {stated[0]} in one and {stated[1]} in the "
                f"other; say {argument(key)} for both, or attack them one at a time"
            )
    return {key: getattr(spec, key) or getattr(more, key) for key in ("delimiter", "encoding", "header")}


def spec_of(folder: str) -> TableSpec:
    """Return how the original of a release was read, as its manifest says.

    Domains are left out: an observed domain is published without the withheld rows, whose values may lie outside it.
    """
    home, manifest, _ = read_manifest(folder)
    entries = manifest.get("attributes")
    if not isinstance(entries, list):
        raise DiscreetError(f"the manifest in '{home}' lists no attributes; {DAMAGED}")
    attributes = [Attribute.from_dict(entry) for entry in entries]

    said, _ = stated_reading(manifest, attributes)
    # a column whose cells are lists needs no separator
    listed = dict.fromkeys((each.derived.attribute for each in attributes if each.derived is not None), "")
    sensitive_attribute = [attribute for attribute in attributes if attribute.role == "sensitive"]
    sensitive = dict.fromkeys(
        attribute.name if attribute.derived is None else attribute.derived.attribute
        for attribute in sensitive_attribute
    )
    attributes = [attribute for attribute in attributes if attribute.derived is None]

    def names(key: str, *wanted: str) -> list[str]:
        return [attribute.name for attribute in attributes if getattr(attribute, key) in wanted]

    binned = [attribute.name for attribute in attributes if attribute.fitting.get("bins")]
    dates = dict.fromkeys(names("meaning", "date", "datetime"))
    return TableSpec(
        **{
            **said,
            "quasi": names("role", "quasi"),
            "sensitive": list(sensitive),
            "keep": names("role", "other"),
            "numeric": [*names("meaning", "numeric"), *binned],
            "categorical": names("kind", "categorical"),
            "ordinal": [name for name in names("kind", "ordinal") if name not in binned],
            "dates": dates | said.get("dates", {}),
            "floor": {each.name: each.floor for each in attributes if each.floor is not None},
            "weight": {each.name: each.weight for each in attributes if each.weight != 1.0},
            **{key: {each.name: each.fitting[key] for each in attributes if key in each.fitting} for key in FITTING},
            "lists": listed | said.get("lists", {}),
            "hierarchies": {each.name: tree for each in attributes if (tree := _tree(each)) is not None},
            # This suits every policy of publish: withheld rows are not in the release, whether or not a number is
            # missing, and in published rows missing is a value.
            "missing": "value",
        }
    )


def _tree(attribute: Attribute) -> PublishedHierarchy | Mapping[str, Any] | None:
    """Return the hierarchy for reading a column, which may lack values of withheld rows; None if none is needed."""
    if attribute.recipe is not None:
        return attribute.recipe
    if attribute.fitting.get("bins"):
        return None  # its values follow from the edges
    if attribute.hierarchy is not None and not (attribute.flat and attribute.kind == "categorical"):
        return PublishedHierarchy(attribute.hierarchy)
    if attribute.kind == "ordinal" and any(map(is_unnamed, attribute.values)):
        return None  # nobody declared the order: it follows from the values
    if attribute.kind == "ordinal" and attribute.role != "other" and attribute.values:
        # The manifest lists the values in their order, which may differ from the order of their texts.
        return PublishedHierarchy(Hierarchy.flat(attribute.name, attribute.values))
    return None
