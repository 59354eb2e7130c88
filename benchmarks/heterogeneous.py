"""The graph of heterogeneous generalization, its best partition, NH, and what our wider buckets add.

What matching in blocks costs, and what it saves. And what is left for the analyst, prefix queries among other ones, and
for adversaries who only match descriptions or count rows: where they believe more than is promised, how many rows would
have the value, may have it, and do.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import publish, show
from discreet.adversary.alignment import align
from discreet.adversary.checks import matching as others
from discreet.analyst.loss import ail, gcp
from discreet.analyst.prefix_workload import prefix_workload
from discreet.analyst.workload import run, workload
from discreet.datasets import census
from discreet.families.heterogeneous.buckets import Buckets, bucketize
from discreet.families.heterogeneous.graph import matched_graph
from discreet.families.heterogeneous.matching import WIDEST, Matching, grow_from
from discreet.families.heterogeneous.scheme import space_of
from discreet.principles import Prior

QUASI = ("age", "gender", "education", "marital", "race", "work_class", "country")
ROWS = 10_000
FEW = 3_000
"""Of more rows the beliefs of who only matches descriptions take long."""
QUERIES = 1_000
BETA = "beta-likeness(beta=3, variant=basic)"
SCHEMES: dict[str, dc.Scheme] = {
    "cuts": dc.Cuts(values="set"),
    "best bucket": dc.Heterogeneous(values="set"),
    "graph, greedy": dc.Heterogeneous(publishes="graph", matching="greedy", buckets="published", values="set"),
    "graph, Hungarian": dc.Heterogeneous(publishes="graph", buckets="published", values="set"),
    "lifting": dc.Lifting(),
    "lifting, labels": dc.Lifting(values="label"),
    "NH": dc.NH(values="set"),
}
MATCHINGS: tuple[Matching, ...] = tuple(WIDEST)
EVERYTHING: dict[str, dc.Scheme] = {
    **{
        f"graph, {matching}": dc.Heterogeneous(publishes="graph", matching=matching, buckets="published", values="set")
        for matching in MATCHINGS
    },
    "NH": dc.NH(values="set"),
    "best bucket": dc.Heterogeneous(values="set"),
    "BUREL": dc.Burel(values="set"),
    "cuts": dc.Cuts(values="set"),
    "cuts, thorough": dc.Cuts(values="set", effort="thorough"),
    "lifting": dc.Lifting(),
    "lifting, blind": dc.Lifting(lift="blind"),
}


def main() -> None:
    table = census(ROWS, quasi=QUASI)
    _losses(table)
    _compared(f"census of {ROWS:,} rows, {len(QUASI)} QIs", table, [BETA, "l-diversity(l=5)"])
    if adult.DATA.is_dir():
        _compared("Adult, 8 QIs", adult.read(), ["beta-likeness(beta=2)", "l-diversity(l=5)"])
    _in_blocks()
    few = census(FEW, quasi=QUASI)
    _left_for_others(f"census of {FEW:,} rows, {len(QUASI)} QIs", few, ["l-diversity(l=5)", BETA], "education")


def _losses(table: dc.Table) -> None:
    for matching in MATCHINGS:  # compiles
        publish(census(300), dc.LDiversity(2), dc.Heterogeneous(matching=matching))
    lines = []
    for promise in (*(dc.BetaLikeness(beta, "basic") for beta in (1, 3, 5)), dc.LDiversity(5), dc.LDiversity(10)):
        rows, buckets = full_buckets(table, promise)
        space = space_of(table, rows, "gcp", "set")
        for matching in MATCHINGS:
            start = time.process_time()
            graph = matched_graph(space, buckets, matching)
            taken = time.process_time() - start
            cost = published_cost(table, rows[graph])
            best = min(cost[buckets.rows[buckets[bucket]]].mean() for bucket in range(len(buckets)))
            scheme = dc.Heterogeneous(matching=matching, loss="gcp", values="set")
            start = time.process_time()
            ours = gcp(publish(table, promise, scheme))
            fast = time.process_time() - start
            lines.append((promise, matching, cost.mean(), f"{taken:.1f} s", best, ours, f"{fast:.1f} s"))
        if isinstance(promise, dc.LDiversity):
            start = time.process_time()
            loss = gcp(publish(table, promise, dc.NH(values="set")))
            lines.append((promise, "NH", loss, f"{time.process_time() - start:.1f} s", *[""] * 3))
    show(
        f"Heterogeneous generalization, GCP: census of {ROWS:,} rows, {len(QUASI)} QIs, salary sensitive",
        ("promise", "matching", "graph", "cpu time", "its best bucket", "scheme (wider buckets)", "cpu time"),
        lines,
    )


def _in_blocks() -> None:
    """Groups of ten rows grown from one bucket, matched whole and in blocks; whole up to twice the usual width."""
    lines = []
    for number in (10_000, 20_000, 50_000):
        table = census(number, quasi=QUASI, sensitive="occupation")
        rows, buckets = full_buckets(table, dc.LDiversity(10))
        space = space_of(table, rows, "gcp", "set")
        for matching, widest in WIDEST.items():
            told = []
            for parts in (1, 2, 4, 8):
                block = -(-buckets.width // parts)
                start = time.process_time()
                loss = grow_from(space, buckets, 0, matching, block).loss / len(rows) if block <= 2 * widest else None
                taken = time.process_time() - start
                told.append(f"{loss:.3f}, {taken:.1f} s" if loss is not None else "")
            lines.append((f"{number:,}", f"{buckets.width:,}", matching, f"{widest:,}", *told))
    header = ("rows", "width", "matching", "usual block", "whole", "halves", "quarters", "eighths")
    show(f"Heterogeneous generalization, what blocks cost: census, {len(QUASI)} QIs, l-diversity(l=10)", header, lines)


def _compared(title: str, table: dc.Table, promises: list[str]) -> None:
    """Every way to publish what a scheme of the paper builds, and the schemes it competes with."""
    asked = [workload(table, dimensionality=number, number=QUERIES, seed=number) for number in (2, 5)]
    lines = []
    for text in promises:
        promise = dc.parse(text)
        for name, scheme in EVERYTHING.items():
            if scheme.name == "nh" and not isinstance(promise, dc.LDiversity):
                continue  # it keeps nothing else
            start = time.process_time()
            release = publish(table, promise, scheme)
            taken = time.process_time() - start
            errors = [f"{run(release, table, queries).median:.2f}" for queries in asked]
            lines.append((text, name, f"{ail(release):.3f}", f"{gcp(release):.3f}", *errors, f"{taken:.1f} s"))
    header = ("promise", "published", "AIL", "GCP", "median error, 2 QIs", "5 QIs", "cpu time")
    show(f"Heterogeneous generalization beside the others: {title}, sets of values", header, lines)


def _left_for_others(title: str, table: dc.Table, promises: list[str], prefix: str) -> None:
    """What analysts and other adversaries make of releases."""
    ranges = workload(table, dimensionality=3, number=QUERIES)
    prefixes = prefix_workload(table, prefix=prefix, dimensionality=5, number=QUERIES)
    lines = []
    for text in promises:
        promise = dc.parse(text)
        for name, scheme in SCHEMES.items():
            if scheme.name == "nh" and not isinstance(promise, dc.LDiversity):
                continue
            start = time.process_time()
            release = publish(table, promise, scheme)
            taken = time.process_time() - start
            with tempfile.TemporaryDirectory() as folder:
                release.save(Path(folder) / "release")
                held = dc.audit(Path(folder) / "release", table, trace=release.trace).promises[0].holds
            errors = [run(release, table, queries).median for queries in (ranges, prefixes)]
            lines.append(
                (
                    text,
                    name,
                    f"{gcp(release):.3f}",
                    *(f"{error:.2f}" for error in errors),
                    *hits(release, table, promise),
                    f"{taken:.1f} s",
                    "kept" if held else "BROKEN",
                )
            )
    header = ("promise", "published", "GCP", "median error, ranges on 3 QIs", f"prefixes of {prefix}, 4 single values")
    header += ("matching: claimed, allowed, true", "counting: claimed, allowed, true", "cpu time", "promise")
    show(f"Heterogeneous generalization, what is left for others: {title}", header, lines)


def hits(release: dc.GeneralizedRelease, table: dc.Table, promise: dc.Principle) -> list[str]:
    """What those claim who match descriptions and who count rows, where that is more than allowed."""
    prior = Prior.of(table)
    caps = promise.caps(prior)
    aligned = align(release, table)
    people = others.people_of(aligned, table)
    times, sets, _ = others.marked_sets(release, people)
    left = np.maximum(prior.counts - aligned.published, 0)
    matched = others.believed_by_matching(aligned, people, sets, np.flatnonzero(times), left)
    told = []
    for found in (matched, others.believed_by_counting(aligned, people)):
        if isinstance(found, str):
            told.append("not known")
            continue
        some = others.Hits.of(found, caps * (1.0 + others.ACCURATE))
        told.append(f"{some.claimed:,.0f}, {some.allowed:,.0f}, {some.true:,}" if some.claimed else "none")
    return told


def full_buckets(table: dc.Table, promise: dc.Principle) -> tuple[np.ndarray, Buckets]:
    """The paper's buckets without the short one, which a graph cannot have, and the rows that are in them."""
    caps = promise.caps(Prior.of(table))
    assert caps is not None
    buckets = bucketize(table.sensitive_codes, caps, 1, "published", np.random.default_rng(1))
    within = slice(0, buckets.full * buckets.width)
    rows, number = np.unique(buckets.rows[within], return_inverse=True)
    return rows, replace(buckets, rows=number, marks=buckets.marks[within])


def published_cost(table: dc.Table, members: np.ndarray) -> np.ndarray:
    """What each box costs by GCP: the extent of its numbers, the number of other values in its sets."""
    total = np.zeros(len(members))
    for column in table.quasi:
        if column.kind == "numeric":
            places = np.asarray(column.values, float)[column.codes]
            total += np.ptp(places[members], axis=1) / np.ptp(np.asarray(column.values, float))
        else:
            ranked = np.sort(column.codes[members], axis=1)
            total += (np.diff(ranked, axis=1) > 0).sum(axis=1) / (len(column.values) - 1)
    return total / len(table.quasi)
