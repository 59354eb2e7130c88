"""The audit of a sealed release: that of its groups, and whether they leave room for what the tests may have leaked.

What no coin decides can be repeated, so the groups must also be ones that the scheme can have made. Which cuts it tests
is decided by quasi-identifiers, and everybody's are in the original. If the trace, or descriptions that do not overlap,
tell who is in which group, the scheme is asked whether it can divide the original so. If they do not tell it of
everyone, groups whose ends are known must still be such that cuts, one after the other, set them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.alignment import Aligned, align, codes_in, each_sensitive, quasi_column
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check, named
from discreet.adversary.checks import soundness
from discreet.adversary.checks.counted import each_attribute
from discreet.adversary.checks.manifest import is_installed, stated_promise, stated_scheme
from discreet.adversary.checks.trace import traced
from discreet.adversary.formats import anatomy
from discreet.adversary.formats.generalized import audit_generalized
from discreet.adversary.verdict import counts_of
from discreet.errors import DiscreetError
from discreet.families.sealed.release import SealedExactRelease, SealedRelease
from discreet.families.sealed.seal import Seal
from discreet.kernels.judging import SLACK
from discreet.principles import Prior
from discreet.principles.bounds import bounded_shares
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle, conjunction
from discreet.principles.wording import counted
from discreet.releases.attributes import Attribute, as_shown
from discreet.table.table import Column, Table

AMOUNTS = (
    "the amounts in the seal are those of the run, its coins were fair and cannot be repeated, and it was not chosen "
    "among several runs"
)
"""What no file can show."""
SEEDED = "it was made with a seed, and an attacker who knows it can repeat its coins: nothing is sealed"


class View(NamedTuple):
    """A release and its original as if they had a single sensitive attribute."""

    release: Seal
    original: Table
    counts: Counts
    """Of every group, by the original's values."""


Inseparable = Callable[[bool], tuple[int, int] | None]
"""Returns two groups that no tree of cuts sets apart; whether categories are published as sets is given."""


def audit_sealed(case: Case[SealedRelease], mirrored: bool = False) -> FormatFindings:
    """Audit a sealed release against its original, or a mirrored one; see ``audit``."""
    aligned = align(case.release, case.original)
    findings = audit_generalized(case, aligned)

    def views() -> list[View]:
        return [
            View(cast(Seal, view.release), original, counts_of(view, len(Prior.of(original).values)))
            for view, original in each_sensitive(aligned, case.original)
        ]

    return _with_seal(case, findings, views, partial(inseparable_boxes, aligned), mirrored)


def audit_sealed_exact(case: Case[SealedExactRelease], mirrored: bool = False) -> FormatFindings:
    """Audit a sealed release with exact quasi-identifiers against its original, or a mirrored one; see ``audit``."""
    findings = anatomy.audit_anatomy(case)

    def views() -> list[View]:
        aligned = each_attribute(anatomy.align(case.release, case.original))
        return [View(cast(Seal, view.release), view.original, view.counts) for view in aligned]

    return _with_seal(case, findings, views, lambda as_sets: at_one_place(case.release), mirrored)


def _with_seal(
    case: Case[Any], findings: FormatFindings, views: Callable[[], list[View]], inseparable: Inseparable, mirrored: bool
) -> FormatFindings:
    """Return findings on groups with those on their choice, the last of which rests on what no file can show."""
    sound = all(check.holds for check in findings.checks)
    groups = [divided(case, inseparable)] if sound else []  # what is at fault otherwise says nothing about the scheme
    seals = [_seal(case, views), *([_mirror(case.release)] if mirrored else [])]
    last, release = seals[-1], case.release
    if last.holds and not release.faults:
        sentence = last.sentence.removesuffix(".")
        if "experimental_seed" in case.manifest:
            seals[-1] = replace(last, sentence=f"{sentence}; {SEEDED}.", caveat=SEEDED)
        else:
            seals[-1] = replace(last, sentence=f"{sentence}, provided that {AMOUNTS}.", premise=AMOUNTS)
    return replace(findings, checks=[*findings.checks, *groups, *seals])


def audit_mirrored(case: Case[Any]) -> FormatFindings:
    """Audit a mirrored release against its original; see ``audit``."""
    return audit_sealed(case, mirrored=True)


def audit_mirrored_exact(case: Case[Any]) -> FormatFindings:
    """Audit a mirrored release with exact quasi-identifiers against its original; see ``audit``."""
    return audit_sealed_exact(case, mirrored=True)


