"""Synthetic releases under fire."""

from __future__ import annotations

from batteries.battery import UNKNOWN, Battery, Lines, Must
from support.tampering import put, stated

SYNTHETIC = Battery(
    scheme="privbayes",
    options={"domains": "observed"},
    promise="differential-privacy(epsilon=2)",
    stronger="differential-privacy(epsilon=1.5)",
    weaker="differential-privacy(epsilon=3)",
    keep=(),
    trace="trace",
    grouped=False,
    weakened="manifest",
    withheld=Must("consistency", says="no synthetic row can be"),
    tables={
        "table": Lines(
            column="age",
            text=UNKNOWN,
            crossed="sex",
            dropped=Must("rows"),
            repeated=Must("rows"),
            changed=Must("domains"),
            exchanged=None,
        ),
    },
    own={
        "a value that nobody has": (put("table", "pay", UNKNOWN), Must("domains")),
        "a value that is not listed": (put("table", "sex", "x"), Must("consistency")),
        "less is said to be spent than is promised of": (
            stated("privacy", "epsilon", value=2.5),
            Must("broken manifest"),
        ),
        "less is said to be spent than was": (stated("privacy", "epsilon", value=1.0), Must("manifest")),
        "a seed": (lambda folder: folder.manifest["privacy"].update(seed=1), Must("consistency manifest")),
        "lists are said to be declared": (stated("privacy", "domains", value="declared"), Must("manifest")),
    },
    unreadable={
        "nothing was spent": (stated("privacy", "epsilon", value=0), "which epsilon was spent"),
        "nothing is said": (lambda folder: folder.manifest.update(privacy={}), "which epsilon was spent"),
        "a number that is none": (put("table", "pay", "many"), "not a number"),
        "lists from nowhere": (stated("privacy", "domains", value="guessed"), "where the lists of values came from"),
    },
)
