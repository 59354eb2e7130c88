"""`discreet audit`: checks the promises of a release from its files and the original."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.adversary.audit import audit as judge
from discreet.command.console import Exit, output, print_json, quiet, show_remark, watching
from discreet.command.flags import by_column, parse_domains, parse_trees
from discreet.command.render import rows_in_groups, show_audit
from discreet.errors import DiscreetError
from discreet.jobs.job import KINDS
from discreet.jobs.outputs import tell
from discreet.jobs.reading import header_of, layout_of, offers_in, on_offers, split_names
from discreet.principles import parse
from discreet.progress import Remarks
from discreet.releases.attributes import Attribute
from discreet.releases.folder import DAMAGED, read_manifest
from discreet.releases.reading import stated_reading
from discreet.table.hierarchy import Hierarchy, PublishedHierarchy
from discreet.table.read import read
from discreet.table.table import Table
from discreet.table.unnamed import is_unnamed


def audit(
    folder: str,
    original: str,
    trace: str | None,
    population: str | None,
    promises: tuple[str, ...],
    quasi: tuple[str, ...],
    sensitive: str | None,
    hierarchies: tuple[str, ...],
    domains: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> int:
    """Audit a release, and show the verdict."""
    asked = [parse(text) for text in promises]
    files, offering = parse_trees(hierarchies)
    ranges = parse_domains(domains)
    for place in (folder, *(() if trace is None else (trace,))):
        tell(place, Remarks(show_remark))
    with watching() as progress:
        progress("reading", 0.0)
        settings = reading_with(folder, reading)
        published = settings["quasi"]
        unsaid = _with_roles(settings, original, quasi, sensitive)
        offers = offers_in(offering, settings["quasi"], settings["sensitive"], files)
        settings["hierarchies"] = {**settings["hierarchies"], **offers, **files}
        table: Table = _read_original(original, {**settings, "domains": ranges})
        assumed = [name for name, tree in settings["hierarchies"].items() if isinstance(tree, PublishedHierarchy)]
        for remark in on_offers(table, offers):
            show_remark(remark)
        people = None if population is None else read_population(population, {**settings, "quasi": published}, reading)
        progress("auditing", 0.0)
        result = judge(
            folder,
            table,
            trace=trace,
            promises=asked or None,
            from_release=assumed,
            population=people,
            roles_from_release=unsaid,
            progress=progress,
        )
    if as_json:
        print_json({**result.as_dict(), "folder": folder, "original": original})
    elif not (quiet() and result.holds):
        console = output()
        show_audit(console, result, every_check=not quiet())
        if result.losses and not quiet():
            console.print()
            console.print(rows_in_groups(result.rows, result.groups, result.withheld))
    return Exit.HOLDS if result.holds else Exit.VIOLATED


def _read_original(original: str, settings: dict[str, Any]) -> Table:
    """Read the original; a column that it lacks may be in a second table, if people have several values of it."""
    try:
        return read(original, **settings)
    except DiscreetError as fault:
        lacking = [name for name in settings["lists"] if f"no column {name!r}" in str(fault)]
        if not lacking:
            raise
        raise DiscreetError(
            f"{fault}; if its values are in a second table, say for example --join {lacking[0]}=visits.csv:patient"
        ) from None


def _with_roles(settings: dict[str, Any], original: str, quasi: tuple[str, ...], sensitive: str | None) -> list[str]:
    """Put the roles given by flags into the reading arguments ``settings``; return the columns without such a role."""
    texts = [*quasi, *([] if sensitive is None else [sensitive])]
    header = header_of(original, layout_of(settings), texts)
    known, secret = split_names(quasi, header), split_names(texts[len(quasi) :], header)
    said, shown = {*known, *secret}, settings["sensitive"] or []
    if not said:
        return [*settings["quasi"], *shown, *settings["keep"]]
    unsaid = [[name for name in names if name not in said] for names in (settings["quasi"], shown)]
    # Sensitive columns stay in the order of the release, which is that of its promises. Kept columns need no flags.
    secret.sort(key=lambda name: shown.index(name) if name in shown else len(shown))
    settings["quasi"] = [*known, *unsaid[0]]
    settings["sensitive"] = [*secret, *unsaid[1]] or None
    settings["keep"] = [name for name in settings["keep"] if name not in said]
    return [*unsaid[0], *unsaid[1]]


def read_population(path: str, settings: dict[str, Any], given: Mapping[str, Any]) -> Table:
    """Read a population with the kinds of the original, but without hierarchies, which may lack some of its values.

    It is another file: what the release says of the original's delimiter and encoding is not true of it, flags are.
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
            delimiter=given["delimiter"],
            encoding=given["encoding"],
        )
    except DiscreetError as error:
        raise DiscreetError(f"the population cannot be used: {error}") from None


def reading_with(folder: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for reading the original: those of the manifest, overridden by flags."""
    settings = reading_of(folder)
    declared = by_column({"hierarchies": (), "domains": (), **given})
    lists = {**settings["lists"], **declared["lists"]}
    if given.get("header") == "yes":  # it names its columns itself, whatever the release says
        settings["columns"] = []
    return {
        **settings,
        **{key: value for key, value in given.items() if value},
        "dates": {**settings["dates"], **declared["dates"]},
        "lists": {name: separator for name, separator in lists.items() if name not in declared["join"]},
        "join": declared["join"],
    }


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
    secret = [attribute for attribute in attributes if attribute.role == "sensitive"]
    sensitive = dict.fromkeys(
        attribute.name if attribute.derived is None else attribute.derived.attribute for attribute in secret
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
