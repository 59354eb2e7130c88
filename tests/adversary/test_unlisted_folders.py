"""An audit must see every file of a release: a folder that cannot be listed is refused in a sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.datasets import patients


def test_a_folder_that_may_be_entered_but_not_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = tmp_path / "patients.csv"
    CliRunner().invoke(main, ["data", "get", "patients", "-o", str(original)])
    table = patients()
    home = dc.publish(table, dc.KAnonymity(4)).save(tmp_path / "release")
    assert dc.audit(home, table).holds
    listing = Path.iterdir

    def iterdir(folder: Path) -> Iterator[Path]:  # permissions do not bind whoever runs the tests as root
        if folder == home:
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return listing(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    why = "cannot be audited, because its folder cannot be listed: Permission denied; give read permission"
    with pytest.raises(dc.DiscreetError, match=why):
        dc.audit(home, table)
    told = CliRunner().invoke(main, ["audit", str(home), "--original", str(original)])
    assert told.exit_code == 2 and why in told.stderr
