from .adversary.audit import Audit, audit
from .errors import DiscreetError
from .plugins import Format
from .principles import (
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
from .publishing import publish
from .releases import (
    AmbiguousRelease,
    AnatomyRelease,
    GeneralizedRelease,
    NestedRelease,
    PerturbedRelease,
    ProjectedRelease,
    Release,
    RetainedRelease,
    load,
)
from .report.compare import Comparison, compare
from .report.plan import Plan, plan, plans
from .schemes import (
    Ambiguity,
    Anatomy,
    Baseline,
    Burel,
    Codip,
    Cuts,
    Heterogeneous,
    Lifting,
    Mondrian,
    Perturbation,
    Retention,
    Sabre,
    Scheme,
    SplitAndPartition,
)
from .table.grouping import GroupBy
from .table.hierarchy import Hierarchy
from .table.query import OneOf, Query, Range
from .table.read import read
from .table.table import Table
from .version import __version__

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
    "Codip",
    "Comparison",
    "Cuts",
    "DeltaDisclosure",
    "DiscreetError",
    "Format",
    "GeneralizedRelease",
    "GroupBy",
    "Heterogeneous",
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
    "ProjectedRelease",
    "Proximity",
    "Query",
    "Range",
    "Release",
    "RetainedRelease",
    "Retention",
    "Sabre",
    "Scheme",
    "SplitAndPartition",
    "TCloseness",
    "Table",
    "Variance",
    "__version__",
    "audit",
    "compare",
    "load",
    "parse",
    "plan",
    "plans",
    "publish",
    "read",
]
