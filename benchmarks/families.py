"""The gain of each family of cuts: the generated census, 3 and 5 quasi-identifiers, beta 1 to 5 and l 5 and 10."""

from __future__ import annotations

import time

import discreet as dc
from benchmarks.measuring import publish, show, sort_seconds
from discreet.analyst.loss import ail
from discreet.datasets import LIKENESS_QUASI, census
from discreet.schemes.cuts.scheme import FAMILIES

ROWS = 500_000
PROMISES: list[dc.Principle] = [dc.BetaLikeness(beta) for beta in (1, 2, 3, 4, 5)] + [dc.LDiversity(l) for l in (5, 10)]  # noqa: E741
THOROUGH = (dc.BetaLikeness(1), dc.BetaLikeness(4), dc.LDiversity(10))
"""The promises for effort=thorough, which takes a minute or more each."""


def main() -> None:
    publish(census(1000), PROMISES[0])
    unit = sort_seconds()
    for d in (3, 5):
        table = census(ROWS, quasi=LIKENESS_QUASI[:d])
        lines = []
        for promise in PROMISES:
            schemes = {"Mondrian": dc.Mondrian()} | {name: dc.Cuts(cuts=(name,)) for name in FAMILIES}
            schemes |= {"all (default)": dc.Cuts()}
            if promise in THOROUGH:
                schemes["all, thorough"] = dc.Cuts(effort="thorough")
            for name, scheme in schemes.items():
                start = time.perf_counter()
                release = publish(table, promise, scheme)
                taken = time.perf_counter() - start
                lines.append((promise, name, f"{ail(release):.4f}", release.groups, f"{taken / unit:.0f} x"))
        show(
            f"Cut families: census of {ROWS:,} rows, {d} QIs, salary sensitive (unit of time: {1000 * unit:.0f} ms)",
            ("promise", "cuts", "AIL", "groups", "time"),
            lines,
        )
