"""Who is in the table: beliefs in every format against all possible tables, and promises about them in audits."""

from __future__ import annotations

import json
import math
import tempfile
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.families.ambiguity import lookup as finding
from discreet.families.ambiguity.lookup import ByLists
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.kernels.boxes.boxes import Boxes
from discreet.kernels.presence import value_index as appearing
from discreet.principles import AlphaBeta
from discreet.releases import max_presence as anyone
from discreet.releases.box_lookup import ByBoxes, combinations_known
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.max_presence import PresenceBound, ValueLists, lists_of_boxes, most_believed
from discreet.table.read import read
from discreet.table.table import Table
from naive import worlds
from support.tables import tables

# ---------------------------------------------------------------------------------------------------- possible tables


def rows_of(draw: st.DrawFn, size: int, widths: list[int], distinct: bool) -> list[tuple[tuple[str, ...], str]]:
    points = list(product(*([f"{name}{at}" for at in range(wide)] for name, wide in zip("abc", widths, strict=False))))
    chosen = draw(st.lists(st.sampled_from(points), min_size=size, max_size=size, unique=distinct))
    sensitive_columns = draw(st.lists(st.sampled_from(["flu", "cold"]), min_size=size, max_size=size))
    return list(zip(chosen, sensitive_columns, strict=True))


@st.composite
def partitions(draw: st.DrawFn, groups: int, distinct: bool = True) -> list[list[tuple[tuple[str, ...], str]]]:
    widths = draw(st.sampled_from([[3, 2], [2, 2, 2], [3, 3], [3, 2, 1]]))
    return [rows_of(draw, draw(st.integers(2, 4 if groups == 1 else 3)), widths, distinct) for _ in range(groups)]


def released(partition: list[list[tuple[tuple[str, ...], str]]]) -> tuple[Table, AmbiguousRelease]:
    rows = [(place, *row) for place, group in enumerate(partition) for row in group]
    names = "abc"[: len(rows[0][1])]
    columns = {name: [point[at] for _, point, _ in rows] for at, name in enumerate(names)}
    table = read(
        pa.table({**columns, "s": [sensitive_attribute for *_, sensitive_attribute in rows]}),
        quasi=list(names),
        sensitive="s",
    )
    groups = np.array([place for place, *_ in rows], np.int32)
    return table, AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test")


def points_of(partition: list[list[tuple[tuple[str, ...], str]]]) -> tuple[list[tuple[str, ...]], dict[str, list[str]]]:
    held = zip(*(point for group in partition for point, _ in group), strict=True)
    points = list(product(*(sorted(set(column)) for column in held)))
    return points, {name: [point[at] for point in points] for at, name in enumerate("abc"[: len(points[0])])}


@given(partitions(1))
def test_presence_in_one_group_is_the_share_of_possible_tables(partition) -> None:
    _, release = released(partition)
    group = worlds.group_of(partition[0])
    points, given_points = points_of(partition)
    beliefs = release.presence(given_points)
    number = math.prod(len(listed) for listed in group.lists)
    for point, belief in zip(points, beliefs, strict=True):
        share = worlds.presence(group, point)
        assert share == Fraction(len(group.sensitive_columns), number)
        assert belief == pytest.approx(float(share))


@pytest.mark.slow
@given(partitions(1, distinct=False))
def test_presence_is_a_bound_where_rows_may_be_equal(partition) -> None:
    _, release = released(partition)
    group = worlds.group_of(partition[0])
    points, given_points = points_of(partition)
    for point, belief in zip(points, release.presence(given_points), strict=True):
        assert worlds.presence(group, point, repeats=True) <= belief + 1e-12


@pytest.mark.slow
@given(partitions(2))
def test_groups_together_and_the_value_of_a_row(partition) -> None:
    _, release = released(partition)
    groups = [worlds.group_of(rows) for rows in partition]
    points, given_points = points_of(partition)
    group_beliefs, combined = release.presence(given_points), release.presence(given_points, combined=True)
    beliefs = release.beliefs(given_points)
    flu = list(release.values).index("flu") if "flu" in release.values else None
    for at, point in enumerate(points):
        holding = [group for group in groups if worlds.covers(group, point)]
        if not holding:
            assert group_beliefs[at] == combined[at] == 0.0
            continue
        alone = [worlds.presence(group, point) for group in holding]
        together = worlds.presence_in_any(groups, point)
        assert together == 1 - math.prod(1 - p for p in alone)
        assert combined[at] == pytest.approx(float(together))
        assert group_beliefs[at] == pytest.approx(float(max(alone)))
        if flu is not None:
            share = worlds.association(groups, point, "flu")
            shares = [Fraction(group.sensitive_columns.count("flu"), len(group.sensitive_columns)) for group in holding]
            assert share == sum(p * q for p, q in zip(alone, shares, strict=True)) / sum(alone)
            assert min(shares) <= share <= max(shares)
            assert beliefs[at, flu] == pytest.approx(float(share))


