"""Beliefs about every sensitive attribute, by the definition, from the files alone."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients
from support.formats import MAKERS, published_as

SENSITIVE = ["pay", "ill", "job"]


@pytest.fixture(scope="module")
def table() -> dc.Table:
    rng = np.random.default_rng(4)
    columns = {
        "age": rng.integers(20, 40, 90),
        "sex": rng.choice(["f", "m"], 90),
        "pay": rng.integers(0, 5, 90) * 10,
        "ill": rng.choice(["flu", "gout", "none", "asthma"], 90),
        "job": rng.choice(["clerk", "cook", "nurse"], 90),
    }
    return dc.read(pa.table(columns), quasi=["age", "sex"], sensitive=SENSITIVE)


def admits(text: str, value: object) -> bool:
    """Whether a published description admits a value."""
    if isinstance(value, str):
        return text == "*" or value in text.strip("{}").split(", ")
    ends = [float(end) for end in text.strip("[]").split(", ")]
    return ends[0] <= float(str(value)) <= ends[-1]


def shares(path: Path, attribute: str) -> dict[tuple[int, str], dict[str, float]]:
    """The beliefs about everyone, by the definition: every row that may be a person's is equally likely to be."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    found = {}
    for age, sex in [(21, "f"), (30, "m"), (39, "f")]:
        held = [line[attribute] for line in lines if admits(line["age"], age) and admits(line["sex"], sex)]
        found[age, sex] = {value: held.count(value) / len(held) for value in set(held)}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["cuts", "mondrian", "incognito", "codip"])
@pytest.mark.parametrize("loaded", [False, True])
def test_beliefs_by_rows_in_groups(table: dc.Table, tmp_path: Path, scheme: str, loaded: bool) -> None:
    release = dc.publish(table, "l-diversity(l=2)", scheme)
    home = release.save(tmp_path / "release")
    release = dc.load(home) if loaded else release
    points = {"age": [21, 30, 39], "sex": ["f", "m", "f"]}
    for attribute in SENSITIVE:
        beliefs = release.beliefs(points, attribute=attribute)
        values = [str(value).removesuffix(".0") for value in release.known_values(attribute).tolist()]
        (path,) = [path for path in home.glob("table*.csv") if attribute in path.read_text().partition("\n")[0]]
        for line, expected in zip(beliefs.tolist(), shares(path, attribute).values(), strict=True):
            assert line == pytest.approx([expected.get(value, 0.0) for value in values])
        about = release.about(attribute)
        assert [one.name for one in about.sensitive] == [attribute] and about.rows == release.rows
        assert np.array_equal(about.beliefs(points), beliefs)
        assert about.values.tolist() == release.known_values(attribute).tolist()
    assert np.array_equal(release.beliefs(points), release.beliefs(points, attribute="pay"))


def test_beliefs_by_counted_values(table: dc.Table, tmp_path: Path) -> None:
    release = dc.publish(table, "l-diversity(l=2)", "anatomy")
    home = release.save(tmp_path / "release")
    with (home / "table.csv").open(newline="", encoding="utf-8") as file:
        people = list(csv.DictReader(file))
    known = {(int(line["age"]), line["sex"]) for line in people}
    for at, attribute in enumerate(SENSITIVE, 1):
        with (home / f"sensitive_{at}.csv").open(newline="", encoding="utf-8") as file:
            counts = list(csv.DictReader(file))
        points = {"age": [age for age, _ in known], "sex": [sex for _, sex in known]}
        for loaded in (release, dc.load(home)):
            beliefs = loaded.beliefs(points, attribute=attribute)
            values = [str(value).removesuffix(".0") for value in loaded.known_values(attribute).tolist()]
            for (age, sex), line in zip(known, beliefs.tolist(), strict=True):
                groups = [one["group"] for one in people if (one["age"], one["sex"]) == (str(age), sex)]
                expected = dict.fromkeys(values, 0.0)
                for group in groups:
                    own = {one[attribute]: int(one["count"]) for one in counts if one["group"] == group}
                    for value, count in own.items():
                        expected[value] += count / sum(own.values()) / len(groups)
                assert line == pytest.approx(list(expected.values()))


def test_whoever_was_withheld_is_believed_to_have_what_was() -> None:
    rng = np.random.default_rng(5)
    columns = {"age": [*range(20, 50), 99], "a": rng.choice(["x", "y"], 31), "b": rng.choice(["u", "v", "w"], 31)}
    source = dc.read(pa.table(columns), quasi=["age"], sensitive=["a", "b"])
    groups = np.array([0] * 30 + [-1], np.int32)
    for kind in (dc.GeneralizedRelease, dc.AnatomyRelease):
        release = kind.from_groups(source, groups, promise=dc.KAnonymity(1), scheme="mine")
        assert np.isnan(release.beliefs({"age": [99]}, attribute="b")).all()
        assert release.beliefs({"age": [99]}, [0, 1, 3], attribute="b").tolist() == [[0.0, 0.25, 0.75]]


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_the_only_attribute_may_be_named_and_no_other(format: str) -> None:
    release = published_as(format, patients(sensitive="weight" if format == "retained" else "disease"))
    (only,) = (attribute.name for attribute in release.attributes if attribute.role == "sensitive")
    points = {"age": [30], "sex": ["F"], "zip": ["53711"]}
    assert np.array_equal(release.beliefs(points), release.beliefs(points, attribute=only), equal_nan=True)
    with pytest.raises(dc.DiscreetError, match=f"'age' is not a sensitive attribute of the release; it has '{only}'"):
        release.beliefs(points, attribute="age")
