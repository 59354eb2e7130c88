"""The wheel and the sdist: built without the network, complete, and used from outside the source tree.

What an extra installs is hidden from a process by a ``sitecustomize`` that does not find its modules, so that nothing
has to be downloaded to see what discreet does without it. Kernels are not compiled, as those of another place would all
be new.
"""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from discreet.version import __version__
from support.house import ROOT

pytestmark = pytest.mark.slow  # packages are built and installed
PROJECT = ("/src/", "/tests/", "/benchmarks/", "/docs/", "/examples/")
BESIDE = ("Makefile", "Dockerfile", ".dockerignore", "LICENSE", "CITATION.cff", "pyproject.toml")
REPORT, ATTACKS = ("jinja2", "vl_convert"), ("sklearn",)
HIDING = """
from importlib.machinery import PathFinder

seen = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {hidden!r} else seen(name, path, target)

PathFinder.find_spec = find_spec
"""
PATIENTS = (
    "from discreet.datasets import patients_arrow; from pyarrow.csv import write_csv; "
    "write_csv(patients_arrow(), 'patients.csv')"
)
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifier", "name")
PROMISE = ("--promise", "beta-likeness(beta=2)")
PUBLISH = ("publish", "patients.csv", "-o", "release", *ROLES, *PROMISE)


def sources(folder: str) -> set[str]:
    """The files of the project below a folder, as git would have them: no bytecode and no caches."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in paths if path.suffix not in (".pyc", ".nbi", ".nbc")}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    home = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(home)]
    subprocess.run([*build, "--target", "sdist"], cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(home / f"discreet-{__version__}.tar.gz") as archive:
        archive.extractall(home / "unpacked", filter="data")
    unpacked = home / "unpacked" / f"discreet-{__version__}"
    subprocess.run([*build, "--target", "wheel"], cwd=unpacked, check=True, capture_output=True)
    return home


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"discreet-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the source tree, with the wheel installed in ``site`` and the patients beside it."""
    place = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", str(place / "site"), str(wheel)], check=True, capture_output=True)
    for name, hidden in {"core": (*REPORT, *ATTACKS), "report": ATTACKS, "attacks": REPORT}.items():
        (place / name).mkdir()
        (place / name / "sitecustomize.py").write_text(HIDING.format(hidden=hidden), encoding="utf-8")
    python(place, "core", "-c", PATIENTS)
    return place


def python(home: Path, extra: str, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run Python with the installed wheel, and the modules of one extra alone."""
    paths = os.pathsep.join([str(home / extra), str(home / "site")])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, *words], cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def discreet(home: Path, extra: str, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the script that was installed."""
    return python(home, extra, str(home / "site" / "bin" / "discreet"), *words, code=code)


# --------------------------------------------------------------------------------------------------- what is in them


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = email.message_from_bytes(archive.read(f"discreet-{__version__}.dist-info/METADATA"))
    package = {name.removeprefix("src/") for name in sources("src")}
    assert {name for name in names if ".dist-info/" not in name} == package
    assert {"discreet/py.typed", "discreet/__init__.pyi", "discreet/datasets/patients.csv"} <= names
    assert any(name.startswith("discreet/report/templates/") for name in names)
    assert metadata["Name"] == "discreet" and metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0" and metadata["Author"] == "The discreet developers"
    assert {"attacks", "docs", "report"} <= set(metadata.get_all("Provides-Extra", []))
    assert metadata.get_all("Project-URL") is None  # no address is known
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_the_sdist_has_what_is_needed_to_test_and_read_it(built: Path) -> None:
    unpacked = built / "unpacked" / f"discreet-{__version__}"
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    for folder in PROJECT:
        missing = sources(folder.strip("/")) - names
        assert not missing, missing
    assert {*BESIDE, *(path.name for path in ROOT.glob("*.md"))} <= names
    strangers = {name for name in names if "/" in name and not f"/{name}".startswith(PROJECT)}
    assert not strangers, strangers


# ------------------------------------------------------------------------------------------- what works when installed


def test_it_runs_from_outside_the_source_tree(home: Path) -> None:
    where = python(home, "core", "-c", "import discreet; print(discreet.__file__)").stdout
    assert Path(where.strip()).is_relative_to(home / "site")
    assert discreet(home, "core", "--version").stdout == f"discreet {__version__}\n"


def test_the_core_publishes_audits_and_answers_without_any_extra(home: Path) -> None:
    discreet(home, "core", *PUBLISH, "--force")
    audit = discreet(home, "core", "audit", "release", "--original", "patients.csv")
    assert "beta-likeness(beta=2)" in audit.stdout
    assert (
        "48 of 48 published"
        in discreet(home, "core", "query", "release", "SELECT COUNT(*) FROM t WHERE age >= 0").stdout
    )
    discreet(home, "core", "attack", "release", "--original", "patients.csv", "--attack", "naive-bayes")
    discreet(home, "core", "profile", "patients.csv")


@pytest.mark.parametrize("extra", ["core", "attacks"])
def test_a_page_without_the_extra_report_is_refused_with_the_command_to_install_it(home: Path, extra: str) -> None:
    words = ("compare", "patients.csv", *ROLES, *PROMISE, "--schemes", "cuts", "--html", "page.html")
    for asked in (words, ("plan", "patients.csv", *ROLES[:4], "--plot", "plan.svg")):
        done = discreet(home, extra, *asked, code=2)
        (line,) = done.stderr.splitlines()
        assert line.startswith("discreet: ") and "pip install 'discreet[report]'" in line
    assert not (home / "page.html").exists()


@pytest.mark.parametrize("extra", ["core", "report"])
def test_trees_without_the_extra_attacks_are_refused_with_the_command_to_install_it(home: Path, extra: str) -> None:
    discreet(home, extra, *PUBLISH, "--force")
    done = discreet(home, extra, "attack", "release", "--original", "patients.csv", "--attack", "trained", code=2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("discreet: ") and "pip install 'discreet[attacks]'" in line


def test_each_extra_works_alone(home: Path) -> None:
    words = ("compare", "patients.csv", *ROLES, *PROMISE, "--schemes", "cuts", "--html", "report.html")
    discreet(home, "report", *words)
    assert "<svg" in (home / "report.html").read_text(encoding="utf-8")
    discreet(home, "attacks", *PUBLISH, "--force")
    discreet(home, "attacks", "attack", "release", "--original", "patients.csv", "--attack", "trained")


USER = """
import discreet as dc

table = dc.read("patients.csv", quasi=["age"], sensitive="disease")
release = dc.publish(table, dc.BetaLikeness(2))
reveal_type(table.rows)
reveal_type(release)
dc.BetaLikeness("two")
"""


def test_type_checkers_see_the_types(home: Path) -> None:
    (home / "user.py").write_text(USER, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": "", "MYPYPATH": str(home / "site")}
    check = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file", os.devnull, "user.py"]
    done = subprocess.run(check, cwd=home, env=environment, capture_output=True, text=True)
    assert 'user.py:6: note: Revealed type is "int"' in done.stdout.replace("builtins.int", "int"), done.stdout
    assert 'user.py:7: note: Revealed type is "discreet.releases.release.Release"' in done.stdout
    assert "user.py:8: error: Argument 1 to" in done.stdout and done.stdout.count("user.py") == 3
