"""Every release is written in an order that follows from what it publishes, and from nothing else.

The order is computed from shuffled files by the oracle (``naive.canonical``), which reads texts and the manifest alone.
Equal content makes equal bytes: in whatever order rows were given, and whatever numbers their groups had.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.families.privbayes.release import Privacy
from discreet.families.randomised.release.coin import Coin
from discreet.families.randomised.release.matrix import Matrix
from discreet.releases.canonical import Lines, content_ranks, group_numbers, line_order
from discreet.releases.release import Release
from discreet.schemes import SCHEMES
from discreet.table.table import Column, Table
from naive.canonical import in_order
from support.one_of_each import OPTIONS, PROMISES, people
from support.tampering import Folder, altered, shuffled

HOW: dict[str, Any] = {"promise": dc.KAnonymity(1), "scheme": "by-hand"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --------------------------------------------------------------------------------------------------------- all schemes


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_files_are_in_the_order_that_anybody_can_compute_from_shuffled_ones(tmp_path: Path, name: str) -> None:
    table = people(keep=name not in ("ambiguity", "privbayes"))
    release = dc.publish(table, PROMISES[name], SCHEMES[name](**OPTIONS.get(name, {})))
    home = release.save(tmp_path / "release")
    folder = Folder(home)
    shuffle = altered(home, tmp_path / "shuffled", shuffled())
    found = Folder(shuffle)
    assert found.tables != folder.tables
    assert in_order(found.tables, found.manifest) == folder.tables
    # the same by the library, from the files and from memory
    assert release.in_order() is release
    assert dc.load(home).in_order().tables(numbers=False) == dc.load(home).tables(numbers=False)
    for format in ("csv", "parquet"):
        again = dc.load(shuffle).in_order().save(tmp_path / "again", format, force=True)
        release.save(tmp_path / "before", format, force=True)
        tables = {file: data for file, data in contents(again).items() if file != "release.json"}
        assert tables == {file: data for file, data in contents(tmp_path / "before").items() if file != "release.json"}


# --------------------------------------------------------------------------------------------------------- all formats


def random_table(rng: np.random.Generator, rows: int) -> Table:
    """Few values of every kind, so that many rows, and many groups, are equal."""
    data = {
        "age": rng.choice([2, 10, 30], rows),
        "size": rng.choice(["small", "large"], rows),
        "job": rng.choice(["b", "a", "Z"], rows),
        "pay": rng.choice([5, 50, 100], rows),
        "note": rng.choice(["x", "10", "9"], rows),
    }
    return dc.read(
        pa.table(data),
        quasi=["age", "size", "job"],
        sensitive="pay",
        keep=["note"],
        ordinal={"size": ["small", "medium", "large"]},
    )


def arranged(table: Table, rows: NDArray[np.int64]) -> Table:
    """The same table with its rows in another order."""

    def column(one: Column) -> Column:
        return replace(one, codes=one.codes[rows])

    return replace(
        table,
        quasi=tuple(map(column, table.quasi)),
        sensitive=tuple(map(column, table.sensitive)),
        other=tuple(map(column, table.other)),
    )


Maker = Callable[[Table, NDArray[Any], NDArray[Any]], Release]
"""Makes a release of a table, the groups of its rows, and an arbitrary order of the groups."""


def relabelled(groups: NDArray[Any], ids: NDArray[Any]) -> NDArray[np.int32]:
    return np.append(ids, -1)[groups].astype(np.int32)


def sealed(kind: Any) -> Maker:
    return lambda table, groups, ids: kind.from_seal(
        table, relabelled(groups, ids), np.take(np.arange(len(ids)) % 2 / 4.0, np.argsort(ids)), **HOW
    )


def nested(kind: Any) -> Maker:
    """Groups hang on half as many, and these on half as many again; every row of even pay is lifted."""
    return lambda table, groups, ids: hung(kind, table, groups, ids)


def hung(kind: Any, table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    parents = np.array([-1 if group < 2 else group // 2 for group in range(len(ids))])
    parents[0] = -1
    lift = table.sensitive_codes == 0
    nodes = np.where(lift & (groups >= 2), parents[groups], groups)
    above = np.empty_like(parents)
    above[ids] = np.append(ids, -1)[parents]
    release: Release = kind.from_tree(table, above, relabelled(groups, ids), relabelled(nodes, ids), **HOW)
    return release


def matched(table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    return dc.MatchedRelease.from_groups(table, relabelled(groups, ids), **HOW)


def perturbed(table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    width = int((table.prior_counts > 0).sum())
    matrix = Matrix.from_texts([["1.0" if line == at else "0.0" for at in range(width)] for line in range(width)])
    return dc.PerturbedRelease.from_draws(table, np.where(groups < 0, -1, table.sensitive_codes), matrix, **HOW)


def retained(table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    coin = Coin(0.5, np.ones(int((table.prior_counts > 0).sum())))
    return dc.RetainedRelease.from_draws(table, np.where(groups < 0, -1, table.sensitive_codes), coin, "uniform", **HOW)


def synthetic(table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    how = {**HOW, "promise": dc.DifferentialPrivacy(1)}
    return dc.SyntheticRelease.of_rows(replace(table, other=()), Privacy(1.0, "observed"), **how)


def projected(table: Table, groups: NDArray[Any], ids: NDArray[Any]) -> Release:
    ward = replace(table.other[0], name="ward")
    parts = [
        dc.AnatomyRelease.from_groups(table, relabelled(groups, ids), **HOW),
        dc.GeneralizedRelease.from_groups(replace(table, sensitive=(ward,), other=()), groups // 2, **HOW),
    ]
    return dc.ProjectedRelease.from_parts(parts, **HOW)


MAKERS: dict[str, Maker] = {
    "generalized": lambda table, groups, ids: dc.GeneralizedRelease.from_groups(table, relabelled(groups, ids), **HOW),
    "sets": lambda table, groups, ids: dc.GeneralizedRelease.from_groups(
        table, relabelled(groups, ids), values="set", **HOW
    ),
    "anatomy": lambda table, groups, ids: dc.AnatomyRelease.from_groups(table, relabelled(groups, ids), **HOW),
    "ambiguous": lambda table, groups, ids: dc.AmbiguousRelease.from_groups(
        replace(table, other=()), relabelled(groups, ids), blocks=[["age", "job"]], **HOW
    ),
    "sealed": sealed(dc.SealedRelease),
    "mirrored": sealed(dc.MirroredRelease),
    "sealed-exact": sealed(dc.SealedExactRelease),
    "mirrored-exact": sealed(dc.MirroredExactRelease),
    "nested": nested(dc.NestedRelease),
    "nested-exact": nested(dc.NestedExactRelease),
    "matched": matched,
    "perturbed": perturbed,
    "retained": retained,
    "synthetic": synthetic,
    "projected": projected,
}


def test_every_format_is_made() -> None:
    assert set(dc.releases.FORMATS) <= set(MAKERS)


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_equal_content_makes_equal_bytes(tmp_path: Path, format: str) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows, number = int(rng.integers(4, 40)), int(rng.integers(1, 9))
        table = random_table(rng, rows)
        groups = rng.integers(-1 if seed % 2 else 0, number, rows)
        if format != "synthetic":
            groups[:number] = np.arange(min(rows, number))  # no group is empty
        else:
            groups = np.maximum(groups, 0)
        if format in ("projected", "nested", "nested-exact"):
            groups = np.where(groups < 0, 0, groups)
        release = MAKERS[format](table, groups, np.arange(number))
        order, ids = rng.permutation(rows), rng.permutation(number)
        other = MAKERS[format](arranged(table, order), groups[order], ids)
        for file in ("csv", "parquet"):
            one, two = (made.save(tmp_path / name, file, force=True) for name, made in (("1", release), ("2", other)))
            assert contents(one) == contents(two)
        # by the definition, from files in another order
        home = release.save(tmp_path / "1", force=True)
        found = Folder(home)
        shuffled(seed=seed)(found)
        assert in_order(found.tables, found.manifest) == Folder(home).tables
        # the trace knows the numbers: it explains the files
        if release.of_people and format not in ("perturbed", "retained"):
            check = next(
                one for one in dc.audit(home, audited(table, format), release.trace).checks if one.name == "support"
            )
            assert check.holds, check.sentence


def audited(table: Table, format: str) -> Table:
    """The table as the audit of a format needs it."""
    if format == "ambiguous":
        return replace(table, other=())
    if format == "projected":
        return replace(table, sensitive=(*table.sensitive, replace(table.other[0], name="ward")))
    return table


# ------------------------------------------------------------------------------------------------------------- pieces


def test_ranks_are_those_of_lists() -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        number, rows = int(rng.integers(1, 12)), int(rng.integers(0, 60))
        contents: list[Any] = []
        lists: list[list[Any]] = [[] for _ in range(number)]
        for _ in range(int(rng.integers(1, 4))):
            if rng.random() < 0.4:
                values = rng.choice([0.0, 0.5, 3.0], number)
                contents.append(values)
                for at, value in enumerate(values.tolist()):
                    lists[at].append(value)
            else:
                lines = Lines(rng.integers(0, number, rows), rng.integers(0, 3, rows))
                contents.append(lines)
                for at in range(number):
                    lists[at].append(sorted(lines.keys[lines.groups == at].tolist()))
        distinct = [content for at, content in enumerate(sorted(lists)) if not at or content != sorted(lists)[at - 1]]
        ranks = content_ranks(number, contents)
        assert ranks.tolist() == [distinct.index(content) for content in lists]
        assert group_numbers(ranks).tolist() == np.argsort(np.argsort(ranks, kind="stable")).tolist()


def test_lines_are_sorted_by_group_and_key() -> None:
    for largest in (3, 1 << 40, 1 << 61):
        rng = np.random.default_rng(0)
        groups, keys = rng.integers(0, 40, 500), rng.integers(0, largest, 500)
        order = line_order(groups, keys)
        assert order is not None
        both = list(zip(groups[order].tolist(), keys[order].tolist(), strict=True))
        assert both == sorted(zip(groups.tolist(), keys.tolist(), strict=True))
        assert line_order(groups[order], keys[order]) is None
