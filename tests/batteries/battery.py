"""What a format is put through: what is done to every one of them, and what must fail when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from support.tampering import (
    BY_NUMBER,
    Alteration,
    as_it_lies,
    beside,
    dropped,
    misfit,
    more,
    page,
    put,
    repeated,
    role,
    shuffled,
    stated,
    swapped,
)


class Must(NamedTuple):
    """The checks that must fail and no others, ``broken`` standing for a promise; ``refused`` if none can be made."""

    without_trace: str
    with_trace: str | None = None
    """The same given the trace, where that is not the same."""
    says: str = ""
    """What the findings must say, among other things, as a regular expression."""

    def names(self, traced: bool) -> set[str]:
        return set(((self.with_trace if traced else None) or self.without_trace).split())


class Lines(NamedTuple):
    """What is done to the lines of a table, and what must fail when it is done."""

    column: str
    text: str | Callable[[str], str]
    """A cell of the column is changed to this."""
    crossed: str
    """A column of which two cells change places: the group, where there is one."""
    dropped: Must
    repeated: Must
    changed: Must
    exchanged: Must | None
    """``None`` where it cannot be told: rows that are drawn might be any."""


class Battery(NamedTuple):
    """A format under fire."""

    scheme: str
    promise: str
    stronger: str
    """A promise that the release does not keep."""
    weaker: str
    tables: dict[str, Lines]
    withheld: Must
    """When more rows are said to be withheld than are."""
    own: dict[str, tuple[Alteration, Must]]
    """What only this format invites."""
    unreadable: dict[str, tuple[Alteration, str]]
    """What makes files that cannot be read, and what the refusal says."""
    trace: str = "support"
    """The check that tells a wrong trace."""
    unprotected: Must = Must("refused")
    """When the sensitive attribute is said to be a column that is kept along."""
    weakened: str = ""
    """The checks that tell that a weaker promise is stated than the release was made for, where any can."""
    grouped: bool = True
    """Whether rows are in numbered groups; otherwise a trace tells the lines of rows."""
    options: Mapping[str, str] = MappingProxyType({})
    rows: int = 60
    keep: tuple[str, ...] = ("note",)
    sensitive: tuple[str, ...] = ("pay",)


EVERYWHERE: dict[str, tuple[Alteration, Must]] = {
    "more rows are said to be published": (stated("rows", "published", value=more(1)), Must("consistency")),
    "a domain is another": (stated("attributes", 0, "domain", value=[20, 30]), Must("domains")),
    "a quasi-identifier is said to be kept along": (role("age", "other"), Must("refused", says="each attribute once")),
    "no promise is stated": (stated("promise", value=[]), Must("promise")),
    "a promise is stated that there is not": (stated("promise", value=["secrecy(s=1)"]), Must("promise")),
    "an entry is added": (lambda folder: folder.manifest.update(comment="Alan is in group 3"), Must("manifest")),
    "a file lies beside": (beside("rows.csv"), Must("files")),
    "the trace lies beside": (beside("trace.csv", "row,group\n"), Must("files")),
    "README.md says something else": (
        page(lambda text: text.replace(" 0 withheld", " 1 withheld")),
        Must("readme"),
    ),
    "README.md ends with a blank": (page(lambda text: f"{text} "), Must("readme")),
    "a digest does not fit": (misfit, Must("files", says="SHA-256")),
}


def alterations(battery: Battery) -> dict[str, tuple[Alteration, Must]]:
    """All that is done to a format: what is done to every one, and what is done to it alone."""
    found = dict(EVERYWHERE)
    found["more rows are said to be withheld"] = stated("rows", "withheld", value=more(3)), battery.withheld
    found["the sensitive attribute is said to be kept along"] = role("pay", "other"), battery.unprotected
    lined_up = Must("order", None if battery.grouped else f"draws order {battery.trace}", says="publish it again")
    found["lines are shuffled"] = shuffled(groups=False), lined_up
    if battery.grouped:
        renumbered = Must("order", f"order {battery.trace}")
        found["groups have other numbers"] = shuffled(lines=False), renumbered
    for table, lines in battery.tables.items():
        found[f"{table}: a line is dropped"] = dropped(table), lines.dropped
        found[f"{table}: a line is repeated"] = repeated(table), lines.repeated
        found[f"{table}: {lines.column} is changed"] = put(table, lines.column, lines.text), lines.changed
        if lines.exchanged is not None:
            exchange = swapped(table, lines.crossed)
            if lines.crossed == "group" and table in BY_NUMBER:
                exchange = as_it_lies(exchange)
            found[f"{table}: {lines.crossed} is exchanged"] = exchange, lines.exchanged
    return found | battery.own


def another(*texts: str) -> Callable[[str], str]:
    """One of these texts that is not the one that was there."""
    return lambda text: next(other for other in texts if other != text)


KEPT_VALUE = put("table", "note", another("x", "y"))
UNKNOWN = "77777"
"""A number that nobody earns."""
FEWER_GROUPS = {"fewer groups are stated": (stated("groups", value=1), Must("consistency"))}
