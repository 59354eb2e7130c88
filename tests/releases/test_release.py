"""Generalized releases: their texts, their files, and that what is loaded is what was made."""

from __future__ import annotations

import csv
import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.catalogue import FORMATS
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.principles import BetaLikeness, KAnonymity
from discreet.releases import GeneralizedRelease, load, write_trace
from discreet.releases import folder as files
from discreet.releases import placement as placing
from discreet.releases.attributes import Attribute
from discreet.releases.labels import Nodes, braces, interval, parse, quoted
from discreet.table.combinations import narrow
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table
from naive import boxes as naive
from support.releases import TREE, objects, original_values, publish, random_groups, random_table

# -------------------------------------------------------------------------------------------------------------- texts


def test_texts_are_those_of_the_design() -> None:
    assert interval("17", "24") == "[17, 24]"
    assert braces(["a", "b, c"]) == '{a, "b, c"}'
    assert quoted(" x") == '" x"'
    nodes = Nodes(TREE)
    level, node = TREE.lca(0, 1)
    assert nodes.text(int(level), int(node)) == "office"
    assert nodes.text(2, 0) == "*"
    assert nodes.text(0, 1) == '"manager, senior"'


def test_a_label_that_two_nodes_bear_is_published_as_the_set_of_its_leaves() -> None:
    tree = Hierarchy(
        "x",
        (("other", "a", "b", "c"), ("left", "other"), ("*",)),
        np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32),
    )
    assert Nodes(tree).text(1, 1) == "{b, c}"
    regions = parse(Attribute("x", "quasi", "categorical", hierarchy=tree), ["{b, c}", "other", "left"])
    assert regions.low.tolist() == [2, 0, 0]
    assert regions.high.tolist() == [3, 0, 1]


@pytest.mark.slow
@given(st.lists(st.text(min_size=1, max_size=5).filter(lambda text: text != "*"), min_size=2, max_size=6, unique=True))
def test_any_set_of_values_is_read_back(values: list[str]) -> None:
    assume = [value for value in values if value.strip()]
    if len(assume) < 2:
        return
    tree = Hierarchy.flat("x", assume)
    attribute = Attribute("x", "quasi", "categorical", hierarchy=tree)
    some = sorted(assume[::2])
    ranks = sorted(assume.index(value) for value in some)
    regions = parse(attribute, [braces(some), *(quoted(value) for value in assume)])
    read = regions.sets.get(0, np.arange(int(regions.low[0]), int(regions.high[0]) + 1))
    assert read.tolist() == ranks
    assert regions.low[1:].tolist() == list(range(len(assume)))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_is_read_back(one: float, other: float) -> None:
    low, high = sorted((one, other))
    column = Column("x", "numeric", np.zeros(1, np.int32), np.array([low, high]))
    regions = parse(Attribute("x", "quasi", "numeric", domain=(low, high)), [interval(*column.texts)])
    assert (regions.low[0], regions.high[0]) == (low, high)


@pytest.mark.parametrize("text", ["[17, 24", "[24, 17]", "young", "{1, 2}", "", "nan", "[1, 2, 3]", "inf", '"17'])
def test_a_text_that_means_nothing_is_named_with_its_column(text: str) -> None:
    with pytest.raises(DiscreetError, match="column 'age'") as caught:
        parse(Attribute("age", "quasi", "numeric", domain=(0, 99)), ["17", text])
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    "text", ["Sales", '"clerk', "{clerk, nobody}", "{clerk", '{"clerk" farmer}', "[clerk, farmer]"]
)
def test_a_label_that_means_nothing_is_named_with_its_column(text: str) -> None:
    with pytest.raises(DiscreetError, match="column 'job'"):
        parse(Attribute("job", "quasi", "categorical", hierarchy=TREE), [text])


def test_missing_numbers_alone_and_among_others() -> None:
    column = Column("age", "numeric", np.array([0, 0, 0, 1, 1, 2], np.int32), np.array([math.nan, 17, 24]), missing=0)
    release = publish(Table(6, (column,), None), [0, 0, 1, 1, 2, 2])
    assert {release.description(group)["age"] for group in range(3)} == {"(missing)", "*", "[17, 24]"}


