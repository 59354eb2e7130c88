"""Whether the tables of a release are written in the one way in which discreet writes them.

A cell may say the same in many ways (45, 045 or 45.0), and so may a line end or a quote: which of them was chosen for
which row could mark it, and nobody who reads the values would see. What was loaded is therefore written anew and
compared. Descriptions of groups are loaded as texts; these are put together anew from what they mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from discreet.adversary.check import Check, one_sentence
from discreet.releases.release import Release
from discreet.table.write import written_otherwise

FINE = "Every cell is written in the one way in which such values are written."


def spelling(home: Path, release: Release) -> Check:
    """Whether all tables are written as discreet writes what they say; of files at fault, the fault is told already."""
    if release.faults:
        return Check("spelling", True, "How cells are written was not looked at, as the tables are at fault.")
    faults = []
    parquet = all(name.endswith(".parquet") for name in release.manifest["tables"])
    format: Literal["csv", "parquet"] = "parquet" if parquet else "csv"
    for name, table in release.tables(numbers=parquet).items():
        path = home / f"{name}.{format}"
        other = written_otherwise(table, path, format)
        if other is not None:
            faults.append(f"the table {path.name} is not written as releases are, so it might tell more: {other}")
    if release.descriptions is not None:
        faults += release.descriptions.spelling_faults()
    return Check("spelling", False, one_sentence(faults)) if faults else Check("spelling", True, FINE)
