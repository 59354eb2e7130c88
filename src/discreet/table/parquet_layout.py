"""Finds in a Parquet file what its cells do not determine, whichever version of Arrow wrote it.

Versions of Arrow differ in how they compress, where pages end and which figures they note beside them. So files are not
compared byte by byte: every byte must belong to the footer or to a page, each part of these must be the one that
follows from the cells, and pages must hold the cells and nothing else. What is left free is how well a page is
compressed, and into which pages a column is divided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

WRITER = rb"parquet-cpp-arrow version \d{1,3}\.\d{1,3}\.\d{1,3}"
MAGIC = b"PAR1"
ZSTD = b"\x28\xb5\x2f\xfd"
CODECS = {0: None, 1: "snappy", 6: "zstd"}
"""The ways of compression that leave no room behind their content, by their numbers in files."""
PLAIN, RUNS, DICTIONARY_INDEX = 0, 3, (2, 8)
DATA_PAGE, LIST_PAGE, DATA_PAGE_2 = 0, 2, 3
ENTRY_OF_PAGE = {DATA_PAGE: 5, LIST_PAGE: 7, DATA_PAGE_2: 8}
TRUTH, I16, I32, I64, TEXT, STRUCT, LIST = 1, 4, 5, 6, 8, 12, 16
"""The kinds of entries in parts of a file; a list of entries of a kind has the kind LIST times that."""
STRAY = "holds bytes that belong to no cell"
STATED = "states sizes, places or counts that are not those of its parts"
FIGURES = "states figures that are not its cells'"
COLUMNS = "describes its columns otherwise than Arrow does"
ENCODED = "is encoded unlike any page of ours"
COMPRESSED = "is compressed unlike any page of ours"
ENTRY = "has an entry that its cells do not need"
"""Faults that are found in several ways."""

Entries = Mapping[int, tuple[int, Any]]
"""A part of a file as it must be: its entries by their numbers in the format's definition, each with its kind."""


class Struct(dict[int, Any]):
    """The entries of a part of a file, each stored with its kind, so that equal parts are equal in this, too."""

    def __getitem__(self, key: int) -> Any:
        return super().__getitem__(key)[1]

    def get(self, key: int, default: Any = None) -> Any:
        """Return an entry, if there is one."""
        return super().get(key, (0, default))[1]


class OtherwiseError(Exception):
    """A file holds something that its cells do not determine; the message completes the sentence "it ..."."""


def beyond_cells(table: pa.Table, written: bytes, options: dict[str, Any]) -> str | None:
    """Say what a Parquet file holds beside the cells of a table; None if nothing.

    ``options`` are those that releases are written with.
    """
    import pyarrow.parquet as pq

    if written == _rewritten(table, **options):
        return None
    try:
        file = pq.ParquetFile(pa.BufferReader(written))
        same = file.schema_arrow.equals(table.schema, check_metadata=True) and file.metadata.metadata is None
        _need(same, "has other columns than are written, or says more about them")
        _need(file.read().equals(table), "has other cells than are written")
        _check(table, memoryview(written), options)
    except (OSError, pa.ArrowException, IndexError, KeyError, TypeError, ValueError):
        return "it is not a Parquet file as Arrow writes them"
    except OtherwiseError as fault:
        return f"it {fault}"
    return None


def _need(holds: bool, fault: str) -> None:
    if not holds:
        raise OtherwiseError(fault)


def _same(stated: Struct, due: Entries, fault: str = STATED, optional: Collection[int] = ()) -> None:
    """Check that a part of a file has all entries that it must have, and no others; some may be left out."""
    known = dict(due.items())
    _need(stated.keys() <= known.keys(), ENTRY)
    _need(all(known[key] == entry for key, entry in stated.items()), fault)
    _need(known.keys() - stated.keys() <= set(optional), fault)


