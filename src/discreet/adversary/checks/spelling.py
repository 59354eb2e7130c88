"""Check that the tables of a release are written exactly as discreet writes them.

The same content can be written in many ways (45, 045 or 45.0; line ends; quotes). The choice could mark a row,
unnoticed by anyone who reads only the values. Therefore what was loaded is written anew and compared. Group
descriptions are loaded as texts, so these are composed anew from their meaning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from discreet.adversary.check import Check, one_sentence
from discreet.releases.release import Release
from discreet.table.write import written_otherwise

FINE = "Every cell is written in the one way that its value allows."


def spelling(home: Path, release: Release) -> Check:
    """Check that all tables are written as discreet writes their content, unless they are already at fault."""
    if release.faults:
        return Check("spelling", True, "The spelling of cells was not checked, because the tables are faulty.")
    faults = []
    parquet = all(name.endswith(".parquet") for name in release.manifest["tables"])
    format: Literal["csv", "parquet"] = "parquet" if parquet else "csv"
    for name, table in release.tables(numbers=parquet).items():
        path = home / f"{name}.{format}"
        other = written_otherwise(table, path, format)
        if other is not None:
            faults.append(f"the table {path.name} is not written as releases are, so it might tell more: {other}")
    for part in release.projections:
        if part.descriptions is not None:
            faults += part.descriptions.spelling_faults()
    return Check("spelling", False, one_sentence(faults)) if faults else Check("spelling", True, FINE)
