"""Lifting: beliefs within their bounds by definition, a tree of plain cuts, and never worse than cuts when asked."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from scipy import stats

import discreet as dc
from discreet.adversary.audit import audit
from discreet.analyst.loss import ail, gcp
from discreet.datasets import census
from discreet.families.lifting import cut_tree as growing
from discreet.families.lifting.cut_tree import LiftedTree
from discreet.families.lifting.scheme import Lifting, confirm_tree
from discreet.principles import Prior, parse
from discreet.randomness import generator
from discreet.schemes.grouping import GroupingTask
from discreet.schemes.withholding import unusable_rows
from discreet.table.table import Table
from naive import nested
from naive.lifting import way_up
from support.tables import tables

PROMISES = [
    "beta-likeness(beta=0.5)",
    "beta-likeness(beta=2)",
    "beta-likeness(beta=3, variant=basic)",
    "l-diversity(l=1.5)",
    "l-diversity(l=2)",
    "alpha-beta(alpha=1, beta=0.6)",
    "beta-likeness(beta=2) & l-diversity(l=2)",
]
KINDS = st.fixed_dictionaries(
    {
        "lift": st.sampled_from(["companions", "blind"]),
        "effort": st.sampled_from(["fast", "thorough"]),
        "loss": st.sampled_from(["ail", "gcp"]),
        "values": st.sampled_from(["interval", "label", "set"]),
    }
)


def grown(table: Table, promise: str, scheme: Lifting) -> LiftedTree:
    """The tree that a scheme makes of a table of which nothing is withheld."""
    principle, prior, rng = parse(promise), Prior.of(table), generator(scheme.random_state)
    return scheme._tree(GroupingTask(table, principle, prior, np.arange(table.rows), rng), rng)


def keeps(table: Table, promise: str) -> bool:
    prior = Prior.of(table)
    return bool(parse(promise).holds(prior.counts[None], prior)[0])


@pytest.mark.slow
@given(
    table=tables(largest=120), promise=st.sampled_from(PROMISES), kinds=KINDS, base=st.sampled_from(["none", "cuts"])
)
@settings(max_examples=60)
def test_beliefs_are_within_their_bounds(table: Table, promise: str, kinds: dict[str, Any], base: Any) -> None:
    assume(keeps(table, promise))
    tree = grown(table, promise, Lifting(random_state=1, base=base, **kinds))
    caps = parse(promise).caps(Prior.of(table))
    assert caps is not None
    persons = Counter(tree.leaf_of.tolist())
    believed = way_up(
        tree.parents.tolist(), tree.leaf_of.tolist(), tree.node_of.tolist(), table.sensitive_codes.tolist()
    )
    for leaf, belief in believed.items():
        assert sum(belief.values()) == 1
        assert all(
            float(share) * persons[leaf] <= caps[value] * persons[leaf] + 1e-9 for value, share in belief.items()
        )
    event("lifted" if (tree.leaf_of != tree.node_of).any() else "nothing lifted")


@pytest.mark.slow
@given(table=tables(largest=7), promise=st.sampled_from(PROMISES), lift=st.sampled_from(["companions", "blind"]))
@settings(max_examples=60)
def test_beliefs_are_within_their_bounds_in_all_worlds(table: Table, promise: str, lift: Any) -> None:
    assume(keeps(table, promise))
    tree = grown(table, promise, Lifting(random_state=1, lift=lift))
    caps = parse(promise).caps(Prior.of(table))
    assert caps is not None
    rows = list(zip(tree.node_of.tolist(), table.sensitive_codes.tolist(), strict=True))
    for belief in nested.beliefs(tree.parents.tolist(), tree.leaf_of.tolist(), rows):
        assert all(share <= caps[value] + 1e-9 for value, share in belief.items())  # type: ignore[call-overload]


@pytest.mark.slow
@given(table=tables(largest=120), promise=st.sampled_from(PROMISES), kinds=KINDS)
def test_the_tree_is_one_of_plain_cuts(table: Table, promise: str, kinds: dict[str, Any]) -> None:
    assume(keeps(table, promise))
    tree = grown(table, promise, Lifting(random_state=1, **kinds))
    inside: dict[int, set[int]] = {}
    for row, (leaf, node) in enumerate(zip(tree.leaf_of.tolist(), tree.node_of.tolist(), strict=True)):
        way = nested.path(tree.parents.tolist(), leaf)
        assert node in way
        for step in way:
            inside.setdefault(step, set()).add(row)
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents.tolist()):
        children.setdefault(parent, []).append(node)
    assert len(children.pop(-1)) == 1
    assert not set(children) & set(tree.leaf_of.tolist())
    codes = np.array([column.codes for column in table.quasi])
    for pair in children.values():
        left, right = (codes[:, sorted(inside[child])] for child in pair)
        assert any(not set(a.tolist()) & set(b.tolist()) for a, b in zip(left, right, strict=True))


@pytest.mark.slow
@given(
    table=tables(largest=150), promise=st.sampled_from(PROMISES), kinds=KINDS, base=st.sampled_from(["none", "cuts"])
)
def test_what_is_minimised_is_what_is_published(table: Table, promise: str, kinds: dict[str, Any], base: Any) -> None:
    assume(keeps(table, promise))
    scheme = Lifting(random_state=1, base=base, **kinds)
    published = (ail if scheme.loss == "ail" else gcp)(scheme.release_of(table, parse(promise)))  # of the same order
    assert grown(table, promise, scheme).cost / table.rows == pytest.approx(published, abs=1e-9)


@pytest.mark.slow
@given(table=tables(largest=150), promise=st.sampled_from(PROMISES), kinds=KINDS)
def test_never_worse_than_cuts_when_asked(table: Table, promise: str, kinds: dict[str, Any]) -> None:
    assume(keeps(table, promise))
    del kinds["effort"]
    measure = ail if kinds["loss"] == "ail" else gcp
    lifted = Lifting(base="cuts", random_state=1, **kinds).publish(table, parse(promise))
    del kinds["lift"]
    # groups are merged to hide presence, which alpha=1 does not ask for
    assert measure(lifted) <= measure(dc.Cuts(random_state=1, **kinds).publish(table, parse(promise))) + 1e-12


@pytest.mark.slow
@given(table=tables(largest=150), promise=st.sampled_from(PROMISES), lift=st.sampled_from(["companions", "blind"]))
def test_thorough_is_never_worse_than_fast(table: Table, promise: str, lift: Any) -> None:
    assume(keeps(table, promise))
    with pytest.MonkeyPatch.context() as small:  # so that recipes are compared at several levels
        small.setattr(growing, "SMALL", 10)
        thorough, fast = (
            grown(table, promise, Lifting(lift=lift, effort=effort, random_state=1)) for effort in ("thorough", "fast")
        )
    assert thorough.cost <= fast.cost + 1e-9


@pytest.mark.slow
@given(table=tables(missing=True), promise=st.sampled_from(PROMISES), kinds=KINDS)
def test_withheld_rows_are_a_group_and_the_audit_holds(table: Table, promise: str, kinds: dict[str, Any]) -> None:
    principle, prior = parse(promise), Prior.of(table)
    try:
        release = Lifting(random_state=1, **kinds).publish(table, principle)
    except dc.DiscreetError as refusal:
        assert not keeps(table, promise) or table.unusable is not None, str(refusal)
        return
    assert release.withheld == len(unusable_rows(table, principle, prior, generator(1)))
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release")
        for trace in (release.trace, None):
            result = audit(Path(folder) / "release", table, trace=trace)
            assert result.holds, result.sentences()


def people(ages: list[int], diseases: list[str]) -> Table:
    return dc.read(pa.table({"age": ages, "disease": diseases}), quasi=["age"], sensitive="disease")


def test_a_rare_value_no_longer_holds_up_the_others() -> None:
    """Eight persons of four ages, and one rare value: groups must be large around it, lifting leaves it above."""
    table = people([20, 20, 30, 30, 40, 40, 50, 50] * 5, ["rare", *"abababa"] + list("abababab") * 4)
    promise = dc.BetaLikeness(1, variant="basic")
    lifted = Lifting(random_state=1).publish(table, promise)
    assert ail(lifted) < 0.6 * ail(dc.Cuts(effort="thorough", random_state=1).publish(table, promise))


@pytest.mark.slow
def test_which_rows_are_lifted_is_chance() -> None:
    """Chi-squared at 1e-6: of a child's rows with one value each is lifted as often as any other."""
    table = people([20] * 12 + [40] * 12, list("aaaaaaaabbbb" + "bbbbbbbbaaaa"))
    often, runs = np.zeros(24), 500
    for seed in range(runs):
        tree = grown(table, "l-diversity(l=1.8)", Lifting(random_state=seed))
        often += tree.leaf_of != tree.node_of
    kinds = list(zip(table.quasi[0].codes.tolist(), table.sensitive_codes.tolist(), strict=True))
    tested = 0
    for kind in sorted(set(kinds)):
        counts = often[[one == kind for one in kinds]]
        if 0 < counts.sum() < runs * len(counts):
            tested += 1
            assert stats.chisquare(counts).pvalue > 1e-6
    assert tested >= 2


