"""The files of a release: written beside their folder and renamed into place, read back from the folder alone."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.table.write import digest

MANIFEST = "release.json"
FORMAT_VERSION = 1
CHUNK = 1 << 18
"""Rows written at a time."""


# -------------------------------------------------------------------------------------------------------- the folder


def replace_folder(folder: str | os.PathLike[str], write: Callable[[Path], None], force: bool) -> Path:
    """Fill a new folder with ``write`` and put it in place of ``folder`` in one step, or leave everything as it was."""
    target = Path(folder).expanduser().absolute()
    if target.is_symlink():
        target = target.resolve()
    _check_target(target, force)
    token = secrets.token_hex(4)
    fresh = target.with_name(f".{target.name}.{token}.new")
    aside = target.with_name(f".{target.name}.{token}.old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir()
        write(fresh)
        for path in [*fresh.iterdir(), fresh]:
            _sync(path)
        if target.exists():
            target.rename(aside)
        try:
            fresh.rename(target)
        except OSError:
            if aside.exists():
                aside.rename(target)
            raise
        _sync(target.parent)
    except OSError as error:
        raise DiscreetError(
            f"the release could not be written to {str(target)!r} ({error.strerror or error}); nothing has changed"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
    return target


def _check_target(target: Path, force: bool) -> None:
    if target.is_dir():
        if not any(target.iterdir()):
            return
        if not force:
            raise DiscreetError(f"the folder {str(target)!r} is not empty; choose another, or --force to replace it")
        if not (target / MANIFEST).is_file():
            raise DiscreetError(
                f"the folder {str(target)!r} holds no release, so it is not replaced even with --force; choose another"
            )
    elif target.exists():
        raise DiscreetError(f"{str(target)!r} is a file; choose a folder for the release")


def _sync(path: Path) -> None:
    """Ask the system to put a file or folder on disk; where a folder cannot be asked, go on."""
    with contextlib.suppress(OSError, PermissionError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, one entry per line where lines stay readable."""
    (folder / MANIFEST).write_text(_laid_out(manifest) + "\n", encoding="utf-8")


def _laid_out(value: Any, indent: str = "") -> str:
    """JSON with short and innermost parts on one line: hierarchies have a line per leaf, not one per word."""
    line = json.dumps(value, ensure_ascii=False)
    parts = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    if not any(isinstance(part, (Mapping, list)) for part in parts) and (len(line) <= 100 or not parts):
        return line
    deeper = indent + "  "
    if isinstance(value, Mapping):
        inner = [f"{json.dumps(key, ensure_ascii=False)}: {_laid_out(part, deeper)}" for key, part in value.items()]
        return "{\n" + ",\n".join(deeper + part for part in inner) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + _laid_out(part, deeper) for part in parts) + f"\n{indent}]"


def read_manifest(folder: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """The folder of a release and its manifest, checked as far as every format shares it."""
    home = Path(folder).expanduser()
    home = home.parent if home.name == MANIFEST else home
    path = home / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DiscreetError(f"{str(home)!r} is not a release: it holds no {MANIFEST}") from None
    except OSError as error:
        raise DiscreetError(f"{str(path)!r} cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise DiscreetError(f"{str(path)!r} is not valid JSON ({error})") from None
    if not isinstance(manifest, dict):
        raise DiscreetError(f"{str(path)!r} is not a manifest: it holds no mapping")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        raise DiscreetError(
            f"{str(path)!r} has format version {version!r}, but this discreet reads version {FORMAT_VERSION}; "
            "use a version of discreet that knows it"
        )
    return home, manifest


# ------------------------------------------------------------------------------------------------------------- tables


def cell(text: str) -> str:
    """A text as one cell of a CSV file.

    >>> cell("Sales"), cell("[17, 24]")
    ('Sales', '"[17, 24]"')
    """
    if not text or any(mark in text for mark in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def write_csv(path: Path, header: Sequence[str], pieces: Sequence[tuple[Sequence[str], NDArray[Any]]]) -> str:
    """Write a table whose lines are put together from pieces (texts ready for CSV, and which one each row takes).

    Returns the digest of the file. The texts are few and the rows many, so a line is a join of texts looked up, and
    the buffer of the joined texts is the file.
    """
    hashed = hashlib.sha256()
    rows = len(pieces[0][1])
    last = len(pieces) - 1
    texts = [
        pa.array([text + ("\n" if at == last else "") for text in piece], pa.large_string())
        for at, (piece, _) in enumerate(pieces)
    ]
    with path.open("wb") as file:

        def put(data: Any) -> None:
            hashed.update(data)
            file.write(data)

        put((",".join(cell(name) for name in header) + "\n").encode())
        for start in range(0, rows, CHUNK):
            columns = [
                text.take(pa.array(which[start : start + CHUNK]))
                for text, (_, which) in zip(texts, pieces, strict=True)
            ]
            comma = pa.scalar(",", pa.large_string())
            lines = columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, comma)
            put(lines.buffers()[2])
    return hashed.hexdigest()


def write_parquet(path: Path, columns: Mapping[str, Any]) -> str:
    """Write a Parquet table; returns the digest of the file."""
    table = pa.table({name: _without_unused(column) for name, column in columns.items()})
    pyarrow.parquet.write_table(table, path, compression="zstd", store_schema=False)
    return digest(path)


def _without_unused(column: Any) -> Any:
    if not isinstance(column, pa.DictionaryArray):
        return column
    used = np.flatnonzero(np.bincount(column.indices.to_numpy(), minlength=len(column.dictionary)))
    place = np.zeros(len(column.dictionary), np.int32)
    place[used] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(
        pa.array(place[column.indices.to_numpy()]), column.dictionary.take(pa.array(used))
    )


def read_table(path: Path, names: Sequence[str]) -> dict[str, tuple[list[str], NDArray[Any]]]:
    """The columns of a table, each as its distinct texts and which of them each row holds.

    The first name is that of the group column, whose numbers are returned as they are, with no texts. An empty cell
    is the empty text.
    """
    group, *others = names
    try:
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path, read_dictionary=others)
        else:
            types = {name: pa.dictionary(pa.int32(), pa.string()) for name in others}
            table = pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(block_size=1 << 23),
                parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                convert_options=pyarrow.csv.ConvertOptions(column_types={group: pa.int64(), **types}),
            )
    except FileNotFoundError:
        raise DiscreetError(f"the release is incomplete: {path.name!r} is missing") from None
    except (pa.ArrowException, OSError) as error:
        raise DiscreetError(f"{path.name!r} of the release cannot be read ({str(error).splitlines()[0]})") from None
    if table.column_names != list(names):
        raise DiscreetError(
            f"{path.name!r} of the release has the columns {', '.join(table.column_names)}, "
            f"but its manifest says {', '.join(names)}"
        )
    result: dict[str, tuple[list[str], NDArray[Any]]] = {}
    ids = table.column(group)
    if ids.null_count or not pa.types.is_integer(ids.type):
        raise DiscreetError(f"the column {group!r} of {path.name!r} does not hold a whole number in every row")
    result[group] = ([], ids.to_numpy())
    for name in others:
        result[name] = _coded(table.column(name))
    return result


def _coded(column: Any) -> tuple[list[str], NDArray[Any]]:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    array = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    texts = ["" if text is None else _text(text) for text in array.dictionary.to_pylist()]
    codes = array.indices
    if codes.null_count:
        codes = codes.fill_null(len(texts))
        texts.append("")
    return texts, codes.to_numpy()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
