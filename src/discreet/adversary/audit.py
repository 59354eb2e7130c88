"""The audit: what a release promises, checked on its files with the original beside them.

It trusts nothing that the scheme kept in memory. It checks that the files are those the manifest names, that they are
consistent, that the original supports them, and that every promise is kept: by every group, by the withheld rows taken
as one group (their distribution is the difference between the public prior and what is published), and by every union
of groups that an adversary who only matches descriptions may face.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.adversary import support
from discreet.adversary.support import Check, Laid, described
from discreet.analyst.loss import losses
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, parse, together
from discreet.releases import load
from discreet.releases.files import MANIFEST, read_manifest
from discreet.releases.generalized import GeneralizedRelease
from discreet.releases.matching import mixed
from discreet.table.table import Table
from discreet.table.write import digest

CHUNK = 1 << 22
"""How many counts are judged at a time."""
DATA = {".csv", ".tsv", ".json", ".parquet", ".feather", ".arrow", ".gz", ".zip", ".xlsx", ".db", ".npy", ".pkl"}
"""Files that may hold records: beside the tables of a release they would be published unaudited."""


@dataclass(frozen=True)
class Kept:
    """One promise as the audit found it."""

    promise: str
    holds: bool
    strain: float
    """How close the worst group comes: kept up to 1, broken above."""
    achieved: float | None
    """The strongest parameter that all groups and the withheld rows keep."""
    broken: int
    """How many groups break it, the withheld rows counting as one."""
    group: int | None
    """The worst group's published number; None when it is the withheld rows, or when nothing could be judged."""
    size: int
    description: dict[str, str]
    sentence: str

    @property
    def margin(self) -> float:
        """How much is left of the bound in the worst group; negative when it is broken."""
        return 1.0 - self.strain


@dataclass(frozen=True)
class Audit:
    """What an audit found; it holds when every check and every promise does."""

    checks: list[Check]
    promises: list[Kept] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    rows: int = 0
    """Published rows."""
    withheld: int = 0
    """Original rows that are not published."""
    groups: int = 0
    support: str = "none"
    """How the original's support was checked: ``trace``, ``assignment``, ``necessary``, or ``none``."""

    @property
    def holds(self) -> bool:
        """Whether the release is what it says and keeps what it promises."""
        return all(check.holds for check in self.checks) and all(kept.holds for kept in self.promises)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "holds": self.holds,
            "rows": {"published": self.rows, "withheld": self.withheld},
            "groups": self.groups,
            "support": self.support,
            "checks": [vars(check) for check in self.checks],
            "promises": [
                {
                    **{key: _plain(value) for key, value in vars(kept).items()},
                    "margin": _plain(kept.margin),
                }
                for kept in self.promises
            ],
            "losses": {name: _plain(value) for name, value in self.losses.items()},
        }

    def sentences(self) -> list[str]:
        """The findings in the order a reader wants them: the verdict, what failed, what holds, what it cost."""
        verdict = "The audit holds." if self.holds else "The audit FAILS."
        found = [(kept.holds, kept.sentence) for kept in self.promises]
        found += [(check.holds, check.sentence) for check in self.checks]
        lines = [verdict, *(text for holds, text in found if not holds), *(text for holds, text in found if holds)]
        if self.losses:
            lines.append(
                f"{self.rows} rows in {self.groups} groups, {self.withheld} withheld; "
                f"AIL {self.losses['ail']:.4f}, GCP {self.losses['gcp']:.4f}."
            )
        return lines


def audit(
    folder: str | os.PathLike[str],
    original: Table,
    trace: str | os.PathLike[str] | NDArray[Any] | None = None,
    promises: Principle | str | Iterable[Principle | str] | None = None,
) -> Audit:
    """Audit the release in a folder against its original.

    ``trace`` is the private file (or array) with the group of every input row. ``promises`` are judged besides those
    that the manifest states, which whoever holds the files could have weakened. A broken promise or altered content
    is a finding; an error is raised only for files that are no release, and for an original read in another way.
    """
    home, manifest = read_manifest(folder)
    checks = [_files(home, manifest)]
    try:
        release = load(home)
    except DiscreetError as error:
        tables = manifest.get("tables")
        known = isinstance(tables, dict) and all((home / str(name)).is_file() for name in tables)
        if checks[0].holds or not known:
            raise
        return Audit([*checks, Check("readable", False, f"The release cannot be read: {error}.")])
    laid = support.lay(release, original)
    checks.append(_consistency(release))
    checks.append(_domains(laid))
    checks.append(support.totals(laid, original))
    if trace is None:
        check, how = support.without_trace(laid)
    else:
        faults: list[str] = []
        if not isinstance(trace, np.ndarray):
            trace, faults = support.read_trace(trace, original.rows)
        check, how = support.by_trace(laid, trace, faults), "trace"
    checks.append(check)
    prior = Prior.of(original if release.sensitive is not None else replace(original, sensitive=None))
    parts, stated = _promises(manifest, promises)
    checks.append(stated)
    left = np.maximum(prior.counts - laid.published, 0)
    kept = [_judged(part, laid, prior, left) for part in parts]
    checks.append(_unions(parts, kept, laid, prior))
    return Audit(checks, kept, losses(release), release.rows, max(0, original.rows - release.rows), release.groups, how)


