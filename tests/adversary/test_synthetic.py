"""Attacks on synthetic tables, and the differentially private one that releases are compared with."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from support.attacked import people


@pytest.fixture
def privbayes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    from benchmarks import privbayes

    return privbayes


def test_the_original_as_a_synthetic_table_is_guessed_as_the_original() -> None:
    found = dc.attack(people(), people(), ["beliefs", "naive-bayes", "presence"], random_state=1)
    assert all(one.rate == pytest.approx(one.ceiling) for one in found.evidence)
    assert any("different kind" in note for note in found.notes) and found.promise == ()
    assert not any(one.exceeds for one in found.evidence) and all(one.bound is None for one in found.evidence)


def test_people_whom_no_synthetic_row_resembles_are_guessed_by_the_prior() -> None:
    table = people()
    secret = table.sensitive[0].codes
    rows = np.r_[np.unique(secret, return_index=True)[1], 0:20]  # every value, and some more
    (found,) = dc.attack(table_of(table, rows), table, "beliefs").evidence
    usual, right = np.bincount(secret).argmax(), 0
    for person in range(table.rows):
        alike = [row for row in rows if all(c.codes[row] == c.codes[person] for c in table.quasi)]
        guess = np.bincount(secret[alike]).argmax() if alike else usual
        right += guess == secret[person]
    assert found.successes == right


def table_of(table: dc.Table, rows: np.ndarray) -> dc.Table:
    columns = {c.name: c.values[c.codes[rows]] for c in (*table.quasi, *table.sensitive)}
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive="pay")


def test_attacks_on_groups_do_not_apply() -> None:
    found = dc.attack(people(), people(), random_state=1)
    assert {"corruption", "definetti", "corners"} <= {name.split("(")[0] for name in found.refusals}


def test_without_noise_the_network_draws_what_there_is(privbayes) -> None:
    table = people()
    drawn = privbayes.synthesized(table, 1e9, 1)
    assert drawn.rows == table.rows and drawn.quasi_names == table.quasi_names
    for name in ("age", "sex", "pay"):
        own, other = table.column(name), drawn.column(name)
        assert set(other.values.tolist()) <= set(own.values.tolist())
        shares = [
            np.array([(c.values[c.codes] == value).mean() for value in own.values]) for c in (own, other)
        ]  # four standard deviations of a share of 240 rows
        assert np.abs(shares[0] - shares[1]).max() <= 4 * math.sqrt(0.25 / table.rows)


def test_less_is_learnt_with_less_epsilon(privbayes) -> None:
    table = people()

    def rate(epsilon: float) -> float:
        found = [
            dc.attack(privbayes.synthesized(table, epsilon, s), table, "naive-bayes").evidence[0] for s in range(5)
        ]
        return float(np.mean([one.rate for one in found]))

    assert rate(1000.0) > rate(0.05) + 0.05


def test_one_row_changes_mutual_information_by_no_more_than_is_reckoned_with(privbayes) -> None:
    rows, cells = 5, list(product(range(2), range(2)))
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(300):
        table = [cells[at] for at in rng.integers(0, 4, rows)]

        def told(some: list[tuple[int, int]]) -> float:
            codes = [np.array(column) for column in zip(*some, strict=True)]
            return float(privbayes._information(codes, [2, 2], privbayes.Part(0, ((1, 2),)), rows))

        worst = max(worst, *(abs(told(table) - told([cell, *table[1:]])) for cell in cells))
    assert 0 < worst <= privbayes._sensitivity(rows)


def test_noise_is_that_of_the_stated_epsilon(privbayes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network takes 0.3 of epsilon in d - 1 draws, each of d tables 0.7 / d of it for two counts that change."""
    scales: list[float] = []

    class Recorder(np.random.Generator):
        def laplace(self, loc, scale, size):
            scales.append(scale)
            return super().laplace(loc, scale, size)

    random = Recorder(np.random.PCG64(1))
    codes = [np.arange(30) % size for size in (2, 3, 5)]
    privbayes.sample(codes, [2, 3, 5], 2.0, random)
    assert scales == [pytest.approx(2 / (0.7 * 2.0 / 3))] * 3
