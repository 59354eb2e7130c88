"""Audits of nested releases: what holds, what is broken, what was tampered with, and what others believe."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array

import discreet as dc
from discreet.adversary.checks import matching
from discreet.command.main import main
from discreet.families.lifting.auditor import unfilled
from discreet.families.lifting.tree import Tree
from discreet.principles import Prior
from discreet.principles.principle import parse
from discreet.releases import write_trace
from discreet.table.read import read
from discreet.table.table import Table
from fuzz import formats, run
from fuzz.cases import draw_case, read_case
from fuzz.files import UntrueError
from fuzz.promises import Promise
from naive import nested as naive
from support.audits import failing, said
from support.nested_trees import grown, kept_to, people

PROMISE = dc.BetaLikeness(2)


def published(folder: Path, seed: int, rows: int = 150, promise: dc.Principle = PROMISE, **how: object) -> Table:
    """A table and its release, which keeps the promise, with the trace beside it."""
    rng = np.random.default_rng(seed)
    table = people(rng, rows, kept=True)
    release = kept_to(promise, grown(rng, table, least=6)).release(promise, **how)
    assert release.groups > 5 and (release.parents >= 0).any()
    release.save(folder / "r")
    write_trace(release, folder / "trace.csv")
    return table


# --------------------------------------------------------------------------------------------------------- what holds


@pytest.mark.slow
@pytest.mark.parametrize("values", ["interval", "label", "set"])
@pytest.mark.parametrize("seed", range(3))
def test_what_keeps_its_promise_holds(tmp_path: Path, seed: int, values: str) -> None:
    table = published(tmp_path, seed, values=values)
    for trace in (tmp_path / "trace.csv", None):
        found = dc.audit(tmp_path / "r", table, trace=trace)
        assert found.holds and failing(found) == {}
        (kept,) = found.promises
        assert "is kept by all" in kept.sentence and "leaves of the tree" in kept.sentence and kept.strain <= 1.0
        assert "persons, age" in kept.sentence
    assert found.support in ("assignment", "necessary")


def test_parquet_is_audited_alike(tmp_path: Path) -> None:
    table = published(tmp_path, 2)
    dc.load(tmp_path / "r").save(tmp_path / "p", "parquet")
    found = dc.audit(tmp_path / "p", table, trace=tmp_path / "trace.csv")
    assert found.holds and found.as_dict()["losses"] == dc.audit(tmp_path / "r", table).as_dict()["losses"]


def test_withheld_rows_are_a_group_as_always(tmp_path: Path) -> None:
    table = people(np.random.default_rng(4), 100)
    leaves = 1 + (table.quasi[0].codes > 18)
    nodes = np.where(np.arange(100) % 2, 0, leaves)
    gone = np.arange(100) < 12
    leaf_of, node_of = np.where(gone, -1, leaves), np.where(gone, -1, nodes)
    how = {"promise": dc.LDiversity(1.2), "scheme": "two"}
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaf_of, node_of, **how)  # type: ignore[arg-type]
    release.save(tmp_path / "r")
    write_trace(release, tmp_path / "trace.csv")
    for trace in (tmp_path / "trace.csv", None):
        found = dc.audit(tmp_path / "r", table, trace=trace)
        assert found.holds and found.withheld == 12
        assert "leaves of the tree and by the withheld rows" in found.promises[0].sentence
    alone = np.where(table.sensitive_codes == 3, -1, leaves), np.where(table.sensitive_codes == 3, -1, nodes)
    dc.NestedRelease.from_tree(table, [-1, 0, 0], *alone, **how).save(tmp_path / "q")  # type: ignore[arg-type]
    found = dc.audit(tmp_path / "q", table)
    assert "the withheld rows" in failing(found)["l-diversity(l=1.2)"]


@pytest.mark.parametrize("seed", range(8))
def test_a_broken_bound_is_found(tmp_path: Path, seed: int) -> None:
    """As many leaves as the tree's own counts say, and the worst of them by its number."""
    rng = np.random.default_rng(100 + seed)
    table, promise = people(rng, 80), dc.BetaLikeness(0.5)
    one = grown(rng, table, least=2, lifted=0.1)
    release = one.release(promise)
    strains = promise.strain(release.expected, Prior.of(table))
    assert (strains > 1.0).any()
    release.save(tmp_path / "r")
    found = dc.audit(tmp_path / "r", table)
    (kept,) = found.promises
    assert not kept.holds and kept.broken == int((strains > 1.0).sum())
    assert kept.group == int(strains.argmax()) and kept.strain == pytest.approx(float(strains.max()))
    assert kept.size == release.persons[kept.group]
    assert "is believed of this leaf with" in kept.sentence