# ------------------------------------------------------------------------------------------------------------- checks


def _files(home: Path, manifest: dict[str, Any]) -> Check:
    """Whether the files are those that the manifest names, unaltered, and no others that may hold records."""
    tables = manifest.get("tables")
    tables = tables if isinstance(tables, dict) else {}
    faults = []
    for name, entry in tables.items():
        path = home / str(name)
        if not path.is_file() or not isinstance(entry, dict) or digest(path) != entry.get("sha256"):
            faults.append(f"{name} is not the file that the manifest describes (its SHA-256 digest differs)")
    for path in sorted(home.iterdir()):
        if path.name not in tables and path.name != MANIFEST and (path.is_dir() or path.suffix.lower() in DATA):
            faults.append(f"the folder also holds {path.name}, which the manifest does not name and nobody audited")
    if faults:
        return Check("files", False, "; ".join(faults).capitalize() + ".")
    return Check("files", True, "The tables are those that the manifest describes, byte for byte.")


def _consistency(release: GeneralizedRelease) -> Check:
    """Whether the table agrees with itself and with the manifest."""
    if release.faults:
        return Check("consistency", False, " ".join(release.faults))
    return Check(
        "consistency", True, "Every group has one description, and rows and groups are as many as the manifest says."
    )


def _domains(laid: Laid) -> Check:
    """Whether the domains that losses are measured by are those of the original."""
    faults, wide = [], []
    complete = laid.release.withheld == 0
    for attribute, regions, column in zip(laid.release.quasi, laid.release.regions, laid.columns, strict=True):
        seen = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        if attribute.kind == "numeric":
            if attribute.domain is None or attribute.domain[0] > attribute.domain[1]:
                faults.append(f"the manifest gives no domain for {attribute.name!r}")
                continue
            bottom, top = attribute.domain
            bounded = ~regions.whole & (regions.low <= regions.high)
            inside = bool(np.all(regions.low[bounded] >= bottom) and np.all(regions.high[bounded] <= top))
            known = column.values[seen[seen != (-1 if column.missing is None else column.missing)]].astype(np.float64)
            covered = not len(known) or (known.min() >= bottom and known.max() <= top)
            if (not inside and attribute.hierarchy is None) or (complete and not covered):
                faults.append(f"the domain of {attribute.name!r} does not contain its values")
            own = column.domain or ((float(known.min()), float(known.max())) if len(known) else (bottom, top))
            if bottom < own[0] or top > own[1]:
                wide.append(attribute.name)
        elif attribute.kind == "categorical" and attribute.hierarchy is not None:
            leaves = set(attribute.hierarchy.leaves)
            if complete and not leaves.issuperset(column.texts[code] for code in seen):
                faults.append(f"the manifest does not list all values of {attribute.name!r}")
            tree = column.hierarchy
            if tree is not None and tree.height > 1 and sorted(tree.rows()) != sorted(attribute.hierarchy.rows()):
                faults.append(f"the hierarchy of {attribute.name!r} is not the one that the original was read with")
    if faults:
        return Check("domains", False, "; ".join(faults).capitalize() + ".")
    sentence = "Domains and hierarchies agree with the original."
    if wide:
        names = ", ".join(repr(name) for name in wide)
        sentence += f" The release declares a wider domain for {names} than the original was read with; losses use it."
    return Check("domains", True, sentence)


def _promises(
    manifest: dict[str, Any], given: Principle | str | Iterable[Principle | str] | None
) -> tuple[tuple[Principle, ...], Check]:
    """The promises to be judged: those given, and those that the manifest states."""
    if given is None:
        given = ()
    elif isinstance(given, (Principle, str)):
        given = (given,)
    parts: list[Principle] = [parse(one) if isinstance(one, str) else one for one in given]
    texts = manifest.get("promise")
    check = Check("promise", True, "The manifest states what is promised.")
    if not isinstance(texts, list) or not texts:
        check = Check("promise", False, "The manifest states no promise.")
    else:
        for text in texts:
            try:
                parts.append(parse(str(text)))
            except DiscreetError as error:
                check = Check("promise", False, f"The manifest states a promise that cannot be read: {error}.")
    return (together(parts).parts if parts else ()), check


