"""What a promise against whoever knows the algorithm costs: sealed and mirrored beside schemes that make none.

Toy tables are looked at exactly: every way to give the values to the persons is published, the probability of every
release is known (sealed) or estimated from many runs (schemes that draw something else), and all worlds that give the
same release are weighed. In larger tables the values of all groups are dealt anew again and again, and beliefs come
from the tables in which the same persons were put into one group (the attack ``minimality``).
"""

from __future__ import annotations

import random
import time
from collections import defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa

import discreet as dc
from benchmarks import adult, measuring
from benchmarks.codip import DATA as CENSUS_INCOME
from benchmarks.measuring import KEYS, processor_seconds, publish, seconds, show
from benchmarks.minimality import Tally
from benchmarks.reruns import Posterior, reruns, with_values, worlds
from discreet.adversary.attacks.rerunning import content
from discreet.analyst.loss import ail
from discreet.datasets import HETEROGENEOUS_QUASI, LIKENESS_QUASI, census
from discreet.principles import Prior
from discreet.schemes.described import narrow

BETAS = 1, 2, 4
RUNS = 5
SCHEMES: dict[str, dc.Scheme] = {
    "sealed": dc.Sealed(),
    "mirrored": dc.Mirrored(),
    "BUREL": dc.Burel(),
    "Mondrian": dc.Mondrian(),
    "cuts, plain": dc.Cuts(cuts=("plain",)),
    "cuts": dc.Cuts(),
}
OCCUPATION = LIKENESS_QUASI[:3], LIKENESS_QUASI, HETEROGENEOUS_QUASI
CPS = CENSUS_INCOME.parents[1] / "cps" / "cps.csv.gz"
PERSON = ["AAGE", "ASEX", "ARACE"]
TOYS = {"aaaabbbb": 3}
"""The values of toy tables, and how often persons are placed for them."""
SHARE = 0.8
SAMPLED = {10_000: 1000, 100_000: 150, 500_000: 30}
"""The rows of larger tables, and how often their values are dealt anew."""
QUASI, SECRET = ("age", "gender", "education", "marital", "race"), "work_class"
"""Their attributes; of the ten values of the sensitive one, the most frequent has 36 % of the rows."""
AGAIN = {"sealed": 0, "mirrored": 30, "BUREL": 30, "lifting": 10}
"""How often a scheme is run on each world; 0 where probabilities are exact, and once where nothing is drawn."""


def main() -> None:
    for scheme in SCHEMES.values():
        publish(census(2000), dc.BetaLikeness(2), scheme)  # compiles
    for number in (3, 5):
        table = census(500_000, quasi=LIKENESS_QUASI[:number])
        _losses(f"census of 500,000 rows, {number} QIs, salary sensitive", table)
    _losses("census of 100,000 rows, 3 QIs, salary sensitive", census(100_000))
    _losses("census of 10,000 rows, 5 QIs, salary sensitive", census(10_000, quasi=LIKENESS_QUASI))
    if adult.DATA.is_dir():
        _losses("Adult, 8 QIs, occupation sensitive", adult.read())
    _with_rare_values()
    _picture([*_toys(), *_sampled()])


