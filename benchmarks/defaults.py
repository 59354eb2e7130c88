"""Which scheme with which options should be the default for which promise? Judged by counts on ten tables.

Adult, acs, cps and census-income are public tables in `shared/data` beside the project; those that are not there are
left out. The others are generated. Of large tables a sample of 30,000 rows is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.stats import rankdata

import discreet as dc
from benchmarks.adult import DATA, QUASI
from benchmarks.measuring import show
from discreet.datasets import LIKENESS_QUASI, census, patients
from discreet.report.comparison import Comparison, Result

ROWS, SEED = 30_000, 1
PROMISES = (
    *(f"beta-likeness(beta={beta})" for beta in (1, 2, 4)),
    "k-anonymity(k=5) & beta-likeness(beta=2)",
)
GROUPING = ("cuts", "lifting", "sealed", "mirrored", "mondrian", "burel")
FORMATS = {"marginals=none": "boxes", "marginals=one-way": "with counts", "descriptions=exact": "exact"}
BASELINE = "baseline"
SCHEMES = (*(f"{scheme}({options})" for options in FORMATS for scheme in GROUPING), BASELINE)
LEAST = 1e-4
"""Smaller errors count as this, so that one exact answer does not decide a mean."""
PUBLIC = {
    "adult": ("adult/adult.csv.gz", QUASI, "occupation", {}),
    "acs": (
        "acs/acs2019.csv.gz",
        ["AGEP", "SEX", "MSP", "EDU", "RAC1P"],
        "PINCP_DECILE",
        {"categorical": ["SEX", "MSP", "RAC1P", "PINCP_DECILE"], "missing": "value"},
    ),
    "cps": (
        "cps/cps.csv.gz",
        ["age", "state", "filing_status", "household_size"],
        "wages",
        {"categorical": ["state", "filing_status"], "bins": {"wages": "quantiles:20"}},
    ),
    "census-income": (
        "census-income/census_income.csv.gz",
        ["AAGE", "ASEX", "ARACE", "AMARITL", "AHGA"],
        "AMJOCC",
        {},
    ),
}


class Judged(NamedTuple):
    """What a scheme achieved on one table."""

    result: Result
    error: float
    relative: float
    """The error as a multiple of that of one group with exact quasi-identifiers."""
    rank: float
    learnt: float
    """How far attacks come on the way from no release, 0, to the original, 1."""


def main() -> None:
    compared = {}
    for name, table in tables():
        print(f"{name}: {table.rows:,} rows, {len(table.quasi)} quasi-identifiers", file=sys.stderr, flush=True)
        compared[name] = dc.compare(table, PROMISES, SCHEMES, queries=1_000, dimensions=2, random_state=SEED)
    for promise in map(str, next(iter(compared.values())).promises):
        judged = {name: _judged(comparison, promise) for name, comparison in compared.items()}
        _summary(promise, judged)
        _errors(promise, judged)


def tables() -> Iterator[tuple[str, dc.Table]]:
    """Yield the tables, by name."""
    for name, (file, quasi, sensitive, reading) in PUBLIC.items():
        if (DATA.parent / file).exists():
            people = pa.csv.read_csv(DATA.parent / file)
            some = np.random.default_rng(SEED).permutation(people.num_rows)[:ROWS]
            yield name, dc.read(people.take(pa.array(some)), quasi=quasi, sensitive=sensitive, **reading)
        else:
            print(f"\n{name} is not here (looked in shared/data beside the project): not measured.")
    yield "census, 3 QIs", census(ROWS)
    yield "census, 5 QIs", census(ROWS, quasi=LIKENESS_QUASI)
    yield "census, jobs", census(ROWS, quasi=LIKENESS_QUASI[:4], sensitive="occupation")
    yield "patients", patients()
    yield "firms", firms(10_000, 1.0)
    yield "unrelated", firms(10_000, 0.0)


def firms(rows: int, weight: float) -> dc.Table:
    """Generate a table whose sensitive column depends on all others, some of them together, or with 0 on none."""
    chance = np.random.default_rng(SEED)
    age, skill = chance.integers(16, 67, rows), chance.binomial(4, 0.5, rows)
    town, trade = chance.integers(0, 15, rows), np.minimum(chance.geometric(0.25, rows), 8)
    score = 1.5 * np.sin(age / 12) + skill * (trade % 3) + 0.4 * (town % 5)
    wage = weight * score + chance.normal(0, 1, rows)
    classes = np.digitize(wage, np.quantile(wage, 1 - 0.75 ** np.arange(1, 13)))
    texts = {"town": [f"town {at}" for at in town], "trade": [f"trade {at}" for at in trade]}
    wages = [f"class {at:02d}" for at in classes]
    return dc.read(
        pa.table({"age": age, **texts, "skill": skill, "wage": wages}),
        quasi=["age", "town", "trade", "skill"],
        sensitive="wage",
    )


def _judged(comparison: Comparison, promise: str) -> dict[str, Judged]:
    """What each scheme that published achieved, by its text."""
    without, original = comparison.without_release, comparison.from_original
    (one_group, *_) = [_error(each) for each in comparison.results if each.scheme == BASELINE and each.workload]
    made = [each for each in comparison.results if each.promise == promise and each.workload is not None]
    for each in made:
        assert each.audit is not None and each.audit.holds, (promise, each.scheme, each.failures)
    found = {}
    for result, rank in zip(made, rankdata([_error(each) for each in made]), strict=True):
        error = _error(result)
        learnt = (result.guessed - without) / (original - without) if original > without else 0.0
        found[result.scheme] = Judged(result, error, error / one_group, float(rank), learnt)
    return found


def _error(result: Result) -> float:
    return max(result.workload.median, LEAST)


def _summary(promise: str, judged: dict[str, dict[str, Judged]]) -> None:
    """Print one line for each scheme: how good its counts are over all tables, and what else it is like."""
    lines = []
    for text in SCHEMES:
        each = [found[text] for found in judged.values() if text in found]
        if not each:
            continue
        losses = [one.result.losses["ail"] for one in each]
        kept = [next(value for key, value in one.result.achieved.items() if key.startswith("beta")) for one in each]
        lines.append(
            (
                *names(text),
                len(each),
                f"{np.mean([one.rank for one in each]):.1f}",
                f"{np.exp(np.mean(np.log([one.relative for one in each]))):.2f}",
                sum(one.relative > 1 + 1e-9 for one in each),
                "exact" if each[0].result.exact_quasi else f"{np.mean(losses):.2f}",
                f"{np.mean(kept):.2f}",
                f"{round(100 * np.mean([one.learnt for one in each]))} %",
                f"{sum(one.result.seconds['publish'] for one in each):.1f} s",
            )
        )
    header = (
        *("scheme", "format", "tables", "mean rank", "error / baseline's", "worse than it", "AIL", "beta kept"),
        *("learnt", "time"),
    )
    show(f"{promise}: {len(judged)} tables", header, lines)


def _errors(promise: str, judged: dict[str, dict[str, Judged]]) -> None:
    """Print the median errors on each table."""
    lines = []
    for text in SCHEMES:
        cells = [f"{100 * found[text].error:.1f}" if text in found else "-" for found in judged.values()]
        if set(cells) != {"-"}:
            lines.append((*names(text), *cells))
    show(f"{promise}: median errors of counts, in %", ("scheme", "format", *judged), lines)


def names(text: str) -> tuple[str, str]:
    """The scheme and the format of its release, of a scheme as text."""
    scheme, _, options = text.partition("(")
    return f"`{scheme}`", FORMATS.get(options.removesuffix(")"), "exact")
