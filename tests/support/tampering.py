"""A saved release in the hands of someone who edits its files, and what such a person may do to them."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.readme import readme
from discreet.table.write import digest
from naive.canonical import Arranged, arranged

Lines = list[list[str]]


class Folder:
    """A release as files: its tables as lines of texts, the header first, and its manifest.

    Lines are counted without the header, from 0. Nothing is written until ``write``.
    """

    lies_in_order = True
    """Whether an edit ends with canonical order: not where orders or numbers are what it alters."""
    describes_itself = True
    """Whether README.md follows an edit: not where it is what is altered."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._moved: Arranged | None = None
        self.manifest: dict[str, Any] = json.loads((path / "release.json").read_text(encoding="utf-8"))
        self.tables = {name.removesuffix(".csv"): _lines(path / name) for name in self.manifest["tables"]}
        self._before = {name: [list(line) for line in lines] for name, lines in self.tables.items()}

    def lines(self, table: str) -> Lines:
        """The lines of a table, to be edited one by one."""
        return self.tables[table][1:]

    def place(self, table: str, column: str) -> int:
        """Where a column stands."""
        return self.tables[table][0].index(column)

    def column(self, table: str, column: str) -> list[str]:
        """The texts of a column."""
        return [line[self.place(table, column)] for line in self.lines(table)]

    def edit(self, alteration: Alteration, cover_up: bool = True) -> None:
        """Alter something, put all in order again unless that is what is altered, and write it."""
        alteration(self)
        if self.lies_in_order:
            self.put_in_order()
        self.write(cover_up)

    def put_in_order(self) -> None:
        """Put lines and numbers of groups into canonical order, unless texts that cannot be compared have none."""
        try:
            self._moved = arranged(self.tables, self.manifest)
        except (KeyError, ValueError):
            return
        self.tables = self._moved.tables

    def moved(self, trace: NDArray[np.int32]) -> NDArray[np.int32]:
        """A trace with the numbers that groups have, or the places that lines are at, since they were put in order."""
        if self._moved is None:
            return trace
        if self.manifest["format"] == "projected":
            pointers = [{int(old): int(new) for old, new in part.items()} for part in self._moved.numbers]
            return np.stack([_pointed(part, to) for part, to in zip(trace.T, pointers, strict=True)], axis=1)
        (numbers,) = self._moved.numbers
        if numbers:
            return _pointed(trace, {int(old): int(new) for old, new in numbers.items()})
        return _pointed(trace, {old: new for new, old in enumerate(self._moved.places["table"])})

    def write(self, cover_up: bool = True) -> None:
        """Write what was edited; covering up, with digests and with counts of rows and groups that fit it."""
        edited = [name for name, lines in self.tables.items() if lines != self._before.get(name)]
        for name in edited:
            path = self.path / f"{name}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(self.tables[name])
            if cover_up and path.name in self.manifest["tables"]:
                self.manifest["tables"][path.name]["sha256"] = digest(path)
        if cover_up and edited:
            self._count()
        text = json.dumps(self.manifest, ensure_ascii=False)
        (self.path / "release.json").write_text(text, encoding="utf-8")
        if cover_up and self.describes_itself:
            describe(self.path)

    @property
    def _counted(self) -> str:
        """The table that counts sensitive values, the first if there are several."""
        return next(name for name in ("sensitive", "sensitive_1") if name in self.tables)

    def _count(self) -> None:
        """Let the manifest count what the tables hold, as far as that are numbers."""
        main = next((name for name in ("table", "table_1") if name in self.tables), None)
        if main is not None:
            self.manifest["rows"]["published"] = len(self.lines(main))
        else:
            counts = self.column(self._counted, "count")
            self.manifest["rows"]["published"] = sum(int(text) for text in counts if text.isdecimal())
        if "groups" in self.manifest:
            listed = ["table"] if "table" in self.tables else [self._counted]
            if "nodes" in self.tables and "sensitive" in self.tables:  # nodes that are nobody's leaf have values only
                listed.append("sensitive")
            self.manifest["groups"] = len({line[0] for name in listed for line in self.lines(name)})
        for number, part in enumerate(self.manifest.get("parts", ()), 1):
            if "groups" not in part:
                continue
            part["groups"] = len({line[0] for line in self.lines(f"table_{number}")})


def describe(folder: Path) -> None:
    """Let README.md follow the manifest in a folder, if anything follows from it."""
    with suppress(DiscreetError, KeyError, TypeError, ValueError, AttributeError):
        text = readme(json.loads((folder / "release.json").read_bytes()))
        (folder / "README.md").write_text(text, encoding="utf-8", newline="")


def _lines(path: Path) -> Lines:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def _pointed(trace: NDArray[np.int32], pointers: dict[int, int]) -> NDArray[np.int32]:
    """A trace with new numbers; that of a group that is gone becomes one that there is not, and -1 stays."""
    found = [number if number < 0 else pointers.get(number, len(pointers)) for number in trace.ravel().tolist()]
    return np.array(found, trace.dtype).reshape(trace.shape)


Alteration = Callable[[Folder], object]


def altered(source: Path, target: Path, alteration: Alteration, cover_up: bool = True) -> Path:
    """A copy of a release in which something is altered, and that is in canonical order again.

    So it fails by what was altered, and by its order only if that is what was.
    """
    return altered_folder(source, target, alteration, cover_up).path


def altered_folder(source: Path, target: Path, alteration: Alteration, cover_up: bool = True) -> Folder:
    """The same as an edited folder, which knows what has moved."""
    shutil.copytree(source, target)
    folder = Folder(target)
    folder.edit(alteration, cover_up)
    return folder


