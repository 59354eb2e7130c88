"""For each format a scheme that publishes it, and promises that it can keep."""

from __future__ import annotations

from typing import NamedTuple

from discreet.catalogue import FORMATS
from discreet.principles import parse
from discreet.releases.release import Release
from discreet.schemes.described import narrow
from discreet.table.table import Table
from support.claims import DRAWN, EXACT, GRAPH, made


class Maker(NamedTuple):
    """What publishes a format."""

    scheme: str
    """Its name, with the option that decides, if one does."""
    promise: str
    """What it can promise about most tables."""
    strict: str
    """What it can promise about a table that is attacked (``support.attacked``)."""


MAKERS = {
    "generalized": Maker("mondrian", "k-anonymity(k=3)", "l-diversity(l=3)"),
    "nested": Maker("lifting", "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "anatomy": Maker("anatomy", "l-diversity(l=2)", "l-diversity(l=3)"),
    "ambiguous": Maker("ambiguity", "alpha-beta(alpha=0.9, beta=0.6)", "alpha-beta(alpha=0.8, beta=0.4)"),
    "perturbed": Maker("perturbation", "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "retained": Maker("retention", "proximity(epsilon=0, m=2)", "proximity(epsilon=50, m=2)"),
    "matched": Maker(GRAPH, "l-diversity(l=2)", "l-diversity(l=3)"),
    "projected": Maker("codip", "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "sealed": Maker("sealed", "beta-likeness(beta=3)", "beta-likeness(beta=3)"),
    "mirrored": Maker("mirrored", "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "sealed-exact": Maker(EXACT["sealed"], "beta-likeness(beta=3)", "beta-likeness(beta=3)"),
    "mirrored-exact": Maker(EXACT["mirrored"], "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "nested-exact": Maker(EXACT["lifting"], "beta-likeness(beta=1)", "beta-likeness(beta=1)"),
    "synthetic": Maker(DRAWN, "differential-privacy(epsilon=1)", "differential-privacy(epsilon=2)"),
}
assert MAKERS.keys() == FORMATS.built_in.keys(), "a new format needs a line here"


def published_as(format: str, table: Table) -> Release:
    """A release of a table in a format, with narrow intervals; one whose sensitive values are numbers, if it is to be a
    retained one."""
    maker = MAKERS[format]
    release = narrow(made(maker.scheme)).publish(table, parse(maker.promise))
    assert release.format == format
    return release


DESCRIBED = {
    "cuts": "k-anonymity(k=8)",
    "cuts(values=set)": "k-anonymity(k=8)",
    "cuts(values=label)": "k-anonymity(k=8)",
    "mondrian": "k-anonymity(k=8)",
    "incognito": "k-anonymity(k=8)",
    "lifting": "l-diversity(l=2.7)",
    "mirrored": "l-diversity(l=2)",
    "heterogeneous(publishes=graph)": "l-diversity(l=2)",
    "codip": "l-diversity(l=2)",
}
"""A scheme of every format that has descriptions, and a promise that it keeps."""
