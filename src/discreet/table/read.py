"""Reading a table: which columns, in which role, of which kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, get_args

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy, Told
from discreet.table.hierarchy_files import Offered, offered
from discreet.table.kinds import Missing, Wish, code, wishes
from discreet.table.sources import fetch
from discreet.table.table import Table


def read(
    source: Any,
    *,
    quasi: Iterable[str],
    sensitive: str | Iterable[str] | None = None,
    identifiers: Iterable[str] = (),
    keep: Iterable[str] = (),
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    ordinal: Iterable[str] = (),
    hierarchies: Mapping[str, Hierarchy | Mapping[str, Any] | str | PathLike[str] | Offered | Told]
    | str
    | PathLike[str]
    | None = None,
    domains: Mapping[str, tuple[float, float]] | None = None,
    missing: Missing = "error",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table from a CSV (also compressed) or Parquet file, an Arrow table, or a pandas or polars frame.

    Roles: ``quasi`` are published in generalized form, ``sensitive`` is what is protected (one column, or a list of
    several), ``identifiers`` are dropped (but must exist), ``keep`` are carried along, all other columns are dropped.

    Kinds are inferred: numbers are numeric; text and truth values categorical; a pandas ordered Categorical or a
    polars Enum is ordinal in its own order, with all its categories. Dates are categorical, written as in ISO 8601. In
    CSV files a column is numeric when all its cells are numbers and none begins with a zero that would be lost, as
    postcodes do. ``numeric``, ``categorical`` and ``ordinal`` override this. Ordinal values without declared order are
    sorted, as numbers where all are. A column with a hierarchy is categorical unless declared otherwise, and its values
    are all leaves, also those that do not occur. ``hierarchies`` maps columns to files, mappings or hierarchies; or it
    is a folder, in which every quasi-identifier and sensitive attribute may have a file ``hierarchy_NAME.csv``,
    ``NAME.csv`` or ``.toml``, taken unless the column is numeric.

    Missing are empty or blank cells, null and NaN; ``NA`` or ``?`` is text like any other. A missing category is the
    value ``(missing)``, also of an ordinal column, where it stands first. A missing number is an error, unless
    ``missing`` is ``"withhold"`` (its row is listed in ``Table.unusable``) or ``"value"`` (it is a value of its own,
    below the smallest number). A missing number is never an error in columns that are kept along.

    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ann", "Bo", "Cy"], "age": [41, 17, 17], "flu": ["no", "yes", "no"]})
    >>> table = read(people, quasi=["age"], sensitive="flu", identifiers=["name"], domains={"age": (0, 99)})
    >>> table
    Table of 3 rows
      quasi      age  numeric      2 values in 0 to 99
      sensitive  flu  categorical  2 values
    >>> table.column("age").codes.tolist(), table.classes.tolist()
    ([1, 0, 0], [0, 1, 0])
    """
    roles = {
        "a quasi-identifier": _names(quasi),
        "the sensitive attribute": () if sensitive is None else _names(sensitive),
        "an identifier": _names(identifiers),
        "kept along": _names(keep),
    }
    _check_roles(roles)
    if missing not in get_args(Missing):
        raise DiscreetError(f"missing={missing!r} is no policy; choose 'error', 'withhold' or 'value'")
    if isinstance(hierarchies, (str, PathLike)):
        hierarchies = offered(hierarchies, (*roles["a quasi-identifier"], *roles["the sensitive attribute"]))
    said = wishes(
        {"numeric": _names(numeric), "categorical": _names(categorical), "ordinal": _names(ordinal)},
        hierarchies or {},
        domains or {},
    )
    quasi_names, sensitive_names, identifier_names, other_names = roles.values()
    coded = (*quasi_names, *sensitive_names, *other_names)
    needed = tuple(dict.fromkeys((*coded, *identifier_names, *said)))
    rows, columns = fetch(source, needed, coded, delimiter=delimiter, encoding=encoding)

    unusable = [np.empty(0, np.int64)]
    done = {}
    for name in coded:
        other = name in other_names
        policy: Missing = "value" if other else missing
        # The belief about a sensitive value is judged on withheld rows too, so there its absence needs a value.
        done[name], gone = code(columns[name], said.get(name, Wish()), policy, withheld=name in quasi_names)
        unusable.append(gone)
    withheld = np.unique(np.concatenate(unusable))
    if len(withheld) == rows:
        raise DiscreetError("every row misses a number and would be withheld; choose missing='value' instead")
    return Table(
        rows,
        tuple(done[name] for name in quasi_names),
        done[sensitive_names[0]] if sensitive_names else None,
        tuple(done[name] for name in other_names),
        withheld if len(withheld) else None,
        tuple(done[name] for name in sensitive_names[1:]),
    )


def _names(names: Iterable[str]) -> tuple[str, ...]:
    given = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise DiscreetError(f"{name!r} is no column name; name columns by text")
    return given


def _check_roles(roles: Mapping[str, tuple[str, ...]]) -> None:
    if not roles["a quasi-identifier"]:
        raise DiscreetError("no quasi-identifier is named; say which columns others may know, as in quasi=['age']")
    taken: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in taken:
                twice = "named twice" if taken[name] == role else f"both {taken[name]} and {role}"
                raise DiscreetError(f"column {name!r} is {twice}; give every column one role")
            taken[name] = role
