"""Releases: what leaves the house, as files. The catalogue lists the formats; a class is imported when it is used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.releases.folder import DAMAGED, ManifestFile, read_manifest
from discreet.releases.release import Release
from discreet.releases.trace import write_trace
from discreet.table.texts import near
from discreet.table.typed_files import stated_rows

LINES, LINES_PER_ROW = 1_000_000, 100
"""How many lines of a table are read in any release, and how many more for every row of it."""

__all__ = ["FORMATS", "Release", "load", "load_as_stated", "write_trace"]


def __getattr__(name: str) -> Any:
    return FORMATS.class_named(name)


def load(folder: str | os.PathLike[str]) -> Release:
    """Load a release of any format from its folder alone."""
    return load_as_stated(read_manifest(folder))


def as_release(given: object) -> Release:
    """Return a release, loaded if it is given as its folder; refuse anything else."""
    release = load(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(release, Release):
        raise DiscreetError(f"{brief(given)} is not a release; give one, or the folder of one")
    return release


def _check_sizes(home: Path, manifest: dict[str, Any]) -> None:
    """Refuse tables of far more lines than the manifest has rows: a small file may hold billions, and fill the memory.

    No format writes more than a few lines for every row, or in small releases for every value.
    """
    entry = manifest.get("rows")
    numbers = entry.values() if isinstance(entry, dict) else ()
    rows = sum(number for number in numbers if isinstance(number, int))
    for path in sorted(home.glob("*.parquet")):
        if not path.is_symlink() and (lines := stated_rows(path)) > LINES + LINES_PER_ROW * rows:
            raise DiscreetError(
                f"{path.name!r} of the release has {lines:,} lines, far too many for the {rows:,} rows in its "
                f"manifest; {DAMAGED}"
            )


def load_as_stated(file: ManifestFile) -> Release:
    """Load the release that a manifest describes, in the format that it states."""
    home, manifest, _ = file
    name = str(manifest.get("format"))
    if name not in FORMATS:
        raise DiscreetError(
            f"the release in {str(home)!r} has the format {manifest.get('format')!r}, which this discreet does not "
            f"know; {near(name, FORMATS)}, or install the plug-in that knows it"
        )
    _check_sizes(home, manifest)
    release: Release = FORMATS[name].release.load(home, manifest)
    if release.rows == 0:  # which no scheme publishes, and nothing can be said of
        raise DiscreetError(f"the release in {str(home)!r} has no rows; {DAMAGED}")
    return release
