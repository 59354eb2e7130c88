"""Projected releases under fire."""

from __future__ import annotations

from batteries.battery import UNKNOWN, Battery, Lines, Must, another
from support.tampering import put, put_in_group, stated

PROJECTED = Battery(
    scheme="codip",
    promise="beta-likeness(beta=2)",
    stronger="k-anonymity(k=40)",
    weaker="beta-likeness(beta=5)",
    withheld=Must("totals", "support totals"),
    sensitive=("pay", "ward"),
    options={"exposure": "0"},
    tables={
        "table_1": Lines(
            column="pay",
            text=another("100", "200"),
            crossed="group",
            dropped=Must("broken consistency totals", "broken consistency support totals"),
            repeated=Must("consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency support", says="share one description"),
        ),
        "table_2": Lines(
            column="ward",
            text=another("a", "b"),
            crossed="group",
            dropped=Must("broken consistency totals", "broken consistency support totals"),
            repeated=Must("consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("consistency support", says="share one description"),
        ),
    },
    own={
        "a value that nobody has": (put("table_1", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (put("table_1", "note", another("x", "y")), Must("support totals")),
        "a description is narrowed": (
            put_in_group("table_2", "age", lambda text: text.strip("[]").split(", ")[0]),
            Must("support"),
        ),
        "fewer groups are stated": (stated("parts", 1, "groups", value=1), Must("consistency")),
        "a part has another entry": (stated("parts", 0, "comment", value="Alan is in group 3"), Must("manifest")),
        "a part has another scheme": (stated("parts", 0, "scheme", "name", value="lifting"), Must("manifest")),
    },
    unreadable={
        "a description that is none": (put("table_2", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "a part is not described": (lambda folder: folder.manifest["parts"].pop(), "must name the tables table_1"),
        "no part is described": (lambda folder: folder.manifest.pop("parts"), "which sensitive attributes each part"),
        "an attribute is in two parts": (stated("parts", 1, "sensitive", value=["pay"]), "every sensitive attribute"),
    },
)
