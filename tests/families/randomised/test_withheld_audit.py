"""Withheld rows of releases with randomised values, audited without the trace: against every choice of rows."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.adversary.verdict import PromiseVerdict
from discreet.families.randomised.auditor.align import align
from discreet.families.randomised.auditor.withheld import with_withheld
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.release.perturbed import PerturbedRelease
from discreet.principles import Principle, Prior
from discreet.table.table import Table
from support.tampering import describe


def drop(home: Path, number: int = 1) -> None:
    """Delete published lines, here and there, and count them as withheld, everything else being as it should."""
    manifest = json.loads((home / "release.json").read_text())
    path = home / "table.csv"
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    step = (len(lines) - 1) // number
    del lines[1 : 1 + number * step : step]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    manifest["rows"]["published"] -= number
    manifest["rows"]["withheld"] += number
    manifest["tables"]["table.csv"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (home / "release.json").write_text(json.dumps(manifest))
    describe(home)


def people(rows: int, **sensitive: Any) -> Table:
    """Few combinations of quasi-identifiers, so that which rows of them are withheld is open."""
    rng = np.random.default_rng(0)
    data = {"age": rng.integers(20, 30, rows), "sex": rng.choice(["f", "m"], rows), **sensitive}
    return dc.read(pa.table(data), quasi=["age", "sex"], sensitive=next(iter(sensitive)))


ILL = people(400, ill=np.random.default_rng(1).choice(list("abcd"), 400))
PAY = people(400, pay=np.random.default_rng(1).integers(0, 40, 400) * 100)


@pytest.mark.parametrize(
    ("scheme", "table", "promise"),
    [
        (dc.Perturbation(), ILL, dc.BetaLikeness(1)),
        (dc.Perturbation(), ILL, dc.BetaLikeness(1, negative=0.5)),
        (dc.Retention(), PAY, dc.Proximity(100, 2)),
    ],
)
def test_a_row_that_breaks_the_promise_whatever_its_value_was_is_found(
    tmp_path: Path, scheme: Any, table: Table, promise: Principle
) -> None:
    """No single row keeps the promise as a group, so nobody needs to know which one was withheld."""
    prior = Prior.of(table)
    assert not promise.holds(np.eye(len(prior.counts), dtype=np.int64), prior).any()
    home = scheme.publish(table, promise).save(tmp_path / "r")
    assert dc.audit(home, table).holds
    drop(home)
    found = dc.audit(home, table)
    assert [check.name for check in found.checks if not check.holds] == []
    assert found.promises[0].broken == 1 and found.promises[0].strain > 1.0 and not found.holds
    assert "No choice of rows makes the one withheld row keep it as a group" in found.promises[0].sentence


def test_floors_count_where_caps_are_kept(tmp_path: Path) -> None:
    """Four rows may be one of each value, within all caps; but two values may not both lack in four of six."""
    table = people(600, ill=np.random.default_rng(2).choice(list("abcdef"), 600))
    promises = [dc.BetaLikeness(1), dc.BetaLikeness(1, negative=0.5)]
    assert [bool(p.holds([[1, 1, 1, 1, 0, 0]], Prior.of(table))[0]) for p in promises] == [True, False]
    home = dc.Perturbation().publish(table, promises[1]).save(tmp_path / "r")
    drop(home, 4)
    kept = {found.promise: found for found in dc.audit(home, table, promises=promises).promises}
    assert kept[str(promises[0])].holds and "is not decided" in kept[str(promises[0])].sentence
    assert not kept[str(promises[1])].holds and "No choice of rows" in kept[str(promises[1])].sentence


@pytest.mark.parametrize(
    ("scheme", "table", "promise"),
    [(dc.Perturbation(), ILL, dc.BetaLikeness(1)), (dc.Retention(), PAY, dc.Proximity(100, 2))],
)
def test_what_is_not_decided_is_said_in_the_verdict(
    tmp_path: Path, scheme: Any, table: Table, promise: Principle
) -> None:
    home = scheme.publish(table, promise).save(tmp_path / "r")
    drop(home, 24)
    found = dc.audit(home, table)
    assert found.holds and found.verdict.startswith(f"{promise} holds")
    assert "whether the withheld rows keep it is not decided: give the trace for certainty" in found.verdict
    assert "is not decided: the values of " in found.promises[0].sentence
    assert found.promises[0].achieved is None, "what the withheld rows reach is not known"


def test_rows_that_the_scheme_withholds_pass(tmp_path: Path) -> None:
    """Rows without an age, and those withheld with them: with the trace for certain, without it unless it says so."""
    rng = np.random.default_rng(3)
    age = [None if rng.random() < 0.03 else int(year) for year in rng.integers(20, 25, 500)]
    table = dc.read(
        pa.table({"age": age, "ill": rng.choice(list("abcd"), 500)}), quasi=["age"], sensitive="ill", missing="withhold"
    )
    promise = dc.BetaLikeness(0.5)
    assert table.unusable is not None
    assert not promise.holds([np.bincount(table.sensitive_codes[table.unusable], minlength=4)], Prior.of(table))[0]
    release = dc.Perturbation(random_state=4).publish(table, promise)
    assert release.withheld > len(table.unusable)
    home = release.save(tmp_path / "r")
    traced, plain = dc.audit(home, table, trace=release.trace), dc.audit(home, table)
    assert traced.holds and "not decided" not in traced.verdict
    assert f"The {release.withheld} withheld rows keep it as a group." in traced.promises[0].sentence
    assert plain.holds and "not decided" in plain.verdict


# ----------------------------------------------------------------------------------------------- against every choice


def choices(table: Table, release: PerturbedRelease) -> set[tuple[int, ...]]:
    """The counts of the withheld rows for every choice of rows with the quasi-identifiers that are not published."""
    (quasi,) = table.quasi
    (shown,) = release.exact
    published = Counter(str(shown.values[code]) for code in shown.codes)
    width = len(table.prior_counts)
    totals = {(0,) * width}
    for code, text in enumerate(quasi.texts):
        values = table.sensitive_codes[quasi.codes == code].tolist()
        number = len(values) - published[text]
        chosen = set(itertools.combinations(sorted(values), number))
        lines = {tuple(np.bincount(np.array(some, np.int64), minlength=width).tolist()) for some in chosen}
        totals = {tuple(map(sum, zip(one, two, strict=True))) for one in totals for two in lines}
    return totals


def judged(
    table: Table, gone: NDArray[np.bool_], part: Principle
) -> tuple[PerturbedRelease, str, PromiseVerdict, bool]:
    """A release without some rows; what is said of these: broken, kept or open; how; and whether any was unknown."""
    drawn = np.where(gone, -1, table.sensitive_codes).astype(np.int32)
    width = len(table.prior_counts)
    matrix = Matrix.from_texts([["1" if i == j else "0" for j in range(width)] for i in range(width)])
    release = PerturbedRelease.from_draws(table, drawn, matrix, promise=dc.BetaLikeness(1), scheme="none")
    matched = align(release, table)
    before = PromiseVerdict("", True, 0.0, 1.0, 0, None, 0, {}, "")
    kept, decided = with_withheld(before, part, matched, Prior.of(table))
    answer = "broken" if not kept.holds else "kept" if decided else "open"
    return release, answer, kept, bool(matched.open)


PROMISES = (
    dc.BetaLikeness(0.5),
    dc.BetaLikeness(1, variant="basic"),
    dc.BetaLikeness(1, negative=0.4),
    dc.BetaLikeness(2, variant="basic", negative=0.8),
    dc.AlphaBeta(0.5, 0.5),
    dc.Proximity(1, 2),
    dc.Proximity(0, 2),
    dc.Proximity(m=2, neighbourhood=(0.0, 2.0)),
)


@pytest.mark.slow
def test_every_answer_is_that_of_all_choices() -> None:
    """Caps and floors are decided exactly; of proximity nothing wrong is said, and most of what is broken is found."""
    rng = np.random.default_rng(5)
    answers: Counter[tuple[str, str]] = Counter()
    found = missed = 0
    for turn in range(480):
        rows, width = int(rng.integers(6, 15)), int(rng.integers(2, 8))
        data = {"q": rng.integers(0, 3, rows).astype(str), "s": rng.integers(0, width, rows)}
        table = dc.read(pa.table(data), quasi=["q"], sensitive="s", numeric=["s"])
        gone = rng.random(rows) < rng.choice([0.2, 0.5, 0.8])
        gone[int(rng.integers(rows))] = False
        part, prior = PROMISES[turn % len(PROMISES)], Prior.of(table)
        release, answer, kept, unknown = judged(table, gone, part)
        lines = np.array(sorted(choices(table, release)))
        truth = part.holds(lines, prior)
        answers[part.name, answer] += unknown
        assert kept.holds or not truth.any(), (part, data, gone)
        assert kept.strain <= float(part.strain(lines, prior).min()) + 1e-8, (part, data, gone)
        if part.name != "proximity" or not unknown:
            assert answer == ("broken" if not truth.any() else "kept" if truth.all() else "open"), (part, data, gone)
        elif not truth.any():
            found, missed = found + (answer == "broken"), missed + (answer != "broken")
        elif answer == "kept":
            assert truth.all(), (part, data, gone)
    for name in {part.name for part in PROMISES}:
        for answer in ("broken", "kept", "open"):
            assert answers[name, answer] >= 3, (name, answer, answers)
    assert missed <= 0.1 * found, (found, missed)


def test_of_proximity_is_found_what_follows_from_either_side() -> None:
    """Numbers 0, 1 and 2, those next to each other being near. Two rows are withheld, and m is 2."""

    def answer(values: list[int], quasi: str, gone: str) -> str:
        table = dc.read(pa.table({"q": list(quasi), "s": values}), quasi=["q"], sensitive="s", numeric=["s"])
        return judged(table, np.array(list(gone)) == "-", dc.Proximity(1, 2))[1]

    # both are 1 or 2; both are 0 or 1; either is 1, and the other 0 or 2; one is 0, and the other 1 or 2
    assert answer([1, 1, 2, 2, 0], "aaaab", "--+++") == "broken"
    assert answer([0, 0, 1, 1, 2], "aaaab", "--+++") == "broken"
    assert answer([1, 0, 2, 0, 2], "abbcc", "--+++") == "broken"
    assert answer([0, 1, 2, 0, 2], "abbcc", "--+++") == "open"
