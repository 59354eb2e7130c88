"""Hierarchies: the papers' example, every fault by its message, and random trees against brute force."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.table.hierarchy import MISSING, Hierarchy
from support.effort import calls
from support.house import DATA

ADULT = DATA / "adult"

DISEASES = {
    "Nervous and circulatory diseases": {
        "Nervous diseases": ["Headache", "Epilepsy", "Brain tumors"],
        "Circulatory diseases": ["Anemia", "Angina", "Heart murmur"],
    }
}


# ----------------------------------------------------------------------------------------------- the papers' example


def test_figure_1_of_the_beta_likeness_paper() -> None:
    tree = Hierarchy.of("disease", DISEASES)
    assert tree.height == 2
    assert tree.labels[2] == ("Nervous and circulatory diseases",)
    headache, tumors, anemia = (tree.rank(name) for name in ("Headache", "Brain tumors", "Anemia"))
    # Eq. 3: nothing for one leaf, 3 of 6 for two nervous diseases, all for one of each.
    assert tree.cost([headache, headache, headache], [headache, tumors, anemia]).tolist() == [0, 3 / 6, 1]
    for low, high, label in (
        (headache, tumors, "Nervous diseases"),
        (headache, anemia, "Nervous and circulatory diseases"),
        (anemia, anemia, "Anemia"),
    ):
        level, node = tree.lca(low, high)
        assert tree.labels[level][node] == label
    assert tree.ancestors[1].tolist() == [0, 0, 0, 1, 1, 1]
    assert tree.node_sizes(1).tolist() == [3, 3]


# ------------------------------------------------------------------------------------------------------ constructors


def test_leaves_are_reordered_into_pre_order_by_first_appearance() -> None:
    rows = [("a", "A", "X"), ("c", "B", "Y"), ("b", "A", "X"), ("d", "C", "X")]
    tree = Hierarchy.from_rows("x", rows)
    assert tree.labels == (("a", "b", "d", "c"), ("A", "C", "B"), ("X", "Y"), ("*",))
    assert tree.ancestors.tolist() == [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert tree.ancestors.dtype == np.int32
    assert Hierarchy.from_rows("x", tree.rows()).labels == tree.labels


def test_a_common_root_is_kept_and_a_missing_one_added() -> None:
    assert Hierarchy.from_rows("x", [("a", "all"), ("b", "all")]).labels == (("a", "b"), ("all",))
    assert Hierarchy.from_rows("x", [("a",), ("b",)]).labels == (("a", "b"), ("*",))
    assert Hierarchy.from_rows("x", [("a",)]).labels == (("a",), ("*",))


def test_a_label_may_be_repeated_along_a_single_chain() -> None:
    tree = Hierarchy.from_rows("x", [("a", "a", "*"), ("b", "B", "*"), ("c", "B", "*")])
    assert tree.ancestors.tolist() == [[0, 1, 2], [0, 1, 1], [0, 0, 0]]
    assert tree.cost(0, 0) == 0


@pytest.mark.parametrize("text", ["a;A;*\nb;A;*\nc;B;*\n", "a,A,*\r\nb,A,*\r\n\r\nc,B,*", "a ; A;*\nb;A;*\nc;B;*"])
def test_csv_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert Hierarchy.of("x", path).labels == (("a", "b", "c"), ("A", "B"), ("*",))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_csv_files_in_any_encoding_and_with_the_other_delimiter_in_labels(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("Korea, South;Asiä;*\nPeru;Süd;*\n".encode(encoding))
    assert Hierarchy.of("country", path).leaves == ("Korea, South", "Peru")


def test_a_csv_file_of_one_column_is_flat(tmp_path: Path) -> None:
    path = tmp_path / "size.csv"
    path.write_text("small\nmedium\nlarge\n")
    assert Hierarchy.of("size", path).labels == (("small", "medium", "large"), ("*",))


def test_toml_files(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('[Nervous]\nmild = ["Headache"]\nsevere = {"Epilepsy" = {}, "Brain tumors" = {}}\n')
    tree = Hierarchy.of("disease", path)
    assert tree.labels == (("Headache", "Epilepsy", "Brain tumors"), ("mild", "severe"), ("Nervous",))
    path.write_text("[intervals]\nwidths = [5, 10]\n")
    assert Hierarchy.of("age", path, ["17", "24"]).labels[1] == ("15 to 19", "20 to 24")
    path.write_text("[prefix]\nkeep = [2]\n")
    assert Hierarchy.of("zip", path, ["123", "124", "199"]).labels[1] == ("12*", "19*")


@pytest.mark.parametrize("lines", ["city;region;top\nLyon;FR;*\nBonn;DE;*\n", "City,region\nLyon,FR\nBonn,DE\n"])
def test_a_header_is_found(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "city.csv"
    path.write_text(lines)
    for values in (None, ["Lyon", "Bonn"]):
        with pytest.raises(DiscreetError, match=r"first line of the hierarchy of 'city' .* looks like a header"):
            Hierarchy.of("city", path, values)
    path.write_text("mixed;any\nblue;any\n")
    assert Hierarchy.of("mixed", path, ["mixed", "blue"]).leaves == ("mixed", "blue"), "a value may be called so"
    path.write_text("blue;any\nmixed;any\n")
    assert Hierarchy.of("mixed", path, ["blue"]).leaves == ("blue", "mixed")


@pytest.mark.parametrize(
    "lines",
    [
        "leaf;region;top\nLyon;FR;*\nNice;FR;*\nBonn;DE;*\n",
        "level0,level1\nLyon,FR\nNice,FR\n",
        "code,Europe\nLyon,FR\nNice,FR\n",
    ],
)
def test_a_header_is_found_by_its_labels(tmp_path: Path, lines: str) -> None:
    """They stand nowhere else, and its leaf is no value; with a column of roots it failed as a cycle."""
    path = tmp_path / "city.csv"
    path.write_text(lines)
    with pytest.raises(DiscreetError, match=r"first line of the hierarchy of 'city' .* looks like a header"):
        Hierarchy.of("city", path, ["Lyon", "Nice"])
    first = lines.partition("\n")[0].split(";" if ";" in lines else ",")[0]
    held = [first, "Lyon", "Nice", "Bonn"] if "Bonn" in lines else [first, "Lyon", "Nice"]
    if "top" not in lines:
        assert Hierarchy.of("city", path, held).leaves[0] == first, "a value is no header"
    path.write_text("Oslo,NO\nLyon,FR\nNice,FR\nBergen,NO\n")
    assert Hierarchy.of("city", path, ["Lyon", "Nice"]).leaves[0] == "Oslo", "a leaf that does not occur"


def test_intervals() -> None:
    tree = Hierarchy.of("age", {"intervals": {"widths": [5, 10], "origin": 0}}, [3, 7.0, "12", 23, -4])
    assert tree.leaves == ("-4", "3", "7", "12", "23")
    assert tree.labels[1] == ("-5 to -1", "0 to 4", "5 to 9", "10 to 14", "20 to 24")
    assert tree.labels[2] == ("-10 to -1", "0 to 9", "10 to 19", "20 to 29")
    real = Hierarchy.of("dose", {"intervals": {"widths": [0.1, 0.2]}}, [0.05, 0.3, 0.35])
    assert real.labels[1] == ("0 to below 0.1", "0.3 to below 0.4")
    assert Hierarchy.of("age", {"intervals": {"widths": [5], "origin": 2}}, [3]).labels[1] == ("2 to 6",)


def test_prefixes_keep_codes_that_are_short_enough() -> None:
    tree = Hierarchy.of("zip", {"prefix": {"keep": [4, 2]}}, ["01301", "01302", "02115", "01"])
    assert tree.leaves == ("01", "01301", "01302", "02115")
    assert tree.labels[1] == ("01", "0130*", "0211*")
    assert tree.labels[2] == ("01", "01***", "02***")


def test_missing_is_a_leaf_of_its_own_under_the_root() -> None:
    tree = Hierarchy.of("disease", DISEASES)
    last = tree.with_missing()
    assert last.leaves[-1] == MISSING and last.labels[1][-1] == MISSING and last.labels[2] == tree.labels[2]
    assert last.with_missing() is last
    first = last.with_missing(first=True)
    assert first.leaves[0] == MISSING and len(first.leaves) == 7
    assert first.cost(0, 1) == 1


def test_find_matches_numbers_however_they_are_written_but_not_codes() -> None:
    tree = Hierarchy.flat("x", ["17", "18.0", "01"])
    assert [tree.find(text) for text in ("17.0", " 17", "18", "1", "01", "x")] == [0, 0, 1, -1, 2, -1]


# ------------------------------------------------------------------------------------------------------------ faults


def _rows(*rows: str) -> Callable[[], Any]:
    return lambda: Hierarchy.from_rows("place", [tuple(row.split(";")) for row in rows])


def _nested(mapping: Any) -> Callable[[], Any]:
    return lambda: Hierarchy.of("place", mapping, ["12", "x"])


def _knotted() -> Any:
    inner: dict[str, Any] = {}
    inner["A"] = inner
    return Hierarchy.of("place", {"B": inner})


TREE = Hierarchy.from_rows("place", [("a", "A"), ("b", "B")])

FAULTS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "no rows": (lambda: Hierarchy.from_rows("place", []), ["no leaves"]),
    "duplicate leaf": (_rows("a;A;*", "b;A;*", "a;A;*"), ["duplicate leaf 'a'", "rows 1 and 3"]),
    "leaf with two parents": (_rows("a;A;*", "a;B;*"), ["duplicate leaf 'a'", "two parents 'A' and 'B'"]),
    "node with two parents": (_rows("a;A;X;*", "b;A;Y;*"), ["'A'", "two parents, 'X' and 'Y'"]),
    "unequal depth": (_rows("a;A;*", "b;*"), ["unequal depth", "'b'", "row 2"]),
    "unequal depth, nested": (_nested({"A": ["a"], "b": {}}), ["unequal depth", "'b'"]),
    "cycle": (_rows("a;b;a;*", "c;b;a;*"), ["cycle", "'a' is its own ancestor"]),
    "cycle over two rows": (_rows("x;A;B;*", "y;B;A;*"), ["cycle", "is its own ancestor"]),
    "cycle, nested": (_nested({"A": {"B": ["A", "c"]}}), ["cycle", "'A'"]),
    "cycle, knotted": (_knotted, ["cycle", "'A'"]),
    "leaf named as the root": (_rows("*;A;*", "b;A;*"), ["cycle", "'*'"]),
    "one label, two leaf sets": (_rows("Other;A;*", "b;A;*", "c;Other;*"), ["'Other'", "two different sets of leaves"]),
    "empty label": (_rows("a;;*", "b;B;*"), ["empty label", "level 1", "'a'"]),
    "empty leaf": (_rows("a;A;*", ";A;*"), ["empty label", "row 2"]),
    "star in flat": (lambda: Hierarchy.flat("place", ["*", "a"]), ["'*'", "any value"]),
    "leaf that is no value": (_nested({"A": [["b"]]}), ["['b']", "'A'"]),
    "node that is no table": (_nested({"A": 3}), ["'A'", "3"]),
    "unknown option": (_nested({"prefix": {"keep": [2], "drop": 1}}), ["'drop'", "keep"]),
    "no number in intervals": (_nested({"intervals": {"widths": [5]}}), ["'x'", "not a finite number"]),
    "intervals that do not nest": (_nested({"intervals": {"widths": [5, 12]}}), ["12 is not a multiple of 5"]),
    "no widths": (_nested({"intervals": {"widths": []}}), ["widths such as"]),
    "negative width": (_nested({"intervals": {"widths": [-5]}}), ["-5", "positive"]),
    "prefix lengths": (_nested({"prefix": {"keep": [2, 3]}}), ["shorter", "[2, 3]"]),
    "prefix length zero": (_nested({"prefix": {"keep": [0]}}), ["[0]"]),
    "recipe without values": (lambda: Hierarchy.of("place", {"prefix": {"keep": [2]}}, None), ["values"]),
    "of another type": (_nested(["a"]), ["list", "path"]),
    "unknown leaf": (lambda: TREE.rank("aa"), ["'aa'", "did you mean 'a'"]),
    "no such file": (lambda: Hierarchy.of("place", "nowhere.csv"), ["'nowhere.csv'", "there is no file"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_names_the_attribute_and_the_value(fault: str) -> None:
    make, parts = FAULTS[fault]
    with pytest.raises(DiscreetError) as caught:
        make()
    for part in ["'place'", *parts]:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_faults_of_files(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("a = [")
    with pytest.raises(DiscreetError, match="not valid TOML"):
        Hierarchy.of("x", path)
    ragged = tmp_path / "x.csv"
    ragged.write_text("a;A;*\nb;*\n")
    with pytest.raises(DiscreetError, match=r"unequal depth: the leaf 'b' \(row 2\)"):
        Hierarchy.of("x", ragged)
    empty = tmp_path / "empty.csv"
    empty.write_text("\n\n")
    with pytest.raises(DiscreetError, match="no leaves"):
        Hierarchy.of("x", empty)


# -------------------------------------------------------------------------------------------------------- properties


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Leaf-first rows of a random tree, in random order."""
    height = draw(st.integers(1, 4))
    paths: list[tuple[str, ...]] = [("*",)]
    for level in range(height):
        paths = [
            (f"{height - level - 1}.{number}.{child}", *path)
            for number, path in enumerate(paths)
            for child in range(draw(st.integers(1, 3)))
        ]
    return draw(st.permutations(paths))


