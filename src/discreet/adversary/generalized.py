"""The audit of a generalized release: groups of rows under one description each."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary import soundness
from discreet.adversary.audit import Audit
from discreet.adversary.judging import counts_of, judged, unions
from discreet.adversary.laying import lay
from discreet.adversary.support import without_trace
from discreet.adversary.totals import totals
from discreet.adversary.trace import by_trace, read_trace
from discreet.analyst.loss import losses
from discreet.principles import Principle, Prior
from discreet.releases.generalized import GeneralizedRelease
from discreet.table.table import Table


def audit_generalized(
    home: Path,
    manifest: dict[str, Any],
    release: GeneralizedRelease,
    original: Table,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
    from_release: Collection[str] = (),
) -> Audit:
    """Audit a generalized release, loaded from ``home``, against its original; see ``audit``."""
    checks = [soundness.files(home, manifest), soundness.entries(manifest, ["groups"])]
    laid = lay(release, original)
    checks.append(soundness.consistency(release))
    checks.append(soundness.domains(laid, original))
    checks.append(totals(laid, original))
    if trace is None:
        check, how = without_trace(laid)
    else:
        faults: list[str] = []
        if not isinstance(trace, np.ndarray):
            trace, faults = read_trace(trace, original.rows)
        check, how = by_trace(laid, trace, faults), "trace"
    checks.append(check)
    prior = Prior.of(original if release.sensitive is not None else replace(original, sensitive=None))
    parts, stated = soundness.promises(manifest, promises)
    checks.append(stated)
    left = np.maximum(prior.counts - laid.published, 0)
    groups = counts_of(laid, len(prior.values))
    kept = [judged(part, release, groups, prior, left) for part in parts]
    checks.append(unions(parts, kept, laid, prior))
    given, warnings = soundness.taken(parts, prior, from_release)
    checks += [*warnings, *soundness.kept(release)]
    withheld = max(0, original.rows - release.rows)
    return Audit(checks, kept, losses(release), release.rows, withheld, release.groups, how, given)
