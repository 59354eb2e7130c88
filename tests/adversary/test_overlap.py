"""Sensitive values of some row with a person's values, where groups overlap: against all possible tables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.presence.stage import strongest_in_some_row
from discreet.errors import DiscreetError
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.principles import AlphaBeta, parse
from naive import worlds

Partition = list[list[tuple[tuple[str, ...], str]]]


def combined(alpha: float, beta: float) -> AlphaBeta:
    return AlphaBeta(alpha, beta, presence="combined", association="combined")


def partition(rng: np.random.Generator, groups: int) -> Partition:
    """Groups of two or three different rows each, of six combinations and three sensitive values."""
    points = list(product("abc", "xy"))
    result = []
    for _ in range(groups):
        size = int(rng.integers(2, 4))
        chosen = [points[at] for at in rng.choice(len(points), size, replace=False)]
        result.append(list(zip(chosen, rng.choice(["flu", "cold", "gout"], size).tolist(), strict=True)))
    return result


def released(groups: Partition) -> tuple[dc.Table, AmbiguousRelease]:
    rows = [(place, *row) for place, group in enumerate(groups) for row in group]
    columns = {name: [point[at] for _, point, _ in rows] for at, name in enumerate("pq")}
    table = dc.read(
        pa.table({**columns, "s": [sensitive_attribute for *_, sensitive_attribute in rows]}),
        quasi=["p", "q"],
        sensitive="s",
    )
    of = np.array([place for place, *_ in rows], np.int32)
    return table, AmbiguousRelease.from_groups(table, of, promise=AlphaBeta(1, 1), scheme="test")


@pytest.mark.parametrize("seed", range(25))
def test_the_belief_in_some_row_is_the_share_of_possible_tables(seed: int) -> None:
    groups = partition(np.random.default_rng(seed), 2)
    table, release = released(groups)
    finder = release.lookup()
    chances = finder.chances(table.quasi)
    together = finder.find(table.quasi, chances).together
    found = strongest_in_some_row(finder, table.quasi, chances, release.counts, together)
    published = [worlds.group_of(rows) for rows in groups]
    points = {point for rows in groups for point, _ in rows}
    best = max(worlds.existence(published, p, s) for p in points for s in ("flu", "cold", "gout"))
    assert found == pytest.approx(float(best))


def test_combined_association_is_kept_in_all_possible_tables() -> None:
    """Whoever's values: if alpha holds over all groups and no share is above the bound, beta holds over all groups."""
    rng = np.random.default_rng(1)
    kept = beyond = 0
    for _ in range(60):
        groups = [worlds.group_of(rows) for rows in partition(rng, 2)]
        points = [p for p in product("abc", "xy") if any(worlds.covers(group, p) for group in groups)]
        alpha = max(worlds.presence_in_any(groups, p) for p in points)
        if alpha >= 1:
            continue
        shares = [
            Fraction(group.sensitive_columns.count(s), len(group.sensitive_columns))
            for group in groups
            for s in group.sensitive_columns
        ]
        most = float(max(shares))
        promise = combined(float(alpha), combined(float(alpha), 1).belief_from(most))
        assert promise.sufficient_share == pytest.approx(most)
        strongest = max(
            worlds.existence(groups, p, s) for p in points for group in groups for s in group.sensitive_columns
        )
        assert strongest <= promise.beta + 1e-12
        kept += 1
        beyond += strongest > most
    assert kept > 20 and beyond > 5, "often it is above all shares"


def test_the_bound_is_sharp_for_many_thin_groups() -> None:
    """Groups that each hardly hold a person come as near to beta as is wanted."""
    promise = combined(0.6, 0.5)
    share, number = promise.sufficient_share, 4000
    thin = 1 - (1 - 0.6) ** (1 / number)
    believed = (1 - (1 - thin * share) ** number) / 0.6
    assert believed == pytest.approx(0.5, abs=1e-3) and believed <= 0.5


@pytest.mark.parametrize("alpha", [0.01, 0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("beta", [0.05, 0.5, 0.9, 1.0])
def test_shares_and_beliefs_are_inverse(alpha: float, beta: float) -> None:
    promise = combined(alpha, beta)
    assert promise.sufficient_share <= beta and promise.belief_from(promise.sufficient_share) == pytest.approx(beta)
    assert parse(str(promise)) == promise


def overlapping() -> tuple[dc.Table, AmbiguousRelease]:
    """Four groups of the same two values each, all of which list the same combinations."""
    return released([[(("a", "x"), "flu"), (("b", "y"), "cold")] for _ in range(4)])


def test_the_verdict_says_what_the_bound_covers(tmp_path: Path) -> None:
    table, release = overlapping()
    release.save(tmp_path / "release")

    def told(promise: str) -> dc.Audit:
        return dc.audit(tmp_path / "release", table, promises=promise)

    found = told("alpha-beta(alpha=0.95, beta=0.5, presence=combined)")
    kept = next(one for one in found.promises if "combined" in one.promise)
    assert kept.holds and found.presence is not None
    believed = (1 - (3 / 4) ** 4) / (1 - (1 / 2) ** 4)
    assert found.presence.some_row == pytest.approx(believed) and believed > 0.72
    (overlap,) = [check for check in found.checks if check.name == "overlap"]
    assert "about a person's own row" in overlap.sentence and "with 72.9 %" in overlap.sentence
    # as a promise over all groups it is broken, and kept with as much as they say together
    broken = told("alpha-beta(alpha=0.95, beta=0.5, presence=combined, association=combined)")
    assert not next(one for one in broken.promises if "association" in one.promise).holds
    beta = math.ceil(1000 * combined(0.95, 1).belief_from(0.5)) / 1000
    kept_too = told(f"alpha-beta(alpha=0.95, beta={beta}, presence=combined, association=combined)")
    assert next(one for one in kept_too.promises if "association" in one.promise).holds
    assert not [check for check in kept_too.checks if check.name == "overlap" and "50.0 %" not in check.sentence]


@pytest.mark.parametrize("scheme", ["ambiguity", "cuts"])
def test_releases_keep_it(scheme: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 12, 400) for name in "abcd"}
    table = dc.read(pa.table({**columns, "s": list("uvwxyz12") * 50}), quasi=list("abcd"), sensitive="s")
    promise = parse("alpha-beta(alpha=0.4, beta=0.3, presence=combined, association=combined)")
    release = dc.publish(table, promise, scheme)
    release.save(tmp_path / "release")
    found = dc.audit(tmp_path / "release", table, trace=release.trace)
    assert found.holds and found.presence is not None
    assert found.presence.some_row is not None and 0 < found.presence.some_row <= 0.3 + 1e-9


@pytest.mark.parametrize("text", ["alpha=0.5, beta=0.5", "alpha=1, beta=0.5, presence=combined"])
def test_it_needs_a_bound_on_presence_over_all_groups(text: str) -> None:
    with pytest.raises(DiscreetError, match="association=combined needs presence=combined and alpha below 1"):
        parse(f"alpha-beta({text}, association=combined)")
