"""Detects the encoding of a file and decodes its text."""

from __future__ import annotations

import codecs

from discreet.errors import DiscreetError
from discreet.table.detect import check_text

MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SAMPLE = 4096
NOT_OF_FILES = (
    "idna",
    "punycode",
    "undefined",
    "unicode-escape",
    "raw-unicode-escape",
    "unicode_escape",
    "raw_unicode_escape",
)
"""Python codecs that are not file encodings: they encode host names and string literals."""


def encoding_of(data: bytes) -> str:
    """Detect the encoding of a text: by its byte order mark, else UTF-8 if the bytes are valid, else Windows-1252.

    Windows-1252 agrees with Latin-1 in every printable character. UTF-16 without a mark is detected by its zero bytes.
    Not charset-normalizer: it guesses from statistics, which fail on short files; fixed rules are predictable.

    >>> encoding_of("Köln".encode()), encoding_of("Köln".encode("latin-1")), encoding_of("age".encode("utf-16-le"))
    ('utf-8', 'cp1252', 'utf-16-le')
    """
    for mark, name in MARKS.items():
        if data.startswith(mark):
            return name
    start = data[:SAMPLE]
    odd, even = start[1::2].count(0), start[::2].count(0)
    # In UTF-16 about half of the bytes of plain text are zeros, all at odd or all at even offsets; in other encodings
    # a zero byte is a mistake, which is reported later.
    if max(odd, even) > max(len(start) // 8, 4 * min(odd, even)):
        return "utf-16-le" if odd >= even else "utf-16-be"
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(data: bytes, encoding: str | None, what: str) -> str:
    """Decode a file in the given encoding, or the detected one; ``what`` names the file in errors.

    >>> decode(b"K\\xf6ln", None, "'cities.csv'")
    'Köln'
    """
    check_text(data, what)
    name = encoding or encoding_of(data)
    try:
        if codecs.lookup(name).name in NOT_OF_FILES:
            raise LookupError
        text = data.decode(name).removeprefix("\ufeff")
        text.encode()  # some codecs produce surrogates, which cannot be encoded
        return text
    except (LookupError, ValueError) as fault:
        if isinstance(fault, UnicodeDecodeError):
            raise _misfit(data, name, encoding is None, what, fault) from None
        if isinstance(fault, UnicodeEncodeError):
            raise DiscreetError(f"{what} is not text in {name}; say in which encoding it is") from None
        raise DiscreetError(
            f"there is no encoding {name!r} of files; say utf-8, utf-16, latin-1 or cp1252, or leave it to be detected"
        ) from None


def _misfit(data: bytes, name: str, detected: bool, what: str, fault: UnicodeDecodeError) -> DiscreetError:
    byte = f"the byte 0x{data[fault.start : fault.start + 1].hex()} at offset {fault.start:,}"
    if detected:
        return DiscreetError(
            f"{what} looks neither like text nor like any other kind of file that is known here ({byte} is no "
            f"character of {name}); say in which encoding it is, or export the table as CSV or Parquet"
        )
    return DiscreetError(f"{what} cannot be decoded as {name}: {byte} does not fit; say in which encoding it is")


def as_utf8(data: bytes, encoding: str | None, what: str) -> bytes:
    """Convert the bytes of a file to UTF-8 without a byte order mark.

    >>> as_utf8(b"\\xef\\xbb\\xbfage", None, "'people.csv'")
    b'age'
    """
    check_text(data, what)
    if encoding is None and data.isascii() and b"\0" not in data:
        return data
    text = decode(data, encoding, what)
    zero = text.find("\0")
    if zero >= 0:
        line = text.count("\n", 0, zero) + 1
        raise DiscreetError(
            f"{what} holds a zero byte in line {line:,}, which no text has; remove it, or export the table as CSV or "
            "Parquet"
        )
    return text.encode()
