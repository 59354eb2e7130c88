"""Drawn rows beside the original: how far their marginals are apart, and SDNist's score where it is at hand.

SDNist runs in an environment of its own, because it needs older libraries: ``python3.11 -m venv sdnist``,
``sdnist/bin/pip install sdnist``, and then ``SDNIST=sdnist/bin/python python -m benchmarks sdnist``. It then scores the
same rows. With ``SDNIST_DATA=FOLDER`` it also scores rows drawn from releases of its own data, with its own bins, where
FOLDER has ``config.json``, ``data_dictionary.json``, ``mappings.json`` and ``massachusetts/ma2019.csv`` with its JSON
(the NIST Diverse Communities Data Excerpts, which are public).
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import show
from discreet.datasets import LIKENESS_QUASI, census_arrow
from discreet.randomness import generator
from discreet.schemes import make_scheme

ROWS = 20_000
PROMISE = "beta-likeness(beta=2)"
SAMPLE = 0.4
"""The share of the original that is compared with it as if it were published."""
SCHEMES = (
    "cuts(marginals=none)",
    "cuts(marginals=one-way)",
    "cuts(descriptions=exact)",
    "lifting(marginals=none)",
    "lifting(marginals=one-way)",
    "sealed(marginals=none)",
    "sealed(marginals=one-way)",
    "sealed(descriptions=exact)",
    "baseline",
)
EXCERPT = ("AGEP", "SEX", "MSP", "HISP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "INDP_CAT")
DECILE = "PINCP_DECILE"
THEIRS = """
import json, sys, warnings
warnings.filterwarnings("ignore")
from pathlib import Path
import pandas
from sdnist.load import TestDatasetName
from sdnist.report.dataset import Dataset
from sdnist.utils import SimpleLogger
from sdnist.metrics.kmarginal import KMarginal  # which cannot be imported before these
task = json.load(open(sys.argv[1]))
scores = []
if task["data"] is None:
    original = pandas.read_csv(task["original"], dtype=str, keep_default_na=False)
    for rows in task["rows"]:
        drawn = pandas.read_csv(rows, dtype=str, keep_default_na=False)
        scores.append(KMarginal(original, drawn).compute_score())
else:
    for rows in task["rows"]:
        data = Dataset(Path(rows), SimpleLogger(), TestDatasetName.ma2019, Path(task["data"]), download=False)
        scores.append(KMarginal(data.d_target_data, data.d_synthetic_data).compute_score())
