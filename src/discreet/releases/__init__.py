"""What leaves the house: the formats in which a table is published, each with its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.releases.ambiguous.load import load_ambiguous
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.anatomy.load import load_anatomy
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.folder import read_manifest
from discreet.releases.generalized.load import load_generalized
from discreet.releases.generalized.release import FORMAT, GeneralizedRelease
from discreet.releases.randomised.perturbed import PerturbedRelease
from discreet.releases.randomised.perturbed_load import load_perturbed
from discreet.releases.randomised.retained import RetainedRelease
from discreet.releases.randomised.retained_load import load_retained
from discreet.releases.release import Release
from discreet.releases.trace import write_trace

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
