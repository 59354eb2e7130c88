"""Singling out: predicates from every format, against all that can be made of the published files by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import discreet as dc
from discreet.adversary.attacks.evidence import Evidence, wilson
from discreet.adversary.attacks.singling_out import _half
from discreet.adversary.attacks.target import Target
from discreet.adversary.group_sizes import GroupSizes
from discreet.adversary.predicates import Form, Ground, Source
from discreet.errors import DiscreetError
from naive import attacks as naive
from support.attacked import people, release_by
from support.command import run

SCHEMES = (
    "mondrian",
    "mondrian(snap=true)",
    "cuts",
    "lifting(values=interval)",
    "lifting(values=interval, snap=true)",
    "burel",
)
LIGHT = 0.5


def small(seed: int = 5, rows: int = 60) -> pa.Table:
    """A small table of whole numbers and categories."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "pay": rng.integers(0, 30, rows),
            "sex": rng.choice(["f", "m"], rows),
            "disease": rng.choice(["a", "b", "c", "d", "e"], rows),
        }
    )


def read(columns: pa.Table) -> dc.Table:
    return dc.read(columns, quasi=["age", "pay", "sex"], sensitive="disease")


def published(scheme: str, folder: Path) -> tuple[dc.Release, dict[str, list[dict[str, str]]]]:
    """A release of the small table, and its published lines by group."""
    promise = "k-anonymity(k=3)" if "mondrian" in scheme else "beta-likeness(beta=3)"
    dc.publish(read(small()), promise, dc.schemes.make_scheme(scheme, random_state=1)).save(folder / "release")
    groups: dict[str, list[dict[str, str]]] = {}
    with (folder / "release" / "table.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            groups.setdefault(line["group"], []).append(line)
    return dc.load(folder / "release"), groups


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_predicates_are_those_that_can_be_made_of_the_files(scheme: str, tmp_path: Path) -> None:
    release, groups = published(scheme, tmp_path)
    table, rows = read(small()), small().to_pylist()
    ground = Ground.of(release, table, None)
    forms: tuple[Form, ...] = ("end", "inner", "corner", "value")
    for form in forms:
        expected = naive.singled_out(naive.conditions(form, groups, "disease"), rows, LIGHT)
        runs = []
        for seed in range(40):
            source = Source(release, ground.columns, np.random.default_rng(seed))
            if form not in source.forms:
                assert expected.attempts == 0
                continue
            runs.append(ground.tried(source.made(form), LIGHT))
        assert all(one.attempts == expected.attempts for one in runs)
        if runs:  # of 48 such means one in 300 is out by chance, and the seeds are fixed
            far = 5 * np.sqrt(expected.spread / len(runs)) + 1e-9
            assert abs(np.mean([one.successes for one in runs]) - expected.successes) <= far
            wide = 5 * np.sqrt(expected.alone / len(runs)) + 1e-9
            assert abs(np.mean([one.alone for one in runs]) - expected.alone) <= wide


def test_ends_and_inner_values_are_all_that_a_reader_can_name() -> None:
    """In decimal places of the published ends; nobody has 1.7 and 1.9."""
    prices = pa.table({"price": [1.5, 1.6, 1.8, 2.0], "s": list("uvuv")})
    table = dc.read(prices, quasi=["price"], sensitive="s")
    release = dc.GeneralizedRelease.from_groups(table, np.zeros(4, np.int32), promise=dc.KAnonymity(4), scheme="test")
    ground, seen = Ground.of(release, table, None), dict[str, Counter[Any]]()
    forms: tuple[Form, ...] = ("end", "inner")
    for form in forms:
        made = [Source(release, ground.columns, np.random.default_rng(seed)).made(form) for seed in range(200)]
        codes = [(int(boxes.low[0, 0]), int(boxes.high[0, 0])) for boxes in made]
        values = table.quasi[0].values.tolist()
        seen[form] = Counter(values[low] if low == high else None for low, high in codes)
    assert set(seen["end"]) == {1.5, 2.0} and set(seen["inner"]) == {1.6, 1.8, None}
    assert min(*seen["end"].values(), seen["inner"][None]) > 70 and min(seen["inner"].values()) > 25


@pytest.mark.parametrize("scheme", ["mondrian(snap=false)", "mondrian"])
def test_the_publisher_is_told_in_how_many_groups_an_end_singles_out(scheme: str, tmp_path: Path) -> None:
    release, groups = published(scheme, tmp_path)
    rows = small().to_pylist()
    found = sum(
        any(sum(map(one.fits, rows)) == 1 for axis in axes for one in axis)
        for axes in naive.conditions("end", groups, "disease")
    )
    sizes = GroupSizes.of(release, read(small()))
    assert sizes is not None and sizes.singled == found > 0 and sizes.groups == len(groups)
    assert f"In {found:,} of {len(groups):,} the description and one end" in sizes.sentence
    assert ("snap=true, if" in sizes.sentence) == ("snap=false" in scheme)
    assert GroupSizes.of(release_by("anatomy"), people()) is None


def test_rows_that_are_published_as_they_are_single_out_whoever_is_alone() -> None:
    table = read(small())
    rows = [tuple(row[name] for name in ("age", "pay", "sex")) for row in small().to_pylist()]
    often = [Counter(column) for column in zip(*rows, strict=True)]
    light = {row: np.prod([held[value] / 60 for held, value in zip(often, row, strict=True)]) * 60 for row in rows}
    expected = sum(times == 1 and light[row] <= LIGHT for row, times in Counter(rows).items())
    release = dc.publish(table, "l-diversity(l=3)", "anatomy")
    (found,) = dc.attack(release, table, dc.SinglingOut(expected=LIGHT), random_state=1).evidence
    assert found.attack == "singling-out(form=row, expected=0.5)" and found.victims == 60 and found.of == "predicates"
    assert found.successes == expected == round(60 * (found.ceiling or 0)) > 0


def test_synthetic_rows_are_predicates_with_their_sensitive_values() -> None:
    table = read(small())
    drawn = dc.PrivBayes(domains="observed", random_state=3).publish(table, dc.DifferentialPrivacy(200))
    rows, shown = small().to_pylist(), drawn.to_arrow().to_pylist()
    often = Counter(tuple(map(str, row.values())) for row in rows)
    (found,) = dc.attack(drawn, table, dc.SinglingOut(expected=60), random_state=1).evidence
    assert found.successes == sum(often[tuple(map(str, line.values()))] == 1 for line in shown) > 0
    (other,) = dc.attack(table, table, dc.SinglingOut(), random_state=1).evidence
    assert other.details["control"] is None and "the scheme that the manifest names" in other.remark


def test_lists_give_a_combination_of_each_group() -> None:
    release, random = release_by("ambiguity"), np.random.default_rng(4)
    named = release.named_rows(random)
    listed = {name: table.to_pylist() for name, table in release.tables().items()}
    for attribute, exact in zip(release.quasi, named, strict=True):
        (lines,) = [lines for lines in listed.values() if attribute.name in lines[0]]
        assert len(exact.codes) == len({line["group"] for line in lines})
        for group, code in enumerate(exact.codes.tolist()):
            value = exact.values[code]
            assert any(line["group"] == group and line[attribute.name] == value for line in lines)
    (found,) = dc.attack(release, people(), "singling-out", random_state=1).evidence
    assert found.details["form"] == "row" and found.victims == len(named[0].codes)


def crowd(seed: int = 2, rows: int = 3000) -> dc.Table:
    """A generated table of numbers, in which boxes are small."""
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(0, 90, rows), "zip": rng.integers(0, 200, rows), "pay": rng.integers(0, 120, rows)}
    return dc.read(
        pa.table({**columns, "s": rng.choice(list("uvwxyz"), rows)}),
        quasi=[*columns],
        sensitive="s",
        domains={"age": (0, 99), "zip": (0, 199), "pay": (0, 119)},
    )


