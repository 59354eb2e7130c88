"""CODIP on Census-Income as in Section 7 of the paper: plans (Figures 5 to 7), closeness (8 and 9), and attacks.

The paper's 98,839 complete rows are those with an occupation. Where its preparation is not told, it is guessed: which
household statuses count as married, under 18, descendent and in a subfamily, and the levels of the quasi-identifiers.
Times are those of the processor.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

import discreet as dc
from benchmarks import measuring
from benchmarks.measuring import publish, show
from discreet.families.codip.across import background, held_by, intersection
from discreet.families.codip.plans import chosen, merged
from discreet.families.codip.projections import projections
from discreet.schemes.described import narrow
from discreet.schemes.incognito.levels import levels_of
from discreet.table.combinations import numbered
from discreet.table.dependency import Dependency, Plan, dependency
from discreet.table.table import Column, Table

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
AGES = ((5, 10, 20, 40), (5, 25, 50))
"""The widths of the levels of ages, which the paper does not tell."""
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


def with_levels(table: Table, ages: Sequence[int]) -> Table:
    """The table with levels for full-domain generalization: ages by these widths, races and citizenship by kinds."""
    quasi = []
    for column in table.quasi:
        texts = [str(value) for value in column.values.tolist()]
        if column.name == "age":
            above = [[f"{width}: {int(text) // width}" for width in ages] for text in texts]
        elif column.name == "race":
            above = [[text if text in ("White", "Black") else "other", str(text == "White")] for text in texts]
        elif column.name == "citizenship":
            native = [text.startswith("Native") for text in texts]
            above = [
                [text if text.endswith("the United States") else f"born: {own}", str(own)]
                for text, own in zip(texts, native, strict=True)
            ]
        else:
            above = [[] for _ in texts]
        rows = [(text, *labels, "*") for text, labels in zip(texts, above, strict=True)]
        tree = dc.Hierarchy.from_rows(column.name, rows)
        place = {leaf: at for at, leaf in enumerate(tree.leaves)}
        codes = np.array([place[text] for text in texts], np.int32)[column.codes]
        quasi.append(Column(column.name, "categorical", codes, np.array(tree.leaves, object), hierarchy=tree))
    return replace(table, quasi=tuple(quasi))


class Generalizations:
    """What full-domain generalization by scheme ``incognito`` reaches, for any part of a plan."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.scheme = dc.Incognito(loss="discernibility")
        self.known: dict[tuple[tuple[int, ...], int, int], float] = {}

    def discernibility(self, part: tuple[int, ...], k: int, mills: int) -> float:
        """The smallest discernibility, in 10^9, at which the table of these attributes keeps k and t = mills / 1000."""
        if (part, k, mills) not in self.known:
            some = replace(self.table, sensitive=tuple(self.table.sensitive[at] for at in part))
            promise = dc.KAnonymity(k) & dc.TCloseness(mills / 1000, "equal")
            found = self.scheme.search(some, promise).minimal
            self.known[part, k, mills] = min(one.discernibility for one in found) / BILLION
        return self.known[part, k, mills]

    def closeness(self, plan: Plan, k: int, most: float) -> float:
        """The smallest t that all tables of a plan keep, each generalized by itself; 1 if there is no such table."""
        return max(self._closeness(part, k, most) for part in plan)

    def _closeness(self, part: tuple[int, ...], k: int, most: float) -> float:
        low, high = 0, 1000  # t in thousandths
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.discernibility(part, k, middle) <= most else (middle, high)
        return high / 1000

    def number(self, k: int, most: float) -> int:
        """How many combinations of levels are k-anonymous and within a discernibility."""
        each = levels_of(self.table)
        kept = self.scheme.search(replace(self.table, sensitive=()), dc.KAnonymity(k)).kept
        found = 0
        for node in np.argwhere(kept):
            codes = [own.nodes[at][column.codes] for own, at, column in zip(each, node, self.table.quasi, strict=True)]
            keys = numbered(codes, [int(one.max()) + 1 for one in codes], self.table.rows)
            sizes = np.unique(keys, return_counts=True)[1].astype(np.float64)
            found += float((sizes**2).sum()) / BILLION <= most
        return found


def closeness(table: Table, found: Dependency) -> None:
    way = {len(plan): plan for plan in merged(found, lambda plan: True)}
    ours = chosen(found, lambda plan: True, 0.2)
    assert ours is not None
    limits = (2.5, 3.5, 7.0)
    for ages in AGES:
        start = time.process_time()
        reached = Generalizations(with_levels(table, ages))
        naive = {most: reached.closeness(way[1], 2, most) for most in limits}
        lines = []
        plans = [(str(number), way[number]) for number in (1, 2, 4, 6, 8, 15)] + [(f"{len(ours)} (our search)", ours)]
        for what, plan in plans:
            best = {most: reached.closeness(plan, 2, most) for most in limits}
            lines.append((what, *(f"{own:.3f} ({1 - own / naive[most]:.0%} better)" for most, own in best.items())))
        show(
            f"Best closeness of CODIP*'s plans with k=2 by `incognito`, ages by {', '.join(map(str, ages))} years, by "
            f"the largest discernibility in 10^9 ({time.process_time() - start:.0f} s); the paper: up to 40 % better",
            ("tables", *(f"dm={most}" for most in limits)),
            lines,
        )
        lines = []
        for k in (2, 5, 10, 20, 50, 100):
            counts = [
                sum(
                    all(reached.discernibility(part, k, mills) <= 3.5 for part in way[number]) for number in range(2, 8)
                )
                for mills in (400, 370)
            ]
            lines.append((k, reached.number(k, 3.5), *counts, f"{reached.closeness(way[1], k, 3.5):.3f}"))
        show(
            "Plans of 2 to 7 tables that keep t-closeness, and generalizations, by k (dm=3.5); the paper: 46, 28, 18, "
            "14, 5 and 1 generalizations",
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
