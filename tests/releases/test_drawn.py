"""Rows drawn from releases: they lie where the release says, and their counts are those that it estimates."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import census, census_arrow, patients
from discreet.errors import DiscreetError
from discreet.families.lifting.tree import Tree, drawn_leaves
from discreet.releases.drawn import in_turn, picked
from discreet.releases.release import Release
from discreet.schemes import make_scheme
from discreet.table.query import OneOf, Query, Range
from support.formats import MAKERS, published_as

REFUSED = {"perturbed", "retained", "projected"}
GRADES = ["high", "low", "mid", "top"]  # in their order, which is that of their texts
QUASI = ("age", "dose", "born", "grade", "city")
FAR = 5.0
"""How many standard errors a mean may be off: each of some hundred means is, by chance, with probability 6e-7."""
DRAWS = 60


def people(rows: int = 240) -> pa.Table:
    """People with quasi-identifiers of every kind, some of them missing, which go together with the disease."""
    rng = np.random.default_rng(5)
    ill = rng.integers(0, 3, rows)
    age = np.clip(rng.normal(30 + 12 * ill, 8), 0, 90).astype(int)
    gap = rng.random(rows) < 0.05
    return pa.table(
        {
            "age": pa.array(age, mask=gap),
            "dose": np.round(rng.exponential(2.0, rows), 1),
            "born": [dt.date(2000, 1, 1) - dt.timedelta(days=int(each) * 365 + 7) for each in age],
            "grade": [GRADES[at] for at in rng.integers(0, 4, rows)],
            "city": [["Bonn", "Essen", "Jena", None][at] for at in rng.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])],
            "ill": [["flu", "gout", "asthma"][at] for at in ill],
            "pay": rng.permutation(rows) * 2.5,
        }
    )


def read(**more: Any) -> dc.Table:
    more = {"sensitive": ["ill"], "quasi": QUASI} | more
    ordinal = ["grade"] if "grade" in more["quasi"] else []
    return dc.read(people(), ordinal=ordinal, missing="value", **more)


# ------------------------------------------------------------------------------------ every format


@pytest.mark.parametrize("format", sorted(MAKERS.keys() - REFUSED))
def test_rows_have_the_columns_and_kinds_of_the_original(format: str, tmp_path: Path) -> None:
    release = published_as(format, read(quasi=("age", "dose", "born")))
    drawn = release.draw(random_state=3)
    assert drawn.column_names == [attribute.name for attribute in release.attributes]
    assert drawn.num_rows == release.rows
    values = drawn.to_pydict()
    known = [age for age in values["age"] if age is not None]
    assert known and all(age == int(age) for age in known)
    assert all(round(dose, 1) == dose for dose in values["dose"])
    assert all(type(day) is dt.date for day in values["born"])
    assert set(values["ill"]) <= {"flu", "gout", "asthma"}
    again, other = release.draw(random_state=3), release.draw()
    assert again.equals(drawn)
    if format != "synthetic":
        assert not other.equals(drawn)
    loaded = dc.load(release.save(tmp_path / "release"))
    assert loaded.draw(random_state=3).to_pydict() == values
    assert dc.read(drawn, quasi=["age"], sensitive="ill", missing="value").rows == release.rows


@pytest.mark.parametrize("format", sorted(REFUSED))
def test_formats_that_cannot_say_refuse(format: str) -> None:
    sensitive = {"retained": ["pay"], "projected": ["ill", "city"]}.get(format, ["ill"])
    release = published_as(format, read(sensitive=sensitive, quasi=("age", "dose")))
    with pytest.raises(DiscreetError, match=r"release\.about|ask for counts with estimate") as refused:
        release.draw()
    assert str(refused.value).count(". ") == 0
    if format == "projected":
        assert release.about("city").draw(random_state=1).column_names == ["age", "dose", "city"]


def queries(release: Release) -> list[Query]:
    """Counts of every attribute by itself, of pairs, and of all together."""
    day = "1955-01-01"
    of = {
        "age": Range("age", 20, 43),
        "dose": Range("dose", 0.7, 2.2),
        "born": Range("born", day, None),
        "grade": OneOf("grade", ("mid", "top")),
        "city": OneOf("city", ("Essen", "Jena")),
        "ill": OneOf("ill", ("gout",)),
    }
    names = [attribute.name for attribute in release.attributes]
    single = [Query((of[name],)) for name in names]
    pairs = [Query((of[one], of[two])) for at, one in enumerate(names) for two in names[:at]]
    return [*single, *pairs, Query(tuple(of[name] for name in names))]


def counted(rows: pd.DataFrame, query: Query) -> int:
    """How many rows satisfy a query, counted by hand."""
    kept = pd.Series(True, rows.index)
    for condition in query.conditions:
        column = rows[condition.attribute]
        if isinstance(condition, OneOf):
            kept &= column.isin(list(condition.values))
            continue
        ends = (condition.low, condition.high)
        low, high = (pd.Timestamp(end) if isinstance(end, str) else end for end in ends)
        kept &= column.notna()
        kept &= (column >= low) if low is not None else True
        kept &= (column <= high) if high is not None else True
    return int(kept.sum())


SCHEMES = (
    "cuts(marginals=none)",
    "cuts(marginals=one-way)",
    "cuts(descriptions=exact)",
    "cuts(marginals=none, values=set)",
    "cuts(marginals=one-way, values=set)",
    "lifting(marginals=none)",
    "lifting(marginals=one-way)",
    "lifting(descriptions=exact)",
    "heterogeneous(publishes=graph)",
    "anatomy",
    "ambiguity",
)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_counts_of_drawn_rows_are_those_that_are_estimated(scheme: str) -> None:
    promise = {"ambiguity": "alpha-beta(alpha=0.9, beta=0.6)", "anatomy": "l-diversity(l=2)"}.get(
        scheme, "l-diversity(l=2)" if "graph" in scheme else "beta-likeness(beta=1)"
    )
    release = dc.publish(read(), promise, scheme)
    asked = queries(release)
    found = np.array(
        [
            [counted(rows, query) for query in asked]
            for rows in (release.to_pandas("draw", random_state=seed) for seed in range(DRAWS))
        ]
    )
    error = found.std(axis=0, ddof=1) / DRAWS**0.5
    # a difference of one row that no draw shows has a chance below 15 / DRAWS in each, but with probability 3e-7
    assert (np.abs(found.mean(axis=0) - release.estimates(asked)) <= FAR * error + 15 / DRAWS).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme",
    ["cuts(marginals=one-way)", "lifting(marginals=one-way)", "cuts(descriptions=exact)", "sealed(descriptions=exact)"],
)
def test_pairs_of_columns_are_nearer_to_the_original_than_shuffled_ones(scheme: str) -> None:
    people = census_arrow(5000).select(["age", "gender", "education", "salary"]).to_pandas()
    table = dc.read(people, quasi=["age", "gender", "education"], sensitive="salary")
    release = dc.publish(table, "beta-likeness(beta=2)", make_scheme(scheme, random_state=1))
    rng = np.random.default_rng(1)
    shuffled = people.apply(lambda column: rng.permutation(column.to_numpy()))

    def apart(rows: pd.DataFrame) -> float:
        pairs = [list(pair) for pair in combinations(people.columns, 2)]
        both = ([frame.astype(str).value_counts(pair, normalize=True) for frame in (people, rows)] for pair in pairs)
        return sum(one.subtract(other, fill_value=0).abs().sum() for one, other in both)

    assert apart(release.to_pandas("draw", random_state=1)) < apart(shuffled)


# -------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize("scheme", ["cuts(descriptions=exact)", "anatomy"])
def test_groups_with_exact_descriptions_keep_their_rows_and_counts(scheme: str) -> None:
    release = dc.publish(census(400), "l-diversity(l=3)", scheme)
    frames, drawn = release.to_pandas(), release.to_pandas("draw", random_state=1)
    table, sensitive = frames["table"], frames["sensitive"]
    quasi = [attribute.name for attribute in release.quasi]
    assert drawn[quasi].astype(str).equals(table[quasi].astype(str))
    held = Counter(zip(table["group"], drawn["salary"], strict=True))
    assert held == {(group, value): count for group, value, count in sensitive.itertuples(index=False)}


def test_rows_lie_in_their_boxes_with_their_sensitive_values() -> None:
    release = dc.publish(read(), "beta-likeness(beta=2)", "cuts(marginals=one-way)")
    boxes, sets = release.to_pandas(), release.to_pandas(sets="lists")
    drawn = release.to_pandas("draw", random_state=2)
    for name in ("age", "dose", "born"):
        low, high, value = boxes[f"{name}_lo"], boxes[f"{name}_hi"], drawn[name]
        inside = low.notna() & value.notna()
        assert ((low <= value) & (value <= high))[inside].all() and inside.any()
    rank = {name: at for at, name in enumerate(GRADES)}
    ends = [boxes[f"grade_{end}"].map(rank).astype(float) for end in ("lo", "hi")]
    value = drawn["grade"].map(rank).astype(float)
    assert ((ends[0] <= value) & (value <= ends[1]))[ends[0].notna() & value.notna()].all() and value.notna().any()
    assert all(each is None or city in each for each, city in zip(sets["city"], drawn["city"], strict=True))
    assert drawn["ill"].astype(str).equals(boxes["ill"].astype(str))


@pytest.mark.parametrize("least", [None, 9])
def test_values_without_a_name_and_missing_ones_are_null(least: int | None) -> None:
    columns = {"city": ["Bonn"] * 30 + ["Essen"] * 9 + ["Jena"], "age": [20, 21] * 15 + [None] * 10}
    table = dc.read(
        pa.table({**columns, "ill": ["flu", "gout"] * 20}), quasi=["city", "age"], sensitive="ill", missing="value"
    )
    release = dc.GeneralizedRelease.from_groups(table, np.zeros(40, np.int32), promise=dc.LDiversity(2), scheme="one")
    release = release if least is None else release.with_marginals(table, least)
    assert release.to_pandas("text")["city"].unique().tolist() == ["*"]
    drawn = release.draw(random_state=1).to_pydict()
    cities, ages = Counter(drawn["city"]), Counter(drawn["age"])
    if least is None:
        assert cities == {None: 40} and ages.keys() == {20, 21}
    else:  # a missing age is drawn row by row, and a city such that its column has the published counts
        assert cities == {"Bonn": 30, None: 10} and 2 <= ages[None] <= 18


def test_numbers_lie_in_the_cells_of_floors() -> None:
    rows = people().drop(["dose", "grade"])
    table = dc.read(
        rows,
        quasi=["age", "born", "city"],
        sensitive="ill",
        floor={"age": 10, "born": "year", "city": 2},
        missing="value",
    )
    for scheme in ("anatomy", "mondrian"):
        release = dc.publish(table, "l-diversity(l=2)", scheme)
        drawn = release.to_pandas("draw", random_state=1)
        bounds = release.to_pandas()
        bounds = bounds["table"] if isinstance(bounds, dict) else bounds
        for name in ("age", "born"):
            low, high = bounds[f"{name}_lo"], bounds[f"{name}_hi"]
            known = low.notna() & drawn[name].notna()
            assert known.any() and ((low <= drawn[name]) & (drawn[name] <= high))[known].all()
        assert drawn["age"].dropna().nunique() > 12  # ages, and not the places of their cells
        assert set(drawn["city"]) <= {"Bo", "Es", "Je", "(missing)"}


def test_the_persons_below_a_node_get_its_rows_in_all_ways_alike() -> None:
    tree = Tree(np.array([-1, 0, 0]), persons=np.array([0, 2, 2]), rows=np.array([2, 1, 1]))
    nodes, leaf_of_person = np.array([0, 0, 1, 2]), [1, 1, 2, 2]
    ways = Counter(
        tuple(leaf_of_person[person] for person in order)
        for order in permutations(range(4))
        if leaf_of_person[order[2]] == 1 and leaf_of_person[order[3]] == 2
    )
    rng = np.random.default_rng(1)
    found = Counter(tuple(drawn_leaves(tree, nodes, rng).tolist()) for _ in range(4000))
    assert found.keys() == ways.keys()
    total = sum(ways.values())
    off = sum((found[way] - 4000 * often / total) ** 2 / (4000 * often / total) for way, often in ways.items())
    assert off < 20  # chi-square with at most one degree of freedom: below 1e-5 by chance


def test_several_sensitive_values_stay_side_by_side_in_boxes() -> None:
    table = dc.read(people(), quasi=["age", "dose"], sensitive=["ill", "grade"], missing="value")
    release = dc.publish(table, "l-diversity(l=2)", "cuts(marginals=none)")
    drawn, published = release.draw(random_state=1).to_pandas(), release.to_pandas()
    assert drawn[["ill", "grade"]].astype(str).equals(published[["ill", "grade"]].astype(str))


# ------------------------------------------------------------------------------------- asking


@pytest.mark.parametrize("n", [0, 1, 47, 48, 49, 100, 480])
def test_any_number_of_rows(n: int) -> None:
    release = dc.publish(patients(), dc.KAnonymity(4))
    drawn = release.draw(n, random_state=1)
    assert drawn.num_rows == n and drawn.column_names == ["age", "sex", "zip", "disease"]
    each = Counter(release.draw(random_state=1)["disease"].to_pylist())
    found = Counter(drawn["disease"].to_pylist())
    assert all(n // 48 * times <= found[value] <= -(-n // 48) * times for value, times in each.items())


def test_frames_of_all_libraries_hold_the_same_rows() -> None:
    release = dc.publish(patients(), dc.KAnonymity(4))
    drawn = release.draw(random_state=4)
    assert release.to_arrow("draw", random_state=4).equals(drawn)
    assert release.to_pandas("draw", random_state=4).astype(str).equals(drawn.to_pandas().astype(str))
    assert release.to_polars("draw", random_state=4).rows() == [tuple(row.values()) for row in drawn.to_pylist()]


def test_lists_of_several_values_are_lists_again() -> None:
    table = pa.table({"age": [30, 31, 40, 41], "ill": [["flu"], ["gout", "flu"], ["gout"], ["gout"]]})
    release = dc.publish(dc.read(table, quasi=["age"], sensitive=["ill"]), "beta-likeness(beta=9)")
    assert sorted(release.to_arrow("draw")["ill"].to_pylist()) == sorted(release.to_arrow()["ill"].to_pylist())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n": -1}, "n must be .*, not -1"),
        ({"n": 2.5}, "n must be .*, not 2.5"),
        ({"n": 10**12}, "n must be .*, not 1000000000000"),
        ({"random_state": "x"}, "random_state must be .*, not 'x'"),
    ],
)
def test_bad_arguments_are_refused(asked: dict[str, Any], said: str) -> None:
    release = dc.publish(patients(), dc.KAnonymity(4))
    with pytest.raises(DiscreetError, match=said):
        release.draw(**asked)


def test_a_seed_without_draws_and_faulty_files_are_refused(tmp_path: Path) -> None:
    release = dc.publish(patients(), dc.KAnonymity(4), "cuts(marginals=none)")
    with pytest.raises(DiscreetError, match="random_state is for drawn rows"):
        release.to_pandas(random_state=1)
    home = release.save(tmp_path / "release")
    text = (home / "table.csv").read_text()
    (home / "table.csv").write_text(text.rsplit("\n", 2)[0] + "\n")
    with pytest.raises(DiscreetError, match="no rows can be drawn from a release whose files are faulty"):
        dc.load(home).draw()


def test_picked_places_have_chances_in_proportion_to_weights() -> None:
    weights, rows = np.array([1.0, 0.0, 3.0, 4.0]), 8000
    places = picked(
        weights, np.zeros(rows, int), np.full(rows, 4), in_turn(np.zeros(rows, int), np.random.default_rng(1))
    )
    assert np.bincount(places, minlength=4).tolist() == [1000, 0, 3000, 4000]
