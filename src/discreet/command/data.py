"""`discreet data`: lists the tables to try things out on, and writes one to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa

from discreet.command.console import Exit, note, print_json, show_remark
from discreet.command.interface import CENSUS_ROWS, ELSEWHERE, FIXED, TABLES
from discreet.command.render import show_list
from discreet.datasets import census_arrow, census_hierarchies, diseases, patients_arrow
from discreet.disk import naming
from discreet.errors import DiscreetError
from discreet.evidence.generated import coil, incomes, incomes_of_households
from discreet.jobs.outputs import check_file
from discreet.progress import Remarks
from discreet.releases.placement import enter_file, real_place, tidied
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_sources import csv_text
from discreet.table.paths import located
from discreet.table.write import write_table
from discreet.unfinished import unfinished


def list_tables(as_json: bool) -> int:
    """List the tables, and where those are found that are not included."""
    known = {**TABLES, **ELSEWHERE}
    if as_json:
        print_json(known)
    else:
        show_list(known)
    return Exit.HOLDS


def get_table(name: str, file: str | None, rows: int | None, folder: str | None, force: bool, as_json: bool) -> int:
    """Write a table, and its hierarchies if they are asked for."""
    if name in FIXED and rows is not None:
        raise DiscreetError(f"--rows is for other tables; the table {name!r} has always the same rows")
    target = check_file(f"{name}.csv" if file is None else file, "table", force, {}, Remarks(show_remark))
    table, trees = made(name, rows or CENSUS_ROWS)
    written = [] if folder is None else write_hierarchies(trees, located(folder), force)
    write_people(table, target, force)
    if as_json:
        print_json({"table": str(target), "rows": table.num_rows, "hierarchies": [str(path) for path in written]})
    else:
        note(f"Wrote {table.num_rows:,} people to {target.name}.")
    return Exit.HOLDS


def made(name: str, rows: int) -> tuple[pa.Table, Mapping[str, Hierarchy]]:
    """Generate a table, and the hierarchies of its columns."""
    if name == "patients":
        return patients_arrow(), {"disease": diseases()}
    if name == "census":
        return census_arrow(rows), census_hierarchies()
    table = {"incomes": incomes, "customers": coil, "households": incomes_of_households}[name](rows)
    return pa.table({column.name: column.values[column.codes] for column in table.columns}), {}


def write_people(table: pa.Table, path: Path, force: bool) -> None:
    """Write a table as CSV, in one step."""
    _write(path, force, lambda fresh: write_table(table, fresh))


def write_hierarchies(trees: Mapping[str, Hierarchy], folder: Path, force: bool) -> list[Path]:
    """Write hierarchies that have more than values and a root into a folder, a file each; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.csv": tree for name, tree in trees.items() if tree.height > 1}
    for path in files:
        check_file(str(path), "hierarchy", force, {}, Remarks(show_remark))
    for path, tree in files.items():
        _write(path, force, partial(Path.write_text, data=csv_text(tree.rows()), encoding="utf-8", newline="\n"))
    return list(files)


def _write(path: Path, force: bool, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, and put it there when it is complete."""
    with naming(str(path)), unfinished(path) as fresh:
        write(fresh)
        enter_file(fresh, path, force)
        tidied(real_place(path))
