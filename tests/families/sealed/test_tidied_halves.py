"""Halves that are tidied by a coin, and values that no halves could hold: by all worlds of small tables, they tell what
is said."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.sealed.limits import numbers_apart
from naive import mirrored as naive
from naive.mirrored import Part
from naive.sealed import by_coin, worlds
from support.mirrored import Toy, as_frequent_as_likely

Belief = tuple[float, Fraction, Fraction]
"""What was told about a group, the share of a value in it, and how much a person of it is believed to have it."""
Seen = frozenset[tuple[Part, float, str]]
"""Groups, what was told about each, and their values."""
CHEAP = {"early": 0.05, "sparing": 0.95}
"""Coins that are tossed in small tables, too."""


CROWDED: Toy = (
    [(2.0, 0.0), (1.0, 0.0), (1.0, 0.0), *[(0.0, 0.0)] * 7],
    "aaaabbbbbb",
    {"a": 0.67, "b": 1.0},
)
"""Persons, most of whom are at one place on the only axis that can be cut."""


def with_a_rare_value(seed: int) -> Toy:
    """Persons of whom one has a value that no half may have."""
    chance = random.Random(seed)
    values = ["aaabbbbc", "aaaabbbc", "aabbbc", "aabbbbc"][seed % 4]
    cap = {8: 0.2, 7: 0.25, 6: 0.25}[len(values)]
    return [(chance.random(), chance.random()) for _ in values], values, {"a": 0.8, "b": 0.8, "c": cap}


def beliefs(toy: Toy, **how: Any) -> Iterator[Belief]:
    """What whoever knows the algorithm believes, by all worlds and all releases of them."""
    points, values, caps = toy
    totals: dict[Seen, Fraction] = defaultdict(Fraction)
    having: dict[tuple[Seen, int, str], Fraction] = defaultdict(Fraction)
    for world in worlds(values):
        for groups, chance in naive.published(points, world, caps, **how).items():
            seen = frozenset((part, told, "".join(sorted(world[t] for t in part))) for part, told in groups)
            totals[seen] += chance
            for t, value in enumerate(world):
                having[seen, t, value] += chance
    for seen, total in totals.items():
        for part, told, held in seen:
            for t, value in product(part, set(held)):
                yield told, Fraction(held.count(value), len(held)), having.get((seen, t, value), Fraction(0)) / total


def used(found: list[Belief]) -> float:
    """By how much the odds of a belief exceed those of the share at most, as a share of what was told; beliefs are the
    share where nothing was."""
    assert all(belief == share for told, share, belief in found if told == 0.0)
    sealed = [(told, share, belief) for told, share, belief in found if told > 0.0 and share < 1]
    assert sealed, "the tables are too easy: nothing is told about any group"
    assert all(0 < belief < 1 for _, _, belief in sealed)
    return max(math.log(belief * (1 - share) / ((1 - belief) * share)) / told for told, share, belief in sealed)


@pytest.mark.slow
@pytest.mark.parametrize("price", [1.2, 0.02])
def test_halves_that_are_tidied_tell_nothing_and_those_that_are_not_no_more_than_they_say(price: float) -> None:
    assert 0.5 < used(list(beliefs(CROWDED, price=price, **CHEAP))) <= 1 + 1e-8


@pytest.mark.slow
def test_a_coin_that_minds_slack_more_than_is_charged_is_found_by_the_same_test() -> None:
    def sharper(price: float, slack: float, last: bool) -> Fraction:
        return by_coin(3 * price, slack, last)

    assert used(list(beliefs(CROWDED, rejection=sharper, **CHEAP))) > 1.5


def test_halves_that_are_tidied_tell_something_if_their_persons_are_not_drawn() -> None:
    found = beliefs(CROWDED, in_order=True, **CHEAP)
    assert any(belief != share for told, share, belief in found if told == 0.0)


@pytest.mark.slow
def test_the_scheme_tidies_halves_as_its_definition_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in CHEAP.items():
        monkeypatch.setattr(f"discreet.families.sealed.limits.{name.upper()}", number)
    points, values, caps = CROWDED
    likely = naive.outcomes(points, values, caps, **CHEAP)
    assert likely != naive.outcomes(points, values, caps, early=math.inf)
    as_frequent_as_likely(points, values, dc.BetaLikeness(caps["a"] / 0.4 - 1, "basic"), likely)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_who_stays_behind_with_a_value_that_no_halves_could_hold_tells_nothing(seed: int) -> None:
    rare = with_a_rare_value(seed)
    assert all(len(groups) > 1 for groups in naive.outcomes(*rare))
    assert all(belief == share for _, share, belief in beliefs(rare))


@pytest.mark.slow
@pytest.mark.parametrize("values", ["aaabbbbc", "aaaabbbc"])
def test_the_scheme_leaves_such_values_behind_as_its_definition_says(values: str) -> None:
    chance = random.Random(3)
    points = [(chance.random(), chance.random()) for _ in values]
    caps = {value: 1.6 * values.count(value) / len(values) for value in values}
    likely = naive.outcomes(points, values, caps)
    assert all(len(groups) > 1 for groups in likely)
    as_frequent_as_likely(points, values, dc.BetaLikeness(0.6, "basic"), likely)


@pytest.mark.parametrize("seed", range(60))
def test_those_apart_hold_all_rows_of_values_that_no_halves_could_hold_and_both_parts_keep_the_caps(seed: int) -> None:
    chance = np.random.default_rng(seed)
    counts = np.sort(chance.integers(1, 2 ** chance.integers(2, 12), chance.integers(2, 12)))
    rows = int(counts.sum())
    caps = np.minimum(1.0, chance.uniform(1.05, 4.0) * counts / rows)

    def holds(some: np.ndarray) -> bool:
        return bool((some <= caps * some.sum() + 1e-9).all())

    staying = numbers_apart(caps, holds, counts, lambda: np.arange(len(counts)))
    blocked = counts > 2 * np.floor(caps * (rows // 2) + 1e-9)
    if not blocked.any():
        assert not staying.any()
    elif staying.any():
        assert (staying[blocked] == counts[blocked]).all()
        assert (staying >= 0).all() and (staying <= counts).all()
        assert holds(staying) and holds(counts - staying)
        size = int(staying.sum())
        assert size == np.ceil((counts[blocked] / caps[blocked]).max() - 1e-9), "no more stay than have to"


def test_values_that_occur_equally_often_draw_lots_for_staying_apart() -> None:
    counts, caps = np.array([1, 7, 7, 50, 37]), np.array([0.0195, 0.3, 0.3, 0.8, 0.6])
    lots = np.array([0, 1, 2, 3, 4]), np.array([0, 2, 1, 3, 4])
    first, second = (numbers_apart(caps, lambda some: True, counts, lambda lot=lot: lot) for lot in lots)
    assert first[0] == second[0] == 1
    assert first.sum() == second.sum() == 52
    assert first[1] == second[2] == 7, "a quarter of those who stay has room for one of the two values"
    assert first[2] == second[1] < 7


def sexes(share: float, rows: int = 40_000) -> dc.Table:
    """Persons of two sexes and many ages, and values."""
    chance = np.random.default_rng(5)
    sex, ill = chance.random(rows) < share, chance.integers(0, 5, rows)
    columns = {"sex": np.where(sex, "f", "m"), "age": chance.integers(0, 80, rows), "ill": ill.astype(str)}
    return dc.read(pa.table(columns), quasi=["sex", "age"], sensitive="ill", categorical=["sex"])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.53, 0.7])
def test_two_sexes_are_cut_apart_where_a_test_tells_next_to_nothing(share: float) -> None:
    table = sexes(share)
    release = dc.publish(table, dc.BetaLikeness(0.7, "basic"), dc.Mirrored(random_state=1))
    assert isinstance(release, dc.MirroredRelease)
    assert release.trace is not None
    of_one_sex = [len(set(table.quasi[0].codes[release.trace == group])) == 1 for group in range(release.groups)]
    assert release.groups > 100
    assert np.mean(of_one_sex) > 0.9
    assert not release.leakage.any()


@pytest.mark.slow
def test_what_a_coin_told_is_published_and_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.families.sealed.limits.last_rejection", lambda price, slack: 2**64 - 1)
    table, promise = sexes(0.7), dc.BetaLikeness(0.3, "basic")
    release = dc.publish(table, promise, dc.Mirrored(random_state=1, snap=False))
    assert isinstance(release, dc.MirroredRelease)
    assert release.leakage.max() > 0.0
    counts = release.counts
    shares = counts.amounts / counts.sizes[counts.groups]
    cap = 1.3 * np.bincount(table.sensitive_codes)[counts.values] / table.rows
    assert (shares / (1 - shares) * np.exp(release.leakage[counts.groups]) <= cap / (1 - cap) * (1 + 1e-9)).all()
    found = dc.audit(release.save(tmp_path / "release"), table)
    assert found.holds
    assert f"except about {(release.leakage > 0).sum()} groups" in " ".join(found.sentences())
    assert found.verdict.count("nothing is sealed") == 1


def test_a_value_that_occurs_once_does_not_keep_everybody_together() -> None:
    chance = np.random.default_rng(2)
    ill = np.append(chance.integers(0, 4, 4000), 9).astype(str)
    table = dc.read(pa.table({"age": chance.integers(0, 80, 4001), "ill": ill}), quasi="age", sensitive="ill")
    release = dc.publish(table, dc.BetaLikeness(1, "basic"), dc.Mirrored(random_state=1))
    assert release.trace is not None
    sizes = np.bincount(release.trace)
    assert sizes[release.trace[-1]] == 2001, "the fewest rows among which one may have it"
    assert release.groups > 20


@pytest.mark.slow
def test_a_half_that_must_stay_mixed_is_cut_on(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    rows = 20_000
    sex, place, age = chance.random(rows) < 1 / 3, chance.integers(0, 9, rows), chance.integers(0, 80, rows)
    ill = np.where(chance.random(rows) < np.where(sex, 0.19, 0.056), "ill", "well")
    columns = {"sex": np.where(sex, "f", "m"), "place": place, "age": age, "ill": ill}
    table = dc.read(pa.table(columns), quasi=["sex", "place", "age"], sensitive="ill", categorical=["sex"])
    release = dc.publish(table, dc.BetaLikeness(0.8, "basic"), dc.Mirrored(random_state=4))
    assert isinstance(release, dc.MirroredRelease)
    assert release.trace is not None
    assert release.leakage.any()
    assert np.bincount(release.trace).max() < rows // 4  # the half that is refused has rows // 2
    assert dc.audit(release.save(tmp_path / "release"), table).holds
