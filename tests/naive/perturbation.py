"""Perturbation the slow way: beliefs in fractions, the linear program with all its constraints, counts row by row."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from discreet.families.randomised.release.perturbed import PerturbedRelease
from discreet.table.query import Query

Floats = NDArray[np.float64]


def matrix_of(alphas: Floats) -> Floats:
    """Equation 12: Pr(original -> published), a line per published value."""
    m = len(alphas)
    return np.diag(alphas) + np.outer(np.ones(m), 1.0 - np.asarray(alphas)) / m


def beliefs(texts: list[list[str]], counts: list[int]) -> list[list[Fraction]]:
    """The belief in every original value (column) after seeing a published one (line), exactly."""
    result = []
    for line in texts:
        joint = [Fraction(text) * count for text, count in zip(line, counts, strict=True)]
        total = sum(joint)
        result.append([part / total for part in joint])
    return result


def smallest_alpha(p: Floats, caps: Floats, floors: Floats | None = None) -> float:
    """The largest smallest alpha, with a constraint for every pair of an original and a published value."""
    m = len(p)
    rows, limits = [], []
    for v in range(m):
        seen, constant = p * (np.eye(m)[v] - 1.0 / m), 1.0 / m
        for i in range(m):
            own, own_constant = np.zeros(m), 1.0 / m
            own[i] = (1.0 if i == v else 0.0) - 1.0 / m
            rows.append([*(p[i] * own - caps[i] * seen), 0.0])
            limits.append(caps[i] * constant - p[i] * own_constant)
            if floors is not None:
                rows.append([*(floors[i] * seen - p[i] * own), 0.0])
                limits.append(p[i] * own_constant - floors[i] * constant)
    for i in range(m):
        rows.append([*(-np.eye(m)[i]), 1.0])
        limits.append(0.0)
    # in units of p, so that the solver's tolerance means the same for rare values
    scale = np.array([np.abs(row).max() or 1.0 for row in rows])
    found = linprog(
        [*np.zeros(m), -1.0],
        A_ub=np.array(rows) / scale[:, None],
        b_ub=np.array(limits) / scale,
        bounds=[(0.0, 1.0)] * (m + 1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(found.x[-1])


def published_counts(release: PerturbedRelease, query: Query) -> tuple[list[int], list[bool]]:
    """The published counts among the rows that a query is about, and the sensitive values that it asks for."""
    names = [attribute.name for attribute in release.attributes]
    kinds = {attribute.name: attribute.kind for attribute in release.attributes}
    columns = dict(zip(names, (*release.exact, release.shown, *release.others), strict=True))
    wanted = [True] * release.matrix.width
    counts = [0] * release.matrix.width
    sensitive_attribute = release.sensitive_attribute.name
    for condition in query.conditions:
        if condition.attribute == sensitive_attribute:
            admitted = condition.admits(release.values, kinds[sensitive_attribute])
            wanted = [one and bool(two) for one, two in zip(wanted, admitted, strict=True)]
    for row in range(release.rows):
        if all(
            condition.admits(columns[condition.attribute].values, kinds[condition.attribute])[
                columns[condition.attribute].codes[row]
            ]
            for condition in query.conditions
            if condition.attribute != sensitive_attribute
        ):
            counts[release.shown.codes[row]] += 1
    return counts, wanted
