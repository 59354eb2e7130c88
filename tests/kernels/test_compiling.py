"""Compiling is announced when it happens: once a command, for each kernel that is not on disk yet, and else never."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet.command import console
from discreet.kernels import compiling
from discreet.kernels.cache import SealedFiles, installed, owned

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


def test_the_bar_says_compiling_while_it_lasts(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    said: list[str] = []
    monkeypatch.setattr(Progress, "update", lambda bars, task, description="", **more: said.append(description))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    module = loaded(kernels)
    with console.watching() as progress:
        module.one(1)
        progress("working", 0.5)
        module.two(1)
        module.one(1)  # compiled by now
        module.three(1)
        progress("saving", 0.0)
    there = ["compiling", "working"]
    assert said == ["compiling", "reading", "working", *there, *there, "saving"]


# ------------------------------------------------------------------------------------------------------ what is on disk


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_compiled_anew(kernels: Path, ending: str) -> None:
    cache = Path(compiling.config.CACHE_DIR)

    def compiled() -> int:
        told: list[str] = []
        with compiling.when_compiling(lambda: told.append("")):
            assert loaded(kernels).one(1) == 2
        return len(told)

    assert (compiled(), compiled()) == (1, 0)
    (path,) = cache.rglob(f"*.one-*.{ending}")
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for damage in (b"", b"\x80", whole[:40], whole[:-1], b"not a pickle\n" * 9, flipped, whole + b"more"):
        path.write_bytes(damage)
        assert (compiled(), compiled()) == (1, 0), damage[:20]
    path.unlink()
    path.mkdir()  # neither readable nor to be replaced
    assert (compiled(), compiled()) == (1, 1)


def test_what_cannot_be_kept_is_compiled_all_the_same(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any, **more: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling.SoundCache, "_save_overload", full)
    assert loaded(kernels).one(1) == 2


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


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights")
def test_a_cache_is_ours_all_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = tmp_path / "good" / "discreet" / "key"
    assert owned(good) and owned(good)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (good, good.parent, good.parent.parent)} == {0o700}
    good.chmod(0o777)
    assert owned(good) and stat.S_IMODE(good.stat().st_mode) == 0o700
    # a link in place of our folder, and a folder in which everybody may exchange ours
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "discreet").symlink_to(tmp_path / "good" / "discreet")
    assert not owned(tmp_path / "linked" / "discreet" / "key")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert not owned(tmp_path / "open" / "discreet" / "key")
    assert not (tmp_path / "open" / "discreet").exists()
    (tmp_path / "open").chmod(0o1777)  # like a temporary folder: everybody may add, nobody exchange
    assert owned(tmp_path / "open" / "discreet" / "key")


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can give folders away")
def test_a_parent_made_by_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "temporary" / f"discreet-{os.getuid()}"
    trap.mkdir(parents=True)
    os.chown(trap, 12345, 12345)
    assert not owned(trap / "discreet" / "key") and not list(trap.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    found = compiling.cache_folder()
    assert found.parent == tmp_path / "temporary" and found.name.startswith("discreet-") and found != trap


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights")
def test_kernels_that_came_with_a_container_serve_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "built"))
    built = compiling.cache_folder()
    assert built.is_relative_to(tmp_path / "built")
    monkeypatch.setattr(os, "access", lambda *_: False)  # as on a read-only file system
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert compiling.cache_folder() == built
    for part in (built, built.parent):
        part.chmod(0o755)
        assert installed(built)
        for wrong in (0o775, 0o757, 0o1777):
            part.chmod(wrong)
            assert not installed(built), wrong
        part.chmod(0o755)
    kept = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: kept + 4711)  # whom the system's files serve, and nobody else's
    assert installed(built) == (kept == 0)
    monkeypatch.undo()
    built.rename(built.with_name("elsewhere"))
    built.symlink_to(built.with_name("elsewhere"))
    assert not installed(built)


def test_only_the_folder_that_was_named_may_have_come_with_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert compiling.cache_folder().is_relative_to(tmp_path / "home")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert not compiling.cache_folder().is_relative_to(tmp_path / "home")


def test_without_any_place_for_them_kernels_are_compiled_all_the_same(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*given: Any, **more: Any) -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiling, "owned", nowhere)
    monkeypatch.setattr(compiling.tempfile, "mkdtemp", nowhere)
    for gettempdir in (compiling.tempfile.gettempdir, nowhere):
        monkeypatch.setattr(compiling.tempfile, "gettempdir", gettempdir)
        folder = compiling.cache_folder()
        assert not folder.exists()
        monkeypatch.setattr(compiling.config, "CACHE_DIR", str(folder))
        assert loaded(kernels).one(1) == 2
