"""How kernels are compiled: once per machine and version, into a folder of our own."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config as _config
from numba.core import event

from discreet.version import __version__

config: Any = _config  # its settings are made when it is imported, which no type checker sees


def cache_folder() -> Path:
    """Where compiled kernels are kept: keyed by everything that makes a compiled kernel stale.

    Falls back to a folder of this process's user in the temporary directory when the home is not writable.

    >>> cache_folder().is_dir()
    True
    """
    # Numba notices an edited kernel but not an edited callee in another file, so the sources are part of the key; and
    # it compiles anew for every place that they lie in, so that is too.
    here = Path(__file__).resolve().parent
    sources = str(here).encode() + b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    digest = hashlib.sha256(sources).hexdigest()[:12]
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    key = f"{__version__}-{digest}-{python}-numba{numba.__version__}-numpy{np.__version__}"
    homes = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"), Path.home() / ".cache"]
    user = os.getuid() if hasattr(os, "getuid") else None
    for home in [*homes, Path(tempfile.gettempdir()) / f"discreet-{user}"]:
        if home:
            folder = Path(home) / "discreet" / key
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                # what is found there will be run: it must be ours
                if os.access(folder, os.W_OK) and user in (None, folder.stat().st_uid):
                    return folder
            except OSError:
                continue
    return Path(tempfile.mkdtemp(prefix="discreet-"))


@contextmanager
def when_compiling(tell: Callable[[], None], patience: float = 0.0) -> Iterator[None]:
    """Have ``tell`` called as soon as kernels are compiled for longer than ``patience`` (seconds), and only once.

    A kernel that was compiled before is loaded from disk, which takes no time and is not told.

    >>> with when_compiling(lambda: print("compiling")):
    ...     doubled = numba.njit(lambda x: 2 * x)
    ...     doubled(3), doubled(4), doubled(0.5)
    compiling
    (6, 8, 1.0)
    """

    class Once(event.Listener):
        told = False
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

        def _look(self) -> None:
            if not self.told and self.taken + time.perf_counter() - self.started >= patience:
                self.told = True
                tell()

    with event.install_listener("numba:compile", Once()):
        yield


config.CACHE_DIR = str(cache_folder())


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel: cached on disk, and free to run beside other threads."""
    compiled: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    return compiled


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what only kernels call: it needs no way in from Python, which for many arrays is long to compile."""
    njit: Any = numba.njit  # whose annotations leave out some of its options
    compiled: Callable[..., Any] = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have what a single kernel calls compiled as lines of that kernel, and not once more on its own."""
    compiled: Callable[..., Any] = numba.njit(inline="always", nogil=True)(function)
    return compiled
