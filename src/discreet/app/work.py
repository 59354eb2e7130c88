"""The long work of the app: each is one job, given plain values and returning plain values, in a process of its own."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from discreet.arguments import speaking_flags
from discreet.progress import Progress


def look(input: str, reading: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Profile a table, and suggest roles."""
    from discreet.jobs.profile import profile_file

    with speaking_flags():
        outcome = profile_file(input, reading=reading, progress=progress)
        notes = [str(note) for note in outcome.notes]
    return {
        **outcome.profile.as_dict(),
        "roles": None if outcome.roles is None else asdict(outcome.roles),
        "promises": list(outcome.promises),
        "scales": [asdict(scale) for scale in outcome.scales],
        "notes": notes,
    }


def tree(input: str, reading: dict[str, Any], column: str, kind: Any, progress: Progress) -> dict[str, Any]:
    """Make a hierarchy of a column to start from; return it with the column."""
    from discreet.jobs.hierarchy import init_hierarchy

    with speaking_flags():
        progress("reading", 0.0)
        made = init_hierarchy(input, column, kind, reading=reading)
        starter = made.starter
        recipe = starter.recipe is not None
        return {"column": made.column, "recipe": recipe, "texts": [starter.text]}


def advise(input: str, reading: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Try promises and schemes on a table."""
    from discreet.jobs.advise import advise_file
    from discreet.report.advice_picture import drawn

    with speaking_flags():
        outcome = advise_file(input, reading=reading, progress=progress)
        return {**_plain(outcome.as_dict()), "picture": drawn(outcome.advice)}


def publish(content: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Publish a table as a job says."""
    from discreet.jobs.carry_out import carry_out
    from discreet.jobs.job import Job

    with speaking_flags():
        outcome = carry_out(Job.of(content, "the form"), progress=progress)
        return _plain(
            {
                **outcome.as_dict(),
                "verdict": outcome.audit.verdict,
                "sizes": None if outcome.sizes is None else outcome.sizes.sentence,
                "good": outcome.quality.sentence,
                "remarks": [remark.sentence for remark in outcome.remarks],
            }
        )


def report(folder: str, original: str | None, page: str, progress: Progress) -> dict[str, Any]:
    """Write the page of a report."""
    from discreet.jobs.report import report_files

    with speaking_flags():
        made = report_files(folder, original, page=page, force=True, progress=progress).report
    return {"kind": made.kind, "holds": made.holds}


def check(folder: str, original: str, promises: list[str], progress: Progress) -> dict[str, Any]:
    """Audit a release."""
    from discreet.jobs.audit import audit_files

    with speaking_flags():
        outcome = audit_files(folder, original, promises=promises, progress=progress)
        return {**_plain(outcome.audit.as_dict()), "verdict": outcome.audit.verdict}


def count(folder: str, original: str, sql: str, progress: Progress) -> dict[str, Any]:
    """Estimate a count from a release, and count the original."""
    from discreet.analyst.answers import answers
    from discreet.jobs.audit import read_compared
    from discreet.progress import Remarks
    from discreet.releases import load
    from discreet.table.query import Query

    with speaking_flags():
        release = load(folder)
        asked = release.question(sql)
        (answer,) = answers(release, [asked])
        progress("reading", 0.0)
        table = read_compared(folder, original, None, {}, Remarks()).original
        return {
            "sql": sql,
            **answer.as_dict(),
            "notes": list(answer.notes),
            "truth": asked.count(table) if isinstance(asked, Query) else asked.of(table),
        }


def person(folder: str, original: str, row: int, progress: Progress) -> dict[str, Any]:
    """Say what is believed about a row."""
    from discreet.jobs.person import believed

    with speaking_flags():
        return _plain(believed(folder, original, row, progress=progress).as_dict())


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as JSON has it."""
    plain: dict[str, Any] = json.loads(json.dumps(document, default=lambda value: value.tolist()))
    return plain
