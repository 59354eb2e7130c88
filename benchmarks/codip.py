"""CODIP on Census-Income as in Section 7 of the paper: plans (Figures 5 to 7), closeness (8 and 9), and attacks.

The paper's 98,839 complete rows are those with an occupation. Where its preparation is not told, it is guessed: which
household statuses count as married, under 18, descendent and in a subfamily, and the levels of the quasi-identifiers.
Times are those of the processor.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

import discreet as dc
from benchmarks import measuring
from benchmarks.measuring import show
from discreet.adversary.formats.projected.across import background, held_by, intersection
from discreet.report.projections import projections
from discreet.schemes.codip.plans import chosen, merged
from discreet.table.dependency import Dependency, Plan, dependency
from discreet.table.table import Table

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "census-income" / "census_income.csv.gz"
QUASI = {"age": "AAGE", "race": "ARACE", "sex": "ASEX", "citizenship": "PRCITSHP"}
CATEGORIES = {
    "worker": "ACLSWKR",
    "education": "AHGA",
    "industry": "AMJIND",
    "employment": "AWKSTAT",
    "business": "SEOTR",
    "salary": "INCOME",
    "occupation": "AMJOCC",
}
ANY = {"wage": "AHRSPAY", "dividend": "DIVVAL", "gain": "CAPGAIN", "loss": "CAPLOSS"}
EXPOSURES = (0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02)
AGES = (5, 10, 20, 40)
BILLION = 1e9


def census_income() -> Table:
    """The 98,839 rows with an occupation, four quasi-identifiers and fifteen sensitive attributes."""
    raw = pa.csv.read_csv(pa.input_stream(DATA, compression="gzip"))
    raw = raw.filter(pc.not_equal(raw["AMJOCC"], "Not in universe"))
    columns = {name: raw[source] for name, source in QUASI.items()}
    columns |= {name: raw[source].cast(pa.string()) for name, source in CATEGORIES.items()}
    columns |= {name: _flags(pc.greater(raw[source], 0)) for name, source in ANY.items()}
    status = raw["HHDFMX"]
    never = pc.match_substring(status, "never marr")
    married = pc.and_not(pc.match_substring_regex(status, "[Ss]pouse|ever marr"), never)
    columns["married"] = _flags(married)
    columns["minor"] = _flags(pc.match_substring(status, "<18"))
    columns["descendent"] = _flags(pc.match_substring_regex(status, "[Cc]hild"))
    apart = pc.match_substring_regex(status, "[Nn]ot in")
    columns["subfamily"] = _flags(pc.and_not(pc.match_substring(status, "subfamily"), apart))
    sensitive = [name for name in columns if name not in QUASI]
    return dc.read(pa.table(columns), quasi=list(QUASI), sensitive=sensitive)


def _flags(marks: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(marks, "yes", "no")


def main() -> None:
    random_tables()
    if not DATA.is_file():
        print(f"\nCensus-Income is not here (looked for {DATA.name} in shared/data beside the project): not measured.")
        return
    table = census_income()
    start = time.process_time()
    found = dependency(table.sensitive)
    measured = time.process_time() - start
    planning(found, table.rows, measured)
    numbers_of_tables(found)
    closeness(table, found)
    attacks(table)
    told = projections(table)
    measuring.plots.mkdir(parents=True, exist_ok=True)
    told.plot(measuring.plots / "codip.png", "Census-Income")
    print(f"\nThe plot is in {measuring.plots / 'codip.png'}.")


# ------------------------------------------------------------------------------------------------------ Figures 5 to 7


def within(found: Dependency, exposure: float) -> Plan:
    """What CODIP* returns for this threshold."""
    return merged(found, lambda plan: found.exposure(plan) <= exposure)[-1]


def planning(found: Dependency, rows: int, measured: float) -> None:
    lines = []
    for exposure in (1.0, *EXPOSURES, 0.0):
        theirs = within(found, exposure)
        start = time.process_time()
        ours = chosen(found, lambda plan: True, exposure)
        taken = time.process_time() - start
        assert ours is not None
        lines.append(
            (
                exposure,
                *(len(theirs), f"{found.exposure(theirs):.3f}", f"{found.association_loss(theirs):.3f}"),
                *(len(ours), f"{found.exposure(ours):.3f}", f"{found.association_loss(ours):.3f}", f"{taken:.1f} s"),
            )
        )
    show(
        f"Plans of {len(found.names)} attributes, {rows:,} rows (dependencies measured in {measured:.2f} s); "
        "the paper: exposure .15 at association loss .19",
        ("exposure at most", "CODIP*: tables", "exposure", "loss", "ours: tables", "exposure", "loss", "time"),
        lines,
    )
    many = Dependency(
        tuple(f"{name}{copy}" for copy in range(3) for name in found.names)[:40],
        np.tile(found.entropy, 3)[:40],
        _repeated(found.shared)[:40, :40],
        np.ones(40),
    )
    start = time.process_time()
    chosen(many, lambda plan: True, 0.2)
    print(f"\n40 attributes are planned in {time.process_time() - start:.1f} s.")


def _repeated(shared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mutual information of three copies of the attributes that tell little about each other."""
    size = len(shared)
    found = np.tile(shared * 0.2, (3, 3))
    for at in range(3):
        found[at * size : (at + 1) * size, at * size : (at + 1) * size] = shared
    return found


