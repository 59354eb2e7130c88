"""`discreet publish --engine duckdb`: publishes a table that is larger than memory."""

from __future__ import annotations

from discreet.command.console import Exit, output, print_json, quiet, show_remark, watching
from discreet.command.render import rows_in_groups
from discreet.jobs.job import Job
from discreet.jobs.large import Large, carry_out_large


def publish_large(job: Job, as_json: bool) -> int:
    """Publish the table of a job, and show what was counted in the files."""
    with watching() as progress:
        outcome = carry_out_large(job, progress=progress, remark=show_remark)
    if as_json:
        print_json(outcome.as_dict())
    elif not quiet():
        show(outcome)
    return Exit.HOLDS


def show(outcome: Large) -> None:
    """Print the outcome of a job."""
    console, written = output(), outcome.written
    for promise, achieved in written.achieved.items():
        console.print(f"{promise} holds in every group, counted in the files: {achieved:g}.")
    console.print(rows_in_groups(written.rows, written.groups, 0))
    took = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in outcome.seconds.items())
    console.print(f"The release is in {outcome.job.output} ({took}).")
