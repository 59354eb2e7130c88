"""CODIP on Census-Income: our default scheme, and attacks on several tables. Times are those of the processor.

The figures of the paper are measured by `discreet reproduce codip --data FILE`.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import discreet as dc
from benchmarks import measuring
from benchmarks.measuring import publish, show
from discreet.evidence.census_income import census_income
from discreet.families.codip.across import background, held_by, intersection
from discreet.families.codip.projections import projections
from discreet.schemes.described import narrow
from discreet.table.table import Table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "census-income" / "census_income.csv.gz"
BILLION = 1e9


def main() -> None:
    random_tables()
    if not DATA.is_file():
        print(f"\nCensus-Income is not here (looked for {DATA.name} in shared/data beside the project): not measured.")
        return
    table = census_income(DATA)
    attacks(table)
    told = projections(table)
    measuring.plots.mkdir(parents=True, exist_ok=True)
    told.plot(measuring.plots / "codip.png", "Census-Income")
    print(f"\nThe plot is in {measuring.plots / 'codip.png'}.")


# ------------------------------------------------------------------------------------------------------------- attacks


def attacks(table: Table) -> None:
    """Our default scheme for the same promise, what it loses, and what several tables tell together."""
    lines = []
    promise = dc.KAnonymity(2) & dc.TCloseness(0.3)
    for what, scheme in (
        ("one table", dc.Codip(exposure=1.0)),
        ("exposure 0.2", dc.Codip()),
        ("the same, aligned", dc.Codip(aligned=True)),
        ("a table each", dc.Codip(exposure=0.0)),
    ):
        start = time.process_time()
        release = publish(table, promise, scheme)
        taken = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            release.save(Path(folder, "release"))
            start = time.process_time()
            audit = dc.audit(Path(folder, "release"), table, trace=release.trace)
            audited = time.process_time() - start
        held = held_by(release, table, release.trace)
        after, before = background(held)
        told = intersection(held)
        lines.append(
            (
                *(what, len(release.projections), f"{audit.losses['discernibility'] / BILLION:.3f}"),
                *(f"{audit.losses['ail']:.3f}", f"{after:.1%}", f"{before:.1%}"),
                *(f"{told.narrowed / table.rows:.2%}", f"{told.certain:,}", f"{told.beyond / table.rows:.1%}"),
                *(f"{taken:.1f} s", f"{audited:.1f} s", "holds" if audit.holds else "BROKEN"),
            )
        )
    show(
        f"{promise} by our default scheme, and what is learnt by whoever knows more than quasi-identifiers",
        (
            *("plan", "tables", "dm", "AIL", "background join: certain", "side by side"),
            *("values excluded by what goes together", "certain", "beyond any group's belief"),
            *("time", "audit", "promise"),
        ),
        lines,
    )


def random_tables() -> None:
    """How often two tables tell a value to whoever knows what goes together, by how closely two attributes do."""
    lines = []
    for noise in (0.0, 0.02, 0.1, 0.3):
        for diversity in (2, 4):
            found = []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                rows, values = 2000, 16
                first = rng.integers(0, values, rows)
                second = np.where(rng.random(rows) < noise, rng.integers(0, values, rows), first)
                columns = {"age": rng.integers(20, 90, rows), "zip": rng.integers(0, 100, rows)}
                columns |= {"one": first.astype(str), "other": second.astype(str)}
                names = ["one", "other"]
                table = dc.read(pa.table(columns), quasi=["age", "zip"], sensitive=names, categorical=names)
                promise = dc.LDiversity(diversity)
                parts = [
                    narrow(scheme(random_state=seed)).publish(replace(table, sensitive=(column,)), promise)
                    for scheme, column in zip((dc.Cuts, dc.Mondrian), table.sensitive, strict=True)
                ]
                release = dc.ProjectedRelease.from_parts(parts, promise=promise, scheme="codip")
                told = intersection(held_by(release, table, release.trace))
                found.append((told.narrowed / rows, told.certain / rows, told.beyond / rows))
            means = np.mean(found, axis=0)
            lines.append((f"{noise:.0%}", diversity, *(f"{mean:.1%}" for mean in means)))
    show(
        "Two attributes of 16 values, one table by cuts and one by Mondrian, 2,000 rows: of how many more is learnt",
        ("pairs at random", "l", "values excluded by what goes together", "certain", "beyond any group's belief"),
        lines,
    )
