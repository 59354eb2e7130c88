"""Reads the table of a job or of flags, whose values are parsed here, with remarks for the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from discreet.command.job import KINDS, LAYOUT, Job
from discreet.errors import DiscreetError
from discreet.principles.wording import counted, rows
from discreet.processors import memory
from discreet.table.hierarchy_sources import Offered, offered
from discreet.table.layout import Layout
from discreet.table.moments import ends_given, rising
from discreet.table.paths import located
from discreet.table.read import read
from discreet.table.sources import names_in
from discreet.table.table import Table
from discreet.table.texts import number_text
from discreet.table.typed_files import stated_rows

ROW_BYTES, CELL_BYTES = 60, 40
"""What publishing takes at its peak, about: for a row, and for each of its cells."""
LISTS = ("quasi", "sensitive", "identifiers", "keep", *KINDS)


def read_input(job: Job) -> tuple[Table, list[str], list[str]]:
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
    """Note that a Parquet file takes much memory: a small one may have any number of rows."""
    path, most = located(job.input), memory()
    height = stated_rows(path) if path.is_file() else 0
    if not height or most is None:
        return
    texts = [text for key in ("quasi", "sensitive", "keep") for text in getattr(job, key)]
    columns = len(split_names(texts, header_of(job.input, job.layout, texts)))
    needed = height * (ROW_BYTES + columns * CELL_BYTES)
    if needed > most / 2:
        yield (
            f"Note: '{job.input}' has {rows(height)}; with {counted(columns, 'column')} they may take about "
            f"{needed / 1e9:.1f} GB of memory, more than half of the {most / 1e9:.1f} GB of this machine."
        )


def read_to_look(
    input: str, quasi: Iterable[str], sensitive: str | None, given: Mapping[str, Any]
) -> tuple[Table, list[str]]:
    """Read a table to analyse, not to publish; return it with remarks. ``given`` are the reading flags.

    Without quasi-identifiers all columns without another role are used. Missing numbers are values by default.
    """
    layout = layout_of(given)
    lists = {"quasi": quasi, **{key: given[key] for key in ("identifiers", *KINDS)}}
    header = header_of(input, layout, [text for texts in lists.values() for text in texts])
    names: dict[str, Any] = {key: split_names(texts, header) for key, texts in lists.items()}
    secrets = [] if sensitive is None else split_names([sensitive], header)
    person = given.get("person")
    if not names["quasi"]:
        names["quasi"] = [name for name in header() if name not in (*secrets, *names["identifiers"], person)]
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
        missing="error" if given["missing"] == "error" else "value",
        na=given["na"],
        **{key: given[key] for key in LAYOUT},
    )
    remarks = [*on_offers(table, offers), *on_columns(table)]
    return table, [*remarks, *_to_withhold(table)] if given["missing"] == "withhold" else remarks


def _to_withhold(table: Table) -> Iterator[str]:
    """Note how many rows `publish` would withhold for a missing number."""
    columns = [column for column in (*table.quasi, *table.sensitive) if column.kind == "numeric"]
    lacking = [column.codes == column.missing for column in columns if column.missing is not None]
    if lacking:
        gone = int(np.any(lacking, axis=0).sum())
        has, are, them = ("has", "is", "it") if gone == 1 else ("have", "are", "them")
        yield f"Note: {rows(gone)} {has} a missing number and {are} counted here; publish withholds {them}."


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


# ------------------------------------------------------------------------------------------------ the values of flags


def pairs(flag: str, texts: Iterable[str], example: str, what: str = "VALUE") -> dict[str, str]:
    """Parse texts of the form NAME=VALUE into a mapping; ``what`` the values are; a SEPARATOR may be a blank.

    >>> pairs("--option", ["loss=ail", "cuts=plain+repaired"], "loss=ail")
    {'loss': 'ail', 'cuts': 'plain+repaired'}
    """
    result: dict[str, str] = {}
    for text in texts:
        # Split at the first equals sign: values such as paths may contain one, column names hardly ever do.
        name, equals, value = text.partition("=")
        name, value = name.strip(), value if what == "SEPARATOR" else value.strip()
        if not equals or not name or not value:
            raise DiscreetError(f"{flag} {text!r} is not of the form NAME={what}; write for example {flag} {example}")
        if name in result:
            raise DiscreetError(f"{flag} names {name!r} twice; give it once")
        result[name] = value
    return result


def parse_trees(texts: Iterable[str]) -> tuple[dict[str, str], str | None]:
    """Parse the values of --hierarchy: the files of single columns, and a folder for the others.

    >>> parse_trees(["sex=sex.csv", "."])
    ({'sex': 'sex.csv'}, '.')
    """
    texts = list(texts)
    folders = [text for text in texts if located(text).is_dir()]
    if len(folders) > 1:
        raise DiscreetError(f"--hierarchy names two folders, {folders[0]!r} and {folders[1]!r}; give one")
    for text in texts:
        if "=" not in text and text not in folders:
            raise DiscreetError(
                f"--hierarchy {text!r} is neither a folder nor of the form NAME=FILE; write for example --hierarchy "
                "sex=sex.csv"
            )
    files = pairs("--hierarchy", [text for text in texts if text not in folders], "sex=sex.csv")
    return files, folders[0] if folders else None


def parse_domains(texts: Iterable[str]) -> dict[str, tuple[float | str, float | str]]:
    """Parse texts of the form NAME=LOW:HIGH into a mapping.

    >>> parse_domains(["age=16:93"])
    {'age': (16.0, 93.0)}
    """
    result = {}
    for name, value in pairs("--domain", texts, "age=16:93").items():
        ends = ends_given(value)
        if ends is None:
            raise DiscreetError(
                f"--domain {name}={value} is not a range of numbers or dates; write for example --domain {name}=16:93"
            )
        if not rising(*ends):
            low, high = (end if isinstance(end, str) else number_text(end) for end in ends)
            raise DiscreetError(
                f"--domain {name}={value} begins with the larger number; write --domain {name}={high}:{low}"
            )
        result[name] = ends
    return result


def _second_tables(texts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Parse texts of the form NAME=FILE:ID into a mapping."""
    result = {}
    for name, text in pairs("--join", texts, "diagnosis=visits.csv:patient").items():
        file, colon, identifier = text.rpartition(":")
        if not colon or not file or not identifier:
            raise DiscreetError(
                f"--join {name}={text} does not name a file and the identifier in it; write for example --join "
                f"{name}=visits.csv:patient"
            )
        result[name] = (file, identifier)
    return result