@given(trees())
def test_random_trees_against_brute_force(rows: list[tuple[str, ...]]) -> None:
    tree = Hierarchy.from_rows("x", rows)
    above = {row[0]: row for row in rows}
    assert sorted(tree.leaves) == sorted(above)
    leaves = tree.leaves
    low, high = (grid.ravel() for grid in np.meshgrid(np.arange(len(leaves)), np.arange(len(leaves))))
    levels, nodes = tree.lca(low, high)
    costs = tree.cost(low, high)
    for a, b, level, node, cost in zip(low, high, levels, nodes, costs, strict=True):
        one, two = above[leaves[a]], above[leaves[b]]
        expected = next(place for place in range(len(one)) if one[place] == two[place])
        assert level == expected
        assert tree.labels[level][node] == one[expected]
        under = sum(one[expected] in row for row in rows)
        assert cost == (0 if under == 1 else under / len(rows))
    for level, names in enumerate(tree.labels):
        for node, name in enumerate(names):
            under = np.flatnonzero(tree.ancestors[level] == node)
            assert {leaves[leaf] for leaf in under} == {row[0] for row in rows if name in row}
            assert tree.node_sizes(level)[node] == len(under) == under[-1] - under[0] + 1


@given(trees())
def test_rows_bring_the_same_tree_back(rows: list[tuple[str, ...]]) -> None:
    tree = Hierarchy.from_rows("x", rows)
    again = Hierarchy.from_rows("x", tree.rows())
    assert again.labels == tree.labels
    assert np.array_equal(again.ancestors, tree.ancestors)


