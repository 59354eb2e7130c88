"""`discreet publish`: turns a file into an audited release."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from discreet.adversary.audit import Audit, audit
from discreet.command.console import Exit, complain, naming, note, output, print_json, quiet, watching
from discreet.command.job import Job, make_job
from discreet.command.outputs import check_output, check_trace, tidy
from discreet.command.reading import by_column, on_columns, on_memory, pairs, read_input
from discreet.command.render import rows_in_groups, show_audit
from discreet.disk import uninterrupted
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, parse, together
from discreet.principles.per_attribute import on_numbers
from discreet.publishing import publish as publish_table
from discreet.releases.passthrough import check_kept, check_quasi, kept_assumptions
from discreet.releases.placement import manifest_digest, place
from discreet.releases.trace import check_of_people, fill_trace
from discreet.report.profile import suggest_promise
from discreet.schemes import Scheme, make_scheme
from discreet.table.notes import formulas
from discreet.table.table import Table
from discreet.unfinished import settle, unfinished


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a job."""

    job: Job
    table: Table
    scheme: dict[str, Any]
    """The scheme and its options, as the manifest has them."""
    trace: NDArray[Any] | None
    """Private: the group of every input row."""
    audit: Audit
    left_out: list[str]
    """Columns of the input that are not published."""
    notes: list[str]
    """Notes on how columns were read."""
    seconds: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        held = self.audit.holds
        return {
            **self.audit.as_dict(),
            "folder": self.job.output if held else None,
            "trace": self.job.trace if held else None,
            "scheme": self.scheme,
            "missing": 0 if self.table.unusable is None else len(self.table.unusable),
            "left_out": self.left_out,
            "notes": self.notes,
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
        }


def publish(job: str | None, as_json: bool, **given: Any) -> int:
    """Publish a table, and show the audit of what was written."""
    outcome = carry_out(gather(job, given))
    if as_json:
        print_json(outcome.as_dict())
    elif not (quiet() and outcome.audit.holds):
        show(outcome)
    if not outcome.audit.holds:
        complain(
            "the audit of the new release FAILED, so it was not published; this should never happen: please report "
            "it with the command you ran"
        )
    return Exit.HOLDS if outcome.audit.holds else Exit.VIOLATED


def gather(job: str | None, given: dict[str, Any]) -> Job:
    """Build the job from a job file, if any, overridden by flags."""
    options = pairs("--option", given["options"], "effort=thorough")
    parsed = {**given, **by_column(given), "options": options}
    harmless = parsed.pop("harmless")
    if harmless:
        options["harmless"] = "; ".join(harmless)
    made = make_job(job, parsed)
    if harmless and (made.scheme or "").partition("(")[0].strip().lower() != "codip":
        raise DiscreetError("only the scheme codip knows harmless values; say --scheme codip, or leave out --harmless")
    return made


def carry_out(job: Job) -> Outcome:
    """Read, publish, save beside the target, audit the saved files, and move them into place if the audit holds."""
    target = check_output(job.output, job.force, job.files)
    trace = None if job.trace is None else check_trace(job.trace, target, job.force, job.files)
    clock = _Clock()

    before = manifest_digest(target)
    promise = together(parse(text) for text in job.promises)
    scheme = make_scheme(job.scheme, job.options, job.seed, promise)
    if trace is not None:
        check_of_people(scheme.makes)
    for sentence in _cautions(job, scheme, trace, before):
        note(f"Note: {sentence}")
    for remark in on_memory(job):
        note(remark)
    with watching() as progress:
        progress("reading", 0.0)
        table, left_out, remarks = read_input(job)
        check_kept(table)  # refuse before the work begins
        check_quasi(table)
        remarks += [f"Note: {sentence}" for sentence in _on_table(job, promise, table)]
        clock.lap("read")
        release = publish_table(table, promise, scheme, progress=progress, most_withheld=job.most_withheld)
        beside = [
            f"Note: the column {column!r} of the release holds randomised values: count {name!r} with discreet query, "
            "which undoes the randomisation, and not in the file."
            for column, name in release.randomised.items()
        ]
        clock.lap("publish")
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target) as staged, nullcontext() if trace is None else unfinished(trace) as staged_trace:
            progress("saving", 0.0)
            release.save(staged, job.format)
            if staged_trace is not None:
                with naming(str(trace)):
                    fill_trace(release, staged_trace)
            clock.lap("save")
            described, groups = release.manifest["scheme"], release.trace
            del release  # an audit reads the files, and needs the memory
            progress("auditing", 0.0)
            audited = audit(staged, table, trace=groups, promises=promise, progress=progress)
            clock.lap("audit")
            if audited.holds:
                pair = None if trace is None or staged_trace is None else (staged_trace, trace)
                with uninterrupted():
                    place(staged, target, before, job.force, pair)
                    settle(target)
                for path in filter(None, (target, trace)):
                    tidy(path)
    known = [f"Note: {sentence}" for sentence in _certain(promise, table, audited)]
    for remark in (*remarks, *beside, *known, *(f"Note: {sentence}" for sentence in _beyond_groups(promise, audited))):
        note(remark)
    notes = [remark.removeprefix("Note: ") for remark in (*on_columns(table), *beside, *known)]
    return Outcome(job, table, described, groups, audited, left_out, notes, clock.laps)