def test_promises_that_bound_no_shares_cannot_be_judged(tmp_path: Path) -> None:
    table = published(tmp_path, 1)
    found = dc.audit(tmp_path / "r", table, promises=["k-anonymity(k=2)", "t-closeness(t=0.9)"])
    assert not found.holds
    assert all("cannot be judged: beliefs that are not counts" in one.sentence for one in found.promises[:2])
    assert found.promises[2].holds


# --------------------------------------------------------------------------------------------- by definition, at random


def drawn(chance: Random) -> Promise:
    return chance.choice(
        [
            Promise("beta-likeness", {"beta": "0.5"}),
            Promise("beta-likeness", {"beta": "2", "variant": "basic", "negative": "0.9"}),
            Promise("l-diversity", {"l": "2"}),
            Promise("delta-disclosure", {"delta": "3"}),
            Promise("alpha-beta", {"alpha": "1", "beta": "0.7"}),
        ]
    )


@pytest.mark.slow
def test_random_releases_are_judged_as_the_definition_does(tmp_path: Path) -> None:
    """And what is altered is noticed, unless it is still true by definition."""
    kept = noticed = 0
    for seed in range(70):
        chance, home = Random(seed), tmp_path / str(seed)
        home.mkdir()
        case, promise = draw_case(chance, several=False), drawn(chance)
        table, rng = read_case(case, home), np.random.default_rng(seed)
        one = grown(rng, table, least=int(rng.integers(1, 6)), lifted=float(rng.choice([0.0, 0.3, 0.6])))
        if not (one.node_of >= 0).any():
            continue
        principle = parse(promise.text)
        one = kept_to(principle, one) if chance.random() < 0.7 else one
        try:
            release = one.release(principle, values=chance.choice(["interval", "label", "set"]))
        except dc.DiscreetError as refusal:
            assert "cannot be published as it is" in str(refusal)
            continue
        release.save(home / "release")
        write_trace(release, home / "trace.csv")
        try:
            true = formats.check(home / "release", case, [promise], home / "trace.csv") == "nested"
        except UntrueError as untrue:
            assert "is broken by" in str(untrue), (seed, untrue)
            true = False
        for trace in (home / "trace.csv", None):
            found = dc.audit(home / "release", table, trace=trace)
            assert found.holds == true, (seed, found.sentences())
        kept += true
        if true:
            outcome = run.Outcome(seed, "grown")
            run._altered(chance, outcome, case, table, principle, [promise], home)
            noticed += outcome.tampered is not None and not outcome.harmless
    assert kept > 25 and noticed > 18


# ----------------------------------------------------------------------------------------------------------- tampering


Lines = list[dict[str, str]]


def edited(folder: Path, name: str, edit: Callable[[Lines], object]) -> None:
    """A table altered, with a digest that fits it."""
    path = folder / "r" / name
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    edit(lines)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    manifest = json.loads((folder / "r/release.json").read_text())
    manifest["tables"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "r/release.json").write_text(json.dumps(manifest))


def child(lines: Lines) -> dict[str, str]:
    return next(line for line in lines if line["parent"])


def in_a_circle(lines: Lines) -> None:
    one = child(lines)
    next(line for line in lines if line["group"] == one["parent"])["parent"] = one["group"]


def under_another(lines: Lines) -> None:
    """A node with persons hangs on another that is no ancestor of it."""
    one = next(line for line in lines if line["parent"] and int(line["persons"]))
    one["parent"] = next(
        line["group"] for line in lines if int(line["persons"]) and line["group"] not in (one["group"], one["parent"])
    )


