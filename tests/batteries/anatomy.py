"""Anatomy releases under fire."""

from __future__ import annotations

from batteries.battery import FEWER_GROUPS, KEPT_VALUE, UNKNOWN, Battery, Lines, Must, another
from support.tampering import Folder, as_it_lies, dropped, more, put, repeated, stated


def line_of_first(folder: Folder) -> int:
    """Where the group of the first row has its first value."""
    return folder.column("sensitive", "group").index(folder.column("table", "group")[0])


def invented(folder: Folder) -> None:
    """A row and its value, added together."""
    put("sensitive", "count", more(1), line_of_first(folder))(folder)
    repeated("table")(folder)


def hidden(folder: Folder) -> None:
    """A row and a value of its group are dropped and said to be withheld, though the row is then exposed."""
    dropped("sensitive", line_of_first(folder))(folder)
    dropped("table", 0)(folder)
    stated("rows", "withheld", value=1)(folder)


ANATOMY = Battery(
    scheme="anatomy",
    promise="l-diversity(l=4)",
    stronger="l-diversity(l=5)",
    weaker="l-diversity(l=2)",
    withheld=Must("totals", "support totals"),
    tables={
        "table": Lines(
            column="age",
            text=another("77", "78"),
            crossed="group",
            dropped=Must("consistency support totals"),
            repeated=Must("consistency rows support totals"),
            changed=Must("rows support"),
            exchanged=Must("support"),
        ),
        "sensitive": Lines(
            column="pay",
            text=another("1100", "0"),
            crossed="group",
            dropped=Must("broken consistency support"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency support"),
        ),
    },
    own={
        "a count is larger": (put("sensitive", "count", more(1)), Must("broken consistency support totals")),
        "a count is none": (put("sensitive", "count", "0"), Must("broken consistency support")),
        "a row is invented": (invented, Must("broken rows support totals")),
        "a row is hidden": (hidden, Must("broken support")),
        "a group is new": (as_it_lies(put("table", "group", "99")), Must("consistency support")),
        "a value that nobody has": (put("sensitive", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("rows support")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a count that is no number": (put("sensitive", "count", "many"), "whole number"),
        "a table that is not named": (
            lambda folder: folder.manifest["tables"].pop("sensitive.csv"),
            "must name the tables",
        ),
        "a table that is lost": (lambda folder: (folder.path / "sensitive.csv").unlink(), "incomplete"),
    },
)


SEVERAL = ANATOMY._replace(
    promise="l-diversity(l=2)",
    stronger="l-diversity(l=4, attribute=ward)",
    weaker="l-diversity(l=1.5)",
    sensitive=("pay", "ward"),
    tables={
        "table": ANATOMY.tables["table"],
        "sensitive_1": Lines(
            column="pay",
            text=another("1100", "0"),
            crossed="group",
            dropped=Must("broken consistency support"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency support"),
        ),
        "sensitive_2": Lines(
            column="ward",
            text=another("a", "b"),
            crossed="group",
            dropped=Must("broken consistency support"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken consistency support totals"),
            exchanged=Must("support"),
        ),
    },
    own={
        "a count is larger": (put("sensitive_2", "count", more(1)), Must("broken consistency support totals")),
        "a count is none": (put("sensitive_2", "count", "0"), Must("broken consistency support")),
        "a group is new": (as_it_lies(put("table", "group", "99")), Must("consistency support")),
        "a value that nobody has": (put("sensitive_2", "ward", UNKNOWN), Must("broken consistency support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("rows support")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a count that is no number": (put("sensitive_2", "count", "many"), "whole number"),
        "a table that is not named": (
            lambda folder: folder.manifest["tables"].pop("sensitive_2.csv"),
            "must name the tables",
        ),
        "a table that is lost": (lambda folder: (folder.path / "sensitive_2.csv").unlink(), "incomplete"),
    },
)
"""With two sensitive attributes, each counted in a table of its own."""
