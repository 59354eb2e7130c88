"""Invented patients for documentation and small examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.read import read
from discreet.table.table import Table

NUMERIC = ("age", "zip", "weight")


def patients(
    *,
    quasi: Sequence[str] = ("age", "sex", "zip"),
    sensitive: str | None = "disease",
    keep: Sequence[str] = (),
) -> Table:
    """Return a table of 48 patients, without their names, whose disease is sensitive by default.

    >>> table = patients()
    >>> table.rows, [column.name for column in table.quasi], table.sensitive_attribute.hierarchy.height
    (48, ['age', 'sex', 'zip'], 2)
    """
    attributes = patients_arrow().column_names[1:]
    wanted = [*quasi, *([sensitive] if sensitive is not None else []), *keep]
    for name in wanted:
        if name not in attributes:
            raise DiscreetError(f"the patients table has no attribute {name!r}; it has {', '.join(attributes)}")
    return read(
        patients_arrow(),
        quasi=quasi,
        sensitive=sensitive,
        keep=keep,
        numeric=[name for name in wanted if name in NUMERIC],
        hierarchies={"disease": diseases()} if "disease" in wanted else None,
    )


@cache
def patients_arrow() -> pa.Table:
    """Return the same patients as plain values in an Arrow table, names included.

    >>> patients_arrow().column_names
    ['name', 'age', 'sex', 'zip', 'weight', 'disease']
    """
    return pyarrow.csv.read_csv(Path(__file__).with_name("patients.csv"))


def diseases() -> Hierarchy:
    """Return the hierarchy of the diseases: two families of three diseases each.

    >>> diseases().labels[1]
    ('nervous diseases', 'circulatory diseases')
    """
    families = {
        "nervous diseases": ("headache", "epilepsy", "brain tumors"),
        "circulatory diseases": ("anemia", "angina", "heart murmur"),
    }
    return Hierarchy.of("disease", families)