def without_a_node(lines: Lines) -> None:
    lines.remove(child(lines))


TAMPERED: dict[str, tuple[Callable[[Lines], object], str]] = {
    "one more person": (lambda lines: lines[0].update(persons=str(int(lines[0]["persons"]) + 1)), "consistency"),
    "very many persons": (lambda lines: lines[0].update(persons="999999999999999"), "consistency"),
    "fewer than none": (lambda lines: lines[0].update(persons="-1"), "consistency"),
    "a circle": (in_a_circle, "consistency"),
    "a strange parent": (lambda lines: child(lines).update(parent="99999"), "consistency"),
    "a new root": (lambda lines: child(lines).update(parent=""), "order"),
    "roots only": (lambda lines: [line.update(parent="") for line in lines], "consistency"),
    "a node less": (without_a_node, "consistency"),
    "a node twice": (lambda lines: lines.append(dict(lines[0])), "consistency"),
    "another order": (lambda lines: lines.reverse(), "consistency"),
    "another parent": (under_another, "nesting"),
    "another spelling": (lambda lines: lines[0].update(persons=f"0{lines[0]['persons']}"), "spelling"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TAMPERED)
def test_altered_nodes_are_found(tmp_path: Path, what: str) -> None:
    table = published(tmp_path, 5)
    edit, where = TAMPERED[what]
    edited(tmp_path, "nodes.csv", edit)
    for trace in (tmp_path / "trace.csv", None):
        found = dc.audit(tmp_path / "r", table, trace=trace)
        assert where in failing(found) and not found.holds
    # who is in the table is looked up too where a promise asks for it, also in files at fault
    found = dc.audit(tmp_path / "r", table, promises="alpha-beta(alpha=0.9, beta=0.9)", population=table)
    assert where in failing(found) and found.presence is not None
    if where == "consistency":
        for ask in (dc.load(tmp_path / "r").beliefs, dc.load(tmp_path / "r").presence):
            with pytest.raises(dc.DiscreetError, match="tree of the release is faulty"):
                ask({"age": [30], "city": ["Bonn"]})


def test_nodes_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    table = published(tmp_path, 5)
    for column, text in (("persons", "many"), ("persons", ""), ("group", "1.5"), ("parent", "root")):
        table = published(tmp_path / f"{column}{text}", 5)
        edited(tmp_path / f"{column}{text}", "nodes.csv", lambda lines, c=column, t=text: lines[0].update({c: t}))
        with pytest.raises(dc.DiscreetError, match=f"the column '{column}' of 'nodes.csv'"):
            dc.audit(tmp_path / f"{column}{text}" / "r", table)


def test_persons_of_other_leaves_are_found(tmp_path: Path) -> None:
    """Two leaves of one parent exchange a person: the tree stays consistent, and the original tells."""
    table = published(tmp_path, 6)
    rows = Counter(line["group"] for line in csv.DictReader((tmp_path / "r" / "table.csv").read_text().splitlines()))

    def exchanged(lines: Lines) -> None:
        above = {line["parent"] for line in lines}
        leaves = [line for line in lines if line["group"] not in above]
        pairs = [(one, other) for one in leaves for other in leaves if one is not other]
        one, other = next(
            (one, other)
            for one, other in pairs
            if one["parent"] == other["parent"] and int(other["persons"]) > rows[other["group"]]
        )
        one["persons"], other["persons"] = str(int(one["persons"]) + 1), str(int(other["persons"]) - 1)

    edited(tmp_path, "nodes.csv", exchanged)
    for trace in (tmp_path / "trace.csv", None):
        found = failing(dc.audit(tmp_path / "r", table, trace=trace))
        assert set(found) & {"support", "consistency"}, found
    assert (
        "persons, but the release states" in failing(dc.audit(tmp_path / "r", table, tmp_path / "trace.csv"))["support"]
    )


def test_rows_that_change_their_nodes_are_found(tmp_path: Path) -> None:
    table = published(tmp_path, 7)

    def swapped(lines: Lines) -> None:
        """Two sensitive values, of nodes that do not lie above each other."""
        nodes = (tmp_path / "r/nodes.csv").read_text().splitlines()
        tree = {line["group"]: line["parent"] for line in csv.DictReader(nodes)}
        for one in lines:
            for other in lines:
                apart = tree[one["group"]] == tree[other["group"]] and one["group"] != other["group"]
                if apart and one["disease"] != other["disease"]:
                    one["disease"], other["disease"] = other["disease"], one["disease"]
                    return

    edited(tmp_path, "table.csv", swapped)
    found = dc.audit(tmp_path / "r", table, trace=tmp_path / "trace.csv")
    assert "rows of persons in it without a row further down" in failing(found)["support"]
    assert not dc.audit(tmp_path / "r", table).holds


def test_a_wrong_trace_is_found(tmp_path: Path) -> None:
    table = published(tmp_path, 8)
    trace = pa.csv.read_csv(tmp_path / "trace.csv")["group"].to_numpy().copy()
    one, other = 0, int(np.argmax(trace != trace[0]))
    swapped = trace.copy()
    swapped[[one, other]] = trace[[other, one]]
    assert "support" in failing(dc.audit(tmp_path / "r", table, trace=swapped))
    moved = trace.copy()
    moved[one] = trace[other]
    assert "but the release states" in failing(dc.audit(tmp_path / "r", table, trace=moved))["support"]
    lost = np.where(np.arange(len(trace)) == one, -1, trace)
    assert "withholds 1 row" in failing(dc.audit(tmp_path / "r", table, trace=lost))["support"]
    strange = np.where(np.arange(len(trace)) == one, 10**6, trace)
    assert "names group 1000000" in failing(dc.audit(tmp_path / "r", table, trace=strange))["support"]


def test_a_trace_that_puts_people_elsewhere_is_found(tmp_path: Path) -> None:
    """Two with the same values exchange their leaves: all counts fit, and only where they lie tells."""
    table = read(pa.table({"x": [0, 1, 5, 6] * 3, "y": list("abab" * 3)}), quasi=["x"], sensitive="y")
    leaves = np.tile([1, 1, 2, 2], 3)
    nodes = np.where(np.arange(12) < 4, 0, leaves)
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaves, nodes, promise=dc.LDiversity(1), scheme="two")
    release.save(tmp_path / "r")
    assert release.trace is not None and dc.audit(tmp_path / "r", table, trace=release.trace).holds
    trace = release.trace.copy()
    trace[[0, 2]] = trace[[2, 0]]
    found = failing(dc.audit(tmp_path / "r", table, trace=trace))
    assert set(found) == {"support"} and "2 rows lie outside the description of their group" in found["support"]


