"""Numbers on a decimal place: what a release states of them, and counts against an enumeration of all that may be."""

from __future__ import annotations

import json
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.releases import load
from discreet.table.decimals import STEPS, Ruler
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Table
from naive import estimates as naive
from support.audits import audits, failing, said
from support.tampering import Folder, altered, put_in_group, stated

SCHEMES = [
    "cuts(snap=false, marginals=none)",
    "cuts(snap=false, marginals=one-way)",
    "burel(snap=false)",
    "lifting(snap=false)",
    "heterogeneous(snap=false)",
    "sealed(snap=false)",
    "codip",
    "mondrian(snap=true)",
]


def children(rows: int = 120, digits: int = 1, seed: int = 1, weighed: int = 16) -> Table:
    """Ages on a decimal place, and weights that usually have too many digits to be on one."""
    rng = np.random.default_rng(seed)
    columns = {
        "age": np.round(rng.uniform(6.0, 12.0, rows), digits),
        "weight": np.round(rng.uniform(20.0, 40.0, rows), weighed),
        "sex": rng.choice(["f", "m"], rows),
        "ill": rng.choice(list("abcd"), rows),
    }
    return dc.read(pa.table(columns), quasi=["age", "weight", "sex"], sensitive="ill")


def entry(release: dc.Release, name: str) -> dict[str, Any]:
    return next(entry for entry in release.manifest["attributes"] if entry["name"] == name)


def table_of_rows(table: Table) -> pa.Table:
    columns = (table.column("age"), table.column("ill"))
    return pa.table({column.name: column.values[column.codes].tolist() for column in columns})


# ----------------------------------------------------------------------------------------------------------- the ruler


@given(
    digits=st.integers(0, 6),
    at=st.integers(-10_000_000, 10_000_000),
    text=st.decimals(-10_000, 10_000, allow_nan=False, allow_infinity=False, places=8),
)
def test_places_are_those_of_exact_decimals(digits: int, at: int, text: Decimal) -> None:
    ruler, one = Ruler(10**digits), Decimal(1).scaleb(-digits)
    number = float(at * one)
    assert ruler.on(number) and float(ruler.up(number)) == float(ruler.down(number)) == at
    assert float(ruler.numbers(at)) == number
    assert float(ruler.up(np.nextafter(number, np.inf))) == at + 1
    assert float(ruler.down(np.nextafter(number, -np.inf))) == at - 1
    assert float(ruler.down(float(text))) == float((text / one).to_integral_value(ROUND_FLOOR))
    assert float(ruler.up(float(text))) == float((text / one).to_integral_value(ROUND_CEILING))


def test_beyond_all_places_is_infinity() -> None:
    for ruler in (Ruler.of(0.01), Ruler.of(None)):
        assert ruler.up(np.array([-np.inf, np.inf])).tolist() == [-np.inf, np.inf]
    assert float(Ruler.of(0.1).down(1e308)) > 1e300


# -------------------------------------------------------------------------------------------------- what is stated


@pytest.mark.parametrize("digits", [0, 1, 2, 6, 7])
def test_the_step_is_the_last_decimal_place_if_that_can_be_counted(digits: int) -> None:
    table = children(digits=digits)
    release = dc.publish(table, "k-anonymity(k=4)", "cuts(snap=false)")
    assert entry(release, "age").get("step") == (STEPS[digits - 1] if 0 < digits < 7 else None)
    assert "step" not in entry(release, "weight") and "step" not in entry(release, "sex")


def test_a_declared_domain_takes_part_and_a_grid_states_its_unit_instead() -> None:
    columns = pa.table({"age": [6.5, 7.0, 7.1, 8.0] * 3, "ill": list("abcd") * 3})
    table = dc.read(columns, quasi="age", sensitive="ill", domains={"age": (0, 12.25)})
    assert entry(dc.publish(table, "k-anonymity(k=2)", "cuts(snap=false)"), "age")["step"] == 0.01
    snapped = entry(dc.publish(table, "k-anonymity(k=2)", "cuts(snap=true)"), "age")
    assert snapped["unit"] == 0.01 and "step" not in snapped


