"""The one call from a table and a promise to a release."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle, promised
from discreet.releases.release import Release
from discreet.schemes import Scheme, make_scheme
from discreet.schemes.top_down import Progress
from discreet.table.table import Table, as_table


def publish(
    table: Table,
    promise: Principle | str | Iterable[Principle | str],
    scheme: Scheme | str | None = None,
    *,
    progress: Progress | None = None,
) -> Release:
    """Publish a table under a promise, or several, by the default scheme for them unless another is given.

    >>> from discreet.datasets import patients
    >>> publish(patients(), "l-diversity(l=3)")
    <generalized release of 48 rows, 0 withheld: l-diversity(l=3)>
    >>> publish(patients(), ["k-anonymity(k=4)", "l-diversity(l=3)"], "mondrian").withheld
    0
    """
    principle = promised(promise)
    if scheme is None or isinstance(scheme, str):
        scheme = make_scheme(scheme, principle=principle)
    if not isinstance(scheme, Scheme):
        raise DiscreetError(f"{scheme!r} is no scheme; give one such as Burel(), or its name")
    return scheme.publish(as_table(table), principle, progress)