def by_form(scheme: str, table: dc.Table, expected: float) -> dict[str, Evidence]:
    release = dc.publish(table, "k-anonymity(k=3)", dc.schemes.make_scheme(scheme, random_state=1))
    found = dc.attack(release, table, dc.SinglingOut(expected=expected), random_state=1).evidence
    return {one.details["form"]: one for one in found}


@pytest.mark.slow
def test_on_a_grid_ends_single_out_fewer_people() -> None:
    """Ends of narrow boxes are somebody's; those on a grid are guesses."""
    table = crowd()
    narrow, wide = (by_form(f"mondrian(snap={snap})", table, 1.0) for snap in ("false", "true"))
    assert narrow["end"].interval[0] > 2 * narrow["inner"].interval[1]
    assert narrow["end"].interval[0] > wide["end"].interval[1]


@pytest.mark.slow
def test_the_control_and_the_baseline_tell_what_the_release_adds() -> None:
    """Columns are independent here, so weights are right: what other tables give is what chance gives."""
    found = by_form("mondrian", crowd(), 0.5)
    for one in found.values():
        control, baseline = one.details["control"], one.details["baseline"]
        for other in (control, baseline):
            low, high = wilson(other["successes"], other["attempts"], deviations=4)
            assert low <= other["expected"] / other["attempts"] <= high
            assert other["interval"] == list(wilson(other["successes"], other["attempts"]))
        assert one.baseline == baseline["rate"] and one.bound is None and not one.exceeds
        for part in (control, baseline, one.details["main"]):
            assert f"{part['successes']:,} of {part['attempts']:,}" in one.remark
    assert found["end"].interval[0] > found["end"].details["control"]["interval"][1]