@given(st.lists(st.integers(-200, 200), min_size=1, unique=True), st.integers(1, 7), st.integers(-5, 5))
def test_interval_labels_hold_their_leaves(values: list[int], width: int, origin: int) -> None:
    tree = Hierarchy.of("x", {"intervals": {"widths": [width, 3 * width], "origin": origin}}, values)
    assert [int(leaf) for leaf in tree.leaves] == sorted(values)
    for row in tree.rows():
        for label in row[1:-1]:
            low, _, high = label.partition(" to ")
            assert int(low) <= int(row[0]) <= int(high or low)


def test_costs_are_computed_for_all_pairs_at_once() -> None:
    tree = Hierarchy.of("x", {"intervals": {"widths": [5, 10, 50, 100, 500]}}, range(1000))
    low, high = np.random.default_rng(0).integers(0, 1000, (2, 100_000))
    tree.cost(low[:1], high[:1])
    assert calls(lambda: tree.cost(low, high)) < 1000


# -------------------------------------------------------------------------------------------------------- real files


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data is not beside the project")
def test_adult_hierarchies() -> None:
    heights = {}
    for path in sorted(ADULT.glob("hierarchy_*.csv")):
        tree = Hierarchy.of(path.stem.removeprefix("hierarchy_"), path)
        heights[tree.attribute] = (len(tree.leaves), tree.height)
        assert tree.labels[-1] == ("*",)
    assert heights["age"] == (100, 4)
    assert heights["native-country"] == (41, 2)
    assert heights["education"] == (16, 3)
