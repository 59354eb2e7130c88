"""beta-likeness by BUREL, its Mondrian rivals, our default and perturbation; and a comparison with t-closeness.

The three tables correspond, in this order, to Figures 5 and 8, Figure 9, and Figure 4(a) of the beta-likeness paper.
"""

from __future__ import annotations

import time
from typing import Any

import discreet as dc
from benchmarks.measuring import publish, show, sort_seconds
from discreet.analyst.loss import ail
from discreet.analyst.workload import run, workload
from discreet.datasets import LIKENESS_QUASI, census
from discreet.principles import Prior
from discreet.releases.bit_counts import exact_counts
from discreet.schemes import Scheme

ROWS = 500_000
BETAS = (1, 2, 3, 4, 5)


def main() -> None:
    warm = census(1000)
    for scheme in (dc.Cuts(), dc.Mondrian(), dc.Burel(), dc.Burel(refine=True), dc.Perturbation()):
        publish(warm, dc.BetaLikeness(2), scheme)
    unit = sort_seconds()
    for d in (3, 5):
        table = census(ROWS, quasi=LIKENESS_QUASI[:d])
        queries = workload(table, dimensionality=min(3, d), selectivity=0.1)
        exact = exact_counts(table, queries)
        generalized, perturbed, against_t = [], [], []
        for beta in BETAS:
            promise = dc.BetaLikeness(beta)
            for name, asked, scheme in (
                ("BUREL", promise, dc.Burel()),
                ("BUREL, refined", promise, dc.Burel(refine=True)),
                ("LMondrian", promise, dc.Mondrian()),
                ("DMondrian", dc.DeltaDisclosure(beta=beta), dc.Mondrian()),
                ("cuts (default)", promise, dc.Cuts()),
            ):
                release, taken = timed(table, asked, scheme)
                error = run(release, table, queries, exact)
                generalized.append(
                    (beta, name, f"{ail(release):.4f}", release.groups, f"{error.median:.1%}", f"{taken / unit:.0f} x")
                )
                if name == "BUREL":
                    against_t += face_to_face(table, beta, release)
            for name, scheme in (("perturbation", dc.Perturbation()), ("Baseline", dc.Baseline())):
                release, taken = timed(table, promise, scheme)
                error = run(release, table, queries, exact)
                perturbed.append((beta, name, f"{error.median:.1%}", f"{taken / unit:.0f} x"))
        where = f"census of {ROWS:,} rows, {d} QIs, salary sensitive"
        show(
            f"beta-likeness by generalization: {where} (unit of time: {1000 * unit:.0f} ms)",
            ("beta", "scheme", "AIL", "groups", "median error", "time"),
            generalized,
        )
        show(f"beta-likeness by perturbation: {where}", ("beta", "scheme", "median error", "time"), perturbed)
        show(
            f"The beta really achieved at the t that BUREL achieves (ordered distance): {where}",
            ("beta", "t", "BUREL", "tMondrian", "SABRE", "l of BUREL"),
            against_t,
        )


def timed(table: dc.Table, promise: dc.Principle, scheme: Scheme) -> tuple[Any, float]:
    start = time.perf_counter()
    release = publish(table, promise, scheme)
    return release, time.perf_counter() - start


def face_to_face(table: dc.Table, beta: float, burel: dc.GeneralizedRelease) -> list[tuple[object, ...]]:
    """The beta that BUREL and two t-closeness schemes achieve, with t set to the t that BUREL achieves."""
    prior = Prior.of(table)
    likeness = dc.BetaLikeness(beta, "basic")
    t = dc.TCloseness(1, "ordered").achieved(burel.counts, prior)
    achieved = [likeness.achieved(burel.counts, prior)]
    for scheme in (dc.Mondrian(), dc.Sabre()):
        release, _ = timed(table, dc.TCloseness(t, "ordered"), scheme)
        achieved.append(likeness.achieved(release.counts, prior))
    diversity = dc.LDiversity(1).achieved(burel.counts, prior)
    return [(beta, f"{t:.3f}", *(f"{value:.2f}" for value in achieved), f"{diversity:.1f}")]
