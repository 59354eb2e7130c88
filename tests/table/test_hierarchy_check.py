"""The checker of hierarchies: it finds what reading would refuse, all of it at once, and draws what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.command.hierarchy import LINES, drawn
from discreet.table.hierarchy_check import outline
from discreet.table.hierarchy_faults import all_faults

CELLS = st.sampled_from(["a", "b", "c", "d", "e", " ", "*", "(missing)", "(not named)"])
TABLE = {"city": ["Lyon", "Nice", "Bonn", "Lyon", None], "s": ["t"] * 5}


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4).map(tuple), max_size=6))
def test_faults_are_found_where_reading_refuses_and_only_there(rows: list[tuple[str, ...]]) -> None:
    """Reading stops at the first of them, and says the same of it."""
    found = [fault.sentence for fault in all_faults("x", rows)]
    try:
        dc.Hierarchy.from_rows("x", rows)
    except dc.DiscreetError as fault:
        assert found[0] == str(fault)
    else:
        assert found == []


def checked(tmp_path: Path, text: str, column: str | None = None, name: str = "city.csv") -> Any:
    (tmp_path / name).write_text(text, encoding="utf-8")
    beside = () if column is None else (pa.table(TABLE), column)
    return dc.check_hierarchy(tmp_path / name, *beside)


SOUND = "Lyon,South,France\nNice,South,France\nBonn,West,Germany\n"


@pytest.mark.parametrize(
    ("text", "sort", "words"),
    [
        ("", "no leaves", "has no leaves"),
        ("city,region,state\n" + SOUND, "header", "looks like a header"),
        (SOUND + "Ulm,,Germany\n", "blank label", "level 1 of the leaf 'Ulm' (row 4)"),
        (SOUND + "Ulm,Germany\n", "unequal depth", "'Ulm' (row 4) has 2 levels where 'Lyon' has 3"),
        (SOUND + "Lyon,South,France\n", "duplicate leaf", "'Lyon' (rows 1 and 4); keep"),
        (SOUND + "Lyon,West,Germany\n", "duplicate leaf", "two parents 'South' and 'West'"),
        (SOUND + "Ulm,South,Germany\n", "two parents", "'South' (level 1) two parents, 'France' and 'Germany'"),
        (SOUND + "Ulm,Lyon,Germany\n", "same label", "'Lyon' for two different sets"),
        (SOUND + "Paris,Paris2,Paris\nUlm,Paris,Paris2\n", "cycle", "is its own ancestor"),
        (SOUND + "Ulm,(not named),Germany\n", "reserved label", "stands for"),
        (SOUND + "Ulm,(missing),Germany\n", "reserved label", "says in a release that a value is missing"),
    ],
)
def test_every_fault_has_its_sentence(tmp_path: Path, text: str, sort: str, words: str) -> None:
    found = checked(tmp_path, text).faults
    assert {fault.sort for fault in found} == {sort} and words in found[0].sentence
    with pytest.raises(dc.DiscreetError) as refused:
        dc.Hierarchy.of("city", tmp_path / "city.csv")
    assert str(refused.value) == found[0].sentence


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    text = "city,region,state\nLyon,South,France\nLyon,West,Germany\nUlm\nJena, ,Germany\nKiel,West,Denmark\n"
    examined = checked(tmp_path, text, "city")
    sorts = [fault.sort for fault in examined.faults]
    assert sorts == ["header", "unequal depth", "blank label", "duplicate leaf", "two parents", *["missing leaf"] * 2]
    assert "(row 4)" in examined.faults[1].sentence, "as the lines of the file are counted"
    assert not examined.usable and examined.tree is None


def test_values_that_are_no_leaves_are_named_with_their_rows(tmp_path: Path) -> None:
    found = checked(tmp_path, "Kiel,Bonn\nJena,East\n", "city").faults
    assert [fault.label for fault in found] == ["Lyon", "Nice", "Bonn"]
    assert "'Lyon' in row 1 and 1 more, which is not a leaf" in found[0].sentence
    assert "'Bonn' in row 3, which is a label of its hierarchy and not one of its leaves" in found[2].sentence


def test_what_is_odd_but_sound_is_remarked_upon(tmp_path: Path) -> None:
    examined = checked(tmp_path, "Lyon,A,X\nNice,B,X\nBonn,C,Y\nUlm,D,Y\n", "city")
    assert examined.usable and len(examined.remarks) == 2
    assert "level 1 groups exactly as the leaves" in examined.remarks[0]
    (remark,) = checked(tmp_path, "a," * 9 + "b\n").remarks
    assert remark.startswith("levels 1, 2, 3, 4, 5 and 3 more group exactly")
    assert "1 leaf does not stand in column 'city': 'Ulm'" in examined.remarks[1]
    (remark,) = checked(tmp_path, "leaf,region\nLyon,France\nNice,France\n", name="x.csv").remarks
    assert "may be a header" in remark
    assert checked(tmp_path, "Lyon,France\nNice,France\nBonn,Germany\n", "city").remarks == ()


def test_recipes_are_drawn_beside_a_column_only(tmp_path: Path) -> None:
    recipe = "[prefix]\nkeep = [1]\n"
    alone = checked(tmp_path, recipe, name="city.toml")
    assert alone.usable and alone.tree is None and "name a table" in alone.remarks[0]
    beside = checked(tmp_path, recipe, "city", "city.toml")
    assert [node.label for node in beside.nodes] == ["*", "B***", "Bonn", "L***", "Lyon", "N***", "Nice"]
    assert "groups exactly" in beside.remarks[0]
    for wrong in ("[prefix]\nkeep = [1, 2]\n", "[intervals]\nwidths = [5, 7]\n", "[prefix]\nkeep = 3\n"):
        with pytest.raises(dc.DiscreetError):
            checked(tmp_path, wrong, name="city.toml")
    with pytest.raises(dc.DiscreetError, match="cannot hold the value"):
        checked(tmp_path, "[intervals]\n", "city", "city.toml")


def test_a_tree_in_toml_is_checked_as_well(tmp_path: Path) -> None:
    assert checked(tmp_path, 'France = ["Lyon", "Nice"]\nGermany = ["Bonn"]\n', "city", "city.toml").usable
    found = checked(tmp_path, 'France = ["Lyon"]\nGermany = ["Lyon"]\n', "city", "city.toml").faults
    assert [fault.sort for fault in found] == ["duplicate leaf", "missing leaf", "missing leaf"]


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dc.DiscreetError, match="give both, or neither"):
        dc.check_hierarchy(tmp_path / "city.csv", pa.table(TABLE))


def test_the_outline_counts_leaves_and_rows(tmp_path: Path) -> None:
    nodes = checked(tmp_path, SOUND, "city").nodes
    assert [(node.label, node.depth, node.leaves, node.rows) for node in nodes] == [
        ("*", 0, 3, 4),
        ("France", 1, 2, 3),
        ("South", 2, 2, 3),
        ("Lyon", 3, 1, 2),
        ("Nice", 3, 1, 1),
        ("Germany", 1, 1, 1),
        ("West", 2, 1, 1),
        ("Bonn", 3, 1, 1),
    ]
    listed = checked(tmp_path, SOUND + "(missing),(missing),(missing)\n", "city").nodes
    assert listed[0].rows == 5 and listed[-1] == ("(missing)", 1, 1, 1, True)


@given(st.integers(1, 400), st.integers(2, 30))
def test_drawings_stay_short(leaves: int, below: int) -> None:
    rows = [(f"v{at}", f"g{at // below}", f"h{at // below // 3}") for at in range(leaves)]
    lines = list(drawn(list(outline(dc.Hierarchy.from_rows("x", rows)))))
    assert len(lines) <= LINES + 2 * 10 + 2 and lines[0][1] == (leaves if leaves > 1 else lines[0][1])
