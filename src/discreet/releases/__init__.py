"""What leaves the house: the formats in which a table is published, each with its files."""

from __future__ import annotations

import os

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.plugins import Registry
from discreet.releases.ambiguous.release import AmbiguousRelease
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.folder import DAMAGED, ManifestFile, read_manifest
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.matched.release import MatchedRelease
from discreet.releases.nested.release import NestedRelease
from discreet.releases.placement import finish
from discreet.releases.projected.release import ProjectedRelease
from discreet.releases.randomised.perturbed import PerturbedRelease
from discreet.releases.randomised.retained import RetainedRelease
from discreet.releases.release import Release
from discreet.releases.sealed.mirrored import MirroredRelease
from discreet.releases.sealed.release import SealedRelease
from discreet.releases.synthetic.release import SyntheticRelease
from discreet.releases.trace import write_trace
from discreet.table.texts import near

__all__ = [
    "FORMATS",
    "AmbiguousRelease",
    "AnatomyRelease",
    "GeneralizedRelease",
    "MatchedRelease",
    "MirroredRelease",
    "NestedRelease",
    "PerturbedRelease",
    "ProjectedRelease",
    "Release",
    "RetainedRelease",
    "SealedRelease",
    "SyntheticRelease",
    "load",
    "write_trace",
]

FORMATS: Registry[type[Release]] = Registry(
    "formats",
    {
        format.format: format
        for format in (
            GeneralizedRelease,
            AnatomyRelease,
            PerturbedRelease,
            RetainedRelease,
            AmbiguousRelease,
            NestedRelease,
            MatchedRelease,
            ProjectedRelease,
            SealedRelease,
            MirroredRelease,
            SyntheticRelease,
        )
    },
    lambda plug: plug.release,
)
"""The formats by their names in manifests."""


def load(folder: str | os.PathLike[str]) -> Release:
    """Load a release of any format from its folder alone, after finishing what a killed publication left half done."""
    finish(folder)
    return load_as_stated(read_manifest(folder))


def as_release(given: object) -> Release:
    """Return a release, loaded if it is given as its folder; refuse anything else."""
    found = load(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(found, Release):
        raise DiscreetError(f"{brief(given)} is not a release; give one, or the folder of one")
    return found


def load_as_stated(file: ManifestFile) -> Release:
    """Load the release that a manifest describes, in the format that it states."""
    home, manifest, _ = file
    name = str(manifest.get("format"))
    if name not in FORMATS:
        raise DiscreetError(
            f"the release in {str(home)!r} has the format {manifest.get('format')!r}, which this discreet does not "
            f"know; {near(name, FORMATS)}, or install the plug-in that knows it"
        )
    release = FORMATS[name].load(home, manifest)
    if release.rows == 0:  # which no scheme publishes, and nothing can be said of
        raise DiscreetError(f"the release in {str(home)!r} has no rows; {DAMAGED}")
    return release
