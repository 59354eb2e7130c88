"""Nested releases with exact quasi-identifiers, compared with all worlds that their files leave possible."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.formats.anatomy import align
from discreet.families.lifting.exact_auditor import without_trace
from naive import nested as naive
from support.nested_trees import Grown, grown, kept_to, people

LIKENESS = dc.BetaLikeness(3)


def exactly(one: Grown, promise: dc.Principle = LIKENESS) -> dc.NestedExactRelease:
    return dc.NestedExactRelease.from_tree(
        one.table, one.parents, one.leaf_of, one.node_of, promise=promise, scheme="grown"
    )


def small(seed: int, rows: int = 7) -> Grown:
    rng = np.random.default_rng(seed)
    return grown(rng, people(rng, rows, values=3), least=2, lifted=0.4)


def worlds(one: Grown) -> list[list[str]]:
    """The values of all persons, in every world in which a row of a node belongs to somebody in it."""
    parents = one.parents.tolist()
    may = [
        [row for row, node in enumerate(one.node_of.tolist()) if node in naive.path(parents, leaf)]
        for leaf in one.leaf_of.tolist()
    ]
    texts = one.table.sensitive[0].texts
    values = [texts[code] for code in one.table.sensitive_codes.tolist()]
    return [[values[row] for row in world] for world in naive.worlds(may)]


@pytest.mark.parametrize("seed", range(12))
def test_beliefs_counts_and_bounds_are_those_of_all_worlds(seed: int, tmp_path: Path) -> None:
    one = small(seed)
    release = dc.load(exactly(one).save(tmp_path / "r"))
    assert isinstance(release, dc.NestedExactRelease)
    possible, names = worlds(one), [str(value) for value in release.values.tolist()]
    age, city = one.table.column("age"), one.table.column("city")
    people_at = [(float(age.values[a]), str(city.values[c])) for a, c in zip(age.codes, city.codes, strict=True)]
    points = {"age": [a for a, _ in people_at], "city": [c for _, c in people_at]}
    believed = release.beliefs(points)
    for person in range(one.table.rows):
        twins = [other for other in range(one.table.rows) if people_at[other] == people_at[person]]
        for value, name in enumerate(names):
            share = Fraction(sum(world[twin] == name for world in possible for twin in twins), len(possible))
            assert believed[person, value] == pytest.approx(float(share / len(twins)), abs=1e-12)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        low, high = sorted(rng.integers(18, 62, 2).tolist())
        wanted = set(rng.choice(names, int(rng.integers(1, len(names) + 1)), replace=False).tolist())
        listed = ", ".join(f"'{name}'" for name in sorted(wanted))
        text = f"SELECT COUNT(*) FROM t WHERE age BETWEEN {low} AND {high} AND disease IN ({listed})"
        inside = [at for at, (number, _) in enumerate(people_at) if low <= number <= high]
        counted = [sum(world[at] in wanted for at in inside) for world in possible]
        assert release.estimate(text) == pytest.approx(sum(counted) / len(counted), abs=1e-9)
        least, most = release.certain_bounds([release.query(text)])[0]
        assert (least, most) == (min(counted), max(counted)), text


def test_the_tree_says_what_the_same_tree_says_with_boxes() -> None:
    """Values under nodes, parents and persons are the same numbers, and so are beliefs at leaves."""
    rng = np.random.default_rng(5)
    one = grown(rng, people(rng, 80, kept=True))
    boxes, exact = one.release(LIKENESS), exactly(one)

    def told(release: dc.NestedRelease | dc.NestedExactRelease) -> Counter[tuple[object, ...]]:
        rows, beliefs = release.counts.matrix(), release.expected.matrix()
        return Counter(
            (int(release.persons[node]), *rows[node].tolist(), *np.round(beliefs[node], 9).tolist())
            for node in range(release.groups)
        )

    assert told(boxes) == told(exact)


@pytest.mark.parametrize("withheld", [0.0, 0.1])
def test_audits_hold_with_the_trace_and_without(withheld: float, tmp_path: Path) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        one = kept_to(LIKENESS, grown(rng, people(rng, 60, kept=bool(seed % 2)), withheld=withheld))
        if one.strain(LIKENESS) > 1.0:
            continue
        release = exactly(one)
        home = release.save(tmp_path / str(seed))
        for trace in (None, release.trace):
            audit = dc.audit(home, one.table, trace=trace)
            assert all(check.holds for check in audit.checks), audit


def test_leaves_that_share_people_are_checked_by_numbers() -> None:
    """Where a combination is in two leaves, a node must not have more of a value than its persons can."""
    table = dc.read(
        pa.table({"age": [1, 1, 1, 1, 2, 2], "s": ["a", "a", "b", "b", "c", "c"]}),
        quasi="age",
        sensitive="s",
    )
    one = Grown(table, np.array([-1, -1]), np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1]))
    release = exactly(one, dc.LDiversity(1))
    check, how = without_trace(align(release, table))
    assert (check.holds, how) == (True, "necessary")
    first = int(np.argmin(release.sizes))
    counts = release.counts.matrix()
    counts[first], counts[1 - first] = [0, 0, 2], [2, 2, 0]  # people of age 1 alone, and the c of age 2
    forged = replace(release, counted=(release.counted[0]._replace(counts=type(release.counts).of(counts, 3)),))
    check, how = without_trace(align(forged, table))
    assert (check.holds, how) == (False, "necessary")
    assert "too few of one of the values" in check.sentence


def test_an_audit_finds_other_numbers_of_nodes_that_are_nobodys_leaf(tmp_path: Path) -> None:
    """Two roots with equal values of their own are told apart by what is below them."""
    ages = [1, 1, 2, 2, 3, 3, 4, 4]
    table = dc.read(pa.table({"age": ages, "s": list("abcdacbd")}), quasi="age", sensitive="s")
    leaf_of, node_of = np.array([2, 2, 3, 3, 4, 4, 5, 5]), np.array([0, 2, 0, 3, 1, 4, 1, 5])
    codes = table.sensitive_codes
    assert sorted(codes[node_of == 0]) != sorted(codes[node_of == 1])
    table = dc.read(pa.table({"age": ages, "s": list("acbdadbc")}), quasi="age", sensitive="s")
    one = Grown(table, np.array([-1, -1, 0, 0, 1, 1]), leaf_of, node_of)
    release = exactly(one, dc.LDiversity(1))
    above = release.parents < 0
    assert len({tuple(line) for line in release.counts.matrix()[above].tolist()}) == 1, "their own values are equal"
    swapped = release._rearranged(np.array([1, 0, *range(2, release.groups)]), None)
    home = swapped.save(tmp_path / "r")
    check = next(check for check in dc.audit(home, table).checks if check.name == "order")
    assert not check.holds


def test_a_promise_about_presence_is_refused_and_k_anonymity_judged_by_rows(tmp_path: Path) -> None:
    table = people(np.random.default_rng(1), 60)
    with pytest.raises(dc.DiscreetError, match="hide"):
        dc.publish(table, "alpha-beta(alpha=0.5, beta=0.6)", "lifting(descriptions=exact)")
    release = dc.publish(table, "beta-likeness(beta=3)", "lifting(descriptions=exact)")
    home = release.save(tmp_path / "r")
    audit = dc.audit(home, table, promises="k-anonymity(k=2)")
    assert not audit.holds and "quasi-identifiers are published as they are" in str(audit)
