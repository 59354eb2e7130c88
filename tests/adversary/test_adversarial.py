"""An adversary's tests: promises recomputed from the published text alone, releases altered, files searched for leaks.

Nothing of discreet judges here: a release is read with the csv and json modules, and every promise is recomputed by its
definition, in fractions where it is a matter of counting. Faults that are known and not yet mended are marked; a mark
whose fault has been mended fails, and is to be removed.
"""

from __future__ import annotations

import copy
import csv
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.principles import Prior
from discreet.releases import GeneralizedRelease, write_trace
from discreet.schemes import make_scheme
from naive import unnamed
from support.tampering import Alteration, Folder, as_it_lies, dropped, put_in_group, repeated, stated, swapped, together

Rows = list[dict[str, str]]
Admits = Callable[[str], bool]


# ------------------------------------------------------------------------------------------- reading without discreet


def items(text: str) -> list[str]:
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        if text[at] == '"':
            item, at = decoder.raw_decode(text, at)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            item, at = text[at:end], end
        found.append(item)
        at += 2
    return found


def admitted(attribute: dict[str, Any], text: str) -> Admits:
    """Which original texts a published text admits, as the format documents it; a missing value is the empty text."""
    kind = attribute["kind"]
    if text == "*":
        return lambda value: True
    if kind == "categorical":
        tree = unnamed.rows_of(attribute)
        if text[:1] == "{":
            leaves = set(items(text[1:-1]))
        elif text[:1] == '"':
            leaves = {json.loads(text)}
        else:
            leaves = {row[0] for row in tree if row[0] == text} or {row[0] for row in tree if text in row}
        return lambda value: (value or "(missing)") in leaves or unnamed.under(attribute, text, value or "(missing)")
    if text == "(missing)":
        return lambda value: value == ""
    ends = items(text[1:-1]) if text[:1] == "[" else items(text) * 2
    order = {value: place for place, value in enumerate(attribute.get("values", ()))}
    low, high = (float(order[end]) if kind == "ordinal" else float(end) for end in ends)
    assert low <= high
    return lambda value: value != "" and low <= (order[value] if kind == "ordinal" else float(value)) <= high


def breach(promise: str, counts: Counter[str], prior: Counter[str], attribute: dict[str, Any]) -> str | None:
    """What one group does against a promise, or None."""
    name, _, inside = promise.rstrip(")").partition("(")
    given = dict(part.strip().split("=") for part in inside.split(","))
    size, rows = counts.total(), prior.total()
    if size == 0:
        return None
    q = {value: Fraction(counts[value], size) for value in prior}
    p = {value: Fraction(prior[value], rows) for value in prior}
    near = Fraction(1, 10**8)
    if set(counts) - set(prior):
        return "a value that nobody has"
    if name == "k-anonymity":
        return f"{size} rows" if size < int(given["k"]) else None
    if name == "delta-disclosure":
        delta = float(given["delta"])
        return next((v for v in prior if q[v] == 0 or abs(math.log(q[v] / p[v])) >= delta), None)
    if name == "beta-likeness":
        beta = float(given["beta"])
        for value in prior:
            gain = beta if given.get("variant") == "basic" else min(beta, -math.log(p[value]))
            if q[value] > min(Fraction(1), (1 + Fraction(gain)) * p[value]) + near:
                return f"{value} gains too much"
        return None
    if name == "t-closeness":
        distance = sum(abs(q[value] - p[value]) for value in prior) / 2
        if given.get("distance") == "ordered":
            order = [value for value in ("(missing)", *attribute["values"]) if value in prior]
            carried = [sum((q[v] - p[v] for v in order[: at + 1]), Fraction(0)) for at in range(len(order) - 1)]
            distance = sum((abs(c) for c in carried), Fraction(0)) / max(1, len(order) - 1)
        return f"distance {float(distance)}" if distance > Fraction(given["t"]) + near else None
    ranked, least = sorted(counts.values(), reverse=True), Fraction(given["l"])
    if given.get("kind") == "distinct":
        return "too few values" if len(+counts) < least else None
    if given.get("kind") == "entropy":
        entropy = -sum(float(share) * math.log(share) for share in q.values() if share)
        return f"entropy {entropy}" if entropy < math.log(least) - 1e-8 else None
    if given.get("kind") == "recursive":
        return None if ranked[0] < Fraction(given["c"]) * sum(ranked[int(least) - 1 :]) else "the first is too frequent"
    return "one value is too frequent" if ranked[0] * least > size * (1 + near) else None


