"""(epsilon, m)-anonymity: its speed, and its utility compared with retention perturbation.

The figures of the paper are measured by `discreet reproduce proximity`. The first two tables here measure speed on one
core. Then follow, for each table of people, the loss and the error of count queries of the published algorithm (one cut
position, round-robin), of round-robin with our splitting (nine positions), of our partitioning (matched), and of
retention perturbation.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import discreet as dc
from benchmarks.measuring import publish, seconds, show
from discreet.analyst.loss import ail, gcp
from discreet.analyst.workload import run, volume_workload
from discreet.datasets import LIKENESS_QUASI, census
from discreet.principles import Prior, Proximity
from discreet.releases.bit_counts import exact_counts
from discreet.schemes import Scheme

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SCHEMES: dict[str, Scheme] = {
    "published": dc.SplitAndPartition(partition="round-robin", positions=1, random_state=1),
    "round-robin": dc.SplitAndPartition(partition="round-robin", random_state=1),
    "matched": dc.SplitAndPartition(random_state=1),
}
W, S = 3, 0.1
"""The dimensionality and the volume of queries."""


@dataclass(frozen=True)
class Setting:
    """A table and its promises: one family per line of a plot."""

    name: str
    table: dc.Table
    families: dict[str, list[Proximity]]


def main() -> None:
    for scheme in (*SCHEMES.values(), dc.Retention()):
        small = census(500, quasi=LIKENESS_QUASI[:3], sensitive="income")
        publish(small, Proximity(100, 3), scheme).estimates(volume_workload(small, number=5))  # compiles kernels
    with one_core():
        speed()
    for setting in settings():
        records = utility(setting)
        gains(setting, records)


# -------------------------------------------------------------------------------------------------------------- speed


@contextmanager
def one_core() -> Iterator[None]:
    """Run on a single processor, if the system lets a process choose."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if allowed:
        os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        if allowed:
            os.sched_setaffinity(0, allowed)


def speed() -> None:
    lines, growth = [], []
    base: dict[str, float] = {}
    for size in (500_000, 1_000_000, 2_000_000, 5_000_000):
        table = census(size, quasi=LIKENESS_QUASI[:3], sensitive="income")
        assert table.sensitive_attribute is not None
        column = table.sensitive_attribute.values[table.sensitive_attribute.codes].astype(np.float64)
        unit = seconds(partial(np.argsort, column), repeat=5)
        asked = [4500.0, 2000.0, 0.0] if size == 500_000 else [4500.0]
        for epsilon in asked:
            promise = Proximity(epsilon, 5)
            taken = seconds(partial(dc.publish, table, promise), repeat=3 if size <= 1_000_000 else 1)
            if size == 500_000:
                lines.append((str(promise), f"{taken:.2f} s", f"{taken / unit:.1f} x", "at most 40 x"))
            if epsilon == 4500.0:
                cells = [f"{size:,}"]
                for name, took in (("publish", taken), ("argsort", unit)):
                    per_step = took / (size * math.log2(size))
                    cells += [f"{took:.2f} s", f"{per_step / base.setdefault(name, per_step):.2f}"]
                growth.append([*cells, f"{taken / unit:.1f} x"])
        if size == 500_000:
            show(
                f"Proximity: census of 500,000 rows, 3 QIs, income, one core (unit: one np.argsort of the sensitive "
                f"column, {1000 * unit:.0f} ms in this run)",
                ("promise", "publish", "measured", "wanted"),
                lines,
            )
    show(
        "Proximity: growth with the rows, absolute epsilon=4500, m=5, one core (time per n log n as a multiple of that "
        "at 500,000 rows)",
        ("rows", "publish", "per n log n", "np.argsort of the column", "per n log n", "ratio"),
        growth,
    )


# ------------------------------------------------------------------------------------------------------------ settings


def settings() -> Iterator[Setting]:
    """The available tables: two real ones, and the generated census."""
    for name, read in (("cps", cps), ("acs", acs)):
        if (DATA / name).is_dir():
            yield read()
        else:
            print(f"\n{name} is not here (looked for {name}/ in shared/data beside the project): not measured.")
    table = census(100_000, quasi=LIKENESS_QUASI[:3], sensitive="income")
    yield Setting(
        "census, 100,000 rows, 3 QIs, income",
        table,
        {
            "absolute, m=5": [Proximity(epsilon, 5) for epsilon in (500, 1500, 3000, 4500)],
            "absolute, epsilon=1500": [Proximity(1500, m) for m in (2, 4, 6, 8)],
            "relative, m=5": [Proximity(epsilon, 5, "relative") for epsilon in (0.02, 0.05, 0.1, 0.2)],
        },
    )


def cps() -> Setting:
    table = dc.read(
        DATA / "cps" / "cps.csv.gz",
        quasi=["age", "state", "filing_status", "household_size", "children"],
        sensitive="wages",
        categorical=["state", "filing_status"],
    )
    return Setting(
        f"cps, {table.rows:,} rows, 5 QIs, wages",
        table,
        {
            "absolute, m=3": [Proximity(epsilon, 3) for epsilon in (500, 1000, 3000)],
            "absolute, epsilon=1000": [Proximity(1000, 2)],
            "relative, m=3": [Proximity(epsilon, 3, "relative") for epsilon in (0.05, 0.2, 0.5)],
        },
    )


