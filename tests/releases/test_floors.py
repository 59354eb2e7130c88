"""Floors: a table with them is published, audited and counted like the same table made coarse by hand."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.analyst.workload import workload
from discreet.errors import DiscreetError
from discreet.jobs.original import spec_of
from discreet.releases import load
from discreet.schemes import make_scheme
from discreet.schemes.described import narrow
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Table
from support.audits import audits, failing
from support.tampering import altered, put, stated

SCHEMES = [
    "cuts(marginals=none)",
    "cuts(marginals=one-way)",
    "cuts(snap=true)",
    "cuts(descriptions=exact)",
    "burel",
    "burel(descriptions=exact)",
    "lifting",
    "heterogeneous",
    "sealed",
    "sealed(descriptions=exact)",
    "mirrored(descriptions=exact)",
    "mondrian(descriptions=exact)",
    "codip",
    "perturbation",
    "baseline",
]
FLOORS = {"age": 5, "born": "quarter", "zip": 3}
START = datetime.date(1970, 1, 1)


@cache
def people(rows: int = 160, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(17, 90, rows),
        "born": pa.array([START + datetime.timedelta(days=int(day)) for day in rng.integers(-700, 700, rows)]),
        "zip": [f"{code:05d}" for code in rng.integers(2100, 2600, rows)],
        "ill": rng.choice(list("abcd"), rows),
    }
    return pa.table(columns)


def quarter(day: datetime.date) -> int:
    """How many quarters after the first of 1970 a day is in."""
    return (day.year - 1970) * 4 + (day.month - 1) // 3


def begin(number: int) -> datetime.date:
    """The first day of a quarter."""
    return datetime.date(1970 + number // 4, number % 4 * 3 + 1, 1)


def read(rows: pa.Table, **how: Any) -> Table:
    return dc.read(rows, quasi=["age", "born", "zip"], sensitive="ill", **how)


@cache
def coarse() -> Table:
    """The table with floors."""
    return read(people(), floor=FLOORS)


@cache
def by_hand() -> Table:
    """The table in which every number and date is the number of its cell."""
    columns = {
        "age": [age // 5 for age in people()["age"].to_pylist()],
        "born": [quarter(day) for day in people()["born"].to_pylist()],
        "zip": [code[:3] for code in people()["zip"].to_pylist()],
        "ill": people()["ill"],
    }
    return read(pa.table(columns))


def published(table: Table, scheme: str) -> Any:
    return dc.publish(table, "beta-likeness(beta=2)", narrow(make_scheme(scheme, {}, random_state=5)))


def spelled(name: str, text: str) -> str:
    """How cells are written whose numbers are published like this."""
    if text == "*" or name not in ("age", "born"):
        return text
    low, high = (int(end) for end in (re.findall(r"-?\d+", text) * 2)[:2])
    if name == "age":
        return f"[{5 * low}, {5 * high + 4}]"
    return f"[{begin(low)}, {begin(high + 1) - datetime.timedelta(days=1)}]"


def rows_of(release: Any) -> Counter[tuple[str, ...]]:
    """The rows of the tables with quasi-identifiers, without the numbers of groups."""
    found: Counter[tuple[str, ...]] = Counter()
    for table in release.tables(numbers=False).values():
        names = [name for name in table.column_names if name in ("age", "born", "zip", "ill", "ill_randomised")]
        if set(names) & {"age", "born", "zip"}:
            columns = [table.column(name).to_pylist() for name in names]
            found.update(tuple(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    return found


WHOLE = [
    ("age BETWEEN 20 AND 39", lambda row: 20 <= row["age"] <= 39),
    ("age < 45 AND zip = '022'", lambda row: row["age"] < 45 and row["zip"][:3] == "022"),
    ("age > 19 AND age <= 64 AND ill = 'a'", lambda row: 19 < row["age"] <= 64 and row["ill"] == "a"),
    ("born < '1970-01-01' AND age >= 0", lambda row: row["born"] < START),
    ("born BETWEEN '1970-04-01' AND '1970-12-31'", lambda row: "1970-04" <= row["born"].isoformat()[:7] <= "1970-12"),
    ("age IN (30, 31, 32, 33, 34)", lambda row: 30 <= row["age"] <= 34),
    ("age <= 203", lambda row: True),
]
"""Conditions on whole cells, or beyond the domain, and what they mean for the original."""
IN_PLACES = [
    Query(Range("age", 4, 7)),
    Query((Range("age", None, 8), OneOf("zip", "022"))),
    Query((Range("age", 4, 12), OneOf("ill", "a"))),
    Query((Range("born", None, -1), Range("age", 0))),
    Query(Range("born", 1, 3)),
    Query(OneOf("age", 6)),
    Query(Range("age", None, 40)),
]
"""The same for the table made coarse by hand."""


def sql(condition: str) -> str:
    return f"SELECT COUNT(*) FROM t WHERE {condition}"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_release_is_that_of_the_table_made_coarse_by_hand(scheme: str) -> None:
    release, other = published(coarse(), scheme), published(by_hand(), scheme)
    expected = Counter(
        {tuple((name, spelled(name, text)) for name, text in row): count for row, count in rows_of(other).items()}
    )
    assert rows_of(release) == expected
    asked = [sql(condition) for condition, _ in WHOLE]
    np.testing.assert_allclose(release.estimates(asked), other.estimates(IN_PLACES), rtol=1e-9, atol=1e-9)
    bounds, others = release.certain_bounds(list(map(release.resolved, asked))), other.certain_bounds(IN_PLACES)
    assert (bounds is None) == (others is None)
    if bounds is not None and others is not None:
        # places are counted, and whole numbers without a step may be anywhere: the bounds can only be narrower
        assert (bounds[:, 0] >= others[:, 0]).all() and (bounds[:, 1] <= others[:, 1]).all()
    points = {name: coarse().column(name).points[coarse().column(name).codes] for name in ("age", "born", "zip")}
    raw = {"age": people()["age"].to_numpy(), "born": people()["born"].to_pylist(), "zip": people()["zip"].to_pylist()}
    hand = {name: by_hand().column(name).values[by_hand().column(name).codes] for name in points}
    np.testing.assert_allclose(release.beliefs(raw), other.beliefs(hand))
    np.testing.assert_allclose(release.beliefs(points), other.beliefs(hand))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_files_are_audited_as_they_say_that_the_original_was_read(scheme: str, tmp_path: Path) -> None:
    release = published(coarse(), scheme)
    release.save(tmp_path / "release")
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    spec = spec_of(str(tmp_path / "release"))
    assert spec.floor == {"age": "5", "born": "quarter", "zip": "3"}
    original = dc.read(str(tmp_path / "people.csv"), spec)
    assert not failing(dc.audit(tmp_path / "release", original, trace=release.trace))
    loaded = load(tmp_path / "release")
    assert rows_of(loaded) == rows_of(release)
    said = [[attribute.as_dict() for attribute in each.attributes] for each in (loaded, release)]
    assert said[0] == said[1]
    assert sum("floor" in sentence for sentence in loaded.manifest["assumptions"]) == 1


@pytest.mark.parametrize("scheme", ["cuts(descriptions=exact)", "baseline", "mondrian(descriptions=exact)"])
def test_exact_descriptions_count_whole_cells_right(scheme: str) -> None:
    release = published(coarse(), scheme)
    for condition, holds in WHOLE:
        if "ill" not in condition:
            assert release.estimate(sql(condition)) == sum(map(holds, people().to_pylist())), condition


def test_tables_are_counted_by_whole_cells_too() -> None:
    for condition, holds in WHOLE:
        asked = published(coarse(), "baseline").query(sql(condition))
        assert asked.count(coarse()) == sum(map(holds, people().to_pylist())), condition
    assert Query(Range("age", 20, 39)).count(coarse()) == WHOLE_TWENTIES


WHOLE_TWENTIES = sum(map(WHOLE[0][1], people().to_pylist()))


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("age <= 22", "published in cells of 5, so nothing tells 22 from the rest of 20 to 24"),
        ("age > 20", "nothing tells 21 from the rest of 20 to 24; ask for whole cells, as in BETWEEN 20 AND 24"),
        ("age = 30", "nothing tells 30 from the rest of 30 to 34"),
        ("age IN (30, 31, 32, 33)", "nothing tells 30 from the rest of 30 to 34"),
        ("born >= '1970-02-01'", "published in quarters, so nothing tells 1970-02-01 from the rest of 1970-01-01 to"),
        ("zip = '02134'", "published by its first 3 characters, so nothing tells who has '02134'; ask for '021'"),
    ],
)
@pytest.mark.parametrize("scheme", ["cuts(marginals=none)", "cuts(descriptions=exact)"])
def test_parts_of_cells_are_refused(scheme: str, condition: str, told: str) -> None:
    release = published(coarse(), scheme)
    with pytest.raises(DiscreetError, match=re.escape(told)):
        release.estimate(sql(condition))
    with pytest.raises(DiscreetError, match=re.escape(told)):
        release.group_by(f"SELECT ill, COUNT(*) FROM t WHERE {condition} GROUP BY ill")


def test_the_workload_of_a_table_asks_for_whole_cells() -> None:
    release = published(coarse(), "baseline")
    queries = workload(coarse(), dimensionality=3, number=200)
    without = [Query(tuple(each for each in query.conditions if each.attribute != "ill")) for query in queries]
    np.testing.assert_allclose(release.estimates(without), [query.count(coarse()) for query in without])


def test_counts_by_group_name_the_cells() -> None:
    release = published(coarse(), "baseline")
    answer = release.group_by("SELECT age, COUNT(*) FROM t WHERE age >= 20 GROUP BY age").to_pydict()
    expected = Counter(f"[{age // 5 * 5}, {age // 5 * 5 + 4}]" for age in people()["age"].to_pylist() if age >= 20)
    assert dict(zip(answer["age"], answer["count"], strict=True)) == expected


@pytest.mark.parametrize("scheme", ["cuts(marginals=none)", "cuts(descriptions=exact)"])
def test_frames_have_the_ends_of_cells(scheme: str) -> None:
    release = published(coarse(), scheme)
    found = release.to_pandas(numbers="bounds")
    frame = found["table"] if isinstance(found, dict) else found
    assert {"age_lo", "age_hi", "born_lo", "born_hi"} < set(frame.columns) and "age" not in frame.columns
    assert (frame["age_lo"] % 5 == 0).all() and (frame["age_hi"] % 5 == 4).all()
    assert (frame["born_lo"].dt.day == 1).all() and ((frame["born_hi"].dt.month % 3) == 0).all()
    if "exact" in scheme:
        assert Counter(frame["age_lo"]) == Counter(age // 5 * 5 for age in people()["age"].to_pylist())
        assert set(frame["age_hi"] - frame["age_lo"]) == {4}


def test_k_anonymity_and_presence_are_judged_on_coarse_columns() -> None:
    for promise in ("k-anonymity(k=4)", "alpha-beta(alpha=0.7, beta=0.6)"):
        release = dc.publish(coarse(), promise, make_scheme("cuts", {}, random_state=1))
        audits(release, coarse())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["cuts(marginals=none)", "cuts(descriptions=exact)"])
def test_attacks_learn_the_same_as_from_the_table_made_coarse_by_hand(scheme: str) -> None:
    for attack in ("naive-bayes", "beliefs"):
        found = [dc.attack(published(table, scheme), table, attack).evidence for table in (coarse(), by_hand())]
        rates = [[(each.attack, each.successes) for each in evidence] for evidence in found]
        assert rates[0] == rates[1] and rates[0], attack


def test_another_floor_than_the_published_one_is_refused() -> None:
    release = published(coarse(), "cuts(marginals=none)")
    for floor in ({}, {**FLOORS, "age": 10}):
        with pytest.raises(DiscreetError, match="'age' was published with the floor 5, but the original was read"):
            audits(release, read(people(), floor=floor))


@pytest.mark.parametrize(
    ("key", "value"), [("floor", 5), ("floor", "0"), ("floor", "month"), ("domain", [16, 89]), ("step", 0.1)]
)
def test_manifests_whose_floor_cannot_be_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    release = published(coarse(), "cuts(descriptions=exact)")
    release.save(tmp_path / "release")
    with pytest.raises(DiscreetError, match="the manifest describes an attribute in a way that cannot be understood"):
        load(altered(tmp_path / "release", tmp_path / "altered", stated("attributes", 0, key, value=value)))


@pytest.mark.parametrize("text", ["35", "[35, 38]", "[36, 40]", "[40, 39]", "[35, 39, 44]", "[a, b]"])
def test_cells_are_written_in_one_way(tmp_path: Path, text: str) -> None:
    release = published(coarse(), "cuts(descriptions=exact)")
    release.save(tmp_path / "release")
    with pytest.raises(DiscreetError, match="which is not one of its cells of 5"):
        load(altered(tmp_path / "release", tmp_path / "altered", put("table", "age", text)))


def test_missing_values_have_no_cell() -> None:
    rows = pa.table({"age": [31, None, 33, 38, 40, None], "ill": list("ababab")})
    table = dc.read(rows, quasi=["age"], sensitive="ill", missing="value", floor={"age": 5})
    assert table.column("age").texts == ("(missing)", "[30, 34]", "[35, 39]", "[40, 44]")
    release = dc.publish(table, "l-diversity(l=2)", "baseline")
    audits(release, table)
    assert release.estimate(sql("age >= 30 AND age <= 44")) == 4


def test_synthetic_rows_are_of_whole_cells() -> None:
    ends = {"age": (0, 99), "born": ("1968-01-01", "1971-12-31")}
    table = dc.read(people(), quasi=["age", "born"], sensitive="ill", floor={"age": 10, "born": "year"}, domains=ends)
    release = dc.publish(table, "differential-privacy(epsilon=1)", "privbayes(domains=observed)")
    audits(release, table)
    frame = release.to_pandas(numbers="bounds")
    assert len(frame) and (frame["age_lo"] % 10 == 0).all() and (frame["age_hi"] % 10 == 9).all()
    assert ((frame["born_lo"].dt.month == 1) & (frame["born_lo"].dt.day == 1)).all()
