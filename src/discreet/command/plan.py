"""`discreet plan`: shows how strong a promise of each kind a table can keep."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.command import flags
from discreet.command.console import HOLDS, VIOLATED, note, number, output, print_json, watching
from discreet.table.paths import shown

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.report.plan import Plan, Strongest
    from discreet.report.projections import Projections
    from discreet.report.proximity_plan import ProximityPlan
    from discreet.table.moments import Notation


@click.command()
@click.argument("input", type=flags.FILE)
@flags.with_flags(
    *flags.ROLES,
    flags.PERSON,
    click.option("--epsilon", type=float, metavar="E", help="Numbers this close are similar: show the largest m."),
    click.option(
        "--m", type=float, metavar="M", help="At most 1/M of a group may be similar: show how large epsilon can be."
    ),
    click.option(
        "--neighbourhood",
        type=click.Choice(("absolute", "relative")),
        default="absolute",
        show_default=True,
        help="Whether epsilon is a difference of two numbers, or a share of the number.",
    ),
    click.option(
        "--plot",
        type=flags.FILE,
        metavar="FILE",
        help="Also plot which epsilon and m can be kept, or how to divide several attributes: .html, .svg or .png.",
    ),
    click.option("--force", is_flag=True, help="Replace an existing plot."),
    *flags.KINDS,
    *flags.FORMATS,
    *flags.SEVERAL,
    flags.HARMLESS,
    flags.JSON,
    flags.QUIET,
)
def plan(
    input: str,
    quasi: tuple[str, ...],
    sensitive: str | None,
    epsilon: float | None,
    m: float | None,
    neighbourhood: str,
    plot: str | None,
    force: bool,
    harmless: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Plan what to promise about INPUT: the strongest promise of every kind that some release of it can keep.

    For a numeric sensitive attribute, --epsilon asks for the largest m, --m for the largest epsilon, and both together
    ask whether they can be kept. Several sensitive attributes are planned for one by one, and ways to divide them among
    tables are shown (scheme codip): what they expose, and what they lose. Without --quasi, all other columns are
    treated as quasi-identifiers. With --person, promises are about persons, as in a release published with it.

    Exit code: 0, or 1 if --epsilon and --m cannot be kept together, or 2 for bad input.
    """
    from discreet.command.reading import read_to_look
    from discreet.report.plan import plans
    from discreet.report.projections import projections
    from discreet.table.dependency import harmless_values

    target = None if plot is None else _check_plot(plot, input, force, given)
    with watching() as progress:
        progress("reading", 0.0)
        table, remarks = read_to_look(input, quasi, sensitive, given)
        progress("planning", 0.0)
        found = plans(table, epsilon=epsilon, m=m, neighbourhood=neighbourhood)
        divided = projections(table, harmless_values("; ".join(harmless))) if len(found) > 1 else None
        if target is not None:
            from discreet.command.outputs import write_file
            from discreet.report.charts import check_suffix
            from discreet.report.frontier import drawn

            progress("drawing", 0.0)
            suffix, title = check_suffix(str(plot)), shown(Path(input).name)
            drawing = drawn(found[0], suffix, title) if divided is None else divided.drawn(suffix, title)
            write_file(target, drawing, force)
    for remark in remarks:
        note(remark)
    feasible = all(told.feasible for told in found)
    if as_json:
        each = [told.as_dict() for told in found]
        told_of = each[0] if divided is None else {"plans": each, "projections": divided.as_dict()}
        print_json({"input": input, "plot": plot, **told_of})
    else:
        for at, told in enumerate(found):
            if at:
                output().print()
            _show(output(), told)
        if divided is not None:
            _show_projections(output(), divided)
        if plot is not None:
            output().print()
            output().print(f"The plot is in {plot}; it contains no row of the table.")
    return HOLDS if feasible else VIOLATED


