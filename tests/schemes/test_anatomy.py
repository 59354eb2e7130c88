"""Anatomy and Baseline: groups of different values, the two tables, what they tell, and their audit."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from discreet.adversary.audit import audit
from discreet.adversary.formats import anatomy as anatomy_support
from discreet.datasets import census, patients
from discreet.errors import DiscreetError
from discreet.principles import BetaLikeness, KAnonymity, LDiversity, Principle, Prior, TCloseness, parse
from discreet.releases import write_trace
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.folder import read_manifest
from discreet.schemes.anatomy import Anatomy, Baseline, diverse_groups
from discreet.table.query import OneOf, Query, Range
from discreet.table.read import read
from discreet.table.table import Table
from naive import anatomy as naive
from support.releases import original_values, random_groups, random_table
from support.tables import with_missing
from support.tampering import Folder, swapped


def load(folder: Path) -> AnatomyRelease:
    return AnatomyRelease.load(*read_manifest(folder)[:2])


def publish(table: Table, groups: Any, promise: Principle | None = None) -> AnatomyRelease:
    return AnatomyRelease.from_groups(
        table, np.asarray(groups, np.int32), promise=promise or LDiversity(1), scheme="by-hand", options={}
    )


# ------------------------------------------------------------------------------------------------------------- groups


@pytest.mark.slow
@given(st.lists(st.integers(0, 7), min_size=1, max_size=80), st.integers(1, 6), st.booleans())
@settings(max_examples=200)
def test_groups_hold_no_value_twice_whenever_that_can_be(values: list[int], needed: int, seeded: bool) -> None:
    """Also for counts at the very bound, by padding the table until the most frequent value just fits."""
    most = max(Counter(values).values())
    rare = 8
    while len(values) < most * needed:
        values.append(rare)
        rare += 1
    sensitive_codes = np.array(values, np.int32)
    groups = diverse_groups(sensitive_codes, needed, np.random.default_rng(0) if seeded else None)
    assert groups.min() >= 0
    number = len(sensitive_codes) // needed
    assert sorted(set(groups.tolist())) == list(range(number))
    for group in range(number):
        held = sensitive_codes[groups == group]
        assert needed <= len(held) == len(set(held.tolist()))


def test_the_worked_example() -> None:
    """Eight rows, five diseases, l = 2: the first group must hold pneumonia and flu, the two largest buckets."""
    rows: dict[str, list[Any]] = {
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMFFFF"),
        "disease": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
    }
    table = read(pa.table(rows), quasi=["age", "sex"], sensitive="disease")
    release = Anatomy().publish(table, LDiversity(2))
    assert release.groups == 4 and release.withheld == 0
    assert release.sizes.tolist() == [2, 2, 2, 2]
    assert set(release.counts.amounts.tolist()) == {1}
    tables = release.tables(numbers=True)
    assert tables["table"].column_names == ["group", "age", "sex"]
    assert tables["sensitive"].column_names == ["group", "disease", "count"]
    shown = Counter(zip(tables["table"]["age"].to_pylist(), tables["table"]["sex"].to_pylist(), strict=True))
    assert shown == Counter(zip(rows["age"], rows["sex"], strict=True))
    assert Counter(tables["sensitive"]["disease"].to_pylist()) == Counter(rows["disease"])


def test_values_left_over_join_groups_that_lack_them() -> None:
    sensitive_codes = np.repeat(np.arange(5), [4, 4, 4, 1, 1]).astype(np.int32)
    groups = diverse_groups(sensitive_codes, 3)
    assert sorted(np.bincount(groups).tolist()) == [3, 3, 4, 4] or sorted(np.bincount(groups).tolist()) == [3, 3, 3, 5]


def test_rows_are_drawn_at_random_from_the_operating_system_unless_seeded() -> None:
    sensitive_codes = (np.arange(300) % 5).astype(np.int32)
    drawn = [diverse_groups(sensitive_codes, 3) for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()
    again = [diverse_groups(sensitive_codes, 3, np.random.default_rng(4)) for _ in range(2)]
    assert (again[0] == again[1]).all()
    table = patients()
    first, second = (Anatomy(random_state=3).publish(table, LDiversity(2)) for _ in range(2))
    assert first.trace is not None and second.trace is not None
    assert (first.trace == second.trace).all() and (first.group_of == second.group_of).all()
    assert first.manifest["experimental_seed"] is True
    assert "experimental_seed" not in Anatomy().publish(table, LDiversity(2)).manifest


def test_every_row_of_a_value_is_as_likely_to_share_a_group_with_any_other() -> None:
    """Two values, three rows each, l = 2: each pairing has probability a third."""
    sensitive_codes = np.array([0, 0, 0, 1, 1, 1], np.int32)
    partners: Counter[int] = Counter()
    rng = np.random.default_rng(11)
    for _ in range(3000):
        groups = diverse_groups(sensitive_codes, 2, rng)
        partners[int(np.flatnonzero(groups == groups[0])[1])] += 1
    assert set(partners) == {3, 4, 5}
    assert all(abs(count / 3000 - 1 / 3) < 0.035 for count in partners.values())


# ----------------------------------------------------------------------------------------------------------- promises

PROMISES = [
    "l-diversity(l=1)",
    "l-diversity(l=2)",
    "l-diversity(l=3)",
    "l-diversity(l=2, kind=distinct)",
    "l-diversity(l=3, kind=distinct)",
]


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES)
@given(table=with_missing())
@settings(max_examples=25)
def test_the_audit_of_the_saved_files_holds(
    tmp_path_factory: pytest.TempPathFactory, promise: str, table: Table
) -> None:
    principle = parse(promise)
    try:
        release = Anatomy().publish(table, principle)
    except DiscreetError as refusal:
        prior = Prior.of(table)
        infeasible = not principle.holds(prior.counts[None, :], prior)[0]
        assert infeasible or table.unusable is not None, str(refusal)
        event("refused")
        return
    event("published")
    folder = tmp_path_factory.mktemp("release") / "out"
    release.save(folder)
    for trace in (release.trace, None):
        result = audit(folder, table, trace)
        assert result.holds, result.sentences()
        assert result.losses["ail"] == release.withheld / table.rows


@pytest.mark.slow
@given(table=with_missing(), promise=st.sampled_from(["beta-likeness(beta=0.1)", "t-closeness(t=0.05)"]))
def test_the_baseline_keeps_any_monotone_promise(
    tmp_path_factory: pytest.TempPathFactory, table: Table, promise: str
) -> None:
    try:
        release = Baseline().publish(table, parse(promise))
    except DiscreetError:
        assert table.unusable is not None
        return
    assert release.groups == 1
    folder = tmp_path_factory.mktemp("release") / "out"
    release.save(folder, "parquet")
    for trace in (release.trace, None):
        result = audit(folder, table, trace)
        assert result.holds, result.sentences()
    if not release.withheld:
        assert result.promises[0].achieved == pytest.approx(0.0, abs=1e-9)


def test_refusals_say_what_would_work() -> None:
    table = patients()
    for scheme, promise, sentence in (
        (Anatomy(), LDiversity(20), "l can be at most .*; ask for l="),
        (Anatomy(), LDiversity(20, "distinct"), "ask for l=6"),
        (Anatomy(), LDiversity(2.5), "ask for l=3"),
        (Anatomy(), LDiversity(2, "entropy"), "choose scheme 'baseline' .*, or for .* choose scheme 'cuts'"),
        (Anatomy(), BetaLikeness(2), "choose scheme 'baseline' .*, or for .* choose scheme 'cuts'"),
        (Anatomy(), LDiversity(2) & KAnonymity(2), "choose scheme 'cuts'$"),
        (Baseline(), KAnonymity(2) & BetaLikeness(2), "cannot hide a row among others"),
        (Baseline(), LDiversity(20), "cannot keep l-diversity"),
    ):
        with pytest.raises(DiscreetError, match=sentence):
            scheme.publish(table, promise)
    with pytest.raises(DiscreetError, match="the table has none"):
        Anatomy().publish(Table(table.rows, table.quasi, None), LDiversity(2))
    named = read(pa.table({"age": [1, 2], "count": ["a", "b"]}), quasi=["age"], sensitive="count")
    with pytest.raises(DiscreetError, match="rename it"):
        Anatomy().publish(named, LDiversity(2))


def test_extreme_tables() -> None:
    one = read(pa.table({"age": [30], "disease": ["a"]}), quasi=["age"], sensitive="disease")
    assert Anatomy().publish(one, LDiversity(1)).sizes.tolist() == [1]
    with pytest.raises(DiscreetError, match="promises nothing"):
        Anatomy().publish(one, LDiversity(2))
    equal = read(pa.table({"age": [30] * 6, "disease": list("aabbcc")}), quasi=["age"], sensitive="disease")
    assert Anatomy().publish(equal, LDiversity(3)).groups == 2
    assert Anatomy().publish(equal, LDiversity(3)).beliefs({"age": [30]}).tolist()[0] == pytest.approx([1 / 3] * 3)


# -------------------------------------------------------------------------------------------------- what is published


@pytest.mark.slow
@given(
    st.integers(0, 10**6), st.sampled_from(["categorical", "numeric", "ordinal"]), st.sampled_from(["csv", "parquet"])
)
def test_what_is_loaded_is_what_was_made(
    tmp_path_factory: pytest.TempPathFactory, seed: int, sensitive: str, format: Any
) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(4, 50)), sensitive)
    try:
        release = publish(table, random_groups(rng, table))
    except DiscreetError as error:
        assert "published as it is" in str(error)
        return
    folder = tmp_path_factory.mktemp("release") / "out"
    release.save(folder, format)
    loaded = load(folder)
    assert loaded.faults == () and loaded.trace is None
    assert (loaded.group_of == release.group_of).all()
    assert loaded.counts.matrix().tolist() == release.counts.matrix().tolist()
    assert [str(value) for value in loaded.values] == [str(value) for value in release.values]
    for one, other in zip((*loaded.exact, *loaded.others), (*release.exact, *release.others), strict=True):
        texts = ([str(part.values[code]) for code in part.codes] for part in (one, other))
        assert next(texts) == next(texts)
    for trace in (release.trace, None):
        result = audit(folder, table, trace)
        assert result.holds, result.sentences()


@given(st.integers(0, 10**6), st.sampled_from(["categorical", "numeric", "ordinal"]))
@settings(max_examples=30)
def test_beliefs_are_the_average_over_the_rows_that_bear_a_point(seed: int, sensitive: str) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(4, 40)), sensitive)
    table = Table(table.rows, table.quasi[2:4], table.sensitive_attribute)
    release = publish(table, random_groups(rng, table))
    own = list(
        zip(
            *([str(exact_column.values[code]) for code in exact_column.codes] for exact_column in release.exact),
            strict=True,
        )
    )
    rows = list(zip(own, release.group_of.tolist(), strict=True))
    counts = release.counts.matrix().tolist()
    points = {column.name: original_values(column) for column in table.quasi}
    found = release.beliefs(points)
    for at, point in enumerate(zip(*([str(v) for v in points[c.name]] for c in table.quasi), strict=True)):
        wanted = naive.belief(rows, counts, point)
        if wanted is None:
            assert np.isnan(found[at]).all()
        else:
            assert found[at] == pytest.approx([float(share) for share in wanted])
    guess = np.arange(1, len(release.values) + 1)
    nobody = release.beliefs({"job": ["nobody"], "odd": ["plain"]}, withheld=guess)
    assert nobody[0] == pytest.approx(guess / guess.sum())


def test_beliefs_match_missing_numbers_and_refuse_other_points() -> None:
    rows = {"age": pa.array([None, 30, 30, None]), "disease": list("abab")}
    table = read(pa.table(rows), quasi=["age"], sensitive="disease", missing="value")
    release = publish(table, [0, 0, 1, 1])
    assert release.beliefs({"age": [np.nan, 30.0]}).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert np.isnan(release.beliefs({"age": [31.0]})).all()
    with pytest.raises(DiscreetError, match="not among the points"):
        release.beliefs({})
    with pytest.raises(DiscreetError, match="no number"):
        release.beliefs({"age": ["old"]})


@pytest.mark.parametrize("cells", [0, 1 << 24])
def test_estimates_are_expected_counts(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    from discreet.releases.anatomy import release as anatomy_asking

    monkeypatch.setattr(anatomy_asking, "CELLS", cells)
    table = census(400, quasi=("age", "gender"), sensitive="occupation", seed=3)
    release = Anatomy(random_state=1).publish(table, LDiversity(3))
    ages, genders = (exact_column.values[exact_column.codes].tolist() for exact_column in release.exact)
    rows = list(zip(zip(ages, genders, strict=True), release.group_of.tolist(), strict=True))
    counts = release.counts.matrix().tolist()
    some = [str(value) for value in release.values[[0, 2, 3]]]
    gender = str(genders[0])

    def young(own: Any) -> bool:
        return bool(25 <= own[0] <= 50)

    cases: list[tuple[Query, Callable[[Any], bool], list[bool]]] = [
        (Query(()), lambda own: True, [True] * len(release.values)),
        (Query((Range("age", 25, 50),)), young, [True] * len(release.values)),
        (
            Query((Range("age", 25, 50), OneOf("gender", (gender,)), OneOf("occupation", tuple(some)))),
            lambda own: young(own) and own[1] == gender,
            [str(value) in some for value in release.values],
        ),
        (Query((OneOf("occupation", (some[0],)),)), lambda own: True, [str(v) == some[0] for v in release.values]),
        (Query((OneOf("occupation", ("astronaut",)),)), lambda own: True, [False] * len(release.values)),
    ]
    found = release.estimates([query for query, _, _ in cases])
    for got, (query, keep, values) in zip(found.tolist(), cases, strict=True):
        assert got == pytest.approx(float(naive.expected(rows, counts, keep, values)))
        if not any(condition.attribute == "occupation" for condition in query.conditions):
            assert got == query.count(table)
    # how often a value occurs in the whole table is exact
    assert found[3] == pytest.approx(cases[3][0].count(table))
    with pytest.raises(DiscreetError, match="no column 'agee'"):
        release.estimates([Query((Range("agee", 1, 2),))])


def test_the_files_carry_no_order(tmp_path: Path) -> None:
    table = census(3000, quasi=("age",), sensitive="occupation", seed=5)
    release = Anatomy().publish(table, LDiversity(3))
    release.save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "README.md",
        "release.json",
        "sensitive.csv",
        "table.csv",
    ]
    assert release.trace is not None
    # neither the numbers of groups nor the places of rows follow the input
    assert abs(np.corrcoef(release.trace, np.arange(table.rows))[0, 1]) < 0.1
    lines = list(csv.reader((tmp_path / "out" / "sensitive.csv").read_text().splitlines()))[1:]
    assert [int(line[0]) for line in lines] == sorted(int(line[0]) for line in lines)
    assert "row" not in (tmp_path / "out" / "table.csv").read_text().splitlines()[0]
    assert any("is in the table" in sentence for sentence in release.manifest["assumptions"])


# -------------------------------------------------------------------------------------------------------------- audit


def simple_table() -> Table:
    """All ages differ, so that whose value is whose is known and every exchange shows."""
    names = ["flu", "cold", "cough", "gout"]
    rows = {"age": list(range(20, 60)), "disease": [names[i % 4] for i in range(40)]}
    return read(pa.table(rows), quasi=["age"], sensitive="disease")


def test_a_broken_promise_names_the_worst_group(tmp_path: Path) -> None:
    table = simple_table()
    groups = np.arange(40) // 4
    groups[[0, 4]] = 99  # two rows, both with the flu
    groups[[1, 2, 3, 5, 6, 7]] = 0
    publish(table, groups, LDiversity(3)).save(tmp_path / "out")
    result = audit(tmp_path / "out", table)
    assert all(check.holds for check in result.checks) and not result.holds
    kept = result.promises[0]
    assert kept.group is not None and load(tmp_path / "out").sizes[kept.group] == 2
    assert kept.description == {"age": "[20, 24]"}
    assert "'flu' makes up 100.0 %" in kept.sentence


def test_withheld_rows_are_a_group(tmp_path: Path) -> None:
    table = simple_table()
    groups = np.arange(40) // 4
    groups[[0, 4]] = -1
    publish(table, groups, LDiversity(2)).save(tmp_path / "out")
    result = audit(tmp_path / "out", table)
    assert result.withheld == 2 and result.losses["ail"] == 2 / 40
    assert not result.holds and "withheld rows (2)" in result.promises[0].sentence
    groups[[5]] = -1
    groups[[4]] = 1
    publish(table, groups, LDiversity(2)).save(tmp_path / "again")
    assert audit(tmp_path / "again", table).holds


def test_k_anonymity_is_judged_by_exact_quasi_identifiers(tmp_path: Path) -> None:
    table = simple_table()
    Baseline().publish(table, TCloseness(0.1)).save(tmp_path / "out")
    result = audit(tmp_path / "out", table, promises="k-anonymity(k=2)")
    broken = next(kept for kept in result.promises if "k-anonymity" in kept.promise)
    assert not result.holds and not broken.holds and broken.achieved == 1
    assert "40 of 40 combinations" in broken.sentence
    equal = read(pa.table({"age": [30] * 6, "disease": list("aabbcc")}), quasi=["age"], sensitive="disease")
    Baseline().publish(equal, TCloseness(0.1)).save(tmp_path / "equal")
    assert audit(tmp_path / "equal", equal, promises="k-anonymity(k=6)").holds


def test_k_anonymity_is_judged_on_the_withheld_rows_too(tmp_path: Path) -> None:
    """Six rows that cannot be told apart are published; the seventh, withheld, is the only one that is."""
    table = read(pa.table({"age": [30] * 7, "disease": list("aabbccd")}), quasi=["age"], sensitive="disease")
    for left, smallest in (([6], 1), ([5, 6], 2)):
        groups = np.zeros(7, np.int64)
        groups[left] = -1
        publish(table, groups).save(tmp_path / "out", force=True)
        found = audit(tmp_path / "out", table, promises="k-anonymity(k=2)")
        kept = next(kept for kept in found.promises if kept.promise == "k-anonymity(k=2)")
        assert (kept.holds, kept.achieved) == (smallest >= 2, smallest)


def test_the_trace_can_be_written_and_read(tmp_path: Path) -> None:
    table = simple_table()
    release = Anatomy().publish(table, LDiversity(3))
    release.save(tmp_path / "out")
    write_trace(release, tmp_path / "trace.csv")
    result = audit(tmp_path / "out", table, tmp_path / "trace.csv")
    assert result.holds and result.support == "trace"
    other = np.array(release.trace)
    elsewhere = int(np.argmax(other != other[0]))  # a row of another group, and of another age
    other[[0, elsewhere]] = other[[elsewhere, 0]]
    assert not audit(tmp_path / "out", table, other).holds


def test_another_original_is_refused(tmp_path: Path) -> None:
    table = simple_table()
    Anatomy().publish(table, LDiversity(3)).save(tmp_path / "out")
    rows = pa.table({"age": [1, 2], "disease": ["flu", "cold"], "sex": ["f", "m"]})
    for options, sentence in (
        ({"quasi": ["sex"], "sensitive": "disease"}, r"quasi=\['age'\]"),
        ({"quasi": ["age"], "sensitive": "sex"}, r"sensitive=\['disease'\]"),
        ({"quasi": ["age"], "sensitive": "disease", "categorical": ["age"]}, r"numeric=\['age'\]"),
    ):
        with pytest.raises(DiscreetError, match=sentence):
            audit(tmp_path / "out", read(rows, **options))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ support without trace


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=150)
def test_support_agrees_with_trying_every_assignment(seed: int) -> None:
    """Few points and values, so that rows can be exchanged in many ways; half of the releases are altered."""
    from discreet.adversary.formats.anatomy import align

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    age, disease = rng.integers(0, 3, n), rng.integers(0, 3, n)
    words = [f"d{i}" for i in disease]
    table = read(pa.table({"age": age, "disease": words}), quasi=["age"], sensitive="disease")
    groups = rng.integers(-1 if rng.random() < 0.5 else 0, 3, n)
    if groups.max() < 0:
        groups[0] = 0
    release = publish(table, groups)
    group_of = release.group_of.copy()
    if rng.random() < 0.6 and release.rows > 1:
        one, other = rng.choice(release.rows, 2, replace=False)
        group_of[[one, other]] = group_of[[other, one]]
    release = replace(release, group_of=group_of, trace=None)
    check, how = anatomy_support.without_trace(align(release, table))
    ages = [release.exact[0].values[code] for code in release.exact[0].codes]
    lines: list[Counter[Any]] = [Counter({str(v): int(n) for v, n in zip(release.values, line, strict=True) if n})
             for line in release.counts.matrix()]  # fmt: skip
    original = [(float(a), w) for a, w in zip(age.tolist(), words, strict=True)]
    rows = [(float(a), int(g)) for a, g in zip(ages, group_of.tolist(), strict=True)]
    expected = naive.explicable(original, rows, lines)
    assert check.holds == expected
    assert how == "assignment" or not check.holds
    event("supported" if expected else "refuted")


@pytest.mark.parametrize("cells", [-1, 10**6])
def test_rows_without_a_choice_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Both rows of age 2 have c and are in one group, which counts a single c: no need to try assignments."""
    monkeypatch.setattr(anatomy_support, "CELLS", cells)
    ages = [1, 1, 2, 2, 1]
    told = read(pa.table({"age": ages, "disease": list("cabcc")}), quasi=["age"], sensitive="disease")
    real = read(pa.table({"age": ages, "disease": list("caccb")}), quasi=["age"], sensitive="disease")
    publish(told, [0, 1, 1, 1, 2]).save(tmp_path / "out")
    assert audit(tmp_path / "out", told).holds
    (check,) = (check for check in audit(tmp_path / "out", real).checks if check.name == "support")
    assert not check.holds and "must hold do not have the values it is published with" in check.sentence


