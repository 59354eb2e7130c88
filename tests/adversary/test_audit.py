"""The audit: true releases pass, and the fast checks agree with looking at everything.

What is altered is in ``test_tampering``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.adversary.alignment import Aligned, align
from discreet.adversary.audit import audit
from discreet.adversary.checks.support import without_trace
from discreet.adversary.checks.trace import read_trace
from discreet.errors import DiscreetError
from discreet.principles import BetaLikeness, KAnonymity, LDiversity, Principle, Prior, TCloseness, parse
from discreet.principles.counts import Counts
from discreet.releases import GeneralizedRelease, load, write_trace
from discreet.releases.boxes import mixed
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table
from naive import boxes as naive
from support.releases import publish, random_groups, random_table

NAMES = ("flu", "cold", "cough", "gout")


def objects(values: Any) -> np.ndarray[Any, Any]:
    return np.array(list(values), object)


def simple_table(rows: int = 120, seed: int = 0) -> Table:
    """Two quasi-identifiers and four sensitive values that recur in turn, so that neighbours differ."""
    rng = np.random.default_rng(seed)
    age = Column("age", "numeric", np.sort(rng.integers(0, 60, rows)).astype(np.int32), np.arange(20, 80))
    sex = Column(
        "sex", "categorical", rng.integers(0, 2, rows).astype(np.int32), objects("fm"), Hierarchy.flat("sex", "fm")
    )
    sensitive_attribute = Column(
        "disease",
        "categorical",
        (np.arange(rows) % 4).astype(np.int32),
        objects(NAMES),
        Hierarchy.flat("disease", NAMES),
    )
    return Table(rows, (age, sex), sensitive_attribute)


def by_age(table: Table, size: int = 12) -> np.ndarray[Any, np.dtype[np.int32]]:
    return (np.arange(table.rows) // size).astype(np.int32)


def publish_with(table: Table, groups: Any, promise: Principle) -> GeneralizedRelease:
    return GeneralizedRelease.from_groups(table, groups, promise=promise, scheme="by-hand", options={})


# ------------------------------------------------------------------------------------------------------ true releases


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("traced", ["no", "array", "file"])
def test_a_true_release_passes(tmp_path: Path, format: Any, traced: str) -> None:
    table = simple_table()
    groups = by_age(table)
    groups[-12:] = -1
    promise = KAnonymity(12) & BetaLikeness(0.01) & TCloseness(0.01)
    release = publish_with(table, groups, promise)
    release.save(tmp_path / "out", format)
    trace: Any = {"no": None, "array": release.trace, "file": tmp_path / "trace.csv"}[traced]
    if traced == "file":
        write_trace(release, trace)
    result = audit(tmp_path / "out", table, trace)
    assert result.holds, result.sentences()
    assert result.support == ("assignment" if traced == "no" else "trace")
    assert (result.rows, result.withheld, result.groups) == (108, 12, 9)
    assert [kept.promise for kept in result.promises] == [str(part) for part in promise.parts]
    assert result.promises[0].achieved == 12
    assert result.promises[0].margin == pytest.approx(0.0)
    assert result.losses["average_class_size"] == 12
    told = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert told["holds"] is True
    assert told["rows"] == {"published": 108, "withheld": 12}
    *first, last = map(str, promise.parts)
    caveat = "scheme 'by-hand' is not installed here, so nothing was computed again that only the scheme determines"
    verdict = f"{', '.join(first)} and {last} hold, as the release itself states them; {caveat}."
    assert result.sentences()[0] == verdict


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.sampled_from(["interval", "label", "set"]),
    st.sampled_from(["categorical", "numeric", "ordinal", "none"]),
    st.booleans(),
)
def test_any_true_release_is_supported(
    tmp_path_factory: pytest.TempPathFactory, seed: int, values: Any, sensitive: str, traced: bool
) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(1, 50)), sensitive)
    release = publish(table, random_groups(rng, table), values=values)
    folder = tmp_path_factory.mktemp("release") / "out"
    release.save(folder)
    result = audit(folder, table, release.trace if traced else None)
    assert result.holds, result.sentences()


@pytest.mark.parametrize("traced", [False, True])
def test_missing_values_and_labels_of_numbers(tmp_path: Path, traced: bool) -> None:
    ages = Hierarchy.of("age", {"intervals": {"widths": [10, 20]}}, ["17", "18", "23", "31"]).with_missing(first=True)
    grades = Hierarchy.of("grade", {"good": ["a", "b"], "bad": ["c", "d"]}).with_missing(first=True)
    codes = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 1, 4], np.int32)
    age = Column("age", "numeric", codes, np.array([np.nan, 17, 18, 23, 31]), ages, (17.0, 31.0), 0)
    grade = Column(
        "grade", "ordinal", codes, objects(("(missing)", "a", "b", "c", "d")), grades, missing=0, declared_values=True
    )
    table = Table(12, (age, grade), None)
    release = publish(table, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], values="label")
    assert set(release.texts[0].texts) == {"(missing)", "*", "10 to 19", "23", "31"}
    assert set(release.texts[1].texts) == {"(missing)", "*", "good", "c", "d"}
    release.save(tmp_path / "out")
    result = audit(tmp_path / "out", table, release.trace if traced else None)
    assert result.holds, result.sentences()


def test_a_broken_promise_names_the_worst_group(tmp_path: Path) -> None:
    table = simple_table()
    groups = by_age(table)
    groups[groups == 3] = 2
    groups[[0, 4]] = 3  # two rows, both with the flu
    publish_with(table, groups, KAnonymity(5) & LDiversity(2)).save(tmp_path / "out")
    result = audit(tmp_path / "out", table)
    assert not result.holds
    assert all(check.holds for check in result.checks)
    size, diversity = result.promises
    assert (size.holds, size.size, size.broken, size.achieved) == (False, 2, 1, 2)
    assert size.margin < 0
    release = load(tmp_path / "out")
    assert size.group is not None and release.sizes[size.group] == 2
    assert size.description == release.description(size.group)
    assert f"group {size.group} (2 rows" in size.sentence
    assert "at least 5 are required" in size.sentence
    assert not diversity.holds and diversity.group == size.group
    assert result.sentences()[0] == "The promise is NOT shown to hold."
    json.dumps(result.as_dict(), allow_nan=False)


def test_withheld_rows_must_keep_the_promise(tmp_path: Path) -> None:
    """Withholding the rows of the rarest value would expose them: whoever is in no box has it."""
    table = simple_table()
    assert table.sensitive_attribute is not None
    codes = table.sensitive_attribute.codes.copy()
    codes[codes == 3] = 0
    codes[:5] = 3
    table = Table(
        120, table.quasi, Column("disease", "categorical", codes, objects(NAMES), table.sensitive_attribute.hierarchy)
    )
    groups = np.where(codes == 3, -1, by_age(table, 40)).astype(np.int32)
    publish_with(table, groups, BetaLikeness(1)).save(tmp_path / "out")
    result = audit(tmp_path / "out", table)
    (kept,) = result.promises
    assert not kept.holds
    assert (kept.group, kept.size, kept.broken) == (None, 5, 1)
    assert "withheld" in kept.sentence and "gout" in kept.sentence
    assert all(check.holds for check in result.checks)


def test_promises_can_be_asked_for_though_the_manifest_states_weaker_ones(tmp_path: Path) -> None:
    table = simple_table()
    publish_with(table, by_age(table, 4), KAnonymity(2)).save(tmp_path / "out")
    assert audit(tmp_path / "out", table).holds
    asked = audit(tmp_path / "out", table, promises=["k-anonymity(k=5)", LDiversity(2)])
    assert not asked.holds
    assert [kept.promise for kept in asked.promises] == ["k-anonymity(k=5)", "l-diversity(l=2)", "k-anonymity(k=2)"]
    assert audit(tmp_path / "out", table, promises=KAnonymity(4)).holds
    assert not audit(tmp_path / "out", table, promises="k-anonymity(k=6)").holds


# ------------------------------------------------------------------------------------------------------------- traces


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (lambda lines: lines[:-1], "does not name input row 119"),
        (lambda lines: [*lines, lines[-1]], "more than once"),
        (lambda lines: [*lines, "500,1"], "the original does not have"),
        (lambda lines: [lines[0], "0,77", *lines[2:]], "group 77"),
        (lambda lines: [lines[0], "0,", *lines[2:]], "withholds 1 row"),
        (lambda lines: [lines[0], *(f"{row},{row % 10}" for row in range(120))], "outside the description"),
    ],
)
def test_a_trace_that_does_not_fit(tmp_path: Path, edit: Any, match: str) -> None:
    table = simple_table()
    release = publish_with(table, by_age(table), KAnonymity(2))
    release.save(tmp_path / "out")
    write_trace(release, tmp_path / "trace.csv")
    lines = edit((tmp_path / "trace.csv").read_text().splitlines())
    (tmp_path / "trace.csv").write_text("\n".join(lines) + "\n")
    result = audit(tmp_path / "out", table, tmp_path / "trace.csv")
    (check,) = (check for check in result.checks if check.name == "support")
    assert not check.holds
    assert match in check.sentence


def test_a_trace_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match="there is no file"):
        read_trace(tmp_path / "none.csv", 3)
    (tmp_path / "bad.csv").write_text("line,group\n0,1\n")
    with pytest.raises(DiscreetError, match="columns row and group"):
        read_trace(tmp_path / "bad.csv", 3)


def test_an_original_read_in_another_way_is_refused(tmp_path: Path) -> None:
    table = simple_table()
    publish_with(table, by_age(table), KAnonymity(2)).save(tmp_path / "out")
    age, sex = table.quasi
    with pytest.raises(DiscreetError, match=r"'sex'.*quasi=\['sex'\]"):
        audit(tmp_path / "out", Table(120, (age,), table.sensitive_attribute))
    with pytest.raises(DiscreetError, match=r"sensitive=\['disease'\]"):
        audit(tmp_path / "out", Table(120, (age, sex), None))
    other = Column("age", "ordinal", age.codes, objects(str(value) for value in age.values))
    with pytest.raises(DiscreetError, match=r"published as numeric.*numeric=\['age'\]"):
        audit(tmp_path / "out", Table(120, (other, sex), table.sensitive_attribute))
    with pytest.raises(DiscreetError, match="is not a release"):
        audit(tmp_path, table)


def test_rows_to_be_withheld_support_nothing(tmp_path: Path) -> None:
    """A row without its number has the first code in its place, which says nothing about it."""
    table = simple_table()
    groups = by_age(table)
    groups[0] = -1
    unusable = Table(120, table.quasi, table.sensitive_attribute, unusable=np.array([0]))
    release = publish(unusable, groups)
    release.save(tmp_path / "out")
    assert audit(tmp_path / "out", unusable, release.trace).holds
    assert audit(tmp_path / "out", unusable).holds
    folder = publish(table, by_age(table))
    folder.save(tmp_path / "all")
    assert not audit(tmp_path / "all", unusable, folder.trace).holds
    assert not audit(tmp_path / "all", unusable).holds


# ----------------------------------------------------------------------------------------------------------- adversary


@dataclass(frozen=True)
class Odd(Principle):
    """A promise that unions do not keep: every group has an odd number of rows."""

    name: ClassVar[str] = "odd"
    example: ClassVar[str] = "odd()"

    @property
    def monotone(self) -> bool:
        return False

    def strain(self, counts: Any, prior: Prior) -> Any:
        return np.where(Counts.of(counts, len(prior.values)).sizes % 2 == 1, 0.5, 2.0)

    def rules(self, prior: Prior) -> Any:
        raise NotImplementedError

    def reachable(self, prior: Prior) -> Any:
        raise NotImplementedError

    def _violation(self, counts: Any, prior: Prior, subject: str) -> str:
        return "The number of rows is even."

    def _achieved_each(self, counts: Any, prior: Prior) -> Any:
        return np.zeros(len(counts))


def test_an_adversary_who_matches_boxes_faces_unions(tmp_path: Path) -> None:
    table = simple_table(30)
    apart = (np.arange(30) // 15).astype(np.int32)
    codes = np.repeat([0, 1], 15).astype(np.int32)
    age = Column("age", "numeric", codes, np.array([20, 30]))
    split = Table(30, (age,), table.sensitive_attribute)
    publish_with(split, apart, KAnonymity(2)).save(tmp_path / "apart")
    result = audit(tmp_path / "apart", split, promises=Odd())
    assert result.holds
    assert "also hold for an adversary" in next(check.sentence for check in result.checks if check.name == "unions")
    # two groups of 15 over the same ages: an adversary who knows the age sees 30 rows
    mixed_up = (np.arange(30) % 2).astype(np.int32)
    publish_with(split, mixed_up, KAnonymity(2)).save(tmp_path / "mixed")
    assert audit(tmp_path / "mixed", split).holds
    result = audit(tmp_path / "mixed", split, promises=Odd())
    # the promise is about groups, so this is told and breaks nothing
    told = next(check for check in result.checks if check.name == "unions")
    assert result.holds and told.holds
    assert "believes 2.00 times what it allows for 2 of 2 combinations" in told.sentence
    assert told.sentence.endswith("The number of rows is even.")


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_beliefs_by_descriptions_keep_what_groups_keep(seed: int) -> None:
    """For promises that unions keep, the audit says so without computing it; here it is computed."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, 60, missing=False)
    release = publish(table, rng.integers(0, 6, 60)).revealed(table)  # the attacker knows which values occur
    prior = Prior.of(table)
    assert table.sensitive_attribute is not None
    place = [list(release.values).index(value) for value in table.sensitive_attribute.values]
    groups = release.counts.matrix()[:, place]
    unions = mixed(release.descriptions, table.quasi, release.counts)[:, place]
    for promise in (KAnonymity(2), LDiversity(2), TCloseness(0.3), BetaLikeness(1), parse("delta-disclosure(delta=2)")):
        bound = promise.strain(groups, prior).max()
        if bound <= 1.0:
            assert bool(np.all(promise.strain(unions, prior) <= 1.0)), promise
    beliefs = release.beliefs({column.name: column.values[column.codes] for column in table.quasi})
    np.testing.assert_allclose(beliefs[:, place], unions / unions.sum(axis=1, keepdims=True))