def test_the_halves_are_of_different_persons_and_published_once() -> None:
    columns = small().append_column("who", pa.array(np.arange(60) // 2))
    table = dc.read(columns, quasi=["age", "pay", "sex"], sensitive="disease", person="who")
    release = dc.publish(table, "k-anonymity(k=3)", "mondrian")
    target = Target.of(release, table, random=np.random.default_rng(1))
    half = _half(target)
    assert half.release is not None and half.release.rows == 30 and int(half.others.sum()) == 30
    assert not set(table.person[half.others].tolist()) & set(table.person[~half.others].tolist())  # type: ignore[index]
    assert _half(target) is half


def test_half_a_table_that_is_refused_is_no_control() -> None:
    table = read(small())
    (found,) = dc.attack(dc.publish(table, "k-anonymity(k=40)"), table, dc.SinglingOut("end"), random_state=1).evidence
    assert found.details["control"] is None and "half of the table is refused" in found.remark


def test_a_population_tells_what_is_not_rare() -> None:
    """The same predicates do not count when others of the population fit them, too."""
    table, extra = read(small()), small(7, 3_000)
    everyone = pa.concat_tables([small().select(["age", "pay", "sex"]), extra.select(["age", "pay", "sex"])])
    population = dc.read(everyone, quasi=["age", "pay", "sex"])
    release = dc.publish(table, "k-anonymity(k=3)", dc.Mondrian(random_state=1))
    alone, ground = Ground.of(release, table, None), Ground.of(release, table, population)
    made = [Source(release, each.columns, np.random.default_rng(2)).made("end") for each in (alone, ground)]
    before, after = alone.weights(made[0]), ground.weights(made[1])
    assert bool((after >= before - 1e-12).all())
    rows: list[dict[str, Any]] = extra.to_pylist()
    values = [column.values for column in ground.columns]
    for at in range(len(after)):
        box = [made[1].low[at], made[1].high[at]]
        fits = sum(
            all(
                values[axis][box[0][axis]] <= row[name] <= values[axis][box[1][axis]]
                for axis, name in enumerate(("age", "pay", "sex"))
            )
            for row in rows
        )
        assert after[at] == pytest.approx(max(before[at], fits / len(rows)))
    words = dc.attack(release, table, "singling-out(form=end)", population=population, random_state=1)
    assert words.evidence[0].details["main"]["light"] <= int((before * 60 <= 0.01).sum())


def test_what_no_predicate_can_be_made_of_is_refused() -> None:
    for scheme, form, words in (
        ("anatomy", "end", "say form=row"),
        ("mondrian", "row", "no row is published with its quasi-identifiers as they are"),
    ):
        with pytest.raises(DiscreetError, match=words):
            dc.attack(release_by(scheme), people(), f"singling-out(form={form})")
    flat = dc.read(pa.table({"a": ["x", "x", "y", "y"], "s": list("uuvv")}), quasi=["a"], sensitive="s")
    with pytest.raises(DiscreetError, match="no group is published with an interval"):
        dc.attack(dc.publish(flat, "k-anonymity(k=2)"), flat, "singling-out")
    with pytest.raises(DiscreetError, match="form"):
        dc.attack(release_by("mondrian"), people(), "singling-out(form=middle)")


def test_the_commands_tell_it(tmp_path: Path) -> None:
    write_csv(small(), tmp_path / "people.csv")
    place, original = str(tmp_path / "release"), str(tmp_path / "people.csv")
    words = ("--quasi", "age,pay,sex", "--sensitive", "disease", "--promise", "k-anonymity(k=3)")
    shown = run("publish", original, "-o", place, *words, "--scheme", "mondrian(snap=false)").stdout
    assert "fit exactly one row (singling out): snap=true, if the scheme has it, or" in " ".join(shown.split())
    assert not any("singl" in path.read_text(encoding="utf-8") for path in Path(place).iterdir())
    told = run("attack", place, "--original", original, "--attack", "singling-out", "--seed", "1", "--json").stdout
    found = {one["details"]["form"]: one for one in json.loads(told)["attacks"]}
    assert set(found) == {"end", "inner", "corner", "value"}
    text = " ".join(run("attack", place, "--original", original, "--attack", "singling-out(form=end)").stdout.split())
    assert "does not mean that nobody is singled out" in text
    assert "singling-out(form=end)" in text and "Control, from a release of half" in text and "Baseline" in text
