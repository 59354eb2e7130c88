"""A refusal states its reason and its ways out apart; a sentence is made of them where it is shown."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.errors import DiscreetError, MissingParameterError, UnknownColumnError
from discreet.principles import parse
from discreet.principles.prior import Prior
from discreet.schemes import make_scheme
from discreet.schemes.refusal import Refusal, RefusalError

PROMISE = dc.KAnonymity(5)


def test_a_refused_promise_is_stated_beside_the_sentence() -> None:
    with pytest.raises(RefusalError) as caught:
        dc.publish(patients(), PROMISE, dc.Sabre())
    refusal = caught.value.refusal
    assert refusal == dc.Sabre().refusal(PROMISE, Prior.of(patients()))
    assert refusal.promise == PROMISE and "choose" not in refusal.reason
    assert str(caught.value) == f"{refusal.reason}; for k-anonymity(k=5) choose scheme 'cuts'"


def test_advice_stands_beside_another_scheme() -> None:
    assert (
        str(Refusal("no", PROMISE, "ask for less")) == "no; ask for less, or for k-anonymity(k=5) choose scheme 'cuts'"
    )
    assert str(Refusal("no", advice="ask for less")) == "no; ask for less"


def test_a_refused_part_names_a_way_out_for_the_whole() -> None:
    whole = PROMISE & dc.Proximity(10, 2)
    assert str(Refusal("no", PROMISE).about(whole)).endswith("choose scheme 'proximity'")
    assert Refusal("no", advice="ask for less").about(whole) == Refusal("no", advice="ask for less")


def test_a_comparison_tells_reasons_from_other_refusals() -> None:
    results = dc.compare(patients(), PROMISE, ["cuts", "sabre"], queries=5).results
    assert [result.unsuited is not None for result in results] == [False, True]
    assert results[1].unsuited is not None and str(results[1].unsuited) == results[1].refusal


def test_errors_name_what_they_are_about() -> None:
    with pytest.raises(MissingParameterError) as lacking:
        parse("proximity(epsilon=3)")
    assert (lacking.value.name, lacking.value.field) == ("proximity", "m")
    with pytest.raises(DiscreetError) as wrong:
        make_scheme("cuts(effort=slow)")
    assert wrong.value.field == "effort"
    with pytest.raises(UnknownColumnError) as unknown:
        dc.read(pa.table({"age": [1, 2], "ill": ["a", "b"]}), quasi=["aeg"], sensitive="ill")
    assert unknown.value.field == "aeg"
