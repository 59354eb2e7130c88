"""Halves that could be exchanged: by all worlds of small tables, their choice tells nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets import census
from naive import mirrored as naive
from naive.sealed import posteriors, worlds
from support.mirrored import as_frequent_as_likely

VALUES = ["aaabb", "aaabbb", "aaaabb", "aabbc", "aabbcc", "aaabbbb"]


def toy(seed: int) -> tuple[list[tuple[float, ...]], str, dict[str, float]]:
    chance = random.Random(seed)
    values = VALUES[seed % len(VALUES)]
    cap = chance.choice([0.5, 0.6, 0.67, 0.75, 0.8])
    points = [(chance.random(), chance.random()) for _ in values]
    return points, values, {value: max(cap, values.count(value) / len(values)) for value in values}


def told(points: Sequence[tuple[float, ...]], values: str, caps: dict[str, float], **how: int) -> Fraction:
    """The largest ratio between a belief of who knows the algorithm and the share of the value in the group."""
    every = {world: naive.outcomes(points, world, caps, **how) for world in worlds(values)}
    found = Fraction(0)
    for seen, beliefs in posteriors(every).items():
        for group, held in seen:  # type: ignore[attr-defined]
            for person in group:
                for value in set(held):
                    share = Fraction(held.count(value), len(held))
                    found = max(found, beliefs.get((person, value), Fraction(0)) / share)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_everyone_is_believed_to_have_a_value_as_likely_as_the_group_says(seed: int) -> None:
    assert told(*toy(seed)) == 1


def crowd(seed: int) -> tuple[list[tuple[float, ...]], str, dict[str, float]]:
    """Six or seven persons of whom up to half stay behind, because the others can then be halved more often."""
    chance = random.Random(seed)
    values = ["aaabbb", "aaaabbb", "aabbccc", "aabbcc"][seed % 4]
    points = [(chance.random(), chance.random()) for _ in values]
    return points, values, dict.fromkeys(values, chance.choice([0.67, 0.75]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_who_stays_behind_tells_nothing(seed: int) -> None:
    points, values, caps = crowd(seed)
    smallest = {min(map(len, groups)) for groups in naive.outcomes(points, values, caps, one_in=2, often=1)}
    assert smallest & {2, 3}
    assert told(points, values, caps, one_in=2, often=1) == 1


@pytest.mark.slow
def test_who_stays_behind_because_of_a_quasi_identifier_gives_others_away() -> None:
    assert max(told(*crowd(seed), one_in=2, often=1, by_place=True) for seed in range(10)) > 1.2


def varied(seed: int) -> tuple[list[tuple[float, ...]], str, dict[str, float]]:
    """Two persons here and four there, no two with one value: to part them keeps the promise, whoever has which."""
    chance = random.Random(seed)
    places = [chance.random() + far for far in (0, 0, 50, 50, 50, 50)]
    return [(place, chance.random()) for place in places], "abcdef", dict.fromkeys("abcdef", 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_cuts_that_need_no_test_tell_nothing(seed: int) -> None:
    points, values, caps = varied(seed)
    assert all({0, 1} in groups for groups in naive.outcomes(points, values, caps))
    assert told(points, values, caps) == 1


def test_an_odd_row_that_always_goes_to_one_side_tells_something() -> None:
    assert max(told(*toy(seed), rounding=True) for seed in range(24)) > 1.2


def test_persons_at_one_place_in_the_order_of_a_sorted_file_give_themselves_away() -> None:
    points, caps = [(0.0, 0.0)] * 4 + [(1.0, 0.1), (1.0, 0.2)], {"a": 0.9, "b": 0.9}
    assert told(points, "aaabbb", caps, in_file_order=True) == 3


@pytest.mark.slow
def test_an_odd_row_that_is_drawn_in_a_second_test_gives_somebody_away() -> None:
    points = [(0.25, 0.06), (0.96, 0.81), (0.55, 0.54), (0.85, 0.45), (0.40, 0.34), (0.26, 0.02)]
    caps = {"a": 0.75, "b": 0.75}
    every = {world: naive.outcomes(points, world, caps, strict=False) for world in worlds("aaabbb")}
    certain = [
        person
        for seen, beliefs in posteriors(every).items()
        for group, held in seen  # type: ignore[attr-defined]
        for person in group
        if len(set(held)) == 2 and beliefs.get((person, "a")) == 1
    ]
    assert certain, "one of six persons is known to have a value that a third of the group has"
    assert told(points, "aaabbb", caps) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "one_in", "often"),
    [
        *((toy(seed), 100, 256) for seed in (1, 2, 5)),
        *((crowd(seed), 2, 1) for seed in (0, 1, 3)),
        *((varied(seed), 100, 256) for seed in (0, 1)),
    ],
)
def test_the_scheme_has_the_probabilities_of_its_definition(
    example: tuple[list[tuple[float, ...]], str, dict[str, float]],
    one_in: int,
    often: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("discreet.families.sealed.limits.ONE_IN", one_in)
    monkeypatch.setattr("discreet.families.sealed.limits.OFTEN", often)
    points, values, caps = example
    cap = caps["a"]
    likely = naive.outcomes(points, values, dict.fromkeys(caps, cap), one_in=one_in, often=often)
    as_frequent_as_likely(points, values, dc.LDiversity(1 / cap), likely)


def test_it_keeps_promises_that_bound_no_single_value() -> None:
    table, promise = census(2000, sensitive="work_class"), dc.parse("t-closeness(t=0.2) & k-anonymity(k=20)")
    release = dc.publish(table, promise, dc.Mirrored())
    assert release.groups > 1
    assert ail(release) < 1.0


def test_persons_at_one_place_are_halved_at_random() -> None:
    table = dc.read(pa.table({"x": [0, 0, 0, 0, 1], "s": list("ababa")}), quasi="x", sensitive="s")
    together = set()
    for seed in range(40):
        trace = dc.Mirrored(random_state=seed).publish(table, dc.LDiversity(1.5)).trace
        assert trace is not None
        together.add(tuple((trace == trace[0]).tolist()))
    assert len(together) > 4


def test_without_sensitive_attributes_groups_are_as_small_as_is_promised() -> None:
    table = dc.read(pa.table({"x": [0, 1, 2, 3, 4]}), quasi="x", sensitive=[])
    release = dc.publish(table, dc.KAnonymity(2), dc.Mirrored())
    assert release.groups == 2


def test_rows_to_be_withheld_are_refused() -> None:
    table = dc.read(pa.table({"x": [1, 2, None, 3], "s": list("abab")}), quasi="x", sensitive="s", missing="withhold")
    with pytest.raises(dc.DiscreetError, match="withholds no rows"):
        dc.publish(table, dc.LDiversity(2), dc.Mirrored(), most_withheld=1.0)
