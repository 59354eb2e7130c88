"""SABRE: buckets within their budget, groups within t whatever rows they draw, and releases that pass the audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from discreet.adversary.audit import audit
from discreet.analyst.loss import ail
from discreet.datasets import census, patients
from discreet.errors import DiscreetError
from discreet.principles import BetaLikeness, KAnonymity, LDiversity, Principle, Prior, TCloseness
from discreet.schemes.buckets.sabre import DistanceBuckets, Sabre, bucketise, split_closely
from discreet.schemes.merge_broken import JudgedAttribute, merge_broken
from discreet.table.hierarchy import Hierarchy
from discreet.table.read import read
from discreet.table.table import Table
from naive import principles as naive
from naive import sabre as brute
from support.tables import tables, with_missing

TREE = Hierarchy.of("disease", {"lung": {"flu": {}, "cold": {}}, "gut": {"ulcer": {}, "colic": {}, "gas": {}}})
DISTANCES = ("equal", "ordered", "hierarchical")


def prior_of(counts: Any, distance: str) -> Prior:
    counts = np.array(counts)
    if distance == "hierarchical":
        return Prior(counts, TREE.leaves, "categorical", TREE)
    return Prior(counts, tuple(str(i) for i in range(len(counts))), "ordinal")


def ground_of(prior: Prior, distance: str) -> naive.Ground:
    """The distance between the values that the table holds, in their order."""
    held = np.flatnonzero(prior.counts)
    if distance == "equal":
        return naive.equal
    if distance == "ordered":
        return naive.ordered(prior.counts[held].tolist())
    return naive.hierarchical(TREE.ancestors[:, held].tolist())


def members(buckets: DistanceBuckets, prior: Prior) -> list[list[int]]:
    """The buckets as places among the values that the table holds."""
    of_held = buckets.of_value[prior.counts > 0]
    return [np.flatnonzero(of_held == number).tolist() for number in range(buckets.number)]


priors = st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(lambda counts: sum(counts) > 0)


# ------------------------------------------------------------------------------------------------------------ buckets


@given(priors, st.sampled_from(DISTANCES), st.floats(0, 0.7))
@settings(max_examples=150)
def test_buckets_stay_within_their_budget(counts: list[int], distance: str, budget: float) -> None:
    prior = prior_of(counts, distance)
    buckets = bucketise(prior, distance, budget)
    held = prior.frequencies[prior.counts > 0].tolist()
    groups = members(buckets, prior)
    assert sorted(value for bucket in groups for value in bucket) == list(range(len(held)))
    ground = ground_of(prior, distance)
    worst = [brute.worst_value(held, bucket, ground) for bucket in groups]
    assert buckets.worst == pytest.approx(worst)
    cost = sum(w * sum(held[i] for i in bucket) for w, bucket in zip(worst, groups, strict=True))
    assert cost <= budget + 1e-9
    if distance == "ordered":
        assert all(bucket == list(range(bucket[0], bucket[-1] + 1)) for bucket in groups)


@pytest.mark.slow
@given(priors, st.sampled_from(DISTANCES), st.floats(0, 0.7), st.lists(st.integers(0, 3), min_size=5, max_size=5))
@settings(max_examples=80)
def test_the_bound_holds_for_any_rows_drawn(counts: list[int], distance: str, budget: float, draws: list[int]) -> None:
    prior = prior_of(counts, distance)
    buckets = bucketise(prior, distance, budget)
    drawn = np.array(draws[: buckets.number])
    if drawn.sum() == 0 or drawn.sum() > 5:
        return
    held = prior.counts[prior.counts > 0].tolist()
    ground = ground_of(prior, distance)
    worst = brute.worst_group(held, members(buckets, prior), drawn.tolist(), ground)
    bound = float(buckets.bounds(drawn[None])[0])
    assert worst <= bound + 1e-9
    if buckets.number == len(held):  # buckets of single values: nothing is left open
        assert worst == pytest.approx(bound)


def test_buckets_of_worked_examples() -> None:
    # for the equal distance: the frequent values stand alone, the rare ones share what is left
    assert bucketise(prior_of([50, 30, 10, 6, 4], "equal"), "equal", 0.2).of_value.tolist() == [0, 1, 2, 2, 2]
    # ordered: runs around what is close; hierarchical: nodes
    assert bucketise(prior_of([1] * 4, "ordered"), "ordered", 0.2).of_value.tolist() == [0, 0, 1, 1]
    assert bucketise(prior_of([1] * 5, "hierarchical"), "hierarchical", 0.35).of_value.tolist() == [0, 0, 1, 1, 1]
    assert bucketise(prior_of([3, 0, 4, 0, 5], "ordered"), "ordered", 1.0).number == 1
    assert bucketise(prior_of([0, 0, 7, 0, 0], "equal"), "equal", 0.0).number == 1


@given(priors, st.sampled_from(DISTANCES), st.floats(0, 0.6))
def test_halving_keeps_all_rows_and_the_bound(counts: list[int], distance: str, t: float) -> None:
    prior = prior_of([10 * count for count in counts], distance)
    buckets = bucketise(prior, distance, t / 2)
    sizes = np.bincount(buckets.of_value, weights=prior.counts, minlength=buckets.number).astype(np.int64)
    wanted = split_closely(buckets, sizes, t)
    assert wanted.sum(axis=0).tolist() == sizes.tolist()
    assert (wanted.sum(axis=1) > 0).all()
    assert (buckets.bounds(wanted) <= t + 1e-9).all()


# ----------------------------------------------------------------------------------------------------------- releases


def audited(folder: Path, table: Table, promise: Principle, scheme: Sabre) -> bool:
    try:
        release = scheme.publish(table, promise)
    except DiscreetError as refusal:
        assert table.unusable is not None, str(refusal)
        return False
    assert release.sizes.sum() + release.withheld == table.rows
    prior = Prior.of(table)
    closeness = next(part for part in promise.parts if isinstance(part, TCloseness))
    held = prior.counts > 0
    ground = {"equal": naive.equal, "ordered": naive.ordered(prior.counts[held].tolist())}.get(closeness.distance)
    if ground is not None and release.trace is not None:
        for group in range(release.groups):
            counts = np.bincount(table.sensitive_codes[release.trace == group], minlength=len(held))
            assert naive.emd(counts[held].tolist(), prior.counts[held].tolist(), ground) <= closeness.t + 1e-8
    release.save(folder)
    for trace in (release.trace, None):
        result = audit(folder, table, trace)
        assert result.holds, result.sentences()
    return True


@pytest.mark.slow
@given(
    table=tables(),
    t=st.floats(0.02, 0.6),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    retrieval=st.sampled_from(["hilbert", "nearest"]),
)
@settings(max_examples=60)
def test_releases_pass_the_audit(
    tmp_path_factory: pytest.TempPathFactory, table: Table, t: float, share: float, retrieval: Any
) -> None:
    folder = tmp_path_factory.mktemp("release") / "out"
    assert audited(folder, table, TCloseness(t), Sabre(share=share, retrieval=retrieval))


@pytest.mark.slow
@given(table=with_missing(), t=st.floats(0.1, 0.6))
@settings(max_examples=20)
def test_rows_with_missing_values_are_withheld_as_a_group(
    tmp_path_factory: pytest.TempPathFactory, table: Table, t: float
) -> None:
    folder = tmp_path_factory.mktemp("release") / "out"
    event("published" if audited(folder, table, TCloseness(t), Sabre()) else "refused")


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["equal", "ordered"])
@pytest.mark.parametrize("t", [0.02, 0.1, 0.3, 0.6])
def test_a_larger_table(tmp_path: Path, distance: str, t: float) -> None:
    table = census(3000, quasi=("age", "gender", "education"), sensitive="salary", seed=4)
    release = Sabre(random_state=1).publish(table, TCloseness(t, distance))
    assert release.sizes.sum() == 3000
    release.save(tmp_path / "out")
    assert audit(tmp_path / "out", table, release.trace).holds
    assert release.groups > 1 or t < 0.1


def test_a_hierarchy_of_diseases(tmp_path: Path) -> None:
    table = patients()
    for t in (0.05, 0.2, 0.5):
        release = Sabre().publish(table, TCloseness(t, "hierarchical"))
        release.save(tmp_path / f"{t}")
        for trace in (release.trace, None):
            assert audit(tmp_path / f"{t}", table, trace).holds
    assert release.groups > 10


def test_t_of_zero_allows_only_exact_proportion() -> None:
    odd = read(pa.table({"age": range(15), "disease": ["a"] * 7 + ["b"] * 8}), quasi=["age"], sensitive="disease")
    assert Sabre().publish(odd, TCloseness(0.0)).groups == 1
    even = read(pa.table({"age": range(16), "disease": ["a"] * 8 + ["b"] * 8}), quasi=["age"], sensitive="disease")
    assert Sabre().publish(even, TCloseness(0.0)).sizes.tolist() == [2] * 8


def test_extreme_tables_and_t() -> None:
    table = patients()
    assert Sabre().publish(table, TCloseness(1.0)).groups == table.rows
    one = read(pa.table({"age": [30], "disease": ["a"]}), quasi=["age"], sensitive="disease")
    assert Sabre().publish(one, TCloseness(0.1)).groups == 1
    single = read(pa.table({"age": range(8), "disease": ["a"] * 8}), quasi=["age"], sensitive="disease")
    assert Sabre().publish(single, TCloseness(0.0)).groups == 8
    equal = read(pa.table({"age": [30] * 8, "disease": list("aabbccdd")}), quasi=["age"], sensitive="disease")
    assert ail(Sabre(snap=False).publish(equal, TCloseness(0.1))) == 0.0


def test_other_promises_are_kept_by_merging_neighbours(tmp_path: Path) -> None:
    table = census(1500, quasi=("age", "gender"), sensitive="occupation", seed=2)
    promise = TCloseness(0.3) & KAnonymity(12) & LDiversity(3)
    release = Sabre().publish(table, promise)
    assert release.sizes.min() >= 12 and release.groups > 3
    release.save(tmp_path / "out")
    assert audit(tmp_path / "out", table, release.trace).holds


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=40), st.integers(1, 8))
def test_merging_ends_with_groups_that_hold(rows: list[tuple[int, int]], k: int) -> None:
    groups, sensitive_codes = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    prior = Prior(np.bincount(sensitive_codes, minlength=3), ("a", "b", "c"))
    promise = KAnonymity(min(k, len(rows)))
    joined = merge_broken(
        groups, np.arange(len(rows), dtype=np.float64), [JudgedAttribute(sensitive_codes, promise, prior)]
    )
    assert np.bincount(joined).min() >= promise.k
    for group in np.unique(groups):
        assert len(np.unique(joined[groups == group])) == 1


def test_less_is_lost_when_more_is_allowed() -> None:
    table = census(4000, quasi=("age", "gender", "education"), sensitive="salary", seed=1)
    losses = [ail(Sabre(random_state=1).publish(table, TCloseness(t, "ordered"))) for t in (0.02, 0.1, 0.3)]
    assert losses == sorted(losses, reverse=True)


def test_refusals_and_seeds() -> None:
    table = patients()
    with pytest.raises(DiscreetError, match="a single promise of t-closeness"):
        Sabre().publish(table, BetaLikeness(2))
    with pytest.raises(DiscreetError, match="share must be a number between 0 and 1, not 1"):
        Sabre(share=1.5)
    with pytest.raises(DiscreetError, match="retrieval must be hilbert or nearest, not 'random'; correct"):
        Sabre(retrieval="random")  # type: ignore[arg-type]
    first, again = (Sabre(random_state=5).publish(table, TCloseness(0.3)) for _ in range(2))
    assert first.trace is not None and again.trace is not None
    assert (first.trace == again.trace).all() and first.manifest["experimental_seed"] is True
