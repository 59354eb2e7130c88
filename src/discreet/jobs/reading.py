"""Reads the table of a job, or one to look at, with remarks on how it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from discreet.arguments import argument
from discreet.jobs.job import Job
from discreet.principles.wording import counted, rows
from discreet.processors import memory
from discreet.progress import Remark, Remarks
from discreet.table.hierarchy_sources import Offered
from discreet.table.layout import Layout
from discreet.table.read import table_of
from discreet.table.sources import Source
from discreet.table.spec import NAMED, TableSpec
from discreet.table.table import Table

ROW_BYTES, CELL_BYTES = 60, 40
"""What publishing takes at its peak, about: for a row, and for each of its cells."""


def read_input(job: Job, remarks: Remarks | None = None, *, kept: bool = True) -> tuple[Table, list[str], list[Remark]]:
    """Return the table of a job as ``read_table`` does."""
    return read_table(job.input, job.table, remarks, kept=kept)


def read_table(
    input: str, spec: TableSpec, remarks: Remarks | None = None, *, kept: bool = True
) -> tuple[Table, list[str], list[Remark]]:
    """Return the table of an input, the columns of it that are not published, and remarks about the reading.

    Remarks on memory are made before. Unless ``kept``, columns that are published unchanged are left out.
    """
    with Source(input) as source:
        spec = split(spec, source)
        spec = (spec if kept else spec.without_kept()).offered()
        if remarks is not None:
            remarks("memory", *_on_memory(source, spec))
        table = table_of(source, spec)
        published = {column.name if column.derived is None else column.derived.attribute for column in table.columns}
        left_out = [name for name in source.names(spec, spec.roles.published) if name not in published]
    return table, left_out, [*on_offers(table, spec), *on_columns(table)]


def _on_memory(source: Source, spec: TableSpec) -> Iterator[str]:
    """Say that a Parquet file takes much memory: a small one may have any number of rows."""
    height, most, columns = source.stated_rows, memory(), len(spec.roles.published)
    needed = height * (ROW_BYTES + columns * CELL_BYTES)
    if most is not None and needed > most / 2:
        yield (
            f"{source.what} has {rows(height)}; with {counted(columns, 'column')} they may take about "
            f"{needed / 1e9:.1f} GB of memory, more than half of the {most / 1e9:.1f} GB of this machine."
        )


def read_to_look(source: Source, spec: TableSpec) -> tuple[Table, list[Remark]]:
    """Read a table to analyse, not to publish; return it with remarks.

    Without quasi-identifiers all columns without another role are used. Rows whose number is missing are not withheld.
    """
    withhold, spec = spec.missing == "withhold", split(spec, source)
    if not spec.quasi:
        taken = [name for names in spec.roles for name in names]
        spec = replace(spec, quasi=[name for name in source.names(spec, taken) if name not in taken])
    spec = replace(spec.without_kept().offered(), missing="value" if withhold else spec.missing)
    table = table_of(source, spec)
    remarks = [*on_offers(table, spec), *on_columns(table)]
    return table, [*remarks, *_to_withhold(table)] if withhold else remarks


def _to_withhold(table: Table) -> Iterator[Remark]:
    """Say how many rows `publish` would withhold for a missing number."""
    columns = [column for column in (*table.quasi, *table.sensitive) if column.kind == "numeric"]
    lacking = [column.codes == column.missing for column in columns if column.missing is not None]
    if lacking:
        gone = int(np.any(lacking, axis=0).sum())
        has, are, them = ("has", "is", "it") if gone == 1 else ("have", "are", "them")
        sentence = f"{rows(gone)} {has} a missing number and {are} counted here; publish withholds {them}."
        yield Remark("columns", sentence)


def on_columns(table: Table) -> list[Remark]:
    """Return notes on how columns were read, with the arguments that would change it."""
    return [Remark("columns", str(note)) for note in table.notes]


def on_offers(table: Table, spec: TableSpec) -> Iterator[Remark]:
    """Yield remarks on which hierarchies of a folder were used and which were not."""
    offers = {name: tree.path for name, tree in spec.trees.items() if isinstance(tree, Offered)}
    if not offers:
        return
    taken = [name for name in offers if table.column(name).kind != "numeric" and table.column(name).fit is None]
    folder = next(iter(offers.values())).parent
    yield Remark("hierarchies", f"Hierarchies taken from '{folder}': {', '.join(taken) or 'none'}.")
    for name, path in offers.items():
        if name not in taken:
            say = argument("hierarchies", {name: str(path)})
            sentence = f"Not taken: {path.name}, because {name!r} holds numbers or dates; to publish its labels"
            yield Remark("hierarchies", f"{sentence} say {say}")


class Named(Protocol):
    """What knows the names of its columns."""

    def names(self, layout: Layout, hints: Sequence[str] = ()) -> list[str]:
        """Return them; expected names help to split CSV."""


def split(spec: TableSpec, source: Named) -> TableSpec:
    """Return a spec in which texts that list several columns of a source, separated by commas, are split."""
    texts = [text for key in NAMED for text in getattr(spec, key)]
    hints = [part.strip() for text in texts for part in (text, *text.split(","))]
    return spec.named(lambda text: split_names([text], lambda: source.names(spec, hints)))


def split_names(texts: Iterable[str], header: Callable[[], Sequence[str]]) -> list[str]:
    """Split comma-separated texts into column names; a text that is itself a column name is kept whole.

    >>> split_names(["age, sex", "pay, monthly"], lambda: ["age", "sex", "pay, monthly"])
    ['age', 'sex', 'pay, monthly']
    """
    names: list[str] = []
    for text in texts:
        # Only an ambiguous text makes it necessary to read the file's header.
        if ("," not in text and text == text.strip()) or text in header():
            names.append(text)
        else:
            names += [part.strip() for part in text.split(",") if part.strip()]
    return names
