"""Alterations of releases, a battery for each format: what is done to it, and what must then fail, by name."""

from __future__ import annotations

from batteries.ambiguous import AMBIGUOUS
from batteries.ambiguous import SEVERAL as AMBIGUOUS_SEVERAL
from batteries.anatomy import ANATOMY
from batteries.anatomy import SEVERAL as ANATOMY_SEVERAL
from batteries.generalized import GENERALIZED, MARGINALS
from batteries.matched import MATCHED
from batteries.nested import NESTED, NESTED_EXACT
from batteries.projected import PROJECTED
from batteries.randomised import PERTURBED, RETAINED
from batteries.sealed import MIRRORED, MIRRORED_EXACT, SEALED, SEALED_EXACT
from batteries.synthetic import SYNTHETIC

BATTERIES = {
    "generalized": GENERALIZED,
    "generalized, marginals": MARGINALS,
    "nested": NESTED,
    "nested-exact": NESTED_EXACT,
    "matched": MATCHED,
    "anatomy": ANATOMY,
    "anatomy, several": ANATOMY_SEVERAL,
    "ambiguous": AMBIGUOUS,
    "ambiguous, several": AMBIGUOUS_SEVERAL,
    "perturbed": PERTURBED,
    "retained": RETAINED,
    "projected": PROJECTED,
    "sealed": SEALED,
    "mirrored": MIRRORED,
    "sealed-exact": SEALED_EXACT,
    "mirrored-exact": MIRRORED_EXACT,
    "synthetic": SYNTHETIC,
}
"""By the name of the format, and what is special about its release; a format that has none fails the tests."""
