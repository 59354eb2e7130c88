"""Nested releases: rows under nodes of a tree of persons, what is believed of them, and their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.lifting.tree import Tree, believed, expected, tidied
from discreet.principles.counts import Counts
from discreet.principles.prior import Prior
from discreet.table.read import read
from naive import nested as naive
from support.nested_trees import Grown, grown, people

PROMISE = dc.BetaLikeness(2)


# ------------------------------------------------------------------------------------------------------------ beliefs


def random_forest(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Parents (in any order, maybe several roots, maybe empty nodes), leaves (maybe inner nodes), nodes, and values."""
    number = int(rng.integers(1, 7))
    order = rng.permutation(number)
    parents = np.full(number, -1)
    for at in range(1, number):
        parents[order[at]] = order[rng.integers(at)] if rng.random() < 0.85 else -1
    leaf_of = rng.integers(0, number, rows)
    node_of = np.array([rng.choice(naive.path(parents.tolist(), leaf)) for leaf in leaf_of.tolist()])
    return parents, leaf_of, node_of, rng.integers(0, 3, rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_beliefs_are_those_of_all_worlds(seed: int) -> None:
    """Sixty tables each: by the counts of the tree as given, and by those of the tree without its empty nodes."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        parents, leaf_of, node_of, values = random_forest(rng, int(rng.integers(1, 8)))
        listed = zip(node_of.tolist(), values.tolist(), strict=True)
        truth = naive.beliefs(parents.tolist(), leaf_of.tolist(), list(listed))
        for above, leaves, nodes in ((parents, leaf_of, node_of), tidied(parents, leaf_of, node_of)):
            tree = Tree.of_rows(above, leaves, nodes)
            assert not tree.faults(range(len(above)))
            found = believed(tree, Counts.of_rows(nodes, values, len(above), 3).matrix())
            for leaf, believes in zip(leaves.tolist(), truth, strict=True):
                assert np.abs(found[leaf] - [float(believes.get(value, 0)) for value in range(3)]).max() < 1e-12


def test_tidied_trees_have_rows_everywhere() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        parents, leaf_of, node_of, _ = random_forest(rng, 6)
        above, leaves, nodes = tidied(parents, leaf_of, node_of)
        assert set(nodes.tolist()) == set(range(len(above)))
        for leaf, node in zip(leaves.tolist(), nodes.tolist(), strict=True):
            assert node in naive.path(above.tolist(), leaf)


def test_beliefs_at_points_are_mixtures_of_the_leaves_that_admit_them() -> None:
    rng = np.random.default_rng(3)
    table = people(rng, 60)
    release = grown(rng, table).release(PROMISE)
    ages, cities = (column.values[column.codes] for column in table.quasi)
    found = release.beliefs({"age": ages, "city": cities})
    assert np.abs(found.sum(axis=1) - 1.0).max() < 1e-12
    own = believed(release.tree, release.counts.matrix())
    # leaves of plain cuts do not overlap, so everybody is found in one leaf alone: the person's own
    alone = release.lookup().find(table.quasi, np.zeros(release.leaves.cells)).groups == 1
    assert release.trace is not None and alone.sum() > 30
    assert np.abs(found - own[release.trace])[alone].max() < 1e-12
    nowhere = release.beliefs({"age": [500], "city": ["Bonn"]})
    assert np.isnan(nowhere).all()
    assert release.beliefs({"age": [500], "city": ["Bonn"]}, withheld=[1, 1, 0, 2]).tolist() == [[0.25, 0.25, 0, 0.5]]


def test_a_point_in_several_leaves_is_a_mixture_by_their_persons() -> None:
    data = {"x": [1, 3, 1, 2, 3, 2], "y": list("aabbbc")}
    table = read(pa.table(data), quasi=["x"], sensitive="y")
    leaves = np.array([0, 0, 1, 1, 1, 1])
    release = dc.NestedRelease.from_tree(table, [-1, -1], leaves, leaves, promise=dc.LDiversity(1), scheme="two")
    assert release.beliefs({"x": [2]}).tolist() == [[2 / 6, 3 / 6, 1 / 6]]


# ------------------------------------------------------------------------------------------------- counts and promises


def test_expected_counts_are_judged_by_bounds_on_shares_alone() -> None:
    tree = Tree(np.array([-1, 0, 0], np.int32), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    prior = Prior(np.array([2, 2]), ("a", "b"))
    counts = expected(tree, Counts.of([[1, 1], [1, 0], [0, 1]], 2))
    assert counts.sizes.tolist() == [0, 2, 2] and counts.line(1).tolist() == [1.5, 0.5]
    assert dc.LDiversity(4 / 3).strain(counts, prior).tolist() == pytest.approx([0, 1, 1], abs=1e-8)
    assert dc.LDiversity(4 / 3).holds(counts, prior).all() and not dc.LDiversity(1.4).holds(counts, prior)[1:].any()
    assert dc.LDiversity(2).achieved(counts, prior) == pytest.approx(4 / 3)
    assert dc.BetaLikeness(1).achieved(counts, prior) == pytest.approx(0.5)
    assert dc.DeltaDisclosure(1).achieved(counts, prior) == pytest.approx(np.log(2))
    told = dc.LDiversity(2).explain(counts.only(np.array([1])), prior)
    assert told == "'a' is believed of this group with 75.0 %; at most 50.0 % is allowed, because of l=2."
    for promise in ("k-anonymity(k=2)", "t-closeness(t=0.2)", "l-diversity(l=2, kind=distinct)"):
        with pytest.raises(dc.DiscreetError, match="only be judged by bounds on the shares"):
            dc.parse(promise).strain(counts, prior)


def test_promises_on_levels_add_up_what_is_expected() -> None:
    counts = Counts(np.array([0, 3]), np.array([0, 1, 2], np.int32), np.array([0.5, 0.25, 1.25]), 3, np.array([2]))
    under = counts.under(np.array([0, 0, 1], np.int32))
    assert under.amounts.tolist() == [0.75, 1.25] and under.sizes.tolist() == [2]


# -------------------------------------------------------------------------------------------------------------- making


def test_every_node_is_described_by_everyone_in_it() -> None:
    rng = np.random.default_rng(5)
    for values in ("interval", "label", "set"):
        table = people(rng, 50)
        one = grown(rng, table, withheld=0.1)
        release = one.release(PROMISE, values=values)
        assert release.trace is not None and (release.trace >= 0).sum() == release.rows == release.persons.sum()
        ages = table.quasi[0].values[table.quasi[0].codes]
        for node in range(release.groups):
            inside = [
                row
                for row, leaf in enumerate(release.trace.tolist())
                if leaf >= 0 and node in naive.path(release.parents.tolist(), leaf)
            ]
            low, high = min(ages[inside]), max(ages[inside])
            text = release.description(node)["age"]
            assert text == (str(low) if low == high else f"[{low}, {high}]")
            if values == "set":
                cities = sorted({str(table.quasi[1].texts[code]) for code in table.quasi[1].codes[inside]})
                assert release.description(node)["city"] == (
                    cities[0] if len(cities) == 1 else "{" + ", ".join(cities) + "}"
                )


def test_groups_are_a_tree_of_roots() -> None:
    table = people(np.random.default_rng(1), 40)
    groups = (table.quasi[0].codes > 15).astype(np.int32)
    release = dc.NestedRelease.from_groups(table, groups, promise=PROMISE, scheme="two")
    assert release.parents.tolist() == [-1, -1] and release.persons.tolist() == release.sizes.tolist()
    plain = dc.GeneralizedRelease.from_groups(table, groups, promise=PROMISE, scheme="two")
    query = "SELECT COUNT(*) FROM t WHERE age <= 30 AND disease = 'd1'"
    assert release.estimate(query) == pytest.approx(plain.estimate(query))


def refused(table: dc.Table, parents: list[int], leaf_of: object, node_of: object) -> str:
    with pytest.raises(dc.DiscreetError) as error:
        dc.NestedRelease.from_tree(
            table,
            parents,
            leaf_of,  # type: ignore[arg-type]
            node_of,  # type: ignore[arg-type]
            promise=PROMISE,
            scheme="none",
        )
    return str(error.value)


def test_what_is_no_tree_is_refused() -> None:
    table = people(np.random.default_rng(2), 10)
    zeros = np.zeros(10, np.int64)
    assert "form a circle" in refused(table, [1, 0, -1], zeros + 2, zeros + 2)
    assert "a leaf and a node for each of the 10 rows" in refused(table, [-1], zeros[1:], zeros)
    assert "whole numbers" in refused(table, [-1], zeros, zeros + 0.5)
    assert "leaf_of names a node outside -1 to 1" in refused(table, [-1, 0], zeros + 2, zeros)
    assert "-1 both as its leaf and as its node" in refused(table, [-1], zeros, zeros - 1)
    assert "row 0 is to be published under node 1" in refused(table, [-1, 0], zeros, zeros + 1)
    assert "every row is withheld" in refused(table, [-1], zeros - 1, zeros - 1)


def test_what_nothing_is_known_to_believe_of_is_refused() -> None:
    data = pa.table({"age": [1, 2, 3], "who": ["a", "a", "b"], "one": list("xyx"), "two": list("uvu")})
    nodes = np.zeros(3, np.int64)
    several = read(data, quasi=["age"], sensitive=["one", "two"])
    assert "one sensitive attribute, not one, two" in refused(several, [-1], nodes, nodes)
    persons = read(data, quasi=["age"], sensitive="one", person="who")
    assert "persons with one row each" in refused(persons, [-1], nodes, nodes)
    assert "needs a sensitive attribute" in refused(read(data, quasi=["age"]), [-1], nodes, nodes)


# --------------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_saved_release_is_the_same_when_loaded(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(11)
    table = people(rng, 80, kept=True)
    made = grown(rng, table, withheld=0.05).release(PROMISE)
    loaded = dc.load(made.save(tmp_path / "release", format))  # type: ignore[arg-type]
    assert isinstance(loaded, dc.NestedRelease) and not loaded.faults and loaded.trace is None
    assert loaded.parents.tolist() == made.parents.tolist() and loaded.persons.tolist() == made.persons.tolist()
    points = {"age": [25, 40, 55], "city": ["Bonn", "Jena", "Gera"]}
    np.testing.assert_array_equal(loaded.beliefs(points), made.beliefs(points))
    np.testing.assert_array_equal(loaded.presence(points), made.presence(points))
    query = "SELECT city, COUNT(*) FROM t WHERE age <= 40 AND ward = 'w1' GROUP BY city"
    assert loaded.group_by(query).equals(made.group_by(query))
    if format == "csv":
        lines = (tmp_path / "release/nodes.csv").read_text().splitlines()
        assert lines[0] == "group,parent,persons" and len(lines) == 1 + made.groups
        assert [int(line.split(",")[0]) for line in lines[1:]] == list(range(made.groups))
        assert sum(line.split(",")[1] == "" for line in lines[1:]) == (made.parents < 0).sum()


def test_numbers_of_nodes_and_the_order_of_rows_follow_from_what_is_published() -> None:
    rng = np.random.default_rng(13)
    one = grown(rng, people(rng, 60))
    seen = [one.release(PROMISE, seeded=seeded) for seeded in (None, None, np.random.default_rng(1))]
    assert len({tuple(release.parents.tolist()) for release in seen}) == 1
    assert len({tuple(release.group_of.tolist()) for release in seen}) == 1
    assert all(parent < node for node, parent in enumerate(seen[0].parents.tolist())), "from the roots down"


# ----------------------------------------------------------------------------------------------------------- estimates


def estimated(one: Grown, release: dc.NestedRelease, age: int, disease: str, ward: str | None) -> float:
    """By definition: per leaf the persons x the belief in such a row x the share of the leaf's ages, whole years."""
    total = 0.0
    values = release.values[release.sensitive_codes] == disease
    if ward is not None:
        values &= np.asarray(release.others[0].values)[release.others[0].codes] == ward
    own = np.bincount(release.group_of[values], minlength=release.groups)
    for leaf, persons in enumerate(release.persons.tolist()):
        reach, belief = 1.0, 0.0
        for node in naive.path(release.parents.tolist(), leaf):
            arriving = sum(
                int((release.trace == below).sum()) - int((release.group_of == below).sum())
                for below in range(release.groups)
                if node in naive.path(release.parents.tolist(), below)
            ) + int(release.sizes[node])
            belief += reach * own[node] / arriving
            reach *= 1.0 - release.sizes[node] / arriving
        ends = release.description(leaf)["age"].strip("[]").split(", ")
        ages = range(int(ends[0]), int(ends[-1]) + 1)
        total += persons * belief * sum(year <= age for year in ages) / len(ages)
    return total


@pytest.mark.parametrize("ward", [None, "w0"])
def test_estimates_are_by_leaf(ward: str | None) -> None:
    rng = np.random.default_rng(17)
    one = grown(rng, people(rng, 50, kept=True))
    release = one.release(PROMISE)
    carried = "" if ward is None else f" AND ward = '{ward}'"
    for age in (25, 35, 50):
        found = release.estimate(f"SELECT COUNT(*) FROM t WHERE age <= {age} AND disease = 'd2'{carried}")
        assert found == pytest.approx(estimated(one, release, age, "d2", ward), abs=1e-9)
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age >= 0") == pytest.approx(50)
    assert release.known_values("city").tolist() == ["Gera", "Jena", "Bonn", "Essen"]
    everything = release.group_by("SELECT disease, COUNT(*) FROM t GROUP BY disease")
    codes = release.sensitive_columns[0]
    assert codes is not None
    np.testing.assert_allclose(everything["count"], np.bincount(codes.codes), atol=1e-9)


def test_estimates_by_leaf_beat_those_by_the_description_of_each_row() -> None:
    """A workload of 1,000 queries with fixed seeds: half of the rows stand higher than their persons' leaves."""
    from discreet.analyst.workload import run, workload
    from discreet.datasets import census

    table = census(4000, quasi=["age", "gender", "education", "marital"], sensitive="salary")
    release = grown(np.random.default_rng(1), table, least=30, lifted=0.5).release(dc.LDiversity(1))
    names = "manifest", "attributes", "texts", "ids", "group_of", "sensitive_columns", "others"
    by_row = dc.GeneralizedRelease(**{name: getattr(release, name) for name in names})
    queries = workload(table, dimensionality=3, number=1000)
    assert run(release, table, queries).median < 0.95 * run(by_row, table, queries).median


def test_losses_are_those_of_rows_under_their_nodes() -> None:
    from discreet.analyst.loss import gcp

    table = read(pa.table({"x": [0, 1, 9, 10], "y": list("abab")}), quasi=["x"], sensitive="y")
    leaves, nodes = np.array([1, 1, 2, 2]), np.array([1, 0, 2, 2])
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaves, nodes, promise=dc.LDiversity(1), scheme="two")
    assert gcp(release) == pytest.approx((0.1 + 1.0 + 0.1 + 0.1) / 4)


def test_people_are_looked_up_in_leaves() -> None:
    table = read(pa.table({"x": [0, 1, 9, 10], "y": list("abab")}), quasi=["x"], sensitive="y")
    leaves, nodes = np.array([1, 1, 2, 2]), np.array([1, 0, 2, 2])
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaves, nodes, promise=dc.LDiversity(1), scheme="two")
    lookup = release.lookup()
    assert sorted(lookup.sizes.tolist()) == [2, 2] and not release.hides_presence
    assert lookup.crowd(table.quasi).tolist() == [2, 2]
    assert release.presence({"x": [0, 5, 9]}).tolist() == [1.0, 0.0, 1.0]