def test_without_a_seed_chance_comes_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet import randomness

    asked: list[int] = []
    real = randomness._entropy
    monkeypatch.setattr(randomness, "_entropy", lambda n: asked.append(n) or real(n))
    table = census(200, sensitive="salary")
    Lifting().publish(table, dc.BetaLikeness(2))
    assert 8 * 200 in asked  # a word for each row, to decide which are lifted
    first, again = (grown(table, "beta-likeness(beta=2)", Lifting(random_state=7)) for _ in range(2))
    assert np.array_equal(first.node_of, again.node_of)


def test_a_tree_that_breaks_its_promise_is_not_published() -> None:
    table = census(300, sensitive="salary")
    principle, prior = dc.BetaLikeness(1), Prior.of(table)
    tree = grown(table, "beta-likeness(beta=1)", Lifting(random_state=1))
    arrays = tree.parents, tree.leaf_of, tree.node_of
    confirm_tree(*arrays, table.sensitive_codes, principle, prior)
    assert (tree.leaf_of != tree.node_of).any()
    with pytest.raises(AssertionError, match="nothing was published"):  # all rows go down
        confirm_tree(tree.parents, tree.leaf_of, tree.leaf_of, table.sensitive_codes, principle, prior)
    with pytest.raises(AssertionError, match="nothing was published"):  # more rows than persons without one
        confirm_tree(tree.parents, tree.leaf_of, np.roll(tree.leaf_of, 1), table.sensitive_codes, principle, prior)


