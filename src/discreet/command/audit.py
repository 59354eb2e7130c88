"""`discreet audit`: checks the promises of a release from its files and the original."""

from __future__ import annotations

from typing import Any

from discreet.command.console import Exit, output, print_json, quiet, show_remark, watching
from discreet.command.flags import parsed
from discreet.command.render import rows_in_groups, show_audit
from discreet.jobs.audit import audit_files


def audit(
    folder: str,
    original: str,
    trace: str | None,
    population: str | None,
    promises: tuple[str, ...],
    engine: str | None,
    memory: str | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Audit a release, and show the verdict."""
    with watching() as progress:
        outcome = audit_files(
            folder,
            original,
            trace=trace,
            population=population,
            promises=promises,
            reading=parsed(reading),
            engine=engine or "memory",
            memory=memory,
            progress=progress,
            remark=show_remark,
        )
    result = outcome.audit
    if as_json:
        print_json(outcome.as_dict())
    elif not (quiet() and result.holds):
        console = output()
        show_audit(console, result, every_check=not quiet())
        if result.losses and not quiet():
            console.print()
            console.print(rows_in_groups(result.rows, result.groups, result.withheld))
    return Exit.HOLDS if result.holds else Exit.VIOLATED
