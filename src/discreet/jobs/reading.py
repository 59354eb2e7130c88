"""Reads the table of a job, or one to look at, with remarks on how it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from discreet.arguments import argument
from discreet.jobs.job import KINDS, LAYOUT, Job
from discreet.principles.wording import counted, rows
from discreet.processors import memory
from discreet.progress import Remark
from discreet.table.hierarchy_sources import Offered, offered
from discreet.table.layout import Layout
from discreet.table.paths import located
from discreet.table.read import read
from discreet.table.sources import names_in
from discreet.table.table import Table
from discreet.table.typed_files import stated_rows

ROW_BYTES, CELL_BYTES = 60, 40
"""What publishing takes at its peak, about: for a row, and for each of its cells."""
LISTS = ("quasi", "sensitive", "identifiers", "keep", *KINDS)
UNSAID: dict[str, Any] = {
    **{key: {} for key in ("hierarchies", "domains", "dates", "lists", "join")},
    **dict.fromkeys(("person", "hierarchy_folder", *LAYOUT)),
    **dict.fromkeys(("identifiers", "na", "columns", *KINDS), ()),
    "missing": "value",
}
"""The keys that say how a table to look at is read, and what they are if nothing is said."""


def read_input(job: Job) -> tuple[Table, list[str], list[Remark]]:
    """Return the table of a job, the columns of the input that are not published, and remarks about the reading."""
    given: dict[str, list[str]] = {key: getattr(job, key) for key in LISTS}
    header = header_of(job.input, job.layout, [text for texts in given.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in given.items()}
    offers = offers_in(job.hierarchy_folder, names["quasi"], names["sensitive"], job.hierarchies)
    table = read(job.input, **names, hierarchies={**offers, **job.hierarchies}, **job.reading)
    published = {column.name if column.derived is None else column.derived.attribute for column in table.columns}
    left_out = [name for name in header() if name not in published]
    return table, left_out, [*on_offers(table, offers), *on_columns(table)]


def on_memory(job: Job) -> Iterator[str]:
    """Say that a Parquet file takes much memory: a small one may have any number of rows."""
    path, most = located(job.input), memory()
    height = stated_rows(path) if path.is_file() else 0
    if not height or most is None:
        return
    texts = [text for key in ("quasi", "sensitive", "keep") for text in getattr(job, key)]
    columns = len(split_names(texts, header_of(job.input, job.layout, texts)))
    needed = height * (ROW_BYTES + columns * CELL_BYTES)
    if needed > most / 2:
        yield (
            f"'{job.input}' has {rows(height)}; with {counted(columns, 'column')} they may take about "
            f"{needed / 1e9:.1f} GB of memory, more than half of the {most / 1e9:.1f} GB of this machine."
        )


def read_to_look(
    input: str, quasi: Iterable[str], sensitive: str | None, given: Mapping[str, Any]
) -> tuple[Table, list[Remark]]:
    """Read a table to analyse, not to publish; return it with remarks. ``given`` has any other keys of a job.

    Without quasi-identifiers all columns without another role are used. Missing numbers are values by default.
    """
    given = {**UNSAID, **given}
    layout = layout_of(given)
    lists = {"quasi": quasi, **{key: given[key] for key in ("identifiers", *KINDS)}}
    header = header_of(input, layout, [text for texts in lists.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in lists.items()}
    sensitive_columns = [] if sensitive is None else split_names([sensitive], header)
    person = given["person"]
    if not names["quasi"]:
        names["quasi"] = [name for name in header() if name not in (*sensitive_columns, *names["identifiers"], person)]
    files = given["hierarchies"]
    offers = offers_in(given["hierarchy_folder"], names["quasi"], sensitive_columns, files)
    table = read(
        input,
        **names,
        sensitive=sensitive_columns,
        person=person,
        hierarchies={**offers, **files},
        missing="error" if given["missing"] == "error" else "value",
        **{key: given[key] for key in ("domains", "dates", "lists", "join", "na", *LAYOUT)},
    )
    remarks = [*on_offers(table, offers), *on_columns(table)]
    return table, [*remarks, *_to_withhold(table)] if given["missing"] == "withhold" else remarks


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


def offers_in(
    folder: str | None, quasi: Iterable[str], sensitive: Iterable[str] | None, named: Mapping[str, Any]
) -> dict[str, Offered]:
    """Return the hierarchies in a folder for columns that have no hierarchy in ``named``."""
    if folder is None:
        return {}
    columns = [*quasi, *(sensitive or ())]
    return {name: offer for name, offer in offered(folder, columns).items() if name not in named}


def on_offers(table: Table, offers: Mapping[str, Offered]) -> Iterator[Remark]:
    """Yield remarks on which hierarchies of a folder were used and which were not."""
    if not offers:
        return
    folder = next(iter(offers.values())).path.parent
    taken = [name for name in offers if table.column(name).kind != "numeric"]
    yield Remark("hierarchies", f"Hierarchies taken from '{folder}': {', '.join(taken) or 'none'}.")
    for name, offer in offers.items():
        if name not in taken:
            say = argument("hierarchies", {name: str(offer.path)})
            sentence = f"Not taken: {offer.path.name}, because {name!r} holds numbers or dates; to publish its labels"
            yield Remark("hierarchies", f"{sentence} say {say}")


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


def layout_of(given: Mapping[str, Any]) -> Layout:
    """Return the layout that the keys of a job describe."""
    return Layout.of(**{key: given[key] for key in LAYOUT if given.get(key)})


def header_of(path: str, layout: Layout, hints: Iterable[str] = ()) -> Callable[[], list[str]]:
    """Return a function that reads the column names of an input file, in their order, when it is first called."""

    @cache
    def names() -> list[str]:
        parts = [part.strip() for text in hints for part in (text, *text.split(","))]
        return names_in(path, layout, parts)

    return names