@pytest.mark.parametrize("lift", ["companions", "blind"])
@pytest.mark.parametrize("base", ["none", "cuts"])
def test_small_and_odd_tables(lift: Any, base: Any) -> None:
    scheme = Lifting(lift=lift, base=base, random_state=1, snap=False)
    two = people([20, 40], ["a", "b"])
    assert scheme.publish(two, dc.LDiversity(2)).groups == 1
    assert ail(scheme.publish(two, dc.LDiversity(1))) == 0.0  # which promises nothing
    constant = people([30] * 6, list("aabbcc"))
    assert scheme.publish(constant, dc.LDiversity(3)).groups == 1
    one_value = people([20, 30, 40], ["a"] * 3)
    assert ail(scheme.publish(one_value, dc.BetaLikeness(0.1))) == 0.0  # what everybody has was known before
    with pytest.raises(dc.DiscreetError, match="ask for l=2"):
        scheme.publish(people([20, 30, 40, 50, 60], list("aabbc")), dc.LDiversity(4))
    with pytest.raises(dc.DiscreetError, match=r"'a'.*holds 100\.0 %"):
        scheme.publish(one_value, dc.LDiversity(2))
    coprime = people(list(range(20, 27)), list("aaaabbb"))
    assert scheme.publish(coprime, dc.BetaLikeness(0)).groups == 1


@pytest.mark.parametrize(
    "promise",
    [
        "k-anonymity(k=3)",
        "l-diversity(l=2, kind=distinct)",
        "l-diversity(l=1.5, kind=entropy)",
        "t-closeness(t=0.3)",
        "beta-likeness(beta=2, negative=0.9)",
        "delta-disclosure(delta=1.5)",
        "alpha-beta(alpha=0.7, beta=0.6)",
        "k-anonymity(k=3) & beta-likeness(beta=2)",
    ],
)
def test_what_is_no_cap_on_shares_is_refused_with_a_way_out_that_works(promise: str) -> None:
    table = census(500, quasi=("age", "education"), sensitive="salary")
    with pytest.raises(dc.DiscreetError, match=r"scheme 'lifting'.*choose scheme '(cuts|ambiguity)'") as refusal:
        Lifting().publish(table, parse(promise))
    way_out = str(refusal.value).rsplit("'", 2)[1]
    assert dc.publish(table, promise, way_out).rows > 0


def test_persons_with_several_rows_and_bad_options_are_refused() -> None:
    table = people([20, 30, 40, 50], list("abab"))
    with pytest.raises(dc.DiscreetError, match="choose scheme 'cuts'"):
        Lifting().publish(replace(table, person=np.array([0, 0, 1, 2])), dc.LDiversity(2))
    with pytest.raises(dc.DiscreetError, match="lift must be companions or blind, not 'some'; correct it"):
        Lifting(lift="some")  # type: ignore[arg-type]
    with pytest.raises(dc.DiscreetError, match="loss must be ail or gcp, not 'discernibility'; correct"):
        Lifting(loss="discernibility")  # type: ignore[arg-type]


@pytest.mark.parametrize("beta", [1, 4])
def test_it_loses_far_less_than_cuts(beta: float) -> None:
    table = census(5000, quasi=("age", "gender", "education", "marital", "work_class"), sensitive="salary")
    promise = dc.BetaLikeness(beta)
    cuts = ail(dc.Cuts(random_state=1).publish(table, promise))
    fast, blind = (ail(Lifting(lift=lift, random_state=1).publish(table, promise)) for lift in ("companions", "blind"))
    assert fast < 0.7 * cuts
    assert blind < 0.9 * cuts


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["ail", "gcp"])
@pytest.mark.parametrize("lift", ["companions", "blind"])
def test_whoever_only_matches_descriptions_believes_what_was_judged(tmp_path: Path, lift: str, loss: str) -> None:
    """By default leaves do not overlap: their descriptions tell the tree. Labels of hierarchies would overlap."""
    table = census(2_000, quasi=("age", "education", "marital", "work_class", "country"))
    release = dc.publish(table, dc.BetaLikeness(2), dc.Lifting(lift=lift, loss=loss, random_state=1))
    release.save(tmp_path / "r")
    (said,) = (check for check in dc.audit(tmp_path / "r", table, release.trace).checks if check.name == "descriptions")
    assert said.holds and not said.caveat and "believes what was judged" in said.sentence
