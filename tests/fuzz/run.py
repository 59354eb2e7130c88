"""Publishes random releases one by one; each is saved, checked by definition, audited, loaded again, tampered with.

A seed determines everything about a case, including the randomness in the library, so that failures can be repeated.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from discreet import randomness
from discreet.adversary.audit import audit
from discreet.errors import DiscreetError
from discreet.expressions import SEED
from discreet.principles.per_attribute import by_attribute
from discreet.principles.principle import Principle, conjunction, parse
from discreet.releases import load
from discreet.releases.release import Release
from discreet.releases.trace import write_trace
from discreet.schemes import SCHEMES, Scheme
from discreet.table.table import Table
from fuzz.cases import Case, draw_case, read_case
from fuzz.files import UntrueError, expect
from fuzz.formats import check, states
from fuzz.promises import PAIRED, Promise, draw_pair, draw_promise
from fuzz.tampering import tamper

TABLES, TRIES = 5, 15
"""How many tables are drawn, and how many promises for each, before a promise is accepted that the scheme refuses."""


CHANCES = 20
"""A scheme that has published nothing after this many cases counts as a failure."""
ALWAYS = ("domains",)
"""Options that are always drawn, because their default refuses most tables."""
MORE: dict[str, list[Any]] = {
    "pairs": ["auto"],
    "cells": [1, 2, 3],
    "most_discernibility": [200.0, 2000.0],
    "scheme": [
        "cuts(descriptions=exact)",
        "anatomy",
        "baseline",
        "lifting",
        "sealed",
        "mirrored",
        "perturbation",
        "retention",
        "heterogeneous",
    ],
}
"""Values for options whose types do not list them."""


@dataclass
class Outcome:
    """The result of one case."""

    seed: int
    scheme: str
    refused: str | None = None
    """Why nothing was published."""
    tampered: str | None = None
    """What was altered; the audit noticed it unless it was ``harmless``."""
    harmless: bool = False
    failure: str | None = None


@dataclass
class Tally:
    """The results of many cases, counted per scheme."""

    tell: Callable[[Outcome], None] = lambda outcome: None
    """Called with every outcome as it comes."""
    schemes: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in SCHEMES})
    refusals: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in SCHEMES})
    failures: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        counts = self.schemes[outcome.scheme]
        counts["tried"] += 1
        if outcome.failure is not None:
            self.failures.append(outcome)
        elif outcome.refused is not None:
            counts["refused"] += 1
            self.refusals[outcome.scheme][outcome.refused] += 1
        else:
            counts["published"] += 1
            if outcome.tampered is not None:
                counts["harmless" if outcome.harmless else "noticed"] += 1
        self.tell(outcome)

    @property
    def never_published(self) -> list[str]:
        """The schemes that published nothing in at least `CHANCES` cases."""
        return [name for name, counts in self.schemes.items() if counts["tried"] >= CHANCES and not counts["published"]]

    @property
    def kinds_of_failure(self) -> dict[str, list[int]]:
        """The seeds of all failures, by how their messages begin."""
        found: dict[str, list[int]] = {}
        for outcome in sorted(self.failures, key=lambda outcome: outcome.seed):
            found.setdefault(" ".join(str(outcome.failure).split()[:6]), []).append(outcome.seed)
        return dict(sorted(found.items(), key=lambda kind: -len(kind[1])))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the printed summary."""
        heads = ("tried", "published", "refused", "noticed", "harmless")
        yield f"{'scheme':<14}" + "".join(f"{head:>11}" for head in heads)
        for name, counts in self.schemes.items():
            yield f"{name:<14}" + "".join(f"{counts[head]:>11,}" for head in heads)
        total = sum(self.schemes.values(), Counter())
        yield f"{'all':<14}" + "".join(f"{total[head]:>11,}" for head in heads)
        yield "Published: checked by definition from the files, audited, loaded again. Noticed or harmless: altered."
        for name, reasons in self.refusals.items():
            for reason, number in reasons.most_common(4):
                yield f"  {name} refused {number:,}: {reason} ..."
        for beginning, numbers in self.kinds_of_failure.items():
            yield f"FAILED {len(numbers):,} times: {beginning} ..., repeat with COUNT=1 and SEED={numbers}"
        for name in self.never_published:
            yield f"FAILED {name} never published anything"
        yield f"{total['tried']:,} cases in {self.seconds:.0f} s, {len(self.failures):,} failures."


