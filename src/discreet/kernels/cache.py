"""Compiled kernels on disk: sealed when written, and recompiled if anything about them has changed."""

import contextlib
import hashlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import config as _config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)

from discreet.disk import CHANGING

config: Any = _config  # its settings are made when it is imported, which no type checker sees
SEAL = hashlib.sha256().digest_size


class SealedFiles(IndexDataCacheFile):
    """Files that end with their digest. Their content is unpickled and run, so damage must be detected first."""

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _data_name(self, number: int) -> str:
        # Two processes may add a kernel for different types at the same time, and would give both files one name. The
        # list of files that then lasts would name, for one of them, the file of the other.
        return f"{super()._data_name(number).removesuffix('.nbc')}.{secrets.token_hex(8)}.nbc"

    def _load_index(self) -> Any:
        return super()._load_index() if _whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _whole(self._data_path(name)) else None


def _whole(path: str) -> bool:
    """Whether a file ends with the digest of the rest; unpickling the rest stops before the digest."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(data[:-SEAL]).digest() == data[-SEAL:]


class Place(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Where the kernels of a source file are kept: in numba's cache folder, even if nothing can be added there."""

    def __init__(self, function: Any, source: str) -> None:
        self._py_file, self._lineno = source, function.__code__.co_firstlineno
        self._path: str = os.path.join(config.CACHE_DIR, self.get_suitable_cache_subpath(source))

    def get_cache_path(self) -> str:
        """Return the folder."""
        return self._path

    def ensure_cache_path(self) -> None:
        """Make the folder, if that is possible."""
        with contextlib.suppress(OSError):
            os.makedirs(self._path, exist_ok=True)


class _Placed(CompileResultCacheImpl):
    _locator_classes = [Place]  # noqa: RUF012


class SoundCache(FunctionCache):
    """A cache that never causes an error: what cannot be read is compiled, and what cannot be saved is skipped."""

    _impl_class = _Placed

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        where = self._impl.locator
        self._cache_file = SealedFiles(where.get_cache_path(), self._impl.filename_base, where.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for the given types, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # written by another version of numba or the like, which may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel, if there is room."""
        with CHANGING, contextlib.suppress(OSError):
            super().save_overload(sig, data)


def owned(folder: Path) -> bool:
    """Create a folder for this user alone; return whether nobody else can have put files there, now or later.

    Files found there are run. So the folder and its parent must belong to this user and be closed to others, and those
    above must belong to this user or to the system and not let others replace their content.
    """
    if not hasattr(os, "getuid"):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    user = os.getuid()
    folder.parent.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not all(_closed(part) for part in (folder.parent.parent.resolve() / "of it").parents):
        return False
    for part in (folder.parent, folder):
        with contextlib.suppress(FileExistsError):
            part.mkdir(mode=0o700)
        status = part.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != user:
            return False
        if status.st_mode & 0o077:
            part.chmod(0o700)
    return os.access(folder, os.W_OK)


def installed(folder: Path) -> bool:
    """Return whether a folder of kernels exists that only this user or the system can have filled, now or later.

    A container has such a folder: kernels were put there when it was built, and it may be read-only, or be run as
    another user.
    """
    if not hasattr(os, "getuid") or not stat.S_ISDIR(folder.lstat().st_mode):
        return False
    if any(part.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) for part in (folder, folder.parent)):
        return False  # not even new files may come from others
    return all(_closed(part) for part in (folder.resolve() / "of it").parents)


def _closed(folder: Path) -> bool:
    """Whether a folder belongs to this user or to the system, and others cannot replace what is in it."""
    user, status = os.getuid(), folder.stat()
    others = stat.S_IWOTH | (0 if status.st_gid == user else stat.S_IWGRP)  # the same number: a private group
    if status.st_mode & others and not status.st_mode & stat.S_ISVTX:
        return False
    return status.st_uid in (user, 0, os.stat("/").st_uid)
