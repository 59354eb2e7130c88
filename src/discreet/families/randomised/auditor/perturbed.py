"""The audit of a perturbed release: exact quasi-identifiers, and sensitive values randomised by a published matrix.

The matrix must give every original value probabilities that sum to 1, and be the one that the scheme finds for the
stated promise. Promises are judged on the posterior of every original value, or of every node that they are about,
given each published value, computed exactly from the published matrix, and on the withheld rows taken as one group.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.checks.manifest import version_hint
from discreet.adversary.verdict import PromiseVerdict
from discreet.families.randomised.auditor import draws
from discreet.families.randomised.auditor.align import AlignedRandomised
from discreet.families.randomised.auditor.audit import audit_randomised, judged_by_beliefs, recompute
from discreet.families.randomised.release.matrix import Matrix, in_nodes
from discreet.families.randomised.release.perturbed import PerturbedRelease
from discreet.principles import Principle, Prior, wording
from discreet.principles.bounds import bounded_shares
from discreet.principles.counts import Counts
from discreet.principles.families import BoundingPrinciple

NEAR = 1e-6
"""How far a probability may be from the one that is found again: what a solver leaves open, and no estimate shows."""


def audit_perturbed(case: Case[PerturbedRelease]) -> FormatFindings:
    """Audit a perturbed release against its original; see ``audit``."""
    return audit_randomised(
        case, {}, lambda aligned, same: [_matrix(case, aligned, same), plausible(aligned, case.release.matrix)], _judged
    )


def _matrix(case: Case[PerturbedRelease], aligned: AlignedRandomised, same_prior: bool) -> Check:
    """Check that the columns of the matrix are probabilities, and those that the scheme finds."""
    release = case.release
    if not release.matrix.stochastic:
        sums = release.matrix.units.sum(axis=0)
        worst = int(np.argmax([abs(int(total) - release.matrix.scale) for total in sums]))
        total = f"{int(sums[worst]) / release.matrix.scale!r} instead of 1"
        value = f"the original value {release.texts[worst]!r}"
        return Check("matrix", False, f"The probabilities that the matrix gives {value} add up to {total}.")
    # in the order of the release, because the solver of the scheme may find another solution in another order
    tree = Prior.of(case.original).hierarchy
    prior = Prior(
        release.prior,
        tuple(release.texts),
        hierarchy=tree.only(aligned.class_of) if tree is not None and same_prior else None,
        attribute=release.sensitive_attribute.name,
    )
    again = recompute(case, prior if same_prior else None, "matrix", "The matrix")
    proper = "The matrix gives every original value probabilities that add up to 1 exactly"
    if isinstance(again, Check):
        return replace(again, sentence=f"{proper}. {again.sentence}") if again.holds else again
    solution = again.probabilities
    differs = np.abs(release.matrix.cells - solution.cells)
    odd = _odd_digits(release.matrix, solution)
    if differs.max() <= NEAR and odd is None:
        if release.matrix.texts() == solution.texts():
            return Check("matrix", True, f"{proper}, and is the one that {again.how}.")
        last = f"its matrix differs by up to {differs.max():.1g} from the one that was found again, in digits that only"
        last += " another version of the solver (scipy) explains"
        return Check("matrix", True, f"{proper}, and is near to the one that {again.how}; {last}.", caveat=last)
    published, original = np.unravel_index(int(np.argmax(differs)), differs.shape)
    which = (
        f"to publish {release.texts[published]!r} for {release.texts[original]!r} the matrix has the probability "
        f"{release.matrix.cells[published, original]:.9g} where {solution.cells[published, original]:.9g} was found"
    )
    if odd is None and again.as_good(release.matrix):
        caveat = f"its matrix is not the one that was found again, but keeps as many values: {which}"
        why = "there are several solutions, and another version of the solver (scipy) may have found this one"
        return Check("matrix", True, f"{proper}; {caveat}; {why}.", caveat=f"{caveat}; {why}")
    cells = int((differs > NEAR).sum())
    if odd is not None and differs.max() <= NEAR:
        which = odd
    sentence = f"The matrix is not the one that {again.how}: {which} ({cells:,} of {differs.size:,} cells differ)."
    return Check("matrix", False, sentence + version_hint(case.manifest))


def _odd_digits(matrix: Matrix, solution: Matrix) -> str | None:
    """Say what a matrix has that no solution of the scheme's has; None if nothing.

    Solutions differ in which probabilities they give. But none has more decimals than are printed, and to publish
    another value than the original one is as likely as any other where the scheme finds it so.
    """
    if matrix.scale > solution.scale:
        return "it has more decimals than are printed"
    others = ~np.eye(matrix.width, dtype=np.bool_)
    for column in range(matrix.width):
        solved, stated = (list(units[others[:, column], column]) for units in (solution.units, matrix.units))
        if len(set(zip(solved, stated, strict=True))) > len(set(solved)):
            return "it gives one value several probabilities that are equal in every solution"
    return None


def _judged(part: Principle, release: PerturbedRelease, aligned: AlignedRandomised, prior: Prior) -> PromiseVerdict:
    """Judge one promise on the posteriors of values, or of nodes, given every published value."""
    bounds = bounded_shares(part.rules(prior)) if part.about_groups else None
    if bounds is None:
        reason = "a perturbed release bounds the belief in single sensitive values, or nodes, and nothing else"
        return PromiseVerdict.unjudged(part, f", since {reason}")
    counts, nodes, number = aligned.in_prior(prior.counts), aligned.in_prior(bounds.nodes), len(bounds.caps)
    floors = bounds.floors if bounds.floors.any() else None
    worst = release.matrix.worst(counts, bounds.caps, floors, nodes=nodes)
    posteriors = in_nodes(release.matrix.posteriors(counts), nodes, number)
    shares = np.bincount(nodes, counts, number) / max(1, counts.sum())
    achieved = part.achieved_by(posteriors, shares)
    labels = part.labels(prior) if isinstance(part, BoundingPrinciple) else prior.values
    seen, held = release.texts[worst.published], labels[worst.original]
    of_nodes = labels is not prior.values
    belief = wording.percent(float(np.nan_to_num(posteriors[worst.published, worst.original])))
    said = (
        f"an attacker who sees {seen!r} published believes with {belief} that it was {'in ' * of_nodes}{held!r}, "
        f"which is {wording.percent(float(shares[worst.original]))} of the whole table"
    )
    pairs = len(nodes) * len(np.unique(nodes))
    among = f"{pairs:,} pairs of a published and an original {'node' if of_nodes else 'value'}"
    return judged_by_beliefs(part, worst.strain, achieved, worst.broken, among, said)


CELLS = 1 << 22
"""How many counts are kept in memory at a time."""


def plausible(aligned: AlignedRandomised, matrix: Matrix) -> Check:
    """Check that the published values are plausible for the original ones under the matrix."""
    had = aligned.in_places
    if had is None:
        return Check("draws", False, "The matrix does not cover every value of the original.")
    names = [repr(text) for text in aligned.release.texts]
    beyond = _beyond(had, aligned.after, matrix.cells > 0.0)
    if beyond.any():
        worst = int(np.argmax(beyond))
        many = wording.rows(int(beyond[worst]))
        said = f"The matrix makes it impossible that {names[worst]} is published where it is: {many} too many"
        return Check("draws", False, f"{said}, since the original values there never become it.")
    expect = partial(_expected, cells=matrix.cells)
    look = draws.Look(had, aligned.after, expect, names, "some value", "in its own place")
    return draws.plausible(
        aligned,
        [look],
        "The published sensitive values were not drawn with the probabilities of the matrix",
        "The published sensitive values are consistent with the original ones and the matrix",
    )


def _beyond(had: Counts, got: Counts, possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how often each value is published beyond what the original values of its combination could become."""
    beyond = np.zeros(len(possible))
    if bool(possible.all()):
        return beyond
    step = max(1, CELLS // had.width)
    for start in range(0, len(had), step):
        stop = min(len(had), start + step)
        before, after = np.zeros((2, stop - start, had.width))
        for counts, dense in ((had, before), (got, after)):
            inside = slice(counts.starts[start], counts.starts[stop])
            dense[counts.groups[inside] - start, counts.values[inside]] = counts.amounts[inside]
        beyond += np.maximum(after - before @ possible.T.astype(np.float64), 0.0).sum(axis=0)
    return beyond


def _expected(had: Counts, cells: NDArray[np.float64]) -> draws.Expected:
    """Return the means and variances of the statistics under the matrix."""
    spreads = cells * (1.0 - cells)
    held = np.bincount(had.values, had.amounts, minlength=had.width)
    placed, placed_spread = np.empty((2, len(had.values)))
    total = 0.0
    step = max(1, CELLS // had.width)
    for start in range(0, len(had), step):
        stop = min(len(had), start + step)
        inside = slice(had.starts[start], had.starts[stop])
        at = had.groups[inside] - start, had.values[inside]
        dense, share = np.zeros((2, stop - start, had.width))
        dense[at], share[at] = had.amounts[inside], had.shares[inside]
        placed[inside], placed_spread[inside] = (dense @ cells.T)[at], (dense @ spreads.T)[at]
        # the variance of a row's contribution, by its original value: mean of the square minus square of the mean
        total += float((dense * (share**2 @ cells - (share @ cells) ** 2)).sum())
    return draws.Expected(cells @ held, spreads @ held, placed, placed_spread, total)