def faults(folder: Path, original: Rows, trace: Path) -> Iterator[str]:
    """Everything wrong with a release, from its CSV files, the original's texts and the private trace."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    attributes = {entry["name"]: entry for entry in manifest["attributes"]}
    quasi = [name for name, entry in attributes.items() if entry["role"] == "quasi"]
    (sensitive_attribute,) = (name for name, entry in attributes.items() if entry["role"] == "sensitive")
    shown = {name for name, entry in attributes.items() if entry["role"] == "other"} | {sensitive_attribute}

    def facts(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name] or "(missing)" for name in sorted(shown))

    if manifest["rows"] != {"published": len(published), "withheld": len(original) - len(published)}:
        yield f"rows {manifest['rows']}"
    if Counter(map(facts, published)) - Counter(map(facts, original)):
        yield "invented records"
    groups: dict[int, Rows] = defaultdict(list)
    for row in published:
        groups[int(row["group"])].append(row)
    if sorted(groups) != list(range(manifest["groups"])):
        yield "groups are not numbered"
    prior = Counter(row[sensitive_attribute] or "(missing)" for row in original)
    counts = {number: Counter(row[sensitive_attribute] for row in rows) for number, rows in groups.items()}
    counts[-1] = prior - Counter(row[sensitive_attribute] for row in published)
    for promise in manifest["promise"]:
        for number, here in counts.items():
            if wrong := breach(promise, here, prior, attributes[sensitive_attribute]):
                yield f"{promise}: {wrong} in group {number}"
    with trace.open(newline="") as file:
        placed = [row["group"] for row in csv.DictReader(file)]
    members: dict[int, Rows] = defaultdict(list)
    for row, group in zip(original, placed, strict=True):
        if group:
            members[int(group)].append(row)
    for number, rows in groups.items():
        if len({tuple(row[name] for name in quasi) for row in rows}) > 1:
            yield f"group {number} has two descriptions"
        if Counter(map(facts, rows)) != Counter(map(facts, members[number])):
            yield f"group {number} is not made of its rows"
        for name in quasi:
            admits = admitted(attributes[name], rows[0][name])
            if not all(admits(row[name]) for row in members[number]):
                yield f"group {number} is published with {name} {rows[0][name]!r}, which not all its rows have"


PROMISES = (
    "k-anonymity(k=3)",
    "l-diversity(l=2)",
    "l-diversity(l=3, kind=distinct)",
    "l-diversity(l=2.5, kind=entropy)",
    "l-diversity(l=2, kind=recursive, c=1.5)",
    "t-closeness(t=0.2)",
    "t-closeness(t=0.15, distance=ordered)",
    "t-closeness(t=0)",
    "beta-likeness(beta=1)",
    "beta-likeness(beta=2, variant=basic)",
    "delta-disclosure(delta=1.2)",
    "k-anonymity(k=4) & l-diversity(l=2) & t-closeness(t=0.3)",
)
AWKWARD = ("a", "b, c", "{d}", "[1, 2]", 'q"q', "*x", " lead", "é\n", "NA", "null", "")


def random_people(rng: np.random.Generator) -> Rows:
    rows = int(rng.choice([1, 2, 7, 40, 150]))
    values = [f"v{i}" for i in range(int(rng.choice([1, 2, 4])))]
    share = rng.dirichlet(np.ones(len(values)))
    return [
        {
            "age": "" if rng.random() < 0.05 else str(int(rng.integers(0, 40))),
            "height": repr(round(float(rng.normal()), int(rng.choice([0, 1, 17])))),
            "city": str(rng.choice(AWKWARD)),
            "zip": f"{int(rng.integers(1000, 1030)):05d}",
            "grade": str(rng.choice(["low", "mid", "top, really", ""])),
            "secret": str(rng.choice(values, p=share)),
            "kept": str(rng.choice(["k1", "k, 2", "k 3"])),
        }
        for _ in range(rows)
    ]


def write_people(people: Rows, path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(people[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(people)
    return path


def broken(promise: str, counts: Counter[str], prior: Counter[str]) -> bool:
    """Whether a group breaks one of the promises, by their definitions."""
    attribute = {"values": sorted(prior)}
    return any(breach(part.strip(), counts, prior, attribute) is not None for part in promise.split("&"))


def cannot_be_kept(promise: str, people: Rows, withheld: Rows) -> bool:
    """Whether what has to be withheld, with as few others as make it keep these promises, leaves what breaks them.

    Unions of groups that keep them keep them, so what is published need only be judged as one group. At most half of
    the table is withheld for the sake of those that have to be.
    """
    prior = Counter(row["secret"] for row in people)
    least = Counter(row["secret"] for row in withheld)
    for more in range(max(0, len(people) // 2 - len(withheld)) + 1):
        added = (least + Counter(values) for values in combinations_with_replacement(sorted(prior), more))
        fitting = [counts for counts in added if counts <= prior and not broken(promise, counts, prior)]
        if fitting:
            return all(broken(promise, prior - counts, prior) for counts in fitting)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(len(PROMISES)))
def test_whatever_is_published_keeps_its_promise_by_definition(tmp_path: Path, turn: int) -> None:
    """And whatever is refused cannot be kept; every other table is one that could be."""
    promise, several, refused = PROMISES[turn], 0, 0
    for seed in range(12):
        rng = np.random.default_rng([seed, turn])
        people = random_people(rng)
        while seed % 2 and (len(people) < 40 or cannot_be_kept(promise, people, [])):
            people = random_people(rng)
        names = ["age", "height", "city", "zip", "grade"]
        quasi = [str(name) for name in rng.permutation(names)[: rng.integers(1, 6)]]
        options = {
            "values": str(rng.choice(["interval", "label", "set"])),
            "withhold": str(rng.choice([0.0, 0.2])),
            "loss": str(rng.choice(["ail", "gcp", "discernibility"])),
            "effort": "thorough" if turn == seed else "fast",
        }
        scheme = str(rng.choice(["cuts", "mondrian"]))
        if scheme == "cuts":
            options["cuts"] = str(rng.choice(["plain", "stratified", "plain+repaired", "plain+bucketed"]))
        keep = ["kept"] if rng.random() < 0.3 else []
        missing = rng.choice(["withhold", "value"])
        table = dc.read(
            write_people(people, tmp_path / "people.csv"),
            quasi=quasi,
            sensitive="secret",
            keep=keep,
            ordinal=[*(["grade"] if "grade" in quasi else []), *(["secret"] if "ordered" in promise else [])],
            missing=missing,
            hierarchies={"zip": {"prefix": {"keep": [4, 3]}}} if "zip" in quasi and rng.random() < 0.5 else {},
        )
        unusable = [row for row in people if "age" in quasi and missing == "withhold" and row["age"] == ""]
        alone = sum(number == 1 for number in Counter(row["kept"] for row in people).values())
        try:
            release = dc.publish(table, promise, make_scheme(scheme, options), most_withheld=1)
        except dc.DiscreetError as refusal:
            unfit = bool(keep) and 2 * alone > len(people)
            assert unfit or cannot_be_kept(promise, people, unusable), (refusal, people)
            refused += 1
            continue
        several += release.groups > 1
        folder = release.save(tmp_path / f"release{seed}")
        trace = write_trace(release, tmp_path / "trace.csv")
        # blanks around cells are no part of them
        people = [{name: text.strip(" \t") for name, text in row.items()} for row in people]
        assert list(faults(folder, people, trace)) == [], (promise, options, quasi)
        for found in (dc.audit(folder, table), dc.audit(folder, table, trace=trace)):
            assert found.holds, found.sentences()[:2]
    assert several >= 4, (several, refused)


# ---------------------------------------------------------------------------------------------------------- exactness


@pytest.mark.slow
def test_groups_exactly_at_a_bound_are_decided_like_fractions() -> None:
    rng = np.random.default_rng(5)
    for _ in range(400):
        m = int(rng.integers(2, 6))
        had = rng.integers(1, int(rng.choice([20, 6000])), m)
        prior = Prior(had, tuple(map(str, range(m))))
        beta, l = Fraction(int(rng.integers(1, 8)), int(rng.integers(1, 8))), Fraction(int(rng.integers(2, 9)), 2)  # noqa: E741
        caps = [min(Fraction(1), (1 + beta) * Fraction(int(count), int(had.sum()))) for count in had]
        size = caps[0].denominator * int(rng.integers(1, 4))
        counts = np.zeros(m, np.int64)
        counts[0] = min(size, max(0, int(caps[0] * size) + int(rng.integers(-1, 2))))
        counts[1:] = rng.multinomial(size - counts[0], np.ones(m - 1) / (m - 1))
        shares = [Fraction(int(count), size) for count in counts]
        basic = dc.BetaLikeness(float(beta), variant="basic").holds(counts[None], prior)[0]
        assert basic == all(share <= cap for share, cap in zip(shares, caps, strict=True)), (beta, had, counts)
        assert dc.LDiversity(float(l)).holds(counts[None], prior)[0] == (max(shares) <= 1 / l), (l, counts)
        ranked = sorted(counts.tolist(), reverse=True)
        recursive = dc.LDiversity(2, kind="recursive", c=float(beta)).holds(counts[None], prior)[0]
        assert recursive == (ranked[0] < beta * sum(ranked[1:])), (beta, counts)
        distance = sum(abs(s - Fraction(int(h), int(had.sum()))) for s, h in zip(shares, had, strict=True)) / 2
        assert dc.TCloseness(float(distance)).holds(counts[None], prior)[0]
        assert distance < Fraction(1, 1000) or not dc.TCloseness(float(distance) * 0.9999).holds(counts[None], prior)[0]


# ------------------------------------------------------------------------------------------------------------- chance


@pytest.mark.slow
def test_order_and_numbers_are_independent_of_the_input() -> None:
    """What is published is the same for every order of the input and all numbers that a scheme gives its groups."""
    rng, groups = np.random.default_rng(0), np.repeat(np.arange(4), 3).astype(np.int32)
    published = []
    for _ in range(100):
        order, names = rng.permutation(12), rng.permutation(4).astype(np.int32)
        people = pa.table({"age": order, "secret": [f"v{(7 * row) % 12}" for row in order.tolist()]})
        table = dc.read(people, quasi=["age"], sensitive="secret")
        made = GeneralizedRelease.from_groups(table, names[groups[order]], promise=dc.KAnonymity(3), scheme="by-hand")
        assert made.trace is not None
        published.append((made.tables(numbers=False)["table"].to_pylist(), made.trace[np.argsort(order)].tolist()))
    assert published.count(published[0]) == 100


# ----------------------------------------------------------------------------------------------------- searching files


def outlier(**special: Any) -> pa.Table:
    """People of whom one, with a missing age, has values that nobody else has."""
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {
        "age": [float(age) for age in rng.integers(20, 60, 200)],
        "income": [int(income) for income in rng.integers(10, 90, 200)],
        "zip": [f"{code}" for code in rng.integers(10000, 10020, 200)],
        "grade": [str(grade) for grade in rng.choice(["low", "mid", "top"], 200)],
        "secret": [str(value) for value in rng.choice(["a", "b", "c"], 200)],
    }
    columns["age"][7] = None
    for name, value in special.items():
        columns[name][7] = value
    return pa.table(columns)


ODD = {"income": 987654, "zip": "77777", "grade": "zebra"}


@pytest.mark.parametrize("values", ["interval", "label", "set"])
@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("income", {}),
        ("zip", {}),
        ("grade", {"ordinal": ["grade"]}),
        ("zip", {"hierarchies": {"zip": {"prefix": {"keep": [4, 3]}}}}),
    ],
)
def test_what_only_a_withheld_row_has_is_not_in_the_manifest(name: str, reading: dict[str, Any], values: str) -> None:
    table = dc.read(
        outlier(**{name: ODD[name]}), quasi=["age", name], sensitive="secret", missing="withhold", **reading
    )
    release = dc.publish(table, "l-diversity(l=2)", make_scheme("cuts", {"values": values}), most_withheld=1)
    assert release.withheld > 0
    assert str(ODD[name]) not in json.dumps(release.manifest)


def test_domain_of_a_number_with_a_hierarchy_does_not_show_withheld_extremes() -> None:
    people = outlier(income=None)
    age = people.column("age").to_pylist()
    age[7], age[9] = 119.0, None
    people = people.set_column(0, "age", pa.array(age))
    tree = dc.Hierarchy.from_rows("age", [(str(year), f"{year // 10}x") for year in range(121)])
    table = dc.read(
        people,
        quasi=["age", "income"],
        sensitive="secret",
        missing="withhold",
        numeric=["age"],
        hierarchies={"age": tree},
    )
    release = dc.publish(table, "l-diversity(l=2)", most_withheld=1)
    assert release.manifest["attributes"][0]["domain"][1] < 119


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_identifiers_seeds_and_places_are_nowhere_in_the_files(tmp_path: Path, format: Any) -> None:
    people = outlier(age=33.0).append_column("name", pa.array([f"SECRETNAME{i}" for i in range(200)]))
    table = dc.read(people, quasi=["age", "zip"], sensitive="secret", identifiers=["name"])
    release = dc.publish(table, "l-diversity(l=2)", make_scheme("cuts", {}, 4242424242))
    folder = release.save(tmp_path / "release", format)
    for path in folder.iterdir():
        data = path.read_bytes()
        for word in (b"SECRETNAME", b"4242424242", b"income", str(tmp_path).encode(), b"pandas", b"ARROW:schema"):
            assert word not in data, (path.name, word)
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        "release.json",
        f"table.{format}",
        f"marginals.{format}",
    }


# ----------------------------------------------------------------------------------------------------------- altering


def run(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert "Traceback" not in result.output and "internal error" not in result.output, result.output
    return result.exit_code, result.output


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with people, a release of them in ``release``, and its trace."""
    rng = np.random.default_rng(3)
    people = [
        {
            "age": str(rng.integers(18, 80)),
            "sex": str(rng.choice(["f", "m"])),
            "grade": str(rng.choice(["A", "B", "C"])),
            "secret": str(rng.choice(["1", "2", "3", "4"], p=[0.4, 0.3, 0.2, 0.1])),
        }
        for _ in range(150)
    ]
    write_people(people, tmp_path / "people.csv")
    return tmp_path