def _check_plot(plot: str, input: str, force: bool, given: dict[str, Any]) -> Path:
    """Return the file for the plot; refuse it before the work begins if it cannot be written."""
    from discreet.command.outputs import check_file
    from discreet.report.charts import check_suffix, require_all

    check_suffix(plot)
    require_all()
    trees, _ = flags.trees(given["hierarchies"])
    used = {"the input": Path(input)} | {f"the hierarchy of {name!r}": Path(path) for name, path in trees.items()}
    return check_file(plot, "plot", force, used)


# ------------------------------------------------------------------------------------------------------------ showing


def _show(console: Console, told: Plan) -> None:
    from discreet.command.render import grid

    about = "no sensitive attribute" if told.sensitive is None else f"sensitive attribute {told.sensitive!r}"
    persons = "" if told.persons == told.rows else f" about {told.persons:,} persons"
    console.print(f"{told.rows:,} {'row' if told.rows == 1 else 'rows'}{persons}, {about}.")
    console.print()
    table = grid("promise", "strongest", "why")
    for one in told.strongest:
        table.add_row(one.promise, _reached(one), one.sentence)
    console.print(table)
    if told.proximity is not None:
        console.print()
        _show_proximity(console, told.proximity, "number" if told.prior is None else told.prior.notation)


def _show_projections(console: Console, told: Projections) -> None:
    from discreet.command.render import grid

    console.print()
    console.print("Ways to divide the sensitive attributes among tables (scheme codip, by its option exposure):")
    console.print()
    table = grid("tables", "exposure", "association loss", "attributes in one table", right=(0, 1, 2))
    for one in told.by_tables():
        table.add_row(f"{len(one.tables)}", f"{one.exposure:.3f}", f"{one.association_loss:.3f}", one.text)
    console.print(table)
    console.print()
    console.print(
        "Exposure: whoever knows one of a person's values may learn those in the same table, 1 if all are in one."
    )
    console.print("Association loss: the share of what attributes tell about each other that is between tables.")


def _reached(one: Strongest) -> str:
    """Format the strongest parameter, rounded in the direction in which it can still be kept."""
    from discreet.principles.proximity import rounded_down

    if one.strongest is None:
        return "-"
    if one.strongest == 0.0 and one.parameter in ("t", "beta", "delta"):
        return f"any {one.parameter}"
    if math.isinf(one.strongest):
        return f"any {one.parameter}"
    if one.parameter == "v":
        return f"v={number(rounded_down(one.strongest), 6)}"
    if one.parameter in ("t", "beta", "delta"):
        return f"{one.parameter}={number(math.ceil(one.strongest * 1000.0 - 1e-7) / 1000.0, 6)}"
    return f"{one.parameter}={number(math.floor(one.strongest * 100.0 + 1e-7) / 100.0, 6)}"


def _show_proximity(console: Console, told: ProximityPlan, notation: Notation) -> None:
    from rich.text import Text

    from discreet.command.render import grid
    from discreet.principles.proximity import rounded_down

    unit = {"number": "", "date": " in days", "datetime": " in seconds"}[notation]
    of = f"a difference{unit}" if told.neighbourhood == "absolute" else "a share of the number"
    console.print(f"Numbers near to each other (proximity, {told.neighbourhood}: epsilon is {of}):")
    for at, sentence in enumerate(told.sentences):
        style = "" if told.feasible is None or at > 0 else "bold green" if told.feasible else "bold red"
        console.print(Text(f"  {sentence}", style=style))
    console.print()
    table = grid("epsilon", "largest m", right=(0, 1))
    for point in told.frontier:
        table.add_row(number(point.epsilon), f"{point.m:,}")
    console.print(table)
    if told.widths:
        console.print()
        table = grid("m", "epsilon below", right=(0, 1))
        for one in told.widths:
            most = "any up to 1" if told.neighbourhood == "relative" else "any"
            table.add_row(f"{one.m:,}", most if math.isinf(one.epsilon) else number(rounded_down(one.epsilon), 5))
        console.print(table)
