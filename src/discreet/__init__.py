"""discreet publishes microdata so that what it says about any one person's sensitive value is bounded.

>>> import discreet as dc
>>> from discreet.datasets import patients
>>> release = dc.publish(patients(), dc.BetaLikeness(2))
>>> release.withheld
0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.adversary.audit import Audit, audit
    from discreet.plugins import Format
    from discreet.principles import (
        AlphaBeta,
        BetaLikeness,
        DeltaDisclosure,
        KAnonymity,
        KEAnonymity,
        LDiversity,
        Principle,
        Proximity,
        TCloseness,
        Variance,
        parse,
    )
    from discreet.publishing import publish
    from discreet.releases import (
        AmbiguousRelease,
        AnatomyRelease,
        GeneralizedRelease,
        NestedRelease,
        PerturbedRelease,
        Release,
        RetainedRelease,
        load,
    )
    from discreet.report.compare import Comparison, compare
    from discreet.report.plan import Plan, plan
    from discreet.schemes import (
        Ambiguity,
        Anatomy,
        Baseline,
        Burel,
        Cuts,
        Lifting,
        Mondrian,
        Perturbation,
        Proximal,
        Retention,
        Sabre,
        Scheme,
    )
    from discreet.table.grouping import GroupBy
    from discreet.table.hierarchy import Hierarchy
    from discreet.table.query import OneOf, Query, Range
    from discreet.table.read import read
    from discreet.table.table import Table

# Where each public name lives. Nothing is imported before it is used, so that `discreet --help` stays quick.
_HOMES = {
    "adversary.audit": ("Audit", "audit"),
    "principles": (
        "AlphaBeta",
        "BetaLikeness",
        "DeltaDisclosure",
        "KAnonymity",
        "KEAnonymity",
        "LDiversity",
        "Principle",
        "Proximity",
        "TCloseness",
        "Variance",
        "parse",
    ),
    "publishing": ("publish",),
    "plugins": ("Format",),
    "releases": (
        "AmbiguousRelease",
        "AnatomyRelease",
        "GeneralizedRelease",
        "NestedRelease",
        "PerturbedRelease",
        "Release",
        "RetainedRelease",
        "load",
    ),
    "report.compare": ("Comparison", "compare"),
    "report.plan": ("Plan", "plan"),
    "schemes": (
        "Ambiguity",
        "Anatomy",
        "Baseline",
        "Burel",
        "Cuts",
        "Lifting",
        "Mondrian",
        "Perturbation",
        "Proximal",
        "Retention",
        "Sabre",
        "Scheme",
    ),
    "table.grouping": ("GroupBy",),
    "table.hierarchy": ("Hierarchy",),
    "table.query": ("OneOf", "Query", "Range"),
    "table.read": ("read",),
    "table.table": ("Table",),
}

__all__ = [
    "AlphaBeta",
    "Ambiguity",
    "AmbiguousRelease",
    "Anatomy",
    "AnatomyRelease",
    "Audit",
    "Baseline",
    "BetaLikeness",
    "Burel",
    "Comparison",
    "Cuts",
    "DeltaDisclosure",
    "DiscreetError",
    "Format",
    "GeneralizedRelease",
    "GroupBy",
    "Hierarchy",
    "KAnonymity",
    "KEAnonymity",
    "LDiversity",
    "Lifting",
    "Mondrian",
    "NestedRelease",
    "OneOf",
    "Perturbation",
    "PerturbedRelease",
    "Plan",
    "Principle",
    "Proximal",
    "Proximity",
    "Query",
    "Range",
    "Release",
    "RetainedRelease",
    "Retention",
    "Sabre",
    "Scheme",
    "TCloseness",
    "Table",
    "Variance",
    "__version__",
    "audit",
    "compare",
    "load",
    "parse",
    "plan",
    "publish",
    "read",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"discreet.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