def by_column(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parse all flags about single columns; their keys are those of a job.

    >>> flags = {"hierarchies": (), "domains": ("age=16:93",), "dates": ("birth=%d.%m.%Y",), "lists": (), "join": ()}
    >>> {key: value for key, value in by_column(flags).items() if value}
    {'domains': {'age': (16.0, 93.0)}, 'dates': {'birth': '%d.%m.%Y'}}
    """
    files, folder = parse_trees(given["hierarchies"])
    return {
        "hierarchies": files,
        "hierarchy_folder": folder,
        "domains": parse_domains(given["domains"]),
        "dates": pairs("--date", given["dates"], "birth=%d.%m.%Y"),
        "lists": pairs("--list", given["lists"], "'diagnosis=;'", "SEPARATOR"),
        "join": _second_tables(given["join"]),
    }


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
    """Return the layout that flags describe."""
    return Layout.of(**{key: given[key] for key in LAYOUT if given.get(key)})


def header_of(path: str, layout: Layout, hints: Iterable[str] = ()) -> Callable[[], list[str]]:
    """Return a function that reads the column names of an input file, in their order, when it is first called."""

    @cache
    def names() -> list[str]:
        parts = [part.strip() for text in hints for part in (text, *text.split(","))]
        return names_in(path, layout, parts)

    return names
