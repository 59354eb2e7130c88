"""Ends of intervals: how many people "at an end, the rest as described" singles out, with and without a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import show
from discreet.adversary.alignment import codes_in
from discreet.analyst.loss import ail
from discreet.analyst.workload import run, workload
from discreet.datasets import LIKENESS_QUASI, census
from discreet.releases.bit_counts import exact_counts
from discreet.releases.boxes import boxes_in
from discreet.schemes import make_scheme

ROWS = 20_000


SCHEMES = (
    ("mondrian", "k-anonymity(k=5)"),
    ("cuts", "k-anonymity(k=5)"),
    ("cuts", "beta-likeness(beta=4)"),
    ("burel", "beta-likeness(beta=4)"),
    ("sabre", "t-closeness(t=0.3)"),
    ("heterogeneous", "beta-likeness(beta=4)"),
    ("sealed", "beta-likeness(beta=4)"),
    ("mirrored", "beta-likeness(beta=4)"),
    ("lifting", "beta-likeness(beta=4)"),
)
"""All schemes whose intervals can be widened, but for that of proximity, which is about numbers."""


def main() -> None:
    tables = [("census", census(ROWS, quasi=LIKENESS_QUASI))]
    if adult.DATA.is_dir():
        tables.append(("Adult", adult.read()))
    for name, table in tables:
        _ends(name, table)
    for name, table in tables:
        _attacks(name, table)


def _ends(name: str, table: Any) -> None:
    """How many groups have an end of one person, with and without a grid, and what that costs."""
    queries = workload(table, dimensionality=2, selectivity=0.1)
    exact = exact_counts(table, queries)
    lines = []
    for scheme, promise in SCHEMES:
        for snap in ("false", "true"):
            line = [scheme, promise, snap]
            for marginals in ("none", "one-way"):
                options = {"snap": snap, "marginals": marginals, "values": "interval"}
                release: Any = dc.publish(table, promise, make_scheme(scheme, options, random_state=1))
                if marginals == "none":
                    line += [*(f"{share:.1%}" for share in singled_out(release, table)), f"{ail(release):.4f}"]
                line.append(f"{run(release, table, queries, exact).median:.1%}")
            lines.append(tuple(line))
    header = ("scheme", "promise", "snap", "groups with an end of one person", "with an inner number", "AIL")
    about = f"{table.rows:,} rows, {len(table.quasi)} QIs, {table.sensitive[0].name} sensitive"
    show(
        f"ends of intervals: {name} of {about}",
        (*header, "median error", "with counts of columns"),
        lines,
    )


def _attacks(name: str, table: Any) -> None:
    """The attack singling-out: main run, control and baseline of each form."""
    lines = []
    for scheme, promise in (
        ("mondrian", "k-anonymity(k=5)"),
        ("cuts", "beta-likeness(beta=4)"),
        ("lifting(values=interval)", "beta-likeness(beta=4)"),
    ):
        for snap in ("false", "true"):
            made = make_scheme(scheme, {"snap": snap}, random_state=1)
            campaign = dc.attack(dc.publish(table, promise, made), table, "singling-out", random_state=1)
            for found in campaign.evidence:
                runs = [found.details[run] for run in ("main", "control", "baseline")]
                rates = ["-" if run is None else f"{run['rate']:.2%}" for run in runs]
                low, high = found.interval
                alone = runs[0]["alone"] / runs[0]["attempts"]
                first = (scheme, snap, found.details["form"], f"{runs[0]['attempts']:,}", f"{alone:.1%}")
                lines.append((*first, rates[0], f"{low:.2%} to {high:.2%}", *rates[1:]))
    show(
        f"singling out: {name} of {table.rows:,} rows",
        ("scheme", "snap", "form", "attempts", "one row", "succeeds", "95 % interval", "control", "baseline"),
        lines,
    )


def singled_out(release: Any, table: Any) -> tuple[float, float]:
    """Of the groups in which some number is published by an interval, the share in which one of its two ends, and in
    which one of two inner numbers drawn by lot, fits exactly one person whom the rest of the description admits."""
    boxes, random = boxes_in(release.descriptions, table.quasi), np.random.default_rng(1)
    ends = inner = groups = 0
    for group in range(release.groups):
        fits = np.ones(table.rows, np.bool_)
        for axis, column in enumerate(table.quasi):
            admitted = np.zeros(len(column.values), np.bool_)
            admitted[codes_in(boxes, group, axis)] = True
            fits &= admitted[column.codes]
        found = []
        for axis, column in enumerate(table.quasi):
            text = release.texts[axis].of_cell[group]
            regions = release.descriptions.regions[axis]
            low, high = regions.low[text], regions.high[text]
            if column.kind == "numeric" and low < high:
                held = column.values[column.codes[fits]]
                between = random.integers(low + 1, high, 2) if high > low + 1 else []
                alone = [any((held == number).sum() == 1 for number in some) for some in ((low, high), between)]
                found.append(alone)
        if found:
            groups += 1
            ends += any(end for end, _ in found)
            inner += any(number for _, number in found)
    return ends / max(1, groups), inner / max(1, groups)
