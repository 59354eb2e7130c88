"""Adult, 8 quasi-identifiers, occupation sensitive, enhanced beta-likeness, nothing withheld."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import discreet as dc
from benchmarks.measuring import publish, show
from discreet.analyst.loss import ail

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def read() -> dc.Table:
    hierarchies = {name: DATA / f"hierarchy_{name}.csv" for name in QUASI if name != "age"}
    return dc.read(DATA / "adult.csv.gz", quasi=QUASI, sensitive="occupation", hierarchies=hierarchies)


def main() -> None:
    if not DATA.is_dir():
        print(f"\nAdult is not here (looked for {DATA.name}/ in shared/data beside the project): not measured.")
        return
    table = read()
    publish(table, dc.BetaLikeness(4))
    lines = []
    for beta in (1, 2, 4):
        for name, scheme in {
            "Mondrian": dc.Mondrian(),
            "fast": dc.Cuts(),
            "thorough": dc.Cuts(effort="thorough"),
        }.items():
            start = time.perf_counter()
            release = publish(table, dc.BetaLikeness(beta), scheme)
            taken = time.perf_counter() - start
            with tempfile.TemporaryDirectory() as folder:
                release.save(Path(folder) / "release")
                holds = dc.audit(Path(folder) / "release", table, trace=release.trace).holds
            verdict = "holds" if holds else "FAILS"
            lines.append(
                (beta, name, f"{ail(release):.4f}", release.groups, release.withheld, verdict, f"{taken:.1f} s")
            )
    show(
        "Adult: 30,162 rows, 8 QIs, occupation, enhanced beta-likeness",
        ("beta", "scheme", "AIL", "groups", "withheld", "audit of the files", "time"),
        lines,
    )
