"""Groups that another scheme made do not pass for sealed ones: what no coin decides is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.alignment import align
from discreet.adversary.case import Case
from discreet.adversary.check import Check
from discreet.datasets import census
from discreet.families.sealed.auditor import at_one_place, divided, inseparable_boxes
from fuzz.run import one

SCHEMES: dict[str, Any] = {"sealed": dc.Sealed, "mirrored": dc.Mirrored}
each_scheme = pytest.mark.parametrize("name", SCHEMES)


def checked(release: Any, table: dc.Table, traced: bool) -> Check:
    promise = tuple(map(dc.parse, release.manifest["promise"]))
    case = Case(release.manifest, release, table, promise, release.trace if traced else None)
    if release.exact_quasi:
        return divided(case, lambda as_sets: at_one_place(release))
    return divided(case, partial(inseparable_boxes, align(release, table)))


# ------------------------------------------------------------------------------------------------------------ borrowed


@pytest.mark.slow
@pytest.mark.parametrize("cuts", ["plain", "plain+stratified"])
@pytest.mark.parametrize("traced", [False, True])
@each_scheme
def test_groups_of_cuts_do_not_pass(name: str, cuts: str, traced: bool, tmp_path: Path) -> None:
    table, promise, scheme = census(3000), dc.BetaLikeness(4), SCHEMES[name]()
    groups = dc.Cuts(cuts=tuple(cuts.split("+")), random_state=1).publish(table, promise).trace
    assert groups is not None
    borrowed = scheme.format.from_seal(
        table, groups, np.zeros(groups.max() + 1), promise=promise, scheme=name, options=scheme.options
    )
    found = dc.audit(borrowed.save(tmp_path / "r"), table, trace=borrowed.trace if traced else None)
    assert {check.name for check in found.checks if not check.holds} == {"groups"}
    assert all(kept.holds for kept in found.promises)  # nothing else tells


@each_scheme
def test_the_verdict_begins_with_what_is_assumed(name: str, tmp_path: Path) -> None:
    table = census(500)
    home = SCHEMES[name]().publish(table, dc.BetaLikeness(4)).save(tmp_path / "r")
    verdict = dc.audit(home, table, promises="beta-likeness(beta=4)").verdict
    assert verdict.startswith("Provided that the amounts in the seal are those of the run, its coins were fair")
    assert verdict.endswith("among several runs: beta-likeness(beta=4) holds.")


@each_scheme
def test_a_seal_by_a_scheme_that_is_not_installed_is_refused(name: str, tmp_path: Path) -> None:
    table, scheme = census(500), SCHEMES[name]()
    groups = np.zeros(table.rows, np.int32)
    release = scheme.format.from_seal(table, groups, [0.0], promise=dc.BetaLikeness(4), scheme="elsewhere")
    found = dc.audit(release.save(tmp_path / "r"), table)
    (told,) = (check for check in found.checks if not check.holds)
    assert told.name == "seal" and "install the plug-in that has it" in told.sentence


def test_an_original_that_was_read_otherwise_is_not_taken_for_another() -> None:
    """Along names cuts follow the hierarchy, which an auditor may not have; and ends of numbers decide about merits."""
    tree: Any = {"job": {"u": ["a", "d"], "v": ["b", "c"]}}
    rng = np.random.default_rng(2)
    columns = {
        "age": rng.integers(20, 60, 400),
        "job": rng.choice(list("abcd"), 400),
        "ill": rng.choice(list("xyz"), 400),
    }

    def read(**how: Any) -> dc.Table:
        return dc.read(pa.table(columns), quasi=["age", "job"], sensitive="ill", **how)

    for scheme in (dc.Sealed(values="set", random_state=1), dc.Mirrored(values="set", random_state=1)):
        release = scheme.publish(read(hierarchies=tree, domains={"age": (0, 500)}), dc.BetaLikeness(1))
        assert release.groups > 3
        for traced in (False, True):
            assert "can have made" in checked(release, read(hierarchies=tree), traced).sentence
            assert "read with other hierarchies" in checked(release, read(), traced).sentence


# ------------------------------------------------------------------------------------------------------------- genuine


def tables(number: int) -> Iterator[tuple[dc.Table, dc.Principle, dict[str, Any]]]:
    """Small tables of all kinds of columns, with missing values, ties, odd numbers and several sensitive attributes."""
    promises = ["beta-likeness(beta=1)", "beta-likeness(beta=4)", "l-diversity(l=2)", "t-closeness(t=0.3)"]
    tree = {"u": {"x": ["a", "b"], "y": ["c", "d"]}, "w": {"z": ["e", "f"]}}
    for seed in range(number):
        rng = np.random.default_rng(seed)
        rows = int(rng.choice([6, 9, 16, 40, 100, 300, 520]))
        numbers = rng.integers(0, int(rng.choice([3, 1000])), rows)
        names = rng.choice(list("abcdef"), rows, p=[0.55, 0.2, 0.1, 0.08, 0.04, 0.03])
        ills = [f"v{code}" for code in rng.choice(4, rows, p=rng.dirichlet(np.ones(4) * 3))]
        gone = rng.random(rows) < rng.choice([0.0, 0.1])
        columns: dict[str, Any] = {"number": pa.array(numbers, mask=gone), "name": names, "ill": ills}
        sensitive = ["ill"]
        if seed % 5 == 0:
            columns["job"] = rng.choice(list("rst"), rows)
            sensitive.append("job")
        table = dc.read(
            pa.table(columns),
            quasi=["number", "name"],
            sensitive=sensitive,
            hierarchies={"name": tree} if seed % 2 else {},
            missing="value",
        )
        how = {"loss": str(rng.choice(["ail", "gcp"])), "values": str(rng.choice(["interval", "set", "label"]))}
        yield table, dc.parse(str(rng.choice(promises))), how | {"random_state": seed}


@pytest.mark.slow
@pytest.mark.parametrize("descriptions", ["boxes", "exact"])
@each_scheme
def test_groups_of_the_scheme_pass(name: str, descriptions: str) -> None:
    cut = 0
    for table, promise, how in tables(60):
        try:
            release = SCHEMES[name](**how, descriptions=descriptions).publish(table, promise)
        except dc.DiscreetError:  # it does not make this promise, or the table cannot keep it
            continue
        cut += release.groups > 2
        for traced in (False, True):
            told = checked(release, table, traced)
            assert told.holds and "can have made these groups" in told.sentence, (how, told.sentence)
    assert cut > 10


@pytest.mark.parametrize("seed", [25058483, 25061738])
def test_leaves_of_a_label_are_not_taken_for_what_a_group_has(seed: int) -> None:
    """A label such as '{x} 0.1' is written as the set of its leaves; releases were refused for it."""
    assert one(seed).failure is None
