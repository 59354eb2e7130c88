"""Ambiguity with several sensitive attributes: each is counted by itself, in the same groups.

The oracle enumerates every table that the published files leave possible, and counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.ambiguity.groups import withhold_with_groups
from discreet.principles import Prior
from discreet.schemes.merge_broken import JudgedAttribute
from support.audits import audits
from support.several import lines, people

Row = tuple[tuple[str, ...], tuple[str, ...]]
"""The quasi-identifiers and the sensitive values of a row."""


# ------------------------------------------------------------------------------------------------------------- oracle


class Files:
    """What the files of a release with two sensitive attributes say of each group."""

    def __init__(self, tables: dict[str, list[dict[str, str]]], quasi: Sequence[str], sensitive: Sequence[str]) -> None:
        self.lists: dict[str, list[tuple[str, ...]]] = {}
        for at, name in enumerate(quasi):
            for line in tables[f"auxiliary_{name}"]:
                self.lists.setdefault(line["group"], [() for _ in quasi])[at] += (line[name],)
        self.held: dict[str, list[tuple[str, ...]]] = {}
        for at, name in enumerate(sensitive):
            for line in tables[f"sensitive_{at + 1}"]:
                own = self.held.setdefault(line["group"], [() for _ in sensitive])
                own[at] += (line[name],) * int(line["count"])

    def worlds(self, group: str) -> Iterator[tuple[Row, ...]]:
        """Every table that one group may be: its values all occur, and its sensitive values as often as counted."""
        lists, held = self.lists[group], self.held[group]
        for points in combinations(product(*lists), len(held[0])):
            if all(set(column) == set(own) for column, own in zip(zip(*points, strict=True), lists, strict=True)):
                for sensitive_columns in product(*(set(permutations(own)) for own in held)):
                    yield tuple(zip(points, zip(*sensitive_columns, strict=True), strict=True))


class Tally:
    """How many of some worlds have a row with given quasi-identifiers, and with which values beside it."""

    def __init__(self) -> None:
        self.worlds = 0
        self.held: dict[tuple[tuple[str, ...], int], Counter[str]] = defaultdict(Counter)

    def add(self, world: tuple[Row, ...]) -> None:
        self.worlds += 1
        for point, sensitive_columns in world:
            for at, value in enumerate(sensitive_columns):
                self.held[point, at][value] += 1


def tiny(rng: np.random.Generator) -> dc.Table:
    """A table of four to six rows, all with different quasi-identifiers."""
    n = int(rng.integers(4, 7))
    points = rng.permutation(9)[:n]
    columns = {"x": points // 3, "y": points % 3, "a": rng.choice(list("uvw"), n), "b": rng.choice(list("klm"), n)}
    names = {name: [str(one) for one in column] for name, column in columns.items()}
    return dc.read(pa.table(names), quasi=["x", "y"], sensitive=["a", "b"], categorical=["x", "y"])


@pytest.mark.slow
def test_what_is_believed_is_what_all_worlds_say_that_the_files_leave() -> None:
    """Presence, and the values of each attribute, also for whoever knows which values of both go together."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        table = tiny(rng)
        groups = rng.permutation(np.arange(table.rows) // 3).astype(np.int32)
        release = dc.AmbiguousRelease.from_groups(table, groups, promise=dc.AlphaBeta(1, 1), scheme="mine")
        files = Files({stem: one.to_pylist() for stem, one in release.tables(False).items()}, ["x", "y"], ["a", "b"])
        together = set(zip(*([one.texts[code] for code in one.codes] for one in table.sensitive), strict=True))
        for number, group in enumerate(map(str, range(release.groups))):
            every, known = Tally(), Tally()
            for world in files.worlds(group):
                every.add(world)
                if all(sensitive_columns in together for _, sensitive_columns in world):
                    known.add(world)
            assert known.worlds, "the true table is one of the worlds"
            for tally in (every, known):
                for point in product(*files.lists[group]):
                    for at, own in enumerate(map(Counter, files.held[group])):
                        held = tally.held[point, at]
                        assert held.total() / tally.worlds == pytest.approx(release.presences[number])
                        shares = {value: Fraction(many, held.total()) for value, many in held.items()}
                        assert shares == {value: Fraction(many, own.total()) for value, many in own.items()}


def test_groups_of_their_own_for_each_attribute_would_give_everyone_away() -> None:
    """Each grouping hides everyone among four combinations of two rows; both together leave one table."""
    quasi = [(str(i), str(i)) for i in range(1, 5)]

    def possible(groups: Sequence[Sequence[int]]) -> set[frozenset[tuple[str, str]]]:
        """All sets of rows that the lists of these groups leave."""
        each = []
        for group in groups:
            own = [quasi[at] for at in group]
            one, other = (sorted({row[axis] for row in own}) for axis in (0, 1))
            pairs = combinations(product(one, other), 2)
            each.append([rows for rows in pairs if rows[0][0] != rows[1][0] and rows[0][1] != rows[1][1]])
        return {frozenset(row for some in chosen for row in some) for chosen in product(*each)}

    one, other = possible([(0, 1), (2, 3)]), possible([(0, 2), (1, 3)])
    for worlds in (one, other):
        assert all(Fraction(sum(row in world for world in worlds), len(worlds)) == Fraction(1, 2) for row in quasi)
    assert one & other == {frozenset(quasi)}


# -------------------------------------------------------------------------------------------------------------- files


@pytest.mark.slow
@pytest.mark.parametrize(
    ("promise", "shares", "values"),
    [
        ("alpha-beta(alpha=0.2, beta=0.34)", (0.34, 0.34), (6, 5)),
        ("alpha-beta(alpha=0.2, beta=0.34)", (0.34, 0.34, 0.34), (6, 5, 7)),
        ("alpha-beta(alpha=0.3, beta=0.25, attribute=s1) & l-diversity(l=2, attribute=s0)", (0.5, 0.25), (3, 9)),
        ("alpha-beta(alpha=0.3, beta=0.5) & k-anonymity(k=7)", (0.5, 0.5), (4, 4)),
        ("alpha-beta(alpha=0.4, beta=0.4, presence=combined)", (0.4, 0.4), (6, 5)),
        ("alpha-beta(alpha=0.4, beta=0.4, presence=combined, association=combined)", (0.4, 0.4), (6, 5)),
    ],
)
@pytest.mark.parametrize("closeness", [False, True])
def test_files_keep_the_promise_about_each_attribute(
    tmp_path: Path, promise: str, shares: tuple[float, ...], values: tuple[int, ...], closeness: bool
) -> None:
    """By the files alone: every table counts the rows of every group, and no value more often than it may be."""
    table = people(120, values=values)
    release = dc.publish(table, promise, dc.Ambiguity(closeness=closeness))
    for found in audits(release, table):
        assert {kept.attribute for kept in found.promises} - {None} == {column.name for column in table.sensitive}
    home = release.save(tmp_path / "release")
    product_of: dict[str, int] = defaultdict(lambda: 1)
    for name in ("age", "sex", "zip"):
        for group, many in Counter(line["group"] for line in lines(home / f"auxiliary_{name}.csv")).items():
            product_of[group] *= many
    alpha = float(promise.partition("alpha=")[2].partition(",")[0])
    for at, (column, share) in enumerate(zip(table.sensitive, shares, strict=True), 1):
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        for line in lines(home / f"sensitive_{at}.csv"):
            counts[line["group"]][line[column.name]] = int(line["count"])
        assert counts.keys() == product_of.keys()
        for group, held in counts.items():
            size = sum(held.values())
            assert max(held.values()) <= share * size + 1e-9
            assert size <= alpha * product_of[group] + 1e-9
            assert size >= (7 if "k=7" in promise else 1)
        if not release.withheld:
            had = Counter(column.texts[code] for code in column.codes.tolist())
            assert sum((Counter(held) for held in counts.values()), Counter()) == had


def test_groups_are_about_as_small_as_for_one_attribute() -> None:
    for values in ((6, 5), (6, 5, 7)):
        release = dc.publish(people(600, values=values), "alpha-beta(alpha=0.5, beta=0.34)", "ambiguity")
        assert isinstance(release, dc.AmbiguousRelease) and release.groups >= 190 and release.withheld == 0


def test_values_that_leave_no_choice_still_keep_the_promise() -> None:
    """Every value has exactly a third of the rows: groups that no exchange mends are joined."""
    rng = np.random.default_rng(0)
    thirds = {name: rng.permutation(np.array(["x", "y", "z"])[np.arange(60) % 3]) for name in ("a", "b", "c")}
    columns = {"q": np.arange(60), "p": rng.integers(0, 9, 60), **thirds}
    table = dc.read(pa.table(columns), quasi=["q", "p"], sensitive=["a", "b", "c"])
    for found in audits(dc.publish(table, "alpha-beta(alpha=0.7, beta=0.34)", "ambiguity"), table):
        assert found.holds


def test_attributes_that_go_together_are_kept_as_well() -> None:
    """The second attribute repeats the first but for some rows."""
    rng = np.random.default_rng(3)
    ill = rng.choice(list("uvwxyz"), 300)
    drug = np.where(rng.random(300) < 0.9, np.char.add("d", ill), "dx")
    columns = {"age": rng.integers(20, 60, 300), "zip": rng.integers(0, 30, 300), "ill": ill, "drug": drug}
    table = dc.read(pa.table(columns), quasi=["age", "zip"], sensitive=["ill", "drug"])
    release = dc.publish(table, "alpha-beta(alpha=0.3, beta=0.4)", "ambiguity")
    for found in audits(release, table):
        assert found.holds
    assert release.withheld == 0


def test_withheld_rows_keep_the_promise_about_each_attribute() -> None:
    ones, twos = np.array([0, 0, 0, 1, 1, 0, 1], np.int32), np.array([0, 0, 1, 1, 0, 1, 1], np.int32)
    groups = np.array([-1, -1, 0, 0, 1, 1, 1], np.int32)
    each = [
        JudgedAttribute(codes, dc.AlphaBeta(1, 0.75), Prior(np.bincount(codes), ("k", "l"))) for codes in (ones, twos)
    ]
    kept = withhold_with_groups(groups, each)
    gone = kept < 0
    assert all(np.bincount(codes[gone]).max() <= 0.75 * gone.sum() for codes in (ones, twos)) and gone.sum() > 2
    assert set(kept[kept >= 0].tolist()) <= {0, 1}


# ------------------------------------------------------------------------------------------------------------ reading


@pytest.fixture(scope="module")
def release() -> dc.AmbiguousRelease:
    found = dc.publish(people(150), "alpha-beta(alpha=0.5, beta=0.34)", "ambiguity")
    assert isinstance(found, dc.AmbiguousRelease)
    return found


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_it_loads_as_it_was_saved(release: dc.AmbiguousRelease, tmp_path: Path, format: str) -> None:
    loaded = dc.load(release.save(tmp_path / "release", format=format))
    assert isinstance(loaded, dc.AmbiguousRelease) and not loaded.faults
    points = {"age": [25, 44], "sex": ["f", "m"], "zip": [3, 11]}
    for name in ("s0", "s1"):
        assert np.array_equal(release.beliefs(points, attribute=name), loaded.beliefs(points, attribute=name), True)
        assert loaded.known_values(name).tolist() == release.known_values(name).tolist()
    assert all(one.equals(loaded.tables(False)[stem]) for stem, one in release.tables(False).items())


def test_beliefs_are_about_the_attribute_that_is_named(release: dc.AmbiguousRelease) -> None:
    points = {"age": list(range(20, 60)), "sex": ["f", "m"] * 20, "zip": list(range(20)) * 2}
    for name, counted in zip(("s0", "s1"), release.counted, strict=True):
        alone = release.about(name)
        assert [one.name for one in alone.sensitive] == [name] and alone.values.tolist() == counted.values.tolist()
        found = release.beliefs(points, attribute=name)
        assert np.array_equal(found, alone.beliefs(points), equal_nan=True)
        assert np.nanmax(found) <= 0.34 + 1e-9 and found.shape[1] == len(counted.values)
    assert np.array_equal(release.presence(points), release.about("s1").presence(points))
    with pytest.raises(dc.DiscreetError, match=r"'age' is not a sensitive attribute .* 's0' and 's1'"):
        release.beliefs(points, attribute="age")


def test_estimates_take_attributes_to_be_independent_within_groups(release: dc.AmbiguousRelease) -> None:
    first, second = release.counted
    share = second.counts.matrix()[:, 2] / release.sizes
    asked = f"SELECT COUNT(*) FROM t WHERE s0 = '{first.values[1]}' AND s1 = '{second.values[2]}'"
    assert release.estimate(asked) == pytest.approx(float(first.counts.matrix()[:, 1] @ share))
    (note,) = release.notes_on(["age", "s1", "s0"])
    assert note.startswith("'s0' and 's1' are counted in different tables")
    alone = [release.estimate(f"SELECT COUNT(*) FROM t WHERE s1 = '{value}'") for value in second.values]
    assert alone == pytest.approx(second.counts.matrix().sum(axis=0).tolist())
    old = f"SELECT COUNT(*) FROM t WHERE s1 = '{second.values[2]}' AND age >= 40"
    assert release.estimate(old) == pytest.approx(release.about("s1").estimate(old))


# ----------------------------------------------------------------------------------------------------------- auditing


def both_sorted(home: Path, table: dc.Table, stems: Sequence[str], key: Callable[[dict[str, str]], object]) -> bool:
    """Whether the audit finds the order of a release whose tables have been sorted."""
    for stem in stems:
        path = home / f"{stem}.csv"
        head, *rest = path.read_text().splitlines(keepends=True)
        names = head.strip().split(",")
        rest.sort(key=lambda line: key(dict(zip(names, line.strip().split(","), strict=True))))
        path.write_text(head + "".join(rest))
    return "order" in {check.name for check in dc.audit(home, table).checks if not check.holds}


def test_lines_of_one_sensitive_table_in_an_order_that_tells_are_found(tmp_path: Path) -> None:
    table = people(400)
    release = dc.publish(table, "alpha-beta(alpha=0.5, beta=0.34)", "ambiguity")
    for stem, column in (("sensitive_1", "s0"), ("sensitive_2", "s1")):
        home = release.save(tmp_path / stem)
        assert both_sorted(home, table, [stem], lambda line, column=column: line[column])


def test_tables_that_line_up_within_groups_are_found(tmp_path: Path) -> None:
    """If the places of lines in their group told which values go together, attributes would be linked."""
    rng = np.random.default_rng(3)
    ill = rng.choice(list("uvwxyz"), 600)
    columns = {"age": rng.integers(20, 60, 600), "zip": rng.integers(0, 30, 600), "ill": ill, "drug": ill}
    table = dc.read(pa.table(columns), quasi=["age", "zip"], sensitive=["ill", "drug"])
    release = dc.publish(table, "alpha-beta(alpha=0.5, beta=0.34)", "ambiguity")
    home = release.save(tmp_path / "release")
    assert all(check.holds for check in dc.audit(home, table, trace=release.trace).checks)
    turn = rng.permutation(10_000)
    key = {}
    for line in lines(home / "sensitive_1.csv"):
        key[line["group"], line["ill"]] = int(turn[len(key)])
    for stem in ("sensitive_1", "sensitive_2"):
        path = home / f"{stem}.csv"
        head, *rest = path.read_text().splitlines(keepends=True)
        rest.sort(key=lambda line: key[line.split(",")[0], line.split(",")[1]])
        path.write_text(head + "".join(rest))
    for trace in (None, release.trace):
        (failed,) = [check for check in dc.audit(home, table, trace=trace).checks if check.name == "order"]
        assert not failed.holds and "sensitive_1.csv and sensitive_2.csv" in failed.sentence


def test_presence_is_judged_for_promises_about_one_of_several_attributes(tmp_path: Path) -> None:
    """A release that hides nobody must not pass for one that does, however many attributes are sensitive."""
    table = people(100)
    for scheme in ("cuts", "anatomy"):
        home = dc.publish(table, "l-diversity(l=2)", scheme).save(tmp_path / scheme)
        found = dc.audit(home, table, promises="alpha-beta(alpha=0.01, beta=0.9)")
        broken = [kept.attribute for kept in found.promises if not kept.holds]
        assert broken == ["s0", "s1"] and not found.holds and found.presence is not None


def test_what_overlapping_groups_tell_is_compared_with_the_promise_about_the_same_attribute(tmp_path: Path) -> None:
    table = people(200, values=(6, 6))
    promise = "alpha-beta(alpha=0.9, beta=0.25, attribute=s0) & l-diversity(l=2, attribute=s1)"
    home = dc.publish(table, promise, dc.Ambiguity(random_state=2)).save(tmp_path / "release")
    found, tables = dc.audit(home, table).presence, {path.stem: lines(path) for path in home.glob("*.csv")}
    files = Files(tables, ["age", "sex", "zip"], ["s0", "s1"])
    strongest = 0.0
    for row in range(table.rows):
        person = [column.texts[column.codes[row]] for column in table.quasi]
        nowhere, without = 1.0, dict.fromkeys(table.sensitive[0].texts, 1.0)
        for group, lists in files.lists.items():
            if all(value in own for value, own in zip(person, lists, strict=True)):
                held = files.held[group][0]
                chance = min(1.0, len(held) / np.prod([len(own) for own in lists]))
                nowhere *= 1.0 - chance
                for value in without:
                    without[value] *= 1.0 - chance * held.count(value) / len(held)
        strongest = max(strongest, (1.0 - min(without.values())) / (1.0 - nowhere))
    assert found is not None and found.own_row == 0.25 and found.some_row == pytest.approx(strongest)


def test_what_is_refused_leads_to_a_scheme_that_keeps_it() -> None:
    table = people(60)
    promise = "alpha-beta(alpha=0.9, beta=0.6, attribute=s0) & t-closeness(t=0.5, attribute=s1)"
    with pytest.raises(dc.DiscreetError, match="choose scheme 'cuts'"):
        dc.publish(table, promise, "ambiguity")
    with pytest.raises(dc.DiscreetError, match="nothing is promised about the values of the sensitive attribute 's1'"):
        dc.publish(table, "alpha-beta(alpha=0.9, beta=0.6, attribute=s0)", "ambiguity")
    with pytest.raises(dc.DiscreetError, match=r"cannot keep alpha-beta.* about 's1'.*ask for beta="):
        dc.publish(people(60, values=(6, 2)), "alpha-beta(alpha=0.9, beta=0.3)", "ambiguity")
    with pytest.raises(dc.DiscreetError, match="ask for alpha="):
        dc.publish(table, "alpha-beta(alpha=0.0001, beta=0.5)", "ambiguity")
