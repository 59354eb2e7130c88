"""What every release says of itself: the order of its lines and the numbers of its groups carry no information.

Read from the published files alone. The input is in an order that tells much, and so would lines, or groups, in any
order that follows from it. In a random order of n lines, the rank correlation of a column with the number of the line
has mean 0 and variance 1 / (n - 1), and that of a column with the same column one line further down mean -1 / (n - 1)
and variance about 1 / n; the first finds lines that are sorted by anything, the second lines that belong together and
stand together. Both are nearly normal. About 200 are looked at, and all must be within 6 standard deviations, which a
random order fails less than once in a million runs. The lines of some tables stand in the order of what they say, and
that must be all that decides it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata

import discreet as dc
from discreet.releases import partition
from discreet.releases.ambiguous import release as ambiguous
from discreet.releases.anatomy import release as anatomy
from discreet.releases.generalized import release as generalized
from discreet.releases.randomised import base as randomised
from discreet.releases.release import Release
from discreet.schemes import SCHEMES
from support.one_of_each import PROMISES, ROWS, people

LIMIT = 6.0
OF_PEOPLE = [name for name, scheme in SCHEMES.items() if scheme.format.of_people]
"""Schemes whose lines are people's; others draw them one after another, from what is the same for all."""
FIXED = {"prior", "matrix", "sensitive", "nodes", "seal"}
"""Tables whose lines stand in the order of what they say: of groups by their numbers, and of values."""


def publish(name: str) -> Release:
    return dc.publish(people(keep=name != "ambiguity"), PROMISES[name], SCHEMES[name]())


def lines_of(release: Release, folder: Path) -> dict[str, dict[str, list[str]]]:
    """The columns of every published table, as texts."""
    release.save(folder, force=True)
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        found[path.stem] = {name: list(column) for name, column in zip(head, zip(*rows, strict=True), strict=True)}
    return found


def scores(texts: list[str]) -> NDArray[np.float64]:
    """Texts as numbers that are in the same order: the first number that stands in them, or the place of the text."""
    numbers = [re.search(r"\d+", text) for text in texts]
    if all(numbers):
        return np.array([float(number[0]) for number in numbers if number])
    return np.unique(np.array(texts), return_inverse=True)[1].astype(np.float64)


def off(one: NDArray[Any], two: NDArray[Any], mean: float = 0.0) -> float:
    """By how many standard deviations two columns are correlated, one of them being in a random order."""
    if len(one) < 30 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return 0.0
    return float((np.corrcoef(rankdata(one), rankdata(two))[0, 1] - mean) * np.sqrt(len(one) - 1))


def told_by_lines(release: Release, folder: Path) -> Iterator[tuple[str, float]]:
    """What the order of lines tells: about every column of every table, and about those of other tables."""
    found = lines_of(release, folder)
    random = {name: columns for name, columns in found.items() if release.format == "ambiguous" or name not in FIXED}
    for name, columns in random.items():
        for column, texts in columns.items():
            held = scores(texts)
            yield f"{name}: {column} by line", off(held, np.arange(len(held)))
            yield f"{name}: {column} by neighbours", off(held[1:], held[:-1], -1.0 / len(held))
    for one in random:
        for two in random:
            if one < two:
                pair = [scores(random[name]["group"]) for name in (one, two)]
                length = min(map(len, pair))
                yield f"groups of {one} by those of {two}", off(pair[0][:length], pair[1][:length])
    for name in set(found) - set(random):
        if name == "sensitive":
            assert release.format == "anatomy"
            keys = list(zip(*(scores(found[name][column]).tolist() for column in ("group", "pay")), strict=True))
            assert keys == sorted(keys)
        elif name == "nodes":
            assert release.format == "nested"
            assert [int(number) for number in found[name]["group"]] == list(range(len(found[name]["group"])))
        elif name == "seal":
            assert release.format in ("sealed", "mirrored")
            assert [int(number) for number in found[name]["group"]] == list(range(len(found[name]["group"])))
        else:
            assert len(set(found[name][next(iter(found[name]))])) == 12, "one line per value, in their order"


def told_by_groups(release: Any) -> Iterator[tuple[str, float]]:
    """What the numbers of groups tell: about where their rows stood, what these hold, and how many they are."""
    release = release.projections[0]
    if getattr(release, "ids", None) is None or release.trace is None:
        return
    _, trace = np.unique(release.trace, return_inverse=True)  # of a tree it tells the leaves, and not all nodes are
    sizes = np.bincount(trace)
    table = people(keep=False)
    # the first rows of groups: those of a sorted input would come in the order of their groups
    _, first = np.unique(trace, return_index=True)
    known: dict[str, NDArray[Any]] = {"size": sizes, "first row": first}
    for what, of_row in (("input row", np.arange(ROWS)), ("pay", table.classes), ("height", table.quasi[1].codes)):
        known[what] = np.bincount(trace, of_row) / sizes
    for what, held in known.items():
        yield f"groups by {what}", off(held, np.arange(len(held)))
        yield f"groups by the {what} of their neighbours", off(held[1:], held[:-1], -1.0 / len(held))


def worst(told: Iterator[tuple[str, float]]) -> tuple[float, str]:
    return max(((abs(value), what) for what, value in told), default=(0.0, "nothing"))


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_order_and_numbers_tell_nothing(tmp_path: Path, name: str) -> None:
    release = publish(name)
    lines, groups = list(told_by_lines(release, tmp_path / "r")), list(told_by_groups(release))
    assert worst(iter(lines))[0] < LIMIT and worst(iter(groups))[0] < LIMIT, (lines, groups)
    assert sum(value != 0.0 for _, value in lines) >= 6, "what cannot be judged is not judged"
    if name == "baseline":
        assert release.manifest["groups"] == 1
    elif release.format not in ("perturbed", "retained"):
        assert sum(value != 0.0 for _, value in groups) >= 8


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_lines_in_the_order_of_rows_would_be_found(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without any shuffle of lines: the check above would not pass."""
    for module in (generalized, anatomy, ambiguous, randomised):
        shuffle = module.permutation

        def plain(n: int, seeded: Any = None, shuffle: Any = shuffle, module: Any = module) -> NDArray[np.int64]:
            return np.arange(n) if n == ROWS or module is ambiguous else np.asarray(shuffle(n, seeded))

        monkeypatch.setattr(module, "permutation", plain)
    assert worst(told_by_lines(publish(name), tmp_path / "r"))[0] > 2 * LIMIT


@pytest.mark.parametrize("name", ["cuts", "mondrian"])
def test_groups_numbered_as_they_were_made_would_be_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for the numbers of groups, which all formats draw in one place.

    Not for all schemes, as some put groups in a random order themselves.
    """
    shuffle: Any = vars(partition)["permutation"]

    def plain(n: int, seeded: Any = None) -> NDArray[np.int64]:
        return np.asarray(shuffle(n, seeded)) if n == ROWS else np.arange(n)

    monkeypatch.setattr(partition, "permutation", plain)
    assert worst(told_by_groups(publish(name)))[0] > LIMIT