def test_where_there_are_too_many_ways_a_necessary_check_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = census(2000, quasi=("age",), sensitive="occupation", seed=5)
    release = Anatomy().publish(table, LDiversity(3))
    release.save(tmp_path / "out")
    monkeypatch.setattr(anatomy_support, "CHUNK", 1000)
    result = audit(tmp_path / "out", table)
    assert result.holds and result.support == "necessary"
    assert "only the trace can tell more" in next(c.sentence for c in result.checks if c.name == "support")
    # a value moved to the group of somebody of an age at which nobody has it
    column = table.column("age")
    assert table.sensitive_attribute is not None
    pairs = set(zip(column.codes.tolist(), table.sensitive_attribute.codes.tolist(), strict=True))
    folder = Folder(tmp_path / "out")
    names = {str(value): code for code, value in enumerate(table.sensitive_attribute.values.tolist())}
    ages = {str(value): code for code, value in enumerate(column.values.tolist())}
    in_group: dict[str, list[int]] = {}
    for group, age in folder.lines("table"):
        in_group.setdefault(group, []).append(ages[age])
    moved = next(
        (one, other)
        for one, (group, _, _) in enumerate(folder.lines("sensitive"))
        for other, (elsewhere, value, _) in enumerate(folder.lines("sensitive"))
        if elsewhere != group and all((age, names[value]) not in pairs for age in in_group[group])
    )
    swapped("sensitive", folder.tables["sensitive"][0][1], *moved)(folder)
    folder.write()
    failed = audit(tmp_path / "out", table)
    assert not failed.holds
