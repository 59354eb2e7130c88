"""Check that the tables of a release are written exactly as discreet writes them, line by line.

The same content can be written in many ways (45, 045 or 45.0; line ends; quotes), its lines can be in many orders, and
its groups can have many numbers. The choice could mark a row, unnoticed by anyone who reads only the values. Therefore
what was loaded is put into the order that follows from it (see ``releases.canonical``), written anew and compared.
Group descriptions are loaded as texts, so these are composed anew from their meaning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from discreet.adversary.check import Check, one_sentence
from discreet.principles import wording
from discreet.releases.release import Release
from discreet.table.write import reordered, written_otherwise

FINE = "Every cell is written in the one way that its value allows."
IN_ORDER = "The order of lines and the numbers of groups follow from what is published, so they tell nothing else."
OUT_OF_ORDER = (
    "are not in the order that follows from what is published, and another order might tell more; a release of an "
    "earlier version of discreet was shuffled: publish it again"
)


def spelling_and_order(home: Path, release: Release) -> tuple[Check, Check]:
    """Check that all tables are written as discreet writes their content, and in its order, unless they are faulty."""
    if release.faults:
        return (
            Check("spelling", True, "The spelling of cells was not checked, because the tables are faulty."),
            Check("order", True, "The order of lines was not checked, because the tables are faulty."),
        )
    faults, shuffled = [], []
    parquet = all(name.endswith(".parquet") for name in release.manifest["tables"])
    format: Literal["csv", "parquet"] = "parquet" if parquet else "csv"
    for name, table in release.in_order().tables(numbers=parquet).items():
        path = home / f"{name}.{format}"
        other = written_otherwise(table, path, format)
        if other is None:
            continue
        if reordered(release.tables(numbers=parquet)[name], path, format):
            shuffled.append(path.name)
        else:
            faults.append(f"the table {path.name} is not written as releases are, so it might tell more: {other}")
    for part in release.projections:
        if part.descriptions is not None:
            faults += part.descriptions.spelling_faults()
    spelled = Check("spelling", not faults, one_sentence(faults) if faults else FINE)
    if not shuffled:
        return spelled, Check("order", True, IN_ORDER)
    what = f"the lines of {wording.listed(shuffled)}, or the numbers of their groups,"
    return spelled, Check("order", False, one_sentence([f"{what} {OUT_OF_ORDER}"]))
