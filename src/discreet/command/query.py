"""`discreet query`: estimates counts from a release, for one query or a file of queries."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from discreet.analyst.answers import Answer, answers
from discreet.command.console import Exit, note, number, output, print_json, quiet, show_remark, watching
from discreet.command.flags import parsed
from discreet.errors import DiscreetError
from discreet.jobs.original import spec_with
from discreet.jobs.outputs import tell
from discreet.principles.wording import counted, percent
from discreet.progress import Progress, Remarks
from discreet.releases import load
from discreet.releases.release import AUTO, Release
from discreet.table.grouping import GroupBy
from discreet.table.paths import located
from discreet.table.query import Query
from discreet.table.read import table_of
from discreet.table.sources import Source
from discreet.table.sql import has_groups
from discreet.table.table import Table
from discreet.table.texts import MISSING
from discreet.table.total import Total

if TYPE_CHECKING:
    from discreet.releases.release import Question

# a comment, a quoted text or name (which may contain anything, quotes doubled), a semicolon, or the end of a line
_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]\n]*\]?|;|\n""", re.DOTALL
)


def query(
    folder: str,
    sql: str | None,
    file: str | None,
    original: str | None,
    estimator: str | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Estimate counts from a release, and show them."""
    tell(folder, Remarks(show_remark))
    if (sql is None) == (file is None):
        raise DiscreetError("a query is SQL or a file of queries (-f); give exactly one of them")
    with watching() as progress:
        progress("asking", 0.0)
        asked = [SqlStatement(sql, 0)] if sql is not None else read_statements(cast(str, file))
        release = load(folder)
        chosen = release.estimator_named(AUTO if estimator is None else estimator)
        found = _answered(folder, release, chosen, asked, file, original, parsed(reading), progress)
    for answer in found:
        for remark in answer.remarks:
            note(remark)
    if as_json:
        documents = [answer.document for answer in found]
        print_json(documents[0] if file is None else documents)
    else:
        if quiet():  # the numbers alone, for a script
            lines = [line for answer in found for line in answer.bare]
        else:
            named = [
                (answer.lines if file is None else [answer.document["query"], *answer.lines, ""]) for answer in found
            ]
            lines = [line for each in named for line in each]
        withheld = release.withheld
        if withheld and not quiet():
            lines.append(f"{counted(withheld, 'withheld row')} {'is' if withheld == 1 else 'are'} not estimated.")
        if estimator is not None and not quiet():
            lines.append(f"Estimator {chosen}: {release.estimators.get(chosen, 'the usual one of each table')}.")
        console = output()
        for line in lines[: len(lines) - (lines[-1] == "")]:
            console.print(line)
    return Exit.HOLDS


@dataclass(frozen=True)
class _Answer:
    """The answer to one query, as a JSON document and as lines of text."""

    document: dict[str, Any]
    lines: list[str]
    remarks: list[str]

    @property
    def bare(self) -> list[str]:
        """Only the numbers of a single count; grouped counts as they are."""
        if "estimate" not in self.document:
            return self.lines
        exact = self.document.get("exact")
        estimate = self.document["estimate"]
        return [("nan" if estimate is None else repr(estimate)) + ("" if exact is None else f" {exact}")]


def _answered(
    folder: str,
    release: Release,
    estimator: str,
    statements: Sequence[SqlStatement],
    file: str | None,
    original: str | None,
    reading: dict[str, Any],
    progress: Progress,
) -> list[_Answer]:
    """Answer all statements; if one of them cannot be answered, raise an error instead."""
    asked: list[GroupBy | Question] = []
    for statement in statements:
        with _naming(statement, file):
            sql = statement.sql
            asked.append(release.grouping(sql) if has_groups(sql) else release.question(sql))
    counts = [at for at, question in enumerate(asked) if not isinstance(question, GroupBy)]
    estimates = dict(zip(counts, _estimated(release, estimator, statements, asked, counts, file), strict=True))
    table = None
    if original is not None:
        with Source(original) as source:
            table = table_of(source, spec_with(folder, source, reading)[0])
    made = []
    for at, (statement, question) in enumerate(zip(statements, asked, strict=True)):
        progress("asking", at / len(asked))
        with _naming(statement, file):
            if isinstance(question, GroupBy):
                answer, lines = _grouped(release, estimator, question, table)
            else:
                answer, lines = _counted(estimates[at], question, release, table)
        document = {"folder": folder, "query": statement.sql, **({} if file is None else {"line": statement.line})}
        document |= answer | {"estimator": estimator, "rows": {"published": release.rows, "withheld": release.withheld}}
        document |= {} if original is None else {"original": original}
        notes = list(release.notes(question if isinstance(question, Query) else question.query, _named(question)))
        document |= {"notes": notes}
        remarks = [f"Note: {remark}{'' if remark.endswith('?') else '.'}" for remark in notes]
        made.append(_Answer(document, lines, remarks))
    return made


@contextmanager
def _naming(statement: SqlStatement, file: str | None) -> Iterator[None]:
    """Add the line of a statement in its file to errors about it."""
    try:
        yield
    except DiscreetError as error:
        raise error if file is None else DiscreetError(f"line {statement.line:,} of {file!r}: {error}") from None


def _estimated(
    release: Release,
    estimator: str,
    statements: Sequence[SqlStatement],
    asked: Sequence[Any],
    counts: Sequence[int],
    file: str | None,
) -> list[Answer]:
    """Estimate all single counts in one call, which is faster; on an error, find the statement at fault."""
    try:
        return answers(release, [asked[at] for at in counts], estimator)
    except DiscreetError:
        for at in counts:
            with _naming(statements[at], file):
                release.estimate(asked[at], estimator)
        raise


def _counted(
    answer: Answer, asked: Question, release: Release, original: Table | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the answer to a single question as plain values and as lines; with the original also the exact one."""
    if isinstance(asked, Total):
        return _added(answer, asked, release, original)
    estimate, document = answer.estimate, answer.as_dict()
    if estimate == answer.least == answer.most:
        lines = [f"{answer.least:,.0f} of {counted(release.rows, 'published row')}, for certain."]
    else:
        lines = [f"About {number(estimate, 4)} of {counted(release.rows, 'published row')}."]
    if answer.low is not None and answer.high is not None and answer.low < answer.high:
        lines.append(f"In 95 of 100 cases between {number(answer.low, 4)} and {number(answer.high, 4)}.")
    if answer.least is not None and answer.most is not None and answer.least < answer.most:
        lines.append(f"For certain between {answer.least:,.0f} and {answer.most:,.0f}.")
    if original is None:
        return document, lines
    exact = asked.count(original)
    error = abs(estimate - exact) / exact if exact else None
    away = "undefined, because there are none" if error is None else percent(error)
    lines.append(f"Exactly {exact:,} in the original; relative error {away}.")
    return {**document, "exact": exact, "relative_error": error}, lines


def _added(answer: Answer, asked: Total, release: Release, original: Table | None) -> tuple[dict[str, Any], list[str]]:
    """Return the answer to a single sum or mean as plain values and as lines."""
    over = f"over {counted(release.rows, 'published row')}"
    document = answer.as_dict() | {"estimate": _known(answer.estimate)}
    if document["estimate"] is None:
        lines = [f"No row that is asked for has a number, {over}."]
    elif answer.estimate == answer.least == answer.most:
        lines = [f"{number(answer.estimate, 6)} {over}, for certain."]
    else:
        lines = [f"About {number(answer.estimate, 6)} {over}."]
    if answer.least is not None and answer.most is not None and answer.least < answer.most:
        lines.append(f"For certain between {number(answer.least, 6)} and {number(answer.most, 6)}.")
    if original is None:
        return document, lines
    exact = asked.of(original)
    error = _known(abs(answer.estimate - exact) / abs(exact)) if exact else None
    away = "undefined" if error is None else percent(error)
    lines.append(f"Exactly {number(exact, 6)} in the original; relative error {away}.")
    return {**document, "exact": _known(exact), "relative_error": error}, lines


def _known(value: float) -> float | None:
    """Return a number, or None for what JSON has no number for: the mean of no rows."""
    return None if math.isnan(value) else value


def _named(question: GroupBy | Question) -> tuple[str, ...]:
    """Return the columns that a question groups by, and adds up."""
    grouped = question.attributes if isinstance(question, GroupBy) else ()
    measure = None if isinstance(question, Query) else question.measure
    return grouped if measure is None else (*grouped, measure.attribute)


def _grouped(
    release: Release, estimator: str, asked: GroupBy, original: Table | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the answer to a grouped count, as a document and as lines.

    With the original, cells that only the original has are listed too, estimated at 0.
    """
    headings = [heading for name, heading in asked.shown if name is not None]
    counts = next(heading for name, heading in asked.shown if name is None)
    estimated = _by_cell(release.group_by(asked, estimator), headings, counts)
    exact = None if original is None else _by_cell(asked.count(original), headings, counts)
    cells = list(estimated) if exact is None else list(dict.fromkeys([*estimated, *exact]))
    listed: list[dict[str, Any]] = []
    for cell in cells:
        estimate = _known(estimated.get(cell, 0.0))
        line: dict[str, Any] = {"values": dict(zip(headings, cell, strict=True)), "estimate": estimate}
        listed.append(line if exact is None else {**line, "exact": _known(exact.get(cell, 0))})
    document: dict[str, Any] = {"cells": listed}
    rows = [[*(heading for _, heading in asked.shown), *(["exactly"] if exact is not None else [])]]
    for line in listed:
        words = [
            number(line["estimate"], 4) if name is None else _on_one_line(line["values"][heading])
            for name, heading in asked.shown
        ]
        rows.append([*words, number(line["exact"], 6)] if exact is not None else words)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if exact is not None:
        there = [line for line in listed if line["exact"]]
        errors = [abs((line["estimate"] or 0.0) - line["exact"]) / abs(line["exact"]) for line in there]
        error = sum(errors) / len(errors) if errors else None
        document["mean_relative_error"] = error
        away = "undefined, because no row satisfies the conditions" if error is None else percent(error)
        lines += ["", f"Mean relative error over the {counted(len(there), 'cell')} that the original has: {away}."]
        if len(there) < len(listed):
            more = len(listed) - len(there)
            are = "is" if more == 1 else "are"
            lines.append(f"{counted(more, 'cell')} {are} estimated above 0 where the original has no row.")
    return document, lines


def _by_cell(table: Any, headings: list[str], counts: str) -> dict[tuple[float | str, ...], Any]:
    columns = [table.column(heading).to_pylist() for heading in headings]
    amounts = table.column(counts).to_pylist()
    return dict(zip(zip(*columns, strict=True), amounts, strict=True)) if columns else {(): amounts[0]}


def _on_one_line(value: Any) -> str:
    """Return a value as printable text on one line."""
    text = MISSING if value is None else str(value)
    return text if text.isprintable() else repr(text)


# ------------------------------------------------------------------------------------------------- files of queries


class SqlStatement(NamedTuple):
    """A SQL statement, and the line of its file in which it begins."""

    sql: str
    line: int


def read_statements(path: str) -> list[SqlStatement]:
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


def split_statements(text: str) -> list[SqlStatement]:
    """Split a text into statements: at semicolons if it has any, else one per line; comments are left out.

    >>> split_statements("SELECT 1 -- one; two\\n\\nSELECT ';'\\n")
    [SqlStatement(sql='SELECT 1', line=1), SqlStatement(sql="SELECT ';'", line=3)]
    >>> split_statements("SELECT 1,\\n  2; SELECT 3")
    [SqlStatement(sql='SELECT 1, 2', line=1), SqlStatement(sql='SELECT 3', line=2)]
    """
    by_semicolon = any(token.group() == ";" for token in _TOKEN.finditer(text))
    statements: list[SqlStatement] = []
    words, begins, line, at = "", 0, 1, 0

    def add(more: str) -> None:
        nonlocal words, begins
        if not words.strip() and more.strip():
            words, begins = "", line
        words += more.lstrip() if words.endswith(" ") else more

    def end() -> None:
        nonlocal words
        if words.strip():
            statements.append(SqlStatement(words.strip(), begins))
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
