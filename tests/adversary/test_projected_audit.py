"""What several tables tell together: by definition on small tables, and where the paper's Theorem 2 sees nothing."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.check import Check
from discreet.adversary.formats.generalized.align import align
from discreet.adversary.formats.projected.across import (
    Held,
    background,
    beliefs_given,
    held_by,
    intersection,
    strongest_beliefs,
)
from discreet.adversary.formats.projected.order import order_across
from discreet.releases.descriptions import Texts
from support.projected import people, published

Partition = list[int]


def order_of(release: dc.ProjectedRelease, table: dc.Table) -> Check:
    """The check of the order of all tables."""
    originals = [
        replace(table, sensitive=tuple(table.column(one.name) for one in part.sensitive)) for part in release.parts
    ]
    return order_across([align(*one) for one in zip(release.parts, originals, strict=True)])


def held(table: dc.Table, *partitions: Partition) -> list[Held]:
    return held_by(published(table, partitions), table)


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


def counterexample(second: Partition) -> tuple[dc.Table, list[Held]]:
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
        "against whoever does not know which values of attributes in different tables go together, which makes a "
        in (told.verdict)
    )
    assert "leaves one value of 4" in "\n".join(told.sentences())
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


def test_honest_tables_are_not_taken_for_linked_ones() -> None:
    """Each of these checks errs less than once in a million times."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = int(rng.choice([4, 20, 60, 300]))
        table = people(rows, seed)
        partition = (np.arange(rows) // 4).tolist()
        for second in (partition, rng.integers(0, 5, rows).tolist()):  # the same groups, and others
            assert order_of(published(table, [partition, second]), table).holds


def test_the_same_numbers_for_the_same_groups_are_found() -> None:
    table = people(200)
    partition = (np.argsort(np.argsort(table.quasi[0].codes)) // 4).tolist()
    one = published(table, [partition, partition])
    assert order_of(one, table).holds
    first, second = one.parts
    assert one.trace is not None
    place = np.empty(first.groups, np.int32)
    place[one.trace[:, 1]] = one.trace[:, 0]
    texts = tuple(Texts(words, of_cell[np.argsort(place)]) for words, of_cell in second.texts)
    linked = replace(one, parts=(first, replace(second, group_of=place[second.group_of], texts=texts)))
    check = order_of(linked, table)
    assert not check.holds and "the groups of tables 1 and 2 with the same number overlap" in check.sentence


@pytest.mark.parametrize("rows", [200, 600])
def test_the_power_of_the_test_is_told_and_true(rows: int) -> None:
    """Tables of which more lines are in the same order than it takes are found, and those with far fewer are not."""
    table = people(rows)
    partition = (np.argsort(np.argsort(table.quasi[0].codes)) // 4).tolist()
    release = published(table, [partition, partition])
    first, second = release.parts
    told = re.search(r"of which ([0-9.]+) % of the lines are in the same order", order_of(release, table).sentence)
    assert told is not None, order_of(release, table).sentence
    least = float(told[1]) / 100.0
    assert 0.0 < least < 0.6
    rng = np.random.default_rng(7)
    _, people_of_lines = linked_lines(release)
    for share, found in ((least + 0.15, True), (least / 3, False)):
        fixed = rng.random(rows) < share
        order = np.empty(rows, np.int64)
        order[fixed] = people_of_lines[fixed]
        order[~fixed] = rng.permutation(people_of_lines[~fixed])
        lined = replace(
            second,
            group_of=second.group_of[order],
            secrets=tuple(one._replace(codes=one.codes[order]) for one in second.secrets),
        )
        check = order_of(replace(release, parts=(first, lined)), table)
        assert check.holds == (not found), (share, check.sentence)
        assert found == check.sentence.startswith("The order reveals more than the tables: ")


def linked_lines(release: dc.ProjectedRelease) -> tuple[np.ndarray, np.ndarray]:
    """Lines of both tables that have the same group by the trace, one of the second for each of the first."""
    first, second = release.parts
    assert release.trace is not None
    same = np.empty(first.groups, np.int64)  # the group of the second table with the persons of one of the first
    same[release.trace[:, 0]] = release.trace[:, 1]
    lines = [np.argsort(groups, kind="stable") for groups in (same[first.group_of], second.group_of)]
    partner = np.empty(len(lines[0]), np.int64)
    partner[lines[0]] = lines[1]
    return lines[0], partner


def test_few_lines_do_not_tell_whether_tables_are_lined_up() -> None:
    table = people(4)
    sentence = order_of(published(table, [[0, 0, 0, 0], [0, 0, 0, 0]]), table).sentence
    assert "so few lines, or so wide groups, tables in the same order cannot be told" in sentence
