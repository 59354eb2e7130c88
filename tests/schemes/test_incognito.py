"""Full-domain generalization: levels, roll-ups and the search by definition, what is published, and odd tables."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import ail, discernibility, gcp
from discreet.datasets import census, patients_arrow
from discreet.principles import Prior, parse
from discreet.schemes.axes import Loss
from discreet.schemes.incognito import levels as levelling
from discreet.schemes.incognito.levels import levels_of
from discreet.table.table import Column, Table
from discreet.table.write import write_table
from naive import incognito as naive
from naive import loss as naive_loss
from support.audits import audits
from support.command import run
from support.tables import numeric_tables, tables, with_missing

PROMISES = [
    "k-anonymity(k=2)",
    "k-anonymity(k=5)",
    "l-diversity(l=2)",
    "l-diversity(l=2, kind=distinct)",
    "l-diversity(l=1.5, kind=entropy)",
    "t-closeness(t=0.3)",
    "beta-likeness(beta=1)",
    "beta-likeness(beta=2, variant=basic)",
    "k-anonymity(k=3) & t-closeness(t=0.4)",
]
LOSSES: dict[str, Any] = {"ail": ail, "gcp": gcp, "discernibility": discernibility}
MEASURES = {"ail": naive_loss.attribute_ail, "gcp": naive_loss.attribute_ncp}


def feasible(table: Table, promise: str) -> bool:
    prior = Prior.of(table)
    return parse(promise).reachable(prior).feasible


def brute(table: Table, promise: str, room: int = 0) -> dict[naive.Node, list[list[int]]]:
    """What is published at every combination of levels, by definition."""
    prior = Prior.of(table)
    principle = parse(promise)

    @cache
    def kept(counts: tuple[int, ...]) -> bool:
        return bool(principle.holds(np.array([counts]), prior)[0])

    def holds(values: list[int]) -> bool:
        return kept(tuple(np.bincount(values, minlength=len(prior.counts)).tolist()))

    levels = [[nodes.tolist() for nodes in one.nodes] for one in levels_of(table)]
    points = np.array([column.codes for column in table.quasi]).T.tolist()
    # which of equally large groups is withheld first is open: the first by the attributes with the most values
    order = sorted(range(len(levels)), key=lambda axis: -len(levels[axis][0]))
    return naive.all_published(points, table.sensitive_codes.tolist(), levels, holds, order, room)


def losses_of(table: Table, found: dict[naive.Node, list[list[int]]], loss: str) -> dict[naive.Node, float]:
    """The loss at each combination by definition: a value is published as the description of all under its node."""
    withheld = {node: table.rows - sum(map(len, groups)) for node, groups in found.items()}
    if loss == "discernibility":
        return {
            node: sum(len(group) ** 2 for group in groups) + withheld[node] * table.rows
            for node, groups in found.items()
        }
    costs: list[list[list[float]]] = []
    for column, levels in zip(table.quasi, levels_of(table), strict=True):
        told = column.values.tolist()
        domain = naive_loss.Domain(bounds=column.domain)
        if column.kind == "categorical":
            assert column.hierarchy is not None
            domain = naive_loss.Domain(tree=column.hierarchy.rows())
        elif column.kind == "ordinal":
            domain = naive_loss.Domain(order=told)
        costs.append([])
        for nodes in levels.nodes:
            under = {int(node): [told[code] for code in column.codes if nodes[code] == node] for node in nodes}
            price = {node: MEASURES[loss](held, domain) if held else 0.0 for node, held in under.items()}
            costs[-1].append([price[int(nodes[code])] for code in column.codes])
    return {
        node: (
            sum(costs[axis][level][row] for axis, level in enumerate(node) for group in groups for row in group)
            / len(node)
            + withheld[node]
        )
        / table.rows
        for node, groups in found.items()
    }


# ------------------------------------------------------------------------------------------------------------- levels


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.booleans())
def test_numbers_without_a_hierarchy_are_halved_by_rows(counts: list[int], ordinal: bool) -> None:
    counts[0] = max(1, counts[0])
    codes = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    values = np.array([f"v{i:02}" for i in range(len(counts))], object) if ordinal else np.arange(len(counts)) * 3
    column = Column("x", "ordinal" if ordinal else "numeric", codes, values)
    (levels,) = levels_of(Table(len(codes), (column,), ()))
    expected = [list(range(len(counts))), *reversed(naive.halved(counts, levelling.HALVINGS))]
    distinct = [level for at, level in enumerate(expected) if at == 0 or max(level) < max(expected[at - 1])]
    assert [nodes.tolist() for nodes in levels.nodes] == distinct
    assert levels.cards[-1] == 1


def test_missing_numbers_stay_by_themselves_below_the_last_level() -> None:
    table = dc.read(pa.table({"x": [None, 1, 2, 3, None]}), quasi=["x"], missing="value")
    (levels,) = levels_of(table)
    assert [nodes.tolist() for nodes in levels.nodes] == [[0, 1, 2, 3], [0, 1, 2, 2], [0, 1, 1, 1], [0, 0, 0, 0]]


def test_levels_of_a_hierarchy_that_merge_nothing_are_left_out() -> None:
    rows = [("Bonn", "Bonn", "West", "*"), ("Jena", "Jena", "East", "*"), ("Gera", "Gera", "East", "*")]
    tree = dc.Hierarchy.from_rows("city", rows)
    table = dc.read(pa.table({"city": ["Bonn", "Jena", "Gera"]}), quasi=["city"], hierarchies={"city": tree})
    assert [nodes.tolist() for nodes in levels_of(table)[0].nodes] == [[0, 1, 2], [0, 1, 1], [0, 0, 0]]


def test_dates_get_levels_and_are_published_as_ranges() -> None:
    born = [f"19{60 + i // 12:02}-{1 + i % 12:02}-15" for i in range(48)]
    table = dc.read(pa.table({"born": born, "ill": ["a", "b"] * 24}), quasi=["born"], sensitive="ill")
    release = dc.publish(table, "k-anonymity(k=4)", scheme=dc.Incognito())
    assert sorted(release.texts[0].texts)[0] == "[1960-01-15, 1960-06-15]"
    assert release.groups == 8
    audits(release, table, promises="k-anonymity(k=4)")


def test_a_lattice_that_is_large_gets_fewer_levels_of_intervals_and_one_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    table = dc.read(pa.table({f"q{j}": rng.integers(0, 100, 400) for j in range(8)}), quasi=[f"q{j}" for j in range(8)])
    assert {levels.height + 1 for levels in levels_of(table)} == {3}
    monkeypatch.setattr(levelling, "EASY", 200)
    assert {levels.height + 1 for levels in levels_of(table)} == {2}
    monkeypatch.setattr(levelling, "LARGEST_LATTICE", 200)
    with pytest.raises(dc.DiscreetError, match=r"256 ways, more than 200; .*\('q0' has 2\).* choose scheme 'cuts'"):
        dc.publish(table, "k-anonymity(k=2)", scheme=dc.Incognito())


# ------------------------------------------------------------------------------------------------------------- search


@pytest.mark.slow
@given(
    st.one_of(tables(), numeric_tables()), st.sampled_from(PROMISES), st.sampled_from(["ail", "gcp", "discernibility"])
)
@settings(max_examples=100)
def test_all_that_keep_a_promise_the_minimal_and_the_best_are_those_by_definition(
    table: Table, promise: str, loss: Loss
) -> None:
    assume(feasible(table, promise))
    found = brute(table, promise)
    scheme = dc.Incognito(loss=loss)
    lattice = scheme.search(table, promise)
    assert {tuple(node) for node in np.argwhere(lattice.kept).tolist()} == set(found)
    assert {one.levels for one in lattice.minimal} == naive.minimal(list(found))
    losses = losses_of(table, found, loss)
    sizes = losses_of(table, found, "discernibility")
    for one in lattice.minimal:
        assert (one.loss, one.discernibility) == pytest.approx((losses[one.levels], sizes[one.levels]))
    assert [one.loss for one in lattice.minimal] == sorted(one.loss for one in lattice.minimal)
    release = dc.publish(table, promise, scheme=scheme)
    assert LOSSES[loss](release) == pytest.approx(min(losses.values()))


@pytest.mark.slow
@given(tables(), st.sampled_from(PROMISES), st.sampled_from([0.05, 0.2, 0.5, 0.9]), st.sampled_from(list(LOSSES)))
@settings(max_examples=100)
def test_withheld_rows_keep_the_promise_as_a_group_and_the_best_is_that_by_definition(
    table: Table, promise: str, withhold: float, loss: Loss
) -> None:
    assume(feasible(table, promise))
    found = brute(table, promise, int(withhold * table.rows))
    scheme = dc.Incognito(withhold=withhold, loss=loss)
    lattice = scheme.search(table, promise)
    assert {one.levels for one in lattice.minimal} == naive.minimal(list(found))
    losses = losses_of(table, found, loss)
    for one in lattice.minimal:
        assert one.loss == pytest.approx(losses[one.levels])
        assert one.withheld == table.rows - sum(map(len, found[one.levels]))
    release = dc.publish(table, promise, scheme=scheme)
    assert release.trace is not None
    groups = {tuple(np.flatnonzero(release.trace == group).tolist()) for group in range(release.groups)}
    nodes = [node for node, left in found.items() if {tuple(group) for group in left} == groups]
    assert min(losses[node] for node in nodes) == pytest.approx(min(losses.values()))
    if not release.withheld:
        assert LOSSES[loss](release) == pytest.approx(min(losses.values()))


@pytest.mark.parametrize("seed", range(8))
def test_the_lattice_for_several_sensitive_attributes_is_that_which_keeps_the_promises_about_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(0, 12, 60), "size": rng.integers(0, 6, 60)}
    columns |= {name: rng.choice(list("uvwx"), 60) for name in ("a", "b")}
    table = dc.read(pa.table(columns), quasi=["age", "size"], sensitive=["a", "b"])
    lattice = dc.Incognito().search(table, "l-diversity(l=2) & k-anonymity(k=3)")
    alone = [
        dc.Incognito().search(replace(table, sensitive=(column,)), "l-diversity(l=2) & k-anonymity(k=3)").kept
        for column in table.sensitive
    ]
    assert np.array_equal(lattice.kept, alone[0] & alone[1]) and lattice.kept.any()
    release = dc.publish(table, "l-diversity(l=2) & k-anonymity(k=3)", dc.Incognito())
    assert LOSSES["ail"](release) == pytest.approx(lattice.minimal[0].loss)


@pytest.mark.slow
@given(with_missing(), st.sampled_from(PROMISES), st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=25)
def test_releases_with_withheld_rows_hold(table: Table, promise: str, withhold: float) -> None:
    try:
        release = dc.publish(table, promise, scheme=dc.Incognito(withhold=withhold), most_withheld=1.0)
    except dc.DiscreetError:
        reject()  # the rows with missing values cannot be withheld, or the table cannot keep the promise
    audits(release, table, promises=promise)


# -------------------------------------------------------------------------------------------------- what is published


def test_a_value_is_published_alike_wherever_it_is() -> None:
    table = census(400, quasi=("age", "education", "gender"), sensitive="occupation", seed=1)
    for values in ("interval", "label", "set"):
        release = dc.publish(table, "k-anonymity(k=4)", scheme=dc.Incognito(values=values))
        assert release.groups > 1
        assert release.trace is not None
        for column, (texts, of_group) in zip(table.quasi, release.texts, strict=True):
            shown: dict[int, set[str]] = {}
            for code, group in zip(column.codes.tolist(), release.trace.tolist(), strict=True):
                shown.setdefault(code, set()).add(texts[of_group[group]])
            assert all(len(texts) == 1 for texts in shown.values())
        audits(release, table, promises="k-anonymity(k=4)")


def test_discernibility_has_a_limit_if_one_is_asked_for() -> None:
    table = census(500, quasi=("age", "education", "gender"), sensitive="occupation", seed=2)
    found = dc.Incognito().search(table, "k-anonymity(k=3)").minimal
    assert found[0].discernibility > min(one.discernibility for one in found), "the best by loss is not the finest"
    most = sorted(one.discernibility for one in found)[1]
    release = dc.publish(table, "k-anonymity(k=3)", scheme=dc.Incognito(most_discernibility=most))
    assert ail(release) == pytest.approx(min(one.loss for one in found if one.discernibility <= most))
    least = min(one.discernibility for one in found)
    with pytest.raises(
        dc.DiscreetError, match=rf"at most {least - 1}; allow most_discernibility={least}, the smallest"
    ):
        dc.publish(table, "k-anonymity(k=3)", scheme=dc.Incognito(most_discernibility=least - 1))
    assert dc.publish(table, "k-anonymity(k=3)", scheme=dc.Incognito(most_discernibility=least)).groups > 1


def test_combinations_beyond_64_bits_are_told_apart() -> None:
    rng = np.random.default_rng(3)
    columns = {f"q{j}": rng.permutation(300) for j in range(9)}
    table = dc.read(pa.table({**columns, "ill": ["a", "b", "c"] * 100}), quasi=list(columns), sensitive="ill")
    release = dc.publish(table, "k-anonymity(k=100)", scheme=dc.Incognito())
    found = dc.Incognito().search(table, "k-anonymity(k=100)").minimal
    assert ail(release) == pytest.approx(found[0].loss)
    assert {sum(one.levels) for one in found} == {max(sum(one.levels) for one in found)}
    audits(release, table, promises="k-anonymity(k=100)")


def test_a_user_gives_the_levels_of_numbers() -> None:
    age = {"intervals": {"widths": [5, 20]}}
    table = dc.read(
        pa.table({"age": np.arange(80), "ill": ["a", "b"] * 40}),
        quasi=["age"],
        sensitive="ill",
        numeric=["age"],
        hierarchies={"age": age},
    )
    assert [one.levels for one in dc.Incognito().search(table, "k-anonymity(k=6)").minimal] == [(2,)]
    release = dc.publish(table, "k-anonymity(k=6)", scheme=dc.Incognito())
    assert sorted(release.texts[0].texts) == ["[0, 19]", "[20, 39]", "[40, 59]", "[60, 79]"]
    release = dc.publish(table, "k-anonymity(k=6)", scheme=dc.Incognito(values="label"))
    assert sorted(release.texts[0].texts) == ["0 to 19", "20 to 39", "40 to 59", "60 to 79"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"withhold": 1.0}, "withhold must be a number of at least 0 and below 1, not 1.0"),
        ({"most_discernibility": -1.0}, "most_discernibility must be a number above 0 or any, not -1.0"),
        ({"most_discernibility": 0}, "most_discernibility must be a number above 0 or any, not 0"),
        ({"loss": "entropy"}, "loss must be ail, gcp or discernibility, not 'entropy'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(dc.DiscreetError, match=why):
        dc.Incognito(**options)


def test_the_lattice_of_persons_with_several_rows_is_not_listed_but_published() -> None:
    columns = pa.table({"id": [i // 2 for i in range(40)], "age": [i // 2 for i in range(40)], "ill": ["a", "b"] * 20})
    table = dc.read(columns, quasi=["age"], sensitive="ill", person="id")
    with pytest.raises(dc.DiscreetError, match="without several rows of a person"):
        dc.Incognito().search(table, "k-anonymity(k=3)")
    audits(dc.publish(table, "k-anonymity(k=3)", scheme=dc.Incognito()), table, promises="k-anonymity(k=3)")


@pytest.mark.slow
def test_from_the_command_line(tmp_path: Path) -> None:
    table, home = str(tmp_path / "patients.csv"), str(tmp_path / "release")
    write_table(patients_arrow(), Path(table))
    words = (table, "--quasi", "age,sex,zip", "--sensitive", "disease", "--promise", "k-anonymity(k=4)")
    options = ("--option", "withhold=0.2", "--option", "loss=gcp", "--option", "most_discernibility=600")
    told = json.loads(run("publish", *words, "-o", home, "--scheme", "incognito", *options, "--json").stdout)
    assert told["holds"]
    assert dc.load(home).manifest["scheme"]["options"]["most_discernibility"] == 600
    run("audit", home, "--original", table)
    assert "incognito(withhold=0.1)" in run("compare", *words, "--schemes", "cuts,incognito(withhold=0.1)").output
    refused = run(
        "publish", *words, "-o", home, "--force", "--scheme", "incognito", "--option", "most_discernibility=60", code=2
    )
    assert "have a discernibility of at most 60; allow most_discernibility=" in refused.stderr
