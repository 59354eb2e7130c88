"""`publish`: the one call that turns a table and a promise into a release."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.principles.principle import Principle, as_principle
from discreet.progress import Progress
from discreet.releases.release import Release
from discreet.schemes import Scheme, as_scheme, make_scheme
from discreet.schemes.withholding import check_share, check_withheld
from discreet.table.table import Table, as_table
from discreet.table.texts import MOST_WITHHELD


def publish(
    table: Table,
    promise: Principle | str | Iterable[Principle | str],
    scheme: Scheme | str | None = None,
    *,
    progress: Progress | None = None,
    most_withheld: float = MOST_WITHHELD,
) -> Release:
    """Publish a table under one or more promises, with their default scheme unless another is given.

    A table that was read with ``missing="withhold"`` is refused when more than the share ``most_withheld`` of its rows
    would be withheld. The release is audited when it is saved.

    >>> from discreet.datasets import patients
    >>> publish(patients(), "l-diversity(l=3)")
    <generalized release of 48 rows, 0 withheld: l-diversity(l=3)>
    >>> publish(patients(), ["k-anonymity(k=4)", "l-diversity(l=3)"], "mondrian").withheld
    0
    """
    principle = as_principle(promise)
    if scheme is None or isinstance(scheme, str):
        scheme = make_scheme(scheme, principle=principle)
    scheme = as_scheme(scheme)
    check_share(most_withheld)
    release = scheme.publish(as_table(table), principle, checked("progress", progress, Progress | None))
    # The option `withhold` allows a scheme to withhold more rows for a lower loss; a scheme may also withhold further
    # rows so that the withheld ones keep the promise as a group.
    check_withheld(table, release.withheld, max(most_withheld, float(scheme.options.get("withhold", 0.0))))
    object.__setattr__(release, "confirm", partial(_confirm, as_table(table), release.trace))
    return release


def _confirm(table: Table, trace: NDArray[np.int32] | None, home: Path) -> None:
    """Raise an error if the release in a folder fails its audit."""
    from discreet.adversary.audit import audit  # imported late: who saves nothing audits nothing

    audited = audit(home, table, trace=trace)
    if not audited.holds:
        raise DiscreetError(f"the audit of the release failed, so nothing was saved: {audited.verdict}")
