"""How often guesses are right, which promises about beliefs do not bound where a person fits several groups."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet as dc
from discreet.schemes import make_scheme


def following() -> dc.Table:
    """Three hundred people, whose value follows from what everybody knows about them."""
    columns = {"x": [at % 3 for at in range(300)], "s": ["abc"[at % 3] for at in range(300)]}
    return dc.read(pa.table(columns), quasi="x", sensitive="s", numeric=["x"])


@pytest.mark.parametrize(("scheme", "right"), [("cuts", 2 / 3), ("anatomy", 1.0), ("lifting", 1.0)])
def test_guesses_are_right_more_often_than_any_belief_where_groups_overlap(scheme: str, right: float) -> None:
    table = following()
    (found,) = dc.attack(dc.publish(table, "l-diversity(l=2)", scheme), table, "beliefs", random_state=1).evidence
    assert found.strain is not None and found.strain <= 1 + 1e-9
    assert found.rate == pytest.approx(right, abs=0.02) and found.rate > found.bound == 0.5


@pytest.mark.parametrize("scheme", ["mondrian", "cuts", "sealed"])
def test_they_are_not_where_everybody_is_in_one_group(scheme: str) -> None:
    columns = {"x": [at % 60 for at in range(600)], "s": ["abc"[at % 60 // 20] for at in range(600)]}
    for table in (following(), dc.read(pa.table(columns), quasi="x", sensitive="s", numeric=["x"])):
        release = dc.publish(table, "l-diversity(l=2)", make_scheme(f"{scheme}(overlap=none)", random_state=1))
        (found,) = dc.attack(release, table, "beliefs", random_state=1).evidence
        assert found.bound == 0.5 and found.successes <= 0.5 * found.victims