# ----------------------------------------------------------------------------------------------------------- no trace


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_an_assignment_is_found_exactly_when_there_is_one(seed: int) -> None:
    """Random claims about a small table, most of them false, some only together."""
    rng = np.random.default_rng(seed)
    rows, groups = int(rng.integers(2, 14)), 3
    ages, sensitive_codes = rng.integers(0, 6, rows), rng.integers(0, 2, rows)
    sensitive_attribute = Column(
        "s", "categorical", sensitive_codes.astype(np.int32), objects("ab"), Hierarchy.flat("s", "ab")
    )
    table = Table(rows, (Column("age", "numeric", ages.astype(np.int32), np.arange(6)),), sensitive_attribute)
    release = publish(table, np.append(np.arange(groups), rng.integers(0, groups, rows))[:rows])
    aligned = align(release, table)
    low = rng.integers(0, 4, (release.groups, 1)).astype(np.int32)
    high = np.minimum(5, low + rng.integers(0, 6, low.shape)).astype(np.int32)
    aligned = aligned._replace(boxes=aligned.boxes._replace(low=low, high=high))
    plain = [[(int(a), int(b), None)] for a, b in zip(low[:, 0], high[:, 0], strict=True)]
    published = list(zip(release.group_of.tolist(), aligned.shown.tolist(), strict=True))
    want = naive.assignable(plain, published, ages[:, None].tolist(), sensitive_codes.tolist())
    check, how = without_trace(aligned)
    assert check.holds == want
    if want:
        assert how == "assignment"
    necessary, how = without_trace(aligned, limit=0)
    assert how == "necessary"
    assert necessary.holds or not want


