"""Corruption: what follows for others from the values of some persons."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks.target import Target
from discreet.randomness import generator
from discreet.releases import AmbiguousRelease, AnatomyRelease
from discreet.table.table import Table
from naive import attacks as naive
from support.attacked import MAKERS, people, release_by
from support.releases import publish


def patients(rows: int = 30, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    disease = rng.choice(["flu", "cold", "angina"], rows, p=[0.5, 0.3, 0.2])
    return dc.read(pa.table({"age": np.arange(rows), "disease": disease}), quasi=["age"], sensitive="disease")


@pytest.mark.parametrize("make", [publish, "anatomy", "ambiguous"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_beliefs_are_the_shares_of_all_ways_to_deal_the_rest(make: object, share: float) -> None:
    table = patients()
    groups = np.arange(table.rows) // 5
    how = {"promise": dc.KAnonymity(1), "scheme": "by-hand"}
    kinds = {"anatomy": AnatomyRelease, "ambiguous": AmbiguousRelease}
    release = publish(table, groups) if callable(make) else kinds[str(make)].from_groups(table, groups, **how)  # type: ignore[arg-type]
    target = Target.of(release, table, random=generator(3))
    insight = dc.Corruption(share).learn(target)
    lines = insight.beliefs(slice(0, table.rows))
    assert insight.victims is not None and insight.victims.sum() == table.rows - round(share * table.rows)
    assert insight.details["group_certain"] == insight.victims.sum()
    known = set(np.flatnonzero(~insight.victims).tolist())
    truth, alone = naive.sensitive_columns(table), 0
    for row in np.flatnonzero(insight.victims).tolist():
        expected = [naive.dealt(groups.tolist(), truth, known, row, str(value)) for value in release.values]
        assert lines[target.person_of[row]] == pytest.approx(expected)
        alone += max(expected) == 1.0
    assert insight.details["exposed"] == alone


def test_nobody_known_is_the_attack_by_beliefs() -> None:
    table, release = people(), release_by("mondrian")
    beliefs, corruption = dc.attack(release, table, ["beliefs", "corruption(share=0)"]).evidence
    assert corruption.successes == beliefs.successes and corruption.victims == table.rows


def test_persons_whom_several_groups_admit_are_believed_as_the_release_says() -> None:
    """Ages 0 to 4 and 4 to 8: whoever is 4 may be in either group, so nothing is taken out for that person."""
    values = list("abcabcabcd")
    table = dc.read(pa.table({"age": [0, 1, 2, 3, 4, 4, 5, 6, 7, 8], "v": values}), quasi=["age"], sensitive="v")
    release = publish(table, [0] * 5 + [1] * 5)
    assert release.certain_groups(table.quasi).tolist().count(-1) == 2
    target = Target.of(release, table, random=generator(1))
    insight = dc.Corruption(0.5).learn(target)
    both = target.person_of[4]
    assert insight.beliefs(slice(0, 9))[both] == pytest.approx(target.beliefs(slice(0, 9))[both])


def test_weak_groups_are_exposed_once_their_neighbours_are_known() -> None:
    """Anatomy with l = 2: who knows one of two persons knows the other, and nine in ten of 2,000 persons are known."""
    rng = np.random.default_rng(1)
    columns = {"age": np.arange(2_000), "v": rng.integers(0, 8, 2_000)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive="v", categorical=["v"])
    release = dc.publish(table, dc.LDiversity(2), scheme=dc.Anatomy())
    little, much = (dc.attack(release, table, dc.Corruption(share), random_state=1).evidence[0] for share in (0.1, 0.9))
    assert little.interval[0] > 0.45 and much.interval[0] > 0.8  # 1 / 2, and 9 / 10 + 1 / 10 x 1 / 2
    assert much.details["exposed"] > 150 and much.bound is None and not much.exceeds


def test_larger_groups_resist_longer() -> None:
    """With a tenth known, groups of 10 different values leave a belief of 1 / 9, and 4 standard deviations above."""
    rng = np.random.default_rng(1)
    columns = {"age": np.arange(2_000), "v": rng.integers(0, 20, 2_000)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive="v", categorical=["v"])
    release = dc.publish(table, dc.LDiversity(10), scheme=dc.Anatomy())
    found = dc.attack(release, table, dc.Corruption(0.1), random_state=1).evidence[0]
    assert found.rate < 1 / 9 + 4 * np.sqrt(1 / 9 * 8 / 9 / 1_800)


def test_withheld_persons_do_not_make_beliefs_negative() -> None:
    table = patients()
    release = publish(table, np.where(np.arange(30) % 3 == 0, -1, np.arange(30) // 10))
    target = Target.of(release, table, random=generator(1))
    lines = dc.Corruption(0.8).learn(target).beliefs(slice(0, 30))
    assert (lines >= 0).all() and lines.sum(axis=1) == pytest.approx(np.ones(30))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", MAKERS)
def test_formats_without_such_groups_say_why(scheme: str) -> None:
    release = release_by(scheme)
    reason = dc.attack(release, people(), random_state=1).refusals.get("corruption")
    trees = ("lifting", "lifting:descriptions=exact", "heterogeneous:publishes=graph")
    words = dict.fromkeys(trees, "in no group together")
    words |= dict.fromkeys(("perturbation", "retention"), "by itself")
    words |= {"privbayes:domains=observed": "all rows are synthetic"}
    assert (reason is None) == (scheme not in words) and words.get(scheme, "") in (reason or "")


def test_someone_has_to_be_left() -> None:
    with pytest.raises(dc.DiscreetError, match="share must be a number of at least 0 and below 1, not 1"):
        dc.Corruption(1)


def test_with_the_trace_it_is_exact_where_groups_overlap() -> None:
    """Everyone has the same age, so that only the trace tells the groups apart."""
    rng = np.random.default_rng(2)
    table = dc.read(pa.table({"age": [30] * 24, "v": rng.choice(list("abc"), 24)}), quasi=["age"], sensitive="v")
    groups = np.arange(24) // 4
    release = publish(table, groups)
    assert release.trace is not None
    target = Target.of(release, table, groups=release.trace.astype(np.int64), random=generator(5))
    insight = dc.Corruption(0.4).learn(target)
    assert insight.victims is not None and insight.details["group_certain"] == insight.victims.sum()
    known, truth = set(np.flatnonzero(~insight.victims).tolist()), naive.sensitive_columns(table)
    lines = insight.beliefs(slice(0, len(target.people[0].codes)))
    for row in np.flatnonzero(insight.victims).tolist():
        expected = [naive.dealt(groups.tolist(), truth, known, row, str(value)) for value in release.values]
        assert lines[target.person_of[row]] == pytest.approx(expected)
