"""Where the project lies."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SRC = str(ROOT / "src")
DATA = ROOT.parent / "shared" / "data"
"""Real data, where there is some beside the project."""
