"""`attack_files`: guesses the sensitive values of the people in a release, from its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.adversary.attacks.campaign import Campaign, attack
from discreet.jobs.original import read_population, spec_of_all
from discreet.jobs.outputs import tell
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.table.addresses import addressed
from discreet.table.read import table_of
from discreet.table.sources import Source


@dataclass(frozen=True, eq=False)
class AttackOutcome:
    """The attacks on a release, scored by a file."""

    folder: str
    original: str
    campaign: Campaign
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {**self.campaign.as_dict(), "folder": self.folder, "original": self.original}


def attack_files(
    folder: str,
    original: str,
    attacks: Sequence[str],
    *,
    others: Sequence[str] = (),
    outsiders: str | None = None,
    population: str | None = None,
    trace: str | None = None,
    victims: int | None = None,
    seed: int | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> AttackOutcome:
    """Read the original as the releases say, and attack the first; ``reading`` has keys of a job that say otherwise.

    Nothing is printed or written. The callbacks are those of `discreet.jobs.carry_out.carry_out`.
    """
    remarks, given = Remarks(remark), reading or {}
    progress = progress or no_progress
    for place in (folder, *others):
        tell(place, remarks)
    progress("reading", 0.0)
    with Source(original) as source:
        spec = spec_of_all(folder, source, others, given)
        table = table_of(source, spec)
    delimiter, encoding = given.get("delimiter"), given.get("encoding")
    elsewhere = replace(spec, person=None, where=None, delimiter=delimiter, encoding=encoding)
    campaign = attack(
        folder,
        table,
        list(attacks),
        others=others,
        outsiders=None if outsiders is None else table_of(outsiders, elsewhere),
        population=None if population is None else read_population(population, spec, given),
        trace=trace,
        victims=victims,
        random_state=seed,
        progress=progress,
    )
    return AttackOutcome(folder, addressed(original), campaign, tuple(remarks.made))
