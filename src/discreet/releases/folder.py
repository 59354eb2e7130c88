"""The folder of a release and its manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple, Protocol

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.table.documents import from_json
from discreet.table.paths import content, located, real
from discreet.unfinished import ASIDE, leftovers

MANIFEST = "release.json"
README = "README.md"
FORMAT_VERSION = 1
TABLE_ENDINGS = (".csv", ".parquet")
MOST_BYTES = 1 << 25
"""The largest manifest: it takes seconds to load, and holds hierarchies of hundreds of thousands of leaves."""
DAMAGED = "it was damaged or edited, so publish the release again"
"""The advice for a manifest that cannot be as it was written."""


class Home(Protocol):
    """Where the tables of a release lie: ``home / name`` is the file of a table."""

    def __truediv__(self, name: str, /) -> Path:
        """Return the file of a table."""


class PartHome(NamedTuple):
    """Where the tables of one part of a release lie: in its folder, with the number of the part in their names.

    >>> (PartHome(Path("home"), 2) / "table.csv").name
    'table_2.csv'
    """

    folder: Home
    number: int

    def __truediv__(self, name: str, /) -> Path:
        """Return the file of a table."""
        stem, _, ending = name.rpartition(".")
        return self.folder / f"{stem}_{self.number}.{ending}"


def check_folder(target: Path, force: bool) -> None:
    """Raise unless the folder is absent or empty or, with ``force``, contains a release and nothing else."""
    shown = str(target)
    if target.is_dir():
        names = sorted(path.name for path in target.iterdir())
        if not names:
            return
        if not force:
            raise DiscreetError(
                f"the folder {shown!r} is not empty; choose another, or {argument('force', True)} to replace it"
            )
        if MANIFEST not in names:
            raise DiscreetError(
                f"the folder {shown!r} holds no release, so it is not replaced even with {argument('force', True)}; "
                "choose another"
            )
        written = _release_files(target)
        # a release contains neither folders nor links
        plain = {name for name in written if (target / name).is_file() and not (target / name).is_symlink()}
        other = next((name for name in names if name not in plain), None)
        if other is not None:
            raise DiscreetError(
                f"the folder {shown!r} holds {other!r}, which is no part of the release in it and would be lost; "
                "move it elsewhere, or choose another folder"
            )
        if not os.access(target, os.W_OK | os.X_OK):
            raise DiscreetError(
                f"the release in {shown!r} is write-protected; choose another folder, or make it writable first"
            )
    elif target.exists():
        raise DiscreetError(f"{shown!r} is a file; choose a folder for the release")


def _release_files(home: Path) -> set[str]:
    """The names of the files that belong to the release in a folder, according to its manifest."""
    try:
        tables = read_manifest(home).manifest.get("tables")
    except DiscreetError:
        tables = None
    names = tables if isinstance(tables, dict) else ()
    return {MANIFEST, *(name for name in names if name.endswith(TABLE_ENDINGS)), *_own_page(home)}


def _own_page(home: Path) -> list[str]:
    """The name of README.md if a program wrote it, by its first line; someone's own must not be lost."""
    from discreet.releases.readme import TITLE  # imported late, as below

    path = home / README
    if not path.is_file() or path.is_symlink():
        return []
    with path.open("rb") as file:
        return [README] if file.read(len(TITLE) + 1) == f"{TITLE}\n".encode() else []


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, one entry per line where lines stay readable, and README.md, which follows from it."""
    from discreet.releases.readme import readme  # imported late: most folders are read

    text = (_laid_out(manifest) + "\n").encode()
    if len(text) > MOST_BYTES:
        raise DiscreetError(
            f"the manifest would have {len(text):,} bytes, more than the {MOST_BYTES:,} that are read; publish "
            "hierarchies with fewer leaves, or attributes with fewer values"
        )
    (folder / MANIFEST).write_bytes(text)
    (folder / README).write_bytes(readme(manifest).encode())


_ON_ONE_LINE = json.JSONEncoder(ensure_ascii=False).encode


def _laid_out(value: Any, indent: str = "") -> str:
    """JSON with short and innermost parts on one line: a hierarchy takes a line per leaf, not one per word."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(part, (dict, list)) for part in parts):
        line = _ON_ONE_LINE(value)
        if len(line) <= 100 or not parts:
            return line
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = [f"{_ON_ONE_LINE(key)}: {_laid_out(part, deeper)}" for key, part in value.items()]
        return "{\n" + ",\n".join(deeper + part for part in inner) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + _laid_out(part, deeper) for part in parts) + f"\n{indent}]"


