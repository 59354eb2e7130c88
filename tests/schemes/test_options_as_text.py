"""Options that may have several words are given as one text or as several, in Python as on the command line."""

from __future__ import annotations

from typing import Any

import pytest

import discreet as dc
from discreet.schemes import make_scheme


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("plain", ("plain",)),
        ("plain+stratified", ("plain", "stratified")),
        ("plain, repaired", ("plain", "repaired")),
        (["bucketed", "plain"], ("bucketed", "plain")),
    ],
)
def test_families_of_cuts_are_one_text_or_several(given: Any, taken: tuple[str, ...]) -> None:
    scheme = dc.Cuts(cuts=given)
    assert scheme == dc.Cuts(cuts=taken) and hash(scheme) == hash(dc.Cuts(cuts=taken))
    assert scheme.options["cuts"] == "+".join(taken)
    if isinstance(given, str):
        assert make_scheme("cuts", {"cuts": given}, None) == scheme


REFUSED = [
    ("plane", "'plane'"),
    ("plain-repaired", "'plain-repaired'"),
    ("", "''"),
    ((), "''"),
]


@pytest.mark.parametrize(("given", "told"), REFUSED)
def test_other_cuts_are_refused_by_what_was_given(given: Any, told: str) -> None:
    with pytest.raises(dc.DiscreetError, match=f"^cuts={told} is not known; choose from plain, .* joined by"):
        dc.Cuts(cuts=given)


def test_mondrian_takes_plain_cuts_as_one_text() -> None:
    assert dc.Mondrian(cuts="plain") == dc.Mondrian()
    with pytest.raises(dc.DiscreetError, match="makes plain cuts only"):
        dc.Mondrian(cuts="plain+stratified")
