"""`audit_files`: checks the promises of a release from its files and the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.adversary.audit import Audit, audit
from discreet.jobs.original import read_original, read_population, reading_with, with_roles
from discreet.jobs.outputs import tell
from discreet.jobs.reading import offers_in, on_offers
from discreet.principles import parse
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.table.hierarchy import PublishedHierarchy


@dataclass(frozen=True, eq=False)
class AuditOutcome:
    """The audit of a release against a file."""

    folder: str
    original: str
    audit: Audit
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {**self.audit.as_dict(), "folder": self.folder, "original": self.original}


def audit_files(
    folder: str,
    original: str,
    *,
    trace: str | None = None,
    population: str | None = None,
    promises: Sequence[str] = (),
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    hierarchy_folder: str | None = None,
    domains: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> AuditOutcome:
    """Read the original as the release says, and audit the release; ``reading`` has keys of a job that say otherwise.

    Nothing is printed or written. The callbacks are those of `discreet.jobs.carry_out.carry_out`.
    """
    remarks, given, files = Remarks(remark), reading or {}, dict(hierarchies or {})
    progress = progress or no_progress
    asked = [parse(text) for text in promises]
    for place in (folder, *(() if trace is None else (trace,))):
        tell(place, remarks)
    progress("reading", 0.0)
    settings = reading_with(folder, given)
    published = settings["quasi"]
    unsaid = with_roles(settings, original, quasi, sensitive)
    offers = offers_in(hierarchy_folder, settings["quasi"], settings["sensitive"], files)
    settings["hierarchies"] = {**settings["hierarchies"], **offers, **files}
    table = read_original(original, {**settings, "domains": domains or {}})
    assumed = [name for name, tree in settings["hierarchies"].items() if isinstance(tree, PublishedHierarchy)]
    remarks.extend(on_offers(table, offers))
    people = None if population is None else read_population(population, {**settings, "quasi": published}, given)
    progress("auditing", 0.0)
    audited = audit(
        folder,
        table,
        trace=trace,
        promises=asked or None,
        from_release=assumed,
        population=people,
        roles_from_release=unsaid,
        progress=progress,
    )
    return AuditOutcome(folder, original, audited, tuple(remarks.made))
