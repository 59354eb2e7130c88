"""What is stated of releases whose draws a seed repeats."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.releases.assumptions import SEEDED, UNREPEATABLE
from discreet.schemes import make_scheme
from support.audits import failing

MADE = {
    "sealed": "beta-likeness(beta=4)",
    "mirrored(descriptions=exact)": "beta-likeness(beta=2)",
    "privbayes(domains=observed)": "differential-privacy(epsilon=1)",
}


@pytest.mark.parametrize("scheme", MADE)
@pytest.mark.parametrize("seed", [None, 1])
def test_a_seeded_release_does_not_state_that_nobody_can_repeat_it(
    scheme: str, seed: int | None, tmp_path: Path
) -> None:
    release = dc.publish(patients(), MADE[scheme], make_scheme(scheme, random_state=seed))
    stated = release.manifest["assumptions"]
    assert (SEEDED in stated) == (seed is not None) != bool(set(UNREPEATABLE) & set(stated))
    assert "manifest" not in failing(dc.audit(release.save(tmp_path / "release"), patients()))
