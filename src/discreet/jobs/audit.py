"""`audit_files`: checks the promises of a release from its files and the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from discreet.adversary.audit import Audit, audit
from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.jobs.original import read_original, read_population, spec_of, spec_with
from discreet.jobs.outputs import tell
from discreet.jobs.reading import on_offers
from discreet.principles import parse
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.table.addresses import addressed
from discreet.table.hierarchy import PublishedHierarchy
from discreet.table.sources import Source
from discreet.table.table import Table


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


class Compared(NamedTuple):
    """What a release is compared with, as an audit takes it."""

    original: Table
    from_release: list[str]
    population: Table | None
    roles_from_release: list[str]


def read_compared(
    folder: str, original: str, population: str | None, given: Mapping[str, Any], remarks: Remarks
) -> Compared:
    """Read the original as the release says, and a population; ``given`` has keys of a job that say otherwise."""
    with Source(original) as source:
        spec, unsaid = spec_with(folder, source, given)
        table = read_original(source, spec)
    assumed = [name for name, tree in spec.trees.items() if isinstance(tree, PublishedHierarchy)]
    remarks.extend(on_offers(table, spec))
    people = None
    if population is not None:  # which has the quasi-identifiers of the release
        people = read_population(population, replace(spec, quasi=spec_of(folder).quasi), given)
    return Compared(table, assumed, people, unsaid)


def audit_files(
    folder: str,
    original: str,
    *,
    trace: str | None = None,
    population: str | None = None,
    promises: Sequence[str] = (),
    reading: Mapping[str, Any] | None = None,
    engine: str = "memory",
    memory: str | None = None,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> AuditOutcome:
    """Read the original as the release says, and audit the release; ``reading`` has keys of a job that say otherwise.

    Nothing is printed or written. The callbacks are those of `discreet.jobs.carry_out.carry_out`. With the engine
    ``duckdb`` neither the original nor the table of the release is ever in memory as a whole.
    """
    remarks, progress = Remarks(remark), progress or no_progress
    asked = [parse(text) for text in promises]
    for place in (folder, *(() if trace is None else (trace,))):
        tell(place, remarks)
    progress("reading", 0.0)
    if engine != "memory":
        from discreet.jobs.large import audit_large  # imported late: most originals are in memory

        if population is not None:
            raise DiscreetError(
                f"the engine duckdb compares releases with no population yet; leave it out, or say "
                f"{argument('engine', 'memory')}"
            )
        audited = audit_large(folder, original, trace, asked, reading or {}, memory, progress)
        return AuditOutcome(folder, addressed(original), audited, tuple(remarks.made))
    compared = read_compared(folder, original, population, reading or {}, remarks)
    progress("auditing", 0.0)
    audited = audit(folder, trace=trace, promises=asked or None, progress=progress, **compared._asdict())
    return AuditOutcome(folder, addressed(original), audited, tuple(remarks.made))
