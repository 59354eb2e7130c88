"""A synthetic table under attack: rows drawn from a model of the original, none of which is anybody's.

What such a table promises is of a different kind. A differentially private one says that no person's row changes the
probability of any outcome by more than a factor; it bounds what is learnt *because* a person is in the table, and says
nothing about groups of persons, nor about what the rows are worth. That cannot be seen from the table: whoever drew it
has to be believed. Attacks guess as from published rows, and find what the model has learnt of everyone.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.adversary.attacks.target import as_rows
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.table.table import Table

NOTE = (
    "This is a synthetic table: no row of it belongs to anybody, and what it promises is of a different kind, which "
    "cannot be seen from it. An adversary takes its rows as if they were people's."
)


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticRows(AnatomyRelease):
    """A synthetic table as an adversary reads it: every row with its own value."""

    @property
    def grouped(self) -> None:
        """Nothing: nobody is in a group."""
        return


def synthetic(table: Table) -> SyntheticRows:
    """Make a table attackable as a synthetic one.

    >>> from discreet.datasets import patients
    >>> synthetic(patients()).rows
    48
    """
    return as_rows(SyntheticRows, table, table.quasi_names, [])
