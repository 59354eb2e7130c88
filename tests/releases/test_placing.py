"""Kills, signals and faults of the disk at every step: nothing is lost, and no release is there by half.

Each step is tried in a process of its own, forked from this one, so that it costs milliseconds.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet import disk, randomness, unfinished
from discreet.adversary.audit import audit
from discreet.command.main import main
from discreet.datasets import patients, patients_arrow
from discreet.releases import GeneralizedRelease
from discreet.releases import placement as placing
from discreet.releases.trace import fill_trace
from discreet.table.write import write_table

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and locks are those of POSIX")

RENAMES = ("rename", "replace", "link", "fsync")
EVERY = (*RENAMES, "mkdir", "unlink", "rmdir", "open")


# ------------------------------------------------------------------------------------------------------ what is tried


class Home(NamedTuple):
    """A folder with an old release, its trace, and all that is needed to put others there."""

    path: Path

    @property
    def release(self) -> Path:
        return self.path / "places" / "release"

    @property
    def trace(self) -> Path:
        return self.path / "private" / "trace.csv"

    def publish(self, which: str, force: bool) -> None:
        """What `publish` does once a release is made and audited."""
        before = placing.manifest_digest(self.release)
        with unfinished.unfinished(self.release) as fresh, unfinished.unfinished(self.trace) as private:
            shutil.copytree(self.path / which, fresh)
            shutil.copy(self.path / f"{which}.csv", private)
            placing.place(fresh, self.release, before, force, (private, self.trace))

    def reset(self, old: bool) -> None:
        for path in (self.release.parent, self.trace.parent):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        if old:
            shutil.copytree(self.path / "old", self.release)
            shutil.copy(self.path / "old.csv", self.trace)

    def holds(self) -> bool:
        """Whether the release keeps its promise by the trace that is there."""
        return audit(self.release, patients(), trace=self.trace).holds

    def is_at(self, name: str, release: Path, trace: Path) -> tuple[bool, bool]:
        """Whether a release of this name lies complete at one place, and its trace at another."""
        wanted = {path.name: path.read_bytes() for path in (self.path / name).iterdir()}
        there = release.is_dir() and {path.name: path.read_bytes() for path in release.iterdir()} == wanted
        return there, trace.is_file() and trace.read_bytes() == (self.path / f"{name}.csv").read_bytes()

    def which(self) -> str | None:
        """Which release is there with its trace; "mixed" for the new one with the old trace or none, None if neither is
        there or the old release is aside."""
        old, new = (self.is_at(name, self.release, self.trace) for name in ("old", "new"))
        if new[0]:
            assert new[1] or old[1] or not self.trace.exists()
            return "new" if new[1] else "mixed"
        assert not new[1] and old[0] == self.release.exists()
        return "old" if old == (True, True) else None

    def pairs(self) -> list[str]:
        """Which releases can be had together with their traces from all files that are there, also the hidden ones."""
        releases = [self.release, *self.release.parent.glob(".release.*.unfinished/*")]
        traces = [self.trace, *self.trace.parent.glob(".trace.csv.*.unfinished/content")]
        return [
            name
            for name in ("old", "new")
            if any(self.is_at(name, release, trace) == (True, True) for release in releases for trace in traces)
        ]

    def put_right(self) -> None:
        """What the next `publish` does."""
        placing.put_back(self.release)
        self.publish("new", force=True)
        self.tidied()

    def tidied(self, *, release_first: bool = True) -> list[str]:
        places = [self.release, self.trace]
        return [said for place in (places if release_first else places[::-1]) for said in placing.tidied(place)]

    def left(self) -> list[str]:
        found = [*self.release.parent.iterdir(), *self.trace.parent.iterdir()]
        return sorted(path.name for path in found if path not in (self.release, self.trace))

    def state(self) -> dict[str, Any]:
        """All files beside the release and its trace, with what is in them and when they were changed."""
        found = [path for part in (self.release.parent, self.trace.parent) for path in (part, *part.rglob("*"))]
        return {str(path): (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in found}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home, table = Home(tmp_path_factory.mktemp("home")), patients()
    for name, size in (("old", 8), ("new", 6)):
        groups = np.arange(table.rows) // size
        release = GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(2), scheme="by-hand", options={})
        release.save(home.path / name)
        fill_trace(release, home.path / f"{name}.csv")
    write_table(patients_arrow(), home.path / "patients.csv")
    return home


@pytest.fixture(params=["in one step", "in two"])
def home(made: Home, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The folder, on systems that exchange two names in one step and on others."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # that it is called matters here, not how long it takes
    if request.param == "in two":
        monkeypatch.setattr(disk, "_exchange_call", lambda: None)
    elif disk._exchange_call() is None:
        pytest.skip("this system cannot exchange two names in one step")
    made.reset(old=True)
    return made


def apart(work: Callable[[], object]) -> int:
    """Do something in a process of its own; how that ended, as a shell would say it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads that stand still
        child = os.fork()
    if child == 0:
        code = 70
        try:
            work()
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 71
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def at_call(number: int, act: Callable[[], object], names: tuple[str, ...] = EVERY) -> None:
    """Have something happen before this process asks the system for the so-and-so-many-th change of files."""
    calls = itertools.count(1)

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            if next(calls) == number:
                act()
            return real(*given, **more)

        return call

    for name in names:
        setattr(os, name, counted(getattr(os, name)))
    exchange = disk._exchange_call()
    disk._exchange_call = lambda: None if exchange is None else counted(exchange)  # type: ignore[assignment]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def each_call(work: Callable[[], object], act: Callable[[], object], names: tuple[str, ...] = EVERY) -> Iterator[int]:
    """Do something again and again, with an act before its first call, its second, and so on to the last."""
    for number in itertools.count(1):

        def tried(number: int = number) -> None:
            at_call(number, act, names)
            work()

        code = apart(tried)
        yield code
        if code == 0:
            return


