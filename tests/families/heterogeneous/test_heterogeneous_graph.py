"""The published graph of heterogeneous generalization: zones, every assignment that may be drawn, and the draw."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet as dc
from discreet.analyst.loss import ail
from discreet.datasets import census, patients
from discreet.families.heterogeneous.buckets import bucketize
from discreet.families.heterogeneous.candidates import irregularities, published_values
from discreet.families.heterogeneous.graph import drawn_matches, matched_graph, zones
from discreet.families.heterogeneous.matching import Matching, grow_from
from discreet.families.heterogeneous.scheme import space_of
from discreet.principles import Prior, parse
from discreet.schemes import make_scheme
from discreet.table.table import Table

PROMISES = [
    "l-diversity(l=2)",
    "l-diversity(l=2.5)",
    "l-diversity(l=4)",
    "beta-likeness(beta=0.5)",
    "beta-likeness(beta=1, variant=basic)",
    "beta-likeness(beta=3)",
    "k-anonymity(k=4) & beta-likeness(beta=2)",
]
LETTERS = "aaaaabbbbcccddefgh"


def people(values: str, seed: int = 0, quasi: int = 2) -> Table:
    rng = np.random.default_rng(seed)
    columns = {f"q{j}": rng.integers(0, 12, len(values)) for j in range(quasi)}
    return dc.read(pa.table({**columns, "value": list(values)}), quasi=list(columns), sensitive="value")


def assigned(candidates: NDArray[np.int32], sensitive_codes: NDArray[np.int32], column: int) -> NDArray[np.int32]:
    """The values that would be published with rows if an assignment were drawn; where it has none, the first."""
    own = np.where(candidates[:, column] >= 0, candidates[:, column], candidates[:, 0])
    shown = np.empty(len(own), np.int32)
    shown[own] = sensitive_codes
    return shown


# --------------------------------------------------------------------------------------------------------------- zones


@given(st.text(LETTERS, min_size=1, max_size=60), st.sampled_from(PROMISES), st.integers(0, 10**6))
@settings(max_examples=60)
def test_zones_are_whole_groups_in_which_nothing_that_is_kept_apart_can_meet(
    values: str, promise: str, seed: int
) -> None:
    table = people(values, seed)
    prior = Prior.of(table)
    assume(parse(promise).holds(prior.counts[None], prior)[0])
    caps = parse(promise).caps(prior)
    assert caps is not None
    buckets = bucketize(table.sensitive_codes, caps, 1, "fewest", np.random.default_rng(seed))
    grown = grow_from(space_of(table, np.arange(table.rows), "ail", "interval"), buckets, 0, "greedy")
    found = list(zones(grown, buckets))
    assert sorted(row for zone in found for row in zone.rows.tolist()) == list(range(table.rows))
    mark_of = dict(zip(buckets.rows.tolist(), buckets.marks.tolist(), strict=True))
    groups = {frozenset(line[line >= 0].tolist()) for line in grown.members}
    for zone in found:
        lines = zone.rows.reshape(len(zone), zone.width)
        assert {frozenset(group.tolist()) for group in lines.T} <= groups
        where: dict[int, set[int]] = {}
        for bucket, line in enumerate(lines.tolist()):
            for row in line:
                where.setdefault(mark_of[row], set()).add(bucket)
        assert all(len(some) == 1 for mark, some in where.items() if mark >= 0)


def test_without_zones_a_value_kept_apart_may_be_published_twice_with_the_candidates_of_a_person() -> None:
    """The paper's Section 3.3: every box has five values, and yet some see f twice: 5-diversity is 2.5-diversity."""
    repeated = 0
    for seed in range(20):
        table = people("aaabbbcccddeeff", seed)
        buckets = bucketize(table.sensitive_codes, np.full(6, 0.2), 1, "published", np.random.default_rng(seed))
        graph = matched_graph(space_of(table, np.arange(15), "ail", "interval"), buckets, "hungarian")
        assert all(len(set(table.sensitive_codes[line].tolist())) == 5 for line in graph)
        candidates = drawn_matches(graph)
        for column in graph.T:
            shown = table.sensitive_codes[column]
            repeated += any(len(set(shown[boxes].tolist())) < 5 for boxes in candidates)
    assert repeated > 10


