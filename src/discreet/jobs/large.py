"""Tables that are larger than memory, published into a release in its place, and audited."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.adversary.audit import Audit
from discreet.arguments import argument
from discreet.disk import sync, uninterrupted
from discreet.engines.audit import audit
from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.engine import Engine
from discreet.engines.publish import Written, check_supported, publish
from discreet.engines.scale import Scale
from discreet.engines.source import Files, Readable
from discreet.engines.spark import SparkEngine, SparkTable
from discreet.errors import DiscreetError
from discreet.jobs.carry_out import cautions
from discreet.jobs.job import Job
from discreet.jobs.original import spec_with
from discreet.jobs.outputs import check_output, check_trace, tidy
from discreet.jobs.reading import split
from discreet.principles import Principle, conjunction, parse
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.releases.placement import manifest_digest, place, real_place, writing
from discreet.schemes import make_scheme
from discreet.table.hierarchy import PublishedHierarchy
from discreet.table.paths import located
from discreet.table.spec import TableSpec
from discreet.unfinished import settle, unfinished

OF_A_TASK = "2GB"
"""What one task of Spark may take, unless the job says otherwise."""


@dataclass(frozen=True)
class Large:
    """The result of a job whose rows were never all in memory."""

    job: Job
    written: Written
    remarks: tuple[Remark, ...]
    seconds: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        laps = {stage: round(seconds, 3) for stage, seconds in self.seconds.items()}
        return {"holds": True, "folder": self.job.output, **asdict(self.written), "seconds": laps}


def carry_out_large(
    job: Job,
    *,
    scale: Scale | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> Large:
    """Publish the file of a job, judge what was written, and move it into place.

    Nothing is printed; ``progress`` and ``remark`` are as in `carry_out`. The scale follows from the memory that the
    job allows, unless another is given.
    """
    start, remarks = time.perf_counter(), Remarks(remark)
    if job.output_table is not None:
        raise DiscreetError(
            f"the engine {job.engine} writes into no database yet; leave out {argument('output_table')}, or say "
            f"{argument('engine', 'memory')}"
        )
    target = check_output(job.output, job.force, job.files, remarks)
    trace = None if job.trace is None else check_trace(job.trace, target, job.force, job.files, remarks)
    before = manifest_digest(target)
    principle = conjunction(parse(text) for text in job.promises)
    scheme = make_scheme(job.scheme, job.options, job.seed, principle)
    source: Files | SparkTable = SparkTable(job.input, job.remote) if job.engine == "spark" else Files.of(job.input)
    if trace is not None and job.engine == "spark":
        raise DiscreetError("Spark keeps no order of rows, so that there is no trace; leave it out, or use duckdb")
    if job.engine != "spark" and (home := real_place(job.input)).is_dir() and home in target.parents:
        raise DiscreetError(f"the output '{job.output}' lies inside '{job.input}', which is read; choose another")
    cuts = check_supported(job.table, principle, scheme, job.engine)
    spec = split(job.table, source).offered()
    source.check_layout(spec)
    scheme = check_supported(spec, principle, cuts, job.engine)
    scale = scale or Scale.of(job.memory or (OF_A_TASK if job.engine == "spark" else None), len(spec.roles.published))
    remarks("caution", *cautions(job, scheme, trace, before))
    target.parent.mkdir(parents=True, exist_ok=True)
    staged_trace = nullcontext() if trace is None else unfinished(trace)
    with writing(target), unfinished(target) as staged, staged_trace as private:
        if private is not None:
            os.close(os.open(private, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        work = staged.with_name("work")
        work.mkdir(mode=0o700)
        with _opened(source, spec, scale, work) as engine:
            written = publish(
                engine, spec, principle, scheme, scale, work, staged, job.format, progress or no_progress, private
            )
        with uninterrupted():
            if private is not None:
                sync(private)
            place(staged, target, before, job.force, None if trace is None or private is None else (private, trace))
            settle(target)
        for path in filter(None, (target, trace)):
            tidy(path, remarks)
    seconds = {"published": time.perf_counter() - start}
    return Large(job, written, tuple(remarks.made), seconds)


@contextmanager
def _opened(source: Files | SparkTable, spec: TableSpec, scale: Scale, work: Path) -> Iterator[Engine]:
    """Open the engine that reads a source."""
    if isinstance(source, SparkTable):
        engine = SparkEngine(source, work)
        engine.check_shared()
        yield engine
        return
    with DuckdbEngine(Readable.of(source, spec, work), work / "database", scale.database) as base:
        yield base


def audit_large(
    folder: str,
    original: str,
    trace: str | None,
    promises: Sequence[Principle],
    given: Mapping[str, Any],
    memory: str | None,
    progress: Progress,
) -> Audit:
    """Audit a release in bounded memory, with what is needed meanwhile among the temporary files of the system.

    The original is read as the release says, unless ``given`` keys of a job say otherwise.
    """
    files = Files.of(original)
    spec, unsaid = spec_with(folder, files, given)
    spec = spec.offered()
    files.check_layout(spec)
    assumed = [name for name, tree in spec.trees.items() if isinstance(tree, PublishedHierarchy)]
    scale = Scale.of(memory, len(spec.roles.published))
    with TemporaryDirectory(prefix="discreet-") as home:
        work = Path(home)
        with _opened(files, spec, scale, work) as engine:
            return audit(
                folder,
                engine,
                spec,
                work,
                trace=None if trace is None else located(trace),
                promises=list(promises) or None,
                from_release=assumed,
                roles_from_release=unsaid,
                progress=progress,
            )
