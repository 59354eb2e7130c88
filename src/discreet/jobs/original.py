"""Reads the original of a release as its manifest says that it was read, unless the caller says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.jobs.job import KINDS
from discreet.jobs.reading import header_of, layout_of, split_names
from discreet.releases.attributes import Attribute
from discreet.releases.folder import DAMAGED, read_manifest
from discreet.releases.reading import stated_reading
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from discreet.table.layout import READING
from discreet.table.read import read
from discreet.table.table import Table
from discreet.table.unnamed import is_unnamed


def read_original(original: str, settings: dict[str, Any]) -> Table:
    """Read the original; a column that it lacks may be in a second table, if people have several values of it."""
    try:
        return read(original, **settings)
    except DiscreetError as fault:
        lacking = [name for name in settings["lists"] if f"no column {name!r}" in str(fault)]
        if not lacking:
            raise
        say = argument("join", {lacking[0]: ("visits.csv", "patient")})
        raise DiscreetError(f"{fault}; if its values are in a second table, say for example {say}") from None


def with_roles(settings: dict[str, Any], original: str, quasi: Sequence[str], sensitive: str | None) -> list[str]:
    """Put roles that are given into the reading arguments ``settings``; return the columns without such a role."""
    texts = [*quasi, *([] if sensitive is None else [sensitive])]
    header = header_of(original, layout_of(settings), texts)
    known, sensitive_attribute = split_names(quasi, header), split_names(texts[len(quasi) :], header)
    said, shown = {*known, *sensitive_attribute}, settings["sensitive"] or []
    if not said:
        return [*settings["quasi"], *shown, *settings["keep"]]
    unsaid = [[name for name in names if name not in said] for names in (settings["quasi"], shown)]
    # Sensitive columns stay in the order of the release, which is that of its promises. Kept columns need not be given.
    sensitive_attribute.sort(key=lambda name: shown.index(name) if name in shown else len(shown))
    settings["quasi"] = [*known, *unsaid[0]]
    settings["sensitive"] = [*sensitive_attribute, *unsaid[1]] or None
    settings["keep"] = [name for name in settings["keep"] if name not in said]
    return [*unsaid[0], *unsaid[1]]


def read_population(path: str, settings: dict[str, Any], given: Mapping[str, Any]) -> Table:
    """Read a population with the kinds of the original, but without hierarchies, which may lack some of its values.

    It is another file: what the release says of the original's delimiter and encoding is not true of it, but what is
    given is.
    """
    kinds: dict[str, Any] = {kind: [name for name in settings[kind] if name in settings["quasi"]] for kind in KINDS}
    try:
        return read(
            path,
            quasi=settings["quasi"],
            **kinds,
            missing="value",
            dates={name: form for name, form in settings["dates"].items() if name in settings["quasi"]},
            na=settings.get("na", ()),
            delimiter=given.get("delimiter"),
            encoding=given.get("encoding"),
        )
    except DiscreetError as error:
        raise DiscreetError(f"the population cannot be used: {error}") from None


def reading_with(folder: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the manifest, overridden by what is given."""
    settings = reading_of(folder)
    join = given.get("join", {})
    lists = {**settings["lists"], **given.get("lists", {})}
    if given.get("header") == "yes":  # it names its columns itself, whatever the release says
        settings["columns"] = []
    return {
        **settings,
        **{key: value for key, value in given.items() if value},
        "dates": {**settings["dates"], **given.get("dates", {})},
        "lists": {name: separator for name, separator in lists.items() if name not in join},
        "join": join,
    }


def reading_of_all(folder: str, others: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the release, and further quasi-identifiers of others."""
    settings = reading_with(folder, given)
    for other in others:
        more = reading_with(other, given)
        settings |= _one_layout(settings, more, f"'{folder}' and '{other}'")
        new = [name for name in more["quasi"] if name not in settings["quasi"]]
        settings["quasi"] = [*settings["quasi"], *new]
        settings["keep"] = [name for name in settings["keep"] if name not in new]
        for kind in ("numeric", "categorical", "ordinal"):
            settings[kind] = [*settings[kind], *(name for name in more[kind] if name in new)]
        for key in ("dates", "hierarchies"):
            settings[key] = {**{name: entry for name, entry in more[key].items() if name in new}, **settings[key]}
    return settings


def _one_layout(settings: Mapping[str, Any], more: Mapping[str, Any], both: str) -> dict[str, Any]:
    """Return how two releases say to read the original; refuse to read it in a way that one of them denies.

    What only one of them says of the file is detected for the other, which agrees with anything. But a mark of missing
    values is a value for the other, and a first line that is a row is a header.
    """
    said = [dict(each) for each in (settings, more)]
    for each, other in zip(said, (more, settings), strict=True):
        for key in ("dates", "lists"):
            each[key] = {name: text for name, text in each[key].items() if text and other[key].get(name)}
        for key in ("delimiter", "encoding"):
            each[key] = each[key] if other[key] else None
        each["header"] = each["header"] if each["header"] == "none" else None
    for key in READING:
        one, two = (each[key] or None for each in said)
        if one != two:
            stated = [repr(entry) if entry else "nothing" for entry in (one, two)]
            raise DiscreetError(
                f"{both} say to read the original differently: {key} is {stated[0]} in one and {stated[1]} in the "
                f"other; say {argument(key)} for both, or attack them one at a time"
            )
    return {key: settings[key] or more[key] for key in ("delimiter", "encoding", "header")}


def reading_of(folder: str) -> dict[str, Any]:
    """Return the arguments for reading the original that the manifest of a release contains.

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

    trees: dict[str, Any] = {attribute.name: tree for attribute in attributes if (tree := _tree(attribute)) is not None}
    return {
        "quasi": names("role", "quasi"),
        "sensitive": list(sensitive) or None,
        "keep": names("role", "other"),
        "numeric": names("meaning", "numeric"),
        "dates": dict.fromkeys(names("meaning", "date", "datetime")) | said.get("dates", {}),
        "lists": listed | said.get("lists", {}),
        "na": said.get("na", []),
        "columns": said.get("columns", []),
        **{key: said.get(key) for key in ("delimiter", "encoding", "header")},
        "categorical": names("kind", "categorical"),
        "ordinal": names("kind", "ordinal"),
        "hierarchies": trees,
        # This suits every policy of publish: withheld rows are not in the release, whether or not a number is
        # missing, and in published rows missing is a value.
        "missing": "value",
    }


def _tree(attribute: Attribute) -> PublishedHierarchy | Mapping[str, Any] | None:
    """Return the hierarchy for reading a column, which may lack values of withheld rows; None if none is needed."""
    if attribute.recipe is not None:
        return attribute.recipe
    if attribute.hierarchy is not None and not (attribute.flat and attribute.kind == "categorical"):
        return PublishedHierarchy(attribute.hierarchy)
    if attribute.kind == "ordinal" and any(map(is_unnamed, attribute.values)):
        return None  # nobody declared the order: it follows from the values
    if attribute.kind == "ordinal" and attribute.role != "other" and attribute.values:
        # The manifest lists the values in their order, which may differ from the order of their texts.
        return PublishedHierarchy(Hierarchy.flat(attribute.name, attribute.values))
    return None