# -------------------------------------------------------------------------------------------------------------- kills


def test_a_mixture_is_found(made: Home) -> None:
    made.reset(old=True)
    assert made.which() == "old" and made.holds() and made.pairs() == ["old"]
    shutil.copytree(made.path / "new", made.release, dirs_exist_ok=True)
    assert made.which() == "mixed" and made.pairs() == []
    audited = audit(made.release, patients(), trace=made.trace)
    (failed,) = [check for check in audited.checks if not check.holds]
    assert failed.sentence.startswith("The trace does not explain the release: ")
    assert failed.sentence.endswith("If it is that of another publication, publish again to have the two together.")


@pytest.mark.slow
@pytest.mark.parametrize("release_first", [True, False])
def test_a_kill_at_any_call_loses_nothing(home: Home, release_first: bool) -> None:
    """There is the old pair, or the new one, or for a moment the new release with the old trace; this is said, and both
    pairs are still to be had."""
    found = []
    for code in each_call(lambda: home.publish("new", force=True), kill):
        assert code in (0, 128 + signal.SIGKILL)
        which, pairs = home.which(), home.pairs()
        assert which in ("old", "new", "mixed", None) and pairs
        if which in ("mixed", None):
            assert pairs == ["old", "new"]
            said = placing.left_beside(home.release) + placing.left_beside(home.trace)
            assert len(said) == 2 and all("publish again" in sentence for sentence in said)
        placing.put_back(home.release)
        assert home.which() == (which or "old")
        home.publish("new", force=True)
        home.tidied(release_first=release_first)
        assert home.which() == "new" and home.holds() and home.left() == []
        found.append(which)
        home.reset(old=True)
    order = [which for which, _ in itertools.groupby(found)]
    assert order in (["old", "mixed", "new"], ["old", None, "mixed", "new"])  # never back again
    assert len(found) > 25 and found.index("mixed") > 10


@pytest.mark.slow
def test_audits_agree(home: Home) -> None:
    """The same once more where places change, seen by an audit instead of by comparing files."""
    ends = set()
    for _ in each_call(lambda: home.publish("new", force=True), kill, RENAMES):
        which = home.which()
        if which is None:
            with pytest.raises(dc.DiscreetError, match=r"a command that was replacing it was killed; .* move the old"):
                home.holds()
            (aside,) = home.release.parent.glob(".release.*.unfinished/aside")
            aside.rename(home.release)
            assert home.which() == "old" and home.holds()
        else:
            assert home.holds() == (which != "mixed")
        ends.add(which)
        home.reset(old=True)
    assert {"old", "mixed", "new"} <= ends