def _check(table: pa.Table, data: memoryview, options: dict[str, Any]) -> None:
    """Compare a file with the one that this version of Arrow writes for the same rows."""
    footer, end = _footer(data)
    rows = [group[3] for group in footer[4]]
    reference, _ = _footer(memoryview(_rewritten(table, **options, row_group_size=max(rows[0], 1) if rows else None)))
    _need(re.fullmatch(WRITER, footer[6]) is not None, "names a writer that is not Arrow")
    _need(footer[1] in (1, 2), "states a format that Arrow does not write")
    _need(rows == [group[3] for group in reference[4]], "divides its rows into unequal parts")
    free = {1: (I32, footer[1]), 4: (LIST * STRUCT, footer[4]), 6: (TEXT, footer[6])}
    _same(footer, {**dict(reference.items()), **free}, COLUMNS, optional=(7,))
    at, start = len(MAGIC), 0
    for number, (group, expected) in enumerate(zip(footer[4], reference[4], strict=True)):
        metas = [chunk[3] for chunk in group[1]]
        due = {
            1: (LIST * STRUCT, group[1]),
            2: (I64, sum(meta[6] for meta in metas)),
            3: (I64, group[3]),
            5: (I64, at if group.get(5) else 0),
            6: (I64, sum(meta[7] for meta in metas)),
            7: (I16, number),
        }
        _same(group, due, optional=(5, 6, 7))
        for column, (chunk, meant) in enumerate(zip(group[1], expected[1], strict=True)):
            if footer[6] == reference[6]:
                _need(chunk[3][4] == meant[3][4], "is compressed otherwise than this version of Arrow was told to")
            at = _check_chunk(data, chunk, meant[3], table.column(column).slice(start, group[3]), at)
        start += group[3]
    _need(at == end, STRAY)


def _check_chunk(data: memoryview, chunk: Struct, reference: Struct, cells: pa.ChunkedArray, start: int) -> int:
    """Check the cells of one column in one group of rows, which begin at ``start``; return where they end."""
    meta = chunk[3]
    pages = list(_pages(data, start, start + meta[7]))
    at = pages[-1].end if pages else start
    kinds = Counter((page.kind == LIST_PAGE, page.encoding) for page in pages)
    _need(sorted(meta[2]) == sorted({RUNS, *(page.encoding for page in pages)}), "is encoded otherwise than it states")
    for key in (12, 16):  # figures, some or all of which another version may leave out
        _same(meta.get(key, Struct()), reference.get(key, Struct()), FIGURES, reference.get(key, ()))
    for count in meta.get(13, ()):  # older versions call all data pages alike
        _need(count[1] in ENTRY_OF_PAGE, STATED)
        number = kinds[count[1] == LIST_PAGE, count[2]]
        _same(count, {1: (I32, count[1]), 2: (I32, count[2]), 3: (I32, number)})
    _need(len(meta.get(13, kinds)) == len(kinds), STATED)
    due = {
        **{key: dict.__getitem__(reference, key) for key in (1, 3, 5)},
        **{key: (kind, meta.get(key)) for key, kind in ((12, STRUCT), (13, LIST * STRUCT), (16, STRUCT))},
        2: (LIST * I32, meta[2]),
        4: (I32, meta[4]),
        6: (I64, sum(page.header_size + page.header[2] for page in pages)),
        7: (I64, at - start),
        9: (I64, next((page.start for page in pages if page.kind != LIST_PAGE), 0)),
    }
    if pages and pages[0].kind == LIST_PAGE:
        due[11] = (I64, start)
    _same(meta, due, optional=(12, 13, 16))
    _check_cells(pages, CODECS[meta[4]], cells)
    _same(chunk, {2: (I64, at if chunk[2] else 0), 3: (STRUCT, meta)})
    if chunk[2]:  # older versions repeat here what the footer says
        reader = _Reader(data, at)
        _need(reader.struct() == chunk, "says otherwise beside a column than in its footer")
        at = reader.at
    return at


