"""The attack of whoever knows the algorithm: by all worlds of small tables, and by drawn ones of larger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.reruns import with_values

import discreet as dc
from discreet.adversary.attacks import minimality as algorithm
from discreet.adversary.attacks.rerunning import again, content
from discreet.adversary.attacks.target import Target
from discreet.schemes import SCHEMES
from discreet.table.table import Table
from naive import attacks as naive
from naive.minimality import beliefs
from support.attacked import people, release_by
from support.plugs import plug_in
from support.releases import publish

PROMISE = dc.LDiversity(1.25)


def line(values: str) -> Table:
    """Persons in a row with these values."""
    columns = pa.table({"x": range(len(values)), "s": list(values)})
    return dc.read(columns, quasi=["x"], sensitive="s")


@dataclass(frozen=True)
class ByBlocks(dc.Scheme):
    """Blocks of four, each cut into halves where that is said to be possible."""

    name: ClassVar[str] = "blocks"
    format: ClassVar[type[Any]] = dc.GeneralizedRelease
    random_state: int | None = None

    def halved(self, block: np.ndarray) -> bool:
        return True

    def release_of(self, table: Table, principle: dc.Principle, progress: object = None) -> dc.Release:
        order = np.argsort(table.quasi[0].codes)  # by place in the line, whatever the order of the rows
        groups = np.empty(table.rows, np.int64)
        groups[order] = np.arange(table.rows) // 2
        for start in range(0, table.rows, 4):
            block = order[start : start + 4]
            if not self.halved(table.sensitive_codes[block]):
                groups[block] = groups[block[0]]
        return dc.GeneralizedRelease.from_groups(table, groups.astype(np.int32), promise=principle, scheme=self.name)

    @property
    def options(self) -> dict[str, Any]:
        return {}


class Leaky(ByBlocks):
    """Halves a block if and only if its first person does not have the first value: which is then known."""

    name = "leaky"

    def halved(self, block: np.ndarray) -> bool:
        return bool(block[0] != 0)


class Telling(ByBlocks):
    """Ignores all values, and says so."""

    name = "telling"
    one_run = True

    def likelihood(self, table: Table, principle: dc.Principle, groups: np.ndarray) -> Fraction:
        return Fraction(int(again(groups.astype(np.int64), np.arange(table.rows) // 2).all()))


class Boasting(Leaky):
    """Tells its probabilities, and so what it gives away."""

    name = "boasting"
    one_run = True

    def likelihood(self, table: Table, principle: dc.Principle, groups: np.ndarray) -> Fraction:
        first = np.arange(0, table.rows, 4)
        return Fraction(int(((table.sensitive_codes[first] != 0) == (groups[first] != groups[first + 2])).all()))


@pytest.fixture(autouse=True)
def schemes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schemes above, by their names."""
    plug_in(monkeypatch, "schemes", ByBlocks, Leaky, Telling, Boasting)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "values"), [("leaky", "abba"), ("leaky", "baab"), ("mondrian", "aabbc"), ("cuts", "abbca")]
)
def test_beliefs_are_those_by_all_worlds(scheme: str, values: str) -> None:
    table = line(values)
    made = SCHEMES[scheme]()
    release = made.publish(table, PROMISE)

    def likely(world: tuple[Any, ...]) -> Mapping[Any, Fraction]:
        codes = np.array([sorted(set(values)).index(str(value)) for value in world], np.int32)
        return {content(made.publish(with_values(table, codes), PROMISE)): Fraction(1)}

    expected = beliefs(list(values), likely, content(release))
    target = Target.of(release, table)
    found = dc.Minimality().learn(target)
    lines = found.beliefs(slice(0, len(values)))[target.person_of]
    for row, belief in enumerate(expected):
        assert lines[row] == pytest.approx([float(belief.get(str(value), 0)) for value in release.values])
    assert found.details["exact"] and found.details["concluded"] == len(values)


def test_what_is_given_away_by_a_choice_is_found_in_large_tables_too() -> None:
    """Of 400 persons everyone who is first in a block is known for sure, and some others with them."""
    rng = np.random.default_rng(1)
    table = line("".join(rng.choice(list("ab"), 400)))
    release = Leaky().publish(table, PROMISE)
    plain, knowing = dc.attack(release, table, ["beliefs", "minimality"], random_state=1).evidence
    assert not knowing.details["exact"] and knowing.victims >= 390
    assert knowing.interval[0] > plain.interval[1] > 0.5 and knowing.bound is None and not knowing.exceeds
    assert knowing.by_beliefs is not None and abs(knowing.by_beliefs - plain.rate) < 0.02  # of nearly the same persons
    assert knowing.details["over"] >= 100 and knowing.details["worst"] > 1.0
    assert "beyond doubt" in knowing.sentence