def published(home: Path, promise: str, *more: str) -> Path:
    folder, trace = home / "release", home / "trace.csv"
    words = ["--quasi", "age,sex,grade", "--sensitive", "secret", "--promise", promise, "--trace", trace, *more]
    code, told = run("publish", home / "people.csv", "-o", folder, *words)
    assert code == 0, told
    return folder


def verdicts(home: Path, *more: str) -> set[int]:
    words = ("audit", home / "release", "--original", home / "people.csv", *more)
    return {run(*words)[0], run(*words, "--trace", home / "trace.csv")[0]}


def alter(home: Path, change: Alteration) -> None:
    """Alter the release, and let digests, counts and the order fit again."""
    Folder(home / "release").edit(change)


def swap(folder: Folder) -> None:
    """Values of different groups change places."""
    (group, *_, value), *others = folder.lines("table")
    other = next(at for at, line in enumerate(others, 1) if line[0] != group and line[-1] != value)
    swapped("table", "secret", 0, other)(folder)


NO_AGES = ("20", "[20, 20]", "[79, 18]", "[18, inf]", "nan", "", "{18, 79}", "(missing)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        swap,
        together(dropped("table"), stated("rows", "withheld", value=1)),
        repeated("table"),
        as_it_lies(put_in_group("table", "group", "-1")),
        as_it_lies(put_in_group("table", "group", "99999999999999999999999")),
        *(put_in_group("table", "age", text) for text in NO_AGES),
        *(put_in_group("table", "sex", text) for text in ("x", "{}", "{f, x}", "")),
        put_in_group("table", "secret", "4"),
        put_in_group("table", "secret", "nobody's"),
        lambda folder: folder.tables["table"][0].reverse(),
        lambda folder: [line.append("x") for line in folder.tables["table"]],
    ],
)
def test_an_altered_release_never_passes_on_the_command_line(home: Path, change: Alteration) -> None:
    published(home, "beta-likeness(beta=1)")
    alter(home, change)
    assert verdicts(home) <= {1, 2}


