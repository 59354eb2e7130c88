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
