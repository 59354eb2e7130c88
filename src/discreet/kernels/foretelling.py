"""Which kernels some work will ask for: found out by doing it in plain Python, on so little that this takes no time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import typeof
from numba.core.dispatcher import Dispatcher

from discreet.kernels.caching import SoundCache

Request = tuple[Any, tuple[Any, ...]]
"""A kernel, and the types that it is called with."""


def requests(work: Callable[[], object]) -> dict[Request, Request]:
    """Return the kernels that ``work`` calls, in the order of their first calls, and those that these call.

    Each is returned with the kernel that the work itself has called. If the work fails, what it called until then is
    returned.
    """
    asked: dict[Request, Request] = {}
    within = threading.local()

    def noted(kernel: Any, *given: Any) -> Any:
        request = kernel, tuple(typeof(one) for one in given)
        outer = getattr(within, "outer", None)
        if isinstance(kernel._cache, SoundCache):  # others are lines of their callers
            asked.setdefault(request, outer or request)
            within.outer = outer or request
        try:
            return kernel.py_func(*given)
        finally:
            within.outer = outer

    setattr(Dispatcher, "__call__", noted)  # noqa: B010
    try:
        with suppress(Exception):
            work()
    finally:
        delattr(Dispatcher, "__call__")
    return asked


def ahead_of_another(asked: dict[Request, Request]) -> list[Request]:
    """Return kernels in the best order to compile them while another process does the work, compiling what it calls.

    The other compiles a kernel with everything that it calls, and takes what it finds in the cache. The last kernels
    come first here, as the other begins with the first; so what a kernel calls comes before it. But before all others
    come the parts of the kernel with the most parts, which the other waits for longest, and compiles itself.
    """
    if not asked:
        return []
    ((largest, _),) = Counter(asked.values()).most_common(1)
    return sorted((one for one in reversed(asked) if one != largest), key=lambda one: asked[one] != largest)


def compile_each(wanted: list[Request]) -> None:
    """Compile kernels into the cache, unless they are there."""
    for kernel, types in wanted:
        with suppress(Exception):  # whoever needs it compiles it again, and reports what is wrong
            kernel.compile(types)
