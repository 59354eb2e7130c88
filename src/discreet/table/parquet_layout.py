"""Finds in a Parquet file what its cells do not determine, whichever version of Arrow wrote it.

Versions of Arrow differ in how they compress, where pages end and which figures they note beside them. So files are not
compared byte by byte: every byte must belong to the footer or to a page, all parts of these must be known, the figures
in them must be those of the cells, and pages must hold the cells and nothing else. What is left free is how well a page
is compressed, and into which pages a column is divided.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

WRITER = r"parquet-cpp-arrow version \d{1,3}\.\d{1,3}\.\d{1,3}"
MAGIC = b"PAR1"
ZSTD = b"\x28\xb5\x2f\xfd"
CODECS = {0: None, 1: "snappy", 6: "zstd"}
"""The ways of compression that leave no room behind their content, by their numbers in files."""
PLAIN, RUNS, DICTIONARY_INDEX = 0, 3, (2, 8)
LIST_PAGE = 2
I16, I32, I64, TEXT, STRUCT = 4, 5, 6, 8, 12
TRUTH, LIST = 1, 16
"""A list of entries of a kind has the kind LIST times that."""
FILE = {1: I32, 2: LIST * STRUCT, 3: I64, 4: LIST * STRUCT, 6: TEXT, 7: LIST * STRUCT}
GROUP = {1: LIST * STRUCT, 2: I64, 3: I64, 5: I64, 6: I64, 7: I16}
CHUNK = {2: I64, 3: STRUCT}
COLUMN = {1: I32, 2: LIST * I32, 3: LIST * TEXT, 4: I32, 5: I64, 6: I64, 7: I64, 9: I64, 11: I64, 12: STRUCT}
COLUMN |= {13: LIST * STRUCT, 16: STRUCT}
ENCODING = {1: I32, 2: I32, 3: I32}
PAGE = {1: I32, 2: I32, 3: I32, 5: STRUCT, 7: STRUCT, 8: STRUCT}
LISTED = {1: I32, 2: I32, 3: TRUTH}
DATA = {1: I32, 2: I32, 3: I32, 4: I32, 5: STRUCT}
DATA_2 = {1: I32, 2: I32, 3: I32, 4: I32, 5: I32, 6: I32, 7: TRUTH, 8: STRUCT}
"""The entries of each part of a file that its cells determine, by their numbers in the format's definition."""
STRAY = "holds bytes that belong to no cell"
SIZES = "states sizes that are not those of its parts"
PLACES = "states places that are not its own"
COLUMNS = "describes its columns otherwise than Arrow does"
PAGES = "miscounts its pages"
CELLS = "miscounts its cells"
ENCODED = "is encoded unlike any page of ours"
COMPRESSED = "is compressed unlike any page of ours"
ENTRY = "has an entry that its cells do not need"
"""Faults that are found in several ways."""


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
        _File(table, written, options).check()
    except (OSError, pa.ArrowException, IndexError, KeyError, TypeError, ValueError):
        return "it is not a Parquet file as Arrow writes them"
    except OtherwiseError as fault:
        return f"it {fault}"
    return None


def _need(holds: bool, fault: str) -> None:
    if not holds:
        raise OtherwiseError(fault)


class _Page(NamedTuple):
    header: Struct
    body: memoryview


