"""Kernels that work in place hold no arrays of their own: they could not be compiled, and return numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core.errors import NumbaError

from discreet.datasets import patients
from discreet.kernels import compiling, costs, judging, shell_sort
from discreet.kernels.cuts import choices, growth, halves, layout, terms
from discreet.principles import parse
from discreet.schemes import make_scheme

pytestmark = pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")

MODULES = costs, choices, growth, halves, layout, terms, judging, shell_sort


def make(n: int) -> Any:
    return np.zeros(n)[0]


def test_what_makes_an_array_in_place_is_refused() -> None:
    with pytest.raises(NumbaError):
        compiling.kernel_in_place(make)(3)


def test_what_returns_numbers_only_may_work_in_place() -> None:
    make_scheme("cuts", random_state=1).publish(patients(), parse("beta-likeness(beta=2)"))
    found = {}
    for module in MODULES:
        for name, one in vars(module).items():
            if isinstance(one, compiling.Dispatcher) and one.targetoptions.get("_nrt") is False:
                found[name] = {str(signature.return_type) for signature in one.nopython_signatures}
    assert len(found) > 15 and found["grow"] == {"Tuple(float64, int64)"}
    assert not [name for name, types in found.items() if any("array" in one.lower() for one in types)]