def test_some_row_with_a_persons_values_may_have_a_value_more_often_than_beta() -> None:
    """The promise is about a person's row. That some row with the same values has it is another question."""
    group = worlds.group_of([(("a0", "b0"), "flu"), (("a1", "b1"), "cold")])
    both = [group, group]
    point = ("a0", "b0")
    assert worlds.presence(group, point) == Fraction(1, 2)
    assert worlds.association(both, point, "flu") == Fraction(1, 2)
    assert worlds.existence(both, point, "flu") == Fraction(7, 12)  # .4375 / .75, above beta = 1/2


def test_corners_of_a_box_are_likelier_than_its_inside() -> None:
    """For intervals as narrow as can be, rows divided by combinations is an average over a box and no bound for all."""
    ends = [(1, 4), (1, 4)]
    plain = Fraction(2, 16)
    assert worlds.presence_in_box(ends, 2, (1, 1), tight=False) == plain
    assert worlds.presence_in_box(ends, 2, (1, 1), tight=True) == Fraction(1, 2)
    assert worlds.presence_in_box(ends, 2, (2, 2), tight=True) == 0


def test_the_audit_judges_what_ends_give_away(tmp_path: Path) -> None:
    columns = {"age": [1, 4, 2, 3], "zip": [1, 4, 3, 2], "s": list("abcd")}
    table = read(pa.table(columns), quasi=["age", "zip"], sensitive="s")
    groups = np.array([0, 0, -1, -1], np.int32)
    release = GeneralizedRelease.from_groups(table, groups, promise=AlphaBeta(0.2, 0.5), scheme="test")
    found = audited(release, table, tmp_path)
    assert not found.holds and found.presence is not None
    assert found.presence.average == pytest.approx(1 / 8) and found.presence.group == pytest.approx(1 / 2)
    assert any(
        "in one combination of ends with 50.0 %" in line and "alone justify 12.5 %" in line
        for line in found.sentences()
    )
    assert any(
        "is broken: an attacker who finds a person in" in line and "20.0 % is allowed" in line
        for line in found.sentences()
    )
    kept = audited(release, table, tmp_path, promises="alpha-beta(alpha=0.5, beta=0.5)")
    assert next(one for one in kept.promises if "alpha=0.5" in one.promise).holds


# ------------------------------------------------------------------------------------------------------- descriptions


def people() -> Table:
    columns = {"age": [20, 22, 25, 30, 33, 35], "sex": list("fmfmfm"), "s": list("abcabc")}
    return read(pa.table(columns), quasi=["age", "sex"], sensitive="s")


def in_two_groups() -> GeneralizedRelease:
    groups = np.array([0, 0, 0, 1, 1, 1], np.int32)
    return GeneralizedRelease.from_groups(people(), groups, promise=dc.KAnonymity(3), scheme="test")


def test_presence_by_descriptions() -> None:
    release = in_two_groups()
    # files show the ends 20, 25, 30 and 35, so two ages and two sexes per group; the original has three ages
    assert sorted(combinations_known(release.descriptions)) == [4.0, 4.0]
    table = people()
    release = release.revealed(table)
    assert sorted(ByBoxes(release.descriptions).combinations(table.quasi)) == [6.0, 6.0]
    points = {"age": [20, 33, 28], "sex": ["f", "m", "f"]}
    assert release.presence(points) == pytest.approx([3 / 4, 3 / 4, 0.0])
    assert release.presence(points, combined=True) == pytest.approx([3 / 4, 3 / 4, 0.0])


def test_equal_descriptions_stay_apart_and_add_up() -> None:
    groups = np.array([0, 1, 0, 1, 1, 0], np.int32)
    columns = {"age": [20, 20, 40, 40, 40, 20], "zip": [1, 2, 2, 1, 2, 1], "s": list("abcabc")}
    table = read(pa.table(columns), quasi=["age", "zip"], sensitive="s")
    release = GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(3), scheme="test")
    assert release.description(0) == release.description(1)
    point = {"age": [20], "zip": [1]}
    assert release.presence(point) == pytest.approx([3 / 4])
    assert release.presence(point, combined=True) == pytest.approx([15 / 16])


