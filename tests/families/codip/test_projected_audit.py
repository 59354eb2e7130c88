"""What several tables tell together: by definition on small tables, and where the paper's Theorem 2 sees nothing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.codip.across import (
    HeldAttribute,
    background,
    beliefs_given,
    held_by,
    intersection,
    strongest_beliefs,
)
from support.projected import people, published

Partition = list[int]


def held(table: dc.Table, *partitions: Partition) -> list[HeldAttribute]:
    release = published(table, partitions)
    held = held_by(release, table, release.trace)
    assert held is not None
    return held


def worlds(values: list[str], groups: Partition) -> Iterator[tuple[str, ...]]:
    """All ways to give the values of each group to its persons."""
    members = [[row for row, own in enumerate(groups) if own == group] for group in sorted(set(groups))]
    for orders in itertools.product(*(sorted(set(itertools.permutations(rows))) for rows in members)):
        given = [""] * len(values)
        for rows, order in zip(members, orders, strict=True):
            for row, source in zip(rows, order, strict=True):
                given[row] = values[source]
        yield tuple(given)


def small(seed: int) -> tuple[dc.Table, list[str], list[str], Partition, Partition]:
    rng = np.random.default_rng(seed)
    rows = 6
    kind = rng.integers(0, 4, rows)
    one = [f"x{each}" for each in kind]
    other = [f"y{each}" for each in np.where(rng.random(rows) < 0.3, rng.integers(0, 4, rows), kind)]
    table = dc.read(
        pa.table({"age": list(range(rows)), "one": one, "other": other}), quasi=["age"], sensitive=["one", "other"]
    )
    first, second = (rng.permutation(np.repeat([0, 1, 2], 2)).tolist() for _ in range(2))
    return table, one, other, first, second


def counterexample(second: Partition) -> tuple[dc.Table, list[HeldAttribute]]:
    """a and b hold x and y, b and c hold y' and z', where x goes only with x', y with y' and z with z'."""
    signs = ["x", "y", "z", "w"]
    table = dc.read(
        pa.table({"age": [1, 2, 3, 4], "one": signs, "other": [f"{sign}'" for sign in signs]}),
        quasi=["age"],
        sensitive=["one", "other"],
    )
    return table, held(table, [0, 0, 1, 1], second)


@pytest.mark.parametrize("seed", range(12))
def test_theorem_2_by_brute_force(seed: int) -> None:
    """Without knowledge of what goes together, pairs are believed with the product of shares and singles by shares."""
    table, one, other, first, second = small(seed)
    pairs = list(itertools.product(worlds(one, first), worlds(other, second)))
    single, pair = 0.0, 0.0
    for person in range(table.rows):
        single = max(single, max(Counter(world[0][person] for world in pairs).values()) / len(pairs))
        single = max(single, max(Counter(world[1][person] for world in pairs).values()) / len(pairs))
        pair = max(pair, max(Counter((x[person], y[person]) for x, y in pairs).values()) / len(pairs))
    found = intersection(held(table, first, second))
    assert (found.single, found.pair) == (pytest.approx(single), pytest.approx(pair))
    assert found.pair <= found.single  # as Theorem 2 says


@pytest.mark.parametrize("seed", range(30))
def test_whoever_is_called_certain_is_certain(seed: int) -> None:
    """In all worlds in which values go together that do so in the original; and what is excluded is so in all."""
    table, one, other, first, second = small(seed)
    goes = set(zip(one, other, strict=True))
    left = [
        (x, y)
        for x, y in itertools.product(worlds(one, first), worlds(other, second))
        if all(pair in goes for pair in zip(x, y, strict=True))
    ]
    assert left
    certain = sum(
        any(
            len({world[at][person] for world in left})
            == 1
            < len({values[row] for row in range(6) if groups[row] == groups[person]})
            for at, (values, groups) in enumerate(((one, first), (other, second)))
        )
        for person in range(6)
    )
    found = intersection(held(table, first, second))
    assert found.certain <= certain and found.certain <= found.narrowed


def test_the_counterexample(tmp_path: Path) -> None:
    table, some = counterexample([1, 0, 0, 1])
    found = intersection(some)
    assert found.single == 0.5 and found.pair == 0.25  # all that Theorem 2 sees
    assert found.certain == found.narrowed == found.beyond == 4
    release = published(table, [[0, 0, 1, 1], [1, 0, 0, 1]], dc.LDiversity(2))
    told = dc.audit(release.save(tmp_path / "release"), table, trace=release.trace)
    assert told.holds, told.sentences()
    assert (
        "against an attacker who does not know which values of attributes in different tables go together, which makes "
        "a " in (told.verdict)
    )
    assert "leaves one value for 4" in "\n".join(told.sentences())
    alone = dc.audit(tmp_path / "release", table)
    assert alone.holds and "it is kept by each table by itself" in alone.verdict