def test_rows_are_filled_from_below() -> None:
    """A leaf whose persons have no row of a value cannot hand one up, whatever the sums say."""
    tree = Tree(np.array([-1, 0, 0], np.int32), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    had = np.array([1, 1, 2, 2]) * 3 + np.array([0, 1, 0, 1])
    assert unfilled(tree, had, np.array([0, 0, 1, 2]) * 3 + np.array([0, 1, 0, 1]), 3) is None
    assert unfilled(tree, had, np.array([0, 0, 1, 2]) * 3 + np.array([1, 1, 0, 0]), 3) is None
    assert unfilled(tree, had, np.array([0, 0, 1, 2]) * 3 + np.array([0, 0, 1, 2]), 3) == 2
    assert unfilled(tree, had, np.array([0, 0, 1, 2]) * 3 + np.array([0, 2, 0, 1]), 3) == 0


def test_without_a_trace_leaves_are_told_by_their_descriptions_where_they_can_be(tmp_path: Path) -> None:
    table = read(pa.table({"x": [0, 1, 5, 6] * 3, "y": list("abbaababbaab")}), quasi=["x"], sensitive="y")
    leaves = 1 + (table.quasi[0].codes > 1)
    nodes = np.where(np.arange(12) < 4, 0, leaves)
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaves, nodes, promise=dc.LDiversity(1), scheme="two")
    release.save(tmp_path / "r")
    assert dc.audit(tmp_path / "r", table).support == "assignment"
    # whether the wide leaf's persons are those within the narrow one nobody can tell
    across = np.where(np.arange(12) < 8, 0, 1)
    wide = dc.NestedRelease.from_tree(table, [-1, -1], across, across, promise=dc.LDiversity(1), scheme="two")
    wide.save(tmp_path / "w")
    found = dc.audit(tmp_path / "w", table)
    assert found.support == "necessary" and "only the trace can tell more" in said(found, "support") and found.holds
    # nobody of the original is where the tree says that persons are
    other = read(pa.table({"x": [0, 1, 2, 6] * 3, "y": list("abbaababbaab")}), quasi=["x"], sensitive="y")
    assert "lie in the description of a leaf" in failing(dc.audit(tmp_path / "r", other))["support"]