def fuzz(
    seeds: Iterable[int],
    processes: int = 1,
    seconds: float | None = None,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> Tally:
    """Run the cases of these seeds, or as many as fit into ``seconds``; ``tell`` is called with every outcome."""
    tally, start = Tally(tell), time.monotonic()
    if processes == 1:
        for seed in seeds:
            tally.add(one(seed))
            if seconds is not None and time.monotonic() - start > seconds:
                break
    else:
        # terminated processes leave their files behind, so they write into a folder that is removed here
        with (
            tempfile.TemporaryDirectory(prefix="fuzz", dir=_memory(), ignore_cleanup_errors=True) as within,
            get_context("spawn").Pool(processes) as pool,
        ):
            for outcome in pool.imap_unordered(partial(one, within=within), seeds, chunksize=8):
                tally.add(outcome)
                if seconds is not None and time.monotonic() - start > seconds:
                    pool.terminate()
                    pool.join()
                    break
    tally.seconds = time.monotonic() - start
    return tally


def one(seed: int, within: str | None = None) -> Outcome:
    """Run the case of one seed; consecutive seeds cycle through the schemes."""
    name = list(SCHEMES)[seed % len(SCHEMES)]
    outcome = Outcome(seed, name)
    chance = Random(seed)
    entropy, randomness._entropy = randomness._entropy, np.random.default_rng(seed).bytes
    home = Path(tempfile.mkdtemp(prefix="fuzz", dir=within or _memory()))
    try:
        _try(chance, outcome, home)
    except UntrueError as wrong:
        outcome.failure = f"{wrong}"
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        outcome.failure = f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"
    finally:
        randomness._entropy = entropy
        shutil.rmtree(home)
    return outcome


def _memory() -> str | None:
    """Return a folder in memory, if the system has one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _try(chance: Random, outcome: Outcome, home: Path) -> None:
    folder, trace = home / "release", home / "trace.csv"
    try:
        scheme = draw_scheme(chance, outcome.scheme)
        case, table, promises = draw_work(chance, scheme, home)
        principle = conjunction([_parsed(promise.text) for promise in promises])
        release = scheme.publish(table, principle)
    except DiscreetError as refusal:
        outcome.refused = " ".join(str(refusal).split()[:5])
        return
    form: Literal["csv", "parquet"] = "parquet" if chance.random() < 0.1 else "csv"
    release.save(folder, form)
    if release.of_people:
        write_trace(release, trace)
    expect(check(folder, case, promises, trace) == release.format, "the manifest names another format")
    expect(states(folder, promises, case.sensitive), "the manifest does not state the promise")
    for known in (trace, None) if release.of_people else (None,):
        found = audit(folder, table, trace=known, promises=principle)
        # where only the trace tells what is promised about, all else must hold without it
        shown = found.holds or (
            known is None and release.format == "matched" and all(one.holds for one in found.checks)
        )
        expect(shown, f"the audit does not hold: {found.sentences()}")
    _again(release, folder, home / "again", form)
    if form == "csv":
        _altered(chance, outcome, case, table, principle, promises, home)


def _again(release: Release, folder: Path, copy: Path, form: Literal["csv", "parquet"]) -> None:
    """Check that loading and saving a release reproduces its files byte by byte."""
    loaded = load(folder)
    expect(loaded.faults == () and (loaded.rows, loaded.withheld) == (release.rows, release.withheld), "loaded another")
    loaded.save(copy, form)
    for path in folder.iterdir():
        expect((copy / path.name).read_bytes() == path.read_bytes(), f"{path.name} is another when loaded and saved")


def _altered(
    chance: Random,
    outcome: Outcome,
    case: Case,
    table: Table,
    principle: Principle,
    promises: list[Promise],
    home: Path,
) -> None:
    """Tamper with the release: the audit must notice it, or the release must still be true and keep its promises."""
    what = tamper(chance, home / "release")
    if what is None:
        return
    outcome.tampered = what
    try:
        known = home / "trace.csv"
        noticed = not audit(home / "release", table, trace=known if known.exists() else None, promises=principle).holds
    except DiscreetError:
        noticed = True
    if noticed:
        return
    outcome.harmless = True
    try:
        check(home / "release", case, promises, home / "trace.csv")
    except Exception as harm:
        raise UntrueError(f"altered and not noticed ({what}): {type(harm).__name__}: {harm}") from None


# ------------------------------------------------------------------------------------------------------------ drawing


def draw_scheme(chance: Random, name: str) -> Scheme:
    """Draw a scheme with some random options: those with listed choices, booleans and shares."""
    kind: Any = SCHEMES[name]
    hints = _hints(kind)
    options: dict[str, Any] = {}
    for one in sorted(fields(kind), key=lambda one: one.name == SEED):  # the seed last, wherever its field stands
        if one.name not in ALWAYS and chance.random() < 0.75:
            continue
        if get_origin(hints[one.name]) is Literal:
            options[one.name] = chance.choice(get_args(hints[one.name]))
        elif one.name in MORE:
            options[one.name] = chance.choice(MORE[one.name])
        elif isinstance(one.default, bool):
            options[one.name] = chance.random() < 0.5
        elif isinstance(one.default, float):
            options[one.name] = chance.choice([0.1, 0.3, 0.5])
    scheme: Scheme = kind(**options)
    return scheme


_hints, _parsed = cache(get_type_hints), cache(parse)  # the same again and again


def draw_work(chance: Random, scheme: Scheme, home: Path) -> tuple[Case, Table, list[Promise]]:
    """Draw a table and one or two promises for each attribute, mostly such that the scheme does not refuse them.

    In a fifth of the cases both are of one kind.
    """
    for left in reversed(range(TABLES)):
        case = draw_case(chance, scheme.several)
        table = read_case(case, home)
        paired = chance.random() < PAIRED
        for _ in range(TRIES):
            if paired:
                few = len(case.sensitive) == 1
                found = [each for column in case.sensitive for each in draw_pair(chance, column, not few)]
            elif len(case.sensitive) == 1:
                found = [draw_promise(chance, case.sensitive[0]) for _ in range(chance.choice([1, 1, 1, 2]))]
            else:
                found = [draw_promise(chance, column, chance.random() < 0.5) for column in case.sensitive]
            if not left or _possible(scheme, found, table):
                return case, table, found
    raise AssertionError("the last table is always taken")


def _possible(scheme: Scheme, promises: list[Promise], table: Table) -> bool:
    principle = conjunction([_parsed(promise.text) for promise in promises])
    try:
        each = by_attribute(principle, table)
        for prior, promise in each:
            promise.require(prior)
    except DiscreetError:
        return False
    if len(each) > 1:
        return scheme.refusal_of_several(principle, each) is None
    return scheme.refusal(principle, each[0].prior) is None