@pytest.mark.slow
@pytest.mark.parametrize("step", ["load", "audit", "query", "attack", "save"])
def test_what_reads_changes_nothing_that_a_killed_command_left(home: Home, step: str) -> None:
    ends = set()
    for _ in each_call(lambda: home.publish("new", force=True), kill, RENAMES):
        which = home.which()
        ends.add(which)
        before, trace = home.state(), home.trace.read_bytes()
        folder = str(home.release)
        if step == "save":
            dc.load(home.path / "old").save(home.release, force=True)
            assert home.is_at("old", home.release, home.trace)[0] and home.trace.read_bytes() == trace
            assert [name for name in home.left() if name.startswith(".release")] == []
        elif step in ("query", "attack"):
            asked = ["SELECT COUNT(*) FROM t"] if step == "query" else ["--original", str(home.path / "patients.csv")]
            result = CliRunner().invoke(main, [step, folder, *asked])
            assert result.exit_code == (2 if which is None else 0), result.output
            if which in (None, "mixed"):
                assert "A command that was killed left" in result.stderr
        elif which is not None:
            dc.load(home.release) if step == "load" else home.holds()
        if step != "save":
            assert home.state() == before
        home.reset(old=True)
    assert {"old", "mixed", "new"} <= ends


@pytest.mark.slow
def test_a_first_release_is_there_or_not_at_all(home: Home) -> None:
    home.reset(old=False)
    found = []
    for _ in each_call(lambda: home.publish("new", force=False), kill):
        which = home.which()
        assert which is None or home.pairs() == ["new"]
        found.append(which)
        home.put_right()
        assert home.which() == "new" and home.left() == []
        home.reset(old=False)
    assert [which for which, _ in itertools.groupby(found)] == [None, "mixed", "new"]


@pytest.mark.slow
def test_a_kill_of_what_puts_things_right_does_no_harm(home: Home) -> None:
    """Wherever publishing was killed, and then publishing again."""
    for stop in range(1, 40):
        home.reset(old=True)

        def cut(stop: int = stop) -> None:
            at_call(stop, kill, RENAMES)
            home.publish("new", force=True)

        if apart(cut) == 0:
            break
        snapshot = home.path / "snapshot"
        for name in ("places", "private"):
            shutil.rmtree(snapshot / name, ignore_errors=True)
            shutil.copytree(home.path / name, snapshot / name)
        for _ in each_call(home.put_right, kill, (*RENAMES, "unlink", "rmdir")):
            assert home.pairs()
            home.put_right()
            assert home.left() == [] and home.which() == "new"
            for name in ("places", "private"):
                shutil.rmtree(home.path / name)
                shutil.copytree(snapshot / name, home.path / name)
    else:
        raise AssertionError("publishing never came to its end")


# ------------------------------------------------------------------------------------------------------------ signals


class Asked(BaseException):
    """What a handler raises."""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_call_leaves_nothing_to_repair(home: Home, number: signal.Signals) -> None:
    def handled() -> None:
        def ask(*_: object) -> None:
            raise Asked

        signal.signal(number, ask)
        try:
            home.publish("new", force=True)
        except Asked:
            sys.exit(9)

    ends = []
    for code in each_call(handled, lambda: signal.raise_signal(number), RENAMES):
        assert code in (0, 9)
        assert home.left() == []
        ends.append(home.which())
        home.reset(old=True)
    assert ends[0] == "old" and ends[-1] == "new"
    assert ends == sorted(ends, reverse=True)


def test_what_is_ignored_stays_ignored(home: Home) -> None:
    def ignoring() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        home.publish("new", force=True)

    assert set(each_call(ignoring, lambda: signal.raise_signal(signal.SIGHUP), RENAMES)) == {0}
    assert home.which() == "new"


# ------------------------------------------------------------------------------------------------- faults of the disk


