"""For each format a scheme that publishes it, and a promise that it can keep about most tables."""

from __future__ import annotations

from discreet.catalogue import FORMATS
from discreet.principles import parse
from discreet.releases.release import Release
from discreet.table.table import Table
from support.claims import DRAWN, GRAPH, made

MAKERS = {
    "generalized": ("cuts", "k-anonymity(k=3)"),
    "anatomy": ("anatomy", "l-diversity(l=2)"),
    "ambiguous": ("ambiguity", "alpha-beta(alpha=0.9, beta=0.6)"),
    "perturbed": ("perturbation", "beta-likeness(beta=1)"),
    "retained": ("retention", "proximity(epsilon=0, m=2)"),
    "nested": ("lifting", "beta-likeness(beta=1)"),
    "matched": (GRAPH, "l-diversity(l=2)"),
    "projected": ("codip", "beta-likeness(beta=1)"),
    "sealed": ("sealed", "beta-likeness(beta=3)"),
    "mirrored": ("mirrored", "beta-likeness(beta=1)"),
    "synthetic": (DRAWN, "differential-privacy(epsilon=1)"),
}
assert MAKERS.keys() == FORMATS.built_in.keys(), "a new format needs a line here"


def published_as(format: str, table: Table) -> Release:
    """A release of a table in a format; one whose sensitive values are numbers, if it is to be a retained one."""
    scheme, promise = MAKERS[format]
    release = made(scheme).publish(table, parse(promise))
    assert release.format == format
    return release
