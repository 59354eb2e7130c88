"""The audit: what a release promises, checked on its files with the original beside them.

It trusts nothing that the scheme kept in memory. It checks that the files are those the manifest names, that they are
consistent, that the original supports them, and that every promise is kept: by every group, by the withheld rows taken
as one group (their distribution is the difference between the public prior and what is published), and by every union
of groups that an adversary who only matches descriptions may face.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary import soundness
from discreet.adversary.check import Check
from discreet.adversary.judging import Kept, counts_of, judged, unions
from discreet.adversary.laying import lay
from discreet.adversary.support import without_trace
from discreet.adversary.totals import totals
from discreet.adversary.trace import by_trace, read_trace
from discreet.analyst.loss import losses
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior
from discreet.releases import load
from discreet.releases.files import read_manifest
from discreet.table.table import Table


@dataclass(frozen=True)
class Audit:
    """What an audit found; it holds when every check and every promise does."""

    checks: list[Check]
    promises: list[Kept] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    """Published rows."""
    withheld: int = 0
    """Original rows that are not published."""
    groups: int = 0
    support: str = "none"
    """How the original's support was checked: ``trace``, ``assignment``, ``necessary``, or ``none``."""

    @property
    def holds(self) -> bool:
        """Whether the release is what it says and keeps what it promises."""
        return all(check.holds for check in self.checks) and all(kept.holds for kept in self.promises)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "holds": self.holds,
            "rows": {"published": self.rows, "withheld": self.withheld},
            "groups": self.groups,
            "support": self.support,
            "checks": [vars(check) for check in self.checks],
            "promises": [
                {
                    **{key: _plain(value) for key, value in vars(kept).items()},
                    "margin": _plain(kept.margin),
                }
                for kept in self.promises
            ],
            "losses": {name: _plain(value) for name, value in self.losses.items()},
        }

    def sentences(self) -> list[str]:
        """The findings in the order a reader wants them: the verdict, what failed, what holds, what it cost."""
        verdict = "The audit holds." if self.holds else "The audit FAILS."
        found = [(kept.holds, kept.sentence) for kept in self.promises]
        found += [(check.holds, check.sentence) for check in self.checks]
        lines = [verdict, *(text for holds, text in found if not holds), *(text for holds, text in found if holds)]
        if self.losses:
            lines.append(
                f"{self.rows:,} rows in {self.groups:,} groups, {self.withheld:,} withheld; "
                f"AIL {self.losses['ail']:.4f}, GCP {self.losses['gcp']:.4f}."
            )
        return lines


def audit(
    folder: str | os.PathLike[str],
    original: Table,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
) -> Audit:
    """Audit the release in a folder against its original.

    ``trace`` is the private file (or array) with the group of every input row. ``promises`` are judged besides those
    that the manifest states, which whoever holds the files could have weakened. A broken promise or altered content
    is a finding; an error is raised only for files that are no release, and for an original read in another way.
    """
    home, manifest = read_manifest(folder)
    checks = [soundness.files(home, manifest)]
    try:
        release = load(home)
    except DiscreetError as error:
        tables = manifest.get("tables")
        known = isinstance(tables, dict) and all((home / str(name)).is_file() for name in tables)
        if checks[0].holds or not known:
            raise
        return Audit([*checks, Check("readable", False, f"The release cannot be read: {error}.")])
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
    return Audit(checks, kept, losses(release), release.rows, max(0, original.rows - release.rows), release.groups, how)


def _plain(value: Any) -> Any:
    """A number that JSON can hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
