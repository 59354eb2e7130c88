"""Resolves paths and opens files for reading; every obstacle is reported in one sentence."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.errors import DiscreetError


def located(path: str | os.PathLike[str]) -> Path:
    """Return a path with ``~`` expanded to the home folder.

    >>> located("people.csv").name
    'people.csv'
    """
    given: object = path
    if not isinstance(given, str | os.PathLike):
        from discreet.options import brief  # imported late: `--help` needs no numpy

        raise DiscreetError(f"{brief(given)} is not a path; give the path of a file or a folder as text")
    if "\0" in os.fspath(path):
        raise DiscreetError(f"the path {str(path)!r} cannot be read or written: it holds a zero byte; check it")
    try:
        name = system_path(os.fspath(path))
        os.fsencode(name)
        return Path(name).expanduser()
    except RuntimeError:
        raise DiscreetError(
            f"the path '{path}' begins with a home folder that this system does not know; write it without '~'"
        ) from None
    except UnicodeEncodeError:
        raise DiscreetError(f"the path {str(path)!r} is not a text that a file can be named by; check it") from None


def system_path(path: str) -> str:
    """Return a path as the system has it: without UTF-8, Python disguises the bytes of names beyond ASCII.

    >>> system_path("people.csv")
    'people.csv'
    """
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        with suppress(UnicodeEncodeError):  # half of a pair of surrogates, which `located` refuses
            return os.fsdecode(path.encode())
    return path


def real(path: Path) -> Path:
    """Resolve all links of a path; if links form a cycle, return one of them instead of failing.

    >>> real(Path("/")) == Path("/").absolute()
    True
    """
    return Path(os.path.realpath(path))


def shown(name: str) -> str:
    """Return a file name as text; bytes that are not UTF-8 become U+FFFD.

    >>> shown("people\\udcff.csv") == "people\\ufffd.csv"
    True
    """
    return os.fsencode(name).decode(errors="replace")


@contextmanager
def opened(path: Path, what: str) -> Iterator[io.BufferedReader]:
    """Open a file for reading; ``what`` names it in errors.

    Pipes and devices are refused: files are read more than once, and a device may be endless.
    """
    if path.is_dir():
        raise DiscreetError(f"{what} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise DiscreetError(f"{what} is a pipe or a device, which can be read only once; save it as a file first")
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise DiscreetError(f"there is no file {what}; check the path") from None
    except OSError as fault:
        raise DiscreetError(
            f"{what} cannot be read: {fault.strerror or fault}; check the path and its permissions"
        ) from None
    with file:
        try:
            yield file
        except OSError as fault:
            raise DiscreetError(f"{what} cannot be read: {fault.strerror or fault}; check the disk it is on") from None


def content(path: Path, what: str) -> bytes:
    """Return all bytes of a file; ``what`` names it in errors."""
    with opened(path, what) as file:
        return file.read()