def test_whole_numbers_state_nothing_and_nor_do_withheld_ones() -> None:
    whole = dc.read(pa.table({"age": [6.0, 7.0] * 4, "ill": list("ab") * 4}), quasi="age", sensitive="ill")
    assert "step" not in entry(dc.publish(whole, "k-anonymity(k=2)", "cuts(snap=false)"), "age")
    columns = {"age": [6.5, 7.5] * 20 + [7.123], "other": [1.0, 2.0] * 20 + [None], "ill": list("ab") * 20 + ["a"]}
    table = dc.read(pa.table(columns), quasi=["age", "other"], sensitive="ill", missing="withhold")
    release = dc.publish(table, "k-anonymity(k=2)", "cuts(snap=false)")
    assert release.withheld and entry(release, "age")["step"] == 0.1
    audits(release, table)


def test_steps_are_not_stated_where_presence_is_promised_about() -> None:
    """Whoever is the only one with so many digits would be known to be in the table."""
    release = dc.publish(children(), "alpha-beta(alpha=0.5, beta=0.9, presence=combined)", "cuts")
    assert all("step" not in each for each in release.manifest["attributes"])


def test_steps_are_not_stated_where_nothing_is_published_by_intervals() -> None:
    for scheme in ("cuts(descriptions=exact)", "cuts(values=label)"):
        table = children()
        if "label" in scheme:
            rows = table_of_rows(table)
            table = dc.read(rows, quasi="age", sensitive="ill", hierarchies={"age": {"intervals": {"widths": [1, 2]}}})
        release = dc.publish(table, "beta-likeness(beta=3)", scheme)
        assert all("step" not in each for each in release.manifest["attributes"])
        audits(release, table)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_releases_with_steps_pass_their_audits(scheme: str) -> None:
    table = children(weighed=2 if "snap=true" in scheme else 16)
    release = dc.publish(table, "k-anonymity(k=4)" if "snap=true" in scheme else "beta-likeness(beta=3)", scheme)
    for found in audits(release, table):
        if "snap=true" not in scheme:
            assert said(found, "steps") == "The numbers of 'age' are on their steps."


# ---------------------------------------------------------------------------------------------------------- counts


def conditions(draw: Any) -> list[Range | OneOf]:
    """A condition on ages, at tenths and between them."""
    near = st.one_of(
        st.integers(50, 130).map(lambda tenths: tenths / 10),
        st.integers(500, 1300).map(lambda cents: cents / 100),
    )
    if draw(st.booleans()):
        return [OneOf("age", tuple(draw(st.lists(near, min_size=1, max_size=4))))]
    low, high = draw(st.none() | near), draw(st.none() | near)
    return [Range("age", low, high, draw(st.booleans()), draw(st.booleans()))]


@given(
    data=st.data(),
    scheme=st.sampled_from(["mondrian(snap=false)", "cuts(snap=false, marginals=one-way)", "mondrian(snap=true)"]),
)
def test_counts_are_those_of_enumerating_tenths(data: st.DataObject, scheme: str) -> None:
    """Shares of boxes as of laying out all tenths in them; certain bounds hold, and are the narrowest that do."""
    table = children(60, seed=data.draw(st.integers(0, 50)), weighed=2)
    release = dc.publish(table, "k-anonymity(k=4)", scheme)
    asked = Query(conditions(data.draw))
    inside = {tenth / 10 for tenth in range(0, 200) if admits(asked, tenth / 10)}
    share, least, most = 0.0, 0, 0
    for text, rows in held(release).items():
        low, _, high = text.strip("[]").partition(", ")
        tenths = [tenth / 10 for tenth in range(round(float(low) * 10), round(float(high or low) * 10) + 1)]
        admitted = sum(tenth in inside for tenth in tenths)
        share += rows * admitted / len(tenths)
        least, most = least + rows * (admitted == len(tenths)), most + rows * (admitted > 0)
    (bounds,) = release.certain_bounds([asked])
    if "one-way" in scheme:  # counts of the whole column bound them more closely
        assert least <= bounds[0] <= asked.count(table) <= bounds[1] <= most
    else:
        assert bounds.tolist() == [least, most]
    assert least <= asked.count(table) <= most
    assert release.estimate(asked, "even" if "one-way" in scheme else "auto") == pytest.approx(share)


