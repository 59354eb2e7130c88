"""Read a projected release back from its folder: each table as a release with a manifest of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.families.codip.release import OF_PARTS, UNNAMED, ProjectedRelease
from discreet.principles import Principle, conjunction, parse
from discreet.principles.k_anonymity import KAnonymity
from discreet.releases.folder import DAMAGED, Home, PartHome
from discreet.releases.reading import read_attributes
from discreet.releases.release import Release

P = TypeVar("P", bound=ProjectedRelease)


def load_projected(home: Home, manifest: dict[str, Any], kind: type[P]) -> P:
    """Return the release in a folder whose manifest has been read."""
    entries = _entries(manifest)
    attributes = read_attributes({**manifest, "groups": 0})
    split = [name for entry in entries for name in entry["sensitive"]]
    if sorted(split) != sorted(attribute.name for attribute in attributes if attribute.role == "sensitive"):
        raise DiscreetError(f"the manifest must give every sensitive attribute to one of its parts; {DAMAGED}")
    parts = [
        format_of(entry).load(PartHome(home, number), part_manifest(manifest, number))
        for number, entry in enumerate(entries, 1)
    ]
    return kind(manifest=manifest, attributes=attributes, parts=tuple(parts))


def format_of(entry: Mapping[str, Any]) -> type[Release]:
    """Return the format of a part; raise an error unless it may be one of several tables."""
    name = entry.get("format", UNNAMED)
    kind: type[Release] | None = FORMATS[name].release if isinstance(name, str) and name in FORMATS else None
    if kind is None or kind.refusal_as_part() is not None:
        raise DiscreetError(f"the manifest gives {name!r} as the format of a part, which none can have; {DAMAGED}")
    return kind


def part_manifest(manifest: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the manifest of the part with this number as if it were a release of its own."""
    entry = manifest["parts"][number - 1]
    names = entry["sensitive"]
    attributes = [
        attribute
        for attribute in manifest["attributes"]
        if attribute["role"] == "quasi" or attribute["name"] in names or (attribute["role"] == "other" and number == 1)
    ]
    stated = manifest.get("promise")
    promises = [(text, _read(text)) for text in stated] if isinstance(stated, list) else []
    # of the attributes of this part, or such as cannot be read
    promises = [(text, part) for text, part in promises if part is None or part.about in (None, *names)]
    read = [part for _, part in promises if part is not None]
    described = read_attributes({**manifest, "attributes": attributes, "groups": 0})
    kind, ending = format_of(entry), f"_{number}."
    scheme = entry["scheme"]
    options = scheme.get("options") if isinstance(scheme, dict) else None
    result = {
        "discreet": manifest.get("discreet"),
        "format": kind.format,
        "format_version": manifest.get("format_version"),
        "scheme": scheme,
        "promise": [text for text, _ in promises] if isinstance(stated, list) else stated,
        "attributes": attributes,
        "rows": manifest["rows"],
        **{key: value for key, value in entry.items() if key not in OF_PARTS},
        "tables": {own_name(name, ending): entry_of for name, entry_of in manifest["tables"].items() if ending in name},
        "assumptions": list(kind.assumed(described, conjunction(read) if read else KAnonymity(1), options=options)),
    }
    return result | ({"experimental_seed": True} if "experimental_seed" in manifest else {})


def own_name(name: str, ending: str) -> str:
    """Return the name that a table of a part has in a release of its own.

    >>> own_name("table_2.csv", "_2.")
    'table.csv'
    """
    return ".".join(name.rsplit(ending, 1))


def _read(text: Any) -> Principle | None:
    try:
        return parse(text) if isinstance(text, str) else None
    except DiscreetError:
        return None


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the manifest's entries about its parts; raise an error unless there is a table for each."""
    entries, tables = manifest.get("parts"), manifest.get("tables")
    fine = isinstance(entries, list) and bool(entries) and all(isinstance(entry, dict) for entry in entries)
    for entry in entries if isinstance(entries, list) and fine else ():
        names = entry.get("sensitive")
        fine = fine and isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
        fine = fine and type(entry.get("groups", 0)) is int and isinstance(entry.get("scheme"), dict)
    if not fine or not isinstance(entries, list):
        raise DiscreetError(f"the manifest does not say which sensitive attributes each part has; {DAMAGED}")
    names = set(tables) if isinstance(tables, dict) else set()
    for ending in ("csv", "parquet"):
        owners = [f"_{at}.{ending}" for at in range(1, len(entries) + 1)]
        # which tables each part has, its own format says
        if {f"table{owner}" for owner in owners} <= names and all(name.endswith(tuple(owners)) for name in names):
            return entries
    raise DiscreetError(
        f"the manifest of the release must name the tables table_1 to table_{len(entries)}, all .csv or all .parquet; "
        f"{DAMAGED}"
    )
