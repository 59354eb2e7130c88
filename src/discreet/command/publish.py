"""`discreet publish`: turns a file into an audited release."""

from __future__ import annotations

from typing import Any

from discreet.command.console import Exit, complain, output, print_json, quiet, show_remark, watching
from discreet.command.flags import pairs, parsed
from discreet.command.render import rows_in_groups, show_audit
from discreet.errors import DiscreetError
from discreet.jobs.carry_out import Outcome
from discreet.jobs.carry_out import carry_out as carry_out_job
from discreet.jobs.job import Job, make_job


def publish(job: str | None, as_json: bool, **given: Any) -> int:
    """Publish a table, and show the audit of what was written."""
    made = gather(job, given)
    if made.engine != "memory":
        from discreet.command.large import publish_large  # imported late: few tables are so large

        return publish_large(made, as_json)
    outcome = carry_out(made)
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
    flags = {**parsed(given), "options": options}
    harmless = flags.pop("harmless")
    if harmless:
        options["harmless"] = "; ".join(harmless)
    made = make_job(job, flags)
    if harmless and (made.scheme or "").partition("(")[0].strip().lower() != "codip":
        raise DiscreetError("only the scheme codip knows harmless values; say --scheme codip, or leave out --harmless")
    return made


def carry_out(job: Job) -> Outcome:
    """Carry out a job, with its progress and its remarks on stderr."""
    with watching() as progress:
        return carry_out_job(job, progress=progress, remark=show_remark)


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
    if outcome.sizes is not None:
        console.print(outcome.sizes.sentence)
    if audit.holds and outcome.quality.sentence is not None:
        console.print(outcome.quality.sentence)
    unusable = 0 if outcome.table.unusable is None else len(outcome.table.unusable)
    options = outcome.scheme["options"]
    why = why_withheld(audit.withheld, unusable, float(options.get("withhold", 0)) > 0)
    if why is not None:
        console.print(why)
    if outcome.left_out:
        console.print(f"Columns not published: {', '.join(outcome.left_out)}.")
    took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in outcome.seconds.items())
    if audit.holds:
        place = outcome.job.output if outcome.job.output_table is None else outcome.job.place
        console.print(f"The release is in {place} ({took}).")
        if outcome.job.trace is not None:
            console.print(f"The trace is in {outcome.job.trace}: it is PRIVATE; keep it apart from the release.")
    else:
        console.print(f"Nothing was published ({took}).")