@given(tables(largest=40, missing=True), st.integers(0, 1000), st.sampled_from(["interval", "set", "label"]))
def test_presence_by_descriptions_by_definition(table: Table, seed: int, values: str) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, max(1, table.rows // 3), table.rows).astype(np.int32)
    if table.unusable is not None:
        groups[table.unusable] = -1
    if not (groups >= 0).any():
        return
    release = GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(1), scheme="test", values=values)
    release = release.revealed(table)  # cells name only some of the values, and codes are of all
    told, known = combinations_known(release.descriptions), ByBoxes(release.descriptions).combinations(table.quasi)
    assert (told >= 1).all()
    held = {}
    for column in table.quasi:
        held[column.name] = column.values[column.codes]
        if column.missing is not None and column.kind == "numeric":
            held[column.name] = column.values.astype(np.float64)[column.codes]
    finder = release.lookup()
    found = finder.find(table.quasi, np.minimum(1.0, release.sizes / told))
    # by hand: which groups admit each row, code by code
    from discreet.releases.boxes import boxes_in

    boxes = boxes_in(release.descriptions, table.quasi)
    for row in range(table.rows):
        inside = []
        for group in range(release.groups):
            admits = True
            for axis, column in enumerate(table.quasi):
                code = column.codes[row]
                which = boxes.set_at[group, axis]
                admits &= bool(boxes.low[group, axis] <= code <= boxes.high[group, axis])
                if which >= 0:
                    admits &= code in boxes.members[boxes.starts[which] : boxes.starts[which + 1]]
            if admits:
                inside.append(min(1.0, release.sizes[group] / told[group]))
        assert found.groups[row] == len(inside)
        assert found.largest[row] == pytest.approx(max(inside, default=0.0))
        assert found.together[row] == pytest.approx(1 - math.prod(1 - p for p in inside))
    expected = np.where((found.groups == 0) & (release.withheld > 0), np.nan, found.largest)
    assert release.presence(held) == pytest.approx(expected, nan_ok=True)
    # values that files show to exist occur in the original, unless a hierarchy lists more, as that of cities does
    assert (known >= 1).all()
    if "city" not in table.quasi_names:
        assert (told <= known).all()


def test_combinations_of_codes_that_occur() -> None:
    table = people()
    release = GeneralizedRelease.from_groups(
        table, np.array([0, 0, 0, 1, 1, 1], np.int32), promise=dc.KAnonymity(3), scheme="test", values="set"
    )
    assert release.presence({"age": [22], "sex": ["f"]}) == pytest.approx([3 / 4])


# --------------------------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize("scheme", [dc.Anatomy(), dc.Perturbation()])
def test_rows_published_as_they_are_make_presence_certain(scheme: dc.Scheme) -> None:
    from discreet.datasets import patients

    table = patients()
    promise = dc.LDiversity(2) if scheme.name == "anatomy" else dc.BetaLikeness(2)
    release = dc.publish(table, promise, scheme)
    first = {column.name: [column.values[column.codes[0]]] for column in table.quasi}
    assert release.presence(first).tolist() == release.presence(first, combined=True).tolist() == [1.0]
    elsewhere = {**first, "age": [-1]}
    assert release.presence(elsewhere).tolist() == [0.0]
    with pytest.raises(DiscreetError, match="'age' of the release is not among the points"):
        release.presence({})


def test_nothing_is_known_of_the_withheld() -> None:
    table = read(
        pa.table({"age": [1, 2, 3, None], "s": list("abcd")}), quasi=["age"], sensitive="s", missing="withhold"
    )
    groups = np.array([0, 0, 0, -1], np.int32)
    from discreet.releases.anatomy.release import AnatomyRelease

    for kind in (GeneralizedRelease, AnatomyRelease, AmbiguousRelease):
        release = kind.from_groups(table, groups, promise=dc.KAnonymity(1), scheme="test")
        beliefs = release.presence({"age": [2, 9]}, combined=True)
        assert beliefs[0] > 0 and np.isnan(beliefs[1])


# ------------------------------------------------------------------------------------------------------------- audits


def audited(release: dc.Release, table: Table, tmp_path: Path, **more: object) -> dc.Audit:
    release.save(tmp_path / "release", force=True)
    return dc.audit(tmp_path / "release", table, **more)  # type: ignore[arg-type]