class _File:
    """A file beside the one that this version of Arrow writes for the same rows."""

    def __init__(self, table: pa.Table, written: bytes, options: dict[str, Any]) -> None:
        self.table, self.data = table, memoryview(written)
        self.footer, self.end = _footer(self.data)
        groups = self.footer[4]
        rows = max(groups[0][3], 1) if groups else None
        self.reference, _ = _footer(memoryview(_rewritten(table, **options, row_group_size=rows)))
        """What this version of Arrow says of the same rows."""

    def check(self) -> None:
        footer, reference = self.footer, self.reference
        writer = bytes(footer[6]).decode("ascii", "replace")
        _need(re.fullmatch(WRITER, writer) is not None, "names a writer that is not Arrow")
        _known(footer, FILE)
        _need(
            footer[1] in (1, 2) and footer.get(7, reference[7]) == reference[7],
            "states a format that Arrow does not write",
        )
        _need(footer[2] == reference[2] and footer[3] == reference[3], COLUMNS)
        _need(
            [group[3] for group in footer[4]] == [group[3] for group in reference[4]],
            "divides its rows into unequal parts",
        )
        at, start = len(MAGIC), 0
        for number, (group, expected) in enumerate(zip(footer[4], reference[4], strict=True)):
            _known(group, GROUP)
            metas = [chunk[3] for chunk in group[1]]
            _need(group[2] == sum(meta[6] for meta in metas), SIZES)
            _need(group.get(6) in (None, sum(meta[7] for meta in metas)), SIZES)
            _need(group.get(5, at) in (0, at) and group.get(7, number) == number, PLACES)
            for column, (chunk, meant) in enumerate(zip(group[1], expected[1], strict=True)):
                if writer == bytes(reference[6]).decode():
                    _need(chunk[3][4] == meant[3][4], "is compressed otherwise than this version of Arrow was told to")
                at = self._chunk(chunk, meant[3], self.table.column(column).slice(start, group[3]), at)
            start += group[3]
        _need(at == self.end, STRAY)

    def _chunk(self, chunk: Struct, reference: Struct, cells: pa.ChunkedArray, at: int) -> int:
        """Check the cells of one column in one group of rows, which begin ``at``; return where they end."""
        meta, start = chunk[3], at
        _known(chunk, CHUNK)
        _known(meta, COLUMN)
        _need(all(meta[key] == reference[key] for key in (1, 3, 5)), COLUMNS)
        for key in (12, 16):
            _figures(meta.get(key, Struct()), reference.get(key, Struct()))
        pages, sizes = [], [0, 0]
        while at < start + meta[7]:
            reader = _Reader(self.data, at)
            header = reader.struct()
            body = reader.bytes(header[3])
            pages.append((at, _Page(header, body)))
            for size, key in enumerate((2, 3)):
                sizes[size] += reader.at - at - header[3] + header[key]
            at = reader.at
        _need([meta[6], meta[7]] == sizes, SIZES)
        data = next((place for place, page in pages if page.header[1] != LIST_PAGE), 0)
        listed = start if pages and data != start else None
        _need(meta[9] == data and meta.get(11) == listed, PLACES)
        kinds = Counter(_kind(page.header) for _, page in pages)
        for count in meta.get(13, ()):  # older versions call all data pages alike
            _known(count, ENCODING)
            kind = (count[1] == LIST_PAGE, count[2])
            _need(count[1] in (0, 2, 3) and kinds.get(kind) == count[3], PAGES)
        _need(13 not in meta or len(meta[13]) == len(kinds), PAGES)
        encodings = sorted({RUNS, *(encoding for _, encoding in kinds)})
        _need(sorted(meta[2]) == encodings, "is encoded otherwise than it states")
        self._pages([page for _, page in pages], CODECS[meta[4]], cells)
        _need(chunk[2] in (0, at), PLACES)
        if chunk[2]:  # older versions repeat here what the footer says
            reader = _Reader(self.data, at)
            _need(reader.struct() == chunk, "says otherwise beside a column than in its footer")
            at = reader.at
        return at

    def _pages(self, pages: list[_Page], codec: str | None, cells: pa.ChunkedArray) -> None:
        """Check that pages hold given cells and nothing else."""
        listed, coded, start = None, 0, 0
        for page in pages:
            header = page.header
            if header[1] == LIST_PAGE:
                _need(listed is None, "has two lists of values for a column")
                _known(header, PAGE, 7)
                _known(header[7], LISTED)
                _need(header[7].get(3, False) is False and header[7][2] in (0, 2), "states an order of values")
                listed = bytes(_unpacked(page.body, codec, header[2])), header[7][1]
                continue
            body, levels, entry = _data(page, codec)
            number, encoding = entry[1], entry[2 if header[1] == 0 else 4]
            part = cells.slice(start, number)
            present, start = part.drop_null(), start + number
            _need(header[1] == 0 or (entry[2], entry[3]) == (part.null_count, number), CELLS)
            figures = entry.get(5 if header[1] == 0 else 8)
            if figures:
                _figures(figures, _plain_column(part)[1])
            _runs(levels, 1, number)
            if encoding in DICTIONARY_INDEX:
                _need(listed is not None and coded == start - number, ENCODED)
                coded = start
                _runs(body[1:], body[0], len(present))
            else:
                _need(encoding == PLAIN and bytes(body) == _plain_column(present)[0], STRAY)
        _need(start == len(cells), CELLS)
        if listed is not None:
            values = cells.slice(0, coded).drop_null().unique()
            _need(
                listed == (_plain_column(pa.chunked_array([values]))[0], len(values)), "lists values that do not occur"
            )


