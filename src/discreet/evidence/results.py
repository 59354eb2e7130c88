"""A result: what was measured in an experiment, under which settings, and whether the finding holds; as JSON and
Parquet. What is there already is not measured again."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.arguments import argument, as_flags, command_line
from discreet.errors import DiscreetError
from discreet.evidence.claims import Record, Verdict
from discreet.evidence.experiment import Experiment, Place
from discreet.evidence.ground import GENERATED, Ground
from discreet.jobs.outputs import write_files
from discreet.progress import Remarks
from discreet.version import __version__


@dataclass(frozen=True)
class Settings:
    """What the figures of a result depend on, beside the experiment."""

    rows: int
    seed: int
    data: str
    size: str
    version: str = __version__

    @classmethod
    def of(cls, ground: Ground) -> Settings:
        """Those of a ground."""
        return cls(ground.rows, ground.seed, ground.data, ground.size)


@dataclass(frozen=True)
class Result:
    """An experiment as far as it was measured."""

    experiment: Experiment
    settings: Settings
    records: list[Record] = field(default_factory=list)
    done: tuple[Place, ...] = ()
    refused: str = ""
    """Why it cannot be run on these data."""

    @property
    def complete(self) -> bool:
        """Whether all places were measured."""
        return not self.refused and bool(self.done) and set(self.experiment.places) <= set(self.done)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the finding holds; None where it was not measured."""
        return self.experiment.judge(self.records) if self.complete else None

    @property
    def command(self) -> str:
        """What is typed to repeat it."""
        given = self.settings
        words = ["discreet", "reproduce", self.experiment.name]
        words += [*as_flags("rows", str(given.rows)), *as_flags("seed", str(given.seed))]
        words += as_flags("quick") if given.size == "quick" else []
        words += as_flags("data", given.data) if given.data != GENERATED else []
        return command_line(words)

    def measured(self, place: Place, records: list[Record]) -> Result:
        """The result with what was measured at one more place."""
        return replace(self, records=[*self.records, *records], done=(*self.done, place))

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values, for JSON."""
        experiment, verdict = self.experiment, self.verdict
        return {
            "experiment": experiment.name,
            "title": experiment.title,
            "found": experiment.found,
            "command": self.command,
            **asdict(self.settings),
            "holds": None if verdict is None else verdict.holds,
            "sentence": self.refused if verdict is None else verdict.sentence,
            "figures": {} if verdict is None else {name: _plain(value) for name, value in verdict.figures.items()},
            "done": list(self.done),
            "records": [{name: _plain(value) for name, value in one.items()} for one in self.records],
        }

    def save(self, folder: Path) -> None:
        """Write the result, and as Parquet what was measured."""
        path = file_of(self.experiment, folder)
        text = json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n"
        writers = {path: lambda fresh: fresh.write_text(text, encoding="utf-8")}
        if self.complete:
            writers[path.with_suffix(".parquet")] = lambda fresh: pq.write_table(self.as_arrow(), fresh)
        write_files(writers, True, Remarks())

    def as_arrow(self) -> pa.Table:
        """What was measured as a table, with the settings as its metadata."""
        names = dict.fromkeys(name for one in self.records for name in one)
        columns = {name: [_plain(one.get(name)) for one in self.records] for name in names}
        notes = {"experiment": self.experiment.name, "command": self.command, **asdict(self.settings)}
        return pa.table(columns).replace_schema_metadata({name: str(value) for name, value in notes.items()})


def _plain(value: Any) -> Any:
    """A value as JSON has it; numbers that it lacks become null."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def file_of(experiment: Experiment, folder: Path) -> Path:
    """The JSON file of a result."""
    return folder / f"{experiment.paper}-{experiment.figure}.json"


def begun(experiment: Experiment, ground: Ground, folder: Path) -> Result:
    """What a folder holds of an experiment, or a result to begin with; refuse what has other settings or is no result.

    Whoever changes the settings would otherwise lose what took hours.
    """
    path, settings = file_of(experiment, folder), Settings.of(ground)
    fresh = Result(experiment, settings)
    if not path.exists():
        return fresh
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        before = Settings(**{name: found[name] for name in asdict(settings)})
        records, done = list(found["records"]), tuple(found["done"])
    except (ValueError, KeyError, TypeError):
        raise DiscreetError(f"'{path}' is no result of an experiment; choose another {argument('output')}") from None
    if before != settings:
        changed = [name for name, value in asdict(settings).items() if asdict(before)[name] != value]
        was = ", ".join(f"{name} {asdict(before)[name]}" for name in changed)
        raise DiscreetError(
            f"'{path}' was measured with {was}; choose another {argument('output')}, or remove this one"
        )
    return replace(fresh, records=records, done=done)