# ----------------------------------------------------------------------------------------------------------- promises


def _counts(laid: Laid, width: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The counts of all groups in the original's order of values, some groups at a time."""
    release = laid.release
    step = max(1, CHUNK // width)
    for start in range(0, release.groups, step):
        yield start, _recoded(release.counts(start, start + step), laid, width)


def _recoded(counts: NDArray[np.int64], laid: Laid, width: int) -> NDArray[np.int64]:
    """Counts by the release's values as counts by the original's; values that it does not know are left out."""
    result = np.zeros((len(counts), width), np.int64)
    known = np.flatnonzero(laid.class_of < width)
    result[:, laid.class_of[known]] = counts[:, known]
    return result


def _judged(part: Principle, laid: Laid, prior: Prior, left: NDArray[np.int64]) -> Kept:
    """One promise judged on every group and on the withheld rows."""
    release = laid.release
    width = len(prior.values)
    strain, worst, broken = 0.0, None, 0
    counts = np.zeros(width, np.int64)
    reached: list[float] = []
    try:
        part.require(prior)
        for start, chunk in _counts(laid, width):
            strains = part.strain(chunk, prior)
            broken += int((strains > 1.0).sum())
            at = int(np.argmax(strains))
            if worst is None or strains[at] > strain:
                strain, worst, counts = float(strains[at]), start + at, chunk[at]
            reached.append(part.achieved(chunk, prior))
        if left.sum():
            alone = float(part.strain(left[None], prior)[0])
            broken += alone > 1.0
            reached.append(part.achieved(left[None], prior))
            if worst is None or alone > strain:
                strain, worst, counts = alone, None, left
    except DiscreetError as error:
        return Kept(str(part), False, math.inf, None, 0, None, 0, {}, f"{part} cannot be judged: {error}.")
    weakest = (min if part.larger_is_stronger else max)(reached, default=None)
    size = int(counts.sum())
    if worst is None:
        who = f"the {size} withheld rows taken as one group" if size else "no group"
        description: dict[str, str] = {}
    else:
        description = release.description(worst)
        who = f"group {release.ids[worst]} ({size} rows, {described(release, worst)})"
    everyone = release.groups + bool(left.sum())
    if broken:
        sentence = (
            f"{part} is broken by {broken} of {everyone} groups; the worst is {who}. {part.explain(counts, prior)}"
        )
    else:
        and_left = " and by the withheld rows" if left.sum() else ""
        sentence = (
            f"{part} is kept by all {release.groups} groups{and_left}; the closest to its bound, at {strain:.1%} of "
            f"it, is {who}."
        )
    return Kept(
        str(part),
        broken == 0,
        strain,
        weakest,
        broken,
        None if worst is None else int(release.ids[worst]),
        size,
        description,
        sentence,
    )


def _unions(parts: tuple[Principle, ...], kept: list[Kept], laid: Laid, prior: Prior) -> Check:
    """Whether the promises also bound an adversary who knows no groups and only matches descriptions."""
    loose = [part for part, result in zip(parts, kept, strict=True) if not part.monotone and result.holds]
    if not loose:
        return Check(
            "unions",
            True,
            "An adversary who only matches descriptions faces a union of groups, and these promises hold for unions of "
            "groups that keep them: nothing more is to be checked.",
        )
    order = laid.usable[np.lexsort([column.codes[laid.usable] for column in laid.columns])]
    fresh = np.zeros(len(order), np.bool_)
    fresh[:1] = True
    for column in laid.columns:
        fresh[1:] |= np.diff(column.codes[order]) != 0
    rows = order[fresh]
    width = len(prior.values)
    step = max(1, CHUNK // width)
    for start in range(0, len(rows), step):
        points = [replace(column, codes=column.codes[rows[start : start + step]]) for column in laid.columns]
        counts = _recoded(mixed(laid.release, points), laid, width)
        for part in loose:
            strains = part.strain(counts, prior)
            if bool((strains > 1.0).any()):
                worst = int(np.argmax(strains))
                return Check(
                    "unions",
                    False,
                    f"{part} is kept by every group, but not for an adversary who only matches descriptions. "
                    f"{part.explain(counts[worst], prior)}",
                )
    sentence = f"The promises also hold for an adversary who only matches descriptions, at all {len(rows)} points."
    return Check("unions", True, sentence)


def _plain(value: Any) -> Any:
    """A number that JSON can hold."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