# -------------------------------------------------------------------------------------------------------------- figures


def _known(struct: Struct, kinds: dict[int, int], only: int = 0) -> None:
    """Check that all entries of a part are known, and ``only`` one of those that are parts themselves if given."""
    variants = {key for key, kind in kinds.items() if only and kind == STRUCT and key != only}
    known = all(kinds.get(key) == kind and key not in variants for key, (kind, _) in struct.items())
    _need(known, ENTRY)


def _figures(stated: Struct, reference: Struct) -> None:
    """Check figures about cells, some of which another version may leave out."""
    right = dict(reference.items())
    _need(all(right.get(key) == entry for key, entry in stated.items()), "states figures that are not its cells'")


def _kind(header: Struct) -> tuple[bool, int]:
    """Return whether a page lists values, and its encoding."""
    kind = header[1]
    return kind == LIST_PAGE, header[{0: 5, 2: 7, 3: 8}[kind]][4 if kind == 3 else 2]


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
    meta, content, at = footer[4][0][1][0][3], b"", len(MAGIC)
    while at < len(MAGIC) + meta[7]:
        reader = _Reader(file, at)
        header = reader.struct()
        content += bytes(_data(_Page(header, reader.bytes(header[3])), None)[0])
        at = reader.at
    return content, meta.get(12, Struct())


# ---------------------------------------------------------------------------------------------------------------- bytes


def _data(page: _Page, codec: str | None) -> tuple[memoryview, memoryview, Struct]:
    """Return the values of a page, which of its cells have one, and what its header says of them."""
    header = page.header
    if header[1] == 0:
        _known(header, PAGE, 5)
        _known(header[5], DATA)
        _need((header[5][3], header[5][4]) == (3, 3), ENCODED)
        body = _unpacked(page.body, codec, header[2])
        size = int.from_bytes(body[:4], "little")
        return body[4 + size :], body[4 : 4 + size], header[5]
    _need(header[1] == 3, "has a page that holds no cells")
    _known(header, PAGE, 8)
    entry = header[8]
    _known(entry, DATA_2)
    _need(entry[6] == 0, ENCODED)
    packed, size = page.body[entry[5] :], header[2] - entry[5]
    return _unpacked(packed, codec if entry.get(7, True) else None, size), page.body[: entry[5]], entry


def _unpacked(body: memoryview, codec: str | None, size: int) -> memoryview:
    """Return the content of a page, behind which nothing may be packed."""
    if codec is not None and len(body):
        if codec == "zstd":
            _need(_frame(body) == len(body), STRAY)
        body = memoryview(pa.decompress(pa.py_buffer(body), size, codec, asbytes=True))
    _need(len(body) == size, SIZES)
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


def _runs(body: memoryview, width: int, number: int) -> None:
    """Check that runs of whole numbers of so many bits hold so many of them, and nothing behind."""
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
