"""What publish has made is audited from its files before they take their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.errors import DiscreetError


def damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have generalized releases write other diseases than they hold, as a fault of ours might."""
    tables = dc.GeneralizedRelease.tables

    def wrong(self: dc.GeneralizedRelease, numbers: bool = True) -> dict[str, pa.Table]:
        made = tables(self, numbers)
        at = made["table"].schema.get_field_index("disease")
        same = pc.if_else(pc.equal(made["table"]["group"].cast("string"), "0"), "angina", made["table"]["disease"])
        return {**made, "table": made["table"].set_column(at, "disease", same)}

    monkeypatch.setattr(dc.GeneralizedRelease, "tables", wrong)


def test_files_that_break_the_promise_are_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2))
    damaged(monkeypatch)
    with pytest.raises(DiscreetError, match="the audit of the release failed, so nothing was saved: "):
        release.save(tmp_path / "release")
    assert not list(tmp_path.iterdir())
    release.save(tmp_path / "release", audit=False)
    assert not dc.audit(tmp_path / "release", patients()).holds


@pytest.mark.parametrize("scheme", ["cuts", "lifting", "anatomy", "perturbation"])
def test_sound_files_are_saved_with_their_trace_known(tmp_path: Path, scheme: str) -> None:
    promise = "l-diversity(l=2)" if scheme == "anatomy" else "beta-likeness(beta=1)"
    release = dc.publish(patients(), promise, scheme)
    seen: list[Any] = []
    confirm = release.confirm
    assert confirm is not None
    object.__setattr__(release, "confirm", lambda home: seen.append(confirm(home)))
    release.save(tmp_path / "release")
    assert seen == [None]
    assert dc.load(tmp_path / "release").rows == 48


def test_what_was_changed_since_or_loaded_is_saved_as_it_is(tmp_path: Path) -> None:
    release = dc.publish(patients(), dc.BetaLikeness(2))
    changed = replace(release, manifest={**release.manifest, "promise": ["beta-likeness(beta=0.01)"]})
    assert changed.confirm is None
    changed.save(tmp_path / "changed")
    assert not dc.audit(tmp_path / "changed", patients()).holds
    assert dc.load(tmp_path / "changed").confirm is None


def test_the_flag_is_true_or_false() -> None:
    with pytest.raises(DiscreetError, match="audit"):
        dc.publish(patients(), dc.BetaLikeness(2)).save("release", audit="no")  # type: ignore[arg-type]
