"""pycanon and anjana beside discreet: the same table and promises, their output judged by the definitions.

Both run in an environment of their own, because they need older libraries: ``python -m venv rivals``, ``rivals/bin/pip
install pycanon anjana``, and then ``RIVALS=rivals/bin/python python -m benchmarks rivals``.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import discreet as dc
from benchmarks.measuring import processor_seconds, publish, show
from discreet.datasets import census_arrow

QUASI, SECRET = ("age", "gender", "education"), "occupation"
AGE, EDUCATION = (16, 94), (1, 17)
STEPS = {"age": (AGE, (5, 10, 20, 40)), "education": (EDUCATION, (2, 4, 8))}
"""The widths of the intervals of each level, for all programs the same."""
THEIRS = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy, pandas
import anjana.anonymity as anjana, pycanon.anonymity as pycanon
task = json.load(open(sys.argv[1]))
frame = pandas.read_csv(task["table"], dtype=str)
quasi, secret = task["quasi"], task["secret"]
if task["what"] == "measure":
    started = time.process_time()
    found = {name: float(getattr(pycanon, name)(frame, quasi, [secret])) for name in task["models"]}
    json.dump({"seconds": time.process_time() - started, "found": found}, open(task["result"], "w"))
else:
    trees = {name: {at: numpy.array(texts) for at, texts in enumerate(tree)} for name, tree in task["trees"].items()}
    started = time.process_time()
    made = getattr(anjana, task["model"])(frame, [], quasi, secret, 2, *task["parameters"], 0, trees)
    json.dump({"seconds": time.process_time() - started}, open(task["result"], "w"))
    made.to_csv(task["made"], index=False)
"""
ANJANA = {
    "l-diversity(l=5, kind=distinct)": ("l_diversity", (5,)),
    "t-closeness(t=0.3)": ("t_closeness", (0.3,)),
    "beta-likeness(beta=4, variant=basic)": ("basic_beta_likeness", (4.0,)),
}
SCHEMES = ("incognito", "cuts")


def main() -> None:
    python = os.environ.get("RIVALS")
    if python is None:
        print("\nRivals are not measured: RIVALS names no Python with pycanon and anjana; see benchmarks/rivals.py.")
        return
    with tempfile.TemporaryDirectory() as folder:
        _publishing(python, Path(folder))
        _measuring(python, Path(folder))


def _publishing(python: str, home: Path) -> None:
    """anjana and discreet anonymise the same rows under the same promises with the same hierarchies."""
    lines = []
    for rows in (1_000, 10_000):
        people = census_arrow(rows).select([*QUASI, SECRET])
        trees = {name: _levels(people[name].to_pylist(), *STEPS[name]) for name in STEPS}
        trees["gender"] = [people["gender"].to_pylist(), ["*"] * rows]
        for promise, (model, parameters) in ANJANA.items():
            task = {"what": "publish", "model": model, "parameters": parameters, "trees": trees}
            seconds = _theirs(python, home, people, task)["seconds"]
            made = pa.csv.read_csv(home / "made.csv", convert_options=pa.csv.ConvertOptions(strings_can_be_null=False))
            kept, loss = ("nothing published", "-")
            if made.num_rows:
                kept, loss = _kept(made, promise), f"{_loss(made, people, trees):.3f}"
            lines.append((f"{rows:,}", promise, "anjana", kept, loss, f"{seconds:.2f} s"))
            original = dc.read(
                people, quasi=QUASI, sensitive=SECRET, domains={"age": AGE, "education": EDUCATION},
                numeric=["age", "education"],
            )  # fmt: skip
            for scheme in SCHEMES:
                lines.append((f"{rows:,}", promise, f"discreet, {scheme}", *_ours(original, promise, scheme, home)))
    header = ("rows", "promise", "program", "promise kept, by definition", "AIL", "processor time")
    show("Publishing: census, 3 QIs, occupation, nothing withheld, each promise with k=2", header, lines)


def _ours(original: dc.Table, promise: str, scheme: str, home: Path) -> tuple[str, str, str]:
    release = None
    for _ in range(2):  # the first run compiles
        started = time.process_time()
        try:
            release = publish(original, f"{promise} & k-anonymity(k=2)", scheme=scheme)
        except dc.DiscreetError:
            return "not offered", "-", "-"
        seconds = time.process_time() - started
    folder = home / f"{scheme}-{original.rows}-{len(list(home.iterdir()))}"
    assert release is not None
    release.save(folder)
    kept = _kept(pa.csv.read_csv(folder / "table.csv"), promise, "group")
    return kept, f"{dc.audit(folder, original).losses['ail']:.3f}", f"{seconds:.2f} s"


