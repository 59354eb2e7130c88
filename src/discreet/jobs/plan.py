"""`plan_file`: how strong a promise of each kind the table in a file can keep, with a plot if one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.families.codip.projections import Projections, projections
from discreet.jobs.outputs import check_file, write_file
from discreet.jobs.reading import read_to_look
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.report.charts import check_suffix, require_all
from discreet.report.frontier import drawn
from discreet.report.plan import Plan, plans
from discreet.table.addresses import addressed, files_among, title
from discreet.table.dependency import harmless_values
from discreet.table.sources import Source
from discreet.table.spec import TableSpec


@dataclass(frozen=True, eq=False)
class PlanOutcome:
    """What a table can promise, and where it was plotted."""

    input: str
    plans: list[Plan]
    """One of each sensitive attribute; one of the table if it has none."""
    projections: Projections | None
    """The ways to divide several sensitive attributes among tables."""
    plot: str | None
    remarks: tuple[Remark, ...]

    @property
    def feasible(self) -> bool:
        """Whether everything that was asked for can be kept."""
        return all(plan.feasible for plan in self.plans)

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        each = [plan.as_dict() for plan in self.plans]
        divided = self.projections
        document = each[0] if divided is None else {"plans": each, "projections": divided.as_dict()}
        return {"input": self.input, "plot": self.plot, **document}


def plan_file(
    input: str,
    *,
    epsilon: float | None = None,
    m: float | None = None,
    below: float | None = None,
    above: float | None = None,
    neighbourhood: str = "absolute",
    harmless: Sequence[str] = (),
    plot: str | None = None,
    force: bool = False,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> PlanOutcome:
    """Plan what to promise about a table; ``reading`` has the keys of a job that say how it is read.

    ``below`` and ``above`` are the widths of neighbourhoods that reach further on one side; epsilon is that of a side
    without one.

    Nothing is printed; the plot is written if one is named. The callbacks are those of
    `discreet.jobs.carry_out.carry_out`.
    """
    remarks, progress = Remarks(remark), progress or no_progress
    spec = TableSpec.of(reading or {}, missing="value")
    near = _near(neighbourhood, epsilon, below, above)
    used = files_among({"the input": input}) | spec.files
    target = None if plot is None else _check_plot(plot, used, force, remarks)
    progress("reading", 0.0)
    with Source(input) as source:
        table, on_reading = read_to_look(source, spec)
    progress("planning", 0.0)
    planned = plans(table, epsilon=epsilon, m=m, neighbourhood=near)
    divided = projections(table, harmless_values("; ".join(harmless))) if len(planned) > 1 else None
    if target is not None:
        progress("drawing", 0.0)
        suffix, heading = check_suffix(str(plot)), title(input)
        drawing = drawn(planned[0], suffix, heading) if divided is None else divided.drawn(suffix, heading)
        write_file(target, drawing, force, remarks)
    remarks.extend(on_reading)
    return PlanOutcome(addressed(input), planned, divided, plot, tuple(remarks.made))


def _near(
    neighbourhood: str, epsilon: float | None, below: float | None, above: float | None
) -> str | tuple[float, float]:
    """Return the kind of neighbourhoods, or their two widths if a side has one; refuse what does not fit together."""
    if below is None and above is None:
        return neighbourhood
    if neighbourhood != "absolute":
        raise DiscreetError(
            f"the widths below and above a number are differences, and {neighbourhood} neighbourhoods are about shares "
            "of a number; choose absolute ones"
        )
    if None not in (below, above) and epsilon is not None:
        raise DiscreetError("the widths below and above a number already say what is near; leave out epsilon")
    sides = [epsilon if side is None else side for side in (below, above)]
    if sides[0] is None or sides[1] is None:
        missing = "below" if sides[0] is None else "above"
        raise DiscreetError(
            f"a neighbourhood has two sides; say how far it reaches {missing}, or epsilon for that side"
        )
    return sides[0], sides[1]


def _check_plot(plot: str, used: Mapping[str, Path], force: bool, remarks: Remarks) -> Path:
    """Return the file for the plot; refuse it before the work begins if it cannot be written."""
    check_suffix(plot)
    require_all()
    return check_file(plot, "plot", force, used, remarks)