def test_one_partition_excludes_it(tmp_path: Path) -> None:
    table, some = counterexample([7, 7, 3, 3])
    found = intersection(some)
    assert (found.narrowed, found.certain, found.beyond) == (0, 0, 0)
    release = published(table, [[0, 0, 1, 1], [7, 7, 3, 3]], dc.LDiversity(2))
    told = dc.audit(release.save(tmp_path / "release"), table, trace=release.trace)
    assert told.holds and "All tables have the same groups" in "\n".join(told.sentences())
    assert "by itself" not in told.verdict


@pytest.mark.parametrize("seed", range(8))
def test_on_one_partition_beliefs_are_shares(seed: int) -> None:
    """However values go together: persons of a group are alike in every table."""
    table = people(40, seed)
    groups = np.random.default_rng(seed).integers(0, 6, 40).tolist()
    one, other = held(table, groups, groups)
    share = one.counts.max(axis=1) / one.counts.sum(axis=1)
    assert strongest_beliefs(one, other) == pytest.approx(share[one.groups])


@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_beliefs_by_how_often_values_go_together_are_right(noise: float) -> None:
    """Whoever follows them is right about as often as they say, and more often than by one table alone.

    With 2,000 persons, six standard deviations of the share of those who are right are at most 0.07.
    """
    rng = np.random.default_rng(3)
    rows = 2000
    first = rng.integers(0, 8, rows)
    second = np.where(rng.random(rows) < noise, rng.integers(0, 8, rows), first)
    columns = {"age": np.arange(rows), "one": first.astype(str), "other": second.astype(str)}
    names = ["one", "other"]
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=names, categorical=names)
    one, other = held(table, (np.arange(rows) // 6).tolist(), ((np.arange(rows) + 3) // 6).tolist())
    beliefs, of_row = beliefs_given(one, other)
    right = (beliefs.argmax(axis=1)[of_row] == one.codes).mean()
    alone = (one.counts.argmax(axis=1)[one.groups] == one.codes).mean()
    assert abs(right - beliefs.max(axis=1)[of_row].mean()) < 0.07 and right > alone + 0.07


def test_background_joins() -> None:
    """Example 2 of the paper: whoever knows the job of a person in group 2 knows the diagnosis, unless it is apart."""
    table = dc.read(
        pa.table({"age": [1, 2, 3, 4], "diagnosis": ["HT", "HT", "DB", "AS"], "job": ["t", "l", "f", "t"]}),
        quasi=["age"],
        sensitive=["diagnosis", "job"],
    )
    one = held(table, [0, 0, 1, 1], [0, 0, 1, 1])
    # group 1 has one diagnosis, so it is known anyway, and knowing it does not tell the job there
    assert background(one) == (0.0, pytest.approx(0.5))
    beside = [each._replace(part=0) for each in one]
    assert background(beside) == (pytest.approx(0.5), pytest.approx(0.5))


def test_presence_cannot_be_confirmed(tmp_path: Path) -> None:
    release = published(people(40), [[at // 8 for at in range(40)], [at // 10 for at in range(40)]])
    folder = release.save(tmp_path / "release")
    told = dc.audit(folder, people(40), trace=release.trace, promises="alpha-beta(alpha=0.99, beta=1)")
    assert not told.holds
    assert all("several tables together" in one.sentence for one in told.promises if "alpha" in one.promise)


def test_a_population_is_looked_up_in_all_tables(tmp_path: Path) -> None:
    table = people(40)
    release = published(table, [[at // 8 for at in range(40)], [at // 10 for at in range(40)]])
    told = dc.audit(release.save(tmp_path / "release"), table, population=table)
    assert told.holds and told.presence is not None and told.presence.population is not None


@pytest.mark.parametrize("trace", [np.zeros(40, np.int64), np.zeros((40, 3), np.int64), np.zeros((39, 2), np.int64)])
def test_a_trace_of_another_shape_explains_nothing(tmp_path: Path, trace: np.ndarray) -> None:
    table = people(40)
    release = published(table, [[at // 8 for at in range(40)], [at // 10 for at in range(40)]])
    told = dc.audit(release.save(tmp_path / "release"), table, trace=trace)
    assert [check.name for check in told.checks if not check.holds] == ["support"]


@pytest.mark.parametrize("promise", ["k-anonymity(k=2)", "l-diversity(l=1.1, attribute=ill)"])
def test_something_is_promised_about_every_attribute(tmp_path: Path, promise: str) -> None:
    """A table that nothing is promised about is no release that holds."""
    table = people(40)
    groups = [[at // 8 for at in range(40)], [at // 10 for at in range(40)]]
    release = published(table, groups, dc.parse(promise))
    told = dc.audit(release.save(tmp_path / "release"), table, trace=release.trace)
    assert [check.name for check in told.checks if not check.holds] == ["promise"]
    assert dc.audit(tmp_path / "release", table, promises="l-diversity(l=1.1)").holds
