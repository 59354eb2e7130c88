"""How a table is read: checked when it is said, alike for flags, job files and Python."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.arguments import speaking_flags
from discreet.command.interface import COMMANDS, reading
from discreet.jobs.job import Job
from discreet.table.layout import Layout
from discreet.table.spec import READING, TableSpec

FIELDS = {field.name for field in fields(TableSpec)}
PEOPLE = pa.table({"id": ["a", "b", "c"], "age": [41, 17, 17], "flu": ["no", "yes", "?"], "pay": [1, 2, 3]})
READERS = {"publish", "audit", "attack", "query", "compare", "report", "advise", "plan", "profile"}
FULL: dict[str, Any] = {
    "quasi": ["age"],
    "sensitive": "flu",
    "identifiers": ["id"],
    "keep": ["pay"],
    "hierarchies": {"flu": {"any": ["no", "yes", "?"]}},
    "domains": {"age": "16:93"},
    "dates": {"birth": "%d.%m.%Y"},
    "na": ["?", 7, "?"],
    "floor": {"age": 5},
    "weight": {"age": 3},
    "delimiter": "tab",
    "encoding": "latin1",
}


def test_every_command_that_takes_a_table_takes_every_flag_about_reading() -> None:
    flags = {option.name: option.opts for option in reading("value")}
    assert set(flags) == FIELDS - {"hierarchy_folder"}
    for command in COMMANDS:
        taken = {option.name: option.opts for option in command.params}
        if command.name in READERS:
            assert {name: taken.get(name) for name in flags} == flags, command.name
        else:
            assert not set(flags) & {*taken} - {"folder"}, command.name


def test_the_fields_are_the_keywords_of_read_and_the_keys_of_jobs() -> None:
    source, *keywords = inspect.signature(dc.read).parameters
    assert source == "source" and set(keywords) == FIELDS
    needed = {"input": "a.csv", "output": "b", "promises": "k-anonymity(k=2)"}
    assert Job.of({**needed, **FULL}).table == TableSpec(**FULL)
    assert set(READING) <= FIELDS


def test_a_table_is_read_by_a_spec_or_by_its_fields() -> None:
    how = {key: FULL[key] for key in ("quasi", "sensitive", "identifiers", "keep", "domains", "na")}
    assert repr(dc.read(PEOPLE, TableSpec(**how))) == repr(dc.read(PEOPLE, **how))
    assert dc.read(PEOPLE, **how).column("flu").texts == ("(missing)", "no", "yes")


def test_a_spec_is_the_same_when_it_is_checked_again() -> None:
    spec = TableSpec(**FULL)
    assert replace(spec) == spec and spec.na == ("7", "?") and spec.delimiter == "\t"
    assert spec.recorded() == {
        "na": ["7", "?"],
        "dates": {"birth": "%d.%m.%Y"},
        "delimiter": "\t",
        "encoding": "iso8859-1",
    }


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"quasi": 5}, "quasi"),
        ({"person": 5}, "person"),
        ({"columns": [5]}, "columns"),
        ({"columns": ["age"]}, "columns"),
        ({"header": "none"}, "columns"),
        ({"header": "no"}, "header"),
        ({"delimiter": 5}, "delimiter"),
        ({"encoding": 5}, "encoding"),
        ({"na": [[]]}, "na"),
        ({"na": "x" * 101}, "na"),
        ({"missing": "drop"}, "missing"),
        ({"hierarchies": ["a"]}, "hierarchies"),
        ({"hierarchies": {5: "a"}}, "hierarchies"),
        ({"domains": {"age": [93, 16]}}, "domains"),
        ({"domains": 5}, "domains"),
        ({"dates": {"age": 5}}, "dates"),
        ({"lists": "flu"}, "lists"),
        ({"join": {"flu": "visits.csv"}}, "join"),
    ],
)
def test_what_cannot_be_is_refused_where_it_is_said_and_names_the_field(said: dict[str, Any], field: str) -> None:
    with pytest.raises(dc.DiscreetError, match=rf"\b{field}\b"):
        TableSpec(**said)
    option = next(option for option in reading("error") if option.name == field)
    with speaking_flags(), pytest.raises(dc.DiscreetError, match=rf"(^|\s){option.opts[0]}\b"):
        TableSpec(**said)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"quasi": "age", "sensitive": "age"}, "column 'age' is both a quasi-identifier and the sensitive attribute"),
        ({"quasi": ["age", "age"]}, "column 'age' is named twice"),
        ({"numeric": "age", "ordinal": "age"}, "column 'age' is declared both numeric and ordinal"),
        ({"numeric": "age", "dates": {"age": None}}, "column 'age' is declared both numeric and a date"),
        ({"hierarchies": {"age": "x.csv"}, "dates": {"age": None}}, "declared to hold dates and has a hierarchy"),
        ({"hierarchies": {"age": 5}}, "5 is not a hierarchy of column 'age'"),
    ],
)
def test_what_contradicts_itself_is_refused(said: dict[str, Any], told: str) -> None:
    with pytest.raises(dc.DiscreetError, match=told):
        TableSpec(**said)


def test_a_layout_is_all_that_a_file_needs() -> None:
    assert {field.name for field in fields(Layout)} == {
        *("na", "delimiter", "encoding", "header", "columns", "decimal", "thousands", "sheet", "table", "query")
    }