def _check_cells(pages: list[_Page], codec: str | None, cells: pa.ChunkedArray) -> None:
    """Check that pages hold given cells and nothing else."""
    listed, coded, start = None, 0, 0
    for page in pages:
        if page.kind == LIST_PAGE:
            _need(listed is None, "has two lists of values for a column")
            entry = page.entry
            _need(entry[2] in (0, 2), ENCODED)
            _same(entry, {1: (I32, entry[1]), 2: (I32, entry[2]), 3: (TRUTH, False)}, optional=(3,))
            listed = bytes(_unpacked(page.body, codec, page.header[2])), entry[1]
            continue
        values, levels = page.content(codec)
        part = cells.slice(start, page.entry[1])
        page.check_entry(part, len(levels))
        present = part.drop_null()
        _check_runs(levels, 1, len(part))
        if page.encoding in DICTIONARY_INDEX:
            _need(listed is not None and coded == start, ENCODED)
            coded += len(part)
            _check_runs(values[1:], values[0], len(present))
        else:
            _need(page.encoding == PLAIN and bytes(values) == _plain_column(present)[0], STRAY)
        start += len(part)
    _need(start == len(cells), STATED)
    if listed is not None:
        distinct = cells.slice(0, coded).drop_null().unique()
        due = _plain_column(pa.chunked_array([distinct]))[0], len(distinct)
        _need(listed == due, "lists values that do not occur")


class _Page:
    """A page of a column: its header, of which one entry depends on its kind, and what follows."""

    def __init__(self, data: memoryview, start: int) -> None:
        reader = _Reader(data, start)
        self.start, self.header = start, reader.struct()
        self.header_size = reader.at - start
        self.body = reader.bytes(self.header[3])
        self.end = reader.at
        self.kind: int = self.header[1]
        key = ENTRY_OF_PAGE[self.kind]
        self.entry: Struct = self.header[key]
        self.encoding: int = self.entry[4 if self.kind == DATA_PAGE_2 else 2]
        plain = {number: (I32, self.header[number]) for number in (1, 2, 3)}
        _same(self.header, {**plain, key: (STRUCT, self.entry)})

    def content(self, codec: str | None) -> tuple[memoryview, memoryview]:
        """Return the values of a page of data, and which of its cells have one."""
        size = self.header[2]
        if self.kind == DATA_PAGE:
            body = _unpacked(self.body, codec, size)
            width = int.from_bytes(body[:4], "little")
            return body[4 + width :], body[4 : 4 + width]
        width = self.entry[5]
        codec = codec if self.entry.get(7, True) else None
        return _unpacked(self.body[width:], codec, size - width), self.body[:width]

    def check_entry(self, cells: pa.ChunkedArray, levels: int) -> None:
        """Check what the header of a page says of its cells, of which ``levels`` bytes say whether they have values."""
        key, entry = 5 if self.kind == DATA_PAGE else 8, self.entry
        if key in entry:
            figures = _plain_column(cells)[1]
            _same(entry[key], figures, FIGURES, figures)
        numbers = [len(cells), self.encoding, RUNS, RUNS]
        if self.kind == DATA_PAGE_2:
            numbers = [len(cells), cells.null_count, len(cells), self.encoding, levels, 0]
        due: dict[int, tuple[int, Any]] = {at: (I32, number) for at, number in enumerate(numbers, 1)}
        if self.kind == DATA_PAGE_2:
            due[7] = (TRUTH, entry.get(7))
        _same(entry, {**due, key: (STRUCT, entry.get(key))}, optional=(7, 8) if self.kind == DATA_PAGE_2 else (5,))


def _pages(data: memoryview, start: int, end: int) -> Iterator[_Page]:
    while start < end:
        page = _Page(data, start)
        yield page
        start = page.end


def _rewritten(table: pa.Table, **options: Any) -> bytes:
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, **options)
    return bytes(buffer.getvalue().to_pybytes())


def _plain_column(cells: pa.ChunkedArray) -> tuple[bytes, Struct]:
    """Return the bytes of cells one after another, without the missing ones, and the figures about them all."""
    table = pa.table([cells], schema=pa.schema([pa.field("", cells.type)]))
    file = memoryview(_rewritten(table, compression="none", use_dictionary=False, store_schema=False))
    footer, _ = _footer(file)
    if not footer[4]:
        return b"", Struct()
    meta = footer[4][0][1][0][3]
    pages = _pages(file, len(MAGIC), len(MAGIC) + meta[7])
    return b"".join(page.content(None)[0] for page in pages), meta.get(12, Struct())


