"""The pictures of the documentation: each is what its code draws from a real release, and every scheme has one."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from discreet.catalogue import SCHEMES
from support.house import ROOT

PICTURES = ROOT / "docs" / "pictures"
COMPARED = "risk.svg"
"""What ``discreet compare --plot`` draws in minutes; its page has the command."""


@pytest.mark.parametrize("scheme", SCHEMES.built_in)
def test_every_scheme_has_a_picture_on_its_page(scheme: str) -> None:
    assert (PICTURES / f"{scheme}.svg").exists()
    page = (ROOT / "docs" / "schemes" / f"{scheme}.md").read_text(encoding="utf-8")
    assert f"](../pictures/{scheme}.svg)" in page


@pytest.mark.slow
def test_pictures_are_what_the_releases_of_today_look_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PICTURES))
    importlib.import_module("draw").main(tmp_path, [])
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in PICTURES.glob("*.svg") if path.name != COMPARED}
    different = sorted(name for name in drawn.keys() | committed.keys() if drawn.get(name) != committed.get(name))
    assert not different, f"draw {', '.join(different)} anew: python docs/pictures/draw.py"
