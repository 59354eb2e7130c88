"""The report on a release that a privacy board can sign: its facts, and the page that shows them.

There are two kinds. The *internal* report compares the release with its original, audits and attacks it. The
*shareable* one is made from the files of the release alone: what is not in them cannot be in the report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal

from discreet.adversary.attacks.campaign import Campaign, attack
from discreet.adversary.audit import Audit, audit
from discreet.adversary.check import Check
from discreet.adversary.checks import soundness
from discreet.adversary.reidentification import Reidentification, reidentification
from discreet.analyst.quality import Quality, quality
from discreet.errors import DiscreetError
from discreet.expressions import written
from discreet.options import checked
from discreet.principles import Principle
from discreet.principles.principle import as_principles
from discreet.progress import Progress, no_progress
from discreet.releases import load_as_stated
from discreet.releases.folder import MANIFEST, ManifestFile, read_manifest
from discreet.releases.release import Release
from discreet.report.limits import not_promised
from discreet.report.one_way import OneWay, one_way
from discreet.report.promised import Promised, promised
from discreet.table.table import Table, as_table
from discreet.table.write import digest
from discreet.version import __version__

ATTACKS = ("beliefs", "naive-bayes", "singling-out")
"""The attacks of an internal report: what the release says itself, what groups tell about each other, and isolation."""


ROLES = {"quasi": "quasi", "sensitive": "sensitive", "keep": "other"}
"""Per key of a job: the role of the attributes that it lists."""


@dataclass(frozen=True)
class Context:
    """For whom a release is, which no file of it says."""

    recipient: str
    purpose: str = ""
    next_review: str = ""


@dataclass(frozen=True)
class File:
    """A file of the release."""

    name: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Report:
    """The facts about a release."""

    name: str
    """The name of its folder."""
    rows: int
    withheld: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    promised: tuple[Promised, ...]
    risks: Reidentification
    one_way: tuple[OneWay, ...]
    limits: tuple[str, ...]
    """What is not promised, in sentences."""
    assumptions: tuple[str, ...]
    """What the release itself says that readers may assume."""
    files: tuple[File, ...]
    intact: Check
    """Whether the files are those that the manifest names."""
    job: str
    """The lines of a job file that publishes so, without the names of files."""
    made_by: str
    """The version of discreet that published it."""
    audit: Audit | None = None
    quality: Quality | None = None
    campaign: Campaign | None = None
    context: Context | None = None
    version: str = field(default=__version__)

    @property
    def kind(self) -> Literal["internal", "shareable"]:
        """Whether the original has been used."""
        return "shareable" if self.audit is None else "internal"

    @property
    def holds(self) -> bool:
        """Whether nothing that was checked failed."""
        return self.intact.holds and (self.audit is None or self.audit.holds)

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain values, for JSON."""
        risks = self.risks
        return {
            "kind": self.kind,
            "name": self.name,
            "rows": {"published": self.rows, "withheld": self.withheld},
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "kept": list(self.kept),
            "promised": [{**asdict(each), "sentence": each.sentence} for each in self.promised],
            "verdict": None if self.audit is None else self.audit.verdict,
            "risks": {
                "before": None if risks.before is None else risks.before.as_dict(),
                "after": None if risks.after is None else risks.after.as_dict(),
                "about": risks.reason,
                "population": risks.population,
            },
            "quality": None if self.quality is None else self.quality.as_dict(),
            "audit": None if self.audit is None else self.audit.as_dict(),
            "attacks": None if self.campaign is None else self.campaign.as_dict(),
            "one_way": [each.as_dict() for each in self.one_way],
            "not_promised": list(self.limits),
            "assumptions": list(self.assumptions),
            "intact": asdict(self.intact),
            "files": {file.name: file.sha256 for file in self.files},
            "job": self.job,
            "made_by": self.made_by,
            "context": None if self.context is None else asdict(self.context),
            "discreet": self.version,
        }

    def page(self) -> str:
        """The facts as a page of HTML, which needs nothing else and can be printed."""
        from discreet.report.page import board

        return board(self)