def test_labels_for_numbers_and_sets_for_categories() -> None:
    ages = Hierarchy.of("age", {"intervals": {"widths": [10]}}, ["17", "18", "23"])
    age = Column("age", "numeric", np.array([0, 1, 2, 2], np.int32), np.array([17, 18, 23]), ages, (17, 23))
    job = Column("job", "categorical", np.array([0, 2, 5, 5], np.int32), objects(TREE.leaves), TREE)
    table = Table(4, (age, job), None)
    labelled = publish(table, [0, 0, 1, 1], values="label")
    assert sorted(labelled.texts[0].texts) == ["10 to 19", "23"]
    assert sorted(labelled.texts[1].texts) == ["*", "astronaut"]
    sets = publish(table, [0, 0, 1, 1], values="set")
    assert sorted(sets.texts[0].texts) == ["23", "[17, 18]"]
    assert sorted(sets.texts[1].texts) == ["astronaut", "{clerk, farmer}"]


# -------------------------------------------------------------------------------------------------------------- files


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.sampled_from(["csv", "parquet"]),
    st.sampled_from(["interval", "label", "set"]),
    st.sampled_from(["categorical", "numeric", "ordinal", "none"]),
)
def test_a_loaded_release_answers_like_the_one_that_was_saved(
    tmp_path_factory: pytest.TempPathFactory, seed: int, format: Any, values: Any, sensitive: str
) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(1, 40)), sensitive)
    made = publish(table, random_groups(rng, table), values=values, seeded=rng)
    folder = tmp_path_factory.mktemp("release") / "out"
    made.save(folder, format)
    found = load(folder)
    assert found.faults == ()
    assert {**found.manifest, "tables": {}} == made.manifest
    assert [str(value) for value in found.values] == [str(value) for value in made.values]
    assert found.counts.matrix().tolist() == made.counts.matrix().tolist()
    assert found.sizes.tolist() == made.sizes.tolist()
    assert (found.groups, found.rows, found.withheld) == (made.groups, made.rows, made.withheld)
    for group in range(made.groups):
        assert found.description(group) == made.description(group)
    points = {column.name: original_values(column) for column in table.quasi}
    np.testing.assert_array_equal(found.beliefs(points), made.beliefs(points))
    # every original row that was published lies in the description of its group; ordered values in no cell have no name
    # in the release, and their place is known to who has the original
    assert made.trace is not None
    believed = made.revealed(table).beliefs(points)
    for row in np.flatnonzero(made.trace >= 0):
        value = 0 if not made.sensitive else _place(made.values, table, int(row))
        assert believed[row, value] > 0


def _place(values: Any, table: Table, row: int) -> int:
    assert table.sensitive_attribute is not None
    wanted = table.sensitive_attribute.values[table.sensitive_attribute.codes[row]]
    if wanted != wanted:
        return 0
    return [value if isinstance(value, str) else float(value) for value in values].index(wanted)


