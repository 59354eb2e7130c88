"""`discreet query`: how many rows satisfy some conditions, as a release tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from discreet.command import flags
from discreet.command.audit import reading_of
from discreet.command.console import HOLDS, note, number, output, percent, print_json, quiet, watching

if TYPE_CHECKING:
    from discreet.releases.release import Release
    from discreet.table.query import Query
    from discreet.table.table import Table


@click.command(short_help="Estimate a count from a release.")
@click.argument("folder", metavar="DIR", type=flags.FILE)
@click.argument("sql", metavar="SQL")
@flags.with_flags(
    click.option("--original", type=flags.FILE, metavar="INPUT", help="Count in the original too, and compare."),
    *flags.FORMATS,
    flags.JSON,
    flags.QUIET,
)
def query(folder: str, sql: str, original: str | None, as_json: bool, **reading: Any) -> int:
    """Estimate how many rows satisfy SQL, from the release in DIR alone.

    SQL is a count with conditions joined by AND: "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation =
    'Sales'". Conditions are =, <, <=, >, >=, BETWEEN and IN; texts stand in single quotes, and names with blanks or
    dashes in double ones. Withheld rows are not estimated.

    Counts by the values of some columns: "SELECT education, sex, COUNT(*) FROM t WHERE occupation = 'Sales' GROUP BY
    education, sex". Every combination of values that the release knows of is estimated; those at 0 are not listed.

    Exit code 0, or 2 for bad input.
    """
    with watching() as progress:
        progress("asking", 0.0)
        document, lines, remarks = _answered(folder, sql, original, reading)
    for remark in remarks:
        note(remark)
    if as_json:
        print_json(document)
    else:
        output().print("\n".join(lines))
    return HOLDS


def _answered(
    folder: str, sql: str, original: str | None, reading: dict[str, Any]
) -> tuple[dict[str, Any], list[str], list[str]]:
    """The answer as plain values, the same in lines, and remarks about the question."""
    from discreet.releases import load
    from discreet.table.sql_groups import has_groups

    release = load(folder)
    document: dict[str, Any] = {"folder": folder, "query": sql}
    if has_groups(sql):
        from discreet.command.query_groups import grouped_answer

        groups = release.grouping(sql)
        remarks = list(_unknown(release, groups.query))
        answer, lines = grouped_answer(release, groups, None if original is None else _read(original, folder, reading))
        document |= answer
    else:
        asked = release.query(sql)
        remarks = list(_unknown(release, asked))
        document["estimate"] = estimate = release.estimate(asked)
        lines = [f"About {number(estimate, 4)} of {release.rows:,} published rows."]
        if original is not None:
            exact = asked.count(_read(original, folder, reading))
            error = abs(estimate - exact) / exact if exact else None
            document |= {"exact": exact, "relative_error": error}
            away = "undefined, for there are none" if error is None else percent(error)
            lines.append(f"Exactly {exact:,} in the original; relative error {away}.")
        if quiet():  # the numbers alone, for a script
            lines = [repr(estimate)] if original is None else [f"{estimate!r} {document['exact']}"]
    if release.withheld and not quiet():
        lines.append(f"{release.withheld:,} withheld rows are not estimated.")
    document["rows"] = {"published": release.rows, "withheld": release.withheld}
    return document if original is None else {**document, "original": original}, lines, remarks


def _read(original: str, folder: str, reading: dict[str, Any]) -> Table:
    """The original, read as the release says."""
    from discreet.table.read import read

    return read(original, **reading_of(folder), **{key: value for key, value in reading.items() if value is not None})


def _unknown(release: Release, asked: Query) -> Iterator[str]:
    """Values asked for that the release does not list: no fault, since only withheld rows may hold them."""
    from discreet.table.query import OneOf
    from discreet.table.texts import near

    listed = {one.name: one.hierarchy.leaves if one.hierarchy else one.values for one in release.attributes}
    kinds = {one.name: one.kind for one in release.attributes}
    for condition in asked.conditions:
        known = listed[condition.attribute]
        if isinstance(condition, OneOf) and known and kinds[condition.attribute] != "numeric":
            for value in condition.values:
                if value not in known:
                    yield f"Note: column {condition.attribute!r} has no value {value!r}; {near(str(value), known)}"
