"""The attack of whoever knows the algorithm, on tables with several sensitive attributes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks.rerunning import content
from discreet.adversary.attacks.target import Context, Target
from discreet.schemes import SCHEMES
from discreet.table.table import Table
from naive.minimality import beliefs

PROMISE = dc.LDiversity(1.25)


def line(one: str, other: str) -> Table:
    """Persons in a row with these values of two sensitive attributes."""
    columns = pa.table({"x": range(len(one)), "s": list(one), "t": list(other)})
    return dc.read(columns, quasi=["x"], sensitive=["s", "t"])


def dealt(table: Table, world: tuple[Any, ...]) -> Table:
    """The table with these combinations of values instead."""
    columns = []
    for at, column in enumerate(table.sensitive):
        codes = [column.values.tolist().index(values[at]) for values in world]
        columns.append(replace(column, codes=np.array(codes, np.int32)))
    return replace(table, sensitive=tuple(columns))


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "one", "other"), [("mondrian", "aabbc", "uvuvv"), ("cuts", "aabc", "uvuv")])
def test_beliefs_are_those_by_all_ways_to_deal_the_combinations(scheme: str, one: str, other: str) -> None:
    table, made = line(one, other), SCHEMES[scheme]()
    release = made.publish(table, PROMISE)

    def likely(world: tuple[Hashable, ...]) -> Mapping[Hashable, Fraction]:
        return {content(made.publish(dealt(table, world), PROMISE)): Fraction(1)}

    expected = beliefs(list(zip(one, other, strict=True)), likely, content(release))
    for at, column in enumerate(table.sensitive):
        alone = replace(table, sensitive=(column,))
        target = Target.of(release.about(column.name), alone, context=Context(release, table))
        found = dc.Minimality().learn(target)
        lines = found.beliefs(slice(0, len(one)))[target.person_of]
        assert found.details["exact"] and found.details["concluded"] == len(one)
        for row, belief in enumerate(expected):
            by_value = [
                float(sum(share for values, share in belief.items() if values[at] == value))  # type: ignore[index]
                for value in target.release.values
            ]
            assert lines[row] == pytest.approx(by_value)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "runs"), [("sealed", 60), ("mirrored", 100)])
def test_schemes_against_this_adversary_keep_their_promises_about_each_attribute(scheme: str, runs: int) -> None:
    rng = np.random.default_rng(3)
    table = line("".join(rng.choice(list("abc"), 120)), "".join(rng.choice(list("uvw"), 120)))
    release = dc.publish(table, dc.BetaLikeness(1), SCHEMES[scheme](random_state=1))
    found = dc.attack(release, table, dc.Minimality(runs=runs), trace=release.trace, random_state=1)
    assert not found.refusals and found.holds
    assert [one.details["runs"] for one in found.evidence] == [runs, runs]
    assert all(one.details["concluded"] > 0 and one.details["over"] == 0 for one in found.evidence)


def test_where_it_is_open_which_values_go_together_the_attack_says_so() -> None:
    table = line("abababab", "uuvvuuvv")
    for scheme, promise in (("anatomy", dc.LDiversity(2)), ("codip", dc.LDiversity(2))):
        release = dc.publish(table, promise, SCHEMES[scheme]())
        with pytest.raises(dc.DiscreetError, match="which values go together"):
            dc.attack(release, table, "minimality")
