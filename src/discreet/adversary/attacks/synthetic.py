"""A synthetic table under attack: rows drawn from a model of the original, none of which is anybody's.

What such a table promises is of a different kind. A differentially private one says that no person's row changes the
probability of any outcome by more than a factor; it bounds what is learnt *because* a person is in the table, and says
nothing about groups of persons, nor about what the rows are worth. That cannot be seen from the table: that it was
drawn so is an assumption. Attacks guess as from published rows, and find what the model has learnt of everyone.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.principles.differential_privacy import DifferentialPrivacy
from discreet.releases.synthetic.release import Privacy, SyntheticRelease
from discreet.table.table import Table

NOTE = (
    "This is a synthetic table: no row of it belongs to anybody, and what it promises is of a different kind, which "
    "cannot be seen from it. An adversary takes its rows as if they were people's."
)


def synthetic(table: Table) -> SyntheticRelease:
    """Make a table attackable as a synthetic one that promises nothing known.

    >>> from discreet.datasets import patients
    >>> synthetic(patients()).rows
    48
    """
    unknown = Privacy(float("inf"), "observed")
    made = SyntheticRelease.of_rows(table, unknown, promise=DifferentialPrivacy(1.0), scheme="none")
    return replace(made, manifest={**made.manifest, "promise": []})
