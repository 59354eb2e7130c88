"""Tables at the border of what heterogeneous generalization and lifting can do: the right answer or a clear refusal.

In the library and from the command line, where a release is written only after the audit of its files holds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.analyst.loss import ail
from discreet.schemes import Scheme
from discreet.table.table import Table
from support.audits import audits
from support.command import run

SCHEMES: dict[str, Scheme] = {
    "heterogeneous": dc.Heterogeneous(random_state=1),
    "heterogeneous:publishes=graph": dc.Heterogeneous(publishes="graph", random_state=1),
    "heterogeneous:buckets=published": dc.Heterogeneous(buckets="published", random_state=1),
    "lifting": dc.Lifting(random_state=1),
    "lifting:lift=blind": dc.Lifting(lift="blind", random_state=1),
    "lifting:base=cuts": dc.Lifting(base="cuts", random_state=1),
}
REFUSED = {
    "not l-eligible": ("aaabcd", "l-diversity(l=3)", r"holds 50.0 % of the rows, so l can be at most 2; ask for l=2"),
    "fewer rows than l": ("ab", "l-diversity(l=3)", "l can be at most 2"),
    "one row, and two are asked for": ("a", "l-diversity(l=2)", "l can be at most 1, which promises nothing"),
    "one value, and two are asked for": ("aaaa", "l-diversity(l=2)", "promises nothing"),
}
KEPT = {
    "beta=0, co-prime counts": ("aaaaaaabbbbbbbbbcccccccccccc", "beta-likeness(beta=0)"),
    "beta=0, a common divisor": ("aaaaaabbbbbbbbbcccccccccccc", "beta-likeness(beta=0)"),
    "two rows": ("ab", "l-diversity(l=2)"),
    "one value": ("aaaa", "beta-likeness(beta=1)"),
    "one row": ("a", "beta-likeness(beta=1)"),
    "more rows than buckets take": ("aaabbbccdde", "l-diversity(l=3)"),
}


def columns(values: str, constant: bool) -> pa.Table:
    ages = [30] * len(values) if constant else np.random.default_rng(0).permutation(len(values)).tolist()
    return pa.table({"age": ages, "city": ["x" if constant else "xy"[at % 2] for at in ages], "value": list(values)})


def people(values: str, constant: bool = False) -> Table:
    return dc.read(columns(values, constant), quasi=["age", "city"], sensitive="value", numeric=["age"])


@pytest.mark.parametrize("label", SCHEMES)
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_kept_is_refused(label: str, what: str) -> None:
    values, promise, said = REFUSED[what]
    with pytest.raises(dc.DiscreetError, match=said):
        dc.publish(people(values), promise, SCHEMES[label])


@pytest.mark.slow
@pytest.mark.parametrize("label", SCHEMES)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("what", KEPT)
def test_what_can_be_kept_is(label: str, what: str, constant: bool) -> None:
    values, promise = KEPT[what]
    table = people(values, constant)
    release = dc.publish(table, promise, SCHEMES[label])
    assert release.rows == len(values) and release.withheld == 0
    with_trace, _ = audits(release, table)
    assert with_trace.support == "trace"
    if constant or what == "one value":
        assert ail(release) == 0.0  # nothing to tell apart, or nothing to hide
    if "co-prime" in what and "heterogeneous" in label and not constant:
        assert ail(release) == 1.0  # only all rows together are like the whole table; lifting has more ways to be
    if "divisor" in what and "heterogeneous" in label and not constant:
        assert ail(release) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("label", ["heterogeneous", "heterogeneous:publishes=graph", "lifting"])
def test_the_command_line_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    monkeypatch.chdir(tmp_path)
    name, _, option = label.partition(":")
    how = ["--scheme", name, *(["--option", option] if option else [])]
    how += ["--quasi", "age,city", "--sensitive", "value", "--numeric", "age"]
    for at, (values, promise, _) in enumerate(REFUSED.values()):
        pyarrow.csv.write_csv(columns(values, False), f"{at}.csv")
        told = run("publish", f"{at}.csv", "-o", f"r{at}", "--promise", promise, *how, code=2).output
        assert told.count("\n") < 6 and not Path(f"r{at}").exists()
    for at, (values, promise) in enumerate(KEPT.values(), len(REFUSED)):
        pyarrow.csv.write_csv(columns(values, at % 2 == 0), f"{at}.csv")
        run("publish", f"{at}.csv", "-o", f"r{at}", "--promise", promise, *how, "--trace", f"{at}.trace", "--quiet")
        run("audit", f"r{at}", "--original", f"{at}.csv", "--trace", f"{at}.trace")