def test_the_audit_judges_presence_on_descriptions(tmp_path: Path) -> None:
    table = people()
    found = audited(in_two_groups(), table, tmp_path, promises=["alpha-beta(alpha=0.6, beta=0.4)"])
    kept = next(one for one in found.promises if one.promise.startswith("alpha-beta"))
    assert kept.holds and kept.achieved == pytest.approx(0.6)
    assert found.presence is not None and not found.presence.certain
    assert found.presence.group == pytest.approx(0.6) and found.presence.combined == pytest.approx(0.6)
    assert found.presence.average == pytest.approx(0.5)  # three rows, three ages, two sexes
    strict = audited(in_two_groups(), table, tmp_path, promises=["alpha-beta(alpha=0.5, beta=0.4)"])
    kept = next(one for one in strict.promises if one.promise.startswith("alpha-beta"))
    assert not kept.holds and kept.broken == 2
    assert "believes with up to 60.0 %" in kept.sentence and "50.0 % is allowed" in kept.sentence
    assert "What it says about sensitive values is kept" in kept.sentence
    assert json.loads(json.dumps(strict.as_dict()))["presence"]["above_combined"] == 6
    # a promise that says nothing about presence: nothing is looked up
    assert audited(in_two_groups(), table, tmp_path).presence is None


def test_the_audit_tells_both_readings(tmp_path: Path) -> None:
    groups = np.array([0, 1, 0, 1, 1, 0], np.int32)
    columns = {"age": [20, 20, 40, 40, 40, 20], "zip": [1, 2, 2, 1, 2, 1], "s": list("abcabc")}
    table = read(pa.table(columns), quasi=["age", "zip"], sensitive="s")
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(0.75, 0.67), scheme="test")
    found = audited(release, table, tmp_path)
    assert found.holds
    assert found.presence is not None
    assert found.presence.group == pytest.approx(3 / 4) and found.presence.combined == pytest.approx(15 / 16)
    assert found.presence.above_combined == 6 and found.presence.above_group == 0
    told = next(check for check in found.checks if check.name == "all groups")
    assert "believes 6 of the 6 rows of the original to be in the table with more than 75.0 %" in told.sentence
    both = audited(release, table, tmp_path, promises="alpha-beta(alpha=0.75, beta=0.67, presence=combined)")
    assert not both.holds
    broken = next(one for one in both.promises if "combined" in one.promise)
    assert broken.broken == 6 and "the worst with 93.8 %" in broken.sentence
    kept = audited(release, table, tmp_path, promises="alpha-beta(alpha=0.94, beta=0.67, presence=combined)")
    assert kept.holds


def of_lists(listed: list[list[set[int]]], widths: list[int]) -> ValueLists:
    """Per group and block a set of values, as the search reads them."""
    firsts = np.cumsum([0, *widths])
    entries = [(g, v + firsts[j]) for g, own in enumerate(listed) for j, one in enumerate(own) for v in sorted(one)]
    groups, values = (np.array(column) for column in zip(*entries, strict=True))
    shown = cast(Any, appearing).index_groups(values, groups.astype(np.int32), len(listed), int(firsts[-1]))
    return ValueLists(shown, firsts)


def most_of_all(listed: list[list[set[int]]], chances: np.ndarray) -> float:
    """The largest belief over all combinations, one by one."""
    every = [sorted(set().union(*(own[j] for own in listed))) for j in range(len(listed[0]))]
    absent = [
        math.prod(
            1 - p for own, p in zip(listed, chances, strict=True) if all(v in o for v, o in zip(at, own, strict=True))
        )
        for at in product(*every)
    ]
    return 1 - min(absent)


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_belief_in_anyone_is_that_over_all_combinations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    listed = [
        [set(rng.choice(wide, rng.integers(1, wide + 1), replace=False).tolist()) for wide in widths]
        for _ in range(rng.integers(1, 30))
    ]
    chances = rng.random(len(listed)) * rng.choice([0.01, 0.3, 0.9])
    lists, best = of_lists(listed, widths), most_of_all(listed, chances)
    found = most_believed(lists, chances)
    assert found.exact and found.reached == pytest.approx(best)
    # a limit ends the search early, with an answer to whether anyone is beyond it
    assert most_believed(lists, chances, limit=0.9 * best).reached > 0.9 * best
    assert most_believed(lists, chances, limit=1.01 * best).bound == pytest.approx(min(1.0, 1.01 * best))
    # a search that may not look at anything has a bound all the same
    bound = most_believed(lists, chances, budget=0)
    assert bound.reached <= best + 1e-12 and bound.bound >= best - 1e-12
    nothing = lists._replace(firsts=np.append(lists.firsts, lists.firsts[-1]))  # one more block, without any value
    assert most_believed(nothing, chances) == (0.0, 0.0)
    certain = most_believed(lists, np.where(chances == chances.max(), 1.0, chances))
    assert certain == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_belief_in_anyone_by_boxes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    number, sizes = int(rng.integers(1, 25)), [40, 3]
    low = np.stack([rng.integers(0, size, number) for size in sizes], axis=1).astype(np.int32)
    high = np.minimum(low + rng.integers(-1, 12, low.shape), np.array(sizes) - 1).astype(np.int32)
    set_at = np.full(low.shape, -1, np.int32)
    set_at[0, 0] = 0  # one box with gaps
    described = Boxes(low, high, set_at, np.array([0, 2]), np.array([3, 30], np.int32))
    listed = [[set(range(a, b + 1)) for a, b in zip(*ends, strict=True)] for ends in zip(low, high, strict=True)]
    listed[0][0] = {3, 30}
    chances = rng.random(number) * 0.3
    best = most_of_all(listed, chances) if all(any(own[j] for own in listed) for j in (0, 1)) else 0.0
    found = most_believed(lists_of_boxes(described, sizes), chances)
    assert found.exact and found.reached == pytest.approx(best)
    # lists that would be too long are shortened: what they say is then a bound
    monkeypatch.setattr(anyone, "ENTRIES", 1)
    lists = lists_of_boxes(described, sizes)
    assert not lists.apart and most_believed(lists, chances, known=0.5 * best).bound >= best - 1e-12


