"""Reads the table of a job or of reading flags, with remarks for the user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discreet.command.flags import by_column, header_of, split_names
from discreet.command.job import Job
from discreet.errors import DiscreetError
from discreet.report.roles import describe, may_identify, suggest
from discreet.table.hierarchy_sources import Offered, offered
from discreet.table.read import read, read_unpublished
from discreet.table.table import Table

KINDS = ("numeric", "categorical", "ordinal")
LISTS = ("quasi", "sensitive", "identifiers", "keep", *KINDS)


def read_input(job: Job) -> tuple[Table, list[str], list[str]]:
    """Return the table of a job, the columns of the input that are not published, and remarks about the reading."""
    given: dict[str, list[str]] = {key: getattr(job, key) for key in LISTS}
    header = header_of(job.input, job.delimiter, job.encoding, [text for texts in given.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in given.items()}
    offers = offers_in(job.hierarchy_folder, names["quasi"], names["sensitive"], job.hierarchies)
    table = read(job.input, **names, hierarchies={**offers, **job.hierarchies}, **job.reading)
    published = {column.name if column.derived is None else column.derived.attribute for column in table.columns}
    left_out = [name for name in header() if name not in published]
    remarks = [*on_offers(table, offers)]
    unnamed = [name for name in left_out if name not in names["identifiers"]]
    if unnamed and job.person is None:
        remarks += _repeated_identifier(job, unnamed)
    return table, left_out, [*remarks, *on_columns(table)]


def read_to_look(
    input: str, quasi: Iterable[str], sensitive: str | None, given: Mapping[str, Any]
) -> tuple[Table, list[str]]:
    """Read a table to analyse, not to publish; return it with remarks. ``given`` are the reading flags.

    Without quasi-identifiers all columns but the sensitive one and the person are used. Missing numbers are values.
    """
    delimiter, encoding = given["delimiter"], given["encoding"]
    lists = {"quasi": quasi, **{key: given[key] for key in KINDS}}
    header = header_of(input, delimiter, encoding, [text for texts in lists.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in lists.items()}
    secrets = [] if sensitive is None else split_names([sensitive], header)
    person = given.get("person")
    if not names["quasi"]:
        names["quasi"] = [name for name in header() if name not in (*secrets, person)]
    declared = by_column(given)
    files = declared.pop("hierarchies")
    offers = offers_in(declared.pop("hierarchy_folder"), names["quasi"], secrets, files)
    table = read(
        input,
        **names,
        sensitive=secrets,
        person=person,
        hierarchies={**offers, **files},
        **declared,
        missing="value",
        na=given["na"],
        delimiter=delimiter,
        encoding=encoding,
    )
    return table, [*on_offers(table, offers), *on_columns(table)]


def on_columns(table: Table) -> list[str]:
    """Return notes on how columns were read, with the flags that would change it."""
    return [f"Note: {note}" for note in table.notes]


def offers_in(
    folder: str | None, quasi: Iterable[str], sensitive: Iterable[str] | None, named: Mapping[str, Any]
) -> dict[str, Offered]:
    """Return the hierarchies in a folder for columns that have no hierarchy in ``named``."""
    if folder is None:
        return {}
    columns = [*quasi, *(sensitive or ())]
    return {name: offer for name, offer in offered(folder, columns).items() if name not in named}


def on_offers(table: Table, offers: Mapping[str, Offered]) -> Iterator[str]:
    """Yield remarks on which hierarchies of a folder were used and which were not."""
    if not offers:
        return
    folder = next(iter(offers.values())).path.parent
    taken = [name for name in offers if table.column(name).kind != "numeric"]
    yield f"Hierarchies taken from '{folder}': {', '.join(taken) or 'none'}."
    for name, offer in offers.items():
        if name not in taken:
            yield (
                f"Not taken: {offer.path.name}, because {name!r} holds numbers or dates; to publish its labels say "
                f"--hierarchy {name}={offer.path}"
            )


def _repeated_identifier(job: Job, names: list[str]) -> Iterator[str]:
    """Note the unpublished column that looks like an identifier and repeats, if any: a person may have several rows."""
    how = {key: job.reading[key] for key in ("delimiter", "encoding", "na")}
    try:
        rows, columns = read_unpublished(job.input, names, may_identify, **how)
    except DiscreetError:  # such a column may be of a kind that is never published
        return
    person = suggest([describe(column) for column in columns], rows).person
    if person is not None:
        yield (
            f"Note: {person!r} looks like an identifier and repeats. Each row counts as a person of its own; if rows "
            f"with the same {person!r} belong to one person, say --person {person}."
        )