def test_a_choice_that_ignores_values_gives_nothing_away() -> None:
    """No belief is said to exceed its bound; one of 10,000 such tables may have one."""
    rng = np.random.default_rng(2)
    table = line("".join(rng.choice(list("abc"), 400)))
    release = ByBlocks().publish(table, dc.LDiversity(1.0))
    plain, knowing = dc.attack(release, table, ["beliefs", "minimality"], random_state=1).evidence
    assert knowing.details["over"] == 0 and knowing.details["agreeing"] == knowing.details["runs"]
    # guesses among equal shares are by chance: within 4 standard deviations of what groups tell
    assert abs(knowing.rate - plain.rate) < 4 * np.sqrt(0.25 / 400)


@pytest.mark.parametrize(("scheme", "holds"), [(Telling(), True), (Boasting(), False)])
def test_a_scheme_that_tells_its_probabilities_is_judged(scheme: ByBlocks, holds: bool) -> None:
    table = line("abbaabab")
    release = scheme.publish(table, dc.LDiversity(2) if holds else dc.LDiversity(1.5))
    found = dc.attack(release, table, "minimality")
    (one,) = found.evidence
    assert found.holds == holds and one.bound is not None and one.strain is not None and one.details["exact"]
    assert one.strain == pytest.approx(1.0 if holds else 1.5)


def test_probabilities_that_a_scheme_tells_count_in_drawn_worlds() -> None:
    rng = np.random.default_rng(3)
    table = line("".join(rng.choice(list("ab"), 60)))
    for scheme, concluded in ((Telling(), 60), (Boasting(), 0)):  # whose worlds hardly ever agree in all blocks
        found = dc.attack(scheme.publish(table, PROMISE), table, dc.Minimality(runs=50), random_state=1).evidence[0]
        assert found.details["concluded"] == concluded and found.victims == concluded and not found.details["exact"]


def test_chance_is_met_by_running_several_times() -> None:
    table = line("aabb")
    release = dc.Burel(random_state=1).publish(table, dc.LDiversity(2))
    (found,) = dc.attack(release, table, "minimality", random_state=1, trace=release.trace).evidence
    assert found.details["exact"] and found.details["runs"] % algorithm.REPEATS == 0
    assert 0 < found.details["agreeing"] < found.details["runs"]


def test_too_few_that_agree_are_no_conclusion() -> None:
    table = people()
    release = dc.Burel(random_state=1).publish(table, dc.LDiversity(3))
    (found,) = dc.attack(release, table, dc.Minimality(runs=30), trace=release.trace, random_state=1).evidence
    assert found.victims == found.details["concluded"] < table.rows and found.details["runs"] == 30
    assert "too few gave the same to conclude anything" in found.sentence


def test_guesses_do_not_look_at_who_has_which_value() -> None:
    table = line("".join(np.random.default_rng(4).choice(list("ab"), 60)))
    release = Leaky().publish(table, PROMISE)
    other = with_values(table, np.random.default_rng(5).permutation(table.sensitive_codes))
    found = []
    for of in (table, other):
        target = Target.of(release, of, random=np.random.default_rng(6))
        found.append(dc.Minimality(runs=40).learn(target).beliefs(slice(0, 60)))
    assert np.array_equal(*found)


def test_what_cannot_be_run_again_says_why() -> None:
    table = people()
    for scheme, words in (("perturbation", "randomised by itself"), ("lifting", "not certain who is in which group")):
        with pytest.raises(dc.DiscreetError, match=words):
            dc.attack(release_by(scheme), table, "minimality")
    with pytest.raises(dc.DiscreetError, match="cannot be run again"):
        dc.attack(publish(table, np.zeros(table.rows, np.int64)), table, "minimality")


def test_known_groups_that_descriptions_leave_open_are_told_by_the_trace() -> None:
    table = dc.read(pa.table({"x": [1] * 40, "s": list("abcd") * 10}), quasi=["x"], sensitive="s")
    groups = np.arange(40) // 4
    release = publish(table, groups)
    release.manifest["scheme"] = {"name": "blocks", "options": {}}
    release.manifest["promise"] = [str(PROMISE)]
    with pytest.raises(dc.DiscreetError, match="not certain who is in which group"):
        dc.attack(release, table, "minimality")
    (found,) = dc.attack(release, table, dc.Minimality(runs=30), trace=release.trace).evidence
    assert found.details["runs"] == 30


def test_success_is_scored_as_by_asking_for_everyone_alone() -> None:
    table = line("aabbcab")
    release = dc.Mondrian().publish(table, PROMISE)
    target = Target.of(release, table)
    lines = dc.Minimality().learn(target).beliefs(slice(0, 7))[target.person_of]
    (found,) = dc.attack(release, table, "minimality").evidence
    assert found.successes == naive.outcome(release, table, lambda row: lines[row].tolist()).successes
