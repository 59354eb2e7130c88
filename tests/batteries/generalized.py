"""Generalized releases under fire."""

from __future__ import annotations

import numpy as np

from batteries.battery import FEWER_GROUPS, KEPT_VALUE, UNKNOWN, Battery, Lines, Must, another
from support.tampering import Folder, dropped, more, put, put_in_group, stated, swapped, together


def oldest_and_youngest(folder: Folder) -> None:
    """Their values change places; neighbours might have been published so."""
    by_age = np.argsort([float(text.strip("[]").split(", ")[0]) for text in folder.column("table", "age")])
    pay = folder.column("table", "pay")
    oldest = next(line for line in reversed(by_age) if pay[line] != pay[by_age[0]])
    swapped("table", "pay", int(by_age[0]), int(oldest))(folder)


def begun_earlier(text: str) -> str:
    """The same interval from half a year before, where nobody is."""
    low, high = text.strip("[]").split(", ")
    return f"[{float(low) - 0.5:g}, {high}]"


GENERALIZED = Battery(
    scheme="cuts",
    options={"marginals": "none"},
    promise="beta-likeness(beta=2)",
    stronger="k-anonymity(k=40)",
    weaker="k-anonymity(k=2)",
    withheld=Must("totals", "support totals"),
    unprotected=Must("roles"),
    tables={
        "table": Lines(
            column="pay",
            text=another("100", "200"),
            crossed="group",
            dropped=Must("broken totals", "broken support totals"),
            repeated=Must("support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency support", says="share one description"),
        )
    },
    own={
        "a value that nobody has": (put("table", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("support totals")),
        "a line is dropped and said to be withheld": (
            together(dropped("table"), stated("rows", "withheld", value=more(1))),
            Must("broken", "broken support"),
        ),
        "a description is narrowed": (
            put_in_group("table", "age", lambda text: text.strip("[]").split(", ")[0]),
            Must("support"),
        ),
        "an interval ends where nobody is": (
            put_in_group("table", "age", begun_earlier),
            Must("domains", says="an interval of 'age' ends at"),
        ),
        "values of the oldest and the youngest are exchanged": (oldest_and_youngest, Must("broken support")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a description that is none": (put("table", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "a table that is not named": (lambda folder: folder.manifest["tables"].clear(), "table"),
    },
)

MARGINALS = GENERALIZED._replace(
    options={"marginals": "one-way", "cells": "3"},
    tables={
        **GENERALIZED.tables,
        "marginals": Lines(
            column="count",
            text=lambda text: str(int(text) + 1),
            crossed="attribute",
            dropped=Must("marginals", says="nothing for"),
            repeated=Must("consistency"),
            changed=Must("marginals"),
            exchanged=None,
        ),
    },
    own={
        "rows are moved from one count to another": (
            together(
                put("marginals", "count", lambda text: str(int(text) - 1), line=-1),
                put("marginals", "count", lambda text: str(int(text) + 1), line=-2),
            ),
            Must("marginals", says="in the original"),
        ),
        "counts are said to be larger": (stated("marginals", "least", value=1_000), Must("consistency marginals")),
    },
    unreadable={
        "a count that is no number": (put("marginals", "count", "many"), "the column 'count' of 'marginals.csv'"),
        "a column that is none": (put("marginals", "attribute", "pay"), "counts 'pay', which is no quasi-identifier"),
        "a value that is none": (put("marginals", "value", "[2, 1"), r"'\[2, 1'"),
        "no least count": (stated("marginals", "least", value="few"), "how many rows a count"),
    },
)
"""The same groups, with counts of the quasi-identifiers beside them."""
