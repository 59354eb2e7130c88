"""Matched releases under fire."""

from __future__ import annotations

from batteries.battery import FEWER_GROUPS, KEPT_VALUE, UNKNOWN, Battery, Lines, Must, another
from support.tampering import Folder, as_it_lies, dropped, put, stated


def one_number_for_two(folder: Folder) -> None:
    """The first row gets the number of the second."""
    put("table", "group", folder.column("table", "group")[1])(folder)


MATCHED = Battery(
    scheme="heterogeneous",
    promise="beta-likeness(beta=2)",
    stronger="beta-likeness(beta=0.01)",
    weaker="beta-likeness(beta=5)",
    withheld=Must("totals", "support totals"),
    tables={
        "table": Lines(
            column="pay",
            text=another("100", "200"),
            crossed="pay",
            dropped=Must("broken totals", "broken support totals"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("support totals"),
        )
    },
    own={
        "a value that nobody has": (put("table", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("support totals")),
        "a line in the middle is dropped": (
            as_it_lies(dropped("table", 45)),
            Must("broken consistency totals", "broken consistency support totals", says="not numbered from 0"),
        ),
        "two rows have one number": (
            as_it_lies(one_number_for_two),
            Must("consistency", "consistency support", says="a number of its own"),
        ),
        "groups are said to be published": (
            stated("scheme", "options", "publishes", value="best-bucket"),
            Must("manifest", says="whose releases are generalized and not matched"),
        ),
        **FEWER_GROUPS,
    },
    unreadable={"a description that is none": (put("table", "age", "[20, 2"), r"column 'age' .*'\[20, 2'")},
    options={"publishes": "graph", "buckets": "published"},
    rows=90,
)
