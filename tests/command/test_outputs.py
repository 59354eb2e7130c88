"""Where results go is looked at before the work begins: nothing is lost, and nothing is found out too late."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet import disk
from discreet.command.main import main
from discreet.datasets import patients
from discreet.releases import write_trace
from support.command import refused

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices are those of POSIX")

READ = ("patients.csv", "--quasi", "age,sex", "--sensitive", "disease")
K = ("--promise", "k-anonymity(k=4)")
COMMANDS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "trace": lambda name: ("publish", *READ, *K, "-o", "release", "--trace", name, "--force"),
    "page": lambda name: ("compare", *READ, *K, "--schemes", "cuts", "--html", name, "--force"),
    "plot": lambda name: ("plan", "patients.csv", "--sensitive", "weight", "--plot", name, "--force"),
    "release": lambda name: ("publish", *READ, *K, "-o", name, "--force"),
}


@pytest.fixture(autouse=True)
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is refused is refused before the table is read."""

    def read(*given: Any, **more: Any) -> Any:
        raise AssertionError("the work has begun")

    for name in ("carry_out.read_input", "compare.read_input", "plan.read_to_look"):
        monkeypatch.setattr(f"discreet.jobs.{name}", read)


@pytest.mark.parametrize("what", COMMANDS)
def test_pipes_and_devices_are_not_replaced(people: Path, what: str) -> None:
    (people / "named.svg").symlink_to("pipe.svg")
    os.mkfifo(people / "pipe.svg")
    for name in ("pipe.svg", "named.svg"):
        said = refused(*COMMANDS[what](name))
        assert ("is a file; choose a folder" if what == "release" else "is a pipe or a device") in said
        assert stat.S_ISFIFO((people / "pipe.svg").stat().st_mode) and (people / "named.svg").is_symlink()
    if what in ("trace", "page"):
        assert "is a pipe or a device" in refused(*COMMANDS[what](os.devnull))
    assert sorted(path.name for path in people.iterdir()) == ["named.svg", "patients.csv", "pipe.svg"]


def test_the_library_does_not_replace_them_either(people: Path) -> None:
    os.mkfifo(people / "pipe")
    release = dc.publish(patients(), dc.KAnonymity(4))
    with pytest.raises(dc.DiscreetError, match="is a pipe or a device"):
        write_trace(release, people / "pipe")


@pytest.mark.parametrize("what", COMMANDS)
def test_a_mount_point_is_found_out_first(people: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = people / "mounted.svg"
    place.mkdir() if what == "release" else place.touch()
    monkeypatch.setattr(disk, "_mount_points", lambda: {place})
    assert "is a mount point, which cannot be replaced in one step; choose another" in refused(
        *COMMANDS[what]("mounted.svg")
    )


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="the system does not tell where it has mounted")
def test_mount_points_are_those_of_the_system() -> None:
    assert {Path("/"), Path("/proc")} <= disk._mount_points()


def test_a_link_in_a_circle_is_no_place(people: Path) -> None:
    (people / "one.csv").symlink_to("two.csv")
    (people / "two.csv").symlink_to("one.csv")
    assert "is a link that leads nowhere" in refused(*COMMANDS["trace"]("one.csv"))


def test_a_write_protected_release_is_found_out_first(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dc.publish(patients(), dc.KAnonymity(4)).save("release")
    real = os.access
    # nothing is protected from root, who may run this
    monkeypatch.setattr(
        os, "access", lambda path, mode: real(path, mode) and not (Path(path).name == "release" and mode & os.W_OK)
    )
    assert "is write-protected; choose another folder" in refused(*COMMANDS["release"]("release"))


def test_what_is_somebody_elses_in_a_common_folder(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (people / "common").mkdir()
    (people / "common").chmod(0o1777)
    (people / "common" / "trace.csv").touch()
    mine = os.getuid()
    assert disk.obstacle(people / "common" / "trace.csv") is None
    monkeypatch.setattr(os, "getuid", lambda: mine + 4711)
    assert "is somebody else's" in str(disk.obstacle(people / "common" / "trace.csv"))
    assert disk.obstacle(people / "common" / "other.csv") is None


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no second file system to write to")
def test_a_link_to_another_file_system_is_followed(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release and a trace are made where they go, and not where the link lies."""
    import tempfile

    if os.stat("/dev/shm").st_dev == people.stat().st_dev:
        pytest.skip("it is the same file system")
    monkeypatch.undo()
    monkeypatch.chdir(people)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as there:
        for name in ("release", "trace.csv"):
            (people / name).symlink_to(Path(there, name))
        words = ("publish", *READ, *K, "-o", "release", "--trace", "trace.csv", "--force")
        for _ in range(2):
            result = CliRunner().invoke(main, words)
            assert result.exit_code == 0, result.output
        assert sorted(os.listdir(there)) == ["release", "trace.csv"]
        assert (people / "release").is_symlink() and (people / "trace.csv").is_symlink()
        found = CliRunner().invoke(main, ["audit", "release", "--original", "patients.csv", "--trace", "trace.csv"])
        assert found.exit_code == 0, found.output


def test_a_killed_comparison_leaves_nothing_for_good(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(people))
    code = (
        "import os\nfrom pathlib import Path\nfrom discreet.unfinished import unfinished\n"
        f"with unfinished(Path({str(people)!r}, 'discreet-comparison')) as fresh:\n"
        "    fresh.mkdir()\n    os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(dc.__file__).parent.parent)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9
    assert len(list(people.iterdir())) == 2
    result = CliRunner().invoke(main, ["compare", *READ, *K, "--schemes", "cuts"])
    assert "Removed what a command that was killed had left" in result.stderr
    assert [path.name for path in people.iterdir()] == ["patients.csv"]
