"""What a release does not promise, in sentences for a board; ``docs/not-promised.md`` has all of it."""

from __future__ import annotations

from discreet.principles.wording import listed, rows
from discreet.releases.release import Release

AGAINST_ALGORITHMS = ("sealed", "mirrored", "baseline", "privbayes")
"""The schemes whose promise covers an attacker who knows how groups are chosen, and those that choose none."""


def not_promised(release: Release) -> tuple[str, ...]:
    """What a release does not promise.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> print(not_promised(dc.publish(patients(), dc.KAnonymity(4)))[0])
    What an attacker knows beyond 'age', 'sex' and 'zip' is not covered.
    """
    manifest = release.manifest
    names = [attribute.name for attribute in release.quasi]
    kept = [attribute.name for attribute in release.attributes if attribute.role == "other"]
    stated = " ".join(map(str, manifest["promise"])) if isinstance(manifest.get("promise"), list) else ""
    scheme = manifest.get("scheme")
    scheme = scheme.get("name") if isinstance(scheme, dict) else None
    found = []
    if names:
        found.append(f"What an attacker knows beyond {listed(map(repr, names))} is not covered.")
    if kept:
        found.append(f"The values of {listed(map(repr, kept))} are published unchanged.")
    if release.exact_quasi and release.of_people:
        found.append("Quasi-identifiers are published as they are: the release shows who is in the table.")
    learnt = "What holds for people of a kind can be learnt, about people who are not in the table as well."
    if release.of_people:
        learnt += " By combining groups, an attacker may believe more about one person than a single group says."
    found.append(learnt)
    if "differential-privacy" not in stated:
        found.append("A second release about the same people, even by the same command, may undo this one.")
        if "k-anonymity" in stated:
            found.append("Whole descriptions fit several people, but ends of intervals may fit one person alone.")
        else:
            found.append("That nobody is singled out is not promised: conditions may fit one person alone.")
    if scheme not in AGAINST_ALGORITHMS:
        found.append("An attacker who knows the algorithm may learn something from its choice of groups.")
    if release.withheld:
        found.append(f"{rows(release.withheld)} of the table are not published, and counts leave them out.")
    if manifest.get("experimental_seed"):
        found.append("It was drawn from a seed, for an experiment. Whoever knows the seed may repeat the draw.")
    return tuple(found)