@pytest.mark.slow
@pytest.mark.parametrize("matching", ["greedy", "sort-greedy", "hungarian"])
@pytest.mark.parametrize("bucketing", ["fewest", "published"])
@given(st.text(LETTERS, min_size=1, max_size=50), st.sampled_from(PROMISES), st.integers(0, 10**6))
@settings(max_examples=20)
def test_whichever_assignment_is_drawn_everyones_candidates_keep_the_promise(
    matching: Matching, bucketing: str, values: str, promise: str, seed: int
) -> None:
    table, principle = people(values, seed), parse(promise)
    prior = Prior.of(table)
    assume(principle.holds(prior.counts[None], prior)[0])
    scheme = make_scheme("heterogeneous", {"publishes": "graph", "matching": matching, "buckets": bucketing}, seed)
    release = scheme.publish(table, principle)
    assert release.withheld == 0 and isinstance(release, dc.MatchedRelease) and release.trace is not None
    candidates = release.trace
    assert irregularities(candidates, table.rows, range(table.rows)) == []
    for column in range(candidates.shape[1]):
        _, counts = published_values(candidates, assigned(candidates, table.sensitive_codes, column), len(prior.values))
        assert principle.holds(counts, prior).all()


def test_the_six_tuples_of_section_3_meet_no_deadend() -> None:
    """a, a, b, b, c, d: whoever gives the first four each other's values has none left for a third assignment."""
    for seed in range(10):
        table = people("aabbcd", seed)
        release = make_scheme("heterogeneous", {"publishes": "graph"}, seed).publish(table, parse("l-diversity(l=3)"))
        assert release.trace.shape == (6, 3) and (release.trace >= 0).all()
        for column in range(3):
            shown = assigned(release.trace, table.sensitive_codes, column)
            assert all(len(set(shown[line].tolist())) == 3 for line in release.trace)


def test_what_is_believed_is_the_share_of_the_assignments() -> None:
    """By enumeration: in how many of the worlds that may have been drawn a person has a value."""
    for seed in range(10):
        table = people("aaabbbcccddeeff", seed)
        release = make_scheme("heterogeneous", {"publishes": "graph"}, seed).publish(table, parse("l-diversity(l=5)"))
        candidates = release.trace
        shown = assigned(candidates, table.sensitive_codes, 0)
        _, counts = published_values(candidates, shown, 6)
        assert (candidates >= 0).all()
        worlds = [shown[candidates[:, column]] for column in range(5)]
        for person in range(15):
            believed = [sum(world[person] == value for world in worlds) / 5 for value in range(6)]
            assert believed == (counts.matrix()[person] / 5).tolist()


# ------------------------------------------------------------------------------------------------------------ the draw


def test_every_assignment_is_drawn_equally_often() -> None:
    """Chi-squared with 2 degrees of freedom: 13.8 is exceeded with a chance of .001."""
    table = people("aaaabbbbcccc")
    buckets = bucketize(table.sensitive_codes, np.full(3, 1 / 3), 1, "fewest", np.random.default_rng(0))
    graph = matched_graph(space_of(table, np.arange(12), "ail", "interval"), buckets, "hungarian")
    drawn, rng = np.zeros(3), np.random.default_rng(3)
    for _ in range(3000):
        own = drawn_matches(graph, rng)[:, 0]  # the box of every row
        drawn[[bool((column[own] == np.arange(12)).all()) for column in graph.T]] += 1
    assert drawn.sum() == 3000 and ((drawn - 1000) ** 2 / 1000).sum() < 13.8


def test_draws_come_from_the_system_and_not_from_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.families.heterogeneous import graph

    asked = []
    monkeypatch.setattr(
        graph, "numbers_below", lambda limit, number, seeded: (asked.append(seeded), np.zeros(1, int))[1]
    )
    dc.publish(patients(), dc.LDiversity(3), dc.Heterogeneous(publishes="graph"))
    assert asked and all(seeded is None for seeded in asked)


# ------------------------------------------------------------------------------------------------- beside what it is of