def two_who_share() -> tuple[Table, AmbiguousRelease]:
    """Both groups list 'a' and 'd', which nobody has together: 3/4 = 1 - 1/2 * 1/2, and 1/2 for everyone there is."""
    columns = {"p": list("abac"), "q": list("edfd"), "s": list("xyxy")}
    table = read(pa.table(columns), quasi=["p", "q"], sensitive="s")
    groups = np.array([0, 0, 1, 1], np.int32)
    return table, AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(0.5, 0.5), scheme="test")


def test_the_audit_tells_what_is_believed_of_those_who_are_not_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, release = two_who_share()
    found = audited(release, table, tmp_path)
    assert found.holds and found.presence is not None
    assert found.presence.combined == pytest.approx(0.5)
    assert found.presence.anyone == pytest.approx(0.75) and found.presence.anyone_reached
    told = next(check for check in found.checks if check.name == "anyone")
    assert told.sentence.startswith("Someone who is not in the original") and "with 75.0 %" in told.sentence
    # as a promise about anyone it is broken, though nobody in the original is believed in too much
    both = audited(release, table, tmp_path, promises="alpha-beta(alpha=0.6, beta=0.5, presence=combined)")
    broken = next(one for one in both.promises if "combined" in one.promise)
    assert not broken.holds and broken.achieved == pytest.approx(0.75)
    assert "someone who is not in the original" in broken.sentence and "with 75.0 %, and 60.0 %" in broken.sentence
    kept = audited(release, table, tmp_path, promises="alpha-beta(alpha=0.75, beta=0.5, presence=combined)")
    assert kept.holds and any("nor anyone else with more than 75.0 %" in one.sentence for one in kept.promises)
    # where the search is cut short, a bound is told, and that it is one
    monkeypatch.setattr(finding, "most_believed", lambda *given: PresenceBound(0.5, 0.9))
    found = audited(release, table, tmp_path)
    assert found.presence is not None and found.presence.anyone == 0.9 and not found.presence.anyone_reached
    told = next(check for check in found.checks if check.name == "anyone")
    assert "more than 90.0 % by all groups together; this is an upper bound" in told.sentence
    promise = "alpha-beta(alpha=0.8, beta=0.5, presence=combined)"
    kept = audited(release, table, tmp_path, promises=promise)
    assert kept.holds and any("for anyone else it is known to be at most 90.0 %" in line for line in kept.sentences())
    # whether it is beyond what is promised may be found out all the same
    found_out = {None: PresenceBound(0.5, 0.9), 0.8: PresenceBound(0.75, 0.8)}
    monkeypatch.setattr(finding, "most_believed", lambda *given: found_out[given[3]])
    kept = audited(release, table, tmp_path, promises=promise)
    assert kept.holds and any("nor anyone else with more than 80.0 %, and" in line for line in kept.sentences())


def test_remarks_do_not_advise_what_is_promised_already(tmp_path: Path) -> None:
    groups = np.array([0, 1, 0, 1, 1, 0], np.int32)
    columns = {"age": [20, 20, 40, 40, 40, 20], "zip": [1, 2, 2, 1, 2, 1], "s": list("abcabc")}
    table = read(pa.table(columns), quasi=["age", "zip"], sensitive="s")
    promise = AlphaBeta(0.75, 0.67, "combined")
    broken = audited(AmbiguousRelease.from_groups(table, groups, promise=promise, scheme="test"), table, tmp_path)
    assert not broken.holds and not any("would cover this too" in line for line in broken.sentences())
    both = AlphaBeta(0.75, 0.67) & AlphaBeta(0.94, 0.67, "combined")
    kept = audited(AmbiguousRelease.from_groups(table, groups, promise=both, scheme="test"), table, tmp_path)
    assert kept.holds and not any("would cover this too" in line for line in kept.sentences())
    assert any("promised of what one group reveals, and 94.0 % of what all" in line for line in kept.sentences())


