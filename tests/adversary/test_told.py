"""Minimality on sealed releases: what is published of the tests counts, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import census
from discreet.schemes.sealed import scheme as sealed


def test_tables_whose_tests_tell_something_else_are_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same groups count only with the same amounts beside them; probabilities of groups alone are not asked for."""
    monkeypatch.setattr(sealed, "FOLLOWED", 0)
    table = census(3000)
    release = dc.publish(table, "beta-likeness(beta=4)", dc.Sealed(random_state=1))
    assert release.groups > 1
    told = release.told + np.where(np.arange(release.groups) % 2, 0.25, 0.0)
    odd = release.trace % 2 == 1
    both = [
        dc.attack(one, table, dc.Minimality(runs=40), trace=release.trace, random_state=1).evidence[0]
        for one in (release, replace(release, told=told))
    ]
    assert both[0].details["concluded"] > both[1].details["concluded"]
    assert both[1].details["concluded"] <= (~odd).sum()
