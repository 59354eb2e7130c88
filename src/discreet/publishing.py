"""The one call from a table and a promise to a release."""

from __future__ import annotations

from discreet.principles.principle import Principle, parse
from discreet.releases.release import Release
from discreet.schemes import Scheme, make_scheme
from discreet.schemes.top_down import Progress
from discreet.table.table import Table


def publish(
    table: Table, promise: Principle | str, scheme: Scheme | None = None, *, progress: Progress | None = None
) -> Release:
    """Publish a table under a promise, by the default scheme for that promise unless another is given.

    >>> from discreet.datasets import patients
    >>> publish(patients(), "l-diversity(l=3)").withheld
    0
    """
    principle = parse(promise) if isinstance(promise, str) else promise
    return (scheme or make_scheme(principle=principle)).publish(table, principle, progress)
