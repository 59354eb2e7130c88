"""A file of SQL statements for `discreet query`: one per line, or ended by semicolons."""

from __future__ import annotations

import re
from typing import NamedTuple

from discreet.errors import DiscreetError
from discreet.table.paths import located

# a comment, a quoted text or name (which may contain anything, quotes doubled), a semicolon, or the end of a line
_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]\n]*\]?|;|\n""", re.DOTALL
)


class Statement(NamedTuple):
    """A SQL statement, and the line of its file in which it begins."""

    sql: str
    line: int


def read_statements(path: str) -> list[Statement]:
    """Read the statements of a file; a file without any is refused."""
    try:
        text = located(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DiscreetError(
            f"the file {path!r} is not text in UTF-8 (byte {error.start:,}); save it as UTF-8"
        ) from None
    statements = split_statements(text)
    if not statements:
        raise DiscreetError(f"the file {path!r} holds no statement; write one per line, such as SELECT COUNT(*) FROM t")
    return statements


def split_statements(text: str) -> list[Statement]:
    """Split a text into statements: at semicolons if it has any, else one per line; comments are left out.

    >>> split_statements("SELECT 1 -- one; two\\n\\nSELECT ';'\\n")
    [Statement(sql='SELECT 1', line=1), Statement(sql="SELECT ';'", line=3)]
    >>> split_statements("SELECT 1,\\n  2; SELECT 3")
    [Statement(sql='SELECT 1, 2', line=1), Statement(sql='SELECT 3', line=2)]
    """
    by_semicolon = any(token.group() == ";" for token in _TOKEN.finditer(text))
    statements: list[Statement] = []
    words, begins, line, at = "", 0, 1, 0

    def add(more: str) -> None:
        nonlocal words, begins
        if not words.strip() and more.strip():
            words, begins = "", line
        words += more.lstrip() if words.endswith(" ") else more

    def end() -> None:
        nonlocal words
        if words.strip():
            statements.append(Statement(words.strip(), begins))
        words = ""

    for token in _TOKEN.finditer(text):
        add(text[at : token.start()])
        at, piece = token.end(), token.group()
        if piece == ";" or (piece == "\n" and not by_semicolon):
            end()
        elif piece == "\n" or piece.startswith(("--", "/*")):
            words = f"{words.rstrip()} "
        else:
            add(piece)
        line += piece.count("\n")
    add(text[at:])
    end()
    return statements
