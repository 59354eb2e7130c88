"""Full-domain generalization beside Cuts and Mondrian, and the time of the search of the lattice."""

from __future__ import annotations

import time

import pyarrow.compute as pc
from pyarrow.csv import read_csv

import discreet as dc
from benchmarks import adult
from benchmarks.codip import DATA as CENSUS_INCOME
from benchmarks.measuring import publish, show
from discreet.analyst.loss import ail, discernibility

PROMISES = ("k-anonymity(k=5)", "l-diversity(l=3)", "t-closeness(t=0.3)", "beta-likeness(beta=2)")
SCHEMES = {
    "incognito": dc.Incognito(),
    "incognito, withhold=0.02": dc.Incognito(withhold=0.02),
    "mondrian": dc.Mondrian(),
    "cuts": dc.Cuts(),
}


def main() -> None:
    tables = {}
    if adult.DATA.is_dir():
        tables["Adult, 8 QIs, occupation"] = adult.read()
    if CENSUS_INCOME.is_file():
        tables["Census-Income, 4 QIs, occupation"] = census_income()
    if not tables:
        print("\nNeither Adult nor Census-Income is here (looked in shared/data beside the project): not measured.")
    for title, table in tables.items():
        lines = []
        for promise in PROMISES:
            for name, scheme in SCHEMES.items():
                publish(table, promise, scheme)  # compiles
                start = time.perf_counter()
                release = publish(table, promise, scheme)
                taken = time.perf_counter() - start
                groups = f"{release.groups:,}", f"{release.withheld:,}"
                lines.append((promise, name, ail(release), f"{discernibility(release):.3g}", *groups, f"{taken:.2f} s"))
        header = ("promise", "scheme", "AIL", "discernibility", "groups", "withheld", "time")
        show(f"Full-domain generalization: {title}, {table.rows:,} rows", header, lines)
        lines = []
        for promise in PROMISES:
            for withhold in (0.0, 0.02):
                lattice = dc.Incognito(withhold=withhold).search(table, promise)
                found = f"{lattice.judged:,}", f"{lattice.kept.size:,}", f"{lattice.kept.sum():,}", len(lattice.minimal)
                lines.append((promise, withhold, *found))
        show(f"Its search: {title}", ("promise", "withhold", "judged", "of", "keep it", "minimal"), lines)


def census_income() -> dc.Table:
    """The people with an occupation; age in intervals of 5, 10, 20 and 40 years, all else as it is or not at all."""
    people = read_csv(CENSUS_INCOME)
    people = people.filter(pc.not_equal(people["AMJOCC"], "Not in universe"))
    return dc.read(
        people,
        quasi=["AAGE", "ARACE", "ASEX", "PRCITSHP"],
        sensitive="AMJOCC",
        numeric=["AAGE"],
        hierarchies={"AAGE": {"intervals": {"widths": [5, 10, 20, 40]}}},
    )
