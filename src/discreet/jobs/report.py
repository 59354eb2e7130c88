"""`report_files`: gathers the facts about a release for a privacy board, and writes them as a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from discreet.errors import DiscreetError
from discreet.jobs.audit import read_compared
from discreet.jobs.outputs import check_file, tell, write_file
from discreet.principles import parse
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.releases.folder import MANIFEST
from discreet.report.board import Context, Report, report
from discreet.report.charts import require
from discreet.table.addresses import addressed, files_among
from discreet.table.documents import toml
from discreet.table.paths import content, located
from discreet.table.texts import near


@dataclass(frozen=True, eq=False)
class ReportOutcome:
    """A report, and where it was written."""

    folder: str
    original: str | None
    page: str | None
    report: Report
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {**self.report.as_dict(), "folder": self.folder, "original": self.original, "page": self.page}


def report_files(
    folder: str,
    original: str | None = None,
    *,
    page: str | None = None,
    context: str | None = None,
    trace: str | None = None,
    population: str | None = None,
    promises: Sequence[str] = (),
    seed: int | None = None,
    force: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> ReportOutcome:
    """Report on a release, and write the page if it is named; with an original, it is read as the release says.

    ``context`` is a TOML file with the fields of `discreet.Context`, and ``reading`` has keys of a job. Nothing is
    printed. The callbacks are those of `discreet.jobs.carry_out.carry_out`.
    """
    remarks, progress = Remarks(remark), progress or no_progress
    said = None if context is None else read_context(context)
    asked = [parse(text) for text in promises]
    target = None
    if page is not None:
        inputs = {"the original": original, "the context": context, "the trace": trace, "the population": population}
        used = {f"{what}, '{path}'": located(path) for what, path in files_among(inputs).items()}
        target = check_file(page, "page", force, used, remarks)
        if (target.parent / MANIFEST).exists():
            raise DiscreetError(
                f"the page '{page}' would lie in the folder of a release, and be published with it; choose a place "
                "outside"
            )
        require("jinja2")
    tell(folder, remarks)
    progress("reading", 0.0)
    compared: dict[str, Any] = {}
    if original is not None:
        compared = read_compared(folder, original, population, reading or {}, remarks)._asdict()
    elif population is not None or any((reading or {}).values()):
        raise DiscreetError(
            "a population, and flags on how the original is read, are for a report with the original, which is not "
            "named; name it, or leave these out"
        )
    made = report(
        folder, trace=trace, promises=asked or None, context=said, random_state=seed, progress=progress, **compared
    )
    if target is not None:
        progress("drawing", 0.0)
        write_file(target, made.page().encode(), force, remarks)
    return ReportOutcome(folder, original and addressed(original), page, made, tuple(remarks.made))


def read_context(path: str) -> Context:
    """Read who receives a release, from a TOML file in which the recipient is mandatory."""
    what = f"the context '{path}'"
    try:
        text = content(located(path), what).decode()
    except UnicodeDecodeError:
        raise DiscreetError(f"{what} is not in UTF-8; save it as such") from None
    given = toml(text, what)
    known = [each.name for each in fields(Context)]
    for key, value in given.items():
        if key not in known:
            raise DiscreetError(f"{what} has a key {key!r}, which no report has; {near(key, known)}")
        if not isinstance(value, str | date):
            raise DiscreetError(f"{what} says {key} = {value!r}, which is not a text; put it in quotation marks")
    said = {key: str(value).strip() for key, value in given.items()}
    if not said.get("recipient"):
        raise DiscreetError(f'{what} does not say who receives the release; add a line recipient = "..."')
    return Context(**said)
