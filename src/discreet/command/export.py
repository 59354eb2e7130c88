"""`discreet export`: writes the tables of a release for other programs."""

from __future__ import annotations

from discreet.command.console import Exit, note, output, print_json, quiet, show_remark, watching
from discreet.command.render import grid
from discreet.jobs.export import export as export_tables


def export(folder: str, file: str, force: bool, as_json: bool) -> int:
    """Write the tables of a release for another program, and say where they are."""
    with watching() as progress:
        progress("exporting", 0.0)
        outcome = export_tables(folder, file, force=force, remark=show_remark)
    if as_json:
        print_json(outcome.as_dict())
    elif not quiet():
        console = output()
        lines = ((name, place, f"{outcome.rows[name]:,}") for name, place in outcome.tables.items())
        console.print(grid(["table", "file", "rows"], lines, right=(2,)))
        if outcome.renamed:
            console.print()
            console.print(grid(["in the file", "column"], outcome.renamed.items()))
        if outcome.scripts:
            note(f"To read it, run {' or '.join(outcome.scripts)} in its folder.")
    return Exit.HOLDS
