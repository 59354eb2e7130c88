"""The ways in which counts are estimated: each format has its own, by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.randomised.release.reconstruct import Estimator
from discreet.releases.release import Release
from discreet.table.query import OneOf, Query, Range
from support.command import refused, run
from support.formats import MAKERS, published_as
from support.one_of_each import people

SQL = "SELECT COUNT(*) FROM t WHERE age >= 30 AND sex = 'f' AND pay >= 500"
QUERY = Query((Range("age", 30), OneOf("sex", "f"), Range("pay", 500)))
FORMATS = [pytest.param(name, marks=[pytest.mark.slow] * (name.endswith("-exact"))) for name in MAKERS]


@cache
def published(format: str) -> Release:
    return published_as(format, people(keep=False))


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_estimates_by_the_names_that_it_lists(format: str) -> None:
    release = published(format)
    usual = release.estimator_named()
    assert usual in release.estimators
    for name, what in release.estimators.items():
        first, second = release.estimates([QUERY, SQL], name)
        assert [first, second] == pytest.approx([release.estimate(SQL, name)] * 2)
        assert what[0].islower() and not what.endswith(".")
        by_sex = release.group_by("SELECT sex, COUNT(*) FROM t GROUP BY sex", name)["count"].to_pylist()
        assert sum(by_sex) == pytest.approx(release.rows)
    assert release.estimates([QUERY]).tolist() == release.estimates([QUERY], usual).tolist()


@pytest.mark.parametrize("format", FORMATS)
def test_a_name_that_a_format_lacks_is_refused_with_those_it_has(format: str) -> None:
    release = published(format)
    for ask in (release.estimates, release.estimate, release.group_by):
        with pytest.raises(dc.DiscreetError) as fault:
            ask("SELECT COUNT(*) FROM t", "fraction")  # type: ignore[operator]
        assert all(f"{name} ({what})" in str(fault.value) for name, what in release.estimators.items())
        assert f"the format {format} has no estimator 'fraction'; it has " in str(fault.value)


def test_perturbed_releases_list_all_that_reconstruction_knows() -> None:
    assert {*published("perturbed").estimators, "auto"} == set(get_args(Estimator))


def test_estimators_of_one_format_differ() -> None:
    for format, names in (("perturbed", 4), ("retained", 3), ("ambiguous", 2)):
        release = published(format)
        assert len({round(release.estimate(SQL, name), 6) for name in release.estimators}) == names


@pytest.mark.parametrize("wrong", [None, 3, [3], [QUERY, None], QUERY.conditions])
def test_what_is_no_query_is_refused_in_a_sentence(wrong: object) -> None:
    with pytest.raises(dc.DiscreetError, match="is not a query; give one such as"):
        published("generalized").estimates(wrong)  # type: ignore[arg-type]


def test_a_single_query_is_a_list_of_one() -> None:
    release = published("generalized")
    assert release.estimates(SQL).tolist() == release.estimates(QUERY).tolist() == [release.estimate(QUERY)]  # type: ignore[arg-type]


def test_labels_of_hierarchies_are_understood_in_many_queries_as_in_one() -> None:
    tree = dc.Hierarchy.of("zip", {"53*": ["531", "532"], "60*": ["601", "602"]})
    zips = ["531", "532", "601", "602"] * 20
    data = pa.table({"zip": zips, "ill": ["x", "y"] * 40})
    table = dc.read(data, quasi="zip", sensitive="ill", hierarchies={"zip": tree})
    release = dc.publish(table, dc.KAnonymity(2))
    label = Query(OneOf("zip", "53*"))
    assert release.estimates([label]).tolist() == [release.estimate(label)] == [40.0]


def test_a_release_of_several_tables_has_the_estimators_of_all() -> None:
    table = dc.read(
        pa.table({"age": list(range(40)), "a": ["x", "y"] * 20, "b": ["u", "v", "w", "z"] * 10}),
        quasi="age",
        sensitive=["a", "b"],
    )
    release = dc.publish(table, dc.LDiversity(2, attribute="a") & dc.LDiversity(2, attribute="b"), dc.Codip())
    assert release.estimator_named() == "even"
    with pytest.raises(dc.DiscreetError, match="it has even"):
        release.estimates(["SELECT COUNT(*) FROM t"], "shares")


# ------------------------------------------------------------------------------------------------------------ command


@pytest.fixture
def release(tmp_path: Path) -> str:
    published("perturbed").save(tmp_path / "release")
    return str(tmp_path / "release")


def test_the_command_names_the_estimator_in_its_answer(release: str) -> None:
    for name, what in published("perturbed").estimators.items():
        shown = run("query", release, SQL, "--estimator", name).stdout
        assert f"Estimator {name}: {what}." in shown
        answer = json.loads(run("query", release, SQL, "--estimator", name, "--json").stdout)
        assert answer["estimator"] == name
        assert answer["estimate"] == pytest.approx(published("perturbed").estimate(SQL, name))
    assert json.loads(run("query", release, SQL, "--json").stdout)["estimator"] == "ridge"
    assert "Estimator" not in run("query", release, SQL).stdout
    groups = "SELECT sex, COUNT(*) FROM t GROUP BY sex"
    assert json.loads(run("query", release, groups, "--estimator", "em", "--json").stdout)["estimator"] == "em"


def test_the_command_refuses_a_name_that_the_release_lacks(release: str) -> None:
    assert "has no estimator 'even'; it has ridge (" in refused("query", release, SQL, "--estimator", "even")