@pytest.mark.parametrize("scheme", [dc.Anatomy(), dc.Perturbation()])
def test_where_rows_are_published_only_alpha_1_is_kept(scheme: dc.Scheme, tmp_path: Path) -> None:
    from discreet.datasets import patients

    table = patients()
    promise = dc.LDiversity(2) if scheme.name == "anatomy" else dc.BetaLikeness(2)
    release = dc.publish(table, promise, scheme)
    asked = ["alpha-beta(alpha=0.9, beta=1)", "alpha-beta(alpha=1, beta=1)", "alpha-beta(alpha=1, beta=0.01)"]
    found = audited(release, table, tmp_path, trace=release.trace, promises=asked)
    by_name = {one.promise: one for one in found.promises}
    broken, kept, values = (by_name[text] for text in asked)
    assert not broken.holds and broken.broken and "knows for certain" in broken.sentence
    assert kept.holds and "which alpha=1 allows" in kept.sentence
    assert not values.holds
    assert found.presence is not None and found.presence.certain and found.presence.combined == 1.0


# ---------------------------------------------------------------------------------------------------------- population


def test_presence_in_a_population(tmp_path: Path) -> None:
    table = people()
    # twelve people from 20 to 25 (six of each sex), six from 30 to 35, and two whom no group admits
    ages = [20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 30, 30, 33, 33, 35, 35, 50, 60]
    population = read(pa.table({"age": ages, "sex": list("fm") * 10}), quasi=["age", "sex"])
    found = audited(in_two_groups(), table, tmp_path, population=population)
    assert found.presence is not None
    known = found.presence.population
    assert known is not None
    assert (known.people, known.uncovered) == (20, 2)
    assert (known.group.smallest, known.group.largest) == pytest.approx((0.0, 0.5))
    assert (known.group_original.smallest, known.group_original.largest) == pytest.approx((0.25, 0.5))
    assert known.combined_original.smallest == pytest.approx(0.25)
    assert any("20 people of the population" in line for line in found.sentences())
    assert json.loads(json.dumps(found.as_dict()))["presence"]["population"]["group"]["largest"] == 0.5


def test_beliefs_about_a_population_hold_against_one_list_only(tmp_path: Path) -> None:
    """Why delta-presence is no promise: whoever has a shorter list believes more, and a longer one knows who is not."""
    table, twelve = people(), [20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 30, 30, 33, 33, 35, 35]

    def beliefs(ages: list[int], sexes: list[str]) -> tuple[float, float]:
        everyone = read(pa.table({"age": ages, "sex": sexes}), quasi=["age", "sex"])
        found = audited(in_two_groups(), table, tmp_path, population=everyone).presence
        assert found is not None and found.population is not None
        return found.population.group.smallest, found.population.group.largest

    sexes = list("fm") * 9
    assert beliefs(twelve, sexes) == pytest.approx((0.25, 0.5))
    known = list(zip(table.column("age").values[table.column("age").codes].tolist(), people_sexes(table), strict=True))
    assert beliefs([age for age, _ in known], [sex for _, sex in known]) == pytest.approx((1.0, 1.0))
    assert beliefs([*twelve, 80], [*sexes, "f"]) == pytest.approx((0.0, 0.5))


def people_sexes(table: Table) -> list[str]:
    column = table.column("sex")
    return [column.texts[code] for code in column.codes.tolist()]


def test_presence_in_a_population_by_lists_and_by_rows(tmp_path: Path) -> None:
    table = people()
    population = read(
        pa.table({"age": [20, 22, 25, 30, 33, 35, 20, 20, 35], "sex": list("fmfmfmffm")}), quasi=["age", "sex"]
    )
    groups = np.array([0, 0, 0, 1, 1, 1], np.int32)
    lists = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(0.5, 0.4), scheme="test")
    found = audited(lists, table, tmp_path, population=population).presence
    assert found is not None and found.population is not None
    assert (found.population.group.smallest, found.population.group.largest) == pytest.approx((3 / 5, 3 / 4))
    from discreet.releases.anatomy.release import AnatomyRelease

    rows = AnatomyRelease.from_groups(table, groups, promise=dc.LDiversity(3), scheme="test")
    found = audited(rows, table, tmp_path, population=population).presence
    assert found is not None and found.population is not None
    assert (found.population.group.smallest, found.population.group.largest) == pytest.approx((1 / 3, 1.0))