JUNK: tuple[Any, ...] = (None, "", -1, 1.5, True, [], {}, "x", [1], ["a", ["b"]], [["a", "*"]] * 2, "quasi")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


@pytest.mark.slow
def test_no_manifest_brings_the_audit_down(home: Path) -> None:
    folder = published(home, "beta-likeness(beta=1)")
    manifest = json.loads((folder / "release.json").read_text())
    chance, paths = random.Random(1), [path for path in places(manifest) if path and path[0] != "assumptions"]
    for _ in range(120):
        changed = copy.deepcopy(manifest)
        inner = changed
        *way, last = chance.choice(paths)
        for key in way:
            inner = inner[key]
        inner[last] = chance.choice(JUNK)
        (folder / "release.json").write_text(json.dumps(changed))
        assert run("audit", folder, "--original", home / "people.csv")[0] in (0, 1, 2)


@pytest.mark.parametrize("kind", ["numeric", "ordinal"])
def test_a_name_made_something_else_in_the_manifest_is_no_internal_error(home: Path, kind: str) -> None:
    published(home, "beta-likeness(beta=1)")
    alter(home, stated("attributes", 1, "kind", value=kind))
    assert verdicts(home) <= {1, 2}


@pytest.mark.parametrize("path", [("rows", "withheld"), ("attributes", 0, "domain", 1)])
def test_a_huge_number_in_the_manifest_is_no_internal_error(home: Path, path: tuple[Any, ...]) -> None:
    published(home, "beta-likeness(beta=1)")
    alter(home, stated(*path, value=10**400))
    assert verdicts(home) <= {1, 2}


