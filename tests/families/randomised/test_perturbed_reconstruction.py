"""The estimator of original counts that shrinks toward the prior, against its definition and the prior alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.families.randomised.release import reconstruct as reconstruction
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.release.reconstruct import FALLS, SIZES, TYPICAL, _waves, reconstruct, ridge
from discreet.families.randomised.scheme.perturbation import Perturbation, draw
from discreet.principles import BetaLikeness, Prior


def by_definition(cells: np.ndarray, p: np.ndarray, counts: np.ndarray, left: float, rows: int) -> np.ndarray:
    """The mean of what is believed about the counts, every size and shape of waves by itself, with plain matrices."""
    n, m = counts.sum(), len(p)
    seen = cells @ p
    y = (counts / n - seen) / np.sqrt(seen)
    through = cells * np.sqrt(p) / np.sqrt(seen)[:, None]
    waves, numbers = _waves(p), np.arange(1, m)
    logs, means = [], []
    for fall in FALLS:
        for size in SIZES:
            believed = (waves * (size * numbers ** (-2.0 * fall))) @ waves.T
            spread = through @ believed @ through.T + left / n * np.eye(m)
            distance = np.trace(believed)
            logs.append(-0.5 * (np.linalg.slogdet(spread)[1] + y @ np.linalg.solve(spread, y)))
            logs[-1] -= distance / (TYPICAL * (rows / n - 1.0))
            means.append(believed @ through.T @ np.linalg.solve(spread, y))
    weights = np.exp(np.array(logs) - max(logs))
    return np.asarray(n * (p + (weights / weights.sum()) @ np.array(means) * np.sqrt(p)))


def matrix_of(counts: np.ndarray, beta: float) -> Matrix:
    return Perturbation().find(BetaLikeness(beta), Prior(counts, tuple(f"v{i}" for i in range(len(counts)))))


@pytest.mark.slow
@given(st.integers(2, 12), st.integers(1, 400), st.floats(0.2, 8.0), st.integers(0, 2**30))
@settings(max_examples=20)
def test_ridge_is_what_its_definition_says(m: int, n: int, beta: float, seed: int) -> None:
    rng = np.random.default_rng([seed, 4])
    prior = rng.integers(1, 300, m)
    p, cells = prior / prior.sum(), matrix_of(prior, beta).cells
    counts = rng.multinomial(n, cells @ rng.dirichlet(np.ones(m)), 3).astype(np.float64)
    left = rng.random()
    rows = n + int(rng.integers(1, 1000))
    found = ridge(cells, p, counts, np.full((3, 1), left), rows)
    for line, one in zip(found, counts, strict=True):
        assert line == pytest.approx(by_definition(cells, p, one, left, rows), rel=1e-6, abs=1e-6 * n)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50)), min_size=1, max_size=8))
def test_rows_are_no_farther_from_the_whole_table_than_can_be(drawn: list[tuple[int, int]]) -> None:
    whole = np.array([count for count, _ in drawn])
    some = np.array([min(pair) for pair in drawn])
    if some.sum() == 0:
        return
    p, q = whole / whole.sum(), some / some.sum()
    assert ((q - p) ** 2 / p).sum() <= whole.sum() / some.sum() - 1.0 + 1e-9


@pytest.mark.slow
def test_noise_is_not_taken_for_waves_where_hardly_anything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 values, 1 % of which are kept: 20 releases of 6,000 rows, any third of which is asked for.

    Nothing beats the prior here. How far rows can be from it at all must take away a good part of the noise.
    """
    rng = np.random.default_rng([300, 6])
    n, part = 6000, 2000
    frequencies = 1.0 / np.arange(1, 301)
    values = rng.choice(300, n, p=frequencies / frequencies.sum())
    values = np.unique(values, return_inverse=True)[1].astype(np.int32)
    prior = np.bincount(values)
    width, matrix = len(prior), matrix_of(prior, 2)
    assert matrix.retention @ prior / n < 0.012
    truth, told = np.bincount(values[:part], minlength=width), prior * (part / n)
    drawn = [draw(matrix, values, rng) for _ in range(20)]
    published = [[np.bincount(one[:rows], minlength=width) for rows in (part, n)] for one in drawn]

    def error() -> float:
        found = [reconstruct(matrix, prior, some[None], whole)[0] for some, whole in published]
        return float(np.sqrt(((np.array(found) - truth) ** 2).mean()))

    limited = error()
    monkeypatch.setattr(reconstruction, "TYPICAL", np.inf)
    assert limited < 0.7 * error()
    assert limited < 1.5 * np.sqrt(((told - truth) ** 2).mean())


def test_much_data_leaves_little_of_the_prior() -> None:
    rng = np.random.default_rng([1, 9])
    prior, truth = np.array([400_000, 300_000, 200_000, 100_000]), np.array([10_000, 20_000, 30_000, 40_000])
    matrix = matrix_of(prior, 4)
    published = sum(rng.multinomial(count, matrix.cells[:, i]) for i, count in enumerate(truth))
    assert reconstruct(matrix, prior, np.asarray(published)[None])[0] == pytest.approx(truth, rel=0.05)
