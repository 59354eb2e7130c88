"""Naive Bayes: learn how often every single quasi-identifier goes with every sensitive value, and multiply.

Section 7 of "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012), Equations 15 to 19: a person with the
quasi-identifiers t_1, t_2, ... is guessed to have the value v with the largest Pr[v] x Pr[t_1 | v] x Pr[t_2 | v] x ...,
where

    Pr[t | v] = (count(t, v) + correction) / (count(v) + correction x number of values of the quasi-identifier)

and count(t, v) is the number of published rows with the sensitive value v that may have the quasi-identifier t. A
correction of 0 is the classic estimate, 1 that of Laplace, as in Section 7 of "One-off Disclosure Control by
Heterogeneous Generalization" (USENIX Security 2022). A row under a box counts fully for every value inside it (as in
both papers), or is spread evenly over them. Where values are published singly, as those of synthetic rows are, a row
may also count for all values within a distance (delta in the second paper, whose Figure 11(c) tries it on PrivBayes).

A promise that caps the belief in v at cap(v) implies count(t, v) <= cap(v) x count(t) where groups are counted, that is

    Pr[t | v] <= cap(v) / Pr[v] x Pr[t],

for beta-likeness Pr[t | v] <= (1 + min(beta, -ln Pr[v])) Pr[t] (Equation 19). The evidence reports how much of that the
release uses. Randomised releases are not bound by it: reconstruction averages chance out, so that they tell much about
what people have in common, although each row tells little by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from discreet.adversary.attacks.attack import Attack, Insight
from discreet.adversary.attacks.beliefs import normalised
from discreet.adversary.attacks.target import Floats, Target
from discreet.options import Interval
from discreet.principles.wording import about
from discreet.releases.release import Release
from discreet.table.table import Column

MOST_CELLS = 1 << 27
"""How many pairs of a quasi-identifier's value and a sensitive value are counted at most."""


@dataclass(frozen=True)
class NaiveBayes(Attack):
    """Guess by the frequencies of single quasi-identifiers among the rows of each sensitive value.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.BetaLikeness(2))
    >>> found = dc.attack(release, patients(), "naive-bayes(correction=1)").evidence[0]
    >>> found.attack, found.details["used"] <= 1
    ('naive-bayes(correction=1)', True)
    """

    name: ClassVar[str] = "naive-bayes"

    correction: Annotated[float, Interval(0)] = 0.0
    """What Laplace's correction adds to every count."""
    box: Literal["full", "spread"] = "full"
    """How a box is counted: ``full`` at each of its values, or ``spread`` over them."""
    distance: Annotated[float, Interval(0, 1)] = 0.0
    """How far a single number that is published may be from a person's and count, as a share of the range of numbers;
    of ordered values as a share of their ranks. Categories count for themselves, as all values do where missing is one.
    """

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Classic and with Laplace's correction, each with both ways to read a box."""
        return tuple(cls(correction, box) for box in ("full", "spread") for correction in (0.0, 1.0))

    def refusal(self, target: Target) -> str | None:
        """Exact quasi-identifiers leave no second way to read them; and what is counted has to fit into memory."""
        single = target.release.exact_quasi or not target.release.of_people
        if self.distance > 0.0 and not single:
            return "a distance is for single values, and quasi-identifiers are published as ranges and sets"
        if self.box == "spread" and single:
            return "quasi-identifiers are published as single values, so that there are no boxes to spread over"
        if max(len(column.values) for column in target.people) * target.width > MOST_CELLS:
            return "there are too many pairs of a quasi-identifier's value and a sensitive value to be counted"
        return None

    def learn(self, target: Target) -> Insight:
        """Count, and take logarithms."""
        release, caps = target.release, target.caps
        tables: list[Floats] = []
        ratio = used = 0.0
        for column in target.known:
            counts = release.contingency(column, spread=self.box == "spread")
            total = counts.sum(axis=0) if release.published is None else release.published
            if self.distance > 0.0 and column.kind != "categorical" and column.missing is None:
                counts, total = _within(release, column, self.distance)
            with np.errstate(divide="ignore", invalid="ignore"):
                tables.append(np.log((counts + self.correction) / (total + self.correction * len(counts))))
                shares = counts / counts.sum(axis=1, keepdims=True)
                ratio = max(ratio, float(np.nanmax(shares / (total / total.sum()), initial=0.0)))
                used = max(used, float(np.nanmax(shares / caps, initial=0.0))) if caps is not None else used
        with np.errstate(divide="ignore"):
            start = np.log(target.prior)

        def beliefs(part: slice) -> Floats:
            total = np.broadcast_to(start, (part.stop - part.start, target.width)).copy()
            for column, table in zip(target.people, tables, strict=False):
                total += table[column.codes[part]]
            return normalised(total, target.prior)

        details = {"largest_ratio": ratio, "used": used if caps is not None else None}
        return Insight(beliefs, details=details, remark=_remark(ratio, details["used"]))


def _within(release: Release, column: Column, distance: float) -> tuple[Floats, Floats]:
    """How many rows with each sensitive value are within a distance of each value of a column, and how many in all."""
    values = np.arange(len(column.values), dtype=np.float64)
    known, counted = values, column
    if column.kind == "numeric":
        values = column.values.astype(np.float64)
        known = np.unique(release.known_values(column.name).astype(np.float64))
        counted = replace(column, values=known, codes=np.zeros(len(column.codes), np.int32), hierarchy=None)
    counts = release.contingency(counted)
    most = distance * (values[-1] - values[0]) * (1.0 + 1e-12)
    upto = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
    low, high = np.searchsorted(known, values - most, "left"), np.searchsorted(known, values + most, "right")
    return upto[high] - upto[low], upto[-1]


def _remark(ratio: float, used: float | None) -> str:
    """What the conditional probabilities say about people in general, in a sentence."""
    often = f"A quasi-identifier is at most {about(ratio)} times as frequent beside a sensitive value"
    alike = "Every quasi-identifier is as frequent beside each sensitive value"
    text = f"{alike if about(ratio) == '1' else often} as in general"
    if used is None:
        return f"{text}."
    if used > 1.0 + 1e-9:
        return f"{text}, which is beyond what the promise would imply for groups, at {about(100.0 * used)} % of it."
    return f"{text}, and none exceeds what the promise implies ({about(100.0 * used)} % of it is used)."
