"""Census-Income (KDD) as the paper on CODIP prepares it, and levels for full-domain generalization.

The paper's 98,839 complete rows are those with an occupation. Where its preparation is not told, it is guessed: which
household statuses count as married, under 18, descendent and in a subfamily, and the levels of the quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from discreet.table.hierarchy import Hierarchy
from discreet.table.read import read
from discreet.table.table import Column, Table

QUASI = {"age": "AAGE", "race": "ARACE", "sex": "ASEX", "citizenship": "PRCITSHP"}
CATEGORIES = {
    "worker": "ACLSWKR",
    "education": "AHGA",
    "industry": "AMJIND",
    "employment": "AWKSTAT",
    "business": "SEOTR",
    "salary": "INCOME",
    "occupation": "AMJOCC",
}
ANY = {"wage": "AHRSPAY", "dividend": "DIVVAL", "gain": "CAPGAIN", "loss": "CAPLOSS"}
STATUS = "HHDFMX"
SOURCES = {*QUASI.values(), *CATEGORIES.values(), *ANY.values(), STATUS}
"""The columns of the file that are needed."""


def census_income(path: Path) -> Table:
    """The rows with an occupation, four quasi-identifiers and fifteen sensitive attributes."""
    raw = pa.csv.read_csv(path)
    raw = raw.filter(pc.not_equal(raw["AMJOCC"], "Not in universe"))
    columns = {name: raw[source] for name, source in QUASI.items()}
    columns |= {name: raw[source].cast(pa.string()) for name, source in CATEGORIES.items()}
    columns |= {name: _flags(pc.greater(raw[source], 0)) for name, source in ANY.items()}
    status = raw[STATUS]
    never = pc.match_substring(status, "never marr")
    columns["married"] = _flags(pc.and_not(pc.match_substring_regex(status, "[Ss]pouse|ever marr"), never))
    columns["minor"] = _flags(pc.match_substring(status, "<18"))
    columns["descendent"] = _flags(pc.match_substring_regex(status, "[Cc]hild"))
    apart = pc.match_substring_regex(status, "[Nn]ot in")
    columns["subfamily"] = _flags(pc.and_not(pc.match_substring(status, "subfamily"), apart))
    sensitive = [name for name in columns if name not in QUASI]
    return read(pa.table(columns), quasi=list(QUASI), sensitive=sensitive)


def _flags(marks: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(marks, "yes", "no")


def with_levels(table: Table, ages: Sequence[int]) -> Table:
    """The table with levels for full-domain generalization: ages by these widths, races and citizenship by kinds."""
    quasi = []
    for column in table.quasi:
        texts = [str(value) for value in column.values.tolist()]
        rows = [(text, *labels, "*") for text, labels in zip(texts, _levels(column, texts, ages), strict=True)]
        tree = Hierarchy.from_rows(column.name, rows)
        place = {leaf: at for at, leaf in enumerate(tree.leaves)}
        codes = np.array([place[text] for text in texts], np.int32)[column.codes]
        quasi.append(Column(column.name, "categorical", codes, np.array(tree.leaves, object), hierarchy=tree))
    return replace(table, quasi=tuple(quasi))


def _levels(column: Column, texts: Sequence[str], ages: Sequence[int]) -> list[list[str]]:
    """The labels above each value but the root."""
    if column.name == "age":
        return [[f"{width}: {int(text) // width}" for width in ages] for text in texts]
    if column.name == "race":
        common = texts[:2] if texts[0].startswith("race") else ["White", "Black"]
        return [[text if text in common else "other", str(text == common[0])] for text in texts]
    if column.name == "citizenship":
        here = [text.startswith("Native") or text.endswith(("00", "01")) for text in texts]
        born = [text.endswith("the United States") or text.endswith("00") for text in texts]
        return [
            [text if first else f"born: {own}", str(own)] for text, first, own in zip(texts, born, here, strict=True)
        ]
    return [[] for _ in texts]