json.dump([float(score) for score in scores], open(task["result"], "w"))
"""


class Contender(NamedTuple):
    """Rows that are compared with the original."""

    name: str
    rows: pa.Table


def main() -> None:
    people = census_arrow(ROWS).select([*LIKENESS_QUASI, "salary"])
    _compare(
        f"census of {ROWS:,} rows, 5 QIs, salary sensitive",
        people,
        dc.read(people, quasi=LIKENESS_QUASI, sensitive="salary"),
    )
    if adult.DATA.is_dir():
        table = adult.read()
        columns = {column.name: pa.array(column.texts).take(pa.array(column.codes)) for column in table.columns}
        _compare("Adult, 8 QIs, occupation sensitive", pa.table(columns), table)
    python, data = os.environ.get("SDNIST"), os.environ.get("SDNIST_DATA")
    if python is None or data is None:
        print("\nSDNist's own data are not scored: SDNIST names no Python, or SDNIST_DATA no folder; see its module.")
        return
    excerpt = pa.csv.read_csv(
        Path(data, "massachusetts", "ma2019.csv"),
        convert_options=pa.csv.ConvertOptions(
            include_columns=[*EXCERPT, DECILE], column_types=dict.fromkeys([*EXCERPT, DECILE], pa.string())
        ),
    )
    excerpt = excerpt.set_column(0, "AGEP", excerpt["AGEP"].cast(pa.int64()))
    table = dc.read(excerpt, quasi=EXCERPT, sensitive=DECILE, categorical=[*EXCERPT[1:], DECILE])
    both = list(contenders(excerpt, table))
    lines = zip((each.name for each in both), _theirs(python, excerpt, both, data), strict=True)
    show(
        "drawn rows: Massachusetts 2019, 9 QIs, income decile sensitive, SDNist's bins", ("rows", "SDNist"), list(lines)
    )


def _compare(title: str, people: pa.Table, table: dc.Table) -> None:
    """Print how far drawn rows are from the original, and what SDNist says of them, if it is there."""
    both = list(contenders(people, table))
    python = os.environ.get("SDNIST")
    scores = [""] * len(both) if python is None else [f"{score:.0f}" for score in _theirs(python, people, both)]
    lines = []
    for contender, score in zip(both, scores, strict=True):
        codes = coded(people, contender.rows)
        found = [f"{distance(codes, people.num_rows, width):.3f}" for width in (2, 3)]
        met = met_again(codes[: len(table.quasi)], people.num_rows)
        lines.append((contender.name, *found, f"{met:.1%}", score))
    header = ("rows", "distance of pairs", "of triples", "unique people met", "SDNist")
    show(f"drawn rows: {title}, {PROMISE}", header, lines)


def contenders(people: pa.Table, table: dc.Table) -> Iterator[Contender]:
    """Yield rows drawn from releases of a table, and what they are compared with."""
    random = generator(1)
    shuffled = {name: people[name].take(pa.array(random.permutation(people.num_rows))) for name in people.column_names}
    yield Contender("columns shuffled independently", pa.table(shuffled))
    sample = random.permutation(people.num_rows)[: round(SAMPLE * people.num_rows)]
    yield Contender(f"{SAMPLE:.0%} of the original", people.take(pa.array(sample)))
    for scheme in SCHEMES:
        release = dc.publish(table, PROMISE, make_scheme(scheme, random_state=1))
        yield Contender(scheme, release.draw(random_state=1).select(people.column_names))


def coded(people: pa.Table, rows: pa.Table) -> list[NDArray[np.int64]]:
    """The columns of both, one below the other, as codes of their texts."""
    both = []
    for name in people.column_names:
        texts = pa.chunked_array([*_texts(people[name]), *_texts(rows[name])])
        both.append(texts.combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64))
    return both


def _texts(column: pa.ChunkedArray) -> list[pa.Array]:
    return [pc.fill_null(chunk.cast(pa.string()), "") for chunk in column.chunks]


def distance(codes: list[NDArray[np.int64]], people: int, width: int) -> float:
    """The mean total variation distance of the joint distributions of so many columns; 0 if they are the same."""
    found = []
    for columns in combinations(codes, width):
        cell = np.zeros(len(codes[0]), np.int64)
        for column in columns:
            cell = np.unique(cell * (column.max() + 1) + column, return_inverse=True)[1]
        shares = [np.bincount(part, minlength=cell.max() + 1) / len(part) for part in (cell[:people], cell[people:])]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def met_again(codes: list[NDArray[np.int64]], people: int) -> float:
    """Of the people with quasi-identifiers of their own, the share whose quasi-identifiers some drawn row has."""
    cell = np.zeros(len(codes[0]), np.int64)
    for column in codes:
        cell = np.unique(cell * (column.max() + 1) + column, return_inverse=True)[1]
    had, drawn = (np.bincount(part, minlength=cell.max() + 1) for part in (cell[:people], cell[people:]))
    return float((drawn[had == 1] > 0).mean())


def _theirs(python: str, people: pa.Table, both: list[Contender], data: str | None = None) -> list[float]:
    """SDNist's k-marginal score of all rows, of 1,000."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        files = [home / f"rows_{at}.csv" for at in range(len(both))]
        for file, table in zip([*files, home / "original.csv"], [*(each.rows for each in both), people], strict=True):
            texts = {name: pa.chunked_array(_texts(table[name])) for name in people.column_names}
            pa.csv.write_csv(pa.table(texts), file)
        task = {"original": str(home / "original.csv"), "rows": list(map(str, files)), "data": data}
        (home / "task.json").write_text(json.dumps({**task, "result": str(home / "result.json")}))
        subprocess.run([python, "-c", THEIRS, str(home / "task.json")], check=True, stdout=subprocess.DEVNULL)
        return list(json.loads((home / "result.json").read_text()))
