"""Releases of every format, altered in every way we know: the audit fails by the name of what is wrong.

Whoever alters a file covers it up as well as can be, with digests and counts that fit. Most of what is done is the same
for all formats; a new format joins with a battery of its own (``tests/batteries``), which says what must fail for each
of these alterations and for those that only it invites.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from batteries import BATTERIES
from batteries.battery import Battery, alterations
from discreet.releases import FORMATS, Release
from discreet.schemes import make_scheme
from discreet.schemes.described import narrow
from discreet.table.table import Table
from support.tampering import Folder, altered, altered_folder, stated


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
    columns["ward"] = rng.permutation(np.array(["a", "b", "c"])[numbers % 3])
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive=list(battery.sensitive), keep=battery.keep)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Target]:
    """The release of a format, made once; only copies of it are altered."""
    made: dict[str, Target] = {}

    def make(format: str) -> Target:
        if format not in made:
            battery = BATTERIES[format]
            table = people(battery)
            scheme = narrow(make_scheme(battery.scheme, battery.options, 1))
            # of the rows in their order: batteries alter groups that they know by number
            promise = dc.parse(battery.promise)
            release = scheme.completed(scheme.release_of(table, promise), table, promise)
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
    """A format that is added needs a battery."""
    assert {name.partition(",")[0] for name in BATTERIES} == set(FORMATS)


@pytest.mark.parametrize("format", BATTERIES)
def test_a_true_release_holds(target: Callable[[str], Target], format: str) -> None:
    """It is of the format that the battery is for, and the battery speaks of all its tables."""
    table, release, home = target(format)
    assert release.format == format.partition(",")[0]
    assert set(Folder(home).tables) == set(BATTERIES[format].tables)
    for trace in (None, release.trace):
        assert findings(home, table, trace=trace)[0] == unconfirmed(release, trace is not None)


def unconfirmed(release: dc.Release, traced: bool) -> set[str]:
    """What fails without the trace where only the trace can confirm a promise."""
    return {"broken"} if release.format == "matched" and not traced else set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "what"), [(format, what) for format, battery in BATTERIES.items() for what in alterations(battery)]
)
def test_an_altered_release_fails(target: Callable[[str], Target], tmp_path: Path, format: str, what: str) -> None:
    """By exactly what is wrong with it where all is covered up; where it is not, by its files, at the least, too."""
    table, release, home = target(format)
    alteration, must = alterations(BATTERIES[format])[what]
    covered, bare = tmp_path / "covered", tmp_path / "bare"
    folder = altered_folder(home, covered, alteration)
    altered(home, bare, alteration, cover_up=False)
    for trace in (None, None if release.trace is None else folder.moved(release.trace)):
        expected = must.names(trace is not None)
        if not expected <= {"refused", "promise"}:  # where there is a promise at all
            explained = trace is not None and BATTERIES[format].trace not in expected
            expected = expected | unconfirmed(release, explained)
        names, told = findings(covered, table, trace=trace)
        assert expected and names == expected, told
        assert re.search(must.says, told), told
        if something_to_cover(covered, bare):
            names, told = findings(bare, table, trace=trace)
            assert names >= ({"files", "readable"} if expected == {"refused"} else expected | {"files"}), told


def something_to_cover(covered: Path, bare: Path) -> bool:
    """Whether a table was edited, so that its digest in the manifest had to be."""
    return (covered / "release.json").read_bytes() != (bare / "release.json").read_bytes()


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("format", BATTERIES)
def test_another_trace_does_not_explain_the_release(target: Callable[[str], Target], format: str) -> None:
    table, release, home = target(format)
    if not release.of_people:
        assert release.trace is None
        assert findings(home, table, trace=np.zeros(table.rows, np.int32))[0] == {BATTERIES[format].trace}
        return
    assert release.trace is not None
    exchanged, withheld = release.trace.copy(), release.trace.copy()
    other = int(np.argmax(exchanged != exchanged[0]))
    exchanged[[0, other]] = exchanged[[other, 0]]
    withheld[0] = -1
    for trace in (exchanged, withheld):
        assert findings(home, table, trace=trace)[0] == {BATTERIES[format].trace} | unconfirmed(release, False)


@pytest.mark.slow
@pytest.mark.parametrize("format", BATTERIES)
@pytest.mark.parametrize("traced", [False, True])
def test_the_auditors_own_promise_is_judged_though_a_weaker_one_is_stated(
    target: Callable[[str], Target], tmp_path: Path, format: str, traced: bool
) -> None:
    table, release, home = target(format)
    battery, trace = BATTERIES[format], release.trace if traced else None
    weaker = altered(home, tmp_path / "weaker", stated("promise", value=[battery.weaker]))
    if unconfirmed(release, traced):
        assert not dc.audit(weaker, table).holds
        return
    noticed = set(battery.weakened.split())
    assert findings(weaker, table, trace=trace)[0] == noticed
    assert findings(weaker, table, trace=trace, promises=battery.promise)[0] == noticed
    found = dc.audit(weaker, table, trace=trace, promises=battery.stronger)
    assert not found.holds and {check.name for check in found.checks if not check.holds} == noticed
    assert {kept.promise for kept in found.promises if not kept.holds} == {battery.stronger}
    boast = altered(home, tmp_path / "stronger", stated("promise", value=[battery.stronger]))
    found = dc.audit(boast, table, trace=trace)
    assert {kept.promise for kept in found.promises if not kept.holds} == {battery.stronger}