def numbers_of_tables(found: Dependency) -> None:
    """Figure 7: how many tables there are by the number of attributes, in their order."""
    lines = []
    for number in range(3, len(found.names) + 1, 2):
        some = slice(0, number)
        part = Dependency(found.names[some], found.entropy[some], found.shared[some, some], found.sensitive_share[some])
        ours = chosen(part, lambda plan: True, 0.2)
        assert ours is not None
        theirs = within(part, 0.2)
        lines.append(
            (
                number,
                *(len(theirs), f"{part.association_loss(theirs):.3f}", len(ours)),
                f"{part.association_loss(ours):.3f}",
            )
        )
    show(
        "Tables by the number of attributes, exposure at most 0.2",
        ("attributes", "CODIP*: tables", "loss", "ours: tables", "loss"),
        lines,
    )


# ------------------------------------------------------------------------------------------------------ Figures 8 and 9


class Node(NamedTuple):
    """One full-domain generalization."""

    smallest: int
    discernibility: float
    closeness: NDArray[np.float64]
    """Per sensitive attribute: the largest distance of a group from the whole table."""


def levels(table: Table) -> list[list[NDArray[np.int64]]]:
    """The codes of every quasi-identifier at every level: ages by widths, citizenship by birth, and all together."""
    found = []
    for column in table.quasi:
        codes, own = column.codes.astype(np.int64), [column.codes.astype(np.int64)]
        if column.name == "age":
            ages = np.asarray(column.values, np.int64)[codes]
            own += [ages // width for width in AGES]
        if column.name == "citizenship":
            born = np.array([text.startswith("Native") for text in column.texts])
            own.append(born[codes].astype(np.int64))
        found.append([*own, np.zeros_like(codes)])
    return found


def lattice(table: Table) -> Iterator[Node]:
    """All full-domain generalizations, with distances of categories that are all equally far from each other."""
    for some in itertools.product(*levels(table)):
        keys = np.zeros(table.rows, np.int64)
        for codes in some:
            keys = keys * (int(codes.max()) + 1) + codes
        _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        far = []
        for column in table.sensitive:
            width = len(column.values)
            counts = np.bincount(groups * width + column.codes, minlength=len(sizes) * width).reshape(-1, width)
            shares = counts / sizes[:, None] - np.bincount(column.codes, minlength=width) / table.rows
            far.append(float(np.abs(shares).sum(axis=1).max() / 2))
        yield Node(int(sizes.min()), float((sizes.astype(float) ** 2).sum() / BILLION), np.array(far))


def best_closeness(plan: Plan, nodes: list[Node], k: int, most: float) -> float | None:
    """The best closeness of a plan: each table is generalized by itself, and the worst of them counts."""
    valid = [node for node in nodes if node.smallest >= k and node.discernibility <= most]
    if not valid:
        return None
    return max(min(float(node.closeness[list(part)].max()) for node in valid) for part in plan)


def closeness(table: Table, found: Dependency) -> None:
    nodes = list(lattice(table))
    way = {len(plan): plan for plan in merged(found, lambda plan: True)}
    limits = (2.5, 3.5, 7.0)
    best = {
        (number, most): best_closeness(way[number], nodes, 2, most) for number in (1, 2, 4, 6, 15) for most in limits
    }
    lines = []
    for number in (1, 2, 4, 6, 15):
        cells = []
        for most in limits:
            own, naive = best[number, most], best[1, most]
            better = "" if own is None or naive is None else f"{own:.3f} ({1 - own / naive:.0%} better)"
            cells.append(better or "-")
        lines.append((number, *cells))
    show(
        f"Best closeness of CODIP*'s plans with k=2 by full-domain generalization ({len(nodes)} in all), by the "
        "largest discernibility in 10^9; the paper: up to 40 % better",
        ("tables", *(f"dm={most}" for most in limits)),
        lines,
    )
    plans = [way[number] for number in range(2, 8)]
    lines = []
    for k in (2, 5, 10, 20, 50, 100):
        valid = sum(node.smallest >= k and node.discernibility <= 3.5 for node in nodes)
        reached = [best_closeness(plan, nodes, k, 3.5) for plan in plans]
        naive = best_closeness(way[1], nodes, k, 3.5)
        counts = [sum(one is not None and one <= t for one in reached) for t in (0.4, 0.37)]
        lines.append((k, valid, *counts, "-" if naive is None else f"{naive:.3f}"))
    show(
        "Plans of 2 to 7 tables that keep t-closeness, and generalizations, by k (dm=3.5)",
        ("k", "generalizations", "plans with t=0.4", "plans with t=0.37", "closeness of one table"),
        lines,
    )


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
        release = dc.publish(table, promise, scheme)
        taken = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            release.save(Path(folder, "release"))
            start = time.process_time()
            audit = dc.audit(Path(folder, "release"), table, trace=release.trace)
            audited = time.process_time() - start
        held = held_by(release, table)
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
                    scheme(random_state=seed).publish(replace(table, sensitive=(column,)), promise)
                    for scheme, column in zip((dc.Cuts, dc.Mondrian), table.sensitive, strict=True)
                ]
                release = dc.ProjectedRelease.from_parts(parts, promise=promise, scheme="codip")
                told = intersection(held_by(release, table))
                found.append((told.narrowed / rows, told.certain / rows, told.beyond / rows))
            means = np.mean(found, axis=0)
            lines.append((f"{noise:.0%}", diversity, *(f"{mean:.1%}" for mean in means)))
    show(
        "Two attributes of 16 values, one table by cuts and one by Mondrian, 2,000 rows: of how many more is learnt",
        ("pairs at random", "l", "values excluded by what goes together", "certain", "beyond any group's belief"),
        lines,
    )