def _with_rare_values() -> None:
    """AIL where some values are rare: real tables of 100,000 rows and more, if they are here, and the census."""
    tables = {
        f"census, {len(of)} QIs, occupation": census(100_000, quasi=of, sensitive="occupation") for of in OCCUPATION
    }
    if CENSUS_INCOME.is_file() and CPS.is_file():
        people, units = pd.read_csv(CENSUS_INCOME), pd.read_csv(CPS)
        units["band"] = np.minimum(units["wages"] // 10_000, 20)
        for frame, quasi, sensitive in (
            (people, PERSON, "ADTOCC"),
            (people, PERSON, "AMJIND"),
            (people, PERSON, "GRINST"),
            (people, PERSON, "AHGA"),
            (people[people["ADTOCC"] != 0], PERSON, "ADTOCC"),
            (people[people["ADTOCC"] != 0], [*PERSON, "AMARITL", "AHGA"], "ADTIND"),
            (units, ["age", "household_size"], "children"),
            (units, ["age", "state", "filing_status", "household_size"], "band"),
        ):
            source = "CPS" if frame is units else "Census-Income"
            name = f"{source}, {len(frame):,} rows, {len(quasi)} QIs, {sensitive}"
            columns = pa.Table.from_pandas(frame[[*quasi, sensitive]], preserve_index=False)
            tables[name] = dc.read(columns, quasi=quasi, sensitive=sensitive)
    schemes, lines = ("sealed", "mirrored", "BUREL", "cuts, plain"), []
    for name, table in tables.items():
        for beta in (0.5, *BETAS):
            promise = dc.BetaLikeness(beta)
            means = [
                np.mean([ail(publish(table, promise, SCHEMES[by])) for _ in range(RUNS if by in AGAIN else 1)])
                for by in schemes
            ]
            lines.append((name, beta, *(f"{mean:.3f}" for mean in means)))
    header = ("table", "beta", *schemes)
    show("Sealed and mirrored where values are rare, AIL (means of five runs where something is drawn)", header, lines)


def _losses(title: str, table: dc.Table) -> None:
    """AIL by beta, the mean of several runs and their range where something is drawn."""
    unit, lines = seconds(lambda: np.argsort(KEYS), repeat=7, clock=time.process_time), []
    for name, scheme in SCHEMES.items():
        cells, taken = [], 0.0
        for beta in BETAS:
            losses: list[float] = []

            def run(scheme: dc.Scheme = scheme, beta: int = beta, losses: list[float] = losses) -> None:
                losses.append(ail(publish(table, dc.BetaLikeness(beta), scheme)))

            taken = max(taken, processor_seconds(run))
            for _ in range(RUNS - 1 if name in AGAIN else 0):
                run()
            spread = f" ({min(losses):.3f} to {max(losses):.3f})" if len(losses) > 1 else ""
            cells.append(f"{np.mean(losses):.3f}{spread}")
        lines.append((name, *cells, f"{taken / unit:.0f}"))
    header = ("scheme", *(f"beta={beta}" for beta in BETAS), "sorts, at most")
    show(f"Sealed and mirrored, AIL: {title}", header, lines)


def _toys() -> list[dict[str, object]]:
    promise = dc.LDiversity(1 / SHARE)
    lines, marks = [], []
    for name, scheme in {**SCHEMES, "lifting": dc.Lifting()}.items():
        tally, losses = Tally(), []
        for values, places in TOYS.items():
            for seed in range(places):
                table = _toy(values, seed)
                found = _sealed(table, promise) if name == "sealed" else _rerun(table, promise, scheme, name)
                for posterior, loss, times in found:
                    tally.add(posterior, promise.caps(Prior.of(table)), times)
                    losses += [loss] * times
        lines.append((name, f"{np.mean(losses):.3f}", *tally.cells()))
        marks.append(_mark("toy tables", name, float(np.mean(losses)), float(tally.cells()[3])))
    title = f"Whoever knows the algorithm, {promise}: all tables with the values {' or '.join(TOYS)} at random places"
    show(title, ("scheme", "AIL", "tables over", "pairs over", "95 % quantile", "worst", "standard error"), lines)
    return marks


def _sampled() -> list[dict[str, object]]:
    """Larger tables: what single groups tell that come out again when values are dealt anew."""
    promise, marks = dc.BetaLikeness(2), []
    for rows, runs in SAMPLED.items():
        table, lines = census(rows, quasi=QUASI, sensitive=SECRET), []
        for name, scheme in SCHEMES.items():
            release = narrow(scheme).publish(table, promise)
            attack = dc.Minimality(runs=30 if name == "mirrored" else runs)  # which is slow, and never the same
            found = dc.attack(release, table, attack, trace=release.trace).evidence[0].details
            told = ("", "") if "worst" not in found else (f"{found['over']:,}", f"{found['worst']:.2f}")
            lines.append((name, f"{ail(release):.3f}", found["runs"], f"{found['concluded']:,}", *told))
            if "worst" in found:
                marks.append(_mark(f"{rows:,} rows", name, ail(release), found["worst"]))
        title = f"Whoever knows the algorithm, {promise}: census of {rows:,} rows, 5 QIs, work class sensitive, sampled"
        show(title, ("scheme", "AIL", "runs", "persons concluded about", "of them over", "worst beyond doubt"), lines)
    return marks


def _mark(table: str, scheme: str, loss: object, worst: object) -> dict[str, object]:
    return {"table": table, "scheme": scheme, "loss": loss, "worst": worst}


def _toy(values: str, seed: int) -> dc.Table:
    chance = random.Random(seed)
    columns = {"x": [chance.randrange(6) for _ in values], "y": [chance.randrange(4) for _ in values]}
    return dc.read(pa.table({**columns, "s": list(values)}), quasi=["x", "y"], sensitive="s")


def _rerun(table: dc.Table, promise: dc.Principle, scheme: dc.Scheme, name: str) -> list[tuple[Posterior, float, int]]:
    losses: dict[object, float] = {}

    def publish(world: dc.Table) -> dc.Release:
        release = narrow(scheme).publish(world, promise)
        losses[content(release)] = ail(release)
        return release

    known = reruns(table, publish, runs=AGAIN.get(name, 1))
    found = ((known.posterior(seen), losses[seen]) for seen in known.found)
    return [(posterior, loss, posterior.matches) for posterior, loss in found]


def _sealed(table: dc.Table, promise: dc.Principle) -> list[tuple[Posterior, float, int]]:
    """Exactly: every partition that some run on some world gives, weighed by its probability in every world."""
    scheme, every = dc.Sealed(), list(worlds(table))
    tables = [with_values(table, world) for world in every]
    partitions = {_numbered(narrow(scheme).publish(world, promise).trace) for world in tables for _ in range(20)}
    result = []
    for groups in partitions:
        chances = [float(scheme.likelihood(world, promise, np.array(groups)) or 0) for world in tables]
        release = dc.GeneralizedRelease.from_groups(table, np.array(groups), promise=promise, scheme="sealed")
        of_counts: dict[object, list[int]] = defaultdict(list)
        for at, world in enumerate(every):
            if chances[at]:
                of_counts[tuple(sorted(zip(groups, world.tolist(), strict=True)))].append(at)
        for alike in of_counts.values():
            total = sum(chances[at] for at in alike)
            beliefs = np.zeros((table.rows, len(table.prior_counts)))
            for at in alike:
                beliefs[np.arange(table.rows), every[at]] += chances[at] / total
            times = max(1, round(1000 * total / len(every)))
            result.append((Posterior(beliefs, np.zeros_like(beliefs), len(alike)), ail(release), times))
    return result


def _numbered(trace: np.ndarray | None) -> tuple[int, ...]:
    """Groups by numbers in the order of their first rows."""
    assert trace is not None
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in trace.tolist())


