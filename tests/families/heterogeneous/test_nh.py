"""NH: rings of different values, every shift that may be drawn, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.analyst.loss import gcp
from discreet.datasets import census, patients
from discreet.families.heterogeneous.candidates import irregularities
from discreet.families.heterogeneous.rings import matches_in_ring, ring_of
from discreet.schemes import make_scheme
from discreet.table.table import Table

LETTERS = "aaabbccdefgh"


def people(values: str, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    columns = {f"q{j}": rng.integers(0, 12, len(values)) for j in range(2)}
    return dc.read(pa.table({**columns, "value": list(values)}), quasi=list(columns), sensitive="value")


def most(values: str, apart: int) -> bool:
    """Whether no value has more than one in ``apart`` of the rows."""
    return max(map(values.count, values)) * apart <= len(values)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 6), st.integers(0, 9))
def test_values_that_follow_each_other_in_a_ring_differ(drawn: list[int], apart: int, seed: int) -> None:
    while max(map(drawn.count, drawn)) * apart > len(drawn):  # no value may be too frequent
        drawn = [*drawn, max(drawn) + 1]
    codes = np.array(drawn, np.int32)
    ring = ring_of(codes, np.random.default_rng(seed).random(len(codes)), apart)
    assert sorted(ring.tolist()) == list(range(len(codes)))
    around = codes[ring]
    assert all(len(set(np.roll(around, -at)[:apart].tolist())) == apart for at in range(len(around)))


def test_rows_of_a_value_keep_their_order_along_the_curve() -> None:
    codes, place = np.repeat(np.arange(4, dtype=np.int32), 5), np.random.default_rng(0).random(20)
    ring = ring_of(codes, place, 4)
    assert codes[ring].tolist() == [0, 1, 2, 3] * 5
    assert all((np.diff(place[ring][value::4]) > 0).all() for value in range(4))
    assert ring_of(codes, place, 1).tolist() == np.argsort(place).tolist()  # nothing to keep apart


def test_a_person_may_have_the_own_row_and_those_before_it_whichever_shift_is_drawn() -> None:
    ring, shifts = np.array([3, 0, 4, 1, 2]), set()
    for seed in range(40):
        lines = matches_in_ring(ring, 3, np.random.default_rng(seed)).tolist()
        assert [sorted(line) for line in lines] == [
            sorted(ring[[at, at - 1, at - 2]].tolist()) for at in range(len(ring))
        ]
        first = {(at - ring.tolist().index(line[0])) % 5 for at, line in enumerate(lines)}
        assert len(first) == 1
        shifts |= first
    assert shifts == {0, 1, 2}


@pytest.mark.slow
@given(st.text(LETTERS, min_size=6, max_size=50), st.integers(1, 4), st.integers(1, 7), st.integers(0, 10**6))
def test_whichever_shift_is_drawn_everyones_candidates_keep_the_promise(
    values: str, least: int, rows: int, seed: int
) -> None:
    if not most(values, least) or rows > len(values):
        return
    table = people(values, seed)
    release = make_scheme("nh", {}, seed).publish(table, dc.KAnonymity(rows) & dc.LDiversity(least))
    candidates = release.trace
    assert irregularities(candidates, table.rows, range(table.rows)) == [] and release.withheld == 0
    assert candidates.min() >= 0 and candidates.shape[1] >= max(rows, least)
    for column in candidates.T:
        shown = np.empty(len(values), np.int32)
        shown[column] = table.sensitive_codes
        assert all(np.bincount(shown[line]).max() * least <= len(line) for line in candidates)


def test_it_keeps_its_promise_on_disk_and_is_found_in_any_case(tmp_path: Path) -> None:
    table = patients()
    release = dc.publish(table, "l-diversity(l=4)", "NH")
    assert release.manifest["scheme"]["name"] == "nh" and isinstance(release, dc.MatchedRelease)
    found = dc.audit(release.save(tmp_path / "rings"), table, trace=release.trace)
    assert found.holds and found.promises[0].achieved == pytest.approx(4.0)


def test_no_candidates_are_in_another_partition() -> None:
    """Rows far from each other: no box spans both halves of the table."""
    ages = [*range(20), *range(1000, 1020)]
    table = dc.read(pa.table({"age": ages, "value": list("abcd" * 10)}), quasi=["age"], sensitive="value")
    assert gcp(dc.NH(random_state=1).publish(table, dc.LDiversity(2))) < 0.02


@pytest.mark.slow
def test_it_loses_more_than_matching_where_values_are_skewed() -> None:
    """As in Figure 2: merged partitions are large, and the more diverse they must be the larger."""
    table = census(3000, quasi=("age", "gender", "education", "marital", "race"), sensitive="occupation")
    schemes = dc.NH(), dc.Heterogeneous(loss="gcp", snap=False)
    lost = {least: [gcp(dc.publish(table, dc.LDiversity(least), each)) for each in schemes] for least in (2, 10)}
    assert lost[10][0] > 1.3 * lost[10][1] and lost[10][0] / lost[10][1] > lost[2][0] / lost[2][1]


def test_what_rings_cannot_keep_is_refused_with_a_way_out() -> None:
    table = people("aabbccddee")
    for promise in ("beta-likeness(beta=2)", "l-diversity(l=2, kind=entropy)", "t-closeness(t=0.3)"):
        with pytest.raises(dc.DiscreetError, match=r"rings are of different values; for .* choose scheme 'cuts'"):
            dc.publish(table, promise, "nh")
    with pytest.raises(dc.DiscreetError, match="does nothing to hide who is in the table"):
        dc.publish(table, "alpha-beta(alpha=0.5, beta=0.5)", "nh")
    with pytest.raises(dc.DiscreetError, match=r"3 rows that follow.*'a' has more than one in 3.*ask for l=2"):
        dc.publish(people("aabbc"), "l-diversity(l=2.5)", "nh")
    bare = dc.read(pa.table({"age": [1, 2, 3, 4]}), quasi=["age"])
    with pytest.raises(dc.DiscreetError, match=r"'nh' needs a sensitive attribute; .*choose scheme 'cuts'"):
        dc.publish(bare, "k-anonymity(k=2)", "nh")
