"""`init_hierarchy` and `check_hierarchy`: a hierarchy to start from, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.jobs.outputs import check_file, write_file
from discreet.options import brief
from discreet.principles.wording import counted
from discreet.progress import Remark, Remarks
from discreet.table.dates import as_dates
from discreet.table.hierarchy_check import Examined, Node, examine, outline
from discreet.table.hierarchy_sources import NAMES
from discreet.table.hierarchy_starters import RECIPES, Starter, StarterKind, starter
from discreet.table.kinds import ColumnSpec, code
from discreet.table.notes import notes_on
from discreet.table.paths import located
from discreet.table.raw_column import RawColumn
from discreet.table.sources import Source
from discreet.table.spec import TableSpec
from discreet.table.table import as_name

HEEDED = {"na", "dates"}
"""The arguments of notes on columns that these jobs take, too."""


@dataclass(frozen=True, eq=False)
class StarterOutcome:
    """A hierarchy to start from, and where it was written."""

    starter: Starter
    file: str | None
    nodes: tuple[Node, ...]
    """The outline of its tree, from the root on."""
    remarks: tuple[Remark, ...]
    column: RawColumn
    """The column that it was made of."""

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        made = self.starter
        said = {"file": self.file, "kind": made.kind, "because": made.why, "recipe": made.recipe}
        return {**said, "notes": [remark.sentence for remark in self.remarks], "tree": plain(self.nodes)}


def init_hierarchy(
    source: Any,
    column: str,
    kind: StarterKind | None = None,
    *,
    file: str | None = None,
    force: bool = False,
    reading: Mapping[str, Any] | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> StarterOutcome:
    """Make a hierarchy of a column to start from, and write it to a file if one is named.

    It is made of the values of this column alone. The kinds are ``ranges`` (bands of numbers), ``prefixes`` (of codes),
    ``balanced`` (names that follow each other in the alphabet, in groups of about as many rows) and ``dates`` (months,
    quarters, years); without one, it is the one that suits the column. Bands and prefixes are recipes, unless the name
    of the file does not end with ``.toml``. In a folder, the file is called after the column. ``reading`` has the keys
    of a job that say how the source is read.

    >>> import pyarrow as pa
    >>> made = init_hierarchy(pa.table({"zip": ["53703", "53711", "53719"]}), "zip")
    >>> made.starter.kind, made.starter.recipe
    ('prefixes', {'prefix': {'keep': [4, 3]}})
    """
    remarks = Remarks(remark)
    inputs = {"the input": Path(source)} if isinstance(source, (str, Path)) else {}
    inside = file is not None and located(file).is_dir()
    target = None if file is None or inside else check_file(file, "hierarchy", force, inputs, remarks)
    raw, spec = _column(source, column, reading or {})
    dated = _dated(raw, spec)
    made = starter(raw, dated, kind, None if target is None else target.suffix.lower() == ".toml")
    if inside:
        file = str(Path(str(file), _file_name(column, made)))
        target = check_file(file, "hierarchy", force, inputs, remarks)
    remarks.extend(_on_column(raw, dated))
    remarks.extend(_on_starter(made, raw, spec))
    if target is not None:
        write_file(target, made.text.encode(), force, remarks)
    return StarterOutcome(made, file, tuple(outline(made.hierarchy, raw)), tuple(remarks.made), raw)


def _file_name(column: str, made: Starter) -> str:
    """Return the name of the file for a hierarchy of a column by which it is found in a folder of hierarchies."""
    if Path(column).name != column or "\\" in column or column.startswith("."):
        raise DiscreetError(
            f"the column {column!r} has a name that no file can have; name the file, as in "
            f"{argument('output', 'hierarchy.csv')}"
        )
    return NAMES[2 if made.recipe is None else 3].format(column)


def check_hierarchy(
    file: str | Path,
    source: Any = None,
    column: str | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
) -> Examined:
    """Find all faults of the file of a hierarchy; with a table and its column, also the values that it lacks.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "city.csv")
    ...     _ = path.write_text("Lyon,France\\nNice,\\nLyon,Italy\\n")
    ...     [fault.sort for fault in check_hierarchy(path).faults]
    ['blank label', 'duplicate leaf']
    """
    path = located(file)
    if (source is None) != (column is None):
        raise DiscreetError("a hierarchy is checked beside a table and the name of its column; give both, or neither")
    if column is None:
        return examine(named_by(path), path)
    raw, _ = _column(source, column, reading or {})
    return examine(column, path, raw)


def named_by(path: Path) -> str:
    """Return the name of the column that a file of a hierarchy is for, by its own name.

    >>> named_by(Path("trees/hierarchy_city.csv")), named_by(Path("city.toml"))
    ('city', 'city')
    """
    before = NAMES[0].partition("{")[0]
    return path.stem.removeprefix(before) or path.stem


def plain(nodes: tuple[Node, ...]) -> list[dict[str, Any]]:
    """Return nodes as plain values, for JSON."""
    return [node._asdict() for node in nodes]


# ------------------------------------------------------------------------------------------------------------- reading


def _column(source: Any, column: str, reading: Mapping[str, Any]) -> tuple[RawColumn, TableSpec]:
    """Return a column as it lies in its source, and how that is read."""
    name, spec = as_name(column, "column"), TableSpec.of(reading)
    other = next((each for each in spec.dates if each != name), None)
    if other is not None:
        raise DiscreetError(
            f"{argument('dates', {other: spec.dates[other] or ''})} is about another column than {name!r}; leave it out"
        )
    with Source(source) as opened:
        _, columns = opened.fetch([name], [name], spec)
    return columns[name], spec


def _dated(raw: RawColumn, spec: TableSpec) -> RawColumn | None:
    """Return a column with its dates as numbers; None if it holds none."""
    dated = as_dates(raw, spec.dates.get(raw.name), raw.name in spec.dates) if raw.order is None else raw
    return None if dated.notation == "number" else dated


def _on_column(raw: RawColumn, dated: RawColumn | None) -> Iterator[Remark]:
    """Yield notes on values that may mean something else, such as NA."""
    settled, _ = code(dated or raw, ColumnSpec(), "value")
    for note in notes_on([(dated or raw, settled)]):
        if note.say and {key for key, _ in note.say} <= HEEDED:
            yield Remark("columns", str(note))


def _on_starter(made: Starter, raw: RawColumn, spec: TableSpec) -> Iterator[Remark]:
    """Yield what to know before a release is made with it."""
    name = made.hierarchy.attribute
    if made.kind in ("ranges", "dates"):
        yield Remark(
            "hierarchies",
            f"Without a hierarchy {brief(name)} is published in intervals, which lose less; use this one if fixed "
            "bands are easier to read.",
        )
    if made.kind == "dates" and name in spec.dates:
        yield Remark("hierarchies", f"Publish with this hierarchy and without {argument('dates')} for {brief(name)}.")
    if made.recipe is not None:
        return
    values, leaves = len({text.strip() for text in raw.texts}), len(made.hierarchy.leaves)
    if leaves > values:
        yield Remark(
            "hierarchies",
            f"The file lists all {leaves:,} days of its years, so that a release does not tell which of them occur.",
        )
        return
    once = int((np.bincount(raw.codes[raw.codes >= 0], minlength=1) == 1).sum())
    single = f" {once:,} of them {'stands' if once == 1 else 'stand'} in a single row." if once else ""
    recipe = " A file that ends with .toml says the same without a list." if made.kind in RECIPES else ""
    grouped = made.kind == "balanced" and made.hierarchy.height > 1
    ends = " Its groups tell roughly how frequent names are." if grouped else ""
    yield Remark(
        "caution",
        f"a release with this file lists all that is in it ({counted(leaves, 'value')}) as what could occur.{single} "
        f"Add what else could.{ends}{recipe}",
    )