def admits(asked: Query, number: float) -> bool:
    return all(bool(one.admits(np.array([number]), "numeric")[0]) for one in asked.conditions)


def held(release: dc.Release) -> dict[str, int]:
    texts = release.tables()["table"].column("age").to_pylist()
    return {text: texts.count(text) for text in set(texts)}


def test_ranges_that_hold_the_same_tenths_are_answered_alike() -> None:
    release = dc.publish(children(), "k-anonymity(k=4)", "cuts(snap=false, marginals=one-way)")
    words = ["BETWEEN 6.6 AND 7", "IN (6.6, 6.7, 6.8, 6.9, 7)", ">= 6.55 AND age < 7.05", "> 6.5 AND age < 7.1"]
    answers = [release.estimate(f"SELECT COUNT(*) FROM t WHERE age {one}") for one in words]
    assert answers[0] > 0 and answers == pytest.approx([answers[0]] * 4)
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age = 7") > 0
    assert release.estimate("SELECT COUNT(*) FROM t WHERE age = 7.05") == 0
    assert release.estimate("SELECT COUNT(*) FROM t WHERE weight = 30") == 0  # nobody knows how its numbers lie


def test_counts_by_tenth_add_up_to_all_rows() -> None:
    table = children()
    release = dc.publish(table, "k-anonymity(k=4)", "cuts(snap=false)")
    counts = release.group_by("SELECT age, COUNT(*) FROM t GROUP BY age").to_pydict()
    first, last = table.column("age").domain or (0, 0)
    assert [number for number in counts["age"] if not first <= number <= last] == []
    assert all(round(b - a, 9) == 0.1 for a, b in pairwise(counts["age"]))
    assert sum(counts["COUNT(*)" if "COUNT(*)" in counts else "count"]) == pytest.approx(table.rows)
    with pytest.raises(DiscreetError, match="column 'weight' holds numbers that are not whole"):
        release.group_by("SELECT weight, COUNT(*) FROM t GROUP BY weight")


@pytest.mark.parametrize("scheme", [*SCHEMES, "privbayes(domains=observed)", "cuts(values=label)"])
def test_no_published_number_has_more_digits_than_the_column(scheme: str) -> None:
    """Neither in files and manifests nor in frames, where the middle of an interval has one more."""
    rng = np.random.default_rng(7)
    columns = {"size": np.round(rng.uniform(0.0, 40.0, 300), 3), "ill": rng.choice(list("abcd"), 300)}
    widths = {"size": {"intervals": {"widths": [0.7, 2.1], "origin": 0.1}}} if "label" in scheme else {}
    table = dc.read(pa.table(columns), quasi="size", sensitive="ill", hierarchies=widths)
    promise = "differential-privacy(epsilon=2)" if "privbayes" in scheme else "beta-likeness(beta=3)"
    release = dc.publish(table, "k-anonymity(k=4)" if "snap=true" in scheme else promise, scheme)
    texts = [str(table.to_pydict().get("size", "")) for table in release.tables().values()]
    texts += [str(table.to_pydict().get("value", "")) for table in release.tables().values()]
    assert not re.search(r"\.\d{4}", json.dumps(release.manifest["attributes"]) + "".join(texts))
    frames = release.to_arrow(numbers="middle")
    for frame in frames.values() if isinstance(frames, dict) else [frames]:
        assert not re.search(r"\.\d{5}", str(frame.to_pydict().get("size")))


def test_too_many_multiples_are_not_grouped_by() -> None:
    columns = {"pay": [0.01, 123_456.78] * 10, "ill": list("ab") * 10}
    release = dc.publish(
        dc.read(pa.table(columns), quasi="pay", sensitive="ill"), "k-anonymity(k=4)", "cuts(snap=false)"
    )
    with pytest.raises(DiscreetError, match=r"any multiple of 0\.01 from 0\.01 to 123456\.78, more than"):
        release.group_by("SELECT pay, COUNT(*) FROM t GROUP BY pay")