# ---------------------------------------------------------------------------------------------------------------- bytes


def _unpacked(body: memoryview, codec: str | None, size: int) -> memoryview:
    """Return the content of a page, behind which nothing may be packed."""
    if codec is not None and len(body):
        if codec == "zstd":
            _need(_frame(body) == len(body), STRAY)
        body = memoryview(pa.decompress(pa.py_buffer(body), size, codec, asbytes=True))
    _need(len(body) == size, STATED)
    return body


def _frame(body: memoryview) -> int:
    """Return where the first frame of Zstandard ends (RFC 8878): decompression would pass over what follows."""
    _need(bytes(body[:4]) == ZSTD, STRAY)
    kind = body[4]
    alone = kind >> 5 & 1
    # the size is stated, no dictionary is used, and nothing is reserved
    _need(bool(alone or kind >> 6) and not kind & 0b11011, COMPRESSED)
    at = 5 + (not alone) + (alone, 2, 4, 8)[kind >> 6]
    last = 0
    while not last:
        block = int.from_bytes(body[at : at + 3], "little")
        last, what, size = block & 1, block >> 1 & 3, block >> 3
        _need(at + 3 <= len(body) and what != 3, COMPRESSED)
        at += 3 + (1 if what == 1 else size)
    return at + (4 if kind & 4 else 0)


def _check_runs(body: memoryview, width: int, number: int) -> None:
    """Check that runs of whole numbers of this many bits hold this many of them, and nothing behind."""
    reader = _Reader(body, 0)
    while number > 0:
        head = reader.varint()
        run, packed = head >> 1, head & 1
        _need(run > 0, STRAY)
        if not packed:
            _need(run <= number, STRAY)
            reader.bytes(-(-width // 8))
            number -= run
            continue
        bits = reader.bytes(run * width)
        if 8 * run > number:
            rest = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")[number * width :]
            _need(8 * run - number < 8 and not rest.any(), STRAY)
        number -= 8 * run
    _need(reader.at == len(body), STRAY)


def _footer(data: memoryview) -> tuple[Struct, int]:
    """Return what a file says of its parts, and where that begins."""
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    _need(bytes(data[:4]) == bytes(data[-4:]) == MAGIC and start >= 4, "is not a Parquet file")
    reader = _Reader(data, start)
    footer = reader.struct()
    _need(reader.at == len(data) - 8, STRAY)
    return footer, start


class _Reader:
    """Reads Thrift's compact protocol, if it is written in the shortest way."""

    def __init__(self, data: memoryview, at: int) -> None:
        self.data, self.at = data, at

    def bytes(self, size: int) -> memoryview:
        if not 0 <= size <= len(self.data) - self.at:
            raise IndexError
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        value = shift = 0
        while True:
            part = self.bytes(1)[0]
            value |= (part & 127) << shift
            if part < 128:
                _need(part > 0 or shift == 0, "writes numbers at greater length than needed")
                return value
            shift += 7

    def signed(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def struct(self) -> Struct:
        fields, last = Struct(), 0
        for head in iter(lambda: self.bytes(1)[0], 0):
            step, kind = head >> 4, head & 15
            _need(step > 0, "numbers its entries otherwise than Arrow does")
            last += step
            if kind == 9:
                fields[last] = self._list()
            else:
                fields[last] = (TRUTH if kind == 2 else kind), self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (I16, I32, I64):
            return self.signed()
        if kind == TEXT:
            return bytes(self.bytes(self.varint()))
        if kind == STRUCT:
            return self.struct()
        raise OtherwiseError(ENTRY)

    def _list(self) -> tuple[int, list[Any]]:
        head = self.bytes(1)[0]
        number = head >> 4 if head >> 4 < 15 else self.varint()
        return LIST * (head & 15), [self._value(head & 15) for _ in range(number)]
