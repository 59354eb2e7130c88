"""What a file is, by its content, whatever its name, and the text of one: no other module looks at first bytes."""

from __future__ import annotations

import codecs
import re
from typing import BinaryIO, Literal, NamedTuple

from discreet.errors import DiscreetError

FileKind = Literal[
    "text", "parquet", "arrow", "arrow stream", "JSON lines", "JSON", "gzip", "bzip2", "xz", "zstd", "spreadsheet",
    "Stata", "SPSS", "SAS", "SQLite", "DuckDB", "archive", "other"
]  # fmt: skip
"""What is read, each in its way; archives, which may hold any number of files, and other kinds are refused by name."""

FOREIGN: tuple[FileKind, ...] = ("spreadsheet", "Stata", "SPSS", "SAS", "SQLite", "DuckDB")
"""The kinds of files of other programs."""

SIGNATURES: tuple[tuple[bytes, FileKind, str], ...] = (
    (rb"PAR1", "parquet", "a Parquet file"),
    (rb"ARROW1", "arrow", "an Arrow or Feather file"),
    (rb"\xff{4}", "arrow stream", "an Arrow stream"),
    (rb"\x1f\x8b", "gzip", "a gzip file"),
    (rb"BZh[1-9]", "bzip2", "a bzip2 file"),
    (rb"\xfd7zXZ\0", "xz", "an xz file"),
    (rb"\x28\xb5\x2f\xfd", "zstd", "a zstd file"),
    (rb"PK\x03\x04[\s\S]{26}(\[Content_Types|_rels/|docProps/|xl/|mimetype)", "spreadsheet", "a spreadsheet"),
    (rb"PK\x03\x04", "archive", "a zip archive"),
    (rb"PK\x05\x06", "archive", "an empty zip archive"),
    (rb"7z\xbc\xaf", "archive", "a 7z archive"),
    (rb"Rar!", "archive", "a rar archive"),
    (rb"PARE", "other", "an encrypted Parquet file"),
    (rb"FEA1", "other", "a Feather file of version 1"),
    (rb"SQLite format 3", "SQLite", "an SQLite database"),
    (rb"[\s\S]{8}DUCK", "DuckDB", "a DuckDB database"),
    (rb"\0\x01\0\0Standard (Jet|ACE) DB", "other", "an Access database"),
    (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0", "Stata", "a Stata file"),
    (rb"\$FL[23]", "SPSS", "an SPSS file"),
    (rb"\0{12}\xc2\xea\x81\x60|HEADER RECORD\*{7}", "SAS", "a SAS file"),
    (rb"RD[AX][1-9]\n|[XAB]\n\0\0\0[23]", "other", "a file of R"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "spreadsheet", "a spreadsheet or other document of old Office"),
    (rb"\x89HDF|CDF[\x01\x02]", "other", "an HDF5 or NetCDF file"),
    (rb"\x93NUMPY|\x80[\x02-\x05][\x95c}\](]", "other", "a NumPy array or pickled Python object"),
    (rb"ORC|Obj\x01", "other", "an ORC or Avro file"),
    (rb"\x7fELF|MZ|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe", "other", "a program"),
    (rb"%PDF-", "other", "a PDF document"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "other", "a picture"),
    (rb"(?i:\s*<(!doctype html|html))", "other", "a web page"),
    (rb"\s*<\?xml", "other", "an XML document"),
    (rb'(\xef\xbb\xbf)?\s*\{\s*["}]', "JSON lines", "a file of JSON lines"),
    (rb'(\xef\xbb\xbf)?\s*\[\s*[\[{"]', "JSON", "a JSON document"),
)
"""The patterns that files of each kind begin with."""
TEXT = re.compile(rb"[^\0-\x08\x0e-\x1f]*\n[^\0-\x08\x0e-\x1f]*")
"""Lines without control characters: a CSV file may begin with a column named ORC."""
MARKUP = (
    *("a PDF document", "a web page", "an XML document", "a Stata file", "a SAS file"),
    *("a file of JSON lines", "a JSON document"),
)
"""What may consist of such lines and is no table nevertheless."""
START_BYTES = 256
"""The size of the beginning that tells what a file is."""
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SAMPLE_BYTES = 4096
NOT_OF_FILES = ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
"""Python codecs that are not file encodings: they encode host names and string literals."""


class Content(NamedTuple):
    """What a file is."""

    kind: FileKind
    name: str
    """What messages call it."""


def detect(data: bytes) -> Content:
    """Tell what a file is by its first bytes.

    >>> detect(b"age,sex").kind, detect(b"SQLite format 3\\0").name, detect(b"ORC,weight\\n3,70\\n").kind
    ('text', 'an SQLite database', 'text')
    """
    start = data[:START_BYTES]
    for pattern, kind, name in SIGNATURES:
        if re.match(pattern, start) and (name in MARKUP or not TEXT.fullmatch(start)):
            return Content(kind, name)
    return Content("text", "text")


def kind_of(file: BinaryIO) -> FileKind:
    """Return what an open file is; it stays at its beginning."""
    start = file.read(START_BYTES)
    file.seek(0)
    return detect(start).kind


def _check_text(data: bytes, what: str) -> None:
    """Refuse content that cannot be text by saying what it looks like; ``what`` names the file."""
    content = detect(data)
    if content.kind == "archive":
        raise DiscreetError(f"{what} is {content.name}; unpack it, or export the table as CSV or Parquet")
    if content.kind != "text":
        advice = {"archive": "unpack it first"}.get(content.kind, "export the table as CSV or Parquet")
        advice = "write one object per line, or CSV or Parquet" if "JSON" in content.name else advice
        raise DiscreetError(f"{what} looks like {content.name}, not like text; {advice}")


# ----------------------------------------------------------------------------------------------------------- encodings


def _encoding_of(data: bytes) -> str:
    """Detect the encoding of a text: by its byte order mark, else UTF-8 if the bytes are valid, else Windows-1252.

    Windows-1252 agrees with Latin-1 in every printable character. UTF-16 without a mark is detected by its zero bytes.
    Not charset-normalizer: it guesses from statistics, which fail on short files; fixed rules are predictable.
    """
    for mark, name in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return name
    start = data[:SAMPLE_BYTES]
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


def codec(encoding: str) -> str:
    """Return the one name of an encoding that has several; refuse what is none of files.

    >>> codec("Latin1"), codec("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)  # some codecs turn bytes into bytes
        if name.replace("_", "-") not in NOT_OF_FILES:
            return name
    except (LookupError, ValueError):
        pass
    raise DiscreetError(
        f"there is no encoding {encoding!r} of files; choose utf-8, utf-16, latin-1 or cp1252, or leave it out to "
        "have it detected"
    )


def decode(data: bytes, encoding: str | None, what: str) -> str:
    """Decode a file in the given encoding, or the detected one; ``what`` names the file in errors.

    >>> decode(b"K\\xf6ln", None, "'cities.csv'")
    'Köln'
    """
    _check_text(data, what)
    name = codec(encoding or _encoding_of(data))
    try:
        text = data.decode(name).removeprefix("\ufeff")
        text.encode()  # some codecs produce surrogates, which cannot be encoded
        return text
    except UnicodeDecodeError as fault:
        raise _misfit(data, encoding or name, encoding is None, what, fault) from None
    except UnicodeEncodeError:
        raise DiscreetError(f"{what} is not text in {encoding or name}; say in which encoding it is") from None


def _misfit(data: bytes, name: str, detected: bool, what: str, fault: UnicodeDecodeError) -> DiscreetError:
    byte = f"the byte 0x{data[fault.start : fault.start + 1].hex()} at offset {fault.start:,}"
    if detected:
        return DiscreetError(
            f"{what} has an unrecognised file format ({byte} is not a character of {name}); say in which encoding "
            "it is, or export the table as CSV or Parquet"
        )
    return DiscreetError(f"{what} cannot be decoded as {name}: {byte} does not fit; say in which encoding it is")


def as_utf8(data: bytes, encoding: str | None, what: str) -> bytes:
    """Convert the bytes of a file to UTF-8 without a byte order mark.

    >>> as_utf8(b"\\xef\\xbb\\xbfage", None, "'people.csv'")
    b'age'
    """
    _check_text(data, what)
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
