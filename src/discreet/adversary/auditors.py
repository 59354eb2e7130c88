"""The auditor of each release format: registered with the format, for exactly its class, never for a subclass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.adversary.case import Case, FormatFindings
from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.releases.release import Release

Auditor = Callable[[Case[Any]], FormatFindings]


def auditor_of(release: Release) -> Auditor:
    """Return the auditor registered for exactly this release's class."""
    known = FORMATS.get(release.format)
    if known is not None and known.release is type(release):
        return known.audit
    raise DiscreetError(
        f"no auditor is registered for releases of the format {release.format}; register one with the format"
    )
