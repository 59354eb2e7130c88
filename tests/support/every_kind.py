"""Writes one table as every kind of file, and into every kind of database."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyreadstat

KINDS = (
    *("csv", "tsv", "csv.gz", "parquet", "feather", "arrow", "json", "jsonl", "xlsx", "ods"),
    *("dta", "sav", "xpt", "sqlite", "duckdb"),
)
"""How files of each kind end."""


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table as the kind of file that the name says; dates are dates where the kind has them."""
    texts = _with_texts(frame)
    match path.name.partition(".")[2]:
        case "csv" | "tsv" | "csv.gz" as ending:
            text = texts.to_csv(index=False, sep="\t" if ending == "tsv" else ",").encode()
            path.write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
        case "parquet":
            pq.write_table(_arrow(frame), path)
        case "feather":
            pyarrow.feather.write_feather(_arrow(frame), str(path))
        case "arrow":
            with pa.ipc.new_stream(str(path), _arrow(frame).schema) as writer:
                writer.write_table(_arrow(frame))
        case "json":
            path.write_text(json.dumps(_objects(texts)), encoding="utf-8")
        case "jsonl":
            path.write_text("".join(json.dumps(each) + "\n" for each in _objects(texts)), encoding="utf-8")
        case "xlsx":
            frame.to_excel(path, index=False, engine="xlsxwriter")
        case "ods":
            _write_ods(frame, path)
        case "dta":
            pyreadstat.write_dta(frame, str(path))
        case "sav":
            pyreadstat.write_sav(frame, str(path))
        case "xpt":
            pyreadstat.write_xport(frame, str(path))
        case "sqlite" | "db":
            with closing(sqlite3.connect(path)) as base:
                texts.to_sql("people", base, index=False)
        case "duckdb":
            with duckdb.connect(str(path)) as base:
                base.register("frame", _arrow(frame))
                base.execute("CREATE TABLE people AS SELECT * FROM frame")
        case other:
            raise ValueError(f"no file of the kind {other!r} is written")
    return path


def _with_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with dates as texts."""
    return frame.assign(born=[str(day) for day in frame["born"]]) if "born" in frame else frame


def _arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()


def _objects(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: cell for name, cell in each.items() if pd.notna(cell)} for each in frame.to_dict("records")]


def _write_ods(frame: pd.DataFrame, path: Path) -> None:
    """Write a spreadsheet of OpenDocument, of which pandas writes none without a package of its own."""

    def cell(value: Any) -> str:
        if pd.isna(value):
            return "<table:table-cell/>"
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        kind, name = ("float", "value") if isinstance(value, int | float) else ("date", "date-value")
        return f'<table:table-cell office:value-type="{kind}" office:{name}={quoteattr(str(value))}/>'

    lines = [list(frame.columns), *frame.astype(object).itertuples(index=False)]
    rows = "".join(f"<table:table-row>{''.join(map(cell, line))}</table:table-row>" for line in lines)
    spaces = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in SPACES)
    content = f'<table:table table:name="people">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{content}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        file.writestr("content.xml", f"<office:document-content{spaces}>{body}</office:document-content>")


SPACES = ("office", "table", "text")
