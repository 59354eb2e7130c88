"""A second process compiles what the first will ask for, the same kernels for the same types; only time is at stake."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import pyarrow as pa
import pytest
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.dispatcher import Dispatcher
from numba.core.typed_passes import NopythonTypeInference

import discreet as dc
from discreet.command import ahead
from discreet.command.ahead import compiling_ahead, rehearse
from discreet.command.job import Job
from discreet.datasets import patients_arrow
from discreet.kernels import compiling
from discreet.kernels.caching import SealedFiles
from discreet.kernels.foretelling import Request, ahead_of_another, compile_each, requests

pytestmark = pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")

CASES: dict[str, dict[str, Any]] = {
    "cuts": {"promise": "beta-likeness(beta=2)", "sensitive": "disease"},
    "several": {"promise": "beta-likeness(beta=4)", "sensitive": ["disease", "sex"]},
    "proximity": {"promise": "proximity(epsilon=3, m=2)", "sensitive": "weight"},
    "burel": {"promise": "beta-likeness(beta=3)", "sensitive": "disease", "scheme": "burel"},
    "large": {"promise": "k-anonymity(k=41)", "sensitive": "disease", "rows": 120},
}


def told(table: dc.Table, promise: str, scheme: str | None) -> dict[str, Any]:
    """What a helper is told about a job, by the code that tells it."""
    job = Job.of({"input": "i", "output": "o", "quasi": "age", "promises": promise, "scheme": scheme})
    helper = ahead.Helper()
    helper.tell(job, table)
    assert helper._told is not None
    found: dict[str, Any] = json.loads(helper._told)
    return found


def published(table: dc.Table, promise: str, scheme: str | None, folder: Path) -> None:
    release = dc.publish(table, promise, scheme)
    release.save(folder)
    assert dc.audit(folder, table, trace=release.trace, promises=promise).holds


def outermost(asked: dict[Request, Request]) -> set[tuple[str, str]]:
    return {(kernel.py_func.__qualname__, str(types)) for kernel, types in asked.values()}


@pytest.mark.parametrize("name", CASES)
def test_the_same_kernels_are_asked_for_by_a_little_table_and_by_another(name: str, tmp_path: Path) -> None:
    case = {"scheme": None, "rows": 0, **CASES[name]}
    given = patients_arrow()
    if case["rows"]:
        given = pa.concat_tables([given] * 3).slice(0, case["rows"])
    quasi = ["age", "zip"] if name == "several" else ["age", "sex", "zip"]
    table = dc.read(given, quasi=quasi, sensitive=case["sensitive"])
    job = told(table, case["promise"], case["scheme"])
    real = requests(lambda: published(table, case["promise"], case["scheme"], tmp_path / "release"))
    foretold = requests(lambda: rehearse(job))
    assert (tmp_path / "release").is_dir()
    assert outermost(foretold) == outermost(real)
    assert len(foretold) > len(outermost(foretold))  # and of their parts


class Typed(CompilerBase):
    """Infers the types of a kernel, and compiles nothing but what it calls."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        passes.add_pass(NopythonTypeInference, "types")
        passes.finalize()
        return [passes]


@pytest.mark.parametrize("name", ["cuts", "proximity"])
def test_the_parts_are_those_that_the_compiler_asks_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of what kernels call are those of values seen; the compiler infers them."""
    case = {"scheme": None, **CASES[name]}
    table = dc.read(patients_arrow(), quasi=["age", "sex", "zip"], sensitive=case["sensitive"])
    foretold = requests(lambda: rehearse(told(table, case["promise"], case["scheme"])))
    asked: set[Request] = set()
    compiled = Dispatcher.compile

    def noted(self: Any, sig: Any) -> Any:
        asked.add((self, tuple(sig)))
        return compiled(self, sig)

    monkeypatch.setattr(Dispatcher, "compile", noted)
    for kernel, types in foretold:  # those that are called by others are compiled here, or found in the cache
        typed = numba.njit(pipeline_class=Typed, nogil=True)(kernel.py_func)
        with pytest.raises(AttributeError):  # as there is no compiled kernel to return
            typed.compile(types)
    parts = {request for request, outermost in foretold.items() if request != outermost}
    unasked = {(kernel.py_func.__name__, types) for kernel, types in parts - asked}
    assert unasked == set(), "have the caller convert what it hands over, such as by np.int64(...)"


def test_parts_of_the_largest_come_first_and_the_last_before_the_first() -> None:
    first, largest, part, inner, last = requested = [(object(), (at,)) for at in range(5)]
    outer = dict(zip(requested, [first, largest, largest, largest, last], strict=True))
    assert ahead_of_another(outer) == [inner, part, last, first]
    assert ahead_of_another({}) == []


def test_what_cannot_be_compiled_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path))
    first, second = (compiling.kernel(one) for one in (lambda x: x.nothing, lambda x: x + 1))
    compile_each([(first, (numba.int64,)), (second, (numba.int64,))])
    assert [len(kernel.overloads) for kernel in (first, second)] == [0, 1]
    assert requests(lambda: 1 / 0) == {}
    assert second(2) == 3 and len(requests(lambda: second(2))) == 1


# ------------------------------------------------------------------------------------------------------ the process


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a process that stands in for the helper writes what it is told; the cache is empty."""
    written = tmp_path / "told"
    code = f"import sys; open({str(written)!r}, 'wb').write(sys.stdin.buffer.read() or b'nothing')"
    monkeypatch.setattr(ahead, "COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr(ahead, "threads", lambda: 2)
    monkeypatch.setattr(ahead, "GRACE", 30.0)
    # not by a variable of the environment: numba reads them again whenever they change, and forgets its folder
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(compiling, "cache_folder", lambda: cache)
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(cache))
    return written


