"""What a file is, is told by its content, and a kind that is not read is called by its name."""

from __future__ import annotations

import gzip
import io
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import DiscreetError
from discreet.table.detect import detect

PEOPLE = pd.DataFrame({"age": [17, 20, 30], "city": ["Bath", "Köln", "Bonn"]})


def _buffered(write: object) -> bytes:
    sink = io.BytesIO()
    write(sink)  # type: ignore[operator]
    return sink.getvalue()


def foreign(folder: Path) -> dict[str, bytes]:
    """Files that are no tables that discreet reads, by what each has to be called."""
    packed = gzip.compress(_buffered(lambda sink: pq.write_table(pa.table({"age": [17]}), sink)))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, pa.schema({"age": pa.int64()})) as sink:
        sink.write_batch(pa.record_batch({"age": [17]}))
    return {
        "a program": Path(sys.executable).read_bytes()[:4096],
        "a Stata file": _buffered(lambda sink: PEOPLE.to_stata(sink, write_index=False, version=118))[:300],
        "a Stata file ": _buffered(lambda sink: PEOPLE[["age"]].to_stata(sink, write_index=False))[:300],
        "a Parquet file": packed,
        "an Arrow stream": gzip.compress(stream.getvalue().to_pybytes()),
        "an ORC or Avro file": _buffered(lambda sink: pyarrow.orc.write_table(pa.table({"age": [17]}), sink)),
        "a NumPy array": _buffered(lambda sink: np.save(sink, np.arange(3))),
        "pickled Python object": pickle.dumps(PEOPLE),
        "a PDF document": b"%PDF-1.7\n1 0 obj\n",
        "a web page": b"\n<!DOCTYPE html>\n<html><body>sign in</body></html>\n",
        "an SPSS file": b"$FL2@(#) SPSS DATA FILE\0\0",
        "a SAS file": bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0" + bytes(40),
        "a spreadsheet": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40),
    }


def test_files_of_other_kinds_are_called_by_their_names(tmp_path: Path) -> None:
    for name, data in foreign(tmp_path).items():
        (tmp_path / "people.csv").write_bytes(data)
        for ask in (
            lambda: dc.read(tmp_path / "people.csv", quasi=["age"]),
            lambda: dc.read(PEOPLE, quasi=["city"], hierarchies={"city": tmp_path / "people.csv"}),
        ):
            with pytest.raises(DiscreetError) as caught:
                ask()
            said = str(caught.value)
            assert name.strip() in said or "a gzip file" in said, (name, said)
            assert "; " in said and "\n" not in said, said


def test_bytes_of_no_known_kind_are_no_mistaken_encoding(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(bytes(range(128, 256)) * 9)
    with pytest.raises(DiscreetError, match="unrecognised file format") as caught:
        dc.read(tmp_path / "people.csv", quasi=["age"])
    assert "cannot be decoded as cp1252" not in str(caught.value)


@pytest.mark.parametrize("name", ["ORC", "MZ", "PAR1", "BZh9", "FEA1", "Rar!", "GIF8", "$FL2"])
def test_a_column_may_be_called_as_such_files_begin(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{name},b\n1,x\n2,y\n")
    assert dc.read(tmp_path / "t.csv", quasi=[name], sensitive="b").rows == 2


def test_each_kind_that_is_read_is_detected(tmp_path: Path) -> None:
    table = pa.table({"age": [17]})
    assert detect(_buffered(lambda sink: pq.write_table(table, sink))).kind == "parquet"
    assert detect(gzip.compress(b"age")).kind == "gzip" and detect(b"age,sex\n").kind == "text"
    assert detect("größe,city\n".encode("utf-16")).kind == "text" and detect(b"").kind == "text"
