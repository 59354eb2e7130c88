"""From a job to the table it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from discreet.command.flags import Header, split_names

if TYPE_CHECKING:
    from discreet.command.job import Job
    from discreet.table.table import Table

KINDS = ("numeric", "categorical", "ordinal")
LISTS = ("quasi", "identifiers", "keep", *KINDS)


def read_input(job: Job) -> tuple[Table, list[str], list[str]]:
    """The table of a job, the names of the input's columns that are not published, and remarks about the reading."""
    from discreet.table.read import read

    given: dict[str, list[str]] = {key: getattr(job, key) for key in LISTS}
    header = Header(job.input, job.delimiter, job.encoding, [text for texts in given.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in given.items()}
    table = read(job.input, **names, **job.reading)
    published = {column.name for column in table.columns}
    left_out = [name for name in header() if name not in published]
    declared = {name for key in KINDS for name in names[key]}
    return table, left_out, list(_numbers_by_label(table, set(job.hierarchies) - declared))


def _numbers_by_label(table: Table, names: Iterable[str]) -> Iterator[str]:
    """A hierarchy makes a column categorical; where its values are numbers, somebody may have meant intervals."""
    for column in table.quasi:
        if column.name in names and all(text.replace(".", "", 1).isdecimal() for text in column.texts):
            yield (
                f"Note: {column.name!r} holds numbers but has a hierarchy, so its labels are published; "
                f"with --numeric {column.name} it would be intervals."
            )
