"""Times in a comparison are those of compiled kernels, also on first use."""

from __future__ import annotations

import numba
import pytest

import discreet as dc
from discreet.datasets import patients
from discreet.kernels import compiling

pytestmark = pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")


class Compiling(dc.Cuts):
    """Needs something that is not compiled yet when it publishes for the time with this number."""

    published = 0
    first = 0

    def publish(self, table, principle, progress=None):  # type: ignore[no-untyped-def]
        Compiling.published += 1
        if Compiling.published == Compiling.first:
            numba.njit(lambda x: x + 1)(1)
        return super().publish(table, principle, progress)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "times"), [(1, 2), (2, 3), (5, 2)])
def test_what_compiled_is_measured_again(monkeypatch: pytest.MonkeyPatch, first: int, times: int) -> None:
    """The first publication is the warm-up, the second is measured; a third only if that had to compile."""
    dc.compare(patients(), "beta-likeness(beta=2)", [dc.Cuts()], queries=10)
    monkeypatch.setattr(Compiling, "published", 0)
    monkeypatch.setattr(Compiling, "first", first)
    stages: list[str] = []
    told = dc.compare(
        patients(),
        "beta-likeness(beta=2)",
        [Compiling()],
        queries=10,
        progress=lambda stage, share: stages.append(stage),
    )
    assert Compiling.published == times
    assert told.results[0].audit is not None and told.results[0].audit.holds
    assert sum("(publish)" in stage for stage in stages) == times - 1
