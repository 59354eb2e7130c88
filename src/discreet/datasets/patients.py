"""Invented patients for documentation and small examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DiscreetError
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("name", "age", "sex", "zip", "weight", "disease")
_NUMERIC = ("age", "zip", "weight")
_ROWS = """
Pia;35;F;53711;72;epilepsy
Elsa;30;F;53703;63;anemia
Kurt;73;M;53706;78;heart murmur
Carl;48;M;53713;84;angina
Tess;41;F;53713;77;anemia
Dora;29;F;53703;72;brain tumors
Olga;63;F;53726;74;angina
Ivan;50;M;53726;74;brain tumors
Mona;33;F;53713;54;headache
Hans;51;M;53703;88;brain tumors
Vito;57;M;53713;88;heart murmur
Kira;44;F;53726;65;brain tumors
Max;22;M;53715;84;epilepsy
Paul;49;M;53726;86;heart murmur
Ada;65;F;53711;78;angina
Abel;39;M;53705;87;anemia
Uma;32;F;53719;62;headache
Sara;60;F;53706;85;angina
Sven;29;M;53726;68;epilepsy
Gus;47;M;53705;87;headache
Yuri;52;M;53706;83;heart murmur
Ines;48;F;53726;74;heart murmur
Hope;66;F;53705;83;heart murmur
Emil;56;M;53726;92;heart murmur
Bea;66;F;53711;56;brain tumors
Rolf;34;M;53726;64;headache
Yara;41;F;53726;73;anemia
Walt;66;M;53719;75;angina
Leo;37;M;53713;79;epilepsy
Nora;35;F;53703;79;angina
Nils;44;M;53713;64;heart murmur
Gina;71;F;53715;47;brain tumors
Rosa;19;F;53703;68;anemia
Finn;67;M;53705;79;heart murmur
Fay;25;F;53719;64;anemia
Zoe;50;F;53711;66;anemia
Bram;69;M;53711;76;angina
Ugo;51;M;53719;65;headache
Vera;45;F;53715;65;headache
Cleo;64;F;53713;57;epilepsy
Joel;65;M;53719;69;angina
Dirk;55;M;53726;89;angina
Wilma;73;F;53705;65;heart murmur
Jane;74;F;53713;70;brain tumors
Otto;50;M;53719;70;anemia
Tom;31;M;53726;73;epilepsy
Lena;30;F;53705;57;epilepsy
Zeno;52;M;53713;76;angina
"""


def patients(
    *,
    quasi: Sequence[str] = ("age", "sex", "zip"),
    sensitive: str | None = "disease",
    keep: Sequence[str] = (),
) -> Table:
    """Return a table of 48 patients, without their names, whose disease is sensitive by default.

    >>> table = patients()
    >>> table.rows, [column.name for column in table.quasi], table.secret.hierarchy.height
    (48, ['age', 'sex', 'zip'], 2)
    """
    wanted = [*quasi, *([sensitive] if sensitive is not None else []), *keep]
    for name in wanted:
        if name not in _COLUMNS[1:]:
            raise DiscreetError(f"the patients table has no attribute {name!r}; it has {', '.join(_COLUMNS[1:])}")
    columns = {name: _column(name) for name in wanted}
    return Table(
        rows=len(_cells("age")),
        quasi=tuple(columns[name] for name in quasi),
        sensitive=(columns[sensitive],) if sensitive is not None else (),
        other=tuple(columns[name] for name in keep),
    )


def patients_arrow() -> pa.Table:
    """Return the same patients as plain values in an Arrow table, names included.

    >>> patients_arrow().column_names
    ['name', 'age', 'sex', 'zip', 'weight', 'disease']
    """
    import pyarrow as pa

    return pa.table({n: [int(c) for c in _cells(n)] if n in _NUMERIC else _cells(n) for n in _COLUMNS})


def diseases() -> Hierarchy:
    """Return the hierarchy of the diseases: two families of three diseases each.

    >>> diseases().labels[1]
    ('nervous diseases', 'circulatory diseases')
    """
    families = {
        "nervous diseases": ("headache", "epilepsy", "brain tumors"),
        "circulatory diseases": ("anemia", "angina", "heart murmur"),
    }
    return Hierarchy.from_nested("disease", families)


def _cells(name: str) -> list[str]:
    return [row.split(";")[_COLUMNS.index(name)] for row in _ROWS.split("\n") if row]


def _column(name: str) -> Column:
    cells = _cells(name)
    if name in _NUMERIC:
        numbers, places = np.unique(np.array(cells, dtype=np.int64), return_inverse=True)
        domain = (float(numbers[0]), float(numbers[-1]))
        return Column(name, "numeric", places.astype(np.int32), numbers, domain=domain)
    hierarchy = diseases() if name == "disease" else Hierarchy.flat(name, sorted(set(cells)))
    codes = np.array([hierarchy.rank(cell) for cell in cells], dtype=np.int32)
    values = np.array(hierarchy.leaves, dtype=object)
    return Column(name, "categorical", codes, values, hierarchy, declared_values=name == "disease")
