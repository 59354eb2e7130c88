"""Audits find the probabilities of randomised releases again, and notice others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.adversary.check import Check
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.scheme.perturbation import Perturbation, draw
from discreet.principles import Prior
from discreet.table.table import Table
from support.releases import perturbed
from support.tampering import Alteration, Folder, altered, stated, swapped

COUNTS = {"a": 60, "b": 80, "c": 100, "d": 160}


def people(counts: dict[str, int] = COUNTS) -> Table:
    """People of all ages, so many of them with each illness."""
    ills = np.random.default_rng(5).permutation(np.repeat(list(counts), list(counts.values())))
    return dc.read(pa.table({"age": np.arange(len(ills)), "ill": ills}), quasi=["age"], sensitive="ill")


def found(home: Path, table: Table, name: str = "matrix") -> Check:
    """What the audit says about one thing; everything else holds."""
    checks = dc.audit(home, table).checks
    assert {check.name for check in checks if not check.holds} <= {name}
    return next(check for check in checks if check.name == name)


def lines_crossed(folder: Folder) -> None:
    """Two lines are exchanged but for the value that each is for: the sums of columns stay the same."""
    one, other = folder.lines("matrix")[:2]
    one[1:], other[1:] = other[1:], one[1:]


def kept_otherwise(folder: Folder) -> None:
    """The column of each of two values is that of the other: a matrix of the same form."""
    (first, second), lines = (1, 2), folder.lines("matrix")
    (own, off), (own_of_other, off_of_other) = (
        (lines[at - 1][at], lines[2 if at == 1 else 0][at]) for at in (first, second)
    )
    for at, line in enumerate(lines, 1):
        line[first] = own_of_other if at == first else off_of_other
        line[second] = own if at == second else off


OTHER = (swapped("matrix", "a"), lines_crossed, kept_otherwise)
CASES = [(kind, alteration) for kind in ("exact", "closed-form") for alteration in OTHER]
# an even matrix keeps all values with the same probability
CASES += [("even", alteration) for alteration in OTHER if alteration is not kept_otherwise]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "alteration"), CASES)
def test_a_matrix_that_is_another_is_noticed(kind: str, alteration: Alteration, tmp_path: Path) -> None:
    table, scheme = people(), Perturbation(matrix=kind)  # type: ignore[arg-type]
    home = scheme.publish(table, dc.BetaLikeness(1)).save(tmp_path / "r")
    assert f"the one that scheme 'perturbation' with matrix={kind} finds for beta" in found(home, table).sentence
    other = altered(home, tmp_path / "other", alteration)
    told, matrix = dc.audit(other, table), dc.load(other).matrix  # type: ignore[attr-defined]
    check = next(check for check in told.checks if check.name == "matrix")
    assert matrix.stochastic and not check.holds and not told.holds
    # it names a cell that was altered, with the number that is there and the one that was
    before = dc.load(home).matrix  # type: ignore[attr-defined]
    line, column = np.unravel_index(np.argmax(np.abs(matrix.cells - before.cells)), matrix.cells.shape)
    wrong, right = (f"{one.cells[line, column]:.9g}" for one in (matrix, before))
    assert f"to publish '{'abcd'[line]}' for '{'abcd'[column]}'" in check.sentence
    assert f"the probability {wrong} where {right} was found" in check.sentence


def test_options_and_promises_that_the_matrix_was_not_made_with_are_noticed(tmp_path: Path) -> None:
    table = people()
    home = Perturbation().publish(table, dc.BetaLikeness(1)).save(tmp_path / "r")
    claims: dict[str, Callable[[Folder], object]] = {
        "matrix=even": stated("scheme", "options", "matrix", value="even"),
        "beta=1.5": stated("promise", value=["beta-likeness(beta=1.5)"]),
    }
    for says, alteration in claims.items():
        check = found(altered(home, tmp_path / says, alteration), table)
        assert not check.holds and says in check.sentence
    older = altered(home, tmp_path / "older", claims["matrix=even"])
    check = found(altered(older, tmp_path / "oldest", stated("discreet", value="0.0.9")), table)
    assert check.sentence.endswith("discreet 0.0.9 made the release; audit it with that version.")
    # a promise that the scheme does not make, and a matrix that there is not
    boast = altered(home, tmp_path / "boast", stated("promise", value=["t-closeness(t=0.3)"]))
    (check,) = (check for check in dc.audit(boast, table).checks if check.name == "matrix")
    assert not check.holds and "can only promise beta-likeness" in check.sentence
    skewed = people({"a": 5, "b": 25, "c": 70})
    one = Perturbation().publish(skewed, dc.BetaLikeness(1)).save(tmp_path / "skewed")
    check = found(altered(one, tmp_path / "none", stated("scheme", "options", "matrix", value="closed-form")), skewed)
    assert not check.holds and "the closed form gives no probability" in check.sentence


def test_where_nothing_can_be_found_again_the_finding_says_so(tmp_path: Path) -> None:
    table = people()
    home = Perturbation().publish(table, dc.BetaLikeness(1)).save(tmp_path / "r")
    by_hand = altered(home, tmp_path / "hand", stated("scheme", value={"name": "by-hand", "options": {}}))
    check = found(by_hand, table)
    assert (
        check.holds and "was not computed again, because the manifest names no scheme that finds it" in check.sentence
    )


def test_another_solution_of_the_same_program_is_no_fault_but_is_said(tmp_path: Path) -> None:
    """Which one a solver finds depends on the order of the values, as it may on the version of the solver."""
    table, promise = people({"v0": 500, "v1": 300, "v2": 100}), dc.BetaLikeness(2, variant="basic")
    prior = Prior.of(table)
    own = Perturbation().find(promise, prior)
    others = []
    for order in permutations(range(3)):
        texts = Perturbation().find(promise, Prior(prior.counts[list(order)], prior.values)).texts()
        back = np.argsort(order)
        others.append(Matrix.from_texts(np.array(texts, object)[np.ix_(back, back)].tolist()))
    other = max(others, key=lambda one: float(np.abs(one.cells - own.cells).max()))
    assert np.abs(own.cells - other.cells).max() > 0.05
    release = perturbed(table, draw(other, table.sensitive_codes, np.random.default_rng(1)), other, promise)
    check = found(release.save(tmp_path / "r"), table)
    assert check.holds and "keeps as many values" in check.caveat and "to publish 'v" in check.caveat
    # one that keeps fewer is none of the solutions
    fewer = Matrix(own.units * 97 + own.scale, own.scale * 100)
    assert fewer.stochastic
    release = perturbed(table, draw(fewer, table.sensitive_codes, np.random.default_rng(1)), fewer, promise)
    assert not found(release.save(tmp_path / "fewer"), table).holds


@pytest.mark.parametrize("probability", ["exact", "published"])
def test_a_probability_of_being_kept_that_is_another_is_noticed(probability: str, tmp_path: Path) -> None:
    table = dc.read(pa.table({"age": np.arange(200), "pay": np.arange(200) * 10}), quasi=["age"], sensitive="pay")
    scheme = dc.Retention(probability=probability)  # type: ignore[arg-type]
    home = scheme.publish(table, dc.Proximity(50, 4)).save(tmp_path / "r")
    assert "is the one that scheme 'retention' with noise=uniform" in found(home, table, "probability").sentence
    lower = stated("retention", "probability", value=lambda used: round(used * 0.999, 12))
    check = found(altered(home, tmp_path / "lower", lower), table, "probability")
    assert not check.holds and "is not that which scheme 'retention'" in check.sentence
