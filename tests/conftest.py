"""Settings shared by all tests.

Property tests are derandomized so that a failing run fails again, on any machine; `--hypothesis-profile=search`
looks for new counterexamples instead.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings

# A first call may compile kernels, so neither deadlines nor the check for slow examples mean anything here.
_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("default", derandomize=True, max_examples=40, database=None, **_COMMON)
settings.register_profile("search", derandomize=False, max_examples=1000, **_COMMON)
settings.load_profile("default")
