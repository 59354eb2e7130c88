"""`discreet demo`: invents a table, publishes and audits it, and shows the result."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console
from rich.text import Text

from discreet.arguments import as_flags, command_line
from discreet.command.console import Exit, note, output, print_json, quiet, show_remark
from discreet.command.data import write_hierarchies, write_people
from discreet.command.publish import carry_out, show
from discreet.command.render import grid
from discreet.datasets import DOMAINS, census_arrow, census_hierarchies
from discreet.errors import DiscreetError
from discreet.jobs.carry_out import Outcome
from discreet.jobs.job import Job
from discreet.jobs.outputs import tell
from discreet.progress import Remarks
from discreet.releases import load
from discreet.releases.described import DescribedRelease
from discreet.releases.folder import check_folder
from discreet.table.paths import located
from discreet.unfinished import leftovers, removed_on_failure

QUASI = ("age", "gender", "education", "marital")
SENSITIVE = "occupation"
PROMISE = "k-anonymity(k=5) & beta-likeness(beta=2)"
INPUT, RELEASE, TRACE, TREES = "census.csv", "release", "private-trace.csv", "hierarchies"
SHOWN = 6


def demo(folder: str, rows: int, force: bool, as_json: bool) -> int:
    """Invent a census, publish and audit it, and show the result."""
    home = located(folder)
    with nullcontext() if home.exists() else removed_on_failure(home.absolute()):
        prepare(home, force)
        job = make_job(home, rows)
        note(f"Made {rows:,} people in {job.input}.")
        outcome = carry_out(job)
    if as_json:
        print_json({**outcome.as_dict(), "commands": commands(job)})
    elif not (quiet() and outcome.audit.holds):
        _show(output(), outcome)
    return Exit.HOLDS if outcome.audit.holds else Exit.VIOLATED


def prepare(home: Path, force: bool) -> None:
    """Prepare the folder: new, empty, or of an earlier demo, whose files are replaced; others need ``force``."""
    if home.exists() and not home.is_dir():
        raise DiscreetError(f"'{home}' is a file; choose a folder for the demo")
    if home.is_dir():
        ours = (INPUT, RELEASE, TRACE, TREES)
        for name in ours:
            tell(home / name, Remarks(show_remark))
        left = [path for name in ours for path in leftovers(home / name)]
        others = sorted(path.name for path in home.iterdir() if path.name not in ours and path not in left)
        if others and not force:
            raise DiscreetError(
                f"the folder '{home}' holds {others[0]!r}, which was not made by a demo; choose another folder, or "
                "--force to use this one and leave other files alone"
            )
        check_folder(home / RELEASE, force=True)
        if (home / INPUT).exists() and not (home / TREES).is_dir():
            raise DiscreetError(
                f"the folder '{home}' holds a {INPUT!r} that was not made by a demo; choose another folder"
            )
    (home / TREES).mkdir(parents=True, exist_ok=True)


def make_job(home: Path, rows: int) -> Job:
    """Write the invented table and its hierarchies; return the job that publishes it."""
    write_people(census_arrow(rows), home / INPUT, force=True)
    trees = {name: census_hierarchies()[name] for name in (*QUASI, SENSITIVE) if name in census_hierarchies()}
    write_hierarchies(trees, home / TREES, force=True)
    content: dict[str, Any] = {
        "input": str(home / INPUT),
        "output": str(home / RELEASE),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "promises": [PROMISE],
        "hierarchy_folder": str(home / TREES),
        "domains": {name: DOMAINS[name] for name in QUASI if name in DOMAINS},
        "trace": str(home / TRACE),
        "force": True,
    }
    return Job.of(content)


def commands(job: Job) -> list[str]:
    """Return the commands that do the same as the demo."""
    roles = [*as_flags("quasi", job.table.quasi), *as_flags("sensitive", job.table.sensitive)]
    trace = as_flags("trace", job.trace)
    look = ["discreet", "profile", job.input, *roles]
    words = ["discreet", "publish", job.input, "-o", job.output, *roles, "--promise", job.promises[0]]
    words += as_flags("hierarchies", job.table.hierarchy_folder)
    words += as_flags("domains", {name: (f"{low:g}", f"{high:g}") for name, (low, high) in job.table.domains.items()})
    check = ["discreet", "audit", job.output, "--original", job.input, *trace]
    return [command_line(line) for line in (look, [*words, *trace, "--force"], check)]


def _show(console: Console, outcome: Outcome) -> None:
    if outcome.audit.holds:
        console.print(Text("Some people, as they are in the table ...", style="bold"))
        before, after = _samples(outcome)
        console.print(grid([column.name for column in outcome.table.columns], before))
        console.print()
        console.print(Text("... and the groups in which they are published", style="bold"))
        names = ["group", "rows", *(column.name for column in outcome.table.quasi), f"{SENSITIVE}, most frequent"]
        console.print(grid(names, after))
        console.print()
    show(outcome)
    console.print()
    console.print("The same by hand:")
    for command in commands(outcome.job):
        console.print(f"  {command}")


def _samples(outcome: Outcome) -> tuple[list[list[str]], list[list[str]]]:
    """Return some rows of the table, and the groups in which they are published."""
    table, trace = outcome.table, outcome.trace
    release = cast("DescribedRelease", load(outcome.job.output))  # of the default scheme
    assert trace is not None
    rows = np.flatnonzero(trace >= 0)[:SHOWN].tolist()
    before = [[column.texts[column.codes[row]] for column in table.columns] for row in rows]
    after = []
    for row in rows:
        group = int(np.searchsorted(release.ids, trace[row]))
        counts = release.counts.line(group)
        most = int(counts.argmax())
        likely = f"{release.values[most]} ({counts[most]} of {counts.sum()})"
        after.append([str(release.ids[group]), str(counts.sum()), *release.description(group).values(), likely])
    return before, after
