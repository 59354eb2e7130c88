"""Which auditor a release gets: one of its own class, and never one that a plug-in puts in a built-in one's place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.adversary import case
from discreet.adversary.formats.generalized import audit_generalized
from discreet.datasets import patients
from discreet.errors import DiscreetError
from discreet.plugins import Format
from discreet.principles import KAnonymity
from discreet.releases.generalized.release import GeneralizedRelease
from support.plugs import plug_in


class Sized(GeneralizedRelease):
    """A format of a plug-in."""

    format = "sized"


def lenient(case: Any) -> Any:
    """An auditor that finds nothing."""


def released(format: type[GeneralizedRelease]) -> GeneralizedRelease:
    table = patients()
    return format.from_groups(table, np.zeros(table.rows, np.int32), promise=KAnonymity(4), scheme="cuts")


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, "formats", Format(GeneralizedRelease, lenient), Format(Sized, lenient))


@pytest.mark.usefixtures("plugged")
def test_a_plug_in_audits_its_own_format_and_no_built_in_one() -> None:
    assert case.auditor_of(released(GeneralizedRelease)) is audit_generalized
    assert case.auditor_of(released(Sized)) is lenient


def test_the_auditor_of_a_class_is_not_inherited() -> None:
    with pytest.raises(DiscreetError, match="no auditor is registered for releases of the format sized"):
        case.auditor_of(released(Sized))