@pytest.mark.slow
def test_claims_that_only_fail_together() -> None:
    """Two groups claim the only row of a value in their box; each alone could have it."""
    ages = Column("age", "numeric", np.array([0, 0, 2], np.int32), np.array([1, 5, 9]))
    sensitive_attribute = Column(
        "s", "categorical", np.array([0, 1, 0], np.int32), objects("ab"), Hierarchy.flat("s", "ab")
    )
    table = Table(3, (ages,), sensitive_attribute)
    aligned: Aligned = align(publish(table, [0, 0, 1]), table)
    same = aligned._replace(
        boxes=aligned.boxes._replace(low=np.zeros((2, 1), np.int32), high=np.ones((2, 1), np.int32))
    )
    for limit, by in ((0, "necessary"), (100, "assignment")):
        check, how = without_trace(same, limit)
        assert (check.holds, how) == (False, by)
        assert "No assignment" in check.sentence


def test_claims_that_fail_together_though_neither_description_lies_in_the_other() -> None:
    ages = Column("age", "numeric", np.array([1, 1, 0, 2, 3], np.int32), np.array([1, 5, 9, 20]))
    sensitive_attribute = Column(
        "s", "categorical", np.array([0, 1, 1, 1, 0], np.int32), objects("ab"), Hierarchy.flat("s", "ab")
    )
    table = Table(5, (ages,), sensitive_attribute)
    aligned: Aligned = align(publish(table, [0, 0, 0, 1, 1]), table)
    order = np.argsort(aligned.release.sizes)[::-1]
    low, high = np.empty((2, 1), np.int32), np.empty((2, 1), np.int32)
    low[order], high[order] = [[0], [1]], [[1], [2]]
    crossed = aligned._replace(boxes=aligned.boxes._replace(low=low, high=high))
    assert without_trace(crossed, limit=0)[0].holds
    assert not without_trace(crossed)[0].holds


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_a_true_release_meets_every_necessary_condition(seed: int, axes: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60))
    quasi = tuple(
        Column(f"q{axis}", "numeric", rng.integers(0, 6, rows).astype(np.int32), np.arange(6)) for axis in range(axes)
    )
    sensitive_attribute = Column(
        "s", "categorical", rng.integers(0, 2, rows).astype(np.int32), objects("ab"), Hierarchy.flat("s", "ab")
    )
    table = Table(rows, quasi, sensitive_attribute)
    check, how = without_trace(align(publish(table, rng.integers(0, 8, rows).tolist()), table), limit=-1)
    assert (check.holds, how) == (True, "necessary")
