"""Attacks on releases of tiny and odd tables, and with tables that a release was not made from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.attacks import ATTACKS
from discreet.schemes import make_scheme
from support.attacked import MAKERS, release_by

QUICK = [name for name in ATTACKS.built_in if name not in ("trained", "minimality")]


def table_of(rows: int, **more: Any) -> dc.Table:
    columns = {"age": [30, 40, 50][:rows], "sex": ["f", "m", "f"][:rows], "pay": [100, 200, 300][:rows]}
    return dc.read(pa.table({**columns, **more}), quasi=["age", "sex"], sensitive="pay")


@pytest.mark.parametrize("scheme", MAKERS)
@pytest.mark.parametrize("rows", [1, 3])
def test_a_table_that_was_not_published_is_told_in_a_sentence(scheme: str, rows: int) -> None:
    release = release_by(scheme)
    if not release.of_people:  # synthetic rows may be compared with any table
        assert dc.attack(release, table_of(rows), QUICK).failures == {}
        return
    with pytest.raises(
        dc.DiscreetError, match=r"not the table that was published.* has [13] rows? and the release 240"
    ):
        dc.attack(release, table_of(rows), QUICK)


def test_other_values_than_published_are_told_in_a_sentence() -> None:
    release = dc.publish(table_of(3, sex=["f", "f", "f"]), dc.KAnonymity(3))  # of which a cell has the name
    other = table_of(3, sex=["f", "f", "f"], pay=[100, 200, 200])
    with pytest.raises(dc.DiscreetError, match="'pay' is published more often than it occurs"):
        dc.attack(release, other, "beliefs")
    elsewhere = table_of(3, age=[70, 80, 90], sex=["d", "d", "d"])
    found = dc.attack(release, elsewhere, QUICK)
    assert not found.failures and "no row of the original fits" in found.refusals["corners"]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("scheme", ["cuts", "mondrian", "incognito", "anatomy", "perturbation", "lifting", "privbayes"])
def test_tiny_tables_are_attacked(scheme: str, rows: int) -> None:
    promise = {"anatomy": "l-diversity(l=1)", "privbayes": "differential-privacy(epsilon=1)"}.get(
        scheme, "beta-likeness(beta=9)" if scheme in ("perturbation", "lifting") else "k-anonymity(k=1)"
    )
    options = {"domains": "observed"} if scheme == "privbayes" else {}
    release = dc.publish(table_of(rows), promise, make_scheme(scheme, options, random_state=1))
    found = dc.attack(release, table_of(rows), random_state=1)
    assert found.failures == {} and found.evidence[0].victims == rows


def test_persons_and_lists_are_attacked() -> None:
    rows = {"id": [1, 1, 2, 3, 3, 4], "age": [1, 1, 2, 3, 3, 4], "sex": list("ffmffm"), "s": list("uvuvuw")}
    persons = dc.read(pa.table(rows), quasi=["age", "sex"], sensitive="s", person="id")
    cells = {"age": [1, 2, 3, 4], "sex": list("fmfm"), "s": [["u", "v"], ["u"], [], ["v", "w"]]}
    lists = dc.read(pa.table(cells), quasi=["age", "sex"], sensitive="s")
    for table in (persons, lists):
        found = dc.attack(dc.publish(table, "l-diversity(l=1)", dc.Cuts()), table, QUICK, random_state=1)
        assert found.failures == {} and found.evidence


def test_a_large_group_under_seven_attributes_is_attacked() -> None:
    """More than 10^308 tables have such a description, and most of them are ruled out."""
    rng = np.random.default_rng(3)
    quasi = {f"q{at}": rng.integers(0, 200, 130) for at in range(6)} | {"q6": np.arange(130) % 4}
    table = dc.read(pa.table({**quasi, "s": rng.choice(list("abcdef"), 130)}), quasi=list(quasi), sensitive="s")
    release = dc.publish(table, dc.KAnonymity(110))
    assert release.groups == 1
    found = dc.attack(release, table, ["corners", "presence"], random_state=1)
    assert found.failures == {} and len(found.evidence) == 2