def as_it_lies(alteration: Alteration) -> Alteration:
    """Orders or numbers are what is altered: they stay as the alteration leaves them."""

    def alter(folder: Folder) -> None:
        alteration(folder)
        folder.lies_in_order = False

    return alter


def together(*alterations: Alteration) -> Alteration:
    """All of these, one after the other."""
    return lambda folder: [alteration(folder) for alteration in alterations]


# -------------------------------------------------------------------------------------------------------------- tables


def dropped(table: str, line: int = -1) -> Alteration:
    """A line is gone."""

    def alter(folder: Folder) -> None:
        lines = folder.lines(table)
        lines.pop(line)
        folder.tables[table][1:] = lines

    return alter


def repeated(table: str, line: int = 0) -> Alteration:
    """A line is there twice."""
    return lambda folder: folder.tables[table].append(list(folder.lines(table)[line]))


def added(table: str, *cells: str) -> Alteration:
    """A line is there that never was."""
    return lambda folder: folder.tables[table].append(list(cells))


def put(table: str, column: str, text: str | Callable[[str], str], line: int = 0) -> Alteration:
    """A cell holds something else: a text, or what a function makes of what it held."""

    def alter(folder: Folder) -> None:
        at, edited = folder.place(table, column), folder.lines(table)[line]
        edited[at] = text if isinstance(text, str) else text(edited[at])

    return alter


def put_in_group(table: str, column: str, text: str | Callable[[str], str]) -> Alteration:
    """The same in all lines of the group of the first line."""

    def alter(folder: Folder) -> None:
        own = folder.column(table, "group")
        for line, group in enumerate(own):
            if group == own[0]:
                put(table, column, text, line)(folder)

    return alter


def swapped(table: str, column: str, one: int = 0, other: int | None = None) -> Alteration:
    """Two cells of a column change places; unless told, the first and the last that differs from it."""

    def alter(folder: Folder) -> None:
        texts, at = folder.column(table, column), folder.place(table, column)
        second = max(line for line, text in enumerate(texts) if text != texts[one]) if other is None else other
        for line, text in ((one, texts[second]), (second, texts[one])):
            folder.lines(table)[line][at] = text

    return alter


def without_group(table: str, group: str) -> Alteration:
    """No line of a group is left."""

    def alter(folder: Folder) -> None:
        folder.tables[table] = [line for line in folder.tables[table] if line[folder.place(table, "group")] != group]

    return alter


def rewritten(table: str, *lines: str) -> Alteration:
    """A table holds these lines and nothing else."""

    def alter(folder: Folder) -> None:
        folder.tables[table] = [line.split(",") for line in lines]

    return alter


BY_NUMBER = ("nodes", "seal", "sizes")
"""Tables with a line for each group, in the order of their numbers: otherwise they cannot be loaded."""
BY_VALUE = ("prior", "matrix")


def shuffled(lines: bool = True, groups: bool = True, seed: int = 0) -> Alteration:
    """Lines are in random orders, and groups have other numbers, the same in all tables of a part."""

    def alter(folder: Folder) -> None:
        rng = np.random.default_rng(seed)
        for part in range(1, len(folder.manifest.get("parts", [0])) + 1):
            names = [name for name in folder.tables if "parts" not in folder.manifest or name.endswith(f"_{part}")]
            labels = {cell for name in names for cell in _labels(folder, name)}
            new = rng.permutation(len(labels)) if groups else np.arange(len(labels))
            if groups and len(labels) > 1 and bool((new == np.arange(len(new))).all()):
                new = new[::-1]
            for name in names:
                head, *rows = folder.tables[name]
                places = [at for at, column in enumerate(head) if column in ("group", "parent")]
                for row in rows:
                    for at in places:
                        row[at] = str(new[int(row[at])]) if row[at] else ""
                if name.split("_")[0] in BY_NUMBER:
                    rows.sort(key=lambda row: int(row[0]))
                elif lines and name.split("_")[0] not in BY_VALUE:
                    rows = [rows[at] for at in rng.permutation(len(rows))]
                folder.tables[name] = [head, *rows]

    return as_it_lies(alter)


def _labels(folder: Folder, table: str) -> list[str]:
    return folder.column(table, "group") if "group" in folder.tables[table][0] else []


def more(by: int) -> Callable[[Any], Any]:
    """A number that is larger by so much, as a text if it was one."""
    return lambda number: str(int(number) + by) if isinstance(number, str) else number + by


# ------------------------------------------------------------------------------------------------ manifest and folder


def stated(*path: str | int, value: Any) -> Alteration:
    """An entry of the manifest, found by this path, is another: a value, or what a function makes of the old one."""

    def alter(folder: Folder) -> None:
        inner: Any = folder.manifest
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value(inner[path[-1]]) if callable(value) else value

    return alter


def role(name: str, role: str) -> Alteration:
    """An attribute is said to have another role."""

    def alter(folder: Folder) -> None:
        next(entry for entry in folder.manifest["attributes"] if entry["name"] == name)["role"] = role

    return alter


def beside(name: str, text: str = "name\nAlan\n") -> Alteration:
    """Another file lies in the folder."""
    return lambda folder: (folder.path / name).write_text(text)


def misfit(folder: Folder) -> None:
    """The digest of a table is that of another file."""
    folder.manifest["tables"][min(folder.manifest["tables"])]["sha256"] = "0" * 64


def page(text: str | Callable[[str], str]) -> Alteration:
    """README.md is another: a text, or what a function makes of the old one."""

    def alter(folder: Folder) -> None:
        path = folder.path / "README.md"
        old = path.read_text(encoding="utf-8")
        path.write_text(text if isinstance(text, str) else text(old), encoding="utf-8", newline="")
        folder.describes_itself = False

    return alter
