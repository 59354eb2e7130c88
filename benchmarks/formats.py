"""What counts are off by and what attacks guess, for every scheme and format: Adult, and a census of 100,000."""

from __future__ import annotations

import discreet as dc
from benchmarks.adult import DATA, QUASI
from benchmarks.defaults import FORMATS, PROMISES, SCHEMES, SEED, names
from benchmarks.measuring import show
from discreet.datasets import LIKENESS_QUASI, census
from discreet.principles.wording import percent
from discreet.report.comparison import Result

BETAS = PROMISES[:3]
OTHERS = (*(f"{scheme}({options})" for options in FORMATS for scheme in ("incognito", "heterogeneous")), "perturbation")
ASKED = 2_000


def main() -> None:
    if DATA.is_dir():
        table = dc.read(DATA / "adult.csv.gz", quasi=QUASI, sensitive="occupation")
        _compare(f"Adult: {table.rows:,} rows, 8 QIs without hierarchies, occupation", table)
    else:
        print(f"\nAdult is not here (looked for {DATA.name}/ in shared/data beside the project): not measured.")
    _compare("census: 100,000 rows, 5 QIs, salary", census(100_000, quasi=LIKENESS_QUASI))


def _compare(title: str, table: dc.Table) -> None:
    """Print a line for each scheme and format."""
    made = dc.compare(table, BETAS, (*SCHEMES, *OTHERS), queries=ASKED, dimensions=2, random_state=SEED)
    lines = []
    for text in made.schemes:
        each = [result for result in made.results if result.scheme == text]
        lines.append((*names(text), *map(_error, each), *map(_guessed, each)))
    lines.sort(key=lambda line: [*FORMATS.values()].index(line[1]))
    without, original = map(percent, (made.without_release, made.from_original))
    header = ("scheme", "format", *(f"{what}, beta={beta}" for what in ("error", "guessed") for beta in (1, 2, 4)))
    show(f"{title}; guessed without a release {without}, from the original {original}", header, lines)


def _error(result: Result) -> str:
    return "-" if result.workload is None else percent(result.workload.median)


def _guessed(result: Result) -> str:
    return "-" if result.guessed is None else percent(result.guessed)
