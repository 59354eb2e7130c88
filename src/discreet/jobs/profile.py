"""`profile_file`: describes the table in a file, and suggests roles of its columns and what to promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.jobs.reading import read_to_look
from discreet.progress import Progress, Remark, no_progress
from discreet.report.profile import Profile, profile, suggest_promises
from discreet.report.roles import Roles, suggest
from discreet.report.scale import Scale, scales
from discreet.table.notes import Note
from discreet.table.sources import Source
from discreet.table.spec import TableSpec


@dataclass(frozen=True, eq=False)
class ProfileOutcome:
    """A table as it was read, and how it might be published."""

    profile: Profile
    heeded: Profile
    """The same of the table as it is read when the user follows the notes."""
    roles: Roles | None
    """Suggested roles; None if the quasi-identifiers were given."""
    promises: tuple[str, ...]
    """Promises to begin with."""
    notes: tuple[Note, ...]
    remarks: tuple[Remark, ...]
    scales: tuple[Scale, ...] = ()
    """How strong the promises that suit the table may be."""


def profile_file(
    input: str, *, reading: Mapping[str, Any] | None = None, progress: Progress | None = None
) -> ProfileOutcome:
    """Profile the table in a file; ``reading`` has the keys of a job that say how it is read. Nothing is printed."""
    given, progress = dict(reading or {}), progress or no_progress
    person_known = given.get("person") is not None

    def look(source: Source, given: Mapping[str, Any]) -> Any:
        return read_to_look(source, TableSpec.of(given, missing="value"))

    with Source(input) as source:
        progress("reading", 0.0)
        table, remarks = look(source, given)
        progress("counting", 0.0)
        profiled = profile(table, combinations=bool(given.get("quasi")))
        # suggestions are based on the table as it is read when the user follows the notes
        notes, better = table.notes, profiled
        if (heeded := heeding(given, notes)) != given:
            table, _ = look(source, heeded)
            better = profile(table, combinations=False)
        whose = next((value for note in notes for key, value in note.say if key == "person"), None)
        roles = None
        if not given.get("quasi"):
            roles = suggest(better.columns, profiled.rows, person_known=person_known, whose=whose)
        if roles is not None and roles.person is not None:  # promises are then about persons
            table, _ = look(source, {**heeded, "person": roles.person})
    if given.get("sensitive") is None and roles is not None and roles.sensitive is not None:
        column = next(candidate for candidate in table.columns if candidate.name == roles.sensitive)
        table = replace(
            table, quasi=tuple(candidate for candidate in table.quasi if candidate is not column), sensitive=(column,)
        )
    promises = tuple(suggest_promises(table))
    return ProfileOutcome(profiled, better, roles, promises, tuple(notes), tuple(remarks), scales(table))


def heeding(given: Mapping[str, Any], notes: Iterable[Note]) -> dict[str, Any]:
    """Return what was said about reading with the advice of the notes applied."""
    heeded = dict(given)
    for note in notes:
        for key, value in () if note.either else note.say:  # among alternatives, only the user can choose
            if isinstance(value, Mapping):
                heeded[key] = {**(heeded.get(key) or {}), **value}
            elif isinstance(value, str):
                heeded[key] = value
            else:
                told = tuple(heeded.get(key) or ())
                heeded[key] = (*told, *(text for text in value if text not in told))
    return heeded