def _cautions(job: Job, scheme: Scheme, trace: Path | None, before: str | None) -> Iterator[str]:
    """Yield what to be careful about when a release is replaced, or is an experiment."""
    if job.seed is not None:
        yield "with --seed the release is an experiment: anyone who knows the seed can tell whose row is whose."
    if before is None:
        return
    sentences = [f"this replaces the release in '{job.output}'."]
    if scheme.holds_for_one_run:
        sentences.append(
            f"What the scheme {scheme.name!r} promises holds for one run: if both are of the same table, do not choose "
            "among the results, and keep no other."
        )
    else:
        sentences.append(
            "Who has that one, too, may learn more from both than from either: give away only one of them."
        )
    if trace is None or not trace.exists():
        sentences.append("A trace of it no longer fits.")
    yield " ".join(sentences)


def _on_table(job: Job, promise: Principle, table: Table) -> Iterator[str]:
    """Yield what to know about the columns of a table under a promise."""
    yield from kept_assumptions(table)
    for sentence in (*on_numbers(promise, table), *(formulas(table.columns) if job.format == "csv" else ())):
        yield f"{sentence}."
    if any("distance" in text for text in job.promises):
        return
    for part in promise.parts:
        for column in table.sensitive:
            if column.kind != "categorical" and part.about in (None, column.name):
                remark = part.remark(column.name, column.kind)
                if remark:
                    yield remark


def _certain(promise: Principle, table: Table, audited: Audit) -> Iterator[str]:
    """Yield whose value is known to anybody who finds their group, and which promise about it would help."""
    for found in audited.certain:
        column = next(column for column in table.sensitive if column.name == found.attribute)
        alone = replace(table, sensitive=(column,))
        advice = parse(suggest_promise(Prior.of(alone) if table.person is None else Prior.of_persons(alone)))
        if len(table.sensitive) > 1:
            advice = advice.naming(column.name)
        said = {str(part) for part in promise.parts}
        useful = advice.about_values and str(advice) not in said
        way = f'; ask for it to be protected as well, with --promise "{advice}"' if useful else ""
        yield f"{found.sentence}: whoever finds their group knows it{way}."


def _beyond_groups(promise: Principle, audited: Audit) -> Iterator[str]:
    """Yield what checks found that an attacker may believe beyond what single groups reveal."""
    names = ["all groups"] if promise.monotone else ["all groups", "unions"]
    if audited.presence is not None and audited.presence.above_weighed:
        names.append("common values")
    for check in audited.checks:
        if check.name in names:
            yield check.sentence


class _Clock:
    """Measures the seconds of each stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage], self._last = now - self._last, now


def why_withheld(withheld: int, unusable: int, allowed: bool) -> str | None:
    """Explain why rows were withheld if some of them lack a number; None otherwise.

    ``allowed`` says that the scheme may withhold further rows for a lower loss.

    >>> why_withheld(25, 1, False)
    'Of the withheld rows, 1 has a missing number; 24 more make the withheld rows keep the promise as one group. With
    --missing value no row is withheld for a missing number.'
    """
    if not unusable:
        return None
    if withheld == unusable:
        return "The withheld rows are those with a missing number."
    text = f"Of the withheld rows, {unusable:,} {'has' if unusable == 1 else 'have'} a missing number"
    makes = "makes" if withheld - unusable == 1 else "make"
    text += f"; {withheld - unusable:,} more {makes} the withheld rows keep the promise as one group"
    text += ", or the loss lower." if allowed else "."
    return f"{text} With --missing value no row is withheld for a missing number."


def show(outcome: Outcome) -> None:
    """Print the outcome of a job."""
    console, audit = output(), outcome.audit
    show_audit(console, audit, every_check=False)
    console.print()
    console.print(rows_in_groups(audit.rows, audit.groups, audit.withheld))
    unusable = 0 if outcome.table.unusable is None else len(outcome.table.unusable)
    options = outcome.scheme["options"]
    why = why_withheld(audit.withheld, unusable, float(options.get("withhold", 0)) > 0)
    if why is not None:
        console.print(why)
    if outcome.left_out:
        console.print(f"Columns not published: {', '.join(outcome.left_out)}.")
    took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in outcome.seconds.items())
    if audit.holds:
        console.print(f"The release is in {outcome.job.output} ({took}).")
        if outcome.job.trace is not None:
            console.print(f"The trace is in {outcome.job.trace}: it is PRIVATE; keep it apart from the release.")
    else:
        console.print(f"Nothing was published ({took}).")
