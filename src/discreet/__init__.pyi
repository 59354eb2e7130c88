from .adversary.attacks import Attack, Beliefs, Corners, Corruption, DeFinetti, NaiveBayes, Presence, Similarity
from .adversary.attacks.campaign import Campaign, attack
from .adversary.attacks.evidence import Evidence
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
    MatchedRelease,
    NestedRelease,
    PerturbedRelease,
    ProjectedRelease,
    Release,
    RetainedRelease,
    load,
)
from .releases.multivalued import with_lists
from .report.compare import compare
from .report.comparison import Comparison
from .report.plan import Plan, plan, plans
from .schemes import (
    Ambiguity,
    Anatomy,
    Baseline,
    Burel,
    Codip,
    Cuts,
    Heterogeneous,
    Incognito,
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
    "Attack",
    "Audit",
    "Baseline",
    "Beliefs",
    "BetaLikeness",
    "Burel",
    "Campaign",
    "Codip",
    "Comparison",
    "Corners",
    "Corruption",
    "Cuts",
    "DeFinetti",
    "DeltaDisclosure",
    "DiscreetError",
    "Evidence",
    "Format",
    "GeneralizedRelease",
    "GroupBy",
    "Heterogeneous",
    "Hierarchy",
    "Incognito",
    "KAnonymity",
    "KEAnonymity",
    "LDiversity",
    "Lifting",
    "MatchedRelease",
    "Mondrian",
    "NaiveBayes",
    "NestedRelease",
    "OneOf",
    "Perturbation",
    "PerturbedRelease",
    "Plan",
    "Presence",
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
    "Similarity",
    "SplitAndPartition",
    "TCloseness",
    "Table",
    "Variance",
    "__version__",
    "attack",
    "audit",
    "compare",
    "load",
    "parse",
    "plan",
    "plans",
    "publish",
    "read",
    "with_lists",
]
