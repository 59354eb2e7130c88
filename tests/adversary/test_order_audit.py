"""The order of lines and the numbers of groups are audited: what a random order never looks like is found.

Releases are made with the shuffle replaced by a given order; the files are as sound as ever, so that nothing but the
order can tell. Honest releases are found at fault less than once in a million audits, so that none may be here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.adversary import Check
from discreet.adversary.checks import coincidences
from discreet.adversary.checks import permutations as arrangement
from discreet.adversary.checks.coincidences import agreeing, fitting, matches, runs, shifts
from discreet.adversary.checks.permutations import dense, inversions, neighbours, stretches, trend
from discreet.principles import Prior
from discreet.randomness import permutation
from discreet.releases.ambiguous import release as ambiguous
from discreet.releases.anatomy import release as anatomy
from discreet.releases.generalized import release as generalized
from discreet.releases.randomised import base as randomised
from discreet.releases.randomised.perturbed import PerturbedRelease
from discreet.releases.release import Release
from discreet.schemes import SCHEMES
from discreet.schemes.randomised.perturbation import draw
from discreet.table.table import Table
from support.one_of_each import OPTIONS

Order = NDArray[np.int64]
N, GROUPS = 600, 100
PROMISE = dc.KAnonymity(2)


def people(n: int = N, seed: int = 0, by: str | None = None) -> Table:
    """Rows in no order, or in that of a column."""
    rng = np.random.default_rng(seed)
    data = {
        "age": rng.integers(18, 80, n),
        "height": rng.integers(150, 200, n),
        "sex": rng.choice(["f", "m"], n),
        "pay": rng.integers(0, 12, n) * 100,
    }
    rows = np.arange(n) if by is None else np.argsort(data[by], kind="stable")
    return dc.read(
        pa.table({name: values[rows] for name, values in data.items()}),
        quasi=["age", "height", "sex"],
        sensitive="pay",
    )


TABLE = people()
PAY = TABLE.classes.astype(np.int64)
IN_GROUP = np.random.default_rng(1).permutation(N) % GROUPS
"""The group of each row, to begin with."""


def chance() -> np.random.Generator:
    return np.random.default_rng(7)


def riffled(order: Order) -> Order:
    first = chance().random(len(order)) < 0.5
    result = np.empty_like(order)
    result[first], result[~first] = order[: first.sum()], order[first.sum() :]
    return result


def in_blocks(size: int) -> Order:
    blocks = np.arange(N).reshape(-1, size)
    return chance().permutation(blocks).ravel()


def folded() -> Order:
    """First, last, second, last but one, ..."""
    return np.stack([np.arange(N // 2), N - 1 - np.arange(N // 2)], axis=1).ravel()


def half() -> Order:
    order = np.arange(N)
    order[N // 2 :] = chance().permutation(order[N // 2 :])
    return order


def by_group(within: Order) -> Order:
    return np.lexsort((within, chance().permutation(GROUPS)[IN_GROUP]))


ORDERS: dict[str, Callable[[], Order]] = {
    "kept": lambda: np.arange(N),
    "reversed": lambda: np.arange(N)[::-1].copy(),
    "rotated": lambda: np.roll(np.arange(N), N // 2),
    "noise": lambda: np.argsort(np.arange(N) + chance().normal(0, N / 3, N)),
    "even and odd": lambda: np.concatenate([np.arange(0, N, 2), np.arange(1, N, 2)]),
    "riffled": lambda: riffled(np.arange(N)),
    "riffled thrice": lambda: riffled(riffled(riffled(np.arange(N)))),
    "blocks": lambda: in_blocks(50),
    "pairs": lambda: in_blocks(2),
    "folded": folded,
    "half": half,
    "by group, input order": lambda: by_group(np.arange(N)),
    "by group, reversed": lambda: by_group(-np.arange(N)),
    "by group and value": lambda: by_group(PAY),
    "by value": lambda: np.argsort(PAY, kind="stable"),
    "by value, down": lambda: np.argsort(-PAY, kind="stable"),
    "by value, then shuffled somewhat": lambda: np.argsort(PAY + chance().normal(0, 6, N)),
}


def plainly(order: Order | None, ids: Order | None) -> Callable[..., NDArray[np.int64]]:
    """A shuffle that is none: lines in this order, groups under these numbers."""

    def shuffle(n: int, seeded: Any = None) -> NDArray[np.int64]:
        given = order if n == N else ids if n == GROUPS else None
        return permutation(n, seeded) if given is None else np.asarray(given, np.int64)

    return shuffle


def made(format: str, monkeypatch: pytest.MonkeyPatch, order: Order | None = None, ids: Order | None = None) -> Release:
    for module in (generalized, anatomy, randomised):
        monkeypatch.setattr(module, "permutation", plainly(order, ids))
    groups, how = IN_GROUP.astype(np.int32), {"promise": PROMISE, "scheme": "mine"}
    if format == "generalized":
        return generalized.GeneralizedRelease.from_groups(TABLE, groups, **how)
    if format == "anatomy":
        return anatomy.AnatomyRelease.from_groups(TABLE, groups, **how)
    matrix = dc.Perturbation().find(dc.BetaLikeness(1), Prior.of(TABLE))
    return PerturbedRelease.from_draws(TABLE, draw(matrix, TABLE.classes).astype(np.int32), matrix, **how)


def order_check(release: Release, folder: Path, traced: bool, table: Table = TABLE) -> Check:
    release.save(folder, force=True)
    found = dc.audit(folder, table, trace=release.trace if traced else None)
    return next(check for check in found.checks if check.name == "order")


# ------------------------------------------------------------------------------------------------------ altered orders

ONLY_BY_TRACE = {"noise", "riffled", "riffled thrice", "pairs"}
"""Where the rows of the input are in no order themselves, only the trace tells these from lines in no order."""


@pytest.mark.parametrize("traced", [True, False], ids=["trace", "files"])
@pytest.mark.parametrize("format", ["generalized", "anatomy", "perturbed"])
@pytest.mark.parametrize("name", ORDERS)
def test_lines_in_an_order_that_tells_something_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, format: str, traced: bool
) -> None:
    told = "group" not in name if format == "perturbed" else True  # which has no groups
    if format == "generalized" and not traced:
        told = name not in ONLY_BY_TRACE
    check = order_check(made(format, monkeypatch, ORDERS[name]()), tmp_path / "r", traced)
    assert check.holds != told, check.sentence
    assert not told or "by chance that happens less than once in 10^" in check.sentence
    if format == "generalized":
        assert ("may go unnoticed" in check.sentence) == (check.holds and not traced)


def test_the_order_of_a_table_that_was_in_some_order_is_found_without_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = people(by="age")
    for name in ("rotated", "noise", "even and odd", "riffled", "blocks"):
        for module in (generalized, anatomy):
            monkeypatch.setattr(module, "permutation", plainly(ORDERS[name](), None))
        release = dc.publish(table, dc.KAnonymity(5))
        assert not order_check(release, tmp_path / "r", False, table).holds, name


@pytest.mark.parametrize("format", ["generalized", "anatomy"])
def test_numbers_of_groups_by_where_their_rows_stood_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    first = np.unique(IN_GROUP, return_index=True)[1]
    appearing = np.argsort(np.argsort(first))
    means = np.argsort(np.argsort(np.bincount(IN_GROUP, np.arange(N))))
    for ids in (appearing, GROUPS - 1 - appearing, means, (appearing + 40) % GROUPS):
        check = order_check(made(format, monkeypatch, ids=ids), tmp_path / "r", True)
        assert not check.holds and "groups" in check.sentence
    assert not order_check(made("anatomy", monkeypatch, ids=appearing), tmp_path / "r", False).holds


def test_numbers_of_groups_by_what_is_published_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pay = np.bincount(IN_GROUP, PAY)
    for format in ("generalized", "anatomy"):
        release = made(format, monkeypatch, ids=np.argsort(np.argsort(pay, kind="stable")))
        assert order_check(release, tmp_path / "r", True).holds


SMALL = {
    "input": lambda n: np.arange(n),
    "reversed": lambda n: np.arange(n)[::-1].copy(),
    "rotated": lambda n: np.roll(np.arange(n), n // 2),
    "even and odd": lambda n: np.concatenate([np.arange(0, n, 2), np.arange(1, n, 2)]),
}


def few_people(n: int, values: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    data = {
        "age": rng.integers(18, 80, n),
        "height": rng.integers(150, 200, n),
        "sex": rng.choice(["f", "m"], n),
        "pay": rng.integers(0, values, n),
    }
    return dc.read(pa.table(data), quasi=["age", "height", "sex"], sensitive="pay")


@pytest.mark.parametrize(
    ("rows", "values", "promise"),
    [
        (20, 2, "k-anonymity(k=3)"),
        (40, 2, "k-anonymity(k=3)"),
        (40, 4, "beta-likeness(beta=2)"),
        (100, 2, "k-anonymity(k=3)"),
        (300, 2, "k-anonymity(k=3)"),
    ],
)
def test_few_generalized_lines_in_an_order_that_tells_something_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, values: int, promise: str
) -> None:
    for seed in range(3):
        table = few_people(rows, values, seed)
        honest = dc.publish(table, promise, dc.Cuts())
        for traced in (True, False):
            check = order_check(honest, tmp_path / "r", traced, table)
            assert check.holds and "at this size lines in the order of the input" in check.sentence
            assert ("lines sorted by value would not" in check.sentence) == (rows == 20)
        assert honest.trace is not None
        orders = {name: given(rows) for name, given in SMALL.items()}
        orders["by group and value"] = np.lexsort((table.classes, honest.trace))
        for name, order in orders.items():
            with monkeypatch.context() as patched:
                patched.setattr(
                    generalized,
                    "permutation",
                    lambda n, seeded=None, order=order: order if n == len(order) else permutation(n, seeded),
                )
                release = dc.publish(table, promise, dc.Cuts())
            for traced in (True, False):
                # of 20 rows and two values without the trace, too many orders are like some moved input
                told = traced or name != "rotated" or rows > 20
                assert order_check(release, tmp_path / "r", traced, table).holds != told, (name, seed, traced)


# ---------------------------------------------------------------------------------------------- several tables


def lined_up(order: Order, by_groups: bool, seed: int = 3) -> ambiguous.AmbiguousRelease:
    """An ambiguous release whose tables are all in the order in which some order of rows comes upon their lines."""
    release = ambiguous.AmbiguousRelease.from_groups(
        TABLE, IN_GROUP.astype(np.int32), promise=PROMISE, scheme="mine", seeded=np.random.default_rng(seed)
    )
    place = np.argsort(order)
    assert release.trace is not None
    orders = []
    shuffled = np.random.default_rng(seed).permutation(GROUPS)
    tables = [(one.groups, one.columns[0].codes, TABLE.quasi[at]) for at, one in enumerate(release.auxiliaries)]
    values = [one.columns[0].values for one in release.auxiliaries]
    tables.append((release.counts.groups, release.counts.values, TABLE.secret))
    for (groups, codes, column), known in zip(tables, [*values, release.values], strict=True):
        texts = [
            str(column.values[code]) if column.kind != "numeric" else float(column.values[code])
            for code in column.codes
        ]
        first: dict[Any, int] = {}
        for row in order.tolist():
            first.setdefault((int(release.trace[row]), texts[row]), int(place[row]))
        met = [first[int(group), known[code]] for group, code in zip(groups, codes, strict=True)]
        orders.append(np.lexsort((met, shuffled[groups])) if by_groups else np.argsort(met))
    return replace(release, orders=tuple(orders))


@pytest.mark.parametrize("traced", [True, False], ids=["trace", "files"])
@pytest.mark.parametrize("by_groups", [True, False], ids=["by group", "all"])
@pytest.mark.parametrize("shuffled", [True, False], ids=["shuffled", "input"])
def test_tables_whose_lines_pair_up_are_found(tmp_path: Path, shuffled: bool, by_groups: bool, traced: bool) -> None:
    order = chance().permutation(N) if shuffled else np.arange(N)
    check = order_check(lined_up(order, by_groups), tmp_path / "r", traced)
    assert not check.holds and "10^" in check.sentence
    if shuffled and not by_groups:
        assert "that have the same place in their group belong together" in check.sentence


@pytest.mark.parametrize("at", [0, 1, 3])
def test_one_table_in_the_order_of_the_input_is_found(tmp_path: Path, at: int) -> None:
    kept = lined_up(np.arange(N), by_groups=False)
    orders = [chance().permutation(len(order)) for order in kept.orders]
    honest = replace(kept, orders=tuple(orders))
    assert order_check(honest, tmp_path / "r", True).holds and order_check(honest, tmp_path / "r", False).holds
    orders[at] = kept.orders[at]
    assert not order_check(replace(kept, orders=tuple(orders)), tmp_path / "r", True).holds


# ------------------------------------------------------------------------------------------------------------- honest

PROMISES = {
    "cuts": "beta-likeness(beta=2)",
    "lifting": "beta-likeness(beta=2)",
    "sealed": "beta-likeness(beta=2)",
    "mirrored": "beta-likeness(beta=2)",
    "mondrian": "k-anonymity(k=3)",
    "incognito": "k-anonymity(k=3)",
    "burel": "beta-likeness(beta=2)",
    "sabre": "t-closeness(t=0.35)",
    "heterogeneous": "beta-likeness(beta=2)",
    "proximity": "proximity(epsilon=100, m=2)",
    "perturbation": "beta-likeness(beta=1)",
    "retention": "proximity(epsilon=100, m=2)",
    "anatomy": "l-diversity(l=3)",
    "baseline": "l-diversity(l=2)",
    "ambiguity": "alpha-beta(alpha=0.5, beta=0.5)",
    "codip": "beta-likeness(beta=2)",
    "privbayes": "differential-privacy(epsilon=1)",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_honest_releases_pass_whatever_order_the_input_was_in(tmp_path: Path, scheme: str) -> None:
    audits = 0
    for at, rows in enumerate((3, 12, 40, 300, 2000)):
        table = people(rows, seed=at, by=(None, "age", "pay")[at % 3])
        try:
            release = dc.publish(table, PROMISES[scheme], SCHEMES[scheme].from_texts(OPTIONS.get(scheme, {})))
        except dc.DiscreetError:
            continue  # which cannot be kept by so few rows
        for traced in (True, False):
            check = order_check(release, tmp_path / "r", traced, table)
            assert check.holds, check.sentence
            audits += 1
    assert audits >= 4


def test_few_rows_are_said_to_tell_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(6)
    check = order_check(dc.publish(table, dc.KAnonymity(2)), tmp_path / "r", True, table)
    assert check.holds and "so few lines, sorted ones cannot be told from random ones" in check.sentence
    check = order_check(made("anatomy", monkeypatch), tmp_path / "r", False)
    assert check.holds and "lines in the order of the input, sorted by value or sorted by group would" in check.sentence
    table = people(12, 3)
    for traced in (True, False):
        check = order_check(dc.publish(table, dc.KAnonymity(2)), tmp_path / "r", traced, table)
        assert check.holds and "would be found, lines " in check.sentence and " would not; " in check.sentence


# --------------------------------------------------------------------------------------------------------- statistics


def all_orders(keys: list[int]) -> Iterator[Order]:
    return (np.array(order) for order in permutations(keys))


@pytest.mark.parametrize("keys", [[0, 1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 3, 3], [0, 0, 0, 1, 1, 1, 1]])
@pytest.mark.parametrize("statistic", ["trend", "groups", "neighbours", "matches", "agreeing", "runs", "fitting"])
def test_surprises_bound_the_probability_in_all_orders(
    monkeypatch: pytest.MonkeyPatch, keys: list[int], statistic: str
) -> None:
    for module in (arrangement, coincidences):
        monkeypatch.setattr(module, "LIKELY", 0.0)
    groups, rows = np.array([0, 1, 0, 0, 1, 1, 0]), np.array(keys)
    looks: dict[str, Callable[[Order], float]] = {
        "trend": lambda order: trend(order).surprise,
        "groups": lambda order: trend(order[:, 0], order[:, 1]).surprise,
        "neighbours": neighbours,
        "matches": lambda order: matches(order, rows),
        "agreeing": lambda order: agreeing(int((order == rows).sum()), np.bincount(rows), np.bincount(rows), len(rows)),
        "runs": runs,
        # a line admits the rows that are near to it
        "fitting": lambda order: fitting(
            int((np.abs(order - rows) <= 1).sum()), (np.abs(order[:, None] - rows) <= 1).sum(axis=1)
        ),
    }
    if statistic == "groups":
        lines = np.stack([rows, groups], axis=1)
        orders = [lines[list(order)] for order in permutations(range(7))]
    else:
        orders = list(all_orders(keys))
    found = np.array([looks[statistic](order) for order in orders])
    for surprise in np.unique(found[found > 0]):
        assert (found >= surprise - 1e-9).mean() <= math.exp(-surprise) + 1e-12
    if statistic in ("trend", "groups", "agreeing") or (statistic == "runs" and len(set(keys)) < len(keys)):
        assert found.max() > 0.5


def test_lines_that_all_agree_are_as_surprising_as_they_are_rare() -> None:
    for often in ([6, 6], [1] * 12, [2, 3, 4, 5], [990, 10]):
        counts, number = np.array(often), sum(often)
        rare = math.lgamma(number + 1) - sum(math.lgamma(one + 1) for one in often)
        assert agreeing(number, counts, counts, number) == pytest.approx(rare)
        if len(often) > 2 and number > len(often):
            together = number - len(often)
            assert runs(np.repeat(np.arange(len(often)), often)) == pytest.approx(rare - math.lgamma(len(often) + 1))
            assert agreeing(together, counts, counts - 1, number) == pytest.approx(rare - math.lgamma(len(often) + 1))


def test_sorted_lines_are_as_surprising_as_they_are_rare() -> None:
    for keys in (list(range(12)), [0] * 10 + [1] * 10, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]):
        ties = np.bincount(keys)
        rare = math.lgamma(len(keys) + 1) - sum(math.lgamma(tie + 1) for tie in ties.tolist()) - math.log(2)
        for order in (keys, keys[::-1]):
            assert trend(np.array(order)).surprise == pytest.approx(rare, rel=0.02)
        assert trend(np.array(keys)).sorted == pytest.approx(rare)


def test_stretches_and_other_looks_are_no_more_surprised_than_chance_allows() -> None:
    """In 600 random orders; by 5 or more in at most 0.7 % of them, and 3.5 times the spread of that."""
    rng, times = np.random.default_rng(11), 600
    keys, classes = np.arange(150), np.arange(150) % 7
    often = np.zeros(7)
    for _ in range(times):
        order = rng.permutation(150)
        by_keys = (trend(keys[order]).surprise, stretches(keys[order]), neighbours(keys[order]))
        by_rows = (matches(classes[order], classes), shifts(classes[order], classes), shifts(order, keys))
        often += np.array([*by_keys, *by_rows, runs(classes[order])]) > 5.0
    rate = math.exp(-5.0)
    assert (often <= times * rate + 3.5 * math.sqrt(times * rate)).all()


def test_pairs_against_the_order_are_counted() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        keys = dense(rng.integers(0, rng.integers(1, 20), rng.integers(1, 40)))
        assert inversions(keys) == sum(int((keys[at] > keys[at + 1 :]).sum()) for at in range(len(keys)))