def report(
    folder: str | os.PathLike[str],
    original: Table | None = None,
    *,
    trace: str | os.PathLike[str] | None = None,
    population: Table | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
    context: Context | None = None,
    from_release: Collection[str] = (),
    roles_from_release: Collection[str] = (),
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Gather the facts about the release in a folder; with the original it is audited and attacked, too.

    The arguments are those of `discreet.audit` and, for ``random_state``, of `discreet.attack`. ``context`` says who
    receives the release.

    >>> import tempfile
    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = dc.publish(patients(), dc.BetaLikeness(2)).save(f"{home}/release")
    ...     found = dc.report(folder)
    >>> found.kind, found.rows, found.promised[0].examples[0].value
    ('shareable', 48, 'angina')
    """
    original = None if original is None else as_table(original)
    population = None if population is None else as_table(population)
    progress = checked("progress", progress, Progress | None) or no_progress
    if original is None and (trace is not None or population is not None or promises is not None):
        raise DiscreetError(
            "a trace, a population and further promises are for a report with the original, which is not given; give "
            "it, or leave these out"
        )
    progress("reading the release", 0.0)
    file = read_manifest(folder)
    release = load_as_stated(file)
    audited = measured = campaign = None
    if original is not None:
        trusted: dict[str, Any] = {"from_release": from_release, "roles_from_release": roles_from_release}
        beside: dict[str, Any] = {"population": population, "progress": progress}
        audited = audit(folder, original, trace=trace, promises=promises, **trusted, **beside)
        _check_roles(audited)
        original = soundness.as_published(original, release)
        progress("counting", 0.0)
        measured = quality(release.revealed(original), original)
        campaign = attack(folder, original, ATTACKS, random_state=random_state, **beside)
    progress("comparing", 0.0)
    found = {"audit": audited, "quality": measured, "campaign": campaign, "context": context}
    asked = as_principles(promises or ())
    return _facts(file, release, original, population, asked, intact=soundness.intact(file), **found)


def _check_roles(audited: Audit) -> None:
    """Raise if the columns of the original have other roles than the release says, or its tables cannot be read."""
    placed = next((check for check in audited.checks if check.name == "roles"), None)
    if placed is None or not placed.holds:
        faults = " ".join(check.sentence for check in audited.checks if not check.holds)
        raise DiscreetError(f"a report cannot compare the release with this original: {faults}")


def _facts(
    file: ManifestFile,
    release: Release,
    original: Table | None,
    population: Table | None,
    promises: list[Principle],
    **found: Any,
) -> Report:
    """The facts that need no attack and no audit, together with what these found."""
    home, manifest, _ = file
    named = partial(_names, release)
    assumed = manifest.get("assumptions")
    tables = manifest.get("tables")
    names = [MANIFEST, *(str(name) for name in (tables if isinstance(tables, dict) else ()))]
    return Report(
        home.resolve().name,
        release.rows,
        release.withheld,
        named("quasi"),
        named("sensitive"),
        named("other"),
        promised(release, original, promises),
        reidentification(release, original, population),
        one_way(release, original),
        not_promised(release),
        tuple(map(str, assumed)) if isinstance(assumed, list) else (),
        tuple(File(name, digest(home / name)) for name in names if (home / name).is_file()),
        job=_job(release),
        made_by=str(manifest.get("discreet", "unknown")),
        **found,
    )


def _names(release: Release, role: str) -> tuple[str, ...]:
    """The attributes of a role."""
    return tuple(attribute.name for attribute in release.attributes if attribute.role == role)


def _job(release: Release) -> str:
    """The lines of a job file that publishes so; files, hierarchies and how the input is read are left out."""
    manifest = release.manifest
    entry = manifest.get("scheme")
    scheme: dict[str, Any] = entry if isinstance(entry, dict) else {}
    said = {key: list(_names(release, role)) for key, role in ROLES.items()}
    lines: dict[str, Any] = {**said, "promises": manifest.get("promise"), "scheme": scheme.get("name")}
    text = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in lines.items() if value]
    options = scheme.get("options")
    stated = {key: value for key, value in (options if isinstance(options, dict) else {}).items() if value is not None}
    inner = [f"{key} = {json.dumps(written(value), ensure_ascii=False)}" for key, value in stated.items()]
    return "\n".join([*text, *([f"options = {{ {', '.join(inner)} }}"] if inner else [])])