# ------------------------------------------------------------------------------------------------- files that differ


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = dc.publish(children(), "k-anonymity(k=4)", "mondrian(snap=false)")
    return Path(release.save(tmp_path_factory.mktemp("steps") / "release"))


def without_step(folder: Folder) -> None:
    folder.manifest["attributes"][0].pop("step")


def test_a_release_that_states_no_step_is_answered_as_before(published: Path, tmp_path: Path) -> None:
    """By lengths, as the oracle has it; and its audit holds."""
    old = altered(published, tmp_path / "old", without_step)
    assert dc.audit(old, children()).holds
    for condition in (Range("age", 6.6, 7), Range("age", None, 9.05), OneOf("age", 7.0)):
        asked = Query(condition)
        assert load(old).estimate(asked) == pytest.approx(naive.estimate(old, asked))
        assert load(published).estimate(asked) == pytest.approx(naive.estimate(published, asked))
    assert load(old).estimate(Query(OneOf("age", 7.0))) < load(published).estimate(Query(OneOf("age", 7.0)))


@pytest.mark.parametrize("forged", [0.01, 1e-6])
def test_a_forged_step_fails_with_the_original(published: Path, tmp_path: Path, forged: float) -> None:
    found = dc.audit(altered(published, tmp_path / "forged", stated("attributes", 0, "step", value=forged)), children())
    assert list(failing(found)) == ["steps"]
    assert f"gives {forged} as the step of 'age', which must be 0.1" in said(found, "steps")


def test_a_step_of_numbers_with_too_many_digits_fails(published: Path, tmp_path: Path) -> None:
    found = dc.audit(altered(published, tmp_path / "forged", stated("attributes", 1, "step", value=0.001)), children())
    assert list(failing(found)) == ["steps"]
    assert "the step of 'weight', which must be none" in said(found, "steps")


def test_a_step_that_is_too_coarse_fails_also_if_rows_are_withheld(tmp_path: Path) -> None:
    columns = {
        "age": [6.25, 7.5, 8.75, 9.5] * 10 + [7.5],
        "other": [1.0, 2.0] * 20 + [None],
        "ill": list("ab") * 20 + ["a"],
    }
    table = dc.read(pa.table(columns), quasi=["age", "other"], sensitive="ill", missing="withhold")
    home = dc.publish(table, "k-anonymity(k=2)", "cuts(snap=false)").save(tmp_path / "release")
    for forged in (0.1, 0.001):
        found = dc.audit(
            altered(Path(home), tmp_path / str(forged), stated("attributes", 0, "step", value=forged)), table
        )
        assert list(failing(found)) == ["steps"]


def test_an_end_off_the_step_fails(published: Path, tmp_path: Path) -> None:
    wider = put_in_group("table", "age", lambda text: f"[6.05, {text.strip('[]').split(', ')[-1]}]")
    found = dc.audit(altered(published, tmp_path / "off", wider), children())
    assert "which is not on its step 0.1" in said(found, "steps")


@pytest.mark.parametrize("forged", [1, 0.5, 0, -0.1, True, "0.1", 1e-7, None, [0.1]])
def test_what_is_no_step_is_not_loaded(published: Path, tmp_path: Path, forged: Any) -> None:
    damaged = altered(published, tmp_path / "damaged", stated("attributes", 0, "step", value=forged))
    if forged is None:
        assert not dc.audit(damaged, children()).holds
        return
    with pytest.raises(DiscreetError, match="cannot be understood"):
        load(damaged)


@pytest.mark.parametrize("at", [2, 3])
def test_only_numbers_of_quasi_identifiers_have_a_step(published: Path, tmp_path: Path, at: int) -> None:
    with pytest.raises(DiscreetError, match="cannot be understood"):
        load(altered(published, tmp_path / "damaged", stated("attributes", at, "step", value=0.1)))


def test_a_manifest_says_the_step_in_so_many_digits(published: Path) -> None:
    assert '"step": 0.1\n' in (published / "release.json").read_text()
    assert json.loads((published / "release.json").read_text())["attributes"][0]["step"] == 0.1
