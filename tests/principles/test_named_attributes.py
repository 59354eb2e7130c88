"""Promises can name any sensitive attribute, whatever signs its name has, and say so in text that is read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import DiscreetError
from discreet.principles.principle import parse

NAMES = [
    "wage (EUR)",
    "wage, gross",
    "R&D",
    '5" pipe',
    '"',
    "\\",
    "a=b",
    " wage ",
    "",
    "wage\n",
    "löhne",
    "a) & k-anon",
]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_is_written_and_read_back(name: str) -> None:
    """Alone and beside other promises, by epsilon and by ends that are stated."""
    near = dc.Proximity(2000, 4, attribute=name)
    assert parse(str(near)) == near
    stated = dc.Proximity(m=4, neighbourhood="stated", ends=((1.0, 0.0, 2.0),), attribute=name)
    assert parse(stated.text) == stated
    both = near & dc.KAnonymity(5) & stated
    assert parse(f"{near} & k-anonymity(k=5) & {stated.text}") == both


def test_plain_names_stay_as_they_are() -> None:
    """Quotes only where they are needed, and taken where they are not."""
    assert str(dc.Proximity(1, 2, attribute="wage")) == "proximity(epsilon=1, m=2, attribute=wage)"
    assert str(dc.Proximity(1, 2, attribute="wage (EUR)")) == 'proximity(epsilon=1, m=2, attribute="wage (EUR)")'
    assert parse('proximity(epsilon=1, m=2, attribute="wage")').about == "wage"


@pytest.mark.parametrize("value", ['"wage', 'wage"', '"wage" (EUR)', '"a"b', '"\\x"'])
def test_quotes_that_do_not_close_are_refused(value: str) -> None:
    """In one sentence, as everything else that cannot be read."""
    with pytest.raises(DiscreetError, match="cannot be read"):
        parse(f"proximity(epsilon=1, m=2, attribute={value})")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_several_sensitive_attributes_of_any_name(name: str, tmp_path: Path) -> None:
    """Whether the promise names the attribute or nobody does, the release is published, saved and audited."""
    chance = np.random.default_rng(3)
    columns = {"age": chance.integers(20, 60, 80), name: chance.integers(0, 400, 80), "h": chance.integers(0, 90, 80)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=[name, "h"])
    named = [str(dc.Proximity(20, 2, attribute=name)), "proximity(epsilon=5, m=2, attribute=h)"]
    for folder, promise in (("each", ["proximity(epsilon=5, m=2)"]), ("named", named)):
        dc.publish(table, promise).save(tmp_path / folder)
        verdict = dc.audit(tmp_path / folder, table)
        assert verdict.holds, verdict
