"""Compiles kernels in a second process, while the first compiles others: both find what they need in the cache.

Nothing but time depends on this process. It is told what to publish by its standard input, prints nothing, and ends
when that is closed: so it ends with the first process, however that ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from discreet.disk import CHANGING
from discreet.errors import DiscreetError
from discreet.processors import threads

if TYPE_CHECKING:
    from discreet.command.job import Job
    from discreet.table.table import Kind, Table

ROWS = 40, 200
"""The sizes of the tables that are published to find out what to compile: most promises can be kept by the first."""
VALUES = 20
GRACE = 1.0
"""Seconds for the second process to end."""
COMMAND = sys.executable, "-P", "-c", "from discreet.command.ahead import serve; serve()"


class Helper:
    """The second process, if there is one, and what it is to do."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._told: bytes | None = None

    def start(self) -> None:
        """Start the process, once, unless it would be of no use."""
        from discreet.kernels.compiling import shared_cache

        if self._process is None and threads() > 1 and shared_cache():
            # in a session of its own: signals to all processes of a terminal must not end it while it writes a file
            with suppress(OSError):
                self._process = subprocess.Popen(
                    COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
            self._send()

    def tell(self, job: Job, table: Table) -> None:
        """Tell the process what is published, now or as soon as it is started."""
        told = {
            "promises": job.promises,
            "scheme": job.scheme,
            "options": job.options,
            "quasi": {column.name: column.kind for column in table.quasi},
            "sensitive": {column.name: column.kind for column in table.sensitive},
        }
        self._told = json.dumps(told).encode() + b"\n"
        self._send()

    def _send(self) -> None:
        if self._told is not None and self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(self._told)
                self._process.stdin.flush()

    def stop(self) -> None:
        """Have the process end."""
        if self._process is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                self._process.communicate(timeout=GRACE)


@contextmanager
def compiling_ahead() -> Iterator[Helper]:
    """Have a second process help as soon as this one compiles a kernel; at once if none has ever been compiled."""
    from discreet.kernels.compiling import empty_cache, when_compiling

    helper = Helper()
    if empty_cache():
        helper.start()
    try:
        with when_compiling(helper.start):
            yield helper
    finally:
        helper.stop()


def serve() -> None:
    """Compile what publishing needs, as told by standard input, until that is closed."""
    told: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    import discreet.adversary.audit  # while the other process reads its table
    import discreet.publishing  # noqa: F401
    from discreet.kernels.foretelling import ahead_of_another, compile_each, requests

    job = json.loads(told.get())
    compile_each(ahead_of_another(requests(lambda: rehearse(job))))
    os._exit(0)  # not by way of Python, which would fail as the other thread is reading


def _listen(told: SimpleQueue[bytes]) -> None:
    """Pass on what standard input says, and end the process when it is closed, but not while a file is written."""
    for line in sys.stdin.buffer:
        told.put(line)
    CHANGING.acquire()
    os._exit(0)


def rehearse(job: Mapping[str, Any]) -> None:
    """Publish and audit a little table of the same kinds under the same promises, or a larger one if need be."""
    import tempfile

    from discreet.adversary.audit import audit
    from discreet.principles import parse, together
    from discreet.publishing import publish
    from discreet.schemes import make_scheme

    promise = together(parse(text) for text in job["promises"])
    scheme = make_scheme(job["scheme"], job["options"], None, promise)
    for rows in ROWS:
        table = little_table(rows, job["quasi"], job["sensitive"])
        with suppress(DiscreetError):
            release = publish(table, promise, scheme)
            with CHANGING, tempfile.TemporaryDirectory() as home:
                release.save(Path(home, "release"))
                audit(Path(home, "release"), table, trace=release.trace, promises=promise)
            return


def little_table(rows: int, quasi: Mapping[str, Kind], sensitive: Mapping[str, Kind]) -> Table:
    """Return a table of columns of these kinds.

    >>> little_table(40, {"age": "numeric"}, {"disease": "categorical"}).rows
    40
    """
    import numpy as np

    from discreet.table.hierarchy import Hierarchy
    from discreet.table.table import Column, Table

    def column(name: str, kind: Kind, card: int) -> Column:
        codes = (np.arange(rows) * 7 % card).astype(np.int32)
        if kind == "numeric":
            numbers = 4 ** np.arange(10, 10 + card)  # far from each other in every measure
            return Column(name, kind, codes, numbers, domain=(float(numbers[0]), float(numbers[-1])))
        texts = [f"{at:02}" for at in range(card)]
        tree = Hierarchy.flat(name, texts) if kind == "categorical" else None
        return Column(name, kind, codes, np.array(texts, object), tree)

    return Table(
        rows,
        tuple(column(name, kind, 5 + at % 4) for at, (name, kind) in enumerate(quasi.items())),
        tuple(column(name, kind, VALUES) for name, kind in sensitive.items()),
    )
