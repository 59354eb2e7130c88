"""`discreet plan`: shows how strong a promise of each kind a table can keep."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.command.console import Exit, number, output, print_json, show_remark, watching
from discreet.command.flags import parsed
from discreet.command.render import grid
from discreet.families.codip.projections import Projections
from discreet.jobs.plan import plan_file
from discreet.principles.proximity import rounded_down
from discreet.principles.wording import counted, rows
from discreet.report.plan import Plan
from discreet.report.proximity_plan import ProximityPlan
from discreet.table.date_numbers import Notation


def plan(input: str, plot: str | None, as_json: bool, **given: Any) -> int:
    """Show the strongest promises that a table can keep."""
    keys = ("epsilon", "m", "below", "above", "neighbourhood", "harmless", "force")
    asked = {key: given.pop(key) for key in keys}
    with watching() as progress:
        outcome = plan_file(input, **asked, plot=plot, reading=parsed(given), progress=progress, remark=show_remark)
    if as_json:
        print_json(outcome.as_dict())
    else:
        for at, plan in enumerate(outcome.plans):
            if at:
                output().print()
            show(output(), plan)
        if outcome.projections is not None:
            _show_projections(output(), outcome.projections)
        if plot is not None:
            output().print()
            output().print(f"The plot is in {plot}; it contains no row of the table.")
    return Exit.HOLDS if outcome.feasible else Exit.VIOLATED


# ------------------------------------------------------------------------------------------------------------ showing


def show(console: Console, plan: Plan) -> None:
    """Print what is planned about one sensitive attribute."""
    about = "no sensitive attribute" if plan.sensitive is None else f"sensitive attribute {plan.sensitive!r}"
    persons = "" if plan.persons == plan.rows else f" about {counted(plan.persons, 'person')}"
    console.print(f"{rows(plan.rows)}{persons}, {about}.")
    console.print()
    lines = ((strongest.promise, strongest.reached, strongest.sentence) for strongest in plan.strongest)
    console.print(grid(["promise", "strongest", "why"], lines))
    if plan.proximity is not None:
        console.print()
        _show_proximity(console, plan.proximity, "number" if plan.prior is None else plan.prior.notation)


def _show_projections(console: Console, divided: Projections) -> None:
    console.print()
    console.print("Ways to divide the sensitive attributes among tables (scheme codip, by its option exposure):")
    console.print()
    lines = (
        (str(len(each.tables)), f"{each.exposure:.3f}", f"{each.association_loss:.3f}", each.text)
        for each in divided.by_tables()
    )
    headings = ["tables", "exposure", "association loss", "attributes in one table"]
    console.print(grid(headings, lines, right=(0, 1, 2)))
    console.print()
    console.print(
        "Exposure: what an attacker who knows one of a person's values may learn of the others; 1 with a single table."
    )
    console.print("Association loss: the share of what attributes reveal about each other that is lost between tables.")


def _show_proximity(console: Console, plan: ProximityPlan, notation: Notation) -> None:
    unit = {"date": " in days", "datetime": " in seconds"}.get(str(notation), "")
    if plan.below is not None and plan.above is not None:
        what = f"from {number(plan.below)} below to {number(plan.above)} above{unit}"
    else:
        of = f"a difference{unit}" if plan.neighbourhood == "absolute" else "a share of the number"
        what = f"{plan.neighbourhood}: epsilon is {of}"
    console.print(f"Numbers near each other (proximity, {what}):")
    for at, sentence in enumerate(plan.sentences):
        style = "" if plan.feasible is None or at > 0 else "bold green" if plan.feasible else "bold red"
        console.print(Text(f"  {sentence}", style=style))
    if plan.frontier:
        points = ((number(point.epsilon), f"{point.m:,}") for point in plan.frontier)
        console.print()
        console.print(grid(["epsilon", "largest m"], points, right=(0, 1)))
    if plan.widths:
        most = "any up to 1" if plan.neighbourhood == "relative" else "any"
        widths = (
            (f"{width.m:,}", most if math.isinf(width.epsilon) else number(rounded_down(width.epsilon), 5))
            for width in plan.widths
        )
        console.print()
        console.print(grid(["m", "epsilon below"], widths, right=(0, 1)))
