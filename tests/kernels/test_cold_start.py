"""While kernels are compiled, nothing is searched for garbage: it would be searched for in millions of objects."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import pytest
from numba.core import event
from numba.core.errors import NumbaError

from discreet.kernels import compiling

pytestmark = pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")


class Listener(event.Listener):
    """Calls back whenever a kernel begins to be compiled."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:
        self.tell(event.data)

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def collecting() -> Iterator[list[bool]]:
    """Whether garbage was searched for, each time that a kernel began to be compiled."""
    seen: list[bool] = []
    with event.install_listener("numba:compile", Listener(lambda _: seen.append(gc.isenabled()))):
        yield seen


def test_garbage_is_not_searched_for_while_kernels_are_compiled() -> None:
    inner = numba.njit(lambda x: x + 1)
    with collecting() as seen:
        assert numba.njit(lambda x: inner(x) * inner(float(x)))(1) == 4.0
    assert seen == [False] * 3
    assert gc.isenabled()


def test_garbage_is_searched_for_again_after_a_failure() -> None:
    with collecting() as seen, pytest.raises(NumbaError):
        numba.njit(lambda x: x.nothing)(1)
    assert seen == [False]
    assert gc.isenabled()


def test_whoever_searches_for_no_garbage_is_left_alone() -> None:
    gc.disable()
    try:
        numba.njit(lambda x: x - 1)(1)
        assert not gc.isenabled()
    finally:
        gc.enable()
