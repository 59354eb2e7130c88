"""Check that the release gives every column the role that the auditor gives it.

A promise is about quasi-identifiers and sensitive attributes. A release that publishes one of these as a column kept
unchanged keeps its promise and discloses everything. So the roles that the original was read with decide, and the
manifest's roles are compared with them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from discreet.adversary.check import Check, one_sentence
from discreet.arguments import argument
from discreet.principles import wording
from discreet.releases.release import Release
from discreet.table.table import Table

WORDS = {"quasi": "a quasi-identifier", "sensitive": "sensitive", "other": "a column that is kept as it is"}


def roles(release: Release, original: Table, from_release: Collection[str] = ()) -> Check:
    """Check that the columns have the roles that the original was read with.

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
    """Return the original without its unpublished sensitive attributes, if at least one is published."""
    published = {attribute.name for attribute in release.attributes if attribute.role == "sensitive"}
    shown = [column for column in original.sensitive if column.name in published]
    if not shown or len(shown) == len(original.sensitive):
        return original
    return replace(original, sensitive=tuple(shown))