# --------------------------------------------------------------------------------------------------------------- order


def test_an_order_that_tells_is_found(tmp_path: Path) -> None:
    table = published(tmp_path, 9, rows=400)
    edited(tmp_path, "table.csv", lambda lines: lines.sort(key=lambda line: line["disease"]))
    assert "order" in failing(dc.audit(tmp_path / "r", table))


# ------------------------------------------------------------------------------------------------------ what others do


def test_who_only_matches_descriptions_faces_the_tree_again_where_these_are_disjoint(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = read(
        pa.table({"x": rng.integers(0, 40, 80), "y": [f"d{at}" for at in rng.integers(0, 3, 80)]}),
        quasi=["x"],
        sensitive="y",
    )
    release = grown(rng, table, least=5).release(dc.LDiversity(1))
    assert (release.parents >= 0).sum() > 4
    release.save(tmp_path / "r")
    found = dc.audit(tmp_path / "r", table)
    assert "an attacker who only matches descriptions believes what was judged" in said(found, "descriptions")
    assert "takes all rows under descriptions" in said(found, "counting")


def overlapping() -> tuple[Table, dc.NestedRelease]:
    """A hundred persons at 0, half of whose rows stand at the root; and ten, one of them at 9, with rows of their own.

    Whoever knows the tree knows that none of the ten has a row of the root. By descriptions the rows of the ten may
    belong to anybody, as those of the root may, so that the one at 9 has one of the root with 50 chances in 60.
    """
    common = [f"c{at % 5}" for at in range(85)]
    sensitive_columns = [*common[:50], *common[50:75], *["r"] * 25, *common[75:]]
    table = read(pa.table({"x": [*[0] * 109, 9], "y": sensitive_columns}), quasi=["x"], sensitive="y")
    leaves = np.repeat([1, 2], [100, 10])
    nodes = np.repeat([1, 0, 2], [50, 50, 10])
    promise = dc.BetaLikeness(0.35, variant="basic")
    return table, dc.NestedRelease.from_tree(table, [-1, 0, 0], leaves, nodes, promise=promise, scheme="two")


def test_going_beyond_by_matching_alone_is_a_caveat(tmp_path: Path) -> None:
    table, release = overlapping()
    release.save(tmp_path / "r")
    found = dc.audit(tmp_path / "r", table, trace=release.trace)
    assert found.holds and found.support == "trace"
    times = 50 / 60 * 25 / 50 / (1.35 * 25 / 110)
    assert f"up to {times:.2f} times what beta-likeness" in said(found, "descriptions")
    assert "beyond it about 1 row (where it is more than allowed, about 0.4 rows" in said(found, "descriptions")
    assert f"only matches descriptions may believe up to {times:.2f} times" in found.verdict


def test_what_is_too_much_to_look_into_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, release = overlapping()
    release.save(tmp_path / "r")
    monkeypatch.setattr(matching, "PAIRS", 1)
    found = dc.audit(tmp_path / "r", table, trace=release.trace)
    assert found.holds and "only matches descriptions were not computed" in found.verdict


def test_withheld_rows_may_be_anybodys_for_who_only_matches(tmp_path: Path) -> None:
    table, whole = overlapping()
    leaves, nodes = (np.repeat(one, count) for one, count in (([1, 2], [100, 10]), ([1, 0, 2], [50, 50, 10])))
    gone = np.isin(np.arange(110), [0, 1, 2, 3, 60])
    leaf_of, node_of = np.where(gone, -1, leaves), np.where(gone, -1, nodes)
    how = {"promise": dc.LDiversity(2), "scheme": "two"}
    release = dc.NestedRelease.from_tree(table, [-1, 0, 0], leaf_of, node_of, **how)  # type: ignore[arg-type]
    release.save(tmp_path / "r")
    found = dc.audit(tmp_path / "r", table, trace=release.trace)
    assert found.holds and "of what l-diversity(l=2) allows" in said(found, "descriptions")
    assert whole.rows == release.rows + 5


@pytest.mark.parametrize("seed", range(5))
def test_scaling_comes_close_to_all_worlds(seed: int) -> None:
    """Of few persons it is not exact, but near: the beliefs of all ways to match, enumerated, within a tenth."""
    rng = np.random.default_rng(seed)
    kinds, nodes = 3, 3
    while True:
        admits = rng.random((kinds, nodes)) < 0.7
        sizes, held = np.array([2, 2, 3]), np.array([3, 2, 2])
        of_person = np.repeat(np.arange(kinds), sizes)
        rows = [(node, node) for node in np.repeat(np.arange(nodes), held).tolist()]
        may = [np.flatnonzero(admits[kind]).tolist() for kind in of_person]
        first = next(naive.worlds([[at for at, (node, _) in enumerate(rows) if node in one] for one in may]), None)
        if first is not None and not admits.all():
            break
    truth = naive.beliefs_by_boxes(may, rows)
    shares = matching._scaled(csr_array(admits.astype(float)), sizes.astype(float), held.astype(float))
    assert shares is not None
    found = shares.toarray()
    assert np.abs(found.sum(axis=1) - 1.0).max() < 1e-9
    for person, kind in enumerate(of_person.tolist()):
        exact = [float(truth[person].get(node, 0)) for node in range(nodes)]
        assert np.abs(found[kind] - exact).max() < 0.1


def test_who_counts_rows_is_said_to_be_wrong(tmp_path: Path) -> None:
    """Half of the rows stand at the root, where the rare value is: counted, it seems twice as likely as it is."""
    rng = np.random.default_rng(1)
    rows = 400
    ages = np.repeat(np.arange(40), 10)
    rare = rng.random(rows) < 0.1
    table = read(pa.table({"age": ages, "y": np.where(rare, "r", "c").tolist()}), quasi=["age"], sensitive="y")
    leaves = 1 + table.quasi[0].codes // 4
    nodes = np.where(rare | (rng.random(rows) < 0.2), 0, leaves)
    promise = dc.BetaLikeness(1, variant="basic")
    release = dc.NestedRelease.from_tree(table, [-1, *[0] * 10], leaves, nodes, promise=promise, scheme="tens")
    release.save(tmp_path / "r")
    told = said(dc.audit(tmp_path / "r", table, trace=release.trace), "counting")
    assert "and is wrong: where it is more than allowed" in told


# ---------------------------------------------------------------------------------------------------------- the command


def test_the_commands_work_on_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = published(tmp_path, 12)
    columns = {column.name: [column.texts[code] for code in column.codes] for column in table.columns}
    pyarrow.csv.write_csv(pa.table({**columns, "age": [int(age) for age in columns["age"]]}), "people.csv")

    def told(*words: str) -> str:
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        return result.output

    assert "beta-likeness(beta=2) holds" in told("audit", "r", "--original", "people.csv", "--trace", "trace.csv")
    assert "of 150" in told("query", "r", "SELECT COUNT(*) FROM t WHERE age <= 40 AND disease = 'd1'")
    assert "Bonn" in told("query", "r", "SELECT city, COUNT(*) FROM t WHERE ward = 'w1' GROUP BY city")
