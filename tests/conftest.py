"""Settings shared by all tests.

Property tests are derandomized, and what a test draws without a seed comes from a stream of its own instead of from
the operating system, so that a failing run fails again, on any machine. `--hypothesis-profile=search` looks for new
counterexamples instead, by real chance; `make quick` is content with fewer examples.
"""

from __future__ import annotations

import gc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from discreet import randomness
from discreet.datasets import patients_arrow
from discreet.table.write import write_table

# A first call may compile kernels, so neither deadlines nor the check for slow examples mean anything here.
_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("default", derandomize=True, max_examples=40, database=None, **_COMMON)
settings.register_profile("quick", derandomize=True, max_examples=10, database=None, **_COMMON)
settings.register_profile("search", derandomize=False, max_examples=1000, **_COMMON)
settings.load_profile("default")


# What is imported and collected stays until the end, a million objects: looking through them for garbage again and
# again would take a third of the time of collection, and more while tests run.
gc.disable()


def pytest_collection_finish() -> None:
    """Garbage is collected from here on, among what tests leave behind."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Chance as the names of the file and the test decide it, whatever folder the file is in."""
    name = f"{item.path.name}::{item.name}"
    if item.config.getoption("--hypothesis-profile") != "search":
        randomness._entropy = np.random.default_rng(zlib.crc32(name.encode())).bytes


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the patients' table in it."""
    monkeypatch.chdir(tmp_path)
    write_table(patients_arrow(), tmp_path / "patients.csv")
    return tmp_path
