"""Commands import what they use: help appears at once, and publishing a small file needs less than half of the house.

Modules are counted, not seconds: the counts are the same on a busy machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow.csv import write_csv

from discreet.datasets import patients_arrow

HELP, PUBLISHING = 12, 180
"""How many modules of ours a command may import."""
CODE = """
import json, sys
from discreet.command.main import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(*words: str) -> list[str]:
    """The modules of ours that a command has imported when it ends."""
    done = subprocess.run((sys.executable, "-c", CODE, *words), capture_output=True, text=True, check=True)
    return [name for name in json.loads(done.stderr.splitlines()[-1]) if name.partition(".")[0] == "discreet"]


def test_help_imports_almost_nothing() -> None:
    ours = imported("--help")
    assert len(ours) <= HELP, ours


@pytest.mark.slow
def test_publishing_a_small_file_imports_what_it_uses(tmp_path: Path) -> None:
    write_csv(patients_arrow(), tmp_path / "patients.csv")
    roles = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifier", "name")
    files = (str(tmp_path / "patients.csv"), "-o", str(tmp_path / "release"), "--trace", str(tmp_path / "trace"))
    ours = imported("publish", *files, *roles, "--promise", "beta-likeness(beta=2)")
    assert (tmp_path / "release").is_dir()
    assert len(ours) <= PUBLISHING, ours
    assert not [name for name in ours if ".attacks" in name or ".sealed" in name or ".codip" in name]
