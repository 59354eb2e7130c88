"""The one call from a table and a promise to a release, and what it says to those who give it something else."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.schemes import SCHEMES


def test_the_short_form_of_a_release_keeps_the_trace_private() -> None:
    """A notebook keeps what it shows."""
    table = patients()
    wages = dc.read(pa.table({"age": range(60), "wage": range(60)}), quasi=["age"], sensitive="wage")
    near = (wages, "proximity(epsilon=1, m=2)")
    asked = {
        "ambiguity": (table, "alpha-beta(alpha=0.5, beta=0.4)"),
        "anatomy": (table, "l-diversity(l=2)"),
        "nh": (table, "l-diversity(l=2)"),
        "sabre": (table, "t-closeness(t=0.5)"),
        "retention": near,
        "proximity": near,
    }
    for scheme in SCHEMES.keys() - {"privbayes"}:  # whose rows are nobody's
        release = dc.publish(*asked.get(scheme, (table, "beta-likeness(beta=2)")), scheme)
        assert release.trace is not None
        shown = repr(release)
        assert "trace" not in shown and len(shown) < 200, shown


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda table: dc.publish(table, "k-anonymity(k=2)", "cutz"), "did you mean 'cuts'"),
        (lambda table: dc.publish(table, "k-anonymity(k=2)", 3), "3 is not a scheme"),
        (lambda table: dc.publish("people.csv", "k-anonymity(k=2)"), "not str; read it first"),
        (lambda table: dc.publish(table, dc.KAnonymity), "is not a promise"),
        (lambda table: dc.publish(table, None), "None is not a promise"),
        (lambda table: dc.publish(table, []), "no promise was given"),
        (lambda table: dc.audit("release", "people.csv"), "not str; read it first"),
        (lambda table: dc.audit(dc.publish(table, "k-anonymity(k=2)"), table), "save the release and name its folder"),
        (lambda table: dc.read(pa.table({"age": [1]}), quasi=None), "None is not a column name"),
    ],
)
def test_what_is_no_table_promise_or_scheme_is_told_so(call: Any, said: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        call(patients())
    assert said in str(refusal.value)


def test_promises_and_schemes_may_be_given_by_name() -> None:
    release = dc.publish(patients(), ["k-anonymity(k=4)", dc.LDiversity(3)], "mondrian")
    assert release.manifest["promise"] == ["k-anonymity(k=4)", "l-diversity(l=3)"]
    assert release.manifest["scheme"]["name"] == "mondrian"
