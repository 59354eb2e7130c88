"""The audit: checks a release's promises on its files, with the original at hand.

An audit trusts nothing that the scheme kept in memory. It checks that the files are the ones the manifest names, that
they are consistent, that the original supports them, and that every promise is kept: by every group, by the withheld
rows taken as one group (their distribution is the difference between the public prior and what is published), and by
every union of groups that an adversary who only matches descriptions may face.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case, FormatFindings, auditor_of
from discreet.adversary.check import Check
from discreet.adversary.checks import certain, persons, soundness
from discreet.adversary.checks.domains import listed
from discreet.adversary.checks.grid import grid, steps
from discreet.adversary.checks.marginals import marginals
from discreet.adversary.checks.trace import read_trace
from discreet.adversary.presence.stage import PresenceFindings, judge_presence, remarks
from discreet.adversary.verdict import PromiseVerdict
from discreet.arguments import argument
from discreet.display import Displayed
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.principles import Principle, wording
from discreet.progress import Progress, no_progress, part_of
from discreet.releases import load_as_stated
from discreet.releases.folder import ManifestFile, read_manifest
from discreet.table.table import Table, as_names, as_table

LOADED, JUDGED, SPELLED = 0.2, 0.6, 0.7
"""Approximate share of the audit that is done once the files are loaded, the promises judged, and the spelling
compared; the rest is the belief that a person is in the table."""


@dataclass(frozen=True, repr=False)
class Audit(Displayed, FormatFindings):
    """All findings of an audit; it holds when every check and every promise holds."""

    rows: int = 0
    """Published rows."""
    withheld: int = 0
    """Original rows that are not published."""
    asked: tuple[str, ...] = ()
    """The promises that the auditor asked for."""
    stated: tuple[str, ...] = ()
    """The remaining promises, which only the release states."""
    presence: PresenceFindings | None = None
    """How strongly people are believed to be in the table; computed if a promise, the format or a population asks for
    it."""

    def _shown(self) -> list[str]:
        reached = [
            f"{each.promise}: achieved {wording.about(each.achieved)}"
            for each in self.promises
            if each.achieved is not None
        ]
        broken = [each.sentence for each in self.promises if not each.holds]
        failed = [f"FAILED {each.name}: {each.sentence}" for each in self.checks if not each.holds]
        return [self.verdict, *reached, *broken, *failed]

    @property
    def holds(self) -> bool:
        """Whether the release is what its manifest says and keeps its promises."""
        return all(check.holds for check in self.checks) and all(kept.holds for kept in self.promises)

    @property
    def verdict(self) -> str:
        """The verdict in one sentence, with every assumption that was not checked."""
        if not self.holds:
            return "The promise is NOT shown to hold."
        premises = "; ".join(dict.fromkeys(check.premise for check in self.checks if check.premise))
        text = f"Provided that {premises}: {self._kept()}" if premises else self._kept()
        if self.given is not None:
            text += f", given the {self.given} that the release states"
        if self.support == "necessary":
            text += (
                "; that the original supports the release was checked by a necessary condition only: "
                "give the trace for certainty"
            )
        for check in self.checks:
            if check.caveat:
                text += f"; {check.caveat}"
        return text + "."

    def _kept(self) -> str:
        """Return which promises hold, and whether the auditor or only the release named them."""

        def hold(promises: tuple[str, ...]) -> str:
            return f"{wording.listed(promises)} {'hold' if len(promises) > 1 else 'holds'}"

        by_release = f"as the release itself states {'it' if len(self.stated) == 1 else 'them'}"
        if self.asked and self.stated:
            return f"{hold(self.asked)}, and {hold(self.stated)} {by_release}"
        if self.stated:
            return f"{hold(self.stated)}, {by_release}"
        return hold(self.asked) if self.asked else "The promise holds"

    def as_dict(self) -> dict[str, Any]:
        """Return all findings, ready for JSON."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "asked": list(self.asked),
            "stated": list(self.stated),
            "given": self.given,
            "rows": {"published": self.rows, "withheld": self.withheld},
            "groups": self.groups,
            "support": self.support,
            "checks": [vars(check) for check in self.checks],
            "promises": [_plain({**vars(kept), "margin": kept.margin}) for kept in self.promises],
            "certain": [asdict(one) for one in self.certain],
            "losses": _plain(self.losses),
            "presence": None if self.presence is None else asdict(self.presence),
        }

    def sentences(self) -> list[str]:
        """Return the findings in reading order: the verdict, what failed, what holds, and the loss of information."""
        findings: list[PromiseVerdict | Check] = [*self.promises, *self.checks]
        findings.sort(key=lambda finding: finding.holds)
        lines = [self.verdict, *(finding.sentence for finding in findings)]
        if self.losses:
            within = f" in {wording.counted(self.groups, 'group')}" if self.groups else ""
            named = {"ail": "AIL", "gcp": "GCP", "retention": "sensitive values expected to be unchanged"}
            losses = ", ".join(f"{said} {self.losses[name]:.4f}" for name, said in named.items() if name in self.losses)
            left = f"{self.withheld:,} withheld{'; ' if losses else ''}"
            lines.append(f"{wording.rows(self.rows)}{within}, {left}{losses}.")
        return lines


