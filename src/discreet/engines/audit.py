"""The audit of a release whose original, and whose table, are larger than memory.

The checks are those of every audit, called for what each of them needs:

- what is about the *manifest*, and about single texts and values (roles, domains, grids, what may be listed), for a
  *sketch*: a release that has every text of the table once, beside the values of the original;
- what is about *groups* (promises, order) for one slice of the table after the other, each loaded as releases are, and
  judged against the prior of the whole original;
- what is about *rows* (does a description contain them, are these its values) for the rows of a slice, which the engine
  fetches in the order of the groups that the trace says.

*Order and spelling.* Every slice is put into canonical order, and so are the last group of a slice and the first of the
next; so all groups are in order, as order is transitive. What was loaded is written anew, as one file, which must be
the file of the release, byte for byte.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from discreet.adversary.alignment import align
from discreet.adversary.audit import Audit, unreadable
from discreet.adversary.case import Case
from discreet.adversary.check import Check, one_sentence
from discreet.adversary.checks import certain, soundness
from discreet.adversary.checks.domains import ends_of, listed
from discreet.adversary.checks.grid import grid, steps
from discreet.adversary.checks.manifest import stated_scheme
from discreet.adversary.checks.unions import unions
from discreet.adversary.verdict import PromiseVerdict
from discreet.arguments import argument
from discreet.engines.engine import Engine
from discreet.engines.examination import Examination
from discreet.engines.publish import counted, unread
from discreet.engines.slices import DisorderedError
from discreet.engines.vocabulary import Vocabulary
from discreet.errors import DiscreetError
from discreet.principles import Principle, wording
from discreet.principles.counts import Counts
from discreet.progress import Progress, no_progress
from discreet.releases.folder import read_manifest
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.reading import ending_of, read_attributes
from discreet.schemes.default_scheme import bounds_presence
from discreet.table.spec import TableSpec


def check_supported(manifest: dict[str, Any], spec: TableSpec, parts: tuple[Principle, ...]) -> None:
    """Refuse releases that are not audited at this scale."""
    rows, persons, scheme = manifest.get("rows"), manifest.get("persons"), stated_scheme(manifest.get("scheme"))
    given = {
        **unread(spec),
        f"the format {manifest.get('format')}": manifest.get("format") != GeneralizedRelease.format,
        "counts of quasi-identifiers": manifest.get("marginals") is not None,
        "persons": persons is not None,
        "promises about presence": any(bounds_presence(part) for part in parts),
        "withheld rows": isinstance(rows, dict) and bool(rows.get("withheld")),
        "groups that nobody fits two of": scheme is not None and scheme.options.get("overlap") == "none",
    }
    for what, has in given.items():
        if has:
            raise DiscreetError(
                f"the engine duckdb does not audit releases with {what} yet; say {argument('engine', 'memory')}"
            )


def audit(
    folder: str,
    engine: Engine,
    spec: TableSpec,
    work: Path,
    *,
    trace: Path | None = None,
    promises: list[Principle] | None = None,
    from_release: Collection[str] = (),
    roles_from_release: Collection[str] = (),
    progress: Progress | None = None,
) -> Audit:
    """Audit the release in a folder against a table that an engine reads; ``work`` is a private folder for the while.

    The arguments are those of `discreet.audit`.
    """
    tell, file = progress or no_progress, read_manifest(folder)
    parts, asked, stated = soundness.promises(file.manifest, promises)
    check_supported(file.manifest, spec, parts)
    vocabulary = counted(engine, spec, tell, published=False)
    attributes = read_attributes(file.manifest)
    name = f"table.{ending_of(file.manifest, ('table',))}"
    found, original = Examination(engine, vocabulary, file, attributes, name, parts, work, tell), vocabulary.table
    placed = soundness.roles(found.bare, original, roles_from_release)
    if not placed.holds:
        return Audit([soundness.files(file), placed], rows=file.manifest["rows"]["published"])
    try:
        found.look(trace)
    except DisorderedError:
        order = Check("order", False, one_sentence([f"the lines of {name} {soundness.OUT_OF_ORDER}"]))
        return Audit([soundness.files(file), order], rows=file.manifest["rows"]["published"])
    except DiscreetError as fault:
        return unreadable(file, fault)
    sketch = found.sketch.revealed(original)
    case = Case(file.manifest, sketch, original, parts, None, (), from_release)
    checks = [soundness.files(file), soundness.page(file), *found.written(), placed, listed(case)]
    checks += soundness.opening(case, soundness.ONE_DESCRIPTION, ends_of(sketch), groups=file.manifest["groups"])
    support, how = found.support(trace is not None)
    checks += [found.totals(), support]
    of_parts = zip(parts, found.tallies, strict=True)
    verdicts = [tally.verdict(part, vocabulary.prior, found.left) for part, tally in of_parts]
    checks.append(_unions(parts, verdicts, sketch, vocabulary))
    given, warnings = soundness.taken(parts, vocabulary.prior, from_release)
    checks += [*warnings, *certain.told(found.certain, parts, original), stated, *grid(case), *steps(case)]
    texts = tuple(map(str, parts))
    return Audit(
        checks,
        verdicts,
        found.losses(),
        how,
        given,
        found.groups,
        found.certain,
        rows=found.rows,
        asked=texts[:asked],
        stated=texts[asked:],
    )


def _unions(
    parts: tuple[Principle, ...], verdicts: list[PromiseVerdict], sketch: GeneralizedRelease, vocabulary: Vocabulary
) -> Check:
    """Return what is known of adversaries who only match descriptions, where that follows from what groups keep."""
    loose = [str(part) for part in parts if not part.monotone]
    if not loose:
        aligned = align(sketch, vocabulary.table)
        return unions(parts, verdicts, aligned, Counts.of([[0]], 1), vocabulary.prior, vocabulary.table)
    caveat = f"what {wording.listed(loose)} leaves to an adversary who only matches descriptions was not computed"
    return Check("unions", True, one_sentence([caveat]), caveat=caveat)