def plainly_laid_out(text: str, manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is laid out as by this module or a common tool: arbitrary white space could carry information.
    >>> plainly_laid_out('{"a": 1}', {"a": 1}), plainly_laid_out('{"a":  1}', {"a": 1})
    (True, False)
    """
    text = text.removesuffix("\n")
    if text == _laid_out(manifest):
        return True
    styles = ((None, None), (None, (",", ":")), (1, None), (2, None), (4, None), ("\t", None))
    return any(
        text == json.dumps(manifest, indent=indent, separators=separators, ensure_ascii=ascii_only)
        for indent, separators in styles
        for ascii_only in (True, False)
    )


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a mapping of a manifest; raises if a name occurs twice, since one value would hide the other."""
    mapping: dict[str, Any] = {}
    for name, value in pairs:
        if name in mapping:
            raise DiscreetError(f"the manifest gives {name[:80]!r} more than once; {DAMAGED}")
        mapping[name] = value
    return mapping


class ManifestFile(NamedTuple):
    """A manifest as it was found."""

    home: Path
    """The folder of the release."""
    manifest: dict[str, Any]
    text: str
    """The content of the file."""


def release_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of a release that is named by its folder or by its manifest.

    >>> release_folder("published/release.json").name
    'published'
    """
    home = located(path)
    return home.parent if home.name == MANIFEST else home


def read_manifest(folder: str | os.PathLike[str]) -> ManifestFile:
    """The folder of a release and its manifest, with the checks that all formats share."""
    home = release_folder(folder)
    path = home / MANIFEST
    try:
        if home.is_file():
            raise DiscreetError(f"{str(home)!r} is a file; name the folder of a release")
        if home.exists() and not home.is_dir():
            raise DiscreetError(f"{str(home)!r} is a pipe or a device; name the folder of a release")
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        aside = [left / ASIDE for left in leftovers(real(home)) if (left / ASIDE).is_dir()]
        if aside and not home.exists():
            raise DiscreetError(
                f"there is no {str(home)!r}, because a command that was replacing it was killed; publish again, or "
                f"move the old one back, which is {str(aside[0])!r}"
            ) from None
        raise DiscreetError(f"{str(home)!r} is not a release: it holds no {MANIFEST}; check the path") from None
    except OSError as fault:
        raise DiscreetError(
            f"the release in {str(home)!r} cannot be read: {fault.strerror or fault}; check the path and its "
            "permissions"
        ) from None
    size = path.stat().st_size if path.is_file() else 0
    if size > MOST_BYTES:
        raise DiscreetError(
            f"{str(path)!r} has {size:,} bytes, more than the {MOST_BYTES:,} that a manifest may have; {DAMAGED}"
        )
    try:
        text = content(path, repr(str(path))).decode()
    except UnicodeDecodeError:
        raise DiscreetError(f"{str(path)!r} is not in UTF-8; {DAMAGED}") from None
    manifest = from_json(text, repr(str(path)), _mapping, DAMAGED)
    if not isinstance(manifest, dict):
        raise DiscreetError(f"{str(path)!r} is not a manifest, because it holds no mapping; {DAMAGED}")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise DiscreetError(
            f"{str(path)!r} has format version {version!r}, but this discreet reads version {FORMAT_VERSION}; "
            "use a version of discreet that knows it"
        )
    tables = manifest.get("tables")
    for name in tables if isinstance(tables, dict) else ():
        if PureWindowsPath(name).name != name or name in ("", ".", "..") or any(sign < " " for sign in name):
            raise DiscreetError(
                f"the manifest in {str(home)!r} names the table {name[:200]!r}, which is not the plain name of a file "
                "in its folder; it was damaged or edited, so publish the release again"
            )
    return ManifestFile(home, manifest, text)
