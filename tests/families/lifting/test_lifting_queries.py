"""What lifting minimises must not be bought with wrong answers to count queries."""

from __future__ import annotations

import pytest

import discreet as dc
from discreet.analyst.loss import gcp
from discreet.analyst.workload import run, workload
from discreet.datasets import HETEROGENEOUS_QUASI, census
from discreet.table.table import Table


@pytest.fixture(scope="module")
def table() -> Table:
    """People of whom nearly nine in ten are from one of 83 countries."""
    return census(3000, quasi=HETEROGENEOUS_QUASI)


def error(release: dc.Release, table: Table) -> float:
    return run(release, table, workload(table, dimensionality=5, number=400)).median


@pytest.mark.slow
@pytest.mark.parametrize(("promise", "most"), [(dc.BetaLikeness(5, "basic"), 0.5), (dc.LDiversity(5), 1.0)])
def test_sets_do_not_mix_the_frequent_with_the_rare_to_save_a_little(
    table: Table, promise: dc.Principle, most: float
) -> None:
    """A set of one frequent and one rare value among 83 costs little by GCP, and estimates of both are wrong."""
    lifted = dc.publish(table, promise, dc.Lifting(loss="gcp", marginals="none", random_state=1))
    plain = dc.Cuts(loss="gcp", values="set", marginals="none", random_state=1)
    cuts = dc.publish(table, promise, plain)
    assert gcp(lifted) < gcp(cuts)
    assert error(lifted, table) < most * error(cuts, table)


def test_no_more_is_lost_than_by_cuts_when_asked_for_that(table: Table) -> None:
    """By the loss that was asked for, which is not quite the one that the search goes by."""
    promise = dc.LDiversity(10)
    cuts = dc.publish(table, promise, dc.Cuts(loss="gcp", values="set", random_state=1))
    lifted = dc.publish(table, promise, dc.Lifting(loss="gcp", base="cuts", random_state=1))
    assert gcp(lifted) <= gcp(cuts) + 1e-9
