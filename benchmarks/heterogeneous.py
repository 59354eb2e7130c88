"""The graph of heterogeneous generalization, its best partition, rings, and what our wider buckets add."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

import discreet as dc
from benchmarks.measuring import show
from discreet.analyst.loss import gcp
from discreet.datasets import census
from discreet.principles import Prior
from discreet.schemes.buckets.drawing import along_curve, distinct_points
from discreet.schemes.heterogeneous.buckets import Buckets, bucketize
from discreet.schemes.heterogeneous.graph import matched_graph, rings
from discreet.schemes.heterogeneous.matching import Matching
from discreet.schemes.heterogeneous.scheme import space_of

QUASI = ("age", "gender", "education", "marital", "race", "work_class", "country")
ROWS = 10_000
MATCHINGS: tuple[Matching, ...] = ("greedy", "sort-greedy", "hungarian")


def main() -> None:
    table = census(ROWS, quasi=QUASI)
    for matching in MATCHINGS:  # compiles
        dc.publish(census(300), dc.LDiversity(2), dc.Heterogeneous(matching=matching))
    lines = []
    for promise in (*(dc.BetaLikeness(beta, "basic") for beta in (1, 3, 5)), dc.LDiversity(5), dc.LDiversity(10)):
        rows, buckets = full_buckets(table, promise)
        space = space_of(table, rows, "gcp", "set")
        for matching in MATCHINGS:
            start = time.perf_counter()
            graph = matched_graph(space, buckets, matching)
            taken = time.perf_counter() - start
            cost = published_cost(table, rows[graph.members])
            best = min(cost[buckets.rows[buckets[bucket]]].mean() for bucket in range(len(buckets)))
            scheme = dc.Heterogeneous(matching=matching, loss="gcp", values="set")
            start = time.perf_counter()
            ours = gcp(dc.publish(table, promise, scheme))
            fast = time.perf_counter() - start
            lines.append((promise, matching, cost.mean(), f"{taken:.1f} s", best, ours, f"{fast:.1f} s"))
        places, of = distinct_points(table.quasi, rows)
        ring = rings(space, buckets, along_curve(places)[0][of])
        lines.append((promise, "rings", published_cost(table, rows[ring.members]).mean(), *[""] * 4))
    show(
        f"Heterogeneous generalization, GCP: census of {ROWS:,} rows, {len(QUASI)} QIs, salary sensitive",
        ("promise", "matching", "graph", "time", "its best bucket", "scheme (wider buckets)", "time"),
        lines,
    )


def full_buckets(table: dc.Table, promise: dc.Principle) -> tuple[np.ndarray, Buckets]:
    """The paper's buckets without the short one, which a graph cannot have, and the rows that are in them."""
    caps = promise.caps(Prior.of(table))
    assert caps is not None
    buckets = bucketize(table.classes, caps, 1, "published", np.random.default_rng(1))
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
