"""Is what `advise` recommends about the best? Compare its counts with those of every scheme under the same promise.

    python benchmarks/advice.py [FOLDER]

FOLDER has the public tables adult.csv.gz, acs2019.csv.gz, cps.csv.gz and census_income.csv.gz, somewhere below it;
tables that are not there are left out. Of large tables a sample of 20,000 rows is taken.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.analyst.quality import quality
from discreet.datasets import census, patients
from discreet.jobs.advise import SEED
from discreet.principles.wording import percent
from discreet.schemes import SCHEMES, make_scheme

PUBLIC = {
    "Adult": ("adult.csv.gz", "age,sex,race,education,marital-status,native-country", "occupation", {}),
    "ACS": (
        "acs2019.csv.gz",
        "AGEP,SEX,MSP,EDU,RAC1P",
        "PINCP",
        {"categorical": ["SEX", "MSP", "RAC1P"], "missing": "value"},
    ),
    "CPS": (
        "cps.csv.gz",
        "age,state,filing_status,household_size",
        "wages",
        {"categorical": ["state", "filing_status"]},
    ),
    "Census-Income": ("census_income.csv.gz", "AAGE,ASEX,ARACE,AMARITL,AHGA", "AMJOCC", {}),
}
COUNTED = ("cuts", "mondrian", "incognito", "burel", "sabre", "heterogeneous", "sealed", "mirrored")
VARIANTS = (
    *(f"{name}(marginals=one-way)" for name in COUNTED),
    *(f"{name}(descriptions=exact)" for name in ("cuts", "mondrian", "sealed", "mirrored", "lifting")),
)
ROWS = 20_000


def tables(folder: Path | None) -> Iterator[tuple[str, dc.Table]]:
    """The tables, by name."""
    yield "patients", patients()
    yield "census", census(ROWS, quasi=("age", "gender", "education", "marital"), sensitive="occupation")
    for name, (file, quasi, sensitive, reading) in PUBLIC.items():
        for path in [] if folder is None else sorted(folder.rglob(file))[:1]:
            table = dc.read(path, quasi=quasi.split(","), sensitive=sensitive, **reading)
            if table.rows > ROWS:
                table = table.reordered(np.random.default_rng(SEED).permutation(table.rows)[:ROWS])
            yield name, table


def best(table: dc.Table, promise: str) -> tuple[float, str]:
    """The smallest error of counts under a promise by any scheme, and which one has it."""
    found = []
    for text in (*SCHEMES, *VARIANTS):
        try:
            release = make_scheme(text, random_state=SEED).publish(table, dc.parse(promise))
        except dc.DiscreetError:
            continue
        error = quality(release, table).median_error
        if error is not None:
            found.append((error, text))
    return min(found)


def main() -> None:
    """Print a line of the table in docs/reading/advise.md for each recipient and table."""
    print("| table | for | promise | recommended | error | best scheme | error |\n|---|---|---|---|---|---|---|")
    for name, table in tables(Path(sys.argv[1]) if len(sys.argv) > 1 else None):
        for made in dc.advise(table).recommendations:
            release = made.release
            if release is None or release.error is None:
                continue
            error, scheme = best(table, release.promise)
            ours = f"`{release.scheme}` | {percent(release.error)}"
            print(
                f"| {name} | {made.recipient} | `{release.promise}` | {ours} | `{scheme}` | {percent(error)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
