"""Lifting under promises about nodes of a hierarchy: what is believed in a node, by definition and in all worlds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.audit import audit
from discreet.families.lifting.cut_tree import LiftedTree
from discreet.principles import Prior
from discreet.randomness import generator
from discreet.schemes.grouping import GroupingTask
from naive import nested
from naive.lifting import way_up

TREE = dc.Hierarchy.of("s", {"0": ("01", "02", "03"), "1": ("11", "12", "13")})


def people(values: list[str], ages: list[int]) -> dc.Table:
    return dc.read(pa.table({"age": ages, "s": values}), quasi="age", sensitive="s", hierarchies={"s": TREE})


def grown(table: dc.Table, promise: dc.BetaLikeness, scheme: dc.Lifting) -> LiftedTree:
    prior, rng = Prior.of(table), generator(1)
    return scheme._tree(GroupingTask(table, promise, prior, np.arange(table.rows), rng), rng)


def in_nodes(belief: Mapping[Any, Any], texts: list[str]) -> dict[str, float]:
    """What is believed in the nodes, given the beliefs in their values."""
    found: dict[str, float] = defaultdict(float)
    for value, share in belief.items():
        found[texts[value][0]] += float(share)
    return found


ROWS = st.tuples(st.sampled_from(["01", "02", "03", "11", "12", "13"]), st.integers(0, 9))


@pytest.mark.slow
@pytest.mark.parametrize("most", [7, 90])
@given(data=st.data(), beta=st.sampled_from([0.2, 0.6, 1.0]), lift=st.sampled_from(["companions", "blind"]))
@settings(max_examples=40)
def test_beliefs_in_nodes_are_within_their_bounds(data: st.DataObject, most: int, beta: float, lift: Any) -> None:
    rows = data.draw(st.lists(ROWS, min_size=2, max_size=most))
    values = [value for value, _ in rows]
    assume(len(set(values)) > 1)
    table = people(values, [age for _, age in rows])
    tree = grown(table, dc.BetaLikeness(beta, "basic", level=1), dc.Lifting(lift=lift, random_state=1))
    assert table.sensitive_attribute is not None
    texts, codes = list(table.sensitive_attribute.texts), table.sensitive_codes.tolist()
    held = Counter(value[0] for value in values)
    caps = {node: min(1.0, (1 + beta) * number / len(rows)) for node, number in held.items()}
    parents, leaf_of, node_of = tree.parents.tolist(), tree.leaf_of.tolist(), tree.node_of.tolist()
    if most > 7:
        persons = Counter(leaf_of)
        for leaf, belief in way_up(parents, leaf_of, node_of, codes).items():
            for node, share in in_nodes(belief, texts).items():
                assert share * persons[leaf] <= caps[node] * persons[leaf] + 1e-9
    else:
        for believed in nested.beliefs(parents, leaf_of, list(zip(node_of, codes, strict=True))):
            assert all(share <= caps[node] + 1e-9 for node, share in in_nodes(believed, texts).items())
    event("lifted" if leaf_of != node_of else "nothing lifted")


@pytest.mark.parametrize("base", ["none", "cuts"])
def test_audits_judge_nodes_and_less_is_lost_than_for_values(tmp_path: Path, base: Any) -> None:
    rng = np.random.default_rng(5)
    values = [f"{node}{leaf}" for node, leaf in zip(rng.integers(0, 2, 300), rng.integers(1, 4, 300), strict=True)]
    table = people(values, rng.integers(0, 60, 300).tolist())
    losses = []
    for level in (0, 1):
        release = dc.publish(table, dc.BetaLikeness(0.6, "basic", level=level), dc.Lifting(base=base, random_state=1))
        release.save(tmp_path / f"{base}{level}")
        found = audit(tmp_path / f"{base}{level}", table, release.trace)
        assert found.holds and found.promises[0].average is not None
        losses.append(found.losses["gcp"])
    assert losses[1] < losses[0]


def test_bounds_from_below_sizes_and_two_levels_are_refused() -> None:
    table = people(["01", "02", "11", "12"] * 9, list(range(36)))
    for promises in (
        ["beta-likeness(beta=1, negative=0.5, level=1)"],
        ["k-anonymity(k=3)", "beta-likeness(beta=1, level=1)"],
        ["beta-likeness(beta=3)", "beta-likeness(beta=1, level=1)"],
    ):
        with pytest.raises(dc.DiscreetError, match="at one level of a hierarchy, from above and say nothing else"):
            dc.publish(table, promises, dc.Lifting())
