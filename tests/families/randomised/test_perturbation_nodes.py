"""Perturbation under promises about nodes of a hierarchy: what is believed in a node, by definition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.scheme.perturbation import Perturbation, draw
from discreet.principles import BetaLikeness, Prior
from discreet.table.query import OneOf, Query, Range
from naive import perturbation as naive
from naive import principles
from support.releases import perturbed

TREE = dc.Hierarchy.of("ill", {"a": ("a1", "a2", "a3"), "b": ("b1", "b2"), "c": ("c1",), "d": ("d1", "d2")})


def people(counts: dict[str, int], tree: dc.Hierarchy = TREE) -> dc.Table:
    """People of all ages, so many of them with each illness."""
    ills = np.random.default_rng(5).permutation(np.repeat(list(counts), list(counts.values())))
    ages = np.arange(len(ills)) % 60
    return dc.read(pa.table({"age": ages, "ill": ills}), quasi="age", sensitive="ill", hierarchies={"ill": tree})


TABLE = people({"a1": 160, "a2": 40, "a3": 7, "b1": 90, "b2": 90, "c1": 110, "d1": 100})
"""A node of one value, and one that has a value that does not occur."""


def in_nodes(line: list[Fraction], nodes: list[str]) -> dict[str, Fraction]:
    """What is believed in the nodes, given the beliefs in their values."""
    found: dict[str, Fraction] = defaultdict(Fraction)
    for node, belief in zip(nodes, line, strict=True):
        found[node] += belief
    return found


@st.composite
def priors(draw: st.DrawFn) -> tuple[Prior, list[str], int]:
    """A random hierarchy of three levels with counts of its values, the names of these, and a level."""
    tree = draw(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), min_size=2, max_size=4))
    rows = [
        (f"{top}{inner}{leaf}", f"{top}{inner}", f"{top}", "*")
        for top, number in enumerate(tree)
        for inner, leaves in enumerate(number)
        for leaf in range(leaves)
    ]
    some = st.one_of(st.integers(0, 40), st.integers(0, 17).map(lambda power: 2**power))
    counts = draw(st.lists(some, min_size=len(rows), max_size=len(rows)).filter(any))
    texts = tuple(row[0] for row in rows)
    prior = Prior(np.array(counts), texts, hierarchy=dc.Hierarchy.from_rows("sensitive", rows))
    return prior, list(texts), draw(st.integers(1, 2))


@pytest.mark.slow
@given(
    priors(),
    st.floats(0.0, 8.0),
    st.sampled_from(["enhanced", "basic"]),
    st.sampled_from([None, None, 1.0, 0.5, 0.05, 0.0]),
    st.sampled_from(["exact", "even"]),
)
@settings(max_examples=150)
def test_beliefs_in_nodes_are_within_their_bounds(
    given_prior: tuple[Prior, list[str], int], beta: float, variant: Any, negative: float | None, kind: Any
) -> None:
    prior, texts, level = given_prior
    promise = BetaLikeness(beta, variant, negative, level)
    matrix = Perturbation(matrix=kind).find(promise, prior)
    assert matrix.stochastic
    counts = [int(count) for count in prior.counts if count]
    nodes = [text[: 3 - level] for text, count in zip(texts, prior.counts, strict=True) if count]
    shares, tolerance = in_nodes(principles.shares(counts), nodes), Fraction(1, 10**11)
    for line in naive.beliefs(matrix.texts(), counts):
        for node, belief in in_nodes(line, nodes).items():
            assert belief <= min(1, principles.cap(shares[node], beta, variant)) * (1 + tolerance)
            assert negative is None or belief >= (1 - Fraction(negative)) * shares[node] * (1 - tolerance)


@pytest.mark.parametrize("kind", ["exact", "even", "closed-form"])
def test_a_value_tells_about_nodes_what_its_node_alone_would_tell(kind: Any) -> None:
    """By definition: the matrix of nodes is that of a table in which every value is replaced by its node."""
    promise, scheme, prior = BetaLikeness(1), Perturbation(matrix=kind), Prior.of(TABLE)
    matrix = scheme.find(BetaLikeness(1, level=1), prior)
    counts = [int(count) for count in prior.counts if count]
    nodes = [text[0] for text, count in zip(prior.values, prior.counts, strict=True) if count]
    numbers = in_nodes([Fraction(count) for count in counts], nodes)
    coarse = scheme.find(promise, Prior(np.array([int(number) for number in numbers.values()]), tuple(numbers)))
    told = dict(zip(numbers, coarse.posteriors(np.array(list(numbers.values()), np.int64)).tolist(), strict=True))
    for node, line in zip(nodes, naive.beliefs(matrix.texts(), counts), strict=True):
        assert [float(belief) for belief in in_nodes(line, nodes).values()] == pytest.approx(told[node], rel=1e-9)
        # and in a value of the node, other than the published one, nobody believes
        assert sum(belief > 0 for belief, of in zip(line, nodes, strict=True) if of == node) == 1
    # values stay unchanged more often than under the same promise about values
    assert matrix.retention.mean() > scheme.find(promise, prior).retention.mean()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exact", "even", "closed-form"])
def test_audits_find_the_matrix_again_and_judge_nodes(tmp_path: Path, kind: Any) -> None:
    promise = dc.parse("beta-likeness(beta=1, level=1)")
    release = dc.publish(TABLE, promise, Perturbation(matrix=kind, random_state=3))
    home = release.save(tmp_path / "r")
    for trace in (None, release.trace):
        found = dc.audit(home, TABLE, trace)
        assert found.holds, found.sentences()
        assert "is the one that scheme 'perturbation'" in " ".join(found.sentences())
        assert " published believes with " in found.promises[0].sentence and " in '" in found.promises[0].sentence
    # nothing is promised about values, and stronger promises about nodes are not kept
    for other in ("beta-likeness(beta=1)", "beta-likeness(beta=0.5, level=1)"):
        assert not dc.audit(home, TABLE, promises=other).holds


def failed(home: Path) -> set[str]:
    audit = dc.audit(home, TABLE)
    broken = {"kept" for one in audit.promises if not one.holds}
    return broken | {check.name for check in audit.checks if not check.holds}


@pytest.mark.slow
def test_forged_matrices_are_noticed(tmp_path: Path) -> None:
    promise = BetaLikeness(1, level=1)
    prior, scheme = Prior.of(TABLE), Perturbation()
    held = np.flatnonzero(prior.counts)
    place = (np.cumsum(prior.counts > 0) - 1).astype(np.int32)[TABLE.sensitive_codes]
    own = scheme.find(promise, prior)
    assert scheme.may_find(own, promise, prior)

    def saved(name: str, matrix: Matrix) -> set[str]:
        drawn = held[draw(matrix, place, np.random.default_rng(1))]
        return failed(perturbed(TABLE, drawn, matrix, promise).save(tmp_path / name))

    def other(change: Any) -> Matrix:
        units = own.units.copy()
        change(units)
        matrix = Matrix(units, own.scale)
        assert matrix.stochastic
        return matrix

    def moved(units: Any) -> None:
        """b1 is always kept: more is believed in its node than is allowed."""
        units[:, 3] = 0
        units[3, 3] = own.scale

    def within(units: Any) -> None:
        """a2 is drawn more often than is its share in the node, and a1 less often: nodes are believed in less."""
        units[1, 5] += units[0, 5] // 2
        units[0, 5] -= units[0, 5] // 2

    def inside(units: Any) -> None:
        """b1 and b2 are exchanged for each other: their node is as likely as before."""
        half = units[3, 3] // 2
        units[3:5, 3:5] = np.array([[half, own.units[3, 3] - half], [own.units[3, 3] - half, half]], object)

    assert saved("own", own) == set()
    assert saved("moved", other(moved)) == {"matrix", "kept"}
    assert "matrix" in saved("within", other(within))
    assert saved("inside", other(inside)) == {"matrix"}
    assert not any(scheme.may_find(other(change), promise, prior) for change in (moved, within, inside))
    # the matrix for a promise about values keeps that about nodes if nodes differ enough, but is another
    assert "matrix" in saved("values", scheme.find(BetaLikeness(1), prior))


@pytest.mark.slow
def test_another_solution_of_the_same_program_is_as_good() -> None:
    """Which one a solver finds depends on the order of the nodes, as it may on the version of the solver."""
    counts = {"x": {"x1": 200, "x2": 300}, "y": {"y1": 300}, "z": {"z1": 10, "z2": 20, "z3": 70}}
    promise, scheme, found = BetaLikeness(2, variant="basic", level=1), Perturbation(), []
    for order in permutations(counts):
        texts = [text for node in order for text in counts[node]]
        tree = dc.Hierarchy.of("sensitive", {node: tuple(counts[node]) for node in order})
        prior = Prior(np.array([counts[text[0]][text] for text in texts]), tuple(texts), hierarchy=tree)
        back = np.argsort(texts)
        cells = np.array(scheme.find(promise, prior).texts(), object)
        found.append((prior, np.argsort(back), cells[np.ix_(back, back)]))
    for _, _, sorted_cells in found:
        for prior, place, _ in found:
            other = Matrix.from_texts(sorted_cells[np.ix_(place, place)].tolist())
            assert scheme.may_find(other, promise, prior)
            assert not scheme.may_find(scheme.find(replace(promise, beta=1.9), prior), promise, prior)
    assert max(np.abs(cells.astype(float) - found[0][2].astype(float)).max() for *_, cells in found) > 0.05


def test_a_value_that_cannot_have_been_drawn_is_noticed(tmp_path: Path) -> None:
    """No value is published for another one of its node: one such row is enough, where its place is known."""
    release = dc.publish(TABLE, BetaLikeness(1, level=1), Perturbation(random_state=3))
    assert release.trace is not None
    held, texts = np.flatnonzero(TABLE.prior_counts), np.array(Prior.of(TABLE).values)
    published = held[release.shown.codes[release.trace]]  # type: ignore[attr-defined]
    row = int(np.flatnonzero((texts[published] == "b1") & (texts[TABLE.sensitive_codes] == "b1"))[0])
    published[row] = int(np.flatnonzero(texts == "b2")[0])
    other = perturbed(TABLE, published, release.matrix, BetaLikeness(1, level=1))  # type: ignore[attr-defined]
    found = dc.audit(other.save(tmp_path / "r"), TABLE, other.trace)
    (check,) = (check for check in found.checks if not check.holds)
    assert check.name == "draws" and "impossible that 'b2' is published where it is: 1 row too many" in check.sentence
    alone = dc.read(
        pa.table({"age": np.arange(TABLE.rows), "ill": texts[TABLE.sensitive_codes]}),
        quasi="age",
        sensitive="ill",
        hierarchies={"ill": TREE},
    )
    # people with an age of their own need no trace
    other = perturbed(alone, published, release.matrix, BetaLikeness(1, level=1))  # type: ignore[attr-defined]
    assert [check.name for check in dc.audit(other.save(tmp_path / "s"), alone).checks if not check.holds] == ["draws"]


@pytest.mark.slow
def test_withheld_rows_are_judged_by_nodes(tmp_path: Path) -> None:
    promise, scheme, prior = BetaLikeness(1, level=1), Perturbation(), Prior.of(TABLE)
    held = np.flatnonzero(prior.counts)
    place = (np.cumsum(prior.counts > 0) - 1).astype(np.int32)[TABLE.sensitive_codes]
    texts = np.array(prior.values)[TABLE.sensitive_codes]
    matrix = scheme.find(promise, prior)
    drawn = held[draw(matrix, place, np.random.default_rng(2))]
    # twelve rows of one value each: enough nodes, or too few
    for name, values, holds in (("fair", "a1 b1 c1 d1", True), ("unfair", "a1 a2", False)):
        out = np.concatenate([np.flatnonzero(texts == value)[:6] for value in values.split()])
        codes = drawn.copy()
        codes[out] = -1
        release = perturbed(TABLE, codes, matrix, promise)
        home = release.save(tmp_path / name)
        assert dc.audit(home, TABLE, release.trace).promises[0].holds is holds
        without = dc.audit(home, TABLE)
        assert without.promises[0].holds or not holds
        assert any(check.name == "withheld" for check in without.checks) or without.promises[0].holds is holds


@pytest.mark.slow
def test_the_inverse_is_unbiased() -> None:
    """Means of 400 runs within 5 standard errors of the truth: chance fails any of the four once in 400,000 times."""
    promise, prior, runs = BetaLikeness(1, level=1), Prior.of(TABLE), 400
    matrix = Perturbation().find(promise, prior)
    held = np.flatnonzero(prior.counts)
    place = (np.cumsum(prior.counts > 0) - 1).astype(np.int32)[TABLE.sensitive_codes]
    young = Range("age", 0, 29)
    queries = [Query((OneOf("ill", ills), young)) for ills in (("a1", "a2", "a3"), ("b1",), ("a3", "c1"), ("d1",))]
    truth = np.array([query.count(TABLE) for query in queries])
    rng = np.random.default_rng([11, 12])
    found = np.empty((runs, len(queries)))
    for run in range(runs):
        release = perturbed(TABLE, held[draw(matrix, place, rng)], matrix, promise)
        found[run] = release.estimates(queries, "inverse")
    assert (np.abs(found.mean(axis=0) - truth) <= 5 * found.std(axis=0) / np.sqrt(runs)).all()


def test_promises_about_nodes_of_two_levels_are_refused() -> None:
    for promises in (["beta-likeness(beta=3)", "beta-likeness(beta=1, level=1)"], ["k-anonymity(k=2)"]):
        with pytest.raises(dc.DiscreetError, match="in single nodes at one level of a hierarchy, so it can only"):
            dc.publish(TABLE, promises, Perturbation())
    with pytest.raises(dc.DiscreetError, match="has one level between its values and its root"):
        dc.publish(TABLE, BetaLikeness(1, level=2), Perturbation())
    both = dc.parse("beta-likeness(beta=2, level=1) & beta-likeness(beta=4, variant=basic, level=1)")
    assert dc.publish(TABLE, both, Perturbation()).rows == TABLE.rows
