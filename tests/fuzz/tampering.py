"""Alters published files as someone who knows the format could; an audit must notice it unless it is harmless."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from support.tampering import Alteration, Folder, dropped, put, repeated, swapped


def tamper(chance: Random, path: Path) -> str | None:
    """Alter something in a folder of CSV files, covered up or not, in canonical order; what it was, if anything."""
    folder = Folder(path)
    if chance.random() < 0.25:
        what = _edit(chance, folder.manifest)
        folder.write()
        return what
    name = chance.choice(sorted(folder.tables))
    head, *before = [list(line) for line in folder.tables[name]]
    way = chance.choice([_swap, _drop, _repeat, _change])
    if not before:
        return None
    way(chance, name, head, before)(folder)
    if folder.lines(name) == before:
        return None
    folder.put_in_order()
    folder.write(cover_up=chance.random() < 0.9)
    return f"{name}.csv: {way.__name__.strip('_')}"


def _swap(chance: Random, name: str, head: list[str], lines: list[list[str]]) -> Alteration:
    return swapped(name, chance.choice(head), chance.randrange(len(lines)), chance.randrange(len(lines)))


def _drop(chance: Random, name: str, head: list[str], lines: list[list[str]]) -> Alteration:
    return dropped(name, chance.randrange(len(lines)))


def _repeat(chance: Random, name: str, head: list[str], lines: list[list[str]]) -> Alteration:
    return repeated(name, chance.randrange(len(lines)))


def _change(chance: Random, name: str, head: list[str], lines: list[list[str]]) -> Alteration:
    """A cell holds something else: a value of another line, of another column, or what nobody published."""
    strange = ["", "*", "(missing)", "0", "-1", "[0, 99]", "{a1, b1}", "nobody"]
    text = chance.choice([chance.choice(chance.choice(lines)), chance.choice(strange)])
    return put(name, chance.choice(head), text, chance.randrange(len(lines)))


def _edit(chance: Random, manifest: dict[str, Any]) -> str | None:
    """Change an entry of the manifest; describe the change, or None if nothing changed."""
    edits: list[Callable[[], object]] = [
        lambda: manifest["rows"].update(published=manifest["rows"]["published"] + 1),
        lambda: manifest["rows"].update(withheld=manifest["rows"]["withheld"] + 1),
        lambda: manifest.update(promise=[]),
        lambda: manifest.update(promise=["k-anonymity(k=1)"]),
        lambda: manifest.update(groups=manifest.get("groups", 0) + 1),
        lambda: manifest["attributes"].pop(),
        lambda: manifest["attributes"][0].update(role="other"),
        lambda: manifest["attributes"][-1].update(role="quasi"),
        lambda: manifest["attributes"][0].update(kind=chance.choice(["numeric", "categorical", "ordinal"])),
        lambda: manifest.update(retention={"probability": 1.0, "noise": "uniform"}),
        lambda: manifest.update(format=chance.choice(["generalized", "anatomy", "perturbed"])),
    ]
    before = json.dumps(manifest)
    at = chance.randrange(len(edits))
    edits[at]()
    return None if json.dumps(manifest) == before else f"release.json: edit {at}"
