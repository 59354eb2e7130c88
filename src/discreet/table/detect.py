"""What a file is, by how its content begins, whatever its name: no other module looks at first bytes."""

from __future__ import annotations

import re
from typing import BinaryIO, Literal, NamedTuple

from discreet.errors import DiscreetError

Kind = Literal["text", "parquet", "arrow", "arrow stream", "gzip", "bzip2", "xz", "zstd", "archive", "other"]
"""What is read, each in its way; archives, which may hold any number of files, and other kinds are refused by name."""

SIGNATURES: tuple[tuple[bytes, Kind, str], ...] = (
    (rb"PAR1", "parquet", "a Parquet file"),
    (rb"ARROW1", "arrow", "an Arrow or Feather file"),
    (rb"\xff{4}", "arrow stream", "an Arrow stream"),
    (rb"\x1f\x8b", "gzip", "a gzip file"),
    (rb"BZh[1-9]", "bzip2", "a bzip2 file"),
    (rb"\xfd7zXZ\0", "xz", "an xz file"),
    (rb"\x28\xb5\x2f\xfd", "zstd", "a zstd file"),
    (rb"PK\x03\x04", "archive", "a spreadsheet or zip archive"),
    (rb"PK\x05\x06", "archive", "an empty zip archive"),
    (rb"7z\xbc\xaf", "archive", "a 7z archive"),
    (rb"Rar!", "archive", "a rar archive"),
    (rb"PARE", "other", "an encrypted Parquet file"),
    (rb"FEA1", "other", "a Feather file of version 1"),
    (rb"SQLite format 3", "other", "an SQLite database"),
    (rb"[\s\S]{8}DUCK", "other", "a DuckDB database"),
    (rb"\0\x01\0\0Standard (Jet|ACE) DB", "other", "an Access database"),
    (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\0", "other", "a Stata file"),
    (rb"\$FL[23]", "other", "an SPSS file"),
    (rb"\0{12}\xc2\xea\x81\x60|HEADER RECORD\*{7}", "other", "a SAS file"),
    (rb"RD[AX][1-9]\n|[XAB]\n\0\0\0[23]", "other", "a file of R"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "other", "a spreadsheet or other document of old Office"),
    (rb"\x89HDF|CDF[\x01\x02]", "other", "an HDF5 or NetCDF file"),
    (rb"\x93NUMPY|\x80[\x02-\x05][\x95c}\](]", "other", "a NumPy array or pickled Python object"),
    (rb"ORC|Obj\x01", "other", "an ORC or Avro file"),
    (rb"\x7fELF|MZ|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe", "other", "a program"),
    (rb"%PDF-", "other", "a PDF document"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "other", "a picture"),
    (rb"(?i:\s*<(!doctype html|html))", "other", "a web page"),
    (rb"\s*<\?xml", "other", "an XML document"),
)
"""The patterns that files of each kind begin with."""
TEXT = re.compile(rb"[^\0-\x08\x0e-\x1f]*\n[^\0-\x08\x0e-\x1f]*")
"""Lines without control characters: a CSV file may begin with a column named ORC."""
MARKUP = ("a PDF document", "a web page", "an XML document", "a Stata file", "a SAS file")
"""What may consist of such lines and is no table nevertheless."""
START = 256


class Content(NamedTuple):
    """What a file is."""

    kind: Kind
    name: str
    """What messages call it."""


def detect(data: bytes) -> Content:
    """Tell what a file is by its first bytes.

    >>> detect(b"age,sex").kind, detect(b"SQLite format 3\\0").name, detect(b"ORC,weight\\n3,70\\n").kind
    ('text', 'an SQLite database', 'text')
    """
    start = data[:START]
    for pattern, kind, name in SIGNATURES:
        if re.match(pattern, start) and (name in MARKUP or not TEXT.fullmatch(start)):
            return Content(kind, name)
    return Content("text", "text")


def kind_of(file: BinaryIO) -> Kind:
    """Return what an open file is; it stays at its beginning."""
    start = file.read(START)
    file.seek(0)
    return detect(start).kind


def check_text(data: bytes, what: str) -> None:
    """Refuse content that cannot be text by saying what it looks like; ``what`` names the file.

    >>> check_text(b"\\x7fELF\\2\\1", "'people.csv'")
    Traceback (most recent call last):
    discreet.errors.DiscreetError: 'people.csv' looks like a program, not like text; export the table as CSV or Parquet
    """
    found = detect(data)
    if found.kind == "archive":
        raise DiscreetError(f"{what} is {found.name}; unpack it, or export the table as CSV or Parquet")
    if found.kind != "text":
        advice = "export the table as CSV or Parquet" if found.kind == "other" else "unpack it first"
        raise DiscreetError(f"{what} looks like {found.name}, not like text; {advice}")
