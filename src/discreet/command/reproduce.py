"""`discreet reproduce`: measures the experiments of the papers, and says which findings hold here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from discreet.command.console import Exit, note, output, print_json, watching
from discreet.command.render import grid
from discreet.errors import DiscreetError
from discreet.evidence.experiment import Experiment
from discreet.evidence.pictures import sentence, state
from discreet.evidence.registry import ALL, chosen
from discreet.evidence.results import Result
from discreet.evidence.run import PAGE
from discreet.evidence.run import reproduce as measure
from discreet.table.paths import located

LIST = "list"


def reproduce(
    names: tuple[str, ...], rows: int | None, data: str, quick: bool, seed: int, folder: str, as_json: bool
) -> int:
    """Measure experiments, or list them with what is known of each."""
    if LIST in names or not names:
        if set(names) - {LIST}:
            raise DiscreetError(f"{LIST!r} lists all experiments; give it alone")
        return show_list(chosen([ALL]), as_json)
    experiments = chosen(names)
    results = []
    with watching() as progress:
        for result in measure(
            experiments,
            Path(located(folder)),
            rows=rows,
            data=data,
            size="quick" if quick else "full",
            seed=seed,
            progress=progress,
        ):
            results.append(result)
            note(f"{result.experiment.name}: {state(result)}: {sentence(result)}")
    if as_json:
        print_json([result.as_dict() for result in results])
    elif results:
        show(results, folder)
    for experiment in experiments:
        if experiment.measure is None:
            note(f"{experiment.name}: cannot be run. {experiment.because}")
    return Exit.HOLDS


def show(results: Sequence[Result], folder: str) -> None:
    """Print which findings hold, and where more is found."""
    console = output()
    lines = [[one.experiment.name, Text(state(one)), one.experiment.found] for one in results]
    console.print(grid(["experiment", "here", "what the paper found"], lines))
    console.print(f"Measurements, plots and reasons are in '{folder}'; open {PAGE} there.")


def show_list(experiments: Sequence[Experiment], as_json: bool) -> int:
    """List experiments: what they found, and whether they can be run."""
    if as_json:
        print_json([described(one) for one in experiments])
        return Exit.HOLDS
    lines = [
        [one.name, one.title, one.found if one.measure else f"cannot be run: {one.because}"] for one in experiments
    ]
    output().print(grid(["experiment", "what is measured", "what the paper found"], lines))
    return Exit.HOLDS


def described(experiment: Experiment) -> dict[str, Any]:
    """An experiment as plain values."""
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "found": experiment.found,
        "rows": experiment.rows["full"],
        "quick_rows": experiment.rows["quick"],
        "cannot_be_run": None if experiment.measure else experiment.because,
    }
