"""A few hundred random releases, checked by the naive definitions from their files; ``make fuzz`` makes many more."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from discreet.adversary.audit import audit
from discreet.principles import PRINCIPLES, AlphaBeta, KAnonymity, Principle
from discreet.releases import FORMATS
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.trace import write_trace
from discreet.schemes import SCHEMES, Cuts
from discreet.table.hierarchy import Hierarchy
from discreet.table.read import read
from discreet.table.table import Table
from fuzz import cases, damage, formats, promises, run
from fuzz.files import UntrueError

SEEDS = range(25 * len(SCHEMES))


@pytest.mark.slow
def test_random_releases_keep_their_promises_by_definition() -> None:
    tally = run.fuzz(SEEDS)
    told = "\n".join(tally.lines())
    assert not tally.failures, told
    assert not tally.never_published, told
    assert sum(counts["tried"] for counts in tally.schemes.values()) == len(SEEDS), told


@pytest.mark.slow
def test_damaged_files_of_every_kind_are_used_or_refused_in_a_sentence() -> None:
    """Some of these ended the process before all content was checked."""
    found = damage.fuzz_files(range(29, 35))
    told = "\n".join([*found.lines(), *found.failures])
    assert not found.failures, told
    assert all(counts["tried"] == 6 for counts in found.kinds.values()), told


@pytest.mark.slow
def test_undamaged_files_of_every_kind_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damage, "damaged", lambda data, chance: data)
    assert [damage.attempt(kind, 0, tmp_path) for kind in damage.KINDS] == [None] * len(damage.KINDS)


def test_every_format_and_every_promise_has_a_definition_to_be_checked_by() -> None:
    assert formats.FORMATS.keys() == FORMATS.keys()
    assert promises.KEPT.keys() == promises.DRAWN.keys() == PRINCIPLES.keys()


@pytest.mark.slow
def test_a_case_is_repeated_by_its_number() -> None:
    seeds = range(len(SCHEMES), 2 * len(SCHEMES))
    assert [run.one(seed) for seed in seeds] == [run.one(seed) for seed in seeds]


@pytest.mark.slow
def test_a_broken_promise_is_found_whatever_the_audit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def boast(self: Cuts, table: Table, principle: Principle, progress: object = None) -> GeneralizedRelease:
        alone = np.arange(table.rows, dtype=np.int32)
        return GeneralizedRelease.from_groups(table, alone, promise=principle, scheme=self.name)

    monkeypatch.setattr(Cuts, "publish", boast)
    monkeypatch.setattr(run, "audit", lambda *_, **__: SimpleNamespace(holds=True))
    found = [run.one(seed).failure or "" for seed in range(0, 20 * len(SCHEMES), len(SCHEMES))]
    assert sum("is broken by a group" in failure for failure in found) >= 10, found


def test_a_hierarchy_of_ordered_values_may_list_missing_ones_that_nobody_has(tmp_path: Path) -> None:
    """Found by the fuzz: the release could not be loaded."""
    tree = Hierarchy.from_rows("pay", [("low", "x", "*"), ("(missing)", "none", "*"), ("high", "y", "*")])
    people = pa.table({"age": range(12), "pay": ["low", "high"] * 6})
    table = read(people, quasi=["age"], sensitive="pay", ordinal=["pay"], hierarchies={"pay": tree})
    Cuts().publish(table, KAnonymity(3)).save(tmp_path / "release")
    assert audit(tmp_path / "release", table).holds


def test_who_stands_at_the_ends_of_intervals_is_not_believed_in_more_than_promised(tmp_path: Path) -> None:
    """On average the combinations of the first group are believed in with 1/8, the corners of its box with 1/2."""
    pairs = [(0, 0), (3, 3), (1, 1), (2, 2)]
    columns = [cases.Column(name, "numeric", [str(pair[at]) for pair in pairs]) for at, name in enumerate("pq")]
    case = cases.Case(columns, [cases.Column("s", "categorical", list("uvuv"))], [], "error", False)
    table = cases.read_case(case, tmp_path)
    groups = np.array([0, 0, -1, -1], np.int32)
    release = GeneralizedRelease.from_groups(table, groups, promise=AlphaBeta(0.4, 1), scheme="cuts")
    release.save(tmp_path / "release")
    write_trace(release, tmp_path / "trace.csv")
    for alpha in ("0.5", "0.4"):
        promise = promises.Promise("alpha-beta", {"alpha": alpha, "beta": "1"})
        if alpha == "0.5":
            formats.check(tmp_path / "release", case, [promise], tmp_path / "trace.csv")
        else:
            with pytest.raises(UntrueError, match="at the ends of a group is believed with 1/2"):
                formats.check(tmp_path / "release", case, [promise], tmp_path / "trace.csv")


def test_a_promise_is_stated_in_whatever_order_its_parameters_are() -> None:
    stated = 'alpha-beta(alpha=0.5, beta=1, presence=combined, attribute="a, b", association=combined)'
    asked = {"beta": "1.0", "alpha": "0.5", "association": "combined", "presence": "combined"}
    wanted = promises.Promise("alpha-beta", asked, "a, b")
    assert formats._spelt(stated) == formats._spelt(wanted.text)
    assert formats._spelt(stated) != formats._spelt(promises.Promise("alpha-beta", asked, "a").text)


def test_all_failures_are_told_as_they_come_and_together_by_how_they_begin() -> None:
    told: list[int] = []
    tally = run.Tally(lambda outcome: told.append(outcome.seed))
    for seed in range(50):
        tally.add(run.Outcome(seed, "cuts", failure=f"a value is believed too strongly: {seed}"))
    assert told == list(range(50))
    (line,) = [line for line in tally.lines() if "a value is believed too strongly" in line]
    assert line.startswith("FAILED 50 times") and "48, 49]" in line


def test_a_scheme_that_never_publishes_is_a_failure() -> None:
    tally = run.Tally()
    for seed in range(run.CHANCES):
        tally.add(run.Outcome(seed, "cuts", refused="no"))
    assert tally.never_published == ["cuts"] and any("cuts never published" in line for line in tally.lines())