def test_the_best_of_its_partitions_loses_no_more_than_a_published_graph() -> None:
    """The boxes that one bucket's persons get in an assignment are those of one bucket: everyone is in one of them."""
    promise = dc.LDiversity(4)
    for seed in range(5):
        values = "".join(np.random.default_rng(seed).permutation(list("abcd" * 8)))
        table = people(values, seed, 3)
        graph = dc.Heterogeneous(publishes="graph", random_state=seed, snap=False).publish(table, promise)
        assert graph.trace is not None
        losses = []
        for column in graph.trace.T:
            boxes = set(column[table.sensitive_codes == 0].tolist())
            inside = np.isin(graph.trace, list(boxes))
            assert (inside.sum(axis=1) == 1).all()
            groups = graph.trace[inside]
            losses.append(ail(dc.GeneralizedRelease.from_groups(table, groups, promise=promise, scheme="one bucket")))
        assert np.mean(losses) == pytest.approx(ail(graph)) and min(losses) <= ail(graph)


def test_options_are_the_same_in_texts_and_in_python() -> None:
    scheme = make_scheme("heterogeneous", {"publishes": "graph", "matching": "greedy"}, 4)
    assert scheme == dc.Heterogeneous(publishes="graph", matching="greedy", random_state=4)
    assert scheme.options["publishes"] == "graph" and dc.Heterogeneous().options["publishes"] == "best-bucket"
    assert scheme.makes is dc.MatchedRelease and dc.Heterogeneous().makes is dc.GeneralizedRelease
    with pytest.raises(dc.DiscreetError, match="publishes must be best-bucket or graph, not 'both'; correct it"):
        dc.Heterogeneous(publishes="both")  # type: ignore[arg-type]


def test_what_the_graph_cannot_keep_is_refused() -> None:
    graph = dc.Heterogeneous(publishes="graph")
    with pytest.raises(dc.DiscreetError, match=r"nothing to hide who is in the table .* choose scheme 'ambiguity'"):
        graph.publish(patients(), parse("alpha-beta(alpha=0.5, beta=0.5)"))
    data = pa.table({"age": [1, 2, 3, 4], "x": list("abab"), "who": [1, 1, 2, 3]})
    persons = dc.read(data, quasi=["age"], sensitive="x", person="who")
    with pytest.raises(dc.DiscreetError, match="publishes=best-bucket"):
        graph.publish(persons, dc.LDiversity(2))


def test_missing_values_are_withheld() -> None:
    ages = [None, None, *range(20, 58)]
    data = pa.table({"age": pa.array(ages, pa.int64()), "x": list("ab" * 20)})
    table = dc.read(data, quasi=["age"], sensitive="x", missing="withhold")
    release = dc.Heterogeneous(publishes="graph", random_state=1).publish(table, dc.LDiversity(2))
    assert release.withheld == 2 and release.trace is not None and (release.trace[:2] == -1).all()


def test_a_census_is_published_with_a_short_bucket_and_nothing_invented() -> None:
    table = census(607, quasi=("age", "gender", "education", "marital"))
    release = dc.Heterogeneous(publishes="graph", random_state=1).publish(table, dc.LDiversity(6))
    assert release.rows == 607 and release.trace is not None
    sizes = (release.trace >= 0).sum(axis=1)
    assert sizes.min() == 6 and sizes.max() == 7


def test_greedy_goes_through_the_buckets_in_one_go_as_one_by_one() -> None:
    table = census(600, quasi=("age", "gender", "education", "marital"))
    sensitive_codes = np.repeat(np.arange(20, dtype=np.int32), 30)
    buckets = bucketize(sensitive_codes, np.full(20, 0.05), 1, "fewest", np.random.default_rng(0))
    space = space_of(table, np.arange(600), "ail", "interval")
    assert len(buckets) == 20 and (buckets.marks < 0).all()
    at_once = grow_from(space, buckets, 0, "greedy")
    buckets.marks[0] = 0  # no other row has this mark: it changes nothing but the way that is taken
    one_by_one = grow_from(space, buckets, 0, "greedy")
    assert (at_once.members == one_by_one.members).all() and (at_once.cost == one_by_one.cost).all()