def audit(
    folder: str | os.PathLike[str],
    original: Table,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
    from_release: Collection[str] = (),
    population: Table | None = None,
    roles_from_release: Collection[str] = (),
    progress: Progress | None = None,
) -> Audit:
    """Audit the release in a folder against its original.

    ``trace`` is the private file (or array) with the group of every input row. ``promises`` are judged in addition to
    those that the manifest states, which anyone with access to the files could have weakened. For the same reason
    ``from_release`` names the attributes whose hierarchy or order was copied from the manifest when the original was
    read, and ``roles_from_release`` the columns whose role was. ``population`` is a table of everyone who could be in
    the original; the audit then also reports how strongly each of them is believed to be in it. ``progress`` is called
    from time to time with the name of the stage ("auditing") and the share of it that is done. A broken promise,
    different roles or altered content are findings; an error is raised only for files that are not a release, and for
    an original or a population that was read differently.
    """
    original, population = as_table(original), None if population is None else as_table(population)
    from_release, roles_from_release = as_names(from_release), as_names(roles_from_release)
    progress = checked("progress", progress, Progress | None)
    tell = no_progress if progress is None else partial(progress, "auditing")
    tell(0.0)
    if not isinstance(folder, str | os.PathLike):
        raise DiscreetError("an audit reads files, not a release in memory; save the release and name its folder")
    file = read_manifest(folder)
    try:
        release = load_as_stated(file)
    except DiscreetError as error:
        return unreadable(file, error)
    placed = soundness.roles(release, original, roles_from_release)
    if not placed.holds:
        withheld = max(0, original.rows - release.rows)
        return Audit([soundness.files(file), placed], rows=release.rows, withheld=withheld)
    original = soundness.as_published(original, release)
    release = release.revealed(original)
    faults: list[str] = []
    if trace is not None and not isinstance(trace, np.ndarray):
        trace, faults = read_trace(trace, original.rows)
    if "persons" in file.manifest and original.person is None:
        raise DiscreetError(
            "the release is about persons with several rows; name the column of the original that identifies the "
            f"person, as in {argument('person', 'id')}"
        )
    parts, asked, stated = soundness.promises(file.manifest, promises)
    tell(LOADED)
    judging = part_of(tell, LOADED, JUDGED)
    case = Case(file.manifest, release, original, parts, trace, tuple(faults), from_release, judging)
    findings = _with_kept(auditor_of(release)(case), case)
    tell(JUDGED)
    checks = [soundness.files(file), soundness.page(file), *soundness.spelling_and_order(file.home, release), placed]
    checks += [listed(case), *findings.checks, *certain.told(findings.certain, parts, original)]
    checks += [stated, *soundness.kept(release), *marginals(case, population is not None), *grid(case)]
    checks += steps(case, population is not None)
    checks += persons.check_format(release, original)
    tell(SPELLED)
    verdicts, presence = judge_presence(case, findings.promises, population, part_of(tell, SPELLED, 1.0))
    if population is not None:
        from discreet.adversary.presence.population import check_population_covers  # imported late: few give one

        check_population_covers(population, original, release.quasi)
    checks += [] if presence is None else remarks(presence)
    texts = tuple(map(str, parts))
    judged: dict[str, Any] = {**vars(findings), "checks": checks, "promises": verdicts, "presence": presence}
    return Audit(**judged, rows=release.rows, withheld=case.withheld, asked=texts[:asked], stated=texts[asked:])


def _with_kept(findings: FormatFindings, case: Case[Any]) -> FormatFindings:
    """Return findings with those added whose value of a kept column is certain, at which no format looks."""
    return replace(findings, certain=[*findings.certain, *certain.kept(case.release, case.original)])


def unreadable(file: ManifestFile, error: DiscreetError) -> Audit:
    """Return the finding that altered tables cannot be read; raise the error if they are missing or unaltered."""
    check = soundness.files(file)
    tables = file.manifest.get("tables")
    known = isinstance(tables, dict) and all((file.home / str(name)).is_file() for name in tables)
    if check.holds or not known:
        raise error
    return Audit([check, Check("readable", False, f"The release cannot be read: {error}.")])


def _plain(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures with None for a number that JSON cannot represent."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in figures.items()
    }