def test_values_that_nobody_has_do_not_make_a_distance_smaller(home: Path) -> None:
    published(home, "t-closeness(t=0.2, distance=ordered)", "--ordinal", "secret")
    padded = stated("attributes", 3, "values", value=lambda values: values + [f"z{i}" for i in range(300)])
    alter(home, together(stated("promise", value=["t-closeness(t=0.01, distance=ordered)"]), padded))
    assert 0 not in verdicts(home, "--promise", "t-closeness(t=0.01, distance=ordered)")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["original.txt", "original", "table.csv.bak", "people.xls", ".people"])
def test_the_original_beside_the_table_is_found(home: Path, name: str) -> None:
    folder = published(home, "beta-likeness(beta=1)")
    (folder / name).write_bytes((home / "people.csv").read_bytes())
    assert verdicts(home) == {1}


def test_a_trace_is_not_written_into_another_release(home: Path) -> None:
    folder = published(home, "beta-likeness(beta=1)")
    words = ["--quasi", "age", "--sensitive", "secret", "--promise", "l-diversity(l=2)"]
    code, _ = run("publish", home / "people.csv", "-o", home / "second", *words, "--trace", folder / "trace.csv")
    assert code == 2 and not (folder / "trace.csv").exists()


# ---------------------------------------------------------------------------------------------------------- bad input