def _mirror(release: Seal) -> Check:
    """Say about which groups something was leaked."""
    if release.faults:
        return Check("mirror", True, "The choice of groups was not judged, because the tables are faulty.")
    leaking = release.leakage > 0.0
    rows = int(leaking[release.group_of].sum())
    some = f"{counted(int(leaking.sum()), 'group')} with {counted(rows, 'row')}"
    but = f", except about {some}, where the seal says how much" if rows else ""
    sentence = f"The choice of groups reveals nothing to an attacker who knows the algorithm but nobody's value{but}."
    return Check("mirror", True, sentence)


def _seal(case: Case[Seal], views: Callable[[], list[View]]) -> Check:
    """Check that in every group the odds of each value, times what was leaked, are within what the promise allows."""
    if case.release.faults:
        return Check("seal", True, "The seal was not judged, because the tables are faulty.")
    if not is_installed(case.manifest.get("scheme")):
        sentence = "The seal was made by a scheme that is not installed here, so what its tests may leak is unknown; "
        return Check("seal", False, f"{sentence}install the plug-in that has it.")
    promised = [promises for _, promises in soundness.each_promised(case.parts, case.original)]
    judged = [_broken(view, promises) for view, promises in zip(views(), promised, strict=True)]
    if None in judged and case.release.leakage.any():
        sentence = (
            "Tests with a coin leaked something about groups, and not everything that is promised is an upper bound."
        )
        return Check("seal", False, sentence)
    for sentence in filter(None, judged):
        return Check("seal", False, sentence)
    if not case.release.leakage.any():
        return Check("seal", True, "By the seal, the search for groups leaked nothing that would need room in them.")
    worst = float(np.exp(case.release.leakage.max()))
    sentence = (
        f"Every group leaves room for what the search for it may have leaked to an attacker who knows the algorithm "
        f"(odds up to {worst:.3g} times those of the group)."
    )
    return Check("seal", True, sentence)


def _broken(view: View, promised: Sequence[Principle]) -> str | None:
    """Say which group leaves too little room about one sensitive attribute; "" if none does, and None if a
    promise does not only bound values from above, so that no room would be enough."""
    release, prior = view.release, Prior.of(view.original)
    joint = conjunction(promised) if promised else None
    bounds = bounded_shares(joint.rules(prior)) if joint is not None and joint.about_groups else None
    if bounds is None or bounds.floors.any():
        return None
    counts = view.counts.under(bounds.nodes)
    cap, left = bounds.caps[counts.values], np.exp(-release.leakage)[counts.groups]
    rest = 1.0 - cap + cap * left
    # the share whose odds are this factor of the cap's
    most = np.divide(cap * left, rest, out=np.ones_like(cap), where=rest > 0.0)
    sizes = counts.sizes[counts.groups]
    broken = np.flatnonzero(counts.amounts > most * sizes * (1.0 + SLACK) + SLACK)
    if not len(broken):
        return ""
    at = broken[0]
    group, of_node = int(counts.groups[at]), np.flatnonzero(bounds.nodes == counts.values[at])
    alike = " or another value of its node" if len(of_node) > 1 else ""
    return (
        f"G{named(release, group)[1:]} has {int(counts.amounts[at]):,} rows with "
        f"{prior.attribute}='{prior.values[of_node[0]]}'{alike} among {int(sizes[at]):,}, more than the "
        f"{int(most[at] * sizes[at] + SLACK):,} "
        f"that tests which may leak {release.leakage[group]:.4g} leave it: an attacker who knows the algorithm may "
        "believe more than is promised."
    )


# ------------------------------------------------------------------------------------------------- groups of the scheme


UNKNOWN = "Whether the scheme can have made these groups was not checked"


def divided(case: Case[Seal], inseparable: Inseparable) -> Check:
    """Check that the scheme that is stated can have made the groups."""
    release, original = case.release, case.original
    scheme, promise = stated_scheme(case.manifest.get("scheme")), stated_promise(case.manifest.get("promise"))
    if release.faults or release.rows != original.rows or promise is None or not hasattr(scheme, "impossible"):
        return Check("groups", True, f"{UNKNOWN}, because the manifest or the tables are faulty.")
    labels = scheme.options.get("values") == "label" and not release.exact_quasi
    table = _as_published(release, original, labels)
    if table is None:
        return Check("groups", True, f"{UNKNOWN}, because the original was read with other hierarchies.")
    places = traced(release, original.rows, case.trace)
    if places is None or bool((places < 0).any()):
        places = release.certain_groups([quasi_column(attribute, original) for attribute in release.quasi])
    groups = places.astype(np.int32)
    try:
        why = scheme.impossible(table, promise, groups, release.sizes)
    except DiscreetError as error:
        return Check("groups", True, f"{UNKNOWN}: {error}.")
    if why is not None:
        return Check("groups", False, f"Scheme {scheme.name!r} cannot have made these groups: {why}.")
    unknown = int((groups < 0).sum())
    # intervals on a grid may overlap, whatever the cuts are
    on_grid = any(attribute.unit is not None for attribute in release.quasi)
    if unknown and release.disjoint and not on_grid:
        both = inseparable(scheme.options.get("values") == "set")
        if both is not None:
            first, second = (named(release, group) for group in both)
            sentence = f"No cuts, one after the other, separate {first} and {second}, as those of the scheme would."
            return Check("groups", False, sentence)
    rest = f", judging by the {len(groups) - unknown:,} rows whose group is known" if unknown else ""
    return Check("groups", True, f"Scheme {scheme.name!r} can have made these groups{rest}.")


