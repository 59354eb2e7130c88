"""The auditor of each release format: one per release class, never inherited by a subclass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.formats.ambiguous.audit import audit_ambiguous
from discreet.adversary.formats.anatomy.audit import audit_anatomy
from discreet.adversary.formats.generalized.audit import audit_generalized
from discreet.adversary.formats.matched.audit import audit_matched
from discreet.adversary.formats.nested.audit import audit_nested
from discreet.adversary.formats.projected.audit import audit_projected
from discreet.adversary.formats.randomised.perturbed import audit_perturbed
from discreet.adversary.formats.randomised.retained import audit_retained
from discreet.adversary.formats.sealed.audit import audit_mirrored, audit_sealed
from discreet.adversary.formats.synthetic.audit import audit_synthetic
from discreet.errors import DiscreetError
from discreet.plugins import plugged
from discreet.releases import (
    FORMATS,
    AmbiguousRelease,
    AnatomyRelease,
    GeneralizedRelease,
    MatchedRelease,
    MirroredRelease,
    NestedRelease,
    PerturbedRelease,
    ProjectedRelease,
    Release,
    RetainedRelease,
    SealedRelease,
    SyntheticRelease,
)

Auditor = Callable[[Case[Any]], FormatFindings]

AUDITORS: dict[type[Release], Auditor] = {
    GeneralizedRelease: audit_generalized,
    AnatomyRelease: audit_anatomy,
    AmbiguousRelease: audit_ambiguous,
    PerturbedRelease: audit_perturbed,
    RetainedRelease: audit_retained,
    NestedRelease: audit_nested,
    MatchedRelease: audit_matched,
    ProjectedRelease: audit_projected,
    SealedRelease: audit_sealed,
    MirroredRelease: audit_mirrored,
    SyntheticRelease: audit_synthetic,
}
"""The auditors of the built-in formats; a plug-in registers its own with its format."""

_unaudited = {format.__name__ for format in FORMATS.built_in.values()} - {format.__name__ for format in AUDITORS}
if _unaudited:
    raise AssertionError(f"no auditor is registered for {', '.join(sorted(_unaudited))}")


def auditor_of(release: Release) -> Auditor:
    """Return the auditor registered for exactly this release's class."""
    if type(release) in AUDITORS:  # which no plug-in replaces, and looking for plug-ins takes longer than a small audit
        return AUDITORS[type(release)]
    for plug in plugged("formats").values():
        if plug.release is type(release):
            audit: Auditor = plug.audit
            return audit
    raise DiscreetError(
        f"no auditor is registered for releases of the format {release.format}; register one with the format"
    )
