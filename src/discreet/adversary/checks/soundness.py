"""Check that a release is sound in itself: its files, their consistency, the roles of columns, and what it promises."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.adversary.checks.domains import domains
from discreet.adversary.checks.manifest import entries, version_hint
from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, conjunction, parse, wording
from discreet.principles.per_attribute import concerned
from discreet.principles.principle import as_principles
from discreet.releases.folder import MANIFEST, README, ManifestFile, plainly_laid_out
from discreet.releases.passthrough import kept_sentence
from discreet.releases.readme import readme
from discreet.releases.release import Release
from discreet.table.table import Table
from discreet.table.write import digest, reordered, written_otherwise

BESIDE = re.compile(r"(readme|licen[cs]e)[\w-]*(\.(txt|md|rst))?", re.IGNORECASE)
"""Files that may accompany those of a release; any other would be published unaudited."""

FINE = "Every cell is written in the one way that its value allows."
IN_ORDER = "The order of lines and the numbers of groups follow from what is published, so they tell nothing else."
OUT_OF_ORDER = (
    "are not in the order that follows from what is published, and another order might tell more; a release of an "
    "earlier version of discreet was shuffled: publish it again"
)
WORDS = {"quasi": "a quasi-identifier", "sensitive": "sensitive", "other": "a column that is kept as it is"}
ONE_DESCRIPTION = "Every group has one description, and the manifest gives the right numbers of rows and groups."


def files(file: ManifestFile) -> Check:
    """Whether the files are those that the manifest names, unaltered, and no others."""
    home, manifest, text = file
    tables = manifest.get("tables")
    tables = tables if isinstance(tables, dict) else {}
    faults = []
    for name, entry in tables.items():
        path = home / str(name)
        if path.is_symlink():
            continue  # reported below, and never followed
        if not path.is_file() or not isinstance(entry, dict) or digest(path) != entry.get("sha256"):
            faults.append(f"the file {name} is not the one that the manifest describes (its SHA-256 digest differs)")
    if not plainly_laid_out(text, manifest):
        faults.append(
            f"{MANIFEST} is not laid out as discreet writes it, and the layout might carry hidden information"
        )
    beside = []
    for path in _listed(home):
        if path.is_symlink():
            faults.append(f"{path.name} is a link to a file elsewhere, which may change or contain more")
        elif path.is_file() and path.name != README and BESIDE.fullmatch(path.name):
            beside.append(path.name)
        elif path.name not in tables and path.name not in (MANIFEST, README):
            faults.append(f"the folder also holds {path.name}, which the manifest does not name and nobody audited")
    if faults:
        return Check("files", False, one_sentence(faults))
    sentence = "The tables are those that the manifest describes, byte for byte, and the folder holds no others."
    if not beside:
        return Check("files", True, sentence)
    caveat = f"nobody audited what else lies in the folder: {wording.listed(beside)}"
    return Check("files", True, f"{sentence} Not audited: {', '.join(beside)}.", caveat=caveat)


def page(file: ManifestFile) -> Check:
    """Whether README.md is the one that follows from the manifest; earlier versions wrote none."""
    path, manifest = file.home / README, file.manifest
    if not path.is_symlink() and not path.exists():
        return Check("readme", True, f"There is no {README}, as in releases of earlier versions.")
    if path.is_file() and not path.is_symlink() and _follows(path, manifest):
        return Check("readme", True, f"{README} says what follows from {MANIFEST}, and nothing else.")
    fault = f"{README} is not the one that follows from {MANIFEST}, and it may say anything; leave it out"
    return Check("readme", False, one_sentence([fault]) + version_hint(manifest))


def _follows(page: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        text = readme(manifest).encode()
    except (DiscreetError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        return False  # from a damaged manifest nothing follows
    with page.open("rb") as file:
        return file.read(len(text) + 1) == text


def intact(file: ManifestFile) -> Check:
    """Whether the files are those of the release, README.md included."""
    found = page(file)
    return files(file) if found.holds else found


def _listed(home: Path) -> list[Path]:
    """Return what lies in a folder; raises if only its owner may know."""
    try:
        return sorted(home.iterdir())
    except OSError as fault:
        raise DiscreetError(
            f"the release in {str(home)!r} cannot be audited, because its folder cannot be listed: "
            f"{fault.strerror or fault}; give read permission on the folder, as nothing in it may go unseen"
        ) from None


def roles(release: Release, original: Table, from_release: Collection[str] = ()) -> Check:
    """Check that the columns have the roles that the original was read with.

    A promise is about quasi-identifiers and sensitive attributes. A release that publishes one of these as a column
    kept unchanged keeps its promise and discloses everything. So the roles that the original was read with decide.
    ``from_release`` are columns whose role only the manifest stated. A column that the original was read without has no
    role to compare; if it is indispensable, aligning release and original raises an error.
    """
    read = {column.name: "quasi" for column in original.quasi}
    read |= {column.name: "sensitive" for column in original.sensitive}
    read |= {column.name: "other" for column in original.other}
    stated = {attribute.name: attribute.role for attribute in release.attributes}
    faults = [
        f"{name!r} is {WORDS[read[name]]} to the auditor, but the release publishes it as {WORDS[role]}"
        for name, role in stated.items()
        if name in read and read[name] != role
    ]
    if faults:
        return Check("roles", False, one_sentence(faults))
    unsaid = [name for name in stated if name in from_release]
    if len(unsaid) == len(stated):
        sentence = "The roles of the columns are taken from the release, because the audit was given none."
        say = f"{argument('quasi')} and {argument('sensitive')}"
        caveat = f"the roles of the columns are taken from the release: say {say} to have them checked"
        return Check("roles", True, sentence, caveat=caveat)
    remarks = ["The columns have the roles that the original was read with."]
    for role, many in (("quasi", "quasi-identifier"), ("sensitive", "sensitive attribute")):
        absent = [name for name in read if read[name] == role and name not in stated]
        if absent:
            be = f"{many} {absent[0]!r} is" if len(absent) == 1 else f"{many}s {wording.listed(map(repr, absent))} are"
            remarks.append(f"The {be} not published at all, which reveals nothing.")
    if not unsaid:
        return Check("roles", True, " ".join(remarks))
    names = wording.listed(f"{name!r} ({WORDS[stated[name]]})" for name in unsaid)
    roles = "role" if len(unsaid) == 1 else "roles"
    caveat = f"the {roles} of {names} {'is' if len(unsaid) == 1 else 'are'} taken from the release"
    return Check("roles", True, " ".join(remarks), caveat=caveat)


def as_published(original: Table, release: Release) -> Table:
    """Return the original with the weights of columns that the release states, which decide what its scheme makes of
    it, and without its unpublished sensitive attributes, if at least one is published."""
    stated = {attribute.name: attribute.weight for attribute in release.quasi}
    weights = [stated.get(column.name, column.weight) for column in original.quasi]
    if weights != [column.weight for column in original.quasi]:
        weighted = zip(original.quasi, weights, strict=True)
        original = replace(original, quasi=tuple(replace(column, weight=weight) for column, weight in weighted))
    published = {attribute.name for attribute in release.attributes if attribute.role == "sensitive"}
    shown = [column for column in original.sensitive if column.name in published]
    if not shown or len(shown) == len(original.sensitive):
        return original
    return replace(original, sensitive=tuple(shown))


def kept(release: Release) -> list[Check]:
    """Return the remark that some columns are published unchanged and outside the promise, if there are any."""
    names = [attribute.name for attribute in release.attributes if attribute.role == "other"]
    return [Check("kept", True, kept_sentence(names))] if names else []


def taken(parts: Iterable[Principle], prior: Prior, from_release: Collection[str]) -> tuple[str | None, list[Check]]:
    """Return what promises are judged by that only the release states (``hierarchy`` or ``order``), and the warning.

    ``from_release`` are attributes whose hierarchy or order was copied from the release when the original was read.
    """
    if prior.attribute is None or prior.attribute not in from_release:
        return None, []
    for part in parts:
        distance, level = getattr(part, "distance", None), getattr(part, "level", 0)
        if distance == "hierarchical" or level:
            what, file = "hierarchy", "the hierarchy"
        elif distance == "ordered" and prior.kind == "ordinal":
            what, file = "order", "the values in their order, one per line,"
        else:
            continue
        name = prior.attribute
        sentence = (
            f"{part} depends on the {what} of {name!r}, which was taken from the release that is judged; to have it "
            f"judged by your own, put {file} into a file and say {argument('hierarchies', {name: 'FILE'})}."
        )
        return what, [Check("given", True, sentence)]
    return None, []


def opening(case: Case[Any], sound: str, numbers: Mapping[str, NDArray[np.float64]], **more: Any) -> list[Check]:
    """Return the checks that audits of most formats begin with: of the manifest, the tables and the domains.

    ``sound`` says what holds of tables that agree, ``numbers`` are those that numeric quasi-identifiers are published
    with, and ``more`` the entries of the manifest that are specific to the format.
    """
    agreeing = domains(case.release, case.original, numbers, case.from_release)
    return [entries(case, **more), consistency(case.release, sound), agreeing]


def consistency(release: Release, sound: str = ONE_DESCRIPTION) -> Check:
    """Check that the tables agree with each other and with the manifest; ``sound`` says what holds if they do."""
    return Check("consistency", not release.faults, " ".join(release.faults) or sound)


def side_by_side(original: Table) -> Check:
    """Tell what promises about several sensitive attributes do not cover: what one of them tells about another."""
    names = wording.listed(repr(column.name) for column in original.sensitive)
    sentence = f"The promises were judged about {names} separately"
    sentence += ", against an attacker who knows quasi-identifiers only."
    knowing = "an attacker who knows one of a person's sensitive values may learn the others"
    return Check("each attribute", True, sentence, caveat=f"about each sensitive attribute separately: {knowing}")


def promises(
    manifest: dict[str, Any], given: Principle | str | Iterable[Principle | str] | None
) -> tuple[tuple[Principle, ...], int, Check]:
    """Return the promises to judge, the given ones first, the number of given ones, and the check of the manifest's."""
    parts = [] if given is None else as_principles(given)
    asked = len(conjunction(parts).parts) if parts else 0
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
    return (conjunction(parts).parts if parts else ()), asked, check


