"""Compiling is announced when it happens: once a command, for each kernel that is not on disk yet, and else never."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from discreet.command import console
from discreet.kernels import compiling

pytestmark = pytest.mark.skipif(bool(compiling.config.DISABLE_JIT), reason="nothing is compiled")


def loaded(path: Path) -> Any:
    """The kernels of a file as a new process would have them: none compiled, those on disk found there."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiling.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    path = tmp_path / "tiny.py"
    lines = ["from discreet.kernels.compiling import kernel"]
    for name in ("one", "two", "three"):
        lines += ["", "@kernel", f"def {name}(x):", "    return x + 1"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_only_what_is_compiled_is_told_and_only_once(kernels: Path) -> None:
    told: list[str] = []

    def told_by(*names: str) -> int:
        module, before = loaded(kernels), len(told)
        with compiling.when_compiling(lambda: told.append("compiling")):
            for name in names:
                assert getattr(module, name)(1) == 2
        return len(told) - before

    assert told_by("one", "two") == 1
    assert told_by("one", "two") == 0  # both are on disk
    assert told_by("one", "three") == 1  # another is not, whatever else is
    assert told_by("one", "two", "three") == 0
    loaded(kernels).one(0.5)  # nobody listens any more


def test_compiling_that_takes_no_time_is_not_told(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    module, seconds = loaded(kernels), iter(float(second) for second in range(100))
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: next(seconds))  # each look at the clock takes a second
    with compiling.when_compiling(lambda: told.append("compiling"), patience=60.0):
        module.one(1)
    assert told == []
    with compiling.when_compiling(lambda: told.append("compiling"), patience=5.0):
        module.two(1)  # not long enough either, but both together are
        assert told == []
        module.three(1)
    assert told == ["compiling"]


def test_commands_say_so_on_stderr(kernels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for expected in (console.COMPILING + "\n", ""):
        module = loaded(kernels)
        with console.watching() as progress:
            progress("working", 0.0)
            module.one(1)
            module.two(1)
        seen = capsys.readouterr()
        assert (seen.out, seen.err) == ("", expected)


def test_a_terminal_is_told_above_the_bar(
    kernels: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    module = loaded(kernels)
    with console.watching() as progress:
        progress("working", 0.5)
        module.three(1)
    seen = capsys.readouterr()
    assert seen.err.count(console.COMPILING) == 1 and seen.out == ""
