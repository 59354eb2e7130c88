"""Matched releases: rows under descriptions of their own, their files, losses, estimates and beliefs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.analyst.loss import ail, average_class_size, discernibility, gcp
from discreet.datasets import patients
from discreet.families.heterogeneous.candidates import irregularities, of_groups, published_values
from discreet.table.table import Table

TABLE_1 = [(59, 25), (57, 27), (39, 47), (28, 41), (41, 20), (37, 59), (40, 35), (53, 34)]
CANDIDATES_1 = [(0, 1, 4), (1, 0, 7), (2, 5, 6), (3, 2, 5), (4, 3, 6), (5, 2, 3), (6, 4, 7), (7, 0, 1)]
"""Of the paper's Table 1, each person's own first."""
BOXES_1 = "53-59 25-34, 53-59 25-34, 28-39 41-59, 28-41 20-59, 40-59 20-35, 28-39 41-59, 39-41 20-47, 40-57 27-35"


def assignments(candidates: list[tuple[int, ...]]) -> np.ndarray:
    """The candidates in an order in which every column gives everyone another row, found by trying."""

    def rest(column: list[int], taken: set[int], left: list[set[int]]) -> list[int] | None:
        at = len(column)
        if at == len(left):
            return column
        for row in sorted(left[at] - taken):
            found = rest([*column, row], taken | {row}, left)
            if found:
                return found
        return None

    left = [set(line[1:]) for line in candidates]
    columns = [[line[0] for line in candidates]]
    while left[0]:
        column = rest([], set(), left)
        assert column is not None  # a regular graph always has one more (Theorem 1 of the paper)
        columns.append(column)
        left = [some - {row} for some, row in zip(left, column, strict=True)]
    return np.array(columns).T


def table_1() -> Table:
    ages, salaries = zip(*TABLE_1, strict=True)
    data = pa.table({"age": ages, "salary": salaries, "x": list("abcdefgh")})
    return dc.read(data, quasi=["age", "salary"], sensitive="x")


def released(table: Table, candidates: object, **how: object) -> dc.MatchedRelease:
    return dc.MatchedRelease.from_candidates(table, candidates, promise=dc.LDiversity(2), scheme="by hand", **how)  # type: ignore[arg-type]


def test_table_1_is_published_as_the_paper_prints_it(tmp_path: Path) -> None:
    release = released(table_1(), assignments(CANDIDATES_1))
    folder = release.save(tmp_path / "r")
    loaded = dc.load(folder)
    assert loaded.faults == () and loaded.rows == loaded.groups == 8
    assert release.trace is not None and release.trace.shape == (8, 3)
    printed = []
    for number in release.trace[:, 0].tolist():
        texts = loaded.description(int(np.flatnonzero(loaded.ids == number)[0]))
        printed.append(" ".join(text.strip("[]").replace(", ", "-") for text in texts.values()))
    assert ", ".join(printed) == BOXES_1
    # t0' and t1' look alike, and so do t2' and t5'
    assert discernibility(loaded) == 4 + 4 + 4 and average_class_size(loaded) == 8 / 6
    widths = [[(59 - 53) / 31, (34 - 25) / 39]] * 2 + [[11 / 31, 18 / 39]] * 2
    widths += [[13 / 31, 39 / 39], [19 / 31, 15 / 39], [2 / 31, 27 / 39], [17 / 31, 8 / 39]]
    assert ail(loaded) == gcp(loaded) == pytest.approx(np.mean(widths))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_are_the_same_when_loaded_and_saved(tmp_path: Path, form: str) -> None:
    table = patients()
    ring = (np.arange(48)[:, None] + np.arange(5)) % 48
    for values in ("interval", "label", "set"):
        release = released(table, ring, values=values)
        release.save(tmp_path / values, form)  # type: ignore[arg-type]
        dc.load(tmp_path / values).save(tmp_path / f"{values} again", form)  # type: ignore[arg-type]
        for path in (tmp_path / values).iterdir():
            assert path.read_bytes() == (tmp_path / f"{values} again" / path.name).read_bytes()


def test_numbers_tell_nothing_about_the_input() -> None:
    table = patients()
    ring = (np.arange(48)[:, None] + np.arange(3)) % 48
    release, moved = released(table, ring), released(table, np.roll(np.arange(48), 5)[ring])
    assert release.trace is not None and sorted(release.trace[:, 0].tolist()) == list(range(48))
    assert release.tables(False)["table"].to_pylist() == moved.tables(False)["table"].to_pylist()


def test_a_partition_is_the_case_in_which_all_of_a_group_match() -> None:
    table = patients()
    groups = np.where(np.arange(48) < 3, -1, np.arange(48) // 10)
    how: dict[str, object] = {"promise": dc.LDiversity(2), "scheme": "by hand"}
    plain = dc.GeneralizedRelease.from_groups(table, groups, **how)  # type: ignore[arg-type]
    matched = dc.MatchedRelease.from_groups(table, groups, **how)  # type: ignore[arg-type]
    assert matched.withheld == 3 and matched.trace is not None and (matched.trace[:3] == -1).all()
    assert ail(matched) == pytest.approx(ail(plain)) and discernibility(matched) == discernibility(plain)
    query = "SELECT COUNT(*) FROM t WHERE age >= 40 AND disease = 'angina'"
    assert matched.estimate(query) == pytest.approx(plain.estimate(query))
    _, counts = published_values(of_groups(groups), table.sensitive_codes[np.argsort(groups, kind="stable")][3:], 6)
    for line, person in zip(counts.matrix(), range(3, 48), strict=True):
        assert line.tolist() == np.bincount(table.sensitive_codes[groups == groups[person]], minlength=6).tolist()


def test_beliefs_count_the_rows_that_admit_a_person_and_estimates_spread_them() -> None:
    table = table_1()
    release = released(table, assignments(CANDIDATES_1))
    values = release.values.tolist()
    for age, salary in TABLE_1:
        admit = []
        for person, box in enumerate(BOXES_1.split(", ")):
            ranges = [tuple(map(int, text.split("-"))) for text in box.split()]
            if all(low <= value <= high for value, (low, high) in zip((age, salary), ranges, strict=True)):
                admit.append("abcdefgh"[person])
        (found,) = release.beliefs({"age": [age], "salary": [salary]})
        assert found.tolist() == [(value in admit) / len(admit) for value in values]
    share = release.estimate("SELECT COUNT(*) FROM t WHERE age <= 30 AND x = 'c'")
    assert share == pytest.approx(3 / 12)  # 28 to 30 of 28 to 39
    cells = release.group_by("SELECT x, COUNT(*) FROM t WHERE age <= 30 GROUP BY x").to_pydict()
    assert cells["x"] == ["c", "d", "f"] and cells["count"] == pytest.approx([3 / 12, 3 / 14, 3 / 12])
    assert (release.presence({"age": [59], "salary": [25]}) > 0).all()


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ([[0], [1]], "a line for each of the 8 rows"),
        (np.zeros(8, int), "a line for each of the 8 rows"),
        (np.zeros((8, 1)), "whole numbers"),
        ([[row + 1] for row in range(8)], "outside -1 to 7"),
        ([[0, 1], [1, 0], [-1, 2], *([row, row] for row in range(5))], "can have no candidates"),
        ([[0], [0], *([row] for row in range(2, 8))], "row 0 is the own one of 2 persons"),
        ([[0, 1], [1, 0], [2, 2], *([row, -1] for row in range(3, 8))], "row 2 is twice a candidate"),
        ([[0, 2], [1, 2], [2, -1], *([row, -1] for row in range(3, 8))], "gives row 2 to several persons"),
        ([[0, 1], [1, 2], [2, -1], *([row, -1] for row in range(3, 8))], "one of whom has 2 candidates"),
    ],
)
def test_what_is_no_regular_graph_is_refused(candidates: object, said: str) -> None:
    with pytest.raises(dc.DiscreetError, match=said):
        released(table_1(), candidates)


def test_regular_graphs_and_others_by_definition() -> None:
    rng = np.random.default_rng(0)
    faulty = 0
    for _ in range(400):
        rows, size = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        columns = [rng.permutation(rows) for _ in range(size)]
        candidates = np.stack(columns, axis=1)
        if rng.random() < 0.5:
            candidates[rng.integers(rows), rng.integers(size)] = rng.integers(-1 if size > 1 else 0, rows)
        if (candidates[:, 0] < 0).any():
            continue
        lines = [[row for row in line if row >= 0] for line in candidates.tolist()]
        held = [sum(row in line for line in lines) for row in range(rows)]
        sound = all(sorted(set(column[column >= 0])) == sorted(column[column >= 0]) for column in candidates.T)
        sound = sound and set(candidates[:, 0].tolist()) == set(range(rows))
        sound = sound and all(len(set(line)) == len(line) for line in lines)
        sound = sound and all(held[row] == len(line) for line in lines for row in line)
        assert (irregularities(candidates, rows, range(rows)) == []) == sound
        faulty += not sound
    assert 50 < faulty < 380


def test_tables_that_cannot_be_matched_are_refused() -> None:
    data = pa.table({"age": [1, 2], "x": ["a", "b"], "y": ["c", "d"], "who": ["p", "p"]})
    both = [[0, 1], [1, 0]]
    with pytest.raises(dc.DiscreetError, match="a matched release needs a sensitive attribute"):
        released(dc.read(data, quasi=["age"]), both)
    with pytest.raises(dc.DiscreetError, match="one sensitive attribute, not x, y"):
        released(dc.read(data, quasi=["age"], sensitive=["x", "y"]), both)
    with pytest.raises(dc.DiscreetError, match="persons with one row each"):
        released(dc.read(data, quasi=["age"], sensitive="x", person="who"), both)
