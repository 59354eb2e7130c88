from .adversary.attacks.attack import Attack
from .adversary.attacks.background_join import BackgroundJoin
from .adversary.attacks.beliefs import Beliefs
from .adversary.attacks.campaign import Campaign, attack
from .adversary.attacks.composition import Composition
from .adversary.attacks.corruption import Corruption
from .adversary.attacks.definetti import DeFinetti
from .adversary.attacks.evidence import Evidence
from .adversary.attacks.intersection import Intersection
from .adversary.attacks.minimality import Minimality
from .adversary.attacks.naive_bayes import NaiveBayes
from .adversary.attacks.presence import Corners, Presence
from .adversary.attacks.similarity import Similarity
from .adversary.attacks.singling_out import SinglingOut
from .adversary.attacks.trained import Trained
from .adversary.audit import Audit, audit
from .analyst.answers import Answer, answers
from .errors import DiscreetError
from .families.ambiguity.release import AmbiguousRelease
from .families.ambiguity.scheme import Ambiguity
from .families.codip.release import ProjectedRelease
from .families.codip.scheme import Codip
from .families.heterogeneous.nh import NH
from .families.heterogeneous.release import MatchedRelease
from .families.heterogeneous.scheme import Heterogeneous
from .families.lifting.exact import NestedExactRelease
from .families.lifting.release import NestedRelease
from .families.lifting.scheme import Lifting
from .families.privbayes.release import SyntheticRelease
from .families.privbayes.scheme import PrivBayes
from .families.proximity.scheme import SplitAndPartition
from .families.randomised.release.perturbed import PerturbedRelease
from .families.randomised.release.retained import RetainedRelease
from .families.randomised.scheme.perturbation import Perturbation
from .families.randomised.scheme.retention import Retention
from .families.sealed.mirrored import Mirrored
from .families.sealed.release import MirroredExactRelease, MirroredRelease, SealedExactRelease, SealedRelease
from .families.sealed.scheme import Sealed
from .jobs.advise import advise
from .jobs.export import export
from .jobs.hierarchy import check_hierarchy, init_hierarchy
from .jobs.publish import publish
from .plugins import Format
from .principles import Principle, parse
from .principles.beta_likeness import BetaLikeness
from .principles.delta_disclosure import DeltaDisclosure
from .principles.differential_privacy import DifferentialPrivacy
from .principles.k_anonymity import KAnonymity
from .principles.ke_anonymity import KEAnonymity
from .principles.l_diversity import LDiversity
from .principles.presence import AlphaBeta
from .principles.proximity import Proximity
from .principles.t_closeness import TCloseness
from .principles.variance import Variance
from .releases import Release, load, write_trace
from .releases.anatomy.release import AnatomyRelease
from .releases.columns import with_lists
from .releases.generalized.release import GeneralizedRelease
from .report.advice import Advice
from .report.board import Context, Report, report
from .report.compare import compare
from .report.comparison import Comparison
from .report.plan import Plan, plan, plans
from .report.profile import Profile, profile
from .schemes import Scheme
from .schemes.anatomy import Anatomy, Baseline
from .schemes.buckets.burel import Burel
from .schemes.buckets.sabre import Sabre
from .schemes.cuts.scheme import Cuts, Mondrian
from .schemes.incognito.scheme import Incognito
from .table.grouping import GroupBy
from .table.hierarchy import Hierarchy
from .table.query import OneOf, Query, Range
from .table.read import read
from .table.spec import TableSpec
from .table.table import Table
from .table.total import Measure, Total
from .version import __version__

__all__ = [
    "NH",
    "Advice",
    "AlphaBeta",
    "Ambiguity",
    "AmbiguousRelease",
    "Anatomy",
    "AnatomyRelease",
    "Answer",
    "Attack",
    "Audit",
    "BackgroundJoin",
    "Baseline",
    "Beliefs",
    "BetaLikeness",
    "Burel",
    "Campaign",
    "Codip",
    "Comparison",
    "Composition",
    "Context",
    "Corners",
    "Corruption",
    "Cuts",
    "DeFinetti",
    "DeltaDisclosure",
    "DifferentialPrivacy",
    "DiscreetError",
    "Evidence",
    "Format",
    "GeneralizedRelease",
    "GroupBy",
    "Heterogeneous",
    "Hierarchy",
    "Incognito",
    "Intersection",
    "KAnonymity",
    "KEAnonymity",
    "LDiversity",
    "Lifting",
    "MatchedRelease",
    "Measure",
    "Minimality",
    "Mirrored",
    "MirroredExactRelease",
    "MirroredRelease",
    "Mondrian",
    "NaiveBayes",
    "NestedExactRelease",
    "NestedRelease",
    "OneOf",
    "Perturbation",
    "PerturbedRelease",
    "Plan",
    "Presence",
    "Principle",
    "PrivBayes",
    "Profile",
    "ProjectedRelease",
    "Proximity",
    "Query",
    "Range",
    "Release",
    "Report",
    "RetainedRelease",
    "Retention",
    "Sabre",
    "Scheme",
    "Sealed",
    "SealedExactRelease",
    "SealedRelease",
    "Similarity",
    "SinglingOut",
    "SplitAndPartition",
    "SyntheticRelease",
    "TCloseness",
    "Table",
    "TableSpec",
    "Total",
    "Trained",
    "Variance",
    "__version__",
    "advise",
    "answers",
    "attack",
    "audit",
    "check_hierarchy",
    "compare",
    "export",
    "init_hierarchy",
    "load",
    "parse",
    "plan",
    "plans",
    "profile",
    "publish",
    "read",
    "report",
    "with_lists",
    "write_trace",
]
