"""Attacks on presence: who is in the table, guessed from every format, against everyone looked up by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import discreet as dc
from discreet.adversary.attacks.presence import Crowd
from discreet.adversary.attacks.target import Target
from discreet.errors import DiscreetError
from naive import attacks as naive
from support.attacked import MAKERS, people, release_by
from support.command import run


def population(seed: int = 3) -> dc.Table:
    """Twice as many people as there are in the table that releases are made of, whom it is a part of."""
    rng = np.random.default_rng(seed)
    inside = {column.name: column.values[column.codes] for column in people().quasi}
    ages = np.concatenate([inside["age"], rng.integers(20, 60, people().rows)])
    sexes = np.concatenate([inside["sex"], rng.choice(["f", "m"], people().rows)])
    turn = rng.permutation(len(ages))
    return dc.read(pa.table({"age": ages[turn], "sex": sexes[turn]}), quasi=["age", "sex"])


@pytest.mark.parametrize("scheme", MAKERS)
def test_as_many_are_claimed_rightly_as_by_looking_up_everyone_alone(scheme: str) -> None:
    release, everyone = release_by(scheme), population()
    (found,) = dc.attack(release, people(), "presence", population=everyone, random_state=1).evidence
    assert found.victims == people().rows and found.baseline == 0.5
    least, most = naive.presence_claims(release, people(), everyone)
    assert least <= found.successes <= most
    assert found.exceeds is False and found.bound is None


def test_exact_rows_leave_no_doubt_and_one_box_tells_nothing() -> None:
    table = people()
    (open_,) = dc.attack(release_by("anatomy"), table, "presence", random_state=1).evidence
    # those who are not in the table have values that nobody in it has
    assert open_.rate == open_.ceiling == 1.0 and open_.redrawn == 1.0 and open_.hurt is not None
    whole = dc.publish(table, f"k-anonymity(k={table.rows})")
    (closed,) = dc.attack(whole, table, "presence", random_state=1).evidence
    low, high = closed.interval
    assert low <= closed.baseline <= high and closed.redrawn == pytest.approx(closed.baseline)


def test_people_are_drawn_who_are_not_in_the_table() -> None:
    table = people()
    crowd = Crowd.of(Target.of(release_by("mondrian"), table, random=np.random.default_rng(1)))
    rows = {tuple(row) for row in zip(*(column.codes.tolist() for column in table.quasi), strict=True)}
    kinds = list(zip(*(column.codes[crowd.kind_of].tolist() for column in crowd.kinds), strict=True))
    assert len(kinds) > table.rows
    for kind, row in zip(kinds, crowd.row_of.tolist(), strict=True):
        assert (kind in rows) == (row >= 0)
        assert row < 0 or kind == tuple(column.codes[row] for column in table.quasi)


def test_rows_of_a_population_stand_for_those_of_the_table() -> None:
    table, everyone = people(), population()
    crowd = Crowd.of(Target.of(release_by("mondrian"), table, population=everyone))
    assert sorted(crowd.row_of[crowd.inside].tolist()) == list(range(table.rows))
    for person in np.flatnonzero(crowd.inside).tolist():
        for kind, column in zip(crowd.kinds, table.quasi, strict=True):
            told = column.values[column.codes[crowd.row_of[person]]]
            assert kind.values[kind.codes[crowd.kind_of[person]]] == told


def corners_table() -> dc.Table:
    """Four rows in the corners of a square of 9 x 9 values, once in each of 20 regions, and others elsewhere."""
    square = [(0, 0), (0, 8), (8, 0), (8, 8)]
    rows = [(10 * region + a, b, f"v{at}") for region in range(20) for at, (a, b) in enumerate(square)]
    rows += [(10 * region + 4, 4, "v4") for region in range(20)]
    columns = dict(zip("abs", zip(*rows, strict=True), strict=True))
    return dc.read(pa.table({name: list(one) for name, one in columns.items()}), quasi=["a", "b"], sensitive="s")


def test_ends_are_in_the_table_more_often_than_other_combinations() -> None:
    table = corners_table()
    groups = (table.column("a").values[table.column("a").codes] // 10).astype(np.int32)
    release = dc.GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(5), scheme="test")
    (found,) = dc.attack(release, table, "corners", random_state=1).evidence
    assert found.victims == 20 and found.rate == 1.0
    assert found.baseline == pytest.approx(5 / (3 * 3)) and found.redrawn > found.baseline and found.bound is None
    assert found.hurt is not None and table.column("s").values[table.column("s").codes[found.hurt.row]] != "v4"


def test_ends_keep_alpha_where_it_is_promised() -> None:
    """A belief is no chance; the rate may exceed the bound once in 30,000 such releases."""
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(20, 60, 2000), "zip": rng.integers(0, 40, 2000), "pay": rng.integers(0, 30, 2000)}
    table = dc.read(pa.table({**columns, "s": rng.choice(list("uvwxyz"), 2000)}), quasi=[*columns], sensitive="s")
    release = dc.publish(table, "alpha-beta(alpha=0.2, beta=0.5)", "mondrian")
    (found,) = dc.attack(release, table, "corners", random_state=1).evidence
    assert found.bound == 0.2 and found.strain is not None and found.strain <= 1 + 1e-9 and not found.exceeds
    weak = dc.publish(table, "k-anonymity(k=2)", "mondrian(snap=false)")
    weak.manifest["promise"] = ["alpha-beta(alpha=0.2, beta=1)"]
    (found,) = dc.attack(weak, table, "corners", random_state=1).evidence
    assert found.exceeds and found.rate > 0.4 > 0.3 > found.baseline


def test_what_cannot_be_claimed_is_refused() -> None:
    full = dc.read(pa.table({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "s": list("uvuv")}), quasi=["a", "b"], sensitive="s")
    release = dc.publish(full, "k-anonymity(k=2)")
    with pytest.raises(DiscreetError, match="nobody is absent; give a population"):
        dc.attack(release, full, "presence")
    with pytest.raises(DiscreetError, match="there are no ends to pick"):
        dc.attack(release_by("ambiguity"), people(), "corners")
    other = dc.read(pa.table({"age": [20], "sex": ["f"]}), quasi=["age", "sex"])
    with pytest.raises(DiscreetError, match="the population does not contain the original"):
        dc.attack(release_by("mondrian"), people(), "presence", population=other)


def test_the_command_takes_a_population(tmp_path: Path) -> None:
    def columns(table: dc.Table) -> pa.Table:
        return pa.table({c.name: c.values[c.codes] for c in (*table.quasi, *table.sensitive)})

    write_csv(columns(people()), tmp_path / "people.csv")
    write_csv(columns(population()), tmp_path / "everyone.csv")
    release_by("mondrian").save(tmp_path / "release")
    words = ["--original", str(tmp_path / "people.csv"), "--population", str(tmp_path / "everyone.csv")]
    told = run("attack", str(tmp_path / "release"), *words, "--attack", "presence", "--json")
    (found,) = json.loads(told.stdout)["attacks"]
    assert found["baseline"] == 0.5 and found["details"]["people"] == 480