def test_presence_in_a_population_where_values_are_perturbed(tmp_path: Path) -> None:
    from discreet.datasets import patients, patients_arrow

    table = patients()
    release = dc.publish(table, dc.BetaLikeness(2), dc.Perturbation())
    names = list(table.quasi_names)
    twice = pa.concat_tables([patients_arrow().select(names)] * 2)
    kinds = {kind: [column.name for column in table.quasi if column.kind == kind] for kind in ("numeric", "ordinal")}
    population = read(twice, quasi=names, **kinds)
    found = audited(release, table, tmp_path, trace=release.trace, population=population).presence
    assert found is not None and found.population is not None and found.certain
    assert (found.population.group.smallest, found.population.combined.largest) == pytest.approx((0.5, 0.5))


def test_a_population_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    release, table = in_two_groups(), people()
    with pytest.raises(DiscreetError, match="the population has no column 'sex'"):
        audited(release, table, tmp_path, population=read(pa.table({"age": [20]}), quasi=["age"]))
    texts = read(pa.table({"age": ["20"], "sex": ["f"]}), quasi=["age", "sex"], categorical=["age"])
    with pytest.raises(DiscreetError, match="'age' was published as numeric, but the population was read with it as"):
        audited(release, table, tmp_path, population=texts)
    few = read(pa.table({"age": [20, 22, 25, 33], "sex": list("fmff")}), quasi=["age", "sex"])
    with pytest.raises(DiscreetError, match=r"does not contain the published rows: group \d \(3 rows, .* 1 row of it"):
        audited(release, table, tmp_path, population=few)


def test_finders_agree_with_the_release(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.integers(0, 5, 60) for name in "abc"}
    table = read(pa.table({**columns, "s": rng.integers(0, 9, 60).astype(str)}), quasi=["a", "b", "c"], sensitive="s")
    groups = rng.integers(0, 9, 60).astype(np.int32)
    release = AmbiguousRelease.from_groups(table, groups, promise=AlphaBeta(1, 1), scheme="test", blocks=[["a", "b"]])
    finder = ByLists(release)
    found = finder.find(table.quasi, release.presences)
    points = {name: list(column) for name, column in columns.items()}
    assert found.largest == pytest.approx(release.presence(points))
    assert found.together == pytest.approx(release.presence(points, combined=True))
    crowd = [
        sum(
            set(zip(*(columns[name][groups == group] for name in "ab"), strict=True)).issuperset(
                [(columns["a"][row], columns["b"][row])]
            )
            and columns["c"][row] in columns["c"][groups == group]
            for row in range(60)
        )
        for group in range(9)
    ]
    assert sorted(finder.crowd(table.quasi)) == sorted(crowd)
    # whoever weighs values by how many groups list them: the product of shares, row by row
    lists = [
        [set(zip(*(columns[name][groups == group] for name in block), strict=True)) for block in (["a", "b"], ["c"])]
        for group in range(9)
    ]
    often = [lambda value, at=at: sum(value in one[at] for one in lists) for at in (0, 1)]
    for row, believed in enumerate(finder.find_weighed(table.quasi, release.presences)[1]):
        held = [(columns["a"][row], columns["b"][row]), (columns["c"][row],)]
        best = 0.0
        for group, listed in enumerate(lists):
            if all(value in one for value, one in zip(held, listed, strict=True)):
                share = math.prod(often[at](held[at]) / sum(often[at](v) for v in listed[at]) for at in (0, 1))
                best = max(best, min(1.0, share * int((groups == group).sum())))
        assert believed == pytest.approx(best)


# ------------------------------------------------------------------------------------------------------------ schemes


@pytest.mark.slow
@given(
    tables(largest=60, missing=True),
    st.sampled_from([0.9, 0.5, 0.2]),
    st.sampled_from(["group", "combined"]),
    st.sampled_from([dc.Cuts(), dc.Cuts(values="set"), dc.Cuts(values="label"), dc.Mondrian(), dc.Burel()]),
)
def test_generalizing_schemes_keep_alpha_or_refuse(table: Table, alpha: float, presence: str, scheme: dc.Cuts) -> None:
    beta = max(0.5, float(table.prior_counts.max() / table.rows))
    promise = AlphaBeta(alpha, beta, presence)
    try:
        release = dc.publish(table, promise, scheme, most_withheld=1)
    except DiscreetError as error:
        if any(told in str(error) for told in ("with missing values cannot", "rows that have to be withheld")):
            return
        reached = float(str(error).split("alpha=")[2].split(" ")[0])
        assert reached > alpha and "choose scheme 'ambiguity'" in str(error)
        return
    with tempfile.TemporaryDirectory() as folder:
        found = audited(release, table, Path(folder), trace=release.trace)
    assert found.holds, found.sentences()
    assert found.presence is not None
    assert (found.presence.anyone if presence == "combined" else found.presence.group) <= alpha * (1 + 1e-9)


