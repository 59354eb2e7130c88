"""Releases of every format, altered in every way we know: the audit fails by the name of what is wrong.

Whoever alters a file covers it up as well as can be, with digests and counts that fit. Most of what is done is the same
for all formats; a new format joins with a battery of its own, which says what must fail for each of these alterations
and for those that only it invites.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.releases import FORMATS, Release
from discreet.schemes import make_scheme
from discreet.table.table import Table
from support.tampering import (
    Alteration,
    Folder,
    added,
    altered,
    beside,
    dropped,
    misfit,
    more,
    put,
    put_in_group,
    repeated,
    rewritten,
    role,
    stated,
    swapped,
    together,
    without_group,
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
    exchanged: Must


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
    options: Mapping[str, str] = MappingProxyType({})
    rows: int = 60
    keep: tuple[str, ...] = ("note",)


EVERYWHERE: dict[str, tuple[Alteration, Must]] = {
    "more rows are said to be published": (stated("rows", "published", value=more(1)), Must("consistency")),
    "a domain is another": (stated("attributes", 0, "domain", value=[20, 30]), Must("domains")),
    "a quasi-identifier is said to be kept along": (role("age", "other"), Must("refused", says="each attribute once")),
    "no promise is stated": (stated("promise", value=[]), Must("promise")),
    "a promise is stated that there is not": (stated("promise", value=["secrecy(s=1)"]), Must("promise")),
    "an entry is added": (lambda folder: folder.manifest.update(comment="Alan is in group 3"), Must("manifest")),
    "a file lies beside": (beside("rows.csv"), Must("files")),
    "the trace lies beside": (beside("trace.csv", "row,group\n"), Must("files")),
    "a digest does not fit": (misfit, Must("files", says="SHA-256")),
}


def alterations(battery: Battery) -> dict[str, tuple[Alteration, Must]]:
    """All that is done to a format: what is done to every one, and what is done to it alone."""
    found = dict(EVERYWHERE)
    found["more rows are said to be withheld"] = stated("rows", "withheld", value=more(3)), battery.withheld
    found["the sensitive attribute is said to be kept along"] = role("pay", "other"), battery.unprotected
    for table, lines in battery.tables.items():
        found[f"{table}: a line is dropped"] = dropped(table), lines.dropped
        found[f"{table}: a line is repeated"] = repeated(table), lines.repeated
        found[f"{table}: {lines.column} is changed"] = put(table, lines.column, lines.text), lines.changed
        found[f"{table}: {lines.crossed} is exchanged"] = swapped(table, lines.crossed), lines.exchanged
    return found | battery.own


def another(*texts: str) -> Callable[[str], str]:
    """One of these texts that is not the one that was there."""
    return lambda text: next(other for other in texts if other != text)


KEPT_VALUE = put("table", "note", another("x", "y"))
UNKNOWN = "77777"
"""A number that nobody earns."""
FEWER_GROUPS = {"fewer groups are stated": (stated("groups", value=3), Must("consistency"))}


# --------------------------------------------------------------------------------------------------------- generalized


def oldest_and_youngest(folder: Folder) -> None:
    """Their values change places; neighbours might have been published so."""
    by_age = np.argsort([float(text.strip("[]").split(", ")[0]) for text in folder.column("table", "age")])
    pay = folder.column("table", "pay")
    oldest = next(line for line in reversed(by_age) if pay[line] != pay[by_age[0]])
    swapped("table", "pay", int(by_age[0]), int(oldest))(folder)


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
            repeated=Must("broken support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("consistency support", says="share one description"),
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
        "values of the oldest and the youngest are exchanged": (oldest_and_youngest, Must("broken support totals")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a description that is none": (put("table", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "a table that is not named": (lambda folder: folder.manifest["tables"].clear(), "table"),
    },
)

# ------------------------------------------------------------------------------------------------------------- anatomy


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
            changed=Must("broken consistency support totals"),
            exchanged=Must("broken consistency support"),
        ),
    },
    own={
        "a count is larger": (put("sensitive", "count", more(1)), Must("broken consistency support totals")),
        "a count is none": (put("sensitive", "count", "0"), Must("broken consistency support")),
        "a row is invented": (invented, Must("broken rows support totals")),
        "a row is hidden": (hidden, Must("broken support")),
        "a group is new": (put("table", "group", "99"), Must("consistency support")),
        "a value that nobody has": (put("sensitive", "pay", UNKNOWN), Must("broken spelling support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("rows support")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a count that is no number": (put("sensitive", "count", "many"), "whole number"),
        "a table that is not named": (lambda folder: folder.manifest["tables"].pop("sensitive.csv"), "two tables"),
        "a table that is lost": (lambda folder: (folder.path / "sensitive.csv").unlink(), "incomplete"),
    },
)

# ----------------------------------------------------------------------------------------------------------- ambiguous


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


NOBODYS = "The release lists age 41.5, which no original row that may be published holds."
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

# ---------------------------------------------------------------------------------------------------------- randomised


def boasting(folder: Folder) -> None:
    """Probability moves from another value to the diagonal: still a matrix, but it says too much."""
    gain = Fraction(folder.column("matrix", "0")[1])
    put("matrix", "0", lambda text: str(float(Fraction(text) + gain)))(folder)
    put("matrix", "0", "0", 1)(folder)


def taken_twice(folder: Folder) -> None:
    """One row stands in the place of another."""
    folder.tables["table"][1] = folder.tables["table"][2]


# that single values are others can be told of no release that randomises them all: any could have been drawn
ROWS = Lines(
    column="age",
    text=more(1),
    crossed="sex",
    dropped=Must("consistency rows"),
    repeated=Must("consistency rows"),
    changed=Must("rows"),
    exchanged=Must("rows"),
)
RANDOMISED: dict[str, tuple[Alteration, Must]] = {
    "a row stands in the place of another": (taken_twice, Must("rows")),
    "a value that nobody has": (put("table", "pay", UNKNOWN), Must("consistency")),
    "a kept value is changed": (KEPT_VALUE, Must("rows")),
}
MOVED_PRIOR = together(put("prior", "count", more(1)), put("prior", "count", more(-1), 1))
TENFOLD_PRIOR = put("prior", "count", lambda text: f"{text}0")
PERTURBED = Battery(
    scheme="perturbation",
    promise="beta-likeness(beta=2)",
    stronger="beta-likeness(beta=1)",
    weaker="beta-likeness(beta=3)",
    rows=600,
    trace="rows",
    withheld=Must("consistency rows"),
    tables={
        "table": ROWS,
        "matrix": Lines(
            column="0",
            text="0.123",
            crossed="published",
            dropped=Must("refused"),
            repeated=Must("refused"),
            changed=Must("matrix"),
            exchanged=Must("refused"),
        ),
        "prior": Lines(
            column="count",
            text=more(1),
            crossed="count",
            dropped=Must("refused"),
            repeated=Must("refused"),
            changed=Must("consistency prior"),
            exchanged=Must("prior"),
        ),
    },
    own={
        **RANDOMISED,
        "the prior is moved": (MOVED_PRIOR, Must("prior")),
        "the prior is ten times as large": (TENFOLD_PRIOR, Must("consistency prior")),
        "a matrix says too much": (boasting, Must("broken")),
    },
    unreadable={
        "no prior": (rewritten("prior", "value,count"), "every sensitive value once"),
        "a prior below zero": (put("prior", "count", "-1"), "every sensitive value once"),
        "a prior with other columns": (rewritten("prior", "a,b", "1,2"), "must have value, count"),
        "a probability that is none": (put("matrix", "0", "x"), "'x', which is no probability"),
        "a matrix of other values": (rewritten("matrix", "published,b", "a,1"), "not the values of the prior"),
        "a table without its columns": (rewritten("table", "pay", "0"), "must have age, sex, pay, note"),
    },
)
RETAINED = Battery(
    scheme="retention",
    options={"noise": "prior"},
    promise="proximity(epsilon=100, m=2)",
    stronger="proximity(epsilon=100, m=3)",
    weaker="proximity(epsilon=100, m=1)",
    rows=600,
    trace="rows",
    withheld=Must("consistency rows"),
    tables={
        "table": ROWS,
        "prior": Lines(
            column="count",
            text=more(1),
            crossed="count",
            dropped=Must("consistency draws prior"),
            repeated=Must("refused"),
            changed=Must("broken consistency prior"),
            exchanged=Must("broken draws prior"),
        ),
    },
    own={
        **RANDOMISED,
        "the prior is moved": (MOVED_PRIOR, Must("broken prior")),
        "the prior is ten times as large": (TENFOLD_PRIOR, Must("broken consistency draws prior")),
        "a probability that breaks the promise": (
            stated("retention", "probability", value=0.9),
            Must("broken draws"),
        ),
        "a probability that breaks it by a hair": (
            stated("retention", "probability", value=lambda used: used + 1e-11),
            Must("broken", says="is broken by what"),
        ),
        "a probability that was not used": (stated("retention", "probability", value=0.0001), Must("draws")),
        "other noise": (stated("retention", "noise", value="uniform"), Must("broken draws")),
        "a seed": (lambda folder: folder.manifest["retention"].update(seed=1), Must("consistency")),
    },
    unreadable={
        "a number that is none": (put("prior", "value", "many"), "not a number"),
        "no probability": (lambda folder: folder.manifest.update(retention={"p": 0.1}), "with which probability"),
        **{
            f"probability {value!r}": (stated("retention", "probability", value=value), "with which probability")
            for value in (2, True, float("nan"), "0.1")
        },
    },
)

BATTERIES = {
    "generalized": GENERALIZED,
    "anatomy": ANATOMY,
    "ambiguous": AMBIGUOUS,
    "perturbed": PERTURBED,
    "retained": RETAINED,
}


# --------------------------------------------------------------------------------------------------------------- tests


class Target(NamedTuple):
    """A true release, saved, and what it was made of."""

    table: Table
    release: Release
    home: Path


def people(battery: Battery) -> Table:
    """All ages differ, so that whose value is whose is known and every exchange shows; one in five earns nothing."""
    rng = np.random.default_rng(0)
    numbers = np.arange(battery.rows)
    columns = {
        "age": 20 + numbers,
        "sex": rng.choice(["f", "m"], battery.rows),
        "pay": rng.permutation(np.maximum(numbers % 14 - 2, 0)) * 100,
        "note": rng.choice(["x", "y"], battery.rows),
    }
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive="pay", keep=battery.keep)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Target]:
    """The release of a format, made once; only copies of it are altered."""
    made: dict[str, Target] = {}

    def make(format: str) -> Target:
        if format not in made:
            battery = BATTERIES[format]
            table = people(battery)
            release = make_scheme(battery.scheme, battery.options, 1).publish(table, dc.parse(battery.promise))
            made[format] = Target(table, release, release.save(tmp_path_factory.mktemp(format) / "release"))
        return made[format]

    return make


def findings(home: Path, table: Table, **more: Any) -> tuple[set[str], str]:
    """The names of what fails, and all that is said about it."""
    try:
        found = dc.audit(home, table, **more)
    except dc.DiscreetError as refusal:
        return {"refused"}, str(refusal)
    json.dumps(found.as_dict(), allow_nan=False)
    names = {check.name for check in found.checks if not check.holds}
    names |= {"broken" for kept in found.promises if not kept.holds}
    assert found.holds == (not names)
    return names, "\n".join(found.sentences())


def test_every_format_is_under_fire() -> None:
    """A format that is added needs a battery, of a scheme that makes it; and a battery speaks of all its tables."""
    assert BATTERIES.keys() == FORMATS.keys()


@pytest.mark.parametrize("format", BATTERIES)
def test_a_true_release_holds(target: Callable[[str], Target], format: str) -> None:
    table, release, home = target(format)
    assert release.format == format
    assert set(Folder(home).tables) == set(BATTERIES[format].tables)
    for trace in (None, release.trace):
        assert findings(home, table, trace=trace)[0] == set()


@pytest.mark.parametrize(
    ("format", "what"), [(format, what) for format, battery in BATTERIES.items() for what in alterations(battery)]
)
def test_an_altered_release_fails(target: Callable[[str], Target], tmp_path: Path, format: str, what: str) -> None:
    """By exactly what is wrong with it where all is covered up; where it is not, by its files, at the least, too."""
    table, release, home = target(format)
    alteration, must = alterations(BATTERIES[format])[what]
    covered = altered(home, tmp_path / "covered", alteration)
    bare = altered(home, tmp_path / "bare", alteration, cover_up=False)
    for trace in (None, release.trace):
        expected = must.names(trace is not None)
        names, told = findings(covered, table, trace=trace)
        assert names == expected and expected, told
        assert re.search(must.says, told), told
        if something_to_cover(covered, bare):
            names, told = findings(bare, table, trace=trace)
            assert names >= ({"files", "readable"} if expected == {"refused"} else expected | {"files"}), told


def something_to_cover(covered: Path, bare: Path) -> bool:
    """Whether a table was edited, so that its digest in the manifest had to be."""
    return (covered / "release.json").read_bytes() != (bare / "release.json").read_bytes()


@pytest.mark.parametrize(
    ("format", "what"), [(format, what) for format, battery in BATTERIES.items() for what in battery.unreadable]
)
def test_what_cannot_be_read_is_refused(
    target: Callable[[str], Target], tmp_path: Path, format: str, what: str
) -> None:
    """And is a finding where a digest betrays that the file is another."""
    table, _, home = target(format)
    alteration, sentence = BATTERIES[format].unreadable[what]
    covered = altered(home, tmp_path / "one" / "covered", alteration)
    with pytest.raises(dc.DiscreetError, match=sentence):
        dc.load(covered)
    bare = altered(home, tmp_path / "two" / "bare", alteration, cover_up=False)
    names, told = findings(covered, table)
    if something_to_cover(covered, bare):
        assert names == {"refused"} and re.search(sentence, told)
        names, told = findings(bare, table)
        assert names == {"files", "readable"} and re.search(sentence, told)
        assert dc.audit(bare, table).support == "none"
    else:
        assert names in ({"refused"}, {"files", "readable"})


@pytest.mark.parametrize("format", BATTERIES)
def test_another_trace_does_not_explain_the_release(target: Callable[[str], Target], format: str) -> None:
    table, release, home = target(format)
    assert release.trace is not None
    exchanged, withheld = release.trace.copy(), release.trace.copy()
    other = int(np.argmax(exchanged != exchanged[0]))
    exchanged[[0, other]] = exchanged[[other, 0]]
    withheld[0] = -1
    for trace in (exchanged, withheld):
        assert findings(home, table, trace=trace)[0] == {BATTERIES[format].trace}


@pytest.mark.parametrize("format", BATTERIES)
@pytest.mark.parametrize("traced", [False, True])
def test_the_auditors_own_promise_is_judged_though_a_weaker_one_is_stated(
    target: Callable[[str], Target], tmp_path: Path, format: str, traced: bool
) -> None:
    table, release, home = target(format)
    battery, trace = BATTERIES[format], release.trace if traced else None
    weaker = altered(home, tmp_path / "weaker", stated("promise", value=[battery.weaker]))
    assert dc.audit(weaker, table, trace=trace).holds
    assert dc.audit(weaker, table, trace=trace, promises=battery.promise).holds
    found = dc.audit(weaker, table, trace=trace, promises=battery.stronger)
    assert not found.holds and all(check.holds for check in found.checks)
    assert [kept.promise for kept in found.promises if not kept.holds] == [battery.stronger]
    boast = altered(home, tmp_path / "stronger", stated("promise", value=[battery.stronger]))
    found = dc.audit(boast, table, trace=trace)
    assert [kept.promise for kept in found.promises if not kept.holds] == [battery.stronger]