def acs() -> Setting:
    """The persons who are old enough to have an income."""
    rows = pyarrow.csv.read_csv(DATA / "acs" / "acs2019.csv.gz")
    rows = rows.filter(pc.is_valid(rows["PINCP"]))
    rows = rows.set_column(rows.schema.get_field_index("EDU"), "EDU", pc.cast(rows["EDU"], pa.int64()))
    names = ["AGEP", "SEX", "MSP", "RAC1P", "EDU"]
    table = dc.read(rows.select([*names, "PINCP"]), quasi=names, sensitive="PINCP", categorical=["SEX", "MSP", "RAC1P"])
    return Setting(
        f"acs, {table.rows:,} rows with an income, 5 QIs, PINCP",
        table,
        {
            "absolute, m=5": [Proximity(epsilon, 5) for epsilon in (200, 500, 1000, 2000)],
            "absolute, epsilon=500": [Proximity(500, m) for m in (2, 3, 4)],
            "relative, m=5": [Proximity(epsilon, 5, "relative") for epsilon in (0.05, 0.1, 0.2, 0.4)],
        },
    )


# ------------------------------------------------------------------------------------------------------------- utility


def utility(setting: Setting) -> list[dict[str, Any]]:
    """Publish the table under every promise by every scheme, and print losses and errors."""
    table = setting.table
    asked = volume_workload(table, dimensionality=W, volume=S)
    exact = exact_counts(table, asked)
    lines, records, same = [], [], True
    for family, promises in setting.families.items():
        for promise in promises:
            errors: list[str] = []
            losses: list[tuple[str, str]] = []
            for name, scheme in SCHEMES.items():
                release, taken = timed(table, promise, scheme)
                assert promise.holds(release.counts, Prior.of(table)).all()
                error = run(release, table, asked, exact).median
                losses.append((f"{ail(release):.4f}", f"{gcp(release):.4f}"))
                errors.append(f"{error:.1%}")
                records.append(record(family, promise, name, ail(release), error, taken))
            for noise in ("uniform", "prior"):
                try:
                    release, taken = timed(table, promise, dc.Retention(noise=noise, random_state=1))
                except dc.DiscreetError:
                    errors.append("refused")
                    continue
                error = run(release, table, asked, exact).median
                errors.append(f"{error:.1%} (p={release.coin.probability:.3g})")
                records.append(record(family, promise, f"retention, {noise}", None, error, taken))
            same = same and all(one == other for one, other in losses)
            lines.append((promise, losses, errors))
    which = "AIL, which is also the GCP" if same else "AIL / GCP"
    show(
        f"Proximity: {setting.name}: loss ({which}), and the median error of {len(asked):,} queries with w={W}, "
        f"s={S:g} ({int((exact == 0).sum()):,} of them without an answer left out)",
        (
            *("promise", *(f"{name}: loss" for name in SCHEMES), *(f"{name}: error" for name in SCHEMES)),
            *("retention, uniform: error", "retention, prior: error"),
        ),
        [
            (promise, *(one if same else f"{one} / {other}" for one, other in losses), *errors)
            for promise, losses, errors in lines
        ],
    )
    return records


def timed(table: dc.Table, promise: Proximity, scheme: Scheme) -> tuple[Any, float]:
    start = time.perf_counter()
    release = publish(table, promise, scheme)
    return release, time.perf_counter() - start


def record(
    family: str, promise: Proximity, name: str, loss: float | None, error: float, taken: float
) -> dict[str, Any]:
    varying = "epsilon" if "m=" in family else "m"
    return {
        **{"family": family, "place": getattr(promise, varying), "scheme": name},
        **{"loss": loss, "error": error, "seconds": taken},
    }


def gains(setting: Setting, records: Sequence[dict[str, Any]]) -> None:
    """Print how much less our partitioning loses: the geometric mean of the ratios over all promises.

    Promises under which one of the two loses nothing have no ratio and are left out.
    """
    lines = []
    for against in ("round-robin", "published"):
        for measure in ("loss", "error"):
            ratios = []
            for one in records:
                if one["scheme"] == "matched":
                    other = next(
                        rival
                        for rival in records
                        if rival["scheme"] == against
                        and (rival["family"], rival["place"]) == (one["family"], one["place"])
                    )
                    if other[measure] > 0 and one[measure] > 0:
                        ratios.append(one[measure] / other[measure])
            mean = math.exp(float(np.mean(np.log(ratios)))) if ratios else math.nan
            what = {"loss": "AIL", "error": "median error"}[measure]
            lines.append((against, what, f"{1 - mean:.0%} less", f"{1 - max(ratios):.0%} to {1 - min(ratios):.0%}"))
    show(
        f"Proximity: {setting.name}: what matching gains over round-robin (with the same splitting, and as published)",
        ("against", "measure", "on average", "from worst to best promise"),
        lines,
    )