def test_rows_are_published_as_they_were(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = random_table(rng, 30, "categorical")
    release = publish(table, np.arange(30) // 5)
    release.save(tmp_path / "out")
    with (tmp_path / "out" / "table.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert release.trace is not None and table.sensitive_attribute is not None
    extra = [column for column in (table.sensitive_attribute, *table.other)]
    want = sorted((int(release.trace[row]), *(str(c.values[c.codes[row]]) for c in extra)) for row in range(30))
    assert sorted((int(line["group"]), *(line[c.name] for c in extra)) for line in lines) == want


@pytest.mark.parametrize("number", [1, 256, 257, 512, 1 << 16, (1 << 16) + 1])
def test_codes_survive_being_read_from_little_memory(number: int) -> None:
    codes = np.arange(number, dtype=np.int32)
    assert (narrow(codes, number)[codes[::-1]] == codes[::-1]).all()


def test_order_and_numbers_carry_nothing() -> None:
    table = random_table(np.random.default_rng(1), 400)
    groups = np.arange(400) // 4
    one, other = publish(table, groups), publish(table, 99 - groups)
    assert one.trace is not None and other.trace is not None
    # but for groups that are alike
    assert np.mean(one.trace == other.trace) > 0.9
    assert sorted(set(one.trace.tolist())) == list(range(100))
    assert one.group_of.tolist() == sorted(one.group_of.tolist())
    assert one.tables(False)["table"].to_pylist() == other.tables(False)["table"].to_pylist()
    assert publish(table, groups, seeded=np.random.default_rng(3)).manifest["experimental_seed"] is True
    assert "experimental_seed" not in one.manifest


def test_the_manifest_says_what_the_design_says_and_nothing_more(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(2), 30, missing=False)
    release = GeneralizedRelease.from_groups(
        table,
        np.repeat(np.arange(5, dtype=np.int32), 6),
        promise=KAnonymity(5) & BetaLikeness(9),
        scheme="mondrian",
        options={"loss": "ail", "random_state": 42},
    )
    release.save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert " ".join(manifest) == (
        "discreet format format_version scheme promise attributes rows groups tables assumptions"
    )
    assert manifest["scheme"] == {"name": "mondrian", "options": {"loss": "ail"}}
    assert manifest["promise"] == ["k-anonymity(k=5)", "beta-likeness(beta=9)"]
    assert manifest["rows"] == {"published": 30, "withheld": 0}
    assert manifest["attributes"][0] == {
        "name": "age",
        "role": "quasi",
        "kind": "numeric",
        "domain": [20, 40],
        "declared": True,
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "release.json", "table.csv"]


def test_values_of_withheld_rows_do_not_appear_in_the_manifest() -> None:
    age = Column("age", "numeric", np.array([0, 1, 2, 3], np.int32), np.array([17, 20, 30, 111]))
    city = Column(
        "city",
        "categorical",
        np.array([0, 1, 1, 2], np.int32),
        objects("abz"),
        Hierarchy.flat("city", ["a", "b", "z"]),
    )
    release = publish(Table(4, (age, city), None), [0, 0, 0, -1])
    assert release.manifest["attributes"][0]["domain"] == [17, 30]
    assert release.manifest["attributes"][1]["hierarchy"] == [2]  # without z, and no cell names a or b
    assert release.withheld == 1


def test_parquet_lists_only_values_that_occur(tmp_path: Path) -> None:
    names = ("a", "b", "never")
    sensitive_attribute = Column(
        "s", "categorical", np.array([0, 1], np.int32), objects(names), Hierarchy.flat("s", names)
    )
    age = Column("age", "numeric", np.array([0, 1], np.int32), np.array([1, 2]))
    publish(Table(2, (age,), sensitive_attribute), [0, 0]).save(tmp_path / "out", "parquet")
    assert b"never" not in (tmp_path / "out" / "table.parquet").read_bytes()
    assert not (pq.read_schema(tmp_path / "out" / "table.parquet").metadata or {})


def test_saving_refuses_to_overwrite_and_force_replaces(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(3), 20)
    release = publish(table, np.arange(20) // 5)
    folder = tmp_path / "deep" / "out"
    release.save(folder)
    with pytest.raises(DiscreetError, match="not empty"):
        release.save(folder)
    publish(table, np.arange(20) // 10).save(folder, "parquet", force=True)
    assert load(folder).groups == 2
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "release.json", "table.parquet"]
    assert [path.name for path in folder.parent.iterdir()] == ["out"]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(DiscreetError, match="holds no release"):
        release.save(tmp_path / "home", force=True)
    with pytest.raises(DiscreetError, match="is a file"):
        release.save(tmp_path / "home" / "letter.txt", force=True)
    (folder / "notes.txt").write_text("years of work")
    with pytest.raises(DiscreetError, match=r"holds 'notes\.txt', which is no part of the release"):
        release.save(folder, force=True)
    assert (folder / "notes.txt").read_text() == "years of work" and load(folder).groups == 2
    (folder / "notes.txt").unlink()
    (folder / "release.json").write_text("{")
    with pytest.raises(DiscreetError, match=r"holds 'table\.parquet'"):
        release.save(folder, force=True)
    (tmp_path / "empty").mkdir()
    release.save(tmp_path / "empty")
    assert load(tmp_path / "empty").groups == 4


@pytest.mark.parametrize("name", ["thesis.csv", "thesis.docx"])
@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_force_replaces_only_what_was_written_by_a_release(tmp_path: Path, name: str, kind: str) -> None:
    """A manifest may name anything as a table; what no release writes is not lost for it."""
    release = publish(random_table(np.random.default_rng(3), 20), np.arange(20) // 5)
    folder, treasure = release.save(tmp_path / "out"), tmp_path / "out" / name
    manifest = json.loads((folder / "release.json").read_text())
    manifest["tables"][name] = {"sha256": "0" * 64}
    (folder / "release.json").write_text(json.dumps(manifest))
    if kind == "folder":
        treasure.mkdir()
    elif kind == "link":
        treasure.symlink_to(tmp_path)
    else:
        treasure.write_text("years of work")
    if (name, kind) == ("thesis.csv", "file"):  # as far as anybody can tell, a table of a damaged release
        assert release.save(folder, force=True) == folder and not treasure.exists()
        return
    with pytest.raises(DiscreetError, match=f"holds '{name}', which is no part of the release in it"):
        release.save(folder, force=True)
    assert treasure.exists()


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(np.random.default_rng(4), 20)
    publish(table, np.arange(20) // 5).save(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_manifest", full)
        with pytest.raises(DiscreetError, match="No space left"):
            publish(table, np.arange(20) // 10).save(tmp_path / "out", force=True)
        with pytest.raises(DiscreetError, match="No space left"):
            publish(table, np.arange(20) // 10).save(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before

    def stuck(*_: Any) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(placing, "exchanged", stuck)
    with pytest.raises(DiscreetError, match="Permission denied"):
        publish(table, np.arange(20) // 10).save(tmp_path / "out", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match=r"no release\.json"):
        load(tmp_path)
    table = random_table(np.random.default_rng(6), 12)
    publish(table, np.arange(12) // 4).save(tmp_path / "out")
    path = tmp_path / "out" / "release.json"
    good = json.loads(path.read_text())

    def refuses(change: dict[str, Any], match: str) -> None:
        path.write_text(json.dumps({**good, **change}))
        with pytest.raises(DiscreetError, match=match):
            load(tmp_path / "out")

    refuses({"format_version": 2}, "format version 2")
    refuses({"format": "sonnet"}, "sonnet")
    refuses({"attributes": None}, "attributes")
    refuses({"attributes": [{"name": "age"}]}, "cannot be understood")
    refuses({"attributes": good["attributes"][1:]}, "has the columns")
    refuses({"attributes": good["attributes"][::-1]}, "each attribute once")
    refuses({"tables": {"../table.csv": {}}}, "not the plain name of a file in its folder")
    refuses({"tables": {"other.csv": {}}}, "must name one table")
    refuses({"rows": {"published": "many"}}, "how many rows")
    path.write_text("{")
    with pytest.raises(DiscreetError, match="not valid JSON"):
        load(tmp_path / "out")
    path.write_text(json.dumps(good))
    (tmp_path / "out" / "table.csv").unlink()
    with pytest.raises(DiscreetError, match="is missing"):
        load(tmp_path / "out")


def test_partitions_that_cannot_be_published(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(7), 6)
    with pytest.raises(DiscreetError, match="every row is withheld"):
        publish(table, [-1] * 6)
    with pytest.raises(DiscreetError, match="one group number"):
        publish(table, [0])
    with pytest.raises(DiscreetError, match="interval, label or set"):
        publish(table, [0] * 6, values="loose")
    with pytest.raises(DiscreetError, match="csv or parquet"):
        publish(table, [0] * 6).save(tmp_path / "x", "xml")  # type: ignore[arg-type]
    group = Column("group", "numeric", np.zeros(2, np.int32), np.array([1]))
    with pytest.raises(DiscreetError, match="'group'"):
        publish(Table(2, (group,), None), [0, 0])
    age = Column("age", "numeric", np.zeros(2, np.int32), np.array([1]))
    with pytest.raises(DiscreetError, match="missing values"):
        publish(Table(2, (age,), None, unusable=np.array([1])), [0, 0])


def test_the_trace_is_written_outside_of_releases(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(8), 6)
    release = publish(table, [0, 0, 0, 4, 4, -1])
    release.save(tmp_path / "out")
    with pytest.raises(DiscreetError, match="inside a release"):
        write_trace(release, tmp_path / "out" / "trace.csv")
    write_trace(release, tmp_path / "trace.csv")
    lines = (tmp_path / "trace.csv").read_text().splitlines()
    assert lines[0] == "row,group"
    assert lines[-1] == "5,"
    with pytest.raises(DiscreetError, match="no trace"):
        write_trace(load(tmp_path / "out"), tmp_path / "trace.csv")


# ------------------------------------------------------------------------------------------------------------ beliefs


@given(st.integers(0, 10**6), st.sampled_from(["interval", "set"]))
def test_beliefs_are_those_of_all_boxes_that_hold_a_point(seed: int, values: Any) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(2, 60)), missing=False)
    groups = random_groups(rng, table)
    release = publish(table, groups, values=values)
    assert release.trace is not None
    boxes = []
    for group in range(release.groups):
        box: list[naive.Interval] = []
        for column in table.quasi:
            codes = column.codes[release.trace == group]
            low, high = int(codes.min()), int(codes.max())
            if column.kind == "categorical" and values == "set":
                box.append((low, high, frozenset(codes.tolist())))
            elif column.kind == "categorical" and column.name == "job":
                level, node = (int(one) for one in TREE.lca(low, high))
                leaves = np.flatnonzero(TREE.ancestors[level] == node)
                box.append((int(leaves[0]), int(leaves[-1]), None))
            elif column.kind == "categorical" and low < high:
                box.append((0, len(column.values) - 1, None))
            elif column.kind == "ordinal" and not column.declared_values:
                # of a value that no published row shows nobody is told where in the order it stands, and of one that
                # no cell names only if the order of those that are named tells
                attribute = next(each for each in release.quasi if each.name == column.name)
                placed = {*attribute.values, *attribute.stand_ins(column.texts)}
                shown = set(column.codes[release.trace >= 0].tolist())
                box.append((low, high, frozenset(code for code in shown if column.texts[code] in placed)))
            else:
                box.append((low, high, None))
        boxes.append(box)
    believed = release.beliefs({column.name: original_values(column) for column in table.quasi})
    counts = release.counts.matrix().tolist()
    for row in range(table.rows):
        mixture = naive.mixture(boxes, counts, [int(column.codes[row]) for column in table.quasi])
        if sum(mixture):
            np.testing.assert_allclose(believed[row], np.array(mixture) / sum(mixture))
        else:
            assert np.isnan(believed[row]).all()


def test_whom_no_group_admits_was_withheld() -> None:
    age = Column("age", "numeric", np.array([0, 0, 1, 2], np.int32), np.array([20, 30, 90]))
    sensitive_attribute = Column(
        "s", "categorical", np.array([0, 1, 1, 0], np.int32), objects("ab"), Hierarchy.flat("s", "ab")
    )
    release = publish(Table(4, (age,), sensitive_attribute), [0, 0, -1, -1])
    assert np.isnan(release.beliefs({"age": [30]})).all()
    assert release.beliefs({"age": [20, 30, math.nan]}, withheld=[1, 3]).tolist() == [
        [0.5, 0.5],
        [0.25, 0.75],
        [0.25, 0.75],
    ]
    with pytest.raises(DiscreetError, match="'age'"):
        release.beliefs({"sex": ["m"]})


def test_tables_need_no_argument_and_a_trace_no_inner_module(tmp_path: Path) -> None:
    release = dc.publish(patients(), dc.KAnonymity(4))
    assert release.tables().keys() == release.tables(numbers=True).keys() == {"table"}
    assert release.tables()["table"].equals(release.tables(numbers=True)["table"])
    path = dc.write_trace(release, tmp_path / "private.csv")
    assert path.read_text().startswith("row,group\n")


@pytest.mark.parametrize("format", sorted(FORMATS.built_in))
def test_no_format_needs_to_be_told_how_its_tables_are_typed(format: str) -> None:
    asked = inspect.signature(FORMATS[format].release.tables).parameters["numbers"]
    assert asked.default is True
