"""Alters published files as someone who knows the format could; an audit must notice it unless it is harmless."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzz.files import manifest_of


def tamper(chance: Random, folder: Path) -> str | None:
    """Alter a release of CSV files, mostly with matching digests; describe the change, or None if nothing changed."""
    manifest = manifest_of(folder)
    if chance.random() < 0.25:
        what = _edit(chance, manifest)
        _write(folder, manifest)
        return what
    name = chance.choice(sorted(manifest["tables"]))
    with (folder / name).open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    before = [list(line) for line in lines]
    way = chance.choice([_swap, _drop, _repeat, _change])
    way(chance, lines)
    if lines == before:
        return None
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])
    if chance.random() < 0.9:
        manifest["tables"][name]["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        _write(folder, manifest)
    return f"{name}: {way.__name__.strip('_')}"


def _write(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / "release.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")


def _swap(chance: Random, lines: list[list[str]]) -> None:
    """Swap two cells of a column."""
    if lines:
        column = chance.randrange(len(lines[0]))
        one, other = chance.choice(lines), chance.choice(lines)
        one[column], other[column] = other[column], one[column]


def _drop(chance: Random, lines: list[list[str]]) -> None:
    """Remove a line."""
    if lines:
        lines.pop(chance.randrange(len(lines)))


def _repeat(chance: Random, lines: list[list[str]]) -> None:
    """Repeat a line."""
    if lines:
        lines.append(list(chance.choice(lines)))


def _change(chance: Random, lines: list[list[str]]) -> None:
    """Replace a cell by any other cell, or by a text that was not published."""
    if lines:
        line = chance.choice(lines)
        strange = ["", "*", "(missing)", "0", "-1", "[0, 99]", "{a1, b1}", "nobody"]
        line[chance.randrange(len(line))] = chance.choice([chance.choice(chance.choice(lines)), chance.choice(strange)])


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
