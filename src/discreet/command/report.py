"""`discreet report`: writes a page about a release that a privacy board can sign."""

from __future__ import annotations

from typing import Any

from discreet.command.console import Exit, internal_error, note, output, print_json, quiet, show_remark, watching
from discreet.command.flags import parsed
from discreet.command.interface import PAGE
from discreet.jobs.report import report_files


def report(folder: str, original: str | None, page: str | None, as_json: bool, **given: Any) -> int:
    """Report on a release, and show the verdict."""
    how = {key: given.pop(key) for key in ("context", "trace", "population", "promises", "seed", "force")}
    page = PAGE if page is None and not as_json else page
    with watching() as progress:
        outcome = report_files(
            folder, original, page=page, **how, reading=parsed(given), progress=progress, remark=show_remark
        )
    made = outcome.report
    if as_json:
        print_json(outcome.as_dict())
    elif not (quiet() and made.holds):
        if made.audit is not None:
            output().print(made.audit.verdict)
        else:
            output().print(f"Not audited against the original. {made.intact.sentence}")
        note(f"The {made.kind} report is in {page}.")
    for name, fault in ({} if made.campaign is None else made.campaign.failures).items():
        internal_error(fault, f"{name}: ")
    failed = made.campaign is not None and made.campaign.failures
    return Exit.VIOLATED if not made.holds else Exit.INTERNAL if failed else Exit.HOLDS
