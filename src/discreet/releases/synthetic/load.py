"""Load a synthetic release from its folder, and report inconsistencies as sentences."""

from __future__ import annotations

import math
from typing import Any, get_args

from discreet.errors import DiscreetError
from discreet.releases.columns import read_sensitive
from discreet.releases.folder import DAMAGED, Home
from discreet.releases.reading import ending_of, read_texts, row_attributes
from discreet.releases.synthetic.release import TABLE, Domains, Privacy, SyntheticRelease


def load_synthetic(home: Home, manifest: dict[str, Any]) -> SyntheticRelease:
    """Load the release in a folder whose manifest has been read."""
    attributes = row_attributes(manifest, drawn=True)
    name = f"{TABLE}.{ending_of(manifest, [TABLE])}"
    faults: list[str] = []
    privacy = _privacy(manifest.get("privacy"), faults)
    columns = read_texts(home / name, [attribute.name for attribute in attributes])
    read = [read_sensitive(attribute, *columns[attribute.name], faults) for attribute in attributes]
    quasi = sum(attribute.role == "quasi" for attribute in attributes)
    rows = manifest["rows"]
    if len(read[0].codes) != rows["published"]:
        faults.append(f"{name} has {len(read[0].codes):,} rows, but the manifest says {rows['published']:,}.")
    if rows["withheld"]:
        faults.append(f"The manifest says that {rows['withheld']:,} rows are withheld, but drawn rows are nobody's.")
    return SyntheticRelease(
        manifest=manifest,
        attributes=attributes,
        exact=tuple(read[:quasi]),
        secrets=tuple(read[quasi:]),
        privacy=privacy,
        faults=tuple(faults),
    )


def _privacy(told: Any, faults: list[str]) -> Privacy:
    """What the manifest says of how the rows were drawn."""
    told = told if isinstance(told, dict) else {}
    epsilon, domains = told.get("epsilon"), told.get("domains")
    number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool) and math.isfinite(epsilon)
    if not number or epsilon <= 0 or domains not in get_args(Domains):
        raise DiscreetError(
            "the manifest of the release does not say which epsilon was spent, and where the lists of values came "
            f"from; {DAMAGED}"
        )
    if set(told) != set(Privacy._fields):
        faults.append("The manifest has entries under 'privacy' that this format does not know.")
    return Privacy(float(epsilon), domains)
