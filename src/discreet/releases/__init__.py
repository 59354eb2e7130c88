"""What leaves the house: the formats in which a table is published, each with its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.releases.ambiguous import AmbiguousRelease
from discreet.releases.ambiguous_loading import load_ambiguous
from discreet.releases.anatomy import AnatomyRelease
from discreet.releases.anatomy_loading import load_anatomy
from discreet.releases.files import read_manifest
from discreet.releases.generalized import FORMAT, GeneralizedRelease
from discreet.releases.loading import load_generalized
from discreet.releases.perturbed import PerturbedRelease
from discreet.releases.perturbed_loading import load_perturbed
from discreet.releases.release import Release
from discreet.releases.retained import RetainedRelease
from discreet.releases.retained_loading import load_retained
from discreet.releases.tracing import write_trace

LOADERS: dict[str, Callable[[Path, dict[str, Any]], Release]] = {
    FORMAT: load_generalized,
    AnatomyRelease.format: load_anatomy,
    PerturbedRelease.format: load_perturbed,
    RetainedRelease.format: load_retained,
    AmbiguousRelease.format: load_ambiguous,
}
"""How each format is loaded, by the name its manifest gives."""

__all__ = ["LOADERS", "AmbiguousRelease", "GeneralizedRelease", "Release", "load", "write_trace"]


def load(folder: str | os.PathLike[str]) -> Release:
    """Load a release of any format from its folder alone."""
    home, manifest = read_manifest(folder)
    loader = LOADERS.get(str(manifest.get("format")))
    if loader is None:
        raise DiscreetError(
            f"the release in {str(home)!r} has the format {manifest.get('format')!r}, but this discreet only knows "
            f"{', '.join(LOADERS)}; use a version of discreet that knows it"
        )
    return loader(home, manifest)