def test_groups_are_merged_only_where_they_must_be() -> None:
    rng = np.random.default_rng(2)
    # few people among many ages and places, but for one place where everybody is 30
    age = np.concatenate([rng.integers(20, 80, 300), np.full(20, 30)])
    place = np.concatenate([rng.integers(0, 40, 300), np.full(20, 99)])
    sensitive_attribute = rng.integers(0, 10, 320).astype(str)
    table = read(
        pa.table({"age": age, "place": place, "s": sensitive_attribute}), quasi=["age", "place"], sensitive="s"
    )
    loose = dc.publish(table, AlphaBeta(1, 0.5), dc.Cuts())
    assert any("promise about presence" in line for line in loose.manifest["assumptions"])
    strict = dc.publish(table, AlphaBeta(0.5, 0.5), dc.Cuts())
    assert loose.groups > strict.groups > loose.groups / 4


def test_one_quasi_identifier_hides_nobody() -> None:
    table = read(pa.table({"age": [1, 2, 3, 4] * 5, "s": list("abcde") * 4}), quasi=["age"], sensitive="s")
    with pytest.raises(DiscreetError, match=r"alpha=1 is the smallest it reaches; .* choose scheme 'ambiguity'"):
        dc.publish(table, AlphaBeta(0.5, 0.5), dc.Cuts())


@pytest.mark.parametrize("scheme", [dc.Anatomy(), dc.Baseline(), dc.Perturbation()])
def test_schemes_that_publish_rows_refuse_to_hide_presence(scheme: dc.Scheme) -> None:
    from discreet.datasets import patients

    with pytest.raises(
        DiscreetError, match=r"who is in the table is certain and no alpha below 1 can be kept; for .* choose"
    ):
        dc.publish(patients(), AlphaBeta(0.5, 0.5), scheme)


@pytest.mark.parametrize("scheme", [dc.Anatomy(), dc.Baseline()])
def test_with_alpha_1_they_keep_beta(scheme: dc.Scheme, tmp_path: Path) -> None:
    from discreet.datasets import patients

    table = patients()
    release = dc.publish(table, AlphaBeta(1, 0.35), scheme)
    assert audited(release, table, tmp_path, trace=release.trace).holds


# ------------------------------------------------------------------------------------------------------- command line


def test_the_command_takes_a_population(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from discreet.command.main import main
    from discreet.table.write import write_table

    rng = np.random.default_rng(4)
    people = {"age": rng.integers(20, 60, 300), "sex": rng.choice(["f", "m"], 300), "grade": rng.integers(1, 5, 300)}
    write_table(pa.table(people), tmp_path / "population.csv")
    table = pa.table({**{name: column[:120] for name, column in people.items()}, "s": rng.choice(list("abcdef"), 120)})
    write_table(table, tmp_path / "table.csv")
    columns = ["--quasi", "age,sex,grade", "--ordinal", "grade", "--sensitive", "s"]
    run = CliRunner().invoke
    out, original = str(tmp_path / "out"), ["--original", str(tmp_path / "table.csv")]
    made = run(main, ["publish", str(tmp_path / "table.csv"), "-o", out, *columns, "--promise", "l-diversity(l=3)"])
    assert made.exit_code == 0, made.output
    asked = run(main, ["audit", out, *original, "--population", str(tmp_path / "population.csv"), "--json"])
    assert asked.exit_code == 0, asked.output
    found = json.loads(asked.stdout)["presence"]["population"]
    assert found["people"] == 300 and 0 < found["group_original"]["largest"] <= found["combined_original"]["largest"]
    write_table(pa.table({"age": people["age"]}), tmp_path / "lacking.csv")
    lacking = run(main, ["audit", out, *original, "--population", str(tmp_path / "lacking.csv")])
    assert lacking.exit_code == 2 and "the population cannot be used" in lacking.stderr
    small = run(main, ["audit", out, *original, "--population", str(tmp_path / "table.csv")])
    assert small.exit_code == 0
    write_table(table.slice(0, 20), tmp_path / "few.csv")
    few = run(main, ["audit", out, *original, "--population", str(tmp_path / "few.csv")])
    assert few.exit_code == 2 and "does not contain the published rows" in few.stderr
