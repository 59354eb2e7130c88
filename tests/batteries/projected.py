"""Projected releases under fire."""

from __future__ import annotations

from batteries.battery import UNKNOWN, Battery, Lines, Must, another
from support.tampering import Folder, put, put_in_group, stated


def lined_up(folder: Folder) -> None:
    """The lines of the second table are put where those of their persons are in the first, as far as one can tell."""
    first, second = (folder.lines(f"table_{at}") for at in (1, 2))
    columns = [[folder.place(f"table_{at}", name) for name in ("sex", "age")] for at in (1, 2)]

    def person(line: list[str], places: list[int]) -> tuple[str, float]:
        sex, ages = (line[place] for place in places)
        ends = [float(end) for end in ages.strip("[]").split(", ")]
        return sex, sum(ends) / len(ends)

    places = sorted(range(len(first)), key=lambda at: person(first[at], columns[0]))
    lines = sorted(second, key=lambda line: person(line, columns[1]))
    arranged = dict(zip(places, lines, strict=True))
    folder.tables["table_2"][1:] = [arranged[place] for place in range(len(first))]


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
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("consistency support", says="share one description"),
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
        "tables have the same order": (lined_up, Must("order", says="tables 1 and 2 at the same place")),
    },
    unreadable={
        "a description that is none": (put("table_2", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "a part is not described": (lambda folder: folder.manifest["parts"].pop(), "must name the tables table_1"),
        "no part is described": (lambda folder: folder.manifest.pop("parts"), "which sensitive attributes each part"),
        "an attribute is in two parts": (stated("parts", 1, "sensitive", value=["pay"]), "every sensitive attribute"),
    },
)
