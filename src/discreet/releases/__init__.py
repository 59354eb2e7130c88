"""What leaves the house: the formats in which a table is published, each with its files."""

from __future__ import annotations

import os

from discreet.errors import DiscreetError
from discreet.releases.files import read_manifest
from discreet.releases.generalized import FORMAT, GeneralizedRelease
from discreet.releases.loading import load_generalized
from discreet.releases.tracing import write_trace

LOADERS = {FORMAT: load_generalized}
"""How each format is loaded, by the name its manifest gives."""

__all__ = ["LOADERS", "GeneralizedRelease", "load", "write_trace"]


def load(folder: str | os.PathLike[str]) -> GeneralizedRelease:
    """Load a release of any format from its folder alone."""
    home, manifest = read_manifest(folder)
    loader = LOADERS.get(str(manifest.get("format")))
    if loader is None:
        raise DiscreetError(
            f"the release in {str(home)!r} has the format {manifest.get('format')!r}, but this discreet only knows "
            f"{', '.join(LOADERS)}; use a version of discreet that knows it"
        )
    return loader(home, manifest)
