"""What stands in no cell has no name in the folder: k-anonymity holds for the folder, not only for its cells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import losses
from discreet.releases.labels import told
from discreet.releases.release import Release
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Table
from discreet.table.unnamed import UNNAMED
from support.formats import DESCRIBED
from support.tampering import describe

ROWS = 240
PREFIX = {"prefix": {"keep": [3, 2]}}
INTERVALS = {"intervals": {"widths": [10, 50], "origin": 0}}


def people(seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "zip": [f"53{number:03}" for number in (rng.exponential(60, ROWS) % 300).astype(int)],
            "pay": rng.gamma(2, 30, ROWS).round(2),
            "town": [f"town {number}" for number in (rng.exponential(6, ROWS)).astype(int)],
            "ill": rng.choice(["flu", "gout", "asthma"], ROWS),
            "job": rng.choice(["baker", "smith", "clerk"], ROWS),
        }
    )


def read(table: pa.Table, label: str = "cuts", **how: Any) -> Table:
    recipes: dict[str, Any] = {"zip": PREFIX} | ({"pay": INTERVALS} if "label" in label else {})
    return dc.read(
        table,
        quasi=["zip", "pay", "town"],
        sensitive=["ill", "job"] if label == "codip" else "ill",
        numeric=["pay"],
        hierarchies=recipes,
        **how,
    )


def cells(release: Release) -> dict[str, set[str]]:
    """Per quasi-identifier, the values and labels that stand in some cell."""
    named: dict[str, set[str]] = {}
    for part in release.projections:
        assert part.descriptions is not None
        for attribute, texts in zip(release.quasi, part.descriptions.texts, strict=True):
            named.setdefault(attribute.name, set()).update(told(texts.texts))
        for attribute, counted in zip(release.quasi, part.marginals.cells if part.marginals else (), strict=False):
            named[attribute.name].update(told(counted))
    return named


@pytest.mark.parametrize("label", DESCRIBED)
def test_the_folder_names_no_value_that_stands_in_no_cell(label: str, tmp_path: Path) -> None:
    table = read(people(), label)
    release = dc.publish(table, DESCRIBED[label], label)
    folder = release.save(tmp_path / "release")
    manifest, named = (folder / "release.json").read_text(), cells(dc.load(folder))
    hidden = {
        text
        for column in (table.column("zip"), table.column("town"))
        for text in column.texts
        if text not in named[column.name]
    }
    assert len(hidden) > 20 or "set" in label or label == "lifting"
    assert [text for text in hidden if json.dumps(text) in manifest] == []
    if "label" in label:
        exact = {repr(number) for number in table.column("pay").values.tolist()}
        stated = json.loads(manifest)["attributes"][1]
        assert stated["recipe"] == INTERVALS and "hierarchy" not in stated
        assert not exact & {repr(float(end)) for end in stated["domain"]}
        assert [text for text in exact - named["pay"] if text in manifest] == []
    assert dc.audit(folder, table, trace=release.trace).holds
    assert "graph" in label or dc.audit(folder, table).holds


@pytest.mark.parametrize("label", DESCRIBED)
def test_what_is_loaded_is_what_was_made(label: str, tmp_path: Path) -> None:
    release = dc.publish(read(people(), label), DESCRIBED[label], label)
    loaded = dc.load(release.save(tmp_path / "release"))
    assert [each.as_dict() for each in loaded.attributes] == [each.as_dict() for each in release.attributes]
    assert losses(loaded) == losses(release)
    points = {"zip": ["53000", "53007", "53299"], "pay": [20, 50.5, 90], "town": ["town 0", "town 1", "town 30"]}
    assert np.array_equal(loaded.beliefs(points), release.beliefs(points), equal_nan=True)


@pytest.mark.parametrize("label", DESCRIBED)
def test_people_find_themselves_although_their_values_have_no_name(label: str, tmp_path: Path) -> None:
    """Whoever has the original knows all names; everybody else finds the same groups by the recipe."""
    table = read(people(), label)
    release = dc.publish(table, DESCRIBED[label], label)
    revealed = release.revealed(table)
    points = {name: [table.column(name).texts[code] for code in table.column(name).codes] for name in ("zip", "town")}
    points["pay"] = table.column("pay").values[table.column("pay").codes].tolist()
    assert np.allclose(release.beliefs(points), revealed.beliefs(points), equal_nan=True)
    assert losses(release) == pytest.approx(losses(revealed)) or "label" in label
    queries = [f"SELECT COUNT(*) FROM t WHERE town = 'town {number}'" for number in range(12)]
    queries += ["SELECT COUNT(*) FROM t WHERE zip IN ('53000', '53001', '53002')"]
    for query in queries:
        assert release.estimate(query) == pytest.approx(revealed.estimate(query)), query


def altered(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest["attributes"][0])
    (folder / "release.json").write_text(json.dumps(manifest))
    describe(folder)
    return folder


def failed(folder: Path, table: Table) -> set[str]:
    return {check.name for check in dc.audit(folder, table).checks if not check.holds}


def rows(attribute: dict[str, Any]) -> list[Any]:
    return [row for row in attribute["hierarchy"] if isinstance(row[0], int)]


def test_an_audit_rejects_names_and_counts_that_no_cell_licenses(tmp_path: Path) -> None:
    table = read(people())
    release = dc.publish(table, "k-anonymity(k=8)", "mondrian")

    def published(name: str, change: Callable[[dict[str, Any]], object]) -> set[str]:
        return failed(altered(release.save(tmp_path / name), change), table)

    assert published("as it is", lambda zip: None) == set()
    assert "listed" in published("a zip", lambda zip: zip["hierarchy"].insert(0, ["53299", "532**", "53***", "*"]))
    assert "listed" in published("a label", lambda zip: zip["hierarchy"].insert(0, [1, "539**", "53***", "*"]))
    assert "listed" in published("a number", lambda zip: rows(zip)[0].__setitem__(0, rows(zip)[0][0] + 1))
    for name, change in {
        "too many": lambda zip: rows(zip)[0].__setitem__(0, 10**12),
        "none": lambda zip: rows(zip)[0].__setitem__(0, 0),
        "true": lambda zip: rows(zip)[0].__setitem__(0, True),
        "no recipe": lambda zip: zip.update({"recipe": {"prefix": {"keep": "3"}, "more": {}}}),
        "half a recipe": lambda zip: zip.update({"recipe": {"prefix": {}}}),
    }.items():
        with pytest.raises(dc.DiscreetError, match="cannot be understood"):
            published(name, change)


def test_values_that_the_publisher_declares_are_public_and_said_to_be(tmp_path: Path) -> None:
    towns = {
        "north": [f"town {number}" for number in range(30)],
        "south": [f"town {number}" for number in range(30, 99)],
    }
    table = dc.read(people(), quasi=["town", "pay"], sensitive="ill", hierarchies={"town": towns})
    folder = dc.publish(table, "k-anonymity(k=8)").save(tmp_path / "release")
    stated = json.loads((folder / "release.json").read_text())["attributes"][0]
    assert stated["declared"] is True and len(stated["hierarchy"]) == 99
    assert dc.audit(folder, table).holds


def test_a_count_by_values_puts_those_without_a_name_together(tmp_path: Path) -> None:
    table = read(people())
    release = dc.load(dc.publish(table, "k-anonymity(k=8)").save(tmp_path / "release"))
    counted = release.group_by("SELECT town, COUNT(*) FROM t GROUP BY town").to_pydict()
    assert counted["town"][-1] == "(not named)" and sum(counted["count"]) == pytest.approx(ROWS)
    assert UNNAMED not in json.dumps(counted)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_told_of_a_tree_follows_from_what_is_told(seed: int) -> None:
    """Naming twice is naming once; two tellings together are the telling of both; sizes of labels stay."""
    rng = np.random.default_rng(seed)
    tree = Hierarchy.of("zip", {"prefix": {"keep": [3, 2, 1]}}, [f"{code:04}" for code in rng.integers(0, 400, 60)])
    names = sorted({label for level in tree.labels for label in level})
    first, second = ({name for name in names if rng.random() < 0.1} for _ in range(2))
    known, other = tree.naming(first), tree.naming(second)
    assert known.naming(first).listed() == known.listed()
    assert (
        known.naming_also(other).listed() == tree.naming(first | second).listed() == other.naming_also(known).listed()
    )
    assert Hierarchy.from_listed("zip", known.listed()).listed() == known.listed()
    assert len(known.leaves) == len(tree.leaves)
    sizes = {label: (last - at) for label, (at, last) in spans(tree).items()}
    assert all(sizes[label] == last - at for label, (at, last) in spans(known).items() if label in sizes)


def spans(tree: Hierarchy) -> dict[str, tuple[int, int]]:
    """Per label, the range of its leaves."""
    from discreet.releases.labels import Nodes

    return Nodes(tree).ranges


# ------------------------------------------------------------------------------------------------- what readings found


def whole(release: Release, column: str, values: list[str]) -> float:
    return float(sum(release.estimate(dc.Query(dc.OneOf(column, value))) for value in values))


@pytest.mark.parametrize("scheme", ["cuts", "incognito", "mondrian"])
def test_numbers_as_categories_below_intervals_are_found_by_the_recipe(scheme: str) -> None:
    pay = [str(number) for number in np.random.default_rng(1).integers(0, 90, 80)]
    people = pa.table({"pay": pay, "ill": ["a", "b"] * 40})
    table = dc.read(people, quasi=["pay"], sensitive="ill", hierarchies={"pay": INTERVALS})
    release = dc.publish(table, "k-anonymity(k=9)", scheme)
    assert whole(release, "pay", sorted(set(pay))) == pytest.approx(80)
    assert not np.isnan(release.beliefs({"pay": pay})).any()


def test_one_value_asked_decides_nothing_about_others() -> None:
    release = dc.publish(read(people()), "k-anonymity(k=8)", "mondrian")
    alone = release.beliefs({"zip": ["53001"], "pay": [50], "town": ["town 1"]})
    beside = release.beliefs({"zip": ["53001", "5371112345"], "pay": [50, 50], "town": ["town 1", "town 1"]})
    assert np.array_equal(alone[0], beside[0], equal_nan=True)
    zips = "'53001', '53002', '53003'"
    counted = [release.estimate(f"SELECT COUNT(*) FROM t WHERE zip IN ({z})") for z in (zips, f"{zips}, '5371112345'")]
    assert counted[0] == counted[1] > 0


def test_missing_values_without_a_name_count_like_others() -> None:
    rng = np.random.default_rng(2)
    city = [["a", "b", None][code] for code in rng.integers(0, 3, 90)]
    people = pa.table({"city": city, "ill": ["x", "y"] * 45})
    release = dc.publish(dc.read(people, quasi=["city"], sensitive="ill"), "k-anonymity(k=60)", "incognito")
    assert release.manifest["attributes"][0]["hierarchy"] == [3]
    assert [whole(release, "city", [value]) for value in ("a", "b", "(missing)")] == [30, 30, 30]


def test_numbers_as_texts_are_told_apart() -> None:
    people = pa.table({"n": ["1.0"] * 40 + ["1"] * 2 + ["2"] * 2 + ["3"] * 56, "ill": ["x", "y"] * 50})
    release = dc.publish(dc.read(people, quasi=["n"], sensitive="ill"), "k-anonymity(k=10)", "cuts")
    assert whole(release, "n", ["1"]) == whole(release, "n", ["2"]) > 0


def test_declared_means_that_all_are_listed(tmp_path: Path) -> None:
    folder = dc.publish(read(people()), "k-anonymity(k=8)", "mondrian").save(tmp_path / "release")
    assert "listed" in failed(altered(folder, lambda zip: zip.update({"declared": True})), read(people()))


def test_a_recipe_that_the_original_was_read_with_is_stated(tmp_path: Path) -> None:
    table = read(people(), "label")
    release = dc.publish(table, "k-anonymity(k=8)", "cuts(values=label)")

    def dropped(manifest: dict[str, Any]) -> None:
        tree = table.column("pay").hierarchy
        assert tree is not None
        del manifest["attributes"][1]["recipe"]
        manifest["attributes"][1]["hierarchy"] = [list(row) for row in tree.rows()]

    folder = release.save(tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    dropped(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))
    describe(folder)
    assert "listed" in failed(folder, table)


def test_withheld_rows_leave_no_room_for_other_counts(tmp_path: Path) -> None:
    source = people()
    pay = source["pay"].to_pylist()
    pay[3] = pay[77] = None
    table = read(source.set_column(1, "pay", pa.array(pay, pa.float64())), missing="withhold")
    folder = dc.publish(table, "k-anonymity(k=8)", "mondrian").save(tmp_path / "release")
    assert failed(folder, table) == set()
    assert "listed" in failed(altered(folder, lambda zip: rows(zip)[0].__setitem__(0, 99_999)), table)


def test_a_small_file_takes_no_gigabytes(tmp_path: Path) -> None:
    folder = dc.publish(read(people()), "k-anonymity(k=8)", "mondrian").save(tmp_path / "release")
    tree: list[list[Any]] = [[10**6, "*"], ["zz", *["zz"] * 900, "*"]]
    with pytest.raises(dc.DiscreetError, match="cannot be understood"):
        dc.load(altered(folder, lambda zip: zip.update({"hierarchy": tree})))


@pytest.mark.parametrize("widths", [[10**400], [5e-324]])
def test_widths_beyond_all_numbers_are_refused_in_a_sentence(widths: list[float]) -> None:
    with pytest.raises(dc.DiscreetError):
        table = dc.read(
            people(),
            quasi=["pay"],
            sensitive="ill",
            numeric=["pay"],
            hierarchies={"pay": {"intervals": {"widths": widths}}},
        )
        dc.publish(table, "k-anonymity(k=5)", "cuts(values=label)")


@pytest.mark.parametrize("widths", [(100, 1000), [100, 1000]])
def test_large_numbers_and_tuples_keep_their_intervals(widths: Any, tmp_path: Path) -> None:
    numbers = [1.6e15 + 10 * place for place in range(60)] + [0.5] * 2
    people = pa.table({"x": numbers, "ill": ["a", "b"] * 31})
    recipe = {"intervals": {"widths": widths, "origin": 0}}
    table = dc.read(people, quasi=["x"], sensitive="ill", numeric=["x"], hierarchies={"x": recipe})
    release = dc.publish(table, "k-anonymity(k=2)", "cuts(values=label)")
    assert dc.audit(release.save(tmp_path / "release"), table).holds
    assert release.estimate("SELECT COUNT(*) FROM t WHERE x > 0") == pytest.approx(62)


@pytest.mark.parametrize("how", ["flat", "listed", "ordinal", "recipe"])
def test_no_value_is_called_like_the_values_without_a_name(how: str) -> None:
    """A query for it would count all of them."""
    people = pa.table({"town": ["Bonn"] * 30 + ["(not named)"] * 30 + ["Lyon"] * 30, "ill": ["a", "b"] * 45})
    recipes: dict[str, Any] = {"listed": {"EU": ["Bonn", "(not named)", "Lyon"]}, "recipe": {"prefix": {"keep": [1]}}}
    trees = {"town": recipes[how]} if how in recipes else {}
    ordinal = ["town"] if how == "ordinal" else []
    with pytest.raises(dc.DiscreetError, match=r"'town' .* '\(not named\)'.* stands for all values .*rename it in the"):
        dc.read(people, quasi=["town"], sensitive="ill", hierarchies=trees, ordinal=ordinal)
