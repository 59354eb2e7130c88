"""Whether the tables of a release are written in the one way in which discreet writes them.

A cell may say the same in many ways (45, 045 or 45.0), and so may a line end or a quote: which of them was chosen for
which row could mark it, and nobody who reads the values would see. What was loaded is therefore written anew and
compared. Descriptions of groups are loaded as texts; these are put together anew from what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from discreet.adversary.check import Check, one_sentence
from discreet.releases.attributes import Attribute
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.labels import ANYTHING, Nodes, Regions, braces, interval, quoted
from discreet.releases.release import Release
from discreet.table.moments import written
from discreet.table.texts import MISSING
from discreet.table.write import written_otherwise

FINE = "Every cell is written in the one way in which such values are written."


def spelling(home: Path, release: Release) -> Check:
    """Whether all tables are written as discreet writes what they say; of files at fault, the fault is told already."""
    if release.faults:
        return Check("spelling", True, "How cells are written was not looked at, as the tables are at fault.")
    faults = []
    parquet = all(name.endswith(".parquet") for name in release.manifest["tables"])
    format: Literal["csv", "parquet"] = "parquet" if parquet else "csv"
    for name, table in release.tables(numbers=parquet).items():
        path = home / f"{name}.{format}"
        other = written_otherwise(table, path, format)
        if other is not None:
            faults.append(f"the table {path.name} is not written as releases are, so it might tell more: {other}")
    if isinstance(release, GeneralizedRelease):
        for attribute, texts, regions in zip(release.quasi, release.texts, release.regions, strict=True):
            faults += _descriptions(attribute, texts.texts, regions)
    return Check("spelling", False, one_sentence(faults)) if faults else Check("spelling", True, FINE)


def _descriptions(attribute: Attribute, texts: Sequence[str], regions: Regions) -> list[str]:
    """Texts of one attribute that are written in another way than what they mean, or in two ways."""
    nodes = None if attribute.hierarchy is None else Nodes(attribute.hierarchy)
    meanings: dict[object, str] = {}
    ranks_of = {value: float(rank) for rank, value in enumerate(attribute.values)}
    for at, text in enumerate(texts):
        if not _well_written(attribute, text, regions, at, nodes, ranks_of):
            return [f"{attribute.name!r} is published as {text!r}, which is not how what it means is written"]
        ranks = regions.sets.get(at)
        meaning = (
            regions.low[at],
            regions.high[at],
            regions.missing[at],
            None if ranks is None else (*ranks.tolist(),),
        )
        if meanings.setdefault(meaning, text) != text:
            return [
                f"{attribute.name!r} is published both as {meanings[meaning]!r} and as {text!r}, which mean the same"
            ]
    return []


def _well_written(
    attribute: Attribute, text: str, regions: Regions, at: int, nodes: Nodes | None, ranks_of: Mapping[str, float]
) -> bool:
    """Whether a text is one of those that stand for what it means: an interval, a label, or a set in an order."""
    if text == ANYTHING or (text == MISSING and attribute.kind != "categorical"):
        return True
    low, high = float(regions.low[at]), float(regions.high[at])
    if nodes is not None:
        if text in nodes.ranges and (text not in nodes.leaves or text == quoted(text)):
            return True
        leaves = nodes.hierarchy.leaves
        ranks = regions.sets.get(at)
        if attribute.kind == "categorical":
            held = [leaves[rank] for rank in (range(int(low), int(high) + 1) if ranks is None else ranks.tolist())]
        else:
            place = ranks_of.__getitem__ if attribute.kind == "ordinal" else float
            held = [leaf for leaf in leaves if leaf != MISSING and low <= place(leaf) <= high]
        if text in (braces(held), braces(sorted(held))):
            return True
    if attribute.kind == "numeric":
        return text == interval(written(low, attribute.notation), written(high, attribute.notation))
    if attribute.kind == "ordinal":
        return text == interval(*(quoted(attribute.values[int(rank)]) for rank in (low, high)))
    return False
