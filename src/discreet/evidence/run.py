"""`reproduce`: measures experiments one after the other, and writes each as soon as it is measured."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from discreet.errors import DiscreetError
from discreet.evidence.experiment import Experiment
from discreet.evidence.ground import GENERATED, Ground, Size, found
from discreet.evidence.pictures import markdown, page, picture
from discreet.evidence.results import Result, begun, file_of
from discreet.jobs.outputs import write_file
from discreet.progress import Progress, Remarks, no_progress
from discreet.report.charts import require_all

PAGE, SUMMARY = "reproduced.html", "reproduced.md"


def reproduce(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    rows: int | None = None,
    data: str = GENERATED,
    size: Size = "full",
    seed: int = 1,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Measure experiments, and yield the result of each when its files are written; a page of all of them at the end.

    What the folder holds already is not measured again.
    """
    require_all()
    if data != GENERATED:
        found(data)
    wanted = [one for one in experiments if one.measure is not None]
    grounds = [Ground(rows or one.rows[size], seed, data, size) for one in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    known = [begun(one, ground, folder) for one, ground in zip(wanted, grounds, strict=True)]
    clock = _Clock(sum(len(set(one.experiment.places) - set(one.done)) for one in known), progress or no_progress)
    results = []
    for result, ground in zip(known, grounds, strict=True):
        finished = _finished(result, ground, folder, clock)
        drawing = picture(finished)
        if drawing is not None:
            write_file(file_of(finished.experiment, folder).with_suffix(".svg"), drawing.encode(), True, Remarks())
        results.append(finished)
        yield finished
    write_file(folder / PAGE, page(results).encode(), True, Remarks())
    write_file(folder / SUMMARY, markdown(results).encode(), True, Remarks())


def _finished(result: Result, ground: Ground, folder: Path, clock: _Clock) -> Result:
    """Measure an experiment at the places that are left, and write the result after each."""
    experiment = result.experiment
    assert experiment.measure is not None
    for place in experiment.places:
        if place in result.done:
            continue
        clock.tell(f"{experiment.name}, {experiment.x.title} {place}")
        try:
            records = [{"x": place, **record} for record in experiment.measure(ground, place)]
        except DiscreetError as refusal:
            result = replace(result, refused=f"these data do not suit it: {refusal}.")
            result.save(folder)
            return result
        result = result.measured(place, records)
        clock.done += 1
        if not result.complete:
            result.save(folder)
    result.save(folder)  # what was measured before may be judged anew
    return result


class _Clock:
    """Tells how far the work is, and how long it will take."""

    def __init__(self, places: int, progress: Progress) -> None:
        self.places, self.progress, self.done = places, progress, 0
        self.start = time.monotonic()

    def tell(self, what: str) -> None:
        """Say what is measured now."""
        share = self.done / max(1, self.places)
        left = (time.monotonic() - self.start) * (1 - share) / share if share else None
        self.progress(what if left is None else f"{what} ({_minutes(left)} left)", share)


def _minutes(seconds: float) -> str:
    """A time in words.

    >>> _minutes(30), _minutes(200), _minutes(9000)
    ('less than a minute', '4 minutes', '2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    return f"{-(-seconds // 60):.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