@pytest.mark.slow
def test_a_fault_of_the_disk_at_any_call_is_an_error_and_changes_nothing(home: Home) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    def refused() -> None:
        try:
            home.publish("new", force=True)
        except (dc.DiscreetError, OSError) as error:
            told = str(error)
            sys.exit(9 if "Input/output" in told and "are in place" not in told else 8)

    ends = []
    for code in each_call(refused, fail, RENAMES):
        assert home.left() == []
        ends.append((code, home.which()))
        home.reset(old=True)
    # only the very last step comes when everything is in its place already, and then that is said
    assert set(ends[:-2]) == {(9, "old")} and ends[-2:] == [(8, "new"), (0, "new")]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_folders_need_not_be_put_on_disk_where_none_can_be(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    disk.sync(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=os.strerror(number)):
        disk.sync(tmp_path / "file")


def test_a_release_that_may_not_be_read_is_not_called_missing(made: Home) -> None:
    made.reset(old=True)
    load = dc.load

    def look() -> None:
        if os.getuid() == 0:  # who may read everything
            os.setuid(65534)
        try:
            load(made.release)
        except dc.DiscreetError as error:
            sys.exit(9 if "cannot be read: Permission denied; check the path and its" in str(error) else 8)

    made.release.chmod(0)
    try:
        assert apart(look) == 9
    finally:
        made.release.chmod(0o700)


# ---------------------------------------------------------------------------------------------------- several at once


@pytest.mark.parametrize("empty", [False, True])
def test_of_two_who_want_a_place_one_is_refused(made: Home, empty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made.reset(old=False)
    if empty:
        made.release.mkdir()
    # where folders cannot be locked, both may have passed the checks
    monkeypatch.setattr(placing, "check_folder", lambda *_: None)
    monkeypatch.setattr(placing, "manifest_digest", lambda *_: None)
    gate = threading.Barrier(2)
    refusals = []

    def publish(which: str) -> None:
        with unfinished.unfinished(made.release) as fresh:
            shutil.copytree(made.path / which, fresh)
            gate.wait()
            try:
                placing.place(fresh, made.release, None, False)
            except dc.DiscreetError as refusal:
                refusals.append(str(refusal))

    both = [threading.Thread(target=publish, args=(which,)) for which in ("old", "new")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(refusals) == 1 and "nothing has changed" in refusals[0]
    assert made.left() == [] and (made.release / "release.json").exists()


def test_of_two_who_replace_the_slower_is_refused(made: Home) -> None:
    """Both saw the same old release. A trace of the loser would fit nothing, so there is none."""
    made.reset(old=True)
    before = placing.manifest_digest(made.release)
    made.publish("new", force=True)
    with unfinished.unfinished(made.release) as fresh, unfinished.unfinished(made.path / "late.csv") as private:
        shutil.copytree(made.path / "old", fresh)
        shutil.copy(made.path / "old.csv", private)
        with pytest.raises(dc.DiscreetError, match=r"another command published to .* and its release stays"):
            placing.place(fresh, made.release, before, True, (private, made.path / "late.csv"))
    assert made.which() == "new" and made.left() == [] and not (made.path / "late.csv").exists()


@pytest.mark.slow
def test_two_who_replace_at_once(made: Home) -> None:
    for _ in range(10):
        made.reset(old=True)
        children = []
        for which in ("old", "new"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                code = 1
                try:
                    made.publish(which, force=True)
                    code = 0
                except dc.DiscreetError as refusal:
                    code = 2 if "another command published" in str(refusal) else 1
                finally:
                    os._exit(code)
            children.append(child)
        ends = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
        assert ends in ([0, 0], [0, 2])  # one after the other, or one of them refused
        assert made.which() in ("old", "new") and made.left() == []


def test_a_trace_that_appeared_meanwhile_is_not_replaced(made: Home) -> None:
    made.reset(old=False)
    made.trace.write_text("somebody else's")
    with pytest.raises(dc.DiscreetError, match="exists already"):
        made.publish("new", force=False)
    assert made.trace.read_text() == "somebody else's" and not made.release.exists() and made.left() == []


# ---------------------------------------------------------------------------------------------------------- leftovers


def test_what_the_living_have_begun_is_not_touched(made: Home) -> None:
    made.reset(old=True)
    with unfinished.unfinished(made.release) as fresh:
        fresh.mkdir()
        assert apart(lambda: sys.exit(5 if made.tidied() == [] else 6)) == 5
        assert made.tidied() == [] and fresh.exists()
    assert made.left() == []


def test_only_what_is_provably_ours_is_removed(made: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    made.reset(old=True)
    places = made.release.parent
    mine, others = places / ".release.0123abcd.unfinished", places / ".other.0123abcd.unfinished"
    names = [".release.unfinished", ".release.0123ABCD.unfinished", ".release.0123abcd.old"]
    for path in (mine, others, *(places / name for name in names)):
        path.mkdir()
        (path / "lock").touch()
        (path / "content").touch()
    (places / "kept").mkdir()
    (places / "kept" / "lock").touch()
    (places / ".release.89abcdef.unfinished").symlink_to(places / "kept")
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: 4711)
        assert made.tidied() == []
    (said,) = made.tidied()
    assert said.startswith("Removed what a command that was killed had left beside")
    assert made.left() == sorted([others.name, *names, "kept", ".release.89abcdef.unfinished"])
    assert (places / "kept" / "lock").exists()


def test_only_a_plain_file_is_a_lock(made: Home) -> None:
    made.reset(old=True)
    hidden = made.release.with_name(".release.0123abcd.unfinished")
    hidden.mkdir()
    os.mkfifo(hidden / "lock")
    assert placing.left_beside(made.release) == made.tidied() == [] and made.left() == [hidden.name]


@pytest.mark.parametrize("calls", [1, 2])
def test_what_the_living_remove_meanwhile_is_no_fault(made: Home, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made.reset(old=True)
    hidden = made.release.with_name(".release.0123abcd.unfinished")
    hidden.mkdir()
    (hidden / "lock").touch()
    look, looked = os.stat, itertools.count(1)

    def stat(path: Any, *given: Any, **more: Any) -> os.stat_result:
        found = look(path, *given, **more)
        if str(path).startswith(str(hidden)) and next(looked) == calls:
            hidden.rename(made.path / f"gone-{calls}")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", stat)
        placing.left_beside(made.release)
    assert not hidden.exists()


# -------------------------------------------------------------------------------------------------- the whole command


PUBLISH = (
    *("publish", "patients.csv", "-o", "release", "--quasi", "age,sex", "--sensitive", "disease"),
    *("--promise", "k-anonymity(k=4)", "--trace", "trace.csv", "--force"),
)
AUDIT = ("audit", "release", "--original", "patients.csv", "--trace", "trace.csv")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_table(patients_arrow(), tmp_path / "patients.csv")
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 0, result.output
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name not in ("said", "traced"))


def test_the_next_commands_say_what_a_killed_one_left(published: Path) -> None:
    def cut() -> None:
        place = placing.enter_file
        placing.enter_file = lambda *given: kill() if given[1].name == "trace.csv" else place(*given)  # type: ignore[assignment]
        main(PUBLISH)

    assert apart(cut) == 128 + signal.SIGKILL
    assert len(names(published)) == 5
    for _ in range(2):  # an audit changes nothing
        result = CliRunner().invoke(main, AUDIT)
        assert result.stderr.count("Note: A command that was killed left") == 2
        for name in (".release.", ".trace.csv."):
            assert name in result.stderr
        assert "publish again: this removes the folder" in result.stderr
    assert len(names(published)) == 5
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 0 and result.stderr.count("Note: Removed what a command that was killed had left") == 2
    assert names(published) == ["patients.csv", "release", "trace.csv"]
    result = CliRunner().invoke(main, AUDIT)
    assert result.exit_code == 0 and result.stderr == "", result.output


def test_publishing_that_fails_leaves_what_a_killed_command_left(published: Path) -> None:
    hidden = [published / f".{name}.0123abcd.unfinished" for name in ("release", "trace.csv")]
    for path in hidden:
        path.mkdir()
        (path / "lock").touch()
        (path / "content").write_text("the only copy")
    result = CliRunner().invoke(main, [*PUBLISH[:-1]])  # without --force
    assert result.exit_code == 2 and "Note: A command that was killed left" in result.stderr
    assert all((path / "content").read_text() == "the only copy" for path in hidden)


# ------------------------------------------------------------------------------------------------ what others have put


NOTES: dict[str, Callable[[Path], object]] = {
    "a name": lambda path: path.write_text('{"trace": "mine.txt"}'),
    "a number": lambda path: path.write_text('{"trace": 5}'),
    "brackets": lambda path: path.write_text("[" * 100_000),
    "a pipe": lambda path: os.mkfifo(path),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("kind", NOTES)
def test_nothing_found_beside_a_release_says_what_to_write(published: Path, kind: str) -> None:
    """An archive may hold any file beside a release, hidden folders too."""
    mine = published / "mine.txt"
    mine.write_text("mine")
    for name in ("release", "mine.txt", "trace.csv"):
        hidden = published / f".{name}.0123abcd.unfinished"
        hidden.mkdir()
        (hidden / "lock").touch()
        (hidden / "content").write_text("theirs")
        if name == "release":
            NOTES[kind](hidden / "note")
        else:
            digest = placing.manifest_digest(published / "release")
            (hidden / "note").write_text(json.dumps({"folder": str(published / "release"), "manifest": digest}))
    trace, before = (published / "trace.csv").read_bytes(), names(published)
    for words in (("query", "release", "SELECT COUNT(*) FROM t"), AUDIT):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, result.output
        assert "A command that was killed left" in result.stderr
    dc.load("release")
    assert names(published) == before and (published / "trace.csv").read_bytes() == trace
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 0, result.output
    assert mine.read_text() == "mine"
    assert names(published) == [".mine.txt.0123abcd.unfinished", "mine.txt", "patients.csv", "release", "trace.csv"]


@pytest.mark.parametrize("kind", ["link", "file", "pipe"])
def test_only_a_folder_is_put_back(published: Path, kind: str) -> None:
    hidden = published / ".fresh.0123abcd.unfinished"
    hidden.mkdir()
    (hidden / "lock").touch()
    {"link": lambda path: path.symlink_to(published), "file": Path.touch, "pipe": os.mkfifo}[kind](hidden / "aside")
    assert placing.put_back(published / "fresh") == [] and not os.path.lexists(published / "fresh")
    (hidden / "aside").unlink()
    (hidden / "aside").mkdir()
    (said,) = placing.put_back(published / "fresh")
    assert "it is back in place" in said and (published / "fresh").is_dir()


def files_of(home: Path) -> list[tuple[int, bytes]]:
    """The table and the trace: which files they are, as two publications may be equal, and what they hold."""
    paths = home / "release" / "table.csv", home / "trace.csv"
    return [(path.stat().st_ino, path.read_bytes()) for path in paths]


@pytest.mark.slow
def test_signals_at_every_rename_of_the_command(published: Path) -> None:
    """One of three signals at each rename and each fsync: what is said is what has happened."""
    kinds = itertools.cycle([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    interrupted = stood = 0
    for number in itertools.count(1):
        kind = next(kinds)
        before = files_of(published)

        def tried(number: int = number, kind: signal.Signals = kind) -> None:
            said = os.open("said", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(said, 2)
            sys.stderr, sys.stdout = open(2, "w", closefd=False), open(os.devnull, "w")  # noqa: SIM115

            def act() -> None:
                os.kill(os.getpid(), kind)
                end = time.monotonic() + 30
                while signal.getsignal(kind) is not signal.SIG_DFL and time.monotonic() < end:
                    time.sleep(0.01)  # until the main thread has noticed
                time.sleep(0.1)  # until it asks for CHANGING, and waits for it where this thread holds it

            signal.signal(kind, signal.SIG_DFL)  # a shell may have had it ignored, for whatever runs in its background
            randomness._entropy = os.urandom  # so that no two releases are the same
            at_call(number, act, RENAMES)
            main(PUBLISH)

        code = apart(tried)
        said = (published / "said").read_text()
        after = files_of(published)
        assert names(published) == ["patients.csv", "release", "trace.csv"], said
        if code == 0:
            break
        assert code == 128 + kind, said
        if "nothing has changed" in said:
            assert after == before
            interrupted += 1
        else:
            assert "had already been written completely" in said and not set(after) & set(before)
            stood += 1
        table = dc.read("patients.csv", quasi=["age", "sex"], sensitive="disease")
        assert audit("release", table, trace="trace.csv").holds
    assert interrupted > 5 and stood > 2


@pytest.mark.slow
@pytest.mark.parametrize("call", ["renameat2:when=1", "rename:when=2"])  # the first fills the unfinished release
def test_a_kill_by_the_system_itself(published: Path, call: str) -> None:
    """Without any help from Python: killed as the release takes its place, and as its trace does."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    if subprocess.run([strace, "-f", "-o", os.devnull, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    traced = [strace, "-f", "-o", "traced", "-e", "trace=rename,renameat2", "-e", f"inject={call}:signal=KILL"]
    environment = {**os.environ, "PYTHONPATH": str(Path(dc.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*traced, sys.executable, "-m", "discreet", *PUBLISH]
    subprocess.run(command, env=environment, capture_output=True, check=False)
    assert "killed by SIGKILL" in (published / "traced").read_text()
    assert len(names(published)) == 5
    assert CliRunner().invoke(main, AUDIT).stderr.count("Note: A command that was killed left") == 2
    result = CliRunner().invoke(main, PUBLISH)
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(main, AUDIT)
    assert result.exit_code == 0, result.output
    assert names(published) == ["patients.csv", "release", "trace.csv"]
