"""From how often sensitive values are published to how often they occurred: three estimators.

E are the published counts of some rows, n their number, M the matrix, p the prior. All estimates add up to n.

First, for all three: what chance did to the whole table is known, since its original counts are (the prior) and its
published ones too. The share n / N of it is taken from E. That leaves expectations as they are and lowers the variance
by the factor 1 - n / N; the estimate for all rows together is the prior itself. With rows withheld, the original counts
of the published ones are not known, and E is left as it is.

``inverse``  M^-1 E, as in the paper: unbiased, and noisy where rows are few, even below 0.
``em``       The most probable counts by expectation and maximisation, from the prior on: never below 0, biased (away
             from 0, and toward the prior since it is stopped early), and slower.
``ridge``    The inverse shrunk toward n p. The distribution among the rows is taken to be p times 1 plus waves over the
             values in their order (a hierarchy's order of leaves, where they are names), the shorter the smaller. How
             large the waves are, and how fast they fall off, is judged for each query by how well this explains E, and
             by how far n of N rows can be from the whole table at all. Few rows, or values that are hardly ever kept,
             leave the prior; many leave the inverse. Biased toward the prior; cut at 0.

How far they can be: of value i they have the share q_i, at most p_i N / n, so that the chi-square distance
sum_i (q_i - p_i)^2 / p_i = sum_i q_i^2 / p_i - 1 is at most N / n - 1. Waves of which the distance d is expected weigh
exp(-d / h), h being half of that. Without this, where the published values hardly tell anything, all sizes of waves are
about as probable, and noise is taken for large ones: with 300 values of which 1 % is kept, 25 releases answered 19 to
132 where 64 was right and the prior said 67; with it, 59 to 79.

``auto`` is ``ridge``: on census tables of 20,000, 100,000 and 300,000 rows and 50 sensitive values it had the lowest
median error of the three in 51 of 54 settings (promise, number of conditions, selectivity), by up to 44 %, was within
15 % of the lowest in the others, and was closer than the prior alone in all of them. That is not so everywhere. On
invented tables of 1,000 and 20,000 rows with 4, 10, 50 and 300 values and beta 1, 2 and 4, its root mean square error
was 0.65 times that of the prior (geometric mean) where the values depend on the quasi-identifiers, but above 1.05 times
in a tenth of these settings, nearly all with 50 values or more of which a few in a hundred are kept, and 4 times at
worst. Where the values do not depend on them the prior is all but right, and the error of ``ridge`` was 1.2 times as
large, 5 times at worst.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.randomised.matrix import Matrix

Estimator = Literal["auto", "inverse", "em", "ridge"]
Floats = NDArray[np.float64]

STEPS = 200
"""How often ``em`` improves its estimate at most."""
SIZES = np.concatenate([[0.0], np.geomspace(1e-4, 1e2, 16)])
"""The sizes of waves that ``ridge`` weighs, as variances relative to the prior."""
FALLS = (0.0, 1.0, 2.0, 3.0)
"""How fast the amplitude of waves may fall off with their number, as powers of it; 0 is for values without an order."""
TYPICAL = 0.5
"""At which share of the farthest distance from the prior waves have 1 / e of their weight for ``ridge``. Of the shares
from 0.05 to 2 that were tried, larger ones left more noise, and smaller ones cost more where much can be told."""
UNHEARD = 1e-9
"""How small the variance of a wave must be, relative to the noise, for ``ridge`` to leave it out."""


def reconstruct(
    matrix: Matrix,
    prior: NDArray[np.int64],
    published: NDArray[np.int64],
    whole: NDArray[np.int64] | None = None,
    estimator: Estimator = "auto",
) -> Floats:
    """The estimated original counts, a line per line of published counts.

    ``whole`` are the published counts of the whole table, when no row of it is withheld.

    >>> matrix = Matrix.from_texts([["0.75", "0.25"], ["0.25", "0.75"]])
    >>> reconstruct(matrix, np.array([50, 50]), np.array([[60, 40]]), None, "inverse").tolist()
    [[70.0, 30.0]]
    """
    if estimator not in get_args(Estimator):
        raise DiscreetError(f"estimator={estimator!r} is not known; choose {', '.join(get_args(Estimator))}")
    cells, p = matrix.cells, np.asarray(prior / prior.sum(), np.float64)
    counts = published.astype(np.float64)
    sizes = counts.sum(axis=1, keepdims=True)
    left = np.ones_like(sizes)
    if whole is not None and whole.sum() > 0:
        rows = int(whole.sum())
        counts = counts - sizes / rows * (whole - cells @ (p * rows))
        left = 1.0 - sizes / rows
    if matrix.width == 1:
        return published.astype(np.float64)
    if estimator == "inverse":
        return inverse(cells, counts)
    some = sizes[:, 0] > 0
    result = np.zeros_like(counts)
    if not some.any():
        return result
    if estimator == "em":
        result[some] = expectation_maximization(cells, p, _positive(counts[some], sizes[some]))
    else:
        left = np.maximum(left[some], 1e-9)
        result[some] = _positive(ridge(cells, p, counts[some], left, int(prior.sum())), sizes[some])
    return result


def inverse(cells: Floats, counts: Floats) -> Floats:
    """The counts that the published ones would be expected from."""
    if np.linalg.cond(cells) > 1e12:
        raise DiscreetError(
            "the matrix of the release cannot be inverted, since its published values tell nothing or too little; "
            "choose the estimator ridge"
        )
    return np.asarray(np.linalg.solve(cells, counts.T).T)


def expectation_maximization(cells: Floats, p: Floats, counts: Floats, steps: int = STEPS) -> Floats:
    """The most probable counts, approached from the prior in at most so many steps."""
    sizes = counts.sum(axis=1, keepdims=True)
    result = sizes * p
    moving = np.arange(len(counts))
    for _ in range(steps):
        before = result[moving]
        expected = before @ cells.T
        shares = np.divide(counts[moving], expected, out=np.zeros_like(expected), where=expected > 0)
        after = before * (shares @ cells)
        result[moving] = after
        moving = moving[np.abs(after - before).max(axis=1) > 1e-4 * sizes[moving, 0] ** 0.5]
        if not len(moving):
            break
    return np.asarray(result)


def ridge(cells: Floats, p: Floats, counts: Floats, left: Floats, rows: int) -> Floats:
    """The inverse shrunk toward the prior; ``left`` is the share of the variance that is left, ``rows`` the table's.

    In units in which the noise of every direction is 1 / n: y = A x + noise, where y is the deviation of the published
    shares from what p predicts and x that of the original shares from p. With a variance of t k^(-2 fall) for the k-th
    wave in x, G being A times their amplitudes, and G'G = V diag(s) V', the part z_j of V'G'y has the variance
    s_j (t s_j + 1 / n), and the best estimate of x is along the j-th column of V, t / (t s_j + 1 / n) times z_j. Every
    t and fall is weighed by how probable it makes y, and by how probable it is itself.
    """
    sizes = counts.sum(axis=1, keepdims=True)
    seen = cells @ p
    scale = np.sqrt(seen)
    noise = left / sizes
    deviations = (counts / sizes - seen) / scale
    farthest = np.maximum(rows / sizes[:, 0] - 1.0, 1e-9)
    waves = _waves(p)
    through = (cells * np.sqrt(p) / scale[:, None]) @ waves
    squares, projected = through.T @ through, deviations @ through
    numbers = np.arange(1, len(p), dtype=np.float64)
    parts = []
    logs = np.empty((len(FALLS), len(SIZES), len(counts)))
    for at, fall in enumerate(FALLS):
        amplitudes = numbers**-fall
        # waves that cannot be told from noise, however large t is, change nothing
        heard = np.flatnonzero(SIZES[-1] * amplitudes**2 * np.diagonal(squares) > UNHEARD * noise.min())
        number = int(heard.max(initial=0)) + 1
        shape = amplitudes[:number]
        stretch, turn = np.linalg.eigh(shape[:, None] * squares[:number, :number] * shape)
        stretch = np.maximum(stretch, 0.0)
        along = (projected[:, :number] * shape) @ turn
        parts.append((along, stretch, turn * shape[:, None]))
        for index, size in enumerate(SIZES):
            spread = size * stretch + noise
            logs[at, index] = 0.5 * (size * along**2 / (noise * spread) - np.log(spread / noise)).sum(axis=1)
            logs[at, index] -= size * float((amplitudes**2).sum()) / (TYPICAL * farthest)
    weights = np.exp(logs - logs.max(axis=(0, 1)))
    weights /= weights.sum(axis=(0, 1))
    x = np.zeros_like(projected)
    for weight, (along, stretch, back) in zip(weights, parts, strict=True):
        factors = np.zeros_like(along)
        for share, size in zip(weight, SIZES, strict=True):
            factors += share[:, None] * (size / (size * stretch + noise))
        x[:, : len(back)] += (along * factors) @ back.T
    return np.asarray(sizes * (p + x @ waves.T * np.sqrt(p)))


def _waves(p: Floats) -> Floats:
    """Waves over the values in their order, of one half period and more, as orthonormal columns; none has a total."""
    places = np.cumsum(p) - p / 2.0
    raw = np.cos(np.pi * np.outer(places, np.arange(len(p)))) * np.sqrt(p)[:, None]
    waves: Floats = np.linalg.qr(raw)[0][:, 1:]
    return waves


def _positive(counts: Floats, sizes: Floats) -> Floats:
    """Counts cut at 0, with the same total as before."""
    cut = np.maximum(counts, 0.0)
    return np.asarray(cut * (sizes / np.maximum(cut.sum(axis=1, keepdims=True), 1e-300)))