def _measuring(python: str, home: Path) -> None:
    """pycanon measures two tables whose parameters can be reckoned by hand."""
    common = pa.table({"q": ["a"] * 4 + ["b"] * 4, SECRET: ["x"] * 4 + ["x", "y", "y", "z"]})
    lines = []
    for name, said, right in (
        (
            "enhanced_beta_likeness",
            "enhanced beta",
            "none: 'x' (5 of 8) has a share of 1 in a group, above every bound",
        ),
        ("delta_disclosure", "delta", "none: 'y' and 'z' do not occur in a group"),
        ("basic_beta_likeness", "basic beta", "1"),
        ("t_closeness", "t", "0.375"),
    ):
        task = {"what": "measure", "models": [name], "quasi": ["q"]}
        found = _theirs(python, home, common, task)["found"][name]
        lines.append((said, f"{found:.4g}", right))
    header = ("measure", "pycanon", "by definition")
    show("Measuring a table of two groups, with the values x x x x and x y y z", header, lines)
    lines = []
    for rows in (10_000, 100_000):
        people = census_arrow(rows).select([*QUASI, SECRET])
        original = dc.read(people, quasi=QUASI, sensitive=SECRET)
        release = publish(original, "beta-likeness(beta=4)")
        folder = home / f"measured-{rows}"
        release.save(folder)
        published = pa.csv.read_csv(folder / "table.csv")
        task = {"what": "measure", "models": ["basic_beta_likeness", "t_closeness"], "quasi": ["group"]}
        theirs = _theirs(python, home, published, task)["seconds"]
        ours = min(processor_seconds(partial(dc.audit, folder, original)) for _ in range(2))
        lines.append((f"{rows:,}", f"{release.groups:,}", f"{theirs:.2f} s", f"{ours:.2f} s", f"{theirs / ours:.0f} x"))
    header = ("rows", "groups", "pycanon: beta and t", "discreet: the whole audit", "ratio")
    show("Measuring a release (processor time)", header, lines)


def _theirs(python: str, home: Path, people: pa.Table, task: dict[str, Any]) -> dict[str, Any]:
    """Run the other programs on a table, and return what they found."""
    pa.csv.write_csv(people, home / "table.csv")
    places = {
        name: str(home / file)
        for name, file in (("table", "table.csv"), ("result", "result.json"), ("made", "made.csv"))
    }
    (home / "task.json").write_text(json.dumps({"quasi": list(QUASI), "secret": SECRET, **places, **task}))
    subprocess.run([python, "-c", THEIRS, str(home / "task.json")], check=True, capture_output=True)
    return dict(json.loads((home / "result.json").read_text()))


def _levels(numbers: list[int], domain: tuple[int, int], widths: tuple[int, ...]) -> list[list[str]]:
    """Per level of a hierarchy the text of every row: the number, intervals of each width, anything."""
    low, high = domain
    levels = [[str(number) for number in numbers]]
    for width in widths:
        starts = [low + (number - low) // width * width for number in numbers]
        levels.append([f"[{start}, {min(start + width - 1, high)}]" for start in starts])
    return [*levels, ["*"] * len(numbers)]


def _loss(made: pa.Table, people: pa.Table, trees: dict[str, list[list[str]]]) -> float:
    """The AIL of a table whose rows are generalized by those levels."""
    losses = []
    for name in QUASI:
        texts = made[name].cast(pa.string()).to_pylist()
        if name == "gender":
            losses.append(np.mean([text == "*" for text in texts]))
            continue
        low, high = STEPS[name][0]
        widths = {"*": high - low} | {
            text: (lambda ends: int(ends[-1]) - int(ends[0]))(text.strip("[]").split(", "))
            for text in set(texts) - {"*"}
        }
        losses.append(np.mean([widths[text] for text in texts]) / (high - low))
    return float(np.mean(losses))


def _kept(made: pa.Table, promise: str, *keys: str) -> str:
    """Whether a table keeps a promise, and with which parameter, by the definition."""
    rows = list(zip(*(made[name].to_pylist() for name in (*(keys or QUASI), SECRET)), strict=True))
    whole, groups = Counter(row[-1] for row in rows), {}
    for row in rows:
        groups.setdefault(row[:-1], Counter())[row[-1]] += 1
    shares = {value: count / len(rows) for value, count in whole.items()}
    each = [{value: group[value] / group.total() for value in whole} for group in groups.values()]
    if promise.startswith("l-"):
        reached = min(len(group) for group in groups.values())
        return f"{'yes' if reached >= 5 else 'NO'}, l={reached}"
    if promise.startswith("t-"):
        reached = max(sum(abs(group[value] - shares[value]) for value in whole) / 2 for group in each)
        return f"{'yes' if reached <= 0.3 + 1e-9 else 'NO'}, t={reached:.3f}"
    reached = max(group[value] / shares[value] - 1 for group in each for value in whole)
    return f"{'yes' if reached <= 4 + 1e-9 else 'NO'}, beta={reached:.3f}"
