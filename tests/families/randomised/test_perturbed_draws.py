"""How an audit tells values that chance has made of the original ones from others: bounds, errors, and power."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.check import Check
from discreet.families.randomised.auditor import draws
from discreet.families.randomised.auditor import perturbed as of_perturbed
from discreet.families.randomised.auditor import retained as of_retained
from discreet.families.randomised.auditor.align import align
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.scheme.perturbation import Perturbation, draw
from discreet.principles import BetaLikeness, Prior
from discreet.principles.counts import Counts
from discreet.table.table import Table
from support.releases import perturbed, retained

Floats = np.ndarray


def chances(kind: str, width: int, rng: np.random.Generator) -> tuple[Floats, object]:
    """Random probabilities Pr(original -> published), a line per published value, and what is expected of them."""
    if kind == "matrix":
        cells = rng.dirichlet(np.full(width, 0.5), width).T
        return cells, lambda had: of_perturbed._expected(had, cells)
    kept, drawn = rng.random(), rng.dirichlet(np.ones(width))
    share = (1.0 - kept) * drawn
    return kept * np.eye(width) + share[:, None], lambda had: of_retained._expected(had, kept, share)


def statistics(places: Floats, values: Floats, published: Floats, groups: int, width: int) -> Floats:
    """What is looked at, row by row: published, in its own place, and that for all values together."""
    had = np.zeros((groups, width))
    np.add.at(had, (places, values), 1)
    result = np.zeros(2 * width + 1)
    for place, value in zip(places, published, strict=True):
        share = had[place, value] / had[place].sum()
        result[value] += 1
        result[width + value] += share
        result[-1] += share
    return result


@pytest.mark.slow
@given(st.sampled_from(["matrix", "coin"]), st.integers(2, 3), st.integers(1, 5), st.integers(0, 2**30))
@settings(max_examples=40)
def test_bounds_are_above_what_is_found_by_trying_all_outcomes(kind: str, width: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng([seed, 8])
    cells, expect = chances(kind, width, rng)
    groups = 2
    places, values = rng.integers(0, groups, rows), rng.integers(0, width, rows)
    had = Counts.of_rows(places, values, groups, width)
    expected = expect(had)  # type: ignore[operator]
    outcomes = [np.array(outcome) for outcome in itertools.product(range(width), repeat=rows)]
    weights = np.array([math.prod(cells[v, i] for v, i in zip(outcome, values, strict=True)) for outcome in outcomes])
    found = np.array([statistics(places, values, outcome, groups, width) for outcome in outcomes])
    means = weights @ found
    variances = weights @ (found - means) ** 2
    for at, outcome in enumerate(outcomes):
        told = draws.figures(had, Counts.of_rows(places, outcome, groups, width), expected)
        assert told.observed == pytest.approx(found[at])
        assert told.means == pytest.approx(means)
        assert told.variances == pytest.approx(variances, abs=1e-12)
        over = found >= found[at] - 1e-9
        under = found <= found[at] + 1e-9
        tails = np.where(found[at] > means, weights @ over, weights @ under)
        assert (tails <= np.exp(-told.surprise) * (1 + 1e-9)).all()


def test_rows_that_are_known_are_bounded_by_how_probable_it_is_that_all_are_kept() -> None:
    had = Counts.of([[7, 0, 0], [0, 9, 0], [0, 0, 20]], 3)
    cells = np.array([[0.6, 0.2, 0.1], [0.3, 0.5, 0.1], [0.1, 0.3, 0.8]])
    told = draws.figures(had, had, of_perturbed._expected(had, cells))
    assert told.surprise[-1] == pytest.approx(-7 * math.log(0.6) - 9 * math.log(0.5) - 20 * math.log(0.8))


# ------------------------------------------------------------------------------------------------- releases, in memory


def small(rows: int, values: int, ages: int, seed: int) -> Table:
    rng = np.random.default_rng([seed, 77])
    columns = {"age": rng.integers(0, ages, rows), "s": [f"v{v}" for v in rng.integers(0, values, rows)]}
    return dc.read(pa.table(columns), quasi=["age"], sensitive="s")


def checked(table: Table, codes: np.ndarray, matrix: Matrix, traced: bool) -> Check:
    """What is found when these values are published in place of the original ones."""
    release = perturbed(table, codes, matrix, BetaLikeness(1))
    matched = align(release, table, release.trace if traced else None, [])
    assert matched.check.holds
    return of_perturbed.plausible(matched, matrix)


@pytest.mark.slow
def test_true_releases_are_not_suspected() -> None:
    """300 small releases, with the trace and without: each is suspected less than once in a million times."""
    for seed in range(30):
        table = small([5, 20, 60, 150, 400][seed % 5], [2, 4, 12][seed % 3], [1, 8, 40, 1000][seed % 4], seed)
        matrix = Perturbation().find(BetaLikeness([0.3, 1, 4][seed // 5 % 3]), Prior.of(table))
        rng = np.random.default_rng([seed, 78])
        for _ in range(10):
            drawn = draw(matrix, table.sensitive_codes, rng)
            for traced in (False, True):
                check = checked(table, drawn, matrix, traced)
                assert check.holds, check.sentence


@pytest.mark.parametrize(
    ("rows", "values", "ages", "beta"),
    [(100, 4, 40, 1), (150, 4, 40, 1), (200, 4, 40, 1), (300, 10, 100, 2), (1000, 10, 100, 2), (1000, 50, 160, 2)],
)
def test_values_that_were_never_randomised_are_found_in_small_tables(
    rows: int, values: int, ages: int, beta: float
) -> None:
    table = small(rows, values, ages, 1)
    matrix = Perturbation().find(BetaLikeness(beta), Prior.of(table))
    for traced in (False, True):
        check = checked(table, table.sensitive_codes, matrix, traced)
        assert not check.holds
        assert "in its own place" in check.sentence


def test_the_trace_tells_from_about_twenty_rows_on() -> None:
    # 4 values as often each are kept with probability 1 / 2: all of 24 with 2 ** -24, just below 1e-6 / 4
    for rows, holds in ((20, True), (24, False)):
        table = dc.read(
            pa.table({"age": range(rows), "s": [f"v{i % 4}" for i in range(rows)]}), quasi=["age"], sensitive="s"
        )
        matrix = Perturbation().find(BetaLikeness(1), Prior.of(table))
        check = checked(table, table.sensitive_codes, matrix, True)
        assert check.holds is holds
        assert bool(check.caveat) is holds


@pytest.mark.parametrize("traced", [False, True])
def test_values_randomised_by_half_or_with_the_same_numbers_are_found(traced: bool) -> None:
    rows = 1000
    table = small(rows, 8, 400, 2)
    matrix = Perturbation().find(BetaLikeness(1), Prior.of(table))
    rng = np.random.default_rng([3, 79])
    drawn = draw(matrix, table.sensitive_codes, rng)
    assert checked(table, drawn, matrix, traced).holds
    half = np.where(np.arange(rows) % 2, drawn, table.sensitive_codes)
    check = checked(table, half, matrix, traced)
    assert not check.holds and "some value is published in its own place" in check.sentence
    # one draw for all rows of a value
    once = draw(matrix, np.arange(8, dtype=np.int32), rng)
    assert not checked(table, once[table.sensitive_codes], matrix, traced).holds
    # five draws of every value, over and over
    few = np.stack([draw(matrix, np.arange(8, dtype=np.int32), rng) for _ in range(5)])
    assert not checked(table, few[np.arange(rows) % 5, table.sensitive_codes], matrix, traced).holds


# ------------------------------------------------------------------------------------------------------------- verdict


HOLDS = "beta-likeness(beta=1) holds."


@pytest.mark.slow
def test_a_verdict_says_so_where_nothing_can_be_told(tmp_path: Path) -> None:
    few = dc.read(pa.table({"age": [1, 2, 3, 4, 5, 6], "s": list("aabbcc")}), quasi=["age"], sensitive="s")
    for raw in (False, True):
        matrix = Perturbation().find(BetaLikeness(1), Prior.of(few))
        codes = few.sensitive_codes if raw else draw(matrix, few.sensitive_codes)
        release = perturbed(few, codes, matrix, BetaLikeness(1))
        release.save(tmp_path / "few", force=True)
        for trace in (None, release.trace):
            found = dc.audit(tmp_path / "few", few, trace=trace)
            told = "these rows do not show whether the sensitive values were randomised at all"
            assert found.verdict == f"beta-likeness(beta=1) holds, as the release itself states it; {told}."
            assert found.as_dict()["verdict"] == found.verdict
            assert any("so would unchanged values be" in sentence for sentence in found.sentences())
    # everybody is alike, so that only the trace tells who is who
    alike = small(500, 4, 1, 5)
    release = Perturbation().publish(alike, BetaLikeness(1))
    release.save(tmp_path / "alike")
    assert dc.audit(tmp_path / "alike", alike).verdict.endswith("were randomised at all: give the trace for certainty.")
    traced = dc.audit(tmp_path / "alike", alike, trace=release.trace, promises="beta-likeness(beta=1)").verdict
    assert traced.startswith(f"{HOLDS[:-1]}; a release with up to ") and "do not show" not in traced
    # where nothing was to be changed there is nothing to be told
    one = dc.read(pa.table({"age": [1, 2, 3], "s": ["a"] * 3}), quasi=["age"], sensitive="s")
    Perturbation().publish(one, BetaLikeness(1)).save(tmp_path / "one")
    assert dc.audit(tmp_path / "one", one, promises="beta-likeness(beta=1)").verdict == HOLDS


def test_a_verdict_on_few_numbers_that_were_kept_or_drawn(tmp_path: Path) -> None:
    table = dc.read(pa.table({"age": [1, 2, 3, 4], "pay": [10, 20, 30, 40]}), quasi=["age"], sensitive="pay")
    promise = dc.Proximity(5, 2)
    scheme = dc.Retention()
    coin = scheme.find(promise, Prior.of(table))
    raw = retained(table, table.sensitive_codes, coin, scheme, promise)
    raw.save(tmp_path / "r")
    assert "were randomised at all." in dc.audit(tmp_path / "r", table, trace=raw.trace).verdict
