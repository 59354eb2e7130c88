"""`compare_file`: publishes a table by several schemes, compares the releases, and draws a page and a plot of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.expressions import split
from discreet.jobs.job import Job
from discreet.jobs.outputs import check_file, tidy, write_file
from discreet.jobs.reading import read_input
from discreet.principles import conjunction, parse
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.report.charts import check_suffix, require_all
from discreet.report.compare import compare, contend, temporary_place
from discreet.report.comparison import Comparison
from discreet.report.equal import Equal
from discreet.report.tradeoff import SUFFIXES, drawn
from discreet.table.addresses import title

OF_ITS_RELEASE = ("scheme", "options", "format", "trace", "output_table", "force")
"""The keys of a job that concern only the release it publishes, and are ignored here."""


@dataclass(frozen=True, eq=False)
class CompareOutcome:
    """A comparison of schemes, and where it was drawn."""

    input: str
    comparison: Comparison
    page: str | None
    picture: str | None
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {"input": self.input, "page": self.page, "plot": self.picture, **self.comparison.as_dict()}


def compare_file(
    job: Job,
    schemes: Sequence[str] = (),
    *,
    at_once: bool = False,
    measured: Sequence[str] = (),
    page: str | None = None,
    picture: str | None = None,
    queries: int = 10_000,
    dimensions: int | None = None,
    selectivity: float | None = None,
    volume: float | None = None,
    workload: str | None = None,
    equal: str | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> CompareOutcome:
    """Compare schemes (all by default) on the table of a job, under each of its promises, or all of them ``at_once``.

    How far each release keeps the promises ``measured`` is reported as well.
    Nothing is published or printed; a page and a picture are written if any release could be made. The callbacks are
    those of `discreet.jobs.carry_out.carry_out`.
    """
    remarks, progress = Remarks(remark), progress or no_progress
    target = None if page is None else check_file(page, "page", job.force, job.files, remarks)
    drawing = None if picture is None else check_file(picture, "plot", job.force, job.files, remarks)
    suffix = "" if picture is None else check_suffix(picture, SUFFIXES)
    if target is not None or drawing is not None:
        require_all()
    promises = [parse(text) for text in job.promises]
    contenders = _contenders(schemes)
    if equal is not None:
        Equal.parse(equal)  # report a slip before the work begins
    tidy(temporary_place(), remarks)
    progress("reading", 0.0)
    table, _, on_reading = read_input(job, kept=False)
    comparison = compare(
        table,
        [conjunction(promises)] if at_once else promises,
        contenders,
        measured=measured,
        queries=queries,
        dimensions=dimensions,
        selectivity=selectivity,
        volume=volume,
        workload=workload,
        equal=equal,
        random_state=job.seed,
        progress=progress,
    )
    if target is not None and comparison.published:
        progress("drawing", 0.0)
        write_file(target, comparison.page(title(job.input)).encode(), job.force, remarks)
    if drawing is not None and comparison.published:
        progress("drawing", 0.0)
        write_file(drawing, drawn(comparison, suffix), job.force, remarks)
    remarks.extend(on_reading)
    page, picture = (page, picture) if comparison.published else (None, None)
    return CompareOutcome(job.input, comparison, page, picture, tuple(remarks.made))


def _contenders(texts: Sequence[str]) -> list[str] | None:
    """Split texts that list schemes; None if there are none."""
    schemes = [part.strip() for text in texts for part in split(text, ",") if part.strip()]
    contend(schemes)  # report a misspelt name before the work begins
    return schemes or None