def _picture(marks: list[dict[str, object]]) -> None:
    """Loss against the worst belief, for each kind of table."""
    from discreet.report.charts import require, themed

    across = {"field": "loss", "type": "quantitative", "title": "AIL", "scale": {"zero": False, "padding": 30}}
    up = {"field": "worst", "type": "quantitative", "title": "worst belief, as a multiple of its bound"}
    name = {"mark": {"type": "text", "align": "left", "dx": 9}, "encoding": {"text": {"field": "scheme"}}}
    bound = {"mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": {"y": {"datum": 1}}}
    dots = {
        "encoding": {"x": across, "y": up},
        "layer": [{"mark": {"type": "point", "filled": True, "size": 90}}, name],
    }
    together: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for mark in marks:  # schemes at the same place share a mark, and so their names can be read
        together[mark["table"], round(float(str(mark["loss"])), 2), round(float(str(mark["worst"])), 2)].append(
            mark["scheme"]
        )
    marks = [_mark(str(at[0]), ", ".join(map(str, names)), at[1], at[2]) for at, names in together.items()]
    of_table = [
        {
            "title": table,
            "width": 420,
            "height": 240,
            "data": {"values": [mark for mark in marks if mark["table"] == table]},
            "layer": [bound, dots],
        }
        for table in dict.fromkeys(mark["table"] for mark in marks)
    ]
    chart = themed({"concat": of_table, "columns": 2}, autosize="pad")
    measuring.plots.mkdir(parents=True, exist_ok=True)
    picture = require("vl_convert").vegalite_to_png({**chart, "background": "white"}, scale=2)
    (measuring.plots / "sealed.png").write_bytes(picture)
    print(f"\nThe plot is in {measuring.plots / 'sealed.png'}.")
