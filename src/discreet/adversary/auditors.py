"""The auditor of each release format: registered with the format, for exactly its class, never for a subclass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.adversary.case import Case, FormatFindings
from discreet.catalogue import FORMATS
from discreet.errors import DiscreetError
from discreet.plugins import imported, plugged
from discreet.releases.release import Release

Auditor = Callable[[Case[Any]], FormatFindings]


def auditor_of(release: Release) -> Auditor:
    """Return the auditor registered for exactly this release's class."""
    name = release.format
    if name in FORMATS and FORMATS[name] is type(release):
        auditor: Auditor
        if name in FORMATS.built_in:
            auditor = imported("adversary.formats", FORMATS.built_in[name].auditor)
        else:
            auditor = plugged("formats", name).audit
        return auditor
    raise DiscreetError(
        f"no auditor is registered for releases of the format {release.format}; register one with the format"
    )
