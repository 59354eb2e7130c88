"""Recognises and opens compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError

KINDS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of each kind of compressed file."""
ARCHIVES = {
    b"PK\x03\x04": "a spreadsheet or zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
}
"""The first bytes of archives, which may contain any number of files and are refused."""


def unpacked(file: BinaryIO, what: str, most: int = -1) -> bytes:
    """Return the content of a file, decompressed if need be; at most ``most`` bytes unless that is negative.

    >>> import io
    >>> unpacked(io.BytesIO(bz2.compress(b"age")), "'people.csv.bz2'")
    b'age'
    """
    start = file.read(6)
    file.seek(0)
    for mark, kind in ARCHIVES.items():
        if start.startswith(mark):
            raise DiscreetError(f"{what} is {kind}; unpack it, or export the table as CSV or Parquet")
    found = next((kind for mark, kind in KINDS.items() if start.startswith(mark)), None)
    if found is None:
        return file.read(most)
    try:
        data: bytes = _stream(file, found).read(most if most >= 0 else None)
        return data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise DiscreetError(f"{what} is a damaged {found} file; fetch or compress it again") from None


def _stream(file: BinaryIO, kind: str) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    if kind == "bzip2":
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if kind == "xz" else pa.CompressedInputStream(pa.PythonFile(file), "zstd")
