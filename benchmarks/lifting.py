"""Lifting beside cuts: losses, errors of count queries and times, each release audited from its files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import KEYS, publish, seconds, show
from discreet.analyst.loss import ail, gcp
from discreet.analyst.workload import run, workload
from discreet.datasets import HETEROGENEOUS_QUASI, LIKENESS_QUASI, census
from discreet.principles import Prior
from discreet.releases.bit_counts import exact_counts

QUERIES = 1_500
SIZES = 10_000, 100_000, 500_000, 5_000_000
FEWER = 400
PROMISE = dc.BetaLikeness(2)
SCHEMES = {
    "cuts": dc.Cuts(),
    "cuts, thorough": dc.Cuts(effort="thorough"),
    "lifting": dc.Lifting(),
    "lifting, thorough": dc.Lifting(effort="thorough"),
    "lifting, blind": dc.Lifting(lift="blind"),
    "BUREL": dc.Burel(),
}
BY_SIZE = {
    "lifting": dc.Lifting(),
    "lifting, blind": dc.Lifting(lift="blind"),
    "cuts": dc.Cuts(),
    "BUREL": dc.Burel(),
    "best bucket": dc.Heterogeneous(matching="greedy"),
}
MOST = {"lifting, blind": 500_000, "best bucket": 100_000}
"""Up to how many rows some schemes are measured."""
BY_NUMBER = {
    "cuts": dc.Cuts(values="set"),
    "cuts, gcp": dc.Cuts(values="set", loss="gcp"),
    "lifting": dc.Lifting(),
    "lifting, gcp": dc.Lifting(loss="gcp"),
}
"""What is minimised decides about queries: all publish sets."""


def main() -> None:
    publish(census(5_000), dc.BetaLikeness(2), dc.Lifting())  # compiles
    if adult.DATA.is_dir():
        promises = [f"beta-likeness(beta={beta})" for beta in (1, 2, 4)]
        _compared("Adult, 8 QIs, occupation", adult.read(), promises, SCHEMES)
        _truth("Adult, 8 QIs, occupation", adult.read())
    table = census(10_000, quasi=HETEROGENEOUS_QUASI)
    promises = [f"beta-likeness(beta={beta}, variant=basic)" for beta in (1, 3, 5)]
    few = {name: scheme for name, scheme in SCHEMES.items() if "blind" not in name}
    _compared("census of 10,000, 7 QIs", table, [*promises, "l-diversity(l=5)", "l-diversity(l=10)"], few)
    _queries()
    _sizes()


def _compared(title: str, table: dc.Table, promises: list[str], schemes: dict[str, dc.Scheme]) -> None:
    lines = []
    asked = [workload(table, dimensionality=number, number=QUERIES, seed=number) for number in (2, 5)]
    for promise in promises:
        for name, scheme in schemes.items():
            start = time.perf_counter()
            release = publish(table, promise, scheme)
            taken = time.perf_counter() - start
            with tempfile.TemporaryDirectory() as folder:
                release.save(Path(folder) / "release")
                held = dc.audit(Path(folder) / "release", table, trace=release.trace).holds
            errors = [run(release, table, queries).median for queries in asked]
            lines.append(
                (
                    promise,
                    name,
                    f"{ail(release):.3f}",
                    f"{gcp(release):.3f}",
                    *(f"{error:.2f}" for error in errors),
                    f"{taken:.1f} s",
                    "holds" if held else "FAILS",
                )
            )
    header = ("promise", "scheme", "AIL", "GCP", "median error, 2 QIs", "5 QIs", "time", "audit of the files")
    show(f"Lifting: {title}", header, lines)


def _truth(title: str, table: dc.Table) -> None:
    """How many people are in leaves in which some value is in truth more frequent than it may be believed, and how
    often values that are believed nearly as much as they may be are true."""
    prior, lines = Prior.of(table), []
    for beta in (1, 2, 4):
        promise = dc.BetaLikeness(beta)
        release = publish(table, promise, dc.Lifting(random_state=1))
        caps, held = promise.caps(prior), np.zeros((release.groups, len(prior.counts)))
        np.add.at(held, (release.trace, table.sensitive_codes), 1)
        persons = held.sum(axis=1, keepdims=True)
        over = (held > caps * persons * (1 + 1e-9)).any(axis=1)
        believed = release.expected.matrix()
        near = (believed > 0.95 * caps * persons) & (persons > 0)
        lines.append((beta, f"{held[over].sum() / table.rows:.0%}", f"{held[near].sum() / believed[near].sum():.2f}"))
    header = ("beta", "people in leaves where some value exceeds its cap", "true / believed near the cap")
    show(f"Lifting: what leaves hold in truth, {title}", header, lines)


def _queries() -> None:
    """Errors with few and many attributes, by what is minimised."""
    tables = {"census of 10,000, 7 QIs": census(10_000, quasi=HETEROGENEOUS_QUASI)}
    if adult.DATA.is_dir():
        tables = {"Adult, 8 QIs, occupation": adult.read()} | tables
    promises = [*(dc.BetaLikeness(beta) for beta in (1, 2, 3, 4, 5)), dc.LDiversity(5), dc.LDiversity(10)]
    for title, table in tables.items():
        lines = []
        asked = [workload(table, dimensionality=number, number=FEWER, seed=number) for number in (2, 5)]
        exact = [exact_counts(table, queries) for queries in asked]
        for promise in promises:
            if not promise.reachable(Prior.of(table)).feasible:
                continue
            for name, scheme in BY_NUMBER.items():
                release = publish(table, promise, scheme)
                errors = [run(release, table, *asking).median for asking in zip(asked, exact, strict=True)]
                losses = (f"{loss(release):.3f}" for loss in (ail, gcp))
                lines.append((promise, name, *losses, *(f"{error:.2f}" for error in errors)))
        header = ("promise", "scheme", "AIL", "GCP", "median error, 2 QIs", "5 QIs")
        show(f"Lifting: errors of count queries by the loss that is minimised, {title}", header, lines)


def _sizes(sizes: Sequence[int] = SIZES) -> None:
    """AIL, errors and time by the number of rows, for salaries as generated and for values that follow Zipf's law."""
    for scheme in BY_SIZE.values():
        publish(census(3_000), PROMISE, scheme)  # compiles
    for title, drawn in {"salary": False, "50 values by Zipf's law": True}.items():
        lines = []
        for rows in sizes:
            table = census(rows, quasi=LIKENESS_QUASI)
            if drawn:
                table = zipfian(table)
            asked = [workload(table, dimensionality=number, number=FEWER, seed=number) for number in (2, 5)]
            exact = [exact_counts(table, queries) for queries in asked]
            unit = seconds(lambda: np.argsort(KEYS), 5, time.process_time)
            for name, scheme in BY_SIZE.items():
                if rows > MOST.get(name, rows):
                    continue
                start = time.process_time()
                release = publish(table, PROMISE, scheme)
                taken = time.process_time() - start
                errors = [run(release, table, *asking).median for asking in zip(asked, exact, strict=True)]
                growth = taken / unit / (rows * np.log(rows)) * 1e6
                lines.append(
                    (
                        f"{rows:,}",
                        name,
                        f"{ail(release):.3f}",
                        *(f"{error:.2f}" for error in errors),
                        f"{taken:.1f} s",
                        f"{taken / unit:.0f}",
                        f"{growth:.1f}",
                    )
                )
        show(
            f"Lifting by the number of rows: census, 5 QIs, beta=2, {title} (processor time; sorts of {len(KEYS):,})",
            ("rows", "scheme", "AIL", "median error, 2 QIs", "5 QIs", "time", "sorts", "sorts per n log n, x 1e6"),
            lines,
        )


def zipfian(table: dc.Table) -> dc.Table:
    """The table with other sensitive values: the k-th of them with a share in proportion to 1 / k, independently."""
    assert table.sensitive_attribute is not None
    shares = 1.0 / np.arange(1, len(table.sensitive_attribute.values) + 1)
    codes = np.random.default_rng(1).choice(len(shares), table.rows, p=shares / shares.sum()).astype(np.int32)
    return replace(table, sensitive=(replace(table.sensitive_attribute, codes=codes),))
