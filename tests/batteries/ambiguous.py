"""Ambiguous releases under fire."""

from __future__ import annotations

from batteries.battery import FEWER_GROUPS, UNKNOWN, Battery, Lines, Must, another
from support.tampering import (
    Alteration,
    Folder,
    added,
    more,
    put,
    stated,
    without_group,
)


def elsewhere(stem: str) -> Alteration:
    """A table lies in another folder."""

    def alter(folder: Folder) -> None:
        (folder.path / "within").mkdir()
        (folder.path / "auxiliary_age.csv").rename(folder.path / f"{stem}.csv")
        tables = folder.manifest["tables"]
        tables[f"{stem}.csv"] = tables.pop("auxiliary_age.csv")
        folder.manifest["auxiliaries"][0]["table"] = stem

    return alter


def listed_too(folder: Folder) -> None:
    """The first group is said to have an age of another one too."""
    first, *groups = folder.column("auxiliary_age", "group")
    line = next(line for line, group in enumerate(groups, 1) if group != first)
    added("auxiliary_age", folder.column("auxiliary_age", "age")[line], first)(folder)


NOBODYS = "The release lists age 41.5, which no original row that may be published has."
AMBIGUOUS = Battery(
    scheme="ambiguity",
    promise="alpha-beta(alpha=0.5, beta=0.5)",
    stronger="alpha-beta(alpha=0.5, beta=0.2)",
    weaker="alpha-beta(alpha=0.6, beta=0.6)",
    keep=(),
    withheld=Must("totals", "support totals"),
    tables={
        "auxiliary_age": Lines(
            column="age",
            text=another("21", "22"),
            crossed="group",
            dropped=Must("broken support"),
            repeated=Must("consistency"),
            changed=Must("support"),
            exchanged=Must("support", says="no original row with it could be one|does not list the age of its rows"),
        ),
        "auxiliary_sex": Lines(
            column="sex",
            text=another("f", "m"),
            crossed="group",
            dropped=Must("broken support"),
            repeated=Must("consistency"),
            changed=Must("broken consistency support"),
            exchanged=Must("broken consistency support"),
        ),
        "sensitive": Lines(
            column="pay",
            text=another("1100", "0"),
            crossed="group",
            dropped=Must("broken consistency support totals"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency support"),
        ),
    },
    own={
        "a count is larger": (put("sensitive", "count", more(2)), Must("broken support totals")),
        "a value that nobody has is counted": (put("sensitive", "pay", UNKNOWN), Must("broken support totals")),
        "a value that nobody has is listed": (
            put("auxiliary_age", "age", "41.5"),
            Must("support values", says=NOBODYS),
        ),
        "a value outside the domain is listed": (
            put("auxiliary_age", "age", UNKNOWN),
            Must("domains support values"),
        ),
        "a value is listed too": (listed_too, Must("consistency support")),
        "nothing is listed of a group": (without_group("auxiliary_age", "1"), Must("broken consistency support")),
        "a group is not counted": (without_group("sensitive", "1"), Must("consistency support totals")),
        "an entry is added to a table": (
            lambda folder: folder.manifest["auxiliaries"][0].update(note="Alan"),
            Must("manifest"),
        ),
        "less presence is promised": (
            stated("promise", value=["alpha-beta(alpha=0.1, beta=0.5)"]),
            Must("broken", says="10.0 % is allowed"),
        ),
        **FEWER_GROUPS,
    },
    unreadable={
        "a count that is no number": (put("sensitive", "count", "many"), "whole number"),
        **{
            f"a table in {stem}": (elsewhere(stem), "not the plain name of a file in its folder")
            for stem in ("../auxiliary_age", "within/auxiliary_age", "within\\auxiliary_age")
        },
    },
)


SEVERAL = AMBIGUOUS._replace(
    promise="alpha-beta(alpha=0.5, beta=0.5)",
    stronger="alpha-beta(alpha=0.5, beta=0.2, attribute=ward)",
    sensitive=("pay", "ward"),
    tables={
        "auxiliary_age": AMBIGUOUS.tables["auxiliary_age"],
        "auxiliary_sex": AMBIGUOUS.tables["auxiliary_sex"]._replace(crossed="sex"),
        "sensitive_1": AMBIGUOUS.tables["sensitive"],
        "sensitive_2": AMBIGUOUS.tables["sensitive"]._replace(
            column="ward", text=another("a", "b"), changed=Must("broken consistency support totals")
        ),
    },
    own={
        "a count is larger": (put("sensitive_2", "count", more(2)), Must("broken consistency support totals")),
        "a value that nobody has is counted": (
            put("sensitive_2", "ward", UNKNOWN),
            Must("broken consistency support totals"),
        ),
        "a group is not counted": (without_group("sensitive_2", "1"), Must("consistency support totals")),
        "less presence is promised": (
            stated("promise", value=["alpha-beta(alpha=0.1, beta=0.5)"]),
            Must("broken", says="10.0 % is allowed"),
        ),
        **FEWER_GROUPS,
    },
    unreadable={
        "a count that is no number": (put("sensitive_2", "count", "many"), "whole number"),
        "a table that is not named": (
            lambda folder: folder.manifest["tables"].pop("sensitive_2.csv"),
            "must name the tables auxiliary_",
        ),
    },
)
"""With two sensitive attributes, each counted in a table of its own."""