def _as_published(release: Seal, original: Table, labels: bool) -> Table | None:
    """Return the original as it was published, with the domains that the release states; None if hierarchies differ."""

    def other_tree(attribute: Attribute, column: Column) -> bool:
        if attribute.kind != "categorical" and not labels and attribute.role == "quasi":
            return False
        trees = (None if tree is None else tree.rows() for tree in (attribute.hierarchy, column.hierarchy))
        return len({None if rows is None else frozenset(map(tuple, rows)) for rows in trees}) > 1

    columns = [original.column(attribute.name) for attribute in (*release.quasi, *release.sensitive)]
    if any(map(other_tree, (*release.quasi, *release.sensitive), columns)):
        return None

    def within(attribute: Attribute, column: Column) -> Column:
        if attribute.domain is None:
            return column
        if attribute.unit is not None and not attribute.declared:  # published wider than the scheme saw it
            return as_shown(replace(column, declared_domain=False), None)
        return replace(column, domain=attribute.domain, declared_domain=True)

    shown = [within(*both) for both in zip(release.quasi, columns, strict=False)]
    return replace(original, quasi=tuple(shown))


def at_one_place(release: SealedExactRelease) -> tuple[int, int] | None:
    """Return two groups that both have rows with the same quasi-identifiers; None if there are none."""
    keys = release.keys()
    order = np.argsort(keys, kind="stable")
    differ = (np.diff(keys[order]) == 0) & (np.diff(release.group_of[order]) != 0)
    if not differ.any():
        return None
    at = int(np.argmax(differ))
    return int(release.group_of[order[at]]), int(release.group_of[order[at + 1]])


def inseparable_boxes(aligned: Aligned, as_sets: bool) -> tuple[int, int] | None:
    """Return two groups that no tree of cuts sets apart, among those whose ends are known; None if there are none.

    Names are known where they are published as sets (``as_sets``); otherwise a set is the leaves of a label, of which
    a group need not have all.
    Any cut that crosses no group may be made first: if a tree sets all of them apart, then also those on either side.
    """
    boxes, release = aligned.boxes, aligned.release
    known = np.ones(len(boxes.low), np.bool_)
    for axis, (attribute, regions) in enumerate(zip(release.quasi, release.descriptions.regions, strict=True)):
        texts = release.descriptions.texts[axis]
        sets = np.array([as_sets and text[:1] == "{" for text in texts.texts])
        exact = ~regions.whole if attribute.kind != "categorical" and attribute.hierarchy is None else sets
        known &= exact[texts.of_cell] | (boxes.low[:, axis] == boxes.high[:, axis])
    waiting = [np.flatnonzero(known)]
    while waiting:
        some = waiting.pop()
        for axis, attribute in enumerate(release.quasi):
            part = _connected(aligned, axis, some, attribute.kind == "categorical")
            if part.max(initial=0) > 0:
                waiting += [some[part == at] for at in range(part.max() + 1)]
                break
        else:
            if len(some) > 1:
                return int(some[0]), int(some[1])
    return None


def _connected(aligned: Aligned, axis: int, some: NDArray[np.intp], names: bool) -> NDArray[Any]:
    """Return, for some groups, the number of the part that each is in if all cuts along an axis are made that cross
    none of them; of names, in any order of these."""
    boxes = aligned.boxes
    low, high = boxes.low[some, axis], boxes.high[some, axis]
    if not names:
        order = np.argsort(low, kind="stable")
        begins = low[order][1:] > np.maximum.accumulate(high[order])[:-1]
        part = np.empty(len(some), np.int64)
        part[order] = np.concatenate([[0], np.cumsum(begins)])[: len(some)]
        return part
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    codes = [codes_in(boxes, box, axis) for box in some.tolist()]
    lines = np.repeat(np.arange(len(some)), [len(members) for members in codes])
    width = len(some) + len(aligned.columns[axis].values)
    places = len(some) + np.concatenate([np.zeros(0, np.int64), *codes])
    graph = csr_array((np.ones(len(lines)), (lines, places)), shape=(width, width))
    return np.asarray(np.unique(connected_components(graph, directed=False)[1][: len(some)], return_inverse=True)[1])
