"""How kernels are compiled: once per machine and version, into a folder of our own."""

import atexit
import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.dispatcher import Dispatcher

from discreet.kernels.cache import SoundCache, config, installed, owned
from discreet.version import __version__

njit: Any = numba.njit  # whose annotations leave out some of its options


def cache_folder() -> Path:
    """Where compiled kernels are kept: keyed by everything that makes a compiled kernel stale.

    Falls back to a folder of this process's user in the temporary directory when the home is not writable, and to one
    of this process when that could be somebody else's. Where ``NUMBA_CACHE_DIR`` has kernels of this version already,
    they serve although none can be added.

    >>> cache_folder().is_dir()
    True
    """
    # Numba notices an edited kernel but not an edited callee in another file, so the sources are part of the key; and
    # it compiles anew for every place that they lie in, so that is too.
    house = Path(__file__).resolve().parent.parent
    kernels = sorted([*house.glob("kernels/**/*.py"), *house.glob("families/*/kernels/**/*.py")])
    sources = str(house).encode() + b"".join(path.read_bytes() for path in kernels)
    digest = hashlib.sha256(sources).hexdigest()[:12]
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    key = f"{__version__}-{digest}-{python}-numba{numba.__version__}-numpy{np.__version__}"
    # the last stays as it is where nobody knows the user's home
    homes = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~/.cache")]
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with suppress(OSError):  # nothing can be written anywhere
        homes.append(os.path.join(tempfile.gettempdir(), f"discreet-{user}"))
    for place, home in enumerate(homes):
        if home and not home.startswith("~"):  # anyone who has no home has no cache in it
            folder = Path(home).absolute() / "discreet" / key
            with suppress(OSError):
                if owned(folder):
                    return folder
            with suppress(OSError):
                if place == 0 and installed(folder):
                    return folder
    try:
        alone = tempfile.mkdtemp(prefix="discreet-")
    except OSError:
        return Path(os.devnull, "kernels")  # no folder can be there: every process compiles for itself
    atexit.register(shutil.rmtree, alone, ignore_errors=True)
    return Path(alone)


@contextmanager
def when_compiling(
    announce: Callable[[], None], patience: float = 0.0, showing: Callable[[bool], None] = lambda begins: None
) -> Iterator[None]:
    """Call ``announce`` once, as soon as kernels have been compiled for longer than ``patience`` (seconds).

    From then on ``showing`` is called with True whenever compiling begins, and with False when it ends. A kernel that
    was compiled before is loaded from disk, which takes no time and is not announced.

    >>> with when_compiling(lambda: print("compiling")):
    ...     doubled = numba.njit(lambda x: 2 * x)
    ...     doubled(3), doubled(4), doubled(0.5)
    compiling
    (6, 8, 1.0)
    """

    class Once(event.Listener):
        announced = shown = False
        taken = started = 0.0
        depth = 0  # kernels are compiled within others, and one at a time

        def on_start(self, event: object) -> None:
            self.depth += 1
            if self.depth == 1:
                self.started = time.perf_counter()
            self._look()

        def on_end(self, event: object) -> None:
            self._look()
            self.depth -= 1
            if self.depth == 0:
                self.taken += time.perf_counter() - self.started
                if self.shown:
                    self.shown = False
                    showing(False)

        def _look(self) -> None:
            if not self.announced and self.taken + time.perf_counter() - self.started >= patience:
                self.announced = True
                announce()
            if self.announced and not self.shown:
                self.shown = True
                showing(True)

    with event.install_listener("numba:compile", Once()):
        yield


config.CACHE_DIR = str(cache_folder())


class _Uncollected(event.Listener):
    """Hold back the search for cyclic garbage while kernels are compiled, which makes millions of objects and keeps
    them to the end: looking through them again and again takes an eighth of the time, and finds nothing."""

    depth = 0  # kernels are compiled within others, and one at a time
    collects = False

    def on_start(self, event: object) -> None:
        self.depth += 1
        if self.depth == 1:
            self.collects = gc.isenabled()
            gc.disable()

    def on_end(self, event: object) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()


event.register("numba:compile", _Uncollected())


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel: cached on disk, free to run beside other threads, and without the way in that only C needs."""
    return _compiled(function)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what only kernels call: it needs no way in from Python, which for many arrays is long to compile."""
    return _compiled(function, no_cpython_wrapper=True)


def kernel_in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel that works in the arrays it is given, and neither makes nor returns any.

    Nobody then counts how often an array is held, which takes a fifth of the time to compile. A kernel that made one
    would not compile.
    """
    return _compiled(function, _nrt=False)


def part_in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what only kernels call, and what works in the arrays it is given."""
    return _compiled(function, no_cpython_wrapper=True, _nrt=False)


def _compiled(function: Callable[..., Any], *, _nrt: bool = True, **options: bool) -> Callable[..., Any]:
    """What ``cache=True`` does, with a cache of our own. Counting is asked for by name, as else what a kernel calls
    would inherit that it does without."""
    compiled: Callable[..., Any] = njit(nogil=True, no_cfunc_wrapper=True, _nrt=_nrt, **options)(function)
    if isinstance(compiled, Dispatcher):
        setattr(compiled, "_cache", SoundCache(function))  # noqa: B010
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have what a single kernel calls compiled as lines of that kernel, and not once more on its own."""
    compiled: Callable[..., Any] = numba.njit(inline="always", nogil=True)(function)
    return compiled
