"""Opens compressed files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from typing import Any, BinaryIO

import pyarrow as pa

from discreet.errors import DiscreetError
from discreet.table.detect import Kind

COMPRESSED = ("gzip", "bzip2", "xz", "zstd")


def unpacked(file: BinaryIO, kind: Kind, what: str, most: int = -1) -> bytes:
    """Return the content of a file, decompressed if it is of such a kind; at most ``most`` bytes unless negative.

    >>> import io
    >>> unpacked(io.BytesIO(bz2.compress(b"age")), "bzip2", "'people.csv.bz2'")
    b'age'
    """
    if kind not in COMPRESSED:
        return file.read(most)
    try:
        data: bytes = _stream(file, kind).read(most if most >= 0 else None)
        return data
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException):
        raise DiscreetError(f"{what} is a damaged {kind} file; fetch or compress it again") from None


def _stream(file: BinaryIO, kind: Kind) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    if kind == "bzip2":
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if kind == "xz" else pa.CompressedInputStream(pa.PythonFile(file), "zstd")
