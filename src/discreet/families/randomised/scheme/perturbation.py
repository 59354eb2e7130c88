"""Perturbation (Cao and Karras, PVLDB 2012): exact quasi-identifiers, randomised sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.families.randomised.release.matrix import TOLERANCE, Matrix
from discreet.families.randomised.release.perturbed import PerturbedRelease
from discreet.families.randomised.scheme.matrix import Bounded, closed_form, even, exact, printed, solves
from discreet.principles.beta_likeness import BetaLikeness
from discreet.principles.bounds import bounded_shares
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.randomness import numbers_below
from discreet.releases.release import Release
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Table

Choice = Literal["exact", "even", "closed-form"]
EPSILON = 1e-9
"""How much the paper's matrix may be shrunk to hold as printed; beyond this it would be another matrix."""


@dataclass(frozen=True, kw_only=True)
class Perturbation(Scheme):
    """Every sensitive value is kept with its own probability, and otherwise replaced by any of the values that occur.

    Why the promise is kept: an adversary who has found a person's row sees one published value v and nothing else that
    depends on the original value, since rows are randomised one by one. The belief in the original value i is then p_i
    Pr(i -> v) / sum_u p_u Pr(u -> v), with p the prior. The promise bounds it for all i and v, whichever person it is;
    if several rows may be the person's, the belief is an average of such beliefs, which is bounded as well. The matrix
    of the Pr(i -> v) is found by linear programming, because these bounds are linear in the probabilities of being kept
    (see ``matrix``). It is then printed, read back, and checked in whole numbers; values are drawn with exactly the
    printed probabilities. Rows that must be withheld keep the promise as a group.

    *Nodes.* A promise about the nodes of one level of a hierarchy bounds the beliefs in nodes, which are the sums over
    their values. The matrix is then found for nodes: a node is kept together with the value, and otherwise replaced by
    any of the nodes that occur, with one of its values drawn as the prior has them. A published value then tells about
    nodes what its node alone would tell (see ``matrix.spread``), so the proof is that for values. Within a node nothing
    is hidden: the belief that a published value is the person's own may be as high as that in its node.

    What is not bounded: all published values together with the exact counts of the prior disclose a little more about
    each row than its own value does. The excess falls with the square root of the number of rows; with two values and
    beta = 1 it was, in 95 of 100 cases, below 3 % of the bound for 1,000 rows and below 1 % for 10,000.

    The default matrix is ours, and so is how counts are estimated from the release, with a control variate; the paper's
    are ``matrix=closed-form`` and ``estimates(..., estimator="inverse")``.
    """

    name: ClassVar[str] = "perturbation"
    published: ClassVar[Mapping[str, str]] = {"matrix": "closed-form"}
    format: ClassVar[type[Release]] = PerturbedRelease

    matrix: Choice = "exact"
    """``exact``: the probabilities found by linear programming that allow the best estimates of counts; ours. ``even``:
    those with the largest smallest probability, which are all equal; ours. ``closed-form``: the paper's (Theorem 3),
    refused where it fails."""

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Accept only beta-likeness, of values or of the nodes of one level."""
        levels = {part.level for part in principle.of(BetaLikeness)}
        if len(levels) == 1 and len(principle.of(BetaLikeness)) == len(principle.parts):
            return None
        return super().refusal(principle, prior) or Refusal(
            f"scheme {self.name!r} bounds the belief in single sensitive values, or in single nodes at one level of a "
            "hierarchy, so it can only promise beta-likeness of these",
            principle,
        )

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> PerturbedRelease:
        """Return a perturbed release of the table in which no published value discloses more than is promised.

        >>> from discreet.datasets import patients
        >>> release = Perturbation(random_state=1).publish(patients(), BetaLikeness(2))
        >>> release.matrix.stochastic, release.withheld
        (True, 0)
        """
        prior = feasible(self, table, principle)
        rng, seeded = self.draws()
        progress = progress or no_progress
        progress("looking for the matrix", 0.0)
        matrix = self.find(principle, prior)
        progress("drawing values", 0.5)
        domain = np.flatnonzero(prior.counts).astype(np.int32)
        place = (np.cumsum(prior.counts > 0) - 1).astype(np.int32)
        drawn = domain[draw(matrix, place[table.sensitive_codes], seeded)]
        drawn[unusable_rows(table, principle, prior, rng)] = -1
        release = PerturbedRelease.from_draws(table, drawn, matrix, **self.statement(principle))
        progress("drawing values", 1.0)
        return release

    def find(self, principle: Principle, prior: Prior) -> Matrix:
        """Return the matrix for a promise and a prior, over the values that occur, checked as it will be printed."""
        bounded = _bounded(principle, prior)
        counts, nodes, p, caps, floors = bounded
        if self.matrix == "closed-form":
            alphas = closed_form(p, caps)
            if not bool(np.isfinite(alphas).all()) or alphas.min() < 0.0 or alphas.max() > 1.0:
                least = int(np.argmax(nodes == int(np.argmin(np.nan_to_num(alphas, nan=-1.0)))))
                value = np.array(prior.values, object)[prior.counts > 0][least]
                raise DiscreetError(
                    f"the closed form gives no probability of keeping {value!r} for {principle} and this distribution; "
                    "use matrix=exact, which always does"
                )
        else:
            alphas = (even if self.matrix == "even" else exact)(p, caps, floors)
        matrix, factor = printed(alphas, bounded)
        if self.matrix == "closed-form" and factor < 1.0 - EPSILON:
            raise DiscreetError(
                f"the closed form breaks {principle} for this distribution; use matrix=exact, which never does"
            )
        read = Matrix.from_texts(matrix.texts())
        if not read.stochastic or read.worst(counts, caps, floors, TOLERANCE / 2, nodes).broken:
            raise AssertionError(f"the matrix breaks {principle}; nothing was published")
        return read

    def may_find(self, found: Matrix, principle: Principle, prior: Prior) -> bool:
        """Return whether a matrix is another solution of the programs that ``exact`` solves, as good as the one found.

        Which of several solutions a solver returns depends on its version. The other matrices have one solution only.
        """
        bounded = _bounded(principle, prior)
        return self.matrix == "exact" and found.width == len(bounded.counts) and solves(found.cells, bounded)


def _bounded(principle: Principle, prior: Prior) -> Bounded:
    """Return the values that occur, the nodes that they are under, and the bounds on the beliefs in these."""
    shares = bounded_shares(principle.rules(prior))
    assert shares is not None, "beta-likeness of one level bounds every value, or every node"
    counts = prior.counts[prior.counts > 0]
    held, nodes = np.unique(shares.nodes[prior.counts > 0], return_inverse=True)
    p = np.bincount(nodes, counts) / prior.rows
    floors = shares.floors[held] if shares.floors.any() else None
    return Bounded(counts, nodes.astype(np.int32), p, shares.caps[held], floors)


def draw(matrix: Matrix, values: NDArray[np.int32], seeded: np.random.Generator | None = None) -> NDArray[np.int32]:
    """Draw, for each value, one to publish in its place, with exactly the probabilities of the matrix.

    Uniform whole numbers below the scale of the matrix are drawn, from the operating system unless a ``seeded``
    generator is given. The column of each original value maps them to published values.
    """
    numbers = numbers_below(matrix.scale, len(values), seeded)
    ends = np.cumsum(matrix.units.astype(np.int64), axis=0)
    result = np.empty_like(values)
    order = np.argsort(values, kind="stable")
    starts = np.searchsorted(values[order], np.arange(matrix.width + 1))
    for value, (first, last) in enumerate(pairwise(starts.tolist())):
        rows = order[first:last]
        result[rows] = np.searchsorted(ends[:, value], numbers[rows], side="right")
    return result