def each_promised(parts: tuple[Principle, ...], original: Table) -> list[tuple[str | None, tuple[Principle, ...]]]:
    """Return each sensitive attribute's name, if there are several, with the promises to judge on it.

    A promise about none of them, because it names another or fits none, is judged on the first, where it cannot hold.
    """
    columns = original.sensitive
    if len(columns) < 2:
        return [(None, parts)]
    priors = [Prior.of_column(column) for column in columns]
    which = [concerned(part, priors) for part in parts]
    which = [applies if any(applies) else [True, *applies[1:]] for applies in which]
    promised: list[tuple[str | None, tuple[Principle, ...]]] = []
    for at, column in enumerate(columns):
        about = [part for part, applies in zip(parts, which, strict=True) if applies[at]]
        named = (part.naming(column.name) for part in about if at == 0 or part.about_values)
        promised.append((column.name, tuple(named)))
    return promised


def unpromised(attribute: str, promised: Iterable[Principle]) -> list[Check]:
    """Return a fault if nothing is promised about the values of one of several sensitive attributes."""
    if any(part.about_values for part in promised):
        return []
    unsaid = f"The manifest states no promise about the values of the sensitive attribute {attribute!r}."
    return [Check("promise", False, unsaid)]


def spelling_and_order(home: Path, release: Release) -> tuple[Check, Check]:
    """Check that all tables are written exactly as discreet writes them, and in its order, unless they are faulty.

    The same content can be written in many ways (45, 045 or 45.0; line ends; quotes), its lines can be in many orders,
    and its groups can have many numbers. The choice could mark a row, unnoticed by anyone who reads only the values.
    Therefore what was loaded is put into the order that follows from it (see ``releases.canonical``), written anew and
    compared. Group descriptions are loaded as texts, so these are composed anew from their meaning.
    """
    if release.faults:
        return (
            Check("spelling", True, "The spelling of cells was not checked, because the tables are faulty."),
            Check("order", True, "The order of lines was not checked, because the tables are faulty."),
        )
    faults, shuffled = [], []
    parquet = all(name.endswith(".parquet") for name in release.manifest["tables"])
    format: Literal["csv", "parquet"] = "parquet" if parquet else "csv"
    for name, table in release.in_order().tables(numbers=parquet).items():
        path = home / f"{name}.{format}"
        other = written_otherwise(table, path, format)
        if other is None:
            continue
        if reordered(release.tables(numbers=parquet)[name], path, format):
            shuffled.append(path.name)
        else:
            faults.append(f"the table {path.name} is not written as releases are, so it might tell more: {other}")
    for part in release.projections:
        if part.descriptions is not None:
            faults += part.descriptions.spelling_faults()
    spelled = Check("spelling", not faults, one_sentence(faults) if faults else FINE)
    if not shuffled:
        return spelled, Check("order", True, IN_ORDER)
    what = f"the lines of {wording.listed(shuffled)}, or the numbers of their groups,"
    return spelled, Check("order", False, one_sentence([f"{what} {OUT_OF_ORDER}"]))
