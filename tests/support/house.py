"""Paths of the project."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = str(ROOT / "src")
DATA = ROOT.parent / "shared" / "data"
"""Real data, which may or may not exist beside the project."""