def warmed() -> None:
    (Path(compiling.config.CACHE_DIR) / "a kernel").touch()


def compiles() -> None:
    numba.njit(lambda x: x + 1)(1)


def one_table() -> tuple[Job, dc.Table]:
    job = Job.of({"input": "i", "output": "o", "quasi": "age", "promises": "k-anonymity(k=5)"})
    return job, dc.read(patients_arrow(), quasi=["age", "sex"], sensitive="disease")


def test_a_helper_is_started_at_once_where_nothing_was_ever_compiled(helpers: Path) -> None:
    with compiling_ahead() as helper:
        helper.tell(*one_table())
    assert json.loads(helpers.read_text()) == {
        "promises": ["k-anonymity(k=5)"],
        "scheme": None,
        "options": {},
        "quasi": {"age": "numeric", "sex": "categorical"},
        "sensitive": {"disease": "categorical"},
    }


def test_a_helper_is_started_when_something_is_compiled(helpers: Path) -> None:
    warmed()
    with compiling_ahead() as helper:
        helper.tell(*one_table())
        compiles()
    assert json.loads(helpers.read_text())["promises"] == ["k-anonymity(k=5)"]


def test_there_is_one_helper_and_it_ends_untold_if_there_is_nothing_to_do(helpers: Path) -> None:
    with compiling_ahead() as helper:
        first = helper._process
        compiles()
        assert helper._process is first is not None
    assert helpers.read_text() == "nothing" and first.returncode == 0


@pytest.mark.parametrize("why", ["warm", "one processor", "a cache of its own"])
def test_there_is_no_helper_where_it_is_of_no_use(why: str, helpers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "warm":
        warmed()
    elif why == "one processor":
        monkeypatch.setattr(ahead, "threads", lambda: 1)
    else:
        (helpers.parent / "own").mkdir()
        monkeypatch.setattr(compiling.config, "CACHE_DIR", str(helpers.parent / "own"))
    with compiling_ahead() as helper:
        helper.tell(*one_table())
        if why != "warm":
            compiles()
        assert helper._process is None
    assert not helpers.exists()


@pytest.mark.parametrize("command", [("/nowhere/python",), (sys.executable, "-c", "raise SystemExit(1)")])
def test_a_helper_that_fails_changes_nothing(
    command: tuple[str, ...], helpers: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ahead, "COMMAND", command)
    with compiling_ahead() as helper:
        if helper._process is not None:
            helper._process.wait()
        helper.tell(*one_table())
        compiles()
    assert capfd.readouterr() == ("", "")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").is_file() or " Z " not in Path(f"/proc/{pid}/stat").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones")
@pytest.mark.parametrize(("number", "after"), [(signal.SIGKILL, 1.5), (signal.SIGTERM, 0.0)])
def test_a_helper_dies_with_its_parent_and_leaves_nothing(number: int, after: float, tmp_path: Path) -> None:
    for name in ("cache", "temporary"):
        (tmp_path / name).mkdir()
    code = (
        "import time; from discreet.command import ahead; from tests.command.test_compiling_ahead import one_table\n"
        "ahead.threads = lambda: 2\n"
        "with ahead.compiling_ahead() as helper:\n"
        "    helper.tell(*one_table()); print(helper._process.pid, flush=True); time.sleep(60)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")}
    parent = subprocess.Popen((sys.executable, "-c", code), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    time.sleep(after)
    assert alive(pid)
    parent.send_signal(number)
    out, err = parent.communicate()
    assert (out, err) == (b"", b"")
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [path for path in (tmp_path / "cache").rglob("*") if ".tmp." in path.name] == []


def test_the_process_compiles_and_ends_by_itself(tmp_path: Path) -> None:
    job = {"promises": ["l-diversity(l=3)"], "scheme": "anatomy", "options": {}, "quasi": {"age": "numeric"}}
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(ahead.COMMAND, env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(json.dumps({**job, "sensitive": {"disease": "categorical"}}).encode() + b"\n")
        process.stdin.flush()
        assert process.stderr.read() == b""
        assert process.wait() == 0
    assert {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")} >= {
        "judging.strain_of_one",
        "shuffling.shuffle",
    }


def test_two_processes_that_add_kernels_at_once_do_not_exchange_them(tmp_path: Path) -> None:
    one, two, later = (SealedFiles(str(tmp_path), "kernel", "stamp") for _ in range(3))
    save = one._save_data

    def interrupted(name: str, data: Any) -> None:  # the other has read the list of files before ours was in it
        shutil.move(one._index_path, tmp_path / "hidden")
        two.save("other types", "other kernel")
        save(name, data)

    setattr(one, "_save_data", interrupted)  # noqa: B010
    one.save("types", "kernel")
    assert later.load("other types") == "other kernel"
    assert later.load("types") in (None, "kernel")
    later.save("types", "kernel")
    assert [later.load(key) for key in ("types", "other types")] == ["kernel", "other kernel"]