def test_an_ordinal_star_that_is_published_can_be_audited(home: Path) -> None:
    people = [{"grade": "*a"[i % 2 : i % 2 + 1], "secret": "xyz"[i % 3]} for i in range(30)]
    write_people(people, home / "people.csv")
    words = ["--quasi", "grade", "--sensitive", "secret", "--promise", "l-diversity(l=2)", "--ordinal", "grade"]
    code, _ = run("publish", home / "people.csv", "-o", home / "release", *words)
    assert code == 2 or run("audit", home / "release", "--original", home / "people.csv")[0] == 0


def test_many_rows_that_keep_the_promise_can_be_withheld() -> None:
    age = [None if i % 5 < 3 else float(i) for i in range(100)]
    people = pa.table({"age": pa.array(age, pa.float64()), "secret": ["abcd"[(i // 5) % 4] for i in range(100)]})
    table = dc.read(people, quasi=["age"], sensitive="secret", missing="withhold")
    assert dc.publish(table, "l-diversity(l=2)", most_withheld=1).withheld == 60


@pytest.mark.slow
def test_a_closed_stdout_is_no_internal_error(home: Path) -> None:
    words = [sys.executable, "-m", "discreet", "publish", "people.csv", "-o", "release", "--quasi", "age"]
    shut = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", shut, *words, "--promise", "k-anonymity(k=3)"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(Path(dc.__file__).parent.parent)},
        stderr=subprocess.PIPE,
    )
    assert b"internal error" not in done.stderr and done.returncode == 0
    assert (done.returncode == 0) == (home / "release").exists()
