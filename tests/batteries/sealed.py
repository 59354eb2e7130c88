"""Sealed releases under fire."""

from __future__ import annotations

from batteries.anatomy import ANATOMY, hidden, invented
from batteries.battery import FEWER_GROUPS, KEPT_VALUE, UNKNOWN, Battery, Lines, Must, another
from batteries.generalized import oldest_and_youngest
from support.tampering import more, put

SEALED = Battery(
    scheme="sealed",
    options={"marginals": "none"},
    promise="beta-likeness(beta=2)",
    stronger="k-anonymity(k=40)",
    weaker="k-anonymity(k=2)",
    withheld=Must("totals", "support totals"),
    tables={
        "table": Lines(
            column="pay",
            text=another("100", "200"),
            crossed="group",
            dropped=Must("broken totals", "broken support totals"),
            repeated=Must("support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("consistency support"),
        ),
        "seal": Lines(
            column="leakage",
            text=lambda text: str(float(text) + 9.5),
            crossed="group",
            dropped=Must("consistency"),
            repeated=Must("consistency"),
            changed=Must("seal", says="may believe"),
            exchanged=Must("consistency"),
        ),
    },
    own={
        "a value that nobody has": (put("table", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("support totals")),
        "values of the oldest and the youngest are exchanged": (oldest_and_youngest, Must("support totals")),
        "less than nothing was told": (put("seal", "leakage", "-1"), Must("consistency", says="what no test can leak")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a description that is none": (put("table", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "an amount that is no number": (put("seal", "leakage", "much"), "the column 'leakage' of 'seal.csv'"),
    },
)

MIRRORED = SEALED._replace(
    scheme="mirrored",
    unprotected=Must("roles"),
    weakened="groups",  # everything would have been cut into pairs
)
"""What is done to a sealed release, whose tables it has; but it can do without a sensitive attribute."""

SEALED_EXACT = SEALED._replace(
    options={"descriptions": "exact"},
    weaker="beta-likeness(beta=3)",
    tables={
        **ANATOMY.tables,
        "sensitive": ANATOMY.tables["sensitive"]._replace(
            repeated=Must("consistency support totals"), changed=Must("broken consistency support totals")
        ),
        "seal": SEALED.tables["seal"],
    },
    own={
        **ANATOMY.own,
        "a count is larger": (put("sensitive", "count", more(1)), Must("consistency support totals")),
        "a row is invented": (invented, Must("rows support totals")),
        "a row is hidden": (hidden, Must("broken consistency support")),
        "less than nothing was told": SEALED.own["less than nothing was told"],
    },
    unreadable={**ANATOMY.unreadable, "an amount that is no number": SEALED.unreadable["an amount that is no number"]},
)
"""With the rows and counts of an anatomy release, whose groups are larger than those of `ANATOMY`."""

MIRRORED_EXACT = SEALED_EXACT._replace(scheme="mirrored", weakened="groups")
